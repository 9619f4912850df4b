package training_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/halfspace-ml/halfspace/eval/stat"
	"github.com/halfspace-ml/halfspace/model"
	"github.com/halfspace-ml/halfspace/training"
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
		r, err := training.Run(ctx, o, training.Env{})
		if err != nil {
			t.Fatal(err)
		}
		want, tested = append(want, r.Counts.Errors), append(tested, r.Test.Count.Errors)
		m, err := model.Load(o.Model)
		if err != nil {
			t.Fatal(err)
		}
		models, settings[i].Threads = append(models, m), 2
	}
	one := compared(t, training.Contest{Settings: settings}, 2000, want)
	settings[0].Threads = 1
	if r := compared(t,
		training.Contest{Settings: settings}, 2000, want); !reflect.DeepEqual(r, one) {
		t.Errorf("one thread: %+v, want %+v", r, one)
	}
	compared(t, training.Contest{Models: models, Files: []string{test}, Threads: 2}, 1500, tested)
	refuses(t, settings, models, test)
}

// compared is Compare, of which the errors are known, without times.
func compared(t *testing.T, c training.Contest, n int64, want []int64) *training.Comparison {
	t.Helper()
	r, err := training.Compare(context.Background(), c, training.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range r.Standings {
		if s.Errors != want[i] || s.Error != float64(want[i])/float64(n) || s.Failed != "" {
			t.Errorf("%d: %+v, want %d errors of %d", i, s, want[i], n)
		}
		r.Standings[i].Seconds = 0
	}
	if k := len(want); r.Examples != n || len(r.Pairs) != k*(k-1)/2 || !(r.P < 1) {
		t.Errorf("%d examples, %d pairs, Q %v (%v)", r.Examples, len(r.Pairs), r.Q, r.P)
	}
	for _, p := range r.Pairs {
		if d := want[p.First] - want[p.Second]; p.FirstAlone-p.SecondAlone != d ||
			math.Abs(p.Difference-float64(d)/float64(n)) > 1e-15 {
			t.Errorf("%+v, want a difference of %d", p, d)
		}
		if p.McNemar != stat.McNemar(p.FirstAlone, p.SecondAlone) || p.P < p.McNemar ||
			p.P < p.PairedT && p.Batches > 0 || p.Batches > 0 && p.Batches*p.Batch > n ||
			(p.P <= 0.05) == (p.Verdict == training.Undecided) {
			t.Errorf("%+v", p)
		}
	}
	r.Total = 0
	return r
}

// refuses looks at what can't be compared.
func refuses(t *testing.T, settings []training.Options, models []*model.Model, test string) {
	ctx := context.Background()
	double := settings[0]
	double.Precision, double.Model = "f64", filepath.Join(t.TempDir(), "m")
	if _, err := training.Run(ctx, double, training.Env{}); err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(double.Model)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]training.Contest{
		"nothing": {}, "one": {Settings: settings[:1]},
		"both":     {Settings: settings, Models: models, Files: []string{test}},
		"no files": {Models: models},
	} {
		if _, err := training.Compare(ctx, c, training.Env{}); !errors.Is(err, training.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := training.Compare(ctx, training.Contest{Models: []*model.Model{models[0], m},
		Files: []string{test}}, training.Env{}); !errors.Is(err, training.ErrModel) {
		t.Errorf("two precisions: %v", err)
	}
}
