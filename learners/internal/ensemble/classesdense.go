package ensemble

import (
	"context"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// DenseClasses has several ensembles learn dense examples together, where those differ in nothing
// but the class that each tells from the rest. A member sees an example in all of them or in none,
// so a few examples are multiplied by its weights in all ensembles in one call, which takes each
// number from the caches once for some products and not for each. Weights stay the ensembles' own.
//
// A member that an example updates has other scores of those behind it in the call: these are made
// anew. Most examples update none.
type DenseClasses[T learner.Float] struct {
	of   []*Ensemble[T]
	rest bool // the first is of no class: all examples are the rest's
	pool *engine.Pool

	do      denseWork
	b       engine.Block[T] // of the run
	mask    []uint64        // [example][word of 64 members]
	parts   []denseClassesPart[T]
	scores  []float64 // [ensemble][example]: S.x
	updates []int32   // [ensemble][example]: members that updated
}

// denseClassesPart is the scratch of a part: some of the members.
type denseClassesPart[T learner.Float] struct {
	counts []int32 // [ensemble][example]: members that updated
	seen   []int32 // examples
	rows   [][]T   // a member's weights, of each ensemble
	ahead  [][]T   // what is multiplied next
	scores []T     // [ensemble][example] of a call
	_      [64]byte
}

// denseWork is what a part of DenseClasses does.
type denseWork int8

const (
	denseMembers denseWork = iota // some of the members, in all ensembles
	denseSums                     // S of one ensemble
)

// denseCall is how many examples are scored in one call: more would have to be scored anew more
// often, and fewer would take the weights from the caches more often.
const denseCall = 4

// denseParts is how many parts there are at most, each with scratch of its own.
const denseParts = 16

// DenseClassesPay reports whether DenseClasses take less than the ensembles by themselves: with
// AVX-512, of many features. Ten classes that can be told apart, N = 100 and tau = 0.3, take 0.6 to
// 0.75 of the time from 1024 features on, as long at 400 and 1.9 times as long at 64; where labels
// are noise, so that most examples update some member, 1.1 at 1024 and as long at 4096. With other
// kernels they take 1.05 of it at 4000. AMD EPYC (Zen 4, 2 vCPUs), 2026-11-24: go test ./learners
// -run Calibrate -calibrate -v.
func DenseClassesPay(features int) bool {
	return vecmath.Active() == vecmath.AVX512 && features >= 1024
}

// JoinDense returns what learns for those ensembles, which have the same settings and draws, or nil
// if nothing can. With rest the first is of no class. Work is shared by the pool.
func JoinDense[T learner.Float](of []*Ensemble[T], rest bool, pool *engine.Pool) *DenseClasses[T] {
	for _, e := range of {
		if !e.fixed || !e.KeepsSum || e.Lengths || e.members != of[0].members {
			return nil
		}
	}
	return &DenseClasses[T]{of: slices.Clone(of), rest: rest, pool: pool}
}

// Add makes e, which has the same settings, one more.
func (c *DenseClasses[T]) Add(e *Ensemble[T]) { c.of = append(c.of, e) }

// Learn lets all members go through the first examples of b and returns how many these were; first
// is the number of the first one for the draws. [DenseClasses.Result] has what they did. None were
// of a block that is sparse.
func (c *DenseClasses[T]) Learn(b *engine.Block[T], first uint64) int {
	if !b.Dense() {
		return 0
	}
	n := min(b.Len(), RunRows)
	for _, e := range c.of {
		e.UseFormOf(b)
		e.GrowTo(b.Dim)
		e.dense.Grow(b.Dim)
	}
	o, k := c.of[0], len(c.of)
	c.b = b.Slice(0, n)
	c.mask = slices.Grow(c.mask[:0], n*o.words)[:n*o.words]
	o.Draws.Masks(c.mask, o.members, first)
	if b.Weighted() {
		for e := range n {
			if b.Weight(e) == 0 {
				clear(c.mask[e*o.words:][:o.words])
			}
		}
	}
	c.scores = slices.Grow(c.scores[:0], n*k)[:n*k]
	c.updates = slices.Grow(c.updates[:0], n*k)[:n*k]

	const perProduct, call = 24, 40 // products in a ns, and ns of an example of a member
	cost := int(float64(n*o.members*k)*o.tau) * (call + b.Dim/perProduct)
	parts := 1
	if c.pool.Worth(cost) {
		parts = min(c.pool.Workers(), o.members, denseParts)
	}
	for len(c.parts) < parts {
		c.parts = append(c.parts, denseClassesPart[T]{})
	}
	c.parts = c.parts[:parts]
	c.do = denseMembers
	_ = c.pool.Spread(context.Background(), cost, parts, c) // of no context that ends
	c.do = denseSums
	_ = c.pool.Spread(context.Background(), n*k*(call+b.Dim/perProduct), k, c)
	c.b = engine.Block[T]{}
	return n
}

// Result returns, of the last run's examples, S.x before each in ensemble k, and how many members
// updated.
func (c *DenseClasses[T]) Result(k int) (f []float64, updates []int32) {
	n := len(c.scores) / len(c.of)
	return c.scores[k*n:][:n], c.updates[k*n:][:n]
}

// Part implements engine.Job.
func (c *DenseClasses[T]) Part(p int) {
	if c.do == denseSums {
		c.sum(p)
		return
	}
	w, n, k := &c.parts[p], c.b.Len(), len(c.of)
	w.counts = slices.Grow(w.counts[:0], n*k)[:n*k]
	clear(w.counts)
	w.rows = slices.Grow(w.rows[:0], k)[:k]
	w.scores = slices.Grow(w.scores[:0], denseCall*k)[:denseCall*k]
	members := c.of[0].members
	for m := p * members / len(c.parts); m < (p+1)*members/len(c.parts); m++ {
		c.see(w, m)
		for i, e := range c.of {
			w.rows[i] = e.dense.Row(m)[:c.b.Dim] // what else it has is 0 in every example
		}
		next := 0 // of the ensembles, whose weights of the next member were not fetched yet
		for lo := 0; lo < len(w.seen); lo += denseCall {
			hi := min(lo+denseCall, len(w.seen))
			next = c.lookAhead(w, w.seen[hi:min(hi+denseCall, len(w.seen))], m+1, next)
			c.step(w, w.seen[lo:hi])
		}
	}
	clear(w.ahead[:cap(w.ahead)])
	clear(w.rows)
}

// see lists the run's examples that a member sees.
func (c *DenseClasses[T]) see(w *denseClassesPart[T], m int) {
	w.seen = w.seen[:0]
	for e, at := 0, m/64; at < len(c.mask); e, at = e+1, at+c.of[0].words {
		if c.mask[at]>>(m%64)&1 != 0 {
			w.seen = append(w.seen, int32(e))
		}
	}
}

// lookAhead makes the list of what is multiplied next: the examples of the next call, and some
// weights of the next member, of ensemble k on. It returns the ensemble behind those.
func (c *DenseClasses[T]) lookAhead(w *denseClassesPart[T], examples []int32, m, k int) int {
	w.ahead = w.ahead[:0]
	for _, e := range examples {
		w.ahead = append(w.ahead, c.b.Row(int(e)))
	}
	for ; m < c.of[0].members && k < len(c.of) && len(w.ahead) < 2*denseCall; k++ {
		w.ahead = append(w.ahead, c.of[k].dense.Row(m))
	}
	return k
}

// step has a member learn the listed examples in all ensembles.
func (c *DenseClasses[T]) step(w *denseClassesPart[T], list []int32) {
	b, n, margin := &c.b, c.b.Len(), c.of[0].margin
	vecmath.RowsDotAtEach(w.scores, w.rows, b.X, b.Stride, list, w.ahead)
	for k, row := range w.rows {
		scores, counts := w.scores[k*len(list):][:len(list)], w.counts[k*n:][:n]
		for i, e := range list {
			y := c.label(k, int(e))
			if !(T(y*scores[i]) <= margin) {
				continue
			}
			vecmath.Axpy(row, T(y*c.stepOf(int(e))), b.Row(int(e)))
			counts[e]++
			vecmath.RowsDotAt(scores[i+1:], b.X, b.Stride, list[i+1:], row)
		}
	}
}

// label is that of example e of the run for ensemble k.
func (c *DenseClasses[T]) label(k, e int) T {
	class := int(c.b.Class[e])
	if c.rest {
		class++
	}
	if class == k {
		return 1
	}
	return -1
}

// stepOf is how much of example e a member adds that it updates.
func (c *DenseClasses[T]) stepOf(e int) T {
	if len(c.b.W) == 0 {
		return c.of[0].step
	}
	return T(c.of[0].step * c.b.W[e])
}

// sum has S of ensemble k go through the run: it stays as it is up to the next example that updates
// a member, and all up to that are multiplied by it in one call.
func (c *DenseClasses[T]) sum(k int) {
	o, b, n := c.of[k], &c.b, c.b.Len()
	updates, scores := c.updates[k*n:][:n], c.scores[k*n:][:n]
	clear(updates)
	for p := range c.parts {
		for e, u := range c.parts[p].counts[k*n:][:n] {
			updates[e] += u
		}
	}
	sum := o.sum[:b.Dim]
	for lo, hi := 0, 0; lo < n; lo = hi {
		for hi = lo + 1; hi < n && updates[hi-1] == 0; {
			hi++
		}
		vecmath.RowsDotMixed(scores[lo:hi], b.X[lo*b.Stride:], b.Stride, sum)
		if u := updates[hi-1]; u != 0 {
			w := T(1)
			if len(b.W) > 0 {
				w = b.W[hi-1]
			}
			a := float64(o.UnitOf(w) * float64(u))
			vecmath.AxpyMixed(sum, a*float64(c.label(k, hi-1)), b.Row(hi-1))
		}
	}
}

// DenseClassesBytes bounds what DenseClasses take.
func DenseClassesBytes(members, classes, elem int64) int64 {
	run := int64(RunRows) * (members + 63) / 64 * 8
	run += int64(RunRows) * classes * (8 + 4)
	each := int64(RunRows)*(4*classes+4) + classes*(24+denseCall*elem) + 2*denseCall*24 +
		int64(unsafe.Sizeof(denseClassesPart[float64]{}))
	return learner.Plus(run*2, learner.Times(min(members, denseParts), each*2)) + primal.FixedBytes
}

// Bytes returns the memory in use, without the ensembles'.
func (c *DenseClasses[T]) Bytes() int64 {
	n := int64(unsafe.Sizeof(*c)) + 8*int64(cap(c.of)+cap(c.mask)+cap(c.scores)) +
		4*int64(cap(c.updates))
	for i := range c.parts[:cap(c.parts)] {
		p := &c.parts[:cap(c.parts)][i]
		n += int64(unsafe.Sizeof(*p)) + 4*int64(cap(p.counts)+cap(p.seen)) +
			24*int64(cap(p.rows)+cap(p.ahead)) + primal.BytesOf(p.scores)
	}
	return n
}
