package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// examples writes n examples. The label is the sign of the first feature, except of one in ten.
func examples(t testing.TB, from, n int) string {
	t.Helper()
	var b strings.Builder
	for i := from; i < from+n; i++ {
		x, y := i*37%101-50, 1
		if (x < 0) != (i%10 == 3) {
			y = -1
		}
		fmt.Fprintf(&b, "%+d 1:%d 2:%d 3:0.5\n", y, x, i*53%89-44)
	}
	file := filepath.Join(t.TempDir(), "examples.svm")
	ok(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

// gridOf has OBPM and PA with several settings and preparations of one file.
func gridOf(file string) (list []training.Options) {
	for _, normalize := range []string{"none", "unit"} {
		for _, bias := range []string{"none", "append"} {
			for _, c := range []float64{1e-6, 0.1, 1} {
				list = append(list, training.Options{Learner: "pa", Files: []string{file},
					Settings: map[string]any{"C": c},
					Data:     training.Data{Bias: bias, Normalize: normalize}})
			}
		}
	}
	return append(list, training.Options{Learner: "obpm", Files: []string{file},
		Settings: map[string]any{"members": 10}})
}

// untimed is a result without times.
func untimed(r *TuneResult) *TuneResult {
	c := *r
	c.Total = 0
	c.Trials = slices.Clone(c.Trials)
	for i := range c.Trials {
		c.Trials[i].Seconds = 0
		if cv := c.Trials[i].CV; cv != nil {
			fold := *cv
			fold.Folds = slices.Clone(fold.Folds)
			for k := range fold.Folds {
				fold.Folds[k].Seconds = 0
			}
			c.Trials[i].CV = &fold
		}
	}
	return &c
}

// TestTune: each setting's errors are those of a run of its own, on as many examples; the best has
// the fewest; its model is that of its run, to the byte; threads change nothing.
func TestTune(t *testing.T) {
	ctx, file := context.Background(), examples(t, 0, 3000)
	for _, shuffle := range []bool{false, true} {
		settings := gridOf(file)
		best, alone := filepath.Join(t.TempDir(), "best"), filepath.Join(t.TempDir(), "alone")
		for i := range settings {
			settings[i].Shuffle = shuffle
		}
		settings[0].Model = best
		var first *TuneResult
		for _, threads := range []int{1, 2, 5} {
			settings[0].Threads = threads
			r := must(Tune(ctx, settings, TuneOptions{Alpha: 0.05},
				training.Env{}))(t)
			if first == nil {
				first = r
			} else if !reflect.DeepEqual(untimed(r), untimed(first)) {
				t.Errorf("%d threads: %+v, want %+v", threads, r, first)
			}
		}
		dropped := 0
		for i, tried := range first.Trials {
			if tried.Dropped {
				dropped++
				continue
			}
			o := settings[i]
			o.Model = ""
			if i == first.Best {
				o.Model = alone
			}
			run := must(training.Run(ctx, o, training.Env{}))(t)
			if run.Counts.Errors != tried.Errors || run.Counts.Examples != tried.Examples {
				t.Errorf("setting %d: %d errors of %d, alone %d of %d", i, tried.Errors,
					tried.Examples, run.Counts.Errors, run.Counts.Examples)
			}
			if tried.Errors < first.Trials[first.Best].Errors {
				t.Errorf("setting %d has fewer errors than the best", i)
			}
		}
		if dropped == 0 {
			t.Error("no setting was dropped, though one learns next to nothing")
		}
		a, errA := os.ReadFile(best)
		b, errB := os.ReadFile(alone)
		if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
			t.Errorf("shuffled %v: the best one's model is not that of its run (%v)", shuffle, err)
		}
	}
}

// TestTuneScales: settings of the data, of columns with texts and values that are missing, are
// judged of one reading as runs of their own are, in a stream, in memory and by folds; the best
// one's model is that of its run, to the byte.
func TestTuneScales(t *testing.T) {
	file := people(t, 700, false)
	for _, c := range []struct {
		epochs int // 0: in memory
		by     string
	}{{1, Progressive}, {0, Progressive}, {0, ByFolds}} {
		var settings []training.Options
		for _, scale := range []string{"auto", "none", "maxabs"} {
			for _, normalize := range []string{"none", "unit", "max"} {
				if normalize != "max" || c.epochs == 0 {
					settings = append(settings, training.Options{Learner: "pa", Epochs: c.epochs,
						Files: []string{file}, Data: training.Data{Scale: scale, Missing: "mean",
							Normalize: normalize}})
				}
			}
		}
		judgedAlone(t, settings, c.by)
	}
}

// people is a csv file with texts and values that are missing, and two labels or three.
func people(t *testing.T, n int, three bool) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("size,job,age,label\n")
	r := rand.New(engine.NewRand(3, 0))
	for range n {
		x, age, job, size := r.Float64(), r.Float64(), "clerk", "?"
		if x > 0.1 {
			size = fmt.Sprintf("%.5g", 1000*x)
		}
		if age > 0.6 {
			job = "smith"
		}
		label := fmt.Sprint(x+age > 1)
		if three {
			label = fmt.Sprint(int(3 * x))
		}
		fmt.Fprintf(&text, "%s,%s,%.3g,%s\n", size, job, age, label)
	}
	file := filepath.Join(t.TempDir(), "people.csv")
	ok(t, os.WriteFile(file, []byte(text.String()), 0o600))
	return file
}

// judgedAlone compares what Tune says of settings with what they come to alone.
func judgedAlone(t *testing.T, settings []training.Options, by string) {
	t.Helper()
	ctx := context.Background()
	best, alone := filepath.Join(t.TempDir(), "best"), filepath.Join(t.TempDir(), "alone")
	settings[0].Model = best
	tuned := must(Tune(ctx, settings, TuneOptions{By: by}, training.Env{}))(t)
	for i, o := range settings {
		tried := tuned.Trials[i]
		if o.Model = ""; by == ByFolds {
			cv := must(CrossValidate(ctx, o, Folds{}, training.Env{}, nil))(t)
			if cv.Errors != tried.Errors {
				t.Errorf("%+v: %d errors, alone %d", o.Data, tried.Errors, cv.Errors)
			}
			continue
		}
		if i == tuned.Best {
			o.Model = alone
		}
		run := must(training.Run(ctx, o, training.Env{}))(t)
		if run.Counts.Errors != tried.Errors || run.Counts.Examples != tried.Examples {
			t.Errorf("%+v: %d errors of %d, alone %d of %d", o.Data, tried.Errors, tried.Examples,
				run.Counts.Errors, run.Counts.Examples)
		}
	}
	if by == ByFolds {
		return
	}
	a, errA := os.ReadFile(best)
	b, errB := os.ReadFile(alone)
	if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
		t.Errorf("the best one's model is not that of its run (%v)", err)
	}
}

// TestTuneByFolds: each setting's folds are those of CrossValidate, for learners of whole data sets
// too, and the model is that of a run with the Options.
func TestTuneByFolds(t *testing.T) {
	ctx, file := context.Background(), examples(t, 0, 400)
	model := filepath.Join(t.TempDir(), "m")
	var settings []training.Options
	for _, c := range []float64{1e-4, 1} {
		for _, normalize := range []string{"none", "max"} {
			settings = append(settings, training.Options{Learner: "svm", UntilConverged: true,
				Model: model, Files: []string{file}, Settings: map[string]any{"C": c},
				Data: training.Data{Normalize: normalize}})
		}
	}
	folds := Folds{Folds: 4, Repeats: 2}
	r := must(Tune(ctx, settings, TuneOptions{By: ByFolds,
		Folds: folds}, training.Env{}))(t)
	for i, o := range settings {
		o.Threads = 1 + i
		cv := must(CrossValidate(ctx, o, folds, training.Env{}, nil))(t)
		var a, b []string
		for k, f := range cv.Folds {
			a = append(a, fmt.Sprint(f.Repeat, f.Fold, f.Train, f.Test, f.Errors, f.Updates))
			f = r.Trials[i].CV.Folds[k]
			b = append(b, fmt.Sprint(f.Repeat, f.Fold, f.Train, f.Test, f.Errors, f.Updates))
		}
		if !slices.Equal(a, b) || cv.PM != r.Trials[i].CV.PM || !(cv.PM > cv.NaivePM) {
			t.Errorf("setting %d: folds %v, of CrossValidate %v", i, b, a)
		}
	}
	if r.Saved == nil || r.Examples != 800 {
		t.Errorf("saved %v after %d examples", r.Saved, r.Examples)
	}
}

// TestCrossValidate: a fold is what a run on the other examples makes of it, and folds have their
// share of each class.
func TestCrossValidate(t *testing.T) {
	ctx, file := context.Background(), examples(t, 0, 53)
	o := training.Options{Learner: "pa", Epochs: 2, Shuffle: true, Files: []string{file}}
	cv := must(CrossValidate(ctx, o, Folds{Folds: 53}, training.Env{}, nil))(t)
	// With as many folds as examples: each left out once. Find the fold's example by trying all.
	text := must(os.ReadFile(file))(t)
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	updates := map[string]int{}
	for i := range lines {
		rest := filepath.Join(t.TempDir(), "rest.svm")
		test := filepath.Join(t.TempDir(), "test.svm")
		left := slices.Delete(slices.Clone(lines), i, i+1)
		os.WriteFile(rest, []byte(strings.TrimSuffix(strings.Join(left, ""), "\n")+"\n"), 0o600)
		os.WriteFile(test, []byte(strings.TrimSuffix(lines[i], "\n")+"\n"), 0o600)
		alone := o
		alone.Files, alone.Test = []string{rest}, []string{test}
		r := must(training.Run(ctx, alone, training.Env{}))(t)
		updates[fmt.Sprint(r.Counts.Updates, r.Test.Count.Errors)]++
	}
	for _, f := range cv.Folds {
		if f.Train != 52 || f.Test != 1 {
			t.Errorf("fold %+v", f)
		}
		updates[fmt.Sprint(f.Updates, f.Errors)]--
	}
	for what, n := range updates {
		if n != 0 {
			t.Errorf("%s (updates, errors): %+d runs more than folds", what, n)
		}
	}
}

// TestStudyRefuses: what can't be compared, and folds that can't be.
func TestStudyRefuses(t *testing.T) {
	ctx, file := context.Background(), examples(t, 0, 20)
	pa := training.Options{Learner: "pa", Files: []string{file}}
	with := func(change func(*training.Options)) training.Options {
		o := pa
		change(&o)
		return o
	}
	double := with(func(o *training.Options) { o.Precision = "f64" })
	whole := with(func(o *training.Options) { o.Learner, o.UntilConverged = "svm", true })
	stdin := with(func(o *training.Options) {
		o.Files, o.Model = []string{"-"}, filepath.Join(t.TempDir(), "model")
	})
	for name, c := range map[string]struct {
		settings []training.Options
		o        TuneOptions
		kind     error
	}{
		"none":       {nil, TuneOptions{}, training.ErrOption},
		"precisions": {[]training.Options{pa, double}, TuneOptions{}, training.ErrOption},
		"whole":      {[]training.Options{whole}, TuneOptions{}, training.ErrOption},
		"by":         {[]training.Options{pa}, TuneOptions{By: "luck"}, training.ErrOption},
		"alpha":      {[]training.Options{pa}, TuneOptions{Alpha: 1}, training.ErrOption},
		"folds": {[]training.Options{pa}, TuneOptions{By: ByFolds,
			Folds: Folds{Folds: 1}}, training.ErrOption},
		"many folds": {[]training.Options{pa}, TuneOptions{By: ByFolds,
			Folds: Folds{Folds: 21}}, training.ErrOption},
		"setting": {[]training.Options{with(func(o *training.Options) {
			o.Settings = map[string]any{"C": -1}
		})}, TuneOptions{}, learner.ErrConfig},
		"folds of stdin": {[]training.Options{stdin}, TuneOptions{By: ByFolds},
			training.ErrOption},
		"passes over stdin": {[]training.Options{stdin, with(func(o *training.Options) {
			o.Files, o.Epochs = stdin.Files, 2
		})}, TuneOptions{}, training.ErrOption},
	} {
		if _, err := Tune(ctx, c.settings, c.o, training.Env{}); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", name, err, c.kind)
		}
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := Tune(stopped, []training.Options{pa}, TuneOptions{},
		training.Env{}); !errors.Is(err, training.ErrStopped) {
		t.Errorf("a context that has ended: %v", err)
	}
	if _, err := CrossValidate(stopped, pa, Folds{}, training.Env{},
		nil); !errors.Is(err, training.ErrStopped) {
		t.Errorf("folds in a context that has ended: %v", err)
	}
}

// TestStudyStops: what is stopped says what it had found, as if the examples had ended there.
func TestStudyStops(t *testing.T) {
	file := examples(t, 0, 8000)
	pa := training.Options{Learner: "pa", Files: []string{file},
		Model: filepath.Join(t.TempDir(), "model")}
	soft := pa
	soft.Settings = map[string]any{"C": 0.01}
	settings := []training.Options{pa, soft}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	res, err := Tune(ctx, settings,
		TuneOptions{Watch: func(TuneStatus) { stop() }}, training.Env{})
	if !errors.Is(err, training.ErrStopped) || res == nil || res.Examples < 1000 ||
		res.Examples >= 8000 || res.Saved != nil {
		t.Fatalf("%+v, %v", res, err)
	}
	if _, err := os.Stat(pa.Model); err == nil {
		t.Error("a model was written")
	}
	text := must(os.ReadFile(file))(t)
	head := filepath.Join(t.TempDir(), "head")
	lines := strings.SplitAfter(string(text), "\n")[:res.Examples]
	ok(t, os.WriteFile(head, []byte(strings.Join(lines, "")), 0o600))
	settings = slices.Clone(settings)
	for i := range settings {
		settings[i].Files, settings[i].Model = []string{head}, ""
	}
	whole := must(Tune(context.Background(), settings, TuneOptions{},
		training.Env{}))(t)
	if got, want := untimed(res).Trials, untimed(whole).Trials; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, of the same examples alone %+v", got, want)
	}
	short, end := context.WithCancel(context.Background())
	defer end()
	pair := CompareOptions{Settings: []training.Options{pa, soft},
		Watch: func(TuneStatus) { end() }}
	c, err := Compare(short, pair, training.Env{})
	if !errors.Is(err, training.ErrStopped) || c == nil || c.Examples < 1000 ||
		c.Examples >= 8000 || len(c.Pairs) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestFoldsDiverge: weights that are no numbers are an error of the folds, and of a setting.
func TestFoldsDiverge(t *testing.T) {
	ctx := context.Background()
	wild := training.Options{Learner: "lms", Files: []string{examples(t, 0, 200)},
		Settings: map[string]any{"eta": 1e30}}
	if _, err := CrossValidate(ctx, wild, Folds{}, training.Env{},
		nil); !errors.Is(err, training.ErrDiverged) {
		t.Errorf("%v, want ErrDiverged", err)
	}
	tame := wild
	tame.Settings = map[string]any{"eta": 1e-4}
	res := must(Tune(ctx, []training.Options{wild, tame},
		TuneOptions{By: ByFolds}, training.Env{}))(t)
	if res.Best != 1 || res.Trials[0].Failed == "" || res.Trials[1].Failed != "" {
		t.Errorf("best %d, failed %q and %q", res.Best, res.Trials[0].Failed, res.Trials[1].Failed)
	}
}

// TestTuneClasses: more than two classes, which come behind two.
func TestTuneClasses(t *testing.T) {
	var b strings.Builder
	for i := range 900 {
		k := i % 2
		if i > 600 {
			k = i % 3
		}
		fmt.Fprintf(&b, "%d %d:1 4:%d\n", k, k+1, i%7)
	}
	file := filepath.Join(t.TempDir(), "x.svm")
	ok(t, os.WriteFile(file, []byte(b.String()), 0o600))
	pa := training.Options{Learner: "pa", Files: []string{file}}
	unit := pa
	unit.Normalize = "unit"
	r, err := Tune(context.Background(), []training.Options{pa, unit},
		TuneOptions{}, training.Env{})
	if err != nil || len(r.Info.Classes) != 3 || r.Examples != 900 || r.Trials[0].Errors > 300 {
		t.Errorf("%+v, %v", r, err)
	}
	run, err := training.Run(context.Background(), unit, training.Env{})
	if err != nil || run.Counts.Errors != r.Trials[1].Errors {
		t.Errorf("alone %v errors (%v), side by side %d", run, err, r.Trials[1].Errors)
	}
	cv, err := CrossValidate(context.Background(), pa, Folds{}, training.Env{},
		nil)
	if err != nil || cv.Examples != 900 || cv.Error > 0.3 {
		t.Errorf("%+v, %v", cv, err)
	}
}

// must returns what a call gave that does not fail here.
func must[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// ok ends the test where a call fails that does not here.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
