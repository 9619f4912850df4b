package learners

import (
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// replay goes through example e of the last run of Learn once more, for S: it returns S.x of
// before, the multiple a of x that was added to S, and how many members did that.
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
