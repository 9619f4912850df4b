package vecmath

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestPowersAlong holds powers against products and square roots of 200 bits, and the sums against
// sums of the same powers.
func TestPowersAlong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		real := rapid.Float64Range(-3, 3)
		u, d := make([]float64, n), make([]float64, n)
		for i := range n {
			u[i], d[i] = real.Draw(t, "u"), real.Draw(t, "d")
		}
		tau, scale := rapid.Float64Range(0, 1).Draw(t, "tau"), rapid.Float64Range(0.1,
			10).Draw(t, "scale")
		e := float64(rapid.IntRange(1, 320).Draw(t, "e")) / 8
		var got PowerSums
		r := make([]float64, n)
		PowersAlong(&got, r, u, d, tau, scale, e)
		var want, size [5]float64
		least := 0.0 // what products that are denormal lose, whichever is made first
		for i := range n {
			v := math.FMA(tau, d[i], u[i])
			a := math.Abs(v) * scale
			if y := e * math.Log(a); a >= 0x1p-1022 && math.Abs(y) < 699 {
				if ulps := ulpsOff(bigPower(a, e), r[i]); !(ulps <= 4+2*math.Abs(y)) {
					t.Fatalf("%v^%v = %v is off by %.3g units in the last place", a, e, r[i], ulps)
				}
			}
			least += 0x1p-1074 * (1 + r[i] + math.Abs(v) + math.Abs(d[i]) + math.Abs(u[i]))
			for k, x := range [5]float64{v * d[i], d[i] * d[i], v * u[i], d[i] * u[i], v * v} {
				want[k] += r[i] * x
				size[k] += math.Abs(r[i] * x)
			}
		}
		for k, g := range [5]float64{got.VD, got.DD, got.VU, got.DU, got.VV} {
			if !(math.Abs(g-want[k]) <= float64(n+3)*0x1p-52*size[k]+least) {
				t.Fatalf("sum %d is %v, want %v", k, g, want[k])
			}
		}
	})
	r := []float64{1, 1, 1}
	PowersAlong(new(PowerSums), r, []float64{0, 0, 1e300}, []float64{0, 1, 0}, 0, 1, 21)
	if !(r[0] < 1e-300 && r[1] < 1e-300 && r[2] > 1e300) {
		t.Errorf("powers of 0 and 1e300 are %v", r)
	}
}

// bigPower returns x^e for a multiple e of 1/8.
func bigPower(x, e float64) *big.Float {
	whole, rest := math.Modf(e)
	r, root := big.NewFloat(1).SetPrec(200), big.NewFloat(x).SetPrec(200)
	for range int(whole) {
		r.Mul(r, root)
	}
	for ; rest > 0; rest -= math.Trunc(rest) {
		root.Sqrt(root)
		if rest *= 2; rest >= 1 {
			r.Mul(r, root)
		}
	}
	return r
}

// ulpsOff returns how far got is from want, in units of its last place.
func ulpsOff(want *big.Float, got float64) float64 {
	off, _ := want.Sub(want, big.NewFloat(got)).Float64()
	_, exp := math.Frexp(got)
	return math.Abs(math.Ldexp(off, 53-exp))
}
