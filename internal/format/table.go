package format

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/halfspace-ml/halfspace/engine"
)

// Columns says what the columns of a table are, to which file they have names and kinds of their
// own: which is the label, which hold numbers or texts, and what their features are called. They
// are arranged as those of csv files are, so that a model of the one meets the other.
type Columns struct {
	Label, Weight int   // from 0; -1: none
	Numbers       []int // of each feature that is a column of numbers: which
	Texts         []int // columns of texts

	names  []string
	layout *csvLayout // nil of rows that are lists
	words  []wordOf   // features beside the numbers, in the order of the file
	lists  indexed    // of rows that are lists
	list   int        // the first column of such
}

// wordOf is a column that may have features beside numbers: its texts, or that a number is missing.
type wordOf struct{ col, text, number int } // the latter -1 where it is the other

// ArrangeColumns finds what each column is by its name and the options; texts are those that hold
// texts unless an option says otherwise. first is the layout of the first of several files, nil for
// that itself. Its error is a *RowError.
func ArrangeColumns(file string, names []string, texts []bool, o *Options,
	first *Layout) (*Columns, *Layout, error) {
	like := o.like(first)
	l := &csvLayout{cols: len(names), row: -1}
	err := l.arrangeWeighted(names, like)
	if err == nil {
		kinds := slices.Repeat([]byte{kindNumber}, l.features())
		for col, slot := range l.to {
			if slot >= 0 && int(slot) < len(kinds) && texts[col] {
				kinds[slot] = kindText
			}
		}
		err = l.setKinds(kinds, make([]inColumn, len(kinds)), like)
	}
	if err != nil {
		e := &RowError{File: file, What: err.Error(), Err: ErrFormat}
		if like.Columns > 0 {
			e.Err = ErrColumns
		}
		return nil, nil, e
	}
	t := &Columns{Label: l.label, Weight: l.weight - 1, Numbers: make([]int, l.numbers), layout: l,
		names: names}
	for col, to := range l.to {
		switch {
		case to == toText:
			t.words = append(t.words, wordOf{col, len(t.Texts), -1})
			t.Texts = append(t.Texts, col)
		case to >= 0:
			t.Numbers[to] = col
			if l.missing == "indicator" {
				t.words = append(t.words, wordOf{col, -1, int(to)})
			}
		}
	}
	lay := l.describe(o)
	lay.Decided = nil // the file says itself what its columns are
	lay.Kind, lay.NoRows = CSV.Name, "a table without rows"
	return t, lay, nil
}

// ListColumns finds label and weight of a table whose features are in other columns, as lists: wide
// says which these are. What else there is must be among Options.IgnoreCols, unless a model has
// fixed the features. part is what was looked through for zero, which says whether a row has an
// index 0; nil where values have no indices and count from 1. Its error is a *RowError.
func ListColumns(file string, names []string, wide []bool, o *Options, first *Layout, part string,
	zero func() bool) (*Columns, *Layout, error) {
	t := &Columns{Label: -1, Weight: -1, names: names, list: slices.Index(wide, true)}
	if err := t.findBeside(wide, o); err != nil {
		return nil, nil, &RowError{File: file, What: err.Error(), Err: ErrFormat}
	}
	lay := &Layout{Kind: SVMLight.Name, NoRows: "a table without rows"}
	switch x := &t.lists; {
	case zero == nil:
		*x = indexed{shift: int64(o.Bias) - 1, least: 1, most: maxIndex - uint64(o.Bias)}
		lay.IndexBase, lay.BaseFound = 1, byColumns
	case first != nil && first.BaseOpen:
		*x = indexed{shift: int64(o.Bias) - 1, most: maxIndex - uint64(o.Bias)}
		lay = first
	case first != nil:
		like := *o
		like.Base, like.BaseFound = first.IndexBase, first.BaseFound
		(&Head{Part: part}).base(&like, lay, x, zero)
	default:
		(&Head{Part: part}).base(o, lay, x, zero)
	}
	return t, lay, nil
}

// findBeside finds label and weight beside the columns of the features.
func (t *Columns) findBeside(wide []bool, o *Options) (err error) {
	n := len(t.names)
	free := make([]bool, n)
	for i := range free {
		free[i] = !wide[i]
	}
	for _, c := range []struct {
		option string
		names  []string
	}{{"TextCols", o.TextCols}, {"NumberCols", o.NumberCols}} {
		if len(c.names) > 0 {
			return fmt.Errorf("no use for Options.%s: the features are lists", c.option)
		}
	}
	for _, name := range o.IgnoreCols {
		at, err := FindColumn(name, t.names, n)
		if err != nil {
			return fmt.Errorf("no column %q: name another by Options.IgnoreCols", name)
		}
		free[at] = false
	}
	if o.WeightCol != "" {
		at, err := FindColumn(o.WeightCol, t.names, n)
		switch {
		case err == nil && free[at]:
			t.Weight, free[at] = at, false
		case !o.WeightOptional || err == nil:
			return fmt.Errorf("no column %q of numbers: name another by Options.WeightCol",
				o.WeightCol)
		}
	}
	if t.Label, err = t.labelBeside(free, o); err != nil {
		return err
	}
	for at, name := range t.names {
		if free[at] && at != t.Label && o.Naming != Numbers {
			return fmt.Errorf("column %q stands beside features that are lists: leave it out by "+
				"Options.IgnoreCols", name)
		}
	}
	return nil
}

// labelBeside finds the label among columns that are free for it; -1 where it may be missing.
func (t *Columns) labelBeside(free []bool, o *Options) (int, error) {
	if o.LabelCol != "" {
		at, err := FindColumn(o.LabelCol, t.names, len(t.names))
		if err == nil && !free[at] {
			err = fmt.Errorf("column %q can't be the label: name another by Options.LabelCol",
				t.names[at])
		}
		return at, err
	}
	for _, name := range labelNames {
		if at := slices.Index(t.names, name); at >= 0 && free[at] {
			return at, nil
		}
	}
	only := -1
	for at := range free {
		switch {
		case free[at] && only >= 0:
			return 0, fmt.Errorf("no column is called %s: name the labels' by Options.LabelCol",
				Or(labelNames))
		case free[at]:
			only = at
		}
	}
	if only < 0 && !o.Optional {
		return 0, fmt.Errorf("no column of labels: there must be one beside the features")
	}
	if o.Optional { // what else there is need not be a label
		only = -1
	}
	return only, nil
}

// Table is a run of rows in columns, as the parser of a format has them for [Chunk.AddTable]. The
// slices may be those of the file's own memory: they are copied from, and not kept.
type Table[T engine.Float] struct {
	Columns *Columns
	Rows    int

	// Numbers are the values of each of Columns.Numbers, NaN where one is missing; Texts the texts
	// of each of Columns.Texts, not ok where one is missing.
	Numbers [][]T
	Texts   []func(row int) (text []byte, ok bool)

	// Lists are rows that are lists, instead: sparse, whose indices are as in the file, or dense.
	// Null says whether one, or a value of it, is missing; nil: none is.
	Lists engine.Block[T]
	Null  func(row int) bool

	// Y are labels that are numbers, NaN where one is missing, Labels such as are texts, or with
	// Digits whole numbers that are written as texts; one of them.
	Y      []float64
	Labels func(row int) (text []byte, ok bool)
	Digits bool
	// Weights are NaN where one is missing; nil: all are 1.
	Weights []float64
}

// tableRow is the row that is added.
type tableRow[T engine.Float] struct {
	*Chunk[T]
	s    *Settings
	t    *Table[T]
	i    int // its number in the table
	code int32
	at   int // column of what is wrong, from 0
	name []byte

	last     []byte // label found last, and
	lastCode int32  // its number
}

// AddTable adds the rows of a table, whose bad rows are named by row and column. Columns of numbers
// become dense rows here, value by value; beside texts they stand first in sparse ones. Cost: one
// copy.
func (c *Chunk[T]) AddTable(s *Settings, t *Table[T]) {
	r := tableRow[T]{Chunk: c, s: s, t: t, lastCode: -1}
	out := c.Out
	lists := t.Columns.layout == nil
	words := !lists && t.Columns.layout.words
	out.Reset(!words && (!lists || t.Lists.Dense()))
	if words {
		c.names()
	}
	for ; r.i < t.Rows; r.i++ {
		r.at = 0
		had := 0
		if words {
			had = len(out.Names.list)
		}
		x, idx := len(out.X), len(out.Idx)
		bad := r.label()
		if bad == "" && t.Weights != nil {
			bad = r.weigh()
		}
		switch {
		case bad != "":
		case !lists && words:
			bad = r.mixed()
		case !lists:
			bad = r.dense()
		default:
			bad = r.list()
		}
		if bad != "" {
			out.X, out.Idx, out.Val = out.X[:x], out.Idx[:idx], out.Val[:idx]
			if words {
				out.Names.cut(had)
			}
			r.lastCode = -1 // Bad forgets a label that only this row has
			if !c.Bad(s, 0, r.at, r.place()+bad) {
				return
			}
		}
		out.Lines++
	}
}

// place names the column of what is wrong.
func (r *tableRow[T]) place() string {
	return fmt.Sprintf("column %q: ", r.t.Columns.names[r.at])
}

// label finds the row's label.
func (r *tableRow[T]) label() (bad string) {
	t := r.t
	if t.Columns.Label < 0 {
		r.code = r.NoLabel(0, 0)
		return ""
	}
	r.at = t.Columns.Label
	if t.Labels == nil {
		r.code, bad = r.NumberLabel(r.s, t.Y[r.i], r.at)
		return bad
	}
	text, ok := t.Labels(r.i)
	if !ok {
		text = nil
	}
	if r.lastCode >= 0 && string(text) == string(r.last) {
		r.code = r.lastCode
		return ""
	}
	if r.code, bad = r.Chunk.label(r.s, text, !t.Digits, 0, r.at); bad == "" {
		r.last, r.lastCode = append(r.last[:0], text...), r.code
	} else {
		r.lastCode = -1
	}
	return bad
}

// weigh gives the row its weight.
func (r *tableRow[T]) weigh() (bad string) {
	w, bad := WeightOf[T](r.t.Weights[r.i])
	if bad != "" {
		r.at = r.t.Columns.Weight
		return bad
	}
	r.Out.Weigh(w)
	return ""
}

// valueMissing is what is wrong with a value that is missing.
const valueMissing = "the value is missing: impute it with Options.Missing"

// number looks at a value of a column.
func (r *tableRow[T]) number(f int, v T) (bad string) {
	missing := r.t.Columns.layout.missing
	switch {
	case v-v == 0 || v != v && (missing == "mean" || missing == "indicator"):
		return ""
	case v != v:
		bad = valueMissing
	default:
		bad = notFinite(v)
	}
	r.at = r.t.Columns.Numbers[f]
	return bad
}

// dense adds a row of columns of numbers.
func (r *tableRow[T]) dense() (bad string) {
	out := r.Out
	row := out.room(r.s, len(r.t.Numbers))
	x := row[r.s.Bias:]
	for f, column := range r.t.Numbers {
		v := column[r.i]
		if v-v != 0 {
			if bad = r.number(f, v); bad != "" {
				return bad
			}
		}
		x[f] = v
	}
	out.Code = append(out.Code, r.code)
	out.Finish(row, Squares(row), r.s)
	return ""
}

// mixed adds a row of columns of numbers and of texts.
func (r *tableRow[T]) mixed() (bad string) {
	out, t := r.Out, r.t
	lay := t.Columns.layout
	row := len(out.Idx)
	out.beginRow(r.s)
	for f, column := range t.Numbers {
		v := column[r.i]
		if v-v != 0 {
			if bad = r.number(f, v); bad != "" {
				return bad
			}
		}
		out.Idx, out.Val = append(out.Idx, int32(r.s.Bias+f)), append(out.Val, v)
	}
	for _, w := range t.Columns.words {
		text, ok := []byte(nil), false
		switch {
		case w.text >= 0:
			text, ok = t.Texts[w.text](r.i)
		case t.Numbers[w.number][r.i] == t.Numbers[w.number][r.i]: // not NaN
			continue
		}
		if !ok || IsMissing(text) {
			if lay.missing == "mean" { // none of the texts
				continue
			}
			if lay.missing == "error" {
				r.at = w.col
				return valueMissing
			}
			text = []byte("?")
		}
		if bad = r.word(r.s, row, &r.name, lay.prefix[w.col], text, 0, w.col); bad != "" {
			r.at = w.col
			return bad
		}
	}
	out.Ptr, out.Code = append(out.Ptr, len(out.Idx)), append(out.Code, r.code)
	out.Finish(out.Val[row:], Squares(out.Val[row:]), r.s)
	return ""
}

// list adds a row that is a list.
func (r *tableRow[T]) list() (bad string) {
	t, out := r.t, r.Out
	r.at = t.Columns.list
	if t.Null != nil && t.Null(r.i) {
		return "a list, or a value of it, is missing"
	}
	if t.Lists.Dense() {
		row := t.Lists.Row(r.i)
		for j, v := range row {
			if v-v != 0 {
				return "value " + strconv.Itoa(j+1) + ": " + notFinite(v)
			}
		}
		r.Dense(r.s, r.code, row)
		return ""
	}
	idx, val := t.Lists.Sparse(r.i)
	x, next, lo := &t.Columns.lists, t.Columns.lists.least, len(out.Idx)
	out.beginRow(r.s)
	for k, j := range idx {
		switch v := val[k]; {
		case j < 0:
			return fmt.Sprintf("index %d is negative", j)
		case uint64(j) < next || uint64(j) > x.most:
			return badIndex(strconv.Itoa(int(j)), next, x.least, x.most, x.zeroHint)
		case v-v != 0:
			return notFinite(v)
		}
		next = uint64(j) + 1
		out.Idx = append(out.Idx, int32(int64(j)+x.shift))
	}
	if len(idx) > 0 && idx[0] == 0 {
		out.Zero = true
	}
	out.Val = append(out.Val, val...)
	out.Ptr, out.Code = append(out.Ptr, len(out.Idx)), append(out.Code, r.code)
	out.Finish(out.Val[lo:], Squares(out.Val[lo:]), r.s)
	return ""
}
