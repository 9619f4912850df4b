package exchange

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// isForm reports whether an error is that there is no form.
func isForm(err error) bool { return errors.Is(err, ErrForm) }

// Explanation says how a model comes to the scores of an example.
type Explanation struct {
	Label string `json:"label"` // that is predicted; "" for scores that are no numbers
	// Exact says that scores are the sums of bias and parts, up to rounding: those of weights are.
	// Else a part is what the score loses if the feature is 0.
	Exact   bool              `json:"exact"`
	Outputs []ExplainedOutput `json:"outputs"` // one of two classes, else one a class
}

// ExplainedOutput is one score.
type ExplainedOutput struct {
	Class    string   `json:"class"` // of two classes the positive label
	Score    float64  `json:"score"`
	Bias     *float64 `json:"bias"`   // with that of an appended feature; null where not Exact
	Margin   *float64 `json:"margin"` // score/|w|, the distance from the hyperplane; null without w
	Parts    []Part   `json:"parts"`  // the largest first
	Examples []Pull   `json:"examples,omitempty"`
}

// Part is what a feature of an example adds to a score.
type Part struct {
	Feature string   `json:"feature"`
	Value   float64  `json:"value"`  // as prepared
	Weight  *float64 `json:"weight"` // null where not Exact
	Adds    float64  `json:"adds"`
}

// Pull is what a kept example adds to a score: Coef times the kernel's value.
type Pull struct {
	Example
	Kernel float64 `json:"kernel"`
	Adds   float64 `json:"adds"`
}

// Explain says how a model comes to its scores of example i of a block of prepared examples, as a
// stream of package dataset has them; of each output the top largest parts and kept examples. T
// must be the model's Precision.
//
// Cost: the model's learner is made; a score for each of the example's non-zeros where the
// hypothesis has no weights, which a vote has not either.
func Explain[T learner.Float](m *model.Model, b *engine.Block[T], i, top int) (*Explanation,
	error) {
	p, err := model.RestorePredictor[T](m, nil)
	if err != nil {
		return nil, err
	}
	l, err := lay(m, false)
	if err != nil && !isForm(err) {
		return nil, err
	}
	e := explaining[T]{l: l, p: p, outputs: p.Outputs()}
	idx, val := b.Example(i)
	for n, v := range val {
		if v != 0 {
			e.idx = append(e.idx, int32(engine.FeatureOf(idx, n)))
			e.val = append(e.val, v)
		}
	}
	e.dim = b.Dim
	if len(l.h.Outputs) == 0 { // of a vote
		l.classes = classNames(&m.Prep, e.outputs)
	}
	if e.scores, err = e.without(-1); err != nil {
		return nil, err
	}
	x := &Explanation{Exact: len(l.h.Outputs) > 0 && l.h.Fourier == nil &&
		l.h.Outputs[0].Weights != nil, Label: e.label()}
	var drops [][]float64
	if !x.Exact {
		for n := range e.idx {
			scores, err := e.without(n)
			if err != nil {
				return nil, err
			}
			drops = append(drops, scores)
		}
	}
	for k := range e.outputs {
		o := ExplainedOutput{Class: e.l.class(k, e.outputs), Score: e.scores[k], Parts: []Part{}}
		if x.Exact {
			e.exact(&o, k)
		} else {
			e.dropped(&o, k, drops)
		}
		slices.SortStableFunc(o.Parts, func(a, b Part) int {
			return cmp.Compare(math.Abs(b.Adds), math.Abs(a.Adds))
		})
		o.Parts, o.Examples = first(o.Parts, top), first(o.Examples, top)
		x.Outputs = append(x.Outputs, o)
	}
	return x, nil
}

// explaining is an example in the course of Explain.
type explaining[T learner.Float] struct {
	l       *laid
	p       learner.Predictor[T]
	outputs int
	dim     int
	idx     []int32 // non-zeros
	val     []T
	scores  []float64
}

// without returns the scores of the example whose n-th non-zero is left out, -1: none.
func (e *explaining[T]) without(n int) ([]float64, error) {
	b := engine.Block[T]{Dim: e.dim, Ptr: []int{0, 0}}
	for m, j := range e.idx {
		if m != n {
			b.Idx, b.Val = append(b.Idx, j), append(b.Val, e.val[m])
		}
	}
	b.Ptr[1] = len(b.Idx)
	scores := make([]float64, e.outputs)
	if err := e.p.Score(&b, scores); err != nil {
		return nil, fmt.Errorf("the example: %w", err)
	}
	return scores, nil
}

// label is the one that is predicted.
func (e *explaining[T]) label() string {
	if e.outputs > 1 || len(e.l.classes) != 2 {
		if best := learner.Predicted(e.scores); best >= 0 {
			return e.l.classes[best]
		}
		return ""
	}
	switch f := e.scores[0]; {
	case f >= 0:
		return e.l.classes[1]
	case f < 0:
		return e.l.classes[0]
	}
	return ""
}

// exact fills in the parts of a score by weights.
func (e *explaining[T]) exact(o *ExplainedOutput, k int) {
	out := &e.l.h.Outputs[k]
	bias, sum := out.Bias, 0.0
	for _, v := range out.Weights {
		sum += v * v
	}
	if sum > 0 {
		margin := o.Score / math.Sqrt(sum)
		o.Margin = &margin
	}
	for n, j := range e.idx {
		w, v := 0.0, float64(e.val[n])
		if int(j) < len(out.Weights) {
			w = out.Weights[j]
		}
		if int(j) < e.l.lead {
			bias += w * v
			continue
		}
		o.Parts = append(o.Parts, Part{e.l.name(int(j)), v, &w, w * v})
	}
	o.Bias = &bias
}

// dropped fills in the parts of a score by the scores without each feature, and what kept examples
// add.
func (e *explaining[T]) dropped(o *ExplainedOutput, k int, drops [][]float64) {
	for n, j := range e.idx {
		if int(j) >= e.l.lead {
			o.Parts = append(o.Parts, Part{e.l.name(int(j)), float64(e.val[n]), nil,
				o.Score - drops[n][k]})
		}
	}
	if len(e.l.h.Outputs) == 0 || e.l.h.Fourier != nil {
		return
	}
	out := &e.l.h.Outputs[k]
	for i, c := range out.Coef {
		v := e.kernel(&out.Points, i)
		o.Examples = append(o.Examples, Pull{Example{c, e.l.point(out, i)}, v, c * v})
	}
	slices.SortStableFunc(o.Examples, func(a, b Pull) int {
		return cmp.Compare(math.Abs(b.Adds), math.Abs(a.Adds))
	})
}

// kernel is K of a kept example and this one.
func (e *explaining[T]) kernel(points *engine.Block[float64], i int) float64 {
	k, s := e.l.h.Kernel, 1.0
	if k.Scale != 0 {
		s = k.Scale * k.Scale
	}
	idx, val := points.Sparse(i)
	var dot, a, b float64
	for _, v := range val {
		a += v * v
	}
	at := 0
	for n, j := range e.idx {
		v := float64(e.val[n])
		b += v * v
		for at < len(idx) && idx[at] < j {
			at++
		}
		if at < len(idx) && idx[at] == j {
			dot += v * val[at]
		}
	}
	if k.Kind == engine.RBF {
		return math.Exp(-k.Gamma * max(0, a+b-2*dot) / s)
	}
	return math.Pow(k.Gamma*dot/s+k.Coef0, float64(k.Degree))
}
