package learners_test

import (
	"fmt"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// TestNaiveMargins: the learners, in score space and on the weights, make as many updates as their
// plain forms.
func TestNaiveMargins(t *testing.T) {
	for seed := range uint64(3) {
		X, y := randomProblem("dense", seed, 60, 5)
		b := block[float64]("dense", X, y)
		for _, delta := range []float64{0, 0.7} {
			p := naive.Patterns{Delta: delta}
			for i, x := range X {
				p.Y = append(p.Y, nil)
				for _, v := range x {
					p.Y[i] = append(p.Y[i], v*y[i])
				}
			}
			for name, c := range map[string]struct {
				config learner.Config
				want   int64
			}{
				"perceptron": {&learners.PerceptronConfig{Margin: 3, Eta: 1}, p.Perceptron(3)},
				"alma":       {&learners.ALMAConfig{P: 2, Alpha: 0.5}, p.ALMA(0.5)},
				"cramma": {&learners.CRAMMAConfig{Epsilon: 0.5, Beta: 0.8, Eta: 0.01,
					EtaDelta: 0}, p.CRAMMA(0.5, 0.8, 0.01)},
			} {
				for _, bytes := range []int64{0, -1} {
					r, err := fitter[float64](t, name, c.config).Fit(t.Context(), b,
						learner.FitOptions{Delta: delta, GramBytes: bytes})
					if err != nil || r.Updates != c.want || c.want < 10 {
						t.Errorf("%s, delta %v, bytes %d: %d updates, want %d (%v)", name, delta,
							bytes, r.Updates, c.want, err)
					}
				}
			}
		}
		r, err := fitter[float64](t, "romma", &learners.ROMMAConfig{Aggressive: true,
			Delta: 0.05}).Fit(t.Context(), b, learner.FitOptions{})
		if want := naive.ROMMA(X, y, 0.05); err != nil || r.Updates != want || want < 10 {
			t.Errorf("romma: %d updates, want %d (%v)", r.Updates, want, err)
		}
		for _, p := range []float64{2, 2.5, 4, 9.2} {
			r, err := fitter[float64](t, "pumma", &learners.PUMMAConfig{P: fmt.Sprint(p),
				Delta: 0.02}).Fit(t.Context(), b, learner.FitOptions{})
			if want := naive.PUMMA(X, y, p, 0.02); err != nil || r.Updates != want || want < 10 {
				t.Errorf("pumma p=%v: %d updates, want %d (%v)", p, r.Updates, want, err)
			}
		}
	}
}
