package primal

import "github.com/halfspace-ml/halfspace/learner"

// Stored is the State of a learner, as one walk over its parts.
type Stored struct {
	Name string               // of the learner, for errors
	Walk func(*learner.Codec) // walks all parts; set by the learner's constructor
}

// State is Learner.State.
func (s *Stored) State() learner.State { return learner.StateOf(s.Walk) }

// SetState is Learner.SetState.
func (s *Stored) SetState(from learner.State) error {
	return learner.SetState(s.Name, from, s.Walk)
}

// CheckState is Learner.CheckState.
func (s *Stored) CheckState(from learner.State) error {
	return learner.CheckState(s.Name, from, s.Walk)
}
