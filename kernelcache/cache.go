// Package kernelcache keeps rows of a kernel matrix, or as much of them as was asked for, within a
// limit in bytes. It knows ids and floats only: what a row holds, and how it is computed, is its
// callers' business.
package kernelcache

import (
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

// Float is the element type of rows.
type Float interface{ float32 | float64 }

// Cache keeps prefixes of rows: the values 0 to n-1 of the row of an id.
//
// Keys are example ids, never places in a support set, so that removing a support vector
// invalidates nothing. A row's values never change once they are there; more may follow, as a list
// of examples grows: a call for more values than are there computes the rest only.
//
// One fills, others wait. The first call for values that are not there gets the turn to compute
// them ([Row.Have] is below len(Values)); calls for them in the meantime wait until it calls
// Commit. Calls for no more than is there do not wait. When the filler gives up (Release without
// Commit, as after an error or a panic), the turn passes to one of those that wait. No mutex is
// locked while a row is computed, allocated or copied.
//
// Shards, up to 16 and a power of two, have a lock, a list and an equal share of the limit each. So
// many, since computing a row takes microseconds and looking one up tens of nanoseconds; their
// number depends on the limit and the length of rows, not on the machine, so that the counters of a
// serial caller are the same everywhere. Two cores gain little by them: hits of eight goroutines
// took 36 ns with one lock and 33 with 16, of two 27 to 32 with any number (AMD Zen 4, 2 vCPUs). A
// shard is the top bits of the id times 2^64/phi (Knuth, "The Art of Computer
// Programming", volume 3, section 6.4), which spreads consecutive ids evenly. A share has room for
// 64 rows at least, or there is one shard.
//
// Policy: least recently used, in each shard. A kernel row costs the same whichever it is, and
// solvers come back to the rows of the examples that they have just changed; plain LRU is what
// LIBSVM uses, and nothing has a scan to resist. Rows that are being filled are not evicted. A row
// too large for a share is not kept, and its callers do not wait for one another.
//
// Memory: the limit is hard. It counts the storage of rows and what the books of an entry take, and
// holds after every call. A row that is being filled belongs to its filler until Commit, and an
// evicted one to its readers: the garbage collector keeps it alive for them, nothing is reused, so
// values that were handed out stay good for ever. Readers must not write them. A row that grows
// beyond its storage moves to a larger one, by a quarter at least, and readers of the old one keep
// it.
//
// All methods are safe for concurrent use. What the cache gives never depends on its size; only
// Stats does.
type Cache[T Float] struct {
	shards []shard[T]
	shift  uint // 64 - log2 of the number of shards
	limit  int64
}

const (
	// maxShards bounds how many callers can look up at the same time. A look-up is short beside
	// computing a row, so more locks would save nothing.
	maxShards = 16
	// A share has room for so many rows and bytes at least. With fewer rows the ids that chance
	// puts into one shard would evict each other while others have room; below a MiB one lock is
	// enough.
	rowsPerShard  = 64
	bytesPerShard = 1 << 20

	// mapSlot is what an entry takes in a map of shard: key, pointer and control byte, at a load
	// that growing by doubling keeps above 7/16.
	mapSlot = 40
)

// shard is a part of the cache with a lock of its own.
type shard[T Float] struct {
	mu    sync.Mutex
	rows  map[uint64]*entry[T]
	lru   entry[T] // head of a ring: next is the most recently used, prev the least
	used  int64    // bytes of all entries in rows
	limit int64
	stats Stats
	_     [64]byte // the next shard's lock is on another cache line
}

// entry is one id. Entries that are being filled are in rows, but not in the ring.
type entry[T Float] struct {
	prev, next *entry[T]
	id         uint64
	shard      *shard[T]     // nil if the row will not be kept
	row        []T           // the values there are; readers hold parts of it
	coming     []T           // what row will be after the turn: the filler's own
	bytes      int64         // what the entry counts for
	filling    bool          // someone has the turn
	kept       bool          // in rows
	ready      chan struct{} // closed when the turn ends; nil while no call waits
}

// Stats counts what happened since New. A wait that ends with the values there is a hit.
type Stats struct {
	Hits      uint64 // calls of Row that found all values
	Misses    uint64 // calls of Row that had to fill some
	Evictions uint64 // rows dropped for others
	Rows      int    // rows kept
	Bytes     int64  // memory they take, with the books
	Limit     int64
}

// Row is what [Cache.Row] hands out. If Have() < len(Values), the holder has the turn: it writes
// Values[Have():] and calls Commit. It calls Release in any case, best deferred.
//
// It is four words, the most that Go returns in registers without a way through memory: with a
// fifth a hit took half as long again.
type Row[T Float] struct {
	// the row, len(Values) as asked for; read only but for Values[Have():] before Commit
	Values []T
	turn   *entry[T] // what to fill; nil if all is there
}

// Have returns how many of Values are there, from the first on: those behind are for the holder to
// compute. After Commit that is all.
func (r *Row[T]) Have() int {
	if r.turn == nil {
		return len(r.Values)
	}
	return len(r.turn.row)
}

// New returns a cache that keeps at most limit bytes; with 0 it keeps nothing and everyone computes
// for himself. rowLen is the length of the rows to come as far as it is known, such as the number
// of training examples, or 0.
func New[T Float](limit int64, rowLen int) *Cache[T] {
	limit = max(0, limit)
	share := max(bytesPerShard, rowsPerShard*entryBytes[T](rowLen))
	n := 1
	for n < maxShards && limit/int64(2*n) >= share {
		n *= 2
	}
	c := &Cache[T]{shards: make([]shard[T], n), shift: uint(64 - bits.TrailingZeros(uint(n))),
		limit: limit}
	for i := range c.shards {
		s := &c.shards[i]
		s.rows = make(map[uint64]*entry[T])
		s.lru.prev, s.lru.next = &s.lru, &s.lru
		s.limit = limit / int64(n)
	}
	return c
}

// entryBytes is what an entry with storage for n values counts for.
func entryBytes[T Float](n int) int64 {
	return int64(unsafe.Sizeof(entry[T]{})) + mapSlot + int64(n)*int64(unsafe.Sizeof(T(0)))
}

// Row returns the first n values of the row of id. If some are missing, the caller has to fill
// them, see [Row]. It waits while another fills them. A hit allocates nothing.
func (c *Cache[T]) Row(id uint64, n int) Row[T] {
	if n == 0 {
		return Row[T]{}
	}
	// 2^64/phi, as said at Cache; with one shard the shift is by 64, which is 0 in Go
	s := &c.shards[id*0x9E3779B97F4A7C15>>c.shift]
	s.mu.Lock()
	for {
		e := s.rows[id]
		if e != nil && len(e.row) >= n {
			return s.hit(e, n)
		}
		if need := entryBytes[T](n); need > s.limit {
			return s.bypass(e, n)
		}
		if e == nil {
			e = s.add(id)
			if e == nil {
				return s.bypass(nil, n) // the share is full of rows that are being filled
			}
		}
		if !e.filling {
			return s.turn(e, n)
		}
		if e.ready == nil {
			e.ready = make(chan struct{})
		}
		ready := e.ready
		s.mu.Unlock()
		<-ready
		s.mu.Lock()
		if len(e.row) >= n { // e has the values even if it wasn't kept
			return s.hit(e, n)
		}
	}
}

// hit gives the first n values of e, now the most recently used, and unlocks s. The capacity is cut
// to n: a reader who appends must not write behind them.
func (s *shard[T]) hit(e *entry[T], n int) Row[T] {
	s.stats.Hits++
	if e.next != nil && s.lru.next != e {
		s.unlink(e)
		s.front(e)
	}
	row := e.row[:n:n]
	s.mu.Unlock()
	return Row[T]{Values: row}
}

// bypass gives a row of the caller's own that will not be kept, with the values of e in it, and
// unlocks s.
func (s *shard[T]) bypass(e *entry[T], n int) Row[T] {
	s.stats.Misses++
	var have []T
	if e != nil {
		have = e.row
	}
	s.mu.Unlock()
	row := make([]T, n)
	return Row[T]{Values: row, turn: &entry[T]{row: row[:copy(row, have)]}}
}

// turn makes the caller the one who fills e. It unlocks s before it allocates and copies: the entry
// is out of the ring, so that no other call evicts it meanwhile, and others wait for its ready.
func (s *shard[T]) turn(e *entry[T], n int) Row[T] {
	s.stats.Misses++
	e.filling = true
	if e.next != nil {
		s.unlink(e)
	}
	have := e.row
	s.mu.Unlock()
	row := have
	if cap(row) < n {
		size := n
		if len(have) > 0 {
			// by a quarter, so that a row that grows by one value at a time costs few
			// copies a value; not beyond the share
			size = max(n, int(min(int64(cap(have)+cap(have)/4), s.room())))
		}
		row = slices.Grow[[]T](nil, size)
		if entryBytes[T](cap(row)) > s.limit { // the allocator rounds up
			row = row[:0:n]
		}
		row = append(row, have...)
	}
	e.coming = row[:n]
	return Row[T]{Values: row[:n:n], turn: e}
}

// room is the number of values for which an entry fits the share.
func (s *shard[T]) room() int64 { return (s.limit - entryBytes[T](0)) / int64(unsafe.Sizeof(T(0))) }

// Commit says that all of Values are there, and ends the turn. Without a turn it does nothing.
func (r *Row[T]) Commit() {
	e := r.turn
	if e == nil {
		return
	}
	r.turn = nil
	s := e.shard
	if s == nil {
		return // not kept
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := e.bytes
	e.row, e.bytes = e.coming, entryBytes[T](cap(e.coming))
	s.used += e.bytes - old
	s.settle(e)
}

// Release gives the turn back, if Commit has not: Values are then those that were there before.
func (r *Row[T]) Release() {
	e := r.turn
	if e == nil {
		return
	}
	r.turn, r.Values = nil, r.Values[:len(e.row)]
	s := e.shard
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(e)
}

// settle ends the turn of e and makes the share fit its limit again.
func (s *shard[T]) settle(e *entry[T]) {
	e.filling, e.coming = false, nil
	if e.ready != nil {
		close(e.ready)
		e.ready = nil
	}
	if len(e.row) == 0 {
		s.drop(e) // nothing to keep
		return
	}
	if !s.shrink() { // rows that are being filled take the rest
		s.drop(e)
		s.stats.Evictions++
		return
	}
	s.front(e)
}

// add makes an empty entry of id, or nil if there is no room for one.
func (s *shard[T]) add(id uint64) *entry[T] {
	e := &entry[T]{id: id, shard: s, bytes: entryBytes[T](0), kept: true}
	s.used += e.bytes
	if !s.shrink() {
		s.used -= e.bytes
		return nil
	}
	s.rows[id] = e
	return e
}

// shrink evicts the least recently used rows until the limit holds; false if those that are left
// are being filled and take more.
func (s *shard[T]) shrink() bool {
	for s.used > s.limit {
		e := s.lru.prev
		if e == &s.lru {
			return false
		}
		s.unlink(e)
		s.drop(e)
		s.stats.Evictions++
	}
	return true
}

// drop takes e, which is not in the ring, out of the map.
func (s *shard[T]) drop(e *entry[T]) {
	delete(s.rows, e.id)
	e.kept = false
	s.used -= e.bytes
}

func (s *shard[T]) front(e *entry[T]) {
	e.prev, e.next = &s.lru, s.lru.next
	e.prev.next, e.next.prev = e, e
}

func (s *shard[T]) unlink(e *entry[T]) {
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = nil, nil
}

// Stats returns the sums over all shards, each as it was at some moment of the call.
func (c *Cache[T]) Stats() Stats {
	t := Stats{Limit: c.limit}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		t.Hits += s.stats.Hits
		t.Misses += s.stats.Misses
		t.Evictions += s.stats.Evictions
		t.Rows += len(s.rows)
		t.Bytes += s.used
		s.mu.Unlock()
	}
	return t
}
