package calibration

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/learner"
)

// Methods of Options.Calibrate.
const (
	// Platt is a sigmoid of the score, of a slope and an intercept. Of more than two classes each
	// has its own, of its score as that of the class against all others, and the probabilities are
	// what these make of their sum (B. Zadrozny, C. Elkan, "Transforming classifier scores into
	// accurate multiclass probability estimates", KDD 2002).
	Platt = "platt"
	// Temperature divides the scores by one number: of two classes a sigmoid without an intercept,
	// of more the softmax (C. Guo, G. Pleiss, Y. Sun, K. Weinberger, "On calibration of modern
	// neural networks", ICML 2017). The most probable class is the one of the largest score.
	Temperature = "temperature"
)

// SampleEach: of more than two classes each such example is scored for calibration, before it is
// learned, since learning gives the score of its own class alone.
const SampleEach = 4

// ClassCalibrator is a Calibrator of scores of any number of classes. The zero value is empty.
//
// Memory: with Temperature the last 4096 examples' scores, 2 MiB of them at most, else 24 KiB a
// class. Cost: some ns a score; a fit some 100 us a class, with Temperature some ms.
type ClassCalibrator struct {
	Temperature bool    `json:"-"` // else Platt
	Unit        float64 `json:"-"` // Calibrator.Unit
	Each        []Calibrator

	Seen   float64
	Square float64   // mean of all scores' squares, late ones weighing most
	Kept   []float64 // scores of examples, in a unit
	Class  []int32   // of these
	K, At  int       // classes, and the place of the next of the examples kept
}

const (
	mostKept       = 4096
	mostKeptValues = 1 << 18
	leastKept      = 64
)

// Add counts an example of the class, with a score for each. fresh says that the example was not
// learned before; others count for the scale of the scores alone, and so does one of a class
// without a score. Scores that are not finite have the example count for nothing.
func (c *ClassCalibrator) Add(class int, scores []float64, fresh bool) {
	var sum float64
	for _, f := range scores {
		sum += float64(f * f)
	}
	if len(scores) == 0 || sum-sum != 0 {
		return
	}
	if !c.Temperature {
		for len(c.Each) < len(scores) {
			c.Each = append(c.Each, Calibrator{Unit: c.Unit})
		}
		for k, f := range scores {
			y := -1.0
			if k == class {
				y = 1
			}
			c.Each[k].Add(y, f, fresh)
		}
		return
	}
	if len(scores) != c.K { // a new class: what is kept has no score of it
		c.K, c.At, c.Kept, c.Class = len(scores), 0, c.Kept[:0], c.Class[:0]
	}
	if c.Unit > 0 {
		c.Square = c.Unit * c.Unit
	}
	if fresh && c.Square > 0 && class < c.K {
		c.keep(class, scores, 1/math.Sqrt(c.Square))
	}
	if c.Seen++; c.Unit > 0 {
		return
	}
	c.Square += float64(min(1, scaleMemory/c.Seen) * (sum/float64(c.K) - c.Square))
}

// most is how many examples are kept.
func (c *ClassCalibrator) most() int {
	return min(mostKept, max(leastKept, mostKeptValues/max(1, c.K)))
}

// Valid reports whether scores can have made this state.
func (c *ClassCalibrator) Valid() bool {
	n := len(c.Class)
	if c.K < 0 || len(c.Kept) != n*c.K || n > 0 && c.K == 0 || c.At < 0 || n > c.most() ||
		n < c.most() && c.At != n || n == c.most() && c.At >= n {
		return false
	}
	return !slices.ContainsFunc(c.Class, func(k int32) bool { return k < 0 || int(k) >= c.K })
}

// keep puts scores, in a unit, in the place of the oldest.
func (c *ClassCalibrator) keep(class int, scores []float64, by float64) {
	n := c.most()
	if len(c.Class) < n {
		c.Class = append(c.Class, 0)
		c.Kept = append(c.Kept, scores...)
	}
	c.Class[c.At] = int32(class)
	for k, f := range scores {
		c.Kept[c.At*c.K+k] = float64(f * by)
	}
	c.At = (c.At + 1) % n
}

// Fit returns the probabilities of what was counted so far; ok is false where that says nothing.
func (c *ClassCalibrator) Fit() (s learner.Calibration, ok bool) {
	if c.Temperature {
		return c.fitTemperature()
	}
	for k := range c.Each {
		fit, found := c.Each[k].Fit()
		if !found { // a class that no example was of
			s = s.ForOutputs(max(2, k+1))
			continue
		}
		ok = true
		s.Classes = append(s.Classes, learner.ClassCalibration{Slope: fit.Slope,
			Intercept: fit.Intercept})
	}
	return s, ok
}

// fitTemperature finds the factor a of the scores of least cross-entropy, by Newton's method with
// steps halved until the objective falls. The target is 1 - e for the class that came, e = 1/(n+2)
// being shared by the others, so that it is finite where all are right.
func (c *ClassCalibrator) fitTemperature() (s learner.Calibration, ok bool) {
	n := len(c.Class)
	if n < 2 || c.K < 2 {
		return s, false
	}
	e := 1 / float64(n+2)
	rest := e / float64(c.K-1)
	at := func(a float64) (value, slope, curve float64) {
		for i, class := range c.Class {
			u := c.Kept[i*c.K:][:c.K]
			top := math.Inf(-1)
			for _, v := range u {
				top = max(top, float64(a*v))
			}
			var sum, first, second, target float64
			for k, v := range u {
				p := math.Exp(float64(a*v) - top)
				sum += p
				first += float64(p * v)
				second += float64(p * v * v)
				if k == int(class) {
					target += float64((1 - e) * v)
				} else {
					target += float64(rest * v)
				}
			}
			first /= sum
			value += math.Log(sum) + top - float64(a*target)
			slope += first - target
			curve += second/sum - float64(first*first)
		}
		return value, slope, curve
	}
	a := 1.0
	value, slope, curve := at(a)
	for range 100 {
		if math.Abs(slope) < 1e-9*float64(n) || !(curve > 0) {
			break
		}
		moved := false
		for step := -slope / curve; math.Abs(step) > 1e-12; step /= 2 {
			if v, g, h := at(a + step); v < value {
				a, value, slope, curve, moved = a+step, v, g, h, true
				break
			}
		}
		if !moved {
			break
		}
	}
	s = learner.Calibration{Method: Temperature, Slope: a / math.Sqrt(c.Square)}
	return s, s.Slope-s.Slope == 0
}

// Fitter finds probabilities of two classes, and of more if examples of these come. JSON holds its
// state, not its settings.
type Fitter struct {
	Two  Calibrator
	More ClassCalibrator
}

// New returns a Fitter of a method, Platt or Temperature, with Calibrator.Unit.
func New(method string, unit float64) *Fitter {
	f := &Fitter{Two: Calibrator{Temperature: method == Temperature, Unit: unit}}
	f.More.Temperature, f.More.Unit = f.Two.Temperature, unit
	return f
}

// Fit returns the probabilities; ok is false if what was counted says nothing.
func (f *Fitter) Fit() (s learner.Calibration, ok bool) {
	if len(f.More.Each) > 0 || f.More.Seen > 0 {
		return f.More.Fit()
	}
	return f.Two.Fit()
}
