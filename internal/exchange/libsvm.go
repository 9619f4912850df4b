package exchange

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Reference: C.-C. Chang, C.-J. Lin, "LIBSVM: A Library for Support Vector Machines", ACM TIST
// 2:27, 2011, and svm_load_model of its svm.cpp. A model is lines of a word and its values, and
// behind the word SV a line for each support vector: its coefficient and its features, from 1, the
// vectors of the first label before the others. Of two classes a score sum_i coef_i K(x_i, x) - rho
// above 0 is the first of the labels.

// libsvmKernels are names of kernels there.
var libsvmKernels = map[engine.KernelKind]string{engine.Poly: "polynomial", engine.RBF: "rbf"}

func writeLibsvm(w *bufio.Writer, f *Form) ([]string, error) {
	switch {
	case f.Random != nil:
		return nil, fmt.Errorf("random features are none of its kernels: %w; export to onnx or npz",
			ErrForm)
	case len(f.Outputs) > 1 && !f.pairs:
		return nil, fmt.Errorf("it tells %d classes by one function for each pair of them, the "+
			"model by one for each class: %w; export to onnx or npz, a linear one to liblinear, "+
			"or train pairs", len(f.Classes), ErrForm)
	}
	f, labels, outputs, notes, err := f.numeric("libsvm")
	if err != nil {
		return nil, err
	}
	f.libsvmHead(w)
	if f.pairs {
		if f.sums {
			notes = append(notes, "of classes with as many votes the first is predicted there, "+
				"here the one whose scores sum to most; a model with ties_first is the same")
		}
		f.libsvmPairs(w, outputs, labels)
		return notes, nil
	}
	notes = append(notes, f.ties()...)
	above, labels, more := firstAbove(f, outputs[0], labels)
	notes = append(notes, more...)
	o := vectors(above)
	first, second := bySign(o.Coef)
	fmt.Fprintf(w, "nr_class 2\ntotal_sv %d\nrho %s\nlabel %d %d\nnr_sv %d %d\nSV\n", len(o.Coef),
		number(-o.Bias), labels[0], labels[1], len(first), len(second))
	for _, i := range append(first, second...) {
		w.WriteString(number(o.Coef[i]) + " ")
		libsvmRow(w, &o, i)
	}
	return notes, nil
}

// bySign returns the places of coefficients above 0, and of the others.
func bySign(coef []float64) (positive, rest []int) {
	for i, c := range coef {
		if c > 0 {
			positive = append(positive, i)
		} else {
			rest = append(rest, i)
		}
	}
	return positive, rest
}

// vectors is an output over support vectors: of weights there is one.
func vectors(o learner.Output) learner.Output {
	if o.Weights != nil {
		o.Coef, o.Points = []float64{1}, dense(o.Weights)
	}
	return o
}

// libsvmRow writes support vector i behind its coefficients.
func libsvmRow(w *bufio.Writer, o *learner.Output, i int) {
	idx, val := o.Points.Sparse(i)
	for n, j := range idx {
		w.WriteString(strconv.Itoa(int(j)+1) + ":" + number(val[n]) + " ")
	}
	w.WriteByte('\n')
}

// libsvmPairs writes one function for each pair of classes. A vector belongs to the first of the
// two, whatever its label was, and has the coefficient 0 for the others: what a function adds up is
// the same.
func (f *Form) libsvmPairs(w *bufio.Writer, outputs []learner.Output, labels []int32) {
	k := len(labels)
	pairs, rho, names, counts := make([]learner.Output, 0, len(outputs)), "", "", ""
	total := 0
	for i, label := range labels {
		of := 0
		for j := i + 1; j < k; j++ {
			o := vectors(outputs[pairAt(i, j)])
			pairs, of = append(pairs, o), of+len(o.Coef)
			rho += " " + number(-o.Bias)
		}
		names += fmt.Sprintf(" %d", label)
		counts += fmt.Sprintf(" %d", of)
		total += of
	}
	fmt.Fprintf(w, "nr_class %d\ntotal_sv %d\nrho%s\nlabel%s\nnr_sv%s\nSV\n", k, total, rho, names,
		counts)
	for i := range k {
		for j := i + 1; j < k; j++ {
			o := &pairs[0]
			pairs = pairs[1:]
			for n, c := range o.Coef {
				w.WriteString(strings.Repeat("0 ", j-1) + number(c) + " " +
					strings.Repeat("0 ", k-1-j))
				libsvmRow(w, o, n)
			}
		}
	}
}

// libsvmHead writes the lines on the kernel.
func (f *Form) libsvmHead(w *bufio.Writer) {
	fmt.Fprint(w, "svm_type c_svc\n")
	switch k := f.Kernel; {
	case f.Linear():
		fmt.Fprint(w, "kernel_type linear\n")
	default:
		fmt.Fprintf(w, "kernel_type %s\n", libsvmKernels[k.Kind])
		if k.Kind == engine.Poly {
			fmt.Fprintf(w, "degree %d\n", k.Degree)
		}
		fmt.Fprintf(w, "gamma %s\n", number(k.Gamma))
		if k.Kind == engine.Poly {
			fmt.Fprintf(w, "coef0 %s\n", number(k.Coef0))
		}
	}
}

// dense returns a block of one row, without its zeros.
func dense(row []float64) engine.Block[float64] {
	b := engine.Block[float64]{Dim: len(row), Ptr: []int{0}}
	for j, v := range row {
		if v != 0 {
			b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, v)
		}
	}
	b.Ptr = append(b.Ptr, len(b.Idx))
	return b
}

// maxWeights bounds the weights that a line of one feature asks for: they take 1 GiB.
const maxWeights = 1 << 27

func readLibsvm(r io.Reader) (*model.Model, error) {
	l := newLines(r)
	head, err := l.header("SV")
	if err != nil {
		return nil, err
	}
	kind, err := l.one(head, "svm_type")
	if err != nil {
		return nil, err
	}
	if kind != "c_svc" && kind != "nu_svc" {
		return nil, fmt.Errorf("svm_type %s is none of classification: %w; those are -s 0 and 1",
			kind, ErrFile)
	}
	labels, err := l.labels(head)
	if err != nil {
		return nil, err
	}
	k, err := l.kernel(head)
	if err != nil {
		return nil, err
	}
	h, err := l.outputs(head, len(labels))
	if err != nil {
		return nil, err
	}
	h.Kernel = k
	if l.next() && strings.TrimSpace(l.text) != "" {
		return nil, l.bad("expected the end behind the support vectors, found %.40q", l.text)
	}
	if err := l.s.Err(); err != nil {
		return nil, err
	}
	dim := 0
	for i := range h.Outputs {
		dim = max(dim, h.Outputs[i].Points.Dim)
	}
	if k.Kind == engine.Linear && dim > maxWeights/len(h.Outputs) {
		return nil, fmt.Errorf("a feature %d, of a linear kernel at most %d: %w", dim,
			maxWeights/len(h.Outputs), ErrFile)
	}
	for i := range h.Outputs {
		o := &h.Outputs[i]
		if o.Points.Dim = dim; k.Kind == engine.Linear {
			*o = learner.Output{Weights: expanded(o, k), Bias: o.Bias, Divisor: 1}
		}
	}
	return imported(labels, dim, h)
}

// maxPairs bounds the classes that there is a function for each two of.
const maxPairs = 1024

// outputs reads the support vectors, and returns what is computed of them: one output for each pair
// of classes. Of classes i < j each vector has a coefficient for each other class, that of class d
// at d, or d-1 where its own class comes before.
func (l *lines) outputs(head map[string][]string, classes int) (*learner.Hypothesis, error) {
	text, err := l.one(head, "total_sv")
	if err != nil {
		return nil, err
	}
	total, err := l.count(text)
	if err != nil {
		return nil, err
	}
	rho, of := head["rho"], head["nr_sv"]
	if classes > maxPairs || len(rho) != classes*(classes-1)/2 {
		return nil, fmt.Errorf("rho has %d values with %d classes, want one a pair of at most %d "+
			"classes: %w", len(rho), classes, maxPairs, ErrFile)
	}
	h := &learner.Hypothesis{Outputs: make([]learner.Output, len(rho)), Pairs: classes > 2}
	k := 0
	for i := range classes {
		for j := i + 1; j < classes; j++ {
			v, err := l.finite(rho[k])
			if err != nil {
				return nil, err
			}
			h.Outputs[pairAt(i, j)] = learner.Output{Coef: []float64{}, Bias: -v, Divisor: 1,
				Points: engine.Block[float64]{Ptr: []int{0}}}
			k++
		}
	}
	if classes == 2 { // of which all vectors are of one pair, whatever nr_sv says
		of = []string{strconv.Itoa(total)}
	}
	if len(of) != classes && classes > 2 {
		return nil, fmt.Errorf("nr_sv has %d values with %d classes: %w", len(of), classes, ErrFile)
	}
	read := 0
	for class, text := range of {
		n, err := l.count(text)
		if err != nil {
			return nil, err
		}
		for range n {
			if !l.next() {
				return nil, l.ended(fmt.Sprintf("%d support vectors, found %d", total, read))
			}
			if read++; read > total {
				return nil, fmt.Errorf("nr_sv has more than the %d support vectors: %w", total,
					ErrFile)
			}
			if err := l.vector(h, class, classes); err != nil {
				return nil, err
			}
		}
	}
	if read != total {
		return nil, fmt.Errorf("nr_sv has %d of %d support vectors: %w", read, total, ErrFile)
	}
	return h, nil
}

// pairAt returns the output of classes i and j.
func pairAt(i, j int) int {
	i, j = min(i, j), max(i, j)
	return j*(j-1)/2 + i
}

// pairOf returns the classes i < j of output k.
func pairOf(k int) (i, j int) {
	for j = 1; k >= j; j++ {
		k -= j
	}
	return k, j
}

// vector reads a support vector of a class: the coefficients and the features that are not 0. A
// coefficient of 0 adds nothing.
func (l *lines) vector(h *learner.Hypothesis, class, classes int) error {
	words := strings.Fields(l.text)
	if len(words) < classes-1 {
		return l.bad("expected a support vector with %d coefficients, found %.40q", classes-1,
			l.text)
	}
	last := int32(-1)
	var row engine.Block[float64]
	for _, word := range words[classes-1:] {
		at, value, ok := strings.Cut(word, ":")
		if !ok {
			return l.bad("expected number:value, found %q", word)
		}
		j, err := l.count(at)
		if err != nil {
			return err
		}
		v, err := l.finite(value)
		if err != nil {
			return err
		}
		if int32(j)-1 <= last {
			return l.bad("feature %d: want features from 1, each above the one before", j)
		}
		last = int32(j) - 1
		if v != 0 {
			row.Idx, row.Val = append(row.Idx, last), append(row.Val, v)
		}
	}
	for k, word := range words[:classes-1] {
		c, err := l.finite(word)
		if err != nil {
			return err
		}
		other := k
		if k >= class {
			other++
		}
		o := &h.Outputs[pairAt(class, other)]
		b := &o.Points
		if b.Dim = max(b.Dim, int(last)+1); c == 0 {
			continue
		}
		b.Idx, b.Val = append(b.Idx, row.Idx...), append(b.Val, row.Val...)
		b.Ptr, o.Coef = append(b.Ptr, len(b.Idx)), append(o.Coef, c)
	}
	return nil
}

// kernel reads the kernel of a header.
func (l *lines) kernel(head map[string][]string) (k engine.Kernel, err error) {
	name, err := l.one(head, "kernel_type")
	if err != nil {
		return k, err
	}
	switch name {
	case "linear":
		return engine.Kernel{Kind: engine.Linear}, nil
	case "polynomial":
		k.Kind = engine.Poly
	case "rbf":
		k.Kind = engine.RBF
	default:
		return k, fmt.Errorf("kernel_type %s: want linear, polynomial or rbf: %w", name, ErrFile)
	}
	read := func(word string) (v float64) {
		var text string
		if err == nil {
			text, err = l.one(head, word)
		}
		if err == nil {
			v, err = l.finite(text)
		}
		return v
	}
	k.Gamma = read("gamma")
	if k.Kind == engine.Poly {
		k.Coef0, k.Degree = read("coef0"), int(read("degree"))
	}
	if err != nil {
		return k, err
	}
	if err := k.Validate(); err != nil {
		return k, fmt.Errorf("%w: %w", err, ErrFile)
	}
	return k, nil
}
