package ensemble

import (
	"context"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// Classes holds the members of several ensembles side by side, where those differ in nothing but
// the class that each tells from the rest. A member then sees an example in all of them or in none,
// and what it has to read of an example's features lies together: the lanes of a row are classes,
// not members. It is for steps of 1 and whole values, so weights are in int16, and sums in int32 or
// float64 are exact: each ensemble is, to the bit, what it would be by itself.
//
// Most features of sparse data are rare, and a row for each would be most of the memory, and of the
// time that it takes to come from there. So a feature has none before it has come more than
// mostFew times. Until then its weights follow from the examples it came in, and from who took
// them, which is one bit a class and member: [vecmath.PastExamples].
type Classes[T learner.Float] struct {
	of      []*Ensemble[T] // of a lane
	rest    bool           // lane 0 is of no class: all examples are the rest's
	members int
	tiles   int
	units   []classUnit // [tile][member]
	peak    int         // no weight that has a row is larger

	at    []int32 // of a feature: its row, or -1 less its place in few; 0: it has not come yet
	rows  int     // rows in use; row 0 is none
	room  int     // rows that there is room for
	few   []fewExamples
	spare []int32      // places in few that are free
	used  int          // numbers of examples that were given out
	own   [][]uint32   // [tile][number]: the lane whose class the example is of
	pool  *engine.Pool // of parts

	b      engine.Block[T] // the run
	from   int             // its first example's number in own
	do     classesWork
	mask   []uint64 // [example][word of 64 members]
	ptr    []int32  // of rows and val, one an example
	rowsOf []int32
	val    []int16
	past   vecmath.PastExamples // what examples have in common with those before
	seenAt []int32              // of an example's number: where it stands in past.Slots
	fresh  []int32              // features' rows that are new
	made   vecmath.PastExamples // what these are made of
	parts  []classPart
	scores []float64 // [lane][example]: S.x
	coefs  []float64 // [lane][example]
	counts []int32   // [lane][example]: members that updated
}

// classUnit is a member in 32 classes.
type classUnit struct {
	w    []int16  // rows of vecmath.ClassLanes
	took []uint32 // of an example's number: the lanes that took it
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
	// a line of a cache and as much memory; an example two masks. For news20 the time is the same
	// from 4 to 8, and the memory falls from 170 to 110 MB of 400.
	mostFew = 8
	// mostSum bounds the values of such a feature, and with them its weights.
	mostSum = 15
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
	_      [64]byte // a cache line between parts, which run on different cores
}

// classesWork is what a part does.
type classesWork int8

const (
	classesRun  classesWork = iota // a run of examples, by some of the members
	classesRows                    // rows of rare features, by some of the members
	classesSum                     // S of a lane
)

// JoinClasses returns the members of those ensembles, which have the same settings and draws, side
// by side, or nil if they can't be. With rest the first is of no class, and a copy of it can become
// one more. Work is shared by the pool. Cost: all weights once.
func JoinClasses[T learner.Float](of []*Ensemble[T], rest bool, pool *engine.Pool) *Classes[T] {
	o := of[0]
	if im := vecmath.Active(); im != vecmath.AVX512 && im != vecmath.Generic {
		return nil // the kernel has no form of theirs, and lanes of members have
	}
	c := &Classes[T]{rest: rest, members: o.members, pool: pool, room: 1, rows: 1}
	room := 0
	for _, e := range of {
		if !e.joins() || e.members != o.members {
			return nil
		}
		room = max(room, e.Room)
	}
	for range of {
		c.widen()
		c.of = append(c.of, nil)
	}
	c.at = make([]int32, room)
	column := make([]T, c.members)
	for j := range c.at {
		for k, e := range of {
			if !e.Lanes.Column(column, j) {
				continue
			}
			if c.at[j] == 0 {
				c.at[j] = int32(c.rows)
				c.reserve(c.rows + 1)
				c.rows++
			}
			to := int(c.at[j])*vecmath.ClassLanes + k%vecmath.ClassLanes
			for m, v := range column {
				w := int16(v)
				if !(v > math.MinInt16 && v < math.MaxInt16) || T(w) != v || v == 0 && 1/v < 0 {
					return nil
				}
				c.unit(k, m).w[to] = w
				c.peak = max(c.peak, int(w), -int(w))
			}
		}
	}
	c.of = c.of[:0]
	for _, e := range of {
		c.take(e)
	}
	return c
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
func (c *Classes[T]) widen() {
	if len(c.of) < c.tiles*vecmath.ClassLanes {
		return
	}
	c.tiles++
	c.own = append(c.own, make([]uint32, len(c.seenAt)))
	for range c.members {
		c.units = append(c.units, classUnit{w: engine.Reserved[int16](c.room * vecmath.ClassLanes),
			took: make([]uint32, len(c.seenAt))})
	}
}

// unit returns that of a lane's member.
func (c *Classes[T]) unit(lane, m int) *classUnit {
	return &c.units[lane/vecmath.ClassLanes*c.members+m]
}

// Add makes e, a new ensemble, a copy of the rest's in a lane of its own.
func (c *Classes[T]) Add(e *Ensemble[T]) {
	k, rest := len(c.of), c.of[0]
	c.widen()
	for m := range c.members {
		from, to := c.unit(0, m), c.unit(k, m)
		lane := k % vecmath.ClassLanes
		for at := 0; at < c.rows*vecmath.ClassLanes; at += vecmath.ClassLanes {
			to.w[at+lane] = from.w[at]
		}
		for s, took := range from.took {
			to.took[s] |= took & 1 << lane
		}
	}
	e.Dim, e.Room, e.Sum = rest.Dim, rest.Room, slices.Clone(rest.Sum)
	c.take(e)
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
		u, sum := c.unit(lane, m), 0
		if r := int(c.at[j]); r > 0 {
			sum = int(u.w[r*vecmath.ClassLanes+lane%vecmath.ClassLanes])
		} else {
			f := &c.few[-1-r]
			for i, s := range f.slot[:f.have] {
				switch x := int(f.x[i]); {
				case u.took[s]&bit == 0:
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

// reserve makes room for so many rows.
func (c *Classes[T]) reserve(rows int) {
	if rows <= c.room {
		return
	}
	// Memory that is never written is only reserved, and to move rows takes long: once there are
	// some, there is room for all features.
	room := max(rows, min(len(c.at)+1, 32*rows))
	for i := range c.units {
		w := engine.Reserved[int16](room * vecmath.ClassLanes)
		copy(w, c.units[i].w[:min(c.rows, c.room)*vecmath.ClassLanes])
		c.units[i].w = w
	}
	c.room = room
}

// remember makes room for the numbers of so many examples.
func (c *Classes[T]) remember(n int) {
	if n <= len(c.seenAt) {
		return
	}
	n = min(max(n, 2*len(c.seenAt)), mostPast)
	for i := range c.units {
		c.units[i].took = append(make([]uint32, 0, n), c.units[i].took...)[:n]
	}
	for i := range c.own {
		c.own[i] = append(make([]uint32, 0, n), c.own[i]...)[:n]
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
	c.b = b.Slice(0, n)
	for _, e := range c.of {
		e.GrowTo(b.Dim) // one that was read has room up to its last weight
	}
	if c.used+n > mostPast {
		c.forget()
	}
	c.from = c.used
	c.used += n
	c.remember(c.used)
	c.prepare()
	words := (c.members + 63) / 64
	c.mask = slices.Grow(c.mask[:0], n*words)[:n*words]
	c.of[0].Draws.Masks(c.mask, c.members, first)
	c.spread(classesRun, int(float64(len(c.rowsOf)*len(c.units))*c.of[0].tau)*2)
	c.addUp()
	lanes := len(c.of)
	c.scores = slices.Grow(c.scores[:0], n*lanes)[:n*lanes]
	c.coefs = slices.Grow(c.coefs[:0], n*lanes)[:n*lanes]
	c.counts = slices.Grow(c.counts[:0], n*lanes)[:n*lanes]
	c.do = classesSum
	_ = c.pool.Spread(context.Background(), len(c.val)*lanes, lanes, c)
	c.b = engine.Block[T]{}
	return n
}

// Result returns, of the last run's examples, S.x before each in the ensemble of that lane, and how
// many members updated.
func (c *Classes[T]) Result(lane int) (f []float64, updates []int32) {
	n := len(c.ptr) - 1
	return c.scores[lane*n:][:n], c.counts[lane*n:][:n]
}

// begin returns how many examples of b the members may go through here, and makes their values
// whole numbers: as many as no score or weight can get out of what numbers of T and int16 hold.
func (c *Classes[T]) begin(b *engine.Block[T]) int {
	n := min(b.Len(), RunExamples)
	if n == 0 || !c.Whole() || b.Dense() || b.Weighted() {
		return 0
	}
	exact := 1 << 24 // float32 has all whole numbers up to here
	if unsafe.Sizeof(T(0)) == 8 {
		exact = math.MaxInt32
	}
	c.val = slices.Grow(c.val[:0], b.Ptr[n]-b.Ptr[0])
	peak := max(c.peak, mostSum)
	for e := range n {
		if b.Ptr[e+1]-b.Ptr[0] > classesNonZeros {
			return e
		}
		length, largest := 0, 0
		for _, v := range b.Val[b.Ptr[e]:b.Ptr[e+1]] {
			x := int16(v)
			if !(v > math.MinInt16 && v < math.MaxInt16) || T(x) != v {
				return e
			}
			c.val = append(c.val, x)
			x = max(x, -x)
			length, largest = length+int(x), max(largest, int(x))
		}
		if length > exact/peak || peak+largest >= math.MaxInt16 {
			return e
		}
		peak += largest
	}
	return n
}

// prepare finds rows and what the examples have in common with others. The features that come more
// often than a few times with this run get rows.
func (c *Classes[T]) prepare() {
	b, n := &c.b, c.b.Len()
	if b.Dim > len(c.at) {
		c.at = append(make([]int32, 0, engine.Room(len(c.at), b.Dim)), c.at...)
		c.at = c.at[:cap(c.at)]
	}
	idx := b.Idx[b.Ptr[0]:b.Ptr[n]]
	c.ready()
	for e := range n {
		lo, hi := b.Ptr[e]-b.Ptr[0], b.Ptr[e+1]-b.Ptr[0]
		rare := 0
		for k := lo; k < hi; k++ {
			if x := c.val[k]; c.at[idx[k]] <= 0 {
				rare += int(max(x, -x))
			}
		}
		for k := lo; k < hi; k++ {
			c.count(idx[k], c.val[k], rare > math.MaxInt16/mostSum)
		}
	}
	c.reserve(c.rows)
	c.ptr, c.past.Ptr = append(c.ptr[:0], 0), append(c.past.Ptr[:0], 0)
	c.rowsOf, c.past.Slots, c.past.Coef = c.rowsOf[:0], c.past.Slots[:0], c.past.Coef[:0]
	rest := 0
	if c.rest {
		rest = 1
	}
	for e := range n {
		for t := range c.own {
			c.own[t][c.from+e] = 0
		}
		k := int(b.Class[e]) + rest
		c.own[k/vecmath.ClassLanes][c.from+e] = 1 << (k % vecmath.ClassLanes)
		for i := b.Ptr[e] - b.Ptr[0]; i < b.Ptr[e+1]-b.Ptr[0]; i++ {
			if r := c.at[idx[i]]; r > 0 {
				c.val[len(c.rowsOf)] = c.val[i]
				c.rowsOf = append(c.rowsOf, r)
			} else {
				c.common(&c.few[-1-r], c.val[i], int32(c.from+e), int(c.past.Ptr[e]))
			}
		}
		c.ptr = append(c.ptr, int32(len(c.rowsOf)))
		c.past.Ptr = append(c.past.Ptr, int32(len(c.past.Slots)))
	}
}

// ready empties the list of new rows.
func (c *Classes[T]) ready() {
	c.fresh, c.made.Ptr = c.fresh[:0], append(c.made.Ptr[:0], 0)
	c.made.Slots, c.made.Coef = c.made.Slots[:0], c.made.Coef[:0]
}

// count says that feature j comes with value x. It gets a row if that is too often or too large, or
// with row.
func (c *Classes[T]) count(j int32, x int16, row bool) {
	r := c.at[j]
	if r > 0 {
		return
	}
	if r == 0 {
		if n := len(c.spare); n > 0 {
			r, c.spare = c.spare[n-1], c.spare[:n-1]
		} else {
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
func (c *Classes[T]) promote(j int32) {
	r := c.at[j]
	f := &c.few[-1-r]
	c.at[j] = int32(c.rows)
	c.rows++
	c.spare = append(c.spare, r)
	if f.have > 0 { // else its row is one of zeros
		c.fresh = append(c.fresh, c.at[j])
		c.made.Slots = append(c.made.Slots, f.slot[:f.have]...)
		c.made.Coef = append(c.made.Coef, f.x[:f.have]...)
		c.made.Ptr = append(c.made.Ptr, int32(len(c.made.Slots)))
	}
}

// common adds what an example of that number has in common with others by a rare feature of value
// x. from is where in past.Slots the example's begin: one that it has several such features in
// common with stands there once.
func (c *Classes[T]) common(f *fewExamples, x int16, number int32, from int) {
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
func (c *Classes[T]) forget() {
	c.ready()
	for j, r := range c.at {
		if r < 0 {
			c.promote(int32(j))
		}
	}
	c.reserve(c.rows)
	c.spread(classesRows, len(c.fresh)*len(c.units)*mostFew)
	c.few, c.spare, c.used = c.few[:0], c.spare[:0], 0
}

// spread has parts do the work of all units, on the pool if that is worth it.
func (c *Classes[T]) spread(do classesWork, cost int) {
	c.do = do
	parts := 1
	if c.pool.Worth(cost) {
		parts = min(c.pool.Workers(), len(c.units))
	}
	for len(c.parts) < parts {
		c.parts = append(c.parts, classPart{})
	}
	c.parts = c.parts[:parts]
	_ = c.pool.Spread(context.Background(), cost, parts, c)
}

// Part implements engine.Job.
func (c *Classes[T]) Part(p int) {
	if c.do == classesSum {
		c.sum(p)
		return
	}
	part, n := &c.parts[p], c.b.Len()
	if c.do == classesRun {
		size := c.tiles * n * vecmath.ClassLanes
		part.counts = slices.Grow(part.counts[:0], size)[:size]
		clear(part.counts)
		part.peak = c.peak
	}
	margin := int16(math.Floor(float64(c.of[0].margin)))
	for i := p * len(c.units) / len(c.parts); i < (p+1)*len(c.units)/len(c.parts); i++ {
		u, tile := &c.units[i], i/c.members
		made := c.made
		made.Took, made.Own = u.took, c.own[tile]
		vecmath.PastRowsUnchecked(trusted.Indices{}, u.w, c.fresh, &made)
		if c.do != classesRun {
			continue
		}
		clear(u.took[c.from:][:n])
		c.see(part, i%c.members)
		past := c.past
		past.Took, past.Own = u.took, c.own[tile]
		lanes := ^uint32(0)
		if left := len(c.of) - tile*vecmath.ClassLanes; left < vecmath.ClassLanes {
			lanes = 1<<left - 1
		}
		part.peak = vecmath.ClassesRunUnchecked(trusted.Indices{},
			part.counts[tile*n*vecmath.ClassLanes:], u.w, c.ptr, c.rowsOf, c.val, &past, c.from,
			part.seen, lanes, margin, part.peak)
	}
}

// see lists the run's examples that a member sees.
func (c *Classes[T]) see(part *classPart, m int) {
	part.seen = part.seen[:0]
	words := (c.members + 63) / 64
	for e, at := 0, m/64; at < len(c.mask); e, at = e+1, at+words {
		if c.mask[at]>>(m%64)&1 != 0 {
			part.seen = append(part.seen, int32(e))
		}
	}
}

// addUp adds up what the parts have counted, in the first one's counts.
func (c *Classes[T]) addUp() {
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

// sum is the part of a lane: its S goes through the run.
func (c *Classes[T]) sum(k int) {
	n, o := c.b.Len(), c.of[k]
	f, a, counts := c.scores[k*n:][:n], c.coefs[k*n:][:n], c.counts[k*n:][:n]
	lane, own := k%vecmath.ClassLanes, c.own[k/vecmath.ClassLanes][c.from:]
	of := c.parts[0].counts[k/vecmath.ClassLanes*n*vecmath.ClassLanes+lane:]
	for e := range a {
		counts[e] = int32(of[e*vecmath.ClassLanes])
		if a[e] = float64(counts[e]); own[e]>>lane&1 == 0 {
			a[e] = 0 - a[e] // no -0 where none updates
		}
	}
	from, to := c.b.Ptr[0], c.b.Ptr[n]
	vecmath.SparseDotAxpyRunUnchecked(trusted.Indices{}, f, o.Sum, a, c.b.Ptr, c.b.Idx[from:to],
		c.b.Val[from:to])
}

// ClassesBytes returns what Classes take at most beside rows of weights, which an ensemble of each
// class has in another form: masks of who took which of the examples that are remembered, what is
// known of each feature and of those that are rare, and scratch of a run. longest is how many
// non-zeros an example has at most.
func ClassesBytes(members int, lanes, features, longest int64) int64 {
	tiles := (lanes + vecmath.ClassLanes - 1) / vecmath.ClassLanes
	masks := learner.Times(4*mostPast, tiles*int64(members+1)+1)
	known := learner.Times(features, 4+4+int64(unsafe.Sizeof(fewExamples{})))
	// a row's number, a value, and where in the past it came before
	run := learner.Times(min(classesNonZeros, learner.Times(RunExamples, longest)), 4+2+4+2)
	run = learner.Plus(run, RunExamples*(lanes*(8+8+4)+int64(members+63)/64*8+
		2*tiles*vecmath.ClassLanes))
	return learner.Plus(learner.Plus(masks, known), run)
}

// Bytes returns the memory in use.
func (c *Classes[T]) Bytes() int64 {
	n := 4*int64(cap(c.at)+cap(c.spare)+len(c.own)*len(c.seenAt)+len(c.seenAt)+cap(c.ptr)+
		cap(c.rowsOf)+cap(c.fresh)+cap(c.counts)) + 2*int64(cap(c.val)) +
		8*int64(cap(c.mask)+cap(c.scores)+cap(c.coefs)) +
		int64(cap(c.few))*int64(unsafe.Sizeof(fewExamples{})) + int64(unsafe.Sizeof(*c))
	for i := range c.units {
		n += 2*int64(len(c.units[i].w)) + 4*int64(cap(c.units[i].took)) +
			int64(unsafe.Sizeof(c.units[i]))
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
