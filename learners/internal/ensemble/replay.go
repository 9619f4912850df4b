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

// ReplayRun does what Replay does for examples lo to hi-1 of the run, if they are sparse and counts
// are all that the members computed, or if S went beside them, or returns false. Where those went
// through them in int16, S.x is the sum of their scores, in whole numbers: S needs no product of
// its own. Where S went beside them nothing is left to be done. The slices, one element an example,
// are used again. Where S is added to after the run, as it may be without Ensemble.Lengths, a says
// nothing.
func (o *Ensemble[T]) ReplayRun(lo, hi int) (f, a []float64, updates []int32, ok bool) {
	r := &o.LearnRun
	if r.adds == addsBeside {
		return r.scores[lo:hi], r.coefs[lo:hi], r.counts[lo:hi], true
	}
	if !r.short || r.B.Dense() {
		return nil, nil, nil, false
	}
	r.scores, r.coefs = primal.Grown(r.scores, hi-lo), primal.Grown(r.coefs, hi-lo)
	f, a, updates = r.scores[:hi-lo], r.coefs[:hi-lo], r.counts[lo:hi]
	for p := 1; p < r.Parts; p++ {
		for k, c := range r.counts[p*r.pace.n:][lo:hi] {
			updates[k] += c
		}
	}
	inInt16 := r.ones && hi <= int(r.pace.inInt16.Load())
	if r.adds == addsAfter && !inInt16 { // S is needed now, and from here on
		r.addUpTo(lo)
		r.adds = addsFollow
	}
	if r.adds == addsFollow {
		o.coefsOf(a, lo)
	}
	ptr := r.B.Ptr[lo : hi+1]
	from, to := ptr[0], ptr[hi-lo]
	if !inInt16 {
		vecmath.SparseDotAxpyRunUnchecked(trusted.Indices{}, f, o.sum, a, ptr, r.B.Idx[from:to],
			r.B.Val[from:to])
		return f, a, updates, true
	}
	for k, s := range r.sums[lo:hi] {
		f[k] = float64(s)
	}
	for p := 1; p < r.Parts; p++ {
		for k, s := range r.sums[p*r.pace.n:][lo:hi] {
			f[k] += float64(s)
		}
	}
	if r.adds == addsFollow {
		vecmath.SparseOnesAddRunUnchecked(trusted.Indices{}, o.sum, a, ptr, r.B.Idx[from:to])
	}
	return f, a, updates, true
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

// sumUp adds the run's examples to S, or makes it the sums of the members' weights: what S is where
// weights are whole numbers, which are exact.
func (r *MemberRun[T]) sumUp() {
	n, updated := r.pace.ends(), 0
	for _, c := range r.counts[:n] {
		updated += int(min(c, 1))
	}
	nonZeros := r.B.Ptr[n] - r.B.Ptr[0]
	if !r.sumsRows(nonZeros*updated/max(n, 1)) || !r.Owner.Lanes.SumRows(r.Owner.sum) {
		r.addUpTo(n)
	}
}

// addUpTo adds the run's examples before n to S, which were to be added later: one by one, as most
// update no member where this is the way.
func (r *MemberRun[T]) addUpTo(n int) {
	o, ptr := r.Owner, r.B.Ptr
	for e, c := range r.counts[:n] {
		if c != 0 {
			var a [1]float64
			o.coefsOf(a[:], e)
			vecmath.SparseOnesAddRunUnchecked(trusted.Indices{}, o.sum, a[:], ptr[e:e+2],
				r.B.Idx[ptr[e]:ptr[e+1]])
		}
	}
}
