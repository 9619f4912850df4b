package learnertest

import (
	"errors"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// forgets: l, which has learned b, forgets and has members replaced where its Traits say so, and
// then is a state as any other, that can be saved and gone on from; else it does neither.
func (s *suite[T]) forgets(t *testing.T, l learner.Learner[T], b *engine.Block[T]) {
	t.Helper()
	k := s.config.Traits()
	f, r := learner.ForgetterOf(l), learner.ReplacerOf(l)
	if k.Forgets != (f != nil) || (k.Replaces > 0) != (r != nil) {
		t.Fatalf("Traits.Forgets is %v, the learner's is %v; Replaces %d, %v", k.Forgets, f != nil,
			k.Replaces, r != nil)
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
	if r == nil {
		return
	}
	apart, twin := restored(l), restored(l)
	if err := r.Replace(-1, nil); !errors.Is(err, learner.ErrConfig) {
		t.Errorf("-1 members are replaced: %v", err)
	}
	sameState(t, "nothing was replaced", l, twin)
	cut := b.Len() / 3
	parts := []engine.Block[T]{b.Slice(0, cut), b.Slice(cut, b.Len())}
	if err := r.Replace(1+k.Replaces/2, []engine.Block[T]{b.Slice(0, b.Len())}); err != nil {
		t.Fatal(err)
	}
	if err := learner.ReplacerOf(apart).Replace(1+k.Replaces/2, parts); err != nil {
		t.Fatal(err)
	}
	sameState(t, "the recent examples in other blocks", apart, l)
	twin = restored(l)
	learn(t, l, b, 64)
	learn(t, twin, b, 64)
	sameState(t, "after members were replaced", l, twin)
}
