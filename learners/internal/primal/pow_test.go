package primal

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// bigPow returns x^e by products and square roots of 200 bits.
func bigPow(x, e float64) *big.Float {
	const prec = 200
	whole, rest := math.Modf(e)
	r, root := big.NewFloat(1).SetPrec(prec), big.NewFloat(x).SetPrec(prec)
	for range int(whole) {
		r.Mul(r, root)
	}
	for rest > 0 {
		root.Sqrt(root)
		rest *= 2
		if rest >= 1 {
			r.Mul(r, root)
			rest--
		}
	}
	return r
}

// TestPow: in [0.71, 1) a unit in the last place is 2^-53; the last sum rounds by half of that, the
// one before it, below 0.35, by a quarter, the smaller terms by a tenth.
func TestPow(t *testing.T) {
	worst := 0.0
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(rapid.Float64Range(0x1p-24, 1), rapid.Float64Range(0.5, 2),
			rapid.Float64Range(1, 1e6)).Draw(t, "x")
		e := rapid.OneOf(rapid.Float64Range(0, 40), rapid.Float64Range(0, 1),
			rapid.Map(rapid.IntRange(0, 320), func(n int) float64 { return float64(n) / 8 })).Draw(
			t, "e")
		for name, got := range map[string]float64{"pow": Pow(x, e), "power": PowerOf(e).Of(x)} {
			want := bigPow(x, e)
			off, _ := want.Sub(want, big.NewFloat(got)).Float64()
			_, exp := math.Frexp(got)
			ulps := math.Abs(math.Ldexp(off, 53-exp))
			if worst = max(worst, ulps); !(ulps <= 0.9) {
				t.Fatalf("%s(%v, %v) = %v is off by %.3g units in the last place", name, x, e, got,
					ulps)
			}
		}
	})
	t.Logf("off by %.3f units in the last place at most", worst)
	for _, c := range [][3]float64{{0, 3, 0}, {0, 0.5, 0}, {0, 0, 1}, {5, 0, 1}, {1, 7.3, 1},
		{2, 10, 1024}, {9, 0.5, 3}, {4, 2.5, 32}, {0x1p-100, 30, 0}, {0x1p-1074, 0.5, 0x1p-537},
		{0x1p-105, 10, 0x1p-1050}, {0x1p40, 30, math.Inf(1)}, {0.5, 1022, 0x1p-1022}} {
		if got := Pow(c[0], c[1]); got != c[2] {
			t.Errorf("pow(%v, %v) = %v, want %v", c[0], c[1], got, c[2])
		}
		if got := PowerOf(c[1]).Of(c[0]); got != c[2] {
			t.Errorf("power %v of %v is %v, want %v", c[1], c[0], got, c[2])
		}
	}
}

// TestShares: the rounding of e ln x and what goes into it is at most 2^-52 of it.
func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(rapid.Float64Range(0x1p-24, 1), rapid.Float64Range(0.99, 1)).Draw(t, "x")
		e := float64(rapid.IntRange(1, 320).Draw(t, "e")) / 8
		got := []float64{x, 0, 1}
		PowerOf(e).Shares(got, got)
		want := bigPow(x, e)
		off, _ := want.Sub(want, big.NewFloat(got[0])).Float64()
		_, exp := math.Frexp(got[0])
		if ulps := math.Abs(math.Ldexp(off, 53-exp)); !(ulps <= 3-2*e*math.Log(x)) {
			t.Fatalf("%v^%v = %v is off by %.3g units in the last place", x, e, got[0], ulps)
		}
		if got[1] != 0 || got[2] != 1 {
			t.Fatalf("0 and 1 to the power of %v are %v", e, got[1:])
		}
	})
}

var noInteger, fourth = PowerOf(2 * math.Ln2 * 10.1), PowerOf(4)

func BenchmarkPow(b *testing.B) {
	for _, c := range []struct {
		name string
		f    func(x, e float64) float64
	}{{"pow", Pow}, {"power", func(x, _ float64) float64 { return noInteger.Of(x) }},
		{"power 4", func(x, _ float64) float64 { return fourth.Of(x) }}, {"math.Pow", math.Pow}} {
		b.Run(c.name, func(b *testing.B) {
			sum := 0.0
			for i := range b.N {
				sum += c.f(float64(i&1023+1)/1024, 2*math.Ln2*10.1)
			}
			if sum == 0 {
				b.Fatal(sum)
			}
		})
	}
}
