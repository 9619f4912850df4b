package command

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestAppendNumber: numbers are written as strconv writes them, those with few digits, those of
// float32 and those beside them included.
func TestAppendNumber(t *testing.T) {
	t.Parallel()
	bad := 0
	check := func(f float64) {
		want := strconv.FormatFloat(f, 'g', -1, 64)
		got := string(appendNumber([]byte("+1\t"), f))
		if bad++; got == "+1\t"+want {
			bad--
		} else if bad < 10 {
			t.Errorf("%q, want %q", got, want)
		}
	}
	around := func(f float64) {
		for _, f := range []float64{f, -f, math.Nextafter(f, 0), math.Nextafter(f, math.Inf(1))} {
			check(f)
		}
	}
	for _, f := range []float64{0, 5e-324, math.MaxFloat64, math.Inf(1), math.NaN(), 0.5, 0.05,
		3.25, 33.25, 99999.5, 999999.5, 123456.789, 0.12, 1.5e-4} {
		around(f)
	}
	for e := -30; e < 30; e++ {
		around(math.Pow(10, float64(e)))
		around(math.Ldexp(1, e))
		around(math.Ldexp(3, e))
	}
	n := 1_000_000
	if testing.Short() {
		n /= 10
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		switch i % 6 {
		case 0:
			around(math.Exp(rng.Float64()*26 - 12))
		case 1:
			around(rng.NormFloat64())
		case 2:
			around(float64(rng.IntN(1e7)) / float64(rng.IntN(1000)+1))
		case 3:
			around(float64(float32(rng.NormFloat64() * 10)))
		case 4:
			around(math.Round(rng.Float64()*1e6) / 1e6 * math.Pow(10, float64(rng.IntN(6))))
		case 5: // means of small numbers
			of := []int{10, 50, 100, 200, 1000, 2000}[rng.IntN(6)]
			around(float64(rng.IntN(1e8)) / float64(of))
		}
	}
}
