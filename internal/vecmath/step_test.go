package vecmath

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// The next violator by its definition: one look after the other, around the end.
func nextByDefinition(s []float64, from int, thr float64) int {
	for k := range s {
		if i := (from + k) % len(s); s[i] <= thr {
			return i
		}
	}
	return -1
}

// Every length, every start, and every number of violators from none to all: the index of the
// definition, from the update and from the search alone, between sentinels.
func TestNext(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		var f fence
		for n := range 201 {
			if testing.Short() && n > 20 && n%8 > 1 { // emulators are slow
				continue
			}
			f.start(n)
			s, g := take[float64](f.place, n), take[float64](f.place, n)
			rng := newGenerator[float64](n, 0, nil).rng
			for _, density := range []float64{0, 1, 0.5, 2 / float64(n+1)} {
				step := 1
				if testing.Short() && density > 0 {
					step = 7
				}
				for from := 0; from <= n; from += step {
					want := make([]float64, n)
					for i := range n {
						s[i], g[i] = 1, -1 // 1 - 0.5 is above 0.25, 0.5 - 0.5 below
						if rng.Float64() < density {
							s[i] = 0.75
						}
						want[i] = s[i] - 0.5
					}
					at := nextByDefinition(want, from, 0.25)
					if got := AddScaledNext(s, 0.5, g, from, 0.25); got != at {
						t.Fatalf("n %d, from %d, density %v: AddScaledNext found %d, want %d", n,
							from, density, got, at)
					}
					if !slices.Equal(s, want) {
						t.Fatalf("n %d, from %d: scores %v, want %v", n, from, s, want)
					}
					if got := NextLE(s, from, 0.25); got != at {
						t.Fatalf("n %d, from %d, density %v: NextLE found %d, want %d", n, from,
							density, got, at)
					}
				}
			}
			if !f.intact() {
				t.Fatalf("n %d: wrote outside the operands", n)
			}
		}
	})
}

// A single violator, or a single NaN among violators, at every place of some lengths.
func TestNextPlaces(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for _, n := range []int{1, 5, 16, 31, 64, 65, 104, 130} {
			zero := make([]float64, n)
			for at := range n {
				for _, from := range []int{0, 1, n / 2, n - 1, n, at, min(at+1, n)} {
					s := slices.Repeat([]float64{math.Inf(1)}, n)
					s[at] = math.Inf(-1)
					for i := range n { // NaN, too, is no violator
						if i%3 == 0 && i != at {
							s[i] = math.NaN()
						}
					}
					if got := AddScaledNext(s, 1, zero, from, -5); got != at {
						t.Fatalf("n %d, from %d: AddScaledNext found %d, want %d", n, from, got, at)
					}
					if got := NextLE(s, from, -5); got != at {
						t.Fatalf("n %d, from %d: NextLE found %d, want %d", n, from, got, at)
					}
					if got := NextLE(s, from, math.NaN()); got != -1 {
						t.Fatalf("n %d, from %d: NextLE found %d at or below NaN", n, from, got)
					}

					s = make([]float64, n)
					s[at] = math.NaN()
					want := from % n
					if want == at {
						want = (at + 1) % n
					}
					if n == 1 {
						want = -1
					}
					if got := AddScaledNext(s, 1, zero, from, 0); got != want {
						t.Fatalf("n %d, from %d, NaN at %d: AddScaledNext found %d, want %d", n,
							from, at, got, want)
					}
					if got := NextLE(s, from, 0); got != want {
						t.Fatalf("n %d, from %d, NaN at %d: NextLE found %d, want %d", n, from, at,
							got, want)
					}
				}
			}
		}
	})
}

func ExampleAddScaledNext() {
	scores := []float64{0.5, 2, 0.25}
	next := AddScaledNext(scores, -1, []float64{1, 1, 0}, 1, 0.25)
	fmt.Println(scores, next)
	// Output: [-0.5 1 0.25] 2
}
