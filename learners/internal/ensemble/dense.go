package ensemble

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// beginDense takes the next examples of a dense block: how many there are follows from the size of
// a row alone.
func (r *MemberRun[T]) beginDense(b *engine.Block[T], lo int) {
	n := runRowBytes / max(1, b.Dim*int(unsafe.Sizeof(T(0)))) // rows that stay in L2
	n = min(b.Len()-lo, max(n, runRowsMin), RunRows, max(1, RunPartials/len(r.work)))
	r.take(b, lo, lo+n)
	r.draw(0, r.Owner.members)
	if r.first != NoDraws {
		r.Owner.dense.Grow(b.Dim)
		r.measure()
	}
	if r.short {
		r.beginShort()
		return
	}
	r.Parts = len(r.work)
	r.transpose()
}

// beginShort cuts the members into groups whose weights stay in L2, at least one for each worker.
// A single group adds the examples to S, too.
func (r *MemberRun[T]) beginShort() {
	o, n := r.Owner, r.B.Len()
	r.Parts = 1 + o.members*r.B.Dim*int(unsafe.Sizeof(T(0)))/groupBytes
	r.Parts = min(max(r.Parts, o.Pool.Workers()), len(r.work)) // 1 at least
	if r.Parts == 1 && r.first != NoDraws {
		r.adds = addsDense
		r.scores, r.coefs = primal.Grown(r.scores, n), primal.Grown(r.coefs, n)
	}
}

const groupBytes = 512 << 10 // of members' weights

// transpose turns the draws: each member goes over all examples in turn, so that its weights come
// into the cache once a run and not once an example.
func (r *MemberRun[T]) transpose() {
	n := r.B.Len()
	// The draws are [example][word of 64 members]. A member that goes over the run wants its own
	// examples as the bits of a word: sees[m*groups + g], bit i, is b_{m,t} of example 64 g + i.
	// The transpose goes by blocks of 64 x 64 bits.
	const groups = RunRows / 64 // words of a member, always those of a full run
	r.sees = slices.Grow(r.sees[:0], 64*r.Owner.words*groups)[:64*r.Owner.words*groups]
	var t [64]uint64
	for g := range groups {
		for w := range r.Owner.words {
			// What t and r.sees have of examples from n on nobody looks at.
			for i := range min(64, max(0, n-64*g)) {
				t[i] = r.mask[(64*g+i)*r.Owner.words+w]
			}
			engine.Transpose64(&t)
			for l, bits := range t {
				r.sees[(64*w+l)*groups+g] = bits
			}
		}
	}
}

// densePart lets the members of group p, one after another, go through the examples of r.b. Each
// member meets its examples in their order, and the sums of an example take the members in theirs:
// the results are those of example after example, members inside.
func (r *MemberRun[T]) densePart(p int) {
	n := r.B.Len()
	w, partials := &r.work[p], r.partials[p*n:][:n]
	clear(partials)
	for m := p * DenseGroup; m < min((p+1)*DenseGroup, r.Owner.members); m++ {
		row := r.Owner.dense.Row(m)
		// Features that only the block has weigh 0: there are some only if nothing is learned.
		// Features that only the weights have are 0 in every row.
		row = row[:min(len(row), r.B.Dim)]
		for g, sees := range r.sees[m*RunRows/64:][:RunRows/64] {
			todo := sees
			if r.aggregate != AggregateNone {
				todo = ^uint64(0) // every member's score counts, whether it sees the example or not
			}
			if left := n - 64*g; left < 64 { // a run shorter than RunRows ends inside a word
				todo &= 1<<max(0, left) - 1
			}
			for ; todo != 0; todo &= todo - 1 {
				i := bits.TrailingZeros64(todo)
				r.denseStep(&partials[64*g+i], w, m, row, 64*g+i, sees>>i&1 != 0)
			}
		}
	}
}

// denseShort lets the members of part p go through the run's examples by a fixed margin and step,
// where nothing but updates counts. The members that see an example are scored together: they don't
// depend on each other, while a member's score of an example does on its update by the one before.
// An example is then read for all of them, and there is one call for some of them.
func (r *MemberRun[T]) denseShort(p int) {
	o := r.Owner
	counts := r.counts[p*r.B.Len():][:r.B.Len()]
	from, to := p*o.members/r.Parts, (p+1)*o.members/r.Parts
	// The first part is most often the caller's, which has made the block.
	apart := p > 0 && r.B.Apart()
	w := &r.work[p]
	if apart && len(w.Row) < r.B.Stride {
		w.Row = engine.Aligned[T](r.B.Stride)
	}
	var list [2*64 + 8]int32
	for e := range counts {
		x := r.B.RowLines(e)
		if apart {
			x = r.B.RowApart(w.Row, e)
		}
		seen := r.mask[e*o.words:][:o.words]
		n, updates := 0, 0
		for g := from / 64; 64*g < to; g++ {
			word := seen[g]
			if 64*g < from {
				word &^= 1<<(from-64*g) - 1
			}
			if left := to - 64*g; left < 64 {
				word &= 1<<left - 1
			}
			// Eight at a time, whether they are there or not: where they end can't be guessed.
			there := bits.OnesCount64(word)
			for k := 0; k < there; k += 8 {
				some := (*[8]int32)(list[n+k:])
				for i := range some {
					some[i] = int32(64*g + bits.TrailingZeros64(word))
					word &= word - 1
				}
			}
			if n += there; n > 64 { // no room for another word
				updates += r.stepListed(x, r.B.Y[e], r.weight(e), list[:n])
				n = 0
			}
		}
		updates += r.stepListed(x, r.B.Y[e], r.weight(e), list[:n])
		counts[e] = int32(updates)
		if r.adds == addsDense { // while x is near, and rows of weights are awaited
			r.scores[e], r.coefs[e] = o.replayDense(x, r.B.Y[e], r.weight(e), updates)
		}
	}
}

// stepListed scores example x, of label y and weight w, by the listed members and steps them. It
// returns how many update.
func (r *MemberRun[T]) stepListed(x []T, y, w T, list []int32) (updates int) {
	o := r.Owner
	var room [2 * 64]T
	scores := room[:len(list)]
	c := T(o.step * w)
	if y < 0 {
		c = -c
	}
	o.dense.Scores(scores, list, x)
	for k, s := range scores {
		if T(y*s) <= o.margin {
			row := o.dense.Row(int(list[k]))[:r.B.Dim] // what else it has is 0 in every example
			vecmath.Axpy(row, c, x[:len(row)])
			updates++
		}
	}
	return updates
}

// denseStep scores example i by member m, whose weights are row, adds that to the aggregate, and
// steps the member if it sees the example: lines 7 and 8 of Algorithm 2.
func (r *MemberRun[T]) denseStep(t *Partial, w *LaneWork[T], m int, row []T, i int, sees bool) {
	rule, s, x, y := r.Owner.Stepper, w.S[:1], r.B.Row(i), r.B.Y[i]
	s[0] = vecmath.Dot(row, x[:len(row)])
	switch {
	case r.aggregate == AggregateNone:
	case r.aggregate == AggregateScores:
		t.total[0] += rule.Rule.Total(m, s) // with the factor of the member's weights, if any
	case T(r.side(y)*s[0]) <= 0: // a vote for +1, or a mistake
		t.total[0]++
	}
	if !sees {
		return
	}
	if rule.fixed { // as rule.Step for one lane, without its masks; see denseShort
		if T(y*s[0]) <= rule.margin {
			t.Updates++
			rule.count(t, 1, y)
			vecmath.Axpy(row, rule.steps(y, r.weight(i), w.Coef[:1])[0], x)
		}
		return
	}
	var norm2 float64
	if rule.Form.Norm2 {
		norm2 = r.SquaredLengths[i]
	}
	w.Mask[0] = 1 // this member is lane 0 of its own
	u, c := rule.Step(t, w.Mask[:1], m, s, y, r.weight(i), norm2, w.Coef[:1])
	if t.Updates += u; w.Mask[0] != 0 {
		vecmath.Axpy(row, c[0], x)
	}
}
