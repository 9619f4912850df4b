package ensemble

import (
	"bytes"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// Weights of [Lanes] in int16. They move as a whole, but for a tile that outgrew int16 while others
// were worked on: it is in T alone until grow or Widen brings the others after it.
//
// Tiles in int16 whose weights are smaller still may go on to int8, each by itself, where the
// implementation in use has a kernel for those. To all but that kernel they are in int16.

// Small reports whether the weights are in int16, or in int8.
func (t *LaneTile[T]) Small() bool { return t.Int16 != nil || t.Int8 != nil }

// Int16 reports whether any tile keeps its weights in int16.
func (l *Lanes[T]) Int16() bool {
	for i := range l.Tiles {
		if l.Tiles[i].Small() {
			return true
		}
	}
	return false
}

// allInt16 reports whether all tiles do.
func (l *Lanes[T]) allInt16() bool {
	for i := range l.Tiles {
		if !l.Tiles[i].Small() {
			return false
		}
	}
	return len(l.Tiles) > 0
}

// allInt8 reports whether all tiles keep their weights in int8.
func (l *Lanes[T]) allInt8() bool {
	for i := range l.Tiles {
		if l.Tiles[i].Int8 == nil {
			return false
		}
	}
	return len(l.Tiles) > 0
}

// elem is the size of a weight by which tiles are cut: of those in int8 that of int16, which they
// may outgrow int8 for.
func (l *Lanes[T]) elem() int64 {
	if l.allInt16() {
		return 2
	}
	return elemSize[T]()
}

// Floats reports whether the weights stay in T, whatever comes.
func (l *Lanes[T]) Floats() bool { return l.floats }

// SumRows sets dst[j] to the sum of the weights of feature j in all members, where the rows are
// numbered by the features and all weights are in int16, or returns false. Sums are exact.
func (l *Lanes[T]) SumRows(dst []float64) bool {
	if !l.Direct() || !l.allInt16() {
		return false
	}
	clear(dst)
	dst = dst[:min(len(dst), l.Features())]
	for i := range l.Tiles {
		if t := &l.Tiles[i]; t.Int8 != nil {
			vecmath.AddRowSumsInt8(dst, t.Int8[t.Width:], t.Width)
		} else {
			vecmath.AddRowSums(dst, t.Int16[t.Width:], t.Width)
		}
	}
	return true
}

// Score moves the weights into T for the scores of single members, which aren't to be had in int16.
// They stay there until Learned says that it is time to go back.
func (l *Lanes[T]) Score() {
	// There and back takes some 2 ns a weight; to learn takes some 1/30 ns a weight and non-zero
	// longer in T. So whoever asks after each block never moves them, and whoever asks once in a
	// while pays at most as much for moving as for staying.
	const even = 64
	l.inT = even * len(l.feature)
	l.Widen()
}

// Learned notes that so many non-zeros are learned, and reports whether weights may go back to
// int16.
func (l *Lanes[T]) Learned(nonZeros int) bool {
	l.inT = max(0, l.inT-nonZeros)
	return l.inT == 0
}

// Narrow moves the weights into int16, if all are whole numbers of which that can hold the next
// ones, too, and reports whether they are there now. One that can't be, and a tile that was
// widened by itself, end it: from then on the weights stay in T. Cost: all weights once, if they
// move.
func (l *Lanes[T]) Narrow() bool {
	if l.allInt16() || l.floats {
		return !l.floats
	}
	zero := l.Zero()
	for i := range l.Tiles {
		if t := &l.Tiles[i]; t.Small() || !zero && !t.whole() {
			l.KeepFloats()
			return false
		}
	}
	for i := range l.Tiles { // one after the other: that of one may be there twice
		t := &l.Tiles[i]
		from := *t
		t.Width = padded[int16](t.Lanes)
		t.Int16 = engine.Aligned[int16](l.rows * t.Width)
		t.W = nil
		if !zero {
			t.takeWhole(&from, len(l.feature))
		}
		release(int64(len(from.W)) * elemSize[T]())
	}
	l.recut()
	return true
}

// Shrink moves tiles from int16 into int8 whose weights are small enough, where that is faster:
// vecmath.LanesRunInt8 takes examples of up to so many non-zeros. A tile that outgrew int8 stays in
// int16. Cost: a look at each tile; all weights once, if they move.
func (l *Lanes[T]) Shrink(nonZeros int) {
	if !vecmath.RunsInt8() || nonZeros > vecmath.Int8NonZeros(vecmath.Int8Small) {
		return
	}
	for i := range l.Tiles {
		t := &l.Tiles[i]
		if t.Int16 == nil || t.outgrown || t.Peak > vecmath.Int8Small {
			continue
		}
		from, width := t.Int16, t.Width
		rows := len(from) / width
		t.Width = padded[int8](t.Lanes)
		t.Int8, t.Int16 = engine.Aligned[int8](rows*t.Width), nil
		for r := range len(l.feature) {
			convert(t.Int8[r*t.Width:][:t.Lanes], from[r*width:])
		}
		release(2 * int64(len(from)))
	}
}

// LeaveInt8 moves the weights of this tile from int8 into int16 for good. Other tiles may be worked
// on at the same time.
func (t *LaneTile[T]) LeaveInt8() {
	t.outgrown = true
	t.int8ToInt16()
}

func (t *LaneTile[T]) int8ToInt16() {
	if t.Int8 == nil {
		return
	}
	from, width := t.Int8, t.Width
	rows := len(from) / width
	t.Width = padded[int16](t.Lanes)
	t.Int16, t.Int8 = engine.Aligned[int16](rows*t.Width), nil
	for r := range rows {
		convert(t.Int16[r*t.Width:][:t.Lanes], from[r*width:])
	}
	release(int64(len(from)))
}

// convert sets dst to the first elements of src, which it can hold.
func convert[D, S engine.Float | int8 | int16](dst []D, src []S) {
	for k, v := range src[:len(dst)] {
		dst[k] = D(v)
	}
}

// takeWhole sets the weights in int16 to those of the same members in T, of so many rows.
func (t *LaneTile[T]) takeWhole(from *LaneTile[T], rows int) {
	for r := range rows {
		to := t.Int16[r*t.Width:][:t.Lanes]
		for k, v := range from.W[r*from.Width:][:t.Lanes] {
			to[k] = int16(v)
			t.Peak = max(t.Peak, int(to[k]), -int(to[k]))
		}
	}
}

// Zero reports whether all weights are +0, as before anything was learned. Cost: all weights once,
// by the speed of memory.
func (l *Lanes[T]) Zero() bool {
	for i := range l.Tiles {
		if t := &l.Tiles[i]; !zeroBits(t.W) || !zeroBits(t.Int16) || !zeroBits(t.Int8) {
			return false
		}
	}
	return true
}

// zeroBits reports whether all bits are 0. Each byte is compared with the one before it: so the
// comparison is that of the runtime, some 30 times as fast as element by element.
func zeroBits[E engine.Float | int8 | int16](x []E) bool {
	var zero E
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(zero)))
	return len(b) == 0 || b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1])
}

// whole reports whether all weights are whole numbers that int16 has, with one to spare.
func (t *LaneTile[T]) whole() bool {
	for _, v := range t.W {
		if !(v > math.MinInt16 && v < math.MaxInt16) { // NaN is not
			return false
		}
		if w := T(int16(v)); w != v || v == 0 && 1/v < 0 { // -0 is not +0
			return false
		}
	}
	return true
}

// KeepFloats moves the weights into T for good.
func (l *Lanes[T]) KeepFloats() {
	l.floats = true
	l.Widen()
}

// Widen moves the weights into T.
func (l *Lanes[T]) Widen() {
	moved := false
	for i := range l.Tiles {
		moved = l.Tiles[i].Widen() || moved
	}
	if moved {
		l.recut()
	}
}

// recut cuts the tiles anew if the size of the weights changed the number of members of each.
func (l *Lanes[T]) recut() {
	if l.lanesFor(l.rows, l.elem()) != l.lanes {
		l.grow(l.rows)
	}
}

// Widen moves the weights of this tile alone into T and reports whether they were in int16. Other
// tiles may be worked on at the same time.
func (t *LaneTile[T]) Widen() bool {
	if t.int8ToInt16(); t.Int16 == nil {
		return false
	}
	width := padded[T](t.Lanes)
	rows := len(t.Int16) / t.Width
	t.W = engine.Aligned[T](rows * width)
	for r := range rows {
		convert(t.W[r*width:][:t.Lanes], t.Int16[r*t.Width:])
	}
	t.Int16, t.Peak, t.Width = nil, 0, width
	release(int64(len(t.W)) * elemSize[T]())
	return true
}
