package learners

import (
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
)

// TestNORMA: a perceptron with a kernel, a lambda and a budget is NORMA in its plain form: all
// coefficients shrink at each example, and of more than the budget the oldest is dropped.
func TestNORMA(t *testing.T) {
	const eta, lambda, rho, gamma, budget = 0.5, 0.02, 0.8, 0.3, 25
	b := toDense(randomBlock[float64](300, 6, 4, false, 21))
	for i := range b.X { // no two examples alike
		b.X[i] += 0.01 * math.Sin(float64(i))
	}
	e, err := learner.Lookup("perceptron")
	if err != nil {
		t.Fatal(err)
	}
	l, err := learner.New[float64](e, &PerceptronConfig{Margin: rho, Eta: eta, Lambda: lambda,
		OnlineConfig: OnlineConfig{Kernel: "rbf", Gamma: gamma, Budget: budget}}, learner.Env{})
	if err != nil {
		t.Fatal(err)
	}
	rounds := make([]learner.Round, b.Len())
	if err := l.Learn(b, rounds); err != nil {
		t.Fatal(err)
	}
	type part struct {
		x []float64
		a float64
	}
	var w []part
	dropped := false
	for i := range b.Len() {
		x, f := b.Row(i), 0.0
		for _, p := range w {
			var d2 float64
			for j, v := range x {
				d2 += (v - p.x[j]) * (v - p.x[j])
			}
			f += p.a * math.Exp(-gamma*d2)
		}
		if !(math.Abs(rounds[i].Score-f) <= 1e-9*(1+math.Abs(f))) {
			t.Fatalf("example %d: score %v, want %v", i, rounds[i].Score, f)
		}
		for k := range w {
			w[k].a *= 1 - eta*lambda
		}
		if b.Y[i]*f <= rho {
			if w = append(w, part{x, eta * b.Y[i]}); len(w) > budget {
				w, dropped = w[1:], true
			}
		}
	}
	if n, _ := learner.SupportOf(l); n != len(w) || !dropped {
		t.Errorf("%d kept, want %d", n, len(w))
	}
}
