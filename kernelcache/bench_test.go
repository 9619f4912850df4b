package kernelcache

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

const benchRows, benchLen = 1000, 1000

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

// BenchmarkRow is hits, and a mix with a fifth of misses, from one and from all cores. A miss
// allocates a row.
func BenchmarkRow(b *testing.B) {
	for _, kind := range []struct {
		name string
		keep int // of benchRows
	}{{"hits", benchRows}, {"misses=0.2", benchRows * 8 / 10}} {
		c := New[float32](int64(kind.keep)*entryBytes[float32](1024)*21/20, benchLen)
		for id := range uint64(benchRows) {
			cacheRow(c, id, benchLen)
		}
		b.Run(kind.name+"/serial", func(b *testing.B) {
			b.ReportAllocs()
			rng := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				cacheRow(c, rng.Uint64N(benchRows), benchLen)
			}
		})
		b.Run(kind.name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				rng := rand.New(rand.NewPCG(rand.Uint64(), 2))
				for pb.Next() {
					cacheRow(c, rng.Uint64N(benchRows), benchLen)
				}
			})
		})
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
