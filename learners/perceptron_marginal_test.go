package learners_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

func TestMarginalPerceptronByHand(t *testing.T) {
	runByHand(t, "perceptron", &learners.PerceptronConfig{Beta: 0.5, Eta: 1}, []handStep{
		{[]float64{3, 4}, +1, 0, 1, []float64{3, 4}},             // |w| = 5
		{[]float64{0.5, 0.25}, +1, 2.5, 1, []float64{3.5, 4.25}}, // just 0.5 |w| is an update
		{[]float64{1, 0}, +1, 3.5, 0, []float64{3.5, 4.25}},      // 0.5 |w| = 2.753
		{[]float64{-0.5, -0.25}, -1, -2.8125, 0, []float64{3.5, 4.25}},
		{[]float64{-0.5, 1}, -1, 2.5, 1, []float64{4, 3.25}},
		{[]float64{0, 0}, +1, 0, 1, []float64{4, 3.25}}, // fires, moves nothing
	})
}

// TestMarginalPerceptron: below the largest margin updates end, in whichever way examples come, and
// then every example has a geometric margin above Beta: the guarantee of Algorithm 1 with rho on
// |w|. At or above it a fit ends unconverged, and its bound shows why.
func TestMarginalPerceptron(t *testing.T) {
	for _, form := range forms {
		t.Run(form+"/f32", func(t *testing.T) { marginalPerceptron[float32](t, form, 0x1p-14) })
		t.Run(form+"/f64", func(t *testing.T) { marginalPerceptron[float64](t, form, 0x1p-40) })
	}
}

// marginalPerceptron has lengths within that tolerance: a few units of 2^-24 or 2^-53 for each of
// 1024 updates.
func marginalPerceptron[T learner.Float](t *testing.T, form string, tolerance float64) {
	const gamma = 0.1
	d := learnertest.Dense[float64](300, 8, gamma)
	b := block[T](form, rowsOf(d.X, d.Stride, d.Dim, d.Len()), d.Y)
	best := fitter[float64](t, "pumma", &learners.PUMMAConfig{P: "2", Delta: 0.01,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}})
	top, err := best.Fit(t.Context(), through(d), learner.FitOptions{})
	if err != nil || top.Bound < gamma {
		t.Fatal(top, err)
	}
	least := func(w []float64) float64 {
		m, length := math.Inf(1), pnorm(w, 2)
		for i := range d.Len() {
			m = min(m, d.Y[i]*inner(w, d.Row(i))/length)
		}
		return m
	}
	for _, share := range []float64{0.1, 0.5, 0.9} {
		for _, eta := range []float64{0.01, 1, 30} {
			beta := share * gamma
			c := &learners.PerceptronConfig{Beta: beta, Eta: eta}
			what := fmt.Sprintf("beta %v, eta %v", beta, eta)
			stream := newLearner[T](t, "perceptron", c)
			rounds := make([]learner.Round, b.Len())
			for last := int64(-1); last != stream.Updates(); {
				last = stream.Updates()
				if err := stream.Learn(b, rounds); err != nil {
					t.Fatal(err)
				}
			}
			if m := least(stream.Weights()); m <= beta*(1-tolerance) {
				t.Errorf("%s: margin %v", what, m)
			}
			for _, o := range []learner.FitOptions{{}, {ActiveSet: true}} {
				l := fitter[T](t, "perceptron", c)
				r, err := l.Fit(t.Context(), b, o)
				if err != nil || !r.Converged || r.Margin <= beta*(1-tolerance) ||
					r.Bound < top.Margin*(1-tolerance) {
					t.Errorf("%s: %+v, %v", what, r, err)
				}
				if m := least(l.Weights()); math.Abs(m-r.Margin) > tolerance {
					t.Errorf("%s: margin %v, said to be %v", what, m, r.Margin)
				}
			}
		}
	}
	l := fitter[T](t, "perceptron", &learners.PerceptronConfig{Beta: 1.05 * top.Bound, Eta: 1})
	r, err := l.Fit(t.Context(), b, learner.FitOptions{MaxUpdates: 1e6})
	if err != nil || r.Converged || r.Updates == 1e6 || r.Bound < top.Margin*(1-tolerance) ||
		r.Bound > 1.05*top.Bound {
		t.Errorf("beta above all margins: %+v, %v", r, err)
	}
}

// through returns the examples and each turned over, label and all: of those a hyperplane with the
// largest margin goes through the origin.
func through(b *engine.Block[float64]) *engine.Block[float64] {
	X, y := rowsOf(b.X, b.Stride, b.Dim, b.Len()), append([]float64{}, b.Y...)
	for i := range b.Len() {
		x := append([]float64{}, X[i]...)
		for j := range x {
			x[j] = -x[j]
		}
		X, y = append(X, x), append(y, -b.Y[i])
	}
	return block[float64]("dense", X, y)
}
