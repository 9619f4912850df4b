package learnertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// fitted returns a learner that was given b as a whole.
func (s *suite[T]) fitted(t testing.TB, pool *engine.Pool, b *engine.Block[T]) learner.Learner[T] {
	t.Helper()
	l := s.fresh(t, pool)
	fit(t, l, b)
	return l
}

func fit[T learner.Float](t testing.TB, l learner.Learner[T],
	b *engine.Block[T]) learner.FitResult {
	t.Helper()
	r, err := learner.Fit(context.Background(), l, b, learner.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// batch is the suite of a learner that learns from whole data sets only: what of the other makes
// sense for one.
func (s *suite[T]) batch(t *testing.T, b *engine.Block[T]) {
	t.Run("inputs", func(t *testing.T) { s.batchInputs(t, b) })
	t.Run("bits", func(t *testing.T) { s.batchBits(t, b) })
	t.Run("reject", func(t *testing.T) { s.batchReject(t, b) })
	t.Run("state", func(t *testing.T) { s.batchState(t, b) })
	t.Run("unseen", func(t *testing.T) { s.batchUnseen(t, b) })
	t.Run("learns", func(t *testing.T) { s.batchLearns(t, b) })
	t.Run("snapshot", func(t *testing.T) { s.snapshot(t, b) })
	t.Run("allocs", func(t *testing.T) { s.batchAllocs(t, b) })
	t.Run("memory", func(t *testing.T) { s.batchMemory(t, b) })
	t.Run("traits", func(t *testing.T) { s.traits(t, b) })
	t.Run("proba", func(t *testing.T) { s.proba(t, s.fitted(t, nil, b), b) })
}

// scores returns l's scores of b, which must be the same block by block.
func scores[T learner.Float](t testing.TB, l learner.Learner[T], b *engine.Block[T]) []float64 {
	t.Helper()
	k := learner.OutputsOf(l)
	all := make([]float64, k*b.Len())
	if err := l.Score(b, all); err != nil {
		t.Fatal(err)
	}
	part := make([]float64, k*b.Len())
	for lo := 0; lo < b.Len(); lo += 7 {
		v := b.Slice(lo, min(lo+7, b.Len()))
		if err := l.Score(&v, part[k*lo:]); err != nil {
			t.Fatal(err)
		}
	}
	sameScores(t, "in blocks of 7", part, all)
	return all
}

func sameScores(t testing.TB, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Errorf("%s: score %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

func (s *suite[T]) batchInputs(t *testing.T, b *engine.Block[T]) {
	l, x := s.fresh(t, nil), clone(b)
	r := fit(t, l, x)
	dst := append(s.places(b.Len()), 17)
	if err := l.Score(x, dst); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Y, b.Y) || !slices.Equal(x.Ptr, b.Ptr) || !slices.Equal(x.Idx, b.Idx) ||
		!slices.Equal(x.Val, b.Val) || !slices.Equal(x.X, b.X) {
		t.Error("Fit or Score wrote into its block")
	}
	if dst[len(dst)-1] != 17 {
		t.Error("a place beyond the examples was written")
	}
	if !r.Converged || r.Updates == 0 || r.Updates != l.Updates() || r.Counter != r.Updates+1 {
		t.Errorf("Fit says %+v, Updates() %d", r, l.Updates())
	}
	if l.Bytes() <= 0 {
		t.Errorf("Bytes() is %d", l.Bytes())
	}
}

func (s *suite[T]) batchBits(t *testing.T, b *engine.Block[T]) {
	want := s.fitted(t, nil, b)
	f := scores(t, want, b)
	same := func(what string, l learner.Learner[T]) {
		t.Helper()
		sameState(t, what, l, want)
		sameScores(t, what, scores(t, l, b), f)
	}
	for _, threads := range []int{3, 8} {
		pool := engine.NewPool(threads)
		same(fmt.Sprintf("threads=%d", threads), s.fitted(t, pool, b))
		pool.Close()
	}
	eachImplementation(t, func(name string) { same("impl="+name, s.fitted(t, nil, b)) })
}

func (s *suite[T]) batchReject(t *testing.T, b *engine.Block[T]) {
	l := s.fitted(t, nil, b)
	before := StateBytes(l.State())
	if err := l.Learn(b, make([]learner.Round, b.Len())); !errors.Is(err, learner.ErrBatch) {
		t.Errorf("Learn says %v, want %v", err, learner.ErrBatch)
	}
	f := learner.AsFitter(l)
	if f == nil {
		t.Fatal("neither Learn nor Fit")
	}
	dst := s.places(b.Len())
	for _, r := range s.broken(b) {
		if _, err := f.Fit(context.Background(), r.block, learner.FitOptions{}); !errors.Is(err,
			r.want) {
			t.Errorf("%s: Fit says %v, want %v", r.name, err, r.want)
		}
		if r.want != engine.ErrLabel {
			if err := l.Score(r.block, dst); !errors.Is(err, r.want) {
				t.Errorf("%s: Score says %v, want %v", r.name, err, r.want)
			}
		}
	}
	if err := l.Score(b, dst[1:]); !errors.Is(err, learner.ErrOut) {
		t.Errorf("short dst: Score says %v, want %v", err, learner.ErrOut)
	}
	none := b.Slice(0, 0)
	if _, err := f.Fit(context.Background(), &none, learner.FitOptions{}); !errors.Is(err,
		learner.ErrFit) {
		t.Errorf("no examples: Fit says %v, want %v", err, learner.ErrFit)
	}
	if _, err := f.Fit(context.Background(), b, learner.FitOptions{MaxUpdates: -1}); !errors.Is(err,
		learner.ErrConfig) {
		t.Errorf("MaxUpdates = -1: Fit says %v, want %v", err, learner.ErrConfig)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.Fit(ctx, b, learner.FitOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: Fit says %v", err)
	}
	if !bytes.Equal(StateBytes(l.State()), before) {
		t.Error("a rejected call changed the state")
	}
}

func (s *suite[T]) batchState(t *testing.T, b *engine.Block[T]) {
	half, rest := b.Slice(0, b.Len()/2), b.Slice(b.Len()/2, b.Len())
	// SetState must replace what was there
	l, twin := s.fitted(t, nil, &half), s.fitted(t, nil, &rest)
	s.restores(t, l, twin)
	sameScores(t, "restored", scores(t, twin, b), scores(t, l, b))
	fit(t, twin, &rest)
	fit(t, l, &rest)
	sameState(t, "restored and fitted", twin, l)
	s.refuses(t, l)
	s.ofFeatures(t, l, b)
}

func (s *suite[T]) batchUnseen(t *testing.T, b *engine.Block[T]) {
	for i, f := range scores(t, s.fresh(t, nil), b) {
		if f != 0 {
			t.Fatalf("a new learner scores example %d %v", i, f)
		}
	}
	l := s.fitted(t, nil, b)
	sameScores(t, "with unseen features", scores(t, l, widened(b)), scores(t, l, b))
}

func (s *suite[T]) batchLearns(t *testing.T, b *engine.Block[T]) {
	l := s.fitted(t, nil, b)
	wrong := 0
	all := scores(t, l, b)
	for i, y := range b.Y {
		if f := s.signed(all, i); float64(y)*f < 0 || f == 0 && y < 0 {
			wrong++
		}
	}
	if wrong > b.Len()/10 {
		t.Errorf("%d of %d wrong", wrong, b.Len())
	}
}

func (s *suite[T]) batchAllocs(t *testing.T, b *engine.Block[T]) {
	l, dst := s.fitted(t, nil, b), s.places(b.Len())
	allocatesNothing(t, "Score", func() error { return l.Score(b, dst) })
}
