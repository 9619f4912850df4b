package learners

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/gauss"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*vvm[float32])(nil)

func init() { learner.Register("vvm", (*VVMConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*VVMConfig) Entry() learner.Entry {
	return learner.EntryFor(VVMConfig{Buffer: 10, PointsConfig: defaultPoints},
		newVVM[float32], newVVM[float64], learner.Entry{
			Summary:  "the Virtual Vector Machine: a Gaussian posterior plus a few virtual points",
			Optional: []string{"alarm"},
		})
}

// vvm keeps a posterior of the weights: a Gaussian, times the likelihood of a few virtual points.
// Of the points and the next example it absorbs into the Gaussian the one whose likelihood is most
// like one, or merges two.
//
// Reference: T. P. Minka, R. Xiang, Y. Qi, "Virtual Vector Machine for Bayesian Online
// Classification", UAI 2009, Algorithm 1:
//
//	(1) add the example to the points, and run EP on them and the residual r
//	(2) if there are more than B points, choose of all evictions and of the merges of the k
//	    closest pairs the one after which (13), the sum of the
//	    points' KL divergences from their Gaussians, is the largest
//
//	paper         here               shape, unit
//	B             Config.Buffer      points kept after the reduction
//	k             Config.Pairs       pairs that are tried
//	epsilon       Config.Noise       rate of wrong labels; Posterior.Eps where it is estimated
//	m_r, V_r      Posterior          ResidualMean; V and a pending term
//	m_w           Posterior.Mean     weights, one a feature
//	b_i           Posterior.X        points, each times its label
//	|R(x)|        stepFactor.Margin  by which Config.LargestMargin evicts
//
// Deviations: without label noise the largest cavity margin is evicted rather than the smallest KL,
// which is the same point, as KL falls with the margin, but keeps its digits. Points whose eviction
// or merging would break the covariance are left; see [gauss.Posterior], and Report. Where EP does
// not converge, or moves the posterior further than one example can, it is tried again with less
// damping, and then without the older points, which are absorbed; see
// [gauss.Posterior.Propagate].
//
// Guarantee: every eviction and merge of an independent implementation with dense matrices:
// TestGoldenVVM. B = 0 is ADF, and evicting the oldest window-EP: TestOneFamily. The covariance
// stays positive definite and all is finite, whatever the units of features: TestPosteriorStands,
// TestPosteriorUnits. No run is far behind ADF: TestPosteriorsBesideADF in bench. With wrong labels
// points bring the posterior nearer to the true one: TestPosteriorsBesideTruth.
//
// Cost: O(d^2 + B d) an example and O(B^2) a refinement of a point, B+1 of which are a sweep.
// Memory: d^2 + 2 B d + 2 B^2 float64; half of the d^2 are never touched.
type vvm[T learner.Float] struct {
	primal.Stored
	cfg     PointsConfig
	buffer  int
	pairs   int
	oldest  bool // evict in the order of arrival
	margin  bool // evict by |R(x)|
	ep      gauss.EPSettings
	p       *gauss.Posterior
	updates int64
	kl      []float64 // of the points: (13)
	barred  []bool    // points whose eviction a guard refused
	cosine  []float64 // of the points' angles, buffer+1 a row; with pairs only
	close   []closePair

	flush  sync.Mutex // of what is pending, before calls of Proba that may run at the same time
	spares gauss.Spares
}

// PointsConfig holds the settings of EP over points.
type PointsConfig struct {
	// Noise is the rate eps of label noise, 0 for separable data. Default 0.05; 0 to below 0.5.
	Noise float64 `json:"noise" flag:"label-noise" auto:"NoiseAuto" tune:"0|0.01|0.1"`
	// Tolerance is the largest change of a site at which EP ends, in units of its point's standard
	// deviation. Default 0.001, of ep 1e-06; above 0.
	Tolerance float64 `json:"tolerance" flag:"tolerance"`
	// Sweeps is the maximum number of EP sweeps before the damping is reduced. Default 20, of ep
	// 100; 1 to 2^30.
	Sweeps int `json:"sweeps" flag:"sweeps"`
	// Damping is the fraction of a site's change that is applied. Default 1; above 0 to 1.
	Damping float64 `json:"damping" flag:"damping"`
	// NoiseAuto estimates eps on the way.
	//
	// Noise is where the estimate begins, above 0 then and at most 0.45. Default false.
	NoiseAuto bool `json:"noise_auto,omitempty"`
	// Probit is the standard deviation of the probit noise of scores, 0 for a step. Default 0; 0 to
	// 1e100.
	Probit float64 `json:"probit,omitempty" flag:"noise" tune:"0.1|0.3|1"`
}

var defaultPoints = PointsConfig{Noise: 0.05, Tolerance: 1e-3, Sweeps: 20, Damping: 1}

func (c *PointsConfig) validate(name string) error {
	if err := errors.Join(gauss.CheckNoise(name, c.Noise, c.NoiseAuto),
		checkProbit(name, c.Probit)); err != nil {
		return err
	}
	if err := learner.CheckSetting(name, "tolerance", c.Tolerance, c.Tolerance > 0,
		"a number > 0"); err != nil {
		return err
	}
	return cmp.Or(learner.CheckSetting(name, "sweeps", c.Sweeps, c.Sweeps >= 1 &&
		c.Sweeps <= 1<<30, "a number > 0"),
		learner.CheckSetting(name, "damping", c.Damping, c.Damping > 0 && c.Damping <= 1,
			"a number in (0, 1]"))
}

// checkProbit wants squares that are finite, with variances added.
func checkProbit(name string, probit float64) error {
	return learner.CheckSetting(name, "noise", probit, probit >= 0 && probit <= 1e100,
		"a number from 0 to 1e100")
}

func checkBuffer(name string, n int) error {
	return learner.CheckSetting(name, "buffer", n, n >= 0 && n <= 1<<12, "0 to 4096 points")
}

// VVMConfig holds the settings of a VVM.
type VVMConfig struct {
	// Buffer is the number of points kept. Default 10; 0 to 4096.
	Buffer int `json:"buffer" flag:"buffer"`
	// Pairs is the number of closest pairs of points that may be merged, 0 to evict only. Default
	// 0; 0 to 2^24.
	Pairs int `json:"pairs" flag:"merge-pairs"`
	// LargestMargin evicts the point with the largest |R(x)|, its margin over its standard
	// deviation.
	//
	// It is the paper's simple approximation of the smallest KL, and without label noise the same
	// point. Default false.
	LargestMargin bool `json:"largest_margin,omitempty" flag:"evict-margin"`

	PointsConfig
}

// Validate wants Buffer in [0, 4096], Pairs in [0, 2^24], Noise in [0, 1/2), Tolerance, Sweeps > 0
// and Damping in (0, 1].
func (c *VVMConfig) Validate() error {
	if err := checkBuffer("vvm", c.Buffer); err != nil {
		return err
	}
	if err := learner.CheckSetting("vvm", "merge-pairs", c.Pairs, c.Pairs >= 0 &&
		c.Pairs <= 1<<24, "a number in [0, 16777216]"); err != nil {
		return err
	}
	if c.Pairs > 0 && c.Probit > 0 {
		return fmt.Errorf("vvm: merge-pairs is %d and noise %v, but only points without such "+
			"noise are merged: want one of them 0: %w", c.Pairs, c.Probit, learner.ErrConfig)
	}
	return c.PointsConfig.validate("vvm")
}

// Traits is Config.Traits.
func (c *VVMConfig) Traits() learner.Traits { return gauss.PosteriorTraits(c.memory) }

// memory is Traits.Memory: the covariance matrix, and two float64 a feature and point.
func (c *VVMConfig) memory(x learner.Extent) learner.Footprint {
	return virtualFootprint(x, int64(c.Buffer), int64(c.Pairs))
}

// virtualFootprint is that of virtualPoints.
func virtualFootprint(x learner.Extent, buffer, pairs int64) learner.Footprint {
	n := buffer + 1
	f := gauss.PosteriorFootprint(x, n)
	if pairs > 0 {
		f.Add("angles of points", n*n, 8*n*n+24*primal.ListRoom(min(pairs, n*(n-1)/2)))
	}
	return f
}

func newVVM[T learner.Float](cfg VVMConfig, _ learner.Env) (learner.Learner[T], error) {
	v := virtualPoints[T]("vvm", cfg.PointsConfig, cfg.Buffer, cfg.Pairs, false)
	v.margin = cfg.LargestMargin
	return v, nil
}

// virtualPoints makes a learner of the family.
func virtualPoints[T learner.Float](name string, cfg PointsConfig, buffer, pairs int,
	oldest bool) *vvm[T] {
	n := buffer + 1
	p := gauss.NewPosterior(cfg.Noise, n)
	p.Noise = gauss.NewNoiseEstimate(cfg.NoiseAuto, cfg.Noise)
	p.Probit2 = float64(cfg.Probit * cfg.Probit)
	v := &vvm[T]{Stored: primal.Stored{Name: name}, cfg: cfg,
		buffer: buffer, pairs: min(pairs, n*(n-1)/2), oldest: oldest,
		ep: gauss.EPSettings{Tolerance: cfg.Tolerance, Sweeps: cfg.Sweeps, Damping: cfg.Damping},
		p:  p, kl: make([]float64, n), barred: make([]bool, n)}
	v.Walk = v.fields
	if v.pairs > 0 {
		v.cosine, v.close = make([]float64, n*n), make([]closePair, 0, v.pairs+1)
	}
	return v
}

// Learn is Learner.Learn. An update is an example that was taken in: not one without features, nor
// one that was skipped (see Report).
func (v *vvm[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := primal.CheckBlock(v.Name, b, len(rounds)); err != nil {
		return err
	}
	if err := v.p.Grow(v.Name, b.Dim); err != nil {
		return err
	}
	for i := range b.Len() {
		rounds[i] = learner.Round{Score: primal.DotMixed(b, i, v.p.Mean)}
		primal.SetSigned(b, i, float64(b.Y[i]), v.p.X[v.p.K])
		if !v.p.Add() {
			continue
		}
		v.p.EstimateNoise()
		v.p.Propagate(&v.ep) // (1)
		if v.p.K > v.buffer {
			v.reduce()
		}
		v.updates++
		rounds[i].Updates = 1
	}
	return nil
}

// reduce is (2).
func (v *vvm[T]) reduce() {
	p := v.p
	if v.oldest {
		for j := range p.K {
			if p.Absorb(j) {
				return
			}
		}
		p.Discard(0)
		return
	}
	k := p.K
	if k == 1 { // nothing to choose
		if !p.Absorb(0) {
			p.Discard(0)
		}
		return
	}
	for j := range k {
		v.barred[j] = false
		if f := &p.Factor[j]; math.IsInf(f.Z, -1) { // no cavity: as far from a Gaussian as can be
			v.kl[j] = math.Inf(1)
		} else if p.Eps > 0 && !v.margin || v.pairs > 0 {
			v.kl[j] = f.DivergenceWith(p.Entropy) // (13)
		}
	}
	if v.pairs > 0 && v.mergeClosest() {
		return
	}
	first := v.evictable()
	for best := first; best >= 0; best = v.evictable() {
		if p.Absorb(best) {
			return
		}
		v.barred[best] = true
	}
	p.Discard(first)
}

// evictable returns the point whose eviction changes least, or -1 if all are barred. Ties go to the
// older one.
func (v *vvm[T]) evictable() int {
	best := -1
	for j := range v.p.K {
		switch {
		case v.barred[j]:
		case best >= 0 && v.margin:
			if math.Abs(v.p.Factor[j].Margin()) > math.Abs(v.p.Factor[best].Margin()) {
				best = j
			}
		case best < 0, v.p.Eps == 0 && v.p.Factor[j].Z > v.p.Factor[best].Z, v.p.Eps > 0 &&
			v.kl[j] < v.kl[best]:
			best = j
		}
	}
	return best
}

// closePair is a pair of points and the cosine of its angle.
type closePair struct {
	i, j   int
	cosine float64
}

// mergeClosest merges the best of the closest pairs, if that changes less than the best eviction.
func (v *vvm[T]) mergeClosest() bool {
	p, k := v.p, v.p.K
	// Closest on the unit sphere is largest cosine. The last point is new, or two are: all rows are
	// as cheap as EP.
	for i := range k {
		row := v.cosine[i*(v.buffer+1):]
		for j := range i + 1 {
			row[j] = vecmath.Dot(p.X[i], p.X[j])
		}
	}
	v.close = v.close[:0]
	for i := range k {
		for j := i + 1; j < k; j++ {
			n := v.buffer + 1
			c := closePair{i, j, v.cosine[j*n+i] /
				math.Sqrt(float64(v.cosine[i*n+i]*v.cosine[j*n+j]))}
			at := len(v.close)
			for at > 0 && v.close[at-1].cosine < c.cosine {
				at--
			}
			if at == v.pairs {
				continue
			}
			v.close = slices.Insert(v.close, at, c)[:min(len(v.close)+1, v.pairs)]
		}
	}
	least := math.Inf(1)
	if best := v.evictable(); best >= 0 {
		least = v.kl[best]
	}
	p.Flush()
	if g := gauss.SiteAddition(p.Scratch, 0); p.Inexact(&g) {
		p.DeriveAll()
	}
	best := closePair{i: -1}
	for _, c := range v.close {
		if t, ok := p.TryMerge(c.i, c.j, v.kl); ok && -t.Gain < least {
			best, least = c, -t.Gain
		}
	}
	if best.i < 0 {
		return false
	}
	t, ok := p.TryMerge(best.i, best.j, v.kl)
	if ok && p.Shrunk > 1 && p.Inexact(&t.Growth) {
		p.DeriveAll()
		t, ok = p.TryMerge(best.i, best.j, v.kl)
	}
	return ok && p.Merge(&t)
}

// mean is f, the score of the mean of w.
func (v *vvm[T]) mean() primal.WideWeights[T] {
	return primal.WideWeights[T]{Name: v.Name, W: v.p.Mean, Divisor: 1}
}

// Score is Learner.Score: the mean of w.x.
func (v *vvm[T]) Score(b *engine.Block[T], dst []float64) error {
	p := v.mean()
	return p.Score(b, dst)
}

// Proba is Prober.Proba: eps + (1-2 eps) Phi(m.x/sd) with the standard deviation sd of w.x and its
// noise. Features never seen have the prior. O(d^2 + B d) an example.
func (v *vvm[T]) Proba(b *engine.Block[T], dst []float64) error {
	p := v.gaussian()
	return p.Proba(b, dst)
}

// gaussian is the posterior as it is, with what was pending taken into the covariance.
func (v *vvm[T]) gaussian() gauss.Gaussian[T] {
	v.flush.Lock()
	v.p.Flush()
	v.flush.Unlock()
	return gauss.Gaussian[T]{WideWeights: v.mean(), Posterior: v.p, Spares: &v.spares}
}

// Snapshot is Learner.Snapshot: mean and covariance, without the points themselves.
func (v *vvm[T]) Snapshot() learner.Predictor[T] {
	p := v.gaussian()
	return p.Copied()
}

func (v *vvm[T]) View() learner.Predictor[T] {
	p := v.gaussian()
	return &p
}

// MergePosterior makes v's posterior that of both learners' examples, as if they had been
// independent given the weights: the residuals are multiplied by their natural parameters, in which
// the prior counts once, and other's points are learned like examples. For ep and adf, which keep
// no points, this is the product of the two Gaussians over the prior; it is what one learner would
// have learned of all examples where those of the two share no direction, else the approximations
// differ: TestMergePosterior. Counters add up.
//
// other, a learner of the same family with the same label noise, is left as it is; features are
// known by their numbers. Errors wrap ErrPrior, or ErrDim, and leave v's posterior as it was.
// O(d^3).
func (v *vvm[T]) MergePosterior(other learner.Learner[T]) error {
	o, q, err := v.copyOf(other)
	if err != nil {
		return err
	}
	if err := v.p.Grow(v.Name, len(q.ResidualMean)); err != nil {
		return err
	}
	if err := v.p.Multiply(v.Name, q); err != nil {
		return err
	}
	if q.Noise != nil {
		v.p.Noise.Join(q.Noise)
		v.p.SetNoise(v.p.Noise.Rate)
	}
	for j := range q.K {
		copy(v.p.X[v.p.K], q.X[j])
		if !v.p.Add() {
			continue
		}
		v.p.Propagate(&v.ep)
		if v.p.K > v.buffer {
			v.reduce()
		}
	}
	v.p.CountReport(q, 1)
	v.updates += o.updates
	return nil
}

// copyOf returns the learner that other is, one of the same family with the same label noise, and a
// copy of its posterior.
func (v *vvm[T]) copyOf(other learner.Learner[T]) (*vvm[T], *gauss.Posterior, error) {
	o, ok := other.(*vvm[T])
	if e, isEP := other.(*epLearner[T]); isEP {
		o, ok = e.vvm, true
	}
	switch {
	case !ok:
		return nil, nil, fmt.Errorf("%s: %T has no posterior of this form: %w", v.Name, other,
			learner.ErrPrior)
	case o.cfg.Noise != v.cfg.Noise || o.cfg.NoiseAuto != v.cfg.NoiseAuto:
		return nil, nil, fmt.Errorf("%s: label-noise is %v and %v: %w", v.Name, v.cfg.Noise,
			o.cfg.Noise, learner.ErrPrior)
	case o.cfg.Probit != v.cfg.Probit:
		return nil, nil, fmt.Errorf("%s: noise is %v and %v: %w", v.Name, v.cfg.Probit,
			o.cfg.Probit, learner.ErrPrior)
	}
	s := learner.StateOf(func(c *learner.Codec) { o.p.Fields(c, o.p.K) })
	q := gauss.NewPosterior(o.p.Eps, len(o.p.X))
	q.Noise, q.Probit2 = gauss.NewNoiseEstimate(o.cfg.NoiseAuto, o.p.Eps), o.p.Probit2
	take := func(c *learner.Codec) { q.Fields(c, o.p.K) }
	return o, q, learner.SetState(v.Name, s, take)
}

// DividePrior is [learner.PosteriorMerger.DividePrior]: natural parameters are subtracted. O(d^3).
func (v *vvm[T]) DividePrior(prior learner.Learner[T], times int) error {
	if times == 0 {
		prior = v
	}
	o, q, err := v.copyOf(prior)
	if err != nil {
		return err
	}
	if err := gauss.CheckBegun(v.Name, v.updates, o.updates, times); err != nil {
		return err
	}
	_, p, err := v.copyOf(v)
	if err != nil {
		return err
	}
	if err := p.Divide(v.Name, q, times); err != nil {
		return err
	}
	if err := p.Noise.Leave(v.Name, q.Noise, times); err != nil {
		return err
	}
	if p.Noise != nil {
		p.SetNoise(p.Noise.Rate)
	}
	p.CountReport(q, -times)
	v.p = p
	v.updates -= int64(times) * o.updates
	return nil
}

// Weights returns the posterior mean.
func (v *vvm[T]) Weights() []float64 { return slices.Clone(v.p.Mean) }

// Report returns what was met so far.
func (v *vvm[T]) Report() learner.PosteriorReport {
	r := v.p.Report
	if v.p.Noise != nil {
		r.LabelNoise = v.p.Noise.Rate
	}
	return r
}

// Points returns the points, each times its label.
func (v *vvm[T]) Points() [][]float64 {
	out := make([][]float64, v.p.K)
	for i := range out {
		out[i] = slices.Clone(v.p.X[i])
	}
	return out
}

func (v *vvm[T]) Updates() int64 { return v.updates }

func (v *vvm[T]) Bytes() int64 {
	return v.p.Bytes() + v.spares.Bytes() + int64(unsafe.Sizeof(*v))
}

// Forget is [learner.Forgetter.Forget]: the points stay, and what EP has found of them so far
// counts less, as does all else.
func (v *vvm[T]) Forget(keep float64) error {
	if err := learner.CheckKeep(v.Name, keep); err != nil {
		return err
	}
	return v.SetState(gauss.WidenedPosterior(v.State(), keep))
}

func (v *vvm[T]) fields(c *learner.Codec) {
	learner.Count(c, "updates", &v.updates)
	v.p.Fields(c, v.buffer)
}
