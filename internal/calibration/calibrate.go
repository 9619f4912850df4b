// Package calibration finds the probabilities that scores stand for, and decision thresholds, from
// scores of examples with their labels.
package calibration

import (
	"math"

	"github.com/halfspace-ml/halfspace/learner"
)

// Calibrator finds, of scores beside their labels as they come, the probability that a score stands
// for: Platt's sigmoid (J. C. Platt, "Probabilistic Outputs for Support Vector Machines", 1999; by
// the Newton iteration of H.-T. Lin, C.-J. Lin, R. C. Weng, "A note on Platt's probabilistic
// outputs for support vector machines", Machine Learning 68:267-276, 2007)
//
//	P(y = +1 | f) = 1/(1 + exp(-(a f + b)))
//
// fitted to scores that were made before their examples were learned, so that no example speaks for
// itself. Scores grow while a learner learns, a perceptron's with the root of the number of
// updates: so each is counted in units of the root of the mean square of those before it, the late
// ones weighing most, and a is brought to the units of the last scores in the end. Late examples
// weigh more in the fit, too, in proportion to their number.
//
// The zero value is empty. Memory: 32 KiB, whatever the number of examples: scores are counted in
// bins of 1/32 of that unit. Cost: some ns an example; a fit some 100 us. Results depend on the
// scores and their order alone.
type Calibrator struct {
	Temperature bool `json:"-"` // b is 0: Temperature of two classes
	// Unit above 0 is that of all scores, which are of one learner, or of several alike, that have
	// learned: all weigh the same then. 0 is as said above.
	Unit float64 `json:"-"`

	Seen    float64 // examples, whose scale was taken
	Counted float64 // and that were counted
	Square  float64 // mean of f^2, late ones weighing most
	Weights float64 // sum, and sum of squares, of the counted ones' weights
	Squares float64
	Bins    [calibratorBins]calibratorBin
}

type calibratorBin struct {
	Negative float64 `json:"n,omitempty"` // weights
	Positive float64 `json:"p,omitempty"`
	Sum      float64 `json:"s,omitempty"` // of weight times score, in its unit
}

const (
	calibratorBins = 1024
	binsPerUnit    = 32
	// The k-th example has the weight k^(scaleMemory-1) in the mean square: that of the last eighth
	// is about two thirds of all.
	scaleMemory = 8
)

// Add counts a score with its label, -1 or +1. fresh says that the example was not learned before;
// others count for the scale of the scores alone. A score whose square is not finite counts for
// nothing.
func (c *Calibrator) Add(y, f float64, fresh bool) {
	square := float64(f * f)
	if square-square != 0 {
		return
	}
	if c.Unit > 0 {
		c.Square = c.Unit * c.Unit
	}
	if fresh && c.Square > 0 {
		u := max(-calibratorBins/2/binsPerUnit, min(f/math.Sqrt(c.Square),
			calibratorBins/2/binsPerUnit))
		i := min(int(math.Floor(u*binsPerUnit))+calibratorBins/2, calibratorBins-1)
		c.Counted++
		w := c.Counted
		if c.Unit > 0 {
			w = 1
		}
		b := &c.Bins[i]
		if y > 0 {
			b.Positive += w
		} else {
			b.Negative += w
		}
		b.Sum += float64(w * u)
		c.Weights += w
		c.Squares += float64(w * w)
	}
	if c.Seen++; c.Unit > 0 {
		return
	}
	rate := min(1, scaleMemory/c.Seen)
	c.Square += float64(rate * (square - c.Square))
}

// Fit returns the sigmoid of what was counted so far; ok is false where that says nothing: without
// examples of both labels, or scores of one value alone.
func (c *Calibrator) Fit() (s learner.Calibration, ok bool) {
	if !(c.Squares > 0) || !(c.Square > 0) {
		return s, false
	}
	// weights add up to the number of examples that say as much
	unit := c.Weights / c.Squares
	var points []plattPoint
	var positive, negative float64
	for i := range c.Bins {
		b := &c.Bins[i]
		if w := b.Positive + b.Negative; w > 0 {
			points = append(points, plattPoint{u: b.Sum / w, positive: b.Positive * unit,
				negative: b.Negative * unit})
			positive += b.Positive * unit
			negative += b.Negative * unit
		}
	}
	if positive == 0 || negative == 0 || len(points) < 2 {
		return s, false
	}
	a, b := plattFit(points, positive, negative, c.Temperature)
	s = learner.Calibration{Slope: a / math.Sqrt(c.Square), Intercept: b}
	if c.Temperature {
		s.Method = Temperature
	}
	return s, s.Slope-s.Slope == 0 && s.Intercept-s.Intercept == 0
}

// plattPoint is examples of one score.
type plattPoint struct{ u, positive, negative float64 }

// plattFit returns a and b of least cross-entropy, with targets (N+ + 1)/(N+ + 2) of positive
// examples and 1/(N- + 2) of negative ones in the place of 1 and 0: Newton's method, with steps
// halved until the objective falls. b is 0 where it is fixed.
func plattFit(points []plattPoint, positive, negative float64, fixed bool) (a, b float64) {
	const ridge, least = 1e-12, 1e-10
	hi, lo := (positive+1)/(positive+2), 1/(negative+2)
	objective := func(a, b float64) (sum float64) {
		for _, p := range points {
			z := float64(a*p.u) + b
			t := float64(p.positive*hi) + float64(p.negative*lo)
			// -t log p - (n - t) log(1 - p), p = 1/(1 + e^-z)
			sum += float64((p.positive+p.negative)*softplus(z)) - float64(t*z)
		}
		return sum
	}
	if b = math.Log((positive + 1) / (negative + 1)); fixed {
		b = 0
	}
	value := objective(a, b)
	for range 100 {
		g1, g2, h11, h12, h22 := 0.0, 0.0, ridge, 0.0, ridge
		for _, p := range points {
			q := learner.Sigmoid(float64(a*p.u) + b)
			n := p.positive + p.negative
			d := float64(n*q) - float64(p.positive*hi) - float64(p.negative*lo)
			w := float64(n * q * (1 - q))
			g1 += float64(d * p.u)
			g2 += d
			h11 += float64(w * p.u * p.u)
			h12 += float64(w * p.u)
			h22 += w
		}
		if fixed {
			g2, h12, h22 = 0, 0, 1
		}
		if math.Abs(g1) < least*positive && math.Abs(g2) < least*positive {
			break
		}
		det := float64(h11*h22) - float64(h12*h12)
		da, db := -(float64(h22*g1)-float64(h12*g2))/det, -(float64(h11*g2)-float64(h12*g1))/det
		slope := float64(g1*da) + float64(g2*db)
		step, moved := 1.0, false
		for ; step > 1e-10; step /= 2 {
			na, nb := a+float64(step*da), b+float64(step*db)
			if v := objective(na, nb); v < value+1e-4*float64(step*slope) {
				a, b, value, moved = na, nb, v, true
				break
			}
		}
		if !moved {
			break
		}
	}
	return a, b
}

// softplus is log(1 + e^z).
func softplus(z float64) float64 {
	if z > 0 {
		return z + math.Log1p(math.Exp(-z))
	}
	return math.Log1p(math.Exp(z))
}
