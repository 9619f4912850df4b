package gauss

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// Diagonal is a normal distribution of independent weights: the mean, which is the hypothesis, and
// a variance each. Features never seen have those of the prior, 0 and 1.
type Diagonal[T learner.Float] struct {
	primal.WideWeights[T]
	V []float64
}

// Grow brings the features to dim.
func (d *Diagonal[T]) Grow(dim int) {
	n := len(d.V)
	d.W, d.V = primal.Grown(d.W, dim), primal.Grown(d.V, dim)
	for i := n; i < len(d.V); i++ {
		d.V[i] = 1
	}
}

// Forget divides variances by keep, up to those of the prior.
func (d *Diagonal[T]) Forget(keep float64) error {
	if err := learner.CheckKeep(d.Name, keep); err != nil {
		return err
	}
	for j, x := range d.V {
		d.V[j] = max(x, min(1, x/keep))
	}
	return nil
}

// Fields walks means and variances.
func (d *Diagonal[T]) Fields(c *learner.Codec) {
	m, v := learner.Vector(c, "w", &d.W), learner.Vector(c, "variance", &d.V)
	c.Want(len(m) == len(v), "%d means and %d variances", len(m), len(v))
	c.PerFeature("w", len(m))
	c.Want(!slices.ContainsFunc(v, func(x float64) bool { return x < 0 }), "a negative variance")
}

// DiagonalFootprint is that of a learner with a [Diagonal].
func DiagonalFootprint(x learner.Extent) learner.Footprint {
	return primal.FeatureMemory(x, "means and variances", 16, 16)
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
