package learners

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// pummaPowers has the powers of p-norms.
type pummaPowers struct {
	p                     float64
	less1, less2          primal.Power // p-1, p-2
	root, square, inverse primal.Power // 1/p, 2/p, 1/(p-1)
}

func pummaPowersOf(p float64) pummaPowers {
	return pummaPowers{p, primal.PowerOf(p - 1), primal.PowerOf(p - 2), primal.PowerOf(1 / p),
		primal.PowerOf(2 / p), primal.PowerOf(1 / (p - 1))}
}

// signed returns sign(t) |t|^(p-1).
func (to *pummaPowers) signed(t float64) float64 {
	if t == 0 {
		return 0
	}
	return math.Copysign(to.less1.Of(math.Abs(t)), t)
}

// dualLength is what f^-1 needs of a point v of the space of u, without the slacks' coordinates.
type dualLength struct {
	scale float64 // about 1/|v|_p; 0 while there is none
	k     float64 // f^-1(v)_i = k (|v_i| scale)^(p-2) v_i
	norm2 float64 // |v|_p^2
}

// measure returns that of v and, for p > 2, sets r to the powers in f^-1. Models depend on their
// bits, which are not those of PowersAlong. Everything is divided by the largest element, so that
// no power overflows.
func (to *pummaPowers) measure(v, r []float64) dualLength {
	if to.p == 2 {
		return dualLength{k: 1, norm2: vecmath.SumSq(v)}
	}
	top := maxAbs(v)
	if top == 0 {
		clear(r)
		return dualLength{}
	}
	var d dualLength
	if d.scale = 1 / top; !(d.scale <= math.MaxFloat64) {
		d.scale = 0
	}
	for j, x := range v {
		r[j] = math.Abs(x) / top
	}
	to.less2.Shares(r, r)
	var sum float64 // |v/top|_p^p, from 1 to n
	for j, x := range v {
		s := x / top
		sum += float64(r[j] * float64(s*s))
	}
	s2 := to.square.Of(sum)
	d.k, d.norm2 = s2/sum, float64(float64(top*top)*s2)
	return d
}

// stepPowers is update of sparse examples for p > 2.
func (l *pumma[T]) stepPowers(k int, s *slackStep) (tau float64, ok bool) {
	if l.difference(k); l.invC == 0 && maxAbs(l.half) == 0 { // equal examples
		return 0, false
	}
	l.line.room(len(l.half) + 1)
	tau = 1
	rest, norm2 := l.sum, 0.0
	if l.kept == keptPos|keptNeg {
		at := l.gather(&rest)
		inv2 := l.invC / float64(l.c*l.c)
		for exact := false; ; exact = true {
			sums := l.lump(at, rest.Hi)
			tau = l.line.nearest(&sums, float64(s.ud*inv2), float64(s.dd*inv2), &l.to) // (A)
			if tau == 1 || rest.Good(l.stepTo(&rest, tau), pummaShare) || exact {
				break
			}
			rest = l.restOf()
		}
		norm2 = float64(float64(l.c*l.c) * l.line.norm2)
		if l.lost(norm2, l.c, l.line.d) {
			tau = 1
		}
	}
	c := l.c
	if !(tau < 1) {
		c, norm2 = l.turn(&rest)
	}
	if !l.takeSlacks(norm2, tau, s) {
		return 0, false
	}
	if tau < 1 {
		l.place(&rest, tau)
	} else {
		clear(l.u)
		clear(l.w)
		l.c, l.sum, l.steps = c, rest, false
		l.scatter()
	}
	l.keep(k)
	l.measure()
	l.setBias((l.sparse[1].dot(l.w) + l.sparse[0].dot(l.w)) / l.div)
	return tau, true
}

// difference sets half to z/2, of the example in hand on side k, and at to its features.
func (l *pumma[T]) difference(k int) {
	x, o := &l.onX, &l.sparse[1-k]
	most := len(x.idx) + len(o.idx)
	at, half := slices.Grow(l.at[:0], most)[:most], slices.Grow(l.half[:0], most)[:most]
	h, n, i, j := float64(k)-0.5, 0, 0, 0 // y/2
	xi, xv, oi, ov := x.idx, x.val[:len(x.idx)], o.idx, o.val[:len(o.idx)]
	if !l.marks[1-k].none(x) {
		for i < len(xi) && j < len(oi) { // without branches, which nothing predicts
			// all bits where only x has it, where only o has
			first, last := int64(xi[i]-oi[j])>>63, int64(oi[j]-xi[i])>>63
			at[n] = min(xi[i], oi[j])
			half[n] = float64(h * (math.Float64frombits(math.Float64bits(xv[i])&^uint64(last)) -
				math.Float64frombits(math.Float64bits(ov[j])&^uint64(first))))
			i, j, n = i+1+int(last), j+1+int(first), n+1
		}
	}
	n += copy(at[n:], xi[i:])
	copy(at[n:], oi[j:])
	n -= len(xi) - i
	for _, v := range xv[i:] {
		half[n] = float64(h * v)
		n++
	}
	for _, v := range ov[j:] {
		half[n] = float64(-h * v)
		n++
	}
	l.at, l.half = at[:n], half[:n]
}

// gather sets the segment to the one of (A) where z may not be 0, in units of c, and takes the
// terms of these features off rest. It returns the sums at u.
func (l *pumma[T]) gather(rest *primal.Sum) (s vecmath.PowerSums) {
	n, g := len(l.at), &l.line
	half, t, d, w, rd := l.half[:n], g.u[:n], g.d[:n], g.r[:n], g.v[:n]
	inverse := 1 / l.c
	for k, j := range l.at {
		t[k], w[k] = l.u[j], l.w[j]
		d[k] = float64(half[k]*inverse) - t[k]
		rd[k] = float64(w[k] / (t[k] + 0x1p-1000) * d[k]) // not 0/0
	}
	terms := vecmath.Dot(w, t)
	s = vecmath.PowerSums{VD: vecmath.Dot(w, d), DD: vecmath.Dot(rd, d), VU: terms, VV: terms}
	s.DU = s.VD
	s2 := l.to.square.Of(rest.Hi)
	g.from, g.scale = dualLength{}, 0
	if s2 > 0 { // else all of u are slacks
		g.from.k, g.from.norm2, g.scale = s2/rest.Hi, s2, 1/math.Sqrt(s2)
	}
	rest.Add(-terms)
	rest.Off += l.roundedOff(terms)
	return s
}

// roundedOff bounds the error of a sum of the terms in hand: those of a partial sum one after
// another, the products' own roundings and five sums of partial ones.
func (l *pumma[T]) roundedOff(sum float64) float64 {
	return float64(float64(len(l.at)/32+8) * float64(0x1p-53*sum))
}

// restOf adds up the terms where z is 0.
func (l *pumma[T]) restOf() (rest primal.Sum) {
	for _, j := range l.at {
		l.u[j] = 0
	}
	n := 0
	for j, t := range l.u {
		if t != 0 {
			rest.Add(float64(l.w[j] * t))
			n++
		}
	}
	rest.Changed(n, rest.Hi)
	for k, j := range l.at {
		l.u[j] = l.line.u[k]
	}
	return rest
}

// lump makes one feature of those where z is 0, whose |t_j|^p add up to rest, the last one of the
// segment, and adds its terms to the sums at u.
func (l *pumma[T]) lump(s vecmath.PowerSums, rest float64) vecmath.PowerSums {
	n := len(l.at)
	rest = max(0, rest)
	l.line.u[n] = l.to.root.Of(rest)
	l.line.d[n] = -l.line.u[n]
	s.VD -= rest
	s.DU -= rest
	s.DD += rest
	s.VU += rest
	s.VV += rest
	return s
}

// stepTo makes the segment's v and r the t and their powers after a step tau, in units of what c
// will be, and returns S with them, rest being the sum of the other terms.
func (l *pumma[T]) stepTo(rest *primal.Sum, tau float64) float64 {
	n, g, longer := len(l.at), &l.line, 1/(1-tau)
	if g.scale == 0 { // all of it is 0
		return 0
	}
	u, d, v, r := g.u[:n], g.d[:n], g.v[:n], g.r[:n]
	f := float64(longer * l.to.less2.Of(longer/g.scale))
	for k := range v {
		x := math.FMA(tau, d[k], u[k])
		v[k], r[k] = float64(x*longer), float64(float64(r[k]*x)*f)
	}
	return rest.Hi + vecmath.Dot(v, r)
}

// turn makes the segment's v and r the t of z/2 and their powers, case (i), and sum their S. It
// returns c and |z/2|_p^2.
func (l *pumma[T]) turn(sum *primal.Sum) (c, norm2 float64) {
	if c = maxAbs(l.half); c == 0 { // equal examples with slacks
		c = 1
	}
	*sum = primal.Sum{}
	for k, h := range l.half {
		t := h / c
		l.line.v[k], l.line.r[k] = t, l.to.signed(t)
		sum.Add(float64(l.line.r[k] * t))
	}
	sum.Off = l.roundedOff(sum.Hi)
	return c, float64(float64(c*c) * l.to.square.Of(sum.Hi))
}

// scatter puts the segment's v and r into t and its powers.
func (l *pumma[T]) scatter() {
	for k, j := range l.at {
		l.u[j], l.w[j] = l.line.v[k], l.line.r[k]
	}
}

// place puts what stepTo made into t after a step tau, with rest the sum of the other terms.
func (l *pumma[T]) place(rest *primal.Sum, tau float64) {
	n := len(l.at)
	terms := vecmath.Dot(l.line.v[:n], l.line.r[:n])
	l.sum = *rest
	l.sum.Add(terms)
	l.sum.Off += l.roundedOff(terms)
	l.c = float64(l.c * (1 - tau))
	S := l.sum.Hi
	if S == 0 { // all of u are slacks
		clear(l.u)
		clear(l.w)
		l.c, l.steps = 1, false
		return
	}
	l.scatter()
	l.steps = true
	if !(S >= 0x1p-256 && S <= 0x1p256) {
		// u has the length of the segment's v, in units of c |v|/(1-tau)
		f := l.c / math.Sqrt(l.line.norm2)
		vecmath.Scal(l.u, f)
		l.c /= f
		l.addUp()
	} else if !l.sum.Good(S, pummaShare) {
		l.addUp()
	}
}

// powerSegment is the segment u + tau d of (A) for p > 2, over some features, and a point of it.
type powerSegment struct {
	u, d  []float64
	v     []float64  // scratch; at last the point
	r     []float64  // (|v_i| scale)^(p-2)
	scale float64    // about 1/|v|_p; 0 while there is none
	k     float64    // f^-1(v)_i = k r_i v_i
	norm2 float64    // |v|_p^2
	from  dualLength // of u
}

// room makes room for n features.
func (g *powerSegment) room(n int) {
	for _, v := range [...]*[]float64{&g.u, &g.d, &g.v, &g.r} {
		*v = slices.Grow((*v)[:0], n)[:n]
	}
}

// nearest solves (A): it returns tau, 1 for case (i), with r, k and norm2 of that point. ud and dd
// are what the slacks add to u.d and |d|^2; s has the sums at u.
func (g *powerSegment) nearest(s *vecmath.PowerSums, ud, dd float64, to *pummaPowers) float64 {
	const most = 100 // bisection alone would need 60
	hard := ud == 0 && dd == 0
	lo, hi, last, tau := 0.0, math.Inf(1), math.Inf(1), 0.0
	g.k, g.norm2 = g.from.k, g.from.norm2
	var root crossing
	for n := range most {
		slope, size := s.VD, s.VV // up to k
		if !hard {
			slope, size = float64(s.VD*g.k)+ud+float64(tau*dd), g.norm2
		}
		// slope/|v|^2 is the difference of the relative residuals of (17).
		off := math.Abs(slope) / size
		if tau == 1 && slope <= 0 || tau > 0 && off <= 0x1p-46 {
			break
		}
		if slope < 0 {
			lo = tau
		} else {
			hi = tau
		}
		var next float64
		if hard {
			next = root.next(s, tau, to)
			if tau == 0 {
				next = min(next, g.guess(to))
			}
		} else {
			next = tau - slope/(float64(g.k*curve(s, to.p))+dd)
		}
		slow := off > 0.5*last && (n > 12 || !hard)
		if !(next > lo && next < hi) || slow {
			next = 0.5 * (lo + hi) // +Inf while the upper end is not known
		}
		last = off
		if next = min(next, 1); tau > 0 && (next == lo || next == hi) {
			break
		}
		tau = next
		if g.powers(s, tau, to.p-2); !hard {
			g.measure(s, to)
		}
	}
	g.measure(s, to)
	return tau
}

// guess returns a tau at which a step may begin that is not known to be short: where the largest
// feature of z/2, were it 0 in u, would come to be as much as all of u. It comes from f^-1(tau z/2)
// . z/2 = |u|_p^2 of that feature.
func (g *powerSegment) guess(to *pummaPowers) float64 {
	top := 0.0
	for j, v := range g.u {
		top = max(top, math.Abs(v+g.d[j]))
	}
	x := math.Sqrt(g.norm2) / top
	return float64(x * to.inverse.Of(x)) // x^(p/(p-1))
}

// powers sets r and the sums s at tau, for the exponent e, and the scale where there is none or
// with the one of before powers would be far beyond 1.
func (g *powerSegment) powers(s *vecmath.PowerSums, tau, e float64) {
	for exact := g.scale == 0; ; exact = true {
		if exact {
			top := 0.0
			for j, u := range g.u {
				top = max(top, math.Abs(math.FMA(tau, g.d[j], u)))
			}
			if g.scale = 1 / top; !(g.scale <= math.MaxFloat64) { // 0, or as good as
				g.scale = 0
				*s = vecmath.PowerSums{}
				return
			}
		}
		vecmath.PowersAlong(s, g.r, g.u, g.d, tau, g.scale, e)
		if sum := float64(float64(g.scale*g.scale) * s.VV); exact || sum >= 0x1p-400 &&
			sum <= 0x1p400 {
			return
		}
	}
}

// measure sets k and norm2 by the sums that powers set.
func (g *powerSegment) measure(s *vecmath.PowerSums, to *pummaPowers) {
	if g.k, g.norm2 = 0, 0; s.VV > 0 {
		sum := float64(float64(g.scale*g.scale) * s.VV) // |v scale|_p^p
		s2 := to.square.Of(sum)
		g.k, g.norm2 = s2/sum, s2/float64(g.scale*g.scale)
	}
}

// curve returns (D) up to k, without the slacks' part.
func curve(s *vecmath.PowerSums, p float64) float64 {
	return float64((p-1)*s.DD) - float64((p-2)*float64(s.VD*s.VD))/s.VV
}

// rootLess1 returns the (p-1)-th root of q, less 1.
func (to *pummaPowers) rootLess1(q float64) float64 {
	d := q - 1
	if math.Abs(d) > 0x1p-8 {
		return to.inverse.Of(q) - 1
	}
	// ln(1+d) up to d^7/7 and e^x-1 up to x^6/720: what is left out is below 2^-58 of them
	d2 := float64(d * d)
	s := (1 - float64(0.5*d)) + float64(d2*((1./3-float64(0.25*d))+float64(d2*((1./5-
		float64(1./6*d))+float64(1./7*d2)))))
	x := float64(d*s) / (to.p - 1)
	x2 := float64(x * x)
	return float64(x * ((1 + float64(0.5*x)) + float64(x2*((1./6+float64(1./24*x))+
		float64(x2*(1./120+float64(1./720*x)))))))
}

// crossing seeks the tau where (C) is 0 for p > 2, without slacks.
type crossing struct {
	known     bool
	tau, g, m float64 // the point before: tau, g there and 1/g'
}

// next returns the next point after one with these sums. f^-1(v).z/2 and f^-1(v).u are equal where
// (C) is 0. Of their quotient g is the (p-1)-th root, less 1: a few features decide, the fewer the
// larger p is, and make it nearly a straight line, but the slope a power of tau. tau is a function
// of g, and of that two points and the slopes there make a cubic, or one point a straight line.
func (c *crossing) next(s *vecmath.PowerSums, tau float64, to *pummaPowers) float64 {
	toward, back := s.VD+s.VU, s.VU
	inverse := float64(toward*back) / // of the logarithm's derivative/(p-1)
		(float64((s.DD+s.DU)*back) - float64(toward*s.DU))
	if !(toward > 0 && back > 0 && inverse > 0 && inverse < math.MaxFloat64) {
		c.known = false
		return tau - s.VD/curve(s, to.p) // a step of Newton's method
	}
	x := to.rootLess1(back / toward)
	g, m := -x/(1+x), float64(inverse*(1+x))
	next := tau + float64(inverse*x)
	// where g = 0 is, as a share of the way to the point before
	if share := g / (g - c.g); c.known && math.Abs(share) < 0.75 {
		way, rise := c.tau-tau, c.g-g
		square := 3*way - float64(rise*(2*m+c.m))
		cube := float64(rise*(m+c.m)) - 2*way
		next = tau + float64(share*(float64(rise*m)+float64(share*(square+float64(share*cube)))))
	}
	*c = crossing{true, tau, g, m}
	return next
}
