package exchange

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/learner"
)

// Versions of the operators, which all runtimes since 2022 have: of ONNX 1.11.
const (
	irVersion = 8
	opset     = 15
	mlOpset   = 1
)

// maxONNX is how many numbers a graph may have: a file ends at 2 GiB.
const maxONNX = 1 << 28

// writeONNX writes a graph of float32 with the input x [rows][features], zeros written out, and the
// outputs label [rows], numbers where all labels are whole ones and texts else, and scores
// [rows][classes]; of a model with a calibration probabilities [rows][classes], too. Of two labels
// the first column is the positive one's: a score of 0 is the positive label, as everywhere here,
// and a runtime takes the first of equal scores.
//
// The classifier is LinearClassifier, for a kernel SVMClassifier, and with more than two classes a
// SVMRegressor for each. A row is divided by its length, and random features are made, by common
// operators before it.
func writeONNX(w *bufio.Writer, f *Form) ([]string, error) {
	g := graph{f: f, row: "x"}
	g.outputs, g.divisor = f.undivided()
	size := int64(len(f.Outputs)) * int64(f.Places())
	if f.Random != nil {
		size = int64(f.Places()) * int64(f.Random.Half)
	}
	for _, o := range f.Outputs {
		size += int64(len(o.Coef)) * int64(f.Places())
	}
	switch {
	case size > maxONNX:
		return nil, fmt.Errorf("%d numbers, kept examples as dense rows, at most %d: %w; export "+
			"to another format, or train one that keeps fewer examples", size, maxONNX, ErrForm)
	case f.Dim == 0:
		return nil, fmt.Errorf("the model has no features: %w", ErrForm)
	}
	if f.Factor != nil {
		g.constant("shift", f.Shift, int64(f.Dim))
		g.constant("factor_of_x", f.Factor, int64(f.Dim))
		g.add("Sub", []string{"x", "shift"}, "shifted")
		g.add("Mul", []string{"shifted", "factor_of_x"}, "scaled")
		g.row = "scaled"
	}
	if f.Unit {
		g.unit()
	}
	if f.Random != nil {
		g.random()
	}
	switch {
	case f.Outputs[0].Weights != nil:
		g.linear()
	case len(f.Outputs) == 1:
		g.support()
	default:
		g.supports()
	}
	if g.divisor != 1 {
		g.constant("members", []float64{g.divisor}, 1)
		g.add("Div", []string{"sums", "members"}, "scores")
	}
	if g.from() {
		g.labelFrom()
	}
	switch {
	case f.Calibration == nil:
	case len(g.outputs) == 1:
		g.probabilities()
	default:
		g.classProbabilities()
	}
	model, err := g.model()
	if err != nil {
		return nil, err
	}
	_, err = w.Write(model)
	return f.ties(), err
}

// graph is a GraphProto in the making.
type graph struct {
	f     *Form
	row   string // the rows so far
	nodes [][]byte
	data  [][]byte // initializers

	outputs []learner.Output
	divisor float64 // of the scores, at last
}

func (g *graph) add(op string, inputs []string, output string, attributes ...attribute) {
	g.nodes = append(g.nodes, node("", op, inputs, []string{output}, attributes...))
}

// constant adds an initializer and returns its name.
func (g *graph) constant(name string, values []float64, shape ...int64) string {
	g.data = append(g.data, floats(name, values, shape...))
	return name
}

// unit divides rows by their lengths, with the constant as one more feature behind the others. A
// row of zeros alone stays one.
func (g *graph) unit() {
	c := g.f.Constant
	g.add("ReduceSumSquare", []string{g.row}, "squares", intsAttribute("axes", 1),
		intAttribute("keepdims", 1))
	square := g.constant("constant_square", []float64{c * c}, 1, 1)
	g.add("Add", []string{"squares", square}, "square")
	g.add("Sqrt", []string{"square"}, "length")
	least := g.constant("least", []float64{math.SmallestNonzeroFloat32}, 1, 1)
	g.add("Max", []string{"length", least}, "divisor")
	g.add("Div", []string{g.row, "divisor"}, "direction")
	g.row = "direction"
	if c != 0 {
		one := g.constant("constant", []float64{c}, 1, 1)
		g.add("Div", []string{one, "divisor"}, "last")
		g.add("Concat", []string{"direction", "last"}, "prepared", intAttribute("axis", 1))
		g.row = "prepared"
	}
}

// random makes random Fourier features of rows.
func (g *graph) random() {
	r := g.f.Random
	g.constant("frequencies", r.W, int64(g.f.Places()), int64(r.Half))
	g.constant("offset", r.Offset, int64(r.Half))
	g.add("Gemm", []string{g.row, "frequencies", "offset"}, "angles")
	g.add("Cos", []string{"angles"}, "cosines")
	g.add("Sin", []string{"angles"}, "sines")
	g.add("Concat", []string{"cosines", "sines"}, "waves", intAttribute("axis", 1))
	g.constant("factor", []float64{1 / math.Sqrt(float64(r.Half))}, 1)
	g.add("Mul", []string{"waves", "factor"}, "features")
	g.row = "features"
}

// classes are the labels in the order of the scores.
func (g *graph) classes() []string {
	c := g.f.Classes
	if len(g.outputs) == 1 {
		return []string{c[1], c[0]}
	}
	return c
}

// labels is the attribute of a classifier's labels.
func labels(names []string) attribute {
	if numbers, ok := format.WholeLabels(names); ok {
		return intsAttribute("classlabels_ints", numbers...)
	}
	return textsAttribute("classlabels_strings", names)
}

// linear classifies by weights.
func (g *graph) linear() {
	outputs := g.outputs
	if len(outputs) == 1 {
		outputs = []learner.Output{outputs[0], negated(outputs[0])}
	}
	var weights, biases []float64
	for _, o := range outputs {
		weights, biases = append(weights, o.Weights...), append(biases, o.Bias)
	}
	g.nodes = append(g.nodes, node(mlDomain, "LinearClassifier", []string{g.row},
		[]string{g.label(), g.scores()}, floatsAttribute("coefficients", weights),
		floatsAttribute("intercepts", biases), labels(g.classes()), intAttribute("multi_class", 1),
		textAttribute("post_transform", "NONE")))
}

// onnxKernels are names of kernels there.
var onnxKernels = map[engine.KernelKind]string{engine.Poly: "POLY", engine.RBF: "RBF"}

// kernel returns the attributes of support vectors, dense rows.
func (g *graph) kernel(o *learner.Output, order []int) []attribute {
	k, places := g.f.Kernel, g.f.Places()
	rows, coef := make([]float64, places*len(order)), make([]float64, len(order))
	for n, i := range order {
		coef[n] = o.Coef[i]
		idx, val := o.Points.Sparse(i)
		for m, j := range idx {
			rows[n*places+int(j)] = val[m]
		}
	}
	return []attribute{textAttribute("kernel_type", onnxKernels[k.Kind]),
		floatsAttribute("kernel_params", []float64{k.Gamma, k.Coef0, float64(k.Degree)}),
		floatsAttribute("support_vectors", rows), floatsAttribute("coefficients", coef),
		textAttribute("post_transform", "NONE")}
}

// regress adds the scores of an output.
func (g *graph) regress(k int, score string) {
	o := &g.outputs[k]
	order := make([]int, len(o.Coef))
	for i := range order {
		order[i] = i
	}
	attributes := append(g.kernel(o, order), floatsAttribute("rho", []float64{o.Bias}),
		intAttribute("n_supports", int64(len(order))))
	g.nodes = append(g.nodes, node(mlDomain, "SVMRegressor", []string{g.row}, []string{score},
		attributes...))
}

// support classifies by a sum over examples. The operator wants the vectors of the first label
// before those of the second, takes the first label for a score above 0, and gives the scores -s
// and s, whatever the labels: so the negative label is the first, and scores have the other sign.
func (g *graph) support() {
	o := negated(g.outputs[0])
	first, second := bySign(o.Coef)
	attributes := append(g.kernel(&o, append(first, second...)),
		floatsAttribute("rho", []float64{o.Bias}), labels(g.f.Classes),
		intsAttribute("vectors_per_class", int64(len(first)), int64(len(second))))
	g.nodes = append(g.nodes, node(mlDomain, "SVMClassifier", []string{g.row},
		[]string{g.label(), g.scores()}, attributes...))
}

// supports classifies by a sum over examples for each class.
func (g *graph) supports() {
	var scores []string
	for k := range g.outputs {
		scores = append(scores, fmt.Sprintf("score%d", k))
		g.regress(k, scores[k])
	}
	g.add("Concat", scores, g.scores(), intAttribute("axis", 1))
	g.add("ArgMax", []string{g.scores()}, "class", intAttribute("axis", 1),
		intAttribute("keepdims", 0), intAttribute("select_last_index", 0))
	g.data = append(g.data, g.names("labels", g.classes()))
	g.add("Gather", []string{"labels", "class"}, "label")
}

// from reports whether another score than 0 is the least of the positive label.
func (g *graph) from() bool { return g.f.From != 0 && len(g.outputs) == 1 }

// label is the name of the label that an operator gives, which takes a score of 0 or more for the
// positive one's.
func (g *graph) label() string {
	if g.from() {
		return "label_from_0"
	}
	return "label"
}

// labelFrom adds the label where another score than 0 is the least of the positive one. Of scores
// in float32 that is the next number of these; "above 0" needs no number so small that runtimes may
// take it for 0.
func (g *graph) labelFrom() {
	names, op, from := g.classes(), "Less", g.f.From
	least := float32(from)
	if float64(least) < from {
		least = math.Nextafter32(least, float32(math.Inf(1)))
	}
	if from == aboveZero {
		names, op, least = g.f.Classes, "Greater", 0
	}
	g.data = append(g.data, ints("column", 0), ints("all", -1), g.names("labels", names))
	g.constant("from", []float64{float64(least)}, 1)
	g.add("Gather", []string{"scores", "column"}, "of_positive", intAttribute("axis", 1))
	g.add("Reshape", []string{"of_positive", "all"}, "decision")
	g.add(op, []string{"decision", "from"}, "is_second")
	g.add("Cast", []string{"is_second"}, "class", intAttribute("to", elemInt64))
	g.add("Gather", []string{"labels", "class"}, "label")
}

// scores is the name of the scores before they are divided.
func (g *graph) scores() string {
	if g.divisor == 1 {
		return "scores"
	}
	return "sums"
}

// probabilities adds those of the labels, in the order of the scores: the second is what the first
// leaves.
func (g *graph) probabilities() {
	c := g.f.Calibration
	g.data = append(g.data, ints("first", 0))
	g.add("Gather", []string{"scores", "first"}, "score", intAttribute("axis", 1))
	g.constant("slope", []float64{c.Slope}, 1)
	g.constant("intercept", []float64{c.Intercept}, 1)
	g.constant("one", []float64{1}, 1)
	g.add("Mul", []string{"score", "slope"}, "sloped")
	g.add("Add", []string{"sloped", "intercept"}, "odds")
	g.add("Sigmoid", []string{"odds"}, "positive")
	g.add("Sub", []string{"one", "positive"}, "negative")
	g.add("Concat", []string{"positive", "negative"}, "probabilities", intAttribute("axis", 1))
}

// classProbabilities is probabilities of classes with a score each.
func (g *graph) classProbabilities() {
	c := g.f.Calibration
	if len(c.Classes) == 0 {
		g.constant("slope", []float64{c.Slope}, 1)
		g.add("Mul", []string{"scores", "slope"}, "odds")
		g.add("Softmax", []string{"odds"}, "probabilities", intAttribute("axis", 1))
		return
	}
	var slopes, intercepts []float64
	for _, k := range c.Classes {
		slopes, intercepts = append(slopes, k.Slope), append(intercepts, k.Intercept)
	}
	n := int64(len(c.Classes))
	g.constant("slope", slopes, 1, n)
	g.constant("intercept", intercepts, 1, n)
	g.add("Mul", []string{"scores", "slope"}, "sloped")
	g.add("Add", []string{"sloped", "intercept"}, "odds")
	g.add("Sigmoid", []string{"odds"}, "each")
	g.add("ReduceL1", []string{"each"}, "sum", intsAttribute("axes", 1),
		intAttribute("keepdims", 1))
	g.add("Div", []string{"each", "sum"}, "probabilities")
}

// names is a tensor of labels.
func (g *graph) names(name string, classes []string) []byte {
	shape := []int64{int64(len(classes))}
	numbers, ok := format.WholeLabels(classes)
	if !ok {
		b := tensor(name, elemString, shape)
		for _, label := range classes {
			b = text(b, 6, label)
		}
		return b
	}
	b := tensor(name, elemInt64, shape)
	for _, v := range numbers {
		b = integer(b, 7, v)
	}
	return b
}

// model returns the ModelProto. Its metadata say what the file can't: the learner, the labels as
// the training data wrote them, and the names of features where they have any.
func (g *graph) model() ([]byte, error) {
	var b []byte
	for _, n := range g.nodes {
		b = message(b, 1, n)
	}
	b = text(b, 2, "halfspace")
	for _, t := range g.data {
		b = message(b, 5, t)
	}
	kind := int64(elemString)
	if _, ok := format.WholeLabels(g.classes()); ok {
		kind = elemInt64
	}
	b = message(b, 11, value("x", elemFloat, int64(g.f.Dim)))
	b = message(b, 12, value("label", kind))
	b = message(b, 12, value("scores", elemFloat, int64(len(g.classes()))))
	if g.f.Calibration != nil {
		b = message(b, 12, value("probabilities", elemFloat, int64(len(g.classes()))))
	}
	m := message(text(integer(nil, 1, irVersion), 2, "halfspace"), 7, b)
	m = message(m, 8, integer(text(nil, 1, ""), 2, opset))
	m = message(m, 8, integer(text(nil, 1, mlDomain), 2, mlOpset))
	for _, p := range []struct {
		key   string
		value any
		there bool
	}{
		{"learner", g.f.Learner, true},
		{"labels", g.classes(), true},
		{"feature_names", g.f.Names, g.f.Names != nil},
	} {
		if !p.there {
			continue
		}
		v, err := json.Marshal(p.value)
		if err != nil {
			return nil, err
		}
		m = message(m, 14, text(text(nil, 1, p.key), 2, string(v)))
	}
	return m, nil
}
