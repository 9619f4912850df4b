package learners

import (
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// replay goes through example e of the last run of Learn once more, for S: it returns S.x of before,
// the multiple a of x that was added to S, and how many members did that.
func (o *ensemble[T]) replay(e int) (f, a float64, updates int) {
	coef, _, updates := o.own.sums(e)
	a = float64(o.unit * coef) // steps 8 and 13: S += (sum of coefficients) x
	if o.own.b.Dense() {
		x := o.own.b.Row(e)
		f = vecmath.DotMixed(o.sum, x)
		if a != 0 {
			vecmath.AxpyMixed(o.sum[:len(x)], a, x)
		}
		return f, a, updates
	}
	idx, val := o.own.b.Sparse(e)
	if a != 0 {
		f = vecmath.SparseDotAxpyMixedUnchecked(trusted.Indices{}, o.sum, a, idx, val)
	} else {
		f = vecmath.SparseDotMixedUnchecked(trusted.Indices{}, idx, val, o.sum)
	}
	return f, a, updates
}

// sumDot returns S.x of example i. Features that S does not reach have weight 0.
func (o *ensemble[T]) sumDot(b *engine.Block[T], i int) float64 {
	if b.Dense() {
		x := b.Row(i)
		n := min(len(x), len(o.sum))
		return vecmath.DotMixed(o.sum[:n], x[:n])
	}
	idx, val := b.Sparse(i)
	if n := len(idx); n > 0 && int(idx[n-1]) >= len(o.sum) {
		n, _ = slices.BinarySearch(idx, int32(len(o.sum)))
		idx, val = idx[:n], val[:n]
	}
	return vecmath.SparseDotMixedUnchecked(trusted.Indices{}, idx, val, o.sum)
}
