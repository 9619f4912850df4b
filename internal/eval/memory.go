package eval

import (
	"io"
	"iter"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
)

// Source gives examples in order, some at a time. Next returns io.EOF after the last one; a block
// is good until the next call. Streams of package dataset are sources, and so is [Memory].
type Source[T engine.Float] interface {
	Next() (*engine.Block[T], error)
}

// Waiter is a Source that may have to wait for examples. Wait waits until Next would return at
// once, or for d, and reports whether it would. The block that Next returned before is not to be
// used any more.
type Waiter interface {
	Wait(d time.Duration) bool
}

// Wait is src's Wait; true for a source that has none.
func Wait[T engine.Float](src Source[T], d time.Duration) bool {
	w, ok := src.(Waiter)
	return !ok || w.Wait(d)
}

// Memory is a data set in memory: a Source that can be read again, in any order. Not safe
// for concurrent use.
type Memory[T engine.Float] struct {
	all    *engine.Block[T]    // nil until asked for, if there are
	bytes  *engine.ByteRows[T] // else nil
	gather func(dst *engine.Block[T], order []int32)
	order  []int32 // of the present pass; nil is the order of the data
	at     int     // examples given in this pass
	size   int
	view   engine.Block[T]
	buf    engine.Block[T]
}

// NewMemory makes a source of the block. gather copies examples into a buffer block in the order
// given; it is needed for shuffled passes only.
func NewMemory[T engine.Float](b *engine.Block[T], gather func(dst *engine.Block[T],
	order []int32)) *Memory[T] {
	return &Memory[T]{all: b, gather: gather, size: DefaultBlock}
}

// NewBytes makes a source of examples that are kept as bytes. It widens them block by block, a few
// at a time, so that what is learned comes from the cache. Shuffled passes need nothing more.
func NewBytes[T engine.Float](rows *engine.ByteRows[T]) *Memory[T] {
	return &Memory[T]{bytes: rows, gather: rows.Gather, size: DefaultBlock}
}

// Len returns the number of examples.
func (m *Memory[T]) Len() int {
	if m.bytes != nil {
		return m.bytes.Len()
	}
	return m.all.Len()
}

// All returns the whole block. Of examples that are kept as bytes it makes floats, once, which take
// four or eight times as much memory; see Blocks.
func (m *Memory[T]) All() *engine.Block[T] {
	if m.all == nil {
		m.all = new(engine.Block[T])
		m.bytes.Block(m.all, 0, m.bytes.Len())
	}
	return m.all
}

// Blocks are the examples in their order, in blocks that are good until the next one; of bytes a
// few at a time, else one of all. It doesn't disturb the present pass.
func (m *Memory[T]) Blocks() iter.Seq[*engine.Block[T]] {
	return func(yield func(*engine.Block[T]) bool) {
		if m.bytes == nil {
			yield(m.all)
			return
		}
		var b engine.Block[T]
		for lo, n := 0, m.Len(); lo < n; {
			hi := min(lo+engine.DenseRun[T](m.bytes.Dim()), n)
			if m.bytes.Block(&b, lo, hi); !yield(&b) {
				return
			}
			lo = hi
		}
	}
}

// Bytes returns the memory that the examples take, in bytes, if they are kept as bytes; else 0.
func (m *Memory[T]) Bytes() int64 {
	if m.bytes == nil {
		return 0
	}
	return m.bytes.Bytes()
}

// Rewind starts a pass; a nil order is the order of the data.
func (m *Memory[T]) Rewind(order []int32) { m.order, m.at = order, 0 }

// Next returns the next examples of the pass, or io.EOF.
func (m *Memory[T]) Next() (*engine.Block[T], error) {
	size := m.size
	if m.bytes != nil {
		size = min(size, engine.DenseRun[T](m.bytes.Dim()))
	}
	lo, hi := m.at, min(m.at+size, m.Len())
	if lo >= hi {
		return nil, io.EOF
	}
	m.at = hi
	if m.order == nil {
		if m.bytes != nil {
			m.bytes.Block(&m.buf, lo, hi)
			return &m.buf, nil
		}
		m.view = m.all.Slice(lo, hi)
		return &m.view, nil
	}
	m.gather(&m.buf, m.order[lo:hi])
	return &m.buf, nil
}
