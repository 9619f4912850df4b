package training

import (
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/eval"
)

// Observer follows a run: its methods are called one at a time, by the goroutine of [Run], which
// waits for each of them. Nothing they do changes a result. Embed [Silent] to leave methods out.
type Observer interface {
	// Progress returns what shows the progress of learning; nil: nothing does.
	Progress() eval.Progress
	// Timed is called with the time that learning an example took, where examples are learned one
	// by one: with Options.Latency, and by learners that keep examples.
	Timed(time.Duration)
	// Planned is called with the plan, once, before the first example is learned.
	Planned(*Plan)
	// Needs is called, without MemBudget, when the learner will take more than 256 MiB, and again
	// each time that this doubles.
	Needs(Need)
	// BadRow is called with the error of each skipped row, Odd with what is odd in the data but
	// stops nothing.
	BadRow(error)
	Odd(string)
	// Saved is called after each model that was written: at checkpoints and at the end.
	Saved(Saved)
	// Drifted is called, with Options.Drift, where drift is found.
	Drifted(eval.Drift)
	// Learned is called at the end of learning, with what was found in the data. Writing the model
	// and measuring come after it.
	Learned(dataset.Info)
	// Warn is called with what may make the result other than it seems.
	Warn(Warning)
}

// Silent is an Observer that does nothing.
type Silent struct{}

// Progress is nil.
func (Silent) Progress() eval.Progress { return nil }

// Timed does nothing.
func (Silent) Timed(time.Duration) {}

// Planned does nothing.
func (Silent) Planned(*Plan) {}

// Needs does nothing.
func (Silent) Needs(Need) {}

// BadRow does nothing.
func (Silent) BadRow(error) {}

// Odd does nothing.
func (Silent) Odd(string) {}

// Saved does nothing.
func (Silent) Saved(Saved) {}

// Drifted does nothing.
func (Silent) Drifted(eval.Drift) {}

// Learned does nothing.
func (Silent) Learned(dataset.Info) {}

// Warn does nothing.
func (Silent) Warn(Warning) {}
