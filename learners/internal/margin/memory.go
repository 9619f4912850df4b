package margin

import "github.com/halfspace-ml/halfspace/learner"

// AddCycle adds what Fit takes of learners that pass over scores or weights; see cycle.
func AddCycle(f *learner.Footprint, x learner.Extent) {
	if !x.Whole {
		return
	}
	// s, alpha and alphaLow, and a copy of s for an observer
	f.Add("scores and dual coefficients", x.Examples, learner.Times(x.Examples, 5*8))
	// a, aLow, start, a row of makeGram, and what Weights makes
	f.Add("weights in float64", x.Features, learner.Times(x.Features, 5*8))
	// where it was stopped is part of the State: at most three tensors an example or feature
	cut := learner.Times(learner.Plus(x.Examples, x.Features), 3*8)
	f.Add("place to go on at", 1, cut)
	f.Copies = learner.Plus(f.Copies, cut)
	if gram, made := gramBytes(x); made {
		f.Add("inner products", learner.Times(x.Examples, x.Examples),
			learner.Plus(gram, learner.Times(8, x.Examples))) // the diagonal is there twice
	}
}

// gramBytes returns what a Gram matrix takes, and whether there is one.
func gramBytes(x learner.Extent) (n int64, made bool) {
	n = learner.Times(8, x.Examples, (x.Examples+7)&^7)
	return n, n <= x.GramBytes()
}

// AddFixedCycle is AddCycle for a fixed rule.
func AddFixedCycle(f *learner.Footprint, x learner.Extent) {
	AddCycle(f, x)
	if _, made := gramBytes(x); x.Whole && made && x.Dense && x.Features <= x.Examples {
		n := learner.Times(x.Examples, (x.Features+7)&^7+1) // with the labels
		f.Add("examples in float64", n, learner.Times(8, n))
	}
}

// AddPasses adds what Fit takes of learners that pass over the examples by their weights; see
// passes.
func AddPasses(f *learner.Footprint, x learner.Extent) {
	if !x.Whole {
		return
	}
	f.Add("scores and dual coefficients", x.Examples, learner.Times(x.Examples, 4*8))
	if x.Soft { // where it was cut: the slacks and the weights as they were
		cut := learner.Times(learner.Plus(x.Examples, x.Features), 8)
		f.Add("place to go on at", 1, cut)
		f.Copies = learner.Plus(f.Copies, cut)
	}
}

// Traits are those of the margin learners of hyperplanes through the origin, streams or whole
// data sets.
func Traits() learner.Traits {
	t := learner.LinearTraits()
	t.Whole, t.SoftDelta, t.Cut, t.Origin = true, true, true, true
	return t
}
