package primal

import (
	"math"
	"sync"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// Power is x^e for one e >= 0 and many x, as [Pow] has it: within 0.9 units in the last place, the
// same bits on every CPU. Where e is an integer up to 64 it is a product, else a few products and
// sums with tables.
type Power struct {
	e      float64
	n      int          // e, 0 where it is no small integer
	tables *powerTables // nil where it is one
}

// PowerOf returns the power of that exponent.
func PowerOf(e float64) Power {
	if n := int(e); e >= 1 && e <= 64 && float64(n) == e {
		return Power{e: e, n: n}
	}
	return Power{e: e, tables: powers()}
}

// Of returns x^e for finite x >= 0.
func (p Power) Of(x float64) float64 {
	switch {
	case p.e == 0.5:
		return math.Sqrt(x)
	case p.n == 0:
		return p.tables.pow(x, p.e)
	case p.n == 3:
		if c := Cube(x); c == c {
			return c
		}
		return math.Inf(1)
	}
	// Numbers are unevaluated sums of two, h + l, h the rounded one. A product drops l l', below
	// 2^-106 of it, and rounds what is added to l, below 2^-104: of at most 11 products 2^-100
	// comes together, and the last h is off by half a unit.
	var h, l float64
	bh, bl, first := x, 0.0, true
	for n := p.n; ; {
		if n&1 != 0 {
			if first {
				h, l, first = bh, bl, false
			} else {
				h, l = timesTwo(h, l, bh, bl)
			}
		}
		if n >>= 1; n == 0 {
			break
		}
		bh, bl = timesTwo(bh, bl, bh, bl)
	}
	if h != h { // infinity less infinity
		return math.Inf(1)
	}
	return h
}

// Cube returns x^3, to within 0.6 units in the last place where nothing underflows, or NaN where
// x^2 is beyond all range.
func Cube(x float64) float64 {
	h := float64(x * x)
	return math.FMA(h, x, float64(math.FMA(x, x, -h)*x))
}

// Shares sets dst to the powers of x, numbers of [0, 1], to within 3 + 2 e |ln x| units in the last
// place: what that leaves of the power times x is below 4 units of 1. It takes half of the time of
// [Power.Of]. The bits are the same on every CPU.
func (p Power) Shares(dst, x []float64) {
	if p.n > 0 {
		for i, v := range x {
			dst[i] = p.Of(v)
		}
		return
	}
	t, scale := p.tables, float64(p.e*math.Ln2)
	for i, v := range x {
		bits := math.Float64bits(v)
		if bits < 1<<52 { // 0, or too small for the bits of a normal number
			l := math.Inf(-1)
			if v > 0 {
				l, _ = log2(v)
			}
			dst[i] = float64(scale * l)
			continue
		}
		from := bits - zFrom
		at := from >> 45 & 127
		r := math.FMA(math.Float64frombits(bits-from&(0xfff<<52)), t.inverse[at], -1)
		r2 := float64(r * r) // ln(1+r), but for r^8/8 and less, below 2^-66
		s := math.FMA(r, 1./7, -1./6)
		s = math.FMA(r, 1./5, -1./4) + float64(r2*s)
		s = math.FMA(r, 1./3, -1./2) + float64(r2*s)
		s = math.FMA(r2, s, r+float64(t.low[at]*math.Ln2))
		dst[i] = math.FMA(scale, float64(int64(from)>>52)+t.log[at], float64(p.e*s))
	}
	vecmath.Exp(dst, dst)
}

// timesTwo returns (ah+al) (bh+bl) as an unevaluated sum.
func timesTwo(ah, al, bh, bl float64) (h, l float64) {
	p := float64(ah * bh)
	e := math.FMA(ah, bh, -p) + math.FMA(ah, bl, float64(al*bh))
	h = p + e
	return h, e - (h - p)
}

// powerTables has what is known before of x = 2^k z and 2^y = 2^n 2^(i/128) 2^r.
type powerTables struct {
	// Of a z of the interval, z inverse = 1 + r with |r| < 2^-7.9, and log2 z = log + low +
	// log2(1+r); log is a multiple of 2^-42.
	inverse, log, low [128]float64
	// 2^(i/128) = root (1 + tail)
	root, tail [128]float64
}

// zFrom is where the intervals of z begin, 0.705; 1 is the middle of one, so that its r is 0.
const zFrom = 0x3fe6900000000000

var powers = sync.OnceValue(func() *powerTables {
	t := new(powerTables)
	for i := range t.log {
		c := math.Float64frombits(zFrom + uint64(i)<<45 + 1<<44)
		t.inverse[i] = 1 / c
		l, ll := log2(t.inverse[i])
		t.log[i] = -math.RoundToEven(l*0x1p42) * 0x1p-42
		t.low[i] = (-l - t.log[i]) - ll

		e := float64(i) / 128
		t.root[i] = Pow(2, e)
		l, ll = log2(t.root[i])
		t.tail[i] = float64(((e - l) - ll) * math.Ln2)
	}
	return t
})

// pow is [Pow].
//
// Method: as pow of Arm's Optimized Routines (S. Nagy). log2(x) is a sum of two numbers, off by
// some 2^-61, half of which is the rounding of r; for e up to 100 that is a tenth of a unit in the
// last place. What the series leave out is below 2^-66 and 2^-60.
func (t *powerTables) pow(x, e float64) float64 {
	bits := math.Float64bits(x)
	from := bits - zFrom
	if bits-1<<52 >= 0x7fe<<52 || e == 0 { // 0, or too small for the bits of a normal number
		return Pow(x, e)
	}
	i := from >> 45 & 127
	k := float64(int64(from) >> 52)
	r := math.FMA(math.Float64frombits(bits-from&(0xfff<<52)), t.inverse[i], -1)
	const inv, invLow = 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56 // 1/ln 2
	a := k + t.log[i]                                               // exact
	b := float64(r * inv)
	h := a + b
	low := (a - h) + b + (math.FMA(r, inv, -b) + float64(r*invLow) + t.low[i])
	// log2(1+r) - r/ln 2 = r^2 (-1/2 + r/3 - ... - r^6/8)/ln 2
	r2 := float64(r * r)
	s := math.FMA(r, inv/7, -inv/6) + float64(r2*(-inv/8))
	s = math.FMA(r, inv/5, -inv/4) + float64(r2*s)
	s = math.FMA(r, inv/3, -inv/2) + float64(r2*s)
	c := float64(r2 * s)
	l := h + c
	low += (h - l) + c
	y := float64(e * l)
	if !(y > -1000 && y < 1000) {
		return Pow(x, e)
	}
	yl := math.FMA(e, l, -y) + float64(e*low)
	const shift = 0x1.8p45 // rounds to multiples of 1/128, counted in the last bits
	n := y + shift
	ni := math.Float64bits(n)
	r = (y - (n - shift)) + yl // |r| < 2^-7.9
	const c1, c2, c3, c4, c5 = math.Ln2, math.Ln2 * math.Ln2 / 2, math.Ln2 * math.Ln2 *
		math.Ln2 / 6, math.Ln2 * math.Ln2 * math.Ln2 * math.Ln2 / 24,
		math.Ln2 * math.Ln2 * math.Ln2 * math.Ln2 * math.Ln2 / 120
	r2 = float64(r * r)
	s = math.FMA(r, c3, c2) + float64(r2*math.FMA(r, c5, c4))
	s = t.tail[ni&127] + float64(r*c1) + float64(r2*s)
	root := math.Float64frombits(math.Float64bits(t.root[ni&127]) + ni>>7<<52)
	return math.FMA(root, s, root)
}
