package learners

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// ErrMemory is returned by Learn for an example that is to be kept and whose features have no room
// within Env.Kept. The examples of the block before it were learned, and the state is as after
// them.
var ErrMemory = errors.New("no room for the features of one more example")

// Extent tells how much data a learner meets: all that decides how much memory it takes.
type Extent struct {
	Features int64 // indices are below
	Examples int64 // that are learned in all; Any where that isn't known
	NonZeros int64 // of all of them, zeros that are stored included; Any where that isn't known
	Longest  int64 // most non-zeros of an example
	Elem     int64 // bytes of an element: 4 or 8
	Dense    bool
	// features come while it learns, so that tables move; else the first block has them all
	Growing bool
	Kept    int64 // Env.Kept
	Whole   bool  // the examples go to Fit, with these FitOptions:
	Gram    int64 // GramBytes, as it is given there
	Soft    bool  // Delta > 0
	Saved   bool  // a State is taken, as for a model file
}

// Any is an amount that nobody knows, or that has no bound.
const Any = math.MaxInt64

// MemoryPart is what some things of a learner take together.
type MemoryPart struct {
	Name  string `json:"name"`
	Items int64  `json:"items"` // how many there are
	Bytes int64  `json:"bytes"`
}

// Footprint is the memory that a learner takes, at most, in bytes. Sums that are beyond all
// memories are 2^56 or more.
type Footprint struct {
	Parts  []MemoryPart // held for good
	Moving int64        // beside them, while tables that grow are there twice
	Copies int64        // beside them, what Weights returns, and State if that is taken
	Each   int64        // of the parts, what is gone over for each example
}

// Held adds up the parts.
func (f Footprint) Held() (bytes int64) {
	for _, p := range f.Parts {
		bytes = plus(bytes, p.Bytes)
	}
	return bytes
}

// Peak is the most that is held at once: while tables move, or a State or the weights are looked
// at.
func (f Footprint) Peak() int64 { return plus(f.Held(), max(f.Moving, f.Copies)) }

// KeepingConfig is a Config of a learner that may keep examples.
type KeepingConfig interface {
	Config
	// Keeps returns how many examples are kept at most: 0 if none are, Any without a limit.
	Keeps() int64
	// FitMemory returns a copy with the largest numbers of examples, in their present proportions,
	// for which all that is held takes up to that many bytes, with room for the features of kept
	// examples of those mean and largest sizes; see KeptExample and KeptRoom. The error wraps
	// ErrConfig if not even one has room.
	FitMemory(bytes int64, x Extent, mean, largest int64) (Config, error)
}

// KeptExample returns the mean and the largest number of bytes of a kept example of such a kind as
// those of b, of which there is at least one. Both are 0 for a learner that keeps none.
func KeptExample[T Float](c Config, b *engine.Block[T]) (mean, largest int64, err error) {
	k, ok := c.(interface{ kernel() engine.Kernel })
	if keeping, keeps := c.(KeepingConfig); !ok || !keeps || keeping.Keeps() == 0 || b.Len() == 0 {
		return 0, 0, nil
	}
	list, err := engine.NewPoints[T](k.kernel())
	if err != nil {
		return 0, 0, err
	}
	list.Append(b, 0, b.Len())
	n := int64(b.Len())
	mean = (list.Bytes() + n - 1) / n
	largest = mean
	if list.Form() == "csr" {
		largest = max(mean, longest(b)*(4+int64(unsafe.Sizeof(T(0))))+16)
	}
	return mean, largest, nil
}

// longest returns the most non-zeros of an example.
func longest[T Float](b *engine.Block[T]) (most int64) {
	if b.Dense() {
		return int64(b.Dim)
	}
	for i := range b.Len() {
		most = max(most, int64(b.Ptr[i+1]-b.Ptr[i]))
	}
	return most
}

// KeptRoom is an Env.Kept for n examples of these mean and largest bytes. What is kept may be
// larger than the mean by half, and few examples by as much as the largest among them is; and while
// the list grows by a quarter it is there twice.
func KeptRoom(n, mean, largest int64) int64 {
	spread := float64(mean) * float64(n)
	spread = min(float64(largest)*float64(n), 1.5*spread+float64(largest)*math.Sqrt(float64(n)))
	return capped(2.25*spread) + keptLeast
}

// keptLeast is room for the tables of kernel values that a list of few features has.
const keptLeast = 32 << 10

// huge bounds all amounts, so that some of them can be added up.
const huge = 1 << 56

func capped(bytes float64) int64 { return int64(min(bytes, huge)) }

// times multiplies.
func times(a ...int64) int64 {
	p := 1.0
	for _, v := range a {
		p *= float64(v)
	}
	return capped(p)
}

func plus(a, b int64) int64 { return min(huge, min(a, huge)+min(b, huge)) }

// spare is n with the most that append or Grow adds to a small list.
func spare(n int64) int64 { return 2*n + 16 }

// add adds a part.
func (f *Footprint) add(name string, items, bytes int64) {
	f.Parts = append(f.Parts, MemoryPart{name, items, bytes})
}

// copied notes copies: of so many bytes a feature that Weights returns, and of those of a State.
func (f *Footprint) copied(x Extent, weights, state int64) {
	f.Copies = max(f.Copies, times(x.Features, weights))
	if x.Saved {
		f.Copies = max(f.Copies, state)
	}
}

// tables adds tables that take so many bytes a feature.
func (f *Footprint) tables(x Extent, name string, bytes int64) {
	n := x.Features
	if x.Growing {
		f.Moving = plus(f.Moving, times(bytes, n))
		n = int64(engine.Room(int(n), int(n)+1))
	}
	f.add(name, x.Features, times(bytes, n))
}

// fixed is what a learner takes whatever the data: its own struct.
const fixed = 8 << 10

// linearFootprint is that of one weight a feature, and of so many bytes more.
func linearFootprint(x Extent, more int64) Footprint {
	var f Footprint
	state := x.Elem
	if more > 0 {
		state = more
	}
	f.copied(x, 8, times(x.Features, state))
	f.tables(x, "weights", x.Elem+more)
	f.add("work space", 1, fixed)
	return f
}

// cycled adds what Fit takes of learners that pass over scores or weights; see cycle.
func (f *Footprint) cycled(x Extent) {
	if !x.Whole {
		return
	}
	f.add("scores and dual coefficients", x.Examples, times(x.Examples, 5*8))
	f.add("weights in float64", x.Features, times(x.Features, 5*8))
	cut := times(plus(x.Examples, x.Features), 3*8) // where it was stopped is part of the State
	f.add("place to go on at", 1, cut)
	f.Copies = plus(f.Copies, cut)
	if gram := times(8, x.Examples, (x.Examples+7)&^7); gram <= x.gram() {
		f.add("inner products", times(x.Examples, x.Examples), gram)
	}
}

// passed adds what Fit takes of learners that pass over the examples by their weights; see passes.
func (f *Footprint) passed(x Extent) {
	if x.Whole {
		f.add("scores and dual coefficients", x.Examples, times(x.Examples, 4*8))
	}
}

// gram is the GramBytes that Fit works with.
func (x Extent) gram() int64 {
	if x.Gram == 0 {
		return DefaultGramBytes
	}
	return max(0, x.Gram)
}

// listed bounds engine.Points of n examples that came at once, nnz non-zeros together.
func (x Extent) listed(n, nnz, elem int64) int64 {
	bytes := times(n, x.Features*elem+64)
	if !x.Dense { // rows of packed bytes are for lists with a non-zero in 16 features
		packed := min(times(n, x.Features+vecmath.ByteUnit), times(nnz, 16)+times(n, 32))
		bytes = max(times(nnz, 4+elem), packed)
	}
	return bytes + times(n, 16) + times(x.Features+65, elem)
}

// rows adds what Fit takes of learners that go over kernel rows of elem bytes a value, of up to n
// support vectors, and so many bytes an example more.
func (f *Footprint) rows(x Extent, elem, n, more int64) {
	f.add("examples for the kernel", x.Examples, x.listed(x.Examples, x.NonZeros, elem))
	rows := min(engine.RowsBytes(x.gram(), min(x.Examples, huge/64), elem),
		times(x.Examples, x.Examples+3, elem)+times(x.Examples, 256))
	f.add("kernel rows", x.Examples, rows)
	f.add("work space", x.Examples, plus(times(x.Examples, more), 2*example(x)+fixed))
	f.expansion(x, n)
}

// expansion adds n support vectors.
func (f *Footprint) expansion(x Extent, n int64) {
	n = min(n, x.Examples)
	nnz := min(x.NonZeros, times(n, x.Longest))
	copies := times(nnz, 4+x.Elem) + times(n, 8+8+2*x.Elem)
	x.Dense = false
	f.add("support vectors", n, copies+x.listed(n, nnz, x.Elem)+2*example(x)+fixed)
	f.copied(x, 0, copies)
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
func (f *Footprint) kept(x Extent, name string, n, room int64, bounded bool) {
	rows := reserved(n, room, x)
	n = min(n, x.Examples)
	if n == Any {
		f.add(name+" without a limit", n, huge)
		return
	}
	held, moving, list := room, int64(0), rows
	if room == 0 {
		held, moving = engine.PointsBytes(n, x.Longest, x.Features, x.Elem, x.Dense)
		list = spare(n)
	}
	f.Moving = plus(f.Moving, moving)
	f.add(name, n, plus(held, times(list, 4*8+8+x.Elem+2*8)))
	state := times(n, x.Longest, 4+x.Elem)
	// the tightest form of what is kept takes a bit for what is an index and a value in a State
	if room > 0 {
		state = min(state, times(room, 8, 4+x.Elem))
	}
	if x.Saved {
		f.Copies = plus(f.Copies, state+times(n, 64))
	}
	if bounded {
		f.add("kernel values among them", times(n, n),
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
func (f *Footprint) inHand(x Extent, lists int64) {
	f.add("example in hand", lists, times(lists, example(x))+fixed)
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
	set func(n int) KeepingConfig) (Config, error) {
	limit = int(max(1, min(int64(limit), x.Examples)))
	n, err := mostThatFit(learner, bytes, limit, func(n int) int64 {
		c := set(n)
		x.Kept = KeptRoom(c.Keeps(), mean, largest)
		return c.Memory(x).Peak()
	})
	if err != nil {
		return nil, err
	}
	return set(n), nil
}
