package learners

import (
	"fmt"
	"sort"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// listed bounds engine.Points of n examples that came at once, nnz non-zeros together.
func listed(x Extent, n, nnz, elem int64) int64 {
	bytes := times(n, x.Features*elem+64)
	if !x.Dense { // rows of packed bytes are for lists with a non-zero in 16 features
		packed := min(times(n, x.Features+vecmath.ByteUnit), times(nnz, 16)+times(n, 32))
		bytes = max(times(nnz, 4+elem), packed)
	}
	return bytes + times(n, 16) + times(x.Features+65, elem)
}

// rows adds what Fit takes of learners that go over kernel rows of elem bytes a value, of up to n
// support vectors, and so many bytes an example more.
func rowsFootprint(f *Footprint, x Extent, elem, n, more int64) {
	f.Add("examples for the kernel", x.Examples, listed(x, x.Examples, x.NonZeros, elem))
	rows := min(engine.RowsBytes(x.GramBytes(), min(x.Examples, huge/64), elem),
		times(x.Examples, x.Examples+3, elem)+times(x.Examples, 256))
	f.Add("kernel rows", x.Examples, rows)
	f.Add("work space", x.Examples, plus(times(x.Examples, more), 2*example(x)+fixed))
	expansionFootprint(f, x, n)
}

// expansion adds n support vectors.
func expansionFootprint(f *Footprint, x Extent, n int64) {
	n = min(n, x.Examples)
	nnz := min(x.NonZeros, times(n, x.Longest))
	copies := times(nnz, 4+x.Elem) + times(n, 8+8+2*x.Elem)
	x.Dense = false
	f.Add("support vectors", n, copies+listed(x, n, nnz, x.Elem)+2*example(x)+fixed)
	f.Copied(x, 0, copies)
}

// example bounds an example in hand: non-zeros in two forms, and spread out over all features, in
// float64 or packed.
func example(x Extent) int64 {
	n := x.Features
	if x.Growing {
		n = int64(engine.Room(int(n), int(n)+1))
	}
	return times(4, spare(x.Longest), 4+x.Elem) + times(9, n) + n/8 + 256
}

// kept adds n kept examples, fewer if there are fewer. If bounded, the values among them are held,
// too; room is for their features, or 0.
func keptFootprint(f *Footprint, x Extent, name string, n, room int64, bounded bool) {
	rows := reserved(n, room, x)
	n = min(n, x.Examples)
	if n == Any {
		f.Add(name+" without a limit", n, huge)
		return
	}
	held, moving, list := room, int64(0), rows
	if room == 0 {
		held, moving = engine.PointsBytes(n, x.Longest, x.Features, x.Elem, x.Dense)
		list = spare(n)
	}
	f.Moving = plus(f.Moving, moving)
	f.Add(name, n, plus(held, times(list, 4*8+8+x.Elem+2*8)))
	state := times(n, x.Longest, 4+x.Elem)
	// the tightest form of what is kept takes a bit for what is an index and a value in a State
	if room > 0 {
		state = min(state, times(room, 8, 4+x.Elem))
	}
	if x.Saved {
		f.Copies = plus(f.Copies, state+times(n, 64))
	}
	if bounded {
		f.Add("kernel values among them", times(n, n),
			plus(times(rows, list, 8), times(list, 16+24)))
	}
}

// reserved returns for how many of n kept examples there are tables: with a room for their features
// these are made at once, for all that the settings allow, however few examples there are.
func reserved(n, room int64, x Extent) int64 {
	if room > 0 && n < Any {
		return n
	}
	return min(n, x.Examples)
}

// inHand adds the work space of learners that keep so many lists of examples.
func inHand(f *Footprint, x Extent, lists int64) {
	f.Add("example in hand", lists, times(lists, example(x))+fixed)
	if x.Growing {
		f.Moving = plus(f.Moving, times(lists, 8, x.Features))
	}
}

// mostThatFit returns the largest n from 1 to limit for which need(n) is at most bytes, or an error
// if there is none.
func mostThatFit(learner string, bytes int64, limit int, need func(n int) int64) (int, error) {
	n := sort.Search(limit, func(i int) bool { return need(i+1) > bytes })
	if n == 0 {
		return 0, fmt.Errorf("%s: %d bytes are too few: with one kept example it takes %d: %w",
			learner, max(0, bytes), need(1), ErrConfig)
	}
	return n, nil
}

// mostKept bounds FitMemory: an update goes over all kept examples.
const mostKept = 1 << 20

// fitKept returns the largest n for which what set(n) returns takes up to that many bytes. More
// than there are examples are never kept.
func fitKept(learner string, bytes int64, limit int, x Extent, mean, largest int64,
	set func(n int) Config) (Config, error) {
	limit = int(max(1, min(int64(limit), x.Examples)))
	n, err := mostThatFit(learner, bytes, limit, func(n int) int64 {
		c := set(n)
		x.Kept = KeptRoom(c.Traits().Keeps, mean, largest)
		return c.Memory(x).Peak()
	})
	if err != nil {
		return nil, err
	}
	return set(n), nil
}
