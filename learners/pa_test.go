package learners_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

func TestPAByHand(t *testing.T) {
	runByHand(t, "pa", &learners.PAConfig{Variant: 0}, []handStep{
		{[]float64{1, 0}, +1, 0, 1, []float64{1, 0}},           // loss 1, |x|^2 = 1
		{[]float64{0, 2}, -1, 0, 1, []float64{1, -0.5}},        // loss 1, |x|^2 = 4
		{[]float64{0, 0}, +1, 0, 0, []float64{1, -0.5}},        // no solution
		{[]float64{2, 0}, +1, 2, 0, []float64{1, -0.5}},        // loss 0
		{[]float64{1, -1}, -1, 1.5, 1, []float64{-0.25, 0.75}}, // loss 2.5, |x|^2 = 2
	})
	runByHand(t, "pa", &learners.PAConfig{Variant: 1, C: 0.5}, []handStep{
		{[]float64{1, 0}, +1, 0, 1, []float64{0.5, 0}},    // tau cut to C
		{[]float64{0, 2}, -1, 0, 1, []float64{0.5, -0.5}}, // tau 1/4
		{[]float64{0, 0}, +1, 0, 0, []float64{0.5, -0.5}},
		{[]float64{2, 0}, +1, 1, 0, []float64{0.5, -0.5}}, // loss just 0
		{[]float64{1, -1}, -1, 1, 1, []float64{0, 0}},     // tau cut to C
	})
	runByHand(t, "pa", &learners.PAConfig{Variant: 2, C: 0.5}, []handStep{
		{[]float64{1, 0}, +1, 0, 1, []float64{0.5, 0}},    // 1/(1+1)
		{[]float64{0, 2}, -1, 0, 1, []float64{0.5, -0.4}}, // 1/(4+1)
		{[]float64{0, 0}, +1, 0, 0, []float64{0.5, -0.4}},
		{[]float64{2, 0}, +1, 1, 0, []float64{0.5, -0.4}},
		{[]float64{1, -1}, -1, 0.9, 1, []float64{0.5 - 1.9/3, -0.4 + 1.9/3}}, // 1.9/(2+1)
	})
}

// TestPALossAfterStep: after a step of PA the example has loss 0, after one of PA-I loss 0 or a
// step of C, and after one of PA-II the loss that its trade leaves, loss/(1 + 2C|x|^2). Lengths run
// from 2^-10 to 2^10.
func TestPALossAfterStep(t *testing.T) {
	const C = 0.3
	for variant := range 3 {
		t.Run(fmt.Sprintf("variant=%d", variant), func(t *testing.T) {
			c := &learners.PAConfig{Variant: variant, C: C}
			if variant == 0 {
				c.C = 0
			}
			b := learnertest.Dense[float64](300, 10, 0.01)
			for i := range b.Len() {
				for j := range b.Row(i) {
					b.Row(i)[j] *= math.Ldexp(1, i%21-10)
				}
			}
			l := newLearner[float64](t, "pa", c)
			var before, after [1]float64
			updates := 0
			for i := range b.Len() {
				w := l.Weights()
				r := one(t, l, b, i)
				v := b.Slice(i, i+1)
				if err := l.Score(&v, after[:]); err != nil {
					t.Fatal(err)
				}
				before[0] = max(0, 1-b.Y[i]*r.Score)
				loss := max(0, 1-b.Y[i]*after[0])
				if (r.Updates == 1) != (before[0] > 0) {
					t.Fatalf("example %d: loss %v, updates %d", i, before[0], r.Updates)
				}
				if r.Updates == 0 {
					continue
				}
				updates++
				var sq, moved float64
				for j, x := range b.Row(i) {
					d := l.Weights()[j]
					if w != nil && j < len(w) {
						d -= w[j]
					}
					sq, moved = sq+x*x, moved+d*d
				}
				tau := math.Sqrt(moved / sq)
				want := 0.0
				switch variant {
				case 1:
					want = max(0, before[0]-C*sq)
					if tau > C*(1+1e-9) {
						t.Fatalf("example %d: step %v beyond C", i, tau)
					}
				case 2:
					want = before[0] / (1 + 2*C*sq)
				}
				if !(math.Abs(loss-want) <= 1e-11*max(1, math.Abs(r.Score))) {
					t.Fatalf("example %d: loss %v after the step, want %v", i, loss, want)
				}
			}
			if updates < 50 {
				t.Fatalf("only %d updates seen", updates)
			}
		})
	}
}

// TestPASeparableBound: with |x| = R = 1 and a u of margin 1, i.e. |u| = 1/gamma, the squared
// losses of any run sum to at most R^2 |u|^2.
func TestPASeparableBound(t *testing.T) {
	for _, gamma := range []float64{0.02, 0.1, 0.3} {
		b := learnertest.Dense[float64](400, 8, gamma)
		l := newLearner[float64](t, "pa", &learners.PAConfig{Variant: 0})
		var sum float64
		for range 5 {
			for i := range b.Len() {
				loss := max(0, 1-b.Y[i]*one(t, l, b, i).Score)
				sum += loss * loss
			}
		}
		if bound := 1 / (gamma * gamma); sum > bound || sum == 0 {
			t.Errorf("gamma=%v: squared losses sum to %v, the bound is %v", gamma, sum, bound)
		}
	}
}

// TestPATinyExample: an example whose step would be infinite is skipped and spoils nothing.
func TestPATinyExample(t *testing.T) {
	l := newLearner[float32](t, "pa", &learners.PAConfig{Variant: 0})
	b := block[float32]("dense", [][]float64{{1e-21, 0}, {1, 1}}, []float64{1, 1})
	if r := one(t, l, b, 0); r.Updates != 0 {
		t.Errorf("round %v", r)
	}
	if r := one(t, l, b, 1); r.Updates != 1 || l.Weights()[0] != 0.5 {
		t.Errorf("round %v, weights %v", r, l.Weights())
	}
}

// TestPADefault: C left at 0 means 1.
func TestPADefault(t *testing.T) {
	x := [][]float64{{0.5, 0}}
	for variant, want := range map[int]float64{1: 0.5, 2: 0.5 / (0.25 + 0.5)} {
		l := newLearner[float64](t, "pa", &learners.PAConfig{Variant: variant})
		one(t, l, block[float64]("dense", x, []float64{1}), 0)
		approx.Near(t, fmt.Sprintf("variant %d: w[0]", variant), l.Weights()[0], want, 1e-15)
	}
}
