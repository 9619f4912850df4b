// Package training carries out one run with all that package halfspace leaves out: an [Observer]
// that follows it, a [Source] of a program's own in place of files, workers and memory shared with
// the rest of the program. [halfspace.Train] is this for files.
//
//	result, err := training.Run(ctx, training.Options{Learner: "pa",
//		Files: []string{"a.svm"}}, training.Env{})
//
// The types are those of package internal/training, which says how a run goes; go doc shows their
// fields there.
//
// [halfspace.Train]: https://pkg.go.dev/github.com/halfspace-ml/halfspace#Train
package training

import (
	"context"

	"github.com/halfspace-ml/halfspace/internal/training"
)

type (
	// Options are all that decides a run's result. JSON and TOML hold them.
	Options = training.Options
	// Data is the part of Options that says how rows of files become examples.
	Data = training.Data
	// Bytes is an amount of memory; as text it has a unit, as in 512MiB.
	Bytes = training.Bytes

	// Env is what a run is given besides its Options. The zero value will do.
	Env = training.Env
	// Machine is the memory that there is for the process of a run.
	Machine = training.Machine
	// Observer follows a run. Embed Silent to leave methods out.
	Observer = training.Observer
	// Silent is an Observer that does nothing.
	Silent = training.Silent
	// Plan is what a run has found before it learns its first example, and what it will do.
	Plan = training.Plan
	// Need is how much a learner takes that takes much.
	Need = training.Need
	// Saved is a model file that was written.
	Saved = training.Saved
	// Warning says that a result may not be what it seems.
	Warning = training.Warning

	// Source is a stream of examples that lie in no file.
	Source = training.Source
	// Message is some rows of a stream of messages, such as a topic's.
	Message = training.Message
	// Messages are a reader of messages that knows their places.
	Messages = training.Messages
	// Place is where a run stands in a stream of messages.
	Place = training.Place

	// Result is what came of a run.
	Result = training.Result
	// Error is what is wrong with a run, and what to do about it, in words that name fields of
	// Options.
	Error = training.Error
)

// Kinds of errors: see the same names in package internal/training.
var (
	ErrOption       = training.ErrOption
	ErrMemory       = training.ErrMemory
	ErrModel        = training.ErrModel
	ErrSave         = training.ErrSave
	ErrDiverged     = training.ErrDiverged
	ErrUseless      = training.ErrUseless
	ErrChanged      = training.ErrChanged
	ErrSource       = training.ErrSource
	ErrPaused       = training.ErrPaused
	ErrFinished     = training.ErrFinished
	ErrStopped      = training.ErrStopped
	ErrNotConverged = training.ErrNotConverged
)

// Run carries out the run that o describes. When ctx ends it saves what was learned, and returns
// ErrStopped.
func Run(ctx context.Context, o Options, env Env) (*Result, error) {
	return training.Run(ctx, o, env)
}

// NewError makes an Error for a Source to return: kind is one of those above, next says what to do
// about it, and format is that of fmt.Errorf. Fields of Options stand in braces in both.
func NewError(kind error, next, format string, args ...any) *Error {
	return training.NewError(kind, next, format, args...)
}

// NewMessages makes Messages that begin at a place. next returns some messages in order, at least
// one, and waits until there are any; its error ends the reading.
func NewMessages(from Place, next func() ([]Message, error)) *Messages {
	return training.NewMessages(from, next)
}

// ParsePlace is the inverse of Place.String, for what Env.Open of a resumed run is given.
func ParsePlace(name, at string) (Place, error) { return training.ParsePlace(name, at) }
