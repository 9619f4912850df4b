package learners_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// baselines is the golden file of the rivals of the VVM paper. Its features are multiplied by the
// labels; here the labels are handed over beside the features themselves.
type baselines struct {
	Features [][]float64
	Labels   []float64
	NG       struct {
		Window, K       int
		Gamma, Lam, Eta float64
		W               [][]float64
	}
	SOGP struct {
		Cap   int
		Steps []struct {
			Before float64 `json:"f_before"`
			Basis  [][]float64
			Alpha  []float64
			C      [][]float64
		}
	}
}

func readBaselines(t *testing.T) (g baselines) {
	t.Helper()
	readGolden(t, "bayes/baselines.json", &g)
	if len(g.Features) == 0 || len(g.Labels) != len(g.Features) {
		t.Fatalf("%d examples, %d labels", len(g.Features), len(g.Labels))
	}
	return g
}

// TestGoldenNG: the weights after every example, over four reductions.
func TestGoldenNG(t *testing.T) {
	g := readBaselines(t)
	if len(g.NG.W) != len(g.Features) {
		t.Fatalf("%d steps of %d examples", len(g.NG.W), len(g.Features))
	}
	for _, form := range forms {
		b := block[float64](form, g.Features, g.Labels)
		l := newLearner[float64](t, "ng", &learners.NGConfig{Buffer: g.NG.Window, Rank: g.NG.K,
			Decay: g.NG.Gamma, Lambda: g.NG.Lam, Eta: g.NG.Eta})
		for i, want := range g.NG.W {
			one(t, l, b, i)
			approx.AllNear(t, fmt.Sprintf("%s, step %d: w", form, i), l.Weights(), want, goldenTol64)
		}
	}
}

// TestNGProba: the log-odds of a probability are the score.
func TestNGProba(t *testing.T) {
	g := readBaselines(t)
	b := block[float64](forms[0], g.Features, g.Labels)
	l := newLearner[float64](t, "ng", &learners.NGConfig{Buffer: 30, Rank: 5, Decay: 0.995,
		Lambda: 1, Eta: 1})
	if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
		t.Fatal(err)
	}
	score, proba := make([]float64, b.Len()), make([]float64, b.Len())
	if err := l.Score(b, score); err != nil {
		t.Fatal(err)
	}
	if err := learner.ProberOf(l).Proba(b, proba); err != nil {
		t.Fatal(err)
	}
	for i, p := range proba {
		// log p and log(1-p) to some eps each
		if f := math.Log(p / (1 - p)); math.Abs(f-score[i]) > 0x1p-50*(1+1/(1-p)+math.Abs(f)) {
			t.Errorf("example %d: P = %v, log-odds %v, score %v", i, p, f, score[i])
		}
	}
}

// TestNGDense: until the first reduction, (1) in the space of features: M = gamma M + g g', w -=
// eta/(1 + c n) (M + lambda I)^-1 g.
func TestNGDense(t *testing.T) {
	for _, c := range []float64{0, 0.1} {
		testNGDense(t, c)
	}
}

func testNGDense(t *testing.T, etaDecay float64) {
	const dim, n = 5, 20
	c := learners.NGConfig{Buffer: n, Rank: 2, Decay: 0.9, Lambda: 0.3, Eta: 0.7,
		EtaDecay: etaDecay}
	X, y := make([][]float64, n), make([]float64, n)
	for i := range X {
		X[i], y[i] = make([]float64, dim), 1-2*float64(i%2)
		for j := range X[i] {
			X[i][j] = math.Sin(float64(i*dim + j*j))
		}
	}
	b, l := block[float64]("dense", X, y), newLearner[float64](t, "ng", &c)
	w, M := make([]float64, dim), make([][]float64, dim)
	for j := range M {
		M[j] = make([]float64, dim)
	}
	for i, x := range X {
		r := one(t, l, b, i)
		f := 0.0
		for j, v := range x {
			f += w[j] * v
		}
		approx.Near(t, "score", r.Score, f, 1e-12)
		g := make([]float64, dim)
		A := make([][]float64, dim) // M + lambda I | g
		for j, v := range x {
			g[j] = -y[i] * v / (1 + math.Exp(y[i]*f))
		}
		for j := range M {
			for k := range M[j] {
				M[j][k] = c.Decay*M[j][k] + g[j]*g[k]
			}
			A[j] = append(slices.Clone(M[j]), g[j])
			A[j][j] += c.Lambda
		}
		for p := range A { // positive definite: no pivots
			for q := range A {
				if q == p {
					continue
				}
				for k := dim; k >= p; k-- {
					A[q][k] -= A[q][p] / A[p][p] * A[p][k]
				}
			}
		}
		for j := range w {
			w[j] -= c.Eta / (1 + etaDecay*float64(i)) * A[j][dim] / A[j][j]
		}
		approx.AllNear(t, fmt.Sprintf("step %d: w", i), l.Weights(), w, 1e-12)
	}
}

// TestNGSettles: on noisy labels the step that falls goes on to learn where a constant one swings.
func TestNGSettles(t *testing.T) {
	t.Parallel()
	const d, n = 20, 10000
	rng := engine.NewRand(11, d)
	target := make([]float64, d)
	for j := range target {
		target[j] = rng.Normal()
	}
	draw := func(n int, flips float64) *engine.Block[float64] {
		b := &engine.Block[float64]{Dim: d, Stride: d}
		for range n {
			f := 0.0
			for j := range d {
				x := rng.Normal()
				f += float64(x * target[j])
				b.X = append(b.X, x)
			}
			y := math.Copysign(1, f)
			if rng.Uniform() < flips {
				y = -y
			}
			b.Y = append(b.Y, y)
		}
		return b
	}
	b, clean := draw(n, 0.1), draw(5000, 0)
	e, err := learner.Lookup("ng")
	if err != nil {
		t.Fatal(err)
	}
	wrong := func(c *learners.NGConfig) float64 {
		l := newLearner[float64](t, "ng", c)
		if err := l.Learn(b, make([]learner.Round, n)); err != nil {
			t.Fatal(err)
		}
		scores, wrong := make([]float64, clean.Len()), 0
		if err := l.Score(clean, scores); err != nil {
			t.Fatal(err)
		}
		for i, f := range scores {
			if f*clean.Y[i] <= 0 {
				wrong++
			}
		}
		return float64(wrong) / float64(clean.Len())
	}
	falling := e.Config().(*learners.NGConfig)
	constant := *falling
	constant.EtaDecay = 0
	if a, b := wrong(falling), wrong(&constant); !(a < b/3) {
		t.Errorf("%.2f %% of clean labels wrong, %.2f %% with a constant step", 100*a, 100*b)
	} else {
		t.Logf("%.2f %% of clean labels wrong, %.2f %% with a constant step", 100*a, 100*b)
	}
}

// TestNGOldSettings: settings from before the step fell keep it, and are written as they were.
func TestNGOldSettings(t *testing.T) {
	const old = `{"buffer":30,"rank":5,"decay":0.995,"lambda":1,"eta":1}`
	e, err := learner.Lookup("ng")
	if err != nil {
		t.Fatal(err)
	}
	c := e.Config().(*learners.NGConfig)
	if c.EtaDecay == 0 {
		t.Error("by default the step is constant")
	}
	if err := json.Unmarshal([]byte(old), c); err != nil || c.EtaDecay != 0 {
		t.Errorf("eta decay %v (%v)", c.EtaDecay, err)
	}
	if now, err := json.Marshal(c); err != nil || string(now) != old {
		t.Errorf("%s (%v)", now, err)
	}
	if err := json.Unmarshal([]byte(`{"rank":3,"other":1}`), c); err == nil {
		t.Error("an unknown setting is taken")
	}
}
