package margin

import (
	"fmt"
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

// NoneCounts reports whether there are weights, and none with which an example is learned.
func NoneCounts[T learner.Float](b *engine.Block[T]) bool {
	return b.Weighted() && !slices.ContainsFunc(b.W, func(w T) bool { return Counts(float64(w)) })
}

// noneCounts is the error of such examples.
func noneCounts(name string) error {
	return fmt.Errorf("%s: no examples of a weight above 0: %w", name, learner.ErrFit)
}

// checkPrices is primal.CheckBlock of a soft margin Delta, whose slacks have prices that weights
// multiply; a hard margin, of Delta 0, takes none.
func checkPrices[T learner.Float](name string, b *engine.Block[T], delta float64) error {
	if delta > 0 {
		return primal.CheckWeighted(name, b, b.Len())
	}
	return primal.CheckBlock(name, b, b.Len())
}

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
