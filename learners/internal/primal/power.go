package primal

import "math"

// Power is x^e for one e >= 0 and many x, as [Pow] has it: within 0.9 units in the last place, the
// same bits on every CPU. Where e is an integer up to 64 it is a product.
type Power struct {
	e float64
	n int // e, 0 where it is no small integer
}

// PowerOf returns the power of that exponent.
func PowerOf(e float64) Power {
	if n := int(e); e >= 1 && e <= 64 && float64(n) == e {
		return Power{e, n}
	}
	return Power{e: e}
}

// Of returns x^e for finite x >= 0.
func (p Power) Of(x float64) float64 {
	if p.n == 0 {
		return Pow(x, p.e)
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

// timesTwo returns (ah+al) (bh+bl) as an unevaluated sum.
func timesTwo(ah, al, bh, bl float64) (h, l float64) {
	p := float64(ah * bh)
	e := math.FMA(ah, bh, -p) + math.FMA(ah, bl, float64(al*bh))
	h = p + e
	return h, e - (h - p)
}
