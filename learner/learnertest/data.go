package learnertest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// Dense returns n examples of unit length in dim dimensions, separable by a hidden u with margin at
// least gamma. The same arguments give the same examples.
func Dense[T learner.Float](n, dim int, gamma float64) *engine.Block[T] {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(dim)))
	u := unit(rng, dim)
	// rows are not packed: strides must be honoured
	b := &engine.Block[T]{Dim: dim, Stride: dim + 3}
	for len(b.Y) < n {
		x := unit(rng, dim)
		f := dot(u, x)
		if math.Abs(f) < gamma {
			continue
		}
		b.Y = append(b.Y, T(math.Copysign(1, f)))
		for _, v := range x {
			b.X = append(b.X, T(v))
		}
		b.X = append(b.X, 7, 7, 7) // never part of an example
	}
	return b
}

// Sparse returns n examples with 0 to 12 non-zeros among dim features, of unit length, separable
// with margin at least gamma but for the all-zero ones. Values tie often, as those of 0/1 data do.
func Sparse[T learner.Float](n, dim int, gamma float64) *engine.Block[T] {
	rng := rand.New(rand.NewPCG(uint64(dim), uint64(n)))
	u := unit(rng, dim)
	b := &engine.Block[T]{Dim: dim, Ptr: []int{0}}
	for len(b.Y) < n {
		idx := rng.Perm(dim)[:rng.IntN(13)]
		slices.Sort(idx)
		v := 1 / math.Sqrt(float64(max(1, len(idx))))
		var f float64
		for _, j := range idx {
			f += v * u[j]
		}
		if math.Abs(f) < gamma && len(idx) > 0 {
			continue
		}
		b.Y = append(b.Y, T(math.Copysign(1, f)))
		for _, j := range idx {
			b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, T(v))
		}
		b.Ptr = append(b.Ptr, len(b.Idx))
	}
	return b
}

func unit(rng *rand.Rand, dim int) []float64 {
	x := make([]float64, dim)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	s := 1 / math.Sqrt(dot(x, x))
	for i := range x {
		x[i] *= s
	}
	return x
}

func dot(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += float64(v * b[i])
	}
	return s
}

// clone returns a deep copy that has not been checked yet.
func clone[T learner.Float](b *engine.Block[T]) *engine.Block[T] {
	return &engine.Block[T]{
		Y: slices.Clone(b.Y), Dim: b.Dim,
		Ptr: slices.Clone(b.Ptr), Idx: slices.Clone(b.Idx), Val: slices.Clone(b.Val),
		X: slices.Clone(b.X), Stride: b.Stride, Class: slices.Clone(b.Class),
		W: slices.Clone(b.W),
	}
}

// setClasses gives the examples two classes: 1 of the label +1, and 0.
func setClasses[T learner.Float](b *engine.Block[T]) {
	for _, y := range b.Y {
		b.Class = append(b.Class, int32((y+1)/2))
	}
}

// own returns examples [lo, hi) of a sparse block as a block whose Dim is just what they need.
func own[T learner.Float](b *engine.Block[T], lo, hi int) *engine.Block[T] {
	o := clone(b)
	v := o.Slice(lo, hi)
	v.Dim = 0
	for i := range v.Len() {
		if idx, _ := v.Sparse(i); len(idx) > 0 {
			v.Dim = max(v.Dim, int(idx[len(idx)-1])+1)
		}
	}
	return &v
}
