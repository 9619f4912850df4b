package kept

import (
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// KernelExpansion is the hypothesis that a learner of whole data sets has found, f(x) = sum_i
// coef_i K(x_i, x) + bias: its Predictor and its Score with a kernel. The expansion is never
// changed, only replaced by the next one, so that learner and predictors share it.
type KernelExpansion[T learner.Float] struct {
	primal.OneOutput
	Name string // of the learner, for errors
	Expansion[T]
	Bias   float64
	Kernel engine.Kernel
	Pool   *engine.Pool
}

// Score is Predictor.Score.
func (p *KernelExpansion[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckRows(p.Name, b, len(dst)); err != nil {
		return err
	}
	return p.Expansion.score(p.Name, b, dst, p.Bias)
}

// Weights returns nil: the hypothesis is a sum over kept examples.
func (p *KernelExpansion[T]) Weights() []float64 { return nil }

// Hypothesis is for [learner.HypothesisOf].
func (p *KernelExpansion[T]) Hypothesis() learner.Hypothesis {
	o := learner.Output{Coef: slices.Clone(p.Coef), Bias: p.Bias, Divisor: 1,
		Points: engine.Block[float64]{Dim: p.SupportVectors.Dim, Ptr: []int{0}}}
	for i := range p.Coef {
		idx, val := p.SupportVectors.Sparse(i)
		addPoint(&o.Points, idx, val)
	}
	return learner.Hypothesis{Outputs: []learner.Output{o}, Kernel: p.Kernel}
}

// addPoint adds an example to a sparse block without labels.
func addPoint[T learner.Float](b *engine.Block[float64], idx []int32, val []T) {
	b.Idx = append(b.Idx, idx...)
	for _, v := range val {
		b.Val = append(b.Val, float64(v))
	}
	b.Ptr = append(b.Ptr, len(b.Idx))
}

// Bytes is Predictor.Bytes.
func (p *KernelExpansion[T]) Bytes() int64 {
	return p.Expansion.Bytes() + int64(unsafe.Sizeof(*p))
}

// State is Predictor.State: the support vectors with their coefficients, and the scalar bias.
func (p *KernelExpansion[T]) State() learner.State { return learner.StateOf(p.Fields) }

// CheckState is for [learner.CheckRestored].
func (p *KernelExpansion[T]) CheckState(s learner.State) error {
	return learner.CheckState(p.Name, s, p.Fields)
}

// Restored is Restorer.Restored.
func (p *KernelExpansion[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	return primal.Restored(p.Name, &KernelExpansion[T]{Name: p.Name, Kernel: p.Kernel,
		Pool: p.Pool}, s)
}

// Fields walks what State says.
func (p *KernelExpansion[T]) Fields(c *learner.Codec) {
	c.Scalar("bias", &p.Bias)
	p.Expansion.Fields(c, p.Kernel, p.Pool)
}

// View returns the same hypothesis.
func (p KernelExpansion[T]) View() learner.Predictor[T] { return &p }

// KeptSum is the hypothesis f(x) = sum_j coef_j K(x_j, x)/divisor over examples that are kept while
// others come: the Predictor and the Score of the learners that keep some of a stream.
type KeptSum[T learner.Float] struct {
	primal.OneOutput
	Name string // of the learner, for errors
	List *engine.Points[T]
	Coef []float64 // one a listed example, 0 of an empty slot
	// > 0: 1, or the members of an ensemble whose sum this is
	Divisor float64
	Spares  *scratch.Stack[CurrentExample[T]] // of Scores that may run at the same time
}

// Score is Predictor.Score.
func (p *KeptSum[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := primal.CheckRows(p.Name, b, len(dst)); err != nil {
		return err
	}
	h := p.Spares.Take()
	defer p.Spares.Give(h)
	for i := range b.Len() {
		h.Take(p.List, b, i)
		dst[i] = vecmath.Dot(p.Coef, h.Wide) / p.Divisor
	}
	return nil
}

// Weights returns nil: the hypothesis is a sum over kept examples.
func (p *KeptSum[T]) Weights() []float64 { return nil }

// Hypothesis is for [learner.HypothesisOf]: empty slots are left out.
func (p *KeptSum[T]) Hypothesis() learner.Hypothesis {
	o := learner.Output{Coef: []float64{}, Points: engine.Block[float64]{Ptr: []int{0}}, Divisor: 1}
	var (
		idx []int32
		val []T
	)
	for j, c := range p.Coef {
		if c == 0 {
			continue
		}
		idx, val = p.List.NonZeros(idx[:0], val[:0], j)
		addPoint(&o.Points, idx, val)
		o.Coef = append(o.Coef, c/p.Divisor)
		if n := len(idx); n > 0 {
			o.Points.Dim = max(o.Points.Dim, int(idx[n-1])+1)
		}
	}
	return learner.Hypothesis{Outputs: []learner.Output{o}, Kernel: p.List.Kernel()}
}

// Bytes is Predictor.Bytes.
func (p *KeptSum[T]) Bytes() int64 {
	return p.List.Bytes() + primal.BytesOf(p.Coef) + p.Spares.Bytes((*CurrentExample[T]).bytes) +
		int64(unsafe.Sizeof(*p))
}

// State is Predictor.State: the kept examples and their coefficients.
func (p *KeptSum[T]) State() learner.State { return learner.StateOf(p.Fields) }

// CheckState is for [learner.CheckRestored].
func (p *KeptSum[T]) CheckState(s learner.State) error {
	return learner.CheckState(p.Name, s, p.Fields)
}

// Restored is Restorer.Restored.
func (p *KeptSum[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	r, err := p.Empty()
	if err != nil {
		return nil, err
	}
	return primal.Restored(p.Name, &r, s)
}

// Empty returns a sum of the same settings that keeps nothing.
func (p *KeptSum[T]) Empty() (KeptSum[T], error) {
	b, err := NewBasis[T](p.Name, p.List.Kernel())
	return KeptSum[T]{Name: p.Name, List: b.List, Divisor: p.Divisor, Spares: b.Spares}, err
}

// Fields walks what State says.
func (p *KeptSum[T]) Fields(c *learner.Codec) { p.CountedFields(c) }

// CountedFields is Fields, and returns the number of kept examples.
func (p *KeptSum[T]) CountedFields(c *learner.Codec) int {
	coef := learner.Vector(c, "coef", &p.Coef)
	b := ExampleFields(c, "sv", p.List)
	c.Want(c.Writing() || len(coef) == b.Len(), "%d coefficients of %d examples", len(coef),
		b.Len())
	c.Then(func() { p.List.Append(&b, 0, b.Len()) })
	return len(coef)
}

// Copied returns a copy with memory of its own.
func (p KeptSum[T]) Copied() *KeptSum[T] {
	p.List, p.Coef, p.Spares = p.List.Clone(), slices.Clone(p.Coef),
		new(scratch.Stack[CurrentExample[T]])
	return &p
}

// View returns the same examples; good until they change.
func (p KeptSum[T]) View() learner.Predictor[T] { return &p }
