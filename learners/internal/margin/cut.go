package margin

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// A Fit that ctx or MaxUpdates ends leaves where it stood: the place among the examples, and what a
// run has besides the learner's own state. Another Fit over the same examples, with the same
// options, goes on from there as if nothing had happened, to the bit. That is a State of its own,
// the cut, and part of the learner's State under names that begin with learner.CutPrefix. Learn
// drops it, since what was learned then is not in it.

// cutLimit bounds the counters of a cut, so that sums and products with the number of examples stay
// far from overflow. A run at 25 ns an update would reach it in seven years.
const cutLimit = 1 << 53

// floats and ints return a tensor of a cut, nil if it isn't there.
func floats(s *learner.State, name string) []float64 {
	if t := s.Tensor(name); t != nil {
		d, _ := t.Data.([]float64)
		return d
	}
	return nil
}

// ints is floats of a tensor of int32.
func ints(s *learner.State, name string) []int32 {
	if t := s.Tensor(name); t != nil {
		d, _ := t.Data.([]int32)
		return d
	}
	return nil
}

// keepIn adds a tensor, if it isn't nil.
func keepIn[D any](s *learner.State, name string, data []D) {
	if data != nil {
		s.Tensors = append(s.Tensors, learner.Tensor{Name: name, Shape: []int{len(data)},
			Data: slices.Clone(data)})
	}
}

// cutCounter walks a counter of a cut.
func cutCounter[I int | int64 | uint64](c *learner.Codec, name string, v *I) uint64 {
	n := uint64(learner.Count(c, name, v))
	c.Want(n <= cutLimit, "where a run was cut: counter %q is %d", name, n)
	return n
}

// cutFields walks what all cuts have: the fingerprint and number of the examples, the next one, the
// passes so far and flags.
func cutFields(c *learner.Codec, data *uint64, n, at *int, epochs *int64, flags *uint64) (
	examples, next, is uint64) {
	cutCounter(c, learner.CutData, data)
	examples, next = cutCounter(c, learner.CutN, n), cutCounter(c, learner.CutAt, at)
	cutCounter(c, learner.CutEpochs, epochs)
	c.Want(examples > 0 && examples <= math.MaxInt32 && next <= examples,
		"a run was cut at example %d of %d", next, examples)
	return examples, next, cutCounter(c, learner.CutFlags, flags)
}

// cutSoft is the scalar of a cut that has the Delta of a soft margin; a hard one has none.
const cutSoft = "soft"

// softField walks the Delta of a cut, and reports whether there is one.
func softField(c *learner.Codec, soft *float64) bool {
	if !c.Optional(cutSoft, soft != nil && *soft > 0) {
		return false
	}
	delta := c.Scalar(cutSoft, soft)
	return c.Want(delta > 0, "where a run was cut: scalar %q is %v, want a number > 0", cutSoft,
		delta)
}

// noSlacks is the error of a run with a soft margin that would have to begin with weights.
func noSlacks(name string, delta float64, updates int64) error {
	return fmt.Errorf("%s: with Delta = %v a run can't go on from %d updates: %w", name, delta,
		updates, learner.ErrSlacks)
}

// cutOf reports whether a cut is one of a run over the examples of b, with that Delta: by their
// number and by a fingerprint of all values, labels and weights. Cost: a pass over them.
func cutOf[T learner.Float](cut *learner.State, b *engine.Block[T], delta float64) bool {
	return cut != nil && cut.Scalars[cutSoft] == delta &&
		cut.Counters[learner.CutN] == uint64(b.Len()) &&
		cut.Counters[learner.CutData] == learner.Fingerprint(b)
}

// mark is when FitOptions.Checkpoint is to be called next. Places are numbers of examples that were
// looked at, from any one on.
type mark struct {
	every int64 // examples; 0: not by examples
	after time.Duration
	from  int64     // the place of the last one
	last  time.Time // and its time
}

func newMark(o *learner.FitOptions) mark {
	if o.Checkpoint == nil {
		return mark{}
	}
	return mark{every: o.CheckpointEvery, after: o.CheckpointAfter, last: time.Now()}
}

// due reports whether it is time at that place.
func (m *mark) due(at int64) bool {
	return m.every > 0 && at-m.from >= m.every || m.after > 0 && time.Since(m.last) >= m.after
}

// set says that it was called at that place, or that the run begins there.
func (m *mark) set(at int64) { m.from, m.last = at, time.Now() }

// most returns how many updates may be made from there on without a look at what is due. One is
// made in several examples as a rule: an eighth of those that are left allows for that.
func (m *mark) most(at int64) int64 {
	switch {
	case m.every > 0:
		return max(1, (m.from+m.every-at)/8)
	case m.after > 0:
		return 1 << 12 // beside which a look, of some 50 ns and what a turn begins with, is little
	}
	return math.MaxInt64
}
