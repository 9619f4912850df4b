package vecmath

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// expError is what Exp may be wrong by, in ulp: the last rounding, that of the remainder, and some
// of r*r*q(r). With step = 1, TestExpAccuracy32 tries all numbers (minutes) and finds 1.020.
const expError = 1.05

// The error of float32 against math.Exp in float64, which is 2^28 times finer, over the bits of all
// numbers in steps.
func TestExpAccuracy32(t *testing.T) {
	step := uint32(101)
	if testing.Short() {
		step = 30011
	}
	forEachImpl(t, func(t *testing.T, im Impl) {
		step := step
		if im == Generic && !testing.Short() { // slow
			step *= 10
		}
		var x, got [1024]float32
		worst, at := 0.0, float32(0)
		for u := uint64(0); u < 1<<32; {
			n := 0
			for ; n < len(x) && u < 1<<32; u += uint64(step) {
				v := math.Float32frombits(uint32(u))
				if math.Abs(float64(v)) < 105 {
					x[n] = v
					n++
				}
			}
			Exp(got[:n], x[:])
			for i, v := range x[:n] {
				want := math.Exp(float64(v))
				if want >= math.MaxFloat32+0x1p103 { // half a unit above the largest number
					if !math.IsInf(float64(got[i]), 1) {
						t.Fatalf("e^%v = %v", v, got[i])
					}
					continue
				}
				// The exponent of the unit in the last place, that of denormals being that of the
				// smallest normal.
				_, e := math.Frexp(want)
				d := math.Abs(float64(got[i])-want) / math.Ldexp(1, max(e, -125)-24)
				if !(d <= worst) {
					worst, at = d, v
				}
			}
		}
		t.Logf("at most %.3f ulp, at %v (%b)", worst, at, at)
		if !(worst < expError) {
			t.Errorf("e^%v is wrong by %.3f ulp", at, worst)
		}
	})
}

// The error of float64 against an exact sum of the series.
func TestExpAccuracy64(t *testing.T) {
	// An emulated CPU that multiplies wrongly (Bochs 2.7 with ADX; GODEBUG=cpu.adx=off is the way
	// around it) can not judge.
	if e := exactExp(1).Text('p', 0); !strings.HasPrefix(e,
		"0x.adf85458a2bb4a9aafdc5620273d3cf1d8b9c583ce2d3695a9e1") {
		t.Skip("math/big is wrong on this machine: e = ", e)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	trials := 12000
	if testing.Short() {
		trials = 600
	}
	x := []float64{709.782712893384, -708.3964185322641, -745.1332191019411, -745.1332191019412,
		-744.4400719213812,
		math.Ln2 / 2, -math.Ln2 / 2, 1, -1, 0x1p-53, -0x1p-54, 0x1p-1074}
	for i := range trials {
		scale := []float64{0.35, 1, 20, 708}[i%4]
		x = append(x, scale*(2*rng.Float64()-1))
	}
	for range trials / 8 {
		x = append(x, -708-37.5*rng.Float64(), 709+rng.Float64()*0.78)
	}
	want := make([]*big.Float, len(x))
	for i, v := range x {
		want[i] = exactExp(v)
	}
	forEachImpl(t, func(t *testing.T, _ Impl) {
		got := make([]float64, len(x))
		Exp(got, x)
		worst, at := 0.0, 0.0
		for i, v := range got {
			if math.IsInf(v, 0) || v != v {
				t.Fatalf("e^%v = %v", x[i], v)
			}
			e := max(want[i].MantExp(nil), -1021) - 53
			d := new(big.Float).SetPrec(300).SetFloat64(v)
			d.Sub(d, want[i])
			ulp, _ := d.SetMantExp(d, -e).Float64()
			if ulp = math.Abs(ulp); ulp > worst {
				worst, at = ulp, x[i]
			}
		}
		t.Logf("at most %.3f ulp, at %v", worst, at)
		if !(worst < expError) {
			t.Errorf("e^%v is wrong by %.3f ulp", at, worst)
		}
	})
}

// exactExp sums the series of e^(x/2^20) and squares the sum 20 times.
func exactExp(x float64) *big.Float {
	const prec, halvings = 300, 20
	number := func() *big.Float { return new(big.Float).SetPrec(prec) }
	r := number().SetFloat64(x)
	r.SetMantExp(r, -halvings)
	sum, term := number().SetInt64(1), number().SetInt64(1)
	for n := int64(1); n < 30; n++ {
		term.Mul(term, r)
		term.Quo(term, number().SetInt64(n))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

func TestExpSpecial(t *testing.T) {
	t.Run("float32", testExpSpecial[float32])
	t.Run("float64", testExpSpecial[float64])
}

func testExpSpecial[T Float](t *testing.T) {
	// top and bottom are beyond the last finite result and the last above 0.
	inf, huge, tiny, top, bottom := math.Inf(1), 1e38, 0x1p-149, 88.72284, -103.98
	if !is32[T]() {
		huge, tiny, top, bottom = 1e308, 0x1p-1074, 709.7827128933841, -745.14
	}
	for _, c := range [][2]float64{
		{0, 1}, {math.Copysign(0, -1), 1}, {tiny, 1}, {-tiny, 1}, {inf, inf}, {-inf, 0},
		{huge, inf}, {-huge, 0}, {math.NaN(), math.NaN()},
		{top, inf}, {top + 1, inf}, {bottom, 0}, {bottom - 1, 0}, {bottom + 0.02, tiny},
	} {
		forEachImpl(t, func(t *testing.T, _ Impl) {
			for n := 1; n < 40; n++ { // in whole registers and in the last one
				x := make([]T, n)
				x[n-1] = T(c[0])
				Exp(x, x)
				if !sameBits(x[n-1], T(c[1])) {
					t.Errorf("e^%v = %v, want %v", T(c[0]), x[n-1], T(c[1]))
				}
				for _, v := range x[:n-1] {
					if v != 1 {
						t.Errorf("e^0 = %v beside e^%v", v, c[0])
					}
				}
			}
		})
	}
}

// A longer x is cut.
func TestExpLonger(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		dst, x := []float64{7, 7, 7}, []float64{0, 0, 0, 0}
		Exp(dst[:2], x)
		if dst[1] != 1 || dst[2] != 7 {
			t.Errorf("a longer x is not cut: %v", dst)
		}
	})
}
