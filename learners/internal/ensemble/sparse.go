package ensemble

import (
	"math"
	"math/bits"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// beginSparse takes the next examples of a sparse block, as many as stay in L2 with the rows of
// their non-zeros. If rows are numbered by the features, the examples' indices are the rows. Else,
// if the run learns, features not seen before get rows now: that may cut the tiles anew, which must
// not happen while parts work on them.
func (r *MemberRun[T]) beginSparse(b *engine.Block[T], lo int) {
	most := min(b.Len()-lo, RunExamples, max(1, RunPartials/r.Owner.words))
	n := most
	if b.Ptr[lo+most]-b.Ptr[lo] > RunNonZeros {
		n = 1 // a single example may exceed the limit, also the block's last one
		for n < most && b.Ptr[lo+n+1]-b.Ptr[lo] <= RunNonZeros {
			n++
		}
	}
	r.take(b, lo, lo+n)
	lanes := r.Owner.Lanes
	if r.aggregate == AggregateNone {
		r.chooseType()
	}
	if r.first != NoDraws {
		lanes.Order(r.Owner.Room)
		r.measure()
	}
	idx := r.B.Idx[r.B.Ptr[0]:r.B.Ptr[n]]
	switch {
	case lanes.Direct() && r.B.Dim <= lanes.Features():
		r.rows, r.firstRow = idx, 1
	case r.first != NoDraws:
		r.found = lanes.Rows(r.found[:0], idx)
		r.rows, r.firstRow = r.found, 0
	default: // features without a row share one of zeros
		r.found = lanes.Find(r.found[:0], idx)
		r.rows, r.firstRow = r.found, 0
	}
	r.Parts = len(lanes.Tiles)
}

// chooseType moves the members' weights into int16 where those and all that comes of this run are
// whole numbers: the values and the step are 1. Once other values have come the weights stay in T.
func (r *MemberRun[T]) chooseType() {
	o := r.Owner
	lanes, ptr, n := o.Lanes, r.B.Ptr, r.B.Len()
	switch {
	case r.weighted:
		lanes.KeepFloats()
	case !r.unit():
		lanes.Widen()
	case lanes.Floats():
	case !r.B.Ones():
		lanes.KeepFloats()
	case !lanes.Learned(ptr[n] - ptr[0]):
	case !lanes.Int16() && !o.sumIsTheirs():
		lanes.KeepFloats()
	case lanes.Narrow():
		r.ones = true
		longest := 0
		for e, p := range ptr[:n] {
			longest = max(longest, ptr[e+1]-p)
		}
		r.limit, r.longest = math.MaxInt16/max(longest, 1)-1, longest
		lanes.Shrink(longest)
	}
}

// unit reports whether the members step by 1, in lanes.
func (r *MemberRun[T]) unit() bool {
	o := r.Owner
	m := float64(o.margin)
	return o.fixed && o.step == 1 && m >= math.MinInt16 && m <= math.MaxInt16
}

// int16Part is sparsePart for weights in int16, and sums up the scores. It returns the number of
// examples that the tile has gone through: all, unless its weights outgrew int16; they are in T
// then.
func (r *MemberRun[T]) int16Part(p int, seen []uint64) int {
	t, n, done := &r.Owner.Lanes.Tiles[p], r.B.Len(), 0
	lo := r.int8Part(p, seen)
	if lo == n {
		return n
	}
	if t.Peak <= r.limit {
		// Scores are whole numbers, too: y s <= margin is as good with the largest one below.
		margin := int16(math.Floor(float64(r.Owner.Stepper.margin)))
		stride, from := vecmath.MaskWords(t.Lanes), r.B.Ptr[lo]-r.B.Ptr[0]
		done, t.Peak = vecmath.LanesRunInt16(r.counts[p*n:][lo:n],
			r.sums[p*n:][lo:n], t.Int16[r.firstRow*t.Width:], t.Width, t.Lanes, r.B.Ptr[lo:n+1],
			r.rows[from:], r.B.Y[lo:n], seen[lo*stride:], stride, margin, r.limit, t.Peak)
	}
	if t.Peak > r.limit {
		t.Widen()
	}
	return lo + done
}

// int8Part is int16Part for weights in int8. Those of a tile that outgrew it are in int16 then.
func (r *MemberRun[T]) int8Part(p int, seen []uint64) (lo int) {
	t, n := &r.Owner.Lanes.Tiles[p], r.B.Len()
	margin := int16(math.Floor(float64(r.Owner.Stepper.margin)))
	for lo < n && t.Int8 != nil {
		limit := vecmath.Int8Small
		if t.Peak > limit {
			limit = vecmath.Int8Limit
		}
		if t.Peak > limit || r.longest > vecmath.Int8NonZeros(limit) {
			t.LeaveInt8()
			break
		}
		stride, from, done := vecmath.MaskWords(t.Lanes), r.B.Ptr[lo]-r.B.Ptr[0], 0
		done, t.Peak = vecmath.LanesRunInt8(r.counts[p*n:][lo:n],
			r.sums[p*n:][lo:n], t.Int8[r.firstRow*t.Width:], t.Width, r.B.Ptr[lo:n+1],
			r.rows[from:], r.B.Y[lo:n], seen[lo*stride:], stride, margin, limit, t.Peak)
		lo += done
	}
	return lo
}

// sumIsTheirs reports whether S is the sum of the members' weights, without which scores of S are
// not sums of theirs. It always is, but a model that was read may say otherwise.
func (o *Ensemble[T]) sumIsTheirs() bool {
	column, zero := make([]T, o.members), o.Lanes.Zero()
	for j, s := range o.sum {
		var sum float64
		if !zero && o.Lanes.Column(column, j) {
			for _, w := range column { // exact in any order
				sum += float64(w)
			}
		}
		if math.Float64bits(sum) != math.Float64bits(s) {
			return false
		}
	}
	return true
}

// sparsePart lets the members of tile p go through the run's examples. A non-zero costs one row
// operation for all lanes of the tile, seen or not.
func (r *MemberRun[T]) sparsePart(p int) {
	n, lo, t := r.B.Len(), 0, &r.Owner.Lanes.Tiles[p]
	r.draw(t.Lo, t.Lanes)
	seen := r.maskOf(t.Lo / 64) // tiles begin at whole words
	if r.ones {
		lo = r.int16Part(p, seen)
		r.work[p].small = lo
	}
	if lo == n {
		return
	}
	tile, w := *t, &r.work[p]
	tile.W = tile.W[r.firstRow*t.Width:] // the run's first row is the first
	// The run may begin inside the block: its rows and values count from its first non-zero.
	ptr, rows, val, base := r.B.Ptr[:n+1], r.rows, r.B.Val[r.B.Ptr[0]:], r.B.Ptr[0]
	words, rule := vecmath.MaskWords(tile.Lanes), r.Owner.Stepper
	if r.short && !r.weighted {
		from := ptr[lo] - base
		vecmath.LanesRun(r.counts[p*n:][lo:n], tile.W, tile.Width,
			ptr[lo:], rows[from:], val[from:], r.B.Y[lo:n], seen[lo*words:], words,
			rule.margin, rule.step)
		return
	}
	for e := lo; e < n; e++ {
		from, to := ptr[e]-base, ptr[e+1]-base
		did := &w.did
		if !r.short {
			did = &r.partials[p*n+e]
		}
		*did = Partial{}
		r.step(did, &tile, w, e, seen[e*words:][:words], rows[from:to], val[from:to])
		if r.short {
			r.counts[p*n+e] = int32(did.Updates)
		}
	}
}

// step scores example e by all members of a tile, aggregates the scores, and steps those that see
// it by any rule. Where S gives f and no member sees the example it does nothing.
func (r *MemberRun[T]) step(did *Partial, tile *LaneTile[T], w *LaneWork[T], e int,
	sees []uint64, rows []int32, val []T) {
	s, coef, mask, y := w.S[:tile.Width], w.Coef[:tile.Width], w.Mask[:len(sees)], r.B.Y[e]
	copy(mask, sees) // the rule clears the bits of members that don't update
	seen := anyBit(mask)
	if !seen && r.aggregate == AggregateNone {
		return
	}
	vecmath.LanesScore(s, tile.W, rows, val)
	if r.aggregate != AggregateNone {
		r.total(did, tile, w, s, y)
	}
	if !seen {
		return
	}
	var norm2 float64 // |x|^2, for rules that divide by it
	if r.Owner.Stepper.Form.Norm2 {
		norm2 = r.SquaredLengths[e]
	}
	did.Updates, coef = r.Owner.Stepper.Step(did, mask, tile.Lo, s, y, r.weight(e), norm2, coef)
	if anyBit(mask) {
		vecmath.LanesUpdate(tile.W, rows, val, coef, mask)
	}
}

// anyBit reports whether any bit is set.
func anyBit(mask []uint64) bool {
	var all uint64
	for _, m := range mask {
		all |= m
	}
	return all != 0
}

// total takes the aggregate of a tile's scores. Sums of scores are kept by the word of the mask, of
// 64 members: tiles of one word and of two then add the same numbers in the same order.
func (r *MemberRun[T]) total(t *Partial, tile *LaneTile[T], w *LaneWork[T], s []T, y T) {
	if r.aggregate == AggregateScores {
		for i := range len(w.Mask) { // words beyond the tile's lanes sum nothing
			lo, hi := min(64*i, tile.Lanes), min(64*(i+1), tile.Lanes)
			t.total[i] = r.Owner.Rule.Total(tile.Lo+lo, s[lo:hi])
		}
		return
	}
	vecmath.LanesLE(w.votes, s, r.side(y), 0)
	n := tile.Lanes - tile.Width // the padding's scores are 0 and in votes, too: not members
	for _, m := range w.votes {
		n += bits.OnesCount64(m)
	}
	t.total[0] = float64(n) // a whole number: exact in any order
}
