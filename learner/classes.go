package learner

import (
	"fmt"
	"math"
	"slices"
)

// Over makes settings of a learner of two classes those of a learner of so many, 0 for any; see
// [Entry.Over].
type Over func(base string, c Config, classes int) Config

// LostTie is a Round's score of an example whose class was not predicted though no other scores
// more: the predicted class is the first of those with the largest score. It is the largest number
// below 0.
const LostTie = -math.SmallestNonzeroFloat64

// ClassScore returns the Round.Score of an example of that class with these outputs: its own output
// less the largest of the others. At most 0 is a mistake; below 0 another class is predicted, as
// it is for a class that has no output yet, which is a lost tie. NaN if an output is NaN.
func ClassScore(outputs []float64, class int) float64 {
	if class >= len(outputs) {
		return LostTie
	}
	own, before, after := outputs[class], math.Inf(-1), math.Inf(-1)
	for k, f := range outputs {
		switch {
		case f != f:
			return f
		case k < class:
			before = max(before, f)
		case k > class:
			after = max(after, f)
		}
	}
	switch {
	case len(outputs) == 1:
		return 0
	case own == before && !(after > own):
		return LostTie
	}
	return own - max(before, after)
}

// Predicted returns the class that the outputs predict: the first of the largest, and -1 without
// outputs or where one is NaN.
func Predicted(outputs []float64) int {
	best, at := math.Inf(-1), -1
	for k, f := range outputs {
		if f != f {
			return -1
		}
		if at < 0 || f > best {
			best, at = f, k
		}
	}
	return at
}

// ForClasses returns the entry and settings by which the learner of e, with settings c, tells any
// number of classes: e and c themselves if it does, those that its Traits say, or those of by, a
// learner over one of two classes ("": OverName(false)). classes is how many there will be, 0 for
// any number.
func ForClasses(e Entry, c Config, by string, classes int) (Entry, Config, error) {
	t := c.Traits()
	if t.Classes {
		return e, c, nil
	}
	over, err := overOf(by)
	if err != nil {
		return e, nil, err
	}
	if t.OverClasses != nil {
		c, err := t.OverClasses(func(base Entry, c Config) (Entry, Config, error) {
			return ForClasses(base, c, by, classes)
		})
		return e, c, err
	}
	c = over.Over(e.Name, c, classes)
	return over, c, c.Validate()
}

// overOf returns the entry of a learner over one of two classes.
func overOf(name string) (Entry, error) {
	names := OverNames()
	if name == "" {
		name = OverName(false)
	}
	if !slices.Contains(names, name) {
		return Entry{}, fmt.Errorf("learners: classes by %q: there are %v: %w", name, names,
			ErrConfig)
	}
	return Lookup(name)
}

// OverName returns the first, by name, of the registered learners with an Over whose Entry says
// that they learn pairs of classes, or each class against the rest; "" if there is none.
func OverName(pairs bool) string {
	for _, name := range OverNames() {
		if registry[name].Entry().Pairs == pairs {
			return name
		}
	}
	return ""
}

// OverNames returns the names of the registered learners that have an Over, sorted.
func OverNames() (names []string) {
	for _, name := range Names() {
		if registry[name].Entry().Over != nil {
			names = append(names, name)
		}
	}
	return names
}
