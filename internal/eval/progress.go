package eval

import (
	"time"

	"github.com/halfspace-ml/halfspace/learner"
)

// Status is how far a run is. Counts are of all passes.
type Status struct {
	Examples, Errors           int64 // presented so far, and wrong predictions among them
	SinceExamples, SinceErrors int64 // the same since the last Line
	Updates                    int64
	Proba                      *Metrics // so far; nil if not asked for
	// of the first pass; nil where nothing more than errors is tallied of two classes
	Metrics *Metrics
	// with Options.Window or Fading, at Line and End only: good during the call
	Recent  *Metrics
	Epoch   int           // the present pass, from 1
	Total   int64         // examples there will be; 0 if not known
	Elapsed time.Duration // since the start, reading included
}

// Error returns the share of wrong predictions so far, each made before its label was shown; 0
// without examples.
func (s Status) Error() float64 { return share(s.Errors, s.Examples) }

// ErrorSince returns the same of the examples since the last Line.
func (s Status) ErrorSince() float64 { return share(s.SinceErrors, s.SinceExamples) }

func share(part, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// Progress observes a run, from the goroutine that runs it. Line is called after example 1, 2, 4,
// 8, ..., Step after every block, End once, however the run ends. A run on a whole data set calls
// Fit instead, each second or so and at its end.
type Progress interface {
	Line(Status)
	Step(Status)
	Fit(s learner.FitStatus, elapsed time.Duration)
	End(Status)
}
