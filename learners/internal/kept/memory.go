package kept

import (
	"fmt"
	"sort"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// listed bounds the bytes of engine.Points of n examples that came at once, nnz non-zeros together,
// elem bytes a value. Points choose the tightest of three forms by the values, which are not known
// here: the largest that they can choose counts.
func listed(x learner.Extent, n, nnz, elem int64) int64 {
	bytes := learner.Times(n, x.Features*elem+64)
	if !x.Dense { // rows of packed bytes are for lists with a non-zero in 16 features
		packed := min(learner.Times(n, x.Features+vecmath.ByteUnit), learner.Times(nnz,
			16)+learner.Times(n, 32))
		bytes = max(learner.Times(nnz, 4+elem), packed)
	}
	// squared norms and places of the examples; a row that one is spread out to
	return bytes + learner.Times(n, 16) + learner.Times(x.Features+65, elem)
}

// AddRows adds what Fit takes of learners that go over kernel rows of elem bytes a value, of up to
// n support vectors, and so many bytes an example more.
func AddRows(f *learner.Footprint, x learner.Extent, elem, n, more int64) {
	f.Add("examples for the kernel", x.Examples, listed(x, x.Examples, x.NonZeros, elem))
	rows := min(engine.RowsBytes(x.GramBytes(), min(x.Examples, learner.Huge/64), elem),
		learner.Times(x.Examples, x.Examples+3, elem)+learner.Times(x.Examples, 256))
	f.Add("kernel rows", x.Examples, rows)
	f.Add("work space", x.Examples, learner.Plus(learner.Times(x.Examples, more),
		2*example(x)+primal.FixedBytes))
	expansionFootprint(f, x, n)
}

// expansionFootprint adds n support vectors.
func expansionFootprint(f *learner.Footprint, x learner.Extent, n int64) {
	n = min(n, x.Examples)
	nnz := min(x.NonZeros, learner.Times(n, x.Longest))
	copies := learner.Times(nnz, 4+x.Elem) + learner.Times(n, 8+8+2*x.Elem)
	x.Dense = false
	f.Add("support vectors", n, copies+listed(x, n, nnz, x.Elem)+2*example(x)+primal.FixedBytes)
	f.Copied(x, 0, copies)
}

// example bounds an example in hand: non-zeros in two forms, and spread out over all features, in
// float64 or packed.
func example(x learner.Extent) int64 {
	n := x.Features
	if x.Growing {
		n = int64(engine.Room(int(n), int(n)+1))
	}
	return learner.Times(4, primal.ListRoom(x.Longest), 4+x.Elem) + learner.Times(9, n) + n/8 + 256
}

// AddKept adds n kept examples, fewer if there are fewer. If bounded, the kernel values among them
// are kept, too; room is how many bytes their features may take, Env.Kept, or 0.
func AddKept(f *learner.Footprint, x learner.Extent, name string, n, room int64,
	bounded bool) {
	rows := TableLength(n, room, x)
	n = min(n, x.Examples)
	if n == learner.Any {
		f.Add(name+" without a limit", n, learner.Huge)
		return
	}
	features, moving, list := room, int64(0), rows // with a room tables don't move
	if room == 0 {
		features, moving = engine.PointsBytes(n, x.Longest, x.Features, x.Elem, x.Dense)
		list = primal.ListRoom(n)
	}
	f.Moving = learner.Plus(f.Moving, moving)
	// alpha, coef, number and hash; squared norm; values in T and float64, the latter with room
	f.Add(name, n, learner.Plus(features, learner.Times(list, 4*8+8+x.Elem+2*8)))
	state := learner.Times(n, x.Longest, 4+x.Elem)
	// the tightest form of what is kept takes a bit for what is an index and a value in a State
	if room > 0 {
		state = min(state, learner.Times(room, 8, 4+x.Elem))
	}
	if x.Saved {
		f.Copies = learner.Plus(f.Copies, state+learner.Times(n, 64))
	}
	if bounded {
		// the values themselves, and label, margin, count and the slice of a row
		f.Add("kernel values among them", learner.Times(n, n),
			learner.Plus(learner.Times(rows, list, 8), learner.Times(list, 24+24)))
	}
}

// TableLength returns for how many of n kept examples there are tables: with a room for their
// features these are made at once, for all that the settings allow, however few examples there are.
func TableLength(n, room int64, x learner.Extent) int64 {
	if room > 0 && n < learner.Any {
		return n
	}
	return min(n, x.Examples)
}

// AddCurrent adds the work space of learners that keep so many lists of examples: an example in
// hand for each.
func AddCurrent(f *learner.Footprint, x learner.Extent, lists int64) {
	f.Add("example in hand", lists, learner.Times(lists, example(x))+primal.FixedBytes)
	if x.Growing {
		f.Moving = learner.Plus(f.Moving, learner.Times(lists, 8, x.Features))
	}
}

// MaxKept bounds the kept examples that Traits.FitMemory sets: an example and an update go over all
// of them, at this number for milliseconds.
const MaxKept = 1 << 20

// FitMemory is Traits.FitMemory of a learner called name. It returns the settings set(n) of the
// largest n up to limit whose peak memory is at most that many bytes. A kept example takes mean
// bytes on average and largest at most; no more are kept than there are. Memory grows with n, so
// bisection finds n.
func FitMemory(name string, limit int, set func(n int) learner.Config) func(bytes int64,
	x learner.Extent, mean, largest int64) (learner.Config, error) {
	return func(bytes int64, x learner.Extent, mean, largest int64) (learner.Config, error) {
		need := func(n int) int64 {
			t := set(n).Traits()
			x.Kept = learner.KeptRoom(t.Keeps, mean, largest)
			return t.Memory(x).Peak()
		}
		most := int(max(1, min(int64(limit), x.Examples)))
		n := sort.Search(most, func(i int) bool { return need(i+1) > bytes })
		if n == 0 {
			return nil, fmt.Errorf("%s: %d bytes are too few: with one kept example it takes "+
				"%d: %w", name, max(0, bytes), need(1), learner.ErrConfig)
		}
		return set(n), nil
	}
}
