package ensemble

import (
	"math/bits"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// groupBytes is how many bytes of weights the members of a part have: they stay in L2.
const groupBytes = 512 << 10

// beginDense takes the next examples of a dense block: how many there are follows from the size of
// a row alone. The members are cut into parts whose weights stay in L2, at least one for each
// worker.
func (r *MemberRun[T]) beginDense(b *engine.Block[T], lo int) {
	o, size := r.Owner, int(unsafe.Sizeof(T(0)))
	n := runRowBytes / max(1, b.Dim*size) // rows that stay in L2
	n = min(b.Len()-lo, max(n, runRowsMin), RunRows, max(1, RunPartials/len(r.work)))
	r.take(b, lo, lo+n)
	r.draw(0, o.members)
	if r.first != NoDraws {
		o.dense.Grow(b.Dim)
		r.measure()
	}
	r.Parts = min(max(1+o.members*b.Dim*size/groupBytes, o.Pool.Workers()), len(r.work))
}

// densePart lets the members of part p go through the run's examples. Those that an example is
// scored by are scored together: they don't depend on each other, while a member's score of an
// example does on its update by the one before. An example is then read for all of them.
func (r *MemberRun[T]) densePart(p int) {
	o, n, groups := r.Owner, r.B.Len(), len(r.work)
	firstGroup, endGroup := p*groups/r.Parts, (p+1)*groups/r.Parts
	from, to := DenseGroup*firstGroup, min(DenseGroup*endGroup, o.members)
	if !r.short {
		clear(r.partials[firstGroup*n : endGroup*n])
	}
	var list [WideTile + 8]int32
	for e := range n {
		seen, listed, updates := r.mask[e*o.words:][:o.words], 0, int32(0)
		x := r.B.Row(e)
		if p > 0 { // the first part is most often the caller's, which has made the block
			x = r.B.RowApart(&r.work[p].row, e)
		}
		x = x[:min(len(x), o.dense.Dim())] // what members have not seen weighs 0
		for g := from / 64; 64*g < to; g++ {
			word := seen[g]
			if r.aggregate != AggregateNone {
				word = ^uint64(0) // every member's score counts, whether it sees the example or not
			}
			if 64*g < from {
				word &^= 1<<(from-64*g) - 1
			}
			if left := to - 64*g; left < 64 {
				word &= 1<<left - 1
			}
			// Eight at a time, whether they are there or not: where they end can't be guessed.
			there := bits.OnesCount64(word)
			for k := 0; k < there; k += 8 {
				some := (*[8]int32)(list[listed+k:])
				for i := range some {
					some[i] = int32(64*g + bits.TrailingZeros64(word))
					word &= word - 1
				}
			}
			if listed += there; listed > WideTile-64 { // no room for another word
				updates += r.denseStep(p, e, x, list[:listed])
				listed = 0
			}
		}
		updates += r.denseStep(p, e, x, list[:listed])
		if r.short {
			r.counts[p*n+e] = updates
		}
	}
}

// denseStep scores example e, x, by the listed members of part p, adds that to the aggregate, and
// steps those that see it: lines 7 and 8 of Algorithm 2. It returns how many update if that is all
// that is to be known.
func (r *MemberRun[T]) denseStep(p, e int, x []T, list []int32) (updates int32) {
	o, y, weight := r.Owner, r.B.Y[e], r.weight(e)
	w := &r.work[p]
	scores := w.S[:len(list)]
	o.dense.Scores(scores, list, x)
	c := T(o.step * weight) // of a fixed step
	if y < 0 {
		c = -c
	}
	if r.short {
		for k, s := range scores {
			if T(y*s) <= o.margin {
				vecmath.Axpy(o.dense.Row(int(list[k]))[:len(x)], c, x)
				updates++
			}
		}
		return updates
	}
	var norm2 float64
	if o.Stepper.Form.Norm2 && r.first != NoDraws {
		norm2 = r.SquaredLengths[e]
	}
	for k := range list {
		m, s := int(list[k]), scores[k:k+1]
		t := &r.partials[m/DenseGroup*r.B.Len()+e]
		switch {
		case r.aggregate == AggregateNone:
		case r.aggregate == AggregateScores:
			t.total[0] += o.Rule.Total(m, s) // with the factor of the member's weights, if any
		case T(r.side(y)*s[0]) <= 0: // a vote for +1, or a mistake
			t.total[0]++
		}
		if r.mask[e*o.words+m/64]>>(m%64)&1 == 0 {
			continue
		}
		if o.fixed { // as Stepper.Step for one lane, without its masks
			if T(y*s[0]) <= o.margin {
				t.Updates++
				o.count(t, 1, y)
				vecmath.Axpy(o.dense.Row(m)[:len(x)], c, x)
			}
			continue
		}
		w.Mask[0] = 1 // this member is lane 0 of its own
		u, coef := o.Step(t, w.Mask[:1], m, s, y, weight, norm2, w.Coef[:1])
		if t.Updates += u; w.Mask[0] != 0 {
			vecmath.Axpy(o.dense.Row(m)[:len(x)], coef[0], x)
		}
	}
	return 0
}
