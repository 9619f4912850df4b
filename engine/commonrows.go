package engine

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// CommonRows keeps kernel rows over all examples of a data set for learners of parts of it, as of
// the folds of cross-validation, and of any number of settings: a kernel value depends on its two
// examples alone, so that a part's row is a selection of a row of all. It computes such a row once
// for each kernel, whoever asks first, and keeps it; once its room is used up, rows that it has not
// got are computed by each part for itself, over its own examples. So are those whose values take
// no longer than what a part takes of a row of all, as of few features that are 0 or 1.
//
// Safe for concurrent use. It never changes a value.
type CommonRows[T Float] struct {
	examples iter.Seq[*Block[T]]
	n        int
	limit    int64
	left     atomic.Int64 // bytes that nothing has taken yet

	mu    sync.Mutex
	lists map[Kernel]*commonRows[T] // nil: there was no room, or it isn't worth it
}

// commonRows are those of one kernel.
type commonRows[T Float] struct {
	rows  *Rows[T]
	all   *CommonRows[T]
	taken []atomic.Bool // of each row, whether there is room for it
	bytes int64         // of a row
}

// NewCommonRows returns those of examples, n in all, the blocks of which are gone through once for
// each kernel that a learner asks for. They, the rows and the books take limit bytes at most.
func NewCommonRows[T Float](examples iter.Seq[*Block[T]], n int, limit int64) *CommonRows[T] {
	c := &CommonRows[T]{examples: examples, n: n, limit: limit,
		lists: make(map[Kernel]*commonRows[T])}
	c.left.Store(limit)
	return c
}

// Part returns what gives a learner its part of the rows: that of b, a copy of the examples of
// those numbers, in that order. It is for learners of b one after another; learners at the same
// time take one each. Of other examples it gives rows, too, but those have nothing in common. A nil
// CommonRows gives nil.
func (c *CommonRows[T]) Part(b *Block[T], numbers []int32) *SharedRows {
	if c == nil {
		return nil
	}
	return &SharedRows{whole: c, part: memoryOf(b), at: numbers}
}

// Stats counts the rows that the parts were given: hits are those that another had computed. Bytes
// and Limit count the copies of the examples, too. Zero while there are none.
func (c *CommonRows[T]) Stats() (s RowStats) {
	if c == nil {
		return s
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lists {
		if l == nil {
			continue
		}
		one := l.rows.Stats()
		s.Hits, s.Misses = s.Hits+one.Hits, s.Misses+one.Misses
		s.Evictions, s.Rows = s.Evictions+one.Evictions, s.Rows+one.Rows
		s.Bytes += one.Bytes + l.rows.Bytes() + int64(len(l.taken))
		s.Limit = c.limit
	}
	return s
}

// of returns the rows of that kernel; nil if there is no room for the examples, or it isn't worth
// it.
func (c *CommonRows[T]) of(k Kernel) (*commonRows[T], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l, ok := c.lists[k]; ok {
		return l, nil
	}
	list, err := NewPoints[T](k)
	if err != nil {
		return nil, err
	}
	for b := range c.examples {
		list.Append(b, 0, b.Len())
	}
	c.lists[k] = nil
	if list.n == 0 || list.store.cost() < leastCost || !c.take(list.Bytes()+int64(c.n)) {
		return nil, nil
	}
	// With twice the limit no shard is full before all has been taken.
	l := &commonRows[T]{rows: NewRows(list, 2*c.left.Load(), c.n, nil), all: c,
		taken: make([]atomic.Bool, c.n)}
	l.bytes = int64(cap(slices.Grow([]T(nil), c.n)))*int64(unsafe.Sizeof(T(0))) + rowBooks
	c.lists[k] = l
	return l, nil
}

// leastCost is how many ns a kernel value must take to be worth it: what a part takes of a row of
// all costs about 2 ns a value, the memory for the row included (Intel Xeon, Emerald Rapids).
const leastCost = 4

// rowBooks is more than what a cache takes for a row beside its values.
const rowBooks = 256

// take takes so many bytes of what is left, if there are so many.
func (c *CommonRows[T]) take(bytes int64) bool {
	if c.left.Add(-bytes) >= 0 {
		return true
	}
	c.left.Add(bytes)
	return false
}

// row returns row i; nil if there is no room for it.
func (l *commonRows[T]) row(ctx context.Context, i int) ([]T, error) {
	if !l.taken[i].Load() {
		if !l.all.take(l.bytes) {
			return nil, nil
		}
		if l.taken[i].Swap(true) { // another was quicker
			l.all.left.Add(l.bytes)
		}
	}
	return l.rows.Row(ctx, i, l.rows.Len())
}
