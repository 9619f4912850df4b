package command

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/dataset/format"
	"github.com/halfspace-ml/halfspace/eval"
)

// predictionColumns are the names that a column of predictions may have.
var predictionColumns = []string{"label", "predicted", "score", "proba", "weight"}

// prediction is a line of a file of predictions.
type prediction struct {
	label, predicted     int32 // numbers of labels as they came; -1: none
	score, proba, weight float64
}

// predictions is what was read of such files.
type predictions struct {
	columns []string
	has     map[string]bool
	numbers map[string]int32 // of labels
	names   []string
	rows    []prediction
	most    int // columns that a line has
}

// predictions measures files of them.
func (e *evaluator) predictions(files []string) error {
	p := &predictions{columns: e.columns, numbers: map[string]int32{}}
	if len(e.columns) > 0 {
		if err := p.named(e.columns); err != nil {
			next := "The columns: " + strings.Join(predictionColumns, ", ") + ", and - for others."
			return usage(next, "%s: %w", given(e.cmd.Flags(), "columns"), err)
		}
	}
	for _, name := range files {
		if err := p.file(name, os.Stdin); err != nil {
			path := (*fs.PathError)(nil)
			if errors.As(err, &path) {
				return dataError(err, "nothing was measured")
			}
			return &fail{codeData, err, "A line has a label and what was predicted of it, in " +
				"columns; --columns names them: halfspace evaluate --help."}
		}
	}
	return e.tally(p)
}

// named takes the names of the columns.
func (p *predictions) named(columns []string) error {
	p.columns, p.most, p.has = columns, len(columns), map[string]bool{}
	for _, name := range columns {
		switch {
		case name == "-":
		case !slices.Contains(predictionColumns, name):
			return fmt.Errorf("%q is no column of predictions", name)
		case p.has[name]:
			return fmt.Errorf("%q comes twice", name)
		}
		p.has[name] = true
	}
	if !p.has["label"] || !p.has["predicted"] && !p.has["score"] && !p.has["proba"] {
		return errors.New("a label is needed, and predicted, score or proba")
	}
	return nil
}

// file reads one of them; - is stdin.
func (p *predictions) file(name string, stdin io.Reader) error {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	} else {
		name = "stdin"
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, mostPrediction)
	cut, n, before, found := "", 0, len(p.rows), "an empty file"
	bad := func(what, line string, col int) error {
		return &dataset.RowError{File: name, Line: n, Col: col + 1, What: what,
			Excerpt: format.Excerpt([]byte(line), col), Err: dataset.ErrBadRow}
	}
	for lines.Scan() {
		n++
		line := strings.TrimSuffix(lines.Text(), "\r")
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
			cut = separator(line)
		}
		if i := format.BinaryAt([]byte(line)); i >= 0 {
			return bad(fmt.Sprintf("expected text that is not packed, found the byte %#02x",
				line[i]), line, i)
		}
		if strings.TrimSpace(line) == "" {
			found = "blank lines"
			continue
		}
		parts := fieldsBy(line, cut)
		if n == 1 && p.header(parts) {
			found = "only a header"
			continue
		}
		if what, col := p.line(parts); what != "" {
			return bad(what, line, col)
		}
	}
	err := lines.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		n++
		return bad(fmt.Sprintf("the line is longer than %d KiB", mostPrediction>>10), "", 0)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case len(p.rows) == before:
		n = 1
		return bad("expected predictions, found "+found, "", 0)
	}
	return nil
}

// mostPrediction is the longest line that is read, in bytes.
const mostPrediction = 1 << 20

// cell is a column of a line, and the byte where it begins.
type cell struct {
	text string
	at   int
}

// separator returns what divides the columns of a line; "" for blanks.
func separator(line string) string {
	for _, s := range []string{"\t", ",", ";"} {
		if strings.Contains(line, s) {
			return s
		}
	}
	return ""
}

func fieldsBy(line, cut string) (parts []cell) {
	for at, rest := 0, line; ; {
		blanks := len(rest) - len(strings.TrimLeft(rest, " \t"))
		if cut == "" {
			at, rest = at+blanks, rest[blanks:]
			if rest == "" {
				return parts
			}
			blanks = 0
		}
		n := strings.Index(rest, cut)
		if cut == "" {
			n = strings.IndexAny(rest, " \t")
		}
		if n < 0 {
			return append(parts, cell{strings.TrimSpace(rest), at + blanks})
		}
		parts = append(parts, cell{strings.TrimSpace(rest[:n]), at + min(blanks, n)})
		n += max(len(cut), 1)
		at, rest = at+n, rest[n:]
	}
}

// header takes the first line as one of names, if it is; with --columns it is left out.
func (p *predictions) header(parts []cell) bool {
	columns := make([]string, len(parts))
	for i, part := range parts {
		columns[i] = "-"
		if slices.Contains(predictionColumns, part.text) {
			columns[i] = part.text
		}
	}
	if !slices.Contains(columns, "label") {
		return false
	}
	return p.has != nil || p.named(columns) == nil
}

// line takes a line of values. It returns what is wrong with it, or "", and at which byte.
func (p *predictions) line(parts []cell) (bad string, at int) {
	if p.has == nil {
		standard := map[int][]string{2: {"label", "score"}, 3: {"label", "predicted", "score"},
			4: {"label", "predicted", "score", "proba"}}[len(parts)]
		if standard == nil || p.named(standard) != nil {
			return fmt.Sprintf("found %d columns, whose names are not known", len(parts)), 0
		}
	}
	if len(parts) != p.most {
		last := parts[min(len(parts)-1, p.most)]
		return fmt.Sprintf("expected %d columns, found %d", p.most, len(parts)), last.at
	}
	row := prediction{predicted: -1, score: math.NaN(), proba: math.NaN(), weight: 1}
	for i, name := range p.columns {
		switch part := parts[i].text; name {
		case "label":
			row.label, bad = p.number(part)
		case "predicted":
			if part != abstention {
				row.predicted, bad = p.number(part)
			}
		case "score":
			row.score, bad = numberWithin(part, math.Inf(-1), math.Inf(1), "a score, a number")
		case "proba":
			row.proba, bad = numberWithin(part, 0, 1, "a probability, a number from 0 to 1")
		case "weight":
			row.weight, bad = numberWithin(part, 0, math.MaxFloat64,
				"a weight, a finite number of 0 or more")
		}
		if bad != "" {
			return bad, parts[i].at
		}
	}
	p.rows = append(p.rows, row)
	return "", 0
}

// numberWithin returns the number that a text is, and what is wrong with it, or "".
func numberWithin(text string, least, most float64, what string) (v float64, bad string) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= least && v <= most) { // NaN is neither
		return 0, fmt.Sprintf("expected %s, found %q", what, format.Excerpt([]byte(text), 0))
	}
	return v, ""
}

// number returns that of a label, and what is wrong with it, or "".
func (p *predictions) number(label string) (n int32, bad string) {
	if strings.HasPrefix(label, `"`) {
		if text, err := strconv.Unquote(label); err == nil {
			label = text
		}
	}
	switch {
	case label == "":
		return 0, "the label is missing"
	case !utf8.ValidString(label):
		return 0, fmt.Sprintf("the label, %q, is not text in UTF-8",
			format.Excerpt([]byte(label), 0))
	}
	n, ok := p.numbers[label]
	if !ok {
		if n = int32(len(p.names)); n >= 1<<20 {
			return 0, "more than 2^20 labels: are they in another column?"
		}
		p.numbers[label], p.names = n, append(p.names, label)
	}
	return n, ""
}

// classes returns the names of the classes, sorted as labels of data are, and of each label the
// number of its class.
func (p *predictions) classes(positive string) (names []string, of []int32, err error) {
	of = make([]int32, len(p.names))
	if positive != "" {
		k, ok := p.numbers[positive]
		if !ok {
			return nil, nil, fmt.Errorf("no label %q", positive)
		}
		of[k] = 1
		return []string{"not-" + positive, positive}, of, nil
	}
	names = slices.Clone(p.names)
	slices.SortFunc(names, func(a, b string) int {
		x, errX := strconv.ParseFloat(a, 64)
		y, errY := strconv.ParseFloat(b, 64)
		if errX != nil || errY != nil {
			return cmp.Compare(a, b)
		}
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	})
	if len(names) == 1 { // of what pair, only -1 and +1 say
		other := []string{"", names[0]}
		if v, err := strconv.ParseFloat(names[0], 64); err == nil && v <= 0 {
			slices.Reverse(other)
		}
		names = other
	}
	for k, name := range names {
		if n, ok := p.numbers[name]; ok {
			of[n] = int32(k)
		}
	}
	return names, of, nil
}

// tally measures what was read.
func (e *evaluator) tally(p *predictions) error {
	names, of, err := p.classes(e.positive)
	if err != nil {
		return &fail{codeData, fmt.Errorf("%s: %w", given(e.cmd.Flags(), "positive"), err),
			"Check the spelling."}
	}
	e.labels = names
	if len(names) > 2 && (!p.has["predicted"] || p.has["proba"]) {
		return &fail{codeData, fmt.Errorf("%d labels: they need a column of what was predicted, "+
			"and have no use for proba, which is that of one", len(names)), "Name the columns by " +
			"--columns, - for what is to be left out; or choose the positive label by --positive."}
	}
	for _, r := range p.rows {
		var o eval.Outcome
		if len(names) > 2 {
			o = eval.OutcomeOf(int(of[r.label]), -1)
		} else {
			f := r.score
			if !p.has["score"] && p.has["proba"] {
				f = r.proba - 0.5
			}
			o = eval.Outcome2(2*float64(of[r.label])-1, f)
			if p.has["proba"] {
				o.Believe(r.proba)
			}
			if !p.has["score"] && p.has["proba"] {
				o.Score = r.proba
			}
		}
		if p.has["predicted"] {
			if o.Predicted = r.predicted; r.predicted >= 0 {
				o.Predicted = of[r.predicted]
			}
		}
		o.Weight = r.weight
		e.add(&o, nil)
	}
	if !p.has["score"] && !p.has["proba"] {
		e.all = nil // no scores
		e.noScores = true
	}
	return nil
}
