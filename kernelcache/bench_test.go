package kernelcache

import (
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
