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

// The update is that of Axpy, to the bit.
func TestAddScaledNextIsAxpy(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		for n := range 150 {
			o := makeDense(newGenerator[float64](n, 3, nil), n)
			want := slices.Clone(o.y)
			Axpy(want, o.a, o.x)
			AddScaledNext(o.y, o.a, append(o.x, 7), n/2, o.t) // a longer row is cut
			if d := diffFloats(o.y, want); d != "" {
				t.Fatalf("n %d: s%s", n, d)
			}
		}
	})
}

func TestNextPanics(t *testing.T) {
	s := make([]float64, 8)
	for _, c := range []struct {
		want string
		call func()
	}{
		{panicShort, func() { AddScaledNext(s, 1, s[:7], 0, 0) }},
		{panicFrom, func() { AddScaledNext(s, 1, s, 9, 0) }},
		{panicFrom, func() { AddScaledNext(s, 1, s, -1, 0) }},
		{panicFrom, func() { NextLE(s, 9, 0) }},
		{panicFrom, func() { NextLE(s, -1, 0) }},
		{panicFrom, func() { NextLE(nil, 1, 0) }},
	} {
		forEachImpl(t, func(t *testing.T, _ Impl) {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("panic %v, want %q", got, c.want)
				}
			}()
			c.call()
		})
	}
}

func TestNextNoAllocs(t *testing.T) {
	forEachImpl(t, func(t *testing.T, _ Impl) {
		s, g := make([]float64, 104), make([]float64, 104)
		if n := testing.AllocsPerRun(20, func() {
			AddScaledNext(s, 1, g, NextLE(s, 3, 0),
				-1)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func ExampleAddScaledNext() {
	scores := []float64{0.5, 2, 0.25}
	next := AddScaledNext(scores, -1, []float64{1, 1, 0}, 1, 0.25)
	fmt.Println(scores, next)
	// Output: [-0.5 1 0.25] 2
}

// Half of the calls move the scores up, half down, so that they stay what they are. 104 is half of
// sonar, 683 is WBC.
func BenchmarkAddScaledNext(b *testing.B) {
	for _, n := range []int{104, 683} {
		for _, thr := range []float64{-2, -0.9} { // none, some
			s, g := benchVector[float64](n), benchVector[float64](n)
			benchImpls[float64](b, fmt.Sprintf("%d/thr=%v", n, thr), func(b *testing.B) {
				e, from := 0x1p-20, 0
				for b.Loop() {
					from = AddScaledNext(s, e, g, from, thr) + 1
					e = -e
				}
			})
		}
	}
}

func BenchmarkNextLE(b *testing.B) {
	for _, n := range []int{104, 683} {
		s := benchVector[float64](n)
		benchImpls[float64](b, fmt.Sprintf("%d/all", n), func(b *testing.B) {
			for b.Loop() {
				NextLE(s, n/3, -2)
			}
		})
	}
}
