package gauss

import (
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// GrownVariances returns the variances of a diagonal covariance with those of the prior, which are
// 1, appended up to dim.
func GrownVariances(v []float64, dim int) []float64 {
	n := len(v)
	v = primal.Grown(v, dim)
	for i := n; i < len(v); i++ {
		v[i] = 1
	}
	return v
}

// DiagonalVariance returns the variance of w.x of example i under those of the weights, summed in
// the order of the features; features never seen have the prior.
func DiagonalVariance[T learner.Float](b *engine.Block[T], i int, variances []float64) float64 {
	sum := 0.0
	idx, val := b.Example(i)
	if idx == nil {
		known := min(len(val), len(variances))
		variances = variances[:known]
		for j, x := range val[:known] {
			if x != 0 { // else it adds +0 to a sum that is never -0
				sum = math.FMA(float64(float64(x)*float64(x)), variances[j], sum)
			}
		}
		for _, x := range val[known:] {
			sum += float64(float64(x) * float64(x))
		}
		return sum
	}
	for n, x := range val {
		v, x := 1.0, float64(x)
		if j := int(idx[n]); j < len(variances) {
			v = variances[j]
		}
		sum = math.FMA(float64(x*x), v, sum)
	}
	return sum
}
