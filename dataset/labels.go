package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// signs of a label.
const (
	undecided  int8 = 0
	unlabelled int8 = 2 // +1, but not counted as a label
	foreign    int8 = 3 // 0: a label that is none of those there are
	fresh      int8 = 4 // a label that is none of those there are, and becomes a class
)

// labeler decides which label is +1.
type labeler struct {
	set      format.LabelSet    // labels as they were written
	sign     []int8             // of each label of set
	told     format.LabelIndex  // the labels of set that are not the same class, as they came first
	first    []int32            // of each of told: its number in set
	came     []bool             // of each of known: whether it is in told
	known    *format.LabelIndex // those that are fixed: closed, or the two, or pos; nil: none
	pos, neg *format.Label      // fixed ones; neg nil with pos: all others
	// guess is that of pos and neg which was not met yet, and stands for any label on that side of
	// the other; nil if both were
	guess    *format.Label
	other    int32 // number of the last label, of those distinguished, that is neither
	rest     bool  // pos against the rest
	fixed    bool  // pos and neg are a model's
	optional bool
	beside   bool // labels beside two fixed ones come, as foreign
	decided  bool
	atOnce   bool // -1, 0 and +1 mean themselves before a second label is met

	later   bool    // a row's label may come later: none is no label of it, and none of any class
	many    bool    // any number of labels may come
	two     bool    // no third one, since examples were given as of two
	third   bool    // but it came
	doubt   error   // of the third label, should the labels turn out to be as many as rows
	classes bool    // there are more than two, or Options.Classes: signs mean nothing
	class   []int32 // of each label of set: its class's number; -1: none
	names   []string
	closed  bool // Options.Classes, of which there are given; known has names
	given   int
}

// MaxClasses is the largest number of classes: far more than a learner for each has room, and few
// enough that a column of ids, taken for the labels, is found out soon.
const MaxClasses = 1 << 16

// unnamedClasses is how many classes may come that no option names. Those of a column of numbers
// or ids, taken for the labels, are more.
const unnamedClasses = 1 << 12

func newLabeler(c *config, atOnce bool) *labeler {
	l := &labeler{optional: c.LabelsOptional, atOnce: atOnce, later: c.LabelsLater}
	l.set.None = -1
	l.many = c.AnyClasses && c.Labels == nil && c.positive == nil
	l.beside = c.AnyClasses && c.Labels != nil
	switch {
	case c.Classes != nil: // even if it is empty
		l.classes, l.decided, l.fixed, l.names = true, true, true, c.Classes
		l.closed, l.given, l.known = true, len(c.Classes), format.IndexLabels(c.Classes)
	case c.Labels != nil:
		p := format.MakeLabel(c.Labels.Positive)
		l.pos, l.fixed, l.decided, l.rest = &p, true, true, c.Labels.Negative == ""
		if !l.rest {
			n := format.MakeLabel(c.Labels.Negative)
			l.neg = &n
		}
	case c.positive != nil:
		l.pos, l.decided, l.rest = c.positive, true, true
	}
	for _, fixed := range []*format.Label{l.pos, l.neg} {
		if fixed != nil {
			if l.known == nil {
				l.known = &format.LabelIndex{}
			}
			l.known.Add(*fixed)
		}
	}
	return l
}

// id takes a label that occurs and returns its number. An error is the text of what is wrong.
func (l *labeler) id(x format.Label) (int32, error) {
	if x.Missing && l.set.None >= 0 {
		return l.set.None, nil
	}
	if i, ok := l.set.Find([]byte(x.Text), x.Word); ok && !x.Missing {
		return i, nil
	}
	switch {
	case x.Missing && l.later:
		return l.add(x, unlabelled, -1), nil
	case l.closed:
		return l.ofClosed(x)
	case l.known == nil:
		if k := l.told.Find(x); k >= 0 { // written another way
			i := l.first[k]
			return l.add(x, l.sign[i], l.class[i]), nil
		}
	}
	return l.open(x)
}

// open is id of a label that was not met before, where any may come.
func (l *labeler) open(x format.Label) (int32, error) {
	// a name of a class, which a model keeps
	if !l.fixed && (!l.rest || l.known.Find(x) == 0) {
		if err := format.Encoded("the label", x.Text); err != nil {
			return 0, err
		}
	}
	if err := l.decide(x); err != nil {
		return 0, err
	}
	s := undecided
	if l.decided && !l.classes {
		if s = l.signOf(x); s == undecided {
			// no whole number: a feature, taken for the label
			if !l.many || l.two || x.Numeric && !x.Word && x.Num != math.Trunc(x.Num) {
				l.third = l.many && l.two
				return 0, l.unknown(x)
			}
			l.classes, l.guess, l.doubt = true, nil, l.unknown(x)
		}
	}
	if !l.classes && !x.Missing && (l.rest && s < 0 || s == foreign) {
		if len(l.told.List) > format.SomeLabels {
			return l.other, nil
		}
		l.other = int32(len(l.set.List))
	}
	if len(l.names) == unnamedClasses {
		return 0, fmt.Errorf("more than %d labels, of which %q is one: is it the labels' column? "+
			"If so, name the classes by Options.Classes", unnamedClasses, x.Text)
	}
	class := int32(-1)
	if l.many && !x.Missing {
		class = int32(len(l.names))
		l.names = append(l.names, x.Text)
	}
	return l.add(x, s, class), nil
}

// add takes a label that is not in the set, and returns its number.
func (l *labeler) add(x format.Label, sign int8, class int32) int32 {
	i := l.set.Add(x)
	l.sign, l.class = append(l.sign, sign), append(l.class, class)
	again := x.Missing
	if k := l.known.Find(x); k >= 0 {
		l.came = append(l.came, make([]bool, len(l.known.List)-len(l.came))...)
		again = l.came[k]
		l.came[k], x.Word = true, true // told has others by their value only
	} else {
		again = again || l.told.Find(x) >= 0
	}
	if !again {
		l.told.Add(x)
		l.first = append(l.first, i)
	}
	return i
}

// ofClosed is id where all classes are named.
func (l *labeler) ofClosed(x format.Label) (int32, error) {
	class, sign := int32(l.known.Find(x)), int8(1)
	if int(class) >= l.given {
		sign = fresh
	}
	if class < 0 && l.many && !x.Missing && len(l.names) < MaxClasses {
		if err := format.Encoded("the label", x.Text); err != nil {
			return 0, err
		}
		class, sign = int32(len(l.names)), fresh
		l.known.Add(x)
		l.names = append(l.names[:class:class], x.Text)
	}
	if class < 0 {
		if !l.optional {
			return 0, fmt.Errorf("expected a label of the classes (%s), found %q",
				listed(l.names), x.Text)
		}
		if sign = unlabelled; !x.Missing {
			sign = foreign
			if len(l.told.List) > len(l.names)+format.SomeLabels {
				return l.other, nil
			}
			l.other = int32(len(l.set.List))
		}
	}
	return l.add(x, sign, class), nil
}

// isText reports whether a class is a text where it comes from.
func (l *labeler) isText(name string) bool {
	i := l.known.Find(format.MakeLabel(name)) // by its text, which it has
	return i >= 0 && l.known.List[i].Word
}

// classOf returns the number of the class of a label, 0 if it has none.
func (l *labeler) classOf(code int32) int32 { return max(0, l.class[code]) }

// decide settles which label is +1 if x, which was not met before, does.
func (l *labeler) decide(x format.Label) error {
	switch {
	case l.classes:
	case l.guess != nil:
		return l.correct(x)
	case l.decided:
	case len(l.told.List) > 0:
		a, b := l.told.List[0], x
		if b.Less(a) {
			a, b = b, a
		}
		l.neg, l.pos, l.decided = &a, &b, true
		l.signFirst()
	case l.atOnce && meansItself(x):
		l.suppose(x)
	}
	return nil
}

// signFirst gives the one label that was met its sign, however it was written.
func (l *labeler) signFirst() {
	for i, x := range l.set.List {
		if !x.Missing {
			l.sign[i] = l.signOf(l.told.List[0])
		}
	}
}

// meansItself reports whether a label alone says which class it is: a plain 1 doesn't, which is -1
// beside 2.
func meansItself(x format.Label) bool {
	return x.Numeric && (x.Num == -1 || x.Num == 0 || x.Num == 1 && x.Text[0] == '+')
}

// correct puts x in the place of the label that was guessed. It must lie on that side.
func (l *labeler) correct(x format.Label) error {
	switch met := l.told.List[0]; {
	case l.guess == l.neg && x.Less(met):
		l.neg = &x
	case l.guess == l.pos && met.Less(x):
		l.pos = &x
	case l.many && !l.two:
		l.classes, l.doubt = true, l.unknown(x)
	default:
		l.third = l.many
		return fmt.Errorf("label %q after %q, which was taken for %+d, as -1, 0 and +1 are: "+
			"choose the one that is +1 by Options.Positive", x.Text, met.Text, l.sign[l.first[0]])
	}
	l.guess = nil
	return nil
}

// unknown is the error of a label that is neither of the two.
func (l *labeler) unknown(x format.Label) error {
	if l.fixed {
		return fmt.Errorf("expected a label of training (%q or %q), found %q", l.neg.Text,
			l.pos.Text, x.Text)
	}
	next := "choose the one to tell from all others by Options.Positive"
	if l.many {
		next += ", or name all by Options.Classes"
	}
	return fmt.Errorf("a third label, %q, after %s: %s", x.Text, l.met(), next)
}

func (l *labeler) signOf(x format.Label) int8 {
	switch {
	case l.classes:
		return 1
	case x.Missing:
		return unlabelled
	case l.known != nil: // pos, and neg
		switch l.known.Find(x) {
		case 0:
			return 1
		case 1:
			return -1
		}
	case x.Equal(*l.pos):
		return 1
	case x.Equal(*l.neg):
		return -1
	}
	switch {
	case l.rest:
		return -1
	case l.optional, l.beside:
		return foreign
	}
	return undecided
}

// suppose decides by the one label x, if it is -1, 0 or 1: these mean themselves. The other label
// may come later.
func (l *labeler) suppose(x format.Label) bool {
	one, minus := format.Label{Text: "+1", Num: 1, Numeric: true},
		format.Label{Text: "-1", Num: -1, Numeric: true}
	switch {
	case !x.Numeric || x.Num != 1 && x.Num != 0 && x.Num != -1:
		return false
	case x.Num == 1:
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
	if len(l.told.List) == 0 {
		return errors.New("no row has a label")
	}
	x := l.told.List[0]
	if !l.suppose(x) {
		return fmt.Errorf("all rows have the label %q: say by Options.Positive which label is +1",
			x.Text)
	}
	l.signFirst()
	return nil
}

// others returns the labels met that are not +1, where one label stands against the rest.
func (l *labeler) others() (s []string) {
	for k, x := range l.told.List {
		if l.rest && l.sign[l.first[k]] < 0 {
			s = append(s, x.Text)
		}
	}
	return s
}

// strangers returns the labels met that are none of those there are.
func (l *labeler) strangers() (s []string) {
	for k, x := range l.told.List {
		if l.sign[l.first[k]] >= foreign {
			s = append(s, x.Text)
		}
	}
	return s
}

// labelMap returns the texts of the two classes.
func (l *labeler) labelMap() LabelMap {
	if !l.decided || l.classes {
		return LabelMap{}
	}
	m := LabelMap{Positive: l.pos.Text}
	if l.neg != nil {
		m.Negative = l.neg.Text
	}
	if i := l.positive(); i >= 0 && l.rest && !l.fixed {
		// as in the data: the option may spell the number another way
		m.Positive = l.set.List[i].Text
	}
	return m
}

// positive returns the number of the first label that is +1, -1 if none was met.
func (l *labeler) positive() int { return slices.Index(l.sign, 1) }

// met lists the labels met, up to ten.
func (l *labeler) met() string { return listed(l.seen()) }

// listed lists texts, up to ten.
func listed(texts []string) string {
	var s []string
	for i, x := range texts {
		if i == 10 {
			s = append(s, "...")
			break
		}
		s = append(s, strconv.Quote(x))
	}
	if len(s) == 2 {
		return s[0] + " and " + s[1]
	}
	return strings.Join(s, ", ")
}

// seen returns the texts of the labels met.
func (l *labeler) seen() []string {
	s := make([]string, len(l.told.List))
	for i, x := range l.told.List {
		s[i] = x.Text
	}
	return s
}
