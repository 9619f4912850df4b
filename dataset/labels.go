package dataset

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// label is a label's text, and its value if it is a number.
type label struct {
	text    string
	num     float64
	numeric bool
	missing bool // no label there (Options.LabelsOptional)
}

func makeLabel(text string) label {
	l := label{text: text}
	b := append([]byte(text), '\n')
	if v, end, st := parseNumber[float64](b, 0); st == numOK && end == len(text) {
		l.num, l.numeric = v+0, true // -0 + 0 = +0
	}
	return l
}

func (l label) equal(m label) bool {
	if l.numeric || m.numeric {
		return l.numeric && m.numeric && l.num == m.num
	}
	return l.text == m.text && l.missing == m.missing
}

func (l label) less(m label) bool {
	if l.numeric && m.numeric {
		return l.num < m.num
	}
	return l.text < m.text
}

// tooLongLabel is what is wrong with such a label.
var tooLongLabel = fmt.Sprintf("expected a label of at most %d bytes, found a longer one",
	longLabel)

// labelSet numbers labels in order of first occurrence.
type labelSet struct {
	list  []label
	nums  map[float64]int32
	texts map[string]int32
	none  int32 // number of the missing label, -1 if not met
}

func (s *labelSet) reset() {
	s.list, s.none = s.list[:0], -1
	clear(s.nums)
	clear(s.texts)
}

const (
	few        = 4    // labels are looked through before a map is asked
	someLabels = 16   // labels that nobody asked for are told apart; all others are taken for the last of these
	longLabel  = 4096 // bytes; a longer label is bad
)

func (s *labelSet) findNum(v float64) (int32, bool) {
	for i := range s.list[:min(few, len(s.list))] {
		if s.list[i].numeric && s.list[i].num == v {
			return int32(i), true
		}
	}
	if len(s.list) <= few {
		return 0, false
	}
	i, ok := s.nums[v]
	return i, ok
}

func (s *labelSet) findText(t []byte) (int32, bool) {
	i, ok := s.texts[string(t)]
	return i, ok
}

func (s *labelSet) add(l label) int32 {
	i := int32(len(s.list))
	s.list = append(s.list, l)
	switch {
	case l.missing:
		s.none = i
	case l.numeric:
		if s.nums == nil {
			s.nums = map[float64]int32{}
		}
		s.nums[l.num] = i
	default:
		if s.texts == nil {
			s.texts = map[string]int32{}
		}
		s.texts[l.text] = i
	}
	return i
}

// dropLast takes the last label out, and returns it.
func (s *labelSet) dropLast() label {
	i := len(s.list) - 1
	l := s.list[i]
	switch {
	case l.missing:
		s.none = -1
	case l.numeric:
		delete(s.nums, l.num)
	default:
		delete(s.texts, l.text)
	}
	s.list = s.list[:i]
	return l
}

// find returns the number of l.
func (s *labelSet) find(l label) (int32, bool) {
	switch {
	case l.missing:
		return s.none, s.none >= 0
	case l.numeric:
		return s.findNum(l.num)
	}
	i, ok := s.texts[l.text]
	return i, ok
}

// signs of a label.
const (
	undecided  int8 = 0
	unlabelled int8 = 2 // +1, but not counted as a label
)

// labeler decides which label is +1.
type labeler struct {
	set      labelSet
	sign     []int8 // of each label of set
	pos, neg *label // fixed ones; neg nil with pos: all others
	guess    *label // which of them was not met yet, and stands for any label on that side of the other; nil if none
	foreign  int32  // number of the last label told apart that is neither
	rest     bool   // pos against the rest
	fixed    bool   // pos and neg are a model's
	optional bool
	decided  bool
	atOnce   bool // -1, 0 and +1 mean themselves before a second label is met
}

func newLabeler(c *config, atOnce bool) *labeler {
	l := &labeler{optional: c.LabelsOptional, atOnce: atOnce}
	l.set.none = -1
	switch {
	case c.Labels != nil:
		p := makeLabel(c.Labels.Positive)
		l.pos, l.fixed, l.decided, l.rest = &p, true, true, c.Labels.Negative == ""
		if !l.rest {
			n := makeLabel(c.Labels.Negative)
			l.neg = &n
		}
	case c.positive != nil:
		l.pos, l.decided, l.rest = c.positive, true, true
	}
	return l
}

// id takes a label that occurs and returns its number. An error is the text of what is wrong.
func (l *labeler) id(x label) (int32, error) {
	if i, ok := l.set.find(x); ok {
		return i, nil
	}
	if !l.fixed && (!l.rest || x.equal(*l.pos)) { // a name of a class, which a model keeps
		if err := encoded("the label", x.text); err != nil {
			return 0, err
		}
	}
	switch {
	case l.guess != nil:
		switch met := l.set.list[0]; {
		case l.guess == l.neg && x.less(met):
			l.neg = &x
		case l.guess == l.pos && met.less(x):
			l.pos = &x
		default:
			return 0, fmt.Errorf("label %q after %q, which was taken for %+d, as -1, 0 and +1 "+
				"are: choose the one that is +1 with --positive LABEL",
				x.text, met.text, l.sign[0])
		}
		l.guess = nil
	case l.decided:
	case len(l.set.list) == 1:
		a, b := l.set.list[0], x
		if b.less(a) {
			a, b = b, a
		}
		l.neg, l.pos, l.decided = &a, &b, true
		l.sign[0] = l.signOf(l.set.list[0])
	case l.atOnce && x.numeric && (x.num == -1 || x.num == 0 || x.num == 1 && x.text[0] == '+'):
		l.suppose(x)
	}
	s := undecided
	if l.decided {
		if s = l.signOf(x); s == undecided {
			if l.fixed {
				return 0, fmt.Errorf("expected a label of training (%q or %q), found %q", l.neg.text, l.pos.text, x.text)
			}
			return 0, fmt.Errorf("a third label, %q, after %s: choose the one to tell from all others with --positive LABEL",
				x.text, l.names())
		}
		if !x.missing && !x.equal(*l.pos) && (l.rest || s == unlabelled) {
			if len(l.set.list) > someLabels {
				return l.foreign, nil
			}
			l.foreign = int32(len(l.set.list))
		}
	}
	l.sign = append(l.sign, s)
	return l.set.add(x), nil
}

// encoded refuses text that is not UTF-8: a model could not keep it as it is.
func encoded(what, text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return fmt.Errorf("%s, %q, is not text in UTF-8: convert the file, as with iconv -f LATIN1 "+
		"-t UTF-8", what, text)
}

func (l *labeler) signOf(x label) int8 {
	switch {
	case x.missing:
		return unlabelled
	case x.equal(*l.pos):
		return 1
	case l.rest || x.equal(*l.neg):
		return -1
	case l.optional:
		return unlabelled
	}
	return undecided
}

// suppose decides by the one label x, if it is -1, 0 or 1: these mean themselves. The other label
// may come later.
func (l *labeler) suppose(x label) bool {
	one, minus := label{text: "+1", num: 1, numeric: true},
		label{text: "-1", num: -1, numeric: true}
	switch {
	case !x.numeric || x.num != 1 && x.num != 0 && x.num != -1:
		return false
	case x.num == 1:
		l.pos, l.neg = &x, &minus
		l.guess = l.neg
	default:
		l.pos, l.neg = &one, &x
		l.guess = l.pos
	}
	l.decided = true
	return true
}

// alone decides when one label is all there was.
func (l *labeler) alone() error {
	x := l.set.list[0]
	if !l.suppose(x) {
		return fmt.Errorf("all rows have the label %q: say with --positive which label is +1",
			x.text)
	}
	l.sign[0] = l.signOf(x)
	return nil
}

// others returns the labels met that are not +1, where one is told from all others.
func (l *labeler) others() (s []string) {
	for _, x := range l.set.list {
		if l.rest && !x.missing && !x.equal(*l.pos) {
			s = append(s, x.text)
		}
	}
	return s
}

// labelMap returns the texts of the two classes.
func (l *labeler) labelMap() LabelMap {
	if !l.decided {
		return LabelMap{}
	}
	m := LabelMap{Positive: l.pos.text}
	if l.neg != nil {
		m.Negative = l.neg.text
	}
	if i, ok := l.set.find(*l.pos); ok && l.rest && !l.fixed {
		m.Positive = l.set.list[i].text // as in the data: the option may spell the number another way
	}
	return m
}

// names lists the labels met, up to ten.
func (l *labeler) names() string {
	var s []string
	for i, x := range l.set.list {
		if i == 10 {
			s = append(s, "...")
			break
		}
		s = append(s, fmt.Sprintf("%q", x.text))
	}
	if len(s) == 2 {
		return s[0] + " and " + s[1]
	}
	return strings.Join(s, ", ")
}

// seen returns the texts of the labels met.
func (l *labeler) seen() []string {
	s := make([]string, 0, len(l.set.list))
	for _, x := range l.set.list {
		if !x.missing {
			s = append(s, x.text)
		}
	}
	return slices.Clip(s)
}
