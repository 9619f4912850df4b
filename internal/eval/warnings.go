package eval

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
)

// Codes of warnings.
const (
	NotFinite = "not-finite"          // scores that are NaN or infinite
	OneClass  = "one-class"           // all are predicted as the same class, and both are there
	Worse     = "worse-than-constant" // more errors than the rarer class has examples
	LabelRuns = "label-runs"          // the labels come sorted, or in long runs
	Unscaled  = "unscaled"            // a feature is far larger than the others
	Uncentred = "uncentred"           // rows without gaps whose values lie to one side of 0

	NeverPredicted = "never-predicted" // classes that are there and never predicted
	RareClass      = "rare-class"      // classes of very few examples
)

// leastRarer is how many examples of the rarer class OneClass needs: to miss a few is no wonder.
const leastRarer = 10

// Warning says that a result may not be what it seems, in numbers.
type Warning struct {
	Code string

	// The tally that says so, but of Unscaled and Uncentred: Count.NotFinite, Count.Predicted,
	// Count.Error or Count.Changes is what is odd about it.
	Count Count

	Expected float64 // of LabelRuns: Count.Changes of a mixed order
	Feature  int     // of Unscaled: the largest, from 0, an appended bias included
	// Of Unscaled: how many times larger it is than the typical one; of Uncentred: how much of the
	// mean |x|^2 is that of the features' means.
	Ratio  float64
	Sparse bool // of Uncentred: in the form that they have examples may lack features

	// Of Metrics: how many classes it is about, and the number of the first one; of OneClass the
	// one that is predicted, of Worse the commonest, which Count.Positives examples are of. Classes
	// is 0 where it is of scores of two labels.
	Classes, Class int
}

// Warnings returns what is suspicious about the scores, at most one of NotFinite, OneClass and
// Worse. Cost: none.
func (c Count) Warnings() []Warning {
	rarer := c.Rarer()
	switch {
	case c.NotFinite > 0:
		return []Warning{{Code: NotFinite, Count: c}}
	case c.neither: // an error of its own, and not of one class
	case rarer >= leastRarer && (c.Predicted == 0 || c.Predicted == c.Examples):
		return []Warning{{Code: OneClass, Count: c}}
	case rarer > 0 && c.worse(rarer):
		return []Warning{{Code: Worse, Count: c}}
	}
	return nil
}

// Metrics warn of classes from so many examples on, of classes of fewer than rareClass.
const leastClassified, rareClass = 100, 5

// Warnings returns what is suspicious about predictions of more than two classes, at most one of
// OneClass, Worse and NeverPredicted; see [Count.Warnings], which are those of two. A class is
// missed among predictions from 10 examples on. Weights are taken as numbers of examples. Cost:
// some ns a class.
func (m *Metrics) Warnings() []Warning {
	if len(m.s.Classes) <= 2 || !(m.s.Sum > 0) {
		return nil
	}
	unit := float64(m.s.Examples) / m.s.Sum
	common, only, missed := 0, -1, Warning{Code: NeverPredicted}
	for k := range m.s.Classes {
		c := &m.s.Classes[k]
		if c.Came > m.s.Classes[common].Came {
			common = k
		}
		if c.Predicted == m.s.Sum {
			only = k
		}
		if c.Predicted == 0 && c.Came*unit >= leastRarer {
			missed.add(k)
		}
	}
	c := Count{Examples: m.s.Examples, Errors: int64(math.Round((m.s.Sum - m.s.Right) * unit)),
		Positives: int64(math.Round(m.s.Classes[common].Came * unit))}
	top := &m.s.Classes[common]
	lost, won := (top.Came-top.Right)*unit, (m.s.Right-top.Right)*unit // beside always guessing it
	switch {
	case only >= 0 && missed.Classes > 0:
		return []Warning{{Code: OneClass, Count: c, Classes: 1, Class: only}}
	case lost-won > 3*math.Sqrt(lost+won):
		return []Warning{{Code: Worse, Count: c, Classes: 1, Class: common}}
	case missed.Classes > 0:
		missed.Count = c
		return []Warning{missed}
	}
	return nil
}

// add takes in a class that it is about.
func (w *Warning) add(k int) {
	if w.Classes++; w.Classes == 1 {
		w.Class = k
	}
}

// Rare returns a warning on the classes that fewer than 5 examples are of, among 100 examples or
// more: too few to learn from, or misspelt labels. Cost: some ns a class.
func (m *Metrics) Rare() []Warning {
	if m.s.Examples < leastClassified || !(m.s.Sum > 0) {
		return nil
	}
	rare := Warning{Code: RareClass, Count: Count{Examples: m.s.Examples}}
	for k := range m.s.Classes {
		n := m.s.Classes[k].Came * float64(m.s.Examples) / m.s.Sum
		if n > 0 && n < rareClass {
			rare.add(k)
		}
	}
	if rare.Classes == 0 {
		return nil
	}
	return []Warning{rare}
}

// Rarer returns how many examples the rarer class has.
func (c Count) Rarer() int64 { return min(c.Positives, c.Examples-c.Positives) }

// worse reports whether the errors are more than those of a constant guess on the same examples,
// beyond chance: of those that only one of the two gets wrong, three standard deviations more
// fall to the scores (McNemar's test; by chance once in 700).
func (c Count) worse(rarer int64) bool {
	// Errors = false + and false -; Predicted - Positives is their difference.
	falsePos := (c.Errors + c.Predicted - c.Positives) / 2
	// Wrong where the guess is right, and the other way round.
	lost, won := falsePos, rarer-(c.Errors-falsePos)
	if rarer < c.Positives {
		lost, won = c.Errors-falsePos, rarer-falsePos
	}
	return float64(lost-won) > 3*math.Sqrt(float64(lost+won))
}

// Runs warns if the labels change far less often from example to example than those of a mixed
// order do.
//
// Of n examples, p of them positive and q negative, in an order that says nothing of the label, 2
// p q/n labels are expected to differ from the one before (Wald and Wolfowitz). A tenth of that,
// where 20 or more are expected, is five standard deviations off at the least. It is also where
// an order harms: to repeat the last label is wrong only in so many examples. Labels that merely
// hang together, as those of most series in time, are far from it. Cost: none.
func (c Count) Runs() []Warning {
	if c.Examples == 0 {
		return nil
	}
	expected := 2 * float64(c.Positives) * float64(c.Examples-c.Positives) / float64(c.Examples)
	if expected < 20 || float64(c.Changes) > expected/10 {
		return nil
	}
	return []Warning{{Code: LabelRuns, Count: c, Expected: expected}}
}

// since returns what was counted after from.
func (c Count) since(from Count) Count {
	return Count{c.Examples - from.Examples, c.Errors - from.Errors, c.Positives - from.Positives,
		c.Predicted - from.Predicted, c.NotFinite - from.NotFinite, c.Changes - from.Changes, 0,
		false}
}

// scales looks at the sizes of the features in some of the first examples of a run: all would take
// a short run of a quick learner more time than its learning.
type scales struct{ scalesState }

// scalesState is the JSON of scales. Found is there once all examples have come that are looked at;
// then the features' numbers are nil.
type scalesState struct {
	Seen    int // examples that have come, up to scaleRows
	Rows    int // of them looked at
	Squares numbers
	NonZero []int32
	Sums    numbers // of the values
	Sparse  bool
	Found   []Warning
}

const (
	scaleRows     = 1024    // from so many examples some are taken:
	scaleFirst    = 32      // the first ones,
	scaleStep     = 32      // and then each such one
	scaleFeatures = 1 << 16 // features looked at: text has more, all of a size
	scaleRatio    = 100     // a feature so many times larger than the typical one is a warning
	leastMean     = 0.25    // so much of |x|^2 that is the means' is one, where few values are 0
)

// add looks at a block, if examples are still wanted. It goes by their numbers, not by blocks.
func add[T engine.Float](s *scales, b *engine.Block[T]) {
	rows := min(b.Len(), scaleRows-s.Seen)
	if rows <= 0 {
		return
	}
	if d := min(b.Dim, scaleFeatures); d > len(s.Squares) {
		s.Squares = append(s.Squares, make([]float64, d-len(s.Squares))...)
		s.NonZero = append(s.NonZero, make([]int32, d-len(s.NonZero))...)
	}
	s.Sparse = !b.Dense()
	if d := len(s.Squares); d > len(s.Sums) {
		s.Sums = append(s.Sums, make([]float64, d-len(s.Sums))...)
	}
	for i := range rows {
		n := s.Seen
		s.Seen++
		if n >= scaleFirst && n%scaleStep != 0 {
			continue
		}
		s.Rows++
		if b.Dense() {
			x := b.Row(i)
			for j, v := range x[:min(len(x), len(s.Squares))] {
				if v != 0 {
					s.Squares[j] += float64(v) * float64(v)
					s.Sums[j] += float64(v)
					s.NonZero[j]++
				}
			}
			continue
		}
		idx, val := b.Sparse(i)
		for k, j := range idx {
			if int(j) >= len(s.Squares) {
				break // indices ascend
			}
			if v := val[k]; v != 0 {
				s.Squares[j] += float64(v) * float64(v)
				s.Sums[j] += float64(v)
				s.NonZero[j]++
			}
		}
	}
	if s.Seen == scaleRows {
		s.Found = s.warnings()
		s.Squares, s.NonZero, s.Sums = nil, nil, nil
	}
}

// warnings returns one on a feature whose root mean square over the examples is scaleRatio times
// the typical one's where that is not zero. Its square is then 10^4 times that of others in |x|^2,
// which steps, margins and bounds on mistakes go by. Else it may be one of offCentre.
func (s *scales) warnings() []Warning {
	if len(s.Squares) == 0 {
		return s.Found
	}
	largest, at := 0.0, -1
	var sizes []float64
	for j, sq := range s.Squares {
		if s.NonZero[j] == 0 {
			continue
		}
		sizes = append(sizes, math.Sqrt(sq/float64(s.NonZero[j])))
		if size := math.Sqrt(sq / float64(s.Rows)); size > largest {
			largest, at = size, j
		}
	}
	if at < 0 {
		return nil
	}
	slices.Sort(sizes)
	typical := sizes[(len(sizes)-1)/2] // the median, of two features the smaller
	switch {
	case math.IsInf(largest, 1):
		return nil // how many times isn't known
	case largest >= scaleRatio*typical:
		return []Warning{{Code: Unscaled, Feature: at, Ratio: largest / typical}}
	}
	return s.offCentre(len(sizes))
}

// offCentre returns a warning on examples that have most of the so many features that were met, and
// whose mean is a large part of their |x|^2: a hyperplane through 0 then turns about a point away
// from all examples, and what tells them apart is small beside what they share. Words, pixels and
// codes, most of which are 0 in a row, are fine: several of them together do for a bias. A feature
// that never changes is one.
func (s *scales) offCentre(features int) []Warning {
	n := float64(s.Rows)
	there, all, means := 0, 0.0, 0.0
	for j, sum := range s.Sums {
		sq, mean := s.Squares[j]/n, sum/n
		if s.NonZero[j] > 0 && mean*mean >= (1-1e-9)*sq {
			return nil
		}
		there, all, means = there+int(s.NonZero[j]), all+sq, means+mean*mean
	}
	share := means / all
	if s.Rows < scaleFirst || 2*there <= s.Rows*features || !(share >= leastMean) {
		return nil
	}
	return []Warning{{Code: Uncentred, Ratio: share, Sparse: s.Sparse}}
}
