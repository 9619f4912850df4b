package ensemble

import (
	"context"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// MemberRun is a run of examples: all members go through them, in parts that may run on different
// cores. It is the [engine.Job] of that, and its scratch memory, which the next run uses again.
// Parts write to counts or partials; [MemberRun.Sums] adds these up afterwards.
type MemberRun[T learner.Float] struct {
	Owner     *Ensemble[T]
	aggregate Aggregate // of all members' scores, whether they see the example or not

	B              engine.Block[T] // the run's examples, a slice of the caller's block
	none           []T             // zeros: labels of blocks that have none
	mask           []uint64        // see maskOf, bit: b_{j,t} of Algorithm 2
	rows           []int32         // sparse: the lanes' row of each non-zero, from the run's first
	firstRow       int             // sparse: the row of the lanes that row 0 of rows is
	found          []int32         // sparse: memory for rows that had to be looked up
	ones           bool            // sparse: all values are 1
	weighted       bool            // some weight is not 1
	limit, longest int             // sparse: of weights in int16; non-zeros of an example, most
	sums           []int32         // int16: sums of the scores of a part's members, [part][example]
	scores, coefs  []float64       // of S, [example]
	SquaredLengths []float64       // |x|^2 of each example, if Ensemble.Lengths
	Parts          int             // tiles of lanes, or groups of dense members
	first          uint64          // the number of the first example for the draws
	short          bool            // counts are all that the parts computed
	counts         []int32         // [part][example]: members that updated, by a fixed step
	partials       []Partial       // [tile or group of DenseGroup members][example]
	work           []LaneWork[T]   // one a part
	words          []float64       // scratch of AppendTrace
}

// Aggregate says what is summed over the members' scores of an example.
type Aggregate int

const (
	AggregateNone     Aggregate = iota // nothing: S gives f, and only who sees an example scores it
	AggregateScores                    // sum of the scores
	AggregateVotes                     // number of scores >= 0, the votes for +1
	AggregateMistakes                  // number of scores s with y s <= 0
)

// Partial is what the members of one tile or group did on one example. Sums are per word of a mask,
// and words are added in order, so that they don't depend on how members are cut into tiles.
type Partial struct {
	Coef    [tileWords]float64 // sums of the updates' coefficients, in units of Stepper.Unit
	total   [tileWords]float64 // the aggregate, of all these members
	Updates int                // members that updated
}

// tileWords is the number of words of a mask for the widest tile.
const tileWords = WideTile / 64

// LaneWork is the scratch of one part. Slices of T are one element a lane, with the padding of a
// row of lanes.
type LaneWork[T learner.Float] struct {
	S     []T      // scores
	Coef  []T      // multiples of the example that members add
	Mask  []uint64 // members that see the example, then those of them that update
	votes []uint64 // members on the side that is counted
	small int      // examples that the part went through in int16
	row   []T      // a dense example of the part's own, see engine.Block.RowApart
	did   Partial  // of an example of which only the number of updates is kept
	_     [64]byte // a cache line between parts, which run on different cores
}

// room makes scratch for the parts of the form that the members are in: for lanes as many as there
// are words, since the tiles may become one word wide while rows are added.
func (r *MemberRun[T]) room() {
	parts := r.Owner.words
	if r.Owner.dense != nil {
		parts = (r.Owner.members + DenseGroup - 1) / DenseGroup
	}
	if len(r.work) != parts {
		r.work = NewLaneWork[T](parts)
	}
}

// NewLaneWork returns the scratch of so many parts, each of the lanes of a widest tile.
func NewLaneWork[T learner.Float](parts int) []LaneWork[T] {
	work := make([]LaneWork[T], parts)
	for i := range work {
		w := &work[i]
		w.S, w.Coef = engine.Aligned[T](WideTile), engine.Aligned[T](WideTile)
		w.Mask, w.votes = make([]uint64, tileWords), make([]uint64, tileWords)
	}
	return work
}

// AggregateMembers sets dst to the aggregate of the members' scores of b's examples, and learns
// nothing. Calls may run at the same time: each takes a run of its own, and they share the lock on
// the form unless the members have to be moved into the other one.
func (o *Ensemble[T]) AggregateMembers(b *engine.Block[T], dst []float64, what Aggregate) error {
	o.Form.RLock()
	if o.inFormOf(b) && !o.inInt16() {
		defer o.Form.RUnlock()
	} else {
		o.Form.RUnlock()
		o.Form.Lock()
		defer o.Form.Unlock()
		o.UseFormOf(b)
		if o.inInt16() {
			o.Lanes.Score()
		}
	}
	r := o.SpareRuns.Take()
	defer o.SpareRuns.Give(r)
	r.Owner = o
	for lo := 0; lo < b.Len(); lo += r.B.Len() {
		if err := r.Run(b, lo, what, NoDraws); err != nil {
			return err
		}
		for e := range r.B.Len() {
			_, dst[lo+e], _ = r.Sums(e)
		}
	}
	r.Release()
	return nil
}

// Release lets go of the last run's examples, which are the caller's.
func (r *MemberRun[T]) Release() { r.B, r.rows = engine.Block[T]{}, nil }

// Sizes of a run: no result depends on them.
const (
	// Sparse examples, most. A run must be worth a worker's waking: with N = 100 an example of a
	// dozen non-zeros costs some 80 ns, so that a run is some 80 us.
	RunExamples = 1024
	// Sparse non-zeros, most: a row, an index and a value of each are 12 to 16 bytes, half a MiB at
	// most, which stays in L2 for the tiles that follow.
	RunNonZeros = 1 << 15
	RunRows     = 128       // dense examples, most
	runRowsMin  = 16        // dense, least: a member's weights come from memory for each run
	runRowBytes = 256 << 10 // dense: the rows stay in L2, beside a member's weights
	// Partials, one a part and example: they bound the scratch of ensembles of thousands of members
	// to 65536 times some 40 bytes, 2.5 MiB.
	RunPartials = 1 << 16
	// DenseGroup is of how many dense members sums are kept. Parts are whole groups: fine enough to
	// share 100 members evenly.
	DenseGroup = 8
)

// NoDraws is the number of examples that are only scored.
const NoDraws = math.MaxUint64

// Run makes r.B the examples of b from lo on, as many as a run takes, and lets all members go
// through them. first is the number of example lo for the draws; with NoDraws no member sees an
// example.
func (r *MemberRun[T]) Run(b *engine.Block[T], lo int, what Aggregate, first uint64) error {
	r.aggregate, r.first, r.ones = what, first, false
	r.weighted = first != NoDraws && b.Weighted()
	r.room()
	// Perceptrons averaged by S, the usual case, compare with one margin and add one step.
	r.short = r.Owner.fixed && what == AggregateNone
	if b.Dense() {
		r.beginDense(b, lo)
	} else {
		r.beginSparse(b, lo)
	}
	n := r.B.Len()
	switch {
	case r.short:
		r.counts = slices.Grow(r.counts[:0], r.Parts*n)[:r.Parts*n]
		if r.ones {
			r.sums = slices.Grow(r.sums[:0], r.Parts*n)[:r.Parts*n]
		}
	case b.Dense():
		r.partials = slices.Grow(r.partials[:0], len(r.work)*n)[:len(r.work)*n]
	default:
		r.partials = slices.Grow(r.partials[:0], r.Parts*n)[:r.Parts*n]
	}
	return r.Owner.Pool.Spread(context.Background(), r.Cost(), r.Parts, r)
}

// Cost estimates the time of a run in ns, within a factor of two on a core of 2026: 1/20 ns a lane
// and non-zero, 1/12 ns a product of a dense row, 20 ns for each turn of a part, that is an example
// of a tile or of a dense member. It decides only whether the pool is worth waking.
func (r *MemberRun[T]) Cost() int {
	const perLane, perProduct, turn = 20, 12, 20
	n := r.B.Len()
	if r.B.Dense() {
		members := r.Owner.members
		if r.aggregate == AggregateNone {
			members = int(float64(members)*r.Owner.tau) + 1 // that see an example, on average
		}
		return n * members * (r.B.Dim/perProduct + turn)
	}
	return (r.B.Ptr[n]-r.B.Ptr[0])*r.Owner.members/perLane + n*r.Parts*turn
}

// maskOf returns which of the members from 64*word on, up to the end of their tile, see the run's
// examples: [example][word of 64 members]. Dense members are one tile.
func (r *MemberRun[T]) maskOf(word int) []uint64 { return r.mask[r.B.Len()*word:] }

// draw fills in which of the members from first on, a tile, see the run's examples: b_{j,t} of line
// 6 of Algorithm 2.
func (r *MemberRun[T]) draw(first, members int) {
	words := (members + 63) / 64
	mask := r.maskOf(first / 64)[:r.B.Len()*words]
	if r.first == NoDraws {
		clear(mask)
		return
	}
	r.Owner.Draws.Masks(mask, r.Owner.firstWord+first/64, members, r.first)
	if r.weighted {
		r.leaveOut(mask, words)
	}
}

// measure fills in the squared lengths of the run's examples, if Ensemble.Lengths.
func (r *MemberRun[T]) measure() {
	if !r.Owner.Lengths {
		return
	}
	n := r.B.Len()
	r.SquaredLengths = slices.Grow(r.SquaredLengths[:0], n)[:n]
	for e := range r.SquaredLengths {
		r.SquaredLengths[e] = primal.SumSqInFour(&r.B, e)
	}
}

// leaveOut lets no member see the examples of weight 0.
func (r *MemberRun[T]) leaveOut(mask []uint64, words int) {
	for e := range r.B.Len() {
		if r.B.Weight(e) == 0 {
			clear(mask[e*words:][:words])
		}
	}
}

// weight returns that of example e of r.B.
func (r *MemberRun[T]) weight(e int) T {
	if !r.weighted {
		return 1
	}
	return r.B.W[e]
}

// take makes examples lo to hi-1 of b those of the run. Blocks that are only scored may have no
// labels: the parts then read zeros, which the aggregates of scores and votes don't look at.
func (r *MemberRun[T]) take(b *engine.Block[T], lo, hi int) {
	r.B = b.Slice(lo, hi)
	if r.B.Y == nil {
		r.none = primal.Grown(r.none, hi-lo)
		r.B.Y = r.none[:hi-lo]
	}
	n := hi - lo
	r.mask = slices.Grow(r.mask[:0], n*r.Owner.words)[:n*r.Owner.words]
}

// Part implements engine.Job: a tile of members, or a group of dense ones, goes through the run's
// examples.
func (r *MemberRun[T]) Part(p int) {
	if r.B.Dense() {
		r.densePart(p)
	} else {
		r.sparsePart(p)
	}
}

// side is what a member's score s is multiplied by, so that the member is counted if the product is
// at most 0: -1 for votes, s >= 0, as the label predicted of a zero score is +1; the label for
// mistakes, y s <= 0, as a zero score is one.
func (r *MemberRun[T]) side(y T) T {
	if r.aggregate == AggregateMistakes {
		return y
	}
	return -1
}

// Sums adds up the partials of example e of r.b in the order of the members, which parts and words
// keep: coef is the sum of the updates' coefficients in units of Stepper.Unit, total the aggregate.
// Sums of whole numbers, such as counts and the coefficients of a fixed step, are exact anyway.
func (r *MemberRun[T]) Sums(e int) (coef, total float64, updates int) {
	if r.short {
		for i, n := e, r.B.Len(); i < len(r.counts); i += n {
			updates += int(r.counts[i])
		}
		if coef = float64(updates); r.B.Y[e] < 0 {
			coef = 0 - coef // no -0 where none updates
		}
		return coef, 0, updates
	}
	for i, n := e, r.B.Len(); i < len(r.partials); i += n {
		t := &r.partials[i]
		for w := range tileWords {
			coef += t.Coef[w]
			total += t.total[w]
		}
		updates += t.Updates
	}
	return coef, total, updates
}

// WorkBytes returns the memory of what NewLaneWork made.
func WorkBytes[T learner.Float](work []LaneWork[T]) (bytes int64) {
	for i := range work {
		w := &work[i]
		bytes += primal.BytesOf(w.S) + primal.BytesOf(w.Coef) + primal.BytesOf(w.row)
		bytes += 8*int64(cap(w.Mask)+cap(w.votes)) + int64(unsafe.Sizeof(*w))
	}
	return bytes
}

// Bytes returns the memory of a run's scratch.
func (r *MemberRun[T]) Bytes() int64 {
	n := primal.BytesOf(r.SquaredLengths) + 4*int64(cap(r.found)) + 8*int64(cap(r.mask))
	n += 4*int64(cap(r.counts)+cap(r.sums)) + 8*int64(cap(r.scores)+cap(r.coefs)+cap(r.words))
	return n + int64(cap(r.partials))*int64(unsafe.Sizeof(Partial{})) + WorkBytes(r.work)
}
