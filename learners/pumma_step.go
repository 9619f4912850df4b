package learners

import (
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// side is the index of a label in pairs of numbers: those of xneg, then of xpos.
func side(y float64) int {
	if y > 0 {
		return 1
	}
	return 0
}

// checkSlacks is primal.CheckBlock of a learner whose weights are prices of slacks: a hard margin,
// not soft, takes none.
func checkSlacks[T learner.Float](name string, b *engine.Block[T], out int, soft bool) error {
	if soft {
		return primal.CheckWeighted(name, b, out)
	}
	return primal.CheckBlock(name, b, out)
}

// inverseWeight returns 1/w of example i, by which 1/C is multiplied, and whether it counts: see
// [margin.Counts].
func inverseWeight[T learner.Float](b *engine.Block[T], i int) (r float64, counts bool) {
	w := float64(b.Weight(i))
	return 1 / w, margin.Counts(w)
}

// update takes example i, whose product with powers is dot, whose present coordinate of u is m and
// 1 over whose weight is r, for xpos or xneg and solves (3) or (24). It returns tau, the share of
// z/2 in the new u; or false, without a change of state, where there is no solution.
func (l *pumma[T]) update(b *engine.Block[T], i int, dot, m, r float64) (tau float64, ok bool) {
	dense := b.Dense()
	if dense && l.c > 0 {
		l.toDense()
	} else if !dense && l.c == 0 {
		l.toSparse()
		dot = primal.DotMixed(b, i, l.powers())
	}
	if dense {
		clear(l.x)
		for j, v := range b.Row(i) {
			l.x[j] = float64(v)
		}
	} else {
		setSparse(&l.onX, b, i)
	}
	y := float64(b.Y[i])
	k := side(y)
	if label := uint64(keptNeg) >> k; l.kept|label != keptPos|keptNeg { // one label: w = 0, b = y
		l.keep(k)
		l.kept, l.b, l.r[k] = label, y, r
		return 0, true
	}
	s := l.slacks(k, m, r)
	switch {
	case dense:
		return l.stepDense(k, y, &s)
	case l.p == 2:
		return l.stepSparse(k, y, dot, &s)
	}
	return l.stepPowers(k, &s)
}

// keep puts the example in hand in the place of xneg or xpos and counts the update.
func (l *pumma[T]) keep(k int) {
	l.updates++
	if l.c == 0 {
		l.dense[k], l.x = l.x, l.dense[k]
		return
	}
	l.marks[k].set(&l.sparse[k], false)
	l.sparse[k], l.onX = l.onX, l.sparse[k]
	l.marks[k].set(&l.sparse[k], true)
}

// slackStep is what (A) has of the slacks' coordinates: u.d, |d|^2 and |z/2|^2, to be divided by C.
type slackStep struct {
	ud, dd, half float64
	m, r         [2]float64 // coordinates of the segment's examples, and 1 over their weights
}

// slacks returns the one of a segment with a new example on side k, whose coordinate is m, and 1
// over whose weight is r.
func (l *pumma[T]) slacks(k int, m, r float64) slackStep {
	s := slackStep{m: l.m, r: l.r}
	s.m[k], s.r[k] = m, r
	both := float64(s.m[0]*s.r[0]) + float64(s.m[1]*s.r[1])
	s.half = float64(0.25 * (s.r[0] + s.r[1]))
	s.ud, s.dd = float64(0.5*both)-l.m2, s.half-both+l.m2
	return s
}

// after returns the sum of m_i^2 / w_i after a step tau.
func (s *slackStep) after(tau, m2 float64) float64 {
	if tau < 1 {
		return max(0, m2+float64(float64(2*tau)*s.ud)+float64(float64(tau*tau)*s.dd))
	}
	return s.half // case (i)
}

// takeSlacks sets |u|^2 and what of it are slacks, after a step tau to a u of squared length norm2
// without them. It returns false, without a change of state, where u is all but 0 or beyond all
// range.
func (l *pumma[T]) takeSlacks(norm2, tau float64, s *slackStep) bool {
	m2 := s.after(tau, l.m2)
	norm2 += float64(m2 * l.invC)
	if !(norm2 > 0) || 1/norm2-1/norm2 != 0 {
		return false
	}
	l.kept, l.norm2, l.m2, l.r = keptPos|keptNeg, norm2, m2, s.r
	for k, m := range s.m {
		if l.m[k] = 0.5; tau != 1 {
			l.m[k] = float64((1-tau)*m) + float64(0.5*tau)
		}
	}
	return true
}

// setBias is (20), (G), for the sum of the scores of xpos and xneg.
func (l *pumma[T]) setBias(sum float64) {
	slack := float64((float64(l.m[1]*l.r[1])-float64(l.m[0]*l.r[0]))*l.invC) / l.norm2 // by (E)
	l.b = float64(-0.5 * (sum + slack))
}

// lost reports whether nothing but rounding errors are left of a hard margin's u, of squared length
// norm2: the examples can't be separated. Where u is short beside the segment, c d, that is so only
// if the step has shrunk it, too.
func (l *pumma[T]) lost(norm2, c float64, d []float64) bool {
	return l.invC == 0 && norm2 <= 0x1p-40*l.norm2 &&
		math.Sqrt(norm2) <= 0x1p-40*float64(c*maxAbs(d))
}

// stepDense is update of dense examples.
func (l *pumma[T]) stepDense(k int, y float64, s *slackStep) (tau float64, ok bool) {
	half := func(dst []float64) (zero bool) { // z/2
		zero = true
		for j, o := range l.dense[1-k] {
			dst[j] = float64(float64(0.5*y) * (l.x[j] - o))
			zero = zero && dst[j] == 0
		}
		return zero
	}
	if half(l.d) && l.invC == 0 { // equal examples
		return 0, false
	}
	tau = 1
	var next dualLength
	if l.kept == keptPos|keptNeg {
		for j, u := range l.u {
			l.d[j] -= u
		}
		tau = l.nearestDense(float64(s.ud*l.invC), float64(s.dd*l.invC)) // (A)
		for j, u := range l.u {
			l.v[j] = u + float64(tau*l.d[j])
		}
		if next = l.to.measure(l.v, l.powered); l.lost(next.norm2, 1, l.d) {
			tau = 1
		}
	}
	if tau == 1 { // case (i)
		half(l.v)
		next = l.to.measure(l.v, l.powered)
	}
	if !l.takeSlacks(next.norm2, tau, s) {
		return 0, false
	}
	l.keep(k)
	l.u, l.v, l.length = l.v, l.u, next
	l.setWeights(l.w, l.u, l.powered, next.k/l.norm2)
	l.setBias(vecmath.Dot(l.w, l.dense[1]) + vecmath.Dot(l.w, l.dense[0]))
	return tau, true
}

// nearestDense solves (A) for dense examples: it returns tau, 1 for case (i).
func (l *pumma[T]) nearestDense(ud, dd float64) (tau float64) {
	if l.p == 2 { // (19)
		if tau = -(vecmath.Dot(l.u, l.d) + ud) / (vecmath.SumSq(l.d) + dd); tau < 1 {
			return tau
		}
		return 1
	}
	g := powerSegment{u: l.u, d: l.d, r: l.powered, from: l.length, scale: l.length.scale}
	var sums vecmath.PowerSums
	g.powers(&sums, 0, l.p-2)
	g.scale = l.length.scale
	return g.nearest(&sums, ud, dd, &l.to)
}

// stepSparse is update of sparse examples for p = 2, where (19) and all that follows it are linear
// in u, so that inner products are enough: with h = z/2 and a = tau/((1-tau) c), (A) is t += a h,
// c *= 1-tau and
//
//	(H) |t'|^2 = |t|^2 + a (2 t.h + a |h|^2)
//	(I) t'.(xpos + xneg) = t.(xpos + xneg) + a y/2 (|x|^2 - |o|^2)
//
// where o is the example of the other label.
func (l *pumma[T]) stepSparse(k int, y, dot float64, s *slackStep) (tau float64, ok bool) {
	o := &l.sparse[1-k]
	half2 := l.halfSquared(o, k)
	if least := half2 + float64(s.half*l.invC); !(least > 0) || 1/least-1/least != 0 {
		return 0, false // equal examples, or as good as
	}
	other, tau := 0.0, 1.0
	if l.kept == keptPos|keptNeg {
		other = vecmath.SparseDot(o.idx, o.val, l.u)
		th := float64(float64(0.5*y) * (dot - other))
		if len(l.at) > 0 {
			th = vecmath.SparseDot(l.at, l.half, l.u)
		}
		uh, u2 := float64(l.c*th), float64(float64(l.c*l.c)*l.sum.Hi)
		before, length2 := u2, half2-2*uh+u2
		tau = -(uh - u2 + float64(s.ud*l.invC)) / (length2 + float64(s.dd*l.invC)) // (19)
		if !(tau < 1) {
			tau = 1
		} else {
			l.c = float64(l.c * (1 - tau))
			l.advance(o, y, tau/l.c, th, half2)
			u2 = float64(float64(l.c*l.c) * l.sum.Hi)
			norm2 := u2 + float64(s.after(tau, l.m2)*l.invC)
			if !(norm2 > 0) || 1/norm2-1/norm2 != 0 ||
				l.invC == 0 && u2 <= 0x1p-40*before && u2 <= 0x1p-80*length2 {
				tau = 1 // nothing but rounding errors are left: the examples can't be separated
			}
		}
		if tau == 1 {
			clear(l.u)
			dot, other = 0, 0
		}
	}
	a := tau / l.c
	if tau == 1 { // case (i)
		l.c, l.sum = math.Sqrt(half2), primal.Sum{}
		if l.c == 0 { // equal examples with slacks
			l.c = 1
		}
		a = 1 / l.c
		l.advance(o, y, a, 0, half2)
	}
	l.takeSlacks(float64(float64(l.c*l.c)*l.sum.Hi), tau, s)
	l.measure()
	sum := dot + other + float64(a*l.alongBoth(o, y)) // (I)
	if !(l.sum.Hi >= 0x1p-256 && l.sum.Hi <= 0x1p256) {
		sum = float64(sum * l.rescale())
	}
	l.setBias(sum / l.div)
	l.keep(k)
	return tau, true
}

// halfSquared returns |z/2|^2. Where the examples share features it sets half to z/2 and at to its
// features; at is empty where they don't.
func (l *pumma[T]) halfSquared(o *sparseExample, k int) float64 {
	if l.marks[1-k].none(&l.onX) {
		l.at = l.at[:0]
		return float64(0.25 * (l.onX.sq + o.sq))
	}
	l.difference(k)
	return vecmath.SumSq(l.half)
}

// alongBoth returns h.(x + o), after halfSquared. What the examples share may be much longer than
// what they differ by, of which |x|^2 - |o|^2 would keep nothing.
func (l *pumma[T]) alongBoth(o *sparseExample, y float64) (sum float64) {
	x := &l.onX
	if len(l.at) == 0 {
		return float64(float64(0.5*y) * (x.sq - o.sq))
	}
	i, k := 0, 0
	for n, j := range l.at {
		both := 0.0
		if i < len(x.idx) && x.idx[i] == j {
			both, i = x.val[i], i+1
		}
		if k < len(o.idx) && o.idx[k] == j {
			both, k = both+o.val[k], k+1
		}
		sum += float64(l.half[n] * both)
	}
	return sum
}

// advance sets t += a h and S, the sum of its squares, by (H), where th is t.h and half2 is |h|^2.
//
// What S may be off by is in units of 2^-53. Let r = |t| and e = a (|x| + |o|)/2, so that no sum on
// the way is longer than r + e. An element of t that changes is rounded, twice where x and o share
// its feature: (r+e)^2 each, and twice that in its square. The two products in th have n/8 + 4
// roundings one after another, |h|^2 fewer: these times 2 r e and e^2. (H) itself adds a few of
// these. Of a thousand features that is about 20 S at the most, and where tau is small 4 S.
func (l *pumma[T]) advance(o *sparseExample, y, a, th, half2 float64) {
	x, S := &l.onX, l.sum.Hi
	r := math.Sqrt(S)
	e := float64(float64(0.5*a) * (math.Sqrt(x.sq) + math.Sqrt(o.sq)))
	rounded := float64(max(len(x.idx), len(o.idx))/8 + 8)
	l.sum.Add(float64(a * (2*th + float64(a*half2)))) // (H)
	l.sum.Off += float64(0x1p-53 * (float64(4*float64((r+e)*(r+e))) +
		float64(rounded*float64(e*(2*r+e)))))
	if len(l.at) > 0 { // what cancels in z does so before anything is rounded
		vecmath.SparseAxpy(l.u, a, l.at, l.half)
	} else {
		step := float64(float64(0.5*y) * a)
		vecmath.SparseAxpy(l.u, step, x.idx, x.val)
		vecmath.SparseAxpy(l.u, -step, o.idx, o.val)
	}
	if !l.sum.Good(l.sum.Hi, pummaShare) {
		l.addUp()
	}
}

// pummaShare is the error that S may have, as a share of it: eleven digits hold, and so do those of
// margins, which (U) compares with 1 less delta. For p = 2 an update adds 2^-51, so that the sum is
// made again after about 8000, and where cancellation leaves little of it.
const pummaShare = 0x1p-38

// rescale makes |t| 1, for p = 2, and returns the factor. Where all of u are slacks, t stays 0.
func (l *pumma[T]) rescale() float64 {
	f := 1.0
	if l.sum.Hi > 0 {
		f = 1 / math.Sqrt(l.sum.Hi)
		vecmath.Scal(l.u, f)
		l.c /= f
		l.addUp()
	} else {
		l.c = 1
	}
	l.measure()
	return f
}

// addUp makes S, and for p > 2 the powers of t, from t.
func (l *pumma[T]) addUp() {
	l.sum, l.steps = primal.Sum{}, false
	if l.p == 2 {
		for t := l.u; len(t) > 0; { // 32 numbers one after another are one of 32 partial sums
			n := min(len(t), 1024)
			l.sum.Add(vecmath.SumSq(t[:n]))
			t = t[n:]
		}
		l.sum.Off = float64(0x1p-47 * l.sum.Hi)
		return
	}
	n := 0
	for j, t := range l.u {
		if l.w[j] = l.to.signed(t); t != 0 {
			l.sum.Add(float64(l.w[j] * t))
			n++
		}
	}
	l.sum.Changed(n, l.sum.Hi)
	l.sum.Off += float64(0x1p-52 * l.sum.Hi) // the products'
}

// measure sets |u|^2 and div by c and S.
func (l *pumma[T]) measure() {
	if l.kept != keptPos|keptNeg {
		l.norm2, l.div = 0, 1
		return
	}
	s2 := l.to.square.Of(l.sum.Hi)
	l.norm2 = float64(float64(l.c*l.c)*s2) + float64(l.m2*l.invC)
	l.div = l.norm2 / l.c
	if l.p > 2 && s2 > 0 {
		l.div = l.norm2 / float64(l.c*(s2/l.sum.Hi))
	}
}
