package kept

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// Current is the example in hand, without its zeros, and its kernel values with those of a list:
// each is computed once, for the score, and used again if the example is kept.
type Current[T learner.Float] struct {
	Example engine.Block[T] // a block of this example, over idx and val or another's slices
	Row     []T             // K(x_j, x), one a listed example
	Wide    []float64       // the same, for products with float64 coefficients

	ends [2]int  // Ptr of Example
	idx  []int32 // scratch: the non-zeros, features ascending
	val  []T
}

// Take takes example i of b in hand and computes its kernel values with the list.
func (s *Current[T]) Take(list *engine.Points[T], b *engine.Block[T], i int) {
	s.idx, s.val = s.idx[:0], s.val[:0]
	idx, val := b.Example(i)
	for n, v := range val {
		if v != 0 {
			s.idx, s.val = append(s.idx, int32(engine.FeatureOf(idx, n))), append(s.val, v)
		}
	}
	s.SetExample(s.idx, s.val)
	s.Row, s.Wide = s.Values(list, s.Row, s.Wide)
}

// TakeListed takes example i of a list in hand. It computes no kernel values.
func (s *Current[T]) TakeListed(list *engine.Points[T], i int) {
	s.idx, s.val = list.NonZeros(s.idx[:0], s.val[:0], i)
	s.SetExample(s.idx, s.val)
}

// SetExample takes an example in hand, of features in ascending order and no zeros, and keeps the
// slices. It computes no kernel values.
func (s *Current[T]) SetExample(idx []int32, val []T) {
	s.ends[1] = len(idx)
	s.Example.Ptr, s.Example.Idx, s.Example.Val, s.Example.Dim = s.ends[:], idx, val, 0
	if n := len(idx); n > 0 {
		s.Example.Dim = int(idx[n-1]) + 1
	}
}

// Values returns the kernel values of the example in hand with those of the list, also as float64,
// in row and wide, or in longer ones.
func (s *Current[T]) Values(list *engine.Points[T], row []T, wide []float64) ([]T, []float64) {
	n := list.Len()
	if cap(row) < n { // twice as many: the list grows by one at a time
		row, wide = make([]T, n, 2*n), make([]float64, n, 2*n)
	}
	row, wide = row[:n], wide[:n]
	list.RowOf(row, &s.Example, 0, 0, n)
	for j, v := range row {
		wide[j] = float64(v)
	}
	return row, wide
}

// CheckRoom returns an error that wraps ErrMemory if with the example in hand a list, that of a
// learner called name, would take more than that many bytes, Env.Kept, where 0 is no bound. more
// says that the example is one more, not in the place of another.
func (s *Current[T]) CheckRoom(name string, list *engine.Points[T], bytes int64, more bool) error {
	if bytes == 0 {
		return nil
	}
	if need := list.Need(&s.Example, 0, more); need > bytes {
		return fmt.Errorf("%s: an example of %d non-zeros beside %d that are kept: their "+
			"features would take %d bytes, and may take %d: %w",
			name, len(s.Example.Val), list.Len(), need, bytes, learner.ErrMemory)
	}
	return nil
}

// Bytes returns the memory of the slices.
func (s *Current[T]) Bytes() int64 {
	return primal.BytesOf(s.Row) + primal.BytesOf(s.Wide) + 4*int64(cap(s.idx)) +
		primal.BytesOf(s.val)
}
