package vecmath

import (
	"math"
	"unsafe"
)

// Exp sets dst[i] to e to the power of x[i], for i < len(dst). dst may be x, but must not overlap
// it otherwise.
//
// The error is below 1.05 ulp, also where the result is denormal (there the unit is the smallest
// denormal). Results above the largest number are +Inf, those that round to zero are +0: e^-Inf is
// 0, e^NaN is NaN. e^0 is 1.
//
// Every element costs the same but on CPUs that take longer to produce denormals (x below -87.3 for
// float32, -708.4 for float64).
func Exp[T Float](dst, x []T) {
	checkLen(len(dst), len(x))
	if race {
		raceRead(x[:len(dst)])
		raceWrite(dst)
	}
	exp(data(dst), data(x), len(dst))
}

// The constants of Exp, which all implementations read, the assembly by their offsets:
//
//	0, 1  bounds of x: beyond them the result is +Inf or 0 anyway
//	2     1/ln 2
//	3     1.5*2^m + 2*bias for m = 52 (23) bits of mantissa and the bias 1023 (127) of exponents:
//	      a number so large that its last bit is worth 1
//	4, 5  -ln 2 in two parts, of which the first is short: its product with k is exact
//	6     1
//	7...  polynomial q of expOne, from the highest power down to the constant: minimax for the
//	      relative error of 1 + r + r*r*q(r) on [-ln2/2, ln2/2], which is 2^-57 (2^-28) before
//	      the coefficients are rounded
var exp32 = [...]float32{
	89, -104, 0x1.715476p+0, 0x1.8p23 + 254, -0x1.63p-1, 0x1.bd0106p-13, 1,
	0x1.6a3a74p-10, 0x1.12345p-7, 0x1.5558aep-5, 0x1.55549ap-3, 0x1.fffffcp-2,
}

var exp64 = [...]float64{
	710, -746, 0x1.71547652b82fep+0, 0x1.8p52 + 2046, -0x1.62e42feep-1, -0x1.a39ef35793c76p-33, 1,
	0x1.ad5c28a49facep-26, 0x1.28a498ab8af58p-22, 0x1.71df30419271ep-19, 0x1.a019a4b58d4c4p-16,
	0x1.a01a012c11931p-13,
	0x1.6c16c17fb3272p-10, 0x1.1111111125c56p-7, 0x1.5555555552063p-5, 0x1.555555555550bp-3,
	0x1.0000000000004p-1,
}

func expGeneric[T Float](dst, x []T) {
	c := unsafe.Slice((*T)(unsafe.Pointer(&exp64)), len(exp64))
	if is32[T]() {
		c = unsafe.Slice((*T)(unsafe.Pointer(&exp32)), len(exp32))
	}
	x = x[:len(dst)]
	for i, v := range x {
		dst[i] = expOne(v, c)
	}
}

// expOne: x = k ln 2 + r with a whole k and |r| <= ln2/2, e^r = 1 + (r + r*r*q(r)), and e^x = 2^k
// e^r.
func expOne[T Float](x T, c []T) T {
	if x > c[0] {
		x = c[0]
	}
	if x < c[1] {
		x = c[1]
	}
	t := fma(x, c[2], c[3]) // rounded to k + c[3], that is, to a whole number
	k := T(t - c[3])
	r := fma(k, c[4], x)
	r = fma(k, c[5], r)
	q := c[7]
	for _, a := range c[8:] {
		q = fma(q, r, a)
	}
	p := T(fma(T(r*r), q, r) + c[6])
	// 2^k need not be a normal number, so it is split in two that are. The last bits of t are those
	// of k + 2*bias; half of that, and what remains, are the exponents. Whatever lies to the left
	// of them is shifted out. The first product is exact, so that a denormal result is rounded
	// once.
	if is32[T]() {
		u := math.Float32bits(float32(t))
		h := u >> 1
		p = T(p * T(math.Float32frombits(h<<23)))
		return T(p * T(math.Float32frombits((u-h)<<23)))
	}
	u := math.Float64bits(float64(t))
	h := u >> 1
	p = T(p * T(math.Float64frombits(h<<52)))
	return T(p * T(math.Float64frombits((u-h)<<52)))
}
