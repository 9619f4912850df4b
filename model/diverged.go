package model

import "github.com/halfspace-ml/halfspace/learners"

// Diverged returns the error with which saving l, named name, would be refused because its state
// has a NaN or an infinity; nil if it has none. Cost: that of l.State().
func Diverged[T learners.Float](name string, l learners.Learner[T]) error {
	return (&Model{Learner: name, State: l.State()}).finite()
}
