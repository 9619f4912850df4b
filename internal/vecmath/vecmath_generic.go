package vecmath

import (
	"math"
	"math/bits"
	"unsafe"
)

// The reference of every kernel: the contract, spelled out. Assembly must give these bits. They are
// also what runs where there is no assembly, and with HALFSPACE_IMPL=generic.
//
// Products and sums that must not be fused are wrapped in an explicit conversion: the language
// allows x*y + z to be fused otherwise, and some targets do.

// fma returns a*b + c with one rounding, on every target.
func fma[T Float](a, b, c T) T {
	if unsafe.Sizeof(a) == 4 {
		return T(fma32(float32(a), float32(b), float32(c)))
	}
	return T(math.FMA(float64(a), float64(b), float64(c)))
}

// fma32 is the exact float32 fused multiply-add. The product of two float32 is exact in float64.
// The sum is rounded to odd: 53 bits >= 2*24+2, so rounding it once more to float32 gives the
// correctly rounded result (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums:
// proved algorithms using rounding to odd", 2008).
func fma32(a, b, c float32) float32 {
	p := float64(float64(a) * float64(b))
	z := float64(c)
	s := float64(p + z)
	if math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	// TwoSum: s + e == p + z exactly.
	v := float64(s - p)
	e := float64(float64(p-float64(s-v)) + float64(z-v))
	if e != 0 {
		if u := math.Float64bits(s); u&1 == 0 {
			if (e > 0) == (s > 0) {
				u++
			} else {
				u--
			}
			s = math.Float64frombits(u)
		}
	}
	return float32(s)
}

// parts is the number of partial sums of a dense reduction: 256 bytes of them.
func parts[T Float]() int { return 256 / int(unsafe.Sizeof(T(0))) }

// halve combines partial sums by the fixed tree. len(p) is a power of two.
func halve[T Float](p []T) T {
	for h := len(p) / 2; h >= 1; h /= 2 {
		for i := range h {
			p[i] += p[i+h]
		}
	}
	return p[0]
}

func dotGeneric[T Float](a, b []T) T {
	var acc [64]T
	p := acc[:parts[T]()]
	b = b[:len(a)]
	for i, v := range a {
		k := i & (len(p) - 1)
		p[k] = fma(v, b[i], p[k])
	}
	return halve(p)
}

func sumSqGeneric[T Float](x []T) T {
	var acc [64]T
	p := acc[:parts[T]()]
	for i, v := range x {
		k := i & (len(p) - 1)
		p[k] = fma(v, v, p[k])
	}
	return halve(p)
}

// sqDistGeneric rounds each difference, then squares and adds it fused.
func sqDistGeneric[T Float](a, b []T) T {
	var acc [64]T
	p := acc[:parts[T]()]
	b = b[:len(a)]
	for i, v := range a {
		k := i & (len(p) - 1)
		d := T(v - b[i])
		p[k] = fma(d, d, p[k])
	}
	return halve(p)
}

// rowsDotGeneric: dst[r] = the dot of rows[r*stride : r*stride+len(x)] with x, in the bits of
// dotGeneric(row, x).
func rowsDotGeneric[T Float](dst, rows []T, stride int, x []T) {
	for r := range dst {
		dst[r] = dotGeneric(rows[r*stride:r*stride+len(x)], x)
	}
}

func axpyGeneric[T Float](y []T, a T, x []T) {
	x = x[:len(y)]
	for i := range y {
		y[i] = fma(a, x[i], y[i])
	}
}

func scalGeneric[T Float](x []T, a T) {
	for i := range x {
		x[i] *= a
	}
}

func sparseDotGeneric[T Float](idx []int32, val []T, w []T) T {
	var p [8]T
	val = val[:len(idx)]
	for k, j := range idx {
		p[k&7] = fma(val[k], w[j], p[k&7])
	}
	return halve(p[:])
}

func sparseAxpyGeneric[T Float](w []T, a T, idx []int32, val []T) {
	val = val[:len(idx)]
	for k, j := range idx {
		w[j] = fma(a, val[k], w[j])
	}
}

// lanesScoreGeneric: dst[l] = sum over k of val[k] * w[rows[k]*width + l], width = len(dst), in the
// order of k from +0.
func lanesScoreGeneric[T Float](dst, w []T, rows []int32, val []T) {
	width, unit := len(dst), LaneUnit[T]()
	val = val[:len(rows)]
	for at := 0; at < width; at += unit { // dst may be one of the rows
		var sums [16]T
		s := sums[:unit]
		for k, r := range rows {
			row := w[int(r)*width+at:][:unit]
			for l := range s {
				s[l] = fma(val[k], row[l], s[l])
			}
		}
		copy(dst[at:], s)
	}
}

// lanesUpdateGeneric: w[rows[k]*width + l] += coef[l] * val[k] for lanes l whose bit is set in mask
// (bit l%64 of word l/64); other lanes are not touched. width = len(coef).
func lanesUpdateGeneric[T Float](w []T, rows []int32, val, coef []T, mask []uint64) {
	width := len(coef)
	val = val[:len(rows)]
	for k, r := range rows {
		row := w[int(r)*width:][:width]
		for wd, m := range mask {
			for ; m != 0; m &= m - 1 {
				l := wd*64 + bits.TrailingZeros64(m)
				row[l] = fma(coef[l], val[k], row[l])
			}
		}
	}
}

// lanesLEGeneric sets bit l of mask where y*s[l] <= t (never for NaN) and clears all others, bits
// beyond len(s) included.
func lanesLEGeneric[T Float](mask []uint64, s []T, y, t T) {
	clear(mask)
	for l, v := range s {
		if T(y*v) <= t {
			mask[l/64] |= 1 << (l % 64)
		}
	}
}

// drawBitsGeneric: word d of a sequence x is hi ^ lo of the 128-bit product z * (z^fin), z = x +
// d*step. x becomes the sum modulo 2 of first and, for each d where turn (the highest bit is d = 0)
// has a 1, the bits set in all of words 0, ..., d. Once there are none, the rest of turn adds
// nothing. Of the last of so many words only the bits in last are kept.
func drawBitsGeneric(x []uint64, words int, last, fin, step, first, turn uint64) {
	drawBitsOf(x, fin, step, first, turn)
	keepLast(x, words, last)
}

// drawBitsOf is drawBitsGeneric of all bits. Two sequences at a time, since one alone waits for its
// multiplications.
func drawBitsOf(x []uint64, fin, step, first, turn uint64) {
	for ; len(x) >= 2; x = x[2:] {
		x[0], x[1] = drawBits2(x[0], x[1], fin, step, first, turn)
	}
	if len(x) == 1 {
		x[0], _ = drawBits2(x[0], x[0], fin, step, first, turn)
	}
}

// keepLast keeps the bits in last alone of the last of so many words.
func keepLast(x []uint64, words int, last uint64) {
	for i := words - 1; i < len(x); i += words {
		x[i] &= last
	}
}

func drawBits2(x0, x1, fin, step, first, turn uint64) (b0, b1 uint64) {
	b0, b1 = first, first
	s0, s1 := ^uint64(0), ^uint64(0)
	for ; turn != 0; turn <<= 1 {
		hi, lo := bits.Mul64(x0, x0^fin)
		s0 &= hi ^ lo
		x0 += step
		hi, lo = bits.Mul64(x1, x1^fin)
		s1 &= hi ^ lo
		x1 += step
		if int64(turn) < 0 {
			b0 ^= s0
			b1 ^= s1
			if s0|s1 == 0 {
				break
			}
		}
	}
	return b0, b1
}

func mixCountersGeneric(x []uint64, words int, first, example, word uint64) {
	c := first
	for i, in := 0, 0; i < len(x); i++ {
		z := (c ^ c>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		x[i] = z ^ z>>31
		c += word
		if in++; in == words { // the next example's first
			c += example - uint64(words)*word
			in = 0
		}
	}
}

// The mixed kernels work on a float64 vector and a float32 example: each x is widened exactly, then
// as above.

func dotMixedGeneric(a []float64, x []float32) float64 {
	var p [32]float64
	a = a[:len(x)]
	for i, v := range x {
		p[i&31] = math.FMA(a[i], float64(v), p[i&31])
	}
	return halve(p[:])
}

func rowsDotMixedGeneric(dst []float64, rows []float32, stride int, x []float64) {
	for r := range dst {
		dst[r] = dotMixedGeneric(x, rows[r*stride:r*stride+len(x)])
	}
}

func axpyMixedGeneric(y []float64, a float64, x []float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] = math.FMA(a, float64(x[i]), y[i])
	}
}

func sparseDotMixedGeneric(idx []int32, val []float32, w []float64) float64 {
	var p [8]float64
	val = val[:len(idx)]
	for k, j := range idx {
		p[k&7] = math.FMA(float64(val[k]), w[j], p[k&7])
	}
	return halve(p[:])
}

func sparseAxpyMixedGeneric(w []float64, a float64, idx []int32, val []float32) {
	val = val[:len(idx)]
	for k, j := range idx {
		w[j] = math.FMA(a, float64(val[k]), w[j])
	}
}
