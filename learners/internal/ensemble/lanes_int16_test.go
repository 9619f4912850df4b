package ensemble

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// TestLanesInt16: weights move into int16 and back without a change, whatever the tiles are cut
// into, and don't where int16 can't hold them.
func TestLanesInt16(t *testing.T) {
	t.Run("float32", testLanesInt16[float32])
	t.Run("float64", testLanesInt16[float64])
}

func testLanesInt16[T engine.Float](t *testing.T) {
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
	testLanesInt8[T](t)
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

// testLanesInt8: tiles of small weights move on into int8, where there is a kernel for it, and come
// back without a change; those that outgrew it stay away.
func testLanesInt8[T engine.Float](t *testing.T) {
	l := NewLanes[T](150)
	col, got := make([]T, 150), make([]T, 150)
	for m := range col {
		col[m] = T(m%60 - 29)
	}
	col[140] = 2*vecmath.Int8Small + 1 // in the second tile
	l.SetColumn(7, col)
	l.Reach(9)
	l.Narrow()
	for range 2 {
		l.Shrink(vecmath.Int8NonZeros(vecmath.Int8Small) + 1)
		if l.Tiles[0].Int8 != nil {
			t.Fatal("in int8 with examples that are too long")
		}
		l.Shrink(20)
		if small := l.Tiles[0].Int8 != nil; small != vecmath.RunsInt8() || l.Tiles[1].Int8 != nil {
			t.Fatalf("in int8: %v and %v", small, l.Tiles[1].Int8 != nil)
		}
		l.Column(got, 7)
		sums := make([]float64, 9)
		if !slices.Equal(got, col) || !l.SumRows(sums) || sums[6] != 0 || sums[7] != sum(col) {
			t.Fatalf("%v, want %v; sums %v", got, col, sums)
		}
		if l.grow(l.rows + 1); !l.Int16() || l.Tiles[0].Int8 != nil {
			t.Fatal("not in int16 after more rows")
		}
	}
	l.Shrink(20)
	l.Tiles[0].LeaveInt8()
	if l.Shrink(20); l.Tiles[0].Int8 != nil {
		t.Error("back in int8")
	}
	if l.Widen(); l.Zero() || l.Int16() {
		t.Error("no weights in floats")
	}
	if l.Column(got, 7); !slices.Equal(got, col) {
		t.Errorf("%v, want %v", got, col)
	}
}

// TestLanesOrder: rows that came in any order are numbered by the features, those of features not
// seen included, in whatever form the weights are, and their weights stay with them.
func TestLanesOrder(t *testing.T) {
	const members, dim = 100, 3000
	for _, form := range []string{"float32", "int16", "int8"} {
		l := NewLanes[float32](members)
		l.Reach(dim)
		if l.Direct() {
			t.Fatal("rows are numbered by the features from the beginning")
		}
		rng := rand.New(rand.NewPCG(5, 6))
		want := map[int][]float32{}
		for _, j := range rng.Perm(dim)[:2000] {
			want[j] = make([]float32, members)
			for m := range want[j] {
				want[j][m] = float32(rng.IntN(63) - 31)
			}
			l.SetColumn(j, want[j])
		}
		if form != "float32" {
			l.Narrow()
		}
		if form == "int8" {
			l.Shrink(20)
		}
		l.Order(dim)
		// 3000 rows of 448 bytes are more than directBytes
		if ordered := form != "float32"; l.Direct() != ordered {
			t.Fatalf("%s: rows are numbered by the features: %v", form, !ordered)
		}
		row, got := make([]int32, 1), make([]float32, members)
		for j := range dim {
			col := want[j]
			if col == nil {
				col = make([]float32, members)
			}
			if l.Column(got, j); !slices.Equal(got, col) {
				t.Fatalf("%s: feature %d: %v, want %v", form, j, got, col)
			}
			if l.Direct() && (!l.Have(row, []int32{int32(j)}) || int(row[0]) != j+1) {
				t.Fatalf("%s: feature %d has row %d", form, j, row[0])
			}
		}
		if !l.Direct() {
			continue
		}
		l.Reach(2 * dim) // too many again
		r := l.Rows(nil, []int32{dim + 7, 5})
		if l.Direct() || r[0] != dim+1 || r[1] != 6 {
			t.Errorf("%s: rows %v of new features: %v", form, r, l.Direct())
		}
		if l.Order(dim + 8); l.Direct() {
			t.Errorf("%s: moved again for 8 features more", form)
		}
	}
}

func sum[T engine.Float](x []T) (s float64) {
	for _, v := range x {
		s += float64(v)
	}
	return s
}
