package ensemble

import (
	"slices"
	"sync/atomic"
)

// ahead is who sees the examples behind a run, which parts draw that wait for others: the next run
// most often has as many examples and begins with these. Draws are a function of an example's
// number, so nothing depends on how many there are. They go tile by tile, in units of a piece.
type ahead struct {
	first        uint64 // the number of the first example for the draws
	n, size      int    // examples, and those of a piece
	parts, lanes int    // tiles, and members of the first
	mask         []uint64
	drawn        []int // of the present run: examples that were drawn for each tile before it

	_    [64]byte     // what follows is written while others read what is before
	tile atomic.Int32 // the tile to begin with, and 1; 0: not settled
	next atomic.Int32 // the next unit
	_    [64]byte
}

// takeAhead begins the run with what was drawn ahead of it, if that is for these examples and
// tiles, and makes room for draws ahead of the next one.
func (r *MemberRun[T]) takeAhead() {
	a, p, parts := &r.ahead, &r.pace, r.Parts
	lanes := r.Owner.Lanes.Tiles[0].Lanes
	a.drawn = slices.Grow(a.drawn[:0], parts)[:parts]
	clear(a.drawn)
	if a.first == r.first && a.n == p.n && a.size == p.size && a.parts == parts &&
		a.lanes == lanes && !r.weighted {
		r.mask, a.mask = a.mask, r.mask
		units := min(int(a.next.Load()), parts*p.pieces)
		for u := 0; u < units; u += p.pieces {
			a.drawn[a.tileOf(u, p.pieces)] = min(min(units-u, p.pieces)*p.size, p.n)
		}
	}
	a.first, a.n, a.size, a.parts, a.lanes = r.first+uint64(p.n), p.n, p.size, parts, lanes
	a.mask = slices.Grow(a.mask[:0], len(r.mask))[:len(r.mask)]
	a.tile.Store(0)
	a.next.Store(0)
}

// tileOf is the tile of a unit, where each has so many pieces.
func (a *ahead) tileOf(unit, pieces int) int {
	return (int(a.tile.Load()) - 1 + unit/pieces) % a.parts
}

// drawAhead is part p's that has nothing else to do: it draws a piece of the next run, and reports
// whether there was one. The tiles come first that are behind its own, which another worker has,
// and which that one begins with.
func (r *MemberRun[T]) drawAhead(p int) bool {
	a, pieces := &r.ahead, r.pace.pieces
	if !r.drawsApart || r.weighted || int(a.next.Load()) >= a.parts*pieces {
		return false
	}
	a.tile.CompareAndSwap(0, int32((p+1)%a.parts+1))
	unit := int(a.next.Add(1)) - 1
	if unit >= a.parts*pieces {
		return false
	}
	t := &r.Owner.Lanes.Tiles[a.tileOf(unit, pieces)]
	lo, hi := r.pace.bounds(unit % pieces)
	words := (t.Lanes + 63) / 64
	r.Owner.Draws.MasksFrom(a.mask[a.n*(t.Lo/64):][lo*words:hi*words], t.Lo/64, t.Lanes,
		a.first+uint64(lo))
	return true
}
