package shard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// rowShards trains n row shards apart and returns their files.
func rowShards(t *testing.T, dir string, o training.Options, n int) (models []string) {
	t.Helper()
	for k := range n {
		o := o
		o.Rows = fmt.Sprintf("%d/%d", k+1, n)
		o.Model = filepath.Join(dir, fmt.Sprintf("%d-%d.rows", k+1, n))
		if _, err := training.Run(t.Context(), o, training.Env{}); err != nil {
			t.Fatal(err)
		}
		models = append(models, o.Model)
	}
	return models
}

// TestMergeRows: the model of shards in any order has the same bytes; it knows all examples; it
// learns on.
func TestMergeRows(t *testing.T) {
	for _, c := range []struct {
		name string
		o    training.Options
	}{
		{"adf", training.Options{}},
		{"adf", training.Options{Settings: map[string]any{"covariance": "diagonal"},
			Precision: "f64"}},
		{"adf", training.Options{Epochs: 2, Shuffle: true, Data: training.Data{Bias: "append"},
			Settings: map[string]any{"noise_auto": true}}},
		{"wep", training.Options{Settings: map[string]any{"buffer": 3}}},
		{"vvm", training.Options{Settings: map[string]any{"buffer": 8}}},
		{"ep", training.Options{UntilConverged: true, Settings: map[string]any{"noise": 0.3}}},
		{"rff", training.Options{Settings: map[string]any{"base": "adf", "D": 20, "sigma": 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			o := c.o
			o.Learner = c.name
			o.Files = []string{rows(t, dir, 300, 1, false), rows(t, dir, 111, 2, false)}
			for _, n := range []int{1, 2, 5} {
				models := rowShards(t, dir, o, n)
				to := filepath.Join(dir, "apart.model")
				first, err := shard.Merge(t.Context(), shard.Merging{Models: models})
				if err != nil {
					t.Fatal(err)
				}
				want, err := first.Model.Sum()
				if err != nil {
					t.Fatal(err)
				}
				rand.Shuffle(n, func(i, j int) { models[i], models[j] = models[j], models[i] })
				done, err := shard.Merge(t.Context(), shard.Merging{Models: models, Model: to})
				if err != nil {
					t.Fatal(err)
				}
				if done.SHA256 != want {
					t.Errorf("%d shards: another model of %v", n, models)
				}
				if presented := done.Model.Presented; done.Shards != n ||
					presented != uint64(411*max(1, o.Epochs)) && !o.UntilConverged ||
					!slices.IsSorted(done.Files) {
					t.Errorf("%d shards, %d examples, %v", done.Shards, done.Model.Presented,
						done.Files)
				}
			}
			if o.UntilConverged {
				return // nothing goes on from it
			}
			on := training.Options{From: filepath.Join(dir, "apart.model"), Files: o.Files,
				Model: filepath.Join(dir, "on.model")}
			if _, err := training.Run(t.Context(), on, training.Env{}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestMergePrior: what all went on from counts once. A diagonal posterior's variances say so to
// rounding: each is 1/(1/v1 + 1/v2 - 1 - (1/v0 - 1)), of which five quotients and four sums, and
// one quotient more between merging and dividing, have errors of 2^-53 of their terms.
func TestMergePrior(t *testing.T) {
	dir := t.TempDir()
	o := training.Options{Learner: "adf", Settings: map[string]any{"covariance": "diagonal"},
		Precision: "f64"}
	train := func(name, from string, seed uint64) string {
		o := o
		o.Files = []string{rows(t, dir, 200, seed, false)}
		if o.Model = filepath.Join(dir, name); from != "" {
			o = training.Options{From: from, Files: o.Files, Model: o.Model}
		}
		if _, err := training.Run(t.Context(), o, training.Env{}); err != nil {
			t.Fatal(err)
		}
		return o.Model
	}
	a := train("a", "", 1)
	b1, b2 := train("b1", a, 2), train("b2", a, 3)
	done, err := shard.Merge(t.Context(), shard.Merging{Models: []string{b1, b2}, Prior: a})
	if err != nil {
		t.Fatal(err)
	}
	if done.Model.Presented != 600 || done.Updates > 600 {
		t.Errorf("%d examples, %d updates", done.Model.Presented, done.Updates)
	}
	tensor := func(m *model.Model, name string) []float64 {
		return m.State.Tensor(name).Data.([]float64)
	}
	var v, w [3][]float64
	for i, name := range []string{a, b1, b2} {
		m, err := model.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		v[i], w[i] = tensor(m, "variance"), tensor(m, "w")
	}
	got, mean := tensor(done.Model, "variance"), tensor(done.Model, "w")
	for j := range got {
		terms, want := 1/v[1][j]+1/v[2][j]+1/v[0][j]+2, 1/v[1][j]+1/v[2][j]-1/v[0][j]
		if e := 1/got[j] - want; !(max(e, -e) <= 10*0x1p-53*terms) {
			t.Errorf("precision %d is %v, want %v", j, 1/got[j], want)
		}
		b := w[1][j]/v[1][j] + w[2][j]/v[2][j] - w[0][j]/v[0][j]
		all := 0.0
		for i := range v {
			all += max(w[i][j], -w[i][j]) / v[i][j]
		}
		// the means are of precisions that may be off, too
		if e := mean[j]/got[j] - b; !(max(e, -e) <= 20*0x1p-53*(all+terms*max(mean[j], -mean[j]))) {
			t.Errorf("precision times mean %d is %v, want %v", j, mean[j]/got[j], b)
		}
	}
}

// TestMergeWrong: what is not all shards of one run, or did not go on from the prior, is refused by
// name, and nothing is written.
func TestMergeWrong(t *testing.T) {
	dir := t.TempDir()
	o := training.Options{Learner: "adf", Files: []string{rows(t, dir, 120, 1, false)}}
	other := func(change func(o *training.Options)) []string {
		o, dir := o, t.TempDir()
		change(&o)
		return rowShards(t, dir, o, 3)
	}
	p := rowShards(t, dir, o, 3)
	whole := o
	whole.Model = filepath.Join(dir, "whole")
	if _, err := training.Run(t.Context(), whole, training.Env{}); err != nil {
		t.Fatal(err)
	}
	more := whole
	more.Files = []string{rows(t, dir, 500, 9, false)}
	more.Model = filepath.Join(dir, "more")
	if _, err := training.Run(t.Context(), more, training.Env{}); err != nil {
		t.Fatal(err)
	}
	strong := o // some examples, of which features with large values are certain
	strong.Files, strong.Model = []string{filepath.Join(dir, "strong.svm")}, filepath.Join(dir,
		"strong")
	os.WriteFile(strong.Files[0], []byte(strings.Repeat("+1 1:90\n-1 1:80 2:7\n", 50)), 0o600)
	if _, err := training.Run(t.Context(), strong, training.Env{}); err != nil {
		t.Fatal(err)
	}
	wrong := o // fewer examples, and a mistake in each
	wrong.Files = []string{filepath.Join(dir, "wrong.svm")}
	wrong.Model = filepath.Join(dir, "wrong")
	os.WriteFile(wrong.Files[0], []byte(strings.Repeat("+1 1:1\n-1 1:1\n", 55)), 0o600)
	column := func(name, text string, label string) string {
		o := o
		o.Files, o.Model = []string{filepath.Join(dir, name+".csv")}, filepath.Join(dir, name)
		o.Data.LabelCol = label
		os.WriteFile(o.Files[0], []byte(text), 0o600)
		if _, err := training.Run(t.Context(), o, training.Env{}); err != nil {
			t.Fatal(err)
		}
		return o.Model
	}
	first := column("first", strings.Repeat("1,2,0.5\n0,3,1.5\n", 9), "1")
	third := column("third", strings.Repeat("2,0.5,1\n3,1.5,0\n", 9), "3")
	if _, err := training.Run(t.Context(), wrong, training.Env{}); err != nil {
		t.Fatal(err)
	}
	from := other(func(o *training.Options) {
		*o = training.Options{From: whole.Model, Files: o.Files}
	})
	noise := other(func(o *training.Options) { o.Settings = map[string]any{"noise": 0.1} })
	epochs := other(func(o *training.Options) { o.Epochs = 2 })
	data := other(func(o *training.Options) { o.Files = []string{rows(t, dir, 120, 2, false)} })
	two := rowShards(t, t.TempDir(), o, 2)
	perceptron := other(func(o *training.Options) { o.Learner = "perceptron" })
	to := filepath.Join(dir, "none")
	last := func(m string) []string { return []string{p[0], p[1], m} }
	for _, c := range []struct {
		name, prior string
		models      []string
		want        error
		says        string
	}{
		{"missing", "", p[:2], learner.ErrParts, "of 3 row shards 3 is missing"},
		{"two missing", "", p[1:2], learner.ErrParts, "1, 3 are missing"},
		{"twice", "", last(p[0]), learner.ErrParts, "row shard 1 of 3 comes twice"},
		{"settings", "", last(noise[2]), shard.ErrForeign, "other settings"},
		{"options", "", last(epochs[2]), shard.ErrForeign, "different options"},
		{"data", "", last(data[2]), shard.ErrForeign, "different data"},
		{"cut", "", last(two[1]), shard.ErrForeign, "row shard 2 of 2"},
		{"no shard", "", last(whole.Model), shard.ErrForeign, "is none"},
		{"begun", "", last(from[2]), shard.ErrForeign, "different models"},
		{"prior not named", "", from, shard.ErrForeign, "went on from another model"},
		{"another prior", p[0], from, shard.ErrForeign, "did not go on from"},
		{"a prior of none", p[0], p, shard.ErrForeign, "did not go on from"},
		{"a prior of other settings", noise[0], p, shard.ErrForeign, "other settings"},
		{"a prior that knows more", more.Model, []string{whole.Model, whole.Model},
			shard.ErrForeign, "has learned 500 examples"},
		{"a prior with more mistakes", wrong.Model, []string{whole.Model, whole.Model},
			shard.ErrForeign, "did not go on from it"},
		{"labels in other columns", "", []string{first, third}, shard.ErrForeign,
			"the label in column 1 and 3"},
		{"a prior that is more certain", strong.Model, []string{whole.Model, whole.Model,
			whole.Model}, learner.ErrPrior, "is not a distribution"},
		{"no posterior", "", perceptron, learner.ErrPrior, "has no posterior"},
		{"none", "", nil, learner.ErrParts, "no models"},
		{"no file", "", last("nowhere"), os.ErrNotExist, ""},
		{"no model", "", last(o.Files[0]), model.ErrForeign, ""},
	} {
		_, err := shard.Merge(t.Context(), shard.Merging{Models: c.models, Prior: c.prior,
			Model: to})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := os.Stat(to); err == nil {
			t.Fatalf("%s: a model was written", c.name)
		}
	}
	// more shards than rows
	o.Files, o.Rows, o.Model = []string{rows(t, dir, 5, 1, false)}, "7/40", to
	if _, err := training.Run(t.Context(), o, training.Env{}); err == nil ||
		!strings.Contains(err.Error(), "part 7/40 of the rows") {
		t.Errorf("more shards than rows: %v", err)
	}
}

// TestMergeTree: the first 2^k of n models are merged, then the others, and then these two.
func TestMergeTree(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for k := range uint64(7) {
		o := training.Options{Learner: "adf", Files: []string{rows(t, dir, 30, k, false)},
			Settings: map[string]any{"covariance": "diagonal"}}
		o.Model = filepath.Join(dir, fmt.Sprint(k))
		if _, err := training.Run(t.Context(), o, training.Env{}); err != nil {
			t.Fatal(err)
		}
		files = append(files, o.Model)
	}
	merge := func(to string, models ...string) string {
		m := shard.Merging{Models: models, Model: filepath.Join(dir, to)}
		if _, err := shard.Merge(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		return m.Model
	}
	for n, first := range map[int]int{3: 2, 4: 2, 5: 4, 6: 4, 7: 4} {
		whole := content(t, merge("whole", files[:n]...))
		two := merge("two", merge("a", files[:first]...), merge("b", files[first:n]...))
		if !bytes.Equal(whole, content(t, two)) {
			t.Errorf("%d models: not the merged first %d, and then the others", n, first)
		}
	}
}

// TestRowsResume: a shard that was stopped goes on to the byte, and is no shard before.
func TestRowsResume(t *testing.T) {
	dir := t.TempDir()
	o := training.Options{Learner: "adf", Files: []string{rows(t, dir, 900, 1, false)},
		CheckpointEvery: "100"}
	want := rowShards(t, dir, o, 2)
	o.Rows, o.Model = "2/2", filepath.Join(dir, "stopped")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := training.Run(ctx, o,
		training.Env{Observer: &ending{left: 2, cancel: cancel}}); !errors.Is(err,
		training.ErrStopped) {
		t.Fatal(err)
	}
	m := shard.Merging{Models: []string{want[0], o.Model}}
	if _, err := shard.Merge(t.Context(), m); !errors.Is(err, learner.ErrParts) ||
		!strings.Contains(err.Error(), "stopped before its end") {
		t.Errorf("a shard that was stopped: %v", err)
	}
	again := training.Options{Resume: true, Model: o.Model, Files: o.Files}
	if _, err := training.Run(t.Context(), again, training.Env{}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content(t, o.Model), content(t, want[1])) {
		t.Error("another model of the shard")
	}
	again.Rows = "1/2"
	if _, err := training.Run(t.Context(), again, training.Env{}); err == nil {
		t.Error("another shard was gone on with")
	}
}

// TestMergeClasses: shards that have met other classes, or these in another order, are refused, and
// it is said how one machine numbers them, with which they are merged.
func TestMergeClasses(t *testing.T) {
	dir := t.TempDir()
	for name, labels := range map[string]string{"mixed": "bcabacaaabcdcdabdbcacdcba",
		"sorted": "aaaaaabbbbbcccccccdddddd", "a few": "aabababaabbccbabcccabbacb"} {
		file := filepath.Join(dir, name)
		var b strings.Builder
		for i, label := range strings.Split(labels, "") {
			fmt.Fprintf(&b, "%s %d:1 9:1\n", label, 1+i%7)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		o := training.Options{Learner: "adf", Files: []string{file}}
		models := rowShards(t, dir, o, 3)
		slices.Reverse(models)
		_, err := shard.Merge(t.Context(), shard.Merging{Models: models})
		e := (*training.Error)(nil)
		if !errors.As(err, &e) || !errors.Is(err, shard.ErrForeign) {
			t.Fatalf("%s: %v", name, err)
		}
		want := map[string]string{"mixed": "b,c,a,d", "sorted": "a,b,c,d", "a few": "a,b,c"}[name]
		next := e.Next(func(field string) string { return "--" + field })
		if next != "Train all of them with --classes "+want+"." {
			t.Errorf("%s: %v: %s", name, err, next)
		}
		o.Data.Classes = strings.Split(want, ",")
		if _, err := shard.Merge(t.Context(), shard.Merging{Models: rowShards(t, dir, o,
			3)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
