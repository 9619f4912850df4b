package learners

import (
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// replay goes through the examples of o.b once more, for f and S.
func (o *OBPM[T]) replay(rounds []Round) {
	n, unit := o.b.Len(), o.rule.unit()
	rounds = rounds[:n]
	for e := range rounds {
		coef, total, updates := o.tallied(e)
		o.updates += uint64(updates)
		if !o.keepsSum {
			rounds[e] = Round{Score: o.scoreOf(total), Updates: int32(updates)}
			continue
		}
		a := float64(unit * coef) // steps 8 and 13: S += (sum of coefficients) x
		var f float64             // S.x
		if o.b.Dense() {
			x := o.b.Row(e)
			f = vecmath.DotMixed(o.sum, x)
			if a != 0 {
				vecmath.AxpyMixed(o.sum[:len(x)], a, x)
			}
		} else {
			idx, val := o.b.Sparse(e)
			if a != 0 {
				f = vecmath.SparseDotAxpyMixedUnchecked(trusted.Indices{}, o.sum, a, idx, val)
			} else {
				f = vecmath.SparseDotMixedUnchecked(trusted.Indices{}, idx, val, o.sum)
			}
		}
		rounds[e] = Round{Score: o.scoreOf(f), Updates: int32(updates)}
		if o.cfg.Cap { // |S + a x|^2 = |S|^2 + a (2 S.x + a |x|^2)
			o.sumSq = max(0, o.sumSq+float64(a*(float64(2*f)+float64(a*o.norms[e]))))
		}
	}
	o.presented += uint64(n)
}

// sumDot returns S.x of example i. Features that S does not reach have weight 0.
func (o *OBPM[T]) sumDot(b *engine.Block[T], i int) float64 {
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
