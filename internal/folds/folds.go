// Package folds draws the folds of cross-validation.
package folds

import (
	"cmp"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
)

// stream is the stream of the random samples of folds.
const stream = 1 << 40

// Assign returns the number, 0 to folds-1, of each of n examples' fold. Each example has a random
// number, a function of the seed, the repeat and its own number. The examples of a class are dealt
// to the folds in the order of these, and the next class continues where that ended. So folds
// differ by one example at most, and in each class by one. With class nil, classes do not count.
func Assign(n, folds int, class func(i int) int, seed uint64, repeat int) []int32 {
	type sample struct {
		class int
		at    uint64
		i     int32
	}
	r := engine.NewRand(seed, stream+uint64(repeat))
	all := make([]sample, n)
	for i := range all {
		r.Seek(uint64(i))
		all[i] = sample{0, r.Uint64(), int32(i)}
		if class != nil {
			all[i].class = class(i)
		}
	}
	slices.SortFunc(all, func(a, b sample) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.at, b.at), cmp.Compare(a.i, b.i))
	})
	fold := make([]int32, n)
	for k, s := range all {
		fold[s.i] = int32(k % folds)
	}
	return fold
}
