package spread

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	_ "github.com/halfspace-ml/halfspace/learners"
)

// Members' scores have the ensemble's score as their mean, and quantiles are numpy's.
func TestSpread(t *testing.T) {
	e, err := learner.Lookup("obpm")
	if err != nil {
		t.Fatal(err)
	}
	l, err := learner.New[float64](e, e.Config(), learner.Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	const n, dim = 300, 5
	rng := rand.New(rand.NewPCG(1, 2))
	b := &engine.Block[float64]{Dim: dim, Ptr: []int{0}}
	for range n {
		var sum float64
		for j := range dim {
			v := rng.NormFloat64()
			sum += v
			b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, v)
		}
		b.Ptr = append(b.Ptr, len(b.Idx))
		b.Y = append(b.Y, math.Copysign(1, sum+rng.NormFloat64()))
	}
	if err := l.Learn(b, make([]learner.Round, n)); err != nil {
		t.Fatal(err)
	}
	f := make([]float64, n)
	if err := l.Score(b, f); err != nil {
		t.Fatal(err)
	}
	s, ok := New(l, 1<<20)
	if !ok || s.Members() != 100 {
		t.Fatalf("%v, %v", s, ok)
	}
	for i := range n {
		var sum float64
		for _, v := range s.Scores(b, i) {
			sum += v
		}
		low, high := s.Quantiles(b, i, 0.9)
		wide, top := s.Quantiles(b, i, 0.99)
		// 100 members' scores of 5 terms each: some 1e-14 of their size
		if math.Abs(sum/100-f[i]) > 1e-12*(1+math.Abs(f[i])) || !(low <= high) || wide > low ||
			top < high {
			t.Fatalf("example %d: mean %v, score %v, %v to %v", i, sum/100, f[i], low, high)
		}
	}
	if _, ok := New(l, 10); ok {
		t.Error("more weights than there is room for")
	}
	// numpy.quantile([1, 2, 4, 8, 16], [0.05, 0.5, 0.95])
	for q, want := range map[float64]float64{0.05: 1.2, 0.5: 4, 0.95: 14.4, 0: 1, 1: 16} {
		if got := quantile([]float64{1, 2, 4, 8, 16}, q); math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
	if !slices.IsSorted(s.Scores(b, 0)) {
		t.Error("scores are not in order")
	}
}
