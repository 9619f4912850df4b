package engine

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// bitStore holds examples whose values are all 0 or 1, as bit sets. A kernel value is a count of
// bits looked up in a table.
type bitStore[T Float] struct {
	kernel *Kernel
	words  []uint64 // n rows of stride
	stride int
	table  []T // the kernel value of each count
}

// newBitStore computes the kernel value of each count of bits: of |x-z|^2 for rbf, of x.z for
// others.
func newBitStore[T Float](features int, k *Kernel) *bitStore[T] {
	s := &bitStore[T]{kernel: k, stride: features / 64, table: make([]T, features+1)}
	count := make([]float64, len(s.table))
	for c := range count {
		count[c] = float64(c)
	}
	if k.Kind == RBF {
		kernelValues(s.table, k, 0, count, make([]float64, len(count)))
	} else {
		kernelValues(s.table, k, 0, count, count)
	}
	return s
}

func (s *bitStore[T]) name() string { return "bits" }

func (s *bitStore[T]) bytes() int64 {
	return int64(cap(s.words))*8 + int64(cap(s.table))*int64(unsafe.Sizeof(T(0)))
}

func (s *bitStore[T]) clone(k *Kernel) store[T] {
	return &bitStore[T]{k, slices.Clone(s.words), s.stride, slices.Clone(s.table)}
}

func (s *bitStore[T]) reach() int { return 64 * s.stride }

func (s *bitStore[T]) cost() int { return 1 + s.stride/2 }

func (s *bitStore[T]) tables(n, _, features int) [3]pointTable {
	return [3]pointTable{{int64(cap(s.words)), int64(n) * int64(features/64), 8}}
}

func (s *bitStore[T]) makeRoom(n, _ int) { s.words = withRoom(s.words, n*s.stride) }

func (s *bitStore[T]) put(i int, idx []int32, _ []T) {
	s.words = extend(s.words, (i+1)*s.stride)
	setBits(s.words[i*s.stride:], idx)
}

func (s *bitStore[T]) replace(i int, idx []int32, _ []T) {
	row := s.row(i)
	clear(row)
	setBits(row, idx)
}

func (s *bitStore[T]) grows(int, int) int { return 0 }

func (s *bitStore[T]) row(i int) []uint64 { return s.words[i*s.stride:][:s.stride] }

func setBits(row []uint64, idx []int32) {
	for _, f := range idx {
		row[f>>6] |= 1 << (f & 63)
	}
}

func (s *bitStore[T]) nonZeros(idx []int32, val []T, i int) ([]int32, []T) {
	for w, word := range s.row(i) {
		for ; word != 0; word &= word - 1 {
			idx = append(idx, int32(w*64+bits.TrailingZeros64(word)))
			val = append(val, 1)
		}
	}
	return idx, val
}

func (s *bitStore[T]) ready(j *rowJob[T], i int) { j.word = s.row(i) }

func (s *bitStore[T]) pack(j *rowJob[T]) {
	j.words = extend(j.words[:0], s.stride)
	setBits(j.words, j.idx)
	j.word = j.words
}

func (s *bitStore[T]) values(j *rowJob[T], dst []T, _ []float64, lo int) {
	if s.kernel.Kind == RBF {
		vecmath.XorCount(dst, s.words[lo*s.stride:], s.stride, j.word, s.table)
	} else {
		vecmath.AndCount(dst, s.words[lo*s.stride:], s.stride, j.word, s.table)
	}
}

func (s *bitStore[T]) wideDot(i int, x []float64, sparse bool) float64 {
	sum := wideSum{sparse: sparse}
	for w, word := range s.row(i) {
		for ; word != 0; word &= word - 1 {
			sum.add(w*64+bits.TrailingZeros64(word), 1, x)
		}
	}
	return halve(&sum.parts)
}
