package ensemble

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/vecmath"
)

func (r *MemberRun[T]) beginDense(b *engine.Block[T], lo int, first uint64) {
	n := runRowBytes / max(1, b.Dim*int(unsafe.Sizeof(T(0))))
	n = min(b.Len()-lo, max(n, runRowsMin), RunRows, max(1, RunTallies/len(r.work)))
	r.take(b, lo, lo+n)
	r.draw(first)
	if first != NoDraws {
		r.Owner.dense.Grow(b.Dim)
	}
	// sees[m*groups + g], bit i: member m sees example 64*g + i.
	const groups = RunRows / 64
	r.sees = slices.Grow(r.sees[:0], 64*r.Owner.words*groups)[:64*r.Owner.words*groups]
	var t [64]uint64
	for g := range groups {
		for w := range r.Owner.words {
			clear(t[:])
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

// densePart lets the members of group p, one after another, go through the examples of r.b.
func (r *MemberRun[T]) densePart(p int) {
	n := r.B.Len()
	w, tallies := &r.work[p], r.tallies[p*n:][:n]
	clear(tallies)
	for m := p * DenseGroup; m < min((p+1)*DenseGroup, r.Owner.members); m++ {
		row := r.Owner.dense.Row(m)
		row = row[:min(len(row), r.B.Dim)]
		for g, sees := range r.sees[m*RunRows/64:][:RunRows/64] {
			todo := sees
			if r.tallied != Nothing {
				todo = ^uint64(0)
			}
			if left := n - 64*g; left < 64 {
				todo &= 1<<max(0, left) - 1
			}
			for ; todo != 0; todo &= todo - 1 {
				i := bits.TrailingZeros64(todo)
				r.denseStep(&tallies[64*g+i], w, m, row, 64*g+i, sees>>i&1 != 0)
			}
		}
	}
}

// denseStep scores example i by member m, whose weights are row, tallies that, and steps the member
// if it sees the example.
func (r *MemberRun[T]) denseStep(t *Tally, w *LaneWork[T], m int, row []T, i int, sees bool) {
	rule, s, x, y := r.Owner.Stepper, w.S[:1], r.B.Row(i), r.B.Y[i]
	s[0] = vecmath.Dot(row, x[:len(row)])
	switch {
	case r.tallied == Nothing:
	case r.tallied == Scores:
		t.total[0] += rule.Rule.Total(m, s)
	case T(r.side(y)*s[0]) <= 0:
		t.total[0]++
	}
	if !sees {
		return
	}
	if rule.fixed { // its step, in short
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
	w.Mask[0] = 1
	if u, c := rule.Step(t, w.Mask[:1], m, s, y, norm2, w.Coef[:1]); u != 0 {
		t.Updates++
		vecmath.Axpy(row, c[0], x)
	}
}
