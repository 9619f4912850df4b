package halfspace

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/learner"
)

// Row is an example in the making. Numbers that are not set are 0, which a model that has scaled
// columns takes to their scale as it does other values; but where training took the mean for values
// that are missing (Options.Missing) they are missing, and so are texts that are not set. It is for
// the Model that made it, for its Snapshots, and for models whose features have the same names and
// numbers, as one that was saved and loaded; others refuse it with ErrFeature. One goroutine at a
// time may use it.
type Row struct {
	of      *hypothesis // that made it
	dim     int         // of dense rows; 0: any
	idx     []int32
	val     []float64
	text    []int32  // of each column of texts: its feature and 1; 0: none yet, -1: one not known
	unknown []string // names of texts that the model has not
	name    []byte
	weight  float64
	weighs  bool
	err     error // of the first bad call
}

var errNoModel = fmt.Errorf("halfspace: the row is of no model, want one that Row made: %w",
	ErrFeature)

// Row returns an empty row. Keep it and Reset it where rows come often.
func (h *hypothesis) Row() *Row {
	h.check()
	r := &Row{of: h}
	if h.dense {
		r.dim = h.prep.Dim
	}
	if h.fields.Texts() || h.fields.Indicates {
		r.text = make([]int32, len(h.fields.Columns))
	}
	return r
}

// Reset empties the row.
func (r *Row) Reset() *Row {
	r.idx, r.val, r.err = r.idx[:0], r.val[:0], nil
	r.unknown, r.weighs = r.unknown[:0], false
	clear(r.text)
	return r
}

// Set sets the feature of that name: a column of the training data's header, a name that New was
// given, or of a text NAME=TEXT. A name that the model doesn't have is ErrFeature, which the next
// call with the row returns.
func (r *Row) Set(name string, value float64) *Row {
	h := r.of
	if h == nil {
		return r.fail(errNoModel)
	}
	i, ok := h.names[name]
	switch {
	case ok:
		r.ofColumn([]byte(name), int32(i))
		return r.put(int32(i), value)
	case h.fields.HashBits > 0 && h.fields.Possible([]byte(name)):
		return r.add(h.fields.Hash([]byte(name)), value)
	}
	return r.fail(fmt.Errorf("halfspace: feature %q, want one of %d names: %w", name,
		len(h.names), ErrFeature))
}

// SetText sets the text of that name: of a column of texts, whose last text counts, or of a key of
// rows that are objects, which may have several. A text that the model has not met is counted by
// Unknown and says nothing, as in files; LearnOne makes it a feature. What stands for a value that
// is missing in a file ("", "?", NA) does so here. A name that has no texts is ErrFeature.
func (r *Row) SetText(name, text string) *Row {
	h := r.of
	if h == nil {
		return r.fail(errNoModel)
	}
	r.name = append(append(append(r.name[:0], name...), '='), text...)
	if h.fields.Columns == nil {
		return r.word(-1)
	}
	c, ok := h.fields.Column(name)
	if !ok || !h.fields.Columns[c].Text {
		return r.fail(fmt.Errorf("halfspace: %q is no column of texts: %w", name, ErrFeature))
	}
	r.drop(c)
	if h.fields.Word(c, r.name[len(name)+1:]) == "" {
		return r
	}
	return r.word(c)
}

// word sets the feature of the name r.name, a text of a column, or with -1 of none.
func (r *Row) word(column int) *Row {
	h := r.of
	i, ok := h.names[string(r.name)]
	switch {
	case ok:
		r.put(int32(i), 1)
	case !h.fields.Possible(r.name):
		return r.fail(fmt.Errorf("halfspace: the model has no texts, so no %q: %w", r.name,
			ErrFeature))
	case h.fields.HashBits > 0:
		i = int(h.fields.Hash(r.name))
		r.add(int32(i), 1)
	default:
		i = -2
		r.unknown = append(r.unknown, string(r.name))
	}
	if column >= 0 {
		r.text[column] = int32(i) + 1
	}
	return r
}

// drop takes out the text of a column.
func (r *Row) drop(column int) {
	switch i := r.text[column] - 1; {
	case i >= 0:
		if at, there := slices.BinarySearch(r.idx, i); there {
			if r.val[at]--; r.val[at] == 0 || r.of.fields.HashBits == 0 {
				r.idx, r.val = slices.Delete(r.idx, at, at+1), slices.Delete(r.val, at, at+1)
			}
		}
	case i == -2:
		r.unknown = slices.DeleteFunc(r.unknown, func(name string) bool {
			c, _, _ := r.of.fields.Find([]byte(name))
			return c == column
		})
	}
	r.text[column] = 0
}

// ofColumn notes that a column has its text, where a feature is one, or its number.
func (r *Row) ofColumn(name []byte, i int32) {
	if len(r.text) == 0 {
		return
	}
	c, text, ok := r.of.fields.Find(name)
	switch {
	case !ok:
	case text != nil:
		r.text[c] = i + 1
	case r.text[c] != 0: // that it is missing
		r.drop(c)
	}
}

// At sets the feature of that number: in svmlight as the training file counts them, from 0 or 1; of
// other files from 1, the label's column left out; of models that New made without names from 0.
func (r *Row) At(number int, value float64) *Row {
	if r.of == nil {
		return r.fail(errNoModel)
	}
	p := r.of.prep
	i := number - p.IndexBase
	if i < 0 || i >= math.MaxInt32-1 || r.dim > 0 && i >= r.dim {
		last := ""
		if r.dim > 0 {
			last = fmt.Sprintf(" to %d", p.IndexBase+r.dim-1)
		}
		return r.fail(fmt.Errorf("halfspace: feature %d, want a number from %d%s: %w", number,
			p.IndexBase, last, ErrFeature))
	}
	if k := i - r.of.lead; len(r.text) > 0 && k >= 0 && k < len(p.Names) {
		r.ofColumn([]byte(p.Names[k]), int32(i))
	}
	return r.put(int32(i), value)
}

// Weigh sets how much the example counts where it is learned, a number of 0 or more; 1 without.
// Only learners that take weights learn with one: see learner.ErrWeights.
func (r *Row) Weigh(weight float64) *Row {
	r.weight, r.weighs = weight, true
	return r
}

// Unknown returns how many texts of the row the model has not, at the time they were set.
func (r *Row) Unknown() int { return len(r.unknown) }

// put sets a feature by its number from 0.
func (r *Row) put(i int32, value float64) *Row {
	at, there := len(r.idx), false
	if at > 0 && r.idx[at-1] >= i { // mostly they come in order
		at, there = slices.BinarySearch(r.idx, i)
	}
	if there {
		r.val[at] = value
		return r
	}
	r.idx, r.val = slices.Insert(r.idx, at, i), slices.Insert(r.val, at, value)
	return r
}

// add is put of a feature that several names may share.
func (r *Row) add(i int32, value float64) *Row {
	if at, there := slices.BinarySearch(r.idx, i); there {
		value += r.val[at]
	}
	return r.put(i, value)
}

func (r *Row) fail(err error) *Row {
	if r.err == nil {
		r.err = err
	}
	return r
}

// check returns the error of the calls that made the row, and gives it what texts that are not set
// stand for.
func (r *Row) check(h *hypothesis) error {
	h.check()
	switch {
	case r == nil:
		return fmt.Errorf("halfspace: the row is nil, want one of the model's: %w", ErrFeature)
	case r.err != nil:
		return r.err
	case h.dense && r.dim != h.prep.Dim:
		return fmt.Errorf("halfspace: a row of %d features, want %d: %w", r.dim, h.prep.Dim,
			ErrFeature)
	case r.of == nil || !h.dense && r.dim != 0 || !sameFeatures(r.of, h):
		return fmt.Errorf("halfspace: the row is of a model of other features, want one that "+
			"this model's Row made: %w", ErrFeature)
	}
	for c := range r.text {
		if r.text[c] != 0 || !h.fields.Columns[c].Text && r.has(h.fields.Columns[c].Feature) {
			continue
		}
		_, word, ok := h.fields.Missing(c)
		if !ok && !h.fields.Columns[c].Text {
			continue // 0
		}
		if !ok {
			return fmt.Errorf("halfspace: the row lacks the text %q: %w", h.fields.Columns[c].Name,
				ErrFeature)
		}
		if word != "" {
			r.name = append(r.name[:0], word...)
			r.word(c)
		}
	}
	return r.err
}

// has reports whether a number is set, and not as missing.
func (r *Row) has(feature int) bool {
	at, there := slices.BinarySearch(r.idx, int32(feature))
	return there && r.val[at] == r.val[at]
}

// weightOf returns the weight of a row that is learned, and whether it has one.
func (r *Row) weightOf(h *hypothesis) (weight float64, weighs bool, err error) {
	if !r.weighs {
		return 1, false, nil
	}
	if !h.weights {
		return 0, false, fmt.Errorf("halfspace: %w", learner.ErrWeights)
	}
	if _, bad := format.WeightOf[float32](r.weight); bad != "" {
		return 0, false, badRows("%s", bad)
	}
	return r.weight, true, nil
}

// learnWords makes features of texts that the model has not.
func (m *Model) learnWords(r *Row) error {
	if len(r.unknown) == 0 {
		return nil
	}
	if err := m.AddFeatures(r.unknown...); err != nil {
		return err
	}
	for _, name := range r.unknown {
		i := int32(m.names[name])
		r.ofColumn([]byte(name), i)
		r.put(i, 1)
	}
	r.unknown = r.unknown[:0]
	return nil
}

// sameFeatures reports whether two models' features have the same names and numbers. Those of a
// model and of its snapshots are one family, of which no name need be looked at.
func sameFeatures(a, b *hypothesis) bool {
	return a.family == b.family || a.prep.IndexBase == b.prep.IndexBase &&
		len(a.fields.Columns) == len(b.fields.Columns) && maps.Equal(a.names, b.names)
}
