package ensemble

import (
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// DenseMembers holds the weights of an ensemble's members for dense examples: one row a member, so
// that a few listed members, or one, can be multiplied by an example at the speed of their memory.
//
// Memory: one row of weights a member, padded to 64 bytes. Not safe for concurrent use, but
// distinct rows may be worked on at the same time.
type DenseMembers[T engine.Float] struct {
	w       []T // members x stride, 64-byte aligned
	members int
	dim     int
	stride  int // of rows: dim padded to a multiple of 64 bytes
}

// NewDenseMembers returns DenseMembers of no features.
func NewDenseMembers[T engine.Float](members int) *DenseMembers[T] {
	return &DenseMembers[T]{members: members}
}

// Grow makes room for at least dim features; new ones have weight 0. Cost: a copy of all weights if
// the padding is used up.
func (d *DenseMembers[T]) Grow(dim int) {
	if dim <= d.dim {
		return
	}
	if dim > d.stride {
		stride := padded[T](dim)
		w := engine.Aligned[T](d.members * stride)
		for m := range d.members {
			copy(w[m*stride:], d.Row(m))
		}
		d.w, d.stride = w, stride
	}
	d.dim = dim
}

// Dim returns the number of features.
func (d *DenseMembers[T]) Dim() int { return d.dim }

// Row returns the weights of member m, one a feature.
func (d *DenseMembers[T]) Row(m int) []T { return d.w[m*d.stride:][:d.dim:d.dim] }

// Scores sets dst[k] to the scores of an example x of at most as many features as there are by the
// listed members.
func (d *DenseMembers[T]) Scores(dst []T, members []int32, x []T) {
	vecmath.RowsDotAt(dst, d.w, d.stride, members, x)
}

// Column sets dst[m] to the weight of feature j in member m and reports whether any is not +0, bit
// for bit.
func (d *DenseMembers[T]) Column(dst []T, j int) bool {
	dst = dst[:d.members]
	if j >= d.dim {
		clear(dst)
		return false
	}
	for m := range dst {
		dst[m] = d.w[m*d.stride+j]
	}
	return anyBits(dst)
}

// SetColumn sets the weights of feature j, growing as needed.
func (d *DenseMembers[T]) SetColumn(j int, src []T) {
	d.Grow(j + 1)
	for m, v := range src[:d.members] {
		d.w[m*d.stride+j] = v
	}
}

// Scale multiplies all weights of member m by f.
func (d *DenseMembers[T]) Scale(m int, f T) {
	for i, row := 0, d.Row(m); i < len(row); i++ {
		row[i] *= f
	}
}

// SumSq returns the sum of the squares of member m's weights, as [Lanes.SumSq].
func (d *DenseMembers[T]) SumSq(m int) float64 { return engine.SumSqOrdered(d.Row(m)) }

// Bytes returns the memory in use, in bytes.
func (d *DenseMembers[T]) Bytes() int64 { return int64(len(d.w)) * int64(unsafe.Sizeof(T(0))) }
