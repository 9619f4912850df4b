package learners_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

func TestROMMAByHand(t *testing.T) {
	runByHand(t, "romma", &learners.ROMMAConfig{Delta: 0.1}, []handStep{
		{[]float64{2, 0}, +1, 0, 1, []float64{0.5, 0}}, // (4): w = 0
		{[]float64{1, 1}, +1, 0.5, 0, []float64{0.5, 0}},
		// (3): m = -1/2, X = 2, W = 1/4, c = 4, d = 3/2
		{[]float64{1, 1}, -1, 0.5, 1, []float64{0.5, -1.5}},
		{[]float64{0, 0}, +1, 0, 0, []float64{0.5, -1.5}}, // no solution: skipped
		{[]float64{-0.5, 1.5}, +1, -2.5, 1, []float64{-0.2, 0.6}},
	})
	runByHand(t, "romma", &learners.ROMMAConfig{Aggressive: true, Delta: 0.5}, []handStep{
		{[]float64{2, 0}, +1, 0, 1, []float64{0.5, 0}},
		{[]float64{1, 1}, +1, 0.5, 0, []float64{0.5, 0}}, // 1/2 is not less than 1 - delta
		// m = 1/4, X = 5/4, W = 1/4: c = 1/4, d = 3/4
		{[]float64{0.5, 1}, +1, 0.25, 1, []float64{0.5, 0.75}},
		{[]float64{0.25, 0}, +1, 0.125, 1, []float64{4, 0}}, // (4): XW = 13/256 < m = 1/8
		{[]float64{-1, 0}, -1, -4, 0, []float64{4, 0}},
	})
}

func inner(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// TestROMMA: on separable data every step solves (2), |w| never falls nor exceeds |u|, and each
// aggressive update adds (delta/R)^2 to |w|^2; it ends with a margin of (1-delta) times the hidden
// one or more.
func TestROMMA(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, dim := rapid.IntRange(1, 150).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "dim")
		gamma := rapid.Float64Range(0.05, 0.3).Draw(t, "gamma")
		c := &learners.ROMMAConfig{Aggressive: rapid.Bool().Draw(t, "aggressive"),
			Delta: rapid.Float64Range(0.02, 1).Draw(t, "delta")}
		b := learnertest.Dense[float64](n, dim, gamma) // of unit length: |u| = 1/gamma
		e, err := learner.Lookup("romma")
		if err != nil {
			t.Fatal(err)
		}
		l, err := learner.New[float64](e, c, learner.Env{})
		if err != nil {
			t.Fatal(err)
		}
		rounds := make([]learner.Round, 1)
		w := make([]float64, dim)
		for last := int64(-1); last != l.Updates(); {
			last = l.Updates()
			for i := range n {
				v := b.Slice(i, i+1)
				if err := l.Learn(&v, rounds); err != nil {
					t.Fatal(err)
				}
				if rounds[0].Updates == 0 {
					continue
				}
				y, x, next := b.Y[i], b.Row(i), l.Weights()
				before, after := inner(w, w), inner(next, next)
				if m := y * inner(next, x); math.Abs(m-1) > 1e-9 {
					t.Fatalf("update %d: margin %v, want 1", l.Updates(), m)
				}
				if have := inner(next, w); have < before*(1-1e-9) {
					t.Fatalf("update %d: w'.w is %v, |w|^2 %v", l.Updates(), have, before)
				}
				least := 0.0
				if c.Aggressive {
					least = c.Delta * c.Delta
				}
				if after < (before+least)*(1-1e-9) || after > (1+1e-9)/(gamma*gamma) {
					t.Fatalf("update %d: |w|^2 from %v to %v; it must grow by %v and not exceed %v",
						l.Updates(), before, after, least, 1/(gamma*gamma))
				}
				w = next
			}
		}
		norm := pnorm(w, 2)
		for i := range n {
			m := b.Y[i] * inner(w, b.Row(i))
			if m <= 0 || c.Aggressive && m/norm < (1-c.Delta)*gamma*(1-1e-9) {
				t.Fatalf("example %d: margin %v after convergence, want %v of %v", i, m/norm,
					1-c.Delta, gamma)
			}
		}
	})
}

// TestROMMARefold: the factor and |w|^2 that are kept beside the weights stay true over many
// thousand updates.
func TestROMMARefold(t *testing.T) {
	for _, name := range []string{"romma", "micra"} {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		c := e.Config()
		if r, ok := c.(*learners.ROMMAConfig); ok {
			r.Aggressive, r.Delta = true, 0.001
		} else {
			c.(*learners.MICRAConfig).Beta = 1 // out of reach
		}
		b := learnertest.Dense[float64](300, 20, 0.001)
		l := newLearner[float64](t, name, c)
		rounds := make([]learner.Round, b.Len())
		for l.Updates() < 20000 {
			before := l.Updates()
			if err := l.Learn(b, rounds); err != nil {
				t.Fatal(err)
			}
			if l.Updates() == before {
				t.Fatalf("%s ended after %d updates", name, before)
			}
			w, s := l.Weights(), l.State().Scalars
			approx.Near(t, fmt.Sprintf("%s: |w|^2 after %d updates", name, l.Updates()), s["norm2"],
				inner(w, w), 1e-11)
		}
	}
}

// TestFitExtended: Fit with a soft margin is Fit on examples with one more feature each, y Delta;
// without one it is passes of Learn.
func TestFitExtended(t *testing.T) {
	X, y := randomProblem("dense", 5, 60, 6)
	for i := range y {
		if i%9 == 0 {
			y[i] = -y[i] // not separable
		}
	}
	const delta = 1.5
	ext := make([][]float64, len(X))
	for k, x := range X {
		ext[k] = append(append([]float64{}, x...), make([]float64, len(X))...)
		ext[k][len(x)+k] = y[k] * delta
	}
	for name, c := range map[string]learner.Config{
		"romma": &learners.ROMMAConfig{Aggressive: true, Delta: 0.01},
		"micra": &learners.MICRAConfig{Beta: 0.35, Epsilon: 0.05, Eta: 0.02, Zeta: 0.1},
	} {
		for _, form := range forms {
			soft := newLearner[float64](t, name, c).(learner.Fitter[float64])
			hard := newLearner[float64](t, name, c).(learner.Fitter[float64])
			plain := newLearner[float64](t, name, c)
			got, err := soft.Fit(t.Context(), block[float64](form, X, y),
				learner.FitOptions{Delta: delta})
			if err != nil || !got.Converged || got.Violators != 0 {
				t.Fatal(name, got, err)
			}
			want, err := hard.Fit(t.Context(), block[float64](form, ext, y), learner.FitOptions{})
			if err != nil || !want.Converged {
				t.Fatal(name, want, err)
			}
			passes := int64(0)
			for last := int64(-1); last != plain.Updates(); passes++ {
				last = plain.Updates()
				if err := plain.Learn(block[float64](form, ext, y), make([]learner.Round,
					len(y))); err != nil {
					t.Fatal(err)
				}
			}
			if got.Updates != want.Updates || got.Epochs != want.Epochs ||
				want.Updates != plain.Updates() || want.Epochs != passes || got.Updates < 1024 {
				t.Fatalf("%s: %d updates in %d passes, %d in %d with features, %d in %d by Learn",
					name, got.Updates, got.Epochs, want.Updates, want.Epochs, plain.Updates(),
					passes)
			}
			approx.Near(t, name+": Gamma", got.Gamma, want.Margin, 1e-10)
			approx.AllNear(t, name+": w", soft.Weights(), hard.Weights()[:len(X[0])], 1e-9)
			approx.AllNear(t, name+": w", hard.Weights(), plain.Weights(), 1e-12)
			if !(got.DPrime >= got.D*(1-1e-9) && got.Excess() < 0.1) {
				t.Errorf("%s: D' = %v, D = %v", name, got.DPrime, got.D)
			}
			before, err := soft.Fit(t.Context(), block[float64](form, X, y),
				learner.FitOptions{Delta: delta})
			if !errors.Is(err, learner.ErrFit) || before.Updates != 0 {
				t.Errorf("%s: a second soft run: %+v, %v", name, before, err)
			}
			w := soft.Weights()
			approx.Near(t, name+": norm2", soft.State().Scalars["norm2"], inner(w, w), 1e-12)
		}
	}
}
