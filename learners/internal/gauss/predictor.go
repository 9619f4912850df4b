package gauss

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// Gaussian is a normal law of the weights with a full covariance: f is the score of the mean.
// Probabilities are given to one call after another: the product with the covariance has scratch,
// and takes what is pending into the matrix.
type Gaussian[T learner.Float] struct {
	primal.WideWeights[T]            // the mean, which is law.m
	Law                   *Posterior // what a variance is made of; of a copy nothing else
	Asking                *sync.Mutex
}

// Proba is Prober.Proba: eps + (1-2 eps) Phi(m.x/sd) with the standard deviation sd of w.x. Features
// never seen have the prior. O(d^2 + B d) an example.
func (p *Gaussian[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckRows(p.Name, b, len(dst)); err != nil {
		return err
	}
	p.Asking.Lock()
	defer p.Asking.Unlock()
	for i := range b.Len() {
		x := p.Law.ScratchX
		beyond := primal.SetSigned(b, i, 1, x)
		dst[i] = Probability(vecmath.Dot(x, p.Law.M), p.Law.variance(x)+beyond, p.Law.Eps)
	}
	return nil
}

// Bytes is Predictor.Bytes.
func (p *Gaussian[T]) Bytes() int64 {
	q := p.Law
	return int64(unsafe.Sizeof(*p)+unsafe.Sizeof(*q)) + primal.BytesOf(q.V) + primal.BytesOf(q.S) +
		primal.BytesOf(q.M) + 3*primal.BytesOf(q.ScratchX) + primal.BytesOf(q.Tau) + primal.BytesOf(q.row) + primal.BytesOf(q.coef) +
		4*int64(cap(q.rows)) + int64(len(q.W))*(primal.BytesOf(q.ScratchX)+24)
}

// State is Predictor.State: the mean, the lower triangle of Vr, and what the points' sites take from
// it. The scalar noise is the rate of wrong labels.
func (p *Gaussian[T]) State() learner.State {
	p.Asking.Lock()
	defer p.Asking.Unlock()
	return learner.StateOf(p.Fields)
}

// Restored is Restorer.Restored.
func (p *Gaussian[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	r := GaussianOf[T](p.Name, newLaw(0, 0, 0), new(sync.Mutex))
	return primal.Restored(p.Name, r, s)
}

func (p *Gaussian[T]) Fields(c *learner.Codec) {
	q := p.Law
	var m, triangle, images, S, tau []float64
	if c.Writing() {
		images, S = []float64{}, []float64{}
		for i := range q.K {
			images, S = append(images, q.W[i]...), append(S, q.S[i*q.Width:][:q.K]...)
		}
		m, triangle, tau = slices.Clone(q.M), q.triangle(), slices.Clone(q.Tau[:q.K])
	}
	eps := NoiseRate(c, q.Eps)
	m, tau = learner.View(c, "w", m), learner.View(c, "tau", tau)
	d, k := len(m), len(tau)
	c.Want(d <= MaxPosteriorDim && k <= MaxPosteriorDim, "%d features and %d points", d, k)
	triangle = learner.View(c, "residual_cov", triangle)
	images = learner.View(c, "images", images)
	S = learner.View(c, "scores_cov", S)
	if c.Reading() && c.Want(len(triangle) == d*(d+1)/2 && len(images) == k*d && len(S) == k*k,
		"elements %d, %d, %d of matrices for %d features and %d points", len(triangle),
		len(images), len(S), d, k) {
		learner.Finite(c, "residual_cov", triangle)
		checkCovariances(c, triangle, d)
	}
	c.Then(func() {
		law := newLaw(eps, d, k)
		copy(law.M, m)
		copy(law.Tau, tau)
		law.setTriangle(triangle)
		for i := range k {
			copy(law.W[i], images[i*d:])
			copy(law.S[i*law.Width:], S[i*k:][:k])
		}
		p.W, p.Law = law.M, law
	})
}

// NoiseRate walks a rate of wrong labels, which is eps in writing.
func NoiseRate(c *learner.Codec, eps float64) float64 {
	if eps = c.Scalar("noise", &eps); c.Reading() {
		c.Want(eps >= 0 && eps < 0.5, "the rate of wrong labels is %v, want one in [0, 1/2)", eps)
	}
	return eps
}

// GaussianOf returns the Predictor of a law, guarded by that lock.
func GaussianOf[T learner.Float](name string, q *Posterior, asking *sync.Mutex) *Gaussian[T] {
	return &Gaussian[T]{primal.WideWeights[T]{Name: name, W: q.M, Divisor: 1}, q, asking}
}

// Copied returns a copy with memory of its own.
func (p *Gaussian[T]) Copied() learner.Predictor[T] {
	p.Asking.Lock()
	defer p.Asking.Unlock()
	return GaussianOf[T](p.Name, p.Law.copied(), new(sync.Mutex))
}

// newLaw returns a posterior of d features and k points that is good for means and variances alone:
// it can't learn.
func newLaw(eps float64, d, k int) *Posterior {
	unit := vecmath.LaneUnit[float64]()
	q := &Posterior{Eps: eps, K: k, Width: (k + unit - 1) / unit * unit,
		Stride: vecmath.SymStride[float64](d), M: make([]float64, d), s: make([]float64, d),
		ScratchX: make([]float64, d), y: make([]float64, d), Tau: make([]float64, k),
		rows: make([]int32, k), W: make([][]float64, k)}
	q.Mr = q.M // its length counts
	q.V, q.S = engine.Aligned[float64](d*q.Stride), engine.Aligned[float64](k*q.Width)
	q.row, q.coef = engine.Aligned[float64](q.Width), engine.Aligned[float64](q.Width)
	for i := range k {
		q.W[i], q.rows[i] = make([]float64, d), int32(i)
	}
	return q
}

// copied returns a copy of the law as newLaw makes them.
func (p *Posterior) copied() *Posterior {
	p.Flush()
	q := newLaw(p.Eps, len(p.Mr), p.K)
	copy(q.M, p.M)
	for i := range p.Mr {
		copy(q.V[i*q.Stride:][:q.Stride], p.V[i*p.Stride:][:p.Stride])
	}
	for i := range p.K {
		copy(q.W[i], p.W[i])
		copy(q.S[i*q.Width:][:p.K], p.S[i*p.Width:])
	}
	copy(q.Tau, p.Tau)
	return q
}
