package eval_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestProbabilities: values by hand.
func TestProbabilities(t *testing.T) {
	s := eval.NewMetrics(eval.MetricsOptions{})
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
		believe(s, x.y, x.p)
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
	nan, wrong := eval.NewMetrics(eval.MetricsOptions{}), eval.NewMetrics(eval.MetricsOptions{})
	believe(nan, 1, math.NaN())
	believe(nan, -1, math.NaN())
	believe(wrong, 1, 0)
	believe(wrong, -1, 1)
	if !sameMetrics(nan, wrong) {
		t.Errorf("NaN tallies %+v, want %+v", nan, wrong)
	}
}

// believe tallies a probability of a label.
func believe(m *eval.Metrics, y, p float64) {
	o := eval.Outcome2(y, 0)
	o.Believe(p)
	m.Add(&o)
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
	want, all := eval.NewMetrics(eval.MetricsOptions{}), eval.NewMetrics(eval.MetricsOptions{})
	l := fresh()
	for epoch := range 2 {
		for i := range d.Block.Len() {
			b := d.Block.Slice(i, i+1)
			var p [1]float64
			var r [1]learner.Round
			if err := errors.Join(learner.ProberOf(l).Proba(&b, p[:]), l.Learn(&b,
				r[:])); err != nil {
				t.Fatal(err)
			}
			believe(all, float64(b.Y[0]), p[0])
			if epoch == 0 {
				believe(want, float64(b.Y[0]), p[0])
			}
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
	if !sameProba(r.Proba, want) {
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
	if last := seen.ends[0].Proba; !sameProba(last, all) {
		t.Errorf("the end says %+v, want %+v", last, all)
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

func sameProba(a, b *eval.Metrics) bool {
	return a != nil && a.Examples() == b.Examples() && a.LogLoss() == b.LogLoss() &&
		a.Brier() == b.Brier() && reflect.DeepEqual(a.Calibration(), b.Calibration())
}
