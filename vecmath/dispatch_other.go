//go:build !amd64 && !arm64

package vecmath

import "unsafe"

// missing names what im needs and this machine lacks.
func missing(im Impl) []string {
	switch im {
	case AVX2, AVX512:
		return []string{"an amd64 CPU"}
	case NEON:
		return []string{"an arm64 CPU"}
	}
	return nil
}

func dot[T Float](a, b *T, n, nb int) T {
	checkLen(n, nb)
	return dotGeneric(unsafe.Slice(a, n), unsafe.Slice(b, n))
}

func axpy[T Float](y *T, a T, x *T, n, nx int) {
	checkLen(n, nx)
	axpyGeneric(unsafe.Slice(y, n), a, unsafe.Slice(x, n))
}

func scal[T Float](x *T, a T, n int) {
	scalGeneric(unsafe.Slice(x, n), a)
}

func sumSq[T Float](x *T, n int) T {
	return sumSqGeneric(unsafe.Slice(x, n))
}

func sqDist[T Float](a, b *T, n, nb int) T {
	checkLen(n, nb)
	return sqDistGeneric(unsafe.Slice(a, n), unsafe.Slice(b, n))
}

func rowsDot[T Float](dst, rows *T, nrows, stride int, x *T, n int) {
	rowsDotGeneric(unsafe.Slice(dst, nrows), unsafe.Slice(rows, (nrows-1)*stride+n), stride, unsafe.Slice(x, n))
}

func maxIndex(idx *int32, n int) uint32 { return maxIndexGeneric(unsafe.Slice(idx, n)) }

func sparseDot[T Float](idx *int32, val *T, n int, w *T, nw int) T {
	return sparseDotGeneric(unsafe.Slice(idx, n), unsafe.Slice(val, n), unsafe.Slice(w, nw))
}

func sparseAxpy[T Float](w *T, nw int, a T, idx *int32, val *T, n int) {
	sparseAxpyGeneric(unsafe.Slice(w, nw), a, unsafe.Slice(idx, n), unsafe.Slice(val, n))
}

func lanesScore[T Float](dst, w *T, nw, width int, rows *int32, val *T, n int) {
	lanesScoreGeneric(unsafe.Slice(dst, width), unsafe.Slice(w, nw), unsafe.Slice(rows, n), unsafe.Slice(val, n))
}

func lanesUpdate[T Float](w *T, nw, width int, rows *int32, val *T, n int, coef *T, mask *uint64) {
	lanesUpdateGeneric(unsafe.Slice(w, nw), unsafe.Slice(rows, n), unsafe.Slice(val, n), unsafe.Slice(coef, width), unsafe.Slice(mask, MaskWords(width)))
}

func lanesLE[T Float](mask *uint64, s *T, width int, y, t T) {
	lanesLEGeneric(unsafe.Slice(mask, MaskWords(width)), unsafe.Slice(s, width), y, t)
}

func lanesScoreLE[T Float](dst, w *T, nw, width int, rows *int32, val *T, n int, mask *uint64, y, t T) {
	lanesScore(dst, w, nw, width, rows, val, n)
	lanesLE(mask, dst, width, y, t)
}

func activeScore[T Float](dst, w *T, nw, width int, rows *int32, val *T, n int, lanes *int32, nl int) {
	activeScoreGeneric(unsafe.Slice(dst, nl), unsafe.Slice(w, nw), width, unsafe.Slice(rows, n), unsafe.Slice(val, n), unsafe.Slice(lanes, nl))
}

func activeUpdate[T Float](w *T, nw, width int, rows *int32, val *T, n int, lanes *int32, coef *T, nl int) {
	activeUpdateGeneric(unsafe.Slice(w, nw), width, unsafe.Slice(rows, n), unsafe.Slice(val, n), unsafe.Slice(lanes, nl), unsafe.Slice(coef, nl))
}

func dotMixed(a *float64, x *float32, n int) float64 {
	return dotMixedGeneric(unsafe.Slice(a, n), unsafe.Slice(x, n))
}

func axpyMixed(y *float64, a float64, x *float32, n int) {
	axpyMixedGeneric(unsafe.Slice(y, n), a, unsafe.Slice(x, n))
}

func sparseDotMixed(idx *int32, val *float32, n int, w *float64, nw int) float64 {
	return sparseDotMixedGeneric(unsafe.Slice(idx, n), unsafe.Slice(val, n), unsafe.Slice(w, nw))
}

func sparseAxpyMixed(w *float64, nw int, a float64, idx *int32, val *float32, n int) {
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
