package exchange

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// writers are the formats that Export writes.
var writers = []struct {
	name  string
	write func(w *bufio.Writer, f *Form) (notes []string, err error)
}{
	{"liblinear", writeLiblinear},
	{"libsvm", writeLibsvm},
	{"onnx", writeONNX},
	{"npz", writeNPZ},
	{"text", writeText},
}

// Targets returns the names of the formats that Export writes.
func Targets() (names []string) {
	for _, f := range writers {
		names = append(names, f.name)
	}
	return names
}

// Export writes a model in the format of that name, one of Targets. Notes say in what the file is
// not the model: other names of labels, say. Errors wrap ErrForm where the format can't hold the
// model, or are those of package model or of w; what was written then is of no use.
//
// Cost: the hypothesis is copied. Of onnx all kept examples are written as dense rows.
func Export(w io.Writer, to string, m *model.Model) (notes []string, err error) {
	at := slices.Index(Targets(), to)
	if at < 0 {
		return nil, fmt.Errorf("no format %q, want one of %s: %w", to,
			strings.Join(Targets(), ", "), ErrForm)
	}
	f, err := open(m, to == "libsvm")
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	if notes, err = writers[at].write(out, f); err != nil {
		return nil, err
	}
	return notes, out.Flush()
}

// firstAbove turns the output of two classes into one that is above 0 for the first of the labels,
// in their order then, as LIBLINEAR and LIBSVM have them: there a score of 0 is the second label's.
// So the negative label comes first, and scores have the other sign, unless a score of 0 is the
// negative one's. Another least score of the positive label is subtracted from the bias.
func firstAbove[L any](f *Form, o learner.Output, labels []L) (learner.Output, []L, []string) {
	switch f.From {
	case aboveZero:
		return o, []L{labels[1], labels[0]}, nil
	case 0:
		return negated(o), labels, nil
	}
	o = negated(o)
	o.Bias += f.From * o.Divisor
	return o, labels, []string{"the threshold is in it: scores are " + number(f.From) +
		" less than the model's, and labels are the same"}
}

// number is the shortest text that reads back as v.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// wholeLabels returns labels that are whole numbers, as LIBLINEAR and LIBSVM have them: the model's
// own, or else -1 and 1 for two and numbers from 0 for more, with a note.
func (f *Form) wholeLabels() (labels []int32, notes []string) {
	numbers, ok := format.WholeLabels(f.Classes)
	for _, n := range numbers {
		if n < -math.MaxInt32 || n > math.MaxInt32 {
			ok = false
		}
		labels = append(labels, int32(n))
	}
	if !ok {
		return f.numbered()
	}
	return labels, nil
}

func (f *Form) numbered() (labels []int32, notes []string) {
	var said []string
	for k, name := range f.Classes {
		label := int32(k)
		if len(f.Classes) == 2 {
			label = int32(2*k - 1)
		}
		labels = append(labels, label)
		said = append(said, fmt.Sprintf("%d for %s", label, name))
	}
	return labels, []string{"labels are whole numbers there: " + strings.Join(said, ", ")}
}

// numeric is the form as LIBLINEAR and LIBSVM have it: without division by a row's length, with
// labels that are whole numbers, and features that are numbered from 1.
func (f *Form) numeric(to string) (g *Form, labels []int32, outputs []learner.Output,
	notes []string, err error) {
	g, note, err := f.plain(to)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	labels, notes = g.wholeLabels()
	notes = append(notes, g.numbering()...)
	if note != "" {
		notes = append(notes, note)
	}
	outputs, divisor := g.undivided()
	return g, labels, outputs, append(notes, summed(divisor)...), nil
}

// numbering says how features are numbered where that differs from the model's own data.
func (f *Form) numbering() []string {
	switch {
	case f.named:
		return []string{"features have numbers there, from 1 in the order of the model's names, " +
			"which the npz has"}
	case f.Base == 1 || f.Names != nil:
		return nil
	}
	return []string{"features are numbered from 1 there, from 0 in the model's data: number them " +
		"one higher"}
}
