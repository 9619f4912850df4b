package format

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// csvLayout is how the rows of one csv file are laid out.
type csvLayout struct {
	delim byte // ' ' stands for runs of blanks and tabs
	cols  int
	label int // column of the label, from 0; -1: none
	// feature of each column, from 0, without an appended bias; or why there is none
	to     []int32
	weight int   // column of the weight, from 1; 0: none
	id     int   // column of the ids, from 1; 0: none
	row    int64 // byte of the file where the row of names begins, -1 if there is none
	from   int64 // byte where the first row begins, of names or not; lines before it are none

	units int64 // byte where a row ends that may be of units; 0: none

	before   []byte   // those lines, where they have quotes
	comments int      // those that begin with #
	missed   []string // the words for missing values that the first rows have
	odd      []string // what is odd about the columns, see Layout.Odd
	index    bool     // the first column numbers or names the rows, and is left out

	// The columns in the order of the features, which is that of training where that has names.
	header []string // with the label's; nil: no names known
	at     int      // place of the label among them, from 0

	kinds   string   // as Layout has them
	numbers int      // columns of numbers
	words   bool     // there are features beside these
	prefix  []string // of each column, what its features are called
	missing string   // as dataset.Options has it
}

// features returns how many columns are neither the label's nor the weight's.
func (l *csvLayout) features() int {
	n := l.cols
	if l.label >= 0 {
		n--
	}
	if l.weight > 0 {
		n--
	}
	return n
}

// arrangeWeighted is arrange of a file that may have a column of weights, which is no column to all
// else: names and numbers of the others are as if it weren't there.
func (l *csvLayout) arrangeWeighted(names []string, o *Options) error {
	w, err := l.weightAt(names, o)
	if err != nil {
		return err
	}
	if w < 0 {
		return l.arrange(names, o)
	}
	like := *o
	if like.LabelCol, err = besideWeight(o.LabelCol, names, l.cols, w); err != nil {
		return err
	}
	if len(names) > 0 {
		names = slices.Delete(slices.Clone(names), w, w+1)
	}
	l.cols--
	if err := l.arrange(names, &like); err != nil {
		return err
	}
	l.cols++
	if l.weight = w + 1; l.label >= w {
		l.label++
	}
	l.to = slices.Insert(l.to, w, weightColumn)
	return nil
}

// weightAt returns the column of the weights, from 0, or -1.
func (l *csvLayout) weightAt(names []string, o *Options) (int, error) {
	if o.WeightCol == "" || l.cols < 2 {
		return -1, nil
	}
	if w := slices.Index(names, o.WeightCol); w >= 0 {
		return w, nil
	}
	// of as many columns as training has without its weights
	if o.WeightOptional && o.Columns > 0 && l.cols <= o.Columns {
		return -1, nil
	}
	w, err := FindColumn(o.WeightCol, names, l.cols)
	if err != nil { // as of the label's column
		return 0, errors.New(strings.NewReplacer("Options.LabelCol", "Options.WeightCol",
			"label column", "weight column").Replace(err.Error()))
	}
	return w, nil
}

// findID finds the column of the ids.
func (l *csvLayout) findID(names []string, o *Options) error {
	if o.IDCol == "" {
		return nil
	}
	at, err := FindColumn(o.IDCol, names, l.cols)
	if err != nil { // as of the label's column
		return errors.New(strings.NewReplacer("Options.LabelCol", "Options.IDCol",
			"label column", "column of ids").Replace(err.Error()))
	}
	l.id = at + 1
	return nil
}

// besideWeight returns the label's column by its number where the weight's, w, isn't counted.
func besideWeight(want string, names []string, cols, w int) (string, error) {
	if want == "" {
		return "", nil
	}
	at, err := FindColumn(want, names, cols)
	switch {
	case err != nil:
		return "", err
	case at == w:
		return "", fmt.Errorf("column %d is both the label and the weight: choose another by "+
			"Options.LabelCol or Options.WeightCol", w+1)
	case at > w:
		at--
	}
	return strconv.Itoa(at + 1), nil
}

// arrange finds the label and the order of the features, given the names of the columns (nil: the
// file has none). Where training has names too, columns are matched by them, else by their place.
// An error is the text of what is wrong.
func (l *csvLayout) arrange(names []string, o *Options) (err error) {
	for i, name := range names {
		if err := Encoded(fmt.Sprintf("the name of column %d", i+1), name); err != nil {
			return err
		}
	}
	if o.Columns == 0 {
		l.header = names
		if l.label, err = FindColumn(o.LabelCol, names, l.cols); err == nil {
			l.at = l.label
			l.inOrder()
		}
		return err
	}
	if l.at = o.Label - 1; l.at < 0 {
		if l.at, err = FindColumn(o.LabelCol, o.Header, o.Columns); err != nil {
			return err
		}
	}
	if len(names) > 0 && len(o.Header) > 0 {
		return l.byName(names, o)
	}
	return l.byPlace(names, o)
}

// inOrder numbers the features as they stand, from 0, the label's column left out.
func (l *csvLayout) inOrder() {
	l.to = make([]int32, l.cols)
	k := int32(0)
	for col := range l.to {
		if col == l.label {
			l.to[col] = -1
			continue
		}
		l.to[col] = k
		k++
	}
}

// byPlace takes columns as they stand: the file or training has no names. There must be as many as
// in training; one less, where labels may be missing, is taken for rows without the label's column.
func (l *csvLayout) byPlace(names []string, o *Options) (err error) {
	named := slices.IndexFunc(names, func(n string) bool {
		return slices.ContainsFunc(labelNames, func(l string) bool {
			return strings.EqualFold(l, n)
		})
	})
	switch {
	case l.cols == o.Columns-1 && o.Optional && o.LabelCol == "" && named < 0:
		l.label, l.header = -1, o.Header
		if len(names) > 0 {
			l.header = slices.Insert(slices.Clone(names), l.at, "")
		}
	case l.cols != o.Columns:
		return fmt.Errorf("expected %d columns as in training, found %d", o.Columns, l.cols)
	default:
		l.label = l.at
		if o.LabelCol != "" {
			known := names
			if len(known) == 0 {
				known = o.Header
			}
			if l.label, err = FindColumn(o.LabelCol, known, l.cols); err != nil {
				return err
			}
		} else if named >= 0 && named != l.label {
			return fmt.Errorf("column %d is named %q, but column %d is the label in training, "+
				"which has no names: say which it is by Options.LabelCol", named+1, names[named],
				l.at+1)
		}
		if l.header = o.Header; len(l.header) == 0 {
			l.header, l.at = names, l.label
		}
	}
	l.inOrder()
	return nil
}

// byName gives each column the feature of its name in training. None may be missing, none be new: a
// model would score a row with a column of zeros, or with one it never learned, and say nothing.
// Where training has two columns of one name, the order must be that of training.
func (l *csvLayout) byName(names []string, o *Options) (err error) {
	l.header = o.Header
	if name, twice := repeated(o.Header); twice { // names alone don't tell the columns apart
		l.label = l.at
		if bare := slices.Delete(slices.Clone(o.Header), l.at, l.at+1); o.Optional &&
			o.LabelCol == "" && slices.Equal(names, bare) {
			l.label = -1
		} else if !slices.Equal(names, o.Header) {
			return fmt.Errorf("expected the columns as they stand in training, "+
				"where more than one is named %q, so that names don't tell them apart", name)
		}
		l.inOrder()
		return nil
	}
	label := o.Header[l.at]
	l.label = slices.Index(names, label)
	if o.LabelCol != "" {
		if l.label, err = FindColumn(o.LabelCol, names, l.cols); err != nil {
			return err
		}
		l.header = slices.Clone(o.Header)
		l.header[l.at] = names[l.label]
	}
	feature := make(map[string]int32, len(o.Header))
	for i, name := range o.Header {
		switch {
		case i < l.at:
			feature[name] = int32(i)
		case i > l.at:
			feature[name] = int32(i - 1)
		}
	}
	var unknown, twice []string
	l.to = make([]int32, l.cols)
	seen := make(map[string]bool, l.cols)
	for col, name := range names {
		if col == l.label {
			l.to[col] = -1
			continue
		}
		f, ok := feature[name]
		if !ok && col == 0 && indexName(names) { // training had none
			l.to[col], l.index = toIgnored, true
			continue
		}
		switch {
		case !ok:
			unknown = append(unknown, name)
		case seen[name]:
			twice = append(twice, name)
		}
		seen[name] = true
		l.to[col] = f
	}
	return l.fits(o, seen, unknown, twice)
}

// fits refuses columns of other names than those of training. seen are the names that training has.
func (l *csvLayout) fits(o *Options, seen map[string]bool, unknown, twice []string) error {
	var missing []string
	for i, name := range o.Header {
		slot := i
		if i > l.at {
			slot--
		}
		left := slot < len(o.Kinds) && o.Kinds[slot] == kindIgnored
		if i != l.at && !seen[name] && !left {
			missing = append(missing, name)
		}
	}
	var what []string
	for _, p := range []struct {
		names []string
		text  string
	}{{missing, "missing: "}, {unknown, "not in training: "}, {twice, "twice: "}} {
		if len(p.names) > 0 {
			what = append(what, p.text+quotedNames(p.names))
		}
	}
	if l.label < 0 && !o.Optional {
		what = append(what, fmt.Sprintf("no label column %q (Options.LabelCol names another)",
			o.Header[l.at]))
	}
	if len(what) > 0 {
		return fmt.Errorf("expected the columns of training; %s", strings.Join(what, "; "))
	}
	return nil
}

// repeated returns a name that comes more than once.
func repeated(names []string) (string, bool) {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			return name, true
		}
		seen[name] = true
	}
	return "", false
}

// quotedNames lists up to five names.
func quotedNames(names []string) string {
	const most = 5 // more would push what is wrong off the line
	var s []string
	for i, name := range names {
		if i == most {
			s = append(s, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		s = append(s, strconv.Quote(name))
	}
	return strings.Join(s, ", ")
}
