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
//	min 1/2 |w|^2 + ridge/2 sum alpha_t^2 - sum alpha_t,   0 <= alpha_t <= U
//	alpha_t <- alpha_t - G/(|x_t|^2 + ridge), cut to the box,   G = y_t w.x_t - 1 + ridge alpha_t
//
// in a new random order every epoch, with shrinking: Algorithm 3 of Hsieh et al. 2008.
type coordinateSolver[T learner.Float] struct {
	b    *engine.Block[T]
	p    Problem
	seed uint64

	W, Alpha    []float64
	diag        []float64 // |x_t|^2 + ridge
	active      []int32
	order, perm []int32
	radius2     float64 // the largest |x_t|^2
	Observe     func(learner.FitStatus)
}

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

func (s *coordinateSolver[T]) wake() {
	s.active = s.active[:len(s.Alpha)]
	for t := range s.active {
		s.active[t] = int32(t)
	}
}

// epoch visits the active examples once. It returns the extremes of the projected gradients;
// examples at a bound whose gradient lies beyond those of the last epoch leave the active set.
func (s *coordinateSolver[T]) epoch(number uint64, mostBefore, leastBefore float64) (most,
	least float64) {
	most, least = math.Inf(-1), math.Inf(1)
	n := len(s.active)
	engine.Permute(s.perm[:n], s.seed, number)
	for k, p := range s.perm[:n] {
		s.order[k] = s.active[p]
	}
	kept := s.active[:0]
	for _, t32 := range s.order[:n] {
		t := int(t32)
		y, a := float64(s.b.Y[t]), s.Alpha[t]
		g := float64(y*primal.DotFull(s.b, t, s.W)) - 1 + float64(s.p.Ridge*a)
		projected := g
		switch {
		case a <= 0:
			if g > mostBefore {
				continue
			}
			projected = min(g, 0)
		case a >= s.p.Upper:
			if g < leastBefore {
				continue
			}
			projected = max(g, 0)
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
		s.Alpha[t] = min(max(a-g/q, 0), s.p.Upper)
		if d := s.Alpha[t] - a; d != 0 {
			primal.AddFull(s.b, t, float64(d*y), s.W)
		}
	}
	s.active = kept
	return most, least
}

// LinearValue returns where alpha and a bias stand and leaves w = sum alpha_t y_t x_t.
func LinearValue[T learner.Float](b *engine.Block[T], alpha, w []float64, bias float64,
	p Problem) Value {
	clear(w)
	v := Value{Bias: bias, least: math.Inf(1)}
	var square float64
	for t, a := range alpha {
		if a != 0 {
			primal.AddFull(b, t, float64(a*float64(b.Y[t])), w)
			v.Sum += a
			square += float64(a * a)
		}
	}
	v.Norm2 = vecmath.SumSq(w)
	v.ext2 = v.Norm2 + float64(p.Ridge*square)
	var loss float64
	for t := range alpha {
		loss += v.example(p, alpha[t], float64(float64(b.Y[t])*(primal.DotFull(b, t, w)+bias)))
	}
	v.finish(p, loss)
	return v
}

// Solve runs until the relative duality gap is at most tol, or until limit steps.
func (s *coordinateSolver[T]) Solve(ctx context.Context, tol float64, limit int64) (Value, int64,
	error) {
	const lowest = 1e-14 // of violations: there the gradient is rounding errors
	hard := s.p.hard()
	if v := (Value{ext2: s.radius2}); v.overflow() != nil {
		return v, 0, v.overflow()
	}
	eps, steps := 0.5, int64(0)
	mostBefore, leastBefore := math.Inf(1), math.Inf(-1)
	for number := uint64(0); ; number++ {
		if ctx.Err() != nil {
			return Value{}, steps, context.Cause(ctx)
		}
		steps += int64(len(s.active))
		most, least := s.epoch(number, mostBefore, leastBefore)
		optimal := !(most-least > eps) // also: nothing was active
		if optimal && len(s.active) < len(s.Alpha) && steps < limit {
			s.wake()
			mostBefore, leastBefore = math.Inf(1), math.Inf(-1)
			continue
		}
		if mostBefore, leastBefore = most, least; mostBefore <= 0 || optimal {
			mostBefore = math.Inf(1)
		}
		if leastBefore >= 0 || optimal {
			leastBefore = math.Inf(-1)
		}
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
			return v, steps, nil
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
