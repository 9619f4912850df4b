package engine

import (
	"slices"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// byteStore holds examples whose values are all integers from 0 to 255.
type byteStore[T Float] struct {
	kernel *Kernel
	rows   []uint8 // n rows of stride
	stride int
}

func (s *byteStore[T]) name() string { return "bytes" }

func (s *byteStore[T]) bytes() int64 { return int64(cap(s.rows)) }

func (s *byteStore[T]) clone(k *Kernel) store[T] {
	return &byteStore[T]{k, slices.Clone(s.rows), s.stride}
}

func (s *byteStore[T]) reach() int { return s.stride }

func (s *byteStore[T]) cost() int { return 3 + s.stride/32 }

func (s *byteStore[T]) tables(n, _, features int) [3]pointTable {
	return [3]pointTable{{int64(cap(s.rows)), int64(n) * int64(features), 1}}
}

func (s *byteStore[T]) makeRoom(n, _ int) { s.rows = withRoom(s.rows, n*s.stride) }

func (s *byteStore[T]) put(i int, idx []int32, val []T) {
	s.rows = extend(s.rows, (i+1)*s.stride)
	setBytes(s.row(i), idx, val)
}

func (s *byteStore[T]) replace(i int, idx []int32, val []T) {
	row := s.row(i)
	clear(row)
	setBytes(row, idx, val)
}

func (s *byteStore[T]) grows(int, int) int { return 0 }

func (s *byteStore[T]) row(i int) []uint8 { return s.rows[i*s.stride:][:s.stride] }

func setBytes[T Float](row []uint8, idx []int32, val []T) {
	for k, f := range idx {
		row[f] = uint8(val[k])
	}
}

func (s *byteStore[T]) nonZeros(idx []int32, val []T, i int) ([]int32, []T) {
	for f, v := range s.row(i) {
		if v != 0 {
			idx, val = append(idx, int32(f)), append(val, T(v))
		}
	}
	return idx, val
}

func (s *byteStore[T]) ready(j *rowJob[T], i int) { j.row = s.row(i) }

func (s *byteStore[T]) pack(j *rowJob[T]) {
	j.bytes = extend(j.bytes[:0], s.stride)
	setBytes(j.bytes, j.idx, j.val)
	j.row = j.bytes
}

func (s *byteStore[T]) values(j *rowJob[T], dst []T, sq []float64, lo int) {
	var ints [rowChunk]int32
	var dots [rowChunk]float64
	n := len(dst)
	vecmath.ByteRowsDot(ints[:n], s.rows[lo*s.stride:], s.stride, j.row)
	for r, v := range ints[:n] {
		dots[r] = float64(v)
	}
	kernelValues(dst, s.kernel, j.sq, sq, dots[:n])
}

func (s *byteStore[T]) wideDot(i int, x []float64, sparse bool) float64 {
	sum := wideSum{sparse: sparse}
	for f, v := range s.row(i) {
		if v != 0 {
			sum.add(f, float64(v), x)
		}
	}
	return halve(&sum.parts)
}
