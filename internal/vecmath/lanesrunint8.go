package vecmath

import (
	"math"
	"unsafe"
)

// Lanes in int8, for [LanesRunInt8].
const (
	Int8Unit  = 64 // what the width is a multiple of: 64 bytes, as [LaneUnit]
	Int8Limit = 63 // the largest limit: two weights are added within a byte
	Int8Small = 31 // up to which limit a run is faster: four are
)

// RunsInt8 reports whether [LanesRunInt8] is faster than [LanesRunInt16]: whether
// the implementation in use has a form of its own.
func RunsInt8() bool { return Active() == AVX512 }

// Int8NonZeros is how many non-zeros an example may have for [LanesRunInt8] with that
// limit, which is not negative.
func Int8NonZeros(limit int) int { return math.MaxInt16 / (4 * (limit + 1)) }

func runInt8Width(width, lanes int) bool {
	return width >= 0 && width%Int8Unit == 0 && width <= MaxRunWidth && lanes >= 0 &&
		lanes <= width
}

// LanesRunInt8 is [LanesRunInt16] for weights in int8, of which a vector holds
// twice as many. The limit is [Int8Limit] at most, and no example may have more than 32767/(4
// (limit+1)) non-zeros, 127 or, with [Int8Small], 255. The width is a multiple of [Int8Unit] and
// [MaxRunWidth] at most. Weights of lanes that are not in use are 0.
func LanesRunInt8[T Float](counts, sums []int32, w []int8, width int,
	ptr []int, rows []int32, y []T, seen []uint64, stride int, margin int16,
	limit, peak int) (done, newPeak int) {
	n, words := len(counts), MaskWords(width)
	if !runInt8Width(width, 0) {
		panic(panicWidth)
	}
	if len(sums) < n {
		panic(panicShort)
	}
	if width == 0 || n == 0 {
		clear(counts)
		clear(sums[:n])
		return n, peak
	}
	nnz := checkRunEnds(n, words, ptr, rows, len(y), seen, stride)
	if peak < 0 || peak > limit || limit > Int8Limit {
		panic(panicLimit)
	}
	if race {
		raceRead(ptr[:n+1])
		raceRead(rows[:nnz])
		raceRead(y[:n])
		for e := range n {
			raceRead(seen[e*stride:][:words])
		}
		raceWrite(w)
		raceWrite(counts)
		raceWrite(sums[:n])
	}
	return lanesRunInt8(data(counts), data(sums), data(w), len(w), width, data(ptr), n, data(rows),
		(*byte)(unsafe.Pointer(data(y))), int(unsafe.Sizeof(y[0])), data(seen), stride,
		int(margin), limit, peak)
}

// lanesRunInt8Plain is the reference of LanesRunInt8.
func lanesRunInt8Plain(counts, sums *int32, w *int8, nw, width int, ptr *int, n int, rows *int32,
	y *byte, ysize int, seen *uint64, stride, margin, limit, peak int) (done, newPeak int) {
	return lanesRunWhole(counts, sums, unsafe.Slice(w, nw), width, ptr, n, rows, unsafe.Pointer(y),
		ysize, seen, stride, margin, limit, peak)
}

// AddRowSumsInt8 is [AddRowSums] of weights in int8. The width is a multiple of [Int8Unit].
func AddRowSumsInt8(dst []float64, w []int8, width int) {
	if !runInt8Width(width, 0) {
		panic(panicWidth)
	}
	if len(w) < len(dst)*width {
		panic(panicShort)
	}
	if width == 0 || len(dst) == 0 {
		return
	}
	if race {
		raceRead(w[:len(dst)*width])
		raceWrite(dst)
	}
	addRowSumsInt8(data(dst), data(w), width, len(dst))
}

// addRowSumsInt8Plain is the reference of AddRowSumsInt8.
func addRowSumsInt8Plain(dst *float64, w *int8, width, n int) {
	addRowSumsWhole(unsafe.Slice(dst, n), unsafe.Slice(w, n*width), width)
}
