package engine

import (
	"unsafe"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// denseStore holds dense examples of any values as rows of floats.
type denseStore[T Float] struct {
	kernel *Kernel
	x      []T // n rows of stride, 64-byte aligned, zeros from the list's dim on
	stride int
}

func (s *denseStore[T]) name() string { return "dense" }

func (s *denseStore[T]) bytes() int64 { return int64(cap(s.x)) * int64(unsafe.Sizeof(T(0))) }

func (s *denseStore[T]) clone(k *Kernel) store[T] {
	x := Aligned[T](len(s.x))
	copy(x, s.x)
	return &denseStore[T]{k, x, s.stride}
}

func (s *denseStore[T]) reach() int { return s.stride }

func (s *denseStore[T]) cost() int { return 5 + s.stride/8 }

func (s *denseStore[T]) tables(n, _, features int) [3]pointTable {
	return [3]pointTable{{int64(cap(s.x)), int64(n) * int64(features), int64(unsafe.Sizeof(T(0)))}}
}

func (s *denseStore[T]) makeRoom(n, _ int) {
	if need := n * s.stride; need > cap(s.x) {
		x := Aligned[T](Room(cap(s.x), need) / s.stride * s.stride)
		s.x = x[:copy(x, s.x)]
	}
}

func (s *denseStore[T]) put(i int, idx []int32, val []T) {
	s.x = s.x[:(i+1)*s.stride]
	setFloats(s.row(i), idx, val)
}

func (s *denseStore[T]) replace(i int, idx []int32, val []T) {
	row := s.row(i)
	clear(row)
	setFloats(row, idx, val)
}

func (s *denseStore[T]) grows(int, int) int { return 0 }

func (s *denseStore[T]) row(i int) []T { return s.x[i*s.stride:][:s.stride] }

func setFloats[T Float](row []T, idx []int32, val []T) {
	for k, f := range idx {
		row[f] = val[k]
	}
}

func (s *denseStore[T]) nonZeros(idx []int32, val []T, i int) ([]int32, []T) {
	return nonZeros(idx, val, s.row(i))
}

func (s *denseStore[T]) ready(j *rowJob[T], i int) { j.widen(s.row(i)[:j.p.dim]) }

func (s *denseStore[T]) pack(j *rowJob[T]) { j.scatter(j.idx, j.val) }

func (s *denseStore[T]) values(j *rowJob[T], dst []T, sq []float64, lo int) {
	var dots [rowChunk]float64
	n := len(dst)
	vecmath.RowsDotMixed(dots[:n], s.x[lo*s.stride:], s.stride, j.x)
	kernelValues(dst, s.kernel, j.sq, sq, dots[:n])
}

func (s *denseStore[T]) wideDot(int, []float64, bool) float64 {
	panic("unreachable: an example of a list of floats has its form")
}
