package smo

import (
	"context"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// coordinateSolver solves the dual of the linear SVM by coordinate descent, keeping w = sum alpha_t
// y_t x_t:
//
//	min 1/2 |w|^2 + ridge/2 sum alpha_t^2 - sum alpha_t,   0 <= alpha_t <= U           (1)
//	G = y_t w.x_t - 1 + ridge alpha_t                                                  (2)
//	alpha_t <- alpha_t - G/(|x_t|^2 + ridge), cut to the box                           (3)
//
// in a new random order every epoch, with shrinking: Algorithm 3 of C.-J. Hsieh, K.-W. Chang, C.-J.
// Lin, S. S. Keerthi, S. Sundararajan, "A Dual Coordinate Descent Method for Large-scale Linear
// SVM", ICML 2008, whose D_tt is ridge. Of weighted examples U and ridge are their own.
//
// A bias b adds to the dual that sum y_t alpha_t = 0, which no single alpha_t can keep. So b is
// found by the method of multipliers: with a centre c it is
//
//	b = c + rho sum y_t alpha_t,   as if w.x_t had one more feature, of value sqrt(rho)    (4)
//
// and now and then c moves to b. The sum tends to 0. Where the objective is taken the side that has
// more gives what it has too much, so that its bounds are those of the problem itself. Source: D.
// P. Bertsekas, "Constrained Optimization and Lagrange Multiplier Methods", 1982, chapter 2.
//
// All is float64, whatever T is: G is a difference of numbers near 1 where alpha is free.
type coordinateSolver[T learner.Float] struct {
	b    *engine.Block[T]
	p    Problem
	seed uint64

	W, Alpha    []float64 // one a feature; one an example
	bias        float64
	centre, rho float64   // of (4); 0 without a bias
	sum, before float64   // sum y_t alpha_t; its size when c last moved
	fair        []float64 // alpha of which sum y_t alpha_t is 0; with a bias
	diag        []float64 // |x_t|^2 + ridge + rho, the curvature of (1) along alpha_t
	// the examples of the next epoch; the others are taken to stay at their bounds
	active  []int32
	movable int // how many there are that are not of weight 0
	// scratch of an epoch: the active examples in its order, and the permutation that this is
	order, perm []int32
	most, least float64 // extremes of the projected gradients; infinite: none is shrunk
	radius2     float64 // the largest |x_t|^2
	// called every 16 epochs over all examples or more often; or nil
	Observe func(learner.FitStatus)
}

// NewCoordinateSolver returns a solver at alpha = 0. seed is that of the orders of the epochs.
func NewCoordinateSolver[T learner.Float](b *engine.Block[T], p Problem,
	seed uint64) *coordinateSolver[T] {
	n := b.Len()
	s := &coordinateSolver[T]{b: b, p: p, seed: seed,
		W: make([]float64, b.Dim), Alpha: make([]float64, n), diag: make([]float64, n),
		active: make([]int32, n), order: make([]int32, n), perm: make([]int32, n)}
	var inverse, nonzero float64
	for t := range n {
		_, val := b.Example(t)
		k := engine.SumSqOrdered(val)
		s.radius2 = max(s.radius2, k)
		s.diag[t] = k + s.p.ridge(t)
		if k > 0 {
			inverse += 1 / k
			nonzero++
		}
	}
	if p.Bias {
		// a feature like the examples' own, so that b moves no slower and no faster than w: their
		// harmonic mean, as a step is 1/(|x|^2 + rho)
		s.rho = 1
		if nonzero > 0 {
			s.rho = nonzero / inverse
		}
		s.fair, s.before = make([]float64, n), math.Inf(1)
		for t := range s.diag {
			s.diag[t] += s.rho
		}
	}
	s.wake()
	return s
}

// wake makes all examples active, and has the next epoch shrink none of them.
func (s *coordinateSolver[T]) wake() {
	s.most, s.least = math.Inf(1), math.Inf(-1)
	s.active = s.active[:0]
	for t := range s.Alpha {
		if s.p.upper(t) > 0 { // else of weight 0
			s.active = append(s.active, int32(t))
		}
	}
	s.movable = len(s.active)
}

// epoch visits the active examples once. It returns the spread of the projected gradients, which
// are G where alpha can move along -G and 0 where the box is in the way: all are 0 at the solution.
// Examples at a bound whose gradient points out of the box by more than the extremes of the epoch
// before, most and least, leave the active set: they are likely to stay there.
func (s *coordinateSolver[T]) epoch(number uint64) (spread float64) {
	// 0 belongs to them: a single gradient has no spread of its own
	most, least := 0.0, 0.0
	n := len(s.active)
	// The order is a function of seed, epoch and the active set, and of nothing else.
	engine.Permute(s.perm[:n], s.seed, number)
	for k, p := range s.perm[:n] {
		s.order[k] = s.active[p]
	}
	kept := s.active[:0] // written behind what was read into order
	for _, t32 := range s.order[:n] {
		t := int(t32)
		y, a, upper := float64(s.b.Y[t]), s.Alpha[t], s.p.upper(t)
		// (2), from w and b as they are after the example before
		g := float64(y*(primal.DotFull(s.b, t, s.W)+s.bias)) - 1 + float64(s.p.ridge(t)*a)
		projected := g
		switch {
		case a <= 0:
			if g > s.most {
				continue // shrunk
			}
			projected = min(g, 0) // alpha can only grow
		case a >= upper:
			if g < s.least {
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
		s.Alpha[t] = min(max(a-g/q, 0), upper) // (3)
		if d := s.Alpha[t] - a; d != 0 {
			primal.AddFull(s.b, t, float64(d*y), s.W)
			s.bias += float64(s.rho * float64(d*y))
		}
	}
	s.active = kept
	// The next epoch shrinks by the extremes of this one. Without one on its side of 0 it would
	// shrink examples that have to move.
	s.most, s.least = math.Inf(1), math.Inf(-1)
	if most > 0 {
		s.most = most
	}
	if least < 0 {
		s.least = least
	}
	return most - least
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
			square += float64(a * a / p.weight(t))
		}
	}
	v.Norm2 = vecmath.SumSq(w)
	v.ext2 = v.Norm2 + float64(p.Ridge*square) // alpha'Q alpha of (1)
	var loss float64                           // sum of the hinges, or of their squares
	for t := range alpha {
		loss += v.example(&p, t, alpha[t], float64(float64(b.Y[t])*(primal.DotFull(b, t, w)+bias)))
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
	if v := (Value{ext2: s.radius2}); v.overflow() != nil {
		return v, 0, v.overflow()
	}
	if v, ok := oneLabel(s.b.Y, &s.p); ok && s.p.Bias {
		return v, 0, nil
	}
	eps, steps, valued := 0.5, int64(0), int64(0) // gradients begin at -1
	for number := uint64(0); ; number++ {
		if ctx.Err() != nil {
			return Value{}, steps, context.Cause(ctx)
		}
		steps += int64(len(s.active))
		optimal := s.epoch(number) <= eps
		if optimal && len(s.active) < s.movable && steps < limit {
			s.wake() // optimal among the active ones: see whether it is so for all
			continue
		}
		// The value costs what two epochs over all examples do: it is looked at where there is
		// hope, and every 16 such epochs, so that a run can be observed and given up.
		if !optimal && steps < limit && steps-valued < 16*int64(len(s.Alpha)) {
			continue
		}
		valued = steps
		v := s.value()
		if err := v.overflow(); err != nil {
			return v, steps, err
		}
		v.Converged = v.Gap() <= tol
		if v.Converged || steps >= limit || eps <= lowest && optimal ||
			s.p.hard() && v.apart(s.radius2) {
			return v, steps, s.finish(&v, steps)
		}
		if s.Observe != nil {
			s.Observe(v.status(s.p, steps))
		}
		if s.p.Bias {
			s.refresh()
		}
		if optimal {
			s.wake()
			if !s.p.Bias || !s.moveCentre(eps) {
				eps /= 4
			}
		}
	}
}

// lowest is the least spread of gradients that means something: gradients G are sums of numbers
// around 1, y w.x and -1, with rounding errors of some 2^-53 = 1e-16 for each of some dozens of
// terms.
const lowest = 1e-14

// value returns where alpha stands, with a bias the share of it that keeps the constraint, and
// leaves w of that, without the rounding errors of the steps.
func (s *coordinateSolver[T]) value() Value {
	if !s.p.Bias {
		return LinearValue(s.b, s.Alpha, s.W, 0, s.p)
	}
	copy(s.fair, s.Alpha)
	balance(s.fair, s.b.Y, &s.p)
	return LinearValue(s.b, s.fair, s.W, s.bias, s.p)
}

// refresh takes w and b afresh, of alpha.
func (s *coordinateSolver[T]) refresh() {
	clear(s.W)
	s.sum = 0
	for t, a := range s.Alpha {
		if a != 0 {
			ay := float64(a * float64(s.b.Y[t]))
			primal.AddFull(s.b, t, ay, s.W)
			s.sum += ay
		}
	}
	s.bias = s.centre + float64(s.rho*s.sum)
}

// moveCentre moves c to b, and b on, and reports whether that is farther than eps, so that it is b,
// and not alpha, that has far to go. If it comes on slowly besides, where sum y_t alpha_t did not
// fall to a quarter, b weighs more from now on.
func (s *coordinateSolver[T]) moveCentre(eps float64) (far bool) {
	off := math.Abs(s.sum)
	s.centre = s.bias
	far = float64(s.rho*off) > eps
	if far && off > s.before/4 {
		for t := range s.diag {
			s.diag[t] += float64(3 * s.rho)
		}
		s.rho *= 4
	}
	s.before = off
	s.bias = s.centre + float64(s.rho*s.sum)
	return far
}

// finish leaves in Alpha and W what v, the last value, is of. The error is that there is no hard
// margin.
func (s *coordinateSolver[T]) finish(v *Value, steps int64) error {
	if s.p.hard() && !v.Converged && (v.apart(s.radius2) || !(v.least > 0)) {
		return v.notSeparable(s.radius2, steps)
	}
	if s.p.Bias {
		s.Alpha = s.fair
	}
	if v.Converged {
		v.scale(s.p, s.Alpha, s.W)
	}
	return nil
}
