package learners

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/gauss"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

var (
	_ learner.Learner[float32] = (*DiagonalAROW[float32])(nil)
	_ learner.Learner[float32] = (*FullAROW[float32])(nil)
)

func init() { learner.Register("arow", (*AROWConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*AROWConfig) Entry() learner.Entry {
	return learner.Entry{
		Summary: "AROW, adaptive regularization of weights: each weight's step shrinks with " +
			"its use",
		Config: func() learner.Config { return &AROWConfig{Covariance: "diagonal", R: 1} },
		New32:  newAROW[float32], New64: newAROW[float64],
	}
}

// DiagonalAROW is AROW with a variance a weight; with a full covariance it is [FullAROW].
//
// AROW keeps a Gaussian over weights: a mean, which scores, and covariances, which say how far the
// weights may still move. An example with a margin below 1 moves the mean most where the
// variance is large, and lowers the variance of all the weights that it has. Unlike PA, which
// brings each example's margin to 1 whatever it takes, it trades that against moving away from what
// it knows, and so bears labels that are wrong.
//
// Reference: K. Crammer, A. Kulesza, M. Dredze, "Adaptive Regularization of Weight Vectors", NIPS
// 2009, Figure 1 (and Machine Learning 91:155-187, 2013). After each example the Gaussian is that
// which minimises
//
//	D_KL(N(mu, Sigma) || N(mu_t, Sigma_t)) + max(0, 1 - y mu.x)^2/(2r) + x' Sigma x/(2r)
//
// where one of the example's margins is below 1:
//
//	(1) v = x' Sigma_t x,  beta = 1/(v + r),  alpha = max(0, 1 - y mu_t.x) beta
//	(2) mu_{t+1} = mu_t + alpha y Sigma_t x                                   (mu_1 = 0)
//	(3) Sigma_{t+1} = Sigma_t - beta Sigma_t x x' Sigma_t                     (Sigma_1 = I)
//
//	paper       here                 shape, unit
//	x_t, y_t    block                example; label, -1 or +1
//	mu          m                    one a feature
//	Sigma       v                    diagonal: one a feature; full: [feature][feature], by rows
//	r           Config.R             of |x|^2: lambda_1 = lambda_2 = 1/(2r)
//	m_t, v_t    f, v
//
// With a diagonal covariance Sigma is, after (3), replaced by its diagonal: V_i -= beta (V_i
// x_i)^2.
//
// Deviations: a weight divides r, as it multiplies both losses. An example in which v is not a
// normal number is skipped, and with the full covariance one whose v is within rounding errors; (3)
// there leaves no less of v than that.
//
// Guarantee: with the full covariance the mistakes on any examples are, for every vector u, at most
//
//	sqrt(r |u|^2 + u' X u) sqrt(log det(I + X/r) + U) + sum of max(0, 1 - y u.x) - U
//
// over the examples that it updated on, whose x x' add up to X, and U of which were no mistakes
// (Theorem 2): TestAROWMistakeBound. For examples of one feature each the diagonal one is the same:
// TestAROWDiagonal.
// Variances stay positive and all is finite, whatever the units of the features: TestAROWRange.
//
// The default r is a compromise for test examples of public sets: as they are, most want some
// more, and brought to length 1 they want less, since r is in units of |x|^2.
//
// Cost: O(non-zeros) an example with a diagonal covariance, O(Dim^2) an update with a full one.
// Memory: two float64 a feature; full: one, and Dim^2.
type DiagonalAROW[T learner.Float] struct {
	r       float64
	m, v    []float64
	updates int64
	passed  int64
}

// FullAROW is AROW with covariances of all weights; see [DiagonalAROW]. The change (3) of Sigma
// waits for the next product with Sigma, so that both are one pass over it.
type FullAROW[T learner.Float] struct {
	r       float64
	m       []float64
	v       []float64 // Sigma without the change that waits, in the layout of vecmath.SymRankOneMul
	stride  int
	beta    float64   // Sigma has beta u u' less than v; 0: nothing waits
	u       []float64 // Sigma x of the last update
	x, vx   []float64 // the example in work, and Sigma x
	updates int64
	passed  int64
}

// AROWConfig holds the settings of AROW.
type AROWConfig struct {
	// Covariance is diagonal: d numbers for d features; or full: d^2 of them. Default diagonal;
	// diagonal or full.
	Covariance string `json:"covariance" flag:"covariance" values:"diagonal|full"`
	// R is how little an example changes, in units of |x|^2: less for examples of length 1. Default
	// 1; above 0.
	R float64 `json:"r" flag:"r" tune:"0.01|0.1|1|10"`
}

// Validate wants a known Covariance and R > 0.
func (c *AROWConfig) Validate() error {
	if c.Covariance != "full" && c.Covariance != "diagonal" {
		return fmt.Errorf("arow: covariance is %q, want diagonal or full: %w", c.Covariance,
			learner.ErrConfig)
	}
	return learner.CheckSetting("arow", "r", c.R, c.R > 0, "a number > 0")
}

// Traits is Config.Traits.
func (c *AROWConfig) Traits() learner.Traits {
	t := learner.LinearTraits()
	t.Weights, t.Forgets = true, true
	return t
}

// Resolve is Config.Resolve: nothing is relative to the data.
func (c *AROWConfig) Resolve(learner.Facts) (learner.Config, error) {
	return learner.Absolute(c), nil
}

// Memory is Config.Memory: two float64 a feature, or one and the covariance matrix.
func (c *AROWConfig) Memory(x learner.Extent) learner.Footprint {
	var f learner.Footprint
	if c.Covariance == "diagonal" {
		f.Copied(x, 8, learner.Times(x.Features, 16))
		f.Tables(x, "means and variances", 16)
		f.Add("work space", 1, primal.FixedBytes)
		return f
	}
	if x.Features > gauss.MaxPosteriorDim {
		x.Features = 0
	}
	d := x.Features
	matrix := learner.Times(8, d, int64(vecmath.SymStride[float64](int(d))))
	f.Each = matrix
	f.Add("covariance matrix", learner.Times(d, d), matrix+64)
	if x.Growing {
		f.Moving = matrix
	}
	f.Copied(x, 8, learner.Times(8, d, d/2+2))
	f.Tables(x, "means and an example", 8*4)
	f.Add("work space", 1, primal.FixedBytes)
	return f
}

func newAROW[T learner.Float](c learner.Config, _ learner.Env) (learner.Learner[T], error) {
	cfg, err := learner.ConfigAs[AROWConfig]("arow", c)
	if err != nil {
		return nil, err
	}
	if cfg.Covariance == "diagonal" {
		return &DiagonalAROW[T]{r: cfg.R}, nil
	}
	return &FullAROW[T]{r: cfg.R}, nil
}

// arowStep returns (1) for an example with that score, label and variance: alpha y, and beta. Both
// are 0 if there is no update; passed is whether that is for a variance which is not a normal
// number.
func arowStep(f, y, v, r float64) (alpha, beta float64, passed bool) {
	loss := 1 - float64(y*f)
	if !(loss > 0 && v > 0) {
		return 0, 0, false
	}
	beta = 1 / (v + r)
	alpha = float64(float64(loss*beta) * y)
	if !(v > gauss.LeastVariance && v < gauss.MostVariance) || alpha-alpha != 0 {
		return 0, 0, true
	}
	return alpha, beta, false
}

// Learn is Learner.Learn.
func (l *DiagonalAROW[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := primal.CheckWeighted("arow", b, len(rounds)); err != nil {
		return err
	}
	l.m = primal.Grown(l.m, b.Dim)
	l.v = gauss.GrownVariances(l.v, b.Dim)
	for i := range b.Len() {
		f := primal.DotMixed(b, i, l.m)
		rounds[i] = learner.Round{Score: f}
		y := float64(b.Y[i])
		weight := float64(b.Weight(i))
		if float64(y*f) >= 1 || weight == 0 {
			continue
		}
		r := l.r / weight
		v := gauss.DiagonalVariance(b, i, l.v)
		idx, val := b.Example(i)
		alpha, beta, passed := arowStep(f, y, v, r)
		if passed {
			l.passed++
		}
		if beta == 0 {
			continue
		}
		for n, x := range val {
			if x == 0 {
				continue
			}
			j := engine.FeatureOf(idx, n)
			vx := float64(l.v[j] * float64(x))
			l.m[j] = math.FMA(alpha, vx, l.m[j]) // (2)
			// (3): 1 - beta V_i x_i^2 = (v - V_i x_i^2 + r) beta, which is above 0 in this form
			l.v[j] *= float64(max(0, math.FMA(-vx, float64(x), v))+r) * beta
		}
		l.updates++
		rounds[i].Updates = 1
	}
	return nil
}

// hypothesis is mu.x.
func (l *DiagonalAROW[T]) hypothesis() primal.WideWeights[T] {
	return primal.WideWeights[T]{Name: "arow", W: l.m, Divisor: 1}
}

// Score is Learner.Score: mu.x.
func (l *DiagonalAROW[T]) Score(b *engine.Block[T], dst []float64) error {
	p := l.hypothesis()
	return p.Score(b, dst)
}

// Snapshot is Learner.Snapshot.
func (l *DiagonalAROW[T]) Snapshot() learner.Predictor[T] { return l.hypothesis().Copied() }

// View is for [learner.ViewOf].
func (l *DiagonalAROW[T]) View() learner.Predictor[T] { return l.hypothesis().View() }

// Weights returns mu.
func (l *DiagonalAROW[T]) Weights() []float64 { return slices.Clone(l.m) }

// Updates is Learner.Updates.
func (l *DiagonalAROW[T]) Updates() int64 { return l.updates }

// Bytes is Learner.Bytes.
func (l *DiagonalAROW[T]) Bytes() int64 {
	return primal.BytesOf(l.m) + primal.BytesOf(l.v) + int64(unsafe.Sizeof(*l))
}

// Forget is [learner.Forgetter.Forget]: no variance becomes larger than that of the prior.
func (l *DiagonalAROW[T]) Forget(keep float64) error {
	if err := learner.CheckKeep("arow", keep); err != nil {
		return err
	}
	gauss.WidenVariances(l.v, keep)
	return nil
}

// State is Learner.State: means and variances.
func (l *DiagonalAROW[T]) State() learner.State { return learner.StateOf(l.fields) }

// SetState is Learner.SetState.
func (l *DiagonalAROW[T]) SetState(s learner.State) error {
	return learner.SetState("arow", s, l.fields)
}

// CheckState is Learner.CheckState.
func (l *DiagonalAROW[T]) CheckState(s learner.State) error {
	return learner.CheckState("arow", s, l.fields)
}

func (l *DiagonalAROW[T]) fields(c *learner.Codec) {
	learner.Count(c, "updates", &l.updates)
	learner.Count(c, "passed", &l.passed)
	m := learner.Vector(c, "w", &l.m)
	v := learner.Vector(c, "variance", &l.v)
	c.Want(len(m) == len(v), "%d means and %d variances", len(m), len(v))
	c.PerFeature("w", len(m))
	c.Want(!slices.ContainsFunc(v, func(x float64) bool { return !(x >= 0) }),
		"a negative variance")
}

// Learn is Learner.Learn.
func (l *FullAROW[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := primal.CheckWeighted("arow", b, len(rounds)); err != nil {
		return err
	}
	if err := l.grow(b.Dim); err != nil {
		return err
	}
	for i := range b.Len() {
		f := primal.DotMixed(b, i, l.m)
		rounds[i] = learner.Round{Score: f}
		y := float64(b.Y[i])
		weight := float64(b.Weight(i))
		if float64(y*f) >= 1 || weight == 0 {
			continue
		}
		r := l.r / weight
		primal.SetSigned(b, i, 1, l.x)
		l.mulV()
		v, least := vecmath.Dot(l.vx, l.x), l.floor(b, i)
		alpha, beta, passed := arowStep(f, y, v, r)
		if passed || v <= least && least > 0 {
			l.passed++
			continue
		}
		if beta == 0 {
			continue
		}
		beta = min(beta, (1-least/v)/v)
		vecmath.Axpy(l.m, alpha, l.vx)      // (2)
		l.u, l.vx, l.beta = l.vx, l.u, beta // (3), with the next product
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
func (l *FullAROW[T]) floor(b *engine.Block[T], i int) float64 {
	sum := 0.0
	idx, val := b.Example(i)
	for n, x := range val {
		j := engine.FeatureOf(idx, n)
		sum = math.FMA(math.Abs(float64(x)), math.Sqrt(l.v[j*l.stride+j]), sum)
	}
	return 0x1p-40 * float64(sum*sum)
}

// grow brings the features to dim; new ones have the prior.
func (l *FullAROW[T]) grow(dim int) error {
	d := len(l.m)
	if dim <= d {
		return nil
	}
	if dim > gauss.MaxPosteriorDim {
		return fmt.Errorf("arow: %d features, at most %d: use the diagonal covariance: %w", dim,
			gauss.MaxPosteriorDim, learner.ErrDim)
	}
	l.flush()
	l.v, l.stride = gauss.GrownCovariance(l.v, l.stride, d, dim)
	for _, v := range []*[]float64{&l.m, &l.x, &l.vx, &l.u} {
		*v = primal.Grown(*v, dim)
	}
	return nil
}

// mulV sets vx = Sigma x, with what the update before has left to do to Sigma in the same pass.
func (l *FullAROW[T]) mulV() {
	vecmath.SymRankOneMul(l.vx, l.v, l.stride, l.x, l.beta, l.u)
	if l.beta != 0 { // so that no zero in Sigma changes its sign by a change of 0
		l.beta = 0
		clear(l.u)
	}
}

// flush brings Sigma up to date. The bits are those that the next product would leave.
func (l *FullAROW[T]) flush() {
	if l.beta != 0 {
		l.mulV()
	}
}

// hypothesis is mu.x.
func (l *FullAROW[T]) hypothesis() primal.WideWeights[T] {
	return primal.WideWeights[T]{Name: "arow", W: l.m, Divisor: 1}
}

// Score is Learner.Score: mu.x.
func (l *FullAROW[T]) Score(b *engine.Block[T], dst []float64) error {
	p := l.hypothesis()
	return p.Score(b, dst)
}

// Snapshot is Learner.Snapshot.
func (l *FullAROW[T]) Snapshot() learner.Predictor[T] { return l.hypothesis().Copied() }

// View is for [learner.ViewOf].
func (l *FullAROW[T]) View() learner.Predictor[T] { return l.hypothesis().View() }

// Weights returns mu.
func (l *FullAROW[T]) Weights() []float64 { return slices.Clone(l.m) }

// Updates is Learner.Updates.
func (l *FullAROW[T]) Updates() int64 { return l.updates }

// Bytes is Learner.Bytes.
func (l *FullAROW[T]) Bytes() int64 {
	return primal.BytesOf(l.v) + primal.BytesOf(l.m) + primal.BytesOf(l.x) + primal.BytesOf(l.vx) +
		primal.BytesOf(l.u) +
		int64(unsafe.Sizeof(*l))
}

// Forget is [learner.Forgetter.Forget], as that of the posteriors: see gauss.Widened.
func (l *FullAROW[T]) Forget(keep float64) error {
	if err := learner.CheckKeep("arow", keep); err != nil {
		return err
	}
	return l.SetState(gauss.Widened(l.State(), keep, "covariance"))
}

// State is Learner.State: the means, and the covariances row by row up to the diagonal.
func (l *FullAROW[T]) State() learner.State { return learner.StateOf(l.fields) }

// SetState is Learner.SetState.
func (l *FullAROW[T]) SetState(s learner.State) error {
	return learner.SetState("arow", s, l.fields)
}

// CheckState is Learner.CheckState.
func (l *FullAROW[T]) CheckState(s learner.State) error {
	return learner.CheckState("arow", s, l.fields)
}

func (l *FullAROW[T]) fields(c *learner.Codec) {
	learner.Count(c, "updates", &l.updates)
	learner.Count(c, "passed", &l.passed)
	m := learner.View(c, "w", slices.Clone(l.m))
	d := len(m)
	c.Want(d <= gauss.MaxPosteriorDim, "%d features, at most %d", d, gauss.MaxPosteriorDim)
	c.PerFeature("w", d)
	var lower []float64
	if c.Writing() {
		lower = l.lower()
	}
	lower = learner.View(c, "covariance", lower)
	c.Want(len(lower) == d*(d+1)/2, "%d covariances of %d features", len(lower), d)
	if c.Reading() {
		gauss.CheckCovariances(c, lower, d, 0) // 0: of features beyond 2^500
	}
	c.Then(func() {
		*l = FullAROW[T]{r: l.r, updates: l.updates, passed: l.passed}
		if err := l.grow(d); err != nil {
			panic(err) // d is in range
		}
		copy(l.m, m)
		for i, k := 0, 0; i < d; i++ {
			for j := range i + 1 {
				l.v[i*l.stride+j], l.v[j*l.stride+i] = lower[k], lower[k]
				k++
			}
		}
	})
}

// lower returns the lower triangle of Sigma, with the change that is left to do.
func (l *FullAROW[T]) lower() []float64 {
	d := len(l.m)
	lower := make([]float64, 0, d*(d+1)/2)
	for i := range d {
		// as SymRankOneMul does it: the bits of flush
		change := -float64(l.beta * l.u[i])
		for j, v := range l.v[i*l.stride:][:i+1] {
			if l.beta != 0 {
				v = math.FMA(change, l.u[j], v)
			}
			lower = append(lower, v)
		}
	}
	return lower
}
