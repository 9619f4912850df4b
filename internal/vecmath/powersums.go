package vecmath

import (
	"math"
	"unsafe"
)

// PowerSums holds the sums over the elements v = u + tau d of a point of a segment, with
// r = |v scale|^e.
type PowerSums struct { // the fields in the order of the partial sums
	VD, DD, VU, DU, VV float64 // sums of r v d, r d d, r v u, r d u, r v v
}

// PowersAlong sets r[i] to |v_i scale|^e, where v = u + tau d, for i < len(r), and sums to the sums
// with these. r must not overlap u or d. u and d must be as long at least; e, tau and scale finite,
// e and scale above 0.
//
// The error of an r is below 4 + 2|e ln |v scale|| ulp. Above e^700 and below e^-700 it is one of
// these, roughly; so it is where v is 0 or v scale is no normal number. Sums are made of 8 partial
// sums, to which r, v, u and d add as if they were followed by zeros up to a multiple of 8.
func PowersAlong(sums *PowerSums, r, u, d []float64, tau, scale, e float64) {
	checkLen(len(r), min(len(u), len(d)))
	if race {
		raceRead(u[:len(r)])
		raceRead(d[:len(r)])
		raceWrite(r)
	}
	powersAlong(data(r), data(u), data(d), len(r), tau, scale, e, &sums.VD)
}

// The constants of PowersAlong, which all implementations read, the assembly by their offsets. The
// coefficients of the logarithm are those of FreeBSD's e_log.c: ln m = f - f^2/2 + s (f^2/2 +
// R(s^2)) with f = m-1, s = f/(2+f), whose relative error is below 2^-58.
var powerTable = [...]uint64{
	0x7fffffffffffffff, // 0: all but the sign
	0x0010000000000000, // 1: 2^-1022
	0x00095f619980c433, // 2: takes the bits of sqrt(1/2) to those of 1
	0x4330000000000000, // 3: those of 2^52, whose last bit is worth 1
	0x43300000000003ff, // 4: 2^52 + 1023
	0x000fffffffffffff, // 5: a mantissa
	0x3fe6a09e667f3bcd, // 6: sqrt(1/2)
	0x3ff0000000000000, // 7: 1
	0x4000000000000000, // 8: 2
	0x3fe0000000000000, // 9: 1/2
	0x3fc2f112df3e5244, // 10: R, from the highest power down
	0x3fc39a09d078c69f,
	0x3fc7466496cb03de,
	0x3fcc71c51d8e78af,
	0x3fd2492494229359,
	0x3fd999999997fa04,
	0x3fe5555555555593, // 16
	0x3fe62e42fee00000, // 17: ln 2 in two parts, of which the first is short
	0x3dea39ef35793c76,
	0xc085e00000000000, // 19: -700
	0x4085e00000000000, // 20: 700
	0x4338000000000000, // 21: 1.5*2^52
}

// The constants of the exponential are those of Exp.

func powersAlongGeneric(r, u, d []float64, tau, scale, e float64, sums []float64) {
	var p [5][8]float64
	for i := range (len(r) + 7) &^ 7 {
		var ui, di float64
		if i < len(r) {
			ui, di = u[i], d[i]
		}
		v := math.FMA(tau, di, ui)
		ri := powerOne(float64(math.Abs(v)*scale), e)
		if i < len(r) {
			r[i] = ri
		}
		rd, ru, rv, k := float64(ri*di), float64(ri*ui), float64(ri*v), i&7
		p[0][k] = math.FMA(rd, v, p[0][k])
		p[1][k] = math.FMA(rd, di, p[1][k])
		p[2][k] = math.FMA(ru, v, p[2][k])
		p[3][k] = math.FMA(ru, di, p[3][k])
		p[4][k] = math.FMA(rv, v, p[4][k])
	}
	for k := range p {
		sums[k] = halve(p[k][:])
	}
}

// powerOne returns a^e of PowersAlong: a = 2^k m with m in [sqrt(1/2), sqrt(2)), y = e ln a, and
// e^y as in Exp, of which y's bounds leave normal numbers alone. The polynomials are two chains
// each, of every other coefficient.
func powerOne(a, e float64) float64 {
	t := (*[len(powerTable)]float64)(unsafe.Pointer(&powerTable))
	if !(a > t[1]) {
		a = t[1]
	}
	bits := math.Float64bits(a) + powerTable[2]
	k := math.Float64frombits(bits>>52|powerTable[3]) - t[4]
	f := math.Float64frombits(bits&powerTable[5]+powerTable[6]) - 1
	s := f / (f + 2)
	z := float64(s * s)
	w := float64(z * z)
	q := math.FMA(math.FMA(math.FMA(t[10], w, t[12]), w, t[14]), w, t[16])
	odd := math.FMA(math.FMA(t[11], w, t[13]), w, t[15])
	q = math.FMA(odd, z, q)
	half := float64(float64(f*f) * 0.5)
	q = float64((float64(q*z) + half) * s)
	q = math.FMA(k, t[18], q)
	y := float64(math.FMA(k, t[17], -((half-q)-f)) * e)
	if !(y > t[19]) {
		y = t[19]
	}
	if !(y < t[20]) {
		y = t[20]
	}
	n := math.FMA(y, exp64[2], t[21])
	k = n - t[21]
	x := math.FMA(k, exp64[4], y)
	x = math.FMA(k, exp64[5], x)
	w = float64(x * x)
	q, odd = exp64[8], exp64[7]
	for i := 9; i < len(exp64); i += 2 {
		odd, q = math.FMA(odd, w, exp64[i]), math.FMA(q, w, exp64[i+1])
	}
	q = math.FMA(w, math.FMA(odd, x, q), x) + 1
	return math.Float64frombits(math.Float64bits(q) + math.Float64bits(n)<<52)
}
