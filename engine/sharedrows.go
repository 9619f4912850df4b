package engine

import (
	"sync"
	"unsafe"
)

// SharedRows keeps the kernel rows of a list of examples for all learners that it is given to:
// those of the classes of one data set, each against the rest, or of several settings. Rows do not
// depend on labels. It has the rows of one list and one kernel, of those that were asked for last.
//
// The zero value is ready. Safe for concurrent use; a row that several learners ask for is computed
// once.
type SharedRows struct {
	mu   sync.Mutex
	of   any // the rowsKey of rows
	rows any // a *Rows

	whole any     // the CommonRows of which it has parts; nil: of none
	part  any     // then: the rowsKey of the examples, without a kernel
	at    []int32 // and their numbers among all
}

// rowsKey says which rows: the kernel and the memory that the examples lie in, which it keeps from
// being used for others.
type rowsKey[T Float] struct {
	kernel         Kernel
	limit          int64
	pool           *Pool
	n, dim, stride int
	x, val         *T
	idx            *int32
	ptr            *int
	endX, endVal   int
	sparse         bool
}

// RowsOf returns the rows of all examples of b: those of s, if it has them for the same features in
// the same memory, the same kernel, limit and pool, or new ones, which s then keeps. The features
// must not change meanwhile. A nil s keeps nothing.
func RowsOf[T Float](s *SharedRows, k Kernel, b *Block[T], cacheBytes int64, pool *Pool) (*Rows[T],
	error) {
	if s == nil {
		return newRowsOf(k, b, cacheBytes, pool)
	}
	key := memoryOf(b)
	features := any(key)
	key.kernel, key.limit, key.pool = k, cacheBytes, pool
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == any(key) {
		return s.rows.(*Rows[T]), nil
	}
	s.of, s.rows = nil, nil // before there are others
	r, err := newRowsOf(k, b, cacheBytes, pool)
	if err != nil {
		return nil, err
	}
	if all, ok := s.whole.(*CommonRows[T]); ok && s.part == features {
		if r.whole, err = all.of(k); err != nil {
			return nil, err
		}
		r.at = s.at
	}
	s.of, s.rows = key, r
	return r, nil
}

// memoryOf is the key of b's features alone.
func memoryOf[T Float](b *Block[T]) rowsKey[T] {
	return rowsKey[T]{n: b.Len(), dim: b.Dim, stride: b.Stride, x: unsafe.SliceData(b.X),
		val: unsafe.SliceData(b.Val), idx: unsafe.SliceData(b.Idx), ptr: unsafe.SliceData(b.Ptr),
		endX: len(b.X), endVal: len(b.Val), sparse: !b.Dense()}
}

// Release lets the rows go, when all who share them are done. A nil s is good, too.
func (s *SharedRows) Release() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of, s.rows = nil, nil
}

func newRowsOf[T Float](k Kernel, b *Block[T], cacheBytes int64, pool *Pool) (*Rows[T], error) {
	list, err := NewPoints[T](k)
	if err != nil {
		return nil, err
	}
	list.Append(b, 0, b.Len())
	return NewRows(list, cacheBytes, b.Len(), pool), nil
}

// Since returns what happened after an earlier look: the counters are differences, of all who share
// the rows; Rows, Bytes and Limit are as they are now.
func Since(now, before RowStats) RowStats {
	now.Hits -= before.Hits
	now.Misses -= before.Misses
	now.Evictions -= before.Evictions
	return now
}
