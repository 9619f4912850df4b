package vecmath

import (
	"math/bits"
	"unsafe"
)

// The exported kernels: check once, then dispatch. The dispatch functions (dot, axpy, ...) are in
// zdispatch_*.go, one file for each architecture, made by go generate from the table in
// dispatchgen/kernels.go: a switch with direct calls, since a call through a function
// variable would make the operands escape. They take pointers and lengths, as the assembly does:
// five slices would not fit the registers of a call and would go over the stack, about 2 ns for
// LanesUpdate. dot, axpy and sqDist check the lengths themselves, so that Dot, Axpy and SqDist are
// small enough to be inlined (and write unsafe.SliceData out, for the same budget).

// What a kernel panics with when a caller breaks its contract. An index outside what it indexes
// panics as a slice does, with a runtime.Error that names the index and the length.
const (
	panicShort  = "vecmath: a slice is shorter than the call needs"
	panicWidth  = "vecmath: lane width is negative or not a multiple of 64 bytes"
	panicLimit  = "vecmath: sums of weights within the limit leave int16"
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

// SumSq returns the sum of x[i]*x[i]. It is not scaled: it overflows where the square of the norm
// does.
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
	checkRowsDot(len(dst), rows, stride, len(x))
	if race {
		raceRead(x)
		raceWrite(dst)
	}
	rowsDot(data(dst), data(rows), len(dst), stride, data(x), len(x))
}

// checkRowsDot panics unless nrows rows of n elements fit into rows.
func checkRowsDot[T Float](nrows int, rows []T, stride, n int) {
	// The division keeps (nrows-1)*stride from overflowing.
	if room := len(rows) - n; room < 0 || stride < 0 || (stride > 0 && nrows-1 > room/stride) {
		panic(panicStride)
	}
	if race {
		for r := range nrows {
			raceRead(rows[r*stride:][:n])
		}
	}
}

// RowsDotAt sets dst[k] = Dot(rows[at[k]*stride:][:len(x)], x), k < len(at), to the same bits as
// Dot: [RowsDot] for the listed rows, in any order.
func RowsDotAt[T Float](dst, rows []T, stride int, at []int32, x []T) {
	if len(at) == 0 {
		return
	}
	dst = dst[:len(at)]
	checkRowsAt(dst, rows, stride, at, x)
	rowsDotAt(data(dst), data(rows), stride, data(at), len(at), data(x), len(x))
}

// checkRowsAt panics unless the listed rows, as long as x, are there.
func checkRowsAt[T Float](dst, rows []T, stride int, at []int32, x []T) {
	room := len(rows) - len(x)
	if len(at) > 0 && (room < 0 || stride < 0) {
		panic(panicStride)
	}
	for _, r := range at {
		if hi, lo := bits.Mul64(uint64(uint32(r)), uint64(stride)); r < 0 || hi != 0 ||
			lo > uint64(room) {
			panic(panicStride)
		}
	}
	if race {
		for _, r := range at {
			raceRead(rows[int(r)*stride:][:len(x)])
		}
		raceRead(x)
		raceWrite(dst)
	}
}

// rowsDotAtByRow is RowsDotAt by a dot a row.
func rowsDotAtByRow[T Float](dst, rows *T, stride int, at *int32, nat int, x *T, n int) {
	from := unsafe.Pointer(rows)
	for k, r := range unsafe.Slice(at, nat) {
		row := (*T)(unsafe.Add(from, int(r)*stride*int(unsafe.Sizeof(*x))))
		unsafe.Slice(dst, nat)[k] = dot(row, x, n, n)
	}
}

// LanesLE sets bit l of mask where y*s[l] <= t (never for NaN) and clears all others, up to the end
// of mask, which has at least [MaskWords] words. len(s) is a multiple of [LaneUnit].
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

// RowsDotMixed sets dst[r] = DotMixed(x, rows[r*stride:][:len(x)]), to the same bits as
// [DotMixed]: float64 sums over rows of either precision.
func RowsDotMixed[T Float](dst []float64, rows []T, stride int, x []float64) {
	if len(dst) == 0 {
		return
	}
	checkRowsDot(len(dst), rows, stride, len(x))
	if race {
		raceRead(x)
		raceWrite(dst)
	}
	if is32[T]() {
		rowsDotMixed(data(dst), f32(data(rows)), len(dst), stride, data(x), len(x))
		return
	}
	rowsDot(data(dst), f64(data(rows)), len(dst), stride, data(x), len(x))
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

// DotAxpyMixed is [DotMixed] of y and x followed by [AxpyMixed], in one pass: it returns the dot
// before the update.
func DotAxpyMixed[T Float](y []float64, a float64, x []T) float64 {
	if len(x) < len(y) {
		panic(panicShort)
	}
	if race {
		raceRead(x[:len(y)])
		raceWrite(y)
	}
	if is32[T]() {
		return dotAxpyMixed(data(y), a, f32(data(x)), len(y))
	}
	f := dot(data(y), f64(data(x)), len(y), len(y))
	axpy(data(y), a, f64(data(x)), len(y), len(y))
	return f
}

// DrawBits makes 64 random draws of each x[i], which starts a sequence of random words: word d is
// hi ^ lo of the 128-bit product z * (z^fin), z = x[i] + d*step. x[i] becomes the sum modulo 2 of
// first and, for each d where turn (its highest bit is d = 0) has a 1, the bits that are set in all
// of words 0, ..., d. Examples have so many x each, one after the other; of the last one of each
// only the bits in last are drawn, and the others become 0. Cost: words until no bit is set in all.
func DrawBits(x []uint64, words int, last, fin, step, first, turn uint64) {
	if words < 1 {
		panic(panicWidth)
	}
	if race {
		raceWrite(x)
	}
	drawBits(data(x), len(x), words, last, fin, step, first, turn)
}

// MixCounters numbers examples of so many words, one after the other in x, and sends the numbers
// through a bijection of 64 bits with full avalanche: x[i] becomes that of z = first +
// i/words*example + i%words*word modulo 2^64, where i/words is a whole number. It is D. Stafford's
// variant 13 of the MurmurHash3 finaliser: z = (z ^ z>>30) * 0xbf58476d1ce4e5b9, z = (z ^ z>>27) *
// 0x94d049bb133111eb, z ^ z>>31.
func MixCounters(x []uint64, words int, first, example, word uint64) {
	if words < 1 {
		panic(panicWidth)
	}
	if race {
		raceWrite(x)
	}
	mixCounters(data(x), len(x), words, first, example, word)
}

// data is the address of s[0], and good for empty slices, too.
func data[E any](s []E) *E { return unsafe.SliceData(s) }

// CheckIndices panics unless all of idx are below n, as a slice of n elements does.
func CheckIndices(idx []int32, n int) {
	var most uint32 // negative ones are the largest
	for _, j := range idx {
		most = max(most, uint32(j))
	}
	if len(idx) == 0 || uint64(most) < min(uint64(n), 1<<31) {
		return
	}
	s := make([]struct{}, n)
	for _, j := range idx {
		_ = s[j]
	}
}

// checkLen: a slice of have elements must serve for n.
func checkLen(n, have int) {
	if have < n {
		panic(panicShort)
	}
}
