package smo

import (
	"context"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
)

// pairSolver solves the dual of the SVM over the rows of a Gram matrix. With beta_t = y_t alpha_t
// and the box lo_t <= beta_t <= hi_t (0 and y_t U, in order; of weighted examples U and ridge are
// their own) it is
//
//	min 1/2 beta'(K + ridge I)beta - y'beta,   sum_t beta_t = 0 if there is a bias       (1)
//
// with the gradient e_t = (K beta)_t + ridge beta_t - y_t. With a bias a step moves the pair of
// R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working Set Selection Using Second Order Information for
// Training Support Vector Machines", JMLR 6:1889-1918, 2005 (WSS 2):
//
//	i = argmax {-e_t : beta_t < hi_t}                                      (2)
//	j = argmax {(e_t - e_i)^2 / a_it : beta_t > lo_t, e_t > e_i}           (3)
//	    with a_it = K_ii + K_tt - 2 K_it + 2 ridge
//	beta_i += d, beta_j -= d,  d = (e_j - e_i)/a_ij, cut to the box                    (4)
//
// and without one the single t of the largest e_t^2/(K_tt + ridge) that the box lets move, by
// -e_t/(K_tt + ridge). Ties go to the lowest number.
//
// Shrinking takes examples that can't be in a pair out of the search. The gradient is kept for all:
// two fused passes over a row cost less than what is kept of the search, and nothing has to be
// rebuilt when an example comes back.
type pairSolver[T learner.Float] struct {
	rows engine.RowSource[T] // of K, in the precision of the examples; all else is float64
	y    []float64           // -1 or +1
	p    Problem

	Beta, e []float64 // y_t alpha_t; the gradient e_t of all examples, active or not
	diag    []float64 // K_tt + ridge
	// 0 where beta_t < hi_t (beta_t > lo_t), else -Inf: added to what is searched, they save a
	// branch
	up, low []float64
	active  []int32                 // examples of the search, ascending: ties go to the lowest
	radius2 float64                 // the largest K_tt
	Observe func(learner.FitStatus) // or nil
}

// tiny stands for a curvature that is not positive: K is not positive definite, or two examples
// coincide. The step is then as good as infinite, and ends at the box where there is one. The value
// is that of LIBSVM.
const tiny = 1e-12

// NewPairSolver returns a solver at beta = 0, where the gradient is -y.
func NewPairSolver[T learner.Float](rows engine.RowSource[T], y []float64,
	p Problem) *pairSolver[T] {
	n := len(y)
	s := &pairSolver[T]{rows: rows, y: y, p: p,
		Beta: make([]float64, n), e: make([]float64, n), diag: make([]float64, n),
		up: make([]float64, n), low: make([]float64, n), active: make([]int32, n)}
	for t := range n {
		k := float64(rows.Diag(t))
		s.radius2 = max(s.radius2, k)
		s.diag[t] = k + s.p.ridge(t)
		s.e[t] = -y[t]
		s.box(t)
	}
	s.wake()
	return s
}

// box notes which ways beta_t can move: up to hi_t = max(0, y_t U), down to lo_t = min(0, y_t U).
// With U = +Inf one of the two is never reached.
func (s *pairSolver[T]) box(t int) {
	inf := math.Inf(-1)
	s.up[t], s.low[t] = 0, 0
	if b := s.Beta[t]; s.y[t] > 0 {
		if b >= s.p.upper(t) {
			s.up[t] = inf
		}
		if b <= 0 {
			s.low[t] = inf
		}
	} else {
		if b >= 0 {
			s.up[t] = inf
		}
		if b <= -s.p.upper(t) {
			s.low[t] = inf
		}
	}
}

// bounds returns lo_t and hi_t.
func (s *pairSolver[T]) bounds(t int) (lo, hi float64) {
	if s.y[t] > 0 {
		return 0, s.p.upper(t)
	}
	return -s.p.upper(t), 0
}

// wake makes all examples active.
func (s *pairSolver[T]) wake() {
	s.active = s.active[:len(s.y)]
	for t := range s.active {
		s.active[t] = int32(t)
	}
}

// first returns i of (2) and m = -e_i; i is -1 if no beta can grow.
func (s *pairSolver[T]) first() (i int, m float64) {
	i, m = -1, math.Inf(-1)
	e, up := s.e, s.up[:len(s.e)]
	if len(s.active) == len(e) { // the same loop without the indirection
		for t, v := range e {
			if v = up[t] - v; v > m {
				i, m = t, v
			}
		}
		return i, m
	}
	for _, t := range s.active {
		if v := up[t] - e[t]; v > m {
			i, m = int(t), v
		}
	}
	return i, m
}

// second returns j of (3) for i, whose -e is m and whose row is given, and the largest m + e_t that
// the box lets move, at most 0 if there is none. Quotients are compared by their cross products.
func (s *pairSolver[T]) second(i int, m float64, row []T) (j int, violation float64) {
	j = -1
	var num, den float64 = 0, 1 // the best so far
	kii := s.diag[i]
	e, low, diag := s.e, s.low[:len(s.e)], s.diag[:len(s.e)]
	row = row[:len(e)]
	if len(s.active) == len(e) {
		for t, v := range e {
			b := m + v + low[t]
			if b <= 0 {
				continue
			}
			violation = max(violation, b)
			a := kii + diag[t] - 2*float64(row[t])
			if a <= 0 {
				a = tiny
			}
			if b2 := float64(b * b); float64(b2*den) > float64(num*a) { // (3), without a division
				j, num, den = t, b2, a
			}
		}
		return j, violation
	}
	for _, t := range s.active {
		b := m + e[t] + low[t]
		if b <= 0 {
			continue
		}
		violation = max(violation, b)
		a := kii + diag[t] - 2*float64(row[t])
		if a <= 0 {
			a = tiny
		}
		if b2 := float64(b * b); float64(b2*den) > float64(num*a) {
			j, num, den = int(t), b2, a
		}
	}
	return j, violation
}

// single returns the example that gains most when it moves alone, by e_t^2/(2 (K_tt + ridge)) of
// (1) if the box does not cut the step, and the largest |e_t| that the box lets move.
func (s *pairSolver[T]) single() (i int, violation float64) {
	i = -1
	var num, den float64 = 0, 1
	for _, t := range s.active {
		g := max(s.up[t]-s.e[t], s.low[t]+s.e[t]) // |e_t| if the box lets beta_t move along -e_t
		if g <= 0 {
			continue
		}
		violation = max(violation, g)
		a := s.diag[t]
		if a <= 0 {
			a = tiny
		}
		if g2 := float64(g * g); float64(g2*den) > float64(num*a) {
			i, num, den = int(t), g2, a
		}
	}
	return i, violation
}

// shrink takes out of the search the examples at a bound that no violator m or M can pair with: the
// extremes of -e over what can grow and over what can fall. Without a bias both stand for 0.
func (s *pairSolver[T]) shrink() {
	m, M := 0.0, 0.0
	if s.p.Bias { // at the solution M >= m: the bias lies between them
		m, M = math.Inf(-1), math.Inf(1)
		for _, t := range s.active {
			m = max(m, s.up[t]-s.e[t])
			M = min(M, -s.low[t]-s.e[t])
		}
	}
	kept := s.active[:0]
	for _, t := range s.active {
		switch v := -s.e[t]; {
		case s.up[t] != 0 && v > m: // at hi and pressed against it
		case s.low[t] != 0 && v < M: // at lo, likewise
		default:
			kept = append(kept, t)
		}
	}
	s.active = kept
}

// move adds d to beta_t, putting it on the bound where it arrives, and the row's share to the
// gradient.
func (s *pairSolver[T]) move(t int, d float64, bound float64, row []T) {
	if math.Abs(d) >= math.Abs(bound-s.Beta[t]) {
		s.Beta[t] = bound // exactly, so that box sees it there
	} else {
		s.Beta[t] += d
	}
	s.e[t] += float64(s.p.ridge(t) * d) // of the diagonal, which rows of K don't have
	vecmath.AxpyMixed(s.e, d, row)
	s.box(t)
}

// step makes one step from the violator search. It returns the violation it found: the search is
// over where that is at most eps.
func (s *pairSolver[T]) step(ctx context.Context, eps float64) (violation float64, err error) {
	if !s.p.Bias { // no constraint ties the betas: one moves alone
		i, violation := s.single()
		if violation <= eps {
			return violation, nil
		}
		row, err := s.rows.Row(ctx, i, len(s.y))
		if err != nil {
			return violation, err
		}
		a := s.diag[i]
		if a <= 0 {
			a = tiny
		}
		lo, hi := s.bounds(i)
		d, bound := -s.e[i]/a, hi // to the minimum of (1) along beta_i
		if d < 0 {
			bound = lo
		}
		if math.Abs(d) > math.Abs(bound-s.Beta[i]) {
			d = bound - s.Beta[i] // cut to the box; the gradient takes this d
		}
		if s.Beta[i]+d == s.Beta[i] {
			return 0, nil // below its rounding
		}
		s.move(i, d, bound, row)
		return violation, nil
	}
	i, m := s.first() // (2)
	if i < 0 {
		return 0, nil
	}
	row, err := s.rows.Row(ctx, i, len(s.y))
	if err != nil {
		return 0, err
	}
	j, violation := s.second(i, m, row) // (3)
	if j < 0 || violation <= eps {
		return violation, nil
	}
	a := s.diag[i] + s.diag[j] - 2*float64(row[j]) // a_ij: diag has ridge twice
	if a <= 0 {
		a = tiny
	}
	other, err := s.rows.Row(ctx, j, len(s.y))
	if err != nil {
		return violation, err
	}
	_, hi := s.bounds(i)
	lo, _ := s.bounds(j)
	d := min((m+s.e[j])/a, hi-s.Beta[i], s.Beta[j]-lo) // (4)
	if s.Beta[i]+d == s.Beta[i] && s.Beta[j]-d == s.Beta[j] {
		return 0, nil // below the rounding of both
	}
	s.move(i, d, hi, row) // sum beta stays 0
	s.move(j, -d, lo, other)
	return violation, nil
}

// rebuild computes the gradient afresh from beta, clearing the rounding errors of the steps. Cost:
// a kernel row for each support vector.
func (s *pairSolver[T]) rebuild(ctx context.Context) error {
	for t, y := range s.y {
		s.e[t] = float64(s.p.ridge(t)*s.Beta[t]) - y
	}
	for t, b := range s.Beta {
		if b == 0 {
			continue
		}
		row, err := s.rows.Row(ctx, t, len(s.y))
		if err != nil {
			return err
		}
		vecmath.AxpyMixed(s.e, b, row)
	}
	return nil
}

// intercept returns b of f(x) + b: half way between what the two sides of the optimality conditions
// allow, -e_t <= b where beta_t can grow and -e_t >= b where it can fall. A free example, whose
// beta_t can do both, has b = -e_t, so that m = M at the solution; with none the half is a choice.
func (s *pairSolver[T]) intercept() float64 {
	if !s.p.Bias {
		return 0
	}
	m, M := math.Inf(-1), math.Inf(1)
	for t, e := range s.e {
		m = max(m, s.up[t]-e)
		M = min(M, -s.low[t]-e)
	}
	switch { // sides without an example
	case math.IsInf(m, 0) && math.IsInf(M, 0):
		return 0
	case math.IsInf(m, 0):
		return M
	case math.IsInf(M, 0):
		return m
	}
	return (m + M) / 2
}

// value returns where beta stands, from the gradient alone: (K beta)_t = e_t + y_t - ridge beta_t
// is the score of example t without bias, and |w|^2 = beta'K beta. Cost: O(examples).
func (s *pairSolver[T]) value() Value {
	v := Value{Bias: s.intercept(), least: math.Inf(1)}
	var loss, ext float64 // ext = beta'(K + ridge)beta
	for t, e := range s.e {
		b, y, ridge := s.Beta[t], s.y[t], s.p.ridge(t)
		v.Sum += math.Abs(b)
		ext += float64(b * (e + y))
		v.Norm2 -= float64(ridge * float64(b*b))
		loss += v.example(&s.p, t, math.Abs(b), float64(y*(e+y-float64(ridge*b)+v.Bias)))
	}
	v.Norm2 = max(0, v.Norm2+ext) // roundings, or a K that is not positive definite
	v.ext2 = max(0, ext)
	v.finish(s.p, loss)
	return v
}

// Solve runs until the relative duality gap is at most tol, or until limit steps. As in the
// coordinate solver, eps is the violation m + e_j up to which the search goes on: it begins large
// and falls by four each time that it is met and the gap is not.
func (s *pairSolver[T]) Solve(ctx context.Context, tol float64, limit int64) (Value, int64, error) {
	// Of violations, relative to the range of the scores: some hundred roundings of 2^-53, of the
	// sum that a gradient is. Below it violations are rounding errors.
	const lowest = 1e-14
	// Steps from one look at ctx, hard margin and shrinking to the next. They cost O(examples), so
	// that with as many steps between them they are no more than a step's share; 1000, as LIBSVM
	// has it, keeps the search short on large data.
	every := int64(min(max(len(s.y), 1), 1000))
	if v := (Value{ext2: s.radius2}); v.overflow() != nil {
		return v, 0, v.overflow()
	}
	eps, iterations := 0.5, int64(0) // violations begin at 2 with a bias, at 1 without
	checked := int64(-1)             // iterations at the last rebuild
	for {
		violation, err := s.step(ctx, eps)
		if err != nil {
			return Value{}, iterations, err
		}
		if violation > eps {
			iterations++
			if iterations%every != 0 && iterations < limit {
				continue
			}
			if ctx.Err() != nil {
				return Value{}, iterations, context.Cause(ctx)
			}
			if s.p.hard() || s.Observe != nil {
				v := s.value()
				if s.p.hard() && v.apart(s.radius2) {
					return v, iterations, v.notSeparable(s.radius2, iterations)
				}
				if s.Observe != nil {
					s.Observe(v.status(s.p, iterations))
				}
			}
			if iterations < limit {
				s.shrink()
				continue
			}
		} else if len(s.active) < len(s.y) {
			s.wake() // optimal among the active ones: search all
			continue
		}
		v := s.value()
		if err := v.overflow(); err != nil {
			return v, iterations, err
		}
		if iterations >= limit || v.Gap() <= tol {
			if checked != iterations { // be sure of it without the rounding errors of the steps
				checked = iterations
				if err := s.rebuild(ctx); err != nil {
					return v, iterations, err
				}
				v = s.value()
			}
			if v.Gap() <= tol {
				v.Converged = true
				return v, iterations, nil
			}
			if iterations >= limit {
				if s.p.hard() && !(v.least > 0) {
					return v, iterations, v.notSeparable(s.radius2, iterations)
				}
				return v, iterations, nil
			}
		}
		if floor := lowest * (1 + slices.Max(s.e) - slices.Min(s.e)); eps <= floor {
			return v, iterations, nil // as near as float64 gets
		}
		eps /= 4
	}
}
