package primal

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
)

// CheckBlock returns what is wrong with a block for Learn with out places for results, led by the
// learner's name: of a learner that takes no weights.
func CheckBlock[T learner.Float](name string, b *engine.Block[T], out int) error {
	if err := CheckWeighted(name, b, out); err != nil {
		return err
	}
	return checkUnweighted(name, b)
}

// checkUnweighted wants weights of 1.
func checkUnweighted[T learner.Float](name string, b *engine.Block[T]) error {
	if b.Weighted() {
		return fmt.Errorf("%s: %w", name, learner.ErrWeights)
	}
	return nil
}

// CheckWeighted is CheckBlock of a learner that takes weights.
func CheckWeighted[T learner.Float](name string, b *engine.Block[T], out int) error {
	if out < b.Len() {
		return tooShort(name, b.Len(), out)
	}
	if err := b.Check(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return CheckLengths(name, b)
}

// CheckRows is CheckBlock for Score: the labels don't matter and need not be there.
func CheckRows[T learner.Float](name string, b *engine.Block[T], out int) error {
	if out < b.Len() {
		return tooShort(name, b.Len(), out)
	}
	if err := b.CheckRows(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// CheckClasses is CheckWeighted for a learner of classes.
func CheckClasses[T learner.Float](name string, b *engine.Block[T], out int) error {
	if out < b.Len() {
		return tooShort(name, b.Len(), out)
	}
	if err := b.CheckClasses(math.MaxInt32); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return CheckLengths(name, b)
}

// CheckOutputs is CheckRows for so many results an example.
func CheckOutputs[T learner.Float](name string, b *engine.Block[T], outputs, out int) error {
	if out < b.Len()*outputs {
		return tooShort(name, b.Len()*outputs, out)
	}
	return CheckRows(name, b, b.Len())
}

// tooShort is the error of a slice for results that is shorter than the block.
func tooShort(name string, n, out int) error {
	return fmt.Errorf("%s: %d places for %d examples: %w", name, out, n, learner.ErrOut)
}

// Grown returns w with zeros appended up to dim elements, with room as [engine.Room] says.
func Grown[T learner.Float](w []T, dim int) []T {
	if dim > cap(w) {
		w = append(make([]T, 0, engine.Room(cap(w), dim)), w...)
	}
	if n := len(w); n < dim {
		w = w[:dim]
		clear(w[n:])
	}
	return w
}

// Scaled returns s*w in float64: the product of a factor and the weights it stands before.
func Scaled[T learner.Float](w []T, s float64) []float64 {
	out := make([]float64, len(w))
	for i, v := range w {
		out[i] = float64(s * float64(v))
	}
	return out
}

// BytesOf returns the memory of the array behind w.
func BytesOf[T learner.Float](w []T) int64 { return int64(cap(w)) * int64(unsafe.Sizeof(*new(T))) }

// SumSq returns |x|^2 of example i, by the kernel of T, or in float64 where that may have
// overflowed (float32 ends at 2^128) or lost digits among squares below 2^-126.
func SumSq[T learner.Float](b *engine.Block[T], i int) float64 {
	_, val := b.Example(i)
	n := float64(vecmath.SumSq(val))
	if n < 0x1p-100 || n > 0x1p126 {
		return engine.SumSqOrdered(val)
	}
	return n
}

// DotMixed returns w.x of example i, products and sum in float64. Features that w does not reach
// have weight 0.
func DotMixed[T learner.Float](b *engine.Block[T], i int, w []float64) float64 {
	if b.Dense() {
		return vecmath.DotMixed(w, b.RowPrefix(i, len(w)))
	}
	idx, val := b.Sparse(i)
	if beyond(idx, len(w)) {
		idx, val = b.Prefix(i, len(w))
	}
	return vecmath.SparseDotMixed(idx, val, w)
}

// beyond reports whether an example has features from dim on. Block.Prefix asks too, but is too
// large to be inlined, and its call is a tenth of the time of an example of a dozen features.
func beyond(idx []int32, dim int) bool {
	n := len(idx)
	return n > 0 && int(idx[n-1]) >= dim
}

// SetSigned sets dst to y times example i, as far as dst goes, and returns the sum of squares of
// what is beyond, in the order of the features. Zeros are +0, of either label, so that the bits of
// dst are the same for sparse and dense examples.
func SetSigned[T learner.Float](b *engine.Block[T], i int, y float64, dst []float64) (
	beyond float64) {
	clear(dst)
	idx, val := b.Example(i)
	for n, v := range val {
		switch j := engine.FeatureOf(idx, n); {
		case j >= len(dst): // the learner has no weight for it
			beyond = math.FMA(float64(v), float64(v), beyond)
		case v != 0:
			dst[j] = float64(y * float64(v))
		}
	}
	return beyond
}

// ExampleUpTo is Block.Example without the features from dim on.
func ExampleUpTo[T learner.Float](b *engine.Block[T], i, dim int) (idx []int32, val []T) {
	if b.Dense() {
		return nil, b.RowPrefix(i, dim)
	}
	return b.Prefix(i, dim)
}

// SumSqInFour returns |x|^2 of example i in float64, in four partial sums of every fourth value,
// which a CPU adds at the same time: a plain loop, of one order on every CPU.
func SumSqInFour[T learner.Float](b *engine.Block[T], i int) float64 {
	var x []T
	if b.Dense() {
		x = b.Row(i)
	} else {
		_, x = b.Sparse(i)
	}
	var p [4]float64
	for ; len(x) >= 4; x = x[4:] {
		for k, v := range x[:4] {
			p[k] += float64(float64(v) * float64(v))
		}
	}
	for k, v := range x { // the last three at most
		p[k] += float64(float64(v) * float64(v))
	}
	return (p[0] + p[2]) + (p[1] + p[3])
}

// valuesOf returns all values of b, with what lies between its rows if it is dense.
func valuesOf[T learner.Float](b *engine.Block[T]) []T {
	n := b.Len()
	if b.Dense() {
		return b.X[:(n-1)*b.Stride+b.Dim]
	}
	return b.Val[b.Ptr[0]:b.Ptr[n]]
}

// DotFull returns w.x of example i in float64, w reaching all features of b: without the look for
// features beyond w of [DotMixed].
func DotFull[T learner.Float](b *engine.Block[T], i int, w []float64) float64 {
	if b.Dense() {
		return vecmath.DotMixed(w[:b.Dim], b.Row(i))
	}
	idx, val := b.Sparse(i)
	return vecmath.SparseDotMixed(idx, val, w)
}

// AddFull adds a times example i to w, which reaches all features of b.
func AddFull[T learner.Float](b *engine.Block[T], i int, a float64, w []float64) {
	if b.Dense() {
		vecmath.AxpyMixed(w[:b.Dim], a, b.Row(i))
		return
	}
	idx, val := b.Sparse(i)
	vecmath.SparseAxpyMixed(w, a, idx, val)
}
