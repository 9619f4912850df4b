package primal

import "math"

// Pow returns x^e for finite x > 0 and e >= 0, to within 0.9 units in the last place and to the
// same bits on every CPU, which math.Pow does not promise. It is a chain of products and fused
// multiply-adds: log2(x) to some 65 bits as an unevaluated sum of two numbers, then 2^(e log2 x). x
// = 0 gives 0^e.
//
// Method: as in P. W. Markstein, "IA-64 and Elementary Functions", 2000, with log2(m) = 2/ln 2
// atanh(s), s = (m-1)/(m+1).
func Pow(x, e float64) float64 {
	if x == 0 || e == 0 {
		if e == 0 {
			return 1
		}
		return 0
	}
	l, ll := log2(x)
	// 2^(e log2 x) = 2^n exp(r)
	y := float64(e * l)
	yl := math.FMA(e, l, -y) + float64(e*ll)
	switch { // beyond float64, 2^-1074 to 2^1024, whatever the rest is
	case y < -1080:
		return 0
	case y > 1030:
		return math.Inf(1)
	}
	n := math.RoundToEven(y)
	l = y - n
	y = l + yl
	yl = (l - y) + yl
	const ln2, ln2Low = 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56
	r := float64(y * ln2)
	rl := math.FMA(y, ln2, -r) + float64(y*ln2Low) + float64(yl*ln2)
	q := 1. / 6227020800 // exp(r) = 1 + r + r^2 (1/2 + ... + r^11/13!), |r| <= ln 2/2
	for _, c := range [...]float64{1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. /
		40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 0.5} {
		q = math.FMA(q, r, c)
	}
	z := 1 + (r + (rl + float64(float64(r*r)*q)))
	if n > -1021 && n < 1023 { // a normal number: the exponent's bits take n
		return math.Float64frombits(math.Float64bits(z) + uint64(int64(n))<<52)
	}
	return math.Ldexp(z, int(n))
}

// log2 returns log2(x) of a finite x > 0 as an unevaluated sum.
func log2(x float64) (l, ll float64) {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		k--
	}
	f, t := m-1, m+1
	// From here on a number is an unevaluated sum of two: v + vl, vl the rounding error of v, by
	// the fused multiply-add for products and by difference for sums.
	s := f / t
	sl := (math.FMA(-s, t, f) - float64(s*(m-(t-1)))) / t // s + sl = f/(m+1)
	// atanh(s) = s + s^3 (1/3 + s^2 (1/5 + s^2/7 + ...)), |s| < 0.172. The series ends at s^25/25:
	// what is left out is below 0.172^27/27 = 8e-23, 2^-73. The terms from s^5/5 on are below 2 %
	// of the bracket, and one float64 is enough for them.
	s2 := float64(s * s)
	s2l := math.FMA(s, s, -s2) + float64(2*s*sl)
	q := 1. / 25
	for _, c := range [...]float64{1. / 23, 1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11,
		1. / 9, 1. / 7, 1. / 5} {
		q = math.FMA(q, s2, c)
	}
	const third, thirdLow = 0x1.5555555555555p-2, 0x1.5555555555555p-56
	u := float64(s2 * q)
	p := third + u
	pl := (third - p) + u + thirdLow
	c := float64(s2 * p)
	cl := math.FMA(s2, p, -c) + float64(s2*pl) + float64(s2l*p)
	a := float64(s * c)
	al := math.FMA(s, c, -a) + float64(s*cl) + float64(sl*c)
	h := s + a
	hl := (s - h) + a + (al + sl)
	// log2(x) = k + 2/ln 2 atanh(s)
	const inv, invLow = 0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55
	b := float64(h * inv)
	bl := math.FMA(h, inv, -b) + float64(h*invLow) + float64(hl*inv)
	l = float64(k) + b
	return l, (float64(k) - l) + b + bl
}
