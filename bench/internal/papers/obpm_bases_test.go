package papers

import (
	"context"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/internal/naive"
)

// TestOBPMBound: no margin is below its bound, and the best weights have the larger bound.
func TestOBPMBound(t *testing.T) {
	t.Parallel()
	rows, _ := drawing(t, "obpm/bound", RunOptions{Runs: 2})
	for _, quantity := range []string{"mistake_bound", "member_examples_per_example"} {
		if r := find(t, rows, "generated e=0", quantity); r.Verdict != ByConstruction {
			t.Errorf("%s: %s", quantity, r.Verdict)
		}
	}
	const text = "generated e=0, obpm N=100 tau=0.35 until members separate, "
	equal, best := text+"alpha_i=1/N", text+"the best alpha_i"
	for _, alpha := range []string{equal, best} {
		bound, margin := find(t, rows, alpha, "bound"), find(t, rows, alpha, "margin")
		if !(0 < bound.Ours && bound.Ours <= margin.Ours) {
			t.Errorf("%s: bound %v, margin %v", alpha, bound.Ours, margin.Ours)
		}
	}
	if e, b := find(t, rows, equal, "bound"), find(t, rows, best, "bound"); b.Ours < e.Ours {
		t.Errorf("bound %v with the best weights, %v with equal ones", b.Ours, e.Ours)
	}
}

// TestPermutedBayesPoint: one member that passes once in some order is a perceptron; the average
// of several has the errors of what their weights, of length 1, add up to.
func TestPermutedBayesPoint(t *testing.T) {
	t.Parallel()
	train, err := measure.MarginProblem[float32](1, 300, 20, 0.05, 0.05, false)
	if err != nil {
		t.Fatal(err)
	}
	const seed, members, epochs = 3, 4, 2
	mean := make([]float64, 20)
	for m := range members {
		p := naive.NewPerceptron[float32](20)
		order := make([]int32, train.Block.Len())
		for epoch := range epochs {
			engine.Permute(order, seed<<20+uint64(m), uint64(epoch))
			for _, i := range order {
				p.Learn(&train.Block, int(i))
			}
		}
		w := p.W
		var length float64
		for _, v := range w {
			length += float64(v) * float64(v)
		}
		for j, v := range w {
			mean[j] += float64(v) / math.Sqrt(length)
		}
	}
	got, err := permutedBayesPoint(context.Background(), &train.Block, &train.Block, members,
		epochs, seed)
	if err != nil || !approx.Equal(got, errorOf(mean, &train.Block), 1e-12) {
		t.Errorf("%v %%, want %v: %v", got, errorOf(mean, &train.Block), err)
	}
}
