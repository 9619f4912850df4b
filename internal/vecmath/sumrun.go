package vecmath

import (
	"unsafe"
)

// SparseDotAxpyRun goes through a run of sparse examples as [SparseDotAxpyMixed]
// does through one: example after example, f[e] becomes its product with w, and then w gets a[e]
// times the example, 0 <= e < len(f). Example e has the non-zeros ptr[e]-ptr[0] to
// ptr[e+1]-ptr[0]-1 of idx and val.
func SparseDotAxpyRun[T Float](f, w, a []float64, ptr []int,
	idx []int32, val []T) {
	n := len(f)
	if n == 0 {
		return
	}
	if len(a) < n {
		panic(panicShort)
	}
	nnz := checkEnds(n, ptr, idx)
	if len(val) < nnz {
		panic(panicShort)
	}
	if race {
		raceRead(ptr[:n+1])
		raceRead(a[:n])
		raceRead(val[:nnz])
		raceRows(w, 1, idx[:nnz])
		raceWriteRows(w, 1, idx[:nnz])
		raceWrite(f)
	}
	if is32[T]() {
		sparseDotAxpyRun(data(f), data(w), len(w), data(a), data(ptr), n, data(idx), f32(data(val)))
		return
	}
	for e := range f {
		lo, k := ptr[e]-ptr[0], ptr[e+1]-ptr[e]
		i, v := data(idx[lo:]), f64(data(val[lo:]))
		f[e] = sparseDot(i, v, k, data(w), len(w))
		sparseAxpy(data(w), len(w), a[e], i, v, k)
	}
}

// sparseDotAxpyRunPlain is SparseDotAxpyRun by a call for each example. One call for the run saves
// 5 to 7 % of the time that OBPM takes for Adult.
func sparseDotAxpyRunPlain(f, w *float64, nw int, a *float64, ptr *int, n int, idx *int32,
	val *float32) {
	ends, steps, products := unsafe.Slice(ptr, n+1), unsafe.Slice(a, n), unsafe.Slice(f, n)
	i, v := unsafe.Slice(idx, ends[n]-ends[0]), unsafe.Slice(val, ends[n]-ends[0])
	for e := range products {
		lo, k := ends[e]-ends[0], ends[e+1]-ends[e]
		products[e] = sparseDotAxpyMixed(w, nw, steps[e], data(i[lo:]), data(v[lo:]), k)
	}
}

// SparseOnesAddRun goes through a run of sparse examples x whose values are all 1: example
// after example, w gets a[e] times x, 0 <= e < len(a). Where a[e] is 0 nothing is added. Example e
// has the indices ptr[e] to ptr[e+1]-1 of idx, counted from ptr[0].
func SparseOnesAddRun(w, a []float64, ptr []int, idx []int32) {
	n := len(a)
	if n == 0 {
		return
	}
	nnz := checkEnds(n, ptr, idx)
	if race {
		raceRead(ptr[:n+1])
		raceRead(a)
		raceRows(w, 1, idx[:nnz])
		raceWriteRows(w, 1, idx[:nnz])
	}
	for e, step := range a {
		if step == 0 {
			continue
		}
		for _, j := range idx[ptr[e]-ptr[0] : ptr[e+1]-ptr[0]] {
			w[j] += step
		}
	}
}

// AddRowSums adds to each dst[r] the sum of row r of w: width whole numbers, a multiple of
// [Int16Unit] and [MaxRunWidth] at most. Sums that float64 represents are exact in any order.
func AddRowSums(dst []float64, w []int16, width int) {
	if width < 0 || width%Int16Unit != 0 || width > MaxRunWidth {
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
	addRowSums(data(dst), data(w), width, len(dst))
}

// addRowSumsPlain is the reference of AddRowSums.
func addRowSumsPlain(dst *float64, w *int16, width, n int) {
	addRowSumsWhole(unsafe.Slice(dst, n), unsafe.Slice(w, n*width), width)
}

// addRowSumsWhole is the reference of AddRowSums and AddRowSumsInt8.
func addRowSumsWhole[E int8 | int16](dst []float64, w []E, width int) {
	for r := range dst {
		var sum int32
		for _, v := range w[r*width:][:width] {
			sum += int32(v)
		}
		dst[r] += float64(sum)
	}
}
