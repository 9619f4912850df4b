package gauss

import (
	"math"

	"github.com/halfspace-ml/halfspace/learner"
)

// widest is the variance, in those of the prior, up to which covariances are widened: far above
// what a weight that was never learned has, and far below what rounding errors allow.
const widest = 1 << 10

// Widened returns the State s, with the covariance in the tensor of that name, a lower triangle by
// rows, divided by keep. It is divided by less where the largest variance is near 2^10 priors: a
// direction in which nothing is learned must not become wider with each time, without end.
func Widened(s learner.State, keep float64, covariance string) learner.State {
	scale(s, 1/widening(s, keep, covariance), covariance)
	return s
}

// WidenedPosterior is Widened of the State of a [Posterior]. The precisions of all that it is made
// of are multiplied by the same: of r, and of the sites. So its mean, and those of the scores,
// stay, and all covariances are divided.
func WidenedPosterior(s learner.State, keep float64) learner.State {
	keep = widening(s, keep, "residual_cov")
	scale(s, 1/keep, "residual_cov", "images", "gram", "scores_cov")
	scale(s, keep, "tau", "nu")
	return s
}

// widening returns keep, or what is nearer to 1 where that would be too much.
func widening(s learner.State, keep float64, covariance string) float64 {
	largest := 0.0
	triangle := data(s, covariance)
	for i, at := 0, 0; at < len(triangle); i++ {
		largest = max(largest, triangle[at])
		at += i + 2
	}
	return math.Min(1, max(keep, largest/widest))
}

// scale multiplies the tensors of those names.
func scale(s learner.State, by float64, names ...string) {
	for _, name := range names {
		v := data(s, name)
		for i := range v {
			v[i] *= by
		}
	}
}

func data(s learner.State, name string) []float64 {
	v, _ := s.Tensor(name).Data.([]float64)
	return v
}
