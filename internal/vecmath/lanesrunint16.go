package vecmath

import (
	"math"
	"math/bits"
	"unsafe"
)

// Int16Unit is what the width of lanes in int16 is a multiple of: 64 bytes, as [LaneUnit].
const Int16Unit = 32

func runInt16Width(width, lanes int) bool {
	return width >= 0 && width%Int16Unit == 0 && width <= MaxRunWidth && lanes >= 0 &&
		lanes <= width
}

// LanesRunInt16 is [LanesRun] for examples whose values are all 1, a step of 1
// and weights that are whole numbers: with those in int16 a vector holds two or four times as many
// lanes. It gives the counts that LanesRun gives for the same weights in floats, and its weights
// are those of LanesRun, as long as no sum leaves int16.
//
// So no weight may be beyond peak in magnitude, nor peak beyond limit, and no example may have more
// than 32767/(limit+1) non-zeros. After the first example that takes a weight beyond the limit the
// run ends: done is the number of examples gone through, and the other counts and sums are left as
// they were. The new peak is peak or the largest magnitude of a weight that changed.
//
// sums[e] becomes the sum of the scores of all lanes for example e, those that don't see it, too,
// as they are before the example updates any: its product with the sum of the lanes' weights.
//
// The width is a multiple of [Int16Unit] and [MaxRunWidth] at most, of which the first lanes are in
// use: the weights of the others are 0, and no bit of seen is set for them. ptr, rows, y, seen and
// stride are as for LanesRun.
func LanesRunInt16[T Float](counts, sums []int32, w []int16,
	width, lanes int, ptr []int, rows []int32, y []T, seen []uint64, stride int, margin int16,
	limit, peak int) (done, newPeak int) {
	n, words := len(counts), MaskWords(width)
	if !runInt16Width(width, lanes) {
		panic(panicWidth)
	}
	if len(sums) < n {
		panic(panicShort)
	}
	if lanes == 0 || n == 0 {
		clear(counts)
		clear(sums[:n])
		return n, peak
	}
	nnz := checkRunEnds(n, words, ptr, rows, len(y), seen, stride)
	if peak < 0 || peak > limit || limit >= math.MaxInt16 {
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
	return lanesRunInt16(data(counts), data(sums), data(w), len(w), width, data(ptr), n, data(rows),
		data(y), data(seen), stride, int(margin), limit, peak, lanes)
}

// lanesRunInt16Plain is the reference of LanesRunInt16.
func lanesRunInt16Plain[T Float](counts, sums *int32, w *int16, nw, width int, ptr *int, n int,
	rows *int32, y *T, seen *uint64, stride, margin, limit, peak, _ int) (done, newPeak int) {
	return lanesRunWhole(counts, sums, unsafe.Slice(w, nw), width, ptr, n, rows, unsafe.Pointer(y),
		int(unsafe.Sizeof(*y)), seen, stride, margin, limit, peak)
}

// lanesRunWhole is the reference of LanesRunInt8 and LanesRunInt16, of labels of ysize bytes.
func lanesRunWhole[E int8 | int16](counts, sums *int32, weights []E, width int, ptr *int, n int,
	rows *int32, y unsafe.Pointer, ysize int, seen *uint64, stride, margin, limit, peak int) (
	done, newPeak int) {
	var (
		scores  [MaxRunWidth]int16
		ends    = unsafe.Slice(ptr, n+1)
		words   = MaskWords(width)
		all     = unsafe.Slice(seen, (n-1)*stride+words)
		allRows = unsafe.Slice(rows, ends[n]-ends[0])
		tally   = unsafe.Slice(counts, n)
	)
	for e := range tally {
		of, step := allRows[ends[e]-ends[0]:ends[e+1]-ends[0]], int16(1)
		label := unsafe.Add(y, e*ysize)
		if ysize == 4 && *(*float32)(label) < 0 || ysize == 8 && *(*float64)(label) < 0 {
			step = -1
		}
		s := scores[:width]
		clear(s)
		for _, r := range of {
			row := weights[int(r)*width:][:width]
			for l, v := range row {
				s[l] += int16(v)
			}
		}
		var sum int32
		for _, v := range s {
			sum += int32(v)
		}
		unsafe.Slice(sums, n)[e] = sum
		tally[e] = 0
		for i, m := range all[e*stride:][:words] {
			for ; m != 0; m &= m - 1 {
				l := 64*i + bits.TrailingZeros64(m)
				if int(step*s[l]) > margin { // line 3 of Algorithm 1 is y s <= margin
					continue
				}
				tally[e]++
				for _, r := range of {
					v := &weights[int(r)*width+l]
					*v += E(step)
					peak = max(peak, int(*v), -int(*v))
				}
			}
		}
		if peak > limit {
			return e + 1, peak
		}
	}
	return n, peak
}
