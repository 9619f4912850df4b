package kernelcache

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// The cache beside hashicorp's LRU behind a mutex, hits and a mix with a fifth of misses, from one
// and from all cores. A miss allocates a row, and one in both that is half as long as the other
// extends it:
//
//	go test -run '^$' -bench . -count 10 ./kernelcache | tee bench.txt
//	go tool benchstat -col /cache bench.txt

const benchRows, benchLen = 1000, 1000

// locked is hashicorp's LRU of rows, limited by their number.
type locked struct {
	mu  sync.Mutex
	lru *simplelru.LRU[uint64, []float32]
}

func newLocked(rows int) *locked {
	l, err := simplelru.NewLRU[uint64, []float32](rows, nil)
	if err != nil {
		panic(err)
	}
	return &locked{lru: l}
}

// row is what a caller has to do without a cache of prefixes: look up, fill outside the lock, put
// back.
func (l *locked) row(id uint64, n int) float32 {
	l.mu.Lock()
	row, _ := l.lru.Get(id)
	l.mu.Unlock()
	if len(row) < n {
		longer := make([]float32, n)
		fillBench(longer, copy(longer, row))
		row = longer
		l.mu.Lock()
		l.lru.Add(id, row)
		l.mu.Unlock()
	}
	return row[n-1]
}

func cacheRow(c *Cache[float32], id uint64, n int) float32 {
	r := c.Row(id, n)
	if r.Have() < n {
		fillBench(r.Values, r.Have())
		r.Commit()
	}
	return r.Values[n-1]
}

func fillBench(row []float32, from int) {
	for j := from; j < len(row); j++ {
		row[j] = 1
	}
}

func BenchmarkRow(b *testing.B) {
	for _, kind := range []struct {
		name string
		keep int // of benchRows
	}{{"hits", benchRows}, {"misses=0.2", benchRows * 8 / 10}} {
		for _, cache := range []string{"sharded", "hashicorp"} {
			var get func(id uint64, n int) float32
			if cache == "sharded" {
				c := New[float32](int64(kind.keep)*entryBytes[float32](1024)*21/20, benchLen)
				get = func(id uint64, n int) float32 { return cacheRow(c, id, n) }
			} else {
				l := newLocked(kind.keep)
				get = func(id uint64, n int) float32 { return l.row(id, n) }
			}
			for id := range uint64(benchRows) {
				get(id, benchLen)
			}
			b.Run(fmt.Sprintf("%s/serial/cache=%s", kind.name, cache), func(b *testing.B) {
				b.ReportAllocs()
				rng := rand.New(rand.NewPCG(1, 2))
				for b.Loop() {
					get(rng.Uint64N(benchRows), benchLen)
				}
			})
			b.Run(fmt.Sprintf("%s/parallel/cache=%s", kind.name, cache), func(b *testing.B) {
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					rng := rand.New(rand.NewPCG(rand.Uint64(), 2))
					for pb.Next() {
						get(rng.Uint64N(benchRows), benchLen)
					}
				})
			})
		}
	}
}

// BenchmarkShared is hits on one cache by several goroutines, as of learners on the same examples,
// with one lock and with as many as a large cache has:
//
//	go test -run '^$' -bench Shared -cpu 2,4,8 ./kernelcache
func BenchmarkShared(b *testing.B) {
	const ids, n = 200, 128
	for _, shards := range []int{1, 4, maxShards} {
		c := New[float32](64<<20, n)
		c.shards, c.shift = c.shards[:shards], uint(64-bits.TrailingZeros(uint(shards)))
		for id := range uint64(ids) {
			cacheRow(c, id, n)
		}
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				rng := rand.New(rand.NewPCG(rand.Uint64(), 2))
				for pb.Next() {
					cacheRow(c, rng.Uint64N(ids), n)
				}
			})
		})
	}
}
