package learners

import (
	"context"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// memberRun is a run of examples in work: all members go through them. It is the [engine.Job] of
// that, and scratch.
type memberRun[T Float] struct {
	o       *ensemble[T]
	tallied tallied // of all members

	b       engine.Block[T]
	none    []T      // labels of those that have none
	mask    []uint64 // [example][word]: who sees it
	sees    []uint64 // dense: [member][word of 64 examples], the transpose
	rows    []int32  // sparse: rows of the non-zeros, from the run's first
	norms   []float64
	parts   int
	tallies []tally // [part][example]
	work    []laneWork[T]
}

// tallied is what is tallied of the members' scores of an example.
type tallied int

const (
	nothing   tallied = iota // S gives f: members that don't see an example need not score it
	scores                   // their sum
	votes                    // how many are >= 0
	wrongOnes                // how many are wrong about the label, or score 0
)

// tally is what the members of one part did on one example. Sums are per word of a mask, and words
// are added in order, so that they don't depend on how members are cut into tiles.
type tally struct {
	coef    [tileWords]float64 // sums of the updates' coefficients, in units of stepper.unit
	total   [tileWords]float64 // what memberRun.tallied says, of all members
	updates int
}

const tileWords = engine.WideTile / 64

// laneWork is the scratch of one part.
type laneWork[T Float] struct {
	s, coef, compact []T // one a lane
	mask, votes      []uint64
	list             []int32
	_                [64]byte // parts run on different cores
}

// room makes scratch for the parts of the form that the members are in.
func (r *memberRun[T]) room() {
	parts, lanes := r.o.words, engine.WideTile
	if r.o.dense != nil {
		parts, lanes = (r.o.members+denseGroup-1)/denseGroup, 1
	}
	if len(r.work) != parts || len(r.work[0].s) != lanes {
		r.work = newLaneWork[T](parts, lanes)
	}
}

func newLaneWork[T Float](parts, lanes int) []laneWork[T] {
	work := make([]laneWork[T], parts)
	for i := range work {
		w := &work[i]
		w.s, w.coef = engine.Aligned[T](lanes), engine.Aligned[T](lanes)
		w.compact = engine.Aligned[T](lanes)
		words := vecmath.MaskWords(lanes)
		w.mask, w.votes = make([]uint64, words), make([]uint64, words)
		w.list = make([]int32, 0, lanes)
	}
	return work
}

// ask sets dst to what is tallied of the members' scores of b's examples.
func (o *ensemble[T]) ask(b *engine.Block[T], dst []float64, what tallied) error {
	o.form.RLock()
	if o.suits(b) {
		defer o.form.RUnlock()
	} else {
		o.form.RUnlock()
		o.form.Lock()
		defer o.form.Unlock()
		o.suit(b)
	}
	r := o.runs.Take()
	defer o.runs.Give(r)
	r.o = o
	for lo := 0; lo < b.Len(); lo += r.b.Len() {
		if err := r.run(b, lo, what, noDraws); err != nil {
			return err
		}
		for e := range r.b.Len() {
			_, dst[lo+e], _ = r.sums(e)
		}
	}
	r.b = engine.Block[T]{}
	return nil
}

// Sizes of a run: by the data alone, never by the workers.
const (
	runExamples = 1024      // sparse: enough for two workers to be worth waking
	runNonZeros = 1 << 15   // sparse: rows, indices and values stay in L2
	runRows     = 128       // dense, most
	runRowsMin  = 16        // dense, least: a member's weights come from far for each run
	runRowBytes = 256 << 10 // dense: the rows stay in L2, beside a member's weights
	runTallies  = 1 << 16   // part x example: bounds the scratch of ensembles of thousands
	denseGroup  = 8         // members of a dense part: fine enough to share 100 members evenly
)

// noDraws is the number of examples that are only scored.
const noDraws = math.MaxUint64

// run makes r.b the examples of b from lo on, as many as a run takes, and lets all members go
// through them; what they did is in r.tallies. first is the number of example lo for the draws;
// with noDraws nobody sees an example.
func (r *memberRun[T]) run(b *engine.Block[T], lo int, what tallied, first uint64) error {
	r.tallied = what
	r.room()
	if b.Dense() {
		r.beginDense(b, lo, first)
	} else {
		r.beginSparse(b, lo, first)
	}
	n := r.b.Len()
	r.parts = len(r.work)
	if !b.Dense() {
		r.parts = len(r.o.lanes.Tiles) // after rows were added
	}
	r.tallies = slices.Grow(r.tallies[:0], r.parts*n)[:r.parts*n]
	if r.o.pool.Worth(r.cost()) {
		return r.o.pool.Run(context.Background(), r.parts, r)
	}
	for p := range r.parts {
		r.Part(p)
	}
	return nil
}

// cost estimates the time of a run in ns, within a factor of two on a core of 2026: 1/20 ns a lane
// and non-zero, 1/12 ns a product of a dense row, 20 ns for each turn of a part.
func (r *memberRun[T]) cost() int {
	const perLane, perProduct, turn = 20, 12, 20
	n := r.b.Len()
	if r.b.Dense() {
		members := r.o.members
		if r.tallied == nothing {
			members = int(float64(members)*r.o.tau) + 1
		}
		return n * members * (r.b.Dim/perProduct + turn)
	}
	return len(r.rows)*r.o.members/perLane + n*r.parts*turn
}

// draw fills in who sees the examples of r.b and, where they are needed, the examples' squared
// lengths.
func (r *memberRun[T]) draw(first uint64) {
	n := r.b.Len()
	r.mask = slices.Grow(r.mask[:0], n*r.o.words)[:n*r.o.words]
	if first == noDraws {
		clear(r.mask)
		return
	}
	r.o.draws.Masks(r.mask, r.o.members, first)
	if r.o.lengths {
		r.norms = slices.Grow(r.norms[:0], n)[:n]
		for e := range n {
			r.norms[e] = squaredLength(&r.b, e)
		}
	}
}

// take makes examples lo to hi-1 of b those of the run.
func (r *memberRun[T]) take(b *engine.Block[T], lo, hi int) {
	r.b = b.Slice(lo, hi)
	if r.b.Y == nil {
		r.none = grown(r.none, hi-lo)
		r.b.Y = r.none[:hi-lo]
	}
}

// Part implements engine.Job: a tile of members, or a group of dense ones, goes through the
// examples of r.b.
func (r *memberRun[T]) Part(p int) {
	if r.b.Dense() {
		r.densePart(p)
	} else {
		r.sparsePart(p)
	}
}

// side is what a member's score is multiplied by, so that it counts if the product is at most 0:
// its vote for +1, or that it is wrong about the label y.
func (r *memberRun[T]) side(y T) T {
	if r.tallied == wrongOnes {
		return y
	}
	return -1
}

// sums adds up the parts' tallies of example e of r.b, in order.
func (r *memberRun[T]) sums(e int) (coef, total float64, updates int) {
	for i, n := e, r.b.Len(); i < len(r.tallies); i += n {
		t := &r.tallies[i]
		for w := range tileWords {
			coef += t.coef[w]
			total += t.total[w]
		}
		updates += t.updates
	}
	return coef, total, updates
}

// workBytes returns the memory of newLaneWork.
func workBytes[T Float](work []laneWork[T]) (bytes int64) {
	for i := range work {
		w := &work[i]
		bytes += bytesOf(w.s) + bytesOf(w.coef) + bytesOf(w.compact) + int64(unsafe.Sizeof(*w))
		bytes += 8*int64(cap(w.mask)+cap(w.votes)) + 4*int64(cap(w.list))
	}
	return bytes
}

// bytes returns the memory of a run's scratch.
func (r *memberRun[T]) bytes() int64 {
	n := bytesOf(r.norms) + 4*int64(cap(r.rows)) + 8*int64(cap(r.mask)+cap(r.sees))
	return n + int64(cap(r.tallies))*int64(unsafe.Sizeof(tally{})) + workBytes(r.work)
}
