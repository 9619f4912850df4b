package learner

import "github.com/halfspace-ml/halfspace/engine"

// MistakeChecker is a Learner for which a whole pass without an update doesn't mean that it has
// converged, as an ensemble whose members see parts of the examples: mistakes may be left.
type MistakeChecker[T Float] interface {
	// Mistakes returns how many examples of b are mistakes (y f(x) <= 0) of the hypothesis or of
	// any part of it, with the present state, and changes nothing that later calls see. It fails as
	// Learn does, and like it is not for many goroutines at once. Cost: the scores of all members.
	Mistakes(b *engine.Block[T]) (int, error)
}
