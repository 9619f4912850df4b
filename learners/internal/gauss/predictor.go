package gauss

import (
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// Gaussian is a normal distribution of the weights with a full covariance: f is the score of the
// mean. Its methods only read the posterior, so that any number of calls may run at the same time.
type Gaussian[T learner.Float] struct {
	primal.WideWeights[T] // the mean, which is Posterior.Mean
	// what a variance is made of, with no term pending; of a copy nothing else
	Posterior *Posterior
	Spares    *Spares
}

// Spares are what calls of Proba work in. The zero value is good.
type Spares struct{ stack scratch.Stack[workspace] }

// Bytes returns the memory that no call uses.
func (s *Spares) Bytes() int64 { return s.stack.Bytes((*workspace).bytes) }

// workspace is scratch for the variance of one example.
type workspace struct {
	x, y    []float64 // the example and Vr x
	u, coef []float64 // of a row of S: tau_i times point i's covariance with x, and S times those
}

// fit gives the scratch the lengths of p. What there was is used again where it is long enough.
func (w *workspace) fit(p *Posterior) {
	d := len(p.ResidualMean)
	w.x, w.y = primal.Grown(w.x, d)[:d], primal.Grown(w.y, d)[:d]
	if len(w.u) != p.Width {
		w.u, w.coef = engine.Aligned[float64](p.Width), engine.Aligned[float64](p.Width)
	}
}

func (w *workspace) bytes() int64 {
	return primal.BytesOf(w.x) + primal.BytesOf(w.y) + primal.BytesOf(w.u) + primal.BytesOf(w.coef)
}

// Proba is Prober.Proba: eps + (1-2 eps) Phi(m.x/sd) with the standard deviation sd of w.x and its
// noise. Features never seen have the prior. O(d^2 + B d) an example.
func (p *Gaussian[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckRows(p.Name, b, len(dst)); err != nil {
		return err
	}
	w := p.Spares.stack.Take()
	w.fit(p.Posterior)
	for i := range b.Len() {
		beyond := primal.SetSigned(b, i, 1, w.x)
		dst[i] = Probability(vecmath.Dot(w.x, p.Posterior.Mean),
			p.Posterior.variance(w)+beyond+p.Posterior.Probit2, p.Posterior.Eps)
	}
	p.Spares.stack.Give(w)
	return nil
}

// Bytes is Predictor.Bytes.
func (p *Gaussian[T]) Bytes() int64 {
	q := p.Posterior
	return int64(unsafe.Sizeof(*p)+unsafe.Sizeof(*q)) + primal.BytesOf(q.V) + primal.BytesOf(q.S) +
		primal.BytesOf(q.Mean) + primal.BytesOf(q.Tau) + 4*int64(cap(q.rows)) +
		int64(len(q.W))*(primal.BytesOf(q.Mean)+24) + p.Spares.Bytes()
}

// State is Predictor.State: the mean, the lower triangle of Vr, and what the points' sites take
// from it. The scalar noise is the rate of wrong labels.
func (p *Gaussian[T]) State() learner.State { return learner.StateOf(p.Fields) }

// CheckState is for [learner.CheckRestored].
func (p *Gaussian[T]) CheckState(s learner.State) error {
	return learner.CheckState(p.Name, s, p.Fields)
}

// Restored is for [learner.Restored].
func (p *Gaussian[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	r := gaussianOf[T](p.Name, newHypothesis(0, 0, 0))
	return primal.Restored(p.Name, r, s)
}

// Fields are the parts of its State: the mean, the covariance as its triangle, and the points
// beside.
func (p *Gaussian[T]) Fields(c *learner.Codec) {
	q := p.Posterior
	var m, triangle, images, S, tau []float64
	if c.Writing() {
		images, S = []float64{}, []float64{}
		for i := range q.K {
			images, S = append(images, q.W[i]...), append(S, q.S[i*q.Width:][:q.K]...)
		}
		m, triangle, tau = slices.Clone(q.Mean), q.triangle(), slices.Clone(q.Tau[:q.K])
	}
	eps, probit2 := NoiseRate(c, q.Eps), ProbitVariance(c, q.Probit2)
	m, tau = learner.View(c, "w", m), learner.View(c, "tau", tau)
	d, k := len(m), len(tau)
	c.PerFeature("w", d)
	c.Want(d <= MaxPosteriorDim && k <= MaxPosteriorDim, "%d features and %d points", d, k)
	triangle = learner.View(c, "residual_cov", triangle)
	images = learner.View(c, "images", images)
	S = learner.View(c, "scores_cov", S)
	if c.Reading() && c.Want(len(triangle) == d*(d+1)/2 && len(images) == k*d && len(S) == k*k,
		"elements %d, %d, %d of matrices for %d features and %d points", len(triangle),
		len(images), len(S), d, k) {
		CheckCovariances(c, triangle, d, math.SmallestNonzeroFloat64)
	}
	c.Then(func() {
		q := newHypothesis(eps, d, k)
		q.Probit2 = probit2
		copy(q.Mean, m)
		copy(q.Tau, tau)
		q.setTriangle(triangle)
		for i := range k {
			copy(q.W[i], images[i*d:])
			copy(q.S[i*q.Width:], S[i*k:][:k])
		}
		p.W, p.Posterior = q.Mean, q
	})
}

// NoiseRate walks a rate of wrong labels, which is eps in writing.
func NoiseRate(c *learner.Codec, eps float64) float64 {
	if eps = c.Scalar("noise", &eps); c.Reading() {
		c.Want(eps >= 0 && eps < 0.5, "the rate of wrong labels is %v, want one in [0, 1/2)", eps)
	}
	return eps
}

// ProbitVariance walks the variance of the noise of scores, which is v in writing.
func ProbitVariance(c *learner.Codec, v float64) float64 {
	if !c.Optional("probit", v > 0) {
		return 0
	}
	v = c.Scalar("probit", &v)
	c.Want(v > 0 && !math.IsInf(v, 0), "the variance of the noise of scores is %v, want a number "+
		"> 0", v)
	return v
}

// gaussianOf returns the Predictor of a posterior that has no term pending.
func gaussianOf[T learner.Float](name string, q *Posterior) *Gaussian[T] {
	return &Gaussian[T]{primal.WideWeights[T]{Name: name, W: q.Mean, Divisor: 1}, q, new(Spares)}
}

// Copied returns a copy with memory of its own.
func (p *Gaussian[T]) Copied() learner.Predictor[T] {
	return gaussianOf[T](p.Name, p.Posterior.copied())
}

// newHypothesis returns a posterior of d features and k points that is good for means and variances
// alone: it can't learn.
func newHypothesis(eps float64, d, k int) *Posterior {
	unit := vecmath.LaneUnit[float64]()
	q := &Posterior{Eps: eps, K: k, Width: (k + unit - 1) / unit * unit,
		Covariance: Covariance{Stride: vecmath.SymStride[float64](d), d: d},
		Mean:       make([]float64, d), Tau: make([]float64, k),
		rows: make([]int32, k), W: make([][]float64, k)}
	q.ResidualMean = q.Mean // its length counts
	q.V, q.S = engine.Aligned[float64](d*q.Stride), engine.Aligned[float64](k*q.Width)
	for i := range k {
		q.W[i], q.rows[i] = make([]float64, d), int32(i)
	}
	return q
}

// copied returns a copy as newHypothesis makes them. No term may be pending.
func (p *Posterior) copied() *Posterior {
	q := newHypothesis(p.Eps, len(p.ResidualMean), p.K)
	q.Probit2 = p.Probit2
	copy(q.Mean, p.Mean)
	for i := range p.ResidualMean {
		copy(q.V[i*q.Stride:][:q.Stride], p.V[i*p.Stride:][:p.Stride])
	}
	for i := range p.K {
		copy(q.W[i], p.W[i])
		copy(q.S[i*q.Width:][:p.K], p.S[i*p.Width:])
	}
	copy(q.Tau, p.Tau)
	return q
}
