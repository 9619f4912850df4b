package learners

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/gauss"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*diagonalADF[float32])(nil)

func init() { learner.Register("adf", (*ADFConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*ADFConfig) Entry() learner.Entry {
	return learner.EntryFor(ADFConfig{Covariance: "full", Noise: 0.05},
		newADF[float32], newADF[float64], learner.Entry{
			Summary: "assumed density filtering: a Gaussian posterior, with a full or a diagonal " +
				"covariance",
		})
}

// diagonalADF is assumed density filtering with independent weights: after each example the
// posterior is replaced by the Gaussian with its means and variances.
//
// Reference: T. P. Minka, "A family of algorithms for approximate Bayesian inference", PhD thesis,
// MIT, 2001, chapter 3, and the VVM paper's (20), for a diagonal V. With x times its label, v = sum
// V_i x_i^2, z = m.x/sqrt(v) and the step factor's h, d:
//
//	(1) m_i += h V_i x_i/sqrt(v)
//	(2) V_i -= (h d/v) (V_i x_i)^2
//
//	paper    here    shape, unit
//	m, V     W, V    mean and variance, one a feature
//
// Deviations: none. An example in which v is not a normal number is skipped.
//
// Guarantee: for examples of one feature each it is ADF with the full covariance: TestDiagonalADF.
//
// Cost: O(non-zeros). Memory: two float64 a feature.
type diagonalADF[T learner.Float] struct {
	primal.Stored
	q       diagonal[T]
	noise   *gauss.NoiseEstimate // that q.eps follows; nil: none
	updates int64
	passed  int64 // examples skipped
}

// ADFConfig holds the settings of assumed density filtering: with a full covariance a VVM without
// points, else DiagonalADF.
type ADFConfig struct {
	// Covariance is full: d^2 numbers for d features; or diagonal: d of them. Default full; full or
	// diagonal.
	Covariance string `json:"covariance" flag:"covariance" values:"full|diagonal"`
	// Noise is the rate eps of label noise, 0 for separable data. Default 0.05; 0 to below 0.5.
	Noise float64 `json:"noise" flag:"label-noise" auto:"NoiseAuto" tune:"0|0.01|0.1"`
	// NoiseAuto estimates eps on the way.
	//
	// Noise is where the estimate begins, above 0 then and at most 0.45. Default false.
	NoiseAuto bool `json:"noise_auto,omitempty"`
	// Probit is the standard deviation of the probit noise of scores, 0 for a step. Default 0; 0 to
	// 1e100.
	Probit float64 `json:"probit,omitempty" flag:"noise" tune:"0.1|0.3|1"`
}

// Validate wants a known Covariance, Noise in [0, 1/2) and Probit >= 0.
func (c *ADFConfig) Validate() error {
	if c.Covariance != "full" && c.Covariance != "diagonal" {
		return fmt.Errorf("adf: covariance is %q, want full or diagonal: %w", c.Covariance,
			learner.ErrConfig)
	}
	return errors.Join(gauss.CheckNoise("adf", c.Noise, c.NoiseAuto),
		checkProbit("adf", c.Probit))
}

// Traits is Config.Traits: each weight's variance begins large and follows its feature, whatever
// the unit. Labels that may be wrong help where examples can't be taken up.
func (c *ADFConfig) Traits() learner.Traits { return gauss.PosteriorTraits(c.memory) }

// memory is Traits.Memory: two float64 a feature, or the covariance matrix.
func (c *ADFConfig) memory(x learner.Extent) learner.Footprint {
	if c.Covariance != "diagonal" {
		return virtualFootprint(x, 0, 0)
	}
	return gauss.DiagonalFootprint(x)
}

func newADF[T learner.Float](cfg ADFConfig, _ learner.Env) (learner.Learner[T], error) {
	if cfg.Covariance == "diagonal" {
		l := &diagonalADF[T]{Stored: primal.Stored{Name: "adf"},
			noise: gauss.NewNoiseEstimate(cfg.NoiseAuto, cfg.Noise)}
		l.q.Name, l.q.Divisor, l.q.eps = "adf", 1, cfg.Noise
		l.q.probit2 = float64(cfg.Probit * cfg.Probit)
		l.Walk = l.fields
		return l, nil
	}
	// One point has its site after one sweep; the second finds nothing to do.
	return virtualPoints[T]("adf", PointsConfig{Noise: cfg.Noise, Tolerance: 1e-9, Sweeps: 4,
		Damping: 1, NoiseAuto: cfg.NoiseAuto, Probit: cfg.Probit}, 0, 0, false), nil
}

func (l *diagonalADF[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := primal.CheckBlock("adf", b, len(rounds)); err != nil {
		return err
	}
	l.q.Grow(b.Dim)
	mean, variances := l.q.W, l.q.V
	for i := range b.Len() {
		f := primal.DotMixed(b, i, mean)
		rounds[i] = learner.Round{Score: f}
		v := gauss.DiagonalVariance(b, i, variances)
		if v == 0 {
			continue
		}
		if !(v > gauss.LeastVariance && v < gauss.MostVariance) {
			l.passed++
			continue
		}
		v += l.q.probit2
		root, y := math.Sqrt(v), float64(b.Y[i])
		z := float64(y*f) / root
		if l.noise != nil {
			l.noise.See(z)
			l.q.eps = l.noise.Rate
		}
		s := gauss.NewStepFactor(z, l.q.eps)
		step, shrink := float64(y*s.H)/root, float64(s.H*s.D)/v
		idx, val := b.Example(i)
		if idx == nil {
			m, v := mean[:len(val)], variances[:len(val)]
			for j, x := range val {
				if x != 0 {
					m[j], v[j] = diagonalStep(m[j], v[j], float64(x), step, shrink)
				}
			}
		} else {
			for n, x := range val {
				if j := idx[n]; x != 0 {
					mean[j], variances[j] = diagonalStep(mean[j], variances[j], float64(x), step,
						shrink)
				}
			}
		}
		l.updates++
		rounds[i].Updates = 1
	}
	return nil
}

// diagonalStep returns (1) and (2) of a weight of mean m and variance v.
func diagonalStep(m, v, x, step, shrink float64) (mean, variance float64) {
	vx := float64(v * x)
	// (2); V_i x_i^2 <= v and h d < 1, so 1 - h d or more is left. That is some 1/z^2 for z far
	// below 0: 2^-40, with 13 bits above the rounding errors, is reached by an example 2^20
	// standard deviations on the wrong side, without label noise.
	left := max(0x1p-40, math.FMA(-shrink, float64(vx*x), 1))
	return math.FMA(step, vx, m), float64(v * left)
}

// Score is Learner.Score: the mean of w.x.
func (l *diagonalADF[T]) Score(b *engine.Block[T], dst []float64) error { return l.q.Score(b, dst) }

// Proba is Prober.Proba, as that of VVM. O(non-zeros) an example.
func (l *diagonalADF[T]) Proba(b *engine.Block[T], dst []float64) error { return l.q.Proba(b, dst) }

func (l *diagonalADF[T]) Snapshot() learner.Predictor[T] { return l.q.copied() }
func (l *diagonalADF[T]) View() learner.Predictor[T]     { return l.q.view() }

// MergePosterior is that of VVM, of two learners with a diagonal covariance.
func (l *diagonalADF[T]) MergePosterior(other learner.Learner[T]) error {
	o, err := l.alike(other)
	if err != nil {
		return err
	}
	if err := l.combine(o, -1, "product"); err != nil {
		return err
	}
	l.updates += o.updates
	l.passed += o.passed
	if l.noise != nil {
		l.noise.Join(o.noise)
		l.q.eps = l.noise.Rate
	}
	return nil
}

// alike returns the learner that other is, one of the same form with the same label noise.
func (l *diagonalADF[T]) alike(other learner.Learner[T]) (*diagonalADF[T], error) {
	o, ok := other.(*diagonalADF[T])
	if !ok || (o.noise != nil) != (l.noise != nil) || l.noise == nil && o.q.eps != l.q.eps ||
		ok && o.q.probit2 != l.q.probit2 {
		return nil, fmt.Errorf("adf: other posterior is of %T, or of another label-noise or "+
			"noise: %w", other, learner.ErrPrior)
	}
	return o, nil
}

func (l *diagonalADF[T]) DividePrior(prior learner.Learner[T], times int) error {
	if times == 0 { // there are no points
		return nil
	}
	o, err := l.alike(prior)
	if err != nil {
		return err
	}
	if err := gauss.CheckBegun("adf", l.updates, o.updates, times); err != nil {
		return err
	}
	before := *l
	if err := l.combine(o, float64(times), "quotient"); err != nil {
		return err
	}
	if err := l.noise.Leave("adf", o.noise, times); err != nil {
		*l = before
		return err
	}
	if l.noise != nil {
		l.q.eps = l.noise.Rate
	}
	l.updates -= int64(times) * o.updates
	l.passed = max(0, l.passed-int64(times)*o.passed)
	return nil
}

// combine takes the posterior of o n times out of l's, in natural parameters and without the prior,
// of which there is one; n = -1 takes it in. what names the result in the error.
func (l *diagonalADF[T]) combine(o *diagonalADF[T], n float64, what string) error {
	q := gauss.Diagonal[T]{V: slices.Clone(l.q.V)}
	q.W = slices.Clone(l.q.W)
	q.Grow(len(o.q.W))
	m, v := q.W, q.V
	for i, m2 := range o.q.W {
		precision := math.FMA(-n, 1/o.q.V[i]-1, 1/v[i])
		mean := math.FMA(-n, m2/o.q.V[i], m[i]/v[i]) / precision
		if !(precision > 0) || math.IsInf(precision, 0) || mean-mean != 0 {
			return fmt.Errorf("adf: the %s of the posteriors of weight %d is not a "+
				"distribution: %w", what, i, learner.ErrPrior)
		}
		m[i], v[i] = mean, 1/precision
	}
	l.q.W, l.q.V = m, v
	return nil
}

// Weights returns the posterior mean.
func (l *diagonalADF[T]) Weights() []float64 { return slices.Clone(l.q.W) }

// Report returns how many examples were skipped.
func (l *diagonalADF[T]) Report() learner.PosteriorReport {
	r := learner.PosteriorReport{Passed: l.passed}
	if l.noise != nil {
		r.LabelNoise = l.noise.Rate
	}
	return r
}

func (l *diagonalADF[T]) Updates() int64 { return l.updates }

func (l *diagonalADF[T]) Bytes() int64 {
	return primal.BytesOf(l.q.W) + primal.BytesOf(l.q.V) + int64(unsafe.Sizeof(*l))
}

// Forget is [learner.Forgetter.Forget]: no variance becomes larger than that of the prior.
func (l *diagonalADF[T]) Forget(keep float64) error { return l.q.Forget(keep) }

func (l *diagonalADF[T]) fields(c *learner.Codec) {
	learner.Count(c, "updates", &l.updates)
	learner.Count(c, "passed", &l.passed)
	l.q.Diagonal.Fields(c)
	l.noise.Fields(c, func(rate float64) { l.q.eps = rate })
}

// diagonal is a normal distribution of the weights with a diagonal covariance.
type diagonal[T learner.Float] struct {
	gauss.Diagonal[T]
	eps, probit2 float64 // rate of wrong labels, variance of the noise of scores; 0: a step
}

// Proba is Prober.Proba, as that of a full covariance. O(non-zeros) an example.
func (p *diagonal[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := p.Score(b, dst); err != nil {
		return err
	}
	for i := range b.Len() {
		dst[i] = gauss.Probability(dst[i], gauss.DiagonalVariance(b, i, p.V)+p.probit2, p.eps)
	}
	return nil
}

func (p *diagonal[T]) Bytes() int64 {
	return primal.BytesOf(p.W) + primal.BytesOf(p.V) + int64(unsafe.Sizeof(*p))
}

// State is Predictor.State: means and variances, and the rate of wrong labels as the scalar noise.
func (p *diagonal[T]) State() learner.State { return learner.StateOf(p.Fields) }

func (p *diagonal[T]) CheckState(s learner.State) error {
	return learner.CheckState(p.Name, s, p.Fields)
}

func (p *diagonal[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	var r diagonal[T]
	r.Name, r.Divisor = p.Name, 1
	return primal.Restored(p.Name, &r, s)
}

func (p *diagonal[T]) Fields(c *learner.Codec) {
	p.Diagonal.Fields(c)
	eps, probit2 := gauss.NoiseRate(c, p.eps), gauss.ProbitVariance(c, p.probit2)
	c.Then(func() { p.eps, p.probit2 = eps, probit2 })
}

// copied returns a copy with memory of its own.
func (p diagonal[T]) copied() learner.Predictor[T] {
	p.W, p.V = slices.Clone(p.W), slices.Clone(p.V)
	return &p
}

// view returns the same distribution; good until it changes.
func (p diagonal[T]) view() learner.Predictor[T] { return &p }
