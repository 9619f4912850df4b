package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
)

// The fit is that of scikit-learn 1.7, _SigmoidCalibration on the same scores.
func TestPlattFit(t *testing.T) {
	var points []plattPoint
	var positive, negative float64
	for i := range 200 {
		p := plattPoint{u: float64((i*37)%101-50) / 20}
		if p.u+float64((i*53)%89-44)/25 > 0.3 {
			p.positive = 1
			positive++
		} else {
			p.negative = 1
			negative++
		}
		points = append(points, p)
	}
	a, b := plattFit(points, positive, negative, false)
	const wantA, wantB = 1.584508772378124, -0.5045019593545589
	// its optimiser stops at gradients of 1e-5, of curvatures above 10
	if positive != 88 || math.Abs(a-wantA) > 1e-4 || math.Abs(b-wantB) > 1e-4 {
		t.Errorf("%v positive: a %v, b %v, want %v, %v", positive, a, b, wantA, wantB)
	}
}

// Labels are drawn by a known sigmoid of scores that grow as a perceptron's do: it is found, in the
// units of the last ones, within three standard errors.
func TestCalibratorGrowingScores(t *testing.T) {
	const n, slope, intercept = 40000, 2.0, -0.7
	rng := rand.New(rand.NewPCG(1, 2))
	var c Calibrator
	for i := range n {
		f := 3 * (rng.Float64() + rng.Float64() - 1)
		y := -1.0
		if rng.Float64() < learner.Sigmoid(slope*f+intercept) {
			y = 1
		}
		c.Add(y, f*math.Sqrt(float64(i+1)/n), true)
	}
	s, ok := c.Fit()
	// Weights k of n count as 3n/4 examples. The slope's standard error is 1/sqrt(N Var), of
	// E[p(1-p) u^2] about 0.1 here, the intercept's 1/sqrt(N 0.13); the scale's is 1/sqrt(2n/8).
	const tolerance = 3 * 2.0 / 80
	if !ok || math.Abs(s.Slope-slope) > tolerance || math.Abs(s.Intercept-intercept) > tolerance {
		t.Errorf("%v %+v, want %v, %v", ok, s, slope, intercept)
	}
}

func TestCalibratorSaysNothing(t *testing.T) {
	for name, scores := range map[string][][2]float64{
		"none":           {},
		"one label":      {{1, 1}, {1, 2}, {1, -1}},
		"one score":      {{1, 1}, {-1, 1}, {1, 1}, {-1, 1}},
		"zeros":          {{1, 0}, {-1, 0}, {1, 0}},
		"not finite":     {{1, math.NaN()}, {-1, math.Inf(1)}},
		"huge":           {{1, 1e300}, {-1, 1e300}, {1, 1e300}},
		"one of a label": {{1, 1}, {1, 2}},
	} {
		var c Calibrator
		for _, s := range scores {
			c.Add(s[0], s[1], true)
		}
		if s, ok := c.Fit(); ok {
			t.Errorf("%s: %+v", name, s)
		}
	}
	// separated scores stay finite
	var c Calibrator
	for i := range 100 {
		y := float64(2*(i%2) - 1)
		c.Add(y, y*(1+float64(i%7)), true)
	}
	if s, ok := c.Fit(); !ok || !(s.Slope > 0) {
		t.Errorf("separated: %v %+v", ok, s)
	}
}

// What was learned before counts for the scale alone, and nothing is allocated.
func TestCalibratorAdd(t *testing.T) {
	var c Calibrator
	for i := range 1000 {
		c.Add(float64(2*(i%2)-1), float64(i%10)-4+float64(i%2), true)
	}
	before, _ := c.Fit()
	for i := range 100000 {
		c.Add(float64(1-2*(i%2)), 3*(float64(i%10)-4+float64(i%2)), false)
	}
	after, _ := c.Fit()
	r := before.Slope / after.Slope
	if math.Abs(r-3) > 0.05 || after.Intercept != before.Intercept {
		t.Errorf("three times the scores: %+v, before %+v", after, before)
	}
	if n := testing.AllocsPerRun(100, func() { c.Add(1, 0.5, true) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// One number for the scores is the one that scipy 1.11, minimize_scalar, finds for the same
// cross-entropy.
func TestTemperatureFit(t *testing.T) {
	var points []plattPoint
	for i := range 200 {
		p := plattPoint{u: float64((i*37)%101-50) / 20}
		if p.u+float64((i*53)%89-44)/25 > 0.3 {
			p.positive = 1
		} else {
			p.negative = 1
		}
		points = append(points, p)
	}
	if a, b := plattFit(points, 88, 112, true); math.Abs(a-1.5171929107217517) > 1e-6 || b != 0 {
		t.Errorf("two classes: %v, %v, want %v, 0", a, b, 1.5171929107217517)
	}
	const k, n = 4, 300
	c := ClassCalibrator{Temperature: true, Square: 1, K: k}
	for i := range n {
		c.Class = append(c.Class, int32(i%k))
		for j := range k {
			f := float64((i*(31+7*j))%97-48) / 30
			if j == i%k {
				f += 1.2
			}
			c.Kept = append(c.Kept, f)
		}
	}
	s, ok := c.Fit()
	if !ok || s.Method != Temperature || math.Abs(s.Slope-1.2100522500002675) > 1e-6 {
		t.Errorf("four classes: %v %+v, want %v", ok, s, 1.2100522500002675)
	}
}

// Labels of three classes are drawn by a softmax of scores that grow: the method that is right is
// found, and the other's probabilities add up to 1. A class that comes late is no trouble.
func TestClassCalibrator(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	both := []*ClassCalibrator{{Temperature: true}, {}}
	const n, slope = 20000, 1.5
	for i := range n {
		f := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		p := slices.Clone(f)
		learner.Calibration{Method: Temperature, Slope: slope}.ClassProbas(p)
		class, u := 0, rng.Float64()
		for u > p[class] && class < 2 {
			u -= p[class]
			class++
		}
		for k := range f {
			f[k] *= math.Sqrt(float64(i+1) / n)
		}
		for _, c := range both {
			c.Add(class, f, true)
		}
	}
	for _, c := range both {
		s, ok := c.Fit()
		p := []float64{1, 0, -1}
		if s.ClassProbas(p); !ok || s.Check(3) != nil || math.Abs(p[0]+p[1]+p[2]-1) > 1e-12 ||
			!(p[0] > p[1] && p[1] > p[2]) {
			t.Errorf("%v %+v: %v", ok, s, p)
		}
		// of the last 4096 examples, E Var_p[f] about 0.5: a standard error of 0.022
		if c.Temperature && math.Abs(s.Slope-slope) > 0.07 {
			t.Errorf("temperature: slope %v, want %v", s.Slope, slope)
		}
		for i := range 200 {
			c.Add(3*(i%2), []float64{0, 0, 0, 2 - 4*float64((i+1)%2)}, true)
		}
		s, ok = c.Fit()
		p = []float64{0, 0, 0, 2}
		if s.ClassProbas(p); !ok || s.Check(4) != nil || !(p[3] > 0.5) {
			t.Errorf("a class more: %v %+v: %v", ok, s, p)
		}
	}
	for _, c := range []*ClassCalibrator{{}, {Temperature: true}} {
		c.Add(0, nil, true)
		c.Add(1, []float64{math.NaN(), 0}, true)
		c.Add(7, []float64{1, 0}, true)
		if s, ok := c.Fit(); ok {
			t.Errorf("of nothing: %+v", s)
		}
	}
}

// TestBelowZero: bins are as wide below zero as above it, so that a threshold there reaches what it
// says: of scores one for each bin, those that it predicts to be +1 are those that were counted.
func TestBelowZero(t *testing.T) {
	c := Calibrator{Unit: 1}
	var scores []float64
	for i := -100; i < 100; i++ {
		scores = append(scores, (float64(i)+0.5)/binsPerUnit)
	}
	for i, f := range scores {
		c.Add(-1, f, true)
		if i%2 == 0 {
			c.Add(1, f, true)
		}
	}
	for _, share := range []float64{0.2, 0.5, 0.505, 0.52, 0.9} {
		got, ok := c.Threshold(Target{Share: share, Recall: true})
		reached := 0
		for i, f := range scores {
			if i%2 == 0 && f >= got.Score {
				reached++
			}
		}
		if recall := float64(reached) / 100; !ok || recall != got.Recall || recall < share ||
			recall >= share+0.01 {
			t.Errorf("recall %v: %+v, %v; it is %v", share, got, ok, recall)
		}
	}
}
