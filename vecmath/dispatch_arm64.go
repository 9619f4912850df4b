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

// The dispatch functions only pass their arguments on; nosplit spares them the check of the stack.

//go:nosplit
func dot[T Float](a, b *T, n, nb int) T {
	checkLen(n, nb)
	switch active {
	case NEON:
		if is32[T]() {
			return T(dotNEONF32(f32(a), f32(b), n))
		}
		return T(dotNEONF64(f64(a), f64(b), n))
	}
	return dotGeneric(unsafe.Slice(a, n), unsafe.Slice(b, n))
}

//go:nosplit
func axpy[T Float](y *T, a T, x *T, n, nx int) {
	checkLen(n, nx)
	switch active {
	case NEON:
		if is32[T]() {
			axpyNEONF32(f32(y), float32(a), f32(x), n)
		} else {
			axpyNEONF64(f64(y), float64(a), f64(x), n)
		}
		return
	}
	axpyGeneric(unsafe.Slice(y, n), a, unsafe.Slice(x, n))
}

//go:nosplit
func scal[T Float](x *T, a T, n int) {
	switch active {
	case NEON:
		if is32[T]() {
			scalNEONF32(f32(x), float32(a), n)
		} else {
			scalNEONF64(f64(x), float64(a), n)
		}
		return
	}
	scalGeneric(unsafe.Slice(x, n), a)
}

//go:nosplit
func sumSq[T Float](x *T, n int) T {
	switch active {
	case NEON:
		if is32[T]() {
			return T(sumSqNEONF32(f32(x), n))
		}
		return T(sumSqNEONF64(f64(x), n))
	}
	return sumSqGeneric(unsafe.Slice(x, n))
}

//go:nosplit
func sqDist[T Float](a, b *T, n, nb int) T {
	checkLen(n, nb)
	switch active {
	case NEON:
		if is32[T]() {
			return T(sqDistNEONF32(f32(a), f32(b), n))
		}
		return T(sqDistNEONF64(f64(a), f64(b), n))
	}
	return sqDistGeneric(unsafe.Slice(a, n), unsafe.Slice(b, n))
}

//go:nosplit
func rowsDot[T Float](dst, rows *T, nrows, stride int, x *T, n int) {
	switch active {
	case NEON:
		if is32[T]() {
			rowsDotNEONF32(f32(dst), f32(rows), nrows, stride, f32(x), n)
		} else {
			rowsDotNEONF64(f64(dst), f64(rows), nrows, stride, f64(x), n)
		}
		return
	}
	rowsDotGeneric(unsafe.Slice(dst, nrows), unsafe.Slice(rows, (nrows-1)*stride+n), stride, unsafe.Slice(x, n))
}

//go:nosplit
func maxIndex(idx *int32, n int) uint32 {
	switch active {
	case NEON:
		return maxIndexNEON(idx, n)
	}
	return maxIndexGeneric(unsafe.Slice(idx, n))
}

//go:nosplit
func sparseDot[T Float](idx *int32, val *T, n int, w *T, nw int) T {
	switch active {
	case NEON:
		if is32[T]() {
			return T(sparseDotNEONF32(idx, f32(val), n, f32(w)))
		}
		return T(sparseDotNEONF64(idx, f64(val), n, f64(w)))
	}
	return sparseDotGeneric(unsafe.Slice(idx, n), unsafe.Slice(val, n), unsafe.Slice(w, nw))
}

//go:nosplit
func sparseAxpy[T Float](w *T, nw int, a T, idx *int32, val *T, n int) {
	switch active {
	case NEON:
		if is32[T]() {
			sparseAxpyNEONF32(f32(w), float32(a), idx, f32(val), n)
		} else {
			sparseAxpyNEONF64(f64(w), float64(a), idx, f64(val), n)
		}
		return
	}
	sparseAxpyGeneric(unsafe.Slice(w, nw), a, unsafe.Slice(idx, n), unsafe.Slice(val, n))
}

//go:nosplit
func lanesScore[T Float](dst, w *T, nw, width int, rows *int32, val *T, n int) {
	switch active {
	case NEON:
		if is32[T]() {
			lanesScoreNEONF32(f32(dst), f32(w), width, rows, f32(val), n)
		} else {
			lanesScoreNEONF64(f64(dst), f64(w), width, rows, f64(val), n)
		}
		return
	}
	lanesScoreGeneric(unsafe.Slice(dst, width), unsafe.Slice(w, nw), unsafe.Slice(rows, n), unsafe.Slice(val, n))
}

//go:nosplit
func lanesUpdate[T Float](w *T, nw, width int, rows *int32, val *T, n int, coef *T, mask *uint64) {
	switch active {
	case NEON:
		if is32[T]() {
			lanesUpdateNEONF32(f32(w), width, rows, f32(val), n, f32(coef), mask)
		} else {
			lanesUpdateNEONF64(f64(w), width, rows, f64(val), n, f64(coef), mask)
		}
		return
	}
	lanesUpdateGeneric(unsafe.Slice(w, nw), unsafe.Slice(rows, n), unsafe.Slice(val, n), unsafe.Slice(coef, width), unsafe.Slice(mask, MaskWords(width)))
}

//go:nosplit
func lanesLE[T Float](mask *uint64, s *T, width int, y, t T) {
	switch active {
	case NEON:
		if is32[T]() {
			lanesLENEONF32(mask, f32(s), width, float32(y), float32(t))
		} else {
			lanesLENEONF64(mask, f64(s), width, float64(y), float64(t))
		}
		return
	}
	lanesLEGeneric(unsafe.Slice(mask, MaskWords(width)), unsafe.Slice(s, width), y, t)
}

//go:nosplit
func lanesScoreLE[T Float](dst, w *T, nw, width int, rows *int32, val *T, n int, mask *uint64, y, t T) {
	lanesScore(dst, w, nw, width, rows, val, n)
	lanesLE(mask, dst, width, y, t)
}

//go:nosplit
func activeScore[T Float](dst, w *T, nw, width int, rows *int32, val *T, n int, lanes *int32, nl int) {
	switch active {
	case NEON:
		if is32[T]() {
			activeScoreNEONF32(f32(dst), f32(w), width, rows, f32(val), n, lanes, nl)
		} else {
			activeScoreNEONF64(f64(dst), f64(w), width, rows, f64(val), n, lanes, nl)
		}
		return
	}
	activeScoreGeneric(unsafe.Slice(dst, nl), unsafe.Slice(w, nw), width, unsafe.Slice(rows, n), unsafe.Slice(val, n), unsafe.Slice(lanes, nl))
}

//go:nosplit
func activeUpdate[T Float](w *T, nw, width int, rows *int32, val *T, n int, lanes *int32, coef *T, nl int) {
	switch active {
	case NEON:
		if is32[T]() {
			activeUpdateNEONF32(f32(w), width, rows, f32(val), n, lanes, f32(coef), nl)
		} else {
			activeUpdateNEONF64(f64(w), width, rows, f64(val), n, lanes, f64(coef), nl)
		}
		return
	}
	activeUpdateGeneric(unsafe.Slice(w, nw), width, unsafe.Slice(rows, n), unsafe.Slice(val, n), unsafe.Slice(lanes, nl), unsafe.Slice(coef, nl))
}

//go:nosplit
func dotMixed(a *float64, x *float32, n int) float64 {
	switch active {
	case NEON:
		return dotMixedNEON(a, x, n)
	}
	return dotMixedGeneric(unsafe.Slice(a, n), unsafe.Slice(x, n))
}

//go:nosplit
func axpyMixed(y *float64, a float64, x *float32, n int) {
	switch active {
	case NEON:
		axpyMixedNEON(y, a, x, n)
		return
	}
	axpyMixedGeneric(unsafe.Slice(y, n), a, unsafe.Slice(x, n))
}

//go:nosplit
func sparseDotMixed(idx *int32, val *float32, n int, w *float64, nw int) float64 {
	switch active {
	case NEON:
		return sparseDotMixedNEON(idx, val, n, w)
	}
	return sparseDotMixedGeneric(unsafe.Slice(idx, n), unsafe.Slice(val, n), unsafe.Slice(w, nw))
}

//go:nosplit
func sparseAxpyMixed(w *float64, nw int, a float64, idx *int32, val *float32, n int) {
	switch active {
	case NEON:
		sparseAxpyMixedNEON(w, a, idx, val, n)
		return
	}
	sparseAxpyMixedGeneric(unsafe.Slice(w, nw), a, unsafe.Slice(idx, n), unsafe.Slice(val, n))
}

func sparseDotAxpyMixed(w *float64, nw int, a float64, idx *int32, val *float32, n int) float64 {
	f := sparseDotMixed(idx, val, n, w, nw)
	sparseAxpyMixed(w, nw, a, idx, val, n)
	return f
}

func drawBits(x *uint64, n int, fin, step, first, turn uint64) {
	drawBitsGeneric(unsafe.Slice(x, n), fin, step, first, turn)
}
