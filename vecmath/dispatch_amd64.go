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

// The dispatch functions only pass their arguments on; nosplit spares them the check of the stack.
//
// Sparse and active-list kernels have no form of their own for AVX-512: its gathers gain nothing over AVX2 and its
// scatters lose.

//go:nosplit
func dot[T Float](a, b *T, n, nb int) T {
	checkLen(n, nb)
	switch active {
	case AVX512:
		if is32[T]() {
			return T(dotAVX512F32(f32(a), f32(b), n))
		}
		return T(dotAVX512F64(f64(a), f64(b), n))
	case AVX2:
		if is32[T]() {
			return T(dotAVX2F32(f32(a), f32(b), n))
		}
		return T(dotAVX2F64(f64(a), f64(b), n))
	}
	return dotGeneric(unsafe.Slice(a, n), unsafe.Slice(b, n))
}

//go:nosplit
func axpy[T Float](y *T, a T, x *T, n, nx int) {
	checkLen(n, nx)
	switch active {
	case AVX512:
		if is32[T]() {
			axpyAVX512F32(f32(y), float32(a), f32(x), n)
		} else {
			axpyAVX512F64(f64(y), float64(a), f64(x), n)
		}
		return
	case AVX2:
		if is32[T]() {
			axpyAVX2F32(f32(y), float32(a), f32(x), n)
		} else {
			axpyAVX2F64(f64(y), float64(a), f64(x), n)
		}
		return
	}
	axpyGeneric(unsafe.Slice(y, n), a, unsafe.Slice(x, n))
}

//go:nosplit
func scal[T Float](x *T, a T, n int) {
	switch active {
	case AVX512:
		if is32[T]() {
			scalAVX512F32(f32(x), float32(a), n)
		} else {
			scalAVX512F64(f64(x), float64(a), n)
		}
		return
	case AVX2:
		if is32[T]() {
			scalAVX2F32(f32(x), float32(a), n)
		} else {
			scalAVX2F64(f64(x), float64(a), n)
		}
		return
	}
	scalGeneric(unsafe.Slice(x, n), a)
}

//go:nosplit
func sumSq[T Float](x *T, n int) T {
	switch active {
	case AVX512:
		if is32[T]() {
			return T(sumSqAVX512F32(f32(x), n))
		}
		return T(sumSqAVX512F64(f64(x), n))
	case AVX2:
		if is32[T]() {
			return T(sumSqAVX2F32(f32(x), n))
		}
		return T(sumSqAVX2F64(f64(x), n))
	}
	return sumSqGeneric(unsafe.Slice(x, n))
}

//go:nosplit
func sqDist[T Float](a, b *T, n, nb int) T {
	checkLen(n, nb)
	switch active {
	case AVX512:
		if is32[T]() {
			return T(sqDistAVX512F32(f32(a), f32(b), n))
		}
		return T(sqDistAVX512F64(f64(a), f64(b), n))
	case AVX2:
		if is32[T]() {
			return T(sqDistAVX2F32(f32(a), f32(b), n))
		}
		return T(sqDistAVX2F64(f64(a), f64(b), n))
	}
	return sqDistGeneric(unsafe.Slice(a, n), unsafe.Slice(b, n))
}

//go:nosplit
func rowsDot[T Float](dst, rows *T, nrows, stride int, x *T, n int) {
	switch active {
	case AVX512:
		if is32[T]() {
			rowsDotAVX512F32(f32(dst), f32(rows), nrows, stride, f32(x), n)
		} else {
			rowsDotAVX512F64(f64(dst), f64(rows), nrows, stride, f64(x), n)
		}
		return
	case AVX2:
		if is32[T]() {
			rowsDotAVX2F32(f32(dst), f32(rows), nrows, stride, f32(x), n)
		} else {
			rowsDotAVX2F64(f64(dst), f64(rows), nrows, stride, f64(x), n)
		}
		return
	}
	rowsDotGeneric(unsafe.Slice(dst, nrows), unsafe.Slice(rows, (nrows-1)*stride+n), stride, unsafe.Slice(x, n))
}

//go:nosplit
func maxIndex(idx *int32, n int) uint32 {
	switch active {
	case AVX512:
		return maxIndexAVX512(idx, n)
	case AVX2:
		return maxIndexAVX2(idx, n)
	}
	return maxIndexGeneric(unsafe.Slice(idx, n))
}

//go:nosplit
func sparseDot[T Float](idx *int32, val *T, n int, w *T, nw int) T {
	switch active {
	case AVX2, AVX512:
		if is32[T]() {
			return T(sparseDotAVX2F32(idx, f32(val), n, f32(w)))
		}
		return T(sparseDotAVX2F64(idx, f64(val), n, f64(w)))
	}
	return sparseDotGeneric(unsafe.Slice(idx, n), unsafe.Slice(val, n), unsafe.Slice(w, nw))
}

//go:nosplit
func sparseAxpy[T Float](w *T, nw int, a T, idx *int32, val *T, n int) {
	switch active {
	case AVX2, AVX512:
		if is32[T]() {
			sparseAxpyAVX2F32(f32(w), float32(a), idx, f32(val), n)
		} else {
			sparseAxpyAVX2F64(f64(w), float64(a), idx, f64(val), n)
		}
		return
	}
	sparseAxpyGeneric(unsafe.Slice(w, nw), a, unsafe.Slice(idx, n), unsafe.Slice(val, n))
}

//go:nosplit
func lanesScore[T Float](dst, w *T, nw, width int, rows *int32, val *T, n int) {
	switch active {
	case AVX512:
		if is32[T]() {
			lanesScoreAVX512F32(f32(dst), f32(w), width, rows, f32(val), n)
		} else {
			lanesScoreAVX512F64(f64(dst), f64(w), width, rows, f64(val), n)
		}
		return
	case AVX2:
		if is32[T]() {
			lanesScoreAVX2F32(f32(dst), f32(w), width, rows, f32(val), n)
		} else {
			lanesScoreAVX2F64(f64(dst), f64(w), width, rows, f64(val), n)
		}
		return
	}
	lanesScoreGeneric(unsafe.Slice(dst, width), unsafe.Slice(w, nw), unsafe.Slice(rows, n), unsafe.Slice(val, n))
}

//go:nosplit
func lanesUpdate[T Float](w *T, nw, width int, rows *int32, val *T, n int, coef *T, mask *uint64) {
	switch active {
	case AVX512:
		if is32[T]() {
			lanesUpdateAVX512F32(f32(w), width, rows, f32(val), n, f32(coef), mask)
		} else {
			lanesUpdateAVX512F64(f64(w), width, rows, f64(val), n, f64(coef), mask)
		}
		return
	case AVX2:
		if is32[T]() {
			lanesUpdateAVX2F32(f32(w), width, rows, f32(val), n, f32(coef), mask)
		} else {
			lanesUpdateAVX2F64(f64(w), width, rows, f64(val), n, f64(coef), mask)
		}
		return
	}
	lanesUpdateGeneric(unsafe.Slice(w, nw), unsafe.Slice(rows, n), unsafe.Slice(val, n), unsafe.Slice(coef, width), unsafe.Slice(mask, MaskWords(width)))
}

//go:nosplit
func lanesLE[T Float](mask *uint64, s *T, width int, y, t T) {
	switch active {
	case AVX512:
		if is32[T]() {
			lanesLEAVX512F32(mask, f32(s), width, float32(y), float32(t))
		} else {
			lanesLEAVX512F64(mask, f64(s), width, float64(y), float64(t))
		}
		return
	case AVX2:
		if is32[T]() {
			lanesLEAVX2F32(mask, f32(s), width, float32(y), float32(t))
		} else {
			lanesLEAVX2F64(mask, f64(s), width, float64(y), float64(t))
		}
		return
	}
	lanesLEGeneric(unsafe.Slice(mask, MaskWords(width)), unsafe.Slice(s, width), y, t)
}

//go:nosplit
func lanesScoreLE[T Float](dst, w *T, nw, width int, rows *int32, val *T, n int, mask *uint64, y, t T) {
	if active == AVX2 {
		if is32[T]() {
			lanesScoreLEAVX2F32(f32(dst), f32(w), width, rows, f32(val), n, mask, float32(y), float32(t))
		} else {
			lanesScoreLEAVX2F64(f64(dst), f64(w), width, rows, f64(val), n, mask, float64(y), float64(t))
		}
		return
	}
	lanesScore(dst, w, nw, width, rows, val, n)
	lanesLE(mask, dst, width, y, t)
}

//go:nosplit
func activeScore[T Float](dst, w *T, nw, width int, rows *int32, val *T, n int, lanes *int32, nl int) {
	switch active {
	case AVX2, AVX512:
		if is32[T]() {
			activeScoreAVX2F32(f32(dst), f32(w), width, rows, f32(val), n, lanes, nl)
		} else {
			activeScoreAVX2F64(f64(dst), f64(w), width, rows, f64(val), n, lanes, nl)
		}
		return
	}
	activeScoreGeneric(unsafe.Slice(dst, nl), unsafe.Slice(w, nw), width, unsafe.Slice(rows, n), unsafe.Slice(val, n), unsafe.Slice(lanes, nl))
}

//go:nosplit
func activeUpdate[T Float](w *T, nw, width int, rows *int32, val *T, n int, lanes *int32, coef *T, nl int) {
	switch active {
	case AVX2, AVX512:
		if is32[T]() {
			activeUpdateAVX2F32(f32(w), width, rows, f32(val), n, lanes, f32(coef), nl)
		} else {
			activeUpdateAVX2F64(f64(w), width, rows, f64(val), n, lanes, f64(coef), nl)
		}
		return
	}
	activeUpdateGeneric(unsafe.Slice(w, nw), width, unsafe.Slice(rows, n), unsafe.Slice(val, n), unsafe.Slice(lanes, nl), unsafe.Slice(coef, nl))
}

//go:nosplit
func dotMixed(a *float64, x *float32, n int) float64 {
	switch active {
	case AVX512:
		return dotMixedAVX512(a, x, n)
	case AVX2:
		return dotMixedAVX2(a, x, n)
	}
	return dotMixedGeneric(unsafe.Slice(a, n), unsafe.Slice(x, n))
}

//go:nosplit
func axpyMixed(y *float64, a float64, x *float32, n int) {
	switch active {
	case AVX512:
		axpyMixedAVX512(y, a, x, n)
		return
	case AVX2:
		axpyMixedAVX2(y, a, x, n)
		return
	}
	axpyMixedGeneric(unsafe.Slice(y, n), a, unsafe.Slice(x, n))
}

//go:nosplit
func sparseDotMixed(idx *int32, val *float32, n int, w *float64, nw int) float64 {
	switch active {
	case AVX2, AVX512:
		return sparseDotMixedAVX2(idx, val, n, w)
	}
	return sparseDotMixedGeneric(unsafe.Slice(idx, n), unsafe.Slice(val, n), unsafe.Slice(w, nw))
}

//go:nosplit
func sparseAxpyMixed(w *float64, nw int, a float64, idx *int32, val *float32, n int) {
	switch active {
	case AVX2, AVX512:
		sparseAxpyMixedAVX2(w, a, idx, val, n)
		return
	}
	sparseAxpyMixedGeneric(unsafe.Slice(w, nw), a, unsafe.Slice(idx, n), unsafe.Slice(val, n))
}

//go:nosplit
func sparseDotAxpyMixed(w *float64, nw int, a float64, idx *int32, val *float32, n int) float64 {
	switch active {
	case AVX2, AVX512:
		return sparseDotAxpyMixedAVX2(w, a, idx, val, n)
	}
	f := sparseDotMixed(idx, val, n, w, nw)
	sparseAxpyMixed(w, nw, a, idx, val, n)
	return f
}

func drawBits(x *uint64, n int, fin, step, first, turn uint64) {
	s := unsafe.Slice(x, n)
	switch active {
	case AVX2, AVX512:
		n &^= 3
		drawBitsAVX2(x, n, fin, step, first, turn)
		s = s[n:]
	}
	drawBitsGeneric(s, fin, step, first, turn)
}
