package engine

import (
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// csrStore holds the non-zeros of sparse examples of any values, one example after the other.
type csrStore[T Float] struct {
	kernel *Kernel
	ptr    []int // where each example begins, and the end of the last
	idx    []int32
	val    []T
}

func (s *csrStore[T]) name() string { return "csr" }

func (s *csrStore[T]) bytes() int64 {
	return int64(cap(s.ptr))*8 + int64(cap(s.idx))*4 + int64(cap(s.val))*int64(unsafe.Sizeof(T(0)))
}

func (s *csrStore[T]) clone(k *Kernel) store[T] {
	return &csrStore[T]{k, slices.Clone(s.ptr), slices.Clone(s.idx), slices.Clone(s.val)}
}

func (s *csrStore[T]) reach() int { return math.MaxInt }

func (s *csrStore[T]) cost() int { return 5 + len(s.val)/max(1, len(s.ptr)-1) }

func (s *csrStore[T]) tables(n, nnz, _ int) [3]pointTable {
	return [3]pointTable{{int64(cap(s.idx)), int64(nnz), 4},
		{int64(cap(s.val)), int64(nnz), int64(unsafe.Sizeof(T(0)))},
		{int64(cap(s.ptr)), int64(n) + 1, 8}}
}

func (s *csrStore[T]) makeRoom(n, nnz int) {
	s.ptr = withRoom(s.ptr, n+1)
	s.idx, s.val = withRoom(s.idx, nnz), withRoom(s.val, nnz)
}

func (s *csrStore[T]) put(_ int, idx []int32, val []T) {
	if len(s.ptr) == 0 {
		s.ptr = append(s.ptr, 0)
	}
	s.idx, s.val = append(s.idx, idx...), append(s.val, val...)
	s.ptr = append(s.ptr, len(s.idx))
}

func (s *csrStore[T]) replace(i int, idx []int32, val []T) {
	n := len(s.idx) + s.grows(i, len(idx))
	s.idx, s.val = withRoom(s.idx, n), withRoom(s.val, n)
	lo, hi := s.ptr[i], s.ptr[i+1]
	s.idx = slices.Replace(s.idx, lo, hi, idx...)
	s.val = slices.Replace(s.val, lo, hi, val...)
	for k := i + 1; k < len(s.ptr); k++ {
		s.ptr[k] += len(idx) - (hi - lo)
	}
}

func (s *csrStore[T]) grows(i, nnz int) int { return nnz - (s.ptr[i+1] - s.ptr[i]) }

func (s *csrStore[T]) nonZeros(idx []int32, val []T, i int) ([]int32, []T) {
	lo, hi := s.ptr[i], s.ptr[i+1]
	return append(idx, s.idx[lo:hi]...), append(val, s.val[lo:hi]...)
}

func (s *csrStore[T]) ready(j *rowJob[T], i int) {
	lo, hi := s.ptr[i], s.ptr[i+1]
	j.scatter(s.idx[lo:hi], s.val[lo:hi])
}

func (s *csrStore[T]) pack(j *rowJob[T]) { j.scatter(j.idx, j.val) }

func (s *csrStore[T]) values(j *rowJob[T], dst []T, sq []float64, lo int) {
	var dots [rowChunk]float64
	for r := range dst {
		a, b := s.ptr[lo+r], s.ptr[lo+r+1]
		dots[r] = vecmath.SparseDotMixed(s.idx[a:b], s.val[a:b], j.x)
	}
	kernelValues(dst, s.kernel, j.sq, sq, dots[:len(dst)])
}

func (s *csrStore[T]) wideDot(int, []float64, bool) float64 {
	panic("unreachable: an example of a list of floats has its form")
}
