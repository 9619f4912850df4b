// Package waiting keeps what waits for an answer, found by an id, in the order in which it came and
// within a bound: where there is no room, what has waited longest goes.
package waiting

import "iter"

// overhead is what an entry takes beside its id and its value, in bytes: its place in the list and
// in the map, which has room for twice as many at most.
const overhead = 160

// List keeps values by their ids, at most so many and so many bytes. The zero value keeps none: see
// New. Not safe for concurrent use. Cost: that of a map, for Add and for Take.
type List[V any] struct {
	most    int
	room    int64
	bytes   int64
	expired int64
	byID    map[string]*entry[V]
	first   *entry[V] // the oldest
	last    *entry[V]
}

// entry is a value in the list, oldest first.
type entry[V any] struct {
	id           string
	v            V
	bytes        int64
	before, next *entry[V]
}

// New makes a List of at most so many values, and so many bytes; 0 bytes is no bound.
func New[V any](most int, bytes int64) *List[V] {
	return &List[V]{most: most, room: bytes, byID: map[string]*entry[V]{}}
}

// Len returns how many wait.
func (l *List[V]) Len() int { return len(l.byID) }

// Bytes returns the memory that they take, as Add was told, their ids and the list included.
func (l *List[V]) Bytes() int64 { return l.bytes }

// Expired returns how many were dropped for want of room; of an id that was added again the earlier
// value is not among them.
func (l *List[V]) Expired() int64 { return l.expired }

// Add has v, of so many bytes, wait under the id. A value that waits under it already is dropped:
// again says so, and old is that. Where there is no room the oldest are dropped, and v itself where
// it alone has none; drop, if there is one, is called with each of them.
func (l *List[V]) Add(id string, v V, bytes int64, drop func(id string, v V)) (old V, again bool) {
	old, again = l.Take(id)
	e := &entry[V]{id: id, v: v, bytes: bytes + int64(len(id)) + overhead, before: l.last}
	if l.last == nil {
		l.first = e
	} else {
		l.last.next = e
	}
	l.last, l.byID[id] = e, e
	l.bytes += e.bytes
	for len(l.byID) > l.most || l.room > 0 && l.bytes > l.room {
		oldest := l.first
		l.remove(oldest)
		l.expired++
		if drop != nil {
			drop(oldest.id, oldest.v)
		}
	}
	return old, again
}

// Take returns the value that waits under the id, which no longer does.
func (l *List[V]) Take(id string) (v V, ok bool) {
	e, ok := l.byID[id]
	if ok {
		l.remove(e)
		v = e.v
	}
	return v, ok
}

// All goes through what waits, the oldest first. The list must not change meanwhile.
func (l *List[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for e := l.first; e != nil && yield(e.id, e.v); e = e.next {
		}
	}
}

// remove takes e out.
func (l *List[V]) remove(e *entry[V]) {
	if e.before == nil {
		l.first = e.next
	} else {
		e.before.next = e.next
	}
	if e.next == nil {
		l.last = e.before
	} else {
		e.next.before = e.before
	}
	delete(l.byID, e.id)
	l.bytes -= e.bytes
}
