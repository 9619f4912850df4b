package margin

import (
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// Fits says what a learner's Fit takes.
type Fits struct {
	Weights bool // those of examples, which multiply the prices of slacks
	// ActiveSet: it goes over the examples one by one; else it finds the next violator among all.
	ActiveSet bool
	Halving   bool   // it has an accuracy that can be halved
	NoDelta   string // why FitOptions.Delta is refused; "": it is that of a soft margin
}

// CheckFit returns what is wrong with a call of Fit of a learner called name, and sets the default
// of GramBytes.
func CheckFit[T learner.Float](name string, b *engine.Block[T], o *learner.FitOptions,
	f Fits) error {
	check := primal.CheckBlock[T]
	if f.Weights {
		check = primal.CheckWeighted[T]
	}
	if err := check(name, b, b.Len()); err != nil {
		return err
	}
	if err := f.CheckOptions(name, o); err != nil {
		return err
	}
	if b.Len() == 0 {
		return fmt.Errorf("%s: no examples: %w", name, learner.ErrFit)
	}
	if b.Weighted() && !slices.ContainsFunc(b.W, func(w T) bool { return Counts(float64(w)) }) {
		return noneCounts(name)
	}
	if o.GramBytes == 0 {
		o.GramBytes = learner.DefaultGramBytes
	}
	return nil
}

// CheckOptions refuses options that the learner doesn't take.
func (f *Fits) CheckOptions(name string, o *learner.FitOptions) error {
	switch {
	case o.MaxUpdates < 0:
		return fmt.Errorf("%s: MaxUpdates is %d, want >= 0: %w", name, o.MaxUpdates,
			learner.ErrConfig)
	case o.ActiveSet && !f.ActiveSet:
		return fmt.Errorf("%s: has no active set (FitOptions.ActiveSet): it finds the next "+
			"violator among all at once: %w", name, learner.ErrConfig)
	case o.Halving && !f.Halving:
		return fmt.Errorf("%s: has no accuracy to halve (FitOptions.Halving) with these "+
			"settings: %w", name, learner.ErrConfig)
	case f.NoDelta != "" && o.Delta != 0:
		return fmt.Errorf("%s: Delta is %v: %s: %w", name, o.Delta, f.NoDelta, learner.ErrConfig)
	case !(o.Delta >= 0) || math.IsInf(o.Delta, 0):
		return fmt.Errorf("%s: Delta is %v, want a number >= 0: %w", name, o.Delta,
			learner.ErrConfig)
	}
	return nil
}

// noneCounts is the error of weighted examples of which none is learned.
func noneCounts(name string) error {
	return fmt.Errorf("%s: no examples of a weight above 0: %w", name, learner.ErrFit)
}
