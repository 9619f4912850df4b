package vecmath

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// cpuid reports a vector feature only if the operating system saves its registers, too.
var (
	needAVX2   = []cpuid.FeatureID{cpuid.AVX2, cpuid.FMA3, cpuid.BMI1, cpuid.BMI2}
	needAVX512 = []cpuid.FeatureID{cpuid.AVX512F, cpuid.AVX512VL, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.FMA3, cpuid.BMI1, cpuid.BMI2}
)

// missing names what im needs and this machine lacks.
func missing(im Impl) []string {
	var need []cpuid.FeatureID
	switch im {
	case NEON:
		return []string{"an arm64 CPU"}
	case AVX2:
		need = needAVX2
	case AVX512:
		need = needAVX512
	}
	var lacks []string
	for _, id := range need {
		if !cpuid.CPU.Has(id) {
			lacks = append(lacks, id.String())
		}
	}
	return lacks
}

// Sparse and active-list kernels have no form of their own for AVX-512: its gathers gain nothing over AVX2 and its
// scatters lose.

func dot[T Float](im Impl, a, b []T) T {
	switch im {
	case AVX512:
		if is32[T]() {
			return T(dotAVX2F32(p32(a), p32(b), len(a)))
		}
		return T(dotAVX2F64(p64(a), p64(b), len(a)))
	case AVX2:
		if is32[T]() {
			return T(dotAVX2F32(p32(a), p32(b), len(a)))
		}
		return T(dotAVX2F64(p64(a), p64(b), len(a)))
	}
	return dotGeneric(a, b)
}

func axpy[T Float](im Impl, y []T, a T, x []T) {
	switch im {
	case AVX512:
		if is32[T]() {
			axpyAVX2F32(p32(y), float32(a), p32(x), len(y))
		} else {
			axpyAVX2F64(p64(y), float64(a), p64(x), len(y))
		}
		return
	case AVX2:
		if is32[T]() {
			axpyAVX2F32(p32(y), float32(a), p32(x), len(y))
		} else {
			axpyAVX2F64(p64(y), float64(a), p64(x), len(y))
		}
		return
	}
	axpyGeneric(y, a, x)
}

func scal[T Float](im Impl, x []T, a T) {
	switch im {
	case AVX512:
		if is32[T]() {
			scalAVX2F32(p32(x), float32(a), len(x))
		} else {
			scalAVX2F64(p64(x), float64(a), len(x))
		}
		return
	case AVX2:
		if is32[T]() {
			scalAVX2F32(p32(x), float32(a), len(x))
		} else {
			scalAVX2F64(p64(x), float64(a), len(x))
		}
		return
	}
	scalGeneric(x, a)
}

func sumSq[T Float](im Impl, x []T) T {
	switch im {
	case AVX512:
		if is32[T]() {
			return T(sumSqAVX2F32(p32(x), len(x)))
		}
		return T(sumSqAVX2F64(p64(x), len(x)))
	case AVX2:
		if is32[T]() {
			return T(sumSqAVX2F32(p32(x), len(x)))
		}
		return T(sumSqAVX2F64(p64(x), len(x)))
	}
	return sumSqGeneric(x)
}

func sqDist[T Float](im Impl, a, b []T) T {
	switch im {
	case AVX512:
		if is32[T]() {
			return T(sqDistAVX2F32(p32(a), p32(b), len(a)))
		}
		return T(sqDistAVX2F64(p64(a), p64(b), len(a)))
	case AVX2:
		if is32[T]() {
			return T(sqDistAVX2F32(p32(a), p32(b), len(a)))
		}
		return T(sqDistAVX2F64(p64(a), p64(b), len(a)))
	}
	return sqDistGeneric(a, b)
}

func rowsDot[T Float](im Impl, dst, rows []T, stride int, x []T) {
	switch im {
	case AVX512:
		if is32[T]() {
			rowsDotAVX2F32(p32(dst), p32(rows), len(dst), stride, p32(x), len(x))
		} else {
			rowsDotAVX2F64(p64(dst), p64(rows), len(dst), stride, p64(x), len(x))
		}
		return
	case AVX2:
		if is32[T]() {
			rowsDotAVX2F32(p32(dst), p32(rows), len(dst), stride, p32(x), len(x))
		} else {
			rowsDotAVX2F64(p64(dst), p64(rows), len(dst), stride, p64(x), len(x))
		}
		return
	}
	rowsDotGeneric(dst, rows, stride, x)
}

func sparseDot[T Float](im Impl, idx []int32, val []T, w []T) T {
	if im == AVX2 || im == AVX512 {
		if is32[T]() {
			return T(sparseDotAVX2F32(unsafe.SliceData(idx), p32(val), len(idx), p32(w)))
		}
		return T(sparseDotAVX2F64(unsafe.SliceData(idx), p64(val), len(idx), p64(w)))
	}
	return sparseDotGeneric(idx, val, w)
}

func sparseAxpy[T Float](im Impl, w []T, a T, idx []int32, val []T) {
	if im == AVX2 || im == AVX512 {
		if is32[T]() {
			sparseAxpyAVX2F32(p32(w), float32(a), unsafe.SliceData(idx), p32(val), len(idx))
		} else {
			sparseAxpyAVX2F64(p64(w), float64(a), unsafe.SliceData(idx), p64(val), len(idx))
		}
		return
	}
	sparseAxpyGeneric(w, a, idx, val)
}

func lanesScore[T Float](im Impl, dst, w []T, rows []int32, val []T) {
	switch im {
	case AVX512:
		if is32[T]() {
			lanesScoreAVX2F32(p32(dst), p32(w), len(dst), unsafe.SliceData(rows), p32(val), len(rows))
		} else {
			lanesScoreAVX2F64(p64(dst), p64(w), len(dst), unsafe.SliceData(rows), p64(val), len(rows))
		}
		return
	case AVX2:
		if is32[T]() {
			lanesScoreAVX2F32(p32(dst), p32(w), len(dst), unsafe.SliceData(rows), p32(val), len(rows))
		} else {
			lanesScoreAVX2F64(p64(dst), p64(w), len(dst), unsafe.SliceData(rows), p64(val), len(rows))
		}
		return
	}
	lanesScoreGeneric(dst, w, rows, val)
}

func lanesUpdate[T Float](im Impl, w []T, rows []int32, val, coef []T, mask []uint64) {
	switch im {
	case AVX512:
		if is32[T]() {
			lanesUpdateAVX2F32(p32(w), len(coef), unsafe.SliceData(rows), p32(val), len(rows), p32(coef), unsafe.SliceData(mask))
		} else {
			lanesUpdateAVX2F64(p64(w), len(coef), unsafe.SliceData(rows), p64(val), len(rows), p64(coef), unsafe.SliceData(mask))
		}
		return
	case AVX2:
		if is32[T]() {
			lanesUpdateAVX2F32(p32(w), len(coef), unsafe.SliceData(rows), p32(val), len(rows), p32(coef), unsafe.SliceData(mask))
		} else {
			lanesUpdateAVX2F64(p64(w), len(coef), unsafe.SliceData(rows), p64(val), len(rows), p64(coef), unsafe.SliceData(mask))
		}
		return
	}
	lanesUpdateGeneric(w, rows, val, coef, mask)
}

func lanesLE[T Float](im Impl, mask []uint64, s []T, y, t T) {
	switch im {
	case AVX512:
		if is32[T]() {
			lanesLEAVX2F32(unsafe.SliceData(mask), p32(s), len(s), float32(y), float32(t))
		} else {
			lanesLEAVX2F64(unsafe.SliceData(mask), p64(s), len(s), float64(y), float64(t))
		}
		return
	case AVX2:
		if is32[T]() {
			lanesLEAVX2F32(unsafe.SliceData(mask), p32(s), len(s), float32(y), float32(t))
		} else {
			lanesLEAVX2F64(unsafe.SliceData(mask), p64(s), len(s), float64(y), float64(t))
		}
		return
	}
	lanesLEGeneric(mask, s, y, t)
}

func activeScore[T Float](im Impl, dst, w []T, width int, rows []int32, val []T, lanes []int32) {
	if im == AVX2 || im == AVX512 {
		if is32[T]() {
			activeScoreAVX2F32(p32(dst), p32(w), width, unsafe.SliceData(rows), p32(val), len(rows), unsafe.SliceData(lanes), len(lanes))
		} else {
			activeScoreAVX2F64(p64(dst), p64(w), width, unsafe.SliceData(rows), p64(val), len(rows), unsafe.SliceData(lanes), len(lanes))
		}
		return
	}
	activeScoreGeneric(dst, w, width, rows, val, lanes)
}

func activeUpdate[T Float](im Impl, w []T, width int, rows []int32, val []T, lanes []int32, coef []T) {
	if im == AVX2 || im == AVX512 {
		if is32[T]() {
			activeUpdateAVX2F32(p32(w), width, unsafe.SliceData(rows), p32(val), len(rows), unsafe.SliceData(lanes), p32(coef), len(lanes))
		} else {
			activeUpdateAVX2F64(p64(w), width, unsafe.SliceData(rows), p64(val), len(rows), unsafe.SliceData(lanes), p64(coef), len(lanes))
		}
		return
	}
	activeUpdateGeneric(w, width, rows, val, lanes, coef)
}

func dotMixed(im Impl, a []float64, x []float32) float64 {
	switch im {
	case AVX512:
		return dotMixedAVX2(unsafe.SliceData(a), unsafe.SliceData(x), len(x))
	case AVX2:
		return dotMixedAVX2(unsafe.SliceData(a), unsafe.SliceData(x), len(x))
	}
	return dotMixedGeneric(a, x)
}

func axpyMixed(im Impl, y []float64, a float64, x []float32) {
	switch im {
	case AVX512:
		axpyMixedAVX2(unsafe.SliceData(y), a, unsafe.SliceData(x), len(y))
		return
	case AVX2:
		axpyMixedAVX2(unsafe.SliceData(y), a, unsafe.SliceData(x), len(y))
		return
	}
	axpyMixedGeneric(y, a, x)
}

func sparseDotMixed(im Impl, idx []int32, val []float32, w []float64) float64 {
	if im == AVX2 || im == AVX512 {
		return sparseDotMixedAVX2(unsafe.SliceData(idx), unsafe.SliceData(val), len(idx), unsafe.SliceData(w))
	}
	return sparseDotMixedGeneric(idx, val, w)
}

func sparseAxpyMixed(im Impl, w []float64, a float64, idx []int32, val []float32) {
	if im == AVX2 || im == AVX512 {
		sparseAxpyMixedAVX2(unsafe.SliceData(w), a, unsafe.SliceData(idx), unsafe.SliceData(val), len(idx))
		return
	}
	sparseAxpyMixedGeneric(w, a, idx, val)
}
