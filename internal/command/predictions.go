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
	"unicode"
	"unicode/utf8"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/learner"
)

// predictionColumns are the names that a column of predictions may have, besides those of a class:
// score:LABEL and proba:LABEL.
var predictionColumns = []string{"label", "predicted", "score", "proba", "weight"}

// classColumns are columns of one kind, a class each.
type classColumns struct {
	labels []int32   // numbers of labels as they came
	values []float64 // of all lines, one line after another
}

// row returns the values of a line.
func (c *classColumns) row(i int) []float64 { return c.values[i*len(c.labels):][:len(c.labels)] }

// byClass gives those of line i to their classes; a class without a column has the value none.
func (c *classColumns) byClass(to []float64, i int, of []int32, none float64) {
	for k := range to {
		to[k] = none
	}
	for j, v := range c.row(i) {
		to[of[c.labels[j]]] = v
	}
}

// ofPositive returns which of the columns is that of class 1, or -1.
func (c *classColumns) ofPositive(of []int32) int {
	return slices.IndexFunc(c.labels, func(label int32) bool { return of[label] == 1 })
}

// prediction is a line of a file of predictions.
type prediction struct {
	label, predicted     int32 // numbers of labels as they came; -1: none
	score, proba, weight float64
}

// predictions is what was read of such files.
type predictions struct {
	columns []string
	has     map[string]bool
	labels  format.LabelIndex // as they came
	rows    []prediction
	most    int  // columns that a line has
	guessed bool // what the columns are
	scores  classColumns
	probas  classColumns
}

// kind returns the columns that are a class each and of whose name this is the first part, and the
// label behind it; nil for other names.
func (p *predictions) kind(name string) (c *classColumns, label string) {
	if label, is := strings.CutPrefix(name, "score:"); is && label != "" {
		return &p.scores, label
	}
	if label, is := strings.CutPrefix(name, "proba:"); is && label != "" {
		return &p.probas, label
	}
	return nil, ""
}

// predictions measures files of them.
func (e *evaluator) predictions(files []string) error {
	p := &predictions{columns: e.columns}
	if len(e.columns) > 0 {
		if err := p.named(e.columns); err != nil {
			next := "The columns: " + strings.Join(predictionColumns, ", ") + ", of each class " +
				"score:LABEL or proba:LABEL, and - for others."
			return Usage(next, "%s: %w", Given(e.cmd.Flags(), "columns"), err)
		}
	}
	for _, name := range files {
		if err := p.file(name, os.Stdin); err != nil {
			path := (*fs.PathError)(nil)
			if errors.As(err, &path) {
				return dataError(err, "nothing was measured")
			}
			return &fail{CodeData, err, "A line has a label and what was predicted of it, in " +
				"columns; --columns names them: halfspace evaluate --help."}
		}
	}
	return e.tally(p)
}

// named takes the names of the columns.
func (p *predictions) named(columns []string) error {
	p.columns, p.most, p.has = columns, len(columns), map[string]bool{}
	p.scores, p.probas = classColumns{}, classColumns{}
	for _, name := range columns {
		c, label := p.kind(name)
		switch {
		case name == "-":
		case c == nil && !slices.Contains(predictionColumns, name):
			return fmt.Errorf("%q is no column of predictions", name)
		case p.has[name]:
			return fmt.Errorf("%q comes twice", name)
		case c != nil:
			n, bad := p.number(label)
			if bad != "" || slices.Contains(c.labels, n) {
				return fmt.Errorf("%q: %s", name, cmp.Or(bad, "its label comes twice"))
			}
			c.labels = append(c.labels, n)
		}
		p.has[name] = true
	}
	score, proba := len(p.scores.labels) > 0, len(p.probas.labels) > 0
	switch {
	case score && p.has["score"]:
		return errors.New("score and score:LABEL exclude each other")
	case proba && p.has["proba"]:
		return errors.New("proba and proba:LABEL exclude each other")
	case !p.has["label"] || !p.has["predicted"] && !p.scored() && !p.probable():
		return errors.New("a label is needed, and predicted, score or proba")
	}
	return nil
}

// scored reports whether there are scores.
func (p *predictions) scored() bool { return p.has["score"] || len(p.scores.labels) > 0 }

// probable reports whether there are probabilities.
func (p *predictions) probable() bool { return p.has["proba"] || len(p.probas.labels) > 0 }

// sumOff reports whether probabilities of the last line don't sum up to 1. Two decimals of each are
// enough.
func (p *predictions) sumOff() (sum float64, off bool) {
	n := len(p.probas.labels)
	if n < 2 {
		return 1, false
	}
	for _, v := range p.probas.row(len(p.rows)) {
		sum += v
	}
	return sum, !(math.Abs(sum-1) <= 0.005*float64(n)+1e-9)
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

// header takes the first line as one of names, if it is; with --columns it is left out, whatever
// its names are.
func (p *predictions) header(parts []cell) bool {
	if p.has != nil && p.wordsOnly(parts) {
		return true
	}
	columns := make([]string, len(parts))
	for i, part := range parts {
		columns[i] = "-"
		if c, _ := p.kind(part.text); c != nil || slices.Contains(predictionColumns, part.text) {
			columns[i] = part.text
		}
	}
	if !slices.Contains(columns, "label") {
		return false
	}
	return p.has != nil || p.named(columns) == nil
}

// wordsOnly reports whether a line has a word in each column that is to have a number, of which
// there is one or more.
func (p *predictions) wordsOnly(parts []cell) (words bool) {
	if len(parts) != p.most {
		return false
	}
	for i, name := range p.columns {
		if name == "-" || name == "label" || name == "predicted" {
			continue
		}
		_, err := strconv.ParseFloat(parts[i].text, 64)
		first, _ := utf8.DecodeRuneInString(strings.Trim(parts[i].text, `"'`))
		if err == nil || !unicode.IsLetter(first) && first != '_' {
			return false
		}
		words = true
	}
	return words
}

// line takes a line of values. It returns what is wrong with it, or "", and at which byte.
func (p *predictions) line(parts []cell) (bad string, at int) {
	if p.has == nil {
		standard := map[int][]string{2: {"label", "score"}, 3: {"label", "predicted", "score"},
			4: {"label", "predicted", "score", "proba"}}[len(parts)]
		if standard == nil || p.named(standard) != nil {
			return fmt.Sprintf("found %d columns, whose names are not known", len(parts)), 0
		}
		p.guessed = true
	}
	if len(parts) != p.most {
		last := parts[min(len(parts)-1, p.most)]
		return fmt.Sprintf("expected %d columns, found %d", p.most, len(parts)), last.at
	}
	row := prediction{predicted: -1, score: math.NaN(), proba: math.NaN(), weight: 1}
	for i, name := range p.columns {
		switch part := parts[i].text; name {
		case "label":
			if format.IsMissingLabel(part) {
				bad = fmt.Sprintf("the label is missing: %q stands for that, unless it is quoted",
					part)
				break
			}
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
		case "-":
		default:
			var v float64
			c, _ := p.kind(name)
			if c == &p.scores {
				v, bad = numberWithin(part, math.Inf(-1), math.Inf(1), "a score, a number")
			} else {
				v, bad = numberWithin(part, 0, 1, "a probability, a number from 0 to 1")
			}
			c.values = append(c.values, v)
		}
		if bad != "" {
			return bad, parts[i].at
		}
	}
	if sum, off := p.sumOff(); off {
		first := slices.IndexFunc(p.columns, func(name string) bool {
			c, _ := p.kind(name)
			return c == &p.probas
		})
		return fmt.Sprintf("expected probabilities that sum up to 1, found a sum of %.4g", sum),
			parts[first].at
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
	x := format.MakeLabel(label)
	if n = int32(p.labels.Find(x)); n < 0 {
		if n = int32(len(p.labels.List)); n >= 1<<20 {
			return 0, "more than 2^20 labels: are they in another column?"
		}
		p.labels.Add(x)
	}
	return n, ""
}

// classes returns the names of the classes, sorted as labels of data are, and of each label the
// number of its class.
func (p *predictions) classes(positive string) (names []string, of []int32, err error) {
	all := p.labels.List
	of = make([]int32, len(all))
	if positive != "" {
		k := p.labels.Find(format.MakeLabel(positive))
		if k < 0 {
			return nil, nil, fmt.Errorf("no label %q", positive)
		}
		of[k] = 1
		return []string{"not-" + positive, positive}, of, nil
	}
	order := make([]int, len(all))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int {
		return format.CompareLabels(all[a].Text, all[b].Text)
	})
	for i, k := range order {
		names, of[k] = append(names, all[k].Text), int32(i)
	}
	if len(names) == 1 { // of what pair, only -1 and +1 say
		if x := all[0]; x.Numeric && x.Num <= 0 {
			return []string{names[0], ""}, of, nil
		}
		of[0], names = 1, []string{"", names[0]}
	}
	return names, of, nil
}

// tally measures what was read.
func (e *evaluator) tally(p *predictions) error {
	names, of, err := p.classes(e.positive)
	if err != nil {
		return &fail{CodeData, fmt.Errorf("%s: %w", Given(e.cmd.Flags(), "positive"), err),
			"Check the spelling."}
	}
	e.labels = names
	of2 := len(names) == 2
	each := !of2 && (len(p.scores.labels) > 0 || len(p.probas.labels) > 0)
	if !of2 && (!each && !p.has["predicted"] || p.has["proba"]) {
		return &fail{CodeData, fmt.Errorf("%d labels: they need a column of what was predicted, "+
			"or one for each class, and have no use for proba, which is that of one",
			len(names)), "Name the columns by --columns, as score:LABEL or proba:LABEL for each " +
			"class, - for what is to be left out; or choose the positive label by --positive."}
	}
	if of2 {
		if err := p.positiveOf(of, names[1]); err != nil {
			return &fail{CodeData, err, "Name it by --columns, or another label by --positive."}
		}
	}
	scores, probas := make([]float64, len(names)), make([]float64, len(names))
	for i, r := range p.rows {
		var o eval.Outcome
		if !of2 {
			o = eval.OutcomeOf(int(of[r.label]), -1)
			if len(p.probas.labels) > 0 {
				p.probas.byClass(probas, i, of, 0)
				o.BelieveEach(probas)
				o.Predicted = int32(learner.Predicted(probas))
			}
			if len(p.scores.labels) > 0 {
				p.scores.byClass(scores, i, of, math.Inf(-1))
				o.Predicted = int32(learner.Predicted(scores))
			}
		} else {
			f := r.score
			if !p.scored() && p.probable() {
				f = r.proba - 0.5
			}
			o = eval.Outcome2(2*float64(of[r.label])-1, f)
			if p.probable() {
				o.Believe(r.proba)
			}
			if !p.scored() && p.probable() {
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
	if each {
		e.exactCurves(p, of)
	}
	if of2 && !p.scored() && !p.probable() {
		e.all = nil // no scores
		e.noScores = true
	}
	if p.guessed && p.most == 2 && len(p.rows) >= leastOdd && e.m.Error() == 0 {
		e.told.tell(e.cmd.ErrOrStderr(), labelsPredicted, "each label is the one that its score "+
			"predicts, as in the lines that predict writes", "if the first column is not the "+
			"label that came, put that before it: paste labels.txt - | halfspace evaluate -")
	}
	return nil
}

// labelsPredicted is the code of the warning of labels that are none that came, and leastOdd from
// how many on they are that odd.
const labelsPredicted, leastOdd = "labels-predicted", 20

// positiveOf takes, of two labels, the columns of the positive one for score and proba.
func (p *predictions) positiveOf(of []int32, label string) error {
	score, proba := p.scores.ofPositive(of), p.probas.ofPositive(of)
	switch {
	case score < 0 && len(p.scores.labels) > 0:
		return fmt.Errorf("no column score:%s, of the positive label", label)
	case proba < 0 && len(p.probas.labels) > 0:
		return fmt.Errorf("no column proba:%s, of the positive label", label)
	}
	for i := range p.rows {
		if score >= 0 {
			p.rows[i].score = p.scores.row(i)[score]
		}
		if proba >= 0 {
			p.rows[i].proba = p.probas.row(i)[proba]
		}
	}
	return nil
}

// exactCurves makes the curves of all classes, each by its scores, or probabilities where there are
// no scores, against the rest. Their points are kept where they are asked for.
func (e *evaluator) exactCurves(p *predictions, of []int32) {
	c, none := &p.scores, math.Inf(-1)
	if len(c.labels) == 0 {
		c, none = &p.probas, 0
	}
	column := make([]int, len(e.labels))
	for k := range column {
		column[k] = slices.IndexFunc(c.labels, func(n int32) bool { return of[n] == int32(k) })
	}
	all := make([]eval.Scored, len(p.rows))
	for k, j := range column {
		for i, r := range p.rows {
			all[i] = eval.Scored{Score: none, Weight: r.weight, Positive: of[r.label] == int32(k)}
			if j >= 0 {
				all[i].Score = c.row(i)[j]
			}
		}
		e.exact = append(e.exact, exactCurve{Curve: eval.CurveOf(all)})
		last := &e.exact[k]
		last.auc, last.precision = last.AUC(), last.AveragePrecision()
		if e.roc == "" && e.pr == "" {
			last.Points = nil
		}
	}
}
