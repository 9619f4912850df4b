package engine

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/vecmath"
)

func TestLanesLayout(t *testing.T) {
	t.Run("float32", testLanesLayout[float32])
	t.Run("float64", testLanesLayout[float64])
}

func testLanesLayout[T Float](t *testing.T) {
	per := 64 / int(unsafe.Sizeof(T(0)))
	for _, members := range []int{1, 15, 16, 63, 64, 65, 100, 200, 256} {
		l := NewLanes[T](members)
		if want := (members + WideTile - 1) / WideTile; len(l.Tiles) != want {
			t.Fatalf("%d members: %d tiles, want %d", members, len(l.Tiles), want)
		}
		l.Reach(1001)
		l.Rows(nil, []int32{3, 1000})
		testTiles(t, l, per)
		for j := range int32(1001) { // the tiles get too large
			l.Rows(nil, []int32{j})
		}
		if members == 100 {
			if want := (members + NarrowTile - 1) / NarrowTile; len(l.Tiles) != want {
				t.Fatalf("%d members: %d tiles, want %d", members, len(l.Tiles), want)
			}
		}
		testTiles(t, l, per)
	}
}

// testTiles: tiles hold all members in order, aligned and padded to 64 bytes.
func testTiles[T Float](t *testing.T, l *Lanes[T], per int) {
	t.Helper()
	next := 0
	for i := range l.Tiles {
		tile := &l.Tiles[i]
		if tile.Lo != next || tile.Lanes > tile.Width || tile.Width%per != 0 ||
			tile.Width-tile.Lanes >= per {
			t.Errorf("%d members, tile %d: first member %d (want %d), %d lanes, width %d",
				l.members, i, tile.Lo, next, tile.Lanes, tile.Width)
		}
		if a := uintptr(unsafe.Pointer(&tile.W[0])) % 64; a != 0 {
			t.Errorf("%d members, tile %d: weights start %d bytes past a multiple of 64", l.members,
				i, a)
		}
		next += tile.Lanes
	}
	if next != l.members {
		t.Errorf("%d members: tiles hold %d", l.members, next)
	}
}

// TestStores: both stores keep the weights of features seen in any order, and unseen ones are zero.
func TestStores(t *testing.T) {
	const members = 300
	rng := rand.New(rand.NewPCG(1, 2))
	lanes, dense := NewLanes[float32](members), NewDenseMembers[float32](members)
	want := map[int][]float32{}
	for range 900 {
		j := rng.IntN(5000)
		col := make([]float32, members)
		for m := range col {
			col[m] = rng.Float32() - .5
		}
		want[j] = col
		lanes.SetColumn(j, col)
		dense.SetColumn(j, col)
	}
	lanes.Scale(66, 2)
	dense.Scale(66, 2)
	got := make([]float32, members)
	for j := range 6000 {
		col, there := want[j]
		if !there {
			col = make([]float32, members)
		}
		exp := slices.Clone(col)
		exp[66] *= 2
		if any := lanes.Column(got, j); any != there || !slices.Equal(got, exp) {
			t.Fatalf("lanes, feature %d: %v, %v; want %v, %v", j, any, got, there, exp)
		}
		if any := dense.Column(got, j); any != there || !slices.Equal(got, exp) {
			t.Fatalf("dense, feature %d: %v, %v; want %v, %v", j, any, got, there, exp)
		}
	}
	for m := range members {
		for j, v := range dense.Row(m) {
			if col := want[j]; col != nil && m != 66 && col[m] != v {
				t.Fatalf("member %d, feature %d: %v, want %v", m, j, v, col[m])
			}
		}
	}
	if n := len(lanes.feature); n != len(want)+1 {
		t.Errorf("%d rows for %d features", n-1, len(want))
	}
	if lanes.Bytes() < int64(len(want)*members*4) || dense.Bytes() < int64(dense.dim*members*4) {
		t.Errorf("%d and %d bytes are less than the weights", lanes.Bytes(), dense.Bytes())
	}
}

// TestLanesRows: a row is given once, Find gives none, and unseen features share the zero row.
func TestLanesRows(t *testing.T) {
	l := NewLanes[float64](3)
	l.Reach(1<<20 + 1)
	a := slices.Clone(l.Rows(nil, []int32{5, 9, 1 << 20}))
	b := l.Rows(nil, []int32{0, 5, 9})
	if a[0] != b[1] || a[1] != b[2] || slices.Contains(a, 0) || slices.Contains(b, 0) ||
		b[0] == a[0] || b[0] == a[2] {
		t.Fatalf("rows %v and %v", a, b)
	}
	before := l.Bytes()
	if f := l.Find(nil, []int32{4, 5, 1 << 20, 1 << 30}); !slices.Equal(f, []int32{0, a[0], a[2],
		0}) || l.Bytes() != before {
		t.Fatalf("found %v", f)
	}
	for j := range int32(5000) {
		l.Rows(nil, []int32{j})
	}
	for i := range l.Tiles {
		t0 := &l.Tiles[i]
		if !slices.Equal(t0.W[:t0.Width], make([]float64, t0.Width)) {
			t.Fatal("row 0 is not zero")
		}
	}
	var dst [3]int32
	if n := testing.AllocsPerRun(100, func() { l.Rows(dst[:0], []int32{1, 2, 3}) }); n != 0 {
		t.Errorf("%v allocations for seen features", n)
	}
}

// TestLanesTiles: cut into tiles, kernels give each member the bits it gets alone.
func TestLanesTiles(t *testing.T) {
	const members, features = 300, 40
	rng := rand.New(rand.NewPCG(3, 4))
	l := NewLanes[float32](members)
	l.Reach(features)
	w := make([][]float32, members)
	for m := range w {
		w[m] = make([]float32, features)
	}
	for range 200 {
		var idx []int32
		var val []float32
		for j := range int32(features) {
			if rng.IntN(4) == 0 {
				idx, val = append(idx, j), append(val, float32(rng.IntN(9)-4)/2) // exact sums
			}
		}
		rows := l.Rows(nil, idx)
		for i := range l.Tiles {
			tile := &l.Tiles[i]
			s, coef, mask := Aligned[float32](tile.Width), Aligned[float32](tile.Width),
				make([]uint64, vecmath.MaskWords(tile.Width))
			for i := range mask {
				mask[i] = rng.Uint64() & (1<<min(64, max(0, tile.Lanes-64*i)) - 1)
			}
			vecmath.LanesScoreUnchecked(trusted.Indices{}, s, tile.W, rows, val)
			for k := range tile.Lanes {
				m := tile.Lo + k
				var want float32
				for n, j := range idx {
					want += val[n] * w[m][j]
				}
				if s[k] != want {
					t.Fatalf("member %d: score %v, alone %v", m, s[k], want)
				}
				coef[k] = float32(m%5) - 2
				if mask[k/64]>>(k%64)&1 == 0 {
					continue
				}
				for n, j := range idx {
					w[m][j] += coef[k] * val[n]
				}
			}
			vecmath.LanesUpdateUnchecked(trusted.Indices{}, tile.W, rows, val, coef, mask)
		}
	}
	col := make([]float32, members)
	for j := range features {
		l.Column(col, j)
		for m, v := range col {
			if v != w[m][j] {
				t.Fatalf("member %d, feature %d: %v, alone %v", m, j, v, w[m][j])
			}
		}
	}
}

// TestLanesGrow: weights that grow by step take no more than twice their bytes of the
// system, whatever of theirs has not been collected.
func TestLanesGrow(t *testing.T) {
	l := NewLanes[float32](100)
	if most := grownLanes(l, 90_000); most > 2*l.Bytes() {
		t.Errorf("%d bytes were taken for %d", most, l.Bytes())
	}
	idx := make([]int32, 1)
	for j := int32(0); j < 90_000; j += 7 {
		idx[0] = j
		if r := l.Rows(nil, idx)[0]; l.Tiles[1].W[int(r)*l.Tiles[1].Width+35] != float32(j) {
			t.Fatalf("feature %d is lost", j)
		}
	}
}

// grownLanes gives l rows for that many features, a thousand at a time, with the feature as the
// weight of member 99, and returns how many bytes were taken of the system at most, between steps.
func grownLanes(l *Lanes[float32], features int) (most int64) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	taken := func() int64 {
		runtime.ReadMemStats(&m)
		return int64(m.HeapSys - m.HeapReleased)
	}
	before := taken()
	idx := make([]int32, 1000)
	var rows []int32
	l.Reach(features)
	for lo := 0; lo < features; lo += len(idx) {
		for k := range idx {
			idx[k] = int32(lo + k)
		}
		rows = l.Rows(rows[:0], idx)
		for k, r := range rows {
			l.Tiles[1].W[int(r)*l.Tiles[1].Width+35] = float32(idx[k])
		}
		most = max(most, taken()-before)
	}
	return most
}

// TestLanesShare: tiles are cut for workers with the weights in them, and Have knows the features.
func TestLanesShare(t *testing.T) {
	for members, tiles := range map[int]int{1: 1, 64: 1, 65: 2, 128: 2, 200: 4} {
		l := NewLanes[float32](members)
		l.Reach(10)
		col, got := make([]float32, members), make([]float32, members)
		for m := range col {
			col[m] = float32(m + 1)
		}
		l.SetColumn(7, col)
		l.Share(1)
		if n := (members + WideTile - 1) / WideTile; len(l.Tiles) != n {
			t.Errorf("%d members: %d tiles for one worker, want %d", members, len(l.Tiles), n)
		}
		l.Share(3)
		if len(l.Tiles) != tiles {
			t.Errorf("%d members: %d tiles for three workers, want %d", members, len(l.Tiles), tiles)
		}
		if l.Column(got, 7); !slices.Equal(got, col) {
			t.Errorf("%d members: weights are %v", members, got)
		}
		l.Reach(500)
		l.SetColumn(300, col)
		l.Share(1)
		l.Share(3)
		if l.Column(got, 300); !slices.Equal(got, col) {
			t.Errorf("%d members: weights of more rows are %v", members, got)
		}
	}
	l := NewLanes[float32](9)
	l.scattered = true
	l.Reach(10)
	l.Rows(nil, []int32{3, 8})
	rows := make([]int32, 2)
	if !l.Have(rows, []int32{8, 3}) || rows[0] != 2 || rows[1] != 1 {
		t.Errorf("rows %v of features that have some, want 2 and 1", rows)
	}
	if l.Have(rows, []int32{4, 8}) || rows[0] != 0 || rows[1] != 2 || l.Features() != 2 {
		t.Errorf("rows %v, %d features, want 0 and 2, and no new feature", rows, l.Features())
	}
}

// TestLanesRoom: where the features are known and most of them come, tiles are written less than
// twice over while they grow.
func TestLanesRoom(t *testing.T) {
	const features = 20_000
	l := NewLanes[float32](100)
	l.Reach(features)
	written, have := 0, l.rows
	for j := range features {
		if l.Rows(nil, []int32{int32(j)}); l.rows != have {
			written += have
			have = l.rows
		}
	}
	if written += have; written > 2*features || have != features+1 {
		t.Errorf("%d rows are written, there is room for %d in the end", written, have)
	}
}
