package learners_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

func TestMICRAByHand(t *testing.T) {
	// beta/t^epsilon is 1/2, 1/4, 1/6, ...; the step is 1.
	r2, r3 := math.Sqrt(0.5), math.Sqrt(3)
	last := []float64{(r2 - 1) / r3, (r2 + 1) / r3}
	runByHand(t, "micra", &learners.MICRAConfig{Beta: 0.5, Epsilon: 1, Eta: 1, Zeta: 0}, []handStep{
		{[]float64{2, 0}, +1, 0, 1, []float64{1, 0}},
		{[]float64{0.5, 1.5}, +1, 0.5, 1, []float64{r2, r2}}, // at the threshold; u' = (1.5, 1.5)
		{[]float64{-1, 1}, +1, 0, 1, last},                   // |u'|^2 = 1 + 2
		{[]float64{0, 0}, -1, 0, 0, last},                    // turns nothing: skipped
		{[]float64{0, 1}, +1, last[1], 0, last},
	})
	runByHand(t, "micra", &learners.MICRAConfig{Beta: 0.5, Epsilon: 0, Eta: 4, Zeta: 0.5},
		[]handStep{
			{[]float64{0, 0}, +1, 0, 0, []float64{0, 0}}, // has no direction
			{[]float64{-3, 0}, -1, 0, 1, []float64{1, 0}},
			{[]float64{0.25, 0}, -1, 0.25, 0, []float64{1, 0}},   // u' = 0: skipped
			{[]float64{0.5, 0}, -1, 0.5, 1, []float64{-1, 0}},    // u' = (-1, 0)
			{[]float64{0, r2 / 2}, +1, 0, 1, []float64{-r2, r2}}, // step 4/sqrt 2: u' = (-1, 1)
		})
}

// TestMICRA: |u| = 1 after every update; on separable data of unit length it ends, and every margin
// is above the last threshold.
func TestMICRA(t *testing.T) {
	micraUnit[float64](t, 1e-12)
	micraUnit[float32](t, 1e-5)
}

func micraUnit[T learner.Float](t *testing.T, tol float64) {
	t.Helper()
	c := &learners.MICRAConfig{Beta: 0.3, Epsilon: 0.4, Eta: 0.7, Zeta: 0.8}
	b := learnertest.Dense[T](300, 8, 0.1)
	l := newLearner[T](t, "micra", c)
	for last := int64(-1); last != l.Updates(); {
		last = l.Updates()
		for i := range b.Len() {
			if one(t, l, b, i).Updates == 1 {
				approx.Near(t, fmt.Sprintf("|u| after update %d", l.Updates()), pnorm(l.Weights(), 2), 1,
					tol)
			}
		}
	}
	if l.Updates() < 20 {
		t.Fatalf("only %d updates", l.Updates())
	}
	threshold := c.Beta / math.Pow(float64(l.Updates()), c.Epsilon)
	f := make([]float64, b.Len())
	if err := l.Score(b, f); err != nil {
		t.Fatal(err)
	}
	for i, v := range f {
		if float64(b.Y[i])*v <= threshold {
			t.Errorf("example %d has margin %v after convergence, want more than %v", i,
				float64(b.Y[i])*v, threshold)
		}
	}
}

// TestMICRAOutOfReach: a run that can't come to its end, as its margin would be out of reach for
// more updates than anybody waits for, ends by itself and says that it has not converged; one that
// can goes on until it has.
func TestMICRAOutOfReach(t *testing.T) {
	// the largest margin through the origin is that of u = (0, 1)
	near := func(m float64) *engine.Block[float64] {
		return &engine.Block[float64]{Dim: 2, Ptr: []int{0, 2, 4}, Idx: []int32{0, 1, 0, 1},
			Val: []float64{1, m, -1, m}, Y: []float64{1, 1}}
	}
	for _, c := range []struct {
		beta, epsilon, margin float64
		converged             bool
	}{
		{1, .1, .01, false}, {1, .1, .04, false}, {.5, 0, .4, false}, {1e6, .5, .1, false},
		{1, .5, .04, true}, {.5, .1, .4, true}, {.3, 0, .4, true},
	} {
		l := newLearner[float64](t, "micra", &learners.MICRAConfig{Beta: c.beta,
			Epsilon: c.epsilon, Eta: 1, Zeta: .9})
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		r, err := l.(learner.Fitter[float64]).Fit(ctx, near(c.margin), learner.FitOptions{})
		stop()
		if err != nil || r.Converged != c.converged || r.Bound < c.margin {
			t.Errorf("%+v: %v, %+v", c, err, r)
		}
	}
}
