package primal

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
)

// MostSquare is the squared length that examples, and weights whose length is divided by, may have
// at most: inner products of them, and sums of a few, are finite then. float32 ends at 2^128,
// float64 at 2^1024: a factor of 4, or of 2^24, is left for those.
func MostSquare[T learner.Float]() float64 {
	if unsafe.Sizeof(T(0)) == 4 {
		return 0x1p126 // |x| up to 2^63 = 9e18
	}
	return 0x1p1000 // up to 3e150
}

// CheckLengths refuses a block with an example that is longer than a learner called name, of
// numbers of T, can take: the one rule of all learners, by way of [CheckWeighted] and
// [CheckClasses], so that none loses its numbers by such an example or makes nothing of it. Cost: a
// sum over the block's values, which bounds all lengths at once; only where that is too large is
// each example measured.
func CheckLengths[T learner.Float](name string, b *engine.Block[T]) error {
	n, limit := b.Len(), MostSquare[T]()
	if n == 0 || float64(vecmath.SumSq(valuesOf(b))) <= limit {
		return nil
	}
	for i := range n {
		if _, val := b.Example(i); !(engine.SumSqOrdered(val) <= limit) {
			return fmt.Errorf("%s: example %d of the block is longer than %.3g, so that %d-bit "+
				"numbers "+
				"don't hold its square: %w", name, i, math.Sqrt(limit), 8*unsafe.Sizeof(T(0)),
				learner.ErrLength)
		}
	}
	return nil
}

// Growth returns the factor by which the relative error of a squared length has grown since it was
// last measured, 0 for at most 1. before is the factor before an update to c w + a x, and kept is
// c^2 |w|^2 over the new squared length: an update takes the old error along in that proportion. It
// is below 1 where weights grow, and large where most of them cancels.
func Growth(before, kept float64) float64 {
	if g := float64(max(1, before) * kept); g > 1 {
		return g
	}
	return 0
}

// GrowthField walks a growth of errors, which a State lacks where it is 0.
func GrowthField(c *learner.Codec, v *float64) (g float64) {
	if c.Optional("grown", v != nil && *v > 0) {
		g = c.Scalar("grown", v)
		c.Want(g > 1, "scalar %q is %v, want a number > 1", "grown", g)
	}
	if v != nil {
		c.Then(func() { *v = g })
	}
	return g
}

// MostGrowth is the growth of errors at which squared lengths are measured. Between measurements,
// at most [MeasureEvery] updates apart, an update adds a few units in the last place of T: what
// they come to is below 2^14 of those, and far less where roundings are of either sign.
const MostGrowth = 16

// MeasureEvery is the number of updates after which a squared length is measured in any case.
const MeasureEvery = 1024

// LeastMargin returns the margin that counts as none among examples of these squared lengths, from
// the shortest one's to the longest one's. It is LeastMargin times the longest length. But where
// that is beyond a thousand times the shortest, which no margin exceeds, so small a share of it may
// be a good margin of the short examples: then it is LeastMargin times a thousand times the
// shortest.
func LeastMargin(shortest2, longest2 float64) float64 {
	return learner.LeastMargin * math.Sqrt(min(longest2, float64(0x1p20*shortest2)))
}

// SquaredLengths returns the squared lengths of the shortest example that has features and of the
// longest, with the extended coordinate Delta of a soft margin. Of examples without features both
// are Delta^2.
func SquaredLengths[T learner.Float](b *engine.Block[T], delta float64) (shortest2,
	longest2 float64) {
	shortest2 = math.Inf(1)
	for i := range b.Len() {
		_, val := b.Example(i)
		if n := engine.SumSqOrdered(val); n > 0 {
			shortest2, longest2 = min(shortest2, n), max(longest2, n)
		}
	}
	d := float64(delta * delta)
	if longest2 == 0 {
		shortest2 = 0 // not the +Inf it began with
	}
	return shortest2 + d, longest2 + d
}
