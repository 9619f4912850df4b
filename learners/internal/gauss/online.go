package gauss

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// Rule is an online learner of a Gaussian N(mu, Sigma) over weights, whose update by an example is
//
//	(1) v = x' Sigma x,  alpha and r by Step
//	(2) mu <- mu + alpha y Sigma x                                            (mu_1 = 0)
//	(3) Sigma <- Sigma - Sigma x x' Sigma/(v + r)                             (Sigma_1 = I)
//
// With a diagonal covariance Sigma is, after (3), replaced by its diagonal: V_i -= (V_i x_i)^2/(v +
// r).
type Rule struct {
	Name   string
	Margin float64 // only examples whose margin is below it are learned
	// Step returns alpha, 0 if there is no update, and r for an example of that margin y mu.x, v >
	// 0 and weight.
	Step func(margin, v, weight float64) (alpha, r float64)
}

// Online applies a [Rule]. It has all methods of a learner but Learn; Diagonal and Full add that.
type Online[T learner.Float] struct {
	primal.Stored
	rule    Rule
	q       Diagonal[T] // of a full covariance the mean alone
	updates int64
	passed  int64 // examples skipped, as v was no normal number or within rounding errors
}

// NewOnline returns a learner of that rule with a diagonal or a full covariance.
func NewOnline[T learner.Float](covariance string, r Rule) learner.Learner[T] {
	online := Online[T]{Stored: primal.Stored{Name: r.Name}, rule: r}
	online.q.Name, online.q.Divisor = r.Name, 1
	if covariance == "diagonal" {
		l := &diagonalOnline[T]{online}
		l.Walk = l.fields
		return l
	}
	l := &fullOnline[T]{Online: online}
	l.Walk = l.fields
	return l
}

// CheckCovariance wants a known covariance of a learner of that name.
func CheckCovariance(name, covariance string) error {
	if covariance != "full" && covariance != "diagonal" {
		return fmt.Errorf("%s: covariance is %q, want diagonal or full: %w", name, covariance,
			learner.ErrConfig)
	}
	return nil
}

// OnlineTraits are those of the learners that NewOnline makes.
func OnlineTraits(covariance string) learner.Traits {
	t := learner.LinearTraits()
	t.Weights, t.Forgets = true, true
	t.Memory = func(x learner.Extent) learner.Footprint { return onlineMemory(covariance, x) }
	return t
}

// onlineMemory is Traits.Memory: two float64 a feature, or one and the covariance matrix.
func onlineMemory(covariance string, x learner.Extent) learner.Footprint {
	if covariance == "diagonal" {
		return DiagonalFootprint(x)
	}
	f := covarianceFootprint(&x)
	d := x.Features
	f.Copied(x, 8, learner.Times(8, d, d/2+2))
	f.Tables(x, "means and an example", 8*4)
	f.Add("work space", 1, primal.FixedBytes)
	return f
}

// step returns (1) for an example with that score, label and v: alpha y, r, and beta = 1/(v + r),
// which is 0 if there is no update.
func (l *Online[T]) step(f, y, v, weight float64) (alpha, r, beta float64) {
	if !(v > 0) {
		return 0, 0, 0
	}
	alpha, r = l.rule.Step(float64(y*f), v, weight)
	if alpha == 0 {
		return 0, 0, 0
	}
	if !(v > LeastVariance && v < MostVariance) || alpha-alpha != 0 {
		l.passed++
		return 0, 0, 0
	}
	return float64(alpha * y), r, 1 / (v + r)
}

// Score is Learner.Score: mu.x.
func (l *Online[T]) Score(b *engine.Block[T], dst []float64) error { return l.q.Score(b, dst) }

// Snapshot is Learner.Snapshot.
func (l *Online[T]) Snapshot() learner.Predictor[T] { return l.q.Copied() }

// View is for [learner.ViewOf].
func (l *Online[T]) View() learner.Predictor[T] { return l.q.View() }

// Weights returns mu.
func (l *Online[T]) Weights() []float64 { return slices.Clone(l.q.W) }

// Updates is Learner.Updates.
func (l *Online[T]) Updates() int64 { return l.updates }

// Bytes is Learner.Bytes.
func (l *Online[T]) Bytes() int64 {
	return primal.BytesOf(l.q.W) + primal.BytesOf(l.q.V) + int64(unsafe.Sizeof(*l))
}

func (l *Online[T]) counters(c *learner.Codec) {
	learner.Count(c, "updates", &l.updates)
	learner.Count(c, "passed", &l.passed)
}

// diagonalOnline has a variance a weight.
type diagonalOnline[T learner.Float] struct{ Online[T] }

func (l *diagonalOnline[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := primal.CheckWeighted(l.Name, b, len(rounds)); err != nil {
		return err
	}
	l.q.Grow(b.Dim)
	for i := range b.Len() {
		f := primal.DotMixed(b, i, l.q.W)
		rounds[i] = learner.Round{Score: f}
		y, weight := float64(b.Y[i]), float64(b.Weight(i))
		if !(float64(y*f) < l.rule.Margin) || weight == 0 {
			continue
		}
		v := DiagonalVariance(b, i, l.q.V)
		alpha, r, beta := l.step(f, y, v, weight)
		if beta == 0 {
			continue
		}
		idx, val := b.Example(i)
		for n, x := range val {
			if x == 0 {
				continue
			}
			j := engine.FeatureOf(idx, n)
			vx := float64(l.q.V[j] * float64(x))
			l.q.W[j] = math.FMA(alpha, vx, l.q.W[j]) // (2)
			// (3): 1 - beta V_i x_i^2 = (v - V_i x_i^2 + r) beta, which is above 0 in this form
			l.q.V[j] *= float64(max(0, math.FMA(-vx, float64(x), v))+r) * beta
		}
		l.updates++
		rounds[i].Updates = 1
	}
	return nil
}

// Forget is [learner.Forgetter.Forget]: no variance becomes larger than that of the prior.
func (l *diagonalOnline[T]) Forget(keep float64) error { return l.q.Forget(keep) }

func (l *diagonalOnline[T]) fields(c *learner.Codec) {
	l.counters(c)
	l.q.Fields(c)
}

// fullOnline has covariances of all weights.
type fullOnline[T learner.Float] struct {
	Online[T]
	cov Covariance // Sigma; its scratch has Sigma x
	x   []float64  // the current example
}

func (l *fullOnline[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := primal.CheckWeighted(l.Name, b, len(rounds)); err != nil {
		return err
	}
	if err := l.grow(b.Dim); err != nil {
		return err
	}
	for i := range b.Len() {
		f := primal.DotMixed(b, i, l.q.W)
		rounds[i] = learner.Round{Score: f}
		y, weight := float64(b.Y[i]), float64(b.Weight(i))
		if !(float64(y*f) < l.rule.Margin) || weight == 0 {
			continue
		}
		primal.SetSigned(b, i, 1, l.x)
		vx := l.cov.z
		l.cov.mulV(vx, l.x)
		v, least := vecmath.Dot(vx, l.x), l.floor(b, i)
		if v <= least && least > 0 {
			l.passed++
			continue
		}
		alpha, _, beta := l.step(f, y, v, weight)
		if beta == 0 {
			continue
		}
		beta = min(beta, (1-least/v)/v)
		vecmath.Axpy(l.q.W, alpha, vx) // (2)
		l.cov.rank1(-beta, vx)         // (3), with the next product
		l.updates++
		rounds[i].Updates = 1
	}
	return nil
}

// floor returns the variance of example i below which rounding errors in Sigma may decide. Each
// change of Sigma leaves errors of 2^-52 sqrt(V_jj V_kk), which x' Sigma x sums up to 2^-52 times
// the square of sum |x_j| sqrt(V_jj). 12 bits are left for errors of many changes.
//
// A change (3) leaves v (1 - beta v) of the example's variance, and at least that share of each
// weight's. With beta at most (1 - floor/v)/v the one is still the floor or more and the other,
// since floor >= 2^-40 v, beyond rounding: Sigma stays positive definite.
func (l *fullOnline[T]) floor(b *engine.Block[T], i int) float64 {
	sum := 0.0
	idx, val := b.Example(i)
	for n, x := range val {
		j := engine.FeatureOf(idx, n)
		sum = math.FMA(math.Abs(float64(x)), math.Sqrt(l.cov.V[j*l.cov.Stride+j]), sum)
	}
	return 0x1p-40 * float64(sum*sum)
}

// grow brings the features to dim; new ones have the prior.
func (l *fullOnline[T]) grow(dim int) error {
	d := len(l.q.W)
	if dim <= d {
		return nil
	}
	if dim > MaxPosteriorDim {
		return fmt.Errorf("%s: %d features, at most %d: use the diagonal covariance: %w",
			l.Name, dim, MaxPosteriorDim, learner.ErrDim)
	}
	l.cov.grow(dim)
	l.q.W, l.x = primal.Grown(l.q.W, dim), primal.Grown(l.x, dim)
	return nil
}

// Bytes is Learner.Bytes.
func (l *fullOnline[T]) Bytes() int64 {
	return l.Online.Bytes() + primal.BytesOf(l.cov.V) + 3*primal.BytesOf(l.x) +
		int64(unsafe.Sizeof(*l)-unsafe.Sizeof(l.Online))
}

// Forget is [learner.Forgetter.Forget], as that of the posteriors: see [Widened].
func (l *fullOnline[T]) Forget(keep float64) error {
	if err := learner.CheckKeep(l.Name, keep); err != nil {
		return err
	}
	return l.SetState(Widened(l.State(), keep, "covariance"))
}

// fields walks the means, and the covariances row by row up to the diagonal.
func (l *fullOnline[T]) fields(c *learner.Codec) {
	l.counters(c)
	m := learner.View(c, "w", slices.Clone(l.q.W))
	d := len(m)
	c.Want(d <= MaxPosteriorDim, "%d features, at most %d", d, MaxPosteriorDim)
	c.PerFeature("w", d)
	var lower []float64
	if c.Writing() {
		lower = l.cov.triangle()
	}
	lower = learner.View(c, "covariance", lower)
	c.Want(len(lower) == d*(d+1)/2, "%d covariances of %d features", len(lower), d)
	if c.Reading() {
		CheckCovariances(c, lower, d, 0) // 0: of features beyond 2^500
	}
	c.Then(func() {
		*l = fullOnline[T]{Online: l.Online}
		l.q.W = nil
		if err := l.grow(d); err != nil {
			panic(err) // d is in range
		}
		copy(l.q.W, m)
		l.cov.setTriangle(lower)
	})
}
