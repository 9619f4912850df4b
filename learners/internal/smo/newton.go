package smo

import (
	"context"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/linalg"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// MostNewtonDim is the number of features up to which linear problems are solved by Newton steps,
// each of which factors a matrix of features x features.
const MostNewtonDim = 1024

// newtonSolver solves the linear SVM, with or without a bias, by Newton steps on
//
//	P(w, b) = 1/2 |w|^2 + sum_t R/2 (clip(z_t)^2 + 2 clip(z_t) (z_t - clip(z_t)))
//	z_t = (r c_t + 1 - y_t (w.x_t + b))/R,   R = r + ridge,   clip to 0..U
//
// (of weighted examples U, ridge and R are their own),
//
// whose slopes are piecewise linear and whose minimum gives alpha_t = clip(z_t): the solution of
// the dual with the proximal term r/2 sum (alpha_t - c_t)^2. From there c = alpha and r shrinks, so
// that alpha tends to the solution of the dual itself. With a ridge there is nothing to be made
// smooth: r is 0, and P is the 2-norm SVM.
//
// The examples with 0 < z_t < U, the band, make P's second derivative I + sum x_t x_t'/R, b's row
// and column beside it. From step to step few examples enter or leave the band, so that the sum is
// kept and only these are added or taken away.
//
// Sources: Y. Yan, Q. Li, "An efficient augmented Lagrangian method for support vector machine",
// Optimization Methods and Software 35, 2020. Norm 2: S. S. Keerthi, D. DeCoste, "A modified finite
// Newton method for fast solution of large scale linear SVMs", JMLR 6, 2005.
//
// Cost: a step takes O(non-zeros) and d^3/6 multiply-adds for d features; some 10 steps for Norm 2,
// 50 for Norm 1. Memory: d^2 and 4 numbers an example.
type newtonSolver[T learner.Float] struct {
	b    *engine.Block[T]
	p    Problem
	pool *engine.Pool

	W, Alpha []float64
	radius2  float64 // the largest |x_t|^2
	mean2    float64 // the mean of |x_t|^2
	Observe  func(learner.FitStatus)

	w, step []float64 // where P is looked at, and the Newton step; with a bias that comes last
	r, sum  float64   // of the proximal term; R
	z, e    []float64 // z_t, and how much a whole step takes from it
	a       []float64 // clip(z_t)
	q       []float64 // sum a_t y_t x_t; with a bias sum a_t y_t comes last

	band    []bool       // those that the sum has
	moments linalg.Lower // sum of x_t x_t' over the band
	factor  linalg.Lower // of P's second derivative
	moved   [2][]int32   // those that enter, and that leave
	columns []float64    // features of some of these, a row a feature
	dots    []float64    // their products, as moments
	taken   int          // examples in columns
	sign    float64      // with which their products count
}

// columnRows is how many dense examples are taken into the sum at a time: their features, turned
// round, lie in the cache.
const columnRows = 128

// NewNewtonSolver returns a solver for a block of at most [MostNewtonDim] features. The results
// don't depend on the pool, which dense examples alone are worth.
func NewNewtonSolver[T learner.Float](b *engine.Block[T], p Problem,
	pool *engine.Pool) *newtonSolver[T] {
	n, d := b.Len(), b.Dim
	if p.Bias {
		d++
	}
	if !b.Dense() {
		// Of sparse examples only a fifth of the work could be others', a product an example: for
		// that they would keep processors awake all the time.
		pool = nil
	}
	s := &newtonSolver[T]{b: b, p: p, pool: pool,
		W: make([]float64, b.Dim), Alpha: make([]float64, n),
		w: make([]float64, d), step: make([]float64, d), q: make([]float64, d),
		z: make([]float64, n), e: make([]float64, n), a: make([]float64, n),
		band:    make([]bool, n),
		moments: linalg.Lower{A: make([]float64, d*(d+1)/2)},
		factor:  linalg.Lower{A: make([]float64, d*(d+1)/2)}}
	for t := range n {
		_, val := b.Example(t)
		k := engine.SumSqOrdered(val)
		s.radius2 = max(s.radius2, k)
		s.mean2 += k / float64(n)
	}
	return s
}

// bias returns b.
func (s *newtonSolver[T]) bias() float64 {
	if !s.p.Bias {
		return 0
	}
	return s.w[s.b.Dim]
}

// dot returns x_t.v, v of the form of w.
func (s *newtonSolver[T]) dot(t int, v []float64) float64 {
	f := primal.DotFull(s.b, t, v)
	if s.p.Bias {
		f += v[s.b.Dim]
	}
	return f
}

// add adds c times x_t to v, of the form of w.
func (s *newtonSolver[T]) add(t int, c float64, v []float64) {
	primal.AddFull(s.b, t, c, v)
	if s.p.Bias {
		v[s.b.Dim] += c
	}
}

// Solve runs until the relative duality gap is at most tol, or until limit steps.
func (s *newtonSolver[T]) Solve(ctx context.Context, tol float64, limit int64) (Value, int64,
	error) {
	const (
		shrink = 4     // r falls by this
		least  = 1e-10 // and not below this share of the examples' mean squared length
	)
	if v := (Value{ext2: s.radius2}); v.overflow() != nil {
		return v, 0, v.overflow()
	}
	if v, ok := oneLabel(s.b.Y, &s.p); ok && s.p.Bias {
		return v, 0, nil
	}
	if s.p.Ridge == 0 {
		s.r = max(2/s.p.Upper, 0.02*s.mean2, tiny)
	}
	var steps int64
	for {
		if err := s.minimise(ctx, &steps, limit); err != nil {
			return Value{}, steps, err
		}
		if s.p.Bias {
			balance(s.Alpha, s.b.Y, &s.p)
		}
		v := LinearValue(s.b, s.Alpha, s.W, s.bias(), s.p)
		if err := v.overflow(); err != nil {
			return v, steps, err
		}
		v.Converged = v.Gap() <= tol
		switch {
		case v.Converged:
			v.scale(s.p, s.Alpha, s.W)
			return v, steps, nil
		case s.p.hard() && (v.apart(s.radius2) || steps >= limit && !(v.least > 0)):
			return v, steps, v.notSeparable(s.radius2, steps)
		case steps >= limit:
			return v, steps, nil
		}
		if s.Observe != nil {
			s.Observe(v.status(s.p, steps))
		}
		s.r = max(s.r/shrink, min(s.r, least*s.mean2))
	}
}

// minimise takes Newton steps until the slope of P is small beside what it was.
func (s *newtonSolver[T]) minimise(ctx context.Context, steps *int64, limit int64) error {
	const (
		most   = 50   // steps, after which a smaller r may do better
		enough = 1e-3 // of the slope
	)
	s.begin()
	var goal float64
	for k := range most {
		slope := s.slope()
		if k == 0 {
			goal = enough * slope
		} else if slope <= goal || *steps >= limit {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.newton(ctx); err != nil {
			return err
		}
		far, err := s.search(ctx)
		if err != nil {
			return err
		}
		s.move(far)
		*steps++
	}
	// z is rounded by some 2^-52/R: what is as near as that to a bound is there
	near := 0x1p-48 / s.sum
	for t, a := range s.a {
		switch {
		case a <= near:
			a = 0
		case a >= s.p.upper(t)-near:
			a = s.p.upper(t)
		}
		s.Alpha[t] = a
	}
	return nil
}

// begin takes Alpha as the centre of the proximal term and finds z and q afresh.
func (s *newtonSolver[T]) begin() {
	s.sum = s.r + s.p.Ridge
	clear(s.q)
	for t, c := range s.Alpha {
		y := float64(s.b.Y[t])
		s.z[t] = (float64(s.r*c) + 1 - float64(y*s.dot(t, s.w))) / s.scale(t)
		if s.a[t] = s.clip(t, s.z[t]); s.a[t] != 0 {
			s.add(t, float64(s.a[t]*y), s.q)
		}
	}
}

func (s *newtonSolver[T]) clip(t int, z float64) float64 { return min(max(z, 0), s.p.upper(t)) }

// scale returns R of example t.
func (s *newtonSolver[T]) scale(t int) float64 { return s.r + s.p.ridge(t) }

// share returns how many times larger R is without weights: so often x_t x_t' counts in moments.
func (s *newtonSolver[T]) share(t int) float64 {
	if s.p.Ridge == 0 || s.p.weight(t) == 0 {
		return 1
	}
	return s.p.weight(t)
}

// slope leaves minus P's slope, q - w, in step and returns its length.
func (s *newtonSolver[T]) slope() float64 {
	d := s.b.Dim
	copy(s.step, s.q)
	vecmath.Axpy(s.step[:d], -1, s.w[:d])
	return math.Sqrt(vecmath.SumSq(s.step))
}

// newton replaces minus the slope in step by the Newton step.
func (s *newtonSolver[T]) newton(ctx context.Context) error {
	if err := s.follow(ctx); err != nil {
		return err
	}
	d, n := s.b.Dim, len(s.step)
	for k, v := range s.moments.A {
		s.factor.A[k] = v / s.sum
	}
	for j := range d {
		s.factor.Row(j)[j]++
	}
	if s.p.Bias {
		// Where the band is empty P is linear in b. No step needs to be longer than 1, by which
		// margins are measured: as if the second derivative were at least the slope.
		v := s.factor.Row(d)[d]
		s.factor.Row(d)[d] = v + math.Abs(s.step[d]) + float64(1e-12*v) + tiny
	}
	if !linalg.Cholesky(s.factor, n) {
		return nil // so large that 1 is lost: along the slope
	}
	linalg.Solve(s.factor, n, s.step)
	return nil
}

// follow has moments hold the sum over the present band.
func (s *newtonSolver[T]) follow(ctx context.Context) error {
	in, out := s.moved[0][:0], s.moved[1][:0]
	size := 0
	for t, z := range s.z {
		now := z > 0 && z < s.p.upper(t)
		if now {
			size++
		}
		if now != s.band[t] {
			if s.band[t] = now; now {
				in = append(in, int32(t))
			} else {
				out = append(out, int32(t))
			}
		}
	}
	if len(in)+len(out) > size { // less work, and free of rounding errors of the past
		clear(s.moments.A)
		in, out = in[:0], out[:0]
		for t, now := range s.band {
			if now {
				in = append(in, int32(t))
			}
		}
	}
	s.moved = [2][]int32{in, out}
	if err := s.take(ctx, in, 1); err != nil {
		return err
	}
	return s.take(ctx, out, -1)
}

// take adds sign times x_t x_t' of the given examples to moments.
func (s *newtonSolver[T]) take(ctx context.Context, list []int32, sign float64) error {
	if s.b.Dense() {
		s.sign = sign
		for ; len(list) > 0; list = list[s.taken:] {
			s.turn(list[:min(len(list), columnRows)])
			parts := (len(s.w) + partColumns - 1) / partColumns
			if err := s.pool.Run(ctx, parts, (*products[T])(s)); err != nil {
				return err
			}
		}
		return nil
	}
	last := s.moments.Row(len(s.w) - 1)
	for _, t := range list {
		idx, val := s.b.Sparse(int(t))
		sign := float64(sign * s.share(int(t)))
		for n, j := range idx {
			row, c := s.moments.Row(int(j)), float64(sign*float64(val[n]))
			for k, i := range idx[:n+1] {
				row[i] += float64(c * float64(val[k]))
			}
			if s.p.Bias {
				last[j] += c
			}
		}
		if s.p.Bias {
			last[s.b.Dim] += sign
		}
	}
	return nil
}

// turn takes the features of at most columnRows dense examples into columns.
func (s *newtonSolver[T]) turn(list []int32) {
	if s.columns == nil {
		s.columns, s.dots = make([]float64, len(s.w)*columnRows), make([]float64, len(s.moments.A))
	}
	s.taken = len(list)
	for r, t := range list {
		root := math.Sqrt(s.share(int(t))) // of each of two factors
		for j, v := range s.b.Row(int(t))[:s.b.Dim] {
			s.columns[j*columnRows+r] = float64(root * float64(v))
		}
		if s.p.Bias {
			s.columns[s.b.Dim*columnRows+r] = root
		}
	}
}

// products adds the products of columns to some rows of moments.
type products[T learner.Float] newtonSolver[T]

// partColumns is how many rows of moments are a part, partRows how many examples.
const partColumns, partRows = 16, 1024

// Part is engine.Job's.
func (s *products[T]) Part(p int) {
	for i := p * partColumns; i < min((p+1)*partColumns, len(s.w)); i++ {
		dots := linalg.Lower{A: s.dots}.Row(i)
		vecmath.RowsDot(dots, s.columns[:i*columnRows+s.taken], columnRows,
			s.columns[i*columnRows:][:s.taken])
		vecmath.Axpy(s.moments.Row(i), s.sign, dots)
	}
}

// slopes finds how much a whole step takes from some z.
type slopes[T learner.Float] newtonSolver[T]

// Part is engine.Job's.
func (s *slopes[T]) Part(p int) {
	for t := p * partRows; t < min((p+1)*partRows, len(s.e)); t++ {
		y := float64(s.b.Y[t])
		s.e[t] = float64(y*(*newtonSolver[T])(s).dot(t, s.step)) / (*newtonSolver[T])(s).scale(t)
	}
}

// search returns how many steps to go: there P's slope along the step is a tenth of what it is
// here, or less.
func (s *newtonSolver[T]) search(ctx context.Context) (float64, error) {
	const enough, most = 0.1, 60
	if err := s.pool.Run(ctx, (len(s.e)+partRows-1)/partRows, (*slopes[T])(s)); err != nil {
		return 0, err
	}
	d := s.b.Dim
	along := [2]float64{vecmath.Dot(s.w[:d], s.step), vecmath.SumSq(s.step[:d])}
	slope := func(far float64) float64 {
		var sum float64
		for t, e := range s.e {
			sum += float64(s.clip(t, s.z[t]-float64(far*e)) * e / s.share(t))
		}
		return along[0] + float64(far*along[1]) - float64(s.sum*sum)
	}
	at := slope(0)
	if !(at < 0) {
		return 0, nil // rounding errors
	}
	goal := enough * -at
	low, atLow, high, atHigh := 0.0, at, 0.0, 0.0
	far := 1.0
	for range most {
		v := slope(far)
		switch {
		case math.Abs(v) <= goal:
			return far, nil
		case v < 0:
			low, atLow = far, v
		default:
			high, atHigh = far, v
		}
		if high == 0 {
			far *= 2
			continue
		}
		// where a straight line meets 0, but not next to the ends
		cut := atLow / (atLow - atHigh)
		far = low + float64((high-low)*min(max(cut, 0.1), 0.9))
	}
	return far, nil
}

// move goes that many steps.
func (s *newtonSolver[T]) move(far float64) {
	vecmath.Axpy(s.w, far, s.step)
	for t, e := range s.e {
		s.z[t] -= float64(far * e)
		if a := s.clip(t, s.z[t]); a != s.a[t] {
			s.add(t, float64((a-s.a[t])*float64(s.b.Y[t])), s.q)
			s.a[t] = a
		}
	}
}
