package eval

import (
	"encoding/json"
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/drift"
	"github.com/halfspace-ml/halfspace/learner"
)

// DriftDetectors returns the names that Options.Drift takes: ADWIN (Bifet and Gavaldà, 2007), DDM
// (Gama and others, 2004) and Page-Hinkley.
func DriftDetectors() []string { return drift.Names() }

// Drift is a place of a stream where losses had risen.
type Drift struct {
	Example int64   `json:"example"` // presented until then
	Error   float64 `json:"error"`   // share of errors since the drift before, or the beginning
}

// mostDrifts is how many are kept.
const mostDrifts = 1000

// driftWatcher gives losses to a detector.
type driftWatcher struct {
	driftState
	detector drift.Detector
	on       func(Drift) (changed bool, err error)
}

// driftState is the JSON of a driftWatcher beside the detector.
type driftState struct {
	Losses  int64 // given to the detector
	Stretch Count // since the last drift
	Drifted int64
	Drifts  []Drift // the first mostDrifts
}

// watch gives the rounds of a block to the detector; so many examples were presented with these.
func watch[T engine.Float](w *driftWatcher, b *engine.Block[T], rounds []learner.Round,
	presented int64) (err error) {
	before := presented - int64(len(rounds))
	for i, round := range rounds {
		y := 1.0 // of classes a Round's score is of the example's own
		if b.Class == nil {
			y = float64(b.Y[i])
		}
		loss := one(wrong(y, round.Score))
		w.Losses++
		w.Stretch.Examples++
		w.Stretch.Errors += loss
		if !w.detector.Add(float64(loss)) {
			continue
		}
		d := Drift{Example: before + int64(i) + 1, Error: w.Stretch.Error()}
		w.Stretch = Count{}
		if w.Drifted++; len(w.Drifts) < mostDrifts {
			w.Drifts = append(w.Drifts, d)
		}
		changed := false
		if w.on != nil {
			changed, err = w.on(d)
		}
		if err != nil {
			return fmt.Errorf("at the drift after %d examples: %w", d.Example, err)
		}
		if changed { // what the learner of before got wrong says nothing of this one
			w.detector.Reset()
		}
	}
	return nil
}

// part is the state of the watcher and of its detector.
func (w *driftWatcher) part() part {
	type state struct {
		driftState
		Detector json.RawMessage
	}
	return part{"drift", func() any {
		text, _ := json.Marshal(w.detector)
		return state{w.driftState, text}
	}, func(read func(any) bool) bool {
		var s state
		if !read(&s) || json.Unmarshal(s.Detector, w.detector) != nil || !w.detector.Valid() ||
			!counts(s.Losses, s.Drifted) || !s.Stretch.valid() || len(s.Drifts) > mostDrifts {
			return false
		}
		w.driftState = s.driftState
		return true
	}}
}
