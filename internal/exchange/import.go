package exchange

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// readers are the formats that Import reads.
var readers = []struct {
	name string
	read func(io.Reader) (*model.Model, error)
}{
	{"liblinear", readLiblinear},
	{"libsvm", readLibsvm},
}

// Sources returns the names of the formats that Import reads.
func Sources() (names []string) {
	for _, f := range readers {
		names = append(names, f.name)
	}
	return names
}

// Import reads a model of another program, in the format of that name, one of Sources, and returns
// one that scores as it does, in float64, up to rounding: of LIBLINEAR those of its classification,
// of LIBSVM those of C-SVC and nu-SVC with a linear, polynomial or RBF kernel, which of more than
// two classes vote by pairs. Of two labels the larger is the positive one. A score of exactly 0 is
// the second label's, as it is there: where that is the negative one the model's Threshold says so.
//
// Weights become a learner that can learn on from them, a bias the weight of an appended feature of
// 1. An expansion becomes that of a learner of whole data sets, which predicts. Data are svmlight
// files whose features count from 1.
//
// Errors wrap ErrFile, or are those of r. Memory: in proportion to the file.
func Import(from string, r io.Reader) (*model.Model, error) {
	at := slices.Index(Sources(), from)
	if at < 0 {
		return nil, fmt.Errorf("no format %q, want one of %s: %w", from,
			strings.Join(Sources(), ", "), ErrFile)
	}
	return readers[at].read(r)
}

// imported makes the model of a hypothesis over rows of dim features whose classes have these
// labels: of two, the first is that of scores above 0.
func imported(labels []string, dim int, h *learner.Hypothesis) (*model.Model, error) {
	p := model.Prep{Bias: "none", Normalize: "none", Scale: 1, Format: "svmlight", IndexBase: 1,
		Dim: dim}
	var from *learner.Threshold
	switch {
	case len(h.Outputs) > 1:
		p.Classes = labels
	case larger(labels[1], labels[0]):
		p.Labels = model.Labels{Negative: labels[0], Positive: labels[1]}
		h.Outputs[0] = negated(h.Outputs[0])
	default:
		p.Labels = model.Labels{Negative: labels[1], Positive: labels[0]}
		from = &learner.Threshold{Score: aboveZero, Target: "above=0"}
	}
	if h.Outputs[0].Weights != nil {
		appendBias(h, &p)
	}
	e, c, s, ok := learner.Hold(h)
	if !ok {
		return nil, fmt.Errorf("no learner here can hold it: %w", ErrFile)
	}
	l, err := learner.New[float64](e, c, learner.Env{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFile)
	}
	if err := l.SetState(s); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFile)
	}
	m, err := model.Capture(e.Name, c, 0, l)
	if err != nil {
		return nil, err
	}
	m.Prep, m.Threshold = p, from
	return m, nil
}

// aboveZero is the Threshold of a model whose score of 0 is the negative label's: no score lies
// between it and 0.
const aboveZero = math.SmallestNonzeroFloat64

// larger reports whether a label, a whole number, is larger than another.
func larger(a, b string) bool {
	x, _ := strconv.ParseInt(a, 10, 64)
	y, _ := strconv.ParseInt(b, 10, 64)
	return x > y
}

// appendBias makes biases weights of an appended feature, if there are any.
func appendBias(h *learner.Hypothesis, p *model.Prep) {
	if !slices.ContainsFunc(h.Outputs, func(o learner.Output) bool { return o.Bias != 0 }) {
		return
	}
	p.Bias = "append"
	for k := range h.Outputs {
		o := &h.Outputs[k]
		o.Weights, o.Bias = slices.Insert(o.Weights, 0, o.Bias), 0
	}
}
