package learner

import (
	"errors"
	"math"
	"testing"
)

// TestCalibrationCheck: what a model file may say, and what not.
func TestCalibrationCheck(t *testing.T) {
	t.Parallel()
	two := []ClassCalibration{{Slope: 1}, {Slope: 2}}
	for _, c := range []struct {
		c       Calibration
		outputs int
		good    bool
	}{
		{Calibration{Slope: 1, Intercept: 2}, 1, true},
		{Calibration{Slope: math.NaN()}, 1, false},
		{Calibration{Intercept: math.Inf(1)}, 1, false},
		{Calibration{Method: "isotonic"}, 1, false},
		{Calibration{Method: temperature, Slope: 1}, 1, true},
		{Calibration{Method: temperature, Slope: 1}, 3, true},
		{Calibration{Method: temperature, Slope: 1, Classes: two}, 2, false},
		{Calibration{Classes: two}, 2, true},
		{Calibration{Classes: two}, 3, false},
		{Calibration{Classes: two}.ForOutputs(3), 3, true},
		{Calibration{Classes: two}.ForOutputs(1), 1, true},
		{Calibration{Classes: two}, 1, false},
		{Calibration{Slope: 1}, 2, false},
		{Calibration{Classes: []ClassCalibration{{Slope: 1}, {Slope: math.Inf(-1)}}}, 2, false},
	} {
		if err := c.c.Check(c.outputs); (err == nil) != c.good ||
			err != nil && !errors.Is(err, ErrState) {
			t.Errorf("%+v of %d outputs: %v", c.c, c.outputs, err)
		}
	}
}

// TestThresholdCheck: the same of a threshold.
func TestThresholdCheck(t *testing.T) {
	t.Parallel()
	if err := (Threshold{Score: -3, Precision: 1, Target: "recall=0.5"}).Check(); err != nil {
		t.Error(err)
	}
	cost := func(v float64) *float64 { return &v }
	if err := (Threshold{Cost: cost(3), Low: 2, High: 4, Target: "cost=1:5"}).Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []Threshold{{Cost: cost(-1)}, {Cost: cost(math.NaN())},
		{Cost: cost(1), High: math.Inf(1)}, {Cost: cost(1), Low: -1}, {Cost: cost(1), Recall: 2},
		{Score: math.NaN()}, {Score: math.Inf(1)}, {Precision: -1},
		{Recall: 1.5}, {Low: math.NaN()}, {High: 2}, {Target: string(make([]byte, 65))}} {
		if err := c.Check(); !errors.Is(err, ErrState) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestClassProbas: probabilities add up to 1 whatever the scores, but of NaN.
func TestClassProbas(t *testing.T) {
	t.Parallel()
	for _, c := range []Calibration{{Method: temperature, Slope: 2},
		{Classes: []ClassCalibration{{Slope: 1}, {Slope: 1}}}} {
		for _, f := range [][]float64{{0, 0, 0}, {1e300, -1e300, 0}, {-800, -900, -1000},
			{-1e9, -1e9, -1e9}} {
			p := append([]float64(nil), f...)
			c.ClassProbas(p)
			if sum := p[0] + p[1] + p[2]; !(math.Abs(sum-1) < 1e-12) {
				t.Errorf("%+v of %v: %v", c, f, p)
			}
		}
		p := []float64{math.NaN(), 0, 1}
		if c.ClassProbas(p); p[1] == p[1] && p[0] == p[0] {
			t.Errorf("%+v of NaN: %v", c, p)
		}
	}
}
