package ensemble

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
)

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

// TestBoundsOfMemory: what memory.go says is no less than what stores come to hold, and not many
// times that.
func TestBoundsOfMemory(t *testing.T) {
	within := func(what string, got, bound int64, times int64) {
		t.Helper()
		if got > bound || bound > times*got+8<<10 {
			t.Errorf("%s: %d bytes are held, the bound is %d", what, got, bound)
		}
	}
	for _, members := range []int{1, 64, 65, 100, 300} {
		for _, seen := range []int{3, 63, 64, 65, 1000} {
			l := NewLanes[float32](members)
			for j := range seen {
				l.Reach(3*j + 1)
				l.Rows(nil, []int32{int32(3 * j)})
			}
			held, _ := LanesBytes(int64(members), int64(seen), int64(3*seen-2), 4, true, false)
			within("lanes", l.Bytes(), held, 3)
			l = NewLanes[float32](members)
			l.Reserve(seen)
			before := l.Bytes()
			held, moving := LanesBytes(int64(members), int64(seen), 0, 4, false, true)
			if before > held || moving != 0 {
				t.Errorf("reserved lanes: %d bytes are held, the bounds are %d and %d", before,
					held, moving)
			}
		}
		d := NewDenseMembers[float64](members)
		d.Grow(33)
		held, _ := DenseMembersBytes(int64(members), 33, 8, false)
		within("dense members", d.Bytes(), held, 2)
	}
}
