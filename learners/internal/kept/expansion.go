package kept

import (
	"context"
	"fmt"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// Expansion is a hypothesis f(x) = sum_i coef_i K(x_i, x) + b over support vectors that a learner
// of whole data sets has found. All of it is part of the state. Cost of a score: a kernel row over
// the support vectors.
type Expansion[T learner.Float] struct {
	Coef           []float64       // one a support vector: alpha_i y_i
	SupportVectors engine.Block[T] // sparse, without zeros, whatever the training data were
	// Kernel rows over the support vectors. Their own list of them is in the form in which kernel
	// values take least; the block is for the State.
	rows *engine.Rows[T]

	spares *scratch.Stack[scoring[T]] // of Scores that may run at the same time
}

// scoring is an example to be scored, without features that the training data lack.
type scoring[T learner.Float] struct {
	one  engine.Block[T]
	ends [2]int // its Ptr
	row  []T    // its kernel values, one a support vector
}

// SetSupport copies the examples of b whose coefficient is not 0, without zeros, for a learner
// called name. coefs are one an example of b. What was there before is replaced, not changed: a
// Predictor may still score by it.
func (s *Expansion[T]) SetSupport(name string, b *engine.Block[T], coefs []float64, k engine.Kernel,
	pool *engine.Pool) error {
	size, nnz := 0, 0 // so that each slice is made once, as long as it has to be
	for t, c := range coefs {
		if c != 0 {
			_, val := b.Example(t)
			size, nnz = size+1, nnz+len(val)
		}
	}
	sv, coef := engine.Block[T]{Dim: b.Dim, Ptr: make([]int, 1, size+1), Idx: make([]int32, 0, nnz),
		Val: make([]T, 0, nnz)}, make([]float64, 0, size)
	for t, c := range coefs {
		if c == 0 {
			continue
		}
		coef = append(coef, c)
		idx, val := b.Example(t)
		for n, v := range val {
			if v != 0 {
				sv.Idx, sv.Val = append(sv.Idx, int32(engine.FeatureOf(idx, n))), append(sv.Val, v)
			}
		}
		sv.Ptr = append(sv.Ptr, len(sv.Idx))
	}
	return s.support(name, sv, coef, k, pool)
}

// support makes these the support vectors. The error is that of a kernel that is not valid.
func (s *Expansion[T]) support(name string, sv engine.Block[T], coef []float64, k engine.Kernel,
	pool *engine.Pool) error {
	list, err := engine.NewPoints[T](k)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.use(list, sv, coef, pool)
	return nil
}

// use is support with an empty list.
func (s *Expansion[T]) use(list *engine.Points[T], sv engine.Block[T], coef []float64,
	pool *engine.Pool) {
	sv.Y = slices.Repeat([]T{1}, len(coef)) // a list takes labelled blocks; labels are in coef
	list.Append(&sv, 0, len(coef))
	s.SupportVectors, s.Coef, s.rows, s.spares = sv, coef, engine.NewRows(list, 0, 0, pool),
		new(scratch.Stack[scoring[T]])
}

// score sets dst to f + bias of the examples of b, for a learner called name. One row of kernel
// values at a time is computed and none is kept: examples to be scored seldom come again.
func (s *Expansion[T]) score(name string, b *engine.Block[T], dst []float64, bias float64) error {
	if len(s.Coef) == 0 {
		for i := range b.Len() {
			dst[i] = bias
		}
		return nil
	}
	a := s.spares.Take()
	defer s.spares.Give(a)
	one := &a.one // a block of one example, without a copy of it
	if len(a.row) < len(s.Coef) {
		a.row = make([]T, len(s.Coef))
	}
	for i := range b.Len() {
		// Features that the training data lack are left out, also of |x|^2 in an RBF kernel: the
		// hypothesis has no weights for them.
		idx, val := primal.ExampleUpTo(b, i, s.SupportVectors.Dim)
		one.Dim, one.Ptr, one.Idx, one.Val, one.X = len(val), nil, nil, nil, val
		one.Stride = len(val)
		if !b.Dense() {
			a.ends[1] = len(val)
			one.Dim, one.Ptr, one.Idx, one.Val, one.X = s.SupportVectors.Dim, a.ends[:], idx, val,
				nil
		}
		if err := s.rows.RowOf(context.Background(), a.row[:len(s.Coef)], one, 0); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		dst[i] = vecmath.DotMixed(s.Coef, a.row[:len(s.Coef)]) + bias
	}
	one.Idx, one.Val, one.X = nil, nil, nil // the examples are not the learner's
	return nil
}

// Bytes returns the memory of the support vectors, and of the scratch of Scores.
func (s *Expansion[T]) Bytes() int64 {
	n := primal.BytesOf(s.Coef) + s.spares.Bytes(func(a *scoring[T]) int64 {
		return primal.BytesOf(a.row)
	}) + primal.BytesOf(s.SupportVectors.Val) + primal.BytesOf(s.SupportVectors.Y) +
		4*int64(cap(s.SupportVectors.Idx)) +
		8*int64(cap(s.SupportVectors.Ptr))
	if s.rows != nil {
		n += s.rows.Bytes()
	}
	return n
}

// Fields walks the support vectors and their coefficients, and returns how many there are: the
// tensors coef, sv_end, sv_idx, sv_val and the counter dim. Kernel values are not in the State,
// since they follow from the examples.
func (s *Expansion[T]) Fields(c *learner.Codec, k engine.Kernel, pool *engine.Pool) int {
	dim := learner.Count(c, "dim", &s.SupportVectors.Dim)
	var ends []int64
	if c.Writing() {
		ends = make([]int64, s.SupportVectors.Len())
		for i := range ends {
			ends[i] = int64(s.SupportVectors.Ptr[i+1])
		}
	}
	coef, idx, val := s.Coef, s.SupportVectors.Idx, s.SupportVectors.Val
	coef = learner.Vector(c, "coef", &coef)
	ends = learner.View(c, "sv_end", ends) // of each in sv_idx and sv_val
	idx = learner.Vector(c, "sv_idx", &idx)
	val = learner.Vector(c, "sv_val", &val)
	c.Want(len(coef) == len(ends), "%d coefficients of %d support vectors", len(coef), len(ends))
	sv := examplesAt(c, "sv", dim, ends, idx, val)
	if !c.Keeping() {
		return len(coef)
	}
	list, err := engine.NewPoints[T](k)
	c.Want(err == nil, "%w", err)
	c.Then(func() {
		// The learner's copies, made by now: sv was checked over the State's slices, which are not
		// to be kept.
		sv.Idx, sv.Val = idx, val
		s.use(list, sv, coef, pool)
	})
	return len(coef)
}
