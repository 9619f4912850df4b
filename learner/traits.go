package learner

import (
	"math"

	"github.com/halfspace-ml/halfspace/engine"
)

// Traits say what a learner of certain settings is, can do and needs. They follow from the settings
// alone, so that all of it is known before there are data or a learner. A learner that gives its
// examples to another one, as on random features, computes its traits from that one's. The suite in
// learnertest holds a learner to them.
//
// The zero value is that of no learner: Stream or Whole is true. Settings that don't pass their
// Validate may have any traits.
type Traits struct {
	// Memory bounds what a learner of the settings, which are valid, takes, all of it, that learns
	// data of that extent. A wrapper adds what its base says. Features that the learner refuses
	// (ErrDim) take none.
	Memory func(x Extent) Footprint

	// Classes: labels are numbers of classes, Block.Class, and there is a score for each class that
	// has come, an output: Predictor.Outputs. Else there are two classes, the labels are Block.Y,
	// and there is one score.
	Classes bool
	// ClassCount is how many classes there will be; 0 is any number.
	ClassCount int
	// OverClasses is for learners that give their examples to another one: it returns their
	// settings with that one as lift returns it, so that it tells classes. Of learners without
	// OverClasses, nil, one is made for each class.
	OverClasses func(lift func(Entry, Config) (Entry, Config, error)) (Config, error)

	Stream bool // Learn takes one example after another; else it returns ErrBatch
	Whole  bool // Fit takes a whole data set
	// Relative: there are settings relative to the data, so that Resolve needs Facts.
	Relative bool

	// Soft: the settings ask for a soft margin whose slacks belong to places in the data set. Learn
	// gives each example that is presented a slack of its own, so that a second pass by it is
	// another problem. SoftBy is the setting that asks for it, as its flag tag names it.
	Soft   bool
	SoftBy string
	// SoftDelta, ActiveSet and Halving say which FitOptions Fit takes: Delta > 0, ActiveSet,
	// Halving. It refuses the others with ErrConfig.
	SoftDelta, ActiveSet, Halving bool
	// Cut: a Fit that is ended on its way leaves in the State where it stood, and another one goes
	// on there; FitOptions.Checkpoint is called.
	Cut bool
	// Anew, beside Cut: a Fit that doesn't go on where one was cut takes nothing over from what was
	// learned before, and there are places to be cut at only between the learners of the classes.
	Anew bool
	// OwnLimit: without FitOptions.MaxUpdates Fit has a limit of its own, or comes to an end
	// anyway.
	OwnLimit bool

	Proba     bool // ProberOf has its probabilities
	Posterior bool // ReportOf returns what its posterior met
	Merges    bool // PosteriorOf has its posterior, which can be joined with another
	Mixes     bool // MixerOf averages its weights with those of others
	Mistakes  bool // a pass without an update is not all: see MistakeCheckerOf
	Dual      bool // after Fit, SolutionOf has bounds of the optimum
	Support   bool // the hypothesis is a sum over examples, and SupportOf counts them

	// Weights: Learn, or Fit of a learner without Learn, takes Block.W: a weight scales the step,
	// or the price of the example's loss. Else weights other than 1 are refused with ErrWeights.
	// Fit of a learner with Learn takes them where the margin is soft (Soft, or FitOptions.Delta
	// above 0): there they scale the price of the slacks.
	Weights bool

	// Forgets: ForgetterOf has what forgets a share of what was learned.
	Forgets bool

	Biased bool // BiasOf is a part of f that no feature has
	// Origin: a hyperplane through the origin, of a margin learner whose papers take the weight of
	// a feature rho, the same in all examples, for a bias.
	Origin bool
	// Linear: f is made of weights of the features as they are, a vector or several; else of a
	// kernel's values, or of features made from them.
	Linear bool
	// Vector: Weights returns the hypothesis; else it returns nil.
	Vector bool

	// HardMargin returns settings of the same learner whose Fit finds the hyperplane of the largest
	// margin, with a bias or through the origin; nil of learners that have none.
	HardMargin func(bias bool) Config

	// Ensemble: the learner gives its examples to members, or to an ensemble. Of members of members
	// there would be as many as the product of their numbers, so it is no base of another ensemble.
	Ensemble bool
	// Members is the members' form of the learner: one rule for many weight vectors at once, which
	// an ensemble then keeps side by side in vector lanes. It is an offer of speed alone, between
	// learners of this module: of those without it, nil, ensembles make so many.
	Members any

	// Splits is how many members there are, where parts of them learn apart what the whole learns,
	// to the same bits; 0 is none. Shard returns settings of such a part. The learner is a Tracer,
	// and a Joiner.
	Splits int
	Shard  func(Part) Config
	// ShardClasses is Shard of parts of the classes (Part.Classes), each of which is learned by
	// itself; nil: there are none.
	ShardClasses func(Part) Config
	// Part says which members the learner's are, where they are a part of those of the learner of
	// settings PartOf; else both are nil.
	Part   *Part
	PartOf Config

	// Threads says which work is done in parts on Env.Pool, where there is enough of it: in words
	// that end "threads share ...". "" is none: the learner leaves the pool alone, and another
	// thread changes nothing but its reader's time.
	Threads string

	// Norm is p of a learner of p-norm margins: NaN for one of other margins, or while p is not
	// known.
	Norm float64
	// ScaleFree: features may be in any units, hundreds of times apart. To other learners a feature
	// a thousand times as large as the others decides all steps and margins.
	ScaleFree bool
	// Remedies are the settings to change where Fit doesn't converge, or the posterior passes over
	// examples, the most promising first.
	Remedies []Remedy

	// Keeps is how many examples are kept at most while Learn goes on, by all members together: 0
	// if none are, Any without a limit. The rest is for learners for which it isn't 0.
	Keeps int64
	// Kept is the kernel of the kept examples.
	Kept engine.Kernel
	// KeptWidth is the number of features of a kept example where these are others than the data's;
	// else 0.
	KeptWidth int64
	// Sizes are the settings, as their flag tags name them, that say how many are kept.
	Sizes []string
	// FitMemory returns a copy of the settings with the largest Sizes, in their present
	// proportions, for which the learner takes up to that many bytes, with room for the
	// features of kept examples of those mean and largest bytes; see KeptExample and KeptRoom. The
	// error wraps ErrConfig if not even one has room.
	FitMemory func(bytes int64, x Extent, mean, largest int64) (Config, error)
}

// Traits.Threads of more than one learner.
const (
	ThreadsMembers = "the members"
	ThreadsRows    = "the values of long kernel rows"
)

// Remedy is a change of a setting that helps where a run of Fit doesn't converge.
type Remedy struct {
	Change  string // "lower", "raise" or "set"
	Setting string // as its flag tag names it
}

// LinearTraits are those of a learner of two classes that takes one example after another and whose
// hypothesis is one weight vector: what most learners begin with.
func LinearTraits() Traits {
	return Traits{Stream: true, Linear: true, Vector: true, Norm: math.NaN()}
}

// KernelTraits are those of a learner of two classes that takes one example after another and whose
// hypothesis is a sum over so many examples at most (Any without a limit), which it keeps.
func KernelTraits(k engine.Kernel, keeps int64) Traits {
	return Traits{Stream: true, Support: true, Norm: math.NaN(), Keeps: keeps, Kept: k}
}
