package engine

import (
	"errors"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/vecmath"
)

// Float is the element type of blocks, lanes and learners.
type Float = vecmath.Float

// Errors of [Block.Check]. They are wrapped with the example and the value.
var (
	ErrLabel   = errors.New("label is neither -1 nor +1")     // a label that a binary learner can't take
	ErrValue   = errors.New("value is not a finite number")   // NaN or Inf among the features
	ErrIndices = errors.New("feature indices do not ascend")  // also: negative, or not below Dim
	ErrShape   = errors.New("slices of the block do not fit") // lengths of Y, Ptr, Idx, Val, X, Stride, Dim
)

// Block is a run of examples in the order in which they are learned, either sparse (CSR: Ptr, Idx, Val) or dense
// (X, Stride). Features are numbered from 0. The slices may be views into larger ones: example i is
// Idx[Ptr[i]:Ptr[i+1]], or X[i*Stride : i*Stride+Dim].
//
// A block is read only once it is built; any number of goroutines may read it.
type Block[T Float] struct {
	Y   []T // labels, -1 or +1, one an example
	Dim int // features: every index is below Dim

	Ptr []int   // sparse: len(Y)+1 offsets into Idx and Val; nil in a dense block
	Idx []int32 // ascending within an example, each once
	Val []T

	X      []T // dense: row-major
	Stride int // elements from one row to the next, >= Dim

	checked bool
}

// Len returns the number of examples.
func (b *Block[T]) Len() int { return len(b.Y) }

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

// Slice returns examples [lo, hi) as a view.
func (b *Block[T]) Slice(lo, hi int) Block[T] {
	v := *b
	v.Y = b.Y[lo:hi]
	if b.Dense() {
		v.X = b.X[min(lo*b.Stride, len(b.X)):] // the last row may be shorter than the stride
	} else {
		v.Ptr = b.Ptr[lo : hi+1]
	}
	return v
}

// Check verifies shapes, labels, indices and values once; a block found good (and every Slice taken of it after) is not
// looked at again, so a writer must not change it. Cost: one pass over the non-zeros the first time.
func (b *Block[T]) Check() error {
	if b.checked {
		return nil
	}
	if err := b.check(); err != nil {
		return err
	}
	b.checked = true
	return nil
}

// MarkChecked says that the writer has itself verified what Check verifies: a reader that checks as it reads, or a copy
// of examples of a checked block.
func (b *Block[T]) MarkChecked() { b.checked = true }

// Reset empties the block for reuse as a buffer of its own (not a view), keeping its memory.
func (b *Block[T]) Reset() {
	b.Y, b.Idx, b.Val, b.X, b.Dim, b.checked = b.Y[:0], b.Idx[:0], b.Val[:0], b.X[:0], 0, false
	if b.Ptr != nil {
		b.Ptr = append(b.Ptr[:0], 0)
	}
}

func (b *Block[T]) check() error {
	for i, y := range b.Y {
		if y != 1 && y != -1 {
			return fmt.Errorf("example %d: label %v: %w", i, y, ErrLabel)
		}
	}
	n := len(b.Y)
	if b.Dim < 0 || b.Dim > math.MaxInt32 {
		return fmt.Errorf("%d features: %w", b.Dim, ErrShape)
	}
	if b.Dense() {
		if n > 0 && (b.Stride < b.Dim || len(b.X) < (n-1)*b.Stride+b.Dim) {
			return fmt.Errorf("%d rows of %d (stride %d) in %d values: %w", n, b.Dim, b.Stride, len(b.X), ErrShape)
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
		return fmt.Errorf("%d examples, %d offsets, %d indices, %d values: %w", n, len(b.Ptr), len(b.Idx), len(b.Val), ErrShape)
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
				return fmt.Errorf("example %d: index %d after %d, of %d features: %w", i, j, last, b.Dim, ErrIndices)
			}
			last = j
			if v := val[k]; v-v != 0 {
				return fmt.Errorf("example %d, feature %d: %v: %w", i, j, v, ErrValue)
			}
		}
	}
	return nil
}
