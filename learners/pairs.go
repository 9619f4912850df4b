package learners

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*pairsLearner[float32])(nil)

func init() { learner.Register("pairs", (*PairsConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*PairsConfig) Entry() learner.Entry {
	return learner.EntryFor(PairsConfig{Base: "romma",
		BaseConfig: &ROMMAConfig{Aggressive: true, Delta: 0.1,
			KernelConfig: learner.KernelConfig{Kernel: "linear"}}},
		newPairs[float32], newPairs[float64], learner.Entry{
			Summary:  "a linear learner on pairs of examples, which gives it a bias",
			Optional: []string{"base.R", "base.grown"},
		})
}

// pairsLearner gives a learner of hyperplanes through the origin a bias of its own: it shows it
// half the difference of each example and one of the other class, and puts the hyperplane midway
// between the two.
//
// Reference: K. Ishibashi, K. Hatano, M. Takeda, "Online Learning of Approximate Maximum p-Norm
// Margin Classifiers with Bias", COLT 2008, section 3.2: Theorem 2, and ROMMA run over pairs.
//
//	(1) z = y (x - x') / 2, x' the kept example of the other class, has the label +1
//	(2) where the base's rule fires on z, x is kept for its class
//	(3) f(x) = w.x + b, b = -(w.xpos + w.xneg)/2
//
//	paper         here         shape, unit
//	z/2           z            half the difference, one example
//	xpos, xneg    ends         the kept example of each class
//	w             inner        the base's weights
//	b             b            bias
//
// Deviations: none for ROMMA. The paper gives pairs to no other learner; for (3) it should be one
// of margins, whose updates come from examples near them: over a perceptron the bias is that of the
// last two mistakes, wherever they lie. Until both classes have
// come there is no pair: w is 0 then, and b the label that came. The first example of a class is
// kept whatever the base does. A pair of equal examples is not shown.
//
// Guarantee: over aggressive ROMMA with delta/2 it makes the updates and has the hyperplanes of
// pumma for p = 2 with delta: TestPairsArePUMMA.
//
// Cost: the base's for an example, one by one; O(non-zeros of both examples of a pair) to make it,
// and two scores for each update. Memory: the base's and three examples.
type pairsLearner[T learner.Float] struct {
	cfg     PairsConfig
	inner   learner.Learner[T]
	ends    [2]pairEnd[T] // kept of the classes -1 and +1
	b       float64
	updates int64
	dim     int // features seen

	view  engine.Block[T] // scratch: one example
	z     engine.Block[T] // scratch: one pair
	ptr   [2]int          // of z
	y     [1]T            // of z: +1
	round [1]learner.Round
	score [1]float64
}

// pairEnd has the features of an example, which are not 0.
type pairEnd[T learner.Float] struct {
	there bool
	idx   []int32
	val   []T
}

// PairsConfig holds the settings of Pairs.
type PairsConfig struct {
	// Base is the learner of the pairs, whose settings are accepted, too.
	//
	// Those relative to the data take a pair to be as long as an example. Default romma; a learner
	// of streams with one weight vector and no bias.
	Base string `json:"base" flag:"base"`
	// BaseConfig is the base's own settings, of the type that its Entry.Config returns.
	//
	// nil stands for the base's defaults. Default ROMMAConfig; any that are valid.
	BaseConfig learner.Config `json:"base_config"`
}

// Validate wants a base of one weight vector, without a bias, with valid settings.
func (c *PairsConfig) Validate() error {
	base, err := c.Inner()
	if err != nil {
		return err
	}
	if t := base.Traits(); c.Base == "pairs" || !t.Stream || !t.Vector || t.Biased || t.Classes ||
		t.Keeps != 0 {
		return fmt.Errorf("pairs: base is %q, want a learner of streams with one weight vector "+
			"and no bias, which keeps no examples: %w", c.Base, learner.ErrConfig)
	}
	return base.Validate()
}

// Inner returns the base's settings.
func (c *PairsConfig) Inner() (learner.Config, error) {
	return baseSettings("pairs", c.Base, c.BaseConfig)
}

// UnmarshalJSON is that of OBPMConfig.
func (c *PairsConfig) UnmarshalJSON(data []byte) error {
	type fields PairsConfig // without this method
	return decodeOver("pairs", data, (*fields)(c), &c.Base, &c.BaseConfig)
}

// Traits is Config.Traits: what the base can do on a stream of pairs. What it would know of
// examples, as probabilities, it knows of pairs.
func (c *PairsConfig) Traits() learner.Traits {
	base, err := c.Inner()
	if err != nil {
		return learner.Traits{Norm: math.NaN()}
	}
	b, t := base.Traits(), learner.LinearTraits()
	t.Relative, t.Norm, t.ScaleFree, t.Ensemble = b.Relative, b.Norm, b.ScaleFree, b.Ensemble
	t.Threads, t.Biased = b.Threads, true
	t.Memory = c.memory
	return t
}

// Resolve resolves the base's settings: a pair is at most as long as the longest example.
func (c *PairsConfig) Resolve(f learner.Facts) (learner.Config, error) {
	r := *c
	var err error
	if r.BaseConfig, err = resolvedBase("pairs", c.Base, c.BaseConfig, f); err != nil {
		return nil, err
	}
	return &r, nil
}

// memory is Traits.Memory: that of the base and of three examples.
func (c *PairsConfig) memory(x learner.Extent) learner.Footprint {
	base, err := c.Inner()
	if err != nil {
		return learner.Footprint{}
	}
	pairs := x
	if pairs.Longest = learner.Times(min(x.Longest, x.Features), 2); x.Features > 0 {
		pairs.Longest = min(pairs.Longest, x.Features)
	}
	f := base.Traits().Memory(pairs)
	f.Add("pairs", 4, learner.Times(primal.ListRoom(pairs.Longest), 4*(4+x.Elem))+
		primal.FixedBytes)
	return f
}

func newPairs[T learner.Float](cfg PairsConfig, env learner.Env) (learner.Learner[T], error) {
	inner, err := newBase[T]("pairs", cfg.Base, cfg.BaseConfig, env)
	if err != nil {
		return nil, err
	}
	return &pairsLearner[T]{cfg: cfg, y: [1]T{1}, inner: inner}, nil
}

func (l *pairsLearner[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := primal.CheckBlock("pairs", b, len(rounds)); err != nil {
		return err
	}
	l.dim = max(l.dim, b.Dim)
	for i := range b.Len() {
		l.view = b.Slice(i, i+1)
		err := l.inner.Score(&l.view, l.score[:])
		if err != nil {
			return fmt.Errorf("pairs: %w", err)
		}
		rounds[i] = learner.Round{Score: l.score[0] + l.b}
		if rounds[i].Updates, err = l.learn(b, i); err != nil {
			return fmt.Errorf("pairs: %w", err)
		}
	}
	l.view = engine.Block[T]{} // the examples are not the learner's
	return nil
}

// learn shows the base the pair of example i, (1), and returns its updates; the first example of a
// class is one.
func (l *pairsLearner[T]) learn(b *engine.Block[T], i int) (updates int32, err error) {
	this, other := &l.ends[0], &l.ends[1]
	if b.Y[i] > 0 {
		this, other = other, this
	}
	if other.there && l.pair(b, i, other) {
		l.round[0] = learner.Round{}
		if err := l.inner.Learn(&l.z, l.round[:]); err != nil {
			return 0, err
		}
		updates = l.round[0].Updates
	}
	if updates == 0 && this.there {
		return 0, nil
	}
	this.take(b, i) // (2)
	updates = max(updates, 1)
	l.updates += int64(updates)
	if !other.there {
		l.b = float64(b.Y[i])
		return updates, nil
	}
	l.b = 0
	for e := range l.ends { // (3)
		f, err := l.scoreOf(&l.ends[e])
		if err != nil {
			return 0, err
		}
		l.b -= f / 2
	}
	return updates, nil
}

// pair makes z of example i and one of the other class, in the form of b, and reports whether they
// are different. Values are halved first, so that none overflows.
func (l *pairsLearner[T]) pair(b *engine.Block[T], i int, other *pairEnd[T]) (differ bool) {
	half := b.Y[i] / 2
	idx, val := b.Example(i)
	z := &l.z
	z.Idx, z.Val, z.X = z.Idx[:0], z.Val[:0], z.X[:0]
	if b.Dense() {
		dim := b.Dim
		if n := len(other.idx); n > 0 {
			dim = max(dim, int(other.idx[n-1])+1)
		}
		z.X = primal.Grown(z.X, dim)
		for j, v := range val {
			z.X[j] = T(half * v)
		}
		for n, j := range other.idx {
			z.X[j] -= T(half * other.val[n])
		}
		for _, v := range z.X {
			differ = differ || v != 0
		}
		*z = engine.Block[T]{Y: l.y[:], Dim: dim, X: z.X, Stride: dim, Idx: z.Idx, Val: z.Val}
		return differ
	}
	to := func(j int32, v T) {
		if v != 0 {
			z.Idx, z.Val = append(z.Idx, j), append(z.Val, v)
		}
	}
	at := 0
	for n, j := range idx {
		for ; at < len(other.idx) && other.idx[at] < j; at++ {
			to(other.idx[at], T(-half*other.val[at]))
		}
		v := T(half * val[n])
		if at < len(other.idx) && other.idx[at] == j {
			v -= T(half * other.val[at])
			at++
		}
		to(j, v)
	}
	for ; at < len(other.idx); at++ {
		to(other.idx[at], T(-half*other.val[at]))
	}
	n := len(z.Idx)
	if n == 0 {
		return false
	}
	l.ptr[1] = n
	dim := max(b.Dim, int(z.Idx[n-1])+1) // not l.dim: a base may keep a table of Dim features
	*z = engine.Block[T]{Y: l.y[:], Dim: dim, Ptr: l.ptr[:], Idx: z.Idx, Val: z.Val, X: z.X}
	return true
}

// take makes the end example i.
func (e *pairEnd[T]) take(b *engine.Block[T], i int) {
	e.there, e.idx, e.val = true, e.idx[:0], e.val[:0]
	idx, val := b.Example(i)
	for n, v := range val {
		if v != 0 {
			e.idx, e.val = append(e.idx, int32(engine.FeatureOf(idx, n))), append(e.val, v)
		}
	}
}

// scoreOf returns w.x of a kept example.
func (l *pairsLearner[T]) scoreOf(e *pairEnd[T]) (float64, error) {
	n, dim := len(e.idx), 0
	if n > 0 {
		dim = int(e.idx[n-1]) + 1
	}
	l.ptr[1] = n
	l.view = engine.Block[T]{Y: l.y[:], Dim: dim, Ptr: l.ptr[:], Idx: e.idx, Val: e.val}
	err := l.inner.Score(&l.view, l.score[:])
	return l.score[0], err
}

func (l *pairsLearner[T]) Score(b *engine.Block[T], dst []float64) error {
	return shifted("pairs", b, dst, l.inner, l.b)
}

// shifted sets dst to scores plus a bias.
func shifted[T learner.Float](name string, b *engine.Block[T], dst []float64, of scorer[T],
	bias float64) error {
	if err := primal.CheckRows(name, b, len(dst)); err != nil {
		return err
	}
	if err := of.Score(b, dst); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for i := range b.Len() {
		dst[i] += bias
	}
	return nil
}

// Weights is Learner.Weights; see also Bias.
func (l *pairsLearner[T]) Weights() []float64 { return l.inner.Weights() }
func (l *pairsLearner[T]) Bias() float64      { return l.b }

// Updates returns the base's updates, and one for the first example of each class.
func (l *pairsLearner[T]) Updates() int64 { return l.updates }

func (l *pairsLearner[T]) Bytes() int64 {
	n := l.inner.Bytes() + int64(unsafe.Sizeof(*l)) + primal.BytesOf(l.z.X) +
		primal.BytesOf(l.z.Val) + 4*int64(cap(l.z.Idx))
	for _, e := range l.ends {
		n += primal.BytesOf(e.val) + 4*int64(cap(e.idx))
	}
	return n
}

// State is Learner.State: the base's, with base. before the names, the kept examples and the bias.
func (l *pairsLearner[T]) State() learner.State { return learner.StateOf(l.fields) }

func (l *pairsLearner[T]) SetState(s learner.State) error {
	return learner.SetState("pairs", s, l.fields)
}

func (l *pairsLearner[T]) CheckState(s learner.State) error {
	return learner.CheckState("pairs", s, l.fields)
}

func (l *pairsLearner[T]) fields(c *learner.Codec) {
	learner.Count(c, "updates", &l.updates)
	dim := learner.Count(c, "dim", &l.dim)
	c.Want(dim <= math.MaxInt32, "counter %q is %d", "dim", dim)
	c.WithinFeatures("dim", dim)
	c.Scalar("b", &l.b)
	var kept uint64
	for i, e := range l.ends {
		if e.there {
			kept |= keptNeg >> i // of the class -1, then +1
		}
	}
	kept = learner.Count(c, "kept", &kept)
	c.Want(kept <= keptPos|keptNeg, "counter %q is %d", "kept", kept)
	for i, name := range [...]string{"neg", "pos"} {
		l.ends[i].fields(c, name, dim, kept&(keptNeg>>i) != 0)
	}
	learner.Inners(c, func(int) string { return "base." }, []learner.Learner[T]{l.inner})
}

// fields are those of a kept example; one that is not there has no tensors.
func (e *pairEnd[T]) fields(c *learner.Codec, name string, dim int, there bool) {
	c.Then(func() { *e = pairEnd[T]{there: there} })
	if !there {
		return
	}
	idx := learner.Vector(c, name+"_idx", &e.idx)
	val := learner.Vector(c, name, &e.val)
	if !c.Want(len(idx) == len(val), "tensor %q has %d elements, and %q %d", name+"_idx", len(idx),
		name, len(val)) {
		return
	}
	last := int32(-1)
	for _, j := range idx {
		c.Want(j > last && int(j) < dim, "tensor %q is not ascending, or has %d of %d features",
			name+"_idx", j, dim)
		last = j
	}
	if c.Reading() {
		zero := slices.Contains(val, 0)
		c.Want(!zero, "tensor %q has a 0", name)
	}
}

// biased is a hypothesis and a bias.
type biased[T learner.Float] struct {
	primal.OneOutput
	b  float64
	of memberPredictor[T]
}

func newBiased[T learner.Float](of learner.Predictor[T], b float64) *biased[T] {
	return &biased[T]{b: b, of: memberPredictor[T]{&of}}
}

func (p *biased[T]) Score(b *engine.Block[T], dst []float64) error {
	return shifted("pairs", b, dst, *p.of.p, p.b)
}

func (p *biased[T]) Weights() []float64 { return (*p.of.p).Weights() }

func (p *biased[T]) Hypothesis() learner.Hypothesis {
	h, _ := learner.HypothesisOf(*p.of.p)
	for k := range h.Outputs {
		h.Outputs[k].Bias += float64(p.b * h.Outputs[k].Divisor)
	}
	return h
}

func (p *biased[T]) Bytes() int64 { return (*p.of.p).Bytes() + int64(unsafe.Sizeof(*p)) + 16 }

// State is Predictor.State: that of the base's hypothesis, and the bias.
func (p *biased[T]) State() learner.State { return learner.StateOf(p.fields) }

func (p *biased[T]) CheckState(s learner.State) error {
	return learner.CheckState("pairs", s, p.fields)
}

func (p *biased[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	r := newBiased(*p.of.p, 0)
	if err := learner.SetState("pairs", s, r.fields); err != nil {
		return nil, err
	}
	return r, nil
}

func (p *biased[T]) fields(c *learner.Codec) {
	c.Scalar("b", &p.b)
	learner.Inners(c, func(int) string { return "base." }, []memberPredictor[T]{p.of})
}

func (l *pairsLearner[T]) Snapshot() learner.Predictor[T] {
	return newBiased(l.inner.Snapshot(), l.b)
}

func (l *pairsLearner[T]) View() learner.Predictor[T] {
	return newBiased(learner.ViewOf(l.inner), l.b)
}
