package format

import (
	"math"
	"strconv"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
)

type numStatus uint8

const (
	numOK     numStatus = iota
	numSyntax           // no decimal number stands here
	numRange            // too large for the element type
)

// Powers of ten that are exact in their type: 10^22 = 2^22 5^22 with 5^22 < 2^53, and 10^10 with
// 5^10 < 2^24.
var (
	pow10f64 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
		1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}
	pow10f32 = [...]float32{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}
	pow10u64 = [...]uint64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}
)

// parseNumber reads the decimal number [+-]digits[.digits][e[+-]digits] at b[p] and returns it
// correctly rounded, and the place behind it (on numSyntax: the first byte that does not fit). b
// must end with a byte that no number holds.
//
// An integer of at most 53 (24) bits times or over an exact power of ten is one correctly rounded
// operation (Clinger 1990); all else goes to strconv.
func parseNumber[T engine.Float](b []byte, p int) (T, int, numStatus) {
	start := p
	neg := b[p] == '-'
	if neg || b[p] == '+' {
		p++
	}
	var mant uint64
	first := p
	d := b[p] - '0'
	for d <= 9 {
		mant = mant*10 + uint64(d)
		p++
		d = b[p] - '0'
	}
	digits := p - first
	exp := 0
	if b[p] == '.' {
		p++
		first = p
		d = b[p] - '0'
		for d <= 9 {
			mant = mant*10 + uint64(d)
			p++
			d = b[p] - '0'
		}
		exp = first - p
		digits += p - first
	}
	if digits == 0 {
		return 0, p, numSyntax
	}
	if b[p]|0x20 == 'e' {
		p++
		eneg := b[p] == '-'
		if eneg || b[p] == '+' {
			p++
		}
		first = p
		e := 0
		d = b[p] - '0'
		for d <= 9 {
			if e < 100000 { // beyond the range of any type: no more digits are needed, nor overflow
				e = e*10 + int(d)
			}
			p++
			d = b[p] - '0'
		}
		if p == first {
			return 0, p, numSyntax
		}
		if eneg {
			e = -e
		}
		exp += e
	}
	var v T
	if digits <= 19 && mant < 1<<53 && -22 <= exp && exp <= 22 { // 19 digits can't overflow mant
		if unsafe.Sizeof(v) == 4 {
			f, ok := float32Of(mant, exp)
			if !ok {
				return slowNumber[T](b[start:p], p)
			}
			v = T(f)
		} else {
			v = T(float64Of(mant, exp))
		}
		if neg {
			v = -v
		}
		return v, p, numOK
	}
	return slowNumber[T](b[start:p], p)
}

// float64Of returns mant * 10^exp for mant < 2^53, |exp| <= 22: both operands are exact, so the
// result is correctly rounded.
func float64Of(mant uint64, exp int) float64 {
	if exp < 0 {
		return float64(mant) / pow10f64[-exp]
	}
	return float64(mant) * pow10f64[exp]
}

// float32Of is float64Of rounded once to float32. Rounding twice errs only if the float64 lies
// exactly between two float32s: a true value off that midpoint would have been rounded to its own
// side of it or onto it. Those, and what is not a normal float32, are refused.
func float32Of(mant uint64, exp int) (float32, bool) {
	if mant <= 1<<24 && -10 <= exp && exp <= 10 {
		if exp < 0 {
			return float32(mant) / pow10f32[-exp], true
		}
		return float32(mant) * pow10f32[exp], true
	}
	if mant == 0 {
		return 0, true
	}
	d := float64Of(mant, exp)
	if between32(d) || d > math.MaxFloat32 {
		return 0, false
	}
	return float32(d), true
}

// between32 reports whether d, 0 or more, lies exactly between two float32s, or is no normal one.
func between32(d float64) bool {
	const low = 1<<29 - 1 // the bits of a float64 that a float32 lacks
	return math.Float64bits(d)&low == 1<<28 || d < 0x1p-126
}

// slowNumber is strconv's, for what the fast way does not round correctly: more than 19 digits or
// 53 bits, large exponents, results below the normal numbers or between two of them.
func slowNumber[T engine.Float](tok []byte, end int) (T, int, numStatus) {
	var v T
	// the token is not kept
	f, err := strconv.ParseFloat(unsafe.String(&tok[0], len(tok)), int(unsafe.Sizeof(v))*8)
	if err != nil {
		return 0, end, numRange // the syntax was found good: only the range is left
	}
	return T(f), end, numOK
}

// Squares returns the sum of the squares of v, added up one by one in float64.
func Squares[T engine.Float](v []T) float64 {
	s := 0.0
	for _, x := range v {
		s += float64(float64(x) * float64(x))
	}
	return s
}

// ToUnit divides v by its 2-norm; s is Squares(v). All zeros stay. It returns the norm, or 0 where
// that is not the one number that all were divided by.
func ToUnit[T engine.Float](v []T, s float64) float64 {
	// a smaller sum may have lost digits to squares below the smallest normal float64, 2^-1022
	if s >= 0x1p-900 && s <= math.MaxFloat64 {
		norm := math.Sqrt(s)
		Divide(v, norm)
		return norm
	}
	most := 0.0 // the squares are out of range: bring the largest value to 1 first
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	if most == 0 {
		return 0
	}
	s = 0
	for _, x := range v {
		q := float64(x) / most
		s += float64(q * q)
	}
	n := math.Sqrt(s)
	for i, x := range v {
		v[i] = T(float64(x) / most / n)
	}
	return 0
}

// Divide divides v by s.
func Divide[T engine.Float](v []T, s float64) {
	for i, x := range v {
		v[i] = T(float64(x) / s)
	}
}
