package vecmath

// The kernels with indices check the ends of a list only. All indices of a block are checked once,
// by [CheckIndices] or as engine.Block.Check does; to check them at each call would cost an example
// of 14 non-zeros up to a third of its dot.

// SparseDot returns the sum of val[k]*w[idx[k]]. The indices need not ascend.
func SparseDot[T Float](idx []int32, val []T, w []T) T {
	checkSparse(idx, len(val), len(w))
	if race {
		raceRead(idx)
		raceRead(val[:len(idx)])
		raceRows(w, 1, idx)
	}
	return sparseDot(data(idx), data(val), len(idx), data(w), len(w))
}

// SparseAxpy adds a*val[k] to w[idx[k]]. The indices need not ascend; one that repeats is added to
// as often.
func SparseAxpy[T Float](w []T, a T, idx []int32, val []T) {
	checkSparse(idx, len(val), len(w))
	if race {
		raceRead(idx)
		raceRead(val[:len(idx)])
		raceWriteRows(w, 1, idx)
	}
	sparseAxpy(data(w), len(w), a, data(idx), data(val), len(idx))
}

// LanesScore scores width = len(dst) member lanes over a sparse example: dst[l] = sum of
// val[k]*w[rows[k]*width+l].
//
// The width is a multiple of [LaneUnit]. w holds whole rows of width lanes; it is fastest when
// 64-byte aligned. rows need not ascend. dst may be one of the rows.
func LanesScore[T Float](dst, w []T, rows []int32, val []T) {
	checkLanes[T](len(dst), rows, len(val), len(w))
	if race {
		raceRead(rows)
		raceRead(val[:len(rows)])
		raceRows(w, len(dst), rows)
		raceWrite(dst)
	}
	lanesScore(data(dst), data(w), len(w), len(dst), data(rows), data(val), len(rows))
}

// LanesUpdate adds coef[l]*val[k] to w[rows[k]*width+l] for the lanes l in mask (bit l%64
// of word l/64), width = len(coef). Other lanes keep their bits, but may be written with them:
// lanes of one row unit have one owner. For rows and w see [LanesScore]. mask has at least
// [MaskWords] words and no bits beyond the width.
func LanesUpdate[T Float](w []T, rows []int32, val, coef []T,
	mask []uint64) {
	width := len(coef)
	checkLanes[T](width, rows, len(val), len(w))
	words := MaskWords(width)
	if len(mask) < words {
		panic(panicShort)
	}
	if width%64 != 0 && mask[words-1]>>(width%64) != 0 {
		panic(panicMask)
	}
	if race {
		raceRead(rows)
		raceRead(val[:len(rows)])
		raceRead(coef)
		raceRead(mask[:words])
		raceWriteLanes(w, width, rows, maskLanes(mask[:words]))
	}
	lanesUpdate(data(w), len(w), width, data(rows), data(val), len(rows), data(coef), data(mask))
}

// SparseDotMixed is [SparseDot] of a float64 vector and an example of either precision.
func SparseDotMixed[T Float](idx []int32, val []T,
	w []float64) float64 {
	checkSparse(idx, len(val), len(w))
	if race {
		raceRead(idx)
		raceRead(val[:len(idx)])
		raceRows(w, 1, idx)
	}
	if is32[T]() {
		return sparseDotMixed(data(idx), f32(data(val)), len(idx), data(w), len(w))
	}
	return sparseDot(data(idx), f64(data(val)), len(idx), data(w), len(w))
}

// SparseAxpyMixed is [SparseAxpy] on a float64 vector with an example of either precision.
func SparseAxpyMixed[T Float](w []float64, a float64, idx []int32,
	val []T) {
	checkSparse(idx, len(val), len(w))
	if race {
		raceRead(idx)
		raceRead(val[:len(idx)])
		raceWriteRows(w, 1, idx)
	}
	if is32[T]() {
		sparseAxpyMixed(data(w), len(w), a, data(idx), f32(data(val)), len(idx))
		return
	}
	sparseAxpy(data(w), len(w), a, data(idx), f64(data(val)), len(idx))
}

// SparseDotAxpyMixed is [SparseDotMixed] followed by [SparseAxpyMixed] of a and the same
// example, in one pass: it returns the dot before the update. An index that repeats makes the
// result depend on the implementation.
func SparseDotAxpyMixed[T Float](w []float64, a float64, idx []int32,
	val []T) float64 {
	checkSparse(idx, len(val), len(w))
	if race {
		raceRead(idx)
		raceRead(val[:len(idx)])
		raceWriteRows(w, 1, idx)
	}
	if is32[T]() {
		return sparseDotAxpyMixed(data(w), len(w), a, data(idx), f32(data(val)), len(idx))
	}
	f := sparseDot(data(idx), f64(data(val)), len(idx), data(w), len(w))
	sparseAxpy(data(w), len(w), a, data(idx), f64(data(val)), len(idx))
	return f
}

// The looks at the ends, which are what a list's extremes are if it ascends: small enough to be
// inlined, so they panic with a sentence and not, by a call, as a slice does. Negative indices
// become large as uint.
const (
	panicIndex = "vecmath: sparse index outside the dense slice"
	panicRow   = "vecmath: row outside the lane weights"
)

func checkSparse(idx []int32, nval, nw int) {
	if nval < len(idx) {
		panic(panicShort)
	}
	if n := len(idx); n > 0 && (uint(idx[0]) >= uint(nw) || uint(idx[n-1]) >= uint(nw)) {
		panic(panicIndex)
	}
}

func checkRowEnds(width int, rows []int32, nval, nw int) {
	if nval < len(rows) {
		panic(panicShort)
	}
	if n := len(rows); n > 0 {
		first, last := uint64(uint32(rows[0])), uint64(uint32(rows[n-1]))
		if (max(first, last)+1)*uint64(width) > uint64(nw) {
			panic(panicRow)
		}
	}
}

func checkLanes[T Float](width int, rows []int32, nval, nw int) {
	if width%LaneUnit[T]() != 0 {
		panic(panicWidth)
	}
	checkRowEnds(width, rows, nval, nw)
}
