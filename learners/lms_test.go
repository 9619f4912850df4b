package learners_test

import (
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

func TestLMSByHand(t *testing.T) {
	runByHand(t, "lms", &learners.LMSConfig{Eta: 0.5}, []handStep{
		{[]float64{1, 0}, +1, 0, 1, []float64{0.5, 0}},
		{[]float64{1, 0}, +1, 0.5, 1, []float64{0.75, 0}}, // right, and still a step
		{[]float64{0, 1}, -1, 0, 1, []float64{0.75, -0.5}},
		{[]float64{0, 2}, -1, -1, 0, []float64{0.75, -0.5}}, // fits exactly
		{[]float64{1, 1}, -1, 0.25, 1, []float64{0.125, -1.125}},
	})
}

// TestLMSResidual: a step multiplies the residual of its example by 1 - eta |x|^2.
func TestLMSResidual(t *testing.T) {
	const eta = 0.7
	b := learnertest.Sparse[float64](200, 30, 0.05)
	l := newLearner[float64](t, "lms", &learners.LMSConfig{Eta: eta})
	var after [1]float64
	for i := range b.Len() {
		r := one(t, l, b, i)
		v := b.Slice(i, i+1)
		if err := l.Score(&v, after[:]); err != nil {
			t.Fatal(err)
		}
		_, val := b.Sparse(i)
		var sq float64
		for _, x := range val {
			sq += x * x
		}
		want := (b.Y[i] - r.Score) * (1 - eta*sq)
		if got := b.Y[i] - after[0]; !(math.Abs(got-want) <= 1e-13) {
			t.Fatalf("example %d: residual %v after the step, want %v", i, got, want)
		}
	}
}
