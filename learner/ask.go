package learner

// AsFitter returns what passes over a whole data set for l, or nil if l learns one example after
// another only. With which settings it can is Config's to say: see Whole.
func AsFitter[T Float](l Learner[T]) Fitter[T] {
	f, _ := l.(Fitter[T])
	return f
}

// SupportOf returns how many examples l keeps, and whether it is a learner that keeps some.
func SupportOf[T Float](l Learner[T]) (n int, keeps bool) {
	k, ok := l.(Keeper)
	if !ok {
		return 0, false
	}
	return k.Support(), true
}

// HasBias reports whether l has a bias of its own beside its weights; see Biased.
func HasBias[T Float](l Learner[T]) bool {
	_, ok := l.(Biased)
	return ok
}

// Solver is a Learner whose Fit solves an optimisation problem to an accuracy that it knows.
type Solver interface {
	// Solved tells of the last Fit.
	Solved() Solution
}

// Solution is what a Solver's last Fit reached.
type Solution struct {
	Gap     float64 // between the objective and a bound of it, relative to the objective
	Support int64   // examples with a dual coefficient; -1 before the first Fit
}

// SolutionOf returns what the last Fit of l reached, and whether l is a Solver.
func SolutionOf[T Float](l Learner[T]) (s Solution, ok bool) {
	if solver, ok := l.(Solver); ok {
		return solver.Solved(), true
	}
	return s, false
}

// HardMarginConfig is a Config of a learner whose Fit can find the hyperplane of the largest margin.
type HardMarginConfig interface {
	Config
	// HardMargin returns settings for that, of a hyperplane with a bias or of one through the
	// origin. It changes nothing.
	HardMargin(bias bool) Config
}

// HardMargin returns a registered learner whose Fit finds the hyperplane of the largest margin,
// with a bias or through the origin, and settings for that; ok is false if none is registered.
func HardMargin(bias bool) (e Entry, c Config, ok bool) {
	for _, name := range Names() {
		e := registry[name]
		if h, ok := e.Config().(HardMarginConfig); ok {
			return e, h.HardMargin(bias), true
		}
	}
	return e, nil, false
}
