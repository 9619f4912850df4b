package format

import (
	"fmt"
	"unicode/utf8"
)

// Label is a label's text, and its value if it is a number.
type Label struct {
	Text    string
	Num     float64
	Numeric bool
	Missing bool // no label there (Options.LabelsOptional)
}

// MakeLabel is the label of that text: a number if all of it is one.
func MakeLabel(text string) Label {
	l := Label{Text: text}
	b := append([]byte(text), '\n')
	if v, end, st := parseNumber[float64](b, 0); st == numOK && end == len(text) {
		l.Num, l.Numeric = v+0, true // -0 + 0 = +0
	}
	return l
}

// Equal compares numbers as numbers, and all else as text.
func (l Label) Equal(m Label) bool {
	if l.Numeric || m.Numeric {
		return l.Numeric && m.Numeric && l.Num == m.Num
	}
	return l.Text == m.Text && l.Missing == m.Missing
}

// Less orders numbers by value, and all else by its bytes.
func (l Label) Less(m Label) bool {
	if l.Numeric && m.Numeric {
		return l.Num < m.Num
	}
	return l.Text < m.Text
}

// TooLongLabel is what is wrong with a label of more than LongLabel bytes.
var TooLongLabel = fmt.Sprintf("expected a label of at most %d bytes, found a longer one",
	LongLabel)

// LabelSet numbers labels in order of first occurrence.
type LabelSet struct {
	List  []Label
	nums  map[float64]int32
	texts map[string]int32
	None  int32 // number of the missing label, -1 if not met
}

// Reset empties the set.
func (s *LabelSet) Reset() {
	s.List, s.None = s.List[:0], -1
	clear(s.nums)
	clear(s.texts)
}

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

// FindNum returns the number of the label of that value.
func (s *LabelSet) FindNum(v float64) (int32, bool) {
	for i := range s.List[:min(few, len(s.List))] {
		if s.List[i].Numeric && s.List[i].Num == v {
			return int32(i), true
		}
	}
	if len(s.List) <= few {
		return 0, false
	}
	i, ok := s.nums[v]
	return i, ok
}

// FindText returns the number of the label of that text, which is no number.
func (s *LabelSet) FindText(t []byte) (int32, bool) {
	i, ok := s.texts[string(t)]
	return i, ok
}

// Add takes a label that is not in the set, and returns its number.
func (s *LabelSet) Add(l Label) int32 {
	i := int32(len(s.List))
	s.List = append(s.List, l)
	switch {
	case l.Missing:
		s.None = i
	case l.Numeric:
		if s.nums == nil {
			s.nums = map[float64]int32{}
		}
		s.nums[l.Num] = i
	default:
		if s.texts == nil {
			s.texts = map[string]int32{}
		}
		s.texts[l.Text] = i
	}
	return i
}

// dropLast takes the last label out, and returns it.
func (s *LabelSet) dropLast() Label {
	i := len(s.List) - 1
	l := s.List[i]
	switch {
	case l.Missing:
		s.None = -1
	case l.Numeric:
		delete(s.nums, l.Num)
	default:
		delete(s.texts, l.Text)
	}
	s.List = s.List[:i]
	return l
}

// Find returns the number of l.
func (s *LabelSet) Find(l Label) (int32, bool) {
	switch {
	case l.Missing:
		return s.None, s.None >= 0
	case l.Numeric:
		return s.FindNum(l.Num)
	}
	i, ok := s.texts[l.Text]
	return i, ok
}

// Encoded refuses text that is not UTF-8: a model could not keep it as it is.
func Encoded(what, text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return fmt.Errorf("%s, %q, is not text in UTF-8: convert the file, as with iconv -f LATIN1 "+
		"-t UTF-8", what, text)
}
