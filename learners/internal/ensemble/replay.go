package ensemble

import (
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
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
	a = float64(o.UnitOf(o.LearnRun.weight(e)) * coef)
	if o.LearnRun.B.Dense() {
		return o.addDense(o.LearnRun.B.Row(e), a), a, updates
	}
	idx, val := o.LearnRun.B.Sparse(e)
	if a != 0 { // both in one pass over the non-zeros: the product is of S before
		f = vecmath.SparseDotAxpyMixedUnchecked(trusted.Indices{}, o.sum, a, idx, val)
	} else {
		f = vecmath.SparseDotMixedUnchecked(trusted.Indices{}, idx, val, o.sum)
	}
	return f, a, updates
}

// addDense returns S.x and then adds a times x to S, which may reach further, where x has no
// features. Padding, of zeros, may be part of x.
func (o *Ensemble[T]) addDense(x []T, a float64) (f float64) {
	if a != 0 {
		return vecmath.DotAxpyMixed(o.sum[:min(len(x), o.Room)], a, x)
	}
	return vecmath.DotMixed(o.sum[:len(x)], x) + 0 // no -0
}

// replayDense is Replay of example x, of label y and weight w, by which so many members updated.
func (o *Ensemble[T]) replayDense(x []T, y, w T, updates int) (f, a float64) {
	a = float64(float64(o.UnitOf(w)*float64(updates))*float64(y)) + 0 // no -0 where none updates
	return o.addDense(x, a), a
}

// ReplayRun does what Replay does for all examples of the run, or returns false. It can if counts
// are all that the members computed of sparse examples, or if a dense run has added to S already.
// If the members went through the whole run in int16, S.x is the sum of their scores, in integers:
// S needs no product of its own, and [Ensemble.AddToSum], which must follow, may add the run to S;
// a is not set then. The slices, one element an example, are used again.
func (o *Ensemble[T]) ReplayRun() (f, a []float64, updates []int32, ok bool) {
	r, n := &o.LearnRun, o.LearnRun.B.Len()
	if r.adds == addsDense {
		return r.scores[:n], r.coefs[:n], r.counts[:n], true
	}
	if !r.short || r.B.Dense() {
		return nil, nil, nil, false
	}
	r.scores, r.coefs = primal.Grown(r.scores, n), primal.Grown(r.coefs, n)
	f, a, updates = r.scores[:n], r.coefs[:n], addUp(r.counts, n)
	small := r.ones
	for p := range r.Parts {
		small = small && r.work[p].small == n
	}
	if !small {
		r.adds = addsReplay
	}
	if r.adds == addsReplay {
		o.coefsOf(a, 0)
	}
	ptr := r.B.Ptr[:n+1]
	from, to := ptr[0], ptr[n]
	if !small {
		vecmath.SparseDotAxpyRunUnchecked(trusted.Indices{}, f, o.sum, a, ptr, r.B.Idx[from:to],
			r.B.Val[from:to])
		return f, a, updates, true
	}
	for k, s := range addUp(r.sums, n) {
		f[k] = float64(s)
	}
	if r.adds == addsReplay {
		vecmath.SparseOnesAddRunUnchecked(trusted.Indices{}, o.sum, a, ptr, r.B.Idx[from:to])
	}
	return f, a, updates, true
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

// coefsOf sets a to the multiples of the examples from lo on that are added to S. The counts of
// the first part are those of all.
func (o *Ensemble[T]) coefsOf(a []float64, lo int) {
	r := &o.LearnRun
	updates := r.counts[lo:][:len(a)]
	if r.weighted {
		for k := range a {
			c := float64(o.UnitOf(r.weight(lo+k)) * float64(updates[k]))
			a[k] = float64(c*float64(r.B.Y[lo+k])) + 0
		}
		return
	}
	for k, y := range r.B.Y[lo:][:len(a)] { // a branch on labels would often be mispredicted
		c := float64(o.Unit * float64(updates[k]))
		a[k] = float64(c*float64(y)) + 0 // no -0 where none updates
	}
}

// sumRow is how many non-zeros of examples that update a member take as long to be added to S as
// the sum of a row of a tile, of 128 weights in int16. Where few features have rows the sums of
// all, once a run, take less: of runs of 256 examples and 100 members 1 ns an example instead of 8
// for Adult's 124 features, where half update a member, but 3 instead of 0.3 for the 300 of w8a,
// where one in a hundred does. AMD EPYC (Zen 4), 2026-11-23.
const sumRow = 6

// sumsRows reports whether the sums of all rows take less than so many non-zeros of examples that
// update a member.
func (r *MemberRun[T]) sumsRows(nonZeros int) bool {
	l := r.Owner.Lanes
	return l.Direct() && l.Features()*len(l.Tiles)*sumRow < nonZeros
}

// AddToSum adds the run's examples to S, if ReplayRun has not: it makes S the sums of the members'
// weights, which are integers and exact, or adds the examples one by one, as most update no member
// where this is the way.
func (o *Ensemble[T]) AddToSum() {
	r, n, updated := &o.LearnRun, o.LearnRun.B.Len(), 0
	if r.adds != addsAfter {
		return
	}
	for _, c := range r.counts[:n] {
		updated += int(min(c, 1))
	}
	ptr := r.B.Ptr
	if r.sumsRows((ptr[n]-ptr[0])*updated/max(n, 1)) && o.Lanes.SumRows(o.sum) {
		return
	}
	for e, c := range r.counts[:n] {
		if c != 0 {
			var a [1]float64
			o.coefsOf(a[:], e)
			vecmath.SparseOnesAddRunUnchecked(trusted.Indices{}, o.sum, a[:], ptr[e:e+2],
				r.B.Idx[ptr[e]:ptr[e+1]])
		}
	}
}
