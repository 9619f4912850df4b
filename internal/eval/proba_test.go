package eval_test

import (
	"errors"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/eval"
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

// TestRunProba: probabilities are of the first pass in the result, and of all in the progress.
// TestDelay holds that they are those which each example had before it was learned.
func TestRunProba(t *testing.T) {
	all := random(60, 4)
	var seen recorder
	o := eval.Options{Epochs: 2, Proba: true, Progress: &seen}
	r, err := eval.Run(t.Context(), newOf(t, "sogp", nil), memory(all), o)
	if err != nil || r.Proba.Examples() != 60 || seen.ends[0].Proba.Examples() != 120 ||
		r.Proba.LogLoss() != r.Metrics.LogLoss() ||
		r.Proba.LogLoss() <= seen.ends[0].Proba.LogLoss() {
		t.Errorf("%v: %+v, at the end %+v", err, r.Proba, seen.ends)
	}
	if _, err := eval.Run(t.Context(), newOf(t, "pa", nil), memory(all), o); !errors.Is(err,
		eval.ErrOptions) {
		t.Errorf("pa: %v, want %v", err, eval.ErrOptions)
	}
}
