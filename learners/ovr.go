package learners

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*ovr[float32])(nil)

func init() { learner.Register("ovr", (*OVRConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*OVRConfig) Entry() learner.Entry {
	return learner.EntryFor(OVRConfig{Base: "obpm"}, newOVR[float32],
		newOVR[float64], learner.Entry{
			Summary: "one against the rest: any number of classes, a learner of two for each",
			Over: func(base string, c learner.Config, classes int) learner.Config {
				return &OVRConfig{Classes: classes, Base: base, BaseConfig: c}
			},
			Holding: holdClasses,
		})
}

// ovr tells any number of classes by one learner of two for each, which is shown the examples of
// its class as +1 and all others as -1. The class of the largest score is predicted, the first one
// of several.
//
// Reference: R. Rifkin, A. Klautau, "In Defense of One-Vs-All Classification", JMLR 5, 2004.
//
//	paper     here        shape, unit
//	N         columns     classes that have come, numbered from 0
//	f_i(x)    outputs     score of class i's learner
//	f(x)      Predicted   arg max_i f_i(x), the first of several
//
// Deviations: a class may come at any time. Its learner has then learned all examples before as
// ones of the rest, since beside the classes' learners one more learns every example as such and is
// copied for each new class. It is left out with Config.Classes, which says how many there will be.
//
// Guarantee: the learner of a class is, to the bit, that of two classes, its own and the rest, over
// the same stream, whenever the class came: TestOVRColumns. All have the same seed, so members of
// ensembles see an example by the same draw whatever the class.
//
// Where the base has Fit, Fit fits the classes' learners one after another; kernel rows are
// computed once for all of them. A class that has no example there is then none, and one that comes
// later begins with what the learner of the rest has learned without Fit. A run is cut between two
// of them, and within one whose base can be cut (Traits.Cut).
//
// Cost: the base's, once a class; on the pool, a class a part. Memory: that of the base for each
// class, and once more where any class may come; 16 bytes a class and example of a run.
type ovr[T learner.Float] struct {
	cfg      OVRConfig
	entry    learner.Entry
	base     learner.Config
	env      learner.Env // of the columns
	fleet[T]             // of the columns: one a class
	pairs    bool        // there is a column for each two classes, see OVOConfig
	first    bool        // of ovo, classes with as many votes are told by their order
	// what columns of classes to come begin with: of ovr one, which has learned all examples as no
	// class's, of ovo one a class, which has learned its examples; nil: no class will come
	lone    []learner.Learner[T]
	since   []int64       // of each class: examples before its first
	trace   *columnTraces // of what columns do; nil: none is kept
	joining *ovrJoining   // of parts that have learned; nil: the columns learn
	// of parts of the classes that have learned; nil: likewise
	gathered *gatheredClasses[T]

	updates uint64         // of columns
	cut     *learner.State // where a Fit was cut, see columnsFit; nil: none was
	traits  learner.Traits // of the base
	outputs []float64      // of an example that is learned: of the classes
}

// OVRConfig holds the settings of OVR.
type OVRConfig struct {
	// Classes is how many classes there will be, 0 for any number.
	//
	// Where it is known, the learner that new ones begin with is saved. Default 0; 0 to 2^20.
	Classes int `json:"classes" flag:"class-count"`
	// Base is the learner of two classes, whose own settings are taken, too. Default obpm; a
	// learner of two classes.
	Base string `json:"base" flag:"base"`
	// Part says which classes of a whole these are; nil: they are all. See
	// [learner.Traits].ShardClasses. Default nil; a part of classes.
	Part *learner.Part `json:"part,omitempty"`
	// BaseConfig is the base's own settings, of the type that its Entry.Config returns; nil stands
	// for those defaults. Default nil; any that are valid.
	BaseConfig learner.Config `json:"base_config"`
}

// MaxClasses is the largest number of classes.
const MaxClasses = 1 << 20

// Validate wants a base of two classes with valid settings.
func (c *OVRConfig) Validate() error {
	if err := checkClassCount("ovr", c.Classes); err != nil {
		return err
	}
	base, err := c.Inner()
	if err != nil {
		return err
	}
	if err := checkTwo("ovr", c.Base, base); err != nil {
		return err
	}
	return c.validatePart(base)
}

// checkTwo wants valid settings of a learner of two classes, for a learner of that name over it.
func checkTwo(name, of string, base learner.Config) error {
	t := base.Traits()
	switch {
	case t.Classes:
		return fmt.Errorf("%s: base is %q, of any number of classes: want a learner of two: %w",
			name, of, learner.ErrConfig)
	case t.OverClasses != nil:
		return fmt.Errorf("%s: base is %q, which gives its examples to another learner: want %q "+
			"over that one: %w", name, of, name, learner.ErrConfig)
	}
	return base.Validate()
}

// checkClassCount wants a number of classes that a learner of that name may have.
func checkClassCount(name string, n int) error {
	if n < 0 || n > MaxClasses {
		return fmt.Errorf("%s: classes is %d, want 0 to %d: %w", name, n, MaxClasses,
			learner.ErrConfig)
	}
	return nil
}

// Inner returns the base's settings.
func (c *OVRConfig) Inner() (learner.Config, error) {
	return baseSettings("ovr", c.Base, c.BaseConfig)
}

// UnmarshalJSON is that of OBPMConfig.
func (c *OVRConfig) UnmarshalJSON(data []byte) error {
	type fields OVRConfig // without this method
	raw := struct {
		*fields
		BaseConfig json.RawMessage `json:"base_config"` // hides the field of that name
	}{fields: (*fields)(c)}
	err := decodeSettings(data, &raw)
	if err != nil {
		return fmt.Errorf("ovr: settings: %w", err)
	}
	c.BaseConfig, err = decodeBase("ovr", c.Base, raw.BaseConfig)
	return err
}

// Traits is Config.Traits: what the base can do and needs, once a class.
func (c *OVRConfig) Traits() learner.Traits {
	base, err := c.Inner()
	if err != nil {
		return learner.Traits{Norm: math.NaN()}
	}
	t := traitsOver(base.Traits(), c.Classes, "the classes")
	lifted(&t, func(base learner.Config) learner.Config {
		r := *c
		r.BaseConfig = base
		return &r
	})
	c.shardTraits(&t, base)
	return t
}

// traitsOver is Traits over learners of two classes with these.
func traitsOver(b learner.Traits, classes int, threads string) learner.Traits {
	t := b
	t.Classes, t.ClassCount = true, classes
	t.Members, t.HardMargin, t.Threads = nil, nil, threads
	t.Posterior, t.Dual, t.Biased, t.Origin = false, false, false, false
	t.Mixes = false
	// Where a base can't be cut, there are still places between columns.
	t.Cut, t.Anew = b.Whole, b.Whole && !b.Cut
	if b.Keeps > 0 { // by how many classes is not known
		t.Keeps, t.Sizes, t.FitMemory = learner.Any, nil, nil
	}
	return t
}

// Resolve resolves the base's settings: all columns see the examples as they are.
func (c *OVRConfig) Resolve(f learner.Facts) (learner.Config, error) {
	r := *c
	base, err := c.Inner()
	if err != nil {
		return nil, err
	}
	if r.BaseConfig, err = learner.Resolve(base, f); err != nil {
		return nil, fmt.Errorf("ovr: base: %w", err)
	}
	return &r, nil
}

// Memory is Config.Memory: that of the base for each class, and for the rest.
func (c *OVRConfig) Memory(x learner.Extent) learner.Footprint {
	base, err := c.Inner()
	if err != nil {
		return learner.Footprint{}
	}
	k := max(x.Classes, int64(c.Classes), 2)
	if c.Part != nil {
		k = (k + int64(c.Part.Of) - 1) / int64(c.Part.Of)
	}
	if c.Classes == 0 {
		k++
	}
	return memoryOver(base, k, x)
}

// memoryOver is Memory of so many learners of two classes.
func memoryOver(base learner.Config, k int64, x learner.Extent) (f learner.Footprint) {
	x.Kept = 0
	if x.Whole { // one class is fitted after another
		f = base.Memory(x)
		x.Whole = false
	}
	each := int64(unsafe.Sizeof(engine.Block[float64]{})) + 64 + 16 + 64
	run := ensemble.RunExamples * (32 + x.Elem) * 5 / 4
	fleetFootprint(&f, base.Memory(x), "classes'", k, learner.Times(k, each+run),
		learner.Times(k, 16), x)
	return f
}

func newOVR[T learner.Float](cfg OVRConfig, env learner.Env) (learner.Learner[T], error) {
	return newOver[T](cfg, false, false, env)
}

// newOver returns a learner over pairs of classes, or over each class and the rest.
func newOver[T learner.Float](cfg OVRConfig, pairs, first bool, env learner.Env) (
	learner.Learner[T], error) {
	base, err := cfg.Inner()
	if err != nil {
		return nil, err
	}
	e, err := learner.Lookup(cfg.Base)
	if err != nil {
		return nil, err
	}
	// Columns are parts on the pool, within which there is none. Those of whole data sets are
	// fitted one after another, over the same examples.
	t := base.Traits()
	o := &ovr[T]{cfg: cfg, entry: e, base: base, traits: t, pairs: pairs, first: first,
		fleet: fleet[T]{name: "ovr", pool: env.Pool},
		env:   learner.Env{Seed: env.Seed, Kept: env.Kept}}
	if pairs {
		o.name = "ovo"
	}
	o.teach = o.learnPart
	if !t.Stream {
		o.env.Pool = env.Pool
	}
	if t.Whole {
		if o.env.Rows = env.Rows; o.env.Rows == nil {
			o.env.Rows = new(engine.SharedRows)
		}
	}
	if !env.Restored {
		if err := o.come(cfg.Classes); err != nil {
			return nil, err
		}
	}
	if err := o.addLone(); err != nil {
		return nil, err
	}
	o.runs.Give(&o.own)
	return o, nil
}

// addLone makes the learner of the rest, if there is one.
func (o *ovr[T]) addLone() error {
	if o.cfg.Classes > 0 || !o.traits.Stream || o.pairs {
		return nil
	}
	l, err := o.column()
	if err == nil {
		o.lone = append(o.lone, l)
	}
	return err
}

// Fitter is for [learner.AsFitter]: nil where the base has no Fit.
func (o *ovr[T]) Fitter() learner.Fitter[T] {
	if !o.traits.Whole || o.cfg.Part != nil {
		return nil
	}
	return fittingOVR[T]{o}
}

// fittingOVR is one of a base that has Fit.
type fittingOVR[T learner.Float] struct{ *ovr[T] }

// Fit is [learner.Fitter.Fit].
func (o fittingOVR[T]) Fit(ctx context.Context, b *engine.Block[T], f learner.FitOptions) (
	learner.FitResult, error) {
	return o.fit(ctx, b, f)
}

// Keeper is for [learner.SupportOf]: the examples that the columns keep, each counted once a
// column.
func (o *ovr[T]) Keeper() learner.Keeper { return o.keeper(o.traits.Support) }

// column returns a new learner of a class.
func (o *ovr[T]) column() (learner.Learner[T], error) {
	l, err := learner.New[T](o.entry, o.base, o.env)
	if err != nil {
		return nil, fmt.Errorf("ovr: base: %w", err)
	}
	return l, nil
}

// count is how many columns there are of so many classes.
func (o *ovr[T]) count(classes int) int {
	if o.pairs {
		return classes * (classes - 1) / 2
	}
	if p := o.cfg.Part; p != nil {
		return (classes + p.Of - 1 - p.First) / p.Of
	}
	return classes
}

// classOf is the class of column k, of no pairs.
func (o *ovr[T]) classOf(k int) int {
	if p := o.cfg.Part; p != nil {
		return p.First + k*p.Of
	}
	return k
}

// label is how column k is shown an example of the class: +1, -1, or not at all, 0.
func (o *ovr[T]) label(k, class int) T {
	first, second := o.classOf(k), -1
	if o.pairs {
		first, second = pairOf(k)
	}
	switch {
	case class == first:
		return 1
	case !o.pairs || class == second:
		return -1
	}
	return 0
}

// loneLabel is label for lone learner k.
func (o *ovr[T]) loneLabel(k, class int) T {
	switch {
	case !o.pairs:
		return -1
	case class == k:
		return 1
	}
	return 0
}

// come makes new columns up to so many classes.
func (o *ovr[T]) come(classes int) error {
	for len(o.since) < classes {
		o.since = append(o.since, int64(o.presented))
		for len(o.learners) < o.count(len(o.since)) {
			l, err := o.column()
			if err != nil {
				return err
			}
			o.learners = append(o.learners, l)
		}
	}
	return nil
}

// holdClasses is Entry.Holding: outputs of several classes, each held by a learner of two.
func holdClasses(h *learner.Hypothesis) (_ learner.Config, s learner.State, ok bool) {
	n := len(h.Outputs)
	if n < 2 || n > MaxClasses || h.Pairs {
		return nil, s, false
	}
	cfg := &OVRConfig{Classes: n}
	o := ovr[float64]{since: make([]int64, n)}
	if cfg.Base, cfg.BaseConfig, ok = o.hold(h); !ok || !cfg.BaseConfig.Traits().Stream {
		return nil, s, false
	}
	return cfg, o.State(), cfg.Validate() == nil
}

// hold makes columns that hold the outputs, all of one base, which it returns.
func (o *ovr[T]) hold(h *learner.Hypothesis) (name string, c learner.Config, ok bool) {
	for _, out := range h.Outputs {
		e, base, state, ok := learner.Hold(&learner.Hypothesis{Outputs: []learner.Output{out},
			Kernel: h.Kernel, Fourier: h.Fourier})
		if !ok || name != "" && name != e.Name {
			return "", nil, false
		}
		l, err := learner.New[T](e, base, learner.Env{})
		if err != nil || l.SetState(state) != nil {
			return "", nil, false
		}
		name, c = e.Name, base
		o.learners = append(o.learners, l)
		o.dim = max(o.dim, len(out.Weights), out.Points.Dim)
	}
	return name, c, true
}

func (o *ovr[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := o.check(b, rounds); err != nil {
		return err
	}
	if o.failed != nil {
		return o.failed
	}
	if o.gathered != nil {
		return o.givenClasses(b, rounds)
	}
	if err := o.reach(b, o.all()); err != nil {
		return err
	}
	o.cut = nil
	r := &o.own
	for lo := 0; lo < b.Len(); {
		known := len(o.since)
		comes, err := o.welcome(b, int(b.Class[lo]))
		if err != nil {
			return err
		}
		hi := lo + 1
		end := min(b.Len(), lo+runOf(len(o.learners)))
		for hi < end && int(b.Class[hi]) < len(o.since) {
			hi++
		}
		if err := o.run(b, lo, hi); err != nil {
			o.failed = err
			return err
		}
		o.presented += uint64(hi - lo)
		if o.trace != nil && o.cfg.Part == nil {
			o.trace.take(hi - lo)
		}
		for e := range hi - lo {
			rounds[lo+e] = o.round(e)
			if o.trace != nil && o.cfg.Part != nil {
				o.traceClasses(e, known, comes && e == 0)
			}
			o.updates += uint64(rounds[lo+e].Updates)
		}
		if comes {
			rounds[lo].Score = learner.LostTie // what has not come is not predicted
			rounds[lo].Predicted = int32(learner.Predicted(o.outputsOf(0, known)))
		}
		lo = hi
	}
	r.b = engine.Block[T]{}
	return nil
}

// check refuses what no column can learn, before any does.
func (o *ovr[T]) check(b *engine.Block[T], rounds []learner.Round) error {
	known := o.cfg.Classes
	if known == 0 {
		known = o.most()
	}
	if !o.traits.Stream {
		return fmt.Errorf("%s: base: %s %w", o.name, o.cfg.Base, learner.ErrBatch)
	}
	if err := primal.CheckRows(o.name, b, len(rounds)); err != nil {
		return err
	}
	if err := b.CheckClasses(known); err != nil {
		return fmt.Errorf("%s: %w", o.name, err)
	}
	if b.Weighted() && !o.traits.Weights {
		return fmt.Errorf("%s: base: %w", o.name, learner.ErrWeights)
	}
	// A base may refuse an example that is too long for it.
	return primal.CheckLengths(o.name, b)
}

// run has all learners go through examples lo to hi-1 of b.
func (o *ovr[T]) run(b *engine.Block[T], lo, hi int) error {
	o.own.take(&o.fleet, fleetLearn, b, lo, hi, len(o.learners)+len(o.lone))
	if o.joining != nil {
		return o.given()
	}
	return o.own.run()
}

// welcome makes columns up to those of a class, and reports whether there were any to make.
func (o *ovr[T]) welcome(b *engine.Block[T], class int) (comes bool, err error) {
	for len(o.since) <= class {
		k := len(o.learners)
		if err := o.come(len(o.since) + 1); err != nil {
			return false, err
		}
		if o.joining != nil {
			if err := o.joinColumn(k); err != nil {
				return false, err
			}
			comes = true
			continue
		}
		if len(o.learners) == k && !o.pairs { // of another part
			comes = true
			continue
		}
		for i, l := range o.learners[k:] {
			if err := l.SetState(o.lone[i].State()); err != nil {
				return false, fmt.Errorf("%s: class %d: %w", o.name, len(o.since)-1, err)
			}
		}
		if o.pairs {
			l, err := o.column()
			if err == nil {
				err = o.show(l, b, o.dim)
			}
			if err != nil {
				return false, err
			}
			o.lone = append(o.lone, l)
		}
		comes = true
	}
	if comes && o.trace != nil {
		o.traceColumns()
	}
	return comes, nil
}

// all returns the columns, and the lone learners behind them.
func (o *ovr[T]) all() []learner.Learner[T] {
	return append(o.learners[:len(o.learners):len(o.learners)], o.lone...)
}

// learnPart has column k, or a lone learner behind them, learn the run's examples.
func (o *ovr[T]) learnPart(r *fleetRun[T], k int, v *engine.Block[T]) error {
	n := r.b.Len()
	y, at := r.y[k*n:][:n], k-len(o.learners)
	if at >= 0 {
		for i, c := range r.b.Class {
			y[i] = o.loneLabel(at, int(c))
		}
		return r.learn(k, o.lone[at], v, false)
	}
	for i, c := range r.b.Class {
		y[i] = o.label(k, int(c))
	}
	return r.learn(k, o.learners[k], v, true)
}

// round returns what example e of the run did.
func (o *ovr[T]) round(e int) (sum learner.Round) {
	sum.Updates = o.own.updates(e, len(o.learners))
	if o.cfg.Part != nil { // what the whole predicts it doesn't know
		sum.Score, sum.Predicted = learner.LostTie, -1
		return sum
	}
	outputs := o.outputsOf(e, len(o.since))
	sum.Score = learner.ClassScore(outputs, int(o.own.b.Class[e]))
	sum.Predicted = int32(learner.Predicted(outputs))
	return sum
}

// outputsOf returns what the columns of so many classes said of example e of the run.
func (o *ovr[T]) outputsOf(e, classes int) []float64 {
	scores, n := o.own.scores[e:], o.own.b.Len()
	if o.pairs {
		o.outputs = slices.Grow(o.outputs[:0], classes)[:classes]
		votes(o.outputs, scores, n, o.first)
		return o.outputs
	}
	o.outputs = o.outputs[:0]
	for k := range o.count(classes) {
		o.outputs = append(o.outputs, scores[k*n])
	}
	return o.outputs
}

// fill fills dst with what the columns say of the examples of b, example by example.
func (o *ovr[T]) fill(b *engine.Block[T], dst []float64, do fleetWork) error {
	k := len(o.since)
	if err := primal.CheckOutputs(o.name, b, k, len(dst)); err != nil || k == 0 {
		return err
	}
	return o.each(b, do, func(i int, scores []float64, n int) {
		of := dst[i*k:][:k]
		if o.pairs {
			votes(of, scores, n, o.first)
			return
		}
		for c := range of { // without those of other parts
			of[c] = math.Inf(-1)
		}
		for c := range o.size() {
			of[o.classOf(c)] = scores[c*n]
		}
	})
}

func (o *ovr[T]) Score(b *engine.Block[T], dst []float64) error {
	return o.fill(b, dst, fleetScore)
}

// Prober is for ProberOf.
func (o *ovr[T]) Prober() learner.Prober[T] {
	if !o.traits.Proba || o.pairs {
		return nil
	}
	return ovrProber[T]{o}
}

// ovrProber has the probabilities of the columns, divided by their sum.
type ovrProber[T learner.Float] struct{ o *ovr[T] }

// Proba is Prober.Proba. Where all columns say 0, all classes are as probable as each other.
func (p ovrProber[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := p.o.fill(b, dst, fleetProba); err != nil {
		return err
	}
	k := len(p.o.since)
	for i := range b.Len() {
		of := dst[i*k:][:k]
		var sum float64
		for _, v := range of {
			sum += v
		}
		for c := range of {
			if of[c] /= sum; sum == 0 {
				of[c] = 1 / float64(k)
			}
		}
	}
	return nil
}

// MistakeChecker is for MistakeCheckerOf.
func (o *ovr[T]) MistakeChecker() learner.MistakeChecker[T] {
	if !o.traits.Mistakes {
		return nil
	}
	return ovrChecker[T]{o}
}

type ovrChecker[T learner.Float] struct{ o *ovr[T] }

// Mistakes is MistakeChecker.Mistakes: examples that are one of any column.
func (p ovrChecker[T]) Mistakes(b *engine.Block[T]) (count int, err error) {
	if err := b.CheckClasses(len(p.o.since)); err != nil {
		return 0, fmt.Errorf("%s: %w", p.o.name, err)
	}
	y := []T{0}
	for i := range b.Len() {
		v := b.Slice(i, i+1)
		v.Class, v.Y = nil, y
		mistaken := 0
		for k := 0; k < len(p.o.learners) && mistaken == 0; k++ {
			if y[0] = p.o.label(k, int(b.Class[i])); y[0] == 0 {
				continue
			}
			if mistaken, err = learner.MistakeCheckerOf(p.o.learners[k]).Mistakes(&v); err != nil {
				return count, err
			}
		}
		count += mistaken
	}
	return count, nil
}

// Weights returns the columns' weights, one after another, or nil if they have none.
func (o *ovr[T]) Weights() []float64 {
	if !o.traits.Vector || o.pairs {
		return nil
	}
	of := make([][]float64, o.size())
	most := 0
	for k := range of {
		of[k] = o.scorer(k).Weights()
		most = max(most, len(of[k]))
	}
	w := make([]float64, len(of)*most)
	for k := range of {
		copy(w[k*most:], of[k])
	}
	return w
}

func (o *ovr[T]) FiniteWeights() bool {
	if !o.traits.Vector || o.pairs {
		return true
	}
	for _, l := range o.learners {
		if !learner.FiniteWeights(l) {
			return false
		}
	}
	return true
}

// Outputs is for [learner.OutputsOf]: the classes that have come.
func (o *ovr[T]) Outputs() int { return len(o.since) }

// Since returns how many examples there were before the first of each class.
func (o *ovr[T]) Since() []int64 { return slices.Clone(o.since) }

// Updates returns the updates of all columns together.
func (o *ovr[T]) Updates() int64 { return int64(o.updates) }

// Forgetter is for [learner.ForgetterOf]: nil where the base can't forget.
func (o *ovr[T]) Forgetter() learner.Forgetter {
	if !o.traits.Forgets {
		return nil
	}
	return forgets(func(keep float64) error {
		if err := learner.CheckKeep(o.name, keep); err != nil {
			return err
		}
		o.cut = nil
		return forgetAll(o.all(), keep)
	})
}

// Bytes returns the memory of the columns, and of what a run takes.
func (o *ovr[T]) Bytes() int64 {
	n := o.bytes() + int64(unsafe.Sizeof(*o)) + 24*int64(len(o.since)) + primal.BytesOf(o.outputs)
	for _, l := range o.lone {
		n += l.Bytes()
	}
	return n
}

// State returns the columns' states, each with its number before the names, that of the rest, as
// counters the classes, the examples presented, the updates of columns and the features that all
// have seen, and of each class how many examples there were before its first.
func (o *ovr[T]) State() learner.State           { return learner.StateOf(o.fields) }
func (o *ovr[T]) SetState(s learner.State) error { return learner.SetState(o.name, s, o.fields) }

func (o *ovr[T]) CheckState(s learner.State) error {
	return learner.CheckState(o.name, s, o.fields)
}

func (o *ovr[T]) fields(c *learner.Codec) {
	o.fleet.fields(c)
	learner.Count(c, "updates", &o.updates)
	since := learner.Vector(c, "since", &o.since)
	of, lone := o.learners, o.lone
	if c.Reading() {
		n := len(since)
		c.Want(n <= o.most() && (o.cfg.Classes == 0 || n == o.cfg.Classes), "%d classes, want %d",
			n, o.cfg.Classes)
		of = o.twin(c, o.count(n))
		if o.pairs && o.cfg.Classes == 0 && o.traits.Stream {
			lone = o.twin(c, n)
		}
	}
	if c.Reading() || c.Writing() {
		learner.Inners(c, o.columnName, of)
		learner.Inners(c, o.loneName, lone)
	}
	c.Part(learner.CutPrefix, &o.cut, func(c *learner.Codec) { checkColumnsCut(c, len(of)) })
	c.Then(func() { o.learners, o.lone = of, lone })
}

// most is how many classes there may be.
func (o *ovr[T]) most() int {
	if o.pairs {
		return MaxPaired
	}
	return MaxClasses
}

// twin returns n new columns to read a State into.
func (o *ovr[T]) twin(c *learner.Codec, n int) []learner.Learner[T] {
	if !c.Reading() {
		return nil
	}
	of := make([]learner.Learner[T], n)
	for k := range of {
		l, err := o.column()
		if !c.Want(err == nil, "class %d: %w", k, err) {
			return nil
		}
		of[k] = l
	}
	return of
}

// columnName is what the names of column k's parts of a State begin with.
func (o *ovr[T]) columnName(k int) string {
	if o.pairs {
		first, second := pairOf(k)
		return fmt.Sprintf("pair%d-%d.", first, second)
	}
	return fmt.Sprintf("class%d.", o.classOf(k))
}

// loneName is columnName of lone learner k.
func (o *ovr[T]) loneName(k int) string {
	if o.pairs {
		return fmt.Sprintf("alone%d.", k)
	}
	return "rest."
}

// ballot is the hypothesis of an [OVRConfig]: a Predictor for each class.
type ballot[T learner.Float] struct {
	o *ovr[T] // scores by its predictors; has no learners
}

func (p *ballot[T]) Outputs() int                                  { return p.o.Outputs() }
func (p *ballot[T]) Score(b *engine.Block[T], dst []float64) error { return p.o.Score(b, dst) }
func (p *ballot[T]) Weights() []float64                            { return p.o.Weights() }

func (p *ballot[T]) Hypothesis() (all learner.Hypothesis) {
	if p.o.cfg.Part != nil {
		return all // not of all classes
	}
	all.Pairs, all.Sums = p.o.pairs, p.o.pairs && !p.o.first
	for _, m := range p.o.predictors {
		h, ok := learner.HypothesisOf(m)
		if !ok || h.Fourier != nil {
			return learner.Hypothesis{}
		}
		all.Kernel, all.Outputs = h.Kernel, append(all.Outputs, h.Outputs...)
	}
	return all
}

func (p *ballot[T]) Bytes() int64 { return p.o.Bytes() + int64(unsafe.Sizeof(*p)) }

// State is Predictor.State: the classes' hypotheses, each with its number before the names, and how
// many there are.
func (p *ballot[T]) State() learner.State { return learner.StateOf(p.fields) }

func (p *ballot[T]) CheckState(s learner.State) error {
	r, err := p.like(s)
	if err != nil {
		return err
	}
	return learner.CheckState(p.o.name, s, r.fields)
}

func (p *ballot[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	r, err := p.like(s)
	if err != nil {
		return nil, err
	}
	if err := learner.SetState(p.o.name, s, r.fields); err != nil {
		return nil, err
	}
	return r.proven(), nil
}

// like returns hypotheses of new columns, as many as the State has.
func (p *ballot[T]) like(s learner.State) (*ballot[T], error) {
	n := s.Counters["classes"]
	if n > uint64(p.o.most()) || p.o.cfg.Classes > 0 && n != uint64(p.o.cfg.Classes) {
		return nil, fmt.Errorf("%s: %d classes: %w", p.o.name, n, learner.ErrState)
	}
	of := make([]learner.Predictor[T], p.o.count(int(n)))
	for k := range of {
		l, err := p.o.column()
		if err != nil {
			return nil, err
		}
		of[k] = l.Snapshot()
	}
	return p.o.ballot(int(n), of), nil
}

func (p *ballot[T]) fields(c *learner.Codec) {
	n := len(p.o.since)
	classes := learner.Count(c, "classes", &n)
	c.Want(classes == len(p.o.since), "%d classes", classes)
	p.o.predictorFields(c, p.o.columnName)
}

// provenBallot is one whose classes' hypotheses have probabilities.
type provenBallot[T learner.Float] struct{ *ballot[T] }

// Proba is Prober.Proba, as that of the learner.
func (p provenBallot[T]) Proba(b *engine.Block[T], dst []float64) error {
	return ovrProber[T]{p.o}.Proba(b, dst)
}

// ballot returns that of o's settings, of so many classes.
func (o *ovr[T]) ballot(classes int, of []learner.Predictor[T]) *ballot[T] {
	return &ballot[T]{o: &ovr[T]{cfg: o.cfg, entry: o.entry, base: o.base, traits: o.traits,
		env: o.env, pairs: o.pairs, first: o.first, since: make([]int64, classes),
		fleet: fleet[T]{name: o.name, pool: o.pool, dim: o.dim, predictors: of}}}
}

// proven returns p, with probabilities where there are any.
func (p *ballot[T]) proven() learner.Predictor[T] {
	none := func(of learner.Predictor[T]) bool { return learner.ProbaOf(of) == nil }
	if p.o.pairs || p.o.size() == 0 || slices.ContainsFunc(p.o.predictors, none) {
		return p
	}
	return provenBallot[T]{p}
}

// Snapshot is Learner.Snapshot: one of each column.
func (o *ovr[T]) Snapshot() learner.Predictor[T] {
	return o.ballot(len(o.since), o.snapshots()).proven()
}

func (o *ovr[T]) View() learner.Predictor[T] { return o.ballot(len(o.since), o.views()).proven() }
