package training

import (
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/eval"
)

// Observer is told how a run goes, by the goroutine that runs it. Nothing it does changes a result;
// the run waits for it. Embed [Silent] for what is not of interest.
type Observer interface {
	// Progress returns who is shown the progress of learning; nil for nobody.
	Progress() eval.Progress
	// Timed is told how long learning an example took, where they are learned one by one: with
	// Options.Latency, and of learners that keep examples.
	Timed(time.Duration)
	// Planned is told of the plan, before the first example is learned.
	Planned(*Plan)
	// Needs is told, without MemBudget, of a learner that takes more than 256 MiB, and again when
	// it takes twice as much.
	Needs(Need)
	// BadRow is told of each row that is passed over, Odd of what is odd in the data but stops
	// nothing.
	BadRow(error)
	Odd(string)
	// Saved is told of each model that was written: at checkpoints and at the end.
	Saved(Saved)
	// Learned is told, at the end of learning, what was found in the data. Writing the model and
	// measuring come after it.
	Learned(dataset.Info)
	// Warn is told of what may make the result other than it seems.
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

// Learned does nothing.
func (Silent) Learned(dataset.Info) {}

// Warn does nothing.
func (Silent) Warn(Warning) {}
