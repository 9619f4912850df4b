package format

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kinds of columns, as Layout.Kinds has them.
const (
	kindNumber  = 'n' // a feature
	kindText    = 't' // a feature for each text, of value 1 where it stands
	kindIgnored = '-'
)

// Places in csvLayout.to that are no number's.
const (
	toLabel      = -1
	weightColumn = -2
	toIgnored    = -3
	toText       = -4
	toID         = -5
)

// missingTexts are what stands for a value that is missing, in letters of any case: among others
// MySQL's \N and SAS's point.
var missingTexts = []string{"", "?", "NA", "N/A", "NaN", "null", `\N`, "."}

// IsMissing reports whether a field of a column has no value.
func IsMissing(field []byte) bool {
	if len(field) > 4 {
		return false
	}
	return slices.ContainsFunc(missingTexts, func(m string) bool {
		return len(m) == len(field) && strings.EqualFold(m, string(field))
	})
}

// ColumnName returns what features of a column are called, the slot-th from 0 but for the label's,
// which stands at label: its name in training, or its number there where it has none, or one that
// would not be clear.
func ColumnName(slot, label int, header []string) string {
	at := slot
	if slot >= label {
		at++ // the label's column counts
	}
	if at < len(header) && header[at] != "" && !strings.Contains(header[at], "=") {
		name := header[at]
		if slices.Index(header, name) == at {
			return name
		}
	}
	return strconv.Itoa(at + 1)
}

// setKinds says what each column is, once they are arranged: as in training or the first file, or
// as found, by what the first rows have in them. An error is the text of what is wrong.
func (l *csvLayout) setKinds(found []byte, seen []inColumn, o *Options) error {
	kinds := []byte(o.Kinds)
	known := o.Columns > 0
	switch {
	case len(kinds) > 0:
	case known:
		kinds = bytes.Repeat([]byte{kindNumber}, o.Columns-1)
	default:
		kinds = found
	}
	if l.id > 0 {
		if l.to[l.id-1] < 0 {
			return fmt.Errorf("column %d is the id, and the label or the weight: choose another "+
				"by Options.IDCol", l.id)
		}
		kinds[l.to[l.id-1]] = kindIgnored
	}
	header := o.Header
	if !known {
		header = l.header
	}
	chosen, err := l.chooseKinds(kinds, header, o)
	if err != nil {
		return err
	}
	if !known && o.Kinds == "" {
		l.judge(seen, kinds, chosen)
	}
	if bytes.IndexByte(kinds, kindNumber) < 0 && bytes.IndexByte(kinds, kindText) < 0 {
		return fmt.Errorf("no column is left that is a feature: take one out of Options.IgnoreCols")
	}
	l.setFeatures(kinds, header, o.Missing)
	return nil
}

// look counts what the first rows have in the columns of features, by their slots, and notes the
// words for missing values.
func (l *csvLayout) look(lines [][]byte) []inColumn {
	seen := make([]inColumn, l.features())
	var cells []cell
	var buf []byte
	missed := map[string]bool{}
	for _, line := range lines {
		cells = appendCells(cells[:0], line, l.delim)
		if len(cells) != l.cols {
			continue
		}
		for col, f := range cells {
			slot := l.to[col]
			if slot < 0 || int(slot) >= len(seen) {
				continue
			}
			if seen[slot].add(f.text, col == 0, &buf) && !missed[string(f.text)] {
				missed[string(f.text)] = true
				l.missed = append(l.missed, string(f.text))
			}
		}
	}
	return seen
}

// inColumn is what the first rows have in a column of a feature.
type inColumn struct {
	numbers, texts int
	strange        int            // different texts that look like numbers in another notation
	distinct       map[string]int // texts; of the first column and behind a text also numbers
	example        string         // of those that are strange
	parts          int            // numbers that are not whole
	last           float64        // number
	counts         bool           // each number is one more than the last
}

// add counts a field, and reports whether its value is missing. all: numbers are noted, too. buf is
// memory.
func (c *inColumn) add(f []byte, all bool, buf *[]byte) (missing bool) {
	*buf = append(append((*buf)[:0], f...), '\n') // no number has it
	v, end, st := parseNumber[float64](*buf, 0)   // nearly all are numbers
	if st == numOK && end == len(f) {
		c.counts = c.numbers == 0 || c.counts && v == c.last+1
		c.numbers++
		c.last = v
		if v != math.Trunc(v) {
			c.parts++
		}
		if all || c.texts > 0 {
			c.note(f, true)
		}
		return false
	}
	switch {
	case IsMissing(f):
		return true
	case !isNotFinite(string(f)):
		c.texts++
		c.note(f, notation(f))
	}
	return false
}

// note notes a text.
func (c *inColumn) note(f []byte, strange bool) {
	if c.distinct == nil {
		c.distinct = make(map[string]int)
	}
	if c.distinct[string(f)]++; c.distinct[string(f)] == 1 && strange {
		if c.strange++; c.example == "" {
			c.example = string(f)
		}
	}
}

// findKinds takes a column for text if more of its fields are texts than numbers.
func findKinds(seen []inColumn) []byte {
	kinds := bytes.Repeat([]byte{kindNumber}, len(seen))
	for slot, c := range seen {
		if c.texts > c.numbers {
			kinds[slot] = kindText
		}
	}
	return kinds
}

// How many rows must be all different, or counted, before a column seems to say nothing but which
// row it is; of more than manyRows some may be equal.
const (
	someRows = 5
	manyRows = 20
)

// judge leaves out the index of the rows that pandas and R write: a first column without a name,
// whose values are whole numbers or texts, none twice. Of other columns that nobody chose it notes
// what would be learned as nobody means it.
func (l *csvLayout) judge(seen []inColumn, kinds []byte, chosen []bool) {
	for slot := range seen {
		c, at := &seen[slot], l.place(slot)
		n, different := c.numbers+c.texts, len(c.distinct)
		if chosen[slot] || kinds[slot] == kindIgnored || n == 0 {
			continue
		}
		column := strconv.Itoa(at + 1)
		if l.called(at) != column {
			column += fmt.Sprintf(" (%s)", l.called(at))
		}
		odd := func(format string, args ...any) {
			l.odd = append(l.odd, "column "+column+" "+fmt.Sprintf(format, args...))
		}
		const leave = "Options.IgnoreCols leaves it out"
		switch {
		case at == 0 && indexName(l.header):
			if different == n && c.parts == 0 && (c.numbers == 0 || c.texts == 0) {
				kinds[slot], l.index = kindIgnored, true
			} else {
				odd("has no name, and is learned: if it is an index, " + leave)
			}
		case kinds[slot] == kindNumber:
			if c.counts && c.texts == 0 && n >= someRows {
				odd("counts the rows, and is learned: if that is no feature, %s", leave)
			}
		default:
			if what := c.oddTexts(); what != "" {
				odd("%s", what+"; Options.IgnoreCols leaves it out, Options.TextCols says that "+
					"texts are meant")
			}
		}
	}
	l.odd = someOdd(l.odd)
}

// oddTexts says what may be wrong with a column of texts, "" if nothing.
func (c *inColumn) oddTexts() string {
	n, different := c.numbers+c.texts, len(c.distinct)
	switch {
	case 2*c.strange > different:
		return fmt.Sprintf("has texts that look like numbers, as %q, each of which becomes a "+
			"feature: write numbers as 1234.5", c.example)
	case n >= someRows && different == n || n >= manyRows && 10*different >= 9*n:
		return "has texts that are nearly all different, as ids are, each of which becomes a " +
			"feature"
	}
	return ""
}

// someOdd is the first few of many sentences, and how many more there are.
func someOdd(odd []string) []string {
	const most = 5
	if len(odd) <= most {
		return odd
	}
	return append(odd[:most:most], fmt.Sprintf("%d more columns are as odd", len(odd)-most))
}

// indexName reports whether the first column, and no other, has no name, or the one that pandas
// reads that as.
func indexName(header []string) bool {
	return len(header) > 0 && (header[0] == "Unnamed: 0" ||
		header[0] == "" && slices.Index(header[1:], "") < 0)
}

// chooseKinds sets the kinds of columns that options name, and returns which these are.
func (l *csvLayout) chooseKinds(kinds []byte, header []string, o *Options) ([]bool, error) {
	cols, chosen := len(kinds)+1, make([]bool, len(kinds))
	for _, c := range []struct {
		option string
		names  []string
		kind   byte
	}{{"TextCols", o.TextCols, kindText}, {"NumberCols", o.NumberCols, kindNumber},
		{"IgnoreCols", o.IgnoreCols, kindIgnored}} {
		for _, name := range c.names {
			at, err := FindColumn(name, header, cols)
			switch {
			case err != nil && len(header) == 0:
				return nil, fmt.Errorf("no header, so no column %q: give its number to Options.%s",
					name, c.option)
			case err != nil:
				return nil, fmt.Errorf("no column %q: name one of the header by Options.%s", name,
					c.option)
			case at == l.at:
				return nil, fmt.Errorf("column %q holds the labels (Options.LabelCol names "+
					"another), and is in Options.%s", name, c.option)
			case at > l.at:
				at--
			}
			kinds[at], chosen[at] = c.kind, true
		}
	}
	return chosen, nil
}

// setFeatures numbers the columns of numbers in the order of training, and names those of texts.
func (l *csvLayout) setFeatures(kinds []byte, header []string, missing string) {
	l.missing = missing
	number := make([]int32, len(kinds))
	for slot, kind := range kinds {
		switch kind {
		case kindNumber:
			number[slot] = int32(l.numbers)
			l.numbers++
		case kindText:
			number[slot], l.words = toText, true
		default:
			number[slot] = toIgnored
		}
	}
	l.words = l.words || missing == "indicator"
	if l.words || l.numbers < len(kinds) {
		l.kinds = string(kinds)
	}
	l.prefix = make([]string, l.cols)
	for col, slot := range l.to {
		if slot < 0 {
			continue
		}
		l.to[col] = number[slot]
		l.prefix[col] = ColumnName(int(slot), l.at, header)
	}
	if l.id > 0 {
		l.to[l.id-1] = toID
	}
}
