package model

import (
	"github.com/halfspace-ml/halfspace/learner"
)

// Diverged returns the error with which saving l, named name, would be refused because its state
// has a NaN or an infinity; nil if it has none. Cost: that of l.State().
func Diverged[T learner.Float](name string, l learner.Learner[T]) error {
	return (&Model{Learner: name, State: l.State()}).finite()
}
