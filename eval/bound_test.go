package eval_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestMeasureAverage: the bounds of an ensemble are those of (2), worked out here from its
// definition, none exceeds the margin of the average that it is of, and no other weights beat the
// best; sparse and dense.
func TestMeasureAverage(t *testing.T) {
	const n, dim = 60, 4
	rng := engine.NewRand(3, 0)
	b := &engine.Block[float64]{Dim: dim, Stride: dim}
	for range n {
		x := make([]float64, dim)
		for j := range x {
			x[j] = rng.Normal()
		}
		x[0] = math.Copysign(1+math.Abs(x[0]), x[0]) // sign(x0) separates
		b.X, b.Y = append(b.X, x...), append(b.Y, math.Copysign(1, x[0]))
	}
	l, err := learner.Make[float64]("obpm", nil, learner.Env{Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if err := l.Learn(b, make([]learner.Round, n)); err != nil {
			t.Fatal(err)
		}
	}
	members, ok := learner.MembersOf(l, 1<<20)
	if !ok || len(members) != 100 {
		t.Fatalf("%d members, %v", len(members), ok)
	}
	if _, ok := learner.MembersOf(l, 10); ok {
		t.Error("members beyond what was asked for")
	}
	least := func(w []float64) float64 { // gamma of w
		m := math.Inf(1)
		for i := range n {
			var f float64
			for j, v := range w {
				f += v * b.X[i*dim+j]
			}
			m = min(m, b.Y[i]*f/length(w))
		}
		return m
	}
	average := func(alpha []float64) (w []float64, bound float64) { // and the right side of (2)
		w = make([]float64, dim)
		for m, a := range alpha {
			for j, v := range members[m] {
				w[j] += a * v / length(members[m])
			}
			bound += a * least(members[m])
		}
		return w, bound / length(w)
	}
	mem := eval.NewMemory(b, nil)
	m, got, ok, err := eval.MeasureAverage(context.Background(), learner.ViewOf(l), members, mem)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	equal, lengths := make([]float64, len(members)), make([]float64, len(members))
	for i, w := range members {
		equal[i], lengths[i] = 1/float64(len(members)), length(w)
		near("a member's margin", got.Margins[i], least(w))
	}
	w, bound := average(equal)
	near("Equal", got.Equal, bound)
	below := func(what string, bound, margin float64) {
		t.Helper()
		if !(bound <= margin+1e-12) {
			t.Errorf("%s: bound %v, margin %v", what, bound, margin)
		}
	}
	below("equal", bound, least(w))
	_, bound = average(lengths)
	near("Averaged", got.Averaged, bound)
	below("averaged", bound, m.Norm(2, 0))
	w, bound = average(got.Alpha)
	near("Best", got.Best, bound)
	below("best", bound, least(w))
	if got.Best <= 0 || got.Best < got.Equal || got.Best < got.Averaged {
		t.Errorf("best %v, equal %v, averaged %v", got.Best, got.Equal, got.Averaged)
	}
	for range 2000 {
		alpha := make([]float64, len(members))
		for i := range alpha {
			alpha[i] = max(0, got.Alpha[i]+0.01*rng.Normal())
		}
		if _, v := average(alpha); v > got.Best+1e-6 {
			t.Fatalf("other weights have the bound %v, the best %v", v, got.Best)
		}
	}
	if _, _, _, err := eval.MeasureAverage(context.Background(), learner.ViewOf(l),
		[][]float64{{0, 0}}, mem); !errors.Is(err, learner.ErrConfig) {
		t.Errorf("a member without weights: %v", err)
	}
}

func length(w []float64) float64 {
	var sum float64
	for _, v := range w {
		sum += v * v
	}
	return math.Sqrt(sum)
}
