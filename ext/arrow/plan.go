package arrow

import (
	"fmt"
	"slices"
	"strings"

	arr "github.com/apache/arrow-go/v18/arrow"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// kind is what a column can be.
type kind int

const (
	refused kind = iota
	number       // a feature, the weight or the label
	text         // features, or the label
	vector       // lists of numbers
	pairs        // lists of an index and a value
)

// kindOf says what a column of the type can be.
func kindOf(t arr.DataType) kind {
	switch t := t.(type) {
	case *arr.DictionaryType:
		if kindOf(t.ValueType) == text {
			return text
		}
		return refused
	case *arr.MapType:
		if arr.IsInteger(t.KeyType().ID()) && isNumber(t.ItemType()) {
			return pairs
		}
		return refused
	case *arr.ListType, *arr.LargeListType, *arr.FixedSizeListType:
		elem := t.(arr.ListLikeType).Elem()
		if s, ok := elem.(*arr.StructType); ok && s.NumFields() == 2 &&
			arr.IsInteger(s.Field(0).Type.ID()) && isNumber(s.Field(1).Type) {
			return pairs
		}
		if isNumber(elem) {
			return vector
		}
		return refused
	}
	switch {
	case isNumber(t):
		return number
	case t.ID() == arr.STRING || t.ID() == arr.LARGE_STRING:
		return text
	}
	return refused
}

// isNumber reports whether values of a type are numbers.
func isNumber(t arr.DataType) bool {
	return arr.IsInteger(t.ID()) || arr.IsFloating(t.ID()) || t.ID() == arr.BOOL
}

// instead says what to do with a column of a type that is refused.
func instead(t arr.DataType) string {
	const leave = "leave it out by Options.IgnoreCols, or write it as "
	switch id := t.ID(); {
	case id == arr.TIMESTAMP || id == arr.DATE32 || id == arr.DATE64 || id == arr.TIME32 ||
		id == arr.TIME64 || id == arr.DURATION:
		return leave + "a number, such as seconds"
	case arr.IsDecimal(id):
		return leave + "float64"
	case id == arr.STRUCT:
		return leave + "a column for each field"
	case id == arr.NULL:
		return leave + "numbers or texts"
	case id == arr.DICTIONARY:
		return leave + "its values"
	case arr.IsNested(id):
		return leave + "lists of numbers, or of struct<index, value>"
	}
	return leave + "numbers or texts (utf8)"
}

// plan is how the columns of a table become rows.
type plan struct {
	*format.Columns
	names []string
	kinds []kind
	used  []bool

	// of rows that are lists:
	list, values int // columns of the lists, and of their values where these stand apart; else -1
	width        int // values of dense lists
}

// lists reports whether rows are lists.
func (p *plan) lists() bool { return p.list >= 0 }

// sparse reports whether rows are lists of indices and values.
func (p *plan) sparse() bool {
	return p.values >= 0 || p.lists() && p.kinds[p.list] == pairs
}

// form names what rows are.
func (p *plan) form() string {
	switch {
	case p.sparse():
		return "lists of indices and values"
	case p.lists():
		return "lists of numbers"
	}
	return "columns"
}

// newPlan says how a table is read. before is the layout of the first of several files, or nil.
func newPlan(file string, schema *arr.Schema, o *format.Options, before *format.Layout,
	begin func(*plan) (*batch, error)) (*plan, *format.Layout, error) {
	p := &plan{list: -1, values: -1}
	bad := func(what string, args ...any) error {
		return &format.RowError{File: file, What: fmt.Sprintf(what, args...),
			Err: format.ErrFormat}
	}
	for _, f := range schema.Fields() {
		p.names, p.kinds = append(p.names, f.Name), append(p.kinds, kindOf(f.Type))
	}
	if len(p.names) == 0 {
		return nil, nil, bad("expected columns, the table has none")
	}
	p.used = make([]bool, len(p.names))
	lists, err := p.listed(schema, o, before)
	if err != nil {
		return nil, nil, bad("%s", err)
	}
	var lay *format.Layout
	if len(lists) > 0 {
		lay, err = p.ofLists(file, schema, lists, o, before, begin)
	} else {
		texts := make([]bool, len(p.names))
		for i, k := range p.kinds {
			texts[i] = k == text
		}
		p.Columns, lay, err = format.ArrangeColumns(file, p.names, texts, o, before)
	}
	if err != nil {
		return nil, nil, err
	}
	if before != nil && before.Own.(*plan).form() != p.form() {
		return nil, nil, bad("rows are %s, but %s before", p.form(), before.Own.(*plan).form())
	}
	if err := p.check(schema); err != nil {
		return nil, nil, bad("%s", err)
	}
	own := *lay
	own.Own = p
	return p, &own, nil
}

// check looks whether each column can be what it is used for.
func (p *plan) check(schema *arr.Schema) error {
	use := func(col int, want string, kinds ...kind) error {
		if col < 0 {
			return nil
		}
		p.used[col] = true
		t := schema.Field(col).Type
		switch {
		case slices.Contains(kinds, p.kinds[col]):
			return nil
		case p.kinds[col] == refused:
			return fmt.Errorf("column %q is of type %s: %s", p.names[col], t, instead(t))
		}
		return fmt.Errorf("column %q is of type %s, expected %s", p.names[col], t, want)
	}
	err := use(p.Label, "labels, numbers or texts", number, text)
	if err == nil {
		err = use(p.Weight, "weights, numbers", number)
	}
	for _, col := range p.Numbers {
		if err == nil {
			err = use(col, "numbers: Options.TextCols takes texts", number)
		}
	}
	for _, col := range p.Texts {
		if err == nil {
			err = use(col, "texts", text, number)
		}
	}
	return err
}

// listed returns the columns of lists that can be the features, none where these are columns.
func (p *plan) listed(schema *arr.Schema, o *format.Options, before *format.Layout) ([]int,
	error) {
	if o.Columns > 0 || before != nil && before.Kind == "csv" {
		return nil, nil
	}
	left := make([]bool, len(p.names))
	for _, name := range o.IgnoreCols {
		if at, err := format.FindColumn(name, p.names, len(p.names)); err == nil {
			left[at] = true
		}
	}
	var lists []int
	for i, k := range p.kinds {
		if (k == vector || k == pairs) && !left[i] {
			lists = append(lists, i)
		}
	}
	if n := len(lists); n < 2 || n == 2 && p.kinds[lists[0]] == vector &&
		p.kinds[lists[1]] == vector {
		return lists, nil
	}
	var named []string
	for _, i := range lists {
		named = append(named, fmt.Sprintf("%q", p.names[i]))
	}
	return nil, fmt.Errorf("columns %s are lists: the features are one of them, or two of indices "+
		"and values; leave the others out by Options.IgnoreCols", strings.Join(named, ", "))
}

// ofLists plans rows that are lists.
func (p *plan) ofLists(file string, schema *arr.Schema, lists []int, o *format.Options,
	before *format.Layout, begin func(*plan) (*batch, error)) (*format.Layout, error) {
	bad := func(what string, args ...any) error {
		return &format.RowError{File: file, What: fmt.Sprintf(what, args...),
			Err: format.ErrFormat}
	}
	p.list = lists[0]
	if len(lists) == 2 {
		at, err := indices(schema, lists)
		if err != nil {
			return nil, bad("%s", err)
		}
		p.list, p.values = lists[at], lists[1-at]
	}
	wide := make([]bool, len(p.names))
	for _, i := range lists {
		wide[i] = true
	}
	for _, i := range lists {
		p.used[i] = true
	}
	var err error
	var lay *format.Layout
	if p.sparse() {
		p.Columns, lay, err = format.ListColumns(file, p.names, wide, o, before, "the first rows",
			func() bool {
				b, e := begin(p)
				return e == nil && b != nil && b.hasZero(p)
			})
		return lay, err
	}
	p.Columns, lay, err = format.ListColumns(file, p.names, wide, o, before, "", nil)
	if err != nil {
		return nil, err
	}
	if t, ok := schema.Field(p.list).Type.(*arr.FixedSizeListType); ok {
		p.width = int(t.Len())
	} else {
		b, err := begin(p)
		if err != nil {
			return nil, err
		}
		if b != nil {
			if p.width = b.width(p); p.width == 0 {
				return nil, bad("column %q: the first rows are lists without values",
					p.names[p.list])
			}
		}
	}
	if most := o.Limits.Line; p.width > most {
		e := o.Limits.TooLong(file, nil)
		e.Line = 0
		e.What = fmt.Sprintf("lists of %d values: %s", p.width, e.What)
		return nil, e
	}
	if before != nil {
		if q := before.Own.(*plan); q.form() == p.form() && q.width != p.width {
			return nil, bad("lists of %d values, but of %d before", p.width, q.width)
		}
	}
	lay.Dim = p.width
	return lay, nil
}

// indices says which of two columns of lists has the indices: the one of integers, or of that name.
func indices(schema *arr.Schema, lists []int) (int, error) {
	var can []int
	for k, i := range lists {
		if arr.IsInteger(schema.Field(i).Type.(arr.ListLikeType).Elem().ID()) {
			can = append(can, k)
		}
	}
	if len(can) == 1 {
		return can[0], nil
	}
	for _, k := range can {
		switch strings.ToLower(schema.Field(lists[k]).Name) {
		case "indices", "index", "idx", "i":
			return k, nil
		}
	}
	a, b := schema.Field(lists[0]).Name, schema.Field(lists[1]).Name
	if len(can) == 0 {
		return 0, fmt.Errorf("columns %q and %q are lists of numbers, and none of indices: leave "+
			"one out by Options.IgnoreCols", a, b)
	}
	return 0, fmt.Errorf("columns %q and %q are lists of integers: call the one of the indices "+
		"\"indices\"", a, b)
}
