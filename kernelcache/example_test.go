package kernelcache_test

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/kernelcache"
)

// row returns the first n products of id with 0, 1, 2, ...: values are computed only where the
// cache lacks them, by whoever comes first.
func row(cache *kernelcache.Cache[float64], id uint64, n int) []float64 {
	r := cache.Row(id, n)
	defer r.Release()
	if r.Have() == n {
		return r.Values
	}
	fmt.Printf("row %d: computing values %d to %d\n", id, r.Have(), n-1)
	for j := r.Have(); j < n; j++ {
		r.Values[j] = float64(int(id) * j)
	}
	r.Commit()
	return r.Values
}

// Rows are kept as far as somebody asked for them, and the rest is computed when it is wanted.
func ExampleCache() {
	cache := kernelcache.New[float64](1<<20, 6) // 1 MiB
	fmt.Println(row(cache, 7, 3))
	fmt.Println(row(cache, 7, 3))
	fmt.Println(row(cache, 7, 6))
	var s kernelcache.Stats = cache.Stats()
	fmt.Println(s.Hits, "hit,", s.Misses, "misses,", s.Rows, "row")
	// Output:
	// row 7: computing values 0 to 2
	// [0 7 14]
	// [0 7 14]
	// row 7: computing values 3 to 5
	// [0 7 14 21 28 35]
	// 1 hit, 2 misses, 1 row
}

// A row that its filler gives up, as after an error, is the next one's turn.
func ExampleRow_Release() {
	cache := kernelcache.New[float32](1<<20, 4)
	r := cache.Row(1, 4)
	r.Release() // without Commit
	r = cache.Row(1, 4)
	fmt.Println(r.Have(), "values are there")
	for j := range r.Values {
		r.Values[j] = 0.5
	}
	r.Commit()
	r.Release()
	r = cache.Row(1, 4)
	fmt.Println(r.Have())
	// Output:
	// 0 values are there
	// 4
}
