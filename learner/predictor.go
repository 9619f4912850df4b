package learner

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
)

// Predictor is a hypothesis that does not change: what a learner knew when [Learner.Snapshot] was
// called. Any number of goroutines may use it at once, also while the learner learns on. It asks
// for no labels, and allocates nothing once as many calls have run at the same time, on as many
// features, as will.
//
// One that knows probabilities is a [Prober] too: [ProbaOf].
type Predictor[T Float] interface {
	// Score sets dst, which needs Outputs places an example, to what the learner's Score would
	// have set it to, to the bit. The errors are those of Learner.Score.
	Score(b *engine.Block[T], dst []float64) error
	// Weights is that of the learner: a copy of the primal weights, or nil if there are none.
	Weights() []float64
	// Outputs returns the number of scores an example: 1 for two classes.
	Outputs() int
	// Bytes returns the memory that the hypothesis and its scratch hold.
	Bytes() int64
	// State returns a copy of the hypothesis alone, without what learning on would need. A learner
	// does not take it; [PredictorFrom] does.
	State() State
}

// ProbaOf returns what gives p's probabilities, or nil if p has none.
func ProbaOf[T Float](p Predictor[T]) Prober[T] {
	return proberOf[T](p)
}

// ViewOf returns a Predictor over l's own memory: nothing is copied, and it is good until l learns
// on. A learner that has none is asked for a Snapshot.
func ViewOf[T Float](l Learner[T]) Predictor[T] {
	if v, ok := l.(interface{ View() Predictor[T] }); ok {
		return v.View()
	}
	return l.Snapshot()
}

type restorer[T Float] interface {
	Restored(s State) (Predictor[T], error)
}

// Restored returns a Predictor of the settings of p that has a copy of s, as State gave it: what
// p's method Restored(State) (Predictor[T], error) returns, whose error wraps ErrState. A Predictor
// without that method refuses every State; those of all learners here have it.
func Restored[T Float](p Predictor[T], s State) (Predictor[T], error) {
	if r, ok := p.(restorer[T]); ok {
		return r.Restored(s)
	}
	return nil, fmt.Errorf("%T: predictors of this type can't be restored: %w", p, ErrState)
}

// CheckRestored returns the error that [Restored] would return. It takes no copy of s where p has a
// method CheckState of a Predictor's State, as those of all learners here do.
func CheckRestored[T Float](p Predictor[T], s State) error {
	if c, ok := p.(interface{ CheckState(State) error }); ok {
		return c.CheckState(s)
	}
	_, err := Restored(p, s)
	return err
}

// PredictorFrom returns a Predictor of the State that Predictor.State gave of one of the same
// learner, settings and seed. Errors are those of [New], and ErrState where the State is not of
// that form or the learner's predictors have no method Restored.
func PredictorFrom[T Float](e Entry, c Config, env Env, s State) (Predictor[T], error) {
	l, err := New[T](e, c, env)
	if err != nil {
		return nil, err
	}
	return Restored(l.Snapshot(), s)
}
