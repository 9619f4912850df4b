package margin

import (
	"math"
	"slices"

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

// cutFields checks what all cuts have, and the counters and scalars of these names. It returns the
// number of examples, the next one and the flags.
func cutFields(c *learner.Codec, counters ...string) (n, at, flags uint64) {
	for _, k := range append([]string{learner.CutData, learner.CutN, learner.CutAt,
		learner.CutEpochs, learner.CutFlags}, counters...) {
		v := learner.Count[uint64](c, k, nil)
		c.Want(v <= cutLimit, "where a run was cut: counter %q is %d", k, v)
		switch k {
		case learner.CutN:
			n = v
		case learner.CutAt:
			at = v
		case learner.CutFlags:
			flags = v
		}
	}
	c.Want(n > 0 && n <= math.MaxInt32 && at <= n, "a run was cut at example %d of %d", at, n)
	return n, at, flags
}

// cutOf reports whether a cut is one of a run over the examples of b: by their number and by a
// fingerprint of all values and labels. Cost: a pass over them.
func cutOf[T learner.Float](cut *learner.State, b *engine.Block[T]) bool {
	return cut != nil && cut.Counters[learner.CutN] == uint64(b.Len()) &&
		cut.Counters[learner.CutData] == learner.Fingerprint(b)
}
