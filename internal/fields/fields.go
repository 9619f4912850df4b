// Package fields says which features the fields of a row are to a model, wherever the row comes
// from: what columns and texts are called, and what a value that is missing stands for. Files have
// the same rules where they are parsed, in package internal/format.
package fields

import (
	"bytes"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/model"
)

// Fields are those of a model's rows.
type Fields struct {
	// Columns are those of training but the label's and those left out, in their order; nil: rows
	// have no columns.
	Columns []Column
	// Lead is how many columns hold numbers: features 0 to Lead.
	Lead int
	// Open: there may be names that the model has not. Grows: these become features when they are
	// learned. Closed: there are no features but the model's.
	Open, Grows, Closed bool
	// HashBits is into how many bits names are hashed, the features behind Lead; 0: they aren't.
	HashBits int
	// Fills: a number that is missing has a value, the mean.
	Fills bool
	// Indicates: it has the feature NAME=?, too.
	Indicates bool

	names   []string
	at      map[string]int // the column of a name
	missing string
}

// Column is a column of a file.
type Column struct {
	Name    string // or its number, where training has no name that is clear
	Text    bool   // each of its texts is a feature, NAME=TEXT
	Feature int    // of a column of numbers
	absent  string // the feature NAME=?
}

// Of returns the fields of a model.
func Of(p *model.Prep) *Fields {
	f := &Fields{HashBits: p.HashBits, missing: p.Missing, names: p.FeatureNames()}
	kind := format.Lookup(p.Format)
	if !kind.HasColumns() {
		named := len(f.names) > 0 || p.HashBits > 0
		f.Closed = kind != nil && kind.Dense
		f.Open, f.Grows = named, named && p.HashBits == 0
		return f
	}
	f.Lead, f.Closed = p.Numbers(), !p.Words()
	f.Open, f.Grows = p.Words(), p.Words() && p.HashBits == 0
	f.Indicates = p.Missing == "indicator"
	f.Fills = f.Indicates || p.Missing == "mean"
	kinds, label := p.Kinds, p.LabelCol-1
	if kinds == "" {
		kinds = strings.Repeat("n", p.Dim)
	}
	if label < 0 {
		label = len(kinds)
	}
	f.at = map[string]int{}
	numbers := 0
	for slot, kind := range kinds {
		if kind == '-' {
			continue
		}
		c := Column{Name: format.ColumnName(slot, label, p.Columns), Text: kind == 't'}
		c.absent = c.Name + "=?"
		if !c.Text {
			c.Feature = numbers
			if numbers++; c.Feature < len(f.names) && f.names[c.Feature] == "" {
				f.names[c.Feature] = c.Name
			}
		}
		f.at[c.Name] = len(f.Columns)
		f.Columns = append(f.Columns, c)
	}
	return f
}

// Names returns the names of the model's features from 0, "" for one that has none; nil where all
// have numbers.
func (f *Fields) Names() []string { return f.names }

// Texts reports whether a column holds texts.
func (f *Fields) Texts() bool { return len(f.Columns) > f.Lead }

// Column returns the column of a name.
func (f *Fields) Column(name string) (column int, ok bool) {
	column, ok = f.at[name]
	return column, ok
}

// Find returns the column of a name, or of the feature NAME=TEXT, and the text.
func (f *Fields) Find(name []byte) (column int, text []byte, ok bool) {
	if c, ok := f.at[string(name)]; ok {
		return c, nil, !f.Columns[c].Text
	}
	before, text, ok := bytes.Cut(name, []byte("="))
	if !ok {
		return 0, nil, false
	}
	column, ok = f.at[string(before)]
	return column, text, ok
}

// Word returns the feature of a text in a column; "" is none, the text stands for a missing value.
func (f *Fields) Word(column int, text []byte) string {
	if format.IsMissing(text) {
		return ""
	}
	return f.Columns[column].Name + "=" + string(text)
}

// Missing returns what a row has where the value of a column is missing: with fills the mean, which
// NaN stands for, and the feature of that name, unless it is "". ok is false where rows must have
// the value.
func (f *Fields) Missing(column int) (fills bool, word string, ok bool) {
	c := &f.Columns[column]
	switch {
	case !c.Text && f.Indicates:
		return true, c.absent, true
	case !c.Text:
		return f.Fills, "", f.Fills
	case f.missing == "mean":
		return false, "", true
	}
	return false, c.absent, f.missing != "error"
}

// Possible reports whether a name that the model has not may be one that it just never met: of
// columns only a text of a column of texts, or that a number is missing.
func (f *Fields) Possible(name []byte) bool {
	if f.Columns == nil {
		return f.Open
	}
	column, text, ok := f.Find(name)
	return ok && (f.Columns[column].Text || f.Indicates && string(text) == "?")
}

// Hash returns the feature that a name is hashed to, as where it is read from files.
func (f *Fields) Hash(name []byte) int32 {
	var within []byte
	if i := bytes.IndexByte(name, '='); i >= 0 && f.Columns != nil {
		within, name = name[:i], name[i+1:]
	}
	return int32(f.Lead) + int32(format.HashName(within, name)&(1<<f.HashBits-1))
}
