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
	lines.Buffer(nil, 1<<20)
	cut := ""
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
			cut = separator(line)
		}
		parts := fieldsBy(line, cut)
		if n == 1 && p.header(parts) {
			continue
		}
		if err := p.line(parts); err != nil {
			return fmt.Errorf("%s:%d: %w in %q", name, n, err, excerpt(line))
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// excerpt is the beginning of a line.
func excerpt(line string) string {
	if len(line) > 80 {
		return line[:80] + "..."
	}
	return line
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

func fieldsBy(line, cut string) (parts []string) {
	if cut == "" {
		return strings.Fields(line)
	}
	for part := range strings.SplitSeq(line, cut) {
		parts = append(parts, strings.TrimSpace(part))
	}
	return parts
}

// header takes the first line as one of names, if it is; with --columns it is left out.
func (p *predictions) header(parts []string) bool {
	if !slices.Contains(parts, "label") {
		return false
	}
	columns := slices.Clone(parts)
	for i, name := range columns {
		if !slices.Contains(predictionColumns, name) {
			columns[i] = "-"
		}
	}
	if p.has == nil {
		return p.named(columns) == nil
	}
	return true
}

// line takes a line of values.
func (p *predictions) line(parts []string) error {
	if p.has == nil {
		standard := map[int][]string{2: {"label", "score"}, 3: {"label", "predicted", "score"},
			4: {"label", "predicted", "score", "proba"}}[len(parts)]
		if standard == nil {
			return fmt.Errorf("%d columns, whose names are not known", len(parts))
		}
		if err := p.named(standard); err != nil {
			return err
		}
	}
	if len(parts) != p.most {
		return fmt.Errorf("expected %d columns, found %d", p.most, len(parts))
	}
	row := prediction{predicted: -1, score: math.NaN(), proba: math.NaN(), weight: 1}
	for i, name := range p.columns {
		var err error
		switch part := parts[i]; name {
		case "label":
			row.label, err = p.number(part)
		case "predicted":
			if part != abstention {
				row.predicted, err = p.number(part)
			}
		case "score":
			row.score, err = strconv.ParseFloat(part, 64)
		case "proba":
			row.proba, err = strconv.ParseFloat(part, 64)
			if err == nil && !(row.proba >= 0 && row.proba <= 1) {
				err = errors.New("out of range")
			}
		case "weight":
			row.weight, err = strconv.ParseFloat(part, 64)
			if err == nil && !(row.weight >= 0 && row.weight <= math.MaxFloat64) {
				err = errors.New("out of range")
			}
		}
		if err != nil {
			return fmt.Errorf("expected a %s, found %q", name, excerpt(parts[i]))
		}
	}
	p.rows = append(p.rows, row)
	return nil
}

// number returns that of a label.
func (p *predictions) number(label string) (int32, error) {
	if strings.HasPrefix(label, `"`) {
		if text, err := strconv.Unquote(label); err == nil {
			label = text
		}
	}
	if label == "" {
		return 0, errors.New("empty")
	}
	n, ok := p.numbers[label]
	if !ok {
		if n = int32(len(p.names)); n >= 1<<20 {
			return 0, errors.New("more than 2^20 labels")
		}
		p.numbers[label], p.names = n, append(p.names, label)
	}
	return n, nil
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
