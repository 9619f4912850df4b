package vecmath

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// sinCosError is what SinCos may be wrong by for scale 1 in units of 2^-53: half a unit for the
// last rounding, whose unit is 2^-53 next to 1, the rest for the remainder and the polynomials.
const sinCosError = 1.5

// The error of float64 against an exact sum of the series, near multiples of pi/2 and up to the
// bound.
func TestSinCosAccuracy(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	trials := 4000
	if testing.Short() {
		trials = 400
	}
	x := []float64{0, math.Copysign(0, -1), 1, math.Pi / 4, -math.Pi / 4, math.Pi / 2, math.Pi,
		0x1p-1074, 0x1p30, -0x1p30, 0x1.921fb54442d18p29}
	for i := range trials {
		v := []float64{1, 10, 1e4, 0x1p30}[i%4] * (2*rng.Float64() - 1)
		if i%3 == 0 {
			v = math.Round(v) * math.Pi / 2
		}
		if math.Abs(v) <= 0x1p30 {
			x = append(x, v)
		}
	}
	wantSin, wantCos := make([]*big.Float, len(x)), make([]*big.Float, len(x))
	for i, v := range x {
		wantSin[i], wantCos[i] = exactSinCos(v)
	}
	forEachImpl(t, func(t *testing.T, _ Impl) {
		sin, cos := make([]float64, len(x)), make([]float64, len(x))
		SinCos(sin, cos, x, 1)
		worst, at := 0.0, 0.0
		for i := range x {
			for _, c := range []struct {
				got  float64
				want *big.Float
			}{{sin[i], wantSin[i]}, {cos[i], wantCos[i]}} {
				d := new(big.Float).SetPrec(300).SetFloat64(c.got)
				e, _ := d.Sub(d, c.want).Float64()
				if e = math.Abs(e) * 0x1p53; !(e <= worst) {
					worst, at = e, x[i]
				}
			}
		}
		t.Logf("at most %.3f units of 2^-53, at %v", worst, at)
		if !(worst < sinCosError) {
			t.Errorf("SinCos(%v) is wrong by %.3f units of 2^-53", at, worst)
		}
	})
}

// exactSinCos sums both series of x/2^40 and doubles the angle 40 times.
func exactSinCos(x float64) (sin, cos *big.Float) {
	const prec, halvings = 400, 40
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(v) }
	r := number(x)
	r.SetMantExp(r, -halvings)
	sum := [2]*big.Float{number(1), number(0)} // of the even terms and of the odd ones
	term := number(1)
	for n := 1; n < 40; n++ {
		term.Mul(term, r)
		term.Quo(term, number(float64(n)))
		if n/2%2 == 0 {
			sum[n%2].Add(sum[n%2], term)
		} else {
			sum[n%2].Sub(sum[n%2], term)
		}
	}
	c, s := sum[0], sum[1]
	for range halvings {
		s2, c2 := number(0).Mul(s, c), number(0).Mul(s, s)
		s, c = s2.Add(s2, s2), c2.Sub(number(1), c2.Add(c2, c2))
	}
	return s, c
}

// float32 results are the float64 results, rounded; what is not an angle counts as the bound.
func TestSinCosSpecial(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for n := range 30 {
			x32, x64 := make([]float32, n), make([]float64, n)
			for i := range x32 {
				x32[i] = float32(i*i) * 0.37
				x64[i] = float64(x32[i])
			}
			s32, c32, s64, c64 := make([]float32, n), make([]float32, n), make([]float64, n),
				make([]float64, n)
			SinCos(s32, c32, x32, 0.125)
			SinCos(s64, c64, x64, 0.125)
			for i := range x32 {
				if s32[i] != float32(s64[i]) || c32[i] != float32(c64[i]) {
					t.Fatalf("n %d: SinCos(%v) = %v, %v in float32, %v, %v in float64", n, x32[i],
						s32[i], c32[i], s64[i], c64[i])
				}
			}
		}
		x := []float64{math.NaN(), math.Inf(1), 1e300, 0x1p30, math.Inf(-1), -0x1p40}
		sin, cos := make([]float64, len(x)), make([]float64, len(x))
		SinCos(sin, cos, x, 1)
		for i := range x {
			sign := 1.0
			if x[i] < 0 {
				sign = -1
			}
			if sin[i] != sign*sin[3] || cos[i] != cos[3] {
				t.Errorf("SinCos(%v) = %v, %v, want those of %v", x[i], sin[i], cos[i], sign*0x1p30)
			}
		}
	})
}

// Longer results are left alone behind x.
func TestSinCosLonger(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		sin, cos := []float64{7, 7, 7}, []float64{7, 7, 7}
		SinCos(sin, cos, []float64{0, 0}, 1)
		if sin[1] != 0 || cos[1] != 1 || sin[2] != 7 || cos[2] != 7 {
			t.Errorf("behind two zeros: %v, %v", sin, cos)
		}
	})
}
