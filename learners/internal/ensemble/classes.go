package ensemble

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// Classes holds the members of several ensembles side by side, where those differ in nothing but
// the class that each tells from the rest. A member then sees an example in all of them or in none,
// and what it has to read of an example's features lies together: the lanes of a row are classes,
// not members. It is for steps of 1 and whole values, so weights are in int16, and sums in int32
// are exact: each ensemble is, to the bit, what it would be by itself. S lies in such rows, too;
// the ensembles have it in float64 when they are asked.
//
// Most features of sparse data are rare, and a row for each would be most of the memory, and of the
// time that it takes to come from there. So a feature has none before it has come more than
// mostFew times. Until then its weights follow from the examples it came in, and from who took
// them, which is one bit a class and member: [vecmath.PastExamples].
type Classes[T learner.Float] struct {
	of []*Ensemble[T] // of a lane
	classStore

	behind sync.Mutex  // of what the ensembles have of S
	stale  atomic.Bool // it is not all of it
}

// classStore is what Classes are of, whatever the numbers of examples. It is the [engine.Job] of a
// run.
type classStore struct {
	rest   bool // lane 0 is of no class: all examples are the rest's
	lanes  int  // in use
	tiles  int
	margin int16

	classRows
	sums [][]int32  // of a tile: S, [row][lane]
	took [][]uint32 // [tile][member][example's number]: the lanes that took it

	at    []int32 // of a feature: its row, or -1 less its place in few; 0: it has not come yet
	few   []fewExamples
	spare []int32      // places in few that are free
	used  int          // numbers of examples that were given out
	own   [][]uint32   // [tile][number]: the lane whose class the example is of
	steps [][]int16    // [tile][number][lane]: the multiple of the example that was added to S
	pool  *engine.Pool // of parts

	changed []int32 // the features of which the ensembles don't have S as it is
	every   bool    // it is all of them

	n      int // examples of the run
	from   int // its first example's number in own
	do     classesWork
	mask   []uint64             // [example][word of 64 members]
	ptr    []int32              // of what follows, one an example
	mid    []int32              // of an example: where rows of wide begin
	rowsOf []int32              // of sums; 0 where one was wanted to make pairs
	places []int32              // the same rows' in narrow or wide
	x      []int16              // the values
	rare   []int32              // non-zeros of an example that have no rows, or rows of wide
	val    []int16              // of the examples as they came
	past   vecmath.PastExamples // what examples have in common with those before
	seenAt []int32              // of an example's number: where it stands in past.Slots
	fresh  []int32              // rows of narrow that are new, the last ones
	made   vecmath.PastExamples // what these are made of
	zeros  []int32              // one for each of these and one more: they have no rows
	parts  []classPart
	dots   []int32   // [example][lane]: S.x
	scores []float64 // [lane][example]: S.x
	counts []int32   // [lane][example]: members that updated
}

// fewExamples are those that a rare feature came in.
type fewExamples struct {
	n, sum int32 // how many, with those of the run that is prepared, and the sum of the magnitudes
	have   int32 // that are there
	slot   [mostFew]int32
	x      [mostFew]int16
}

const (
	// mostFew is how many examples a feature may come in before it has a row. A row costs a member
	// half a line of a cache and as much memory; an example two masks. News20's 20 classes take as
	// long from 4 to 6, and 5 % longer by 8; the process takes 147, 130 and 125 MB.
	mostFew = 5
	// mostSum bounds the values of such a feature, and with them its weights.
	mostSum = 15
	// ClassesExamples is how many examples a run has at most. A member's rows come from memory once
	// a run, and then from L2: of news20, whose rows were 125 MB in 16 bits, all 20 classes took
	// 0.60 s by runs of 256 and 0.47 by 2048, and no less by 4096 (AMD EPYC, Zen 4).
	ClassesExamples = 2048
	// classesNonZeros is how many non-zeros a run has at most.
	classesNonZeros = 1 << 20
	// mostPast is how many examples are remembered. Then all rare features get rows.
	mostPast = 1 << 14
)

// classPart is the scratch of a part: some of the units.
type classPart struct {
	counts []int16 // [tile][example][lane]: members that updated
	seen   []int32
	peak   int
	read   uint32   // of no use, so that readAhead is called
	_      [64]byte // a cache line between parts, which run on different cores
}

// classesWork is what a part does.
type classesWork int8

const (
	classesRun  classesWork = iota // a run of examples, by some of the members
	classesRows                    // rows of rare features, by some of the members
)

// JoinClasses returns the members of those ensembles, which have the same settings and draws, side
// by side, or nil if they can't be. With rest the first is of no class, and a copy of it can become
// one more. Work is shared by the pool. Cost: all weights once.
func JoinClasses[T learner.Float](of []*Ensemble[T], rest bool, pool *engine.Pool) *Classes[T] {
	o := of[0]
	c := &Classes[T]{classStore: classStore{rest: rest, classRows: newClassRows(o.members),
		pool: pool, margin: int16(math.Floor(float64(o.margin)))}}
	room := 0
	for _, e := range of {
		if !e.joins() || e.members != o.members {
			return nil
		}
		room = max(room, e.Room)
	}
	for range of {
		c.widen()
		c.lanes++
	}
	if c.at = make([]int32, room); !c.fits(room) {
		return nil
	}
	c.reserve(room)
	largest, peak, have := 0, mostSum, newJoined[T](len(of), c.members)
	for j := range room {
		if !have.gather(of, j) {
			return nil
		}
		if have.any {
			c.at[j] = c.put(have.weights, have.peak, room)
			peak = max(peak, have.peak)
			c.setSums(c.at[j], have.sums)
		}
		for _, s := range have.sums {
			largest = max(largest, int(s), -int(s))
		}
	}
	if largest > c.members*peak { // it is of other members
		return nil
	}
	for _, e := range of {
		c.take(e)
	}
	return c
}

// joined are the weights of a feature and S in ensembles that are joined.
type joined[T learner.Float] struct {
	any     bool    // of them are not 0
	weights []int16 // [lane][member]
	sums    []int32 // [lane]
	peak    int     // no weight is larger
	column  []T     // scratch
}

func newJoined[T learner.Float](lanes, members int) joined[T] {
	return joined[T]{weights: make([]int16, lanes*members), sums: make([]int32, lanes),
		column: make([]T, members)}
}

// gather makes it those of feature j. ok is false if any are none that can be there.
func (h *joined[T]) gather(of []*Ensemble[T], j int) (ok bool) {
	if h.any {
		clear(h.weights)
		clear(h.sums)
		h.any, h.peak = false, 0
	}
	for k, e := range of {
		var s float64
		if j < len(e.sum) {
			s = e.sum[j]
		}
		if math.Float64bits(s) == 0 && !e.Lanes.Has(j) { // most of them
			continue
		}
		if !e.Lanes.Column(h.column, j) && math.Float64bits(s) == 0 {
			continue
		}
		if s != math.Trunc(s) || math.Abs(s) > math.MaxInt32 || s == 0 && math.Signbit(s) {
			return false
		}
		h.any, h.sums[k] = true, int32(s)
		for m, v := range h.column {
			w := int16(v)
			if !(v > math.MinInt16 && v < math.MaxInt16) || T(w) != v || v == 0 && 1/v < 0 {
				return false
			}
			h.weights[k*len(h.column)+m] = w
			h.peak = max(h.peak, int(w), -int(w))
		}
	}
	return true
}

// setSums makes S of a row what it is in each lane.
func (c *classStore) setSums(r int32, sums []int32) {
	c.roomForSums()
	for k, s := range sums {
		c.sums[k/vecmath.ClassLanes][int(r)*vecmath.ClassLanes+k%vecmath.ClassLanes] = s
	}
}

// roomForSums makes room for S of all rows.
func (c *classStore) roomForSums() {
	for t, s := range c.sums {
		if c.rows*vecmath.ClassLanes > len(s) {
			rows := max(c.rows, min(len(c.at)+1, 2*c.rows))
			c.sums[t] = engine.Reserved[int32](rows * vecmath.ClassLanes)
			copy(c.sums[t], s)
		}
	}
}

// joins reports whether the members may be one lane of many.
func (o *Ensemble[T]) joins() bool {
	m := math.Floor(float64(o.margin))
	return o.fixed && o.step == 1 && m > math.MinInt16 && m < math.MaxInt16 && o.KeepsSum &&
		!o.Lengths && o.Path != PathLanes && o.Path != PathActive && o.Lanes != nil &&
		o.members <= math.MaxInt16
}

// take makes the next lane that of e.
func (c *Classes[T]) take(e *Ensemble[T]) {
	e.Lanes, e.dense, e.classes, e.lane = nil, nil, c, len(c.of)
	c.of = append(c.of, e)
}

// widen makes a tile for the next lane, if it needs one.
func (c *classStore) widen() {
	if c.lanes < c.tiles*vecmath.ClassLanes {
		return
	}
	c.tiles++
	c.own = append(c.own, make([]uint32, len(c.seenAt)))
	c.steps = append(c.steps, make([]int16, len(c.seenAt)*vecmath.ClassLanes))
	c.addTile()
	c.sums = append(c.sums, engine.Reserved[int32](c.rows*vecmath.ClassLanes))
	c.took = append(c.took, c.masks(len(c.seenAt))...)
}

// masks returns room for n masks of each member, one member's behind the other's: a part goes
// through all of them, a member at a time.
func (c *classStore) masks(n int) [][]uint32 {
	all, of := engine.Reserved[uint32](n*c.members), make([][]uint32, c.members)
	engine.LargePages(all, 0, len(all))
	for m := range of {
		of[m] = all[m*n:][:n:n]
	}
	return of
}

// Add makes e, a new ensemble, a copy of the rest's in a lane of its own.
func (c *Classes[T]) Add(e *Ensemble[T]) {
	k, rest := c.lanes, c.of[0]
	c.widen()
	c.lanes++
	tile, lane := k/vecmath.ClassLanes, k%vecmath.ClassLanes
	c.copyLane(k)
	for at := 0; at < c.rows*vecmath.ClassLanes; at += vecmath.ClassLanes {
		c.sums[tile][at+lane] = c.sums[0][at]
	}
	for m := range c.members {
		to := c.took[tile*c.members+m]
		for s, took := range c.took[m] {
			to[s] |= took & 1 << lane
		}
	}
	for at := 0; at < c.used*vecmath.ClassLanes; at += vecmath.ClassLanes {
		c.steps[tile][at+lane] = c.steps[0][at]
	}
	e.Dim, e.Room = rest.Dim, rest.Room
	c.take(e)
	c.every = true
	c.stale.Store(true)
}

// Whole reports whether all ensembles are still here: what needs a store of their own moves them.
func (c *Classes[T]) Whole() bool {
	for _, e := range c.of {
		if e.classes != c {
			return false
		}
	}
	return true
}

// Leave gives all ensembles lanes of their own, if they are still here.
func (c *Classes[T]) Leave() {
	for _, e := range c.of {
		if e.classes == c {
			e.leave()
		}
	}
}

// leave moves the members into lanes of their own.
func (o *Ensemble[T]) leave() {
	o.classes.catchUp()
	l := engine.NewLanes[T](o.members)
	l.Reach(o.Room)
	column := make([]T, o.members)
	for j := range o.Room {
		if o.classes.column(column, o.lane, j) {
			l.SetColumn(j, column)
		}
	}
	o.classes = nil
	o.UseLanes(l)
}

// column sets dst[m] to the weight of feature j in a lane's member m and reports whether any is not
// 0.
func (c *Classes[T]) column(dst []T, lane, j int) (any bool) {
	clear(dst)
	if j >= len(c.at) || c.at[j] == 0 {
		return false
	}
	bit := uint32(1) << (lane % vecmath.ClassLanes)
	own := c.own[lane/vecmath.ClassLanes]
	for m := range dst {
		sum := 0
		if r := c.at[j]; r > 0 {
			sum = c.weight(lane, m, r)
		} else {
			f, took := &c.few[-1-r], c.took[lane/vecmath.ClassLanes*c.members+m]
			for i, s := range f.slot[:f.have] {
				switch x := int(f.x[i]); {
				case took[s]&bit == 0:
				case own[s]&bit != 0:
					sum += x
				default:
					sum -= x
				}
			}
		}
		dst[m] = T(sum)
		any = any || sum != 0
	}
	return any
}

// columns sets dst[i*members+m] to the weight of feature list[i], none of which is there twice, in
// a lane's member m. It goes through rows and masks as they lie in memory.
func (c *Classes[T]) columns(dst []T, lane int, list []int32) {
	clear(dst[:len(list)*c.members])
	by, words := c.tookBy(lane), (c.members+63)/64
	bit, own := uint32(1)<<(lane%vecmath.ClassLanes), c.own[lane/vecmath.ClassLanes]
	rows := make([]int32, len(list)) // of those that have one
	for i, j := range list {
		if int(j) >= len(c.at) || c.at[j] == 0 {
			continue
		}
		r := c.at[j]
		if r > 0 {
			rows[i] = r
			continue
		}
		f, to := &c.few[-1-r], dst[i*c.members:][:c.members]
		for k, s := range f.slot[:f.have] {
			x := T(f.x[k])
			if own[s]&bit == 0 {
				x = -x
			}
			for g, took := range by[int(s)*words:][:words] {
				for ; took != 0; took &= took - 1 {
					to[64*g+bits.TrailingZeros64(took)] += x
				}
			}
		}
	}
	rowColumns(dst, &c.classRows, lane, rows)
}

// tookBy returns the members that took each of the examples that are remembered, in a lane:
// [example's number][word of 64 members].
func (c *classStore) tookBy(lane int) []uint64 {
	words := (c.members + 63) / 64
	by := make([]uint64, c.used*words)
	tile, at := lane/vecmath.ClassLanes, lane%vecmath.ClassLanes
	for m := range c.members {
		to := by[m/64:]
		for s, took := range c.took[tile*c.members+m][:c.used] {
			to[s*words] |= uint64(took>>at&1) << (m % 64)
		}
	}
	return by
}

// sumOf sets dst to S of feature j in the lanes of a tile.
func (c *classStore) sumOf(dst *[vecmath.ClassLanes]int32, tile, j int) {
	r := 0 // that of zeros
	if j < len(c.at) {
		r = int(c.at[j])
	}
	if r >= 0 {
		copy(dst[:], c.sums[tile][r*vecmath.ClassLanes:])
		return
	}
	*dst = [vecmath.ClassLanes]int32{}
	f := &c.few[-1-r]
	for i, s := range f.slot[:f.have] {
		x, steps := int32(f.x[i]), c.steps[tile][int(s)*vecmath.ClassLanes:]
		for l, step := range steps[:vecmath.ClassLanes] {
			dst[l] += x * int32(step)
		}
	}
}

// catchUp gives the ensembles S as it is now. Calls may run at the same time.
func (c *Classes[T]) catchUp() {
	if !c.stale.Load() {
		return
	}
	c.behind.Lock()
	defer c.behind.Unlock()
	if !c.stale.Load() {
		return
	}
	for _, o := range c.of {
		o.growSum()
	}
	n := len(c.changed)
	if c.every {
		n = c.of[0].Room
	}
	var sum [vecmath.ClassLanes]int32
	for i := range n {
		j := i
		if !c.every {
			j = int(c.changed[i])
		}
		for k, o := range c.of {
			if k%vecmath.ClassLanes == 0 {
				c.sumOf(&sum, k/vecmath.ClassLanes, j)
			}
			o.sum[j] = float64(sum[k%vecmath.ClassLanes])
		}
	}
	c.changed, c.every = c.changed[:0], false
	c.stale.Store(false)
}

// change says that S of features changes.
func (c *classStore) change(idx []int32) {
	if c.every = c.every || len(c.changed)+len(idx) > len(c.at); c.every {
		c.changed = c.changed[:0]
	} else {
		c.changed = append(c.changed, idx...)
	}
}

// remember makes room for the numbers of so many examples.
func (c *classStore) remember(n int) {
	if n <= len(c.seenAt) {
		return
	}
	n = min(max(n, 4*len(c.seenAt), 256), mostPast)
	for i := range c.own {
		to := c.masks(n)
		for m, took := range c.took[i*c.members:][:c.members] {
			copy(to[m], took)
		}
		copy(c.took[i*c.members:], to)
		c.own[i] = append(make([]uint32, 0, n), c.own[i]...)[:n]
		c.steps[i] = append(make([]int16, 0, n*vecmath.ClassLanes), c.steps[i]...)
		c.steps[i] = c.steps[i][:n*vecmath.ClassLanes]
	}
	c.seenAt = make([]int32, n)
}

// Learn lets all members go through the first examples of b and returns how many these were; first
// is the number of the first one for the draws. [Classes.Result] has what they did. None were where
// the members can't stay here: they have lanes of their own then.
func (c *Classes[T]) Learn(b *engine.Block[T], first uint64) int {
	n := c.begin(b)
	if n == 0 {
		c.Leave()
		return 0
	}
	idx := b.Idx[b.Ptr[0]:b.Ptr[n]]
	c.n = n
	for _, e := range c.of { // S follows when it is asked for
		e.Dim, e.Room = max(e.Dim, b.Dim), max(e.Room, b.Dim)
	}
	if c.used+n > mostPast {
		c.forget()
	}
	c.from = c.used
	c.used += n
	c.remember(c.used)
	c.prepare(idx, b.Ptr, b.Class, b.Dim)
	words := (c.members + 63) / 64
	c.mask = slices.Grow(c.mask[:0], n*words)[:n*words]
	c.of[0].Draws.Masks(c.mask, c.members, first)
	c.spread(classesRun, int(float64(len(c.rowsOf)*len(c.took))*c.of[0].tau)*2)
	c.moved()
	c.addUp()
	c.dots = slices.Grow(c.dots[:0], n*vecmath.ClassLanes)[:n*vecmath.ClassLanes]
	c.scores = slices.Grow(c.scores[:0], n*c.lanes)[:n*c.lanes]
	c.counts = slices.Grow(c.counts[:0], n*c.lanes)[:n*c.lanes]
	for t := range c.sums {
		c.sum(t)
	}
	c.change(idx)
	c.stale.Store(true)
	return n
}

// Result returns, of the last run's examples, S.x before each in the ensemble of that lane, and how
// many members updated.
func (c *classStore) Result(lane int) (f []float64, updates []int32) {
	n := len(c.ptr) - 1
	return c.scores[lane*n:][:n], c.counts[lane*n:][:n]
}

// begin returns how many examples of b the members may go through here, and makes their values
// whole numbers: as many as no score or weight can get out of what numbers of T and int16 hold.
func (c *Classes[T]) begin(b *engine.Block[T]) int {
	n := min(b.Len(), ClassesExamples)
	if n == 0 || !c.Whole() || b.Dense() || b.Weighted() || !c.fits(engine.Room(len(c.at), b.Dim)) {
		return 0
	}
	exact := 1 << 24 // float32 has all whole numbers up to here
	if unsafe.Sizeof(T(0)) == 8 {
		exact = math.MaxInt32
	}
	exact = min(exact, math.MaxInt32/c.members) // so has int32 of what S says
	c.val = slices.Grow(c.val[:0], b.Ptr[n]-b.Ptr[0])
	peak := max(c.peak, mostNarrow)
	// Scores are those by the weights there are and by what the run adds: of each of its examples
	// the product with this one, which is no more than their lengths'.
	most, lengths := peak, 0
	for e := range n {
		if b.Ptr[e+1]-b.Ptr[0] > classesNonZeros {
			return e
		}
		sum, largest, square := 0, 0, 0
		for _, v := range b.Val[b.Ptr[e]:b.Ptr[e+1]] {
			x := int16(v)
			if !(v > math.MinInt16 && v < math.MaxInt16) || T(x) != v {
				return e
			}
			c.val = append(c.val, x)
			x = max(x, -x)
			sum, largest, square = sum+int(x), max(largest, int(x)), square+int(x)*int(x)
		}
		length := int(math.Ceil(math.Sqrt(float64(square))))
		if sum*most+length*lengths > exact || peak+largest >= math.MaxInt16 {
			return e
		}
		lengths, peak = lengths+length, peak+largest
	}
	return n
}

// prepare finds rows and what the examples have in common with others. The features that come more
// often than a few times with this run get rows.
func (c *classStore) prepare(idx []int32, ptr []int, class []int32, dim int) {
	n := c.n
	if dim > len(c.at) {
		c.at = append(make([]int32, 0, engine.Room(len(c.at), dim)), c.at...)
		c.at = c.at[:cap(c.at)]
	}
	c.ready()
	for e := range n {
		lo, hi := ptr[e]-ptr[0], ptr[e+1]-ptr[0]
		sum := 0
		c.rare = c.rare[:0]
		for k, j := range idx[lo:hi] {
			x := c.val[lo+k]
			x = max(x, -x)
			if r := c.at[j]; r > 0 {
				c.step(r, int32(x))
				continue
			}
			c.rare = append(c.rare, int32(lo+k))
			sum += int(x)
		}
		for _, k := range c.rare {
			c.count(idx[k], c.val[k], sum > math.MaxInt16/mostSum)
		}
	}
	c.settle(c.rows - len(c.fresh))
	c.reserve(len(c.at))
	c.roomForSums()
	c.ptr, c.past.Ptr, c.mid = append(c.ptr[:0], 0), append(c.past.Ptr[:0], 0), c.mid[:0]
	most := len(idx) + 2*n
	c.rowsOf, c.places = slices.Grow(c.rowsOf[:0], most), slices.Grow(c.places[:0], most)
	c.x = slices.Grow(c.x[:0], most)
	c.past.Slots, c.past.Coef = c.past.Slots[:0], c.past.Coef[:0]
	rest := 0
	if c.rest {
		rest = 1
	}
	for e := range n {
		for t := range c.own {
			c.own[t][c.from+e] = 0
		}
		k := int(class[e]) + rest
		c.own[k/vecmath.ClassLanes][c.from+e] = 1 << (k % vecmath.ClassLanes)
		c.rowsFor(e, idx, ptr[e]-ptr[0], ptr[e+1]-ptr[0])
		c.ptr = append(c.ptr, int32(len(c.rowsOf)))
		c.past.Ptr = append(c.past.Ptr, int32(len(c.past.Slots)))
	}
}

// rowsFor adds the rows of example e, whose non-zeros are lo to hi-1: those of narrow, then those
// of wide, and row 0 behind either where they are odd. Which of them a row is can't be guessed, so
// each is written to both lists, of which one goes on.
func (c *classStore) rowsFor(e int, idx []int32, lo, hi int) {
	at, most := len(c.rowsOf), len(c.rowsOf)+hi-lo+2
	rows, places, x := c.rowsOf[:most], c.places[:most], c.x[:most]
	c.rare = slices.Grow(c.rare[:0], hi-lo)[:hi-lo]
	wide := 0
	for i := lo; i < hi; i++ {
		r := c.at[idx[i]]
		if r <= 0 {
			c.common(&c.few[-1-r], c.val[i], int32(c.from+e), int(c.past.Ptr[e]))
			continue
		}
		p := c.placeOf(r)
		rows[at], places[at], x[at] = r, p, c.val[i]
		c.rare[wide] = int32(i)
		of := int(uint32(p) >> 31)
		at, wide = at+1-of, wide+of
	}
	pair := func() {
		if at%2 != 0 {
			rows[at], places[at], x[at] = 0, 0, 0
			at++
		}
	}
	pair()
	c.mid = append(c.mid, int32(at))
	for _, i := range c.rare[:wide] {
		r := c.at[idx[i]]
		rows[at], places[at], x[at] = r, -1-c.row[r].place, c.val[i]
		at++
	}
	pair()
	c.rowsOf, c.places, c.x = rows[:at], places[:at], x[:at]
}

// ready empties the list of new rows.
func (c *classStore) ready() {
	c.fresh, c.made.Ptr = c.fresh[:0], append(c.made.Ptr[:0], 0)
	c.made.Slots, c.made.Coef = c.made.Slots[:0], c.made.Coef[:0]
}

// count says that feature j comes with value x. It gets a row if that is too often or too large, or
// with row.
func (c *classStore) count(j int32, x int16, row bool) {
	r := c.at[j]
	if r > 0 {
		return
	}
	if r == 0 {
		if n := len(c.spare); n > 0 {
			r, c.spare = c.spare[n-1], c.spare[:n-1]
		} else {
			if len(c.few) == cap(c.few) { // most features are rare: there is soon room for all
				c.few = slices.Grow(c.few, max(1, min(len(c.at), 8*len(c.few)+256)-len(c.few)))
			}
			c.few = append(c.few, fewExamples{})
			r = -int32(len(c.few))
		}
		c.few[-1-r], c.at[j] = fewExamples{}, r
	}
	f := &c.few[-1-r]
	f.n++
	f.sum += int32(max(x, -x))
	if row || f.n > mostFew || f.sum > mostSum {
		c.promote(j)
	}
}

// promote gives a rare feature the next row.
func (c *classStore) promote(j int32) {
	r := c.at[j]
	f := &c.few[-1-r]
	c.at[j] = int32(c.rows)
	c.fresh = append(c.fresh, c.add())
	c.step(c.at[j], f.sum)
	c.spare = append(c.spare, r)
	c.made.Slots = append(c.made.Slots, f.slot[:f.have]...)
	c.made.Coef = append(c.made.Coef, f.x[:f.have]...)
	c.made.Ptr = append(c.made.Ptr, int32(len(c.made.Slots)))
}

// common adds what an example of that number has in common with others by a rare feature of value
// x. from is where in past.Slots the example's begin: one that it has several such features in
// common with stands there once.
func (c *classStore) common(f *fewExamples, x int16, number int32, from int) {
	for i, s := range f.slot[:f.have] {
		at := int(c.seenAt[s])
		if at < from || at >= len(c.past.Slots) || c.past.Slots[at] != s {
			at = len(c.past.Slots)
			c.seenAt[s] = int32(at)
			c.past.Slots, c.past.Coef = append(c.past.Slots, s), append(c.past.Coef, 0)
		}
		c.past.Coef[at] += x * f.x[i]
	}
	f.slot[f.have], f.x[f.have] = number, x
	f.have++
}

// forget gives all rare features rows, and the numbers of examples out anew.
func (c *classStore) forget() {
	c.ready()
	for j, r := range c.at {
		if r < 0 {
			c.promote(int32(j))
		}
	}
	c.reserve(len(c.at))
	c.roomForSums()
	c.spread(classesRows, len(c.fresh)*len(c.took)*mostFew)
	c.moved()
	for t := range c.sums {
		c.sumFresh(t)
	}
	c.few, c.spare, c.used = c.few[:0], c.spare[:0], 0
}

// spread has parts do the work of all units, on the pool if that is worth it.
func (c *classStore) spread(do classesWork, cost int) {
	c.do = do
	parts := 1
	if c.pool.Worth(cost) {
		parts = min(c.pool.Workers(), len(c.took))
	}
	for len(c.parts) < parts {
		c.parts = append(c.parts, classPart{})
	}
	c.parts = c.parts[:parts]
	_ = c.pool.Spread(context.Background(), cost, parts, c)
}

// Part implements engine.Job.
func (c *classStore) Part(p int) {
	part, n := &c.parts[p], c.n
	if c.do == classesRun {
		size := c.tiles * n * vecmath.ClassLanes
		part.counts = slices.Grow(part.counts[:0], size)[:size]
		clear(part.counts)
		part.peak = c.peak
	}
	for i := p * len(c.took) / len(c.parts); i < (p+1)*len(c.took)/len(c.parts); i++ {
		tile, m := i/c.members, i%c.members
		narrow, wide := c.narrow.member(tile, m), c.wide.member(tile, m)
		part.read ^= readAhead(c.took[i][:c.from])
		made := c.made
		made.Took, made.Own = c.took[i], c.own[tile]
		vecmath.PastRowsUnchecked(trusted.Indices{}, narrow, c.fresh, &made)
		c.move(tile, m)
		if c.do != classesRun {
			continue
		}
		clear(c.took[i][c.from:][:n])
		c.see(part, m)
		past := c.past
		past.Took, past.Own = c.took[i], c.own[tile]
		lanes := ^uint32(0)
		if left := c.lanes - tile*vecmath.ClassLanes; left < vecmath.ClassLanes {
			lanes = 1<<left - 1
		}
		part.peak = vecmath.ClassesRunUnchecked(trusted.Indices{},
			part.counts[tile*n*vecmath.ClassLanes:], narrow, wide, c.ptr, c.mid, c.places, c.x,
			&past, c.from, part.seen, lanes, c.margin, part.peak)
	}
}

// readAhead reads a member's masks one behind the other, as memory gives them fastest: kernels look
// for some here and there, and each would be waited for.
func readAhead(took []uint32) (sum uint32) {
	for i := 0; i < len(took); i += 16 { // a line of a cache
		sum ^= took[i]
	}
	return sum
}

// see lists the run's examples that a member sees.
func (c *classStore) see(part *classPart, m int) {
	part.seen = slices.Grow(part.seen[:0], c.n+1)[:c.n+1]
	words, n := (c.members+63)/64, 0
	for e, at := 0, m/64; at < len(c.mask); e, at = e+1, at+words {
		part.seen[n] = int32(e) // whether it stays can't be guessed
		n += int(c.mask[at] >> (m % 64) & 1)
	}
	part.seen = part.seen[:n]
}

// addUp adds up what the parts have counted, in the first one's counts.
func (c *classStore) addUp() {
	sum := c.parts[0].counts
	for i := range c.parts {
		c.peak = max(c.peak, c.parts[i].peak)
		if i > 0 {
			for k, n := range c.parts[i].counts {
				sum[k] += n
			}
		}
	}
}

// sum has S of a tile go through the run.
func (c *classStore) sum(tile int) {
	n, lo := c.n, tile*vecmath.ClassLanes
	lanes := min(c.lanes-lo, vecmath.ClassLanes)
	own, steps := c.own[tile][c.from:], c.steps[tile][c.from*vecmath.ClassLanes:]
	of := c.parts[0].counts[tile*n*vecmath.ClassLanes:]
	for e := range n {
		at := e * vecmath.ClassLanes
		for l, updates := range of[at:][:lanes] {
			c.counts[(lo+l)*n+e] = int32(updates)
			steps[at+l] = -updates
		}
		if mine := own[e]; mine != 0 {
			l := bits.TrailingZeros32(mine)
			steps[at+l] = -steps[at+l]
		}
	}
	c.sumFresh(tile)
	vecmath.ClassSumsUnchecked(trusted.Indices{}, c.dots, c.sums[tile], c.ptr, c.rowsOf, c.x,
		&c.past, c.from, c.steps[tile])
	for e := range n {
		for l, s := range c.dots[e*vecmath.ClassLanes:][:lanes] {
			c.scores[(lo+l)*n+e] = float64(s)
		}
	}
}

// sumFresh makes the new rows of S of a tile: what a run of examples without rows would have for a
// score.
func (c *classStore) sumFresh(tile int) {
	n := len(c.fresh)
	c.zeros = append(c.zeros[:0], make([]int32, n+1)...)
	vecmath.ClassSumsUnchecked(trusted.Indices{}, c.sums[tile][(c.rows-n)*vecmath.ClassLanes:], nil,
		c.zeros, nil, nil, &c.made, 0, c.steps[tile])
}

// ClassesBytes returns what Classes take at most beyond what the weights take in an ensemble of
// each class, elem bytes each: masks of who took which of the examples that are remembered, S by
// row and by these, what is known of each feature and of those that are rare, what rows take more,
// or are not in use yet, and scratch of a run. An example has at most longest non-zeros.
func ClassesBytes(members int, lanes, features, longest, elem int64) int64 {
	tiles := (lanes + vecmath.ClassLanes - 1) / vecmath.ClassLanes
	past := learner.Times(mostPast, tiles*(4*int64(members+1)+2*vecmath.ClassLanes)+4)
	sums := learner.Times(features+1, tiles*4*vecmath.ClassLanes)
	known := learner.Times(features, 4+4+4+classRowBytes+int64(unsafe.Sizeof(fewExamples{})))
	// Rows may all have left places of 8 bits for those of 16, where other forms take elem a lane.
	rows := learner.Times(features, max(0, tiles*(1+2)*vecmath.ClassLanes-lanes*elem))
	unused := learner.Times(int64(members), learner.Plus(tiles*2*chunkBytes, rows))
	// a row's number and place, the value twice, and where in the past it came before
	run := learner.Times(min(classesNonZeros, learner.Times(ClassesExamples, longest)),
		4+4+2+2+4+2)
	run = learner.Plus(run, learner.Times(min(classesNonZeros, longest), 2*4)) // of one, rare ones
	run = learner.Plus(run, ClassesExamples*(4+2*(4+4+2)+lanes*(8+4)+int64(members+63)/64*8+
		(2+4)*tiles*vecmath.ClassLanes))
	return learner.Plus(learner.Plus(learner.Plus(past, sums), learner.Plus(known, unused)), run)
}

// Bytes returns the memory in use.
func (c *classStore) Bytes() int64 {
	n := 4*int64(cap(c.at)+cap(c.spare)+len(c.seenAt)+cap(c.ptr)+cap(c.mid)+cap(c.rowsOf)+
		cap(c.places)+cap(c.rare)+cap(c.fresh)+cap(c.zeros)+cap(c.changed)+cap(c.dots)+
		cap(c.counts)) +
		2*int64(cap(c.val)+cap(c.x)) + 8*int64(cap(c.mask)+cap(c.scores)) +
		int64(cap(c.few))*int64(unsafe.Sizeof(fewExamples{})) + int64(unsafe.Sizeof(*c))
	n += c.classRows.bytes()
	for t := range c.sums {
		n += 2*int64(cap(c.steps[t])) + 4*int64(len(c.sums[t])+cap(c.own[t]))
	}
	for _, took := range c.took {
		n += 4*int64(cap(took)) + int64(unsafe.Sizeof(took))
	}
	for _, p := range []*vecmath.PastExamples{&c.past, &c.made} {
		n += 4*int64(cap(p.Ptr)+cap(p.Slots)) + 2*int64(cap(p.Coef))
	}
	for i := range c.parts {
		p := &c.parts[i]
		n += 2*int64(cap(p.counts)) + 4*int64(cap(p.seen)) + int64(unsafe.Sizeof(*p))
	}
	return n
}
