package learners_test

import (
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestOBPMLines: members that learn rows of bytes, of which lines are zeros, and then floats, of
// which others are, are those that learn floats alone.
func TestOBPMLines(t *testing.T) {
	const n, dim = 300, 6 * 16
	rng := engine.NewRand(3, 0)
	rows := engine.NewByteRows[float32](dim, false, n)
	floats := &engine.Block[float32]{Dim: dim, Stride: dim}
	for i := range n {
		x, y := make([]float32, dim), float32(1-2*(i%2))
		for j := range x {
			if (j/16+i)%3 > 0 {
				x[j] = float32(int(200 * rng.Uniform() * rng.Uniform()))
			}
		}
		if !rows.Append(x, y, 0) {
			t.Fatal("no bytes")
		}
		floats.X, floats.Y = append(floats.X, x...), append(floats.Y, y)
	}
	learn := func(bytes int) ([]float64, []learner.Round) {
		e := must(learner.Lookup("obpm"))
		o := must(learner.New[float32](e, e.Config(), learner.Env{Seed: 1}))
		rounds := make([]learner.Round, n)
		var b engine.Block[float32]
		rows.Block(&b, 0, bytes)
		if err := o.Learn(&b, rounds[:bytes]); err != nil {
			t.Fatal(err)
		}
		f := floats.Slice(bytes, n)
		if err := o.Learn(&f, rounds[bytes:]); err != nil {
			t.Fatal(err)
		}
		return o.Weights(), rounds
	}
	weights, rounds := learn(0)
	for _, bytes := range []int{1, n / 2, n} {
		w, r := learn(bytes)
		if !slices.Equal(w, weights) || !slices.Equal(r, rounds) {
			t.Errorf("%d of %d as bytes: other weights or rounds", bytes, n)
		}
	}
}
