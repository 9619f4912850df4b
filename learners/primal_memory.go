package learners

// spare is n with the most that append or Grow adds to a small list.
func spare(n int64) int64 { return 2*n + 16 }

// fixed is what a learner takes, whatever the data: its own struct.
const fixed = 8 << 10

// linearFootprint is that of one weight a feature, and of so many bytes more.
func linearFootprint(x Extent, more int64) Footprint {
	var f Footprint
	state := x.Elem
	if more > 0 {
		state = more
	}
	f.Copied(x, 8, times(x.Features, state))
	f.Tables(x, "weights", x.Elem+more)
	f.Add("work space", 1, fixed)
	return f
}
