package learners_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// The golden traces were written by independent reference code in float64, with scores and weights
// after every step. They are reproduced to 1e-10 in float64, whatever the form of the block, and to
// 1e-5 in float32: no trace comes closer to a threshold than 1e-4.

const goldenTol64, goldenTol32 = 1e-10, 1e-5

// forms is every way in which the examples are handed over.
var forms = []string{"dense", "sparse"}

// block makes a block of examples given as dense rows; a sparse one leaves out the zeros.
func block[T learner.Float](form string, X [][]float64, y []float64) *engine.Block[T] {
	b := &engine.Block[T]{Dim: len(X[0])}
	for _, v := range y {
		b.Y = append(b.Y, T(v))
	}
	if form == "dense" {
		b.Stride = b.Dim
		for _, x := range X {
			for _, v := range x {
				b.X = append(b.X, T(v))
			}
		}
		return b
	}
	b.Ptr = []int{0}
	for _, x := range X {
		for j, v := range x {
			if v != 0 {
				b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, T(v))
			}
		}
		b.Ptr = append(b.Ptr, len(b.Idx))
	}
	return b
}

func newLearner[T learner.Float](t testing.TB, name string, c learner.Config) learner.Learner[T] {
	t.Helper()
	e, err := learner.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := learner.New[T](e, c, learner.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// one learns example i of b alone.
func one[T learner.Float](t testing.TB, l learner.Learner[T], b *engine.Block[T],
	i int) learner.Round {
	t.Helper()
	v := b.Slice(i, i+1)
	var r [1]learner.Round
	if err := l.Learn(&v, r[:]); err != nil {
		t.Fatal(err)
	}
	return r[0]
}

func readGolden(t testing.TB, path string, doc any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	// "no gap" is written as Infinity, which JSON has not.
	data = bytes.ReplaceAll(data, []byte(":Infinity"), []byte(":1e308"))
	if err := json.Unmarshal(data, doc); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// scaleRows returns X with every row divided by div of it.
func scaleRows(X [][]float64, div func(x []float64) float64) [][]float64 {
	out := make([][]float64, len(X))
	for k, x := range X {
		d := div(x)
		out[k] = make([]float64, len(x))
		for i, v := range x {
			if v != 0 {
				out[k][i] = v / d
			}
		}
	}
	return out
}

func pnorm(x []float64, p float64) float64 {
	var s float64
	for _, v := range x {
		s += math.Pow(math.Abs(v), p)
	}
	return math.Pow(s, 1/p)
}

type goldenData struct {
	X [][]float64
	Y []float64 `json:"y"`
}

type goldenParams struct{ P, Alpha, B, C, Eta float64 }

// config turns a golden file's algorithm and parameters into a learner's name and settings.
func (p goldenParams) config(t testing.TB, algorithm string) (string, learner.Config) {
	switch algorithm {
	case "perceptron":
		return "perceptron", &learners.PerceptronConfig{Eta: 1}
	case "perceptron_margin":
		// b, read without regard to case
		return "perceptron", &learners.PerceptronConfig{Margin: p.B, Eta: p.Eta}
	case "lms":
		return "lms", &learners.LMSConfig{Eta: p.Eta}
	case "alma", "alma_p":
		if p.P == 0 {
			p.P = 2
		}
		if p.Alpha != 0 {
			return "alma", &learners.ALMAConfig{P: p.P, Alpha: p.Alpha}
		}
		return "alma", &learners.ALMAConfig{P: p.P, B: p.B, C: p.C}
	}
	t.Fatalf("unknown algorithm %q", algorithm)
	return "", nil
}

func TestGoldenOnline(t *testing.T) {
	paths, err := filepath.Glob("testdata/linear/*_online_*.json")
	if err != nil || len(paths) != 7 {
		t.Fatalf("%d golden traces, want 7 (%v)", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		for _, form := range forms {
			t.Run(name+"/"+form+"/f64", func(t *testing.T) {
				goldenOnline[float64](t, name, form,
					goldenTol64)
			})
			t.Run(name+"/"+form+"/f32", func(t *testing.T) {
				goldenOnline[float32](t, name, form,
					goldenTol32)
			})
		}
	}
}

func goldenOnline[T learner.Float](t *testing.T, name, form string, tol float64) {
	var g struct {
		Data      goldenData
		Normalise any `json:"normalise_instances"`
		Epochs    int
		Algorithm string
		Params    goldenParams
		Trace     []struct {
			I        int
			Score    float64
			Updated  bool
			Updates  int64
			Mistakes *int
			W        []float64
		}
	}
	readGolden(t, "linear/"+name+".json", &g)
	X := g.Data.X
	switch g.Normalise {
	case false:
	case true:
		X = scaleRows(X, func(x []float64) float64 { return pnorm(x, 2) })
	case "p-norm to 1":
		X = scaleRows(X, func(x []float64) float64 { return pnorm(x, g.Params.P) })
	default:
		t.Fatalf("unknown normalisation %v", g.Normalise)
	}
	if len(g.Trace) != g.Epochs*len(X) {
		t.Fatalf("%d steps in the trace, want %d", len(g.Trace), g.Epochs*len(X))
	}
	b := block[T](form, X, g.Data.Y)
	learner, config := g.Params.config(t, g.Algorithm)
	l := newLearner[T](t, learner, config)
	mistakes := 0
	for k, want := range g.Trace {
		r := one(t, l, b, want.I)
		approx.Near(t, fmt.Sprintf("step %d: score", k), r.Score, want.Score, tol)
		if (r.Updates == 1) != want.Updated || l.Updates() != want.Updates {
			t.Fatalf("step %d: updated %v, %d in all; want %v, %d", k, r.Updates, l.Updates(),
				want.Updated, want.Updates)
		}
		// here a mistake is a wrong prediction, with sgn(0) = +1
		if (r.Score >= 0) != (g.Data.Y[want.I] > 0) {
			mistakes++
		}
		if want.Mistakes != nil && mistakes != *want.Mistakes {
			t.Fatalf("step %d: %d mistakes, want %d", k, mistakes, *want.Mistakes)
		}
		approx.AllNear(t, fmt.Sprintf("step %d: w", k), l.Weights(), want.W, tol)
	}
}

// goldenMargin is a trace of cyclic passes until one makes no update.
type goldenMargin struct {
	P, Alpha, R          float64
	Delta                *float64
	Eps, Zeta, Beta, Eta float64
	X                    [][]float64
	Y                    []float64 `json:"y"`
	Trace                []struct {
		Update  int64
		Example int
		W       []float64
	}
	Updates  int64
	Epochs   int
	FinalW   []float64 `json:"final_w"`
	Margin   *float64  `json:"margin_normalised"`
	Original *float64  `json:"margin_original_space"`
}

// learned returns the learner of the trace, the examples as it is given them, and q of the norm of
// its weights.
func (g *goldenMargin) learned(name string) (of string, c learner.Config, X [][]float64,
	q float64) {
	switch name {
	case "alma_p2", "alma_p4": // (x, -R), each brought to p-norm 1
		return "alma", &learners.ALMAConfig{P: g.P, Alpha: g.Alpha}, scaleRows(augmented(g.X, g.R),
			func(x []float64) float64 { return pnorm(x, g.P) }), g.P / (g.P - 1)
	case "micra": // divided by the longest, augmented
		R := 0.0
		for _, x := range g.X {
			R = max(R, pnorm(x, 2))
		}
		return "micra", &learners.MICRAConfig{Beta: g.Beta, Epsilon: g.Eps, Eta: g.Eta,
				Zeta: g.Zeta}, scaleRows(augmented(g.X, R), func([]float64) float64 {
				return R * math.Sqrt2
			}), 2
	}
	romma := &learners.ROMMAConfig{Delta: 0.1}
	if g.Delta != nil {
		romma.Aggressive, romma.Delta = true, *g.Delta
	}
	return "romma", romma, augmented(g.X, g.R), 2
}

// augmented returns the examples with one more feature, -R.
func augmented(X [][]float64, R float64) [][]float64 {
	out := make([][]float64, len(X))
	for k, x := range X {
		out[k] = append(append([]float64{}, x...), -R)
	}
	return out
}

func TestGoldenMargin(t *testing.T) {
	for _, name := range []string{"alma_p2", "alma_p4", "romma", "aggressive_romma", "micra"} {
		for _, form := range forms {
			t.Run(name+"/"+form, func(t *testing.T) { testGoldenMargin(t, name, form) })
		}
	}
}

func testGoldenMargin(t *testing.T, name, form string) {
	const tol = goldenTol64
	var g goldenMargin
	readGolden(t, "margin/"+name+".json", &g)
	of, c, X, q := g.learned(name)
	first := int64(0)
	if of == "micra" { // the first is update 0 there
		first = 1
	}
	b, l := block[float64](form, X, g.Y), newLearner[float64](t, of, c)
	epochs, traced := 0, 0
	for last := int64(-1); last != l.Updates(); epochs++ {
		last = l.Updates()
		for k := range X {
			if one(t, l, b, k).Updates == 0 {
				continue
			}
			if norm := pnorm(l.Weights(), q); of == "alma" && norm > 1+1e-12 {
				t.Fatalf("update %d: |w|_q is %v", l.Updates(), norm)
			}
			if traced == len(g.Trace) {
				continue
			}
			want := g.Trace[traced]
			if l.Updates()-first != want.Update || k != want.Example {
				t.Fatalf("update %d by example %d, want %d by %d", l.Updates()-first, k,
					want.Update, want.Example)
			}
			approx.AllNear(t, fmt.Sprintf("update %d: w", want.Update), l.Weights(), want.W, tol)
			traced++
		}
	}
	if traced != len(g.Trace) || l.Updates()-first != g.Updates || epochs != g.Epochs {
		t.Fatalf("%d updates in %d epochs, %d compared; want %d in %d, %d", l.Updates()-first,
			epochs, traced, g.Updates, g.Epochs, len(g.Trace))
	}
	w := l.Weights()
	approx.AllNear(t, "w", w, g.FinalW, tol)
	d, margin, original := len(w)-1, math.Inf(1), math.Inf(1)
	for k, x := range X {
		f := g.Y[k] * inner(w, x)
		margin, original = min(margin, f/pnorm(w, q)), min(original, f/pnorm(w[:d], 2))
	}
	if g.Margin != nil {
		approx.Near(t, "margin", margin, *g.Margin, tol)
	}
	if g.Original != nil {
		approx.Near(t, "margin in the space of the data", original, *g.Original, tol)
	}
}
