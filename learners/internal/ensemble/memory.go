package ensemble

import (
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
)

// cacheLine is what [engine.Aligned] aligns to.
const cacheLine = 64

// padded rounds n elements up to a multiple of 64 bytes.
func padded[T engine.Float | int8 | int16](n int) int {
	var zero T
	per := cacheLine / int(unsafe.Sizeof(zero))
	return (n + per - 1) / per * per
}

func elemSize[T engine.Float]() int64 { return int64(unsafe.Sizeof(T(0))) }

// withRoom returns s with room for n elements, moved as [engine.Room] says.
func withRoom[E any](s []E, n int) []E {
	if n <= cap(s) {
		return s
	}
	return append(make([]E, 0, engine.Room(cap(s), n)), s...)
}

// most is n with the quarter more that engine.Room takes.
func most(n int64) int64 { return n + n/4 + 16 }

// LaneRows bounds the features that have rows in [Lanes] that have seen so many of dim features:
// those, or all while their weights are few. Features come step by step if growing, else all at
// once. An element takes elem.
func LaneRows(members, seen, dim, elem int64, growing bool) int64 {
	direct := directRows(members, elem)
	switch {
	case dim <= direct:
		return max(seen, dim)
	case growing: // what came first has rows, seen or not
		return max(seen, min(dim, seen+direct))
	}
	return seen
}

// LanesBytes bounds the bytes of [Lanes] that have seen so many of dim features: held for good, and
// moving, beside them, for as long as tables grow. Features come step by step if growing, else all
// at once; rows are made for them all by Reserve if reserved. An element takes elem.
func LanesBytes(members, seen, dim, elem int64, growing, reserved bool) (held, moving int64) {
	row := rowBytes(members, elem)
	seen = LaneRows(members, seen, dim, elem, growing)
	rows := max(seen+1, firstRows)
	if dim = max(dim, seen); growing {
		dim = most(dim)
	}
	if !reserved {
		rows = laneRoom(most(rows), rows, dim, row)
	}
	held = rows*row + 4*dim + 4*most(rows)
	if !reserved { // they grow, or move into int16 and back
		moving = rows * row
		if tile := rows * min(row, NarrowTile*elem); tile >= largeTile {
			moving = tile // one moves after another
		}
	}
	if growing {
		moving += 4 * dim
	}
	return held, moving
}

// DenseMembersBytes is LanesBytes for [DenseMembers].
func DenseMembersBytes(members, dim, elem int64, growing bool) (held, moving int64) {
	held = members * ((dim*elem + cacheLine - 1) / cacheLine * cacheLine)
	if growing {
		moving = held
	}
	return held, moving
}

// LaneWorkBytes bounds [NewLaneWork] for the tiles of so many members: two slices of T a
// lane, aligned to 64 bytes, and two masks.
func LaneWorkBytes(members, elem int64) int64 {
	const lanes = WideTile
	each := 2*(lanes*elem+64) + 2*lanes/8 + 16 + 64 +
		int64(unsafe.Sizeof(LaneWork[float64]{}))
	return (members + 63) / 64 * each
}
