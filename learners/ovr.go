package learners

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
)

var _ learner.Learner[float32] = (*ovr[float32])(nil)

func init() { learner.Register("ovr", (*OVRConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*OVRConfig) Entry() learner.Entry {
	return learner.EntryFor(OVRConfig{Base: "obpm"}, newOVR[float32],
		newOVR[float64], learner.Entry{
			Summary: "one-vs-rest: a binary learner per class",
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
	cut     *columnsCut    // where a Fit was cut; nil: none was
	traits  learner.Traits // of the base
	outputs []float64      // of an example that is learned: of the classes
}

// OVRConfig holds the settings of OVR.
type OVRConfig struct {
	// Classes is the number of classes, 0 for any number.
	//
	// Where it is known, the learner that new ones begin with is saved. Default 0; 0 to 2^20.
	Classes int `json:"classes" flag:"class-count"`
	// Base is the binary learner, whose settings are accepted, too. Default obpm; a learner of two
	// classes.
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
	if err := checkClassCount("ovr", c.Classes, MaxClasses); err != nil {
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
func checkClassCount(name string, n, most int) error {
	if n < 0 || n > most {
		return fmt.Errorf("%s: classes is %d, want 0 to %d: %w", name, n, most, learner.ErrConfig)
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
	return decodeOver("ovr", data, (*fields)(c), &c.Base, &c.BaseConfig)
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
	t.Memory = c.memory
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
	var err error
	if r.BaseConfig, err = resolvedBase("ovr", c.Base, c.BaseConfig, f); err != nil {
		return nil, err
	}
	return &r, nil
}

// memory is Traits.Memory: that of the base for each class, and for the rest.
func (c *OVRConfig) memory(x learner.Extent) learner.Footprint {
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
		f = base.Traits().Memory(x)
		x.Whole = false
	}
	each := int64(unsafe.Sizeof(engine.Block[float64]{})) + 64 + 16 + 64
	run := ensemble.RunExamples * (32 + x.Elem) * 5 / 4
	fleetFootprint(&f, base.Traits().Memory(x), "classes'", k, learner.Times(k, each+run),
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
	o.cutFields(c, len(of))
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
