package halfspace

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/internal/spread"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// mostMemberWeights is how many numbers the weights of members may be: 256 MiB.
const mostMemberWeights = 1 << 25

// Interval returns the scores between which a share of the members of an ensemble lies, such as
// 0.9: how far the draws have set them apart, and no confidence interval (see package spread). The
// share is above 0 and below 1. ErrMembers if the learner has no members with weights of their own
// (obpm has, see learner.MembersOf), or more than 2^25 weights of them, or tells more than two
// classes, or was saved to predict only; else errors are those of Score.
//
// The first call after something was learned copies the members' weights, 8 bytes each; every call
// multiplies each member with the row's non-zeros and sorts their scores. Like LearnOne it is for
// one goroutine at a time.
func (m *Model) Interval(r *Row, share float64) (low, high float64, err error) {
	m.hypothesis.check()
	if !(share > 0 && share < 1) {
		return 0, 0, fmt.Errorf("halfspace: interval: share is %v, want a number above 0 "+
			"and below 1: %w", share, training.ErrOption)
	}
	if err := r.check(m.hypothesis); err != nil {
		return 0, 0, err
	}
	if m.many {
		return 0, 0, fmt.Errorf("halfspace: interval: there are more than two classes: %w",
			ErrMembers)
	}
	return m.learn.interval(m.hypothesis, r, share, m.file.Presented)
}

func (t *teaching[T]) interval(h *hypothesis, r *Row, share float64, presented uint64) (low,
	high float64, err error) {
	if t.spread == nil || t.spreadAt != presented {
		s, ok := spread.New(t.l, mostMemberWeights)
		if !ok {
			return 0, 0, fmt.Errorf("halfspace: interval: %w", ErrMembers)
		}
		t.spread, t.spreadAt = s, presented
	}
	low, high = t.spread.Quantiles(t.work.example(h, r, false), 0, share)
	return low, high, nil
}

func (k *known[T]) interval(*hypothesis, *Row, float64, uint64) (low, high float64, err error) {
	return 0, 0, fmt.Errorf("halfspace: interval: %w: the model was saved to predict only",
		ErrMembers)
}
