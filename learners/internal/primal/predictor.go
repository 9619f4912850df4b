package primal

import (
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
)

// walked is a Predictor whose State is walked by name.
type walked[T learner.Float] interface {
	learner.Predictor[T]
	Fields(c *learner.Codec)
}

// Restored reads the State of a learner called name into p, a new Predictor.
func Restored[T learner.Float](name string, p walked[T], s learner.State) (learner.Predictor[T],
	error) {
	if err := learner.SetState(name, s, p.Fields); err != nil {
		return nil, err
	}
	return p, nil
}

// OneOutput is for predictors of two classes.
type OneOutput struct{}

// Outputs is Predictor.Outputs.
func (OneOutput) Outputs() int { return 1 }

// weights is the hypothesis f(x) = scale w.x with weights in the precision of the examples. It is
// the Predictor of the learners that keep such weights, and their Score.
type weights[T learner.Float] struct {
	OneOutput
	name  string  // of the learner, for errors
	w     []T     // one a feature
	scale float64 // >= 0: a factor that some rules keep beside the weights
}

// tileRows is how many dense examples are scored by one call: their products, on the stack, are a
// few cache lines.
const tileRows = 64

// dotOf returns w.x of example i of a checked block. Features that w does not reach have weight 0;
// leaving them out gives the same bits as zeros in w would.
func dotOf[T learner.Float](w []T, b *engine.Block[T], i int) float64 {
	if b.Dense() {
		x := b.RowPrefix(i, len(w))
		return float64(vecmath.Dot(x, w[:len(x)]))
	}
	idx, val := b.Sparse(i)
	if beyond(idx, len(w)) {
		idx, val = b.Prefix(i, len(w))
	}
	return float64(vecmath.SparseDot(idx, val, w))
}

func (p *weights[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := CheckRows(p.name, b, len(dst)); err != nil {
		return err
	}
	// As dotOf, whose call is a tenth of the time of an example of a dozen features.
	w, scale := p.w, p.scale
	if b.Dense() {
		w, dst = w[:min(len(w), b.Dim)], dst[:b.Len()]
		var dots [tileRows]T
		for lo := 0; lo < len(dst); lo += tileRows {
			n := min(tileRows, len(dst)-lo)
			vecmath.RowsDot(dots[:n], b.X[lo*b.Stride:], b.Stride, w)
			for i, v := range dots[:n] {
				dst[lo+i] = float64(scale * float64(v))
			}
		}
		return nil
	}
	for i := range b.Len() {
		idx, val := b.Sparse(i)
		if beyond(idx, len(w)) {
			idx, val = b.Prefix(i, len(w))
		}
		f := float64(vecmath.SparseDot(idx, val, w))
		dst[i] = float64(scale * f)
	}
	return nil
}

func (p *weights[T]) Weights() []float64 { return Scaled(p.w, p.scale) }
func (p *weights[T]) Bytes() int64       { return BytesOf(p.w) + int64(unsafe.Sizeof(*p)) }

// State is Predictor.State: the tensor w and the scalar scale.
func (p *weights[T]) State() learner.State { return learner.StateOf(p.Fields) }

func (p *weights[T]) CheckState(s learner.State) error {
	return learner.CheckState(p.name, s, p.Fields)
}

func (p *weights[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	return Restored(p.name, &weights[T]{name: p.name}, s)
}

// Fields walks what State says.
func (p *weights[T]) Fields(c *learner.Codec) {
	c.PerFeature("w", len(learner.Vector(c, "w", &p.w)))
	scale := c.Scalar("scale", &p.scale)
	c.Want(scale >= 0, "scalar %q is %v, want a number >= 0", "scale", scale)
}

// Copied returns a copy with memory of its own.
func (p weights[T]) Copied() learner.Predictor[T] {
	p.w = slices.Clone(p.w)
	return &p
}

// View returns the same weights; good until they change.
func (p weights[T]) View() learner.Predictor[T] { return &p }

// WideWeights is the hypothesis f(x) = w.x/divisor + bias with float64 weights, whatever the
// examples are: the Predictor and the Score of the learners that keep such weights.
type WideWeights[T learner.Float] struct {
	OneOutput
	Name    string    // of the learner, for errors
	W       []float64 // one a feature
	Divisor float64   // > 0: 1, or the members of an ensemble whose sum W is
	Bias    float64
	Biased  bool // else bias is not added: +0 would change the sign of -0
	Ends    bool // W may end before the last feature, if those behind it have no weight
}

// score returns f of an example with that w.x.
func (p *WideWeights[T]) score(dot float64) float64 {
	f := dot / p.Divisor
	if p.Biased {
		f += p.Bias
	}
	return f
}

// Score is Predictor.Score.
func (p *WideWeights[T]) Score(b *engine.Block[T], dst []float64) error {
	if err := CheckRows(p.Name, b, len(dst)); err != nil {
		return err
	}
	w := p.W // as DotMixed, without its call
	if b.Dense() {
		dst = dst[:b.Len()]
		vecmath.RowsDotMixed(dst, b.X, b.Stride, w[:min(len(w), b.Dim)])
		for i, v := range dst {
			dst[i] = p.score(v)
		}
		return nil
	}
	for i := range b.Len() {
		idx, val := b.Sparse(i)
		if beyond(idx, len(w)) {
			idx, val = b.Prefix(i, len(w))
		}
		dst[i] = p.score(vecmath.SparseDotMixed(idx, val, w))
	}
	return nil
}

// Weights is Predictor.Weights, without the bias.
func (p *WideWeights[T]) Weights() []float64 {
	w := make([]float64, len(p.W))
	for j, v := range p.W {
		w[j] = v / p.Divisor
	}
	return w
}

// Hypothesis is for [learner.HypothesisOf].
func (p *WideWeights[T]) Hypothesis() learner.Hypothesis {
	o := learner.Output{Weights: slices.Clone(p.W), Divisor: p.Divisor}
	if o.Weights == nil {
		o.Weights = []float64{}
	}
	if p.Biased {
		o.Bias = float64(p.Bias * p.Divisor)
	}
	return learner.Hypothesis{Outputs: []learner.Output{o}}
}

// Bytes is Predictor.Bytes.
func (p *WideWeights[T]) Bytes() int64 { return BytesOf(p.W) + int64(unsafe.Sizeof(*p)) }

// State is Predictor.State: the tensor w and the scalar divisor, and the scalar bias of learners
// that have one.
func (p *WideWeights[T]) State() learner.State { return learner.StateOf(p.Fields) }

// CheckState is for [learner.CheckRestored].
func (p *WideWeights[T]) CheckState(s learner.State) error {
	return learner.CheckState(p.Name, s, p.Fields)
}

// Restored is for [learner.Restored].
func (p *WideWeights[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	return Restored(p.Name, &WideWeights[T]{Name: p.Name, Biased: p.Biased, Ends: p.Ends}, s)
}

// Fields walks what State says.
func (p *WideWeights[T]) Fields(c *learner.Codec) {
	n := len(learner.Vector(c, "w", &p.W))
	if c.WithinFeatures("w", n); !p.Ends {
		c.PerFeature("w", n)
	}
	divisor := c.Scalar("divisor", &p.Divisor)
	c.Want(divisor > 0, "scalar %q is %v, want a number > 0", "divisor", divisor)
	if p.Biased {
		c.Scalar("bias", &p.Bias)
	}
}

// Copied returns a copy with memory of its own.
func (p WideWeights[T]) Copied() learner.Predictor[T] {
	p.W = slices.Clone(p.W)
	return &p
}

// View returns the same weights; good until they change.
func (p WideWeights[T]) View() learner.Predictor[T] { return &p }
