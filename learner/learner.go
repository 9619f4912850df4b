package learner

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
)

// Float is the element type of examples and weights.
type Float = engine.Float

// Errors that learners return, wrapped with the learner's name and the offending value.
var (
	ErrConfig = errors.New("bad setting") // a Config failed its Validate
	// SetState got tensors or counters that are missing or of a wrong shape
	ErrState = errors.New("state does not fit")
	// Learn or Score was given fewer places than examples
	ErrOut = errors.New("output slice too short")
)

// ErrPrior is returned where a posterior was not learned from the same prior or settings as
// another.
var ErrPrior = errors.New("posteriors do not belong together")

// ErrDim is returned for more features than a covariance matrix is kept for.
var ErrDim = errors.New("too many features for a covariance matrix")

// ErrWeights is returned by Learn and Fit of learners whose rule has no place for weights other
// than 1; see Traits.Weights.
var ErrWeights = errors.New("takes no weights")

// ErrLength is returned for an example whose squared length is beyond the range of the numbers that
// a learner computes with.
var ErrLength = errors.New("example too long")

// ErrDiverged is returned of a learner whose state is no longer finite: it can't be saved, nor be
// learned on.
var ErrDiverged = errors.New("the learner has diverged")

// Round is what one example did.
type Round struct {
	// Score is f(x) before the example was learned, unnormalised. With Traits.Classes it is the
	// output of the example's own class less the largest of the others; see ClassScore.
	Score   float64
	Updates int32 // how many members changed their weights (0 or 1 for a single learner)
	// Predicted is, with Traits.Classes, the class predicted before the example was learned, of
	// those that had come: see [Predicted]. 0 of two classes, where the score's sign says it.
	Predicted int32
}

// Learner learns a linear classifier from blocks of examples, in order.
//
// A call with n examples and n calls with one give the same state and rounds, to the bit. Any
// number of goroutines may call Score (and Proba) at once, as long as nothing else is called; all
// else needs the learner for itself. After warm-up (all features seen, the largest block seen by as
// many calls at once) Learn and Score allocate nothing.
//
// [New] makes learners. The zero value of a learner's type has no settings and is not one.
type Learner[T Float] interface {
	// Learn scores each example with the state before it, then learns it; rounds[i] is that of
	// example i, and rounds has b.Len() places or more. Of two classes the labels are Y, -1 and +1;
	// with Traits.Classes they are Class. On error (a wrapped engine.Err… of Block.Check, or
	// Block.CheckClasses; ErrOut; ErrBatch from a learner of whole data sets; ErrWeights) the state
	// is unchanged. With Traits.Weights an example of weight 0 is scored and counted, and nothing
	// else; weights of 1 change no bit.
	Learn(b *engine.Block[T], rounds []Round) error
	// Score sets dst[i] = f(x_i) with the present state and changes nothing that later calls see. A
	// learner of classes has K outputs, one for each class that has come (Predictor.Outputs), and
	// fills K places an example, example by example: dst[i*K+k] = f_k(x_i). Labels are ignored and
	// need not be there: Y may be nil, or hold anything. Features never seen in learning have
	// weight 0. Errors are those of Block.CheckRows, and ErrOut.
	Score(b *engine.Block[T], dst []float64) error
	// Snapshot returns the present hypothesis as a Predictor that later learning does not change.
	// It needs the learner for itself, as learning does. Cost: a copy of what scores are made of.
	Snapshot() Predictor[T]
	// Weights returns the hypothesis as one primal weight vector an output, one after another, as
	// Score uses them up to rounding, or nil if it has none (votes). The slice is the caller's.
	Weights() []float64
	// State returns all that Learn has changed, SetState replaces it with a copy. Restoring a State
	// into a learner of equal configuration and seed makes it go on to the same bits.
	State() State
	SetState(State) error
	// CheckState returns the error that SetState would return, and changes nothing: so it is known
	// before a model is saved whether it could be loaded. Cost: a pass over the State, and no copy
	// of it.
	CheckState(State) error
	// Updates returns the total of Round.Updates so far.
	Updates() int64
	// Bytes returns the memory the learner's state holds.
	Bytes() int64
}

// Prober is a Learner that knows the probability of a label, not a score alone.
type Prober[T Float] interface {
	// Proba sets dst[i] = P(y_i = +1 | x_i) with the present state, or with K outputs dst[i*K+k] =
	// P(class k | x_i). It changes nothing that later
	// calls see, takes what Score takes and fails as Score does. Full covariances (adf, ep, wep,
	// vvm) answer one call after another.
	Proba(b *engine.Block[T], dst []float64) error
}

// PosteriorMerger is a Learner with a posterior that can be joined with that of another learner of
// its kind, which has learned other examples.
type PosteriorMerger[T Float] interface {
	// MergePosterior makes the posterior that of both learners' examples. Errors wrap ErrPrior or
	// ErrDim, and leave the posterior as it was.
	MergePosterior(other Learner[T]) error
	// DividePrior takes prior out of the posterior so many times, 0 or more: the posterior of n
	// learners that all went on from prior, merged, knows n times what that does, and behind
	// DividePrior(prior, n-1) once. Points that are kept become part of the Gaussian. Counters are
	// those of the examples that are left. Errors are those of MergePosterior, also of a prior that
	// knows more, and leave the posterior as it was. prior is left as it is; it may be nil where
	// times is 0.
	DividePrior(prior Learner[T], times int) error
	// Report returns what the posterior met so far.
	Report() PosteriorReport
}

// Mixer is a Learner whose hypothesis is made of weights that can be averaged with those of others,
// which have learned other examples.
type Mixer[T Float] interface {
	// Mix makes the learner, which is new, the average of others of its settings, each with its
	// share; shares add up to 1. Sums go in the order of the others, in float64. Counters are those
	// of all of them, in which what they all went on from counts once: before, nil for nothing.
	// Errors wrap ErrState, and leave the learner as it was.
	Mix(of []Learner[T], share []float64, before Learner[T]) error
}

// PosteriorReport counts what a learner with a posterior met.
type PosteriorReport struct {
	Sweeps int64 `json:"sweeps"` // of EP over the points
	// Unconverged counts the runs of EP that were stopped by the limit of sweeps, left a site as it
	// was since rounding would have decided, or moved the distribution further than one example
	// can.
	Unconverged int64 `json:"unconverged"`

	Merged int64 `json:"merged"` // pairs of points
	// examples skipped, as their variance was lost in rounding or beyond the range of numbers
	Passed int64 `json:"passed"`
	// points dropped with what they contributed, as absorbing them would have broken the covariance
	Lost int64 `json:"lost"`

	LabelNoise float64 `json:"label_noise,omitempty"` // rate of wrong labels, where it is estimated
}

// Keeper is a Learner whose hypothesis is a sum over examples that it keeps.
type Keeper interface{ Support() int }

// Biased is a Learner whose score is Weights() . x + Bias(): margins need both.
type Biased interface{ Bias() float64 }

// Config holds a learner's settings: a pointer to a struct whose exported fields have json tags
// (the model file) and flag tags (the command); a with tag says which other settings make one count
// ("kernel=poly|rbf"). Defaults are in the struct that Entry.Config returns.
type Config interface {
	// Help returns what the command says of the exported field of that name, those of embedded
	// structs included: a line or two with meaning, unit and range, without the default. "" for a
	// field that it does not know. It depends on no setting.
	Help(field string) string
	// Validate names the first bad field and its value, wrapping ErrConfig.
	Validate() error
	// Traits says what a learner of these settings is, can do and needs.
	Traits() Traits
}

// Resolver is a Config with settings that may be relative to the data (Traits.Relative).
type Resolver interface {
	// Resolve returns a copy in which all settings are absolute, and leaves the Config as it is. It
	// wraps ErrConfig if the facts don't allow that: no example has a feature, say.
	Resolve(Facts) (Config, error)
}

// Resolve returns settings like c of which none is relative to the data, of which a learner can be
// made: c itself unless it is a [Resolver].
func Resolve(c Config, f Facts) (Config, error) {
	if r, ok := c.(Resolver); ok {
		return r.Resolve(f)
	}
	return c, nil
}

// Env is what a learner is given besides its settings.
type Env struct {
	Seed uint64       // of the draws; part of the model
	Pool *engine.Pool // workers; nil works on the caller alone. Never changes a result
	// Kept is how many bytes the features of kept examples may take: an example beyond that is
	// refused with ErrMemory. A learner that keeps a limited number of examples then makes room for
	// the rest of them at once. 0 is no bound. Never changes a result.
	Kept int64
	// Rows keeps kernel rows for all learners that are given it and learn the same examples as a
	// whole; nil: each has its own. Never changes a result, but for FitResult.KernelRows.
	Rows *engine.SharedRows
	// Restored says that SetState is called before all else: what settings alone ask for need not
	// be made before the State has shown that it is there. Never changes a result. Default false.
	Restored bool
}

// Tensor is a named array of the state. Data is one of []float32, []float64, []int64, []uint64,
// []int32, []uint8.
type Tensor struct {
	Name  string
	Shape []int
	Data  any
}

// State is a learner's state in an order and form that depends on nothing but what was learned:
// equal states have equal tensors, byte for byte, whatever the blocks, threads and implementations
// were.
type State struct {
	Counters map[string]uint64
	Scalars  map[string]float64
	Tensors  []Tensor

	// Features is how many features all examples have had, where the reader of the State knows: a
	// learner on features that it makes, for its base. A State of more is refused. 0 is any number;
	// it is no part of what was learned, and in a State that a learner returns it is 0.
	Features int
}

// Since returns, of a learner of any number of classes, how many examples there were before the
// first of each; nil of others, and where no class came later than the first example.
func (s *State) Since() []int64 {
	t := s.Tensor("since")
	if t == nil {
		return nil
	}
	since, ok := t.Data.([]int64)
	if !ok || len(since) == 0 || slices.Max(since) == 0 {
		return nil
	}
	return since
}

// CheckFinite returns an error that names the first part of s that is infinite or NaN.
func (s *State) CheckFinite() error {
	for i := range s.Tensors {
		at := -1
		switch data := s.Tensors[i].Data.(type) {
		case []float32:
			at = firstNotFinite(data)
		case []float64:
			at = firstNotFinite(data)
		}
		if at >= 0 {
			return fmt.Errorf("tensor %q, element %d", s.Tensors[i].Name, at)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Scalars)) {
		if v := s.Scalars[name]; v-v != 0 {
			return fmt.Errorf("scalar %q is %v", name, v)
		}
	}
	return nil
}

func firstNotFinite[T Float](x []T) int {
	return slices.IndexFunc(x, func(v T) bool { return v-v != 0 })
}

// Tensor returns the tensor of that name, or nil.
func (s *State) Tensor(name string) *Tensor {
	for i := range s.Tensors {
		if s.Tensors[i].Name == name {
			return &s.Tensors[i]
		}
	}
	return nil
}

// Entry is a registered learner.
type Entry struct {
	Name    string // as in --learner
	Summary string // one line
	Default bool   // taken where none is named; one learner is
	// Over is for learners of classes over a learner of two: it returns settings of this one over
	// that one. nil of all others.
	Over Over
	// Pairs: Over makes a learner for each two classes, not one of each against the rest.
	Pairs bool
	// Holding is for learners that can take a hypothesis from elsewhere, as from a model file of
	// another program. nil of all others.
	Holding Holding
	Config  func() Config
	New32   func(Config, Env) (Learner[float32], error) // both validate the Config first
	New64   func(Config, Env) (Learner[float64], error)
	// Optional are the scalars and tensors of its State that may be missing, as they are in model
	// files that were written before the learner kept them (Codec.Optional). A State without any
	// other is an error.
	Optional []string
}

// EntryFor returns e for settings of type C with these defaults, P being its Config. The
// constructors get settings that are valid.
func EntryFor[C any, P interface {
	*C
	Config
}](defaults C, new32 func(C, Env) (Learner[float32], error),
	new64 func(C, Env) (Learner[float64], error), e Entry) Entry {
	e.Config = func() Config { c := defaults; return P(&c) }
	e.New32, e.New64 = checked[C, P](new32), checked[C, P](new64)
	return e
}

// checked returns a constructor that takes any Config and refuses what is no valid C.
func checked[C any, P interface {
	*C
	Config
}, L any](make func(C, Env) (L, error)) func(Config, Env) (L, error) {
	return func(c Config, env Env) (l L, err error) {
		p, ok := c.(P)
		if !ok || p == nil {
			return l, fmt.Errorf("settings are %T, want %T: %w", c, p, ErrConfig)
		}
		if err := p.Validate(); err != nil {
			return l, err
		}
		return make(*p, env)
	}
}

// Settings is a Config that says of which learner it is; it is only asked for that, so a nil
// pointer will do. It is an interface, not a value of Entry, so that the linker leaves out of a
// program what nothing there asks for: all learners, unless one is looked up by its name.
type Settings interface {
	Config
	Entry() Entry // but for its Name, which Register is given
}

var registry = map[string]Settings{}

// Register adds a learner; each file of package learners registers its own from init. A name taken
// twice panics.
func Register(name string, s Settings) {
	if _, ok := registry[name]; ok {
		panic("learners: " + name + " registered twice")
	}
	registry[name] = s
}

// Default returns the name of the learner that is taken where none is named: the first, by name,
// whose Entry says so. "" if none is registered that does.
func Default() string {
	for _, name := range Names() {
		if registry[name].Entry().Default {
			return name
		}
	}
	return ""
}

// Names returns the registered names, sorted.
func Names() []string { return slices.Sorted(maps.Keys(registry)) }

// Lookup returns the learner of that name; the error lists the names there are. Those of this
// module are there in a program that imports package learners, by name or as _.
func Lookup(name string) (Entry, error) {
	s, ok := registry[name]
	if len(registry) == 0 {
		return Entry{}, fmt.Errorf("learners: no learner %q: none is registered: import "+
			"github.com/halfspace-ml/halfspace/learners: %w", name, ErrConfig)
	}
	if !ok {
		return Entry{}, fmt.Errorf("learners: no learner %q; there are %v: %w", name, Names(),
			ErrConfig)
	}
	e := s.Entry()
	e.Name = name
	return e, nil
}

// New makes a learner of an Entry in the precision of T.
func New[T Float](e Entry, c Config, env Env) (Learner[T], error) {
	var zero T
	switch any(zero).(type) {
	case float32:
		l, err := e.New32(c, env)
		if err != nil {
			return nil, err
		}
		return any(l).(Learner[T]), nil
	default:
		l, err := e.New64(c, env)
		if err != nil {
			return nil, err
		}
		return any(l).(Learner[T]), nil
	}
}

// Make makes the learner of that name in the precision of T. Settings of nil are its defaults.
func Make[T Float](name string, c Config, env Env) (Learner[T], error) {
	e, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = e.Config()
	}
	return New[T](e, c, env)
}
