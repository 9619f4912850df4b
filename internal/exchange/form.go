// Package exchange lays models open: it shows what is in them ([Inspect]), how they come to a score
// ([Explain]) and in what two differ ([Diff]), writes them in the forms of other programs, and
// reads theirs: LIBLINEAR, LIBSVM, ONNX, NumPy's npz, and text for people.
//
// [Open] lays a model open: a [Form] is what the model computes of the rows of files, with what
// prepares them (an appended feature, a scale) worked into its numbers. [Export] writes one, and
// [Import] makes a model of another program's file. Learners are looked up by name, so a program
// that uses this package imports package learners.
//
// # What becomes of a model
//
//	            weights, two classes   weights, more   kernel, two    kernel, more   random features
//	liblinear   yes                    yes             no             no             no
//	libsvm      yes                    pairs           yes            pairs          no
//	onnx        yes                    yes             yes            yes            yes
//	npz, text   yes                    yes             yes            yes            npz
//
// Pairs are learners of each two classes, which vote; other formats have none.
//
// Rows that are divided by their own length (normalize unit) are more than a linear form: onnx has
// the division in its graph. Weights without a bias of their own give the same labels without it,
// so that the other formats take these, and Export says that scores are longer by the row's length.
//
// Scores are those of the model up to rounding, of float64 in all formats but onnx, which holds
// float32; labels agree where a score is further from 0 than that. Sums of members are not divided
// in liblinear and libsvm, and in onnx only behind the label, so that a score of exactly 0 stays
// one.
//
// Everything is safe for concurrent use, as long as nothing changes a Form.
package exchange

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Errors of this package, wrapped with what was found, and behind a semicolon what to do.
var (
	ErrForm = errors.New("the format can't hold this model")
	ErrFile = errors.New("not a model that can be imported") // Import of a broken or unknown file
)

// Form is what a model computes of a row x of a file, as the file has it. With z = x, the row
// prepared, or its random features, output k is
//
//	f_k(x) = (sum_j Weights[j] z_j + Bias)/Divisor, or (sum_i Coef[i] K(Points_i, z) + Bias)/Divisor
//
// With one output a score of From or more is the second of Classes, else the first. With several
// the label is the class of the largest, the first of several.
type Form struct {
	Learner string
	Classes []string // the negative and the positive label, or one an output
	From    float64  // the least score of the positive label; 0 with several outputs
	Names   []string // of features, from a csv header; nil: they have numbers
	named   bool     // by a dictionary: their order is not that of columns
	rounds  bool     // weights are divided by what rows were, so that a sum of 0 is rounded apart
	Base    int      // the number of the first feature in the model's own data: 0 or 1
	Dim     int      // features of x

	// Shift and Factor, one a feature, make x_j (x_j - Shift[j]) Factor[j] first; nil: nothing
	// does.
	Shift, Factor []float64

	// Unit: a row is divided by its length then; by that with one more feature behind the others,
	// of value Constant, where that isn't 0. Weights, Points and Random have a place for it.
	Unit     bool
	Constant float64

	Random  *Random       // nil: none
	Kernel  engine.Kernel // of outputs without Weights; its Scale is 0
	Outputs []learner.Output

	// pairs: outputs are of pairs of classes, as learner.Hypothesis has them
	pairs, sums bool

	// Calibration has the probabilities that scores stand for; nil: none.
	Calibration *learner.Calibration
}

// Random are random Fourier features: z = sqrt(1/Half) (cos(x W + Offset), sin(x W + Offset)).
type Random struct {
	Half   int
	W      []float64 // [feature][Half]
	Offset []float64 // [Half]
}

// Places is how many features a prepared row has.
func (f *Form) Places() int {
	if f.Unit && f.Constant != 0 {
		return f.Dim + 1
	}
	return f.Dim
}

// Linear reports whether the outputs have weights for the row's own features.
func (f *Form) Linear() bool { return f.Random == nil && f.Outputs[0].Weights != nil }

// Name returns the name of feature j, from 0: that of its column, or its number in the model's own
// data.
func (f *Form) Name(j int) string {
	if j < len(f.Names) && f.Names[j] != "" {
		return f.Names[j]
	}
	return strconv.Itoa(j + f.Base)
}

// Open lays a model open. The error wraps ErrForm for votes, which have no such form, and those of
// package model.
func Open(m *model.Model) (*Form, error) { return open(m, false) }

// open is Open, with pairs also of pairs of classes, an output each.
func open(m *model.Model, pairs bool) (*Form, error) {
	h, err := hypothesisOf(m, pairs)
	if err != nil {
		return nil, err
	}
	outputs := len(h.Outputs)
	if h.Pairs {
		outputs = max(2, len(m.Prep.Classes))
	}
	p := &m.Prep
	f := &Form{Learner: m.Learner, Classes: classNames(p, outputs), Names: p.FeatureNames(),
		named: len(p.Names) > 0, Base: p.IndexBase, Dim: p.Dim,
		Kernel: h.Kernel, Calibration: m.Calibration, pairs: h.Pairs, sums: h.Sums}
	if m.Threshold != nil {
		f.From = m.Threshold.Score
	}
	n, k := len(h.Outputs), len(f.Classes)
	if h.Pairs && n != k*(k-1)/2 || !h.Pairs && (n > 1 && n != k || n == 1 && k > 2) {
		return nil, fmt.Errorf("%d outputs of %d classes: %w", n, k, ErrForm)
	}
	w := work{f: f, h: &h, divisor: 1}
	w.prepare(p)
	if err := w.fold(); err != nil {
		return nil, err
	}
	return f, nil
}

// hypothesisOf returns what the model computes of prepared examples. Errors are those of Open.
func hypothesisOf(m *model.Model, pairs bool) (learner.Hypothesis, error) {
	if m.Precision == "f64" {
		return hypothesis[float64](m, pairs)
	}
	return hypothesis[float32](m, pairs)
}

func hypothesis[T learner.Float](m *model.Model, pairs bool) (h learner.Hypothesis,
	err error) {
	p, err := model.RestorePredictor[T](m, nil)
	if err != nil {
		return h, err
	}
	h, ok := learner.HypothesisOf(p)
	if ok && h.Pairs && !pairs {
		return learner.Hypothesis{}, fmt.Errorf("%s has a function for each pair of classes, "+
			"which vote: %w; export to libsvm, which has them, too", m.Learner, ErrForm)
	}
	if !ok {
		return learner.Hypothesis{}, fmt.Errorf("%s with these settings is neither weights nor "+
			"a sum over examples (votes are not, and a model that has learned nothing): %w; "+
			"train one that averages weights", m.Learner, ErrForm)
	}
	return h, nil
}

// work folds what prepares rows into a hypothesis over prepared examples.
type work struct {
	f        *Form
	h        *learner.Hypothesis
	lead     int     // 1 if a feature is appended, which is the first one
	constant float64 // its value
	divisor  float64 // of rows

	scaling *format.Scaling // of features; nil: none
}

// prepare takes what prepares rows.
func (w *work) prepare(p *model.Prep) {
	if p.Bias == "append" {
		w.lead, w.constant = 1, 1
		if p.BiasValue != 0 {
			w.constant = p.BiasValue
		}
	}
	if p.ScaledBy() != "none" {
		w.scaling = p.Scaling
	}
	switch p.Normalize {
	case "max":
		w.divisor, w.f.rounds = p.Scale, p.Scale != 1
	case "unit":
		w.f.Unit, w.f.Constant = true, w.constant
	}
}

func (w *work) fold() error {
	f, features := w.f, 0
	for k := range w.h.Outputs {
		o := &w.h.Outputs[k]
		if o.Weights == nil && linearKernel(f.Kernel) {
			f.rounds = f.rounds || f.Kernel.Scale != 0 && f.Kernel.Scale != 1
			o.Weights = expanded(o, f.Kernel)
			o.Coef, o.Points = nil, engine.Block[float64]{}
		}
		features = max(features, len(o.Weights), o.Points.Dim)
	}
	if w.h.Fourier == nil {
		f.Dim = max(f.Dim, features-w.lead)
	}
	if w.scaling != nil {
		f.Shift, f.Factor = make([]float64, f.Dim), make([]float64, f.Dim)
		for j := range f.Dim {
			f.Shift[j], f.Factor[j] = w.scaling.Affine(j)
		}
	}
	if w.h.Fourier != nil {
		return w.random()
	}
	f.Outputs = w.h.Outputs
	if f.Outputs[0].Weights == nil {
		return w.kernel()
	}
	for k := range f.Outputs {
		f.Outputs[k].Weights, f.Outputs[k].Bias = w.vector(f.Outputs[k].Weights,
			f.Outputs[k].Bias)
	}
	if !f.Unit {
		f.unscaleWeights()
	}
	return nil
}

// unscaleWeights is unscale of weights, of which shifts and factors are gone then.
func (f *Form) unscaleWeights() {
	for k := range f.Outputs {
		add := []float64{f.Outputs[k].Bias}
		f.unscale(f.Outputs[k].Weights, add)
		f.Outputs[k].Bias = add[0]
	}
	f.Shift, f.Factor = nil, nil
}

// unscale works shifts and factors into the numbers of features, [feature][columns], and what that
// adds to the sums of the columns into add.
func (f *Form) unscale(numbers []float64, add []float64) {
	for j, shift := range f.Shift {
		for c := range add {
			v := numbers[j*len(add)+c] * f.Factor[j]
			numbers[j*len(add)+c] = v
			add[c] -= v * shift
		}
	}
}

// expanded returns the weights of a sum over examples of the plain inner product.
func expanded(o *learner.Output, k engine.Kernel) []float64 {
	s := k.Scale * k.Scale
	if s == 0 {
		s = 1
	}
	weights := make([]float64, o.Points.Dim)
	for i, c := range o.Coef {
		idx, val := o.Points.Sparse(i)
		for n, j := range idx {
			weights[j] += c * val[n] / s
		}
	}
	return weights
}

// vector folds the preparation into weights of prepared examples: of rows they are as many as
// places.
func (w *work) vector(weights []float64, bias float64) ([]float64, float64) {
	out := make([]float64, w.f.Places())
	var first float64
	for j, v := range weights {
		if j < w.lead {
			first = v
			continue
		}
		out[j-w.lead] = v / w.divisor
	}
	switch {
	case w.lead == 0:
	case w.f.Unit:
		out[w.f.Dim] = first
	default:
		bias += first * w.constant / w.divisor
	}
	return out, bias
}

// random folds the preparation into the frequencies.
func (w *work) random() error {
	f, half := w.f, w.h.Fourier.Half
	flat, err := w.h.Fourier.Frequencies(f.Dim + w.lead)
	if err != nil {
		return fmt.Errorf("%w; train with fewer random features", err)
	}
	r := &Random{Half: half, W: make([]float64, f.Places()*half), Offset: make([]float64, half)}
	for j := range f.Dim {
		for k, v := range flat[(j+w.lead)*half:][:half] {
			r.W[j*half+k] = v / w.divisor
		}
	}
	switch {
	case w.lead == 0:
	case f.Unit:
		copy(r.W[f.Dim*half:], flat[:half])
	default:
		for k, v := range flat[:half] {
			r.Offset[k] = v * w.constant / w.divisor
		}
	}
	if w.h.Outputs[0].Weights == nil {
		return fmt.Errorf("a sum over examples on random features: %w; take a linear base",
			ErrForm)
	}
	for k := range w.h.Outputs {
		o := &w.h.Outputs[k]
		o.Weights = append(o.Weights, make([]float64, 2*half-len(o.Weights))...)
	}
	if !f.Unit {
		f.unscale(r.W, r.Offset)
		f.Shift, f.Factor = nil, nil
	}
	f.Random, f.Outputs = r, w.h.Outputs
	return nil
}

// kernel folds the preparation into kernel and points: x/s and z give the kernel's value of x and
// s z with gamma/s^2.
func (w *work) kernel() error {
	f := w.f
	k := &f.Kernel
	if s := k.Scale; s != 0 {
		k.Gamma, k.Scale = k.Gamma/(s*s), 0
	}
	gamma, s := k.Gamma, w.divisor
	k.Gamma /= s * s
	first, known := 0.0, false // the appended feature of all points, which is the same
	for n := range f.Outputs {
		o := &f.Outputs[n]
		points := engine.Block[float64]{Dim: f.Places(), Ptr: []int{0}}
		for i := range o.Coef {
			idx, val := o.Points.Sparse(i)
			own := 0.0
			if w.lead == 1 && len(idx) > 0 && idx[0] == 0 {
				own, idx, val = val[0], idx[1:], val[1:]
			}
			switch {
			case f.Unit:
			case k.Kind == engine.RBF:
				apart := own - w.constant/s // no feature of the row's own
				o.Coef[i] *= math.Exp(-gamma * apart * apart)
			case known && own != first:
				return fmt.Errorf("examples kept with other appended features: %v and %v: %w",
					first, own, ErrForm)
			}
			first, known = own, true
			for m, j := range idx {
				points.Idx = append(points.Idx, j-int32(w.lead))
				points.Val = append(points.Val, val[m]*s)
			}
			if f.Unit && w.lead == 1 && own != 0 {
				points.Idx, points.Val = append(points.Idx, int32(f.Dim)), append(points.Val, own)
			}
			points.Ptr = append(points.Ptr, len(points.Idx))
		}
		o.Points = points
	}
	if !f.Unit && k.Kind == engine.Poly {
		k.Coef0 += gamma * first * w.constant / s
	}
	return nil
}

// undivided returns outputs that are not divided, if all are to be by the same number, and that;
// else divided ones and 1.
func (f *Form) undivided() (outputs []learner.Output, divisor float64) {
	divisor = f.Outputs[0].Divisor
	for _, o := range f.Outputs {
		if o.Divisor != divisor {
			return f.divided(), 1
		}
	}
	return f.Outputs, divisor
}

// divided returns outputs whose Divisor is 1.
func (f *Form) divided() []learner.Output {
	outputs := make([]learner.Output, len(f.Outputs))
	for k, o := range f.Outputs {
		outputs[k] = o
		if o.Divisor == 1 {
			continue
		}
		outputs[k].Weights, outputs[k].Coef = slices.Clone(o.Weights), slices.Clone(o.Coef)
		for j := range o.Weights {
			outputs[k].Weights[j] /= o.Divisor
		}
		for i := range o.Coef {
			outputs[k].Coef[i] /= o.Divisor
		}
		outputs[k].Bias, outputs[k].Divisor = o.Bias/o.Divisor, 1
	}
	return outputs
}

// plain returns the form without the division by a row's length, where labels are the same without
// it, and what is to be said of it. The error wraps ErrForm, for the format to.
func (f *Form) plain(to string) (*Form, string, error) {
	switch {
	case !f.Unit && f.Factor == nil:
		return f, "", nil
	case !f.Unit:
		return nil, "", fmt.Errorf("features have scales of their own, which kernels of %s can't "+
			"have: %w; export to onnx or npz", to, ErrForm)
	}
	g := *f
	g.Unit, g.Constant, g.Outputs = false, 0, nil
	// in these the threshold becomes a bias, which the length would divide, too
	moved := f.From != 0 && f.From != aboveZero && (to == "liblinear" || to == "libsvm")
	for _, o := range f.Outputs {
		if !f.Linear() || o.Bias != 0 || moved {
			return nil, "", fmt.Errorf("rows are divided by their length (normalize unit), which "+
				"%s can't say: %w; export to onnx, or train on rows that are divided already", to,
				ErrForm)
		}
		out := learner.Output{Weights: slices.Clone(o.Weights[:f.Dim]), Divisor: o.Divisor}
		if f.Constant != 0 {
			out.Bias = o.Weights[f.Dim] * f.Constant
		}
		g.Outputs = append(g.Outputs, out)
	}
	g.unscaleWeights()
	return &g, "labels are the model's; scores are the model's times the length of the row, by " +
		"which the model divides it", nil
}
