package learner

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
)

// Forgetter is a Learner that can forget a share of what it has learned, as where the data have
// changed ([Traits.Forgets]). What it counts, and where its draws stand, stays.
type Forgetter interface {
	// Forget keeps that share of what was learned: 1 changes nothing, 0 is not allowed. Of a
	// hypothesis of weights alone these are multiplied by it, so that a later step weighs more
	// beside them; of a posterior the covariance is divided by it, and the mean stays. The error
	// wraps ErrConfig, and then nothing has changed.
	Forget(keep float64) error
}

// CheckKeep is the error of [Forgetter.Forget] for a share that none is, for a learner of that
// name.
func CheckKeep(name string, keep float64) error {
	return CheckSetting(name, "the share to keep", keep, keep > 0 && keep <= 1,
		"above 0 and at most 1")
}

// ForgetterOf returns what forgets for l, or nil if it can't (Traits.Forgets is false): l itself,
// what stands for the learners that l gives its examples to, or the one that it gives them to.
func ForgetterOf[T Float](l Learner[T]) Forgetter {
	if w, ok := l.(interface{ Forgetter() Forgetter }); ok {
		return w.Forgetter()
	}
	if f, ok := l.(Forgetter); ok {
		return f
	}
	if w, ok := l.(Wrapper[T]); ok {
		return ForgetterOf(w.Inner())
	}
	return nil
}

// Replacer is an ensemble whose members can be replaced one by one ([Traits.Replaces]).
type Replacer[T Float] interface {
	// Replace makes the n members that predict the wrong label of most of the recent examples
	// copies of the n that do so of the fewest: they go on apart, as each is shown examples by its
	// own draws. n is at most half of them; more count as that. Members of as many errors are taken
	// in the order of their numbers. Recent examples are those that were learned last, in order, in
	// blocks. The error wraps that of a bad block or ErrConfig, and then nothing has changed.
	//
	// Cost: all weights once, and the members' scores of the recent examples.
	Replace(n int, recent []engine.Block[T]) error
}

// ReplacerOf returns what replaces members of l, or nil if it has none that can be replaced
// (Traits.Replaces is 0): l itself, or what stands for it.
func ReplacerOf[T Float](l Learner[T]) Replacer[T] {
	if w, ok := l.(interface{ Replacer() Replacer[T] }); ok {
		return w.Replacer()
	}
	r, _ := l.(Replacer[T])
	return r
}

// CheckRecent is the error of [Replacer.Replace] for bad blocks or a bad n, for a learner of that
// name.
func CheckRecent[T Float](name string, n int, recent []engine.Block[T]) error {
	if n < 0 {
		return fmt.Errorf("%s: %d members to be replaced: %w", name, n, ErrConfig)
	}
	for i := range recent {
		if err := recent[i].Check(); err != nil {
			return fmt.Errorf("%s: recent examples: %w", name, err)
		}
	}
	return nil
}
