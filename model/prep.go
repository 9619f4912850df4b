package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	formats "github.com/halfspace-ml/halfspace/internal/format"
)

// Prep is how a row of data becomes an example: a prediction must do as training did. Capture
// leaves all but the labels at zero, which prepares nothing.
type Prep struct {
	Labels Labels `json:"labels"`
	// Classes are the texts of the classes, by number; none where there are two, which Labels has.
	Classes []string `json:"classes,omitempty"`
	// the one label that an empty Labels.Negative stood for in training; "" if there were several
	Rest      string   `json:"rest,omitempty"`
	Bias      string   `json:"bias"`                 // none, append
	BiasValue float64  `json:"bias_value,omitempty"` // of the appended feature, where it is not 1
	Normalize string   `json:"normalize"`            // none, unit, max
	Scale     float64  `json:"scale"`                // of normalize max: the divisor; else 1
	Format    string   `json:"format"`               // svmlight, csv, idx, fasta
	IndexBase int      `json:"index_base"`           // number of the first feature: 0 or 1
	Dim       int      `json:"dim"`                  // features, without a bias; 0: not known
	Columns   []string `json:"columns,omitempty"`    // csv: their names, the label's too
	LabelCol  int      `json:"label_col,omitempty"`  // csv: of the label, from 1; 0: none
	// LabelKey is the key of the label in ndjson, where training names it; "": one of the names
	// that are taken for it.
	LabelKey string `json:"label_key,omitempty"`
	// IDKey is the key of the id in ndjson, which is no feature; "": none.
	IDKey string `json:"id_key,omitempty"`
	// Kinds are the kinds of the csv columns beside the label's, in their order: n a number, t
	// texts, - left out; "" if all are numbers. Features are the numbers, in that order, and then
	// the texts as Names has them. Missing is what values that are missing stand for.
	Kinds   string `json:"kinds,omitempty"`
	Missing string `json:"missing,omitempty"`
	// Scaling is what is known of the features' scale, nil if none was asked. Its numbers are the
	// file's tensor prep_scaling.
	Scaling *formats.Scaling `json:"scaling,omitempty"`
	// csv: the column of the weights, by name or number as dataset.Options.WeightCol; "": none. It
	// is none of the Columns.
	WeightCol string `json:"weight_col,omitempty"`
	// Names are those of features 0 and so on, without a bias, where features have names and no
	// numbers, or else HashBits, into which names are hashed.
	Names    []string `json:"names,omitempty"`
	HashBits int      `json:"hash_bits,omitempty"`
	// Interactions are pairs of namespaces whose features are multiplied, by their first letters.
	Interactions []string `json:"interactions,omitempty"`
}

// Labels are the names of the two classes. An empty name of the negative one stands for all labels
// but the positive one.
type Labels struct {
	Negative string `json:"negative"`
	Positive string `json:"positive"`
}

// defaultLabels are of models that were captured without a Prep.
var defaultLabels = Labels{Negative: "-1", Positive: "+1"}

// OrDefault returns the labels, or -1 and +1 where there are none: so it is in files of library
// users who gave no Prep.
func (l Labels) OrDefault() Labels {
	if l == (Labels{}) {
		return defaultLabels
	}
	return l
}

// Shown returns the names of the classes for people: the negative one is Rest, or not-POSITIVE,
// where it stands for all other labels.
func (p *Prep) Shown() Labels {
	l := p.Labels.OrDefault()
	if l.Negative == "" {
		if l.Negative = p.Rest; l.Negative == "" {
			l.Negative = "not-" + l.Positive
		}
	}
	return l
}

// ScaledBy returns the method of Scaling, "none" without.
func (p *Prep) ScaledBy() string {
	if p.Scaling == nil {
		return "none"
	}
	return p.Scaling.Method
}

// maxDim is the most features that examples can have.
const maxDim = math.MaxInt32

// bad is an error of a field.
func bad(field string, v any, want string) error {
	return fmt.Errorf("prep: %s is %v, want %s", field, v, want)
}

// checkScale is check for the fields of an example's last feature and length.
func (p *Prep) checkScale() error {
	finite := func(v float64) bool { return v-v == 0 }
	switch {
	case !slices.Contains([]string{"", "none", "append"}, p.Bias):
		return bad("bias", strconv.Quote(p.Bias), "none or append")
	case !finite(p.BiasValue) || p.BiasValue < 0 || p.BiasValue > math.MaxFloat32:
		return bad("bias_value", p.BiasValue, "a positive number")
	case p.BiasValue != 0 && p.Bias != "append":
		return bad("bias_value", p.BiasValue, "none without the bias append")
	case !slices.Contains([]string{"", "none", "unit", "max"}, p.Normalize):
		return bad("normalize", strconv.Quote(p.Normalize), "none, unit or max")
	case p.Normalize == "max" && !(p.Scale > 0 && finite(p.Scale) && finite(1/p.Scale)):
		return bad("scale", p.Scale, "the positive length of an example with normalize max")
	case p.Normalize != "max" && p.Scale != 0 && p.Scale != 1:
		return bad("scale", p.Scale, "1 without normalize max")
	}
	k := p.Scaling
	if k == nil {
		return nil
	}
	if err := k.Check(); err != nil {
		return fmt.Errorf("prep: scaling: %w", err)
	}
	if k.Features() > p.Dim && p.Dim > 0 {
		return bad("scaling", fmt.Sprintf("of %d features", k.Features()),
			fmt.Sprintf("of %d at most, as dim is", p.Dim))
	}
	return nil
}

// check names the first bad field.
func (p *Prep) check() error {
	if err := errors.Join(p.Labels.check(), p.checkClasses()); err != nil {
		return err
	}
	if p.Rest != "" && (p.Labels.Negative != "" || p.Labels.Positive == "" ||
		!utf8.ValidString(p.Rest) || p.Rest == p.Labels.Positive) {
		return bad("rest", strconv.Quote(p.Rest), "the name of all labels but the positive one, "+
			"where the negative one has none")
	}
	if err := errors.Join(p.checkScale(), p.checkWeightCol(), p.checkNames()); err != nil {
		return err
	}
	f, columns := formats.Lookup(p.Format), p.columns()
	switch {
	case p.Format != "" && f == nil:
		return bad("format", strconv.Quote(p.Format), formats.Or(formats.Names(nil)))
	case p.IndexBase != 0 && p.IndexBase != 1:
		return bad("index_base", p.IndexBase, "0 or 1")
	case p.Dim < 0 || p.Dim > maxDim:
		return bad("dim", p.Dim, fmt.Sprintf("0 to %d features", maxDim))
	case p.LabelCol < 0 || p.LabelCol > 0 && (!f.HasColumns() || int64(p.LabelCol) > columns):
		return bad("label_col", p.LabelCol, "a column's number in "+formats.Or(formats.Names(
			(*formats.Format).HasColumns)))
	case len(p.Columns) > 0 && !f.HasColumns():
		return bad("columns", fmt.Sprintf("a list of %d names", len(p.Columns)),
			"none without the format "+formats.Or(formats.Names((*formats.Format).HasColumns)))
	case len(p.Columns) > 0 && int64(len(p.Columns)) != columns:
		return bad("columns", fmt.Sprintf("a list of %d names", len(p.Columns)),
			fmt.Sprintf("%d, of dim %d and label_col %d", columns, p.Dim, p.LabelCol))
	}
	for i, name := range p.Columns {
		if !utf8.ValidString(name) {
			return bad(fmt.Sprintf("columns[%d]", i), strconv.Quote(name), "text in UTF-8")
		}
	}
	return nil
}

func (p *Prep) checkWeightCol() error {
	if p.WeightCol != "" && (!formats.Lookup(p.Format).HasColumns() ||
		!utf8.ValidString(p.WeightCol)) {
		return bad("weight_col", strconv.Quote(p.WeightCol), "a column of "+formats.Or(
			formats.Names((*formats.Format).HasColumns)))
	}
	if p.LabelKey != "" && (formats.Lookup(p.Format).HasColumns() ||
		!utf8.ValidString(p.LabelKey)) {
		return bad("label_key", strconv.Quote(p.LabelKey), "a key of rows that are objects")
	}
	if p.IDKey != "" && (formats.Lookup(p.Format).HasColumns() || !utf8.ValidString(p.IDKey)) {
		return bad("id_key", strconv.Quote(p.IDKey), "a key of rows that are objects")
	}
	return nil
}

// columns returns how many columns there are, the label's too.
func (p *Prep) columns() int64 {
	n := int64(p.Dim)
	if p.Kinds != "" {
		n = int64(len(p.Kinds))
	}
	if p.LabelCol > 0 {
		n++
	}
	return n
}

// Numbers returns how many features stand before those of Names: columns of numbers.
func (p *Prep) Numbers() int {
	switch {
	case p.Kinds != "":
		return strings.Count(p.Kinds, "n")
	case len(p.Names) == 0 && p.HashBits == 0:
		return p.Dim
	}
	return 0
}

// Words reports whether rows of columns have features beside those of numbers, so that they are
// sparse.
func (p *Prep) Words() bool {
	return strings.Contains(p.Kinds, "t") || p.Kinds != "" && p.Missing == "indicator"
}

// FeatureNames returns the names of features, from 0 and without a bias, as the data have them; ""
// for one that has none but a number. Of texts it is COLUMN=TEXT. There may be fewer than Dim, and
// there are none, nil, where all have numbers.
func (p *Prep) FeatureNames() (names []string) {
	slots := len(p.Kinds)
	if p.Kinds == "" {
		slots = min(len(p.Columns), p.Dim)
	}
	for slot := range slots {
		if p.Kinds != "" && p.Kinds[slot] != 'n' {
			continue
		}
		column := slot
		if p.LabelCol > 0 && slot >= p.LabelCol-1 {
			column++
		}
		name := ""
		if column < len(p.Columns) {
			name = p.Columns[column]
		}
		names = append(names, name)
	}
	names = append(names, p.Names...)
	if !slices.ContainsFunc(names, func(name string) bool { return name != "" }) {
		return nil
	}
	return names
}

// checkKinds looks at the kinds of columns.
func (p *Prep) checkKinds() error {
	switch {
	case strings.Trim(p.Kinds, "nt-") != "":
		return bad("kinds", strconv.Quote(p.Kinds), "letters n, t and -")
	case p.Kinds != "" && !formats.Lookup(p.Format).HasColumns():
		return bad("kinds", strconv.Quote(p.Kinds), "none without columns")
	case !slices.Contains([]string{"", "error", "mean", "indicator"}, p.Missing):
		return bad("missing", strconv.Quote(p.Missing), "error, mean or indicator")
	case p.Kinds != "" && strings.Count(p.Kinds, "n")+len(p.Names) > p.Dim:
		return bad("names", fmt.Sprintf("a list of %d", len(p.Names)),
			fmt.Sprintf("at most %d, as dim is, less the columns of numbers", p.Dim))
	}
	return nil
}

// checkNames looks at the names of features.
func (p *Prep) checkNames() error {
	if err := p.checkKinds(); err != nil {
		return err
	}
	if _, err := formats.NewDictionary(p.Names, p.HashBits); err != nil {
		return fmt.Errorf("prep: names: %v", err)
	}
	if _, err := formats.Pairs(p.Interactions); err != nil {
		return fmt.Errorf("prep: %v", err)
	}
	if p.Dim >= 0 && len(p.Names) > p.Dim {
		return bad("names", fmt.Sprintf("a list of %d", len(p.Names)),
			fmt.Sprintf("at most %d, as there are features", p.Dim))
	}
	return nil
}

func (p *Prep) checkClasses() error {
	if len(p.Classes) > 0 && p.Labels != (Labels{}) {
		return errors.New("prep: classes and two labels, want either")
	}
	seen := map[string]bool{}
	for i, name := range p.Classes {
		if name == "" || !utf8.ValidString(name) || seen[name] {
			return bad(fmt.Sprintf("classes[%d]", i), strconv.Quote(name),
				"text in UTF-8 that no other class has")
		}
		seen[name] = true
	}
	return nil
}

func (l *Labels) check() error {
	for _, f := range []struct{ name, text string }{
		{"negative", l.Negative}, {"positive", l.Positive},
	} {
		if !utf8.ValidString(f.text) {
			return fmt.Errorf("prep: labels: %s is %q, want text in UTF-8", f.name, f.text)
		}
	}
	switch {
	case *l == Labels{}:
	case l.Positive == "":
		return errors.New("prep: labels: positive is empty")
	case l.Negative == l.Positive:
		return fmt.Errorf("prep: labels: negative is %q and positive %q, want two",
			l.Negative, l.Positive)
	}
	return nil
}
