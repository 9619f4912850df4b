package learners

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// priced is a learner whose Fit has a soft margin.
type priced struct {
	config learner.Config
	delta  float64 // FitOptions.Delta
	// accuracy is the share of the margin given up where the weights have the least length of those
	// that separate, 0 of a learner for which only Margin and Bound are known.
	accuracy float64
}

var pricedLearners = map[string]priced{
	"pumma":         {&PUMMAConfig{P: "2", Delta: 1e-3, SoftC: 2}, 0, 1e-3},
	"pumma, p = 3":  {&PUMMAConfig{P: "3", Delta: 1e-2, SoftC: 2}, 0, 0},
	"pumma, rbf":    {&PUMMAConfig{P: "2", Delta: 1e-3, SoftC: 2, KernelConfig: rbf02}, 0, 1e-3},
	"romma":         {&ROMMAConfig{Aggressive: true, Delta: 1e-3}, 0.7, 1e-3},
	"romma, rbf":    {&ROMMAConfig{Aggressive: true, Delta: 1e-3, KernelConfig: rbf02}, 0.7, 1e-3},
	"perceptron":    {&PerceptronConfig{Margin: 20, Eta: 1}, 0.7, 0},
	"alma":          {&ALMAConfig{P: 2, Alpha: 0.3}, 0.7, 0},
	"pumma, sparse": {&PUMMAConfig{P: "2", Delta: 1e-3, SoftC: 2}, 0, 1e-3},
}

var rbf02 = learner.KernelConfig{Kernel: "rbf", Gamma: 0.2}

// pricedExamples returns examples of dim features, six of them not 0, that no hyperplane separates.
// They have weights from 0 to 3. The second block repeats each example as often as it weighs.
func pricedExamples(dim int, sparse bool) (weighted, copies *engine.Block[float64]) {
	rng := rand.New(rand.NewPCG(7, 8))
	var x, many [][]float64
	var y, w, manyY []float64
	for i := range 60 {
		row := make([]float64, dim)
		for j := range 6 {
			row[j] = rng.NormFloat64()
		}
		label := math.Copysign(1, row[0]+row[1]+1.5*rng.NormFloat64())
		x, y, w = append(x, row), append(y, label), append(w, float64(i%4))
		for range i % 4 {
			many, manyY = append(many, row), append(manyY, label)
		}
	}
	weighted, copies = denseBlock(x, y), denseBlock(many, manyY)
	if sparse {
		weighted, copies = sparsely(weighted), sparsely(copies)
	}
	weighted.W = w
	return weighted, copies
}

func fitPriced(t *testing.T, p priced, b *engine.Block[float64]) (learner.Learner[float64],
	learner.FitResult) {
	t.Helper()
	r, err := learner.Resolve(p.config, learner.Facts{Features: b.Dim})
	if err != nil {
		t.Fatal(err)
	}
	e := r.(learner.Settings).Entry()
	l, err := e.New64(r, learner.Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	res, err := learner.Fit(context.Background(), l, b,
		learner.FitOptions{Delta: p.delta})
	if err != nil || !res.Converged {
		t.Fatalf("%+v, %v", res, err)
	}
	return l, res
}

// TestPUMMAWeights: a weight k of a soft margin's slack is the example k times, and 0 leaves it
// out. Margin and Bound enclose the maximal margin of either problem, so that each Margin is at
// most the other one's Bound. Where the learner keeps the shortest weights so far, w/(1-delta)
// separates and is at most |w*|/(1-delta) long, w* the shortest that separate: so |w/(1-delta) -
// w*|^2 <= |w*|^2 (1/(1-delta)^2 - 1), and scores are as near as that times |x|.
func TestPUMMAWeights(t *testing.T) {
	for name, p := range pricedLearners {
		t.Run(name, func(t *testing.T) {
			b, copies := pricedExamples(6, name == "pumma, sparse")
			one, got := fitPriced(t, p, b)
			other, want := fitPriced(t, p, copies)
			plain := *b
			plain.W = nil
			_, unweighted := fitPriced(t, p, &plain)
			const roundings = 1e-9
			if !(got.Margin <= want.Bound*(1+roundings) && want.Margin <= got.Bound*(1+roundings)) {
				t.Errorf("margin %v to %v, of copies %v to %v", got.Margin, got.Bound, want.Margin,
					want.Bound)
			}
			if p.accuracy == 0 {
				return
			}
			if got.Margin <= unweighted.Bound && unweighted.Margin <= got.Bound {
				t.Errorf("margin %v without weights, %v with them", unweighted.Margin, got.Margin)
			}
			f, g := make([]float64, b.Len()), make([]float64, b.Len())
			if err := errors.Join(one.Score(b, f), other.Score(b, g)); err != nil {
				t.Fatal(err)
			}
			longest := 1.0 // of rbf; a bias is a difference of two such scores
			if p.config.Traits().Linear {
				longest = 0
				for i := range b.Len() {
					_, val := b.Example(i)
					longest = max(longest, math.Sqrt(engine.SumSqOrdered(val)))
				}
			}
			a := 1 / (1 - p.accuracy)
			near := 2 * longest / got.Margin * (math.Sqrt(a*a-1) + a - 1)
			if p.config.Traits().Biased {
				near = 2*near + 2*p.accuracy
			}
			for i := range f {
				if !(math.Abs(f[i]-g[i]) <= near) {
					t.Errorf("example %d: f = %v, of copies %v, apart by more than %v", i, f[i],
						g[i], near)
				}
			}
		})
	}
}

// TestPUMMAWeightsSVM: PUMMA's soft margin with weights is that of the support vector machine of
// squared slacks, which another solver finds.
func TestPUMMAWeightsSVM(t *testing.T) {
	b, _ := pricedExamples(6, false)
	for _, k := range []learner.KernelConfig{{Kernel: "linear"}, rbf02} {
		_, got := fitPriced(t, priced{config: &PUMMAConfig{P: "2", Delta: 1e-3, SoftC: 2,
			KernelConfig: k}}, b)
		s := newTestSVM[float64](t, SVMConfig{C: 2, Norm: 2, Gap: 1e-10, KernelConfig: k})
		if _, err := s.Fit(context.Background(), b, learner.FitOptions{}); err != nil {
			t.Fatal(err)
		}
		m := s.Solution().Margin
		if !(got.Margin <= m*(1+1e-8) && m <= got.Bound*(1+1e-8)) {
			t.Errorf("%s: margin %v, at most %v; svm %v", k.Kernel, got.Margin, got.Bound, m)
		}
	}
}

// TestPricesLeftOut: weights of 0 leave examples out, to the bit, and a hard margin takes none.
func TestPricesLeftOut(t *testing.T) {
	for name, p := range pricedLearners {
		t.Run(name, func(t *testing.T) {
			b, _ := pricedExamples(6, name == "pumma, sparse")
			var x [][]float64
			var y []float64
			b.W[0] = 0
			for i := range b.Len() {
				if b.W[i] = min(b.W[i], 1); b.W[i] > 0 {
					row := make([]float64, b.Dim)
					for j := range row {
						row[j] = b.At(i, j)
					}
					x, y = append(x, row), append(y, b.Y[i])
				}
			}
			without := denseBlock(x, y)
			if name == "pumma, sparse" {
				without = sparsely(without)
			}
			one, got := fitPriced(t, p, b)
			other, want := fitPriced(t, p, without)
			if got.Updates != want.Updates || got.Margin != want.Margin ||
				got.Violators != want.Violators || got.D != want.D || got.DPrime != want.DPrime {
				t.Errorf("%+v, without them %+v", got, want)
			}
			f, g := make([]float64, b.Len()), make([]float64, b.Len())
			if err := errors.Join(one.Score(b, f), other.Score(b, g)); err != nil ||
				!slices.Equal(f, g) {
				t.Errorf("scores %v, without them %v: %v", f, g, err)
			}
		})
	}
}
