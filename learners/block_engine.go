package learners

import "github.com/halfspace-ml/halfspace/engine"

func at(idx []int32, n int) int {
	if idx == nil {
		return n
	}
	return int(idx[n])
}

// sumSq64 returns |x|^2 in float64, summed in order: exact for whole numbers.
func sumSq64[T engine.Float](x []T) (sum float64) {
	for _, v := range x {
		sum += float64(float64(v) * float64(v))
	}
	return sum
}
