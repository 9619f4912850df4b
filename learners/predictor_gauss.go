package learners

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// gaussian is a normal law of the weights with a full covariance: f is the score of the mean.
// Probabilities are given to one call after another: the product with the covariance has scratch,
// and takes what is pending into the matrix.
type gaussian[T Float] struct {
	wideWeights[T]            // the mean, which is law.m
	law            *posterior // what a variance is made of; of a copy nothing else
	asking         *sync.Mutex
}

// Proba is Prober.Proba: eps + (1-2 eps) Phi(m.x/sd) with the standard deviation sd of w.x. Features
// never seen have the prior. O(d^2 + B d) an example.
func (p *gaussian[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := checkRows(p.name, b, len(dst)); err != nil {
		return err
	}
	p.asking.Lock()
	defer p.asking.Unlock()
	for i := range b.Len() {
		x := p.law.x
		beyond := signed(b, i, 1, x)
		dst[i] = probability(vecmath.Dot(x, p.law.m), p.law.variance(x)+beyond, p.law.eps)
	}
	return nil
}

// Bytes is Predictor.Bytes.
func (p *gaussian[T]) Bytes() int64 {
	q := p.law
	return int64(unsafe.Sizeof(*p)+unsafe.Sizeof(*q)) + bytesOf(q.V) + bytesOf(q.S) +
		bytesOf(q.m) + 3*bytesOf(q.x) + bytesOf(q.tau) + bytesOf(q.row) + bytesOf(q.coef) +
		4*int64(cap(q.rows)) + int64(len(q.W))*(bytesOf(q.x)+24)
}

// State is Predictor.State: the mean, the lower triangle of Vr, and what the points' sites take from
// it. The scalar noise is the rate of wrong labels.
func (p *gaussian[T]) State() State {
	p.asking.Lock()
	defer p.asking.Unlock()
	return learner.StateOf(p.fields)
}

// Restored is Restorer.Restored.
func (p *gaussian[T]) Restored(s State) (Predictor[T], error) {
	r := gaussianOf[T](p.name, newLaw(0, 0, 0), new(sync.Mutex))
	return restored(p.name, r, s)
}

func (p *gaussian[T]) fields(c *learner.Codec) {
	q := p.law
	var m, triangle, images, S, tau []float64
	if c.Writing() {
		images, S = []float64{}, []float64{}
		for i := range q.k {
			images, S = append(images, q.W[i]...), append(S, q.S[i*q.width:][:q.k]...)
		}
		m, triangle, tau = slices.Clone(q.m), q.triangle(), slices.Clone(q.tau[:q.k])
	}
	eps := noiseRate(c, q.eps)
	m, tau = learner.View(c, "w", m), learner.View(c, "tau", tau)
	d, k := len(m), len(tau)
	c.Want(d <= maxPosteriorDim && k <= maxPosteriorDim, "%d features and %d points", d, k)
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
		copy(law.m, m)
		copy(law.tau, tau)
		law.setTriangle(triangle)
		for i := range k {
			copy(law.W[i], images[i*d:])
			copy(law.S[i*law.width:], S[i*k:][:k])
		}
		p.w, p.law = law.m, law
	})
}

// noiseRate walks a rate of wrong labels, which is eps in writing.
func noiseRate(c *learner.Codec, eps float64) float64 {
	if eps = c.Scalar("noise", &eps); c.Reading() {
		c.Want(eps >= 0 && eps < 0.5, "the rate of wrong labels is %v, want one in [0, 1/2)", eps)
	}
	return eps
}

// gaussianOf returns the Predictor of a law, guarded by that lock.
func gaussianOf[T Float](name string, q *posterior, asking *sync.Mutex) *gaussian[T] {
	return &gaussian[T]{wideWeights[T]{name: name, w: q.m, divisor: 1}, q, asking}
}

// copied returns a copy with memory of its own.
func (p *gaussian[T]) copied() Predictor[T] {
	p.asking.Lock()
	defer p.asking.Unlock()
	return gaussianOf[T](p.name, p.law.copied(), new(sync.Mutex))
}

// newLaw returns a posterior of d features and k points that is good for means and variances alone:
// it can't learn.
func newLaw(eps float64, d, k int) *posterior {
	unit := vecmath.LaneUnit[float64]()
	q := &posterior{eps: eps, k: k, width: (k + unit - 1) / unit * unit,
		stride: vecmath.SymStride[float64](d), m: make([]float64, d), s: make([]float64, d),
		x: make([]float64, d), y: make([]float64, d), tau: make([]float64, k),
		rows: make([]int32, k), W: make([][]float64, k)}
	q.mr = q.m // its length counts
	q.V, q.S = engine.Aligned[float64](d*q.stride), engine.Aligned[float64](k*q.width)
	q.row, q.coef = engine.Aligned[float64](q.width), engine.Aligned[float64](q.width)
	for i := range k {
		q.W[i], q.rows[i] = make([]float64, d), int32(i)
	}
	return q
}

// copied returns a copy of the law as newLaw makes them.
func (p *posterior) copied() *posterior {
	p.flush()
	q := newLaw(p.eps, len(p.mr), p.k)
	copy(q.m, p.m)
	for i := range p.mr {
		copy(q.V[i*q.stride:][:q.stride], p.V[i*p.stride:][:p.stride])
	}
	for i := range p.k {
		copy(q.W[i], p.W[i])
		copy(q.S[i*q.width:][:p.k], p.S[i*p.width:])
	}
	copy(q.tau, p.tau)
	return q
}
