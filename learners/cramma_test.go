package learners_test

import (
	"context"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

type learnerBlock = engine.Block[float64]

func rowsOf(x []float64, stride, dim, n int) [][]float64 {
	var out [][]float64
	for i := range n {
		out = append(out, x[i*stride:i*stride+dim])
	}
	return out
}

func TestCRAMMAByHand(t *testing.T) {
	r2 := math.Sqrt2 / 2
	runByHand(t, "cramma", &learners.CRAMMAConfig{Epsilon: 1, Beta: 0.75, Eta: 0.75, EtaDelta: 0,
		R: 2}, []handStep{
		{[]float64{0, 0}, +1, 0, 0, []float64{0, 0}}, // no direction yet
		// u_1 = (0, 1), its score 2/2 > 0.75: a direction, no update
		{[]float64{0, -2}, -1, 0, 0, []float64{0, 1}},
		// 1.5/2 = 0.75: an update by 0.75 (0, 0.75), which leaves u
		{[]float64{0, 1.5}, +1, 1.5, 1, []float64{0, 1}},
		// beta_2 = 0.375; 0 is under it: u + 0.75 (8/3, 0)/2 = (1, 1)
		{[]float64{-8. / 3, 0}, -1, 0, 1, []float64{r2, r2}},
		// beta_3 = 0.25; 2 sqrt(1/2)/2 > 0.25
		{[]float64{0, 2}, +1, 2 * r2, 0, []float64{r2, r2}},
		{[]float64{0, 0}, +1, 0, 0, []float64{r2, r2}}, // turns nothing: skipped
	})
}

// TestCRAMMAMargin: with the rate of Theorem 1 it converges, and the margin tends to the maximal
// one as beta grows.
func TestCRAMMAMargin(t *testing.T) {
	const best = 0.6 // of (0.6, +-0.8): direction (1, 0)
	b := block[float64]("dense", [][]float64{{0.6, 0.8}, {-0.6, 0.8}, {0.9, 0.1}}, []float64{1, -1,
		1})
	for _, epsilon := range []float64{0.25, 0.5, 1, 1.5} {
		last := 0.0
		for _, base := range []float64{1, 4, 16, 64} {
			beta := math.Pow(base, 2*epsilon)
			l := fitter[float64](t, "cramma", &learners.CRAMMAConfig{Epsilon: epsilon, Beta: beta,
				Eta: 0.1, EtaDelta: 0.3 / epsilon})
			r, err := l.Fit(context.Background(), b, learner.FitOptions{})
			if err != nil || !r.Converged {
				t.Fatalf("epsilon %v, beta %v: %+v, %v", epsilon, beta, r, err)
			}
			if r.Margin > best+1e-12 || r.Margin < last-0.01 {
				t.Errorf("epsilon %v, beta %v: margin %v, after %v, of %v", epsilon, beta, r.Margin,
					last, best)
			}
			last = r.Margin
		}
		if last < 0.97*best {
			t.Errorf("epsilon %v: margin %v of %v", epsilon, last, best)
		}
	}
}

// TestCRAMMAUnit: the weights are of unit length whatever the scale of the data and the number of
// updates.
func TestCRAMMAUnit(t *testing.T) {
	for _, size := range []float64{1e-12, 1, 1e9} {
		b := learnertest.Dense[float32](300, 20, 0.02)
		for i := range b.X {
			b.X[i] *= float32(size)
		}
		c := &learners.CRAMMAConfig{Epsilon: 0.1, Beta: 1, Eta: 0.5, EtaDelta: 1}
		if !c.Traits().Relative {
			t.Fatal("R is not open")
		}
		r, err := c.Resolve(learner.Facts{SumSq: size * size})
		if err != nil || math.Abs(r.(*learners.CRAMMAConfig).R-size) > 1e-15*size ||
			r.Traits().Relative {
			t.Fatal(r, err)
		}
		l := newLearner[float32](t, "cramma", r)
		rounds := make([]learner.Round, b.Len())
		for range 20 {
			if err := l.Learn(b, rounds); err != nil {
				t.Fatal(err)
			}
		}
		if l.Updates() < 1000 {
			t.Errorf("%d updates", l.Updates())
		}
		approx.Near(t, "|u|", pnorm(l.Weights(), 2), 1, 1e-4)
	}
}
