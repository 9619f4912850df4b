package exchange

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
)

// writeText writes lines for people: a name, a tab and a number. Of weights the bias comes first,
// then the features that have one, the largest first; with several classes the class stands before
// each, and another tab. Of a kernel the kept examples follow the bias, as svmlight has them: the
// largest coefficients first.
func writeText(w *bufio.Writer, f *Form) ([]string, error) {
	if f.Random != nil {
		return nil, fmt.Errorf("weights of random features mean nothing to read: %w; export to "+
			"npz or onnx", ErrForm)
	}
	f, note, err := f.plain("text")
	if err != nil {
		return nil, err
	}
	for k, o := range f.divided() {
		class := ""
		if len(f.Outputs) > 1 {
			class = shown(f.Classes[k]) + "\t"
		}
		fmt.Fprintf(w, "%sbias\t%s\n", class, number(o.Bias))
		if o.Weights == nil {
			for _, i := range largest(o.Coef) {
				fmt.Fprintf(w, "%s%s\t%s\n", class, number(o.Coef[i]),
					row(&f.Outputs[k].Points, i, 0, f.Base))
			}
			continue
		}
		for _, j := range largest(o.Weights) {
			fmt.Fprintf(w, "%s%s\t%s\n", class, shown(f.Name(j)), number(o.Weights[j]))
		}
	}
	var notes []string
	if note != "" {
		notes = append(notes, note)
	}
	if f.From != 0 {
		notes = append(notes, "the positive label is that of a score of "+number(f.From)+" or more")
	}
	return notes, nil
}

// row is row i of a block as svmlight has it, without the first features; the next one has the
// number base.
func row(b *engine.Block[float64], i, lead, base int) string {
	var words []string
	idx, val := b.Sparse(i)
	for n, j := range idx {
		if int(j) >= lead {
			words = append(words, strconv.Itoa(int(j)-lead+base)+":"+number(val[n]))
		}
	}
	return strings.Join(words, " ")
}

// largest returns the places of values that are not 0, the largest first whatever the sign, of
// equals the first.
func largest(values []float64) (at []int) {
	for j, v := range values {
		if v != 0 {
			at = append(at, j)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int {
		return cmp.Compare(math.Abs(values[b]), math.Abs(values[a]))
	})
	return at
}

// shown is a name as a line of columns has it: in quotes where it has a tab or an end of line.
func shown(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
