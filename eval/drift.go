package eval

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// DriftState is what a detector says of a stream after an example.
type DriftState int8

// States of a stream, from the least to the most.
const (
	DriftNone    DriftState = iota // nothing has changed that could be told
	DriftWarning                   // it may be about to change
	DriftFound                     // losses have risen: the detector begins anew from here
)

// String is none, warning or drift.
func (s DriftState) String() string { return [...]string{"none", "warning", "drift"}[s] }

// DriftDetector watches the losses of a learner, each of an example that it had not learned yet,
// and says when their mean has risen: when what was learned no longer holds. Losses are from 0 to
// 1, as 1 for a wrong prediction and 0 for a right one. Where losses fall, as they do while a
// learner learns, nothing is said.
//
// A detector is not safe for concurrent use. Add allocates nothing.
type DriftDetector interface {
	// Add takes the loss of the next example.
	Add(loss float64) DriftState
	// Mean returns the mean loss of the examples that count at present.
	Mean() float64
	// Reset makes the detector as it was when it was new.
	Reset()
	// State returns all that it has seen and goes on from, in numbers of its own order.
	State() []float64
	// SetState makes the detector as the one of the same settings was that had this State. The
	// error wraps ErrTallies where none can have had it; the detector is as it was then.
	SetState(state []float64) error
}

// errState is SetState's error.
func errState(name string) error {
	return fmt.Errorf("eval: %s: no state of such a detector: %w", name, ErrTallies)
}

// isCount reports whether x is a number of losses.
func isCount(x float64) bool { return x >= 0 && x <= learner.MaxCount && x == math.Trunc(x) }

// DriftLook is how many examples lie between two looks for a change: detectors find one after a
// number of examples that is a multiple of it, so that a learner can be given that many at once.
const DriftLook = 32

// detectors are all there are, by name.
var detectors = map[string]func() DriftDetector{
	"adwin":        func() DriftDetector { return NewADWIN(DefaultADWINDelta) },
	"ddm":          func() DriftDetector { return NewDDM() },
	"page-hinkley": func() DriftDetector { return NewPageHinkley(DefaultPHDelta, DefaultPHLambda) },
}

// DriftDetectors returns the names that NewDriftDetector takes.
func DriftDetectors() []string { return []string{"adwin", "ddm", "page-hinkley"} }

// NewDriftDetector returns the detector of that name with its defaults. The error wraps ErrOptions.
func NewDriftDetector(name string) (DriftDetector, error) {
	if !slices.Contains(DriftDetectors(), name) {
		return nil, fmt.Errorf("eval: no drift detector %q; there are %s: %w", name,
			strings.Join(DriftDetectors(), ", "), ErrOptions)
	}
	return detectors[name](), nil
}

// Drift is a place of a stream where losses had risen.
type Drift struct {
	Example int64   `json:"example"` // presented until then
	Error   float64 `json:"error"`   // share of errors since the drift before, or the beginning
}

// mostDrifts is how many are kept.
const mostDrifts = 1000

// watch gives the rounds of a block to the detector.
func (r *run[T]) watch(b *engine.Block[T], rounds []learner.Round) error {
	if r.o.Drift == nil {
		return nil
	}
	before := r.res.Presented - int64(len(rounds))
	for i, round := range rounds {
		y := 1.0 // of classes a Round's score is of the example's own
		if b.Class == nil {
			y = float64(b.Y[i])
		}
		loss := one(wrong(y, round.Score))
		r.losses++
		r.stretch.Examples++
		r.stretch.Errors += loss
		if r.o.Drift.Add(float64(loss)) != DriftFound {
			continue
		}
		d := Drift{Example: before + int64(i) + 1, Error: r.stretch.Error()}
		r.stretch = Count{}
		if r.res.Drifted++; len(r.res.Drifts) < mostDrifts {
			r.res.Drifts = append(r.res.Drifts, d)
		}
		var err error
		if r.o.OnDrift != nil {
			err = r.o.OnDrift(d)
		}
		if err != nil {
			return fmt.Errorf("at the drift after %d examples: %w", d.Example, err)
		}
	}
	return nil
}
