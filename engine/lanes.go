package engine

import (
	"slices"
	"unsafe"
)

// TileLanes is the number of members in a tile of [Lanes]: one word of a mask. A row of 64 float32 is 256 bytes, so the
// weights of a few hundred features stay inside L1 while a block of examples goes by, and ensembles of 65 members and
// more make work for two workers.
const TileLanes = 64

// Lanes holds the weights of an ensemble's members for sparse examples: the members lie across SIMD lanes, so one
// non-zero of an example costs one row operation for all of them. The members are cut into tiles of [TileLanes]; a tile
// is a slab of rows, one row a feature, and rows are there only for features that were seen. Row 0 stays zero and
// stands for all others.
//
// Memory: Members (padded to 64 bytes) weights a feature seen, 4 bytes a feature up to the largest seen.
// Not safe for concurrent use, but distinct tiles may be worked on at the same time while no rows are added.
type Lanes[T Float] struct {
	Tiles []LaneTile[T] // tile t holds members t*TileLanes and following

	members int
	row     []int32 // row of a feature; 0: none
	feature []int32 // feature of a row; -1 for row 0
	rows    int     // rows that the tiles have room for
}

// LaneTile is a run of members: lane l of feature row r is W[r*Width+l], in the layout of the vecmath.Lanes… kernels.
type LaneTile[T Float] struct {
	W     []T // 64-byte aligned
	Width int // lanes in a row: Lanes padded to a multiple of 64 bytes; the padding stays zero
	Lo    int // the first member
	Lanes int // members
}

// NewLanes returns Lanes for that many members, all weights zero.
func NewLanes[T Float](members int) *Lanes[T] {
	l := &Lanes[T]{members: members, feature: []int32{-1}}
	for lo := 0; lo < members; lo += TileLanes {
		n := min(TileLanes, members-lo)
		l.Tiles = append(l.Tiles, LaneTile[T]{Width: padded[T](n), Lo: lo, Lanes: n})
	}
	l.grow(64)
	return l
}

// padded rounds n elements up to a multiple of 64 bytes.
func padded[T Float](n int) int {
	per := cacheLine / int(unsafe.Sizeof(T(0)))
	return (n + per - 1) / per * per
}

// grow makes room for that many rows.
func (l *Lanes[T]) grow(rows int) {
	for i := range l.Tiles {
		t := &l.Tiles[i]
		w := Aligned[T](rows * t.Width)
		copy(w, t.W)
		t.W = w
	}
	l.rows = rows
}

// Rows appends the rows of the features idx, which must ascend, to dst. Features not seen before get a row.
// Cost: a table look-up an index; rows and table grow by doubling.
func (l *Lanes[T]) Rows(dst, idx []int32) []int32 {
	if len(idx) == 0 {
		return dst
	}
	if last := int(idx[len(idx)-1]); last >= len(l.row) {
		row := make([]int32, max(last+1, 2*len(l.row)))
		copy(row, l.row)
		l.row = row
	}
	n := len(dst)
	dst = slices.Grow(dst, len(idx))[:n+len(idx)]
	for k, j := range idx {
		r := l.row[j]
		if r == 0 {
			r = l.add(j)
		}
		dst[n+k] = r
	}
	return dst
}

// Find appends the rows of the features idx to dst: the zero row for those never seen. It changes nothing.
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
		l.grow(2 * l.rows)
	}
	l.feature = append(l.feature, j)
	l.row[j] = int32(r)
	return int32(r)
}

// Dim is one more than the largest feature that may have a weight.
func (l *Lanes[T]) Dim() int { return len(l.row) }

// Column sets dst[m] to the weight of feature j in member m and reports whether any is not +0, bit for bit.
func (l *Lanes[T]) Column(dst []T, j int) bool {
	if j >= len(l.row) || l.row[j] == 0 {
		clear(dst[:l.members])
		return false
	}
	for i := range l.Tiles {
		t := &l.Tiles[i]
		copy(dst[t.Lo:t.Lo+t.Lanes], t.W[int(l.row[j])*t.Width:])
	}
	return anyBits(dst[:l.members])
}

// SetColumn sets the weights of feature j, giving it a row.
func (l *Lanes[T]) SetColumn(j int, src []T) {
	var one [1]int32
	r := int(l.Rows(one[:0], []int32{int32(j)})[0])
	for i := range l.Tiles {
		t := &l.Tiles[i]
		copy(t.W[r*t.Width:], src[t.Lo:t.Lo+t.Lanes])
	}
}

// Scale multiplies all weights of member m by f. Cost: one element of every row.
func (l *Lanes[T]) Scale(m int, f T) {
	t := &l.Tiles[m/TileLanes]
	for i := m - t.Lo; i < len(t.W); i += t.Width {
		t.W[i] *= f
	}
}

// Bytes returns the memory held.
func (l *Lanes[T]) Bytes() int64 {
	n := int64(4 * (cap(l.row) + cap(l.feature)))
	for i := range l.Tiles {
		n += int64(len(l.Tiles[i].W)) * int64(unsafe.Sizeof(T(0)))
	}
	return n
}

// anyBits reports whether any element is something else than +0.
func anyBits[T Float](x []T) bool {
	for _, v := range x {
		if v != 0 || 1/v < 0 { // -0 is not +0
			return true
		}
	}
	return false
}
