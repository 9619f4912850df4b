package compare

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/stat"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/model"
)

// TestCompare: learners' errors are those of their own runs, models' those of a test; pairs are
// what the tests make of them; threads change nothing.
func TestCompare(t *testing.T) {
	ctx, file, test := context.Background(), examples(t, 0, 2000), examples(t, 5000, 1500)
	settings := gridOf(file)[1:]
	var want []int64
	var models []*model.Model
	var tested []int64
	for i, o := range settings {
		o.Model, o.Test = filepath.Join(t.TempDir(), "m"), []string{test}
		r := must(training.Run(ctx, o, training.Env{}))(t)
		want, tested = append(want, r.Counts.Errors), append(tested, r.Test.Count.Errors)
		m := must(model.Load(o.Model))(t)
		models, settings[i].Threads = append(models, m), 2
	}
	one := compared(t, CompareOptions{Settings: settings}, 2000, want)
	settings[0].Threads = 1
	if r := compared(t,
		CompareOptions{Settings: settings}, 2000, want); !reflect.DeepEqual(r, one) {
		t.Errorf("one thread: %+v, want %+v", r, one)
	}
	compared(t, CompareOptions{Models: models, Files: []string{test}, Threads: 2}, 1500, tested)
	refuses(t, settings, models, test)
}

// TestCompareApart: learners and models of both precisions, and of other scales, are compared on
// one reading, of columns with texts and values that are missing: each is what it is alone, in a
// stream, in memory, in a fresh order, with weights of classes, and of three classes.
func TestCompareApart(t *testing.T) {
	ctx, files := context.Background(), []string{people(t, 900, false), people(t, 900, true)}
	for k, c := range []training.Options{{Epochs: 1}, {}, {Epochs: 1, Shuffle: true},
		{Epochs: 1, ClassWeight: "balanced"}, {Shuffle: true, ClassWeight: "true=3"}} {
		for _, file := range files {
			if file == files[1] && k > 2 {
				continue // which has no label "true"
			}
			var settings []training.Options
			var models []*model.Model
			var want, tested []int64
			for _, precision := range []string{"f32", "f64"} {
				for _, scale := range []string{"std", "none", "maxabs"} {
					o := c
					o.Learner, o.Precision, o.Files = "pa", precision, []string{file}
					o.Test, o.Model = o.Files, filepath.Join(t.TempDir(), "m")
					o.Scale, o.Missing = scale, "mean"
					r := must(training.Run(ctx, o, training.Env{}))(t)
					m := must(model.Load(o.Model))(t)
					settings, models = append(settings, o), append(models, m)
					want = append(want, r.Counts.Errors)
					tested = append(tested, r.Test.Count.Errors)
				}
			}
			compared(t, CompareOptions{Settings: settings}, 900, want)
			compared(t, CompareOptions{Settings: settings[2:4]}, 900, want[2:4])
			compared(t, CompareOptions{Models: models, Files: []string{file}}, 900, tested)
		}
	}
	large := filepath.Join(t.TempDir(), "large.svm")
	ok(t, os.WriteFile(large, []byte("+1 1:1\n-1 1:1e60\n"), 0o600))
	o := training.Options{Learner: "pa", Files: []string{large}}
	double := o
	double.Precision = "f64"
	_, err := Compare(ctx, CompareOptions{Settings: []training.Options{o, double}},
		training.Env{})
	if !errors.Is(err, training.ErrOption) || !strings.Contains(err.Error(), "example 2") {
		t.Errorf("a value that is no float32: %v", err)
	}
}

// compared is Compare, of which the errors are known, without times.
func compared(t *testing.T, c CompareOptions, n int64, want []int64) *Comparison {
	t.Helper()
	r := must(Compare(context.Background(), c, training.Env{}))(t)
	for i, s := range r.Results {
		if s.Errors != want[i] || s.Error != float64(want[i])/float64(n) || s.Failed != "" {
			t.Errorf("%d: %+v, want %d errors of %d", i, s, want[i], n)
		}
		r.Results[i].Seconds = 0
	}
	k := len(want)
	if r.Examples != n || len(r.Pairs) != k*(k-1)/2 || k > 2 && !(r.P < 1) {
		t.Errorf("%d examples, %d pairs, Q %v (%v)", r.Examples, len(r.Pairs), r.Q, r.P)
	}
	for _, p := range r.Pairs {
		if d := want[p.First] - want[p.Second]; p.FirstAlone-p.SecondAlone != d ||
			math.Abs(p.Difference-float64(d)/float64(n)) > 1e-15 {
			t.Errorf("%+v, want a difference of %d", p, d)
		}
		if p.McNemar != stat.McNemar(p.FirstAlone, p.SecondAlone) || p.P < p.McNemar ||
			p.P < p.PairedT && p.Batches > 0 || p.Batches > 0 && p.Batches*p.Batch > n ||
			(p.P <= 0.05) == (p.Verdict == Undecided) {
			t.Errorf("%+v", p)
		}
	}
	r.Total = 0
	return r
}

// refuses looks at what can't be compared.
func refuses(t *testing.T, settings []training.Options, models []*model.Model, test string) {
	ctx := context.Background()
	other := settings[0]
	other.Model, other.Positive = filepath.Join(t.TempDir(), "m"), "-1"
	must(training.Run(ctx, other, training.Env{}))(t)
	m := must(model.Load(other.Model))(t)
	for name, c := range map[string]CompareOptions{
		"nothing": {}, "one": {Settings: settings[:1]},
		"both":     {Settings: settings, Models: models, Files: []string{test}},
		"no files": {Models: models},
	} {
		if _, err := Compare(ctx, c, training.Env{}); !errors.Is(err, training.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Compare(ctx, CompareOptions{Models: []*model.Model{models[0], m},
		Files: []string{test}}, training.Env{}); !errors.Is(err, training.ErrModel) {
		t.Errorf("other labels: %v", err)
	}
}
