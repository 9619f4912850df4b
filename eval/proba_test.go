package eval_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestProbabilities: values by hand.
func TestProbabilities(t *testing.T) {
	var s eval.Probabilities
	if s.LogLoss() != 0 || s.Brier() != 0 || s.CalibrationError() != 0 {
		t.Errorf("without examples: %v %v %v", s.LogLoss(), s.Brier(), s.CalibrationError())
	}
	for _, x := range []struct{ y, p float64 }{
		{+1, 0.75}, {-1, 0.75}, // one bin, from .7: sum of p 1.5, one +1
		{-1, 0.25},           // from .2: .25, none
		{+1, 1},              // the last bin takes 1
		{+1, 0.3}, {+1, 0.3}, // on a border: from .3 up; sum .6, two
		{-1, 1}, // certain and wrong; in the last bin: sum 2, one +1
		{-1, 0},
	} {
		s.Add(x.y, x.p)
	}
	logLoss := -(math.Log(0.75) + math.Log(0.25) + math.Log(0.75) + 0 + 2*math.Log(0.3) +
		math.Log(1e-15) + 0) / 8
	brier := (0.0625 + 0.5625 + 0.0625 + 0 + 0.49 + 0.49 + 1 + 0) / 8
	calibration := (math.Abs(1.5-1) + 0.25 + math.Abs(0.6-2) + math.Abs(2-1) + 0) / 8
	for _, c := range []struct {
		what      string
		got, want float64
	}{{"log-loss", s.LogLoss(), logLoss}, {"Brier", s.Brier(), brier}, {"calibration error",
		s.CalibrationError(), calibration}} {
		if math.Abs(c.got-c.want) > 1e-15*8 {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	var nan, wrong eval.Probabilities
	nan.Add(1, math.NaN())
	nan.Add(-1, math.NaN())
	wrong.Add(1, 0)
	wrong.Add(-1, 1)
	if nan != wrong {
		t.Errorf("NaN tallies %+v, want %+v", nan, wrong)
	}
}

// TestRunProba: the probabilities of a run are those that each example had before it was learned,
// of the first pass in the result and of all in the progress; the model is that of a run without.
func TestRunProba(t *testing.T) {
	d := denseData(t, 60)
	fresh := func() learner.Learner[float32] {
		e, err := learner.Lookup("sogp")
		if err != nil {
			t.Fatal(err)
		}
		l, err := learner.New[float32](e, e.Config(), learner.Env{})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	var want, all eval.Probabilities
	l := fresh()
	for range 2 {
		for i := range d.Block.Len() {
			b := d.Block.Slice(i, i+1)
			var p [1]float64
			var r [1]learner.Round
			if err := errors.Join(learner.ProberOf(l).Proba(&b, p[:]), l.Learn(&b,
				r[:])); err != nil {
				t.Fatal(err)
			}
			all.Add(float64(b.Y[0]), p[0])
		}
		if want.Examples == 0 {
			want = all
		}
	}
	src := eval.NewMemory(&d.Block, d.Gather)
	var seen recorder
	got := fresh()
	r, err := eval.Run(context.Background(), got, src, eval.Options{Epochs: 2, Proba: true,
		Progress: &seen})
	if err != nil {
		t.Fatal(err)
	}
	if r.Proba == nil || *r.Proba != want {
		t.Errorf("tallied %+v, want %+v", r.Proba, want)
	}
	plain := fresh()
	if _, err := eval.Run(context.Background(), plain, src, eval.Options{Epochs: 2}); err != nil {
		t.Fatal(err)
	}
	f, g := make([]float64, d.Block.Len()), make([]float64, d.Block.Len())
	if err := errors.Join(got.Score(&d.Block, f), plain.Score(&d.Block, g)); err != nil {
		t.Fatal(err)
	}
	for i := range f {
		if f[i] != g[i] {
			t.Fatalf("example %d scores %v after a run with probabilities, %v without", i, f[i],
				g[i])
		}
	}
	if last := seen.ends[0].Proba; last == nil || *last != all {
		t.Errorf("the end says %+v, want %+v", last, all)
	}

	count, s, err := eval.TestProba(context.Background(), learner.ViewOf(got), src)
	if err != nil {
		t.Fatal(err)
	}
	plainCount, err := eval.Test(context.Background(), learner.ViewOf(got), src)
	if err != nil || count != plainCount || s.Examples != count.Examples ||
		!(s.LogLoss() < want.LogLoss()) {
		t.Errorf("on the examples learned: %+v, %+v, want %+v; log-loss %v, before learning "+
			"%v (%v)", count, s, plainCount, s.LogLoss(), want.LogLoss(), err)
	}

	e, _ := learner.Lookup("pa")
	pa, err := learner.New[float32](e, e.Config(), learner.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eval.Run(context.Background(), pa, src, eval.Options{Proba: true}); !errors.Is(err,
		eval.ErrOptions) {
		t.Errorf("pa: %v, want %v", err, eval.ErrOptions)
	}
}
