package vecmath

// Dot returns the sum of a[i]*b[i].
func Dot[T Float](a, b []T) T { return dotGeneric(a, b[:len(a)]) }

// Axpy adds a*x to y.
func Axpy[T Float](y []T, a T, x []T) { axpyGeneric(y, a, x[:len(y)]) }

// Scal multiplies x by a.
func Scal[T Float](x []T, a T) { scalGeneric(x, a) }

// SumSq returns the sum of x[i]*x[i].
func SumSq[T Float](x []T) T { return sumSqGeneric(x) }

// SqDist returns the sum of (a[i]-b[i]) squared.
func SqDist[T Float](a, b []T) T { return sqDistGeneric(a, b[:len(a)]) }

// RowsDot sets dst[r] = Dot(rows[r*stride:][:len(x)], x).
func RowsDot[T Float](dst, rows []T, stride int, x []T) { rowsDotGeneric(dst, rows, stride, x) }

// SparseDot returns the sum of val[k]*w[idx[k]].
func SparseDot[T Float](idx []int32, val []T, w []T) T { return sparseDotGeneric(idx, val, w) }

// SparseAxpy adds a*val[k] to w[idx[k]].
func SparseAxpy[T Float](w []T, a T, idx []int32, val []T) { sparseAxpyGeneric(w, a, idx, val) }

// LanesScore scores len(dst) member lanes over a sparse example; see lanesScoreGeneric.
func LanesScore[T Float](dst, w []T, rows []int32, val []T) { lanesScoreGeneric(dst, w, rows, val) }

// LanesUpdate adds coef[l]*val[k] to lane l of row rows[k], for lanes in mask.
func LanesUpdate[T Float](w []T, rows []int32, val, coef []T, mask []uint64) {
	lanesUpdateGeneric(w, rows, val, coef, mask)
}

// LanesLE sets the bits of mask where y*s[l] <= t.
func LanesLE[T Float](mask []uint64, s []T, y, t T) { lanesLEGeneric(mask, s, y, t) }

// ActiveScore scores the listed lanes only.
func ActiveScore[T Float](dst, w []T, width int, rows []int32, val []T, lanes []int32) {
	activeScoreGeneric(dst, w, width, rows, val, lanes)
}

// ActiveUpdate updates the listed lanes only.
func ActiveUpdate[T Float](w []T, width int, rows []int32, val []T, lanes []int32, coef []T) {
	activeUpdateGeneric(w, width, rows, val, lanes, coef)
}

// DotMixed is Dot of a float64 vector and a float32 example; T float64 takes Dot itself.
func DotMixed[T Float](a []float64, x []T) float64 {
	switch x := any(x).(type) {
	case []float32:
		return dotMixedGeneric(a, x)
	case []float64:
		return dotGeneric(a[:len(x)], x)
	}
	panic("unreachable")
}

// AxpyMixed adds a*x to the float64 vector y.
func AxpyMixed[T Float](y []float64, a float64, x []T) {
	switch x := any(x).(type) {
	case []float32:
		axpyMixedGeneric(y, a, x)
	case []float64:
		axpyGeneric(y, a, x)
	}
}

// SparseDotMixed is SparseDot of a float64 vector and an example of either precision.
func SparseDotMixed[T Float](idx []int32, val []T, w []float64) float64 {
	switch val := any(val).(type) {
	case []float32:
		return sparseDotMixedGeneric(idx, val, w)
	case []float64:
		return sparseDotGeneric(idx, val, w)
	}
	panic("unreachable")
}

// SparseAxpyMixed adds a*val[k] to the float64 w[idx[k]].
func SparseAxpyMixed[T Float](w []float64, a float64, idx []int32, val []T) {
	switch val := any(val).(type) {
	case []float32:
		sparseAxpyMixedGeneric(w, a, idx, val)
	case []float64:
		sparseAxpyGeneric(w, a, idx, val)
	}
}
