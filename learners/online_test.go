package learners_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/internal/realdata"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// onlineForm is a learner with a kernel form: settings with a kernel and a budget, and the naive
// rule, which returns c and a of w <- c w + a y phi(x), or a = 0 for none, after t updates.
type onlineForm struct {
	name     string
	settings func(k learner.KernelConfig, budget int) learner.Config
	step     func(m, K, W, t float64) (c, a float64)
	begin    bool                    // w begins with the first example, which is no update yet
	length   func(W float64) float64 // of w after a removal, squared
}

func free(W float64) float64   { return W }
func inBall(W float64) float64 { return min(W, 1) }
func one2(float64) float64     { return 1 }

// online returns settings of learners that have a kernel form beside the one that keeps weights.
func online(k learner.KernelConfig, budget int) learners.OnlineConfig {
	return learners.OnlineConfig{Kernel: learners.KernelName(k.Kernel), Gamma: k.Gamma,
		Sigma: k.Sigma, Degree: k.Degree, Coef0: k.Coef0, Scale: k.Scale, Budget: budget}
}

var onlineForms = []onlineForm{
	{"romma", func(k learner.KernelConfig, budget int) learner.Config {
		return &learners.ROMMAConfig{Delta: 0.1, Budget: budget, KernelConfig: k}
	}, func(m, K, W, _ float64) (c, a float64) { return naiveROMMA(m, K, W, 0) }, false, free},
	{"romma", func(k learner.KernelConfig, budget int) learner.Config {
		return &learners.ROMMAConfig{Aggressive: true, Delta: 0.1, Budget: budget, KernelConfig: k}
	}, func(m, K, W, _ float64) (c, a float64) { return naiveROMMA(m, K, W, 0.9) }, false, free},
	{"perceptron", func(k learner.KernelConfig, budget int) learner.Config {
		return &learners.PerceptronConfig{Margin: 0.3, Eta: 0.7, OnlineConfig: online(k, budget)}
	}, func(m, K, W, _ float64) (c, a float64) { return 1, when(m <= 0.3, 0.7) }, false, free},
	{"pa", kernelPA(0, 0), func(m, K, W, _ float64) (c, a float64) {
		return 1, max(0, 1-m) / K
	}, false, free},
	{"pa", kernelPA(1, 0.3), func(m, K, W, _ float64) (c, a float64) {
		return 1, min(0.3, max(0, 1-m)/K)
	}, false, free},
	{"pa", kernelPA(2, 0.3), func(m, K, W, _ float64) (c, a float64) {
		return 1, max(0, 1-m) / (K + 1/0.6)
	}, false, free},
	{"alma", func(k learner.KernelConfig, budget int) learner.Config {
		return &learners.ALMAConfig{P: 2, B: 1.11, C: 0.71, OnlineConfig: online(k, budget)}
	}, func(m, K, W, t float64) (c, a float64) {
		if m > 1.11/math.Sqrt(t+1) {
			return 1, 0
		}
		a = 0.71 / math.Sqrt(t+1)
		s := 1 / max(1, math.Sqrt(W+2*a*m+a*a*K))
		return s, s * a
	}, false, inBall},
	{"cramma", func(k learner.KernelConfig, budget int) learner.Config {
		return &learners.CRAMMAConfig{Epsilon: 0.5, Beta: 1.5, Eta: 0.3, EtaDelta: 1, R: 2,
			OnlineConfig: online(k, budget)}
	}, func(m, K, W, t float64) (c, a float64) {
		if m > 1.5*2/math.Sqrt(t+1) {
			return 1, 0
		}
		a = 0.3 / 1.5 / 2
		s := 1 / math.Sqrt(1+2*a*m+a*a*K)
		return s, s * a
	}, true, one2},
	{"micra", func(k learner.KernelConfig, budget int) learner.Config {
		return &learners.MICRAConfig{Beta: 0.4, Epsilon: 0.1, Eta: 1, Zeta: 0.9,
			OnlineConfig: online(k, budget)}
	}, func(m, K, W, t float64) (c, a float64) {
		if t == 0 {
			return 0, 1 / math.Sqrt(K)
		}
		if m > 0.4/math.Pow(t, 0.1) {
			return 1, 0
		}
		a = 1 / math.Pow(t, 0.9)
		s := 1 / math.Sqrt(1+2*a*m+a*a*K)
		return s, s * a
	}, false, one2},
}

func when(yes bool, v float64) float64 {
	if yes {
		return v
	}
	return 0
}

func kernelPA(variant int, C float64) func(k learner.KernelConfig, budget int) learner.Config {
	return func(k learner.KernelConfig, budget int) learner.Config {
		return &learners.PAConfig{Variant: variant, C: C, OnlineConfig: online(k, budget)}
	}
}

// naiveROMMA solves (2) of ROMMA by its two planes.
func naiveROMMA(m, K, W, below float64) (c, a float64) {
	if K == 0 || !(m < below || m <= 0) {
		return 0, 0
	}
	if K*W <= m {
		return 0, 1 / K
	}
	// c W + a m = W and c m + a K = 1
	det := W*K - m*m
	return (W*K - m) / det, (W - W*m) / det
}

// naiveOnline is w as a list of examples with coefficients, over a Gram matrix of the stream.
type naiveOnline struct {
	form  onlineForm
	K     [][]float64
	y     []float64
	w     map[int]float64 // coefficient of example k
	born  []int           // when it was kept, of learned
	seen  int
	most  int
	count float64
}

// learn returns the score before, and whether example k was learned.
func (o *naiveOnline) learn(k int) (f float64, learned bool) {
	dot := func(i int) (f float64) {
		for j := range o.K {
			f += o.w[j] * o.K[i][j]
		}
		return f
	}
	length := func() (W float64) {
		for j := range o.K {
			if o.w[j] != 0 {
				W += o.w[j] * dot(j)
			}
		}
		return W
	}
	f = dot(k)
	o.seen++
	if o.form.begin && len(o.w) == 0 {
		o.w[k] = o.y[k] / math.Sqrt(o.K[k][k])
		_, learned = o.learn(k)
		return f, learned
	}
	c, a := o.form.step(o.y[k]*f, o.K[k][k], length(), o.count)
	if a == 0 {
		return f, false
	}
	for j := range o.w {
		o.w[j] *= c
		if o.w[j] == 0 {
			delete(o.w, j)
		}
	}
	if o.w[k] == 0 {
		o.born[k] = o.seen
	}
	if len(o.w) == o.most && o.w[k] == 0 {
		worst, least := -1, math.Inf(1)
		for j, v := range o.w { // the oldest of equals
			part := math.Abs(v) * math.Sqrt(o.K[j][j])
			if part < least || part == least && o.born[j] < o.born[worst] {
				worst, least = j, part
			}
		}
		delete(o.w, worst)
		o.w[k] += a * o.y[k]
		W := length()
		for j := range o.w {
			o.w[j] *= math.Sqrt(o.form.length(W) / W)
		}
	} else {
		o.w[k] += a * o.y[k]
	}
	o.count++
	return f, true
}

// TestOnlineNaive: kernel forms take the steps of their rules, with and without a budget.
func TestOnlineNaive(t *testing.T) {
	const n = 120
	X, y := randomProblem("shifted", 3, n, 4)
	for i := range y {
		if i%9 == 0 {
			y[i] = -y[i]
		}
	}
	b := block[float64]("dense", X, y)
	K := make([][]float64, n)
	for i := range K {
		K[i] = make([]float64, n)
		for j := range K {
			K[i][j] = rbfValue(b, i, j, 0.3)
		}
	}
	for _, form := range onlineForms {
		for _, budget := range []int{0, 1, 2, 9, 30} {
			c := form.settings(learner.KernelConfig{Kernel: "rbf", Gamma: 0.3}, budget)
			what := fmt.Sprintf("%s %+v", form.name, c)
			l := newLearner[float64](t, form.name, c)
			o := naiveOnline{form: form, K: K, y: y, w: map[int]float64{}, most: budget,
				born: make([]int, n)}
			if budget == 0 {
				o.most = -1
			}
			for pass := range 2 {
				rounds := make([]learner.Round, n)
				if err := l.Learn(b, rounds); err != nil {
					t.Fatal(err)
				}
				for k, r := range rounds {
					f, learned := o.learn(k)
					if learned != (r.Updates == 1) || !approx.Equal(r.Score, f, 1e-9) {
						t.Fatalf("%s: pass %d, example %d: %+v, want %v, %v", what, pass, k, r, f,
							learned)
					}
				}
			}
			if size, _ := learner.SupportOf(l); size != len(o.w) {
				t.Errorf("%s: %d examples kept, want %d", what, size, len(o.w))
			}
		}
	}
}

// TestOnlineLinear: with the inner product a kernel form makes the updates of the form that keeps
// weights, on real examples, and its scores are the same but for roundings.
func TestOnlineLinear(t *testing.T) {
	data, err := dataset.Load[float64](t.Context(), []string{realdata.File(t, "a9a.gz")},
		dataset.Options{Bias: "append"})
	if err != nil {
		t.Fatal(err)
	}
	b := data.Block.Slice(0, 1000)
	inner := learner.KernelConfig{Kernel: "poly", Degree: 1, Gamma: 1}
	for _, form := range append(onlineForms,
		onlineForm{name: "pumma", settings: kernelPUMMA(0)},
		onlineForm{name: "pumma", settings: kernelPUMMA(0.5)}) {
		plain := newLearner[float64](t, form.name, form.settings(learner.KernelConfig{}, 0))
		l := newLearner[float64](t, form.name, form.settings(inner, 0))
		what := fmt.Sprintf("%s %+v", form.name, form.settings(inner, 0))
		want, got := make([]learner.Round, b.Len()), make([]learner.Round, b.Len())
		if err := errors.Join(plain.Learn(&b, want), l.Learn(&b, got)); err != nil {
			t.Fatal(err)
		}
		if l.Weights() != nil || l.Updates() != plain.Updates() {
			t.Errorf("%s: %d updates, want %d", what, l.Updates(), plain.Updates())
		}
		// Each of u updates leaves w with some roundings of its terms, of which there are u in all,
		// no longer together than sum |coef_j| |x_j|, and a score adds some for its own.
		s, terms, most2 := l.State(), 0.0, 0.0
		for i := range b.Len() {
			_, val := b.Sparse(i)
			most2 = max(most2, engine.SumSqOrdered(val))
		}
		for _, a := range s.Tensor("alpha").Data.([]float64) {
			terms += a / s.Scalars["divisor"] * most2
		}
		most := 8 * float64(l.Updates()) * 0x1p-53 * terms
		for i := range want {
			if got[i].Updates != want[i].Updates ||
				!approx.Within(got[i].Score, want[i].Score, most) {
				t.Fatalf("%s: example %d: %+v, want %+v within %g", what, i, got[i], want[i], most)
			}
		}
	}
}

// TestOnlineBudget: where every example is a mistake no more examples are kept than the budget, and
// no memory is taken beyond what the settings say.
func TestOnlineBudget(t *testing.T) {
	const budget = 7
	for _, form := range append(onlineForms,
		onlineForm{name: "pumma", settings: kernelPUMMA(0)},
		onlineForm{name: "pumma", settings: kernelPUMMA(0.5)}) {
		c := form.settings(learner.KernelConfig{Kernel: "rbf", Gamma: 1}, budget)
		l := newLearner[float32](t, form.name, c)
		rng, rounds := engine.NewRand(5, 0), make([]learner.Round, 1)
		f, least := make([]float64, 1), math.Inf(1)
		for i := range 400 {
			b := &engine.Block[float32]{Dim: 3, Stride: 3, Y: []float32{1},
				X: []float32{float32(rng.Normal()), float32(rng.Normal()), float32(rng.Normal())}}
			if err := l.Score(b, f); err != nil {
				t.Fatal(err)
			}
			if f[0] > 0 { // the label that it is not
				b.Y[0] = -1
			}
			if err := l.Learn(b, rounds); err != nil {
				t.Fatal(err)
			}
			if n, _ := learner.SupportOf(l); n > budget {
				t.Fatalf("%s: %d kept after %d, want %d", form.name, n, i+1, budget)
			}
			if rounds[0].Score != f[0] {
				t.Fatalf("%s: learned at %v, scored %v", form.name, rounds[0].Score, f[0])
			}
			least = min(least, math.Abs(f[0]))
		}
		held := c.Traits().Memory(learner.Extent{Features: 3, Examples: 400, NonZeros: 1200,
			Longest: 3, Elem: 4, Dense: true}).Held()
		if l.Bytes() > held || math.IsNaN(f[0]) {
			t.Errorf("%s: %d bytes, Memory says %d; the last score is %v", form.name, l.Bytes(),
				held, f[0])
		}
	}
}

// TestOnlineGoesOn: a stream goes on from what a run over a whole data set found, and a state in
// between changes nothing.
func TestOnlineGoesOn(t *testing.T) {
	X, y := randomProblem("shifted", 3, 60, 4)
	all := block[float64]("dense", X, y)
	b, rest := all.Slice(0, 40), all.Slice(40, 60)
	c := &learners.ROMMAConfig{Aggressive: true, Delta: 0.1,
		KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.5}}
	goesOn(t, "romma", c, &b, &rest)
	for _, softC := range []float64{0, 1} {
		goesOn(t, "pumma", kernelPUMMA(softC)(c.KernelConfig, 0), &b, &rest)
	}
}

func kernelPUMMA(softC float64) func(k learner.KernelConfig, budget int) learner.Config {
	return func(k learner.KernelConfig, budget int) learner.Config {
		return &learners.PUMMAConfig{P: "2", Delta: 0.1, SoftC: softC, Budget: budget,
			KernelConfig: k}
	}
}

// TestKernelPUMMA: after an update, with a removal or not, the example that was learned has a
// margin of 1, its slack included, and so has the kept one of the other label.
func TestKernelPUMMA(t *testing.T) {
	X, y := randomProblem("shifted", 4, 200, 4)
	for i := range y {
		if i%7 == 0 {
			y[i] = -y[i]
		}
	}
	b := block[float64]("sparse", X, y)
	for _, softC := range []float64{0, 2} {
		for _, budget := range []int{0, 2, 3, 20} {
			c := kernelPUMMA(softC)(learner.KernelConfig{Kernel: "rbf", Gamma: 0.4}, budget)
			l := newLearner[float64](t, "pumma", c)
			last, f := map[float64]int{}, make([]float64, 1)
			for pass := range 2 {
				for i := range X {
					one := b.Slice(i, i+1)
					rounds := make([]learner.Round, 1)
					if err := l.Learn(&one, rounds); err != nil {
						t.Fatal(err)
					}
					if rounds[0].Updates == 0 {
						if y[i]*rounds[0].Score < 0.9 {
							t.Errorf("%+v: example %d of margin %v is not learned", c, i,
								y[i]*rounds[0].Score)
						}
						continue
					}
					last[y[i]] = i
					s := l.State()
					for label, k := range last {
						slot, slack := s.Counters["pos"], 0.0
						if label < 0 {
							slot = s.Counters["neg"]
						}
						if softC > 0 && len(last) == 2 {
							slack = s.Tensor("alpha").Data.([]float64)[slot-1] /
								s.Scalars["divisor"] / softC / s.Scalars["norm2"]
						}
						one := b.Slice(k, k+1)
						if err := l.Score(&one, f); err != nil {
							t.Fatal(err)
						}
						what := fmt.Sprintf("%+v: pass %d, %d learned: margin of %d", c, pass, i, k)
						approx.Near(t, what, label*f[0]+slack, 1, 1e-8)
					}
				}
			}
		}
	}
}

func goesOn(t *testing.T, name string, c learner.Config, b, rest *engine.Block[float64]) {
	t.Helper()
	l, twin := fitter[float64](t, name, c), newLearner[float64](t, name, c)
	if _, err := l.Fit(t.Context(), b, learner.FitOptions{}); err != nil {
		t.Fatal(err)
	}
	before, after := make([]float64, rest.Len()), make([]learner.Round, rest.Len())
	if err := errors.Join(l.Score(rest, before), twin.SetState(l.State()), l.Learn(rest, after),
		twin.Learn(rest, make([]learner.Round, rest.Len()))); err != nil {
		t.Fatal(err)
	}
	// until the first update it is what Fit found, by another sum of as many terms
	for i, f := range before {
		if math.Abs(f-after[i].Score) > 1e-12*float64(b.Len()) {
			t.Fatalf("%s: example %d: %v, found was %v", name, i, after[i].Score, f)
		}
		if after[i].Updates > 0 {
			break
		}
	}
	if l.Updates() == 0 || string(learnertest.StateBytes(l.State())) !=
		string(learnertest.StateBytes(twin.State())) {
		t.Errorf("%s: a state in between changed what was learned", name)
	}
}
