package learners

import (
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// kernelExpansion is the hypothesis that a learner of whole data sets has found, f(x) = sum_i coef_i
// K(x_i, x) + bias: its Predictor and its Score with a kernel. The expansion is never changed, only
// replaced by the next one, so that learner and predictors share it.
type kernelExpansion[T Float] struct {
	oneOutput
	name string // of the learner, for errors
	expansion[T]
	bias   float64
	kernel engine.Kernel
	pool   *engine.Pool
}

// Score is Predictor.Score.
func (p *kernelExpansion[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := checkRows(p.name, b, len(dst)); err != nil {
		return err
	}
	return p.expansion.score(p.name, b, dst, p.bias)
}

// Weights returns nil: the hypothesis is a sum over kept examples.
func (p *kernelExpansion[T]) Weights() []float64 { return nil }

// Bytes is Predictor.Bytes.
func (p *kernelExpansion[T]) Bytes() int64 {
	return p.expansion.bytes() + int64(unsafe.Sizeof(*p))
}

// State is Predictor.State: the support vectors with their coefficients, and the scalar bias.
func (p *kernelExpansion[T]) State() State { return learner.StateOf(p.fields) }

// Restored is Restorer.Restored.
func (p *kernelExpansion[T]) Restored(s State) (Predictor[T], error) {
	return restored(p.name, &kernelExpansion[T]{name: p.name, kernel: p.kernel, pool: p.pool}, s)
}

func (p *kernelExpansion[T]) fields(c *learner.Codec) {
	c.Scalar("bias", &p.bias)
	p.expansion.fields(c, p.kernel, p.pool)
}

// view returns the same hypothesis.
func (p kernelExpansion[T]) view() Predictor[T] { return &p }

// keptSum is the hypothesis f(x) = sum_j coef_j K(x_j, x)/divisor over examples that are kept while
// others come: the Predictor and the Score of the learners that keep some of a stream.
type keptSum[T Float] struct {
	oneOutput
	name    string // of the learner, for errors
	list    *engine.Points[T]
	coef    []float64
	divisor float64
	spares  *scratch.Stack[hand[T]]
}

// Score is Predictor.Score.
func (p *keptSum[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := checkRows(p.name, b, len(dst)); err != nil {
		return err
	}
	h := p.spares.Take()
	defer p.spares.Give(h)
	for i := range b.Len() {
		h.take(p.list, b, i)
		dst[i] = vecmath.Dot(p.coef, h.wide) / p.divisor
	}
	return nil
}

// Weights returns nil: the hypothesis is a sum over kept examples.
func (p *keptSum[T]) Weights() []float64 { return nil }

// Bytes is Predictor.Bytes.
func (p *keptSum[T]) Bytes() int64 {
	return p.list.Bytes() + bytesOf(p.coef) + p.spares.Bytes((*hand[T]).bytes) +
		int64(unsafe.Sizeof(*p))
}

// State is Predictor.State: the kept examples and their coefficients.
func (p *keptSum[T]) State() State { return learner.StateOf(p.fields) }

// Restored is Restorer.Restored.
func (p *keptSum[T]) Restored(s State) (Predictor[T], error) {
	r, err := p.empty()
	if err != nil {
		return nil, err
	}
	return restored(p.name, &r, s)
}

// empty returns a sum of the same settings that keeps nothing.
func (p *keptSum[T]) empty() (keptSum[T], error) {
	b, err := newBasis[T](p.name, p.list.Kernel())
	return keptSum[T]{name: p.name, list: b.list, divisor: p.divisor, spares: b.spares}, err
}

func (p *keptSum[T]) fields(c *learner.Codec) { p.walk(c) }

// walk is fields, and returns the number of kept examples.
func (p *keptSum[T]) walk(c *learner.Codec) int {
	coef := learner.Vector(c, "coef", &p.coef)
	b := exampleFields(c, "sv", p.list)
	c.Want(c.Writing() || len(coef) == b.Len(), "%d coefficients of %d examples", len(coef), b.Len())
	c.Then(func() { p.list.Append(&b, 0, b.Len()) })
	return len(coef)
}

// copied returns a copy with memory of its own.
func (p keptSum[T]) copied() *keptSum[T] {
	p.list, p.coef, p.spares = p.list.Clone(), slices.Clone(p.coef), new(scratch.Stack[hand[T]])
	return &p
}

// view returns the same examples; good until they change.
func (p keptSum[T]) view() Predictor[T] { return &p }
