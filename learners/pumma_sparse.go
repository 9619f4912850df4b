package learners

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// sparseExample has the features of an example, which are not 0.
type sparseExample struct {
	idx []int32
	val []float64
	sq  float64 // squared length
}

// featureMarks has a mark for each feature of an example, at the last bits of its index. Examples
// without a common mark have no common feature, as nearly all pairs of a wide stream: to look takes
// a tenth of the time of going through two lists at once, whose branches nothing predicts.
type featureMarks [1 << 12]bool

// set sets or takes off the marks of e.
func (m *featureMarks) set(e *sparseExample, to bool) {
	for _, j := range e.idx {
		m[j&int32(len(m)-1)] = to
	}
}

// none reports whether no feature of e has a mark.
func (m *featureMarks) none(e *sparseExample) bool {
	any := false
	for _, j := range e.idx {
		any = any || m[j&int32(len(m)-1)]
	}
	return !any
}

// updateSparse is update of a sparse example.
func (l *pumma[T]) updateSparse(b *engine.Block[T], i int, dot, m, r float64) (tau float64,
	ok bool) {
	setSparse(&l.onX, b, i)
	this, other, label, mOther, rOther, y := &l.onNeg, &l.onPos, uint64(keptNeg), l.mPos, l.rPos,
		-1.0
	if b.Y[i] > 0 {
		this, other, label, mOther, rOther, y = &l.onPos, &l.onNeg, keptPos, l.mNeg, l.rNeg, 1
	}
	if l.kept|label != keptPos|keptNeg { // the first example: w = 0, b = y
		l.keep(this, y)
		l.first(label, y, r)
		return 0, true
	}
	s := l.slacks(m, r, mOther, rOther)
	if l.p == 2 {
		if tau, ok = l.perpendicular(other, y, dot, &s); ok {
			l.keep(this, y)
		}
		return tau, ok
	}
	if l.difference(other, y); l.invC == 0 && maxAbs(l.half) == 0 { // equal examples
		return 0, false
	}
	l.room()
	tau = 1
	v, rest := &l.toward, l.sum
	if l.kept == keptPos|keptNeg {
		at := l.gather(&rest)
		inv2 := l.invC / float64(l.c*l.c)
		for exact := false; ; exact = true {
			sums := l.lump(at, rest.Hi)
			tau = l.to.nearest(&l.from, v, l.along, &sums, float64(s.ud*inv2),
				float64(s.dd*inv2)) // (A)
			if tau == 1 || rest.Good(l.step(&rest, tau), pummaShare) || exact {
				break
			}
			rest = l.restOf()
		}
		v.norm2 = float64(float64(l.c*l.c) * v.norm2)
		if l.invC == 0 && v.norm2 <= 0x1p-40*l.norm2 &&
			math.Sqrt(v.norm2) <= 0x1p-40*float64(l.c*maxAbs(l.along)) {
			tau = 1 // nothing but rounding errors are left: the examples can't be separated
		}
	}
	if !(tau < 1) { // case (i)
		n := copy(v.v, l.half)
		v.v[n] = 0
		v.measure(&l.to)
	}
	renews := l.kept == keptPos|keptNeg
	if !l.takeSlacks(v.norm2, tau, y, &s) {
		return 0, false
	}
	if tau < 1 {
		l.place(&rest, tau)
	} else {
		if renews {
			clear(l.u.v)
			clear(l.w)
		}
		l.c, l.sum, l.steps = maxAbs(l.half), primal.Sum{}, false
		if l.c == 0 { // equal examples with slacks
			l.c = 1
		}
		for k, j := range l.at {
			t := l.half[k] / l.c
			l.u.v[j], l.w[j] = t, l.power(t)
			l.sum.Add(float64(l.w[j] * t))
		}
		l.sum.Off = l.roundedOff(l.sum.Hi)
	}
	l.keep(this, y)
	l.measureSparse()
	pos, neg := &l.onPos, &l.onNeg
	dot = vecmath.SparseDotUnchecked(trusted.Indices{}, pos.idx, pos.val, l.w) +
		vecmath.SparseDotUnchecked(trusted.Indices{}, neg.idx, neg.val, l.w)
	l.b = float64(-0.5 * (dot/l.div + l.slackOfBias())) // (20), (G)
	return tau, true
}

// keep puts the example in hand, of label y, in the place of this and counts the update.
func (l *pumma[T]) keep(this *sparseExample, y float64) {
	marks := &l.marks[side(y)]
	marks.set(this, false)
	*this, l.onX = l.onX, *this
	marks.set(this, true)
	l.updates++
}

// perpendicular is updateSparse for p = 2, where (19) and all that follows it are linear in u, so
// that inner products are enough: with h = z/2 and a = tau/((1-tau) c), (A) is t += a h, c *= 1-tau
// and
//
//	(H) |t'|^2 = |t|^2 + a (2 t.h + a |h|^2)
//	(I) t'.(xpos + xneg) = t.(xpos + xneg) + a y/2 (|x|^2 - |o|^2)
//
// where o is the example of the other label.
func (l *pumma[T]) perpendicular(o *sparseExample, y, dot float64, s *slackStep) (tau float64,
	ok bool) {
	half2 := l.halfSquared(o, y)
	if least := half2 + float64(s.half*l.invC); !(least > 0) || 1/least-1/least != 0 {
		return 0, false // equal examples, or as good as
	}
	other, tau := 0.0, 1.0
	if l.kept == keptPos|keptNeg {
		other = vecmath.SparseDotUnchecked(trusted.Indices{}, o.idx, o.val, l.u.v)
		th := float64(float64(0.5*y) * (dot - other))
		if len(l.at) > 0 {
			th = vecmath.SparseDotUnchecked(trusted.Indices{}, l.at, l.half, l.u.v)
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
			clear(l.u.v)
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
	l.takeSlacks(float64(float64(l.c*l.c)*l.sum.Hi), tau, y, s)
	l.measureSparse()
	sum := dot + other + float64(a*l.alongBoth(o, y)) // (I)
	if !(l.sum.Hi >= 0x1p-256 && l.sum.Hi <= 0x1p256) {
		sum = float64(sum * l.rescale())
	}
	l.b = float64(-0.5 * (sum/l.div + l.slackOfBias())) // (20), (G)
	return tau, true
}

// halfSquared returns |z/2|^2. Where the examples share features it sets half to z/2 and at to its
// features; at is empty where they don't.
func (l *pumma[T]) halfSquared(o *sparseExample, y float64) float64 {
	if l.marks[side(-y)].none(&l.onX) {
		l.at = l.at[:0]
		return float64(0.25 * (l.onX.sq + o.sq))
	}
	l.difference(o, y)
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
// these. Of a thousand features that is some 20 S at the most, and where tau is small 4 S.
func (l *pumma[T]) advance(o *sparseExample, y, a, th, half2 float64) {
	x, S := &l.onX, l.sum.Hi
	r := math.Sqrt(S)
	e := float64(float64(0.5*a) * (math.Sqrt(x.sq) + math.Sqrt(o.sq)))
	rounded := float64(max(len(x.idx), len(o.idx))/8 + 8)
	l.sum.Add(float64(a * (2*th + float64(a*half2)))) // (H)
	l.sum.Off += float64(0x1p-53 * (float64(4*float64((r+e)*(r+e))) +
		float64(rounded*float64(e*(2*r+e)))))
	if len(l.at) > 0 { // what cancels in z does so before anything is rounded
		vecmath.SparseAxpyUnchecked(trusted.Indices{}, l.u.v, a, l.at, l.half)
	} else {
		step := float64(float64(0.5*y) * a)
		vecmath.SparseAxpyUnchecked(trusted.Indices{}, l.u.v, step, x.idx, x.val)
		vecmath.SparseAxpyUnchecked(trusted.Indices{}, l.u.v, -step, o.idx, o.val)
	}
	if !l.sum.Good(l.sum.Hi, pummaShare) {
		l.sumAnew()
	}
}

// pummaShare is what S may be off by, as a share of it: eleven digits hold, and so do those of
// margins, which (U) compares with 1 less delta. For p = 2 an update adds 2^-51, so that the sum is
// made anew after some 8000, and where cancellation leaves little of it.
const pummaShare = 0x1p-38

// rescale makes |t| 1, for p = 2, and returns the factor. Where all of u are slacks, t stays 0.
func (l *pumma[T]) rescale() float64 {
	if l.sum.Hi == 0 {
		l.c = 1
		l.measureSparse()
		return 1
	}
	f := 1 / math.Sqrt(l.sum.Hi)
	vecmath.Scal(l.u.v, f)
	l.c /= f
	l.sumAnew()
	l.measureSparse()
	return f
}

// setSparse sets x to example i of b.
func setSparse[T learner.Float](x *sparseExample, b *engine.Block[T], i int) {
	idx, val := b.Sparse(i)
	val = val[:len(idx)]
	to, as := slices.Grow(x.idx[:0], len(idx))[:len(idx)],
		slices.Grow(x.val[:0], len(idx))[:len(idx)]
	n := 0
	for k, v := range val {
		to[n], as[n] = idx[k], float64(v)
		if v != 0 {
			n++
		}
	}
	x.idx, x.val = to[:n], as[:n]
	x.sq = vecmath.SumSq(x.val)
}

// difference sets half to z/2 and at to its features.
func (l *pumma[T]) difference(other *sparseExample, y float64) {
	x, o := &l.onX, other
	most := len(x.idx) + len(o.idx)
	at, half := slices.Grow(l.at[:0], most)[:most], slices.Grow(l.half[:0], most)[:most]
	h, n, i, k := float64(0.5*y), 0, 0, 0
	xi, xv, oi, ov := x.idx, x.val[:len(x.idx)], o.idx, o.val[:len(o.idx)]
	if !l.marks[side(-y)].none(x) {
		for i < len(xi) && k < len(oi) { // without branches, which nothing predicts
			// all bits where only x has it, where only o has
			first, last := int64(xi[i]-oi[k])>>63, int64(oi[k]-xi[i])>>63
			at[n] = min(xi[i], oi[k])
			half[n] = float64(h * (math.Float64frombits(math.Float64bits(xv[i])&^uint64(last)) -
				math.Float64frombits(math.Float64bits(ov[k])&^uint64(first))))
			i, k, n = i+1+int(last), k+1+int(first), n+1
		}
	}
	xi, xv, oi, ov = xi[i:], xv[i:], oi[k:], ov[k:]
	copy(at[n:], xi)
	for k, v := range xv {
		half[n+k] = float64(h * v)
	}
	n += len(xi)
	copy(at[n:], oi)
	for k, v := range ov {
		half[n+k] = float64(-h * v)
	}
	n += len(oi)
	l.at, l.half = at[:n], half[:n]
}

// room makes room for as many numbers as half has and one more.
func (l *pumma[T]) room() {
	n := len(l.half) + 1
	for _, v := range [...]*[]float64{&l.along, &l.from.v, &l.toward.v, &l.toward.r} {
		*v = slices.Grow((*v)[:0], n)[:n]
	}
}

// gather sets from to u where z may not be 0, along to d there, both in units of c, and takes the
// terms of these features off rest. It returns the sums at u.
func (l *pumma[T]) gather(rest *primal.Sum) (s vecmath.PowerSums) {
	n := len(l.at)
	half, t, d := l.half[:n], l.from.v[:n], l.along[:n]
	w, rd := l.toward.r[:n], l.toward.v[:n]
	inverse := 1 / l.c
	for k, j := range l.at {
		t[k], w[k] = l.u.v[j], l.w[j]
		d[k] = float64(half[k]*inverse) - t[k]
		rd[k] = float64(w[k] / (t[k] + 0x1p-1000) * d[k]) // not 0/0
	}
	terms := vecmath.Dot(w, t)
	s = vecmath.PowerSums{VD: vecmath.Dot(w, d), DD: vecmath.Dot(rd, d), VU: terms, VV: terms}
	s.DU = s.VD
	s2 := l.to.square.Of(rest.Hi)
	l.from.k, l.from.norm2, l.toward.scale = 0, 0, 0
	if s2 > 0 { // else all of u are slacks
		l.from.k, l.from.norm2, l.toward.scale = s2/rest.Hi, s2, 1/math.Sqrt(s2)
	}
	rest.Add(-terms)
	rest.Off += l.roundedOff(terms)
	return s
}

// roundedOff bounds what a sum of the terms in hand may be off by: those of a partial sum one after
// another, the products' own roundings and five sums of partial ones.
func (l *pumma[T]) roundedOff(sum float64) float64 {
	return float64(float64(len(l.at)/32+8) * float64(0x1p-53*sum))
}

// restOf adds up the terms where z is 0.
func (l *pumma[T]) restOf() (rest primal.Sum) {
	for _, j := range l.at {
		l.u.v[j] = 0
	}
	n := 0
	for j, t := range l.u.v {
		if t != 0 {
			rest.Add(float64(l.w[j] * t))
			n++
		}
	}
	rest.Changed(n, rest.Hi)
	for k, j := range l.at {
		l.u.v[j] = l.from.v[k]
	}
	return rest
}

// lump makes the features where z is 0, whose |t_j|^p add up to rest, the last of from, and adds
// theirs to the sums at u.
func (l *pumma[T]) lump(s vecmath.PowerSums, rest float64) vecmath.PowerSums {
	n := len(l.at)
	rest = max(0, rest)
	l.from.v[n] = l.to.root.Of(rest)
	l.along[n] = -l.from.v[n]
	s.VD -= rest
	s.DU -= rest
	s.DD += rest
	s.VU += rest
	s.VV += rest
	return s
}

// step makes toward's v and r the t and their powers of a step tau, in units of what c will be, and
// returns S with them, rest being the sum of the other terms.
func (l *pumma[T]) step(rest *primal.Sum, tau float64) float64 {
	if l.toward.scale == 0 { // all of it is 0
		return 0
	}
	n, longer := len(l.at), 1/(1-tau)
	u, d, v, r := l.from.v[:n], l.along[:n], l.toward.v[:n], l.toward.r[:n]
	f := float64(longer * l.to.less2.Of(longer/l.toward.scale))
	for k := range v {
		x := math.FMA(tau, d[k], u[k])
		v[k], r[k] = float64(x*longer), float64(float64(r[k]*x)*f)
	}
	return rest.Hi + vecmath.Dot(v, r)
}

// place puts what step made into t after a step tau, with rest the sum of the other terms.
func (l *pumma[T]) place(rest *primal.Sum, tau float64) {
	n := len(l.at)
	t, w := l.toward.v[:n], l.toward.r[:n]
	terms := vecmath.Dot(t, w)
	l.sum = *rest
	l.sum.Add(terms)
	l.sum.Off += l.roundedOff(terms)
	l.c = float64(l.c * (1 - tau))
	if S := l.sum.Hi; S == 0 { // all of u are slacks
		clear(l.u.v)
		clear(l.w)
		l.c, l.steps = 1, false
		return
	} else if !(S >= 0x1p-256 && S <= 0x1p256) {
		// u has length |toward|, in units of c |toward|/(1-tau)
		f := l.c / math.Sqrt(l.toward.norm2)
		for k, j := range l.at {
			l.u.v[j] = t[k]
		}
		for j := range l.u.v {
			l.u.v[j] *= f
		}
		l.c /= f
		l.sumAnew()
		return
	}
	for k, j := range l.at {
		l.u.v[j], l.w[j] = t[k], w[k]
	}
	l.steps = true
	if !l.sum.Good(l.sum.Hi, pummaShare) {
		l.sumAnew()
	}
}

// power returns sign(t) |t|^(p-1).
func (l *pumma[T]) power(t float64) float64 {
	if t == 0 {
		return 0
	}
	return math.Copysign(l.to.less1.Of(math.Abs(t)), t)
}

// sumAnew makes the powers of t and S anew.
func (l *pumma[T]) sumAnew() {
	n := 0
	l.sum, l.steps = primal.Sum{}, false
	if l.p == 2 {
		for t := l.u.v; len(t) > 0; { // 32 numbers one after another are one of 32 partial sums
			const run = 1024
			n = min(len(t), run)
			l.sum.Add(vecmath.SumSq(t[:n]))
			t = t[n:]
		}
		l.sum.Off = float64(0x1p-47 * l.sum.Hi)
		return
	}
	for j, t := range l.u.v {
		if l.w[j] = l.power(t); t != 0 {
			l.sum.Add(float64(l.w[j] * t))
			n++
		}
	}
	l.sum.Changed(n, l.sum.Hi)
	l.sum.Off += float64(0x1p-52 * l.sum.Hi) // the products'
}

// measureSparse sets |u|^2 and div of c and S.
func (l *pumma[T]) measureSparse() {
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

// toSparse changes from the form after dense examples to that after sparse ones.
func (l *pumma[T]) toSparse() {
	if l.c > 0 {
		return
	}
	l.onPos.take(l.pos)
	l.onNeg.take(l.neg)
	l.markBoth()
	l.pos, l.neg, l.x, l.d, l.v, l.u.r = nil, nil, nil, nil, dualPoint{}, nil
	l.c = 1
	if l.p == 2 {
		l.w = nil
	}
	if top := maxAbs(l.u.v); top > 0 {
		l.c = top
		for j := range l.u.v {
			l.u.v[j] /= top
		}
	}
	l.sumAnew()
	l.measureSparse()
}

// toDense changes from the form after sparse examples to that after dense ones.
func (l *pumma[T]) toDense() {
	if l.c == 0 {
		return
	}
	c := l.c
	l.c, l.div, l.sum = 0, 1, primal.Sum{}
	l.grow(len(l.u.v))
	for j := range l.u.v {
		l.u.v[j] = float64(c * l.u.v[j])
	}
	clear(l.w)
	l.onPos.spread(l.pos)
	l.onNeg.spread(l.neg)
	if l.kept == keptPos|keptNeg {
		l.u.measure(&l.to)
		l.norm2 = l.u.norm2 + float64(l.m2*l.invC)
		l.u.hypothesis(l.w, l.norm2)
	}
}

// take sets e to the non-zeros of x.
func (e *sparseExample) take(x []float64) {
	e.idx, e.val = e.idx[:0], e.val[:0]
	for j, v := range x {
		if v != 0 {
			e.idx, e.val = append(e.idx, int32(j)), append(e.val, v)
		}
	}
	e.sq = vecmath.SumSq(e.val)
}

// markBoth makes the marks of xpos and xneg.
func (l *pumma[T]) markBoth() {
	l.marks = [2]featureMarks{}
	l.marks[side(1)].set(&l.onPos, true)
	l.marks[side(-1)].set(&l.onNeg, true)
}

// spread sets x to e.
func (e *sparseExample) spread(x []float64) {
	clear(x)
	for n, j := range e.idx {
		x[j] = e.val[n]
	}
}

// sparseFields is the part of fields that is another one after sparse examples.
func (l *pumma[T]) sparseFields(c *learner.Codec, kept uint64, m2 float64) {
	t := learner.Vector(c, "t", &l.u.v)
	dim := len(t)
	c.PerFeature("t", dim)
	for _, e := range []struct {
		name string
		x    *sparseExample
	}{{"pos", &l.onPos}, {"neg", &l.onNeg}} {
		var x []float64
		if c.Writing() {
			x = make([]float64, dim)
			e.x.spread(x)
		}
		x = learner.View(c, e.name, x)
		c.Want(len(x) == dim, "tensor %q has %d elements, the others %d", e.name, len(x), dim)
		c.Then(func() { e.x.take(x) })
	}
	scale := c.Scalar("scale", &l.c)
	c.Want(scale > 0, "scalar %q is %v, want a number > 0", "scale", scale)
	var w []float64
	steps := l.p > 2 && c.Optional("w", l.steps)
	if steps {
		w = learner.Vector(c, "w", &l.w)
		steps = c.Want(len(w) == dim, "tensor %q has %d elements, the others %d", "w", len(w), dim)
	}
	terms := 0.0
	if c.Reading() {
		for j, v := range t {
			if l.p == 2 {
				terms += float64(v * v)
				continue
			}
			want := l.power(v)
			if steps {
				c.Want(math.Abs(w[j]-want) <= float64(0x1p-20*math.Abs(want))+0x1p-600,
					"tensor %q has %v, the power of %v is %v", "w", w[j], v, want)
				want = w[j]
			}
			terms += float64(want * v)
		}
	}
	l.sum.Fields(c, "sum", terms, len(t), pummaShare)
	c.Want(kept == keptPos|keptNeg || maxAbs(t) == 0, "tensor %q is not 0, of one label", "t")
	if kept == keptPos|keptNeg {
		norm2 := float64(float64(scale*scale)*l.to.square.Of(terms)) + float64(m2*l.invC)
		c.Want(norm2 > 0 && norm2 <= math.MaxFloat64, "tensor %q has length %v", "t",
			math.Sqrt(norm2))
	}
	c.Part(learner.CutPrefix, &l.cut, margin.CheckPassCut)
	c.Then(func() {
		l.pos, l.neg, l.x, l.d, l.v, l.u.r = nil, nil, nil, nil, dualPoint{}, nil
		if l.steps = steps; l.p == 2 {
			l.w = nil
		} else if !steps {
			l.w = make([]float64, dim)
			for j, v := range l.u.v {
				l.w[j] = l.power(v)
			}
		}
		l.markBoth()
		l.measureSparse()
	})
}
