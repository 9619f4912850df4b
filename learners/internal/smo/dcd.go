package smo

import (
	"context"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// coordinateSolver solves the dual of the linear SVM without bias by coordinate descent, keeping w
// = sum alpha_t y_t x_t:
//
//	min 1/2 |w|^2 + ridge/2 sum alpha_t^2 - sum alpha_t,   0 <= alpha_t <= U           (1)
//	G = y_t w.x_t - 1 + ridge alpha_t                                                  (2)
//	alpha_t <- alpha_t - G/(|x_t|^2 + ridge), cut to the box                           (3)
//
// in a new random order every epoch, with shrinking: Algorithm 3 of C.-J. Hsieh, K.-W. Chang, C.-J.
// Lin, S. S. Keerthi, S. Sundararajan, "A Dual Coordinate Descent Method for Large-scale Linear
// SVM", ICML 2008, whose D_tt is ridge.
//
// All is float64, whatever T is: G is a difference of numbers near 1 where alpha is free.
type coordinateSolver[T learner.Float] struct {
	b    *engine.Block[T]
	p    Problem
	seed uint64

	W, Alpha []float64 // one a feature; one an example
	diag     []float64 // |x_t|^2 + ridge, the curvature of (1) along alpha_t
	// the examples of the next epoch; the others are taken to stay at their bounds
	active []int32
	// scratch of an epoch: the active examples in its order, and the permutation that this is
	order, perm []int32
	radius2     float64                 // the largest |x_t|^2
	Observe     func(learner.FitStatus) // called every 16 epochs or more often; or nil
}

// NewCoordinateSolver returns a solver at alpha = 0. seed is that of the orders of the epochs.
func NewCoordinateSolver[T learner.Float](b *engine.Block[T], p Problem,
	seed uint64) *coordinateSolver[T] {
	n := b.Len()
	s := &coordinateSolver[T]{b: b, p: p, seed: seed,
		W: make([]float64, b.Dim), Alpha: make([]float64, n), diag: make([]float64, n),
		active: make([]int32, n), order: make([]int32, n), perm: make([]int32, n)}
	for t := range n {
		_, val := b.Example(t)
		k := engine.SumSqOrdered(val)
		s.radius2 = max(s.radius2, k)
		s.diag[t] = k + s.p.Ridge
	}
	s.wake()
	return s
}

// wake makes all examples active.
func (s *coordinateSolver[T]) wake() {
	s.active = s.active[:len(s.Alpha)]
	for t := range s.active {
		s.active[t] = int32(t)
	}
}

// epoch visits the active examples once. It returns the extremes of the projected gradients, which
// are G where alpha can move along -G and 0 where the box is in the way: both are 0 at the
// solution. Examples at a bound whose gradient points out of the box by more than the extremes of
// the epoch before, mostBefore and leastBefore, leave the active set: they are likely to stay
// there.
func (s *coordinateSolver[T]) epoch(number uint64, mostBefore, leastBefore float64) (most,
	least float64) {
	most, least = math.Inf(-1), math.Inf(1)
	n := len(s.active)
	// The order is a function of seed, epoch and the active set, and of nothing else.
	engine.Permute(s.perm[:n], s.seed, number)
	for k, p := range s.perm[:n] {
		s.order[k] = s.active[p]
	}
	kept := s.active[:0] // written behind what was read into order
	for _, t32 := range s.order[:n] {
		t := int(t32)
		y, a := float64(s.b.Y[t]), s.Alpha[t]
		// (2), from w as it is after the example before
		g := float64(y*primal.DotFull(s.b, t, s.W)) - 1 + float64(s.p.Ridge*a)
		projected := g
		switch {
		case a <= 0:
			if g > mostBefore {
				continue // shrunk
			}
			projected = min(g, 0) // alpha can only grow
		case a >= s.p.Upper:
			if g < leastBefore {
				continue
			}
			projected = max(g, 0) // alpha can only fall
		}
		kept = append(kept, t32)
		most, least = max(most, projected), min(least, projected)
		if projected == 0 {
			continue
		}
		q := s.diag[t]
		if q <= 0 {
			q = tiny // no features: the bound, or as good as infinity
		}
		s.Alpha[t] = min(max(a-g/q, 0), s.p.Upper) // (3)
		if d := s.Alpha[t] - a; d != 0 {
			primal.AddFull(s.b, t, float64(d*y), s.W)
		}
	}
	s.active = kept
	return most, least
}

// LinearValue returns where alpha and a bias stand and leaves w = sum alpha_t y_t x_t, summed anew
// in the order of the examples. Cost: two passes over the non-zeros.
func LinearValue[T learner.Float](b *engine.Block[T], alpha, w []float64, bias float64,
	p Problem) Value {
	clear(w)
	v := Value{Bias: bias, least: math.Inf(1)}
	var square float64 // sum alpha_t^2
	for t, a := range alpha {
		if a != 0 {
			primal.AddFull(b, t, float64(a*float64(b.Y[t])), w)
			v.Sum += a
			square += float64(a * a)
		}
	}
	v.Norm2 = vecmath.SumSq(w)
	v.ext2 = v.Norm2 + float64(p.Ridge*square) // alpha'Q alpha of (1)
	var loss float64                           // sum of the hinges, or of their squares
	for t := range alpha {
		loss += v.example(p, alpha[t], float64(float64(b.Y[t])*(primal.DotFull(b, t, w)+bias)))
	}
	v.finish(p, loss)
	return v
}

// Solve runs until the relative duality gap is at most tol, or until limit steps, which are visits
// of examples. Its own criterion is eps, the spread of the projected gradients at which an epoch
// counts as optimal; how small it must be for a gap of tol depends on the data, so it begins large
// and falls by four each time that it is met and the gap is not.
func (s *coordinateSolver[T]) Solve(ctx context.Context, tol float64, limit int64) (Value, int64,
	error) {
	// Gradients G are sums of numbers around 1, y w.x and -1, with rounding errors of some 2^-53 =
	// 1e-16 for each of some dozens of terms: a spread of 1e-14 is as good as 0.
	const lowest = 1e-14
	hard := s.p.hard()
	if v := (Value{ext2: s.radius2}); v.overflow() != nil {
		return v, 0, v.overflow()
	}
	eps, steps := 0.5, int64(0) // gradients begin at -1
	mostBefore, leastBefore := math.Inf(1), math.Inf(-1)
	for number := uint64(0); ; number++ {
		if ctx.Err() != nil {
			return Value{}, steps, context.Cause(ctx)
		}
		steps += int64(len(s.active))
		most, least := s.epoch(number, mostBefore, leastBefore)
		optimal := !(most-least > eps) // also: nothing was active
		if optimal && len(s.active) < len(s.Alpha) && steps < limit {
			// optimal among the active ones: see whether it is so for all, without shrinking
			s.wake()
			mostBefore, leastBefore = math.Inf(1), math.Inf(-1)
			continue
		}
		// The next epoch shrinks by the extremes of this one. One on the wrong side of 0 would
		// shrink examples that have to move.
		if mostBefore, leastBefore = most, least; mostBefore <= 0 || optimal {
			mostBefore = math.Inf(1)
		}
		if leastBefore >= 0 || optimal {
			leastBefore = math.Inf(-1)
		}
		// The value costs what an epoch over all examples does: it is looked at where there is
		// hope, and every 16 epochs, so that a run can be observed and given up.
		if !optimal && steps < limit && number%16 != 15 {
			continue
		}
		// w afresh, without the rounding errors of the steps
		v := LinearValue(s.b, s.Alpha, s.W, 0, s.p)
		if err := v.overflow(); err != nil {
			return v, steps, err
		}
		v.Converged = v.Gap() <= tol
		if hard && v.apart(s.radius2) {
			return v, steps, v.notSeparable(s.radius2, steps)
		}
		if v.Converged || eps <= lowest && optimal {
			return v, steps, nil // Converged says which of the two it was
		}
		if s.Observe != nil {
			s.Observe(v.status(s.p, steps))
		}
		if steps >= limit {
			if hard && !(v.least > 0) {
				return v, steps, v.notSeparable(s.radius2, steps)
			}
			return v, steps, nil
		}
		if optimal {
			eps /= 4
		}
	}
}
