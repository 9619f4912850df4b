package learners_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// handStep is one example of a run worked by hand, and what must come of it.
type handStep struct {
	x       []float64
	y       float64
	score   float64   // before
	updates int32     //
	w       []float64 // after
}

// runByHand checks every round and all weights of a run, as dense and as sparse blocks, in both
// precisions.
func runByHand(t *testing.T, learner string, c learner.Config, steps []handStep) {
	t.Helper()
	for _, form := range forms {
		runHand[float32](t, form, learner, c, steps, 1e-6)
		runHand[float64](t, form, learner, c, steps, 1e-14)
	}
}

func runHand[T learner.Float](t *testing.T, form, learner string, c learner.Config,
	steps []handStep, tol float64) {
	t.Helper()
	l := newLearner[T](t, learner, c)
	var total int64
	for k, s := range steps {
		r := one(t, l, block[T](form, [][]float64{s.x}, []float64{s.y}), 0)
		if !(math.Abs(r.Score-s.score) <= tol) || r.Updates != s.updates {
			t.Fatalf("%s %s, example %d: round %v, want {%v %d}", learner, form, k+1, r, s.score,
				s.updates)
		}
		approx.AllNear(t, "w", l.Weights(), s.w, tol)
		total += int64(s.updates)
	}
	if l.Updates() != total {
		t.Fatalf("%s: %d updates in all, want %d", learner, l.Updates(), total)
	}
}

func TestPerceptronByHand(t *testing.T) {
	runByHand(t, "perceptron", &learners.PerceptronConfig{Eta: 1}, []handStep{
		{[]float64{1, 2}, +1, 0, 1, []float64{1, 2}}, // a zero score is a mistake
		{[]float64{1, -1}, +1, -1, 1, []float64{2, 1}},
		{[]float64{0, 1}, -1, 1, 1, []float64{2, 0}},
		{[]float64{1, 1}, +1, 2, 0, []float64{2, 0}},
		{[]float64{-1, 3}, -1, -2, 0, []float64{2, 0}},
	})
	runByHand(t, "perceptron", &learners.PerceptronConfig{Margin: 2, Eta: 0.5}, []handStep{
		{[]float64{2, 4}, +1, 0, 1, []float64{1, 2}},
		{[]float64{1, 0.5}, +1, 2, 1, []float64{1.5, 2.25}}, // a score of just b is an update
		{[]float64{0, 2}, -1, 4.5, 1, []float64{1.5, 1.25}},
		{[]float64{0, 0}, +1, 0, 1, []float64{1.5, 1.25}}, // fires, moves nothing
		{[]float64{-2, 0}, -1, -3, 0, []float64{1.5, 1.25}},
	})
}

// TestPerceptronNovikoff: on data of length 1 with margin gamma, at most (R^2 + 2b/eta)/gamma^2
// updates until none is left.
func TestPerceptronNovikoff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, dim := rapid.IntRange(1, 200).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "dim")
		gamma := rapid.Float64Range(0.05, 0.3).Draw(t, "gamma")
		margin := rapid.SampledFrom([]float64{0, 0.5, 2}).Draw(t, "margin")
		eta := rapid.SampledFrom([]float64{0.1, 1, 3}).Draw(t, "eta")
		b := learnertest.Dense[float64](n, dim, gamma)
		e, err := learner.Lookup("perceptron")
		if err != nil {
			t.Fatal(err)
		}
		l, err := learner.New[float64](e, &learners.PerceptronConfig{Margin: margin, Eta: eta},
			learner.Env{})
		if err != nil {
			t.Fatal(err)
		}
		bound := (1 + 2*margin/eta) / (gamma * gamma)
		rounds := make([]learner.Round, n)
		for last := int64(-1); last != l.Updates(); {
			last = l.Updates()
			if err := l.Learn(b, rounds); err != nil {
				t.Fatal(err)
			}
			if float64(l.Updates()) > bound*(1+1e-9) {
				t.Fatalf("%d updates, the bound is %v", l.Updates(), bound)
			}
		}
		for i, r := range rounds { // converged: every margin is above b
			if b.Y[i]*r.Score <= margin {
				t.Fatalf("example %d has margin %v after convergence", i, b.Y[i]*r.Score)
			}
		}
	})
}
