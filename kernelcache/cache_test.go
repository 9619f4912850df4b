package kernelcache

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"unsafe"

	"pgregory.net/rapid"
)

// value is what place j of the row of id holds.
func value[T Float](id uint64, j int) T { return T(id%1000)*4096 + T(j) }

// get asks for n values, fills what is missing and checks all.
func get[T Float](t interface{ Fatalf(string, ...any) }, c *Cache[T], id uint64, n int) (have int,
	values []T) {
	r := c.Row(id, n)
	defer r.Release()
	have = r.Have()
	if len(r.Values) != n || cap(r.Values) != n || have > n {
		t.Fatalf("row %d: length %d, capacity %d, %d there; asked for %d", id, len(r.Values),
			cap(r.Values), have, n)
	}
	for j := have; j < n; j++ {
		r.Values[j] = value[T](id, j)
	}
	if have < n {
		r.Commit()
	}
	for j, v := range r.Values {
		if v != value[T](id, j) {
			t.Fatalf("row %d: value %d is %v, %d were there", id, j, v, have)
		}
	}
	return have, r.Values
}

// order lists the ids of a cache of one shard, the most recently used first.
func order[T Float](c *Cache[T]) (ids []uint64) {
	s := &c.shards[0]
	for e := s.lru.next; e != &s.lru; e = e.next {
		ids = append(ids, e.id)
	}
	return ids
}

// A cache against a list of (id, values there) in order of use. What an entry takes is read from
// the cache, since the allocator rounds up; everything else the model knows by itself.
func TestModel(t *testing.T) {
	t.Run("float32", func(t *testing.T) { rapid.Check(t, testModel[float32]) })
	t.Run("float64", func(t *testing.T) { rapid.Check(t, testModel[float64]) })
}

func testModel[T Float](t *rapid.T) {
	type row struct {
		id    uint64
		have  int
		bytes int64
	}
	limit := rapid.Int64Range(0, 4000).Draw(t, "limit")
	c := New[T](limit, 0)
	var model []row // the most recently used first
	var want Stats
	want.Limit = limit
	sum := func() (b int64) {
		for _, r := range model {
			b += r.bytes
		}
		return b
	}
	evict := func(limit int64) {
		for sum() > limit {
			model = model[:len(model)-1]
			want.Evictions++
		}
	}
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		id := rapid.Uint64Range(0, 9).Draw(t, "id")
		n := rapid.IntRange(1, 200).Draw(t, "n")
		fail := rapid.IntRange(0, 4).Draw(t, "fail") == 0
		at := slices.IndexFunc(model, func(r row) bool { return r.id == id })
		have := 0
		if at >= 0 {
			have = min(n, model[at].have)
		}
		if have == n {
			want.Hits++
		} else {
			want.Misses++
		}
		if fail {
			r := c.Row(id, n)
			for j := r.Have(); j < n; j++ {
				r.Values[j] = -1
			}
			if r.Have() != have {
				t.Fatalf("row %d: %d of %d there, want %d", id, r.Have(), n, have)
			}
			r.Release()
		} else if got, _ := get(t, c, id, n); got != have {
			t.Fatalf("row %d: %d of %d there, want %d", id, got, n, have)
		}
		// otherwise it was not kept, and nothing changed
		if have == n || entryBytes[T](n) <= limit {
			r := row{id: id}
			if at >= 0 {
				r = model[at]
				model = slices.Delete(model, at, at+1)
			} else {
				evict(limit - entryBytes[T](0)) // of the empty entry
			}
			if have < n && !fail {
				r.have = n
			}
			if r.have > 0 {
				if e := c.shards[0].rows[id]; e != nil {
					r.bytes = e.bytes
				}
				evict(limit - r.bytes)
				model = slices.Insert(model, 0, r)
			}
		}
		want.Rows, want.Bytes = len(model), sum()
		if got := c.Stats(); got != want {
			t.Fatalf("stats %+v, want %+v", got, want)
		}
		if want.Bytes > limit {
			t.Fatalf("%d bytes of %d", want.Bytes, limit)
		}
		var ids []uint64
		for _, r := range model {
			ids = append(ids, r.id)
		}
		if got := order(c); !slices.Equal(got, ids) {
			t.Fatalf("order %v, want %v", got, ids)
		}
	}
}

// Any number of goroutines, rows that grow, fillers that fail: values are right, the limit holds at
// every moment, and every call is a hit or a miss.
func TestConcurrent(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	for _, limit := range []int64{0, entryBytes[float64](300) + 512, 20_000, 200_000, 64 << 20} {
		c := New[float64](limit, 0)
		var calls atomic.Int64
		var users sync.WaitGroup
		for g := range 16 {
			users.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(g), 7))
				for range rounds {
					id, n := rng.Uint64N(40), 1+rng.IntN(300)
					calls.Add(1)
					if rng.IntN(8) == 0 {
						failing(c, id, n)
						continue
					}
					get(t, c, id, n)
				}
			})
		}
		stop := make(chan struct{})
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			for {
				if s := c.Stats(); s.Bytes > limit || s.Bytes < 0 {
					t.Errorf("%d bytes of %d", s.Bytes, limit)
				}
				select {
				case <-stop:
					return
				default:
					runtime.Gosched()
				}
			}
		}()
		users.Wait()
		close(stop)
		<-watched
		s := c.Stats()
		if s.Hits+s.Misses != uint64(calls.Load()) {
			t.Errorf("limit %d: %d hits and %d misses in %d calls", limit, s.Hits, s.Misses,
				calls.Load())
		}
		if limit == 0 && (s.Rows != 0 || s.Hits != 0) || limit > 1<<20 && s.Evictions != 0 {
			t.Errorf("limit %d: %+v", limit, s)
		}
		var bytes int64
		for i := range c.shards {
			for id, e := range c.shards[i].rows {
				if e.id != id || e.filling || !e.kept || e.ready != nil || e.next == nil {
					t.Errorf("limit %d: entry %d is %+v", limit, id, e)
				}
				bytes += entryBytes[float64](cap(e.row))
			}
		}
		if bytes != s.Bytes {
			t.Errorf("limit %d: entries take %d bytes, counted %d", limit, bytes, s.Bytes)
		}
	}
}

var errFill = errors.New("no value")

// failing begins to fill a row and panics.
func failing[T Float](c *Cache[T], id uint64, n int) {
	defer func() { _ = recover() }()
	r := c.Row(id, n)
	defer r.Release()
	for j := r.Have(); j < n; j++ {
		r.Values[j] = -1
	}
	panic(errFill)
}

// One fills, all others wait and hit.
func TestOneFills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New[float32](1<<20, 0)
		first := c.Row(3, 100)
		var wait sync.WaitGroup
		var got atomic.Int64
		for range 10 {
			wait.Go(func() {
				if have, _ := get(t, c, 3, 90); have == 90 {
					got.Add(1)
				}
			})
		}
		synctest.Wait()
		if got.Load() != 0 {
			t.Fatal("a row was there before it was filled")
		}
		for j := range first.Values {
			first.Values[j] = value[float32](3, j)
		}
		first.Commit()
		wait.Wait()
		if s := c.Stats(); got.Load() != 10 || s.Hits != 10 || s.Misses != 1 {
			t.Errorf("%d waiters found the row; %+v", got.Load(), s)
		}
	})
}

// When the filler gives up, one of those who wait fills and the rest find the values.
func TestTurnPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New[float32](1<<20, 0)
		get(t, c, 5, 10)
		first := c.Row(5, 100)
		var wait sync.WaitGroup
		var filled atomic.Int64
		for range 10 {
			wait.Go(func() {
				if have, _ := get(t, c, 5, 100); have < 100 {
					if have != 10 {
						t.Errorf("%d values were there, want 10", have)
					}
					filled.Add(1)
				}
			})
		}
		synctest.Wait()
		if have, _ := get(t, c, 5, 10); have != 10 {
			t.Error("the values that were there had to wait for those to come")
		}
		first.Values[10] = -1
		first.Release()
		first.Commit() // too late: it must not publish what was left half done
		wait.Wait()
		if filled.Load() != 1 {
			t.Errorf("%d filled, want 1", filled.Load())
		}
	})
}

// Slices that were handed out keep their values while the row grows, moves, and is evicted.
func TestReadersKeepTheirs(t *testing.T) {
	c := New[float64](3000, 0)
	var old [][]float64
	moves := 0
	for n := 1; n <= 250; n++ {
		have, values := get(t, c, 1, n)
		if have != n-1 {
			t.Fatalf("%d values there, want %d", have, n-1)
		}
		if n > 1 && unsafe.SliceData(values) != unsafe.SliceData(old[n-2]) {
			moves++
		}
		old = append(old, values)
	}
	if moves == 0 || moves > 25 {
		t.Errorf("a row that grew 250 times by one moved %d times", moves)
	}
	get(t, c, 2, 300)
	if s := c.Stats(); s.Evictions != 1 || s.Rows != 1 {
		t.Errorf("%+v", s)
	}
	runtime.GC()
	for n, values := range old {
		for j, v := range values {
			if v != value[float64](1, j) {
				t.Fatalf("prefix of %d: value %d became %v", n+1, j, v)
			}
		}
	}
}

// The books must count what entries really take in the heap, to a tenth.
func TestBytesAreReal(t *testing.T) {
	for _, n := range []int{4, 100, 1000} {
		const rows = 20000
		c := New[float32](1<<30, n)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for id := range uint64(rows) {
			get(t, c, id, n)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		real := float64(after.HeapAlloc) - float64(before.HeapAlloc)
		if counted := float64(c.Stats().Bytes); real > 1.1*counted || real < 0.7*counted {
			t.Errorf("rows of %d: counted %.0f bytes a row, %.0f are taken", n, counted/rows,
				real/rows)
		}
		runtime.KeepAlive(c)
	}
}

// The share of a serial caller's hits must not depend on the machine: the number of shards does
// not.
func TestShards(t *testing.T) {
	for _, tc := range []struct {
		limit     int64
		n, shards int
	}{{0, 0, 1}, {1 << 20, 0, 1}, {2 << 20, 0, 2}, {1 << 40, 0, 16}, {1 << 30, 1 << 19, 2},
		{1 << 20, 1 << 20, 1}, {-1, 5, 1}} {
		if got := len(New[float64](tc.limit, tc.n).shards); got != tc.shards {
			t.Errorf("limit %d, rows of %d: %d shards, want %d", tc.limit, tc.n, got, tc.shards)
		}
	}
}

func TestSpread(t *testing.T) {
	c := New[float32](1<<30, 10)
	for id := range uint64(1600) {
		get(t, c, id, 1)
	}
	for i := range c.shards {
		if n := len(c.shards[i].rows); n < 80 || n > 120 {
			t.Errorf("shard %d has %d of 1600 consecutive ids", i, n)
		}
	}
}
