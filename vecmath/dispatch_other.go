//go:build !amd64 && !arm64

package vecmath

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

func dot[T Float](_ Impl, a, b []T) T {
	return dotGeneric(a, b)
}

func axpy[T Float](_ Impl, y []T, a T, x []T) {
	axpyGeneric(y, a, x)
}

func scal[T Float](_ Impl, x []T, a T) {
	scalGeneric(x, a)
}

func sumSq[T Float](_ Impl, x []T) T {
	return sumSqGeneric(x)
}

func sqDist[T Float](_ Impl, a, b []T) T {
	return sqDistGeneric(a, b)
}

func rowsDot[T Float](_ Impl, dst, rows []T, stride int, x []T) {
	rowsDotGeneric(dst, rows, stride, x)
}

func sparseDot[T Float](_ Impl, idx []int32, val []T, w []T) T {
	return sparseDotGeneric(idx, val, w)
}

func sparseAxpy[T Float](_ Impl, w []T, a T, idx []int32, val []T) {
	sparseAxpyGeneric(w, a, idx, val)
}

func lanesScore[T Float](_ Impl, dst, w []T, rows []int32, val []T) {
	lanesScoreGeneric(dst, w, rows, val)
}

func lanesUpdate[T Float](_ Impl, w []T, rows []int32, val, coef []T, mask []uint64) {
	lanesUpdateGeneric(w, rows, val, coef, mask)
}

func lanesLE[T Float](_ Impl, mask []uint64, s []T, y, t T) {
	lanesLEGeneric(mask, s, y, t)
}

func activeScore[T Float](_ Impl, dst, w []T, width int, rows []int32, val []T, lanes []int32) {
	activeScoreGeneric(dst, w, width, rows, val, lanes)
}

func activeUpdate[T Float](_ Impl, w []T, width int, rows []int32, val []T, lanes []int32, coef []T) {
	activeUpdateGeneric(w, width, rows, val, lanes, coef)
}

func dotMixed(_ Impl, a []float64, x []float32) float64 {
	return dotMixedGeneric(a, x)
}

func axpyMixed(_ Impl, y []float64, a float64, x []float32) {
	axpyMixedGeneric(y, a, x)
}

func sparseDotMixed(_ Impl, idx []int32, val []float32, w []float64) float64 {
	return sparseDotMixedGeneric(idx, val, w)
}

func sparseAxpyMixed(_ Impl, w []float64, a float64, idx []int32, val []float32) {
	sparseAxpyMixedGeneric(w, a, idx, val)
}
