package learner

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
	if w, ok := l.(wrapper[T]); ok {
		return ForgetterOf(w.Inner())
	}
	return nil
}
