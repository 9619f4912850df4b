package learners

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*rffLearner[float32])(nil)

func init() { learner.Register("rff", (*RFFConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*RFFConfig) Entry() learner.Entry {
	return learner.EntryFor(RFFConfig{D: 200, Sigma: 1, Base: "perceptron"},
		newRFF[float32], newRFF[float64], learner.Entry{
			Summary: "a linear learner on random Fourier features: an approximate RBF kernel at " +
				"a fixed cost",
		})
}

// rffLearner maps examples to random features whose inner product approximates an RBF kernel, and
// gives them to a linear learner.
//
// Reference: A. Rahimi, B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007:
//
//	(1) omega_j ~ N(0, I/sigma^2), j = 1 ... D/2
//	(2) z(x) = sqrt(2/D) (cos omega_1.x, ..., cos omega_D/2.x, sin omega_1.x, ..., sin omega_D/2.x)
//	    E z(x).z(y) = exp(-|x-y|^2/(2 sigma^2)),   |z(x)| = 1
//
//	paper     here            shape, unit
//	D         Config.D        features z
//	sigma     Config.Sigma    width, in units of the examples; the sigma of the VVM paper is its
//	                          square
//	omega, z  fourier         see [engine.Fourier]: D/2 a feature of the examples, drawn from the
//	                          seed when the feature first comes
//
// Deviations: none. The angles omega.x are summed in T.
//
// Guarantee: over the draws z(x).z(y) has mean K(x, y) and variance at most 1/D: TestRFFKernel.
//
// Cost: D/2 multiply-adds a non-zero, D/2 sines and cosines an example, on the pool where that
// pays, and the base learner's cost for dense examples of D features. Memory: D/2 T a feature, and
// the base learner's.
type rffLearner[T learner.Float] struct {
	cfg     RFFConfig
	seed    uint64 // of the frequencies
	inner   learner.Learner[T]
	classes bool // that the inner learner tells
	weights bool // that the inner learner takes
	fourier *engine.Fourier[T]
	size    int // of a run
	runs    *scratch.Stack[rffRun[T]]
}

// RFFConfig holds the settings of RFF.
type RFFConfig struct {
	// D is the number of random features. Default 200; 2 to 2^21, even.
	D int `json:"D" flag:"rff"`
	// Sigma is the width of the RBF kernel exp(-|x-z|^2/(2 sigma^2)), in units of |x|. Default 1;
	// above 0.
	Sigma float64 `json:"sigma" flag:"sigma" tune:"0.3|1|3|10"`
	// Base is the learner of the random features, whose settings are accepted, too. Default
	// perceptron; a learner of streams.
	Base string `json:"base" flag:"base"`
	// BaseConfig is the base's own settings, of the type that its Entry.Config returns; nil stands
	// for those defaults. Default nil; any that are valid.
	BaseConfig learner.Config `json:"base_config"`
}

// Validate wants an even D > 0, Sigma > 0 and a linear base that learns one example after another.
func (c *RFFConfig) Validate() error {
	switch {
	case c.D < 2 || c.D%2 != 0 || c.D > engine.MaxFourierSize:
		return fmt.Errorf("rff: rff is %d, want an even number of features, at most %d: %w", c.D,
			engine.MaxFourierSize, learner.ErrConfig)
	case c.Base == "rff":
		return fmt.Errorf("rff: base is %q, want a linear learner: %w", c.Base, learner.ErrConfig)
	}
	if err := learner.CheckSetting("rff", "sigma", c.Sigma, c.Sigma > 0,
		"a width > 0"); err != nil {
		return err
	}
	base, err := c.Inner()
	if err != nil {
		return err
	}
	if !base.Traits().Stream {
		return fmt.Errorf("rff: base is %q, which learns from whole data sets only: want a "+
			"learner of streams: %w", c.Base, learner.ErrConfig)
	}
	return base.Validate()
}

// Traits is Config.Traits: what the base can do and needs, on examples of D features, one after
// another. What the base's settings may be relative to is known without the data.
func (c *RFFConfig) Traits() learner.Traits {
	base, err := c.Inner()
	if err != nil {
		return learner.Traits{Norm: math.NaN()}
	}
	t := base.Traits()
	t.Whole, t.SoftDelta, t.ActiveSet, t.Halving, t.OwnLimit, t.Dual = false, false, false, false,
		false, false
	t.Cut = false
	t.Relative, t.Origin, t.Linear, t.Vector, t.HardMargin = false, false, false, false, nil
	t.Members, t.Mixes = nil, false
	t.OverClasses = c.overClasses
	lifted(&t, c.over)
	// Distances that sigma divides are of the data's units, and margins are of the random features.
	t.ScaleFree, t.Norm, t.Threads = false, math.NaN(), "the random features"
	if t.Keeps > 0 {
		t.KeptWidth = int64(c.D)
		if size := t.FitMemory; size != nil {
			t.FitMemory = func(bytes int64, x learner.Extent, mean, largest int64) (learner.Config,
				error) {
				return c.fitMemory(size, bytes, x, mean, largest)
			}
		}
	}
	t.Memory = c.memory
	return t
}

// overClasses is Traits.OverClasses: the random features are the same for all classes.
func (c *RFFConfig) overClasses(lift func(learner.Entry, learner.Config) (learner.Entry,
	learner.Config, error)) (learner.Config, error) {
	base, err := c.Inner()
	if err != nil {
		return nil, err
	}
	e, err := learner.Lookup(c.Base)
	if err != nil {
		return nil, err
	}
	e, base, err = lift(e, base)
	if err != nil {
		return nil, err
	}
	r := *c
	r.Base, r.BaseConfig = e.Name, base
	return &r, r.Validate()
}

// memory is Traits.Memory: D/2 T a feature, the random features of some examples, and the base
// learner on D features.
func (c *RFFConfig) memory(x learner.Extent) learner.Footprint {
	f := c.ownMemory(x)
	base, err := c.Inner()
	if err != nil {
		return f // no learner is made of it
	}
	g := base.Traits().Memory(c.baseExtent(x))
	f.Parts = append(f.Parts, g.Parts...)
	f.Moving, f.Copies, f.Each = learner.Plus(f.Moving, g.Moving), g.Copies, g.Each
	return f
}

// ownMemory is Memory without the base.
func (c *RFFConfig) ownMemory(x learner.Extent) learner.Footprint {
	var f learner.Footprint
	held, moving := engine.FourierBytes(int64(c.D), x.Features, rffExamples(c.D, x.Elem), x.Elem,
		x.Growing)
	f.Moving = moving
	f.Add("frequencies", learner.Times(x.Features, int64(c.D)/2), held+primal.FixedBytes)
	f.Add("work space", 1, 16*primal.ListRoom(x.Longest)*(4+x.Elem))
	return f
}

// baseExtent is what the base learns of data of that extent.
func (c *RFFConfig) baseExtent(x learner.Extent) learner.Extent {
	d := int64(c.D)
	return learner.Extent{Features: d, Examples: x.Examples, NonZeros: learner.Times(x.Examples, d),
		Longest: d,
		Elem:    x.Elem, Dense: true, Kept: x.Kept, Saved: x.Saved}
}

// fitMemory is Traits.FitMemory: it sizes what the base keeps by what the features leave.
func (c *RFFConfig) fitMemory(size func(int64, learner.Extent, int64, int64) (learner.Config,
	error), bytes int64,
	x learner.Extent, mean, largest int64) (learner.Config, error) {
	own := c.ownMemory(x)
	base, err := size(bytes-learner.Plus(own.Held(), own.Moving), c.baseExtent(x), mean, largest)
	if err != nil {
		return nil, fmt.Errorf("rff: %w", err)
	}
	return c.over(base), nil
}

// rffExamples is how many examples are mapped at a time.
func rffExamples(D int, elem int64) int64 { return min(max(rffBytes/int64(D)/elem, 1), 256) }

// UnmarshalJSON is that of OBPMConfig.
func (c *RFFConfig) UnmarshalJSON(data []byte) error {
	type fields RFFConfig // without this method
	return decodeOver("rff", data, (*fields)(c), &c.Base, &c.BaseConfig)
}

// Inner returns the base's settings.
func (c *RFFConfig) Inner() (learner.Config, error) {
	return baseSettings("rff", c.Base, c.BaseConfig)
}

// Resolve resolves the base's settings, whatever the facts: its examples have length 1 and D
// features.
func (c *RFFConfig) Resolve(learner.Facts) (learner.Config, error) {
	base, err := c.resolved()
	if err != nil {
		return nil, err
	}
	return c.over(base), nil
}

func (c *RFFConfig) resolved() (learner.Config, error) {
	return resolvedBase("rff", c.Base, c.BaseConfig, learner.Facts{SumSq: 1, Features: c.D})
}

// over returns the settings with those of the base.
func (c *RFFConfig) over(base learner.Config) learner.Config {
	r := *c
	r.BaseConfig = base
	return &r
}

// rffRun is a run of examples, at most size, and their features.
type rffRun[T learner.Float] struct{ view, z engine.Block[T] }

// bytes returns the memory of the features.
func (r *rffRun[T]) bytes() int64 { return primal.BytesOf(r.z.X) + primal.BytesOf(r.z.Y) }

func newRFF[T learner.Float](cfg RFFConfig, env learner.Env) (learner.Learner[T], error) {
	base, err := cfg.resolved()
	if err != nil {
		return nil, err
	}
	inner, err := newBase[T]("rff", cfg.Base, base, env)
	if err != nil {
		return nil, err
	}
	f, err := engine.NewFourier[T](cfg.D, cfg.Sigma, env.Seed, env.Pool)
	if err != nil {
		return nil, fmt.Errorf("rff: %w: %w", err, learner.ErrConfig)
	}
	t := base.Traits()
	return &rffLearner[T]{cfg: cfg, seed: env.Seed, inner: inner, fourier: f,
		classes: t.Classes, weights: t.Weights,
		size: int(rffExamples(cfg.D, int64(unsafe.Sizeof(*new(T))))),
		runs: new(scratch.Stack[rffRun[T]])}, nil
}

// rffBytes of features are computed at a time: they stay in the cache for the base learner, and are
// work enough for the pool.
const rffBytes = 1 << 20

// Inner is the base learner, for what package learner asks of it.
func (l *rffLearner[T]) Inner() learner.Learner[T] { return l.inner }

func (l *rffLearner[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := l.check(b, len(rounds)); err != nil {
		return err
	}
	if b.Weighted() && !l.weights { // before any is learned
		return fmt.Errorf("rff: base: %w", learner.ErrWeights)
	}
	return l.each(b, func(z *engine.Block[T], lo, hi int) error {
		return l.inner.Learn(z, rounds[lo:hi])
	})
}

// Prober is for ProberOf: probabilities are the inner learner's.
func (l *rffLearner[T]) Prober() learner.Prober[T] {
	if inner := learner.ProberOf(l.inner); inner != nil {
		return proberFunc[T](func(b *engine.Block[T], dst []float64) error {
			return l.outputs(b, dst, learner.OutputsOf(l.inner), inner.Proba)
		})
	}
	return nil
}

// Posterior is for PosteriorOf: it is that of the inner learner, over the random features.
func (l *rffLearner[T]) Posterior() learner.PosteriorMerger[T] {
	if inner := learner.PosteriorOf(l.inner); inner != nil {
		return &rffPosterior[T]{inner, l}
	}
	return nil
}

// rffPosterior is the inner learner's, for learners of the same random features.
type rffPosterior[T learner.Float] struct {
	learner.PosteriorMerger[T] // of the inner learner
	rff                        *rffLearner[T]
}

// MergePosterior is PosteriorMerger.MergePosterior, for learners that have the same random
// features.
func (p *rffPosterior[T]) MergePosterior(other learner.Learner[T]) error {
	o, err := p.alike(other)
	if err != nil {
		return err
	}
	return p.PosteriorMerger.MergePosterior(o.inner)
}

// DividePrior is PosteriorMerger.DividePrior, for a prior over the same random features.
func (p *rffPosterior[T]) DividePrior(prior learner.Learner[T], times int) error {
	if times == 0 {
		return p.PosteriorMerger.DividePrior(nil, 0)
	}
	o, err := p.alike(prior)
	if err != nil {
		return err
	}
	return p.PosteriorMerger.DividePrior(o.inner, times)
}

// alike returns the learner that other is, one over the same random features.
func (p *rffPosterior[T]) alike(other learner.Learner[T]) (*rffLearner[T], error) {
	o, ok := other.(*rffLearner[T])
	if !ok || o.cfg.D != p.rff.cfg.D || o.cfg.Sigma != p.rff.cfg.Sigma || o.seed != p.rff.seed {
		return nil, fmt.Errorf("rff: the posteriors are over other random features "+
			"(RFFConfig.D, RFFConfig.Sigma, Env.Seed): %w", learner.ErrPrior)
	}
	return o, nil
}

// each maps a checked block, (1) and (2), and gives do the features of one run of examples lo to
// hi-1 after another.
func (l *rffLearner[T]) each(b *engine.Block[T], do func(z *engine.Block[T],
	lo, hi int) error) error {
	r := l.runs.Take()
	defer l.runs.Give(r)
	for lo := 0; lo < b.Len(); lo += l.size {
		hi := min(lo+l.size, b.Len())
		r.view = b.Slice(lo, hi)
		err := l.fourier.Map(&r.z, &r.view)
		r.view = engine.Block[T]{} // the examples are not the learner's
		if err != nil {            // of the first examples, or of none
			return fmt.Errorf("rff: %w", err)
		}
		if err := do(&r.z, lo, hi); err != nil {
			return err
		}
	}
	return nil
}

func (l *rffLearner[T]) Score(b *engine.Block[T], dst []float64) error {
	return l.outputs(b, dst, learner.OutputsOf(l.inner), l.inner.Score)
}

// outputs sets dst to what of says of the random features, k numbers an example.
func (l *rffLearner[T]) outputs(b *engine.Block[T], dst []float64, k int,
	of func(z *engine.Block[T], dst []float64) error) error {
	if err := primal.CheckOutputs("rff", b, k, len(dst)); err != nil {
		return err
	}
	return l.each(b, func(z *engine.Block[T], lo, hi int) error { return of(z, dst[lo*k:hi*k]) })
}

// Weights returns nil: the weights are those of the random features.
func (l *rffLearner[T]) Weights() []float64 { return nil }

func (l *rffLearner[T]) Updates() int64 { return l.inner.Updates() }

func (l *rffLearner[T]) Bytes() int64 {
	return l.inner.Bytes() + l.fourier.Bytes() + l.runs.Bytes((*rffRun[T]).bytes) +
		int64(unsafe.Sizeof(*l))
}

// State is that of the base learner: the frequencies follow from the seed.
func (l *rffLearner[T]) State() learner.State { return l.inner.State() }

func (l *rffLearner[T]) SetState(s learner.State) error {
	s.Features = l.cfg.D // that the base has seen; of the examples' own nothing is stored
	if err := l.inner.SetState(s); err != nil {
		return fmt.Errorf("rff: %w", err)
	}
	return nil
}

func (l *rffLearner[T]) CheckState(s learner.State) error {
	s.Features = l.cfg.D
	if err := l.inner.CheckState(s); err != nil {
		return fmt.Errorf("rff: %w", err)
	}
	return nil
}

// MistakeChecker is for MistakeCheckerOf: the mistakes are the inner learner's.
func (l *rffLearner[T]) MistakeChecker() learner.MistakeChecker[T] {
	inner := learner.MistakeCheckerOf(l.inner)
	if inner == nil {
		return nil
	}
	return checkerFunc[T](func(b *engine.Block[T]) (n int, err error) {
		if err := l.check(b, b.Len()); err != nil {
			return 0, err
		}
		err = l.each(b, func(z *engine.Block[T], _, _ int) error {
			of, err := inner.Mistakes(z)
			n += of
			return err
		})
		return n, err
	})
}

// check checks a block with labels; weights are the inner learner's matter.
func (l *rffLearner[T]) check(b *engine.Block[T], out int) error {
	if l.classes {
		return primal.CheckClasses("rff", b, out)
	}
	return primal.CheckWeighted("rff", b, out)
}
