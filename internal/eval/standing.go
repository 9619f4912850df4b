package eval

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// ErrStanding is returned where a run is to go on at a [Standing] that is none of its examples, or
// of no run.
var ErrStanding = errors.New("not the examples that the run stood at")

// Standing is where a run stood between two examples, with all that it had counted. A run of the
// same Options over the same examples that goes on there, with the learner as it was then, ends as
// the one that was not stopped: the learner to the bit, and all of the Result but times.
type Standing struct {
	Epochs   int    `json:"epochs"`             // complete passes
	At       int64  `json:"at"`                 // examples of the next pass that are behind it
	Examples int64  `json:"examples,omitempty"` // of a pass; 0: of a stream, which has one pass
	Data     uint64 `json:"data,omitempty"`     // fingerprint of these examples
	Pass     uint64 `json:"pass,omitempty"`     // number of the next pass: its order is drawn by it
	Begun    int64  `json:"begun,omitempty"`    // examples of its first pass that the run left out
	// with Options.Delay or IDs: of those behind it that were not learned, how many wait for their
	// labels, in Tallies; and how many don't
	Waiting int64 `json:"waiting,omitempty"`
	Apart   int64 `json:"apart,omitempty"`

	// of Fit: the learner itself knows where it was cut, and of the counts there are Epochs, the
	// updates and Count.Examples, which earlier files lack
	Fit bool `json:"fit,omitempty"`

	Updates  int64 `json:"updates"`
	Mistakes int64 `json:"mistakes"`
	InPass   int64 `json:"in_pass"` // updates in the pass that it is in
	Updated  bool  `json:"updated"` // it has made some, in a run before this one perhaps
	Idle     int   `json:"idle"`    // passes without an update before that

	Count Count    `json:"count"` // all passes
	Label float64  `json:"label"` // of the last example, -1 or +1; 0: there was none
	First Count    `json:"first"` // of the first pass
	Marks [2]Count `json:"marks"` // after the last two powers of two of examples

	// Tallies is what was tallied besides, as JSON: Metrics, Recent, Curve, Proba, Calibration,
	// Drifts with their detector, the look at the features' scales, and the examples that wait for
	// their labels with what was predicted of them. What Options don't ask for is left out; what
	// they ask for and it has not (a window of another size, an AUC that was not asked for before)
	// begins anew, and nil is nothing.
	Tallies []byte `json:"-"`
}

// Presented returns how many examples were presented.
func (s *Standing) Presented() int64 { return s.Count.Examples }

// Valid reports whether there can be such a place: it bounds the counts, and compares those that
// say the same twice.
func (s *Standing) Valid() bool {
	for _, c := range []*Count{&s.Count, &s.First, &s.Marks[0], &s.Marks[1]} {
		if !c.valid() || c.Examples > s.Count.Examples {
			return false
		}
	}
	if !counts(int64(s.Epochs), s.At, s.Examples, s.Updates, s.Mistakes, s.InPass, int64(s.Idle),
		s.Begun, s.Waiting, s.Apart) || s.Mistakes > s.Count.Examples || s.InPass > s.Updates ||
		s.Label != -1 && s.Label != 0 && s.Label != 1 {
		return false
	}
	switch {
	case s.Fit:
		return s.Examples > 0 && s.At == 0
	case s.Examples == 0:
		return s.Epochs == 0 && s.At == s.Count.Examples+s.Waiting+s.Apart &&
			s.First == s.Count && s.Begun == 0
	}
	return s.inPasses()
}

// inPasses reports whether the passes behind the place and the place make up what was presented.
func (s *Standing) inPasses() bool {
	hi, lo := bits.Mul64(uint64(s.Epochs), uint64(s.Examples))
	return s.At <= s.Examples && s.Begun <= s.Examples && s.Pass >= uint64(s.Epochs) &&
		s.Pass <= learner.MaxCount && hi == 0 && lo <= learner.MaxCount &&
		lo+uint64(s.At) == uint64(s.Count.Examples+s.Waiting+s.Apart+s.Begun)
}

// valid bounds the counts.
func (c *Count) valid() bool {
	return counts(c.Examples, c.Errors, c.Positives, c.Predicted, c.NotFinite, c.Changes) &&
		max(c.Errors, c.Positives, c.Predicted, c.NotFinite, c.Changes) <= c.Examples
}

// counts reports whether all can be.
func counts(n ...int64) bool {
	return slices.Min(n) >= 0 && slices.Max(n) <= learner.MaxCount
}

// Matches reports whether the examples are those of the Standing.
func Matches[T engine.Float](s *Standing, mem *Memory[T]) bool {
	return s.Examples == int64(mem.Len()) && s.Data == fingerprint(mem)
}

// fingerprint is that of the examples, their classes and weights included.
func fingerprint[T engine.Float](mem *Memory[T]) uint64 {
	h := learner.FingerprintOf(mem.Len(), mem.Blocks())
	for b := range mem.Blocks() {
		add := func(v uint64) {
			h = (h ^ v) * 0xff51afd7ed558ccd
			h ^= h >> 32
		}
		for _, c := range b.Class {
			add(uint64(c))
		}
		if b.Weighted() {
			for _, w := range b.W {
				add(math.Float64bits(float64(w)))
			}
		}
	}
	return h >> 11 // JSON's numbers hold 53 bits
}

// standing is where the run stands.
func (r *run[T]) standing() *Standing {
	waiting, apart := r.waiting()
	s := &Standing{Epochs: r.res.Epochs, At: r.res.Presented + waiting + apart - r.began,
		Waiting: waiting, Apart: apart, Updates: r.res.Updates, Mistakes: r.res.Mistakes,
		InPass: r.res.Updates - r.before, Idle: r.idle, Count: r.count,
		Label: r.count.last, First: r.first, Marks: r.marks}
	s.Updated = s.InPass > 0 || r.keeps != nil && r.keeps.Updated
	// what can't be written, of values that overflowed, begins anew
	s.Tallies, _ = r.tallies()
	if r.mem != nil {
		if r.data == 0 {
			r.data = fingerprint(r.mem)
		}
		s.Examples, s.Data, s.Pass, s.Begun = int64(r.mem.Len()), r.data, r.number, r.offset
	}
	return s
}

// goOn takes what was counted until s.
func (r *run[T]) goOn(s *Standing, mem *Memory[T]) error {
	if !s.Valid() || s.Fit {
		return fmt.Errorf("eval: %+v is no place in a run: %w", *s, ErrOptions)
	}
	n := int64(0)
	if mem != nil {
		n = int64(mem.Len())
		r.data = fingerprint(mem)
	}
	if s.Examples != n || s.Data != r.data {
		return fmt.Errorf("eval: %w", ErrStanding)
	}
	r.res.Resumed, r.res.Epochs = true, s.Epochs
	r.res.Updates, r.res.Mistakes, r.idle = s.Updates, s.Mistakes, s.Idle
	r.count, r.first, r.marks = s.Count, s.First, s.Marks
	r.count.last = s.Label
	r.curve.From = s.Count.Examples
	r.res.Presented, r.res.Behind, r.kept = s.Count.Examples, s.Count.Examples, s.Count.Examples
	r.res.Examples, r.res.Errors = s.First.Examples, s.First.Errors
	for r.nextLine <= s.Count.Examples {
		r.nextLine *= 2
	}
	r.status.SinceExamples, r.status.SinceErrors = r.marks[1].Examples, r.marks[1].Errors
	r.before = s.Updates - s.InPass
	if s.Tallies != nil {
		if err := r.takeTallies(s.Tallies); err != nil {
			return err
		}
	}
	if waiting, apart := r.waiting(); waiting != s.Waiting || apart != s.Apart {
		return fmt.Errorf("eval: %d examples wait for their labels, not %d: %w", waiting, s.Waiting,
			ErrTallies)
	}
	return nil
}
