package ensemble

import (
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// Replay goes through example e of the last run of Learn once more, for S, the sum of the members'
// weights. The members went over the whole run before it: S follows them now, an example at a time
// and in order, so that f is the score of before the example, whatever the size of the run was.
// Replay returns S.x of before, the multiple a of x that was added to S, and how many members
// updated. Where members cancel, or there is none, a is 0 and S stays as it is.
func (o *Ensemble[T]) Replay(e int) (f, a float64, updates int) {
	coef, _, updates := o.LearnRun.Sums(e)
	// Lines 8 and 13 of Algorithm 2, N w~' = S: additive members change by c_j x, S by (sum c_j) x.
	a = float64(o.Unit * coef)
	if o.LearnRun.B.Dense() {
		x := o.LearnRun.B.Row(e) // S may reach further, where x has no features
		f = vecmath.DotMixed(o.Sum, x)
		if a != 0 {
			vecmath.AxpyMixed(o.Sum[:len(x)], a, x)
		}
		return f, a, updates
	}
	idx, val := o.LearnRun.B.Sparse(e)
	if a != 0 { // both in one pass over the non-zeros: the product is of S before
		f = vecmath.SparseDotAxpyMixedUnchecked(trusted.Indices{}, o.Sum, a, idx, val)
	} else {
		f = vecmath.SparseDotMixedUnchecked(trusted.Indices{}, idx, val, o.Sum)
	}
	return f, a, updates
}

// ReplayOnes does what Replay does for examples lo to hi-1 of the run, if all values of it are 1
// and the members went through them in int16, or returns false. S.x is then the sum of their
// scores, in whole numbers: S needs no product of its own. The slices, one element an example, are
// used again.
func (o *Ensemble[T]) ReplayOnes(lo, hi int) (f, a []float64, updates []int32, ones bool) {
	r := &o.LearnRun
	if !r.ones || hi > int(r.pace.inInt16.Load()) {
		return nil, nil, nil, false
	}
	n := r.pace.n
	updates, sums := r.counts[lo:hi], r.sums[lo:hi]
	f, a = r.scores[lo:hi], r.coefs[lo:hi]
	for k, s := range sums {
		f[k] = float64(s)
	}
	for p := 1; p < r.Parts; p++ {
		for k, s := range r.sums[p*n:][lo:hi] {
			f[k] += float64(s)
		}
		for k, c := range r.counts[p*n:][lo:hi] {
			updates[k] += c
		}
	}
	for k, c := range updates {
		a[k] = float64(c)
		if r.B.Y[lo+k] < 0 {
			a[k] = 0 - a[k] // no -0 where none updates
		}
	}
	ptr := r.B.Ptr[lo : hi+1]
	vecmath.SparseOnesAddRun(o.Sum, a, ptr, r.B.Idx[ptr[0]:ptr[hi-lo]])
	return f, a, updates, true
}
