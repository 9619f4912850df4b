package gauss

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/learner"
)

// posteriorTensors are the parts of a State.
var posteriorTensors = []string{"w", "residual_mean", "residual_cov", "points", "images", "gram",
	"scores_cov", "point_means", "tau", "nu", "scores_mean"}

// packed returns what they hold.
func (p *Posterior) packed() [][]float64 {
	k := p.K
	X, W, G, S := []float64{}, []float64{}, []float64{}, []float64{}
	for i := range k {
		X, W = append(X, p.X[i]...), append(W, p.W[i]...)
		G, S = append(G, p.G[i*p.Width:][:k]...), append(S, p.S[i*p.Width:][:k]...)
	}
	return [][]float64{slices.Clone(p.Mean), slices.Clone(p.ResidualMean), p.triangle(), X, W, G, S,
		slices.Clone(p.a[:k]), slices.Clone(p.Tau[:k]), slices.Clone(p.Nu[:k]),
		slices.Clone(p.mu[:k])}
}

// Fields walks the posterior, of at most points points.
func (p *Posterior) Fields(c *learner.Codec, points int) {
	data := make([][]float64, len(posteriorTensors))
	if c.Writing() {
		data = p.packed()
	}
	for i, n := range posteriorTensors {
		data[i] = learner.View(c, n, data[i])
	}
	d, k := len(data[0]), len(data[7])
	c.PerFeature(posteriorTensors[0], d)
	for i, n := range []int{d, d, d * (d + 1) / 2, k * d, k * d, k * k, k * k, k, k, k, k} {
		c.Want(d <= MaxPosteriorDim && k <= points && len(data[i]) == n,
			"tensor %q has %d elements for %d features and %d points of at most %d",
			posteriorTensors[i], len(data[i]), d, k, points)
	}
	if c.Reading() {
		CheckCovariances(c, data[2], d, math.SmallestNonzeroFloat64)
	}
	if c.Keeping() {
		next := NewPosterior(p.Eps, len(p.X))
		next.Noise, next.Probit2 = p.Noise, p.Probit2
		err := next.Grow("", d)
		c.Want(err == nil, "%w", err)
		c.Then(func() {
			next.unpack(data)
			*p = *next
		})
	}
	// what follows is stored into the new posterior
	P, loss := c.Scalar("precision", &p.PrecisionBound), c.Scalar("loss", &p.Shrunk)
	c.Want(P >= 1 && loss >= 1, "precision is %v and loss %v, want numbers >= 1", P, loss)
	if c.Optional("precisions", p.Precision != nil) { // since P alone was too coarse
		v := learner.Vector(c, "precisions", &p.Precision)
		c.Want(len(v) == d && !slices.ContainsFunc(v, func(x float64) bool { return x <= 0 }),
			"tensor %q has %d elements for %d features, or one that is not > 0", "precisions",
			len(v), d)
		learner.Count(c, "measured", &p.measured)
	}
	r := &p.Report
	learner.Count(c, "sweeps", &r.Sweeps)
	learner.Count(c, "unconverged", &r.Unconverged)
	learner.Count(c, "merged", &r.Merged)
	learner.Count(c, "passed", &r.Passed)
	learner.Count(c, "lost", &r.Lost)
	learner.Count(c, "age", &p.age)
	if c.Optional("alarm", p.alarm > 0) {
		learner.Count(c, "alarm", &p.alarm)
	}
	p.Noise.Fields(c, p.SetNoise)
}

// CheckCovariances wants the lower triangle of a matrix of d rows to have variances of at least
// least, and no covariance that is more than they allow by 0.1 %, far beyond rounding errors of
// 2^-52.
func CheckCovariances(c *learner.Codec, triangle []float64, d int, least float64) {
	for i := range d {
		row := triangle[i*(i+1)/2:][:i+1]
		if !c.Want(row[i] >= least, "the variance of weight %d is %v", i, row[i]) {
			return
		}
		for j, v := range row[:i] {
			limit := float64(math.Sqrt(row[i]) * math.Sqrt(triangle[j*(j+1)/2+j]))
			if math.Abs(v) > 1.001*limit {
				c.Want(false, "the covariance of weights %d and %d is %v, their variances allow %v",
					j, i, v, limit)
				return
			}
		}
	}
}

// unpack is the inverse of packed, for a new posterior with room for it.
func (p *Posterior) unpack(data [][]float64) {
	d, k := len(data[0]), len(data[7])
	copy(p.Mean, data[0])
	copy(p.ResidualMean, data[1])
	p.setTriangle(data[2])
	for i := range k {
		copy(p.X[i], data[3][i*d:])
		copy(p.W[i], data[4][i*d:])
		copy(p.G[i*p.Width:], data[5][i*k:][:k])
		copy(p.S[i*p.Width:], data[6][i*k:][:k])
	}
	copy(p.a, data[7])
	copy(p.Tau, data[8])
	copy(p.Nu, data[9])
	copy(p.mu, data[10])
	p.K = k
}
