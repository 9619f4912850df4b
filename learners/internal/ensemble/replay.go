package ensemble

import (
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// Replay goes through the examples of the last run of Learn once more, for S, the sum of the
// members' weights. The members went over the whole run before it: S follows them now, an example
// at a time and in order, so that a score is that of before the example, whatever the size of the
// run was. Replay returns of each example S.x of before, the multiple a of x that was added to S,
// and how many members updated; the slices are used again. Where members cancel, or there is none,
// a is 0 and S stays as it is.
//
// If the members went through the whole run in int16, S.x is the sum of their scores, in integers.
func (o *Ensemble[T]) Replay() (f, a []float64, updates []int32) {
	r, n := &o.LearnRun, o.LearnRun.B.Len()
	r.scores, r.coefs = primal.Grown(r.scores, n), primal.Grown(r.coefs, n)
	f, a = r.scores[:n], r.coefs[:n]
	small := r.ones && !r.B.Dense()
	for p := 0; small && p < r.Parts; p++ {
		small = r.work[p].small == n
	}
	if updates = o.updated(); !small || o.Lengths {
		o.coefsOf(a, updates)
	}
	switch ptr := r.B.Ptr; {
	case r.B.Dense():
		for e := range f {
			f[e] = o.addDense(r.B.Row(e), a[e])
		}
	case small:
		for e, s := range addUp(r.sums, n) {
			f[e] = float64(s)
		}
		o.addOnes(a, updates)
	default:
		from, to := ptr[0], ptr[n]
		vecmath.SparseDotAxpyRun(f, o.sum, a, ptr[:n+1],
			r.B.Idx[from:to], r.B.Val[from:to])
	}
	return f, a, updates
}

// updated returns how many members updated on each of the run's examples.
func (o *Ensemble[T]) updated() []int32 {
	r := &o.LearnRun
	if r.short {
		return addUp(r.counts, r.B.Len())
	}
	r.counts = r.counts[:0]
	for e := range r.B.Len() {
		_, _, n := r.Sums(e)
		r.counts = append(r.counts, int32(n))
	}
	return r.counts
}

// coefsOf sets a to the multiples of the run's examples that are added to S: additive members
// change by c_j x, S by (sum c_j) x, lines 8 and 13 of Algorithm 2.
func (o *Ensemble[T]) coefsOf(a []float64, updates []int32) {
	r := &o.LearnRun
	if !r.short {
		for e := range a {
			coef, _, _ := r.Sums(e)
			a[e] = float64(o.UnitOf(r.weight(e))*coef) + 0 // no -0
		}
		return
	}
	unit := o.Unit
	for e, y := range r.B.Y[:len(a)] { // a branch on labels would often be mispredicted
		if r.weighted {
			unit = o.UnitOf(r.B.W[e])
		}
		a[e] = float64(float64(unit*float64(updates[e]))*float64(y)) + 0 // no -0 where none updates
	}
}

// addDense returns S.x and then adds a times x to S.
func (o *Ensemble[T]) addDense(x []T, a float64) (f float64) {
	if a != 0 {
		return vecmath.DotAxpyMixed(o.sum[:len(x)], a, x)
	}
	return vecmath.DotMixed(o.sum[:len(x)], x) + 0 // no -0
}

// addUp adds the parts' numbers, n of each, to those of the first part, which it returns.
func addUp(parts []int32, n int) []int32 {
	sum := parts[:n]
	for at := n; at < len(parts); at += n {
		for k, v := range parts[at:][:n] {
			sum[k] += v
		}
	}
	return sum
}

// sumRow is how many non-zeros of examples that update a member take as long to be added to S as
// the sum of a row of a tile, of 128 weights in int16. Where few features have rows the sums of
// all, once a run, take less: of runs of 256 examples and 100 members 1 ns an example instead of 8
// for Adult's 124 features, where half update a member, but 3 instead of 0.3 for the 300 of w8a,
// where one in a hundred does. AMD EPYC (Zen 4), 2026-11-23.
const sumRow = 6

// addOnes adds the run's examples, whose values are all 1, to S, whose numbers are whole and so
// exact in any order: it makes S the sums of the members' weights where that takes less than
// to add the examples one by one.
func (o *Ensemble[T]) addOnes(a []float64, updates []int32) {
	ptr, n, updated := o.LearnRun.B.Ptr, len(a), 0
	for _, c := range updates {
		updated += int(min(c, 1))
	}
	nonZeros := (ptr[n] - ptr[0]) * updated / max(n, 1)
	l := o.Lanes
	if l.Direct() && l.Features()*len(l.Tiles)*sumRow < nonZeros && l.SumRows(o.sum) {
		return
	}
	if !o.Lengths { // a is not there yet
		o.coefsOf(a, updates)
	}
	vecmath.SparseOnesAddRun(o.sum, a, ptr[:n+1],
		o.LearnRun.B.Idx[ptr[0]:ptr[n]])
}
