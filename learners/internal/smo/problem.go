package smo

import (
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
)

// Problem says what is minimised: |w|^2/2 + C sum xi (Upper = C), |w|^2/2 + C/2 sum xi^2 (Upper =
// +Inf, Ridge = 1/C), or |w|^2/2 alone for a hard margin (Upper = +Inf, Ridge = 0).
//
// With Weights the loss of example t counts Weights[t] times, as if C were that many times larger
// for it: the upper bound and the ridge are its own. One of weight 0 has alpha = 0.
type Problem struct {
	Upper float64 // of alpha: C, or +Inf
	Ridge float64 // 1/C for the 2-norm soft margin
	Bias  bool    // f has a bias that is not in |w|, so that sum y_t alpha_t = 0

	Weights []float64 // of the examples, 0 or more; nil: all 1. Not of a hard margin
}

// upper returns the upper bound of alpha_t.
func (p *Problem) upper(t int) float64 {
	switch {
	case p.Weights == nil:
		return p.Upper
	case p.Weights[t] == 0:
		return 0
	}
	return p.Upper * p.Weights[t]
}

// ridge returns what is added to K_tt.
func (p *Problem) ridge(t int) float64 {
	if p.Weights == nil || p.Weights[t] == 0 {
		return p.Ridge
	}
	return p.Ridge / p.Weights[t]
}

// weight returns how often the loss of example t counts.
func (p *Problem) weight(t int) float64 {
	if p.Weights == nil {
		return 1
	}
	return p.Weights[t]
}

// AtBound reports whether an alpha_t of that size is at its upper bound.
func (p *Problem) AtBound(t int, alpha float64) bool { return alpha >= p.upper(t) }

// hard reports whether there is no slack.
func (p Problem) hard() bool { return math.IsInf(p.Upper, 1) && p.Ridge == 0 }

// Value is where a dual solution stands. Norms and scores are those of its w, not scaled.
type Value struct {
	Bias         float64
	Sum          float64 // of alpha
	Norm2, ext2  float64 // |w|^2 and with the slack's part of the 2-norm soft margin, sum alpha^2/C
	least        float64 // y (f(x) + b) of the worst example
	Violators    int     // examples whose optimality condition is off by more than violated
	Primal, Dual float64 // bounds of the objective
	Converged    bool
}

// example takes in example t, of that alpha and y (f(x) + b) = margin, and returns its share of the
// sum of losses.
func (v *Value) example(p *Problem, t int, alpha, margin float64) (loss float64) {
	v.least = min(v.least, margin)
	ext := margin + float64(p.ridge(t)*alpha)
	if alpha < p.upper(t) && ext < 1-violated || alpha > 0 && ext > 1+violated {
		v.Violators++
	}
	xi := max(0, 1-margin)
	if p.Ridge > 0 {
		xi *= xi
	}
	return float64(p.weight(t) * xi)
}

// Margin is that of SVMSolution.
func (v *Value) Margin(p Problem) float64 {
	switch {
	case v.Norm2 == 0:
		return math.NaN()
	case math.IsInf(p.Upper, 1):
		// of the scaled weights, and with the slacks' coordinates: the bound is half their square
		return 1 / math.Sqrt(2*v.Primal)
	}
	return 1 / math.Sqrt(v.Norm2)
}

// status is what an observer gets after so many steps.
func (v *Value) status(p Problem, steps int64) learner.FitStatus {
	return learner.FitStatus{Updates: steps, Violators: v.Violators, Margin: v.Margin(p)}
}

// finish computes the bounds of the objective from the rest and the sum of the losses.
//
// The primal bound is the objective of (w, b), which the hard margin first scales until the worst
// example has y (f + b) = 1; there is none if that example is on the wrong side. The dual bound is
// the dual objective of alpha, or, where alpha has no upper bound, that of the best multiple of it,
// t = sum alpha / alpha'Q alpha.
func (v *Value) finish(p Problem, loss float64) {
	v.Dual = v.Sum - v.ext2/2
	v.Primal = v.Norm2 / 2
	if math.IsInf(p.Upper, 1) {
		if v.ext2 > 0 {
			v.Dual = float64(v.Sum/v.ext2) * v.Sum / 2
		}
		switch {
		case p.Ridge > 0:
			v.Primal += loss / p.Ridge / 2
		case v.least > 0:
			v.Primal /= float64(v.least * v.least)
		default:
			v.Primal = math.Inf(1)
		}
	} else if loss > 0 {
		v.Primal += float64(p.Upper * loss)
	}
}

// Gap is the duality gap relative to the objective; rounding may put the bounds the wrong way
// round.
func (v *Value) Gap() float64 {
	switch {
	case v.Primal <= v.Dual:
		return 0
	case math.IsInf(v.Primal, 1):
		return v.Primal
	}
	return (v.Primal - v.Dual) / v.Primal
}

// overflow returns an error if the numbers have become too large to go on with.
func (v *Value) overflow() error {
	if g := v.Gap(); math.IsNaN(g) || math.IsInf(v.ext2, 0) {
		return fmt.Errorf("svm: kernel values or weights overflow: scale the data: %w",
			learner.ErrFit)
	}
	return nil
}

// apart reports whether a hard margin, if there is one, is below what counts as one: every unit u
// that separates with margin g has g <= |sum alpha y x| / sum alpha, since sum alpha y x.u >= g sum
// alpha. The share is that of learner.LeastMargin.
func (v *Value) apart(radius2 float64) bool {
	const least = 1e-6 // of the longest example
	return v.Sum > 0 && v.Norm2 <= least*least*radius2*float64(v.Sum*v.Sum)
}

// notSeparable is the error of a hard margin that is not there.
func (v *Value) notSeparable(radius2 float64, iterations int64) error {
	return fmt.Errorf("svm: no hard margin after %d steps: if there is one it is at most %.3g, "+
		"where the longest example is %.4g; a C above 0 allows slack: %w",
		iterations, math.Sqrt(v.Norm2)/v.Sum, math.Sqrt(radius2), learner.ErrNotSeparable)
}

// violated is how far y (f + b) may be from 1 where it should not: of what is reported, not of when
// a run ends, which the gap decides. LIBSVM stops at violations of that size by default.
const violated = 1e-3

// balance makes sum y_t alpha_t 0, as the dual with a bias wants it: of the side that has more the
// coefficients below the upper bound give alike, and the others what those lack.
func balance[T learner.Float](alpha []float64, y []T, p *Problem) {
	var side, free [2]float64 // sums, of the labels -1 and +1
	for t, a := range alpha {
		k := sideOf(y[t])
		if side[k] += a; a < p.upper(t) {
			free[k] += a
		}
	}
	k := 0
	if side[1] > side[0] {
		k = 1
	}
	more, rounded := side[k]-side[1-k], float64(len(alpha))*0x1p-52*side[k]
	if more <= rounded {
		return
	}
	below, bounded := max(0, (free[k]-more)/free[k]), 1.0 // what is left of each
	if more > free[k]+rounded {
		bounded = side[1-k] / (side[k] - free[k])
	}
	for t, a := range alpha {
		switch {
		case sideOf(y[t]) != k:
		case a < p.upper(t):
			alpha[t] = float64(a * below)
		default:
			alpha[t] = float64(a * bounded)
		}
	}
}

func sideOf[T learner.Float](y T) int {
	if y > 0 {
		return 1
	}
	return 0
}

// oneLabel reports whether all labels are the same, of examples that count. Then w = 0 and b = y
// lose nothing.
func oneLabel[T learner.Float](y []T, p *Problem) (Value, bool) {
	var one T
	for t, v := range y {
		switch {
		case p.weight(t) == 0:
		case one == 0:
			one = v
		case v != one:
			return Value{}, false
		}
	}
	return Value{Bias: float64(one), least: 1, Converged: true}, true
}

// scale takes for a hard margin the multiple of alpha, w and b that is best for the dual, which
// brings the worst example to y (f + b) = 1.
func (v *Value) scale(p Problem, alpha, w []float64) {
	if !p.hard() || !(v.ext2 > 0) {
		return
	}
	c := v.Sum / v.ext2
	vecmath.Scal(alpha, c)
	vecmath.Scal(w, c)
	v.Bias *= c
	v.Sum *= c
	v.least *= c
	v.Norm2 *= float64(c * c)
	v.ext2 *= float64(c * c)
}

// AddLinear adds what solving a linear problem takes beside its solution.
func AddLinear(f *learner.Footprint, x learner.Extent) {
	// alpha, z, a, what a step changes, the band, and who enters or leaves it; or alpha, its fair
	// share, the diagonal, the active, their order and the permutation; and weights
	f.Add("dual problem", x.Examples, learner.Times(x.Examples, 5*8+1+2*2*4))
	if x.Features > MostNewtonDim {
		return
	}
	d := x.Features + 1
	triangle := learner.Times(d, d+1, 4)
	f.Add("second derivatives", d, 2*triangle)
	if x.Dense {
		f.Add("columns", d, learner.Plus(triangle, learner.Times(d, columnRows*8)))
	}
}
