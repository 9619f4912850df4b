package vecmath

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// missing names what im needs and this machine lacks.
func missing(im Impl) []string {
	switch im {
	case AVX2, AVX512:
		return []string{"an amd64 CPU"}
	case NEON:
		if !cpuid.CPU.Has(cpuid.ASIMD) {
			return []string{cpuid.ASIMD.String()}
		}
	}
	return nil
}

func dot[T Float](im Impl, a, b []T) T {
	if im == NEON {
		if is32[T]() {
			return T(dotNEONF32(p32(a), p32(b), len(a)))
		}
		return T(dotNEONF64(p64(a), p64(b), len(a)))
	}
	return dotGeneric(a, b)
}

func axpy[T Float](im Impl, y []T, a T, x []T) {
	if im == NEON {
		if is32[T]() {
			axpyNEONF32(p32(y), float32(a), p32(x), len(y))
		} else {
			axpyNEONF64(p64(y), float64(a), p64(x), len(y))
		}
		return
	}
	axpyGeneric(y, a, x)
}

func scal[T Float](im Impl, x []T, a T) {
	if im == NEON {
		if is32[T]() {
			scalNEONF32(p32(x), float32(a), len(x))
		} else {
			scalNEONF64(p64(x), float64(a), len(x))
		}
		return
	}
	scalGeneric(x, a)
}

func sumSq[T Float](im Impl, x []T) T {
	if im == NEON {
		if is32[T]() {
			return T(sumSqNEONF32(p32(x), len(x)))
		}
		return T(sumSqNEONF64(p64(x), len(x)))
	}
	return sumSqGeneric(x)
}

func sqDist[T Float](im Impl, a, b []T) T {
	if im == NEON {
		if is32[T]() {
			return T(sqDistNEONF32(p32(a), p32(b), len(a)))
		}
		return T(sqDistNEONF64(p64(a), p64(b), len(a)))
	}
	return sqDistGeneric(a, b)
}

func rowsDot[T Float](im Impl, dst, rows []T, stride int, x []T) {
	if im == NEON {
		if is32[T]() {
			rowsDotNEONF32(p32(dst), p32(rows), len(dst), stride, p32(x), len(x))
		} else {
			rowsDotNEONF64(p64(dst), p64(rows), len(dst), stride, p64(x), len(x))
		}
		return
	}
	rowsDotGeneric(dst, rows, stride, x)
}

func sparseDot[T Float](im Impl, idx []int32, val []T, w []T) T {
	if im == NEON {
		if is32[T]() {
			return T(sparseDotNEONF32(unsafe.SliceData(idx), p32(val), len(idx), p32(w)))
		}
		return T(sparseDotNEONF64(unsafe.SliceData(idx), p64(val), len(idx), p64(w)))
	}
	return sparseDotGeneric(idx, val, w)
}

func sparseAxpy[T Float](im Impl, w []T, a T, idx []int32, val []T) {
	if im == NEON {
		if is32[T]() {
			sparseAxpyNEONF32(p32(w), float32(a), unsafe.SliceData(idx), p32(val), len(idx))
		} else {
			sparseAxpyNEONF64(p64(w), float64(a), unsafe.SliceData(idx), p64(val), len(idx))
		}
		return
	}
	sparseAxpyGeneric(w, a, idx, val)
}

func lanesScore[T Float](im Impl, dst, w []T, rows []int32, val []T) {
	if im == NEON {
		if is32[T]() {
			lanesScoreNEONF32(p32(dst), p32(w), len(dst), unsafe.SliceData(rows), p32(val), len(rows))
		} else {
			lanesScoreNEONF64(p64(dst), p64(w), len(dst), unsafe.SliceData(rows), p64(val), len(rows))
		}
		return
	}
	lanesScoreGeneric(dst, w, rows, val)
}

func lanesUpdate[T Float](im Impl, w []T, rows []int32, val, coef []T, mask []uint64) {
	if im == NEON {
		if is32[T]() {
			lanesUpdateNEONF32(p32(w), len(coef), unsafe.SliceData(rows), p32(val), len(rows), p32(coef), unsafe.SliceData(mask))
		} else {
			lanesUpdateNEONF64(p64(w), len(coef), unsafe.SliceData(rows), p64(val), len(rows), p64(coef), unsafe.SliceData(mask))
		}
		return
	}
	lanesUpdateGeneric(w, rows, val, coef, mask)
}

func lanesLE[T Float](im Impl, mask []uint64, s []T, y, t T) {
	if im == NEON {
		if is32[T]() {
			lanesLENEONF32(unsafe.SliceData(mask), p32(s), len(s), float32(y), float32(t))
		} else {
			lanesLENEONF64(unsafe.SliceData(mask), p64(s), len(s), float64(y), float64(t))
		}
		return
	}
	lanesLEGeneric(mask, s, y, t)
}

func activeScore[T Float](im Impl, dst, w []T, width int, rows []int32, val []T, lanes []int32) {
	if im == NEON {
		if is32[T]() {
			activeScoreNEONF32(p32(dst), p32(w), width, unsafe.SliceData(rows), p32(val), len(rows), unsafe.SliceData(lanes), len(lanes))
		} else {
			activeScoreNEONF64(p64(dst), p64(w), width, unsafe.SliceData(rows), p64(val), len(rows), unsafe.SliceData(lanes), len(lanes))
		}
		return
	}
	activeScoreGeneric(dst, w, width, rows, val, lanes)
}

func activeUpdate[T Float](im Impl, w []T, width int, rows []int32, val []T, lanes []int32, coef []T) {
	if im == NEON {
		if is32[T]() {
			activeUpdateNEONF32(p32(w), width, unsafe.SliceData(rows), p32(val), len(rows), unsafe.SliceData(lanes), p32(coef), len(lanes))
		} else {
			activeUpdateNEONF64(p64(w), width, unsafe.SliceData(rows), p64(val), len(rows), unsafe.SliceData(lanes), p64(coef), len(lanes))
		}
		return
	}
	activeUpdateGeneric(w, width, rows, val, lanes, coef)
}

func dotMixed(im Impl, a []float64, x []float32) float64 {
	if im == NEON {
		return dotMixedNEON(unsafe.SliceData(a), unsafe.SliceData(x), len(x))
	}
	return dotMixedGeneric(a, x)
}

func axpyMixed(im Impl, y []float64, a float64, x []float32) {
	if im == NEON {
		axpyMixedNEON(unsafe.SliceData(y), a, unsafe.SliceData(x), len(y))
		return
	}
	axpyMixedGeneric(y, a, x)
}

func sparseDotMixed(im Impl, idx []int32, val []float32, w []float64) float64 {
	if im == NEON {
		return sparseDotMixedNEON(unsafe.SliceData(idx), unsafe.SliceData(val), len(idx), unsafe.SliceData(w))
	}
	return sparseDotMixedGeneric(idx, val, w)
}

func sparseAxpyMixed(im Impl, w []float64, a float64, idx []int32, val []float32) {
	if im == NEON {
		sparseAxpyMixedNEON(unsafe.SliceData(w), a, unsafe.SliceData(idx), unsafe.SliceData(val), len(idx))
		return
	}
	sparseAxpyMixedGeneric(w, a, idx, val)
}
