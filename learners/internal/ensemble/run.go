package ensemble

import (
	"context"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// MemberRun is a run of examples in work: all members go through them. It is the [engine.Job] of
// that, and scratch.
type MemberRun[T learner.Float] struct {
	Owner   *Ensemble[T]
	tallied TallyKind // of all members

	B              engine.Block[T]
	none           []T      // labels of those that have none
	mask           []uint64 // [example][word]: who sees it
	sees           []uint64 // dense: [member][word of 64 examples], the transpose
	rows           []int32  // sparse: rows of the non-zeros, from the run's first
	SquaredLengths []float64
	Parts          int
	tallies        []Tally // [part][example]
	work           []LaneWork[T]
}

// TallyKind is what is tallied of the members' scores of an example.
type TallyKind int

const (
	Nothing   TallyKind = iota // S gives f: members that don't see an example need not score it
	Scores                     // their sum
	Votes                      // how many are >= 0
	WrongOnes                  // how many are wrong about the label, or score 0
)

// Tally is what the members of one part did on one example. Sums are per word of a mask, and words
// are added in order, so that they don't depend on how members are cut into tiles.
type Tally struct {
	Coef    [tileWords]float64 // sums of the updates' coefficients, in units of stepper.unit
	total   [tileWords]float64 // what memberRun.tallied says, of all members
	Updates int
}

const tileWords = engine.WideTile / 64

// LaneWork is the scratch of one part.
type LaneWork[T learner.Float] struct {
	S, Coef, Compact []T // one a lane
	Mask, votes      []uint64
	List             []int32
	_                [64]byte // parts run on different cores
}

// room makes scratch for the parts of the form that the members are in.
func (r *MemberRun[T]) room() {
	parts, lanes := r.Owner.words, engine.WideTile
	if r.Owner.dense != nil {
		parts, lanes = (r.Owner.members+DenseGroup-1)/DenseGroup, 1
	}
	if len(r.work) != parts || len(r.work[0].S) != lanes {
		r.work = NewLaneWork[T](parts, lanes)
	}
}

func NewLaneWork[T learner.Float](parts, lanes int) []LaneWork[T] {
	work := make([]LaneWork[T], parts)
	for i := range work {
		w := &work[i]
		w.S, w.Coef = engine.Aligned[T](lanes), engine.Aligned[T](lanes)
		w.Compact = engine.Aligned[T](lanes)
		words := vecmath.MaskWords(lanes)
		w.Mask, w.votes = make([]uint64, words), make([]uint64, words)
		w.List = make([]int32, 0, lanes)
	}
	return work
}

// TallyMembers sets dst to what is tallied of the members' scores of b's examples.
func (o *Ensemble[T]) TallyMembers(b *engine.Block[T], dst []float64, what TallyKind) error {
	o.Form.RLock()
	if o.inFormOf(b) {
		defer o.Form.RUnlock()
	} else {
		o.Form.RUnlock()
		o.Form.Lock()
		defer o.Form.Unlock()
		o.UseFormOf(b)
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
	r.B = engine.Block[T]{}
	return nil
}

// Sizes of a run: by the data alone, never by the workers.
const (
	RunExamples = 1024      // sparse: enough for two workers to be worth waking
	RunNonZeros = 1 << 15   // sparse: rows, indices and values stay in L2
	RunRows     = 128       // dense, most
	runRowsMin  = 16        // dense, least: a member's weights come from far for each run
	runRowBytes = 256 << 10 // dense: the rows stay in L2, beside a member's weights
	RunTallies  = 1 << 16   // part x example: bounds the scratch of ensembles of thousands
	DenseGroup  = 8         // members of a dense part: fine enough to share 100 members evenly
)

// NoDraws is the number of examples that are only scored.
const NoDraws = math.MaxUint64

// Run makes r.b the examples of b from lo on, as many as a run takes, and lets all members go
// through them; what they did is in r.tallies. first is the number of example lo for the draws;
// with NoDraws no member sees an example.
func (r *MemberRun[T]) Run(b *engine.Block[T], lo int, what TallyKind, first uint64) error {
	r.tallied = what
	r.room()
	if b.Dense() {
		r.beginDense(b, lo, first)
	} else {
		r.beginSparse(b, lo, first)
	}
	n := r.B.Len()
	r.Parts = len(r.work)
	if !b.Dense() {
		r.Parts = len(r.Owner.Lanes.Tiles) // after rows were added
	}
	r.tallies = slices.Grow(r.tallies[:0], r.Parts*n)[:r.Parts*n]
	if r.Owner.Pool.Worth(r.Cost()) {
		return r.Owner.Pool.Run(context.Background(), r.Parts, r)
	}
	for p := range r.Parts {
		r.Part(p)
	}
	return nil
}

// Cost estimates the time of a run in ns, within a factor of two on a core of 2026: 1/20 ns a lane
// and non-zero, 1/12 ns a product of a dense row, 20 ns for each turn of a part.
func (r *MemberRun[T]) Cost() int {
	const perLane, perProduct, turn = 20, 12, 20
	n := r.B.Len()
	if r.B.Dense() {
		members := r.Owner.members
		if r.tallied == Nothing {
			members = int(float64(members)*r.Owner.tau) + 1
		}
		return n * members * (r.B.Dim/perProduct + turn)
	}
	return len(r.rows)*r.Owner.members/perLane + n*r.Parts*turn
}

// draw fills in who sees the examples of r.b and, where they are needed, the examples' squared
// lengths.
func (r *MemberRun[T]) draw(first uint64) {
	n := r.B.Len()
	r.mask = slices.Grow(r.mask[:0], n*r.Owner.words)[:n*r.Owner.words]
	if first == NoDraws {
		clear(r.mask)
		return
	}
	r.Owner.Draws.Masks(r.mask, r.Owner.members, first)
	if r.Owner.Lengths {
		r.SquaredLengths = slices.Grow(r.SquaredLengths[:0], n)[:n]
		for e := range n {
			r.SquaredLengths[e] = primal.SumSqInFour(&r.B, e)
		}
	}
}

// take makes examples lo to hi-1 of b those of the run.
func (r *MemberRun[T]) take(b *engine.Block[T], lo, hi int) {
	r.B = b.Slice(lo, hi)
	if r.B.Y == nil {
		r.none = primal.Grown(r.none, hi-lo)
		r.B.Y = r.none[:hi-lo]
	}
}

// Part implements engine.Job: a tile of members, or a group of dense ones, goes through the
// examples of r.b.
func (r *MemberRun[T]) Part(p int) {
	if r.B.Dense() {
		r.densePart(p)
	} else {
		r.sparsePart(p)
	}
}

// side is what a member's score is multiplied by, so that it counts if the product is at most 0:
// its vote for +1, or that it is wrong about the label y.
func (r *MemberRun[T]) side(y T) T {
	if r.tallied == WrongOnes {
		return y
	}
	return -1
}

// Sums adds up the parts' tallies of example e of r.b, in order.
func (r *MemberRun[T]) Sums(e int) (coef, total float64, updates int) {
	for i, n := e, r.B.Len(); i < len(r.tallies); i += n {
		t := &r.tallies[i]
		for w := range tileWords {
			coef += t.Coef[w]
			total += t.total[w]
		}
		updates += t.Updates
	}
	return coef, total, updates
}

// WorkBytes returns the memory of newLaneWork.
func WorkBytes[T learner.Float](work []LaneWork[T]) (bytes int64) {
	for i := range work {
		w := &work[i]
		bytes += primal.BytesOf(w.S) + primal.BytesOf(w.Coef) + primal.BytesOf(w.Compact) +
			int64(unsafe.Sizeof(*w))
		bytes += 8*int64(cap(w.Mask)+cap(w.votes)) + 4*int64(cap(w.List))
	}
	return bytes
}

// Bytes returns the memory of a run's scratch.
func (r *MemberRun[T]) Bytes() int64 {
	n := primal.BytesOf(r.SquaredLengths) + 4*int64(cap(r.rows)) + 8*int64(cap(r.mask)+cap(r.sees))
	return n + int64(cap(r.tallies))*int64(unsafe.Sizeof(Tally{})) + WorkBytes(r.work)
}
