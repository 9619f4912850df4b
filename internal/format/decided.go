package format

import (
	"fmt"
	"strconv"
	"strings"
)

// Decided says how the first rows of a table were understood.
type Decided struct {
	Delimiter string `json:"delimiter"` // between fields; a blank stands for any number of them
	Header    bool   `json:"header"`    // the first row names the columns
	// Columns by their names, or by their numbers where they have none.
	Label   string   `json:"label"` // "" if there is none
	Weight  string   `json:"weight"`
	Texts   []string `json:"text_columns"`
	Ignored []string `json:"ignored_columns"`
	Index   bool     `json:"index"`         // the first of Ignored numbers or names the rows
	Missing []string `json:"missing_words"` // that stand for missing values in the first rows
	// Comments are the lines before the first row that begin with #.
	Comments int `json:"comment_lines"`
}

// String is the line that says it.
func (d *Decided) String() string {
	parts := []string{"no header"}
	if d.Header {
		parts[0] = "a header"
	}
	switch d.Delimiter {
	case ",":
	case " ":
		parts = append(parts, "columns between blanks")
	default:
		parts = append(parts, fmt.Sprintf("columns between %q", d.Delimiter))
	}
	if parts = append(parts, "no label"); d.Label != "" {
		parts[len(parts)-1] = "label " + strconv.Quote(d.Label)
	}
	if d.Weight != "" {
		parts = append(parts, "weight "+strconv.Quote(d.Weight))
	}
	for _, c := range []struct {
		what  string
		names []string
	}{{"texts", d.Texts}, {"ignored", d.Ignored}, {"missing values", d.Missing}} {
		if len(c.names) == 0 {
			continue
		}
		text := c.what + " " + quotedNames(c.names)
		if d.Index && c.what == "ignored" {
			text += " (the first column numbers or names the rows)"
		}
		parts = append(parts, text)
	}
	if d.Comments > 0 {
		lines := "lines"
		if d.Comments == 1 {
			lines = "line"
		}
		parts = append(parts, fmt.Sprintf("%d comment %s", d.Comments, lines))
	}
	return strings.Join(parts, ", ")
}

// decided says how the file was understood, given the kinds of the columns of features.
func (l *csvLayout) decided() *Decided {
	d := &Decided{Delimiter: string(l.delim), Header: l.row >= 0, Texts: []string{},
		Ignored: []string{}, Missing: append([]string{}, l.missed...), Comments: l.comments,
		Index: l.index}
	if l.label >= 0 {
		d.Label = l.called(l.at)
	}
	if l.weight > 0 {
		d.Weight = strconv.Itoa(l.weight)
	}
	if l.index { // which training may have, or not
		d.Ignored = append(d.Ignored, "1")
	}
	for slot, kind := range l.kinds {
		switch kind {
		case kindText:
			d.Texts = append(d.Texts, l.called(l.place(slot)))
		case kindIgnored:
			if l.index && l.place(slot) == 0 {
				continue
			}
			d.Ignored = append(d.Ignored, l.called(l.place(slot)))
		}
	}
	return d
}

// place returns the place of a slot's column in training, the label's counted.
func (l *csvLayout) place(slot int) int {
	if slot >= l.at {
		slot++
	}
	return slot
}

// called is the name of the column at a place of training, or its number from 1 where it has none.
func (l *csvLayout) called(at int) string {
	if at < len(l.header) && l.header[at] != "" {
		return l.header[at]
	}
	return strconv.Itoa(at + 1)
}
