package learners

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestPower: power agrees with math.Pow, which is good to one unit in the last place but not to the same bit everywhere.
func TestPower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1e-9, 1e6).Draw(t, "x")
		e := rapid.OneOf(rapid.Float64Range(0, 24), rapid.Map(rapid.IntRange(0, 24), func(n int) float64 { return float64(n) })).Draw(t, "e")
		got, want := power(x, e), math.Pow(x, e)
		// Each of up to 5+5 products and 53 roots rounds once; the error of x^(2^k) doubles with each squaring.
		if !(math.Abs(got-want) <= 0x1p-52*(64+e)*want) {
			t.Fatalf("power(%v, %v) = %v, want %v", x, e, got, want)
		}
	})
	for _, c := range [][3]float64{{0, 3, 0}, {0, 0.5, 0}, {0, 0, 1}, {5, 0, 1}, {2, 10, 1024}, {9, 0.5, 3}, {4, 2.5, 32}} {
		if got := power(c[0], c[1]); got != c[2] {
			t.Errorf("power(%v, %v) = %v, want %v", c[0], c[1], got, c[2])
		}
	}
}
