package vecmath

import "math"

// SinCos sets sin[i] and cos[i] to scale times the sine and the cosine of x[i], for i < len(x). sin
// or cos may be x, but they must not overlap otherwise. All is computed in float64, scale included,
// then rounded to T.
//
// The error, for scale 1, is below 1.5*2^-53 beside the rounding to float32. Beyond 2^30 in size,
// and for NaN, x counts as 2^30 with the sign of x (NaN: +): an angle that large has lost the
// digits that matter, and the results stay what they always are, numbers between -scale and scale.
func SinCos[T Float](sin, cos, x []T, scale float64) {
	checkLen(len(x), len(sin))
	checkLen(len(x), len(cos))
	if race {
		raceRead(x)
		raceWrite(sin[:len(x)])
		raceWrite(cos[:len(x)])
	}
	sinCos(data(sin), data(cos), data(x), len(x), scale)
}

// The constants of SinCos, four times each: AVX2 takes them as operands, by their offsets.
//
//	0      bound of |x|
//	1      2/pi
//	2      1.5*2^52: a number so large that its last bit is worth 1
//	3, 4   pi/2 in two parts. k times the first, less x, is exact where k is x/(pi/2) rounded
//	5-10   sine: (sin r - r)/r^3 as a polynomial in r^2, from the highest power down
//	11-16  cosine: (cos r - 1 + r^2/2)/r^4, likewise
//	17     -1/2
//	18     1
//	19     -0: the sign bit
//
// The polynomials are those of FreeBSD's k_sin.c and k_cos.c, good for |r| <= pi/4 to 2^-58.
var sinCosTable = func() (t [20][4]float64) {
	for i, c := range [...]float64{
		0x1p30, 0x1.45f306dc9c883p-1, 0x1.8p52, 0x1.921fb54442d18p0, 0x1.1a62633145c07p-54,
		1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
		-1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01,
		-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
		2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02,
		-0.5, 1, math.Copysign(0, -1),
	} {
		t[i] = [4]float64{c, c, c, c}
	}
	return t
}()

func sinCosGeneric[T Float](sin, cos, x []T, scale float64) {
	sin, cos = sin[:len(x)], cos[:len(x)]
	for i, v := range x {
		s, c := sinCosOne(float64(v))
		sin[i], cos[i] = T(float64(s*scale)), T(float64(c*scale))
	}
}

// sinCosOne: x = k pi/2 + r with a whole k and |r| <= pi/4 (a little more by rounding); the quarter
// k mod 4 says which of sin r and cos r is which, and their signs.
func sinCosOne(x float64) (sin, cos float64) {
	c := &sinCosTable
	if !(x < c[0][0]) {
		x = c[0][0]
	}
	if !(x > -c[0][0]) {
		x = -c[0][0]
	}
	t := math.FMA(x, c[1][0], c[2][0])
	k := t - c[2][0]
	r := math.FMA(-k, c[3][0], x)
	r = math.FMA(-k, c[4][0], r)
	r2 := float64(r * r)
	p, q := c[5][0], c[11][0]
	for i := 6; i <= 10; i++ {
		p = math.FMA(p, r2, c[i][0])
		q = math.FMA(q, r2, c[i+6][0])
	}
	q = math.FMA(q, r2, c[17][0])
	s := math.Float64bits(math.FMA(float64(r*r2), p, r))
	o := math.Float64bits(math.FMA(q, r2, c[18][0]))
	quarter := math.Float64bits(t)
	if quarter&1 != 0 {
		s, o = o, s
	}
	s ^= quarter << 62 & (1 << 63)
	o ^= (quarter ^ quarter<<1) << 62 & (1 << 63)
	return math.Float64frombits(s), math.Float64frombits(o)
}
