package ensemble

import (
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// Replay goes through example e of the last run of Learn once more, for S: it returns S.x of
// before, the multiple a of x that was added to S, and how many members did that.
func (o *Ensemble[T]) Replay(e int) (f, a float64, updates int) {
	coef, _, updates := o.LearnRun.Sums(e)
	a = float64(o.Unit * coef) // steps 8 and 13: S += (sum of coefficients) x
	if o.LearnRun.B.Dense() {
		x := o.LearnRun.B.Row(e)
		f = vecmath.DotMixed(o.Sum, x)
		if a != 0 {
			vecmath.AxpyMixed(o.Sum[:len(x)], a, x)
		}
		return f, a, updates
	}
	idx, val := o.LearnRun.B.Sparse(e)
	if a != 0 {
		f = vecmath.SparseDotAxpyMixedUnchecked(trusted.Indices{}, o.Sum, a, idx, val)
	} else {
		f = vecmath.SparseDotMixedUnchecked(trusted.Indices{}, idx, val, o.Sum)
	}
	return f, a, updates
}
