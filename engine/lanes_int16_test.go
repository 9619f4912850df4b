package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLanesInt16: weights move into int16 and back without a change, whatever the tiles are cut
// into, and don't where int16 can't hold them.
func TestLanesInt16(t *testing.T) {
	t.Run("float32", testLanesInt16[float32])
	t.Run("float64", testLanesInt16[float64])
}

func testLanesInt16[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, members := range []int{1, 33, 64, 65, 100, 300} {
		for _, features := range []int{10, 700, 1500} { // narrow in T alone, and in both
			l := NewLanes[T](members)
			want := map[int][]T{}
			for range 40 {
				col := make([]T, members)
				for m := range col {
					col[m] = T(rng.IntN(2*math.MaxInt16-1) - math.MaxInt16 + 1)
				}
				j := rng.IntN(features)
				want[j] = col
				l.SetColumn(j, col)
			}
			l.Reach(features)
			check := func(int16s bool) {
				t.Helper()
				if l.Int16() != int16s {
					t.Fatalf("%d members: in int16: %v", members, !int16s)
				}
				got := make([]T, members)
				for j := range features + 1 {
					col := want[j]
					if col == nil {
						col = make([]T, members)
					}
					if l.Column(got, j); !slices.Equal(got, col) {
						t.Fatalf("%d members: feature %d: %v, want %v", members, j, got, col)
					}
				}
			}
			check(false)
			floats := l.Bytes()
			if first := l.Narrow(); !first || !l.Narrow() {
				t.Fatal("whole numbers were not taken")
			}
			check(true)
			if members%64 == 0 && l.Bytes() > floats*2/3 {
				t.Errorf("%d members: %d bytes in int16, %d before", members, l.Bytes(), floats)
			}
			for i := range l.Tiles {
				if t0 := &l.Tiles[i]; int(slices.Max(t0.Int16)) > t0.Peak {
					t.Fatalf("peak %d is too low", t0.Peak)
				}
			}
			l.Reach(features + 200)
			check(true)
			l.Widen()
			check(false)
			l.Narrow()
			l.Tiles[0].Widen() // by itself
			if members > 128 {
				check(true)
			}
			l.grow(l.rows + 1)
			check(false)
			if l.Narrow(); members == 300 {
				l.Tiles[1].Widen()
				check(true)
				if l.Narrow() {
					t.Fatal("narrow again although a tile has outgrown int16")
				}
				check(false)
			}
		}
	}
	for _, v := range []float64{.5, math.MaxInt16, math.MinInt16, 1e30, math.Inf(1), math.NaN(),
		math.Copysign(0, -1)} {
		l := NewLanes[T](5)
		l.SetColumn(3, []T{1, 2, 3, T(v), 5})
		if l.Narrow() || l.Int16() {
			t.Errorf("%v was taken", v)
		}
		l.SetColumn(3, make([]T, 5))
		if l.Narrow() {
			t.Error("asked again")
		}
	}
}
