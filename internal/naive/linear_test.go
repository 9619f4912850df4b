package naive_test

import (
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// examples are unit vectors, noisily labelled; sparse or dense.
func examples(n, dim int, dense bool) *engine.Block[float64] {
	rng := engine.NewRand(5, 0)
	b := &engine.Block[float64]{Dim: dim, Ptr: []int{0}}
	if dense {
		b.Ptr, b.Stride = nil, dim
	}
	for range n {
		x, square := make([]float64, dim), 0.0
		for j := range x {
			if dense || rng.Uniform() < 0.2 {
				x[j] = rng.Normal()
				square += x[j] * x[j]
			}
		}
		f := 0.3 * rng.Normal()
		for j := range x {
			if square > 0 {
				x[j] /= math.Sqrt(square)
			}
			f += x[j] * float64(j%3-1)
			if !dense && x[j] != 0 {
				b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, x[j])
			}
		}
		if dense {
			b.X = append(b.X, x...)
		} else {
			b.Ptr = append(b.Ptr, len(b.Idx))
		}
		b.Y = append(b.Y, math.Copysign(1, f))
	}
	return b
}

// TestPlainForms: the plain forms make the updates of the learners, with the same scores and
// weights to rounding.
func TestPlainForms(t *testing.T) {
	const dim = 40
	perceptron, alma, lms := naive.NewPerceptron[float64](dim), naive.NewALMA[float64](dim, 1.1,
		0.7), naive.NewLMS[float64](dim, 0.5)
	for _, c := range []struct {
		name   string
		config learner.Config
		plain  naive.Learner[float64]
		w      []float64
	}{
		{"perceptron", nil, perceptron, perceptron.W},
		{"alma", &learners.ALMAConfig{P: 2, B: 1.1, C: 0.7}, alma, alma.W},
		{"lms", &learners.LMSConfig{Eta: 0.5}, lms, lms.W},
	} {
		e, err := learner.Lookup(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if c.config == nil {
			c.config = e.Config()
		}
		l, err := learner.New[float64](e, c.config, learner.Env{})
		if err != nil {
			t.Fatal(err)
		}
		updates := 0
		for _, dense := range []bool{false, true} {
			b := examples(500, dim, dense)
			rounds := make([]learner.Round, b.Len())
			if err := l.Learn(b, rounds); err != nil {
				t.Fatal(err)
			}
			for i, r := range rounds {
				f, u := c.plain.Learn(b, i)
				if u != r.Updates || math.Abs(f-r.Score) > 1e-10 {
					t.Fatalf("%s, dense %v, example %d: score %v, %d updates, want %v, %d", c.name,
						dense, i, f, u, r.Score, r.Updates)
				}
				updates += int(u)
			}
		}
		for j, v := range l.Weights() {
			if math.Abs(v-c.w[j]) > 1e-10 {
				t.Errorf("%s: weight %d is %v, want %v", c.name, j, c.w[j], v)
			}
		}
		if updates < 100 {
			t.Errorf("%s made %d updates only", c.name, updates)
		}
	}
}
