package vecmath

import (
	"math/bits"
	"unsafe"
)

// MaxRunWidth is the most lanes that [LanesRun] takes: what AVX-512 holds in registers in
// float64.
const MaxRunWidth = 128

// LanesRun lets width member lanes go through a run of sparse examples by a rule of fixed
// margin and step: example after example, the lanes that see it and whose score s, as of
// [LanesScore], has y*s <= margin add step*y times the example, as [LanesUpdate]
// does. counts[e] becomes their number for example e, 0 <= e < len(counts).
//
// The width is a multiple of [LaneUnit] and 128 at most; w, whole rows of it, belongs to the call.
// Example e has the label y[e], +1 or -1, and the non-zeros ptr[e]-ptr[0] to ptr[e+1]-ptr[0]-1 of
// rows and val. Bit l%64 of seen[e*stride+l/64] says that lane l sees it; no bit beyond the width
// is set in those [MaskWords] words.
func LanesRun[T Float](counts []int32, w []T, width int, ptr []int,
	rows []int32, val, y []T, seen []uint64, stride int, margin, step T) {
	if checkLanesRun(counts, w, width, ptr, rows, val, y, seen, stride) < 0 {
		return
	}
	n := len(counts)
	lanesRun(data(counts), data(w), len(w), width, data(ptr), n, data(rows), data(val), data(y),
		data(seen), stride, margin, step)
}

// checkLanesRun checks the lengths of the operands of LanesRun and returns the number of non-zeros,
// or -1 where nothing is to be done, of which the counts are set.
func checkLanesRun[T Float](counts []int32, w []T, width int, ptr []int, rows []int32, val, y []T,
	seen []uint64, stride int) int {
	n, words := len(counts), MaskWords(width)
	if width < 0 || width%LaneUnit[T]() != 0 || width > MaxRunWidth {
		panic(panicWidth)
	}
	if width == 0 || n == 0 {
		clear(counts)
		return -1
	}
	nnz := checkRunEnds(n, words, ptr, rows, len(y), seen, stride)
	if len(val) < nnz {
		panic(panicShort)
	}
	if race {
		raceRead(ptr[:n+1])
		raceRead(rows[:nnz])
		raceRead(val[:nnz])
		raceRead(y[:n])
		for e := range n {
			raceRead(seen[e*stride:][:words])
		}
		raceWrite(w)
		raceWrite(counts)
	}
	return nnz
}

// checkRunEnds checks the lengths of the operands of a run of n examples and returns the number of
// their non-zeros.
func checkRunEnds(n, words int, ptr []int, rows []int32, ny int, seen []uint64, stride int) int {
	if ny < n || stride < 0 || len(seen) < (n-1)*stride+words {
		panic(panicShort)
	}
	return checkEnds(n, ptr, rows)
}

// checkEnds checks that n examples are within their rows and returns the number of these.
func checkEnds(n int, ptr []int, rows []int32) int {
	if len(ptr) <= n {
		panic(panicShort)
	}
	nnz := ptr[n] - ptr[0]
	if nnz < 0 || len(rows) < nnz {
		panic(panicShort)
	}
	return nnz
}

// fewLanes is up to how many lanes that see an example plain Go goes through one by one. For 14
// non-zeros and weights of 64 KiB to 4 MiB that takes a tenth of the time of all lanes.
const fewLanes = 4

// lanesRunFew is an example of lanesRun for the lanes that see it alone. It returns how many add.
func lanesRunFew[T Float](w []T, width int, rows []int32, val []T, sees []uint64, label, margin,
	step T) (updates int32) {
	c := step * label
	for i, todo := range sees {
		for ; todo != 0; todo &= todo - 1 {
			lane := 64*i + bits.TrailingZeros64(todo)
			var s T
			for k, r := range rows {
				s = fma(val[k], w[int(r)*width+lane], s)
			}
			if !(T(label*s) <= margin) {
				continue
			}
			updates++
			for k, r := range rows {
				p := &w[int(r)*width+lane]
				*p = fma(c, val[k], *p)
			}
		}
	}
	return updates
}

// lanesRunByExample is lanesRun made of lanesScore, lanesLE and lanesUpdate.
func lanesRunByExample[T Float](counts *int32, w *T, nw, width int, ptr *int, n int, rows *int32,
	val, y *T, seen *uint64, stride int, margin, step T) {
	var (
		scores       [MaxRunWidth]T
		coefs        [2][MaxRunWidth]T // step*y in all lanes, for both labels
		filled       [2]bool
		mask         [MaxRunWidth / 64]uint64
		words        = MaskWords(width)
		labels, ends = unsafe.Slice(y, n), unsafe.Slice(ptr, n+1)
		all          = unsafe.Slice(seen, (n-1)*stride+words)
		nonZeros     = ends[n] - ends[0]
		allRows      = unsafe.Slice(rows, nonZeros)
		values       = unsafe.Slice(val, nonZeros)
		tally        = unsafe.Slice(counts, n)
	)
	for e := range tally {
		sees, label := all[e*stride:][:words], labels[e]
		c, seeing := int32(0), 0
		for _, m := range sees {
			seeing += bits.OnesCount64(m)
		}
		at, nnz := ends[e]-ends[0], ends[e+1]-ends[e]
		switch {
		case seeing == 0:
		case seeing <= fewLanes:
			c = lanesRunFew(unsafe.Slice(w, nw), width, allRows[at:][:nnz], values[at:][:nnz], sees,
				label, margin, step)
		default:
			r, v := data(allRows[at:][:nnz]), data(values[at:][:nnz])
			lanesScore(&scores[0], w, nw, width, r, v, nnz)
			lanesLE(&mask[0], &scores[0], width, label, margin)
			for i, m := range sees {
				mask[i] &= m
				c += int32(bits.OnesCount64(mask[i]))
			}
			if c != 0 {
				side := 0
				if label > 0 {
					side = 1
				}
				coef := coefs[side][:width]
				if !filled[side] {
					filled[side] = true
					for l := range coef {
						coef[l] = step * label
					}
				}
				lanesUpdate(w, nw, width, r, v, nnz, &coef[0], &mask[0])
			}
		}
		tally[e] = c
	}
}
