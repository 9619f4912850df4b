package vecmath

import "unsafe"

// The exported kernels: check once, then dispatch. The dispatch functions (dot, axpy, ...) are in dispatch_*.go, one
// file for each architecture: a switch with direct calls, since a call through a function variable would make the
// operands escape. They take pointers and lengths, as the assembly does: five slices would not fit the registers of
// a call and would go over the stack, about 2 ns for LanesUpdate. dot, axpy and sqDist check the lengths themselves, so that Dot, Axpy and
// SqDist are small enough to be inlined (and write unsafe.SliceData out, for the same budget).

// What a kernel panics with when a caller breaks its contract.
const (
	panicShort  = "vecmath: a slice is shorter than the call needs"
	panicIndex  = "vecmath: sparse index outside the dense slice"
	panicRow    = "vecmath: row outside the lane weights"
	panicLane   = "vecmath: lane outside the row"
	panicWidth  = "vecmath: lane width is not a multiple of 64 bytes"
	panicMask   = "vecmath: mask bits beyond the lane width"
	panicStride = "vecmath: rows shorter than (len(dst)-1)*stride + len(x), or a negative stride"
)

// LaneUnit is what lane widths are a multiple of: 64 bytes, that is 16 float32 or 8 float64.
func LaneUnit[T Float]() int { return 64 / int(unsafe.Sizeof(T(0))) }

// MaskWords is the number of 64-bit words that a mask of width lanes takes.
func MaskWords(width int) int { return (width + 63) / 64 }

// Dot returns the sum of a[i]*b[i].
func Dot[T Float](a, b []T) T {
	if race {
		raceRead(a)
		raceRead(b[:len(a)])
	}
	return dot(unsafe.SliceData(a), unsafe.SliceData(b), len(a), len(b))
}

// Axpy adds a*x to y. x may be y, but must not overlap it otherwise.
func Axpy[T Float](y []T, a T, x []T) {
	if race {
		raceRead(x[:len(y)])
		raceWrite(y)
	}
	axpy(unsafe.SliceData(y), a, unsafe.SliceData(x), len(y), len(x))
}

// Scal multiplies x by a.
func Scal[T Float](x []T, a T) {
	if race {
		raceWrite(x)
	}
	scal(data(x), a, len(x))
}

// SumSq returns the sum of x[i]*x[i]. It is not scaled: it overflows where the square of the norm does.
func SumSq[T Float](x []T) T {
	if race {
		raceRead(x)
	}
	return sumSq(data(x), len(x))
}

// SqDist returns the sum of (a[i]-b[i]) squared.
func SqDist[T Float](a, b []T) T {
	if race {
		raceRead(a)
		raceRead(b[:len(a)])
	}
	return sqDist(unsafe.SliceData(a), unsafe.SliceData(b), len(a), len(b))
}

// RowsDot sets dst[r] = Dot(rows[r*stride:][:len(x)], x), to the same bits as Dot.
func RowsDot[T Float](dst, rows []T, stride int, x []T) {
	if len(dst) == 0 {
		return
	}
	// The division keeps (len(dst)-1)*stride from overflowing.
	if room := len(rows) - len(x); room < 0 || stride < 0 || (stride > 0 && len(dst)-1 > room/stride) {
		panic(panicStride)
	}
	if race {
		for r := range dst {
			raceRead(rows[r*stride:][:len(x)])
		}
		raceRead(x)
		raceWrite(dst)
	}
	rowsDot(data(dst), data(rows), len(dst), stride, data(x), len(x))
}

// SparseDot returns the sum of val[k]*w[idx[k]]. The caller promises that idx ascends; only its ends are checked.
func SparseDot[T Float](idx []int32, val []T, w []T) T {
	checkSparse(idx, len(val), len(w))
	if race {
		raceRead(idx)
		raceRead(val[:len(idx)])
		raceRows(w, 1, idx)
	}
	return sparseDot(data(idx), data(val), len(idx), data(w), len(w))
}

// SparseAxpy adds a*val[k] to w[idx[k]]. The caller promises that idx ascends; only its ends are checked.
func SparseAxpy[T Float](w []T, a T, idx []int32, val []T) {
	checkSparse(idx, len(val), len(w))
	if race {
		raceRead(idx)
		raceRead(val[:len(idx)])
		raceWriteRows(w, 1, idx)
	}
	sparseAxpy(data(w), len(w), a, data(idx), data(val), len(idx))
}

// LanesScore scores width = len(dst) member lanes over a sparse example: dst[l] = sum of val[k]*w[rows[k]*width+l].
//
// The width is a multiple of [LaneUnit]. w holds whole rows of width lanes; it is fastest when 64-byte aligned. rows
// need not ascend: the caller promises that each is one of w's rows; only the first and the last are checked. dst may be one of the rows.
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

// LanesUpdate adds coef[l]*val[k] to w[rows[k]*width+l] for the lanes l in mask (bit l%64 of word l/64), width =
// len(coef). Other lanes keep their bits, but may be written with them: lanes of one row unit have one owner.
// For rows and w see [LanesScore]. mask has at least [MaskWords] words and no bits beyond the width.
func LanesUpdate[T Float](w []T, rows []int32, val, coef []T, mask []uint64) {
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

// LanesLE sets bit l of mask where y*s[l] <= t (never for NaN) and clears all others, up to the end of mask, which
// has at least [MaskWords] words. len(s) is a multiple of [LaneUnit].
func LanesLE[T Float](mask []uint64, s []T, y, t T) {
	if len(s)%LaneUnit[T]() != 0 {
		panic(panicWidth)
	}
	words := MaskWords(len(s))
	if len(mask) < words {
		panic(panicShort)
	}
	if len(mask) > words {
		clear(mask[words:])
	}
	if race {
		raceRead(s)
		raceWrite(mask)
	}
	lanesLE(data(mask), data(s), len(s), y, t)
}

// LanesScoreLE is [LanesScore] followed by [LanesLE] of the scores, in one call: mask, of at least [MaskWords] words, tells where
// y*dst[l] <= t.
func LanesScoreLE[T Float](dst, w []T, rows []int32, val []T, mask []uint64, y, t T) {
	checkLanes[T](len(dst), rows, len(val), len(w))
	words := MaskWords(len(dst))
	if len(mask) < words {
		panic(panicShort)
	}
	if len(mask) > words {
		clear(mask[words:])
	}
	if race {
		raceRead(rows)
		raceRead(val[:len(rows)])
		raceRows(w, len(dst), rows)
		raceWrite(dst)
		raceWrite(mask)
	}
	lanesScoreLE(data(dst), data(w), len(w), len(dst), data(rows), data(val), len(rows), data(mask), y, t)
}

// ActiveScore scores the listed lanes only: dst[j] is what [LanesScore] gives for lane lanes[j], to the bit. Any width
// will do. The caller promises that lanes ascend without repeats; only their ends are checked. For rows see LanesScore.
func ActiveScore[T Float](dst, w []T, width int, rows []int32, val []T, lanes []int32) {
	checkActive(width, rows, len(val), len(w), lanes, len(dst))
	if race {
		raceRead(rows)
		raceRead(val[:len(rows)])
		raceRead(lanes)
		raceLanes(w, width, rows, lanes)
		raceWrite(dst[:len(lanes)])
	}
	activeScore(data(dst), data(w), len(w), width, data(rows), data(val), len(rows), data(lanes), len(lanes))
}

// ActiveUpdate adds coef[j]*val[k] to w[rows[k]*width+lanes[j]]: what [LanesUpdate] does, for the listed lanes only.
// coef goes with lanes. The promises are those of [ActiveScore].
func ActiveUpdate[T Float](w []T, width int, rows []int32, val []T, lanes []int32, coef []T) {
	checkActive(width, rows, len(val), len(w), lanes, len(coef))
	if race {
		raceRead(rows)
		raceRead(val[:len(rows)])
		raceRead(lanes)
		raceRead(coef[:len(lanes)])
		raceWriteLanes(w, width, rows, lanes)
	}
	activeUpdate(data(w), len(w), width, data(rows), data(val), len(rows), data(lanes), data(coef), len(lanes))
}

// DotMixed is [Dot] of a float64 vector and an example of either precision, over len(x) elements.
func DotMixed[T Float](a []float64, x []T) float64 {
	if len(a) < len(x) {
		panic(panicShort)
	}
	if race {
		raceRead(a[:len(x)])
		raceRead(x)
	}
	if is32[T]() {
		return dotMixed(data(a), f32(data(x)), len(x))
	}
	return dot(data(a), f64(data(x)), len(x), len(a))
}

// AxpyMixed adds a*x to the float64 vector y.
func AxpyMixed[T Float](y []float64, a float64, x []T) {
	if len(x) < len(y) {
		panic(panicShort)
	}
	if race {
		raceRead(x[:len(y)])
		raceWrite(y)
	}
	if is32[T]() {
		axpyMixed(data(y), a, f32(data(x)), len(y))
		return
	}
	axpy(data(y), a, f64(data(x)), len(y), len(x))
}

// SparseDotMixed is [SparseDot] of a float64 vector and an example of either precision.
func SparseDotMixed[T Float](idx []int32, val []T, w []float64) float64 {
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
func SparseAxpyMixed[T Float](w []float64, a float64, idx []int32, val []T) {
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

// SparseDotAxpyMixed is [SparseDotMixed] followed by [SparseAxpyMixed] of a and the same example, in one pass: it returns the dot
// before the update. No index may repeat.
func SparseDotAxpyMixed[T Float](w []float64, a float64, idx []int32, val []T) float64 {
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

// DrawBits makes 64 random draws of each x[i], which starts a sequence of random words: word d is hi ^ lo of the 128-bit product
// z * (z^fin), z = x[i] + d*step. x[i] becomes the sum modulo 2 of first and, for each d where turn (its highest bit is
// d = 0) has a 1, the bits that are set in all of words 0, ..., d. Cost: words until no bit is set in all.
func DrawBits(x []uint64, fin, step, first, turn uint64) {
	if race {
		raceWrite(x)
	}
	drawBits(data(x), len(x), fin, step, first, turn)
}

// data is the address of s[0], and good for empty slices, too.
func data[E any](s []E) *E { return unsafe.SliceData(s) }

// checkSparse: negative indices become large as uint.
func checkSparse(idx []int32, nval, nw int) {
	if nval < len(idx) {
		panic(panicShort)
	}
	if n := len(idx); n > 0 && (uint(idx[0]) >= uint(nw) || uint(idx[n-1]) >= uint(nw)) {
		panic(panicIndex)
	}
}

func checkRows(width int, rows []int32, nval, nw int) {
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
	checkRows(width, rows, nval, nw)
}

func checkActive(width int, rows []int32, nval, nw int, lanes []int32, nother int) {
	if nother < len(lanes) {
		panic(panicShort)
	}
	if width < 0 {
		panic(panicLane)
	}
	if n := len(lanes); n > 0 && (uint(lanes[0]) >= uint(width) || uint(lanes[n-1]) >= uint(width)) {
		panic(panicLane)
	}
	checkRows(width, rows, nval, nw)
}

// checkLen: a slice of have elements must serve for n.
func checkLen(n, have int) {
	if have < n {
		panic(panicShort)
	}
}
