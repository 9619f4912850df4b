package vecmath

import "github.com/halfspace-ml/halfspace/internal/trusted"

// The kernels with indices, for the callers in this module that have checked all indices of a block
// once: checking them again would cost an example of 14 non-zeros up to a third of its dot. They
// check the ends of a list only. The first argument, whose type no other module can name, keeps all
// others out. SparseDot, SparseAxpy and their mixed forms have a form for others, which checks.

// SparseDotUnchecked is [SparseDot] for indices that the caller has checked: it looks at their ends
// only.
func SparseDotUnchecked[T Float](_ trusted.Indices, idx []int32, val []T, w []T) T {
	checkSparse(idx, len(val), len(w))
	if race {
		raceRead(idx)
		raceRead(val[:len(idx)])
		raceRows(w, 1, idx)
	}
	return sparseDot(data(idx), data(val), len(idx), data(w), len(w))
}

// SparseAxpyUnchecked is [SparseAxpy] for indices that the caller has checked: it looks at their
// ends only.
func SparseAxpyUnchecked[T Float](_ trusted.Indices, w []T, a T, idx []int32, val []T) {
	checkSparse(idx, len(val), len(w))
	if race {
		raceRead(idx)
		raceRead(val[:len(idx)])
		raceWriteRows(w, 1, idx)
	}
	sparseAxpy(data(w), len(w), a, data(idx), data(val), len(idx))
}

// LanesScoreUnchecked scores width = len(dst) member lanes over a sparse example: dst[l] = sum of
// val[k]*w[rows[k]*width+l].
//
// The width is a multiple of [LaneUnit]. w holds whole rows of width lanes; it is fastest when
// 64-byte aligned. rows need not ascend. dst may be one of the rows.
func LanesScoreUnchecked[T Float](_ trusted.Indices, dst, w []T, rows []int32, val []T) {
	checkLanes[T](len(dst), rows, len(val), len(w))
	if race {
		raceRead(rows)
		raceRead(val[:len(rows)])
		raceRows(w, len(dst), rows)
		raceWrite(dst)
	}
	lanesScore(data(dst), data(w), len(w), len(dst), data(rows), data(val), len(rows))
}

// LanesUpdateUnchecked adds coef[l]*val[k] to w[rows[k]*width+l] for the lanes l in mask (bit l%64
// of word l/64), width = len(coef). Other lanes keep their bits, but may be written with them:
// lanes of one row unit have one owner. For rows and w see [LanesScoreUnchecked]. mask has at least
// [MaskWords] words and no bits beyond the width.
func LanesUpdateUnchecked[T Float](_ trusted.Indices, w []T, rows []int32, val, coef []T,
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

// SparseDotMixedUnchecked is [SparseDotMixed] for indices that the caller has checked: it looks at
// their ends only.
func SparseDotMixedUnchecked[T Float](_ trusted.Indices, idx []int32, val []T,
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

// SparseAxpyMixedUnchecked is [SparseAxpyMixed] for indices that the caller has checked: it looks
// at their ends only.
func SparseAxpyMixedUnchecked[T Float](_ trusted.Indices, w []float64, a float64, idx []int32,
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

// SparseDotAxpyMixedUnchecked is [SparseDotMixed] followed by [SparseAxpyMixed] of a and the same
// example, in one pass: it returns the dot before the update. An index that repeats makes the
// result depend on the implementation.
func SparseDotAxpyMixedUnchecked[T Float](_ trusted.Indices, w []float64, a float64, idx []int32,
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
