package vecmath

import "unsafe"

// SparseOnesRun goes through a run of sparse examples x whose values are all 1: example after
// example, f[e] becomes the product of x and w, summed as [SparseDot] does, and then w gets a[e]
// times x, 0 <= e < len(f). Where a[e] is 0 nothing is added. Example e has the indices ptr[e] to
// ptr[e+1]-1 of idx, counted from ptr[0].
func SparseOnesRun(f, w, a []float64, ptr []int, idx []int32) {
	n := len(f)
	if n == 0 {
		return
	}
	if len(a) < n {
		panic(panicShort)
	}
	nnz := checkExamples(n, 1, len(w), ptr, idx)
	if race {
		raceRead(ptr[:n+1])
		raceRead(a[:n])
		raceRows(w, 1, idx[:nnz])
		raceWriteRows(w, 1, idx[:nnz])
		raceWrite(f)
	}
	sparseOnesRun(data(f), data(w), len(w), data(a), data(ptr), n, data(idx))
}

// sparseOnesRunPlain is the reference of SparseOnesRun.
func sparseOnesRunPlain(f, w *float64, nw int, a *float64, ptr *int, n int, idx *int32) {
	ends, weights, steps := unsafe.Slice(ptr, n+1), unsafe.Slice(w, nw), unsafe.Slice(a, n)
	all := unsafe.Slice(idx, ends[n]-ends[0])
	for e := range unsafe.Slice(f, n) {
		of := all[ends[e]-ends[0] : ends[e+1]-ends[0]]
		var p [8]float64
		for k, j := range of {
			p[k%8] += weights[j]
		}
		for h := 4; h > 0; h /= 2 {
			for i := range h {
				p[i] += p[i+h]
			}
		}
		unsafe.Slice(f, n)[e] = p[0]
		if step := steps[e]; step != 0 {
			for _, j := range of {
				weights[j] += step
			}
		}
	}
}

// SparseOnesAddRun goes through a run of sparse examples x whose values are all 1: example after
// example, w gets a[e] times x, 0 <= e < len(a). Where a[e] is 0 nothing is added. Example e has
// the indices ptr[e] to ptr[e+1]-1 of idx, counted from ptr[0].
func SparseOnesAddRun(w, a []float64, ptr []int, idx []int32) {
	n := len(a)
	if n == 0 {
		return
	}
	nnz := checkExamples(n, 1, len(w), ptr, idx)
	if race {
		raceRead(ptr[:n+1])
		raceRead(a)
		raceRows(w, 1, idx[:nnz])
		raceWriteRows(w, 1, idx[:nnz])
	}
	sparseOnesAddRun(data(w), len(w), data(a), data(ptr), n, data(idx))
}

// sparseOnesAddRunPlain is the reference of SparseOnesAddRun.
func sparseOnesAddRunPlain(w *float64, nw int, a *float64, ptr *int, n int, idx *int32) {
	ends, weights := unsafe.Slice(ptr, n+1), unsafe.Slice(w, nw)
	all := unsafe.Slice(idx, ends[n]-ends[0])
	for e, step := range unsafe.Slice(a, n) {
		if step == 0 {
			continue
		}
		for _, j := range all[ends[e]-ends[0] : ends[e+1]-ends[0]] {
			weights[j] += step
		}
	}
}
