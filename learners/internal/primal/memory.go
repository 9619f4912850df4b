package primal

import "github.com/halfspace-ml/halfspace/learner"

// ListRoom bounds the room of a list of n elements that append or slices.Grow has made: they double
// small lists, and round up to a size of the allocator's.
func ListRoom(n int64) int64 { return 2*n + 16 }

// FixedBytes bounds what a learner takes, whatever the data: its struct, with those it holds by
// pointer.
const FixedBytes = 8 << 10

// LinearFootprint is that of one weight a feature of x.Elem bytes, and of so many bytes a feature
// more.
func LinearFootprint(x learner.Extent, more int64) learner.Footprint {
	var f learner.Footprint
	state := x.Elem
	if more > 0 {
		state = more
	}
	f.Copied(x, 8, learner.Times(x.Features, state))
	f.Tables(x, "weights", x.Elem+more)
	f.Add("work space", 1, FixedBytes)
	return f
}
