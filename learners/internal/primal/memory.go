package primal

import "github.com/halfspace-ml/halfspace/learner"

// ListRoom bounds the room of a list of n elements that append or slices.Grow has made: they double
// small lists, and round up to a size of the allocator's.
func ListRoom(n int64) int64 { return 2*n + 16 }

// FixedBytes bounds what a learner takes, whatever the data: its struct, with those it holds by
// pointer.
const FixedBytes = 8 << 10

// FeatureMemory is that of tables of so many bytes a feature, of which a State has some.
func FeatureMemory(x learner.Extent, name string, bytes, state int64) learner.Footprint {
	var f learner.Footprint
	f.Copied(x, 8, learner.Times(x.Features, state))
	f.Tables(x, name, bytes)
	f.Add("work space", 1, FixedBytes)
	return f
}

// LinearMemory is [learner.Traits.Memory] of one weight a feature, in the precision of the
// examples, and of what more adds.
func LinearMemory(more ...func(*learner.Footprint, learner.Extent)) func(
	learner.Extent) learner.Footprint {
	return func(x learner.Extent) learner.Footprint {
		f := FeatureMemory(x, "weights", x.Elem, x.Elem)
		for _, add := range more {
			add(&f, x)
		}
		return f
	}
}
