package learners

import "github.com/halfspace-ml/halfspace/learner"

// cycled adds what Fit takes of learners that pass over scores or weights; see cycle.
func cycled(f *Footprint, x Extent) {
	if !x.Whole {
		return
	}
	f.Add("scores and dual coefficients", x.Examples, times(x.Examples, 5*8))
	f.Add("weights in float64", x.Features, times(x.Features, 5*8))
	cut := times(plus(x.Examples, x.Features), 3*8) // where it was stopped is part of the State
	f.Add("place to go on at", 1, cut)
	f.Copies = plus(f.Copies, cut)
	if gram := times(8, x.Examples, (x.Examples+7)&^7); gram <= x.GramBytes() {
		f.Add("inner products", times(x.Examples, x.Examples), gram)
	}
}

// passed adds what Fit takes of learners that pass over the examples by their weights; see passes.
func passed(f *Footprint, x Extent) {
	if x.Whole {
		f.Add("scores and dual coefficients", x.Examples, times(x.Examples, 4*8))
	}
}

// marginTraits are those of the margin learners of hyperplanes through the origin, streams or whole
// data sets.
func marginTraits() Traits {
	t := learner.LinearTraits()
	t.Whole, t.SoftDelta, t.Origin = true, true, true
	return t
}
