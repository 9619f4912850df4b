package primal

import "github.com/halfspace-ml/halfspace/learner"

// ListRoom is n with the most that append or Grow adds to a small list.
func ListRoom(n int64) int64 { return 2*n + 16 }

// Fixed is what a learner takes, whatever the data: its own struct.
const FixedBytes = 8 << 10

// LinearFootprint is that of one weight a feature, and of so many bytes more.
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
