package learners_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// TestRFFForeignState: what a base learned of another number of random features is refused:
// of every base, and of its Predictor.
func TestRFFForeignState(t *testing.T) {
	b := learnertest.Dense[float64](60, 12, 0.05)
	for _, y := range b.Y {
		b.Class = append(b.Class, int32(1+y)/2)
	}
	for _, name := range learner.Names() {
		of := func(D int) learner.Learner[float64] {
			c := &learners.RFFConfig{D: D, Sigma: 1, Base: name}
			if c.Validate() != nil {
				return nil // no base
			}
			l := newLearner[float64](t, "rff", c)
			if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
				t.Fatal(err)
			}
			return l
		}
		l, same := of(40), of(40)
		if l == nil {
			continue
		}
		if err := l.SetState(same.State()); err != nil {
			t.Errorf("%s: of as many: %v", name, err)
		}
		if _, err := learner.Restored(l.Snapshot(), same.Snapshot().State()); err != nil {
			t.Errorf("%s: a predictor of as many: %v", name, err)
		}
		for _, D := range []int{20, 80} {
			other := of(D)
			if _, ok := learner.SupportOf(l); ok && D < 40 {
				continue // kept examples may have any of the features
			}
			if err := l.CheckState(other.State()); !errors.Is(err, learner.ErrState) ||
				!strings.HasPrefix(err.Error(), "rff: ") {
				t.Errorf("%s: CheckState of %d features for 40: %v", name, D, err)
			}
			if err := l.SetState(other.State()); !errors.Is(err, learner.ErrState) {
				t.Errorf("%s: SetState of %d features for 40: %v", name, D, err)
			}
			if slices.Contains([]string{"obpm", "ovr", "ovo"}, name) && D < 40 {
				continue // its sum ends with the last feature that has a weight
			}
			if _, err := learner.Restored(l.Snapshot(),
				other.Snapshot().State()); !errors.Is(err, learner.ErrState) {
				t.Errorf("%s: a predictor of %d features for 40: %v", name, D, err)
			}
		}
	}
}
