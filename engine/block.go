package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// Float is the element type of blocks, lanes and learners.
type Float interface{ float32 | float64 }

// Errors of [Block.Check] and [Block.CheckRows]. They are wrapped with the example and the value.
var (
	// a label that a binary learner can't take; also: none
	ErrLabel = errors.New("label is neither -1 nor +1")
	ErrValue = errors.New("value is not a finite number") // NaN or Inf among the features
	// negative, not below Dim, or not above the one before it
	ErrIndices = errors.New("bad feature index")
	// lengths of Y, Ptr, Idx, Val, X, Stride, Dim
	ErrShape = errors.New("slices of the block do not fit")
	// NaN, infinite or negative, or not as many as examples
	ErrWeight = errors.New("weight is not a finite number of 0 or more")
)

// Block is a run of examples in the order in which they are learned, either sparse (CSR: Ptr, Idx,
// Val) or dense (X, Stride). Features are numbered from 0. The slices may be views into larger
// ones: example i is Idx[Ptr[i]:Ptr[i+1]], or X[i*Stride : i*Stride+Dim].
//
// A block without labels has Y nil, or zeros in Y. It can be scored, but not learned. Of more than
// two classes, Class numbers that of each example.
//
// A block is read only once it is built; any number of goroutines may read and check it.
type Block[T Float] struct {
	Y   []T // labels, -1 or +1, one an example; nil for none
	Dim int // features: every index is below Dim

	Ptr []int   // sparse: len(Y)+1 offsets into Idx and Val; nil in a dense block
	Idx []int32 // ascending within an example, each once
	Val []T

	X      []T // dense: row-major
	Stride int // elements from one row to the next, >= Dim

	Class []int32 // number of the class, from 0, one an example; nil for none

	// weights, how much each example counts in learning, finite and 0 or more; none (nil or empty)
	// for 1 each. An example of weight 0 is scored and not learned. Scores don't depend on weights.
	W []T

	from  *ByteRows[T] // dense: what X was widened from, or nil, see RowApart
	at    []int32      // the rows' numbers there; nil: those from first on
	first int

	// what has been checked; atomic, since readers of one block may check it at the same time
	checked uint32
	ones    uint32 // likewise, see Ones: 0 for not asked yet, onesOnly or onesNot
	equal   uint32 // likewise, of W, see Weighted
}

const (
	onesOnly = 1 + iota
	onesNot
)

// What has been checked of a block: nothing yet, all but its labels, all.
const (
	rowsChecked = 1 + iota
	allChecked
)

// Len returns the number of examples. A dense block without labels has as many as whole rows fit
// into X.
func (b *Block[T]) Len() int {
	if b.Y != nil {
		return len(b.Y)
	}
	return b.rows()
}

// rows is Len without labels, apart so that Len can be inlined.
func (b *Block[T]) rows() int {
	switch {
	case b.Ptr != nil:
		return max(0, len(b.Ptr)-1)
	case b.Stride > 0 && b.Dim > 0 && len(b.X) >= b.Dim:
		return (len(b.X)-b.Dim)/b.Stride + 1
	}
	return 0
}

// Dense reports whether the examples are rows of X.
func (b *Block[T]) Dense() bool { return b.Ptr == nil }

// Sparse returns the non-zeros of example i of a sparse block.
func (b *Block[T]) Sparse(i int) (idx []int32, val []T) {
	lo, hi := b.Ptr[i], b.Ptr[i+1]
	return b.Idx[lo:hi:hi], b.Val[lo:hi:hi]
}

// Row returns example i of a dense block, Dim elements.
func (b *Block[T]) Row(i int) []T {
	lo := i * b.Stride
	return b.X[lo : lo+b.Dim : lo+b.Dim]
}

// RowApart is Row for a core other than the one that made the block: where that was made by
// [ByteRows], the example is widened once more, into room, which grows as needed. Else each core
// would take the rows from the other's cache, and to write there again takes that core longer than
// to widen, some 15 ns for 64 bytes.
func (b *Block[T]) RowApart(room *[]T, i int) []T {
	if b.from == nil {
		return b.Row(i)
	}
	if len(*room) < b.Stride {
		*room = Aligned[T](b.Stride)
	}
	b.from.row((*room)[:b.Stride], b.number(i))
	return (*room)[:b.Dim]
}

// number is the number of example i in b.from.
func (b *Block[T]) number(i int) int {
	if b.at != nil {
		return int(b.at[i])
	}
	return b.first + i
}

// Example returns the values of example i and the features they belong to; no features (nil) stand
// for 0, 1, 2, ..., see [FeatureOf]. An example without non-zeros has neither.
func (b *Block[T]) Example(i int) (idx []int32, val []T) {
	if b.Dense() {
		return nil, b.Row(i)
	}
	if idx, val = b.Sparse(i); len(idx) == 0 {
		return nil, nil
	}
	return idx, val
}

// NonZeros returns how many values example i stores: the non-zeros of a sparse example, Dim of a
// dense one.
func (b *Block[T]) NonZeros(i int) int {
	if b.Ptr == nil {
		return b.Dim
	}
	return b.Ptr[i+1] - b.Ptr[i]
}

// Prefix returns the non-zeros of example i of a sparse block whose features are below dim: what a
// learner of dim features knows of it. Cost: that of Sparse where all are, else a binary search.
func (b *Block[T]) Prefix(i, dim int) (idx []int32, val []T) {
	idx, val = b.Sparse(i)
	if n := len(idx); n > 0 && int(idx[n-1]) >= dim {
		n, _ = slices.BinarySearch(idx, int32(dim))
		return idx[:n:n], val[:n:n]
	}
	return idx, val
}

// RowPrefix is Row without the features from dim on.
func (b *Block[T]) RowPrefix(i, dim int) []T {
	lo := i * b.Stride
	hi := lo + min(dim, b.Dim)
	return b.X[lo:hi:hi]
}

// At returns the value of feature j of example i, 0 for one that a sparse example doesn't store or
// that is not below Dim. Cost: a binary search in a sparse example; loops use Sparse or Row.
func (b *Block[T]) At(i, j int) T {
	if j < 0 || j >= b.Dim {
		return 0
	}
	if b.Ptr == nil {
		return b.X[i*b.Stride+j]
	}
	idx, val := b.Sparse(i)
	if k, ok := slices.BinarySearch(idx, int32(j)); ok {
		return val[k]
	}
	return 0
}

// Slice returns examples [lo, hi) as a view.
func (b *Block[T]) Slice(lo, hi int) Block[T] {
	v := Block[T]{Dim: b.Dim, Stride: b.Stride, checked: atomic.LoadUint32(&b.checked)}
	if b.Y != nil {
		v.Y = b.Y[lo:hi]
	}
	if b.Class != nil {
		v.Class = b.Class[min(lo, len(b.Class)):min(hi, len(b.Class))]
	}
	if len(b.W) > 0 {
		v.W = b.W[min(lo, len(b.W)):min(hi, len(b.W))]
		if equal := atomic.LoadUint32(&b.equal); equal == onesOnly {
			v.equal = equal
		}
	}
	if !b.Dense() {
		v.Ptr, v.Idx, v.Val = b.Ptr[lo:hi+1], b.Idx, b.Val
		if ones := atomic.LoadUint32(&b.ones); ones == onesOnly {
			v.ones = ones
		}
		return v
	}
	v.X = b.X[min(lo*b.Stride, len(b.X)):] // the last row may be shorter than the stride
	if b.Y == nil {                        // the rows count the examples
		v.X = v.X[:min((hi-lo)*b.Stride, len(v.X))]
	}
	if v.from, v.first = b.from, b.first+lo; b.at != nil {
		v.at = b.at[lo:hi]
	}
	return v
}

// Ones reports whether all values of a sparse block are 1, as where features are there or not. That
// is found once, as by Check: every Slice taken after knows it of a block of ones. The block has
// been checked. Cost: one pass over the values the first time, up to one that is not 1.
func (b *Block[T]) Ones() bool {
	ones := atomic.LoadUint32(&b.ones)
	if ones == 0 {
		ones = onesOnly
		if b.Dense() || !allOnes(b.Val[b.Ptr[0]:b.Ptr[b.Len()]]) {
			ones = onesNot
		}
		atomic.StoreUint32(&b.ones, ones)
	}
	return ones == onesOnly
}

// Weight returns the weight of example i.
func (b *Block[T]) Weight(i int) T {
	if len(b.W) == 0 {
		return 1
	}
	return b.W[i]
}

// Reweigh replaces the weights of a block of its own memory, before it is shared.
func (b *Block[T]) Reweigh(w []T) {
	b.W = w
	atomic.StoreUint32(&b.equal, 0)
}

// Reweighted returns all examples as a view, with those weights.
func (b *Block[T]) Reweighted(w []T) Block[T] {
	v := b.Slice(0, b.Len())
	v.W, v.equal = w, 0
	return v
}

// Weighted reports whether any example has a weight other than 1. That is found once, as by Check:
// every Slice taken after knows it of a block whose weights are 1. Cost: one pass over W the first
// time, up to one that is not 1.
func (b *Block[T]) Weighted() bool {
	if len(b.W) == 0 {
		return false
	}
	equal := atomic.LoadUint32(&b.equal)
	if equal == 0 {
		equal = onesOnly
		if !allOnes(b.W) {
			equal = onesNot
		}
		atomic.StoreUint32(&b.equal, equal)
	}
	return equal == onesNot
}

// allOnes looks at a piece after the other: the kernel goes through all that it gets.
func allOnes[T Float](val []T) bool {
	const piece = 4096
	for ; len(val) > piece; val = val[piece:] {
		if !vecmath.AllOnes(val[:piece]) {
			return false
		}
	}
	return vecmath.AllOnes(val)
}

// MarkOnes says that all values are 1: of a copy of examples of a block that has Ones.
func (b *Block[T]) MarkOnes() { atomic.StoreUint32(&b.ones, onesOnly) }

// Check verifies shapes, labels, weights, indices and values once, and finds out Ones; a block
// found good (and every Slice taken of it after) is not looked at again, so a writer must not
// change it. Cost: one pass over the non-zeros the first time.
func (b *Block[T]) Check() error {
	done := atomic.LoadUint32(&b.checked)
	if done == allChecked {
		return nil
	}
	if done != rowsChecked {
		if err := b.checkRows(); err != nil {
			return err
		}
	}
	if err := b.checkLabels(); err != nil {
		return err
	}
	if !b.Dense() {
		b.Ones()
	}
	atomic.StoreUint32(&b.checked, allChecked)
	return nil
}

// CheckClasses is Check for a learner of k classes: Class has a number in [0, k) for each example.
// Y is not looked at, but says how many examples there are unless it is nil. Errors wrap ErrLabel
// or ErrWeight, or are those of CheckRows. Cost: that of CheckRows, and a pass over Class and W
// each time.
func (b *Block[T]) CheckClasses(k int) error {
	if err := b.CheckRows(); err != nil {
		return err
	}
	if n := b.Len(); len(b.Class) != n {
		return fmt.Errorf("%d examples, %d class numbers: %w", n, len(b.Class), ErrLabel)
	}
	for i, c := range b.Class {
		if c < 0 || int(c) >= k {
			return fmt.Errorf("example %d: class %d of %d: %w", i, c, k, ErrLabel)
		}
	}
	return b.checkWeights()
}

// checkWeights wants a weight for each example, or none.
func (b *Block[T]) checkWeights() error {
	if n := b.Len(); len(b.W) != 0 && len(b.W) != n {
		return fmt.Errorf("%d examples, %d weights: %w", n, len(b.W), ErrWeight)
	}
	for i, w := range b.W {
		if !(w >= 0) || w-w != 0 {
			return fmt.Errorf("example %d: weight %v: %w", i, w, ErrWeight)
		}
	}
	return nil
}

// CheckRows is Check without a look at the labels, which need not be there: what scoring asks for.
func (b *Block[T]) CheckRows() error {
	if atomic.LoadUint32(&b.checked) != 0 {
		return nil
	}
	if err := b.checkRows(); err != nil {
		return err
	}
	atomic.CompareAndSwapUint32(&b.checked, 0, rowsChecked) // a Check beside this one may know more
	return nil
}

// MarkChecked says that the writer has itself verified what Check verifies: a reader that checks as
// it reads, or a copy of examples of a checked block.
func (b *Block[T]) MarkChecked() { atomic.StoreUint32(&b.checked, allChecked) }

// markAs says that the writer has copied the examples of a block, of which as much has been
// checked.
func (b *Block[T]) markAs(of *Block[T]) {
	atomic.StoreUint32(&b.checked, atomic.LoadUint32(&of.checked))
}

// Copy makes b the same examples as another block, in memory of its own, which it uses again when
// it was a copy before.
func (b *Block[T]) Copy(of *Block[T]) {
	n := of.Len()
	c := Block[T]{Dim: of.Dim, Stride: of.Stride, Idx: b.Idx[:0], Val: b.Val[:0], X: b.X[:0]}
	if of.Y != nil {
		c.Y = append(b.Y[:0], of.Y...)
	}
	if of.Class != nil {
		c.Class = append(b.Class[:0], of.Class...)
	}
	if len(of.W) > 0 {
		c.W = append(b.W[:0], of.W...)
	}
	if of.Dense() {
		c.X = append(c.X, of.X[:min(n*of.Stride, len(of.X))]...)
	} else {
		lo, hi := of.Ptr[0], of.Ptr[n]
		c.Ptr = slices.Grow(b.Ptr[:0], n+1)
		for _, p := range of.Ptr[:n+1] {
			c.Ptr = append(c.Ptr, p-lo)
		}
		c.Idx, c.Val = append(c.Idx, of.Idx[lo:hi]...), append(c.Val, of.Val[lo:hi]...)
	}
	c.markAs(of)
	if atomic.LoadUint32(&of.ones) == onesOnly {
		c.MarkOnes()
	}
	*b = c
}

// Reset empties the block for reuse as a buffer of its own (not a view), keeping its memory.
func (b *Block[T]) Reset() {
	b.Y, b.Idx, b.Val, b.X, b.Dim, b.checked = b.Y[:0], b.Idx[:0], b.Val[:0], b.X[:0], 0, 0
	b.ones, b.equal = 0, 0
	b.W = b.W[:0]
	b.Class, b.from, b.at = b.Class[:0], nil, nil
	if b.Ptr != nil {
		b.Ptr = append(b.Ptr[:0], 0)
	}
}

func (b *Block[T]) checkLabels() error {
	if n := b.Len(); len(b.Y) != n {
		return fmt.Errorf("%d examples without labels: %w", n, ErrLabel)
	}
	for i, y := range b.Y {
		if y != 1 && y != -1 {
			return fmt.Errorf("example %d: label %v: %w", i, y, ErrLabel)
		}
	}
	if b.Class != nil && len(b.Class) != len(b.Y) {
		return fmt.Errorf("%d examples, %d class numbers: %w", len(b.Y), len(b.Class), ErrLabel)
	}
	for i, c := range b.Class {
		if c < 0 {
			return fmt.Errorf("example %d: class %d: %w", i, c, ErrLabel)
		}
	}
	return b.checkWeights()
}

func (b *Block[T]) checkRows() error {
	n := b.Len()
	if b.Dim < 0 || b.Dim > math.MaxInt32 {
		return fmt.Errorf("%d features: %w", b.Dim, ErrShape)
	}
	if b.Dense() {
		if n > 0 && (b.Stride < b.Dim || len(b.X) < (n-1)*b.Stride+b.Dim) {
			return fmt.Errorf("%d rows of %d (stride %d) in %d values: %w", n, b.Dim, b.Stride,
				len(b.X), ErrShape)
		}
		for i := range n {
			for j, v := range b.Row(i) {
				if v-v != 0 {
					return fmt.Errorf("example %d, feature %d: %v: %w", i, j, v, ErrValue)
				}
			}
		}
		return nil
	}
	if len(b.Ptr) != n+1 || len(b.Idx) != len(b.Val) || b.Ptr[0] < 0 || b.Ptr[n] > len(b.Idx) {
		return fmt.Errorf("%d examples, %d offsets, %d indices, %d values: %w", n, len(b.Ptr),
			len(b.Idx), len(b.Val), ErrShape)
	}
	for i := range n {
		if b.Ptr[i] > b.Ptr[i+1] {
			return fmt.Errorf("example %d: offsets %d, %d: %w", i, b.Ptr[i], b.Ptr[i+1], ErrShape)
		}
	}
	for i := range n { // all offsets are within Idx now
		idx, val := b.Sparse(i)
		last := int32(-1)
		for k, j := range idx {
			if j <= last || int(j) >= b.Dim {
				return fmt.Errorf("example %d: %s: %w", i, indexFault(j, last, b.Dim), ErrIndices)
			}
			last = j
			if v := val[k]; v-v != 0 {
				return fmt.Errorf("example %d, feature %d: %v: %w", i, j, v, ErrValue)
			}
		}
	}
	return nil
}

// indexFault says what is wrong with index j after last (-1 for none) of dim features.
func indexFault(j, last int32, dim int) string {
	switch {
	case j < 0:
		return fmt.Sprintf("index %d is negative", j)
	case int(j) >= dim:
		return fmt.Sprintf("index %d of %d features, which end at %d", j, dim, dim-1)
	case j == last:
		return fmt.Sprintf("index %d comes twice", j)
	}
	return fmt.Sprintf("index %d after %d: they must ascend", j, last)
}
