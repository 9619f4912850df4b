package ensemble

import (
	"runtime/debug"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
)

// Tiles of [Lanes] hold up to WideTile members, as many as the kernels of most CPUs keep in
// registers; a call for fewer costs nearly as much. Once a tile of that width takes more than
// wideBytes, tiles hold NarrowTile members, so that they stay in L2; so they do while several
// workers share the members, see [Lanes.Share]. Both are whole words of a mask.
const (
	WideTile   = 128
	NarrowTile = 64
	wideBytes  = 256 << 10
)

// directBytes is up to how many bytes of weights, unseen features' included, rows are numbered by
// the features themselves. Without a table to look them up in, an example of 14 non-zeros and 100
// members takes 49 ns instead of 57 at 64 KiB, and 90 instead of 95 at 1 MiB; from 4 MiB on rows
// spread over unseen features are slower. AMD EPYC (Zen 4, 1 MiB of L2), 2026-11-22.
const directBytes = 1 << 20

// Lanes holds the weights of an ensemble's members for sparse examples: the members lie across SIMD
// lanes, so one non-zero of an example costs one row operation for all of them. The members are cut
// into tiles; a tile is a slab of rows, one row a feature. While their weights take 1 MiB at most,
// all features below the dim that Reach was given have rows, in their order ([Lanes.Direct]);
// beyond, rows are there only for features that were seen. Row 0 stays zero and stands for all
// others.
//
// Where the weights are small whole numbers they may be kept in int16 ([Lanes.Narrow]), which are
// exact and take half a row of float32 or less, or in int8 ([Lanes.Shrink]).
//
// Memory: Members (padded to 64 bytes) weights a feature that has a row, 8 bytes a feature up to
// the largest seen. Tiles grow one after the other; where they are large, no more than one is there
// twice meanwhile. Not safe for concurrent use, but distinct tiles may be worked on at the same
// time while no rows are added.
type Lanes[T engine.Float] struct {
	Tiles []LaneTile[T] // in the order of the members; cut by the numbers of members and rows

	members int
	narrow  bool    // tiles are narrow whatever their size
	lanes   int     // members of all tiles but the last
	row     []int32 // row of a feature; 0: none
	feature []int32 // feature of a row; -1 for row 0
	rows    int     // rows that the tiles have room for

	scattered bool // rows are in the order in which features came
	ordered   int  // features when rows were last numbered anew by Order
	floats    bool // weights stay in T from now on
	inT       int  // non-zeros to be learned before weights that were scored go back to int16
}

// LaneTile is a run of members: lane l of feature row r is W[r*Width+l], in the layout of the
// vecmath.Lanes… kernels. If Int16 or Int8 is not nil, it has the weights in the place of W.
type LaneTile[T engine.Float] struct {
	W     []T // 64-byte aligned
	Int16 []int16
	Int8  []int8
	Peak  int // with Int16 or Int8: no weight's magnitude is larger
	Width int // lanes in a row: Lanes padded to a multiple of 64 bytes; the padding stays zero
	Lo    int // the first member
	Lanes int // members

	outgrown bool // int8: the weights don't go back there
}

// firstRows is the number of rows that Lanes begin with.
const firstRows = 64

// NewLanes returns Lanes for that many members, all weights zero.
func NewLanes[T engine.Float](members int) *Lanes[T] {
	l := &Lanes[T]{members: members}
	l.grow(firstRows)
	l.feature = []int32{-1}
	return l
}

// largeTile is from how many bytes on the memory of a tile that moved is given back at once.
// Nothing that grows later would fit into it, and the collector alone lets tables of several sizes
// pile up: of a million features and 100 members three times what the weights take.
const largeTile = 16 << 20

// grow makes room for that many rows, cutting the tiles anew where they get too large. The weights
// stay in int8 or int16 if those of all tiles are there: to move all into int8 again, for the next
// run, takes longer than to copy them.
func (l *Lanes[T]) grow(rows int) {
	bytes, whole := l.allInt8(), l.allInt16()
	for i := range l.Tiles {
		switch t := &l.Tiles[i]; {
		case bytes:
		case whole:
			t.int8ToInt16()
		default:
			t.Widen()
		}
	}
	lanes, tiles := l.lanesFor(rows, l.elem()), l.Tiles
	if lanes != l.lanes {
		tiles = nil
		for lo := 0; lo < l.members; lo += lanes {
			tiles = append(tiles, LaneTile[T]{Lo: lo, Lanes: min(lanes, l.members-lo)})
		}
	}
	for i := range tiles { // one after the other: that of one may be there twice
		t := tiles[i]
		t.W, t.Int16, t.Int8 = nil, nil, nil
		switch {
		case bytes:
			t.Width = padded[int8](t.Lanes)
			t.Int8 = engine.Aligned[int8](rows * t.Width)
		case whole:
			t.Width = padded[int16](t.Lanes)
			t.Int16 = engine.Aligned[int16](rows * t.Width)
		default:
			t.Width = padded[T](t.Lanes)
			t.W = engine.Aligned[T](rows * t.Width)
		}
		for k := range l.Tiles {
			l.copyTile(&t, &l.Tiles[k])
		}
		tiles[i] = t
		release(t.bytes())
	}
	l.Tiles, l.lanes, l.rows = tiles, lanes, rows
}

// lanesFor returns the number of members of a tile of that many rows.
func (l *Lanes[T]) lanesFor(rows int, elem int64) int {
	wide := int64(rows) * rowBytes(int64(min(WideTile, l.members)), elem)
	if l.narrow || wide > wideBytes {
		return NarrowTile
	}
	return WideTile
}

// release gives memory back where a tile of so many bytes has moved.
func release(bytes int64) {
	if bytes >= largeTile {
		debug.FreeOSMemory()
	}
}

// room returns for how many rows tiles are made where that many are needed. While they are small
// they double. Once all features would take four times the memory at most they get room at once: in
// most streams the rest comes, too, and a table that moves by quarters is written five times over.
// Memory that is never written is only reserved.
func (l *Lanes[T]) room(need int) int {
	n, members := int64(engine.Room(l.rows, need)), int64(l.members)
	return int(laneRoom(n, int64(l.rows), int64(len(l.row)), rowBytes(members, l.elem())))
}

// laneRoom is n, or for how many rows there is room where the next step is that far: dim features
// have one each, or twice as many as there are.
func laneRoom(n, have, dim, row int64) int64 {
	switch {
	case dim < 4*n:
		return max(n, dim+1)
	case 2*have*row <= largeTile:
		return max(n, 2*have)
	}
	return n
}

// copyTile copies the weights of the members that both tiles have.
func (l *Lanes[T]) copyTile(dst, src *LaneTile[T]) {
	lo, hi := max(dst.Lo, src.Lo), min(dst.Lo+dst.Lanes, src.Lo+src.Lanes)
	if lo >= hi {
		return
	}
	dst.Peak = max(dst.Peak, src.Peak)
	n, rows := hi-lo, len(l.feature)
	switch lo, from := lo-dst.Lo, lo-src.Lo; {
	case src.Int8 != nil:
		copyRows(dst.Int8[lo:], dst.Width, src.Int8[from:], src.Width, n, rows)
	case src.Int16 != nil:
		copyRows(dst.Int16[lo:], dst.Width, src.Int16[from:], src.Width, n, rows)
	default:
		copyRows(dst.W[lo:], dst.Width, src.W[from:], src.Width, n, rows)
	}
}

// copyRows copies the first n lanes of rows.
func copyRows[E any](dst []E, width int, src []E, from, n, rows int) {
	for r := range rows {
		copy(dst[r*width:][:n], src[r*from:])
	}
}

// Share cuts the members into narrow tiles if there are fewer wide ones than workers, so that a
// tile can go to each, and else into wide ones. A narrow tile's members take a sixth longer. Cost:
// all weights once, if the cut changes.
func (l *Lanes[T]) Share(workers int) {
	wide := (l.members + WideTile - 1) / WideTile
	l.narrow = wide < workers && l.members > NarrowTile
	l.recut()
}

// Reserve makes room for that many features, so that the tiles are not cut anew before there are
// more.
func (l *Lanes[T]) Reserve(features int) {
	if features+1 > l.rows {
		l.grow(features + 1)
	}
	l.Reach(features)
}

// Reach makes room in the table of rows for features below dim, and gives them rows as long as all
// features have one.
func (l *Lanes[T]) Reach(dim int) {
	if dim > len(l.row) {
		row := make([]int32, engine.Room(len(l.row), dim))
		copy(row, l.row)
		l.row = row
	}
	have := l.Features()
	if l.scattered || dim <= have {
		return
	}
	if l.scattered = int64(dim) > directRows(int64(l.members), elemSize[T]()); l.scattered {
		return
	}
	if dim+1 > l.rows {
		l.grow(l.room(dim + 1))
	}
	for j := have; j < dim; j++ {
		l.add(int32(j))
	}
}

// Direct reports whether feature j has row j+1 of each tile, for all features below
// [Lanes.Features]: an example's indices are its rows then, counted from row 1 of [LaneTile.W] on.
func (l *Lanes[T]) Direct() bool { return !l.scattered }

// Order numbers the rows by the features below dim, which all get one, where rows are scattered
// that take no more than directBytes as weights are kept now, and there is room: to look up 50 rows
// takes as long as to add that many in int8. Cost: all weights once, again only when there are
// twice as many features.
func (l *Lanes[T]) Order(dim int) {
	if !l.scattered || dim >= l.rows || dim > len(l.row) || dim < 2*l.ordered {
		return
	}
	var bytes int64
	for i := range l.Tiles {
		bytes += l.Tiles[i].bytes()
	}
	if bytes/int64(l.rows)*int64(dim+1) > directBytes || int(slices.Max(l.feature)) >= dim {
		return
	}
	for i := range l.Tiles {
		t := &l.Tiles[i]
		t.W = inOrder(t.W, t.Width, l.feature)
		t.Int16 = inOrder(t.Int16, t.Width, l.feature)
		t.Int8 = inOrder(t.Int8, t.Width, l.feature)
	}
	l.feature = append(withRoom(l.feature, dim+1)[:0], -1)
	for j := range dim {
		l.feature = append(l.feature, int32(j))
		l.row[j] = int32(j + 1)
	}
	l.scattered, l.ordered = false, dim
}

// inOrder returns the rows of src by their features, those of others zero; nil for none.
func inOrder[E engine.Float | int8 | int16](src []E, width int, feature []int32) []E {
	if src == nil {
		return nil
	}
	dst := engine.Aligned[E](len(src))
	for r, j := range feature {
		copy(dst[int(j+1)*width:][:width], src[r*width:])
	}
	return dst
}

// directRows is up to how many features rows are numbered by the features themselves.
func directRows(members, elem int64) int64 { return directBytes / rowBytes(members, elem) }

// rowBytes is what a row of all members takes, tiles being whole multiples of 64 bytes.
func rowBytes(members, elem int64) int64 {
	return (members*elem + cacheLine - 1) / cacheLine * cacheLine
}

// Rows appends the rows of the features idx, in any order but all below the dim that Reach was
// given, to dst. Features not seen before get a row. Cost: a table look-up an index; the tiles move
// as they grow.
func (l *Lanes[T]) Rows(dst, idx []int32) []int32 {
	n := len(dst)
	dst = slices.Grow(dst, len(idx))[:n+len(idx)]
	out := dst[n:]
	if l.Have(out, idx) {
		return dst
	}
	for k, j := range idx {
		if out[k] == 0 {
			if out[k] = l.row[j]; out[k] == 0 { // unless added since
				out[k] = l.add(j)
			}
		}
	}
	return dst
}

// Have sets dst, as long as idx, to the rows of the features idx, 0 for those that have none, and
// reports whether all have one. It changes nothing else: tiles may be worked on at the same time.
func (l *Lanes[T]) Have(dst, idx []int32) bool {
	dst, row := dst[:len(idx)], l.row
	missing := int32(0)
	for k, j := range idx { // no call and hardly a branch: seen features are the rule
		r := row[j]
		missing |= r - 1
		dst[k] = r
	}
	return missing >= 0
}

// Find appends the rows of the features idx to dst: the zero row for those never seen. It changes
// nothing.
func (l *Lanes[T]) Find(dst, idx []int32) []int32 {
	for _, j := range idx {
		r := int32(0)
		if int(j) < len(l.row) {
			r = l.row[j]
		}
		dst = append(dst, r)
	}
	return dst
}

// add gives feature j the next row.
func (l *Lanes[T]) add(j int32) int32 {
	r := len(l.feature)
	if r == l.rows {
		l.grow(l.room(r + 1))
	}
	l.feature = append(withRoom(l.feature, r+1), j)
	l.row[j] = int32(r)
	return int32(r)
}

// Has reports whether feature j has a row: all weights of one that has none are 0.
func (l *Lanes[T]) Has(j int) bool { return j < len(l.row) && l.row[j] != 0 }

// Column sets dst[m] to the weight of feature j in member m and reports whether any is not +0, bit
// for bit.
func (l *Lanes[T]) Column(dst []T, j int) bool {
	if j >= len(l.row) || l.row[j] == 0 {
		clear(dst[:l.members])
		return false
	}
	for i := range l.Tiles {
		t := &l.Tiles[i]
		at, to := int(l.row[j])*t.Width, dst[t.Lo:][:t.Lanes]
		switch {
		case t.Int8 != nil:
			convert(to, t.Int8[at:])
		case t.Int16 != nil:
			convert(to, t.Int16[at:])
		default:
			copy(to, t.W[at:])
		}
	}
	return anyBits(dst[:l.members])
}

// SetColumn sets the weights of feature j, giving it a row.
func (l *Lanes[T]) SetColumn(j int, src []T) {
	l.Widen()
	l.Reach(j + 1)
	r := int(l.row[j])
	if r == 0 {
		r = int(l.add(int32(j)))
	}
	for i := range l.Tiles {
		t := &l.Tiles[i]
		copy(t.W[r*t.Width:], src[t.Lo:t.Lo+t.Lanes])
	}
}

// Scale multiplies all weights of member m by f. Cost: one element of every row.
func (l *Lanes[T]) Scale(m int, f T) {
	l.Widen()
	t := &l.Tiles[m/l.lanes]
	for i := m - t.Lo; i < len(t.W); i += t.Width {
		t.W[i] *= f
	}
}

// SumSq returns the sum of the squares of member m's weights, in float64 and in the order of the
// features. Cost: one element of every row.
func (l *Lanes[T]) SumSq(m int) (sum float64) {
	l.Widen()
	t := &l.Tiles[m/l.lanes]
	for _, r := range l.row {
		v := float64(t.W[int(r)*t.Width+m-t.Lo]) // row 0 is zero
		sum += float64(v * v)
	}
	return sum
}

// Features returns the number of features that have rows.
func (l *Lanes[T]) Features() int { return len(l.feature) - 1 }

// Bytes returns the memory in use, in bytes.
func (l *Lanes[T]) Bytes() int64 {
	n := int64(4 * (cap(l.row) + cap(l.feature)))
	for i := range l.Tiles {
		n += l.Tiles[i].bytes()
	}
	return n
}

// bytes is what the tile's weights take.
func (t *LaneTile[T]) bytes() int64 {
	return int64(len(t.W))*elemSize[T]() + 2*int64(len(t.Int16)) + int64(len(t.Int8))
}

// anyBits reports whether any element is something else than +0.
func anyBits[T engine.Float](x []T) bool {
	for _, v := range x {
		if v != 0 || 1/v < 0 { // -0 is not +0
			return true
		}
	}
	return false
}
