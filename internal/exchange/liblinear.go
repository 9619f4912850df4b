package exchange

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Reference: R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang, C.-J. Lin, "LIBLINEAR: A Library for
// Large Linear Classification", JMLR 9, 2008, and load_model of its linear.cpp. A model is lines of
// a word and its values, and behind the word w a line of weights for each feature, from 1, and for
// the bias where it is not negative: its value is that of one more feature. Of two classes there is
// one weight, and a score above 0 is the first of the labels; else one for each class, and the
// class of the first of the largest is predicted.

// solver_type of classification by one weight vector, by one a class, and what is neither.
const (
	solverOfTwo  = "L2R_L2LOSS_SVC_DUAL"
	solverOfMany = "MCSVM_CS"
)

// solvers are those of classification.
var solvers = map[string]bool{"L2R_LR": true, "L2R_L2LOSS_SVC_DUAL": true, "L2R_L2LOSS_SVC": true,
	"L2R_L1LOSS_SVC_DUAL": true, "MCSVM_CS": true, "L1R_L2LOSS_SVC": true, "L1R_LR": true,
	"L2R_LR_DUAL": true}

func writeLiblinear(w *bufio.Writer, f *Form) ([]string, error) {
	if !f.Linear() {
		what, to := "sums over examples", "libsvm or onnx"
		if f.Random != nil {
			what, to = "weights of random features", "onnx or npz"
		}
		return nil, fmt.Errorf("%s are no weights of the features: %w; export to %s", what, ErrForm,
			to)
	}
	f, labels, outputs, notes, err := f.numeric("liblinear")
	if err != nil {
		return nil, err
	}
	solver := solverOfMany
	notes = append(notes, f.ties()...)
	switch len(outputs) {
	case 2: // of two labels the program asks the first function alone: whether it is above 0
		o := negated(outputs[0])
		for j, v := range outputs[1].Weights {
			o.Weights[j] += v
		}
		o.Bias += outputs[1].Bias
		solver, outputs, labels = solverOfTwo, []learner.Output{o}, []int32{labels[1], labels[0]}
	case 1:
		o, order, more := firstAbove(f, outputs[0], labels)
		notes = append(notes, more...)
		solver, outputs, labels = solverOfTwo, []learner.Output{o}, order
	}
	biased := false
	for _, o := range outputs {
		biased = biased || o.Bias != 0
	}
	bias := "-1"
	if biased {
		bias = "1"
	}
	fmt.Fprintf(w, "solver_type %s\nnr_class %d\nlabel", solver, len(labels))
	for _, l := range labels {
		fmt.Fprintf(w, " %d", l)
	}
	fmt.Fprintf(w, "\nnr_feature %d\nbias %s\nw\n", f.Dim, bias)
	for j := range f.Dim {
		for _, o := range outputs {
			w.WriteString(number(o.Weights[j]) + " ")
		}
		w.WriteByte('\n')
	}
	if biased {
		for _, o := range outputs {
			w.WriteString(number(o.Bias) + " ")
		}
		w.WriteByte('\n')
	}
	return notes, nil
}

// ties says that scores of exactly 0 may become others: of weights that are whole numbers, as a
// perceptron's, these are not rare.
func (f *Form) ties() []string {
	if !f.rounds || !f.Linear() {
		return nil
	}
	return []string{"rows were divided for the model, weights are here, and both round: where a " +
		"score is 0 but for that, the label may be another"}
}

// summed says that scores are sums of members.
func summed(divisor float64) []string {
	if divisor == 1 {
		return nil
	}
	return []string{"scores are " + number(divisor) + " times the model's, sums of members and " +
		"no averages, so that the labels of scores of exactly 0 stay"}
}

// negated is an output of the other sign; 0 stays 0.
func negated(o learner.Output) learner.Output {
	o.Bias, o.Weights, o.Coef = 0-o.Bias, slices.Clone(o.Weights), slices.Clone(o.Coef)
	for j, v := range o.Weights {
		o.Weights[j] = 0 - v
	}
	for i, v := range o.Coef {
		o.Coef[i] = 0 - v
	}
	return o
}

// lines reads a text model line by line.
type lines struct {
	s    *bufio.Scanner
	at   int // the line in hand, from 1
	text string
}

// maxModelLine is the longest line of a text model: an example that was kept.
const maxModelLine = 1 << 30

func newLines(r io.Reader) *lines {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 1<<16), maxModelLine)
	return &lines{s: s}
}

// next takes the next line in hand.
func (l *lines) next() bool {
	if !l.s.Scan() {
		return false
	}
	l.at++
	l.text = strings.TrimRight(l.s.Text(), " \r")
	return true
}

// bad is an error of the line in hand.
func (l *lines) bad(format string, args ...any) error {
	return fmt.Errorf("line %d: %s: %w", l.at, fmt.Sprintf(format, args...), ErrFile)
}

// ended is the error of a text that ends too early.
func (l *lines) ended(want string) error {
	if err := l.s.Err(); err != nil {
		return err
	}
	return fmt.Errorf("line %d: the file ends, expected %s: %w; get it again", l.at+1, want,
		ErrFile)
}

// finite reads a number.
func (l *lines) finite(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v-v != 0 {
		return 0, l.bad("expected a number, found %q", text)
	}
	return v, nil
}

// count reads a whole number from 0 to the most that a feature's or example's may be.
func (l *lines) count(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n > maxFeatures {
		return 0, l.bad("expected a whole number up to %d, found %q", maxFeatures, text)
	}
	return int(n), nil
}

// maxFeatures leaves room for an appended feature.
const maxFeatures = math.MaxInt32 - 1

// header reads lines of a word and its values until the line last, into a map. Words that come
// twice are an error.
func (l *lines) header(last string) (map[string][]string, error) {
	head := map[string][]string{}
	for l.next() {
		if l.text == last {
			return head, nil
		}
		words := strings.Fields(l.text)
		if len(words) < 1 || head[words[0]] != nil || len(head) > 32 {
			return nil, l.bad("expected a word that has not come, and its values, found %.40q",
				l.text)
		}
		head[words[0]] = append([]string{}, words[1:]...)
	}
	return nil, l.ended(last)
}

// one returns the only value of a word.
func (l *lines) one(head map[string][]string, word string) (string, error) {
	if len(head[word]) != 1 {
		return "", fmt.Errorf("%s has %d values, want one: %w", word, len(head[word]), ErrFile)
	}
	return head[word][0], nil
}

// labels returns those of a header, and nr_class.
func (l *lines) labels(head map[string][]string) ([]string, error) {
	text, err := l.one(head, "nr_class")
	if err != nil {
		return nil, err
	}
	n, err := l.count(text)
	if err != nil {
		return nil, err
	}
	labels := head["label"]
	if n < 2 || len(labels) != n {
		return nil, fmt.Errorf("nr_class is %d with %d labels, want two or more: %w; models of "+
			"regression and of one class are none of classification", n, len(labels), ErrFile)
	}
	seen := map[int64]bool{}
	for _, label := range labels {
		v, err := strconv.ParseInt(label, 10, 32)
		if err != nil || seen[v] {
			return nil, fmt.Errorf("label %q, want whole numbers, each of them once: %w", label,
				ErrFile)
		}
		seen[v] = true
	}
	return labels, nil
}

func readLiblinear(r io.Reader) (*model.Model, error) {
	l := newLines(r)
	head, err := l.header("w")
	if err != nil {
		return nil, err
	}
	solver, err := l.one(head, "solver_type")
	if err != nil {
		return nil, err
	}
	if !solvers[solver] {
		return nil, fmt.Errorf("solver_type %s is none of classification: %w; those are -s 0 to 7",
			solver, ErrFile)
	}
	labels, err := l.labels(head)
	if err != nil {
		return nil, err
	}
	text, err := l.one(head, "nr_feature")
	if err != nil {
		return nil, err
	}
	dim, err := l.count(text)
	if err != nil {
		return nil, err
	}
	bias := -1.0
	if head["bias"] != nil { // early versions have none
		if text, err = l.one(head, "bias"); err != nil {
			return nil, err
		}
		if bias, err = l.finite(text); err != nil {
			return nil, err
		}
	}
	columns := len(labels)
	if columns == 2 && solver != solverOfMany {
		columns = 1
	}
	outputs, err := l.columns(dim, columns, bias)
	if err != nil {
		return nil, err
	}
	if len(labels) == 2 { // the program asks the first alone, whatever the solver
		outputs = outputs[:1]
	}
	return imported(labels, dim, &learner.Hypothesis{Outputs: outputs})
}

// columns reads the weights of features, a line each, and those of the bias.
func (l *lines) columns(dim, columns int, bias float64) ([]learner.Output, error) {
	outputs := make([]learner.Output, columns)
	for k := range outputs {
		outputs[k].Weights, outputs[k].Divisor = []float64{}, 1
	}
	rows := dim
	if bias >= 0 {
		rows++
	}
	for j := range rows {
		if !l.next() {
			return nil, l.ended(fmt.Sprintf("%d weights of feature %d", columns, j+1))
		}
		words := strings.Fields(l.text)
		if len(words) != columns {
			return nil, l.bad("expected %d weights, found %d", columns, len(words))
		}
		for k, word := range words {
			v, err := l.finite(word)
			if err != nil {
				return nil, err
			}
			if j == dim {
				outputs[k].Bias = v * bias
				continue
			}
			outputs[k].Weights = append(outputs[k].Weights, v)
		}
	}
	if l.next() && strings.TrimSpace(l.text) != "" {
		return nil, l.bad("expected the end, found %.40q", l.text)
	}
	return outputs, l.s.Err()
}
