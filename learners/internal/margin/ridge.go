package margin

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// leastWeight is that of an example that counts: with less the slack costs nothing, as with 0, and
// the square of what is added to its diagonal would overflow.
const leastWeight = 0x1p-256

// Counts reports whether an example of that weight is learned.
func Counts(w float64) bool { return w >= leastWeight }

// ridge is what a soft margin adds to the squared length of each example: Delta^2/w_k, 0 of a hard
// margin.
type ridge struct {
	delta2   float64   // Delta^2
	inverses []float64 // 1/w_k, 0 of an example that is left out; nil where all are 1
}

func ridgeOf[T learner.Float](b *engine.Block[T], delta float64) ridge {
	r := ridge{delta2: float64(delta * delta)}
	if r.delta2 == 0 || !b.Weighted() {
		return r
	}
	r.inverses = make([]float64, b.Len())
	for k := range r.inverses {
		if w := float64(b.Weight(k)); Counts(w) {
			r.inverses[k] = 1 / w
		}
	}
	return r
}

// counts reports whether example k is learned.
func (r *ridge) counts(k int) bool { return r.inverses == nil || r.inverses[k] > 0 }

// inverse returns 1/w_k.
func (r *ridge) inverse(k int) float64 {
	if r.inverses == nil {
		return 1
	}
	return r.inverses[k]
}

// of returns Delta^2/w_k.
func (r *ridge) of(k int) float64 {
	if r.inverses == nil {
		return r.delta2
	}
	return float64(r.delta2 * r.inverses[k])
}

// most returns the largest one.
func (r *ridge) most() float64 {
	if r.inverses == nil {
		return r.delta2
	}
	return float64(r.delta2 * slices.Max(r.inverses))
}

// leastMargin is primal.LeastMargin of the examples with it.
func leastMargin[T learner.Float](b *engine.Block[T], r *ridge) float64 {
	shortest2, longest2 := primal.SquaredLengths(b, 0)
	if r.inverses == nil {
		return primal.LeastMargin(shortest2+r.delta2, longest2+r.delta2)
	}
	least := math.Inf(1) // of those that count
	for k := range r.inverses {
		if r.counts(k) {
			least = min(least, r.of(k))
		}
	}
	return primal.LeastMargin(shortest2+least, longest2+r.most())
}

// softMargin fills in D of Theorem 2 of the CRAMMA paper, after gamma and gamma_0. margin returns
// the margin of example k without its extended coordinate, as a share of |w|, and 1/w_k: an example
// counts as often as it weighs. One that is left out has 0 there.
func softMargin(r *learner.FitResult, n int, margin func(k int) (m, inverse float64)) {
	var d2 float64
	for k := range n {
		if m, inverse := margin(k); inverse > 0 {
			d := max(0, r.Gamma0-m) // (19)
			d2 += float64(d*d) / inverse
		}
	}
	r.D = math.Sqrt(d2)
}
