package engine

import "github.com/halfspace-ml/halfspace/internal/vecmath"

// FeatureOf returns the number of the feature that place n of an example holds: idx[n] of a sparse
// one, n of a dense one, whose idx is nil.
func FeatureOf(idx []int32, n int) int {
	if idx == nil {
		return n
	}
	return int(idx[n])
}

// SumSqOrdered returns |x|^2 in float64, summed in order: exact for whole numbers.
func SumSqOrdered[T Float](x []T) (sum float64) {
	for _, v := range x {
		sum += float64(float64(v) * float64(v))
	}
	return sum
}

// Finite reports whether all of x are finite numbers. It allocates nothing, and takes a small part
// of a nanosecond a value.
func Finite[T Float](x []T) bool {
	if sum := vecmath.SumSq(x); sum-sum == 0 {
		return true
	}
	for _, v := range x { // a square may have been too large
		if v-v != 0 {
			return false
		}
	}
	return true
}
