package format

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
)

// CSV is text with as many columns in each row, set apart by , ; tab or blanks. One is the label;
// the others are features, or have one for each text that stands there.
var CSV = &Format{
	Name: "csv", Dense: true, Named: true, Cut: "\n",
	Options: []Option{
		{"LabelCol", "csv, ndjson, npz: the label column, by `NAME` or number (-1: the last)"},
		{"WeightCol", "csv, npz: the weight column, by `NAME` or number (-1: the last)"},
		{"IDCol", "csv, ndjson: the id column, by `NAME` or number; vw: tag"},
		{"Columns", "csv: columns of a row"},
		{"Header", "csv: names of the columns"},
		{"HeaderRow", "csv: whether the first row names the columns: yes, no, or by its text"},
		{"Label", "csv: number of the labels' column in training"},
		{"Kinds", "csv: kinds of the columns in training"},
		{"TextCols", "csv: a column of categories, by `NAME` or number; repeatable"},
		{"NumberCols", "csv: a column of numbers, by `NAME` or number; repeatable"},
		{"IgnoreCols", "csv: exclude this column, by `NAME` or number; repeatable"},
		{"Missing", "csv: missing numbers (empty, ?, NA, NaN, null, \\N or .) are errors, " +
			"imputed by the column's mean so far, or imputed and marked by a feature; missing " +
			"categories are a category, errors, or nothing (mean)"},
		{"HashBits", "csv, ndjson: hash feature names into this many bits"},
	},
	Sniff: sniffCSV, Layout: headCSV, Last: lastCSV,
	Parse32: parseCSV[float32], Parse64: parseCSV[float64],
}

// sniffCSV goes by a comma or semicolon, or by two words of which none is a pair.
func sniffCSV(h *Head) int {
	if at, pairs := pairsOrColumns(h); at > 0 && !pairs {
		return at
	}
	return No
}

// headCSV finds the columns. Those of further files are as the first one's.
func headCSV(h *Head, o *Options, first *Layout) (*Layout, error) {
	like := o.like(first)
	t := readTable(h, like)
	if len(t.rows) == 0 { // one unfinished line of any length
		return nil, &RowError{File: h.File, Line: 1, Col: 1,
			What:    "expected the end of the first row",
			Excerpt: Excerpt(h.Text, 0), Err: ErrFormat}
	}
	if t.cols < 2 && !t.alike {
		return nil, h.Bad(t.rows[0], 0, "expected columns set apart by , ; tab or blanks",
			like.columnsError())
	}
	top := t.rows[0]
	l, err := layoutCSV(t, like)
	if err != nil {
		return nil, h.Bad(top, 0, err.Error(), like.columnsError())
	}
	if before := h.Text[:t.from]; bytes.IndexByte(before, '"') >= 0 {
		l.before = before
	}
	lay := l.describe(o)
	if first == nil {
		lay.Odd = l.odd
	}
	if l.row >= 0 {
		lay.NoRows = "only a header"
	}
	return lay, nil
}

// columnsError is the kind of an error in the columns.
func (o *Options) columnsError() error {
	if o.Columns > 0 {
		return ErrColumns
	}
	return ErrFormat
}

// like returns the options by which a further file is arranged as the first one is, whose layout is
// nil for that itself.
func (o *Options) like(first *Layout) *Options {
	like := *o
	if first != nil {
		if o.Columns == 0 { // the label is found by the first file's
			like.Columns, like.Label, like.LabelCol = first.Columns, first.LabelCol, ""
			like.Kinds, like.TextCols, like.NumberCols, like.IgnoreCols = first.Kinds, nil, nil, nil
		}
		if len(o.Header) == 0 {
			like.Header = first.Header
		}
	}
	return &like
}

// describe is the layout of the columns for all who don't parse them.
func (l *csvLayout) describe(o *Options) *Layout {
	lay := &Layout{IndexBase: 1, BaseFound: byColumns, Columns: l.features() + 1,
		Header: l.header, Kinds: l.kinds, Words: l.words, Own: l, Decided: l.decided()}
	if o.Columns > 0 {
		lay.Columns = o.Columns // the file may lack some that are left out
	}
	if l.words {
		lay.Lead = l.numbers
	}
	if l.label >= 0 {
		lay.LabelCol = l.at + 1
		if o.LabelCol == "" { // no option says which column holds the labels
			name := "the last"
			if l.label < len(l.header) {
				name = strconv.Quote(l.header[l.label])
			}
			lay.LabelNote = fmt.Sprintf("labels are taken from column %d (%s; Options.LabelCol "+
				"names another)", l.label+1, name)
		}
	}
	return lay
}

// cell is a field of a row, without the blanks and quotes around it.
type cell struct {
	text   []byte
	quoted bool
}

// splitCSV returns the fields of a line as texts; see appendCells.
func splitCSV(line []byte, delim byte) []string {
	cells := appendCells(nil, line, delim)
	out := make([]string, len(cells))
	for i, f := range cells {
		out[i] = string(f.text)
	}
	return out
}

// appendCells appends the fields of a line; "" within quotes is a quote (RFC 4180). What was not
// quoted is the line's own bytes. It is for heads and errors; rows are read by parseCSV, which must
// agree with it.
func appendCells(dst []cell, line []byte, delim byte) []cell {
	s := bytes.TrimRight(line, "\r\n")
	tab := byte('\t') // the second byte that is a blank
	if delim == '\t' {
		tab = ' '
	}
	if delim == ' ' {
		s = bytes.Trim(s, " \t")
	}
	for {
		for len(s) > 0 && (s[0] == ' ' || s[0] == tab) {
			s = s[1:]
		}
		var f []byte
		quoted := len(s) > 0 && s[0] == '"'
		if quoted {
			i := 1
			for i < len(s) && s[i] != '"' || bytes.HasPrefix(s[min(i, len(s)):], []byte(`""`)) {
				if s[i] == '"' || bytes.HasPrefix(s[i:], []byte("\r\n")) {
					i++
				}
				f = append(f, s[i])
				i++
			}
			s = s[min(i+1, len(s)):]
		}
		i := 0
		for i < len(s) && s[i] != delim && (s[i] != '\t' || delim != ' ') {
			i++
		}
		end := i
		for end > 0 && (s[end-1] == ' ' || s[end-1] == tab) {
			end--
		}
		if quoted {
			f = append(f, s[:end]...)
		} else {
			f = s[:end]
		}
		dst = append(dst, cell{f, quoted})
		if i == len(s) {
			return dst
		}
		s = s[i+1:]
	}
}

// labelNames are the header names that mean the label.
var labelNames = []string{"label", "class", "target", "y"}

// layoutCSV finds the layout of a file from its first rows. An error is the text of what is wrong
// with the first one.
func layoutCSV(t *csvTable, o *Options) (*csvLayout, error) {
	l := &csvLayout{delim: t.delim, cols: t.cols, row: -1, from: t.from, comments: t.comments}
	names, err := t.decide(o)
	if err != nil {
		return l, err
	}
	lines := t.rows
	switch {
	case names != nil:
		l.row, lines = t.from, lines[1:]
	case t.short:
		l.cols--
	}
	if err := l.arrangeWeighted(names, o); err != nil {
		return l, err
	}
	if err := l.findID(names, o); err != nil {
		return l, err
	}
	if names != nil && len(lines) > 2 && unitsOnly(lines, t.delim) {
		l.units = t.from + int64(cap(t.rows[0])-cap(lines[1]))
	}
	seen := l.look(lines)
	return l, l.setKinds(findKinds(seen), seen, o)
}

// unitsOnly reports whether the first of some rows has no number where those below have some: as a
// line of units has.
func unitsOnly(rows [][]byte, delim byte) bool {
	var buf []byte
	below := appendCells(nil, rows[1], delim)
	some := false
	for i, f := range appendCells(nil, rows[0], delim) {
		number := i < len(below) && isNumber(below[i].text, &buf)
		if isNumber(f.text, &buf) {
			return false
		}
		some = some || number && !IsMissing(f.text)
	}
	return some
}

// decide returns the names of the columns that the first row has, nil if it has none. What it is is
// said by Options.HeaderRow, or else by the names of training, or by its text.
func (t *csvTable) decide(o *Options) ([]string, error) {
	names := t.names()
	switch o.HeaderRow {
	case "yes":
		return names, nil
	case "no":
		return nil, nil
	}
	if len(o.Header) > 0 && namesTraining(names, o.Header) {
		return names, nil
	}
	var known []string
	for _, name := range slices.Concat([]string{o.LabelCol, o.WeightCol, o.IDCol}, o.TextCols,
		o.NumberCols, o.IgnoreCols) {
		if _, err := strconv.Atoi(name); err != nil && name != "" {
			known = append(known, name)
		}
	}
	switch sum := t.header(known); {
	case sum >= surely:
		return names, nil
	case sum > surelyNot && o.Columns == 0:
		return nil, fmt.Errorf("the first row may be a header or an example: set " +
			"Options.HeaderRow to yes or no")
	}
	return nil, nil
}

// FindColumn returns the place, from 0, of a column that an option names: by its name, or by its
// number, from 1, or from the end if negative; "" is the label's.
func FindColumn(want string, header []string, cols int) (int, error) {
	same := func(name string) int {
		if i := slices.Index(header, name); i >= 0 {
			return i
		}
		return slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, name) })
	}
	if want == "" {
		for _, name := range labelNames {
			if i := same(name); i >= 0 {
				return i, nil
			}
		}
		return cols - 1, nil
	}
	if i := same(want); i >= 0 {
		return i, nil
	}
	n, err := strconv.Atoi(want)
	switch {
	case err != nil && len(header) == 0:
		return 0, fmt.Errorf("no header, so no column %q: name the label column by its "+
			"number, by Options.LabelCol", want)
	case err != nil:
		return 0, fmt.Errorf("no column %q: name one of the header by Options.LabelCol", want)
	case n >= 1 && n <= cols:
		return n - 1, nil
	case n < 0 && -n <= cols:
		return cols + n, nil
	}
	return 0, fmt.Errorf("no column %d among %d: choose another by Options.LabelCol", n, cols)
}

// parseCSV reads rows of columns: all but the label's are features. Rows of numbers are dense.
// Where columns hold texts, rows are sparse: the numbers first, whatever they are, and then a
// feature NAME=TEXT for each text.
func parseCSV[T engine.Float](c *Chunk[T], p *Settings) {
	r := c.Out
	b := c.Text[:c.N+Stops]
	lay := c.Layout.Own.(*csvLayout)
	m := csvRow[T]{c: c, p: p, lay: lay, words: c.Layout.Words}
	if m.words {
		c.names()
	}
	header := lay.row >= c.Offset && lay.row < c.Offset+int64(c.N)
	for pos := c.pastLines(lay); pos < c.N; r.Lines++ {
		start := pos
		pos = pastBlanks(b, pos, lay.delim)
		if ch := b[pos]; ch == '\n' {
			pos++
			continue
		} else if ch == '\r' && b[pos+1] == '\n' {
			pos = c.NextLine(pos)
			continue
		}
		if header {
			header = false
			pos = c.nextRow(start, lay.delim)
			continue
		}
		m.begin()
		if p.IDs {
			m.id = m.id[:0]
			if end, ok := c.answer(&m.alone, lay, pos); ok {
				clear(m.numbers())
				pos = c.NextLine(end)
				m.end(c.answered(p, &m.alone, start))
				r.AddID(m.alone.id, true)
				c.countInner(start, pos)
				continue
			}
		}
		end, at, bad := m.read(start, pos)
		if bad == "" && p.IDs {
			bad, at = c.badID(p, m.id, m.code), start
		}
		if bad != "" {
			m.drop()
			if !c.Bad(p, start, at, bad) {
				return
			}
			pos = c.nextRow(start, lay.delim)
			continue
		}
		pos = c.NextLine(end)
		m.end(m.code)
		if p.IDs {
			r.AddID(m.id, false)
		}
		if m.quotes {
			r.Lines += bytes.Count(b[start:end], []byte{'\n'})
		}
	}
}

// pastLines returns where the first row begins in the text: lines before that of the file are none.
func (c *Chunk[T]) pastLines(lay *csvLayout) (pos int) {
	for pos < c.N && c.Offset+int64(pos) < lay.from {
		pos = c.NextLine(pos)
		c.Out.Lines++
	}
	return pos
}

// noComment says what is wrong with a comment that is taken for a row.
const noComment = " (comments may only stand before the first row)"

// tooFew says what is wrong with the row at start, which has found fields.
func (c *Chunk[T]) tooFew(start, want, found int) string {
	comment := ""
	if t := bytes.TrimLeft(c.Line(start), " \t"); len(t) > 0 && t[0] == '#' {
		comment = noComment
	}
	return fmt.Sprintf("expected %d columns, found %d%s", want, found, comment)
}

// integers reads the fields from b[p] on that are nothing but a few digits with a delimiter right
// behind them, as counts, codes and pixels are: there is less to look at than in any number. Field
// k is features[to[k]]; the label's ends it. It returns how many it read, and the place behind
// them.
func integers[T engine.Float](features []T, to []int32, b []byte, p int, delim byte) (n, end int) {
	for ; n < len(to); n++ {
		f, d := to[n], b[p]-'0'
		if f < 0 || d > 9 {
			break
		}
		v, q := uint32(d), p+1
		// 7 digits are exact in a float32
		for d = b[q] - '0'; d <= 9 && q < p+7; d = b[q] - '0' {
			v = v*10 + uint32(d)
			q++
		}
		if b[q] != delim {
			break
		}
		features[f], p = T(v), q+1
	}
	return n, p
}

// What is wrong with quotes, and with what is between them.
const (
	notClosed   = "quote is not closed"
	brokenLabel = "expected a label, found one with a line end in it"
)

// unquote appends the text of the quoted field at b[p] and returns the place behind it, -1 if the
// quote is not closed. Line ends in it are \n.
func unquote(dst, b []byte, p int) ([]byte, int) {
	for end := len(b) - Stops; p+1 < end; {
		p++
		switch b[p] {
		case '"':
			if b[p+1] != '"' || p+1 == end {
				return dst, p + 1
			}
			p++
		case '\r':
			if b[p+1] == '\n' && p+1 < end {
				p++
			}
		}
		dst = append(dst, b[p])
	}
	return dst, -1
}

// badWeight says what is wrong with the weight at off.
func (c *Chunk[T]) badWeight(off int, delim byte) string {
	if t := c.fieldAt(off, delim); !IsMissing([]byte(t)) {
		return fmt.Sprintf("expected a weight, a finite number of 0 or more, found %q", t)
	}
	return "the weight is missing"
}

// fieldAt is the field at off, as errors quote it.
func (c *Chunk[T]) fieldAt(off int, delim byte) string {
	b := c.Text[off:c.N]
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	t := splitCSV(b, delim)[0]
	if len(t) > 24 {
		t = t[:24] + "..."
	}
	return t
}

// badField says what is wrong with the field at off.
func (c *Chunk[T]) badField(off int, delim byte, st numStatus) string {
	t := c.fieldAt(off, delim)
	switch {
	case isNotFinite(t):
		return fmt.Sprintf("expected a finite number, found %q", t)
	case IsMissing([]byte(t)):
		return "expected a number, the value is missing: impute it with Options.Missing"
	case st == numRange:
		return tooLarge[T](t)
	case c.Offset+int64(off) < c.Layout.Own.(*csvLayout).units:
		return fmt.Sprintf("expected a number, found %q (a line of units? Leave it out)", t)
	case t[0] == '#':
		return fmt.Sprintf("expected a number, found %q%s", t, noComment)
	case t[0]-'0' <= 9 && delim != ',' && strings.Count(t, ",") == 1:
		return fmt.Sprintf("expected a number, found %q (a decimal comma? Write a point)", t)
	case t[0]-'0' <= 9:
		return fmt.Sprintf("expected a number, found %q", t)
	}
	return fmt.Sprintf("expected a number, found %q (is it a column of texts? Say so by "+
		"Options.TextCols)", t)
}
