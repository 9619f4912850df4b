package ensemble

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// beginDense takes the next examples of a dense block and draws who sees them. Each member goes
// over all of them in turn, so that its weights come into the cache once a run and not once an
// example; how many there are follows from the size of a row alone.
func (r *MemberRun[T]) beginDense(b *engine.Block[T], lo int) {
	n := runRowBytes / max(1, b.Dim*int(unsafe.Sizeof(T(0)))) // rows that stay in L2
	n = min(b.Len()-lo, max(n, runRowsMin), RunRows, max(1, RunPartials/len(r.work)))
	r.take(b, lo, lo+n)
	r.draw(0, n)
	if r.first != NoDraws {
		r.Owner.dense.Grow(b.Dim)
	}
	// The draws are [example][word of 64 members]. A member that goes over the run wants its own
	// examples as the bits of a word: sees[m*groups + g], bit i, is b_{m,t} of example 64 g + i.
	// The transpose goes by blocks of 64 x 64 bits.
	const groups = RunRows / 64 // words of a member, always those of a full run
	r.sees = slices.Grow(r.sees[:0], 64*r.Owner.words*groups)[:64*r.Owner.words*groups]
	var t [64]uint64
	for g := range groups {
		for w := range r.Owner.words {
			clear(t[:]) // examples from n on: seen by no member
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
	if r.short {
		r.denseShort(p)
		return
	}
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

// denseShort is densePart by a fixed margin and step, where nothing but updates counts.
func (r *MemberRun[T]) denseShort(p int) {
	n := r.B.Len()
	counts, margin, step := r.counts[p*n:][:n], r.Owner.margin, r.Owner.step
	clear(counts)
	for m := p * DenseGroup; m < min((p+1)*DenseGroup, r.Owner.members); m++ {
		row := r.Owner.dense.Row(m)
		row = row[:min(len(row), r.B.Dim)] // what else it has is 0 in every example
		for g, sees := range r.sees[m*RunRows/64:][:RunRows/64] {
			for ; sees != 0; sees &= sees - 1 {
				i := 64*g + bits.TrailingZeros64(sees)
				x, y := r.B.Row(i)[:len(row)], r.B.Y[i]
				if T(y*vecmath.Dot(row, x)) <= margin {
					c := step
					if y < 0 {
						c = -c
					}
					counts[i]++
					vecmath.Axpy(row, c, x)
				}
			}
		}
	}
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
			vecmath.Axpy(row, rule.coef(t, 1, y)[0], x)
		}
		return
	}
	var norm2 float64
	if rule.Form.Norm2 {
		norm2 = r.SquaredLengths[i]
	}
	w.Mask[0] = 1 // this member is lane 0 of its own
	if u, c := rule.Step(t, w.Mask[:1], m, s, y, norm2, w.Coef[:1]); u != 0 {
		t.Updates++
		vecmath.Axpy(row, c[0], x)
	}
}
