// Package drift watches the losses of a learner, each of an example that it has not learned yet,
// and finds where their mean rises: where what was learned no longer holds. While losses fall, as
// they do while a learner learns, nothing is found.
package drift

import "github.com/halfspace-ml/halfspace/learner"

// Detector finds drift. JSON holds its state, not its settings. It is not safe for concurrent use.
// Add allocates nothing.
type Detector interface {
	// Add takes the loss of the next example, from 0 to 1. It reports whether losses have risen;
	// then the detector starts again from here.
	Add(loss float64) bool
	// Mean returns the mean loss of the examples that count at present.
	Mean() float64
	// Reset makes the detector as it was when it was new.
	Reset()
	// Valid reports whether a detector can have this state.
	Valid() bool
}

// Look is how many examples lie between two looks for a change: detectors find one after a number
// of examples that is a multiple of it, so that a learner can be given that many at once.
const Look = 32

// Names returns the names that New takes.
func Names() []string { return []string{"adwin", "ddm", "page-hinkley"} }

// New returns the detector of that name with its defaults; nil if there is none.
func New(name string) Detector {
	switch name {
	case "adwin":
		return NewADWIN(DefaultDelta)
	case "ddm":
		return NewDDM()
	case "page-hinkley":
		return NewPageHinkley(DefaultPHDelta, DefaultPHLambda)
	}
	return nil
}

// losses counts losses.
type losses struct {
	N   int64
	Sum float64
}

// Mean returns the mean of the losses since the last drift, 0 without any.
func (l *losses) Mean() float64 {
	if l.N == 0 {
		return 0
	}
	return l.Sum / float64(l.N)
}

// Valid is Detector's.
func (l *losses) Valid() bool { return l.N >= 0 && l.N <= learner.MaxCount }

// add counts a loss.
func (l *losses) add(loss float64) {
	l.N++
	l.Sum += loss
}
