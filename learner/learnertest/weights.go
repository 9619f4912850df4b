package learnertest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// weighs: a weight of 1 changes no bit, an example of weight 0 changes nothing but counters, others
// are learned to the same bits whatever the blocks, threads and implementations, or are refused.
func (s *suite[T]) weighs(t *testing.T, b *engine.Block[T]) {
	plain, ones := s.fresh(t, nil), clone(b)
	want := learn(t, plain, b, 64)
	ones.W = slices.Repeat([]T{1}, b.Len())
	l := s.fresh(t, nil)
	sameRounds(t, "weights of 1", learn(t, l, ones, 64), want)
	sameState(t, "weights of 1", l, plain)

	for _, bad := range [][]T{{1}, slices.Repeat([]T{1}, b.Len()+1), badWeights[T](b.Len(), -1),
		badWeights[T](b.Len(), T(math.NaN())), badWeights[T](b.Len(), T(math.Inf(1)))} {
		x := clone(b)
		x.W = bad
		if err := l.Learn(x, make([]learner.Round, b.Len())); !errors.Is(err, engine.ErrWeight) {
			t.Errorf("%d weights, the last %v: %v, want ErrWeight", len(bad), bad[len(bad)-1], err)
		}
	}
	sameState(t, "bad weights", l, plain)

	some := clone(b)
	for i := range b.Len() {
		some.W = append(some.W, []T{1, 0.5, 1, 3, 0, 1, 1.25}[i%7])
	}
	if !s.config.Traits().Weights {
		err := l.Learn(some, make([]learner.Round, b.Len()))
		if !errors.Is(err, learner.ErrWeights) {
			t.Errorf("weights: %v, want ErrWeights as Traits has none", err)
		}
		sameState(t, "refused weights", l, plain)
		return
	}
	s.weighted(t, some)
	s.unlearned(t, b)
}

// badWeights returns n weights, of which the last one is w.
func badWeights[T learner.Float](n int, w T) []T {
	return append(slices.Repeat([]T{1}, n-1), w)
}

// weighted: the same bits of weighted examples.
func (s *suite[T]) weighted(t *testing.T, b *engine.Block[T]) {
	whole := s.fresh(t, nil)
	want := learn(t, whole, b, b.Len())
	for i, r := range want {
		if b.W[i] == 0 && r.Updates != 0 {
			t.Fatalf("example %d of weight 0 made %d updates", i, r.Updates)
		}
	}
	same := func(what string, l learner.Learner[T], size int) {
		t.Helper()
		sameRounds(t, what, learn(t, l, b, size), want)
		sameState(t, what, l, whole)
	}
	for _, size := range []int{1, 7} {
		same(fmt.Sprintf("weighted, block=%d", size), s.fresh(t, nil), size)
	}
	pool := engine.NewPool(2)
	defer pool.Close()
	same("weighted, threads=2", s.fresh(t, pool), 64)
	eachImplementation(t, func(name string) {
		if name == "generic" {
			same("weighted, impl=generic", s.fresh(t, nil), 64)
		}
	})
	unweighted := clone(b)
	unweighted.W = nil
	l := s.fresh(t, nil)
	learn(t, l, unweighted, b.Len())
	if s.equalScores(t, l, whole, b) {
		t.Error("weights change no score")
	}
}

// unlearned: examples of weight 0 are scored, and change no score that comes later.
func (s *suite[T]) unlearned(t *testing.T, b *engine.Block[T]) {
	l, same := s.trained(t, b), s.trained(t, b)
	none := clone(b)
	none.W = make([]T, b.Len())
	for _, r := range learn(t, l, none, 64) {
		if r.Updates != 0 || r.Score-r.Score != 0 {
			t.Fatalf("an example of weight 0: %v", r)
		}
	}
	if l.Updates() != same.Updates() || !s.equalScores(t, l, same, b) {
		t.Error("examples of weight 0 were learned")
	}
}

// equalScores reports whether two learners score b alike, to the bit.
func (s *suite[T]) equalScores(t *testing.T, one, other learner.Learner[T],
	b *engine.Block[T]) bool {
	t.Helper()
	f, g := s.places(b.Len()), s.places(b.Len())
	if err := errors.Join(one.Score(b, f), other.Score(b, g)); err != nil {
		t.Fatal(err)
	}
	return slices.Equal(f, g)
}
