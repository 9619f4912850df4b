package eval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/internal/calibration"
	"github.com/halfspace-ml/halfspace/learner"
)

// Options say how Run goes about it. The zero value is one pass in the order of the data. Block
// never changes a result.
type Options struct {
	Epochs int // passes; 0 is 1
	// pass until converged (see Result), or MaxUpdates is reached; excludes Epochs
	UntilConverged bool
	// of this run; looked at after each pass, so that the result does not depend on blocks; 0 is no
	// limit, and with another one a run until converged also ends by learner.Enough
	MaxUpdates int64
	// a fresh order for every pass, drawn from Seed and the number of the pass
	Shuffle bool
	Seed    uint64 // of the orders
	// go on here, where a run was stopped, if it was over these examples with the same Shuffle;
	// nil: nowhere
	Resume *learner.Pass
	// go on where a run with the same options over the same examples stood, and count on from
	// what it had counted; a Source that is no Memory gives the examples behind that place. nil:
	// begin. Excludes Resume; ErrStanding if the examples are others, ErrTallies if no run has been
	// there
	Continue *Standing
	// how many features and classes an example in Continue's Tallies may have at most: more are an
	// ErrTallies; 0 is any number
	Features, Classes int
	// examples the learner was presented before this run: passes are counted on from there
	Before int64
	// examples given to the learner at once, at most; 0 is DefaultBlock, or fewer if they take long
	Block int
	// ask for the probability of each example before it is learned, which makes blocks of one;
	// ErrOptions if the learner has none
	Proba bool
	// calibrate scores into probabilities, Result.Calibration, by "platt" or "temperature"; of more
	// than two classes one in four examples is scored before it is learned. "": no
	Calibrate string
	// choose the decision threshold of two classes, Result.Threshold: "precision=P", "recall=R" or
	// "cost=FP:FN". "": no
	Threshold string
	// tally Metrics.AUC too, of two classes
	AUC bool
	// of the last so many outcomes, or of all with weights that fade by this factor, over all
	// passes: Result.Recent. They exclude each other; 0 is neither
	Window int
	Fading float64
	// the label of an example comes when so many more have been predicted, each by what had been
	// learned by then ("delayed progressive validation"); those that wait are kept. One pass only.
	// The learner learns what it would without; the labels left at the end come then. Where the run
	// is stopped, those that wait are in Result.Standing, with what was predicted of them
	Delay int
	// labels come in rows of their own, by ids, of a Source that is no Memory; excludes Delay. What
	// waits is in Result.Standing as with Delay; at the end it is left out. nil: they don't
	IDs *IDs
	// keep a learning curve of at most so many points: Result.Curve. 0 keeps none
	Curve int

	// Prepare, if there, is called with examples lo to hi of the block that the source gave last,
	// once for each, in order and before any is scored; it may change their values. It is for what
	// depends on all examples so far. With IDs bare rows are left out. nil: nothing is left to
	// prepare.
	Prepare func(lo, hi int)

	// Drift is the detector of drift, one of DriftDetectors, which gets the loss of each example, 1
	// where the predicted label is wrong, as it was before the example was learned; "": none.
	// OnDrift, if there, is called where it finds drift, before the next example is learned. It
	// reports whether it changed the learner, so that the detector starts again; an error ends the
	// run.
	Drift   string
	OnDrift func(Drift) (changed bool, err error)

	Progress Progress // nil shows nothing

	// Trace, if there, is told of the examples that were learned. nil: nothing is.
	Trace *Trace

	// Timed, if there, gets the time of learning each example, which then are learned one by one,
	// whatever Block.
	Timed func(time.Duration)

	// called between blocks, at the marks below; an error ends the run
	Checkpoint      func(Result) error
	CheckpointEvery int64 // examples presented
	// since the last one, also while a Source that is a Waiter gives nothing
	CheckpointAfter time.Duration
}

// Result is what a run counted.
type Result struct {
	Examples  int64 // presented in the first pass
	Presented int64 // in all passes
	Behind    int64 // of Presented, those before Options.Continue
	Epochs    int   // passes completed
	Updates   int64 // sum of Round.Updates
	Mistakes  int64 // rounds with y f(x) <= 0 when they were learned, all passes
	Errors    int64 // rounds with a wrong predicted label, first pass only
	// with Options.Proba: of the first pass, each before its label was shown
	Proba *Metrics
	// with Options.Calibrate: by the first pass, in units of the scores at the end; nil where that
	// says nothing
	Calibration *learner.Calibration
	// with Options.Threshold, in the same way; nil where no threshold reaches it
	Threshold *learner.Threshold
	// of the first pass: classes, what Options.Proba and AUC add, with the examples' weights; nil
	// where scores were not finite and nothing more than their labels was tallied, and after Fit
	Metrics *Metrics
	Recent  *Metrics // at the end, with Options.Window or Fading
	// with Options.Curve: at equal distances of examples, and at the end
	Curve []LearningPoint
	// with Options.Drift: where it was found, the first 1000; Drifted is how often in all
	Drifts  []Drift
	Drifted int64
	// the last pass was complete and made no update, and Mistaken is 0 or nil
	Converged bool
	// after such a pass of a learner.MistakeChecker: examples that are mistakes still; else nil
	Mistaken *int
	// with Options.UntilConverged: where it stands, while it is not at an end; nil after it
	Pass *learner.Pass
	// where it stands, at a checkpoint and where it was stopped; nil at its end
	Standing *Standing
	Resumed  bool               // went on at Resume or Continue, or a Fit where it was cut
	Fit      *learner.FitResult // of Fit; nil after Run
	Read     time.Duration      // spent waiting for the source
	Learn    time.Duration      // spent learning, tallies included
	// with Options.Delay, where the run was stopped, or with IDs: examples that were predicted,
	// whose labels had not come; they are neither learned nor counted
	Waiting   int64
	Late      *Late // with Options.IDs; else nil
	NotFinite int64 // rounds whose score was NaN or infinite, all passes
	// at the end: of the order of the first pass, the features, and the scores of the later half of
	// all passes
	Warnings []Warning
}

// ProgressiveError returns the share of wrong predictions in the first pass, each made before its
// label was shown; 0 if nothing was presented.
func (r Result) ProgressiveError() float64 {
	return share(r.Errors, r.Examples)
}

// NsPerExample returns the nanoseconds of learning for one example that this run presented.
func (r Result) NsPerExample() float64 {
	if r.Presented == r.Behind {
		return 0
	}
	return float64(r.Learn.Nanoseconds()) / float64(r.Presented-r.Behind)
}

// check refuses options that exclude each other, and those that a source lacks what is needed for.
func (o *Options) check(inMemory, gathers bool) error {
	switch {
	case o.UntilConverged && o.Epochs != 0:
		return fmt.Errorf("eval: %d epochs and until converged: %w", o.Epochs, ErrOptions)
	case o.Continue != nil && o.Resume != nil:
		return fmt.Errorf("eval: two places to go on at: %w", ErrOptions)
	case o.Epochs < 0 || o.Block < 0 || o.Before < 0 || o.MaxUpdates < 0 || o.CheckpointEvery < 0:
		return fmt.Errorf("eval: a negative count: %w", ErrOptions)
	case !inMemory && (o.Epochs > 1 || o.UntilConverged || o.Shuffle):
		return fmt.Errorf("eval: %w", ErrOnePass)
	case o.Shuffle && !gathers:
		return fmt.Errorf("eval: shuffling needs a gather function: %w", ErrOptions)
	}
	if o.IDs != nil {
		if err := o.checkIDs(inMemory); err != nil {
			return err
		}
	}
	return o.checkMeters()
}

// checkMeters is check of what is tallied.
func (o *Options) checkMeters() error {
	if _, err := calibration.ParseTarget(o.Threshold); err != nil {
		return fmt.Errorf("eval: threshold %w: %w", err, ErrOptions)
	}
	switch {
	case o.Drift != "" && !slices.Contains(DriftDetectors(), o.Drift):
		return fmt.Errorf("eval: no drift detector %q; there are %s: %w", o.Drift,
			strings.Join(DriftDetectors(), ", "), ErrOptions)
	case o.Window < 0 || o.Curve < 0 || !(o.Fading >= 0 && o.Fading < 1):
		return fmt.Errorf("eval: window %d, fading %v, curve %d: %w", o.Window, o.Fading, o.Curve,
			ErrOptions)
	case o.Window > 0 && o.Fading > 0:
		return fmt.Errorf("eval: a window and fading: %w", ErrOptions)
	case o.Delay < 0 || o.Delay > 0 && (o.Epochs > 1 || o.UntilConverged):
		return fmt.Errorf("eval: a delay of %d, which is for one pass: %w", o.Delay, ErrOptions)
	}
	return nil
}
