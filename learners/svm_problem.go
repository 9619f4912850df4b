package learners

import (
	"fmt"
	"math"
)

// svmProblem says what is minimised.
type svmProblem struct {
	upper float64 // of alpha: C, or +Inf
	ridge float64 // 1/C for the 2-norm soft margin
	bias  bool
}

func (p svmProblem) hard() bool { return math.IsInf(p.upper, 1) && p.ridge == 0 }

// svmValue is where a dual solution stands. Norms and scores are those of its w, not scaled.
type svmValue struct {
	bias         float64
	sum          float64 // of alpha
	norm2, ext2  float64 // |w|^2 and with the slack's part of the 2-norm soft margin, sum alpha^2/C
	least        float64 // y (f(x) + b) of the worst example
	violators    int     // examples whose optimality condition is off by more than violated
	primal, dual float64 // bounds of the objective
	converged    bool
}

// example takes in an example of that alpha and y (f(x) + b) = margin, and returns its share of the sum of losses.
func (v *svmValue) example(p svmProblem, alpha, margin float64) (loss float64) {
	v.least = min(v.least, margin)
	ext := margin + float64(p.ridge*alpha)
	if alpha < p.upper && ext < 1-violated || alpha > 0 && ext > 1+violated {
		v.violators++
	}
	xi := max(0, 1-margin)
	if p.ridge > 0 {
		return float64(xi * xi)
	}
	return xi
}

// margin is that of SVMSolution.
func (v *svmValue) margin(p svmProblem) float64 {
	switch {
	case v.norm2 == 0:
		return math.NaN()
	case math.IsInf(p.upper, 1):
		return 1 / math.Sqrt(2*v.primal)
	}
	return 1 / math.Sqrt(v.norm2)
}

func (v *svmValue) status(p svmProblem, steps int64) FitStatus {
	return FitStatus{Updates: steps, Violators: v.violators, Margin: v.margin(p)}
}

// finish computes the bounds of the objective from the rest and the sum of the losses.
//
// The primal bound is the objective of (w, b), which the hard margin first scales until the worst example has y (f + b) = 1; there
// is none if that example is on the wrong side. The dual bound is the dual objective of alpha, or, where alpha has no upper
// bound, that of the best multiple of it, t = sum alpha / alpha'Q alpha.
func (v *svmValue) finish(p svmProblem, loss float64) {
	v.dual = v.sum - v.ext2/2
	v.primal = v.norm2 / 2
	if math.IsInf(p.upper, 1) {
		if v.ext2 > 0 {
			v.dual = float64(v.sum/v.ext2) * v.sum / 2
		}
		switch {
		case p.ridge > 0:
			v.primal += loss / p.ridge / 2
		case v.least > 0:
			v.primal /= float64(v.least * v.least)
		default:
			v.primal = math.Inf(1)
		}
	} else if loss > 0 {
		v.primal += float64(p.upper * loss)
	}
}

// gap is the duality gap relative to the objective; rounding may put the bounds the wrong way round.
func (v *svmValue) gap() float64 {
	switch {
	case v.primal <= v.dual:
		return 0
	case math.IsInf(v.primal, 1):
		return v.primal
	}
	return (v.primal - v.dual) / v.primal
}

// overflow returns an error if the numbers have become too large to go on with.
func (v *svmValue) overflow() error {
	if g := v.gap(); math.IsNaN(g) || math.IsInf(v.ext2, 0) {
		return fmt.Errorf("svm: kernel values or weights overflow: scale the data: %w", ErrFit)
	}
	return nil
}

// apart reports whether a hard margin, if there is one, is below what counts as one: every w that separates with margin g
// has g <= |sum alpha y x| / sum alpha.
func (v *svmValue) apart(radius2 float64) bool {
	const least = 1e-6 // of the longest example
	return v.sum > 0 && v.norm2 <= least*least*radius2*float64(v.sum*v.sum)
}

// notSeparable is the error of a hard margin that is not there.
func (v *svmValue) notSeparable(radius2 float64, iterations int64) error {
	return fmt.Errorf("svm: no hard margin after %d steps: if there is one it is at most %.3g, where the longest example is %.4g; allow slack with --C: %w",
		iterations, math.Sqrt(v.norm2)/v.sum, math.Sqrt(radius2), ErrNotSeparable)
}

// violated is how far y (f + b) may be from 1 where it should not.
const violated = 1e-3
