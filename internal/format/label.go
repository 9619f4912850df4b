package format

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Label is a label as it was written.
//
// Two labels are the same class if they are the same text, or if both are plain numerals of the
// same exact value and neither was a text where it comes from. [Label.Equal] and [LabelIndex] say
// so, and nothing else does.
type Label struct {
	Text    string
	Word    bool    // its source has it as a text, as JSON has "1": it is no number
	Num     float64 // rounded: for the order of labels alone
	Numeric bool    // all of Text is a number
	Missing bool    // no label there (Options.LabelsOptional)
}

// MakeLabel is the label that is written so where nothing says whether it is a number or a text.
func MakeLabel(text string) Label {
	l := Label{Text: text}
	b := append([]byte(text), '\n')
	if v, end, st := parseNumber[float64](b, 0); st == numOK && end == len(text) {
		l.Num, l.Numeric = v+0, true // -0 + 0 = +0
	}
	return l
}

// longNumeral is the length in bytes above which a label is a text: a value has a bounded number of
// spellings, of which each takes memory.
const longNumeral = 64

// plainValue returns the value of a plain numeral: its sign, its digits without zeros at either
// end, and the power of ten behind them. So two numerals have the same value if and only if these
// texts are the same. ok is false if text is none.
//
// A plain numeral is [+-]?(0|[1-9][0-9]*)(\.[0-9]+)? of which the fraction is zeros alone or does
// not end in 0, since 1.10 may be a version; or what numpy.savetxt and C's %e print, one digit and
// [eE][+-] and two digits or more behind it, and there any fraction.
func plainValue(text string) (value string, ok bool) {
	if len(text) > longNumeral {
		return "", false
	}
	t, sign := text, ""
	if t != "" && (t[0] == '+' || t[0] == '-') {
		sign, t = strings.Trim(t[:1], "+"), t[1:]
	}
	whole := digits(t)
	t = t[len(whole):]
	fraction := ""
	if t != "" && t[0] == '.' {
		if fraction = digits(t[1:]); fraction == "" {
			return "", false
		}
		t = t[1+len(fraction):]
	}
	exp := 0
	switch {
	case whole == "", len(whole) > 1 && whole[0] == '0':
		return "", false
	case t == "":
		if f := strings.TrimRight(fraction, "0"); f != "" && f != fraction {
			return "", false
		}
	default:
		if len(t) < 4 || len(t) > 7 || t[0]|0x20 != 'e' || t[1] != '+' && t[1] != '-' ||
			len(digits(t[2:])) != len(t)-2 || len(whole) > 1 {
			return "", false
		}
		exp, _ = strconv.Atoi(t[1:])
	}
	exp -= len(fraction)
	all := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(all, "0")
	if short == "" {
		return "0", true
	}
	return sign + short + "e" + strconv.Itoa(exp+len(all)-len(short)), true
}

// digits returns the digits that t begins with.
func digits(t string) string {
	n := 0
	for n < len(t) && t[n]-'0' <= 9 {
		n++
	}
	return t[:n]
}

// value is plainValue of a label that is no word.
func (l Label) value() (string, bool) {
	if l.Word || l.Missing {
		return "", false
	}
	return plainValue(l.Text)
}

// key is the same text for labels that are the same class, and for no others, as long as all of
// them are words or none is.
func (l Label) key() string {
	if v, ok := l.value(); ok {
		return "#" + v
	}
	return "=" + l.Text
}

// Equal reports whether two labels are the same class.
func (l Label) Equal(m Label) bool {
	if l.Missing || m.Missing {
		return l.Missing == m.Missing
	}
	if l.Text == m.Text {
		return true
	}
	v, ok := l.value()
	w, too := m.value()
	return ok && too && v == w
}

// Less orders numbers by value, and all else by its bytes.
func (l Label) Less(m Label) bool {
	if l.Numeric && m.Numeric {
		return compareNumbers(l, m) < 0
	}
	return l.Text < m.Text
}

// compareNumbers compares values: of those that float64 does not tell apart, what is written.
func compareNumbers(l, m Label) int {
	return cmp.Or(cmp.Compare(l.Num, m.Num), cmp.Compare(l.Text, m.Text))
}

// CompareLabels orders labels to be listed: numbers by their value, before texts.
func CompareLabels(a, b string) int {
	l, m := MakeLabel(a), MakeLabel(b)
	switch {
	case l.Numeric && m.Numeric:
		return compareNumbers(l, m)
	case l.Numeric:
		return -1
	case m.Numeric:
		return 1
	}
	return cmp.Compare(a, b)
}

// NumberText is how a label that a source has as a number is written: a whole number as its digits.
func NumberText(v float64) string {
	v += 0 // -0 + 0 = +0
	if a := math.Abs(v); a < 1e21 && (a >= 1e-5 || a == 0) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'e', -1, 64)
}

// IsMissingLabel reports whether what is written so, in text of any format, is no label: the words
// for a missing value, and those that Python and Excel write for one.
func IsMissingLabel(text string) bool {
	if IsMissing([]byte(text)) {
		return true
	}
	switch text {
	case "None", "<NA>", "#N/A", "-nan", "+nan":
		return true
	}
	return false
}

// missing reports whether a label is none. Where the source has texts a word for a missing value is
// one of these, as the source has another way to say so; and a label that an option names is one.
func (r *Rows[T]) missing(text []byte, word bool) bool {
	if len(text) == 0 || len(text) == 1 && text[0] == '?' {
		return true
	}
	named := func(l Label) bool { return l.Text == string(text) }
	return !word && IsMissingLabel(string(text)) && !slices.ContainsFunc(r.known, named)
}

// Label returns the number of the label that is written so. start is where its line begins, off
// where it stands. It is bad if what is wrong with it is not "".
func (c *Chunk[T]) Label(s *Settings, text []byte, start, off int) (code int32, bad string) {
	return c.label(s, text, false, start, off)
}

// TextLabel is Label where the source has texts, whatever they look like.
func (c *Chunk[T]) TextLabel(s *Settings, text []byte, start, off int) (code int32, bad string) {
	return c.label(s, text, true, start, off)
}

func (c *Chunk[T]) label(s *Settings, text []byte, word bool, start, off int) (code int32,
	bad string) {
	if i, ok := c.Out.Labels.Find(text, word); ok {
		return i, ""
	}
	switch missing := c.Out.missing(text, word); {
	case missing && s.Optional:
		return c.NoLabel(start, off), ""
	case missing && len(text) < 2:
		return 0, "the label is missing"
	case missing:
		return 0, fmt.Sprintf("the label is missing: %q stands for that, unless Options.Classes "+
			"names it", text)
	case len(text) > LongLabel:
		return 0, TooLongLabel
	}
	l := MakeLabel(string(text))
	l.Word = word
	return c.AddLabel(l, start, off), ""
}

// NumberLabel returns the number of a label that is a number, NaN where there is none, and stands
// at place off of its row. It is bad if what is wrong with it is not "".
func (c *Chunk[T]) NumberLabel(s *Settings, y float64, off int) (code int32, bad string) {
	switch {
	case y != y:
		return c.Label(s, nil, 0, off)
	case y-y != 0:
		return 0, fmt.Sprintf("expected a finite label, found %v", y)
	}
	code, ok := c.Out.numbers[y]
	if !ok {
		if code, bad = c.Label(s, []byte(NumberText(y)), 0, off); bad != "" {
			return 0, bad
		}
		if c.Out.numbers == nil {
			c.Out.numbers = map[float64]int32{}
		}
		c.Out.numbers[y] = code
	}
	return code, ""
}

// TooLongLabel is what is wrong with a label of more than LongLabel bytes.
var TooLongLabel = fmt.Sprintf("expected a label of at most %d bytes, found a longer one",
	LongLabel)

// Bounds on labels.
const (
	// few labels are looked through before a map is asked: there are two as a rule, and to compare
	// with them is quicker than to hash
	few = 4

	// SomeLabels is how many labels that no option names are distinguished; all others are taken
	// for the last of these.
	SomeLabels = 16
	// LongLabel is the length in bytes above which a label is bad: labels are kept, in the model
	// file too, so a line without a delimiter must not become one.
	LongLabel = 4096
)

// LabelSet numbers labels as they are written, in order of first occurrence: so what a number
// stands for does not depend on which other labels a part of the data has. [LabelIndex] says which
// of them are the same class.
type LabelSet struct {
	List  []Label
	codes map[spelling]int32 // of those behind the first few
	None  int32              // number of the missing label, -1 if not met
}

// spelling is how a label is written.
type spelling struct {
	text string
	word bool
}

// Reset empties the set.
func (s *LabelSet) Reset() {
	s.List, s.None = s.List[:0], -1
	clear(s.codes)
}

// Find returns the number of the label that is written so; word: where the source has texts.
func (s *LabelSet) Find(text []byte, word bool) (int32, bool) {
	for i := range s.List[:min(few, len(s.List))] {
		l := &s.List[i]
		if l.Text == string(text) && l.Word == word && !l.Missing {
			return int32(i), true
		}
	}
	if len(s.List) <= few {
		return 0, false
	}
	i, ok := s.codes[spelling{string(text), word}]
	return i, ok
}

// Add takes a label that is not in the set, and returns its number.
func (s *LabelSet) Add(l Label) int32 {
	i := int32(len(s.List))
	s.List = append(s.List, l)
	switch {
	case l.Missing:
		s.None = i
	case i >= few:
		if s.codes == nil {
			s.codes = map[spelling]int32{}
		}
		s.codes[spelling{l.Text, l.Word}] = i
	}
	return i
}

// dropLast takes the last label out, and returns it.
func (s *LabelSet) dropLast() Label {
	i := len(s.List) - 1
	l := s.List[i]
	if l.Missing {
		s.None = -1
	} else {
		delete(s.codes, spelling{l.Text, l.Word})
	}
	s.List = s.List[:i]
	return l
}

// LabelIndex finds which of some labels another one is: the one of the same text, else the one of
// the same value. Where several have that value, as texts may, it is none of them. The zero value
// has no labels.
type LabelIndex struct {
	List   []Label
	texts  map[string]int32
	values map[string]int32 // of plain numerals that are no words; several: there are more
}

const several = -1

// IndexLabels returns the index of labels that are written so.
func IndexLabels(texts []string) *LabelIndex {
	x := &LabelIndex{}
	for _, t := range texts {
		x.Add(MakeLabel(t))
	}
	return x
}

// Add adds a label, whose number is how many were added before.
func (x *LabelIndex) Add(l Label) {
	if x.texts == nil {
		x.texts, x.values = map[string]int32{}, map[string]int32{}
	}
	i := int32(len(x.List))
	x.List = append(x.List, l)
	if _, ok := x.texts[l.Text]; !ok {
		x.texts[l.Text] = i
	}
	if v, ok := l.value(); ok {
		if _, ok := x.values[v]; ok {
			i = several
		}
		x.values[v] = i
	}
}

// Find returns the number of the label that l is, -1 if it is none of them, as of a nil index.
func (x *LabelIndex) Find(l Label) int {
	if x == nil || l.Missing {
		return -1
	}
	if i, ok := x.texts[l.Text]; ok {
		return int(i)
	}
	if v, ok := l.value(); ok {
		if i, ok := x.values[v]; ok && i != several {
			return int(i)
		}
	}
	return -1
}

// FindLabel is Find among a few labels that are written so, without an index; word: the label is a
// text where it comes from.
func FindLabel(texts []string, label string, word bool) int {
	if i := slices.Index(texts, label); i >= 0 {
		return i
	}
	found := -1
	v, ok := plainValue(label)
	for i := 0; ok && !word && i < len(texts); i++ {
		if w, too := plainValue(texts[i]); too && v == w {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// SameLabels reports whether two lists have the same labels in the same order.
func SameLabels(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	x := IndexLabels(a)
	for i, text := range b {
		if x.Find(MakeLabel(text)) != i {
			return false
		}
	}
	return true
}

// WholeLabels returns labels as numbers. ok is false unless all are plain numerals of whole numbers
// that an int64 holds, each of another value.
func WholeLabels(texts []string) (numbers []int64, ok bool) {
	met := map[int64]bool{}
	for _, t := range texts {
		value, plain := plainValue(t)
		digits, exp, _ := strings.Cut(value, "e")
		zeros, _ := strconv.Atoi(exp)
		if !plain || zeros < 0 || zeros > 18 {
			return nil, false
		}
		n, err := strconv.ParseInt(digits+strings.Repeat("0", zeros), 10, 64)
		if err != nil || met[n] {
			return nil, false
		}
		met[n] = true
		numbers = append(numbers, n)
	}
	return numbers, true
}

// Encoded refuses text that is not UTF-8: a model could not keep it as it is.
func Encoded(what, text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return fmt.Errorf("%s, %q, is not text in UTF-8: convert the file, as with iconv -f LATIN1 "+
		"-t UTF-8", what, text)
}
