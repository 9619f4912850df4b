package format

import (
	"bytes"
	"fmt"
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

// missingTexts are what stands for a value that is missing, in letters of any case.
var missingTexts = []string{"", "?", "NA", "N/A", "NaN", "null"}

// IsMissing reports whether a field of a column has no value.
func IsMissing(field []byte) bool { return isMissing(field) }

func isMissing(field []byte) bool {
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
// as found says of the features' columns. An error is the text of what is wrong.
func (l *csvLayout) setKinds(found func() []byte, o *Options) error {
	kinds := []byte(o.Kinds)
	known := o.Columns > 0
	switch {
	case len(kinds) > 0:
	case known:
		kinds = bytes.Repeat([]byte{kindNumber}, o.Columns-1)
	default:
		kinds = found()
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
	if err := l.chooseKinds(kinds, header, o); err != nil {
		return err
	}
	if bytes.IndexByte(kinds, kindNumber) < 0 && bytes.IndexByte(kinds, kindText) < 0 {
		return fmt.Errorf("no column is left that is a feature: take one out of Options.IgnoreCols")
	}
	l.setFeatures(kinds, header, o.Missing)
	return nil
}

// findKinds takes a column for text if more of its fields are texts than numbers.
func (l *csvLayout) findKinds(lines [][]byte) []byte {
	kinds := bytes.Repeat([]byte{kindNumber}, l.features())
	texts := make([]int, len(kinds)) // less the numbers
	var fields [][]byte
	var field []byte // one, and a byte that no number holds
	for _, line := range lines {
		fields = appendFields(fields[:0], line, l.delim)
		if len(fields) != l.cols {
			continue
		}
		for col, f := range fields {
			slot := l.to[col]
			if slot < 0 {
				continue
			}
			// Nearly all are numbers, so that is asked first.
			field = append(append(field[:0], f...), '\n')
			_, end, st := parseNumber[float64](field, 0)
			switch {
			case st == numOK && end == len(f):
				texts[slot]--
			case !isMissing(f) && !isNotFinite(string(f)):
				texts[slot]++
			}
		}
	}
	for slot, n := range texts {
		if n > 0 {
			kinds[slot] = kindText
		}
	}
	return kinds
}

// chooseKinds sets the kinds of columns that options name.
func (l *csvLayout) chooseKinds(kinds []byte, header []string, o *Options) error {
	cols := len(kinds) + 1
	for _, c := range []struct {
		option string
		names  []string
		kind   byte
	}{{"TextCols", o.TextCols, kindText}, {"NumberCols", o.NumberCols, kindNumber},
		{"IgnoreCols", o.IgnoreCols, kindIgnored}} {
		for _, name := range c.names {
			at, err := labelColumn(name, header, cols)
			switch {
			case err != nil && len(header) == 0:
				return fmt.Errorf("no header, so no column %q: give its number to Options.%s", name,
					c.option)
			case err != nil:
				return fmt.Errorf("no column %q: name one of the header by Options.%s", name,
					c.option)
			case at == l.at:
				return fmt.Errorf("column %q holds the labels (Options.LabelCol names another), "+
					"and is in Options.%s", name, c.option)
			case at > l.at:
				at--
			}
			kinds[at] = c.kind
		}
	}
	return nil
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

// headed reports whether the first of some lines, all of whose columns are texts, names them: no
// text of it comes again below, and others come more than once. Few lines say nothing.
func headed(lines [][]byte, delim byte) bool {
	const few = 4
	if len(lines) < few {
		return false
	}
	first := splitCSV(lines[0], delim)
	if _, twice := repeated(first); twice {
		return false
	}
	repeats := false
	seen := make([]map[string]bool, len(first))
	for i, name := range first {
		if name == "" || MakeLabel(name).Numeric || isMissing([]byte(name)) {
			return false
		}
		seen[i] = map[string]bool{}
	}
	for _, line := range lines[1:] {
		for i, f := range splitCSV(line, delim) {
			if i >= len(first) {
				break
			}
			if f == first[i] {
				return false
			}
			repeats = repeats || seen[i][f]
			seen[i][f] = true
		}
	}
	return repeats
}
