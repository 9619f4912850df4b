package learners_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// wide makes sparse examples of few of many features, of length 1, whose labels are those of a
// hyperplane up to the middle, and of its opposite from there on.
func wide[T learner.Float](n, dim, nonZeros int) *engine.Block[T] {
	rng := rand.New(rand.NewPCG(5, uint64(dim)))
	side := make([]float64, dim)
	for j := range side {
		side[j] = rng.NormFloat64()
	}
	b := &engine.Block[T]{Dim: dim, Ptr: []int{0}}
	for i := range n {
		var idx []int32
		for len(idx) < nonZeros {
			// some features are in many examples, as words are
			if j := int32(float64(dim) * math.Pow(rng.Float64(), 3)); !slices.Contains(idx, j) {
				idx = append(idx, j)
			}
		}
		slices.Sort(idx)
		sum := 0.0
		for _, j := range idx {
			v := rng.NormFloat64() / math.Sqrt(float64(nonZeros))
			sum += v * side[j]
			b.Val = append(b.Val, T(v))
		}
		b.Idx, b.Ptr = append(b.Idx, idx...), append(b.Ptr, len(b.Val))
		if i >= n/2 {
			sum = -sum
		}
		b.Y = append(b.Y, T(math.Copysign(1, sum)))
	}
	return b
}

// TestALMAPNorm: what p > 2 keeps of f(w), an example's non-zeros at an update, gives the weights
// of the plain rule, also where examples are so long that each takes the place of all before, or
// turn round and leave little of a sum.
func TestALMAPNorm(t *testing.T) {
	for _, p := range []float64{2.5, 4, 23.7, 40} {
		for _, length := range []float64{1e-3, 1, 1e3, 1e6} {
			t.Run(fmt.Sprintf("%g/%g", p, length), func(t *testing.T) {
				// 600 updates, whose errors a power multiplies by p-1
				almaPNorm[float64](t, p, length, 600*p*0x1p-53)
				almaPNorm[float32](t, p, length, 600*p*0x1p-53+0x1p-23)
			})
		}
	}
}

func almaPNorm[T learner.Float](t *testing.T, p, length, tol float64) {
	b := wide[T](600, 90, 7)
	for k := range b.Val {
		b.Val[k] *= T(length)
	}
	l := newLearner[T](t, "alma", &learners.ALMAConfig{P: p, B: 1e9, C: 1}) // always an update
	theta := make([]float64, b.Dim)
	for i := range b.Len() {
		one(t, l, b, i)
		idx, val := b.Sparse(i)
		for k, j := range idx {
			theta[j] += float64(b.Y[i]) / math.Sqrt((p-1)*float64(i+1)) * float64(val[k])
		}
		if n := pnorm(theta, p); n > 1 {
			for j := range theta {
				theta[j] /= n
			}
		}
		approx.AllNear(t, fmt.Sprintf("example %d: w", i), l.Weights(), f(theta, p), tol)
	}
}

func BenchmarkWide(b *testing.B) {
	for _, c := range []struct {
		name   string
		config learner.Config
	}{
		{"romma", nil}, {"alma", &learners.ALMAConfig{P: 4, Alpha: 0.9}},
		{"pumma", &learners.PUMMAConfig{P: "2", Delta: 0.01}},
		{"pumma", &learners.PUMMAConfig{P: "23.02585", Delta: 0.01}},
	} {
		for _, dim := range []int{1e3, 1e5} {
			data := wide[float32](2000, dim, 20)
			rounds := make([]learner.Round, data.Len())
			b.Run(fmt.Sprintf("%s %v/%d", c.name, c.config, dim), func(b *testing.B) {
				b.ReportAllocs()
				config := c.config
				if config == nil {
					e, err := learner.Lookup(c.name)
					if err != nil {
						b.Fatal(err)
					}
					config = e.Config()
				}
				l := newLearner[float32](b, c.name, config)
				updates := 0
				for n := 0; n < b.N; n++ {
					i := n % data.Len()
					one := data.Slice(i, i+1)
					if err := l.Learn(&one, rounds[:1]); err != nil {
						b.Fatal(err)
					}
					updates += int(rounds[0].Updates)
				}
				b.ReportMetric(float64(updates)/float64(b.N), "updates/example")
			})
		}
	}
}

// TestPUMMAWide: what sparse examples keep of u gives the weights of the whole vectors of dense
// ones, also where u turns round and little of the sum is left.
func TestPUMMAWide(t *testing.T) {
	for _, p := range []float64{2, 4, 23.7} {
		for _, c := range []float64{0, 3} {
			t.Run(fmt.Sprintf("%g/%g", p, c), func(t *testing.T) {
				b := wide[float64](600, 200, 7)
				l, m := newPUMMA[float64](t, p, 0.3, c), newPUMMA[float64](t, p, 0.3, c)
				x := make([]float64, b.Dim)
				for i := range b.Len() {
					clear(x)
					idx, val := b.Sparse(i)
					for k, j := range idx {
						x[j] = val[k]
					}
					d := block[float64]("dense", [][]float64{x}, b.Y[i:i+1])
					at := fmt.Sprintf("example %d", i)
					got, want := one(t, learner.Learner[float64](l), b, i),
						one(t, learner.Learner[float64](m), d, 0)
					if got.Updates != want.Updates {
						t.Fatalf("%s: %+v, dense %+v", at, got, want)
					}
					// as steps are solved to 2^-46, and errors of u grow with p-1
					approx.Near(t, at+": score", got.Score, want.Score, 1e-9)
					approx.AllNear(t, at+": w", l.Weights(), m.Weights(), 1e-9)
				}
				if l.Updates() < 50 {
					t.Errorf("%d updates", l.Updates())
				}
			})
		}
	}
}
