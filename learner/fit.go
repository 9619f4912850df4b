package learner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
)

// ErrFit is returned for data or options under which no run can converge.
var ErrFit = errors.New("can't be fitted")

// Fitter is a Learner that can also pass over a whole data set, in its order, until a complete pass
// makes no update.
//
// Fit goes on from the present weights and counters; a new Learner starts as its algorithm says.
// Examples count as divided by R, the length of the longest one (extended by Delta), where the
// algorithm wants them of at most unit length (ALMA, CRAMMA): the weights are those of the divided
// examples, and a later Learn should be given such. All is computed in float64, whatever T.
//
// When ctx ends, Fit returns the context's cause; learner and FitResult then hold what was done so
// far. Where ctx or MaxUpdates ended a run, the next Fit over the same examples with the same
// options goes on at the example where it stopped, to the bit; that is part of the State
// (Traits.Cut). Learn, other examples and other options start at the first example, from the
// present weights. On data that are not separable a run with Delta = 0 ends when FitResult.Bound
// says that there is no margin worth the name (LeastMargin), or by MaxUpdates or ctx.
type Fitter[T Float] interface {
	Learner[T]
	Fit(ctx context.Context, b *engine.Block[T], o FitOptions) (FitResult, error)
}

// Defaults of FitOptions.
const (
	DefaultGramBytes = 256 << 20
	DefaultRefresh   = 1 << 18
)

// LeastMargin is the share of R under which a margin counts as none: a run whose bound has fallen
// so low ends, unless its weights separate all examples with the margin that was asked for. Where
// some examples are a thousand times shorter than others, it is a share of a thousand times the
// shortest one's length.
const LeastMargin = 1e-6

// MostPresented is how many examples a run until converged with a limit of updates is presented: of
// many examples of which few make updates that limit takes years to reach.
const MostPresented = 1_000_000_000

// Enough reports whether a run that may make so many updates, 0 is no limit, was presented as many
// examples as it may be.
func Enough(presented, maxUpdates int64) bool {
	return maxUpdates > 0 && presented >= max(MostPresented, maxUpdates)
}

// FitOptions say how Fit goes about it. GramBytes and Refresh change no more than roundings.
type FitOptions struct {
	// MaxUpdates is of this call; 0 is no limit. With another one a run that looks at the examples
	// one by one also ends after a pass that brings it to MostPresented of them, or to so many if
	// that is more: see Enough.
	MaxUpdates int64
	// Delta > 0 makes the margin soft: example k has one more coordinate of its own, y_k Delta, so
	// that all are separable. The weights of these coordinates are part of the learner's state only
	// where the run was cut, so it must be new, or go on there.
	Delta float64
	// GramBytes is the memory allowed for the m x m matrix of inner products. With enough of it the
	// updates work on the m scores: the check of an example is free and an update costs O(m) (and
	// O(features) for the perceptron), else O(features) both. 0: DefaultGramBytes; negative: none.
	GramBytes int64
	// Refresh is the number of updates after which scores and |a|^2 are computed afresh, in twofold
	// precision, from the dual coefficients (or the weights), so that rounding errors do not add
	// up. 0: DefaultRefresh.
	Refresh int64
	// ActiveSet passes over the examples that were updates in the last pass over all, until they
	// make no update, before the next pass over all. ROMMA, MICRA, PUMMA and a perceptron with Beta
	// take it; the others find the next violator among all in one step.
	ActiveSet bool
	// Halving begins with an accuracy delta of 1 and halves it after each pass without updates,
	// down to the learner's. Aggressive ROMMA and PUMMA take it.
	Halving bool
	// Checkpoint, if there, is called on the way, between two examples, with what the call has
	// done so far: the learner is then as one whose run was cut there, State included. It changes
	// no result; an error ends the run, cut there. CheckpointEvery and CheckpointAfter say when,
	// at the earliest: so many examples were looked at since the last one, or so much time has
	// passed; 0 is never. Learners without Traits.Cut never call it.
	Checkpoint      func(FitResult) error
	CheckpointEvery int64
	CheckpointAfter time.Duration
	// called each second or so, and after every refresh; may be nil. Changes no result
	Observe func(FitStatus)
}

// FitStatus is how far a run has come.
type FitStatus struct {
	Updates, Epochs int64
	Violators       int     // examples whose scores are at or under the present threshold
	Margin          float64 // as FitResult.Margin, of the present weights
	Bound           float64 // as FitResult.Bound
}

// FitResult is what a run did and reached. Margins are directional, in the units of the examples as
// given.
type FitResult struct {
	Updates int64 // of this call
	Counter int64 // t or k of the papers, from 1: all the learner's updates + 1
	Epochs  int64 // complete passes, the last one without updates included
	// examples passed in the order of the data, the passes of active sets not counted; 0 where that
	// is n Epochs
	Presented int64
	Resumed   bool // went on where a run over these examples was cut
	Converged bool
	Violators int     // examples still at or under the threshold
	Margin    float64 // min_k y_k a.x_k / |a|, all with their extended coordinates; NaN if a = 0
	// no weights have a larger margin; +Inf where that is not known, as of learners that were not
	// new
	Bound      float64
	ScoreSpace bool // ran on scores
	// KernelRows counts the kernel rows that the run asked for, and how many bytes of them were
	// kept at its end; zero of learners without any. Of rows that are shared (Env.Rows) it counts
	// those that others asked for meanwhile, too.
	KernelRows engine.RowStats

	// The rest for Delta > 0 only: Theorem 2 of the CRAMMA paper. D' >= D, equal for the maximal
	// margin.
	Gamma float64 // margin in the extended space, = Margin
	// gamma = Gamma |a extended| / |a|: the margin of a, beyond which the deviations D count
	Gamma0 float64
	D      float64 // |(max(0, gamma - y_i a.x_i/|a|))_i|
	DPrime float64 // |(Delta e_i/|a|)_i|
}

// Excess returns (D'-D)/D, an estimate of the relative distance of Gamma from the maximum.
func (r FitResult) Excess() float64 { return (r.DPrime - r.D) / r.D }

// Errors of learners that take whole data sets.
var (
	// ErrBatch is what Learn returns: the learner has Fit only.
	ErrBatch = errors.New("learns from a whole data set only (Fitter.Fit)")
	// ErrNotSeparable says that a hard margin was wanted and there is none. It is an ErrFit.
	ErrNotSeparable = fmt.Errorf("classes not separable: %w", ErrFit)
	// ErrSlacks says that a run with a soft margin was to go on from weights without the slacks'
	// coordinates: no run of these examples and options was cut there. It is an ErrFit.
	ErrSlacks = fmt.Errorf("the slacks of a soft margin are not there: %w", ErrFit)
)
