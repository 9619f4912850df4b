package learners

import (
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// walked is a Predictor whose State is walked by name.
type walked[T Float] interface {
	Predictor[T]
	fields(c *learner.Codec)
}

// restored reads the State of a learner called name into p, a new Predictor.
func restored[T Float](name string, p walked[T], s State) (Predictor[T], error) {
	if err := learner.SetState(name, s, p.fields); err != nil {
		return nil, err
	}
	return p, nil
}

// oneOutput is for predictors of two classes.
type oneOutput struct{}

// Outputs is Predictor.Outputs.
func (oneOutput) Outputs() int { return 1 }

// weights is the hypothesis f(x) = scale w.x with weights in the precision of the examples. It is
// the Predictor of the learners that keep such weights, and their Score.
type weights[T Float] struct {
	oneOutput
	name  string // of the learner, for errors
	w     []T
	scale float64
}

// dotOf returns w.x of example i of a checked block. Features that w does not reach have weight 0;
// leaving them out gives the same bits as zeros in w would.
func dotOf[T Float](w []T, b *engine.Block[T], i int) float64 {
	if b.Dense() {
		x := b.Row(i)
		n := min(len(x), len(w))
		return float64(vecmath.Dot(x[:n], w[:n]))
	}
	idx, val := b.Sparse(i)
	if n := len(idx); n > 0 && int(idx[n-1]) >= len(w) {
		n, _ = slices.BinarySearch(idx, int32(len(w)))
		idx, val = idx[:n], val[:n]
	}
	return float64(vecmath.SparseDotUnchecked(trusted.Indices{}, idx, val, w))
}

// Score is Predictor.Score.
func (p *weights[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := checkRows(p.name, b, len(dst)); err != nil {
		return err
	}
	for i := range b.Len() {
		dst[i] = float64(p.scale * dotOf(p.w, b, i))
	}
	return nil
}

// Weights is Predictor.Weights.
func (p *weights[T]) Weights() []float64 { return scaled(p.w, p.scale) }

// Bytes is Predictor.Bytes.
func (p *weights[T]) Bytes() int64 { return bytesOf(p.w) + int64(unsafe.Sizeof(*p)) }

// State is Predictor.State: the tensor w and the scalar scale.
func (p *weights[T]) State() State { return learner.StateOf(p.fields) }

// Restored is Restorer.Restored.
func (p *weights[T]) Restored(s State) (Predictor[T], error) {
	return restored(p.name, &weights[T]{name: p.name}, s)
}

func (p *weights[T]) fields(c *learner.Codec) {
	learner.Vector(c, "w", &p.w)
	scale := c.Scalar("scale", &p.scale)
	c.Want(scale >= 0, "scalar %q is %v, want a number >= 0", "scale", scale)
}

// copied returns a copy with memory of its own.
func (p weights[T]) copied() Predictor[T] {
	p.w = slices.Clone(p.w)
	return &p
}

// view returns the same weights; good until they change.
func (p weights[T]) view() Predictor[T] { return &p }

// wideWeights is the hypothesis f(x) = w.x/divisor + bias with float64 weights, whatever the
// examples are: the Predictor and the Score of the learners that keep such weights.
type wideWeights[T Float] struct {
	oneOutput
	name    string // of the learner, for errors
	w       []float64
	divisor float64 // > 0
	bias    float64
	biased  bool // else bias is not added: +0 would change the sign of -0
}

// score returns f of example i of a checked block.
func (p *wideWeights[T]) score(b *engine.Block[T], i int) float64 {
	f := dotMixed(b, i, p.w) / p.divisor
	if p.biased {
		f += p.bias
	}
	return f
}

// Score is Predictor.Score.
func (p *wideWeights[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := checkRows(p.name, b, len(dst)); err != nil {
		return err
	}
	for i := range b.Len() {
		dst[i] = p.score(b, i)
	}
	return nil
}

// Weights is Predictor.Weights, without the bias.
func (p *wideWeights[T]) Weights() []float64 {
	w := make([]float64, len(p.w))
	for j, v := range p.w {
		w[j] = v / p.divisor
	}
	return w
}

// Bytes is Predictor.Bytes.
func (p *wideWeights[T]) Bytes() int64 { return bytesOf(p.w) + int64(unsafe.Sizeof(*p)) }

// State is Predictor.State: the tensor w and the scalar divisor, and the scalar bias of learners
// that have one.
func (p *wideWeights[T]) State() State { return learner.StateOf(p.fields) }

// Restored is Restorer.Restored.
func (p *wideWeights[T]) Restored(s State) (Predictor[T], error) {
	return restored(p.name, &wideWeights[T]{name: p.name, biased: p.biased}, s)
}

func (p *wideWeights[T]) fields(c *learner.Codec) {
	learner.Vector(c, "w", &p.w)
	divisor := c.Scalar("divisor", &p.divisor)
	c.Want(divisor > 0, "scalar %q is %v, want a number > 0", "divisor", divisor)
	if p.biased {
		c.Scalar("bias", &p.bias)
	}
}

// copied returns a copy with memory of its own.
func (p wideWeights[T]) copied() Predictor[T] {
	p.w = slices.Clone(p.w)
	return &p
}

// view returns the same weights; good until they change.
func (p wideWeights[T]) view() Predictor[T] { return &p }

// columnWeights is the hypothesis f(x) = (w + sum_j step_j column_j).x of [NG], which adds the
// columns to w later, with its logistic probabilities.
type columnWeights[T Float] struct {
	oneOutput
	w       []float64
	columns [][]float64 // of the length of w
	step    []float64   // one a column
}

// score returns f(x) of example i of a checked block, and leaves its inner products with the
// columns in dots, if that is not nil.
func (p *columnWeights[T]) score(b *engine.Block[T], i int, dots []float64) float64 {
	idx, val := seen(b, i, len(p.w))
	f := columnDot(p.w, idx, val)
	for j, column := range p.columns {
		d := columnDot(column, idx, val)
		if dots != nil {
			dots[j] = d
		}
		f = math.FMA(p.step[j], d, f)
	}
	return f
}

func columnDot[T Float](w []float64, idx []int32, val []T) float64 {
	if idx == nil {
		return vecmath.DotMixed(w[:len(val)], val)
	}
	return vecmath.SparseDotMixedUnchecked(trusted.Indices{}, idx, val, w)
}

// Score is Predictor.Score.
func (p *columnWeights[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := checkRows("ng", b, len(dst)); err != nil {
		return err
	}
	for i := range b.Len() {
		dst[i] = p.score(b, i, nil)
	}
	return nil
}

// Proba is Prober.Proba: 1/(1 + exp(-f)).
func (p *columnWeights[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := p.Score(b, dst); err != nil {
		return err
	}
	for i, f := range dst[:b.Len()] {
		dst[i] = 1 / (1 + expScalar(-f))
	}
	return nil
}

// Weights is Predictor.Weights.
func (p *columnWeights[T]) Weights() []float64 {
	w := slices.Clone(p.w)
	for j, a := range p.step {
		vecmath.Axpy(w, a, p.columns[j])
	}
	return w
}

// Bytes is Predictor.Bytes.
func (p *columnWeights[T]) Bytes() int64 {
	n := int64(unsafe.Sizeof(*p)) + bytesOf(p.w) + bytesOf(p.step)
	for _, c := range p.columns {
		n += bytesOf(c)
	}
	return n
}

// State is Predictor.State: the tensors w, columns and step.
func (p *columnWeights[T]) State() State { return learner.StateOf(p.fields) }

// Restored is Restorer.Restored.
func (p *columnWeights[T]) Restored(s State) (Predictor[T], error) {
	return restored("ng", &columnWeights[T]{}, s)
}

func (p *columnWeights[T]) fields(c *learner.Codec) {
	d := len(learner.Vector(c, "w", &p.w))
	steps := len(learner.Vector(c, "step", &p.step))
	var columns []float64
	if c.Writing() {
		columns = append([]float64{}, slices.Concat(p.columns...)...)
	}
	columns = learner.View(c, "columns", columns)
	c.Want(steps <= maxNG && len(columns) == steps*d,
		"%d weights, %d steps and columns of %d elements", d, steps, len(columns))
	c.Then(func() {
		for j := range steps {
			p.columns = append(p.columns, slices.Clone(columns[j*d:][:d]))
		}
	})
}

// copied returns a copy with memory of its own.
func (p columnWeights[T]) copied() Predictor[T] {
	p.w, p.step, p.columns = slices.Clone(p.w), slices.Clone(p.step), slices.Clone(p.columns)
	for j, c := range p.columns {
		p.columns[j] = slices.Clone(c)
	}
	return &p
}

// view returns the same weights; good until they change.
func (p columnWeights[T]) view() Predictor[T] { return &p }
