package learnertest

import (
	"errors"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// forgets: l, which has learned b, forgets where its Traits say so, and then is a state as any
// other, that can be saved and gone on from; else it can't.
func (s *suite[T]) forgets(t *testing.T, l learner.Learner[T], b *engine.Block[T]) {
	t.Helper()
	k := s.config.Traits()
	f := learner.ForgetterOf(l)
	if k.Forgets != (f != nil) {
		t.Fatalf("Traits.Forgets is %v, the learner's is %v", k.Forgets, f != nil)
	}
	restored := func(l learner.Learner[T]) learner.Learner[T] {
		twin := s.fresh(t, nil)
		if err := twin.SetState(l.State()); err != nil {
			t.Fatal(err)
		}
		return twin
	}
	if f != nil {
		twin := restored(l)
		for _, keep := range []float64{0, -1, 1.5, math.NaN()} {
			if err := f.Forget(keep); !errors.Is(err, learner.ErrConfig) {
				t.Errorf("a share of %v is kept: %v", keep, err)
			}
		}
		if err := f.Forget(1); err != nil {
			t.Error(err)
		}
		sameState(t, "nothing was forgotten", l, twin)
		if err := f.Forget(0.3); err != nil {
			t.Error(err)
		}
		twin = restored(l)
		learn(t, l, b, 64)
		learn(t, twin, b, 64)
		sameState(t, "after forgetting", l, twin)
	}
}
