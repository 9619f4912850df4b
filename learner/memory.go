package learner

import (
	"errors"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
)

// ErrMemory is returned by Learn for an example that is to be kept and whose features have no room
// within Env.Kept. The examples of the block before it were learned, and the state is as after
// them.
var ErrMemory = errors.New("no room for the features of one more example")

// Extent says how much data a learner meets: all that decides how much memory it takes.
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
	Classes int64 // of a learner of classes (Traits.Classes): how many come; 0 is not known
}

// Any is an amount that is not known, or that has no bound.
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
	Parts  []MemoryPart // in use as long as the learner is
	Moving int64        // beside them, while tables that grow are there twice
	Copies int64        // beside them, what Weights returns, and State if that is taken
	Each   int64        // of the parts, what is gone over for each example
}

// Held adds up the parts.
func (f Footprint) Held() (bytes int64) {
	for _, p := range f.Parts {
		bytes = Plus(bytes, p.Bytes)
	}
	return bytes
}

// Peak is the most that is in use at once: while tables move, or a State or the weights are looked
// at.
func (f Footprint) Peak() int64 { return Plus(f.Held(), max(f.Moving, f.Copies)) }

// KeptExample returns the mean and the largest number of bytes of an example, kept by a learner of
// those settings, of such a kind as those of b, of which there is at least one. Both are 0 for a
// learner that keeps none.
func KeptExample[T Float](c Config, b *engine.Block[T]) (mean, largest int64, err error) {
	t, n := c.Traits(), int64(b.Len())
	if t.Keeps == 0 || n == 0 {
		return 0, 0, nil
	}
	elem := int64(unsafe.Sizeof(T(0)))
	if w := t.KeptWidth; w > 0 {
		held, _ := engine.PointsBytes(n, w, w, elem, true)
		mean = (held + n - 1) / n
		return mean, mean, nil
	}
	list, err := engine.NewPoints[T](t.Kept)
	if err != nil {
		return 0, 0, err
	}
	list.Append(b, 0, b.Len())
	mean = (list.Bytes() + n - 1) / n
	largest = mean
	if list.Form() == "csr" {
		largest = max(mean, longest(b)*(4+elem)+16)
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

// Huge bounds all amounts of memory, so that some of them can be added up.
const Huge = 1 << 56

func capped(bytes float64) int64 { return int64(min(bytes, Huge)) }

// Times multiplies amounts of memory, up to Huge.
func Times(a ...int64) int64 {
	p := 1.0
	for _, v := range a {
		p *= float64(v)
	}
	return capped(p)
}

// Plus adds two amounts of memory, up to Huge.
func Plus(a, b int64) int64 { return min(Huge, min(a, Huge)+min(b, Huge)) }

// Add adds a part.
func (f *Footprint) Add(name string, items, bytes int64) {
	f.Parts = append(f.Parts, MemoryPart{name, items, bytes})
}

// Copied notes copies: of so many bytes a feature that Weights returns, and of those of a State.
func (f *Footprint) Copied(x Extent, weights, state int64) {
	f.Copies = max(f.Copies, Times(x.Features, weights))
	if x.Saved {
		f.Copies = max(f.Copies, state)
	}
}

// Tables adds tables that take so many bytes a feature.
func (f *Footprint) Tables(x Extent, name string, bytes int64) {
	n := x.Features
	if x.Growing {
		f.Moving = Plus(f.Moving, Times(bytes, n))
		n = int64(engine.Room(int(n), int(n)+1))
	}
	f.Add(name, x.Features, Times(bytes, n))
}

// GramBytes is the GramBytes that Fit works with.
func (x Extent) GramBytes() int64 {
	if x.Gram == 0 {
		return DefaultGramBytes
	}
	return max(0, x.Gram)
}
