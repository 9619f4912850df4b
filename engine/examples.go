package engine

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
