package exchange

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Summary is what a model holds, for people and as JSON.
type Summary struct {
	Learner   string          `json:"learner"`
	Precision string          `json:"precision"`
	Config    json.RawMessage `json:"config"`
	Seed      uint64          `json:"seed"`
	Prep      model.Prep      `json:"prep"`
	Classes   []string        `json:"classes"` // the negative and the positive label, or all
	// Since is how many examples there were before the first of each class; null of two labels, of
	// classes that were named beforehand, and where it is not kept.
	Since       []int64         `json:"since"`
	PredictOnly bool            `json:"predict_only"`
	Presented   uint64          `json:"presented"`
	Mistakes    uint64          `json:"mistakes"`
	Pass        *learner.Pass   `json:"pass"`     // where passes until convergence stopped
	Position    *model.Position `json:"position"` // where a run stood that was not at its end
	Rows        *model.Rows     `json:"rows"`     // of what shard of the rows it is; null: of all
	Part        *learner.Part   `json:"part"`     // which members of an ensemble; null: all
	// Calibration makes probabilities of scores; null without.
	Calibration *learner.Calibration `json:"calibration"`
	// Threshold is the score from which on the label is the positive one; null: 0.
	Threshold *learner.Threshold `json:"threshold"`
	Counters  map[string]uint64  `json:"counters"`
	Scalars   map[string]float64 `json:"scalars"`
	Tensors   []Tensor           `json:"tensors"`

	// Form is "weights", "examples" (a sum over those kept), "random features" (weights of them) or
	// "other": votes, say, of which there is no more to see.
	Form    string `json:"form"`
	Support *int   `json:"support"` // kept examples with a coefficient, over all outputs
	// Outputs are one of two classes, else one a class or one a pair of classes.
	Outputs []OutputSummary `json:"outputs"`
}

// Tensor is one of the file's.
type Tensor struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape []int  `json:"shape"`
}

// OutputSummary is one score, over rows as they are prepared.
type OutputSummary struct {
	// Class is the class, of two the positive label; of pairs of classes Against is the other one.
	Class   string `json:"class"`
	Against string `json:"against,omitempty"`

	Bias     float64   `json:"bias"` // with that of an appended feature
	Norm     *float64  `json:"norm"` // length of the weights, an appended feature's among them
	NonZeros int       `json:"non_zeros"`
	Top      []Weight  `json:"top,omitempty"`
	Examples []Example `json:"examples,omitempty"` // kept, the largest coefficients first
}

// Weight is that of a feature.
type Weight struct {
	Feature string  `json:"feature"`
	Weight  float64 `json:"weight"`
}

// Example is one that is kept, as it was prepared.
type Example struct {
	Coef float64 `json:"coef"`
	Row  string  `json:"row"` // as svmlight has it, the appended feature left out
}

// laid is a model laid open over prepared rows.
type laid struct {
	h        learner.Hypothesis
	names    Form    // of features
	lead     int     // 1 if a feature is appended
	constant float64 // its value
	classes  []string
}

// lay lays a model open; with pairs also one of pairs of classes, an output each.
func lay(m *model.Model, pairs bool) (*laid, error) {
	h, err := hypothesisOf(m, pairs)
	outputs := len(h.Outputs)
	if h.Pairs {
		rest, classes := pairOf(len(h.Outputs))
		if n := len(m.Prep.Classes); rest != 0 || n > 0 && n != classes {
			err = fmt.Errorf("%d pairs of %d classes: %w", len(h.Outputs), n, ErrForm)
		}
		outputs = classes
	}
	l := &laid{h: h, names: Form{Names: m.Prep.FeatureNames(), Base: m.Prep.IndexBase},
		classes: classNames(&m.Prep, outputs)}
	w := work{f: &Form{}}
	w.prepare(&m.Prep)
	l.lead, l.constant = w.lead, w.constant
	for k := range h.Outputs {
		o := &h.Outputs[k]
		if o.Weights == nil && linearKernel(h.Kernel) {
			o.Weights, o.Coef, o.Points = expanded(o, h.Kernel), nil, engine.Block[float64]{}
		}
	}
	l.h.Outputs = (&Form{Outputs: h.Outputs}).divided()
	return l, err
}

// linearKernel reports whether a sum over examples is one of weights.
func linearKernel(k engine.Kernel) bool { return k.Kind != engine.Poly && k.Kind != engine.RBF }

// classNames returns the names of the classes that a model of so many outputs tells.
func classNames(p *model.Prep, outputs int) []string {
	switch {
	case len(p.Classes) > 0:
		return p.Classes
	case outputs <= 1:
		l := p.Shown()
		return []string{l.Negative, l.Positive}
	}
	names := make([]string, outputs) // a model of a program that gave none
	for k := range names {
		names[k] = strconv.Itoa(k)
	}
	return names
}

// class is the name of output k of so many.
func (l *laid) class(k, outputs int) string {
	if outputs == 1 && len(l.classes) == 2 {
		return l.classes[1]
	}
	return l.classes[k]
}

// name is that of feature j of a prepared row.
func (l *laid) name(j int) string {
	if j < l.lead {
		return "(bias)"
	}
	return l.names.Name(j - l.lead)
}

// Inspect returns what a model holds; of each output the top largest weights, or kept examples.
// Errors are those of package model: votes are no error. Cost: the hypothesis is copied.
func Inspect(m *model.Model, top int) (*Summary, error) {
	s := &Summary{Learner: m.Learner, Precision: m.Precision, Config: m.Config, Seed: m.Seed,
		Prep: m.Prep, PredictOnly: m.PredictOnly, Presented: m.Presented, Mistakes: m.Mistakes,
		Pass: m.Pass, Position: m.Position, Rows: m.Rows,
		Calibration: m.Calibration, Threshold: m.Threshold,
		Counters: m.State.Counters, Scalars: m.State.Scalars,
		Tensors: []Tensor{}, Form: "other", Outputs: []OutputSummary{}}
	if _, c, err := m.Settings(); err == nil {
		s.Part = c.Traits().Part
	}
	for _, t := range m.State.Tensors {
		kind := strings.TrimPrefix(reflect.TypeOf(t.Data).String(), "[]")
		s.Tensors = append(s.Tensors, Tensor{t.Name, kind, t.Shape})
	}
	l, err := lay(m, true)
	s.Classes, s.Since = l.classes, m.State.Since()
	if isForm(err) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	switch {
	case l.h.Fourier != nil:
		s.Form = "random features"
	case l.h.Outputs[0].Weights != nil:
		s.Form = "weights"
	default:
		s.Form, s.Support = "examples", new(int)
	}
	for k := range l.h.Outputs {
		o := l.output(k, top)
		if l.h.Pairs {
			i, j := pairOf(k)
			o.Class, o.Against = l.classes[i], l.classes[j]
		}
		s.Outputs = append(s.Outputs, o)
		if s.Support != nil {
			*s.Support += len(l.h.Outputs[k].Coef)
		}
	}
	return s, nil
}

// output is the summary of an output.
func (l *laid) output(k, top int) OutputSummary {
	o := &l.h.Outputs[k]
	s := OutputSummary{Bias: o.Bias}
	if !l.h.Pairs {
		s.Class = l.class(k, len(l.h.Outputs))
	}
	if o.Weights == nil {
		s.NonZeros = len(o.Coef)
		for _, i := range first(largest(o.Coef), top) {
			s.Examples = append(s.Examples, Example{o.Coef[i], l.point(o, i)})
		}
		return s
	}
	sum := 0.0
	for _, v := range o.Weights {
		sum += v * v
	}
	sum = math.Sqrt(sum)
	s.Norm = &sum
	order := largest(o.Weights)
	s.NonZeros = len(order)
	if l.h.Fourier != nil {
		return s // their features have no names
	}
	for _, j := range order {
		if j < l.lead {
			s.Bias += o.Weights[j] * l.constant
			s.NonZeros--
		} else if len(s.Top) < top {
			s.Top = append(s.Top, Weight{l.name(j), o.Weights[j]})
		}
	}
	return s
}

// first is the beginning of a list.
func first[E any](list []E, n int) []E { return list[:min(len(list), max(n, 0))] }

// point is an example that is kept.
func (l *laid) point(o *learner.Output, i int) string {
	return row(&o.Points, i, l.lead, l.names.Base)
}
