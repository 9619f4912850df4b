package learners

import (
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
		x := b.RowPrefix(i, len(w))
		return float64(vecmath.Dot(x, w[:len(x)]))
	}
	idx, val := b.Prefix(i, len(w))
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
