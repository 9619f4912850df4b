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

func TestGoldenBatch(t *testing.T) {
	for _, name := range []string{"perceptron_batch_sep", "perceptron_soft_overlap",
		"alma2_batch_sep"} {
		for _, form := range forms {
			t.Run(name+"/"+form, func(t *testing.T) { goldenBatch(t, name, form) })
		}
	}
}

// goldenBatch runs cyclic passes over the augmented patterns until one passes without an update.
// The extended space of the soft margin is materialised: pattern k has one more feature of its own,
// y*Delta, so that the reflected one has +Delta.
func goldenBatch(t *testing.T, name, form string) {
	const tol = goldenTol64
	var g struct {
		Data          goldenData
		Algorithm     string
		Rho, Delta, R float64
		Params        struct {
			Margin float64 `json:"b_over_etaR2"`
			Alpha  float64
		}
		First []struct {
			Pattern          int
			Score, Threshold float64
			A, Ext           []float64
		} `json:"first_updates"`
		FirstEpochs []struct {
			Epoch   int
			Updates int64
		} `json:"first_epochs"`
		Epochs    int
		Updates   int64
		Direction []float64 `json:"final_direction"`
		Ext       []float64 `json:"final_ext"`
		Margin    float64
	}
	readGolden(t, "linear/"+name+".json", &g)
	d, n := len(g.Data.X[0]), len(g.Data.X)
	X := make([][]float64, n)
	var R2 float64
	for k, x := range g.Data.X {
		X[k] = append(append([]float64{}, x...), g.Rho)
		if g.Delta != 0 {
			X[k] = append(X[k], make([]float64, n)...)
			X[k][d+1+k] = g.Data.Y[k] * g.Delta
		}
		R2 = max(R2, math.Pow(pnorm(X[k], 2), 2))
	}
	R := math.Sqrt(R2)
	approx.Near(t, "R", R, g.R, tol)
	unit := 1.0 // of scores, in units of the examples
	var learnerName string
	var config learner.Config
	if strings.HasPrefix(g.Algorithm, "perceptron") {
		relative := &learners.PerceptronConfig{MarginRel: g.Params.Margin, Eta: 1}
		c, err := learner.Resolve(relative, learner.Facts{SumSq: R2})
		if err != nil {
			t.Fatal(err)
		}
		approx.Near(t, "threshold", c.(*learners.PerceptronConfig).Margin, g.First[0].Threshold, tol)
		learnerName, config = "perceptron", c
	} else {
		X = scaleRows(X, func([]float64) float64 { return R })
		unit = R
		learnerName, config = "alma", &learners.ALMAConfig{P: 2, Alpha: g.Params.Alpha}
	}
	b := block[float64](form, X, g.Data.Y)
	l := newLearner[float64](t, learnerName, config)

	epochs, first := 0, 0
	for last := int64(-1); last != l.Updates(); epochs++ {
		last = l.Updates()
		for k := range n {
			r := one(t, l, b, k)
			if r.Updates == 0 || first == len(g.First) {
				continue
			}
			want := g.First[first]
			what := fmt.Sprintf("update %d: ", first+1)
			if k != want.Pattern {
				t.Fatalf(what+"by pattern %d, want %d", k, want.Pattern)
			}
			approx.Near(t, what+"y f", g.Data.Y[k]*r.Score, want.Score, tol)
			w := l.Weights()
			approx.AllNear(t, what+"a", w[:d+1], want.A, tol)
			approx.AllNear(t, what+"ext", w[d+1:], want.Ext, tol)
			first++
		}
		if epochs < len(g.FirstEpochs) && l.Updates() != g.FirstEpochs[epochs].Updates {
			t.Fatalf("%d updates after epoch %d, want %d", l.Updates(), epochs+1,
				g.FirstEpochs[epochs].Updates)
		}
	}
	if first != len(g.First) || epochs != g.Epochs || l.Updates() != g.Updates {
		t.Fatalf("%d updates in %d epochs, %d compared; want %d in %d, %d", l.Updates(), epochs,
			first, g.Updates, g.Epochs, len(g.First))
	}
	w := l.Weights()
	norm := pnorm(w, 2)
	margin := math.Inf(1)
	f := make([]float64, n)
	if err := l.Score(b, f); err != nil {
		t.Fatal(err)
	}
	for k := range n {
		margin = min(margin, unit*g.Data.Y[k]*f[k]/norm)
	}
	approx.Near(t, "margin", margin, g.Margin, tol)
	for j, v := range g.Direction {
		approx.Near(t, fmt.Sprintf("direction[%d]", j), w[j]/norm, v, tol)
	}
	for j, v := range g.Ext {
		approx.Near(t, fmt.Sprintf("direction of ext[%d]", j), w[d+1+j]/norm, v, tol)
	}
}

// TestGoldenALMAp: cyclic passes over (x, -R), each brought to p-norm 1, until one passes without
// an update.
func TestGoldenALMAp(t *testing.T) {
	for _, name := range []string{"alma_p2", "alma_p4"} {
		for _, form := range forms {
			t.Run(name+"/"+form, func(t *testing.T) { goldenALMAp(t, name, form) })
		}
	}
}

func goldenALMAp(t *testing.T, name, form string) {
	const tol = goldenTol64
	var g struct {
		P, Alpha, R float64
		X           [][]float64
		Y           []float64 `json:"y"`
		Trace       []struct {
			Update     int64
			Example    int
			W          []float64
			Eta, Gamma float64
		}
		Updates int64
		Epochs  int
		FinalW  []float64 `json:"final_w"`
		Margin  float64   `json:"margin_normalised"`
	}
	readGolden(t, "margin/"+name+".json", &g)
	X := make([][]float64, len(g.X))
	for k, x := range g.X {
		X[k] = append(append([]float64{}, x...), -g.R)
	}
	X = scaleRows(X, func(x []float64) float64 { return pnorm(x, g.P) })
	b := block[float64](form, X, g.Y)
	l := newLearner[float64](t, "alma", &learners.ALMAConfig{P: g.P, Alpha: g.Alpha})
	q := g.P / (g.P - 1)
	epochs, traced := 0, 0
	for last := int64(-1); last != l.Updates(); epochs++ {
		last = l.Updates()
		for k := range X {
			if one(t, l, b, k).Updates == 0 {
				continue
			}
			w := l.Weights()
			if norm := pnorm(w, q); norm > 1+1e-12 {
				t.Fatalf("update %d: |w|_q is %v", l.Updates(), norm)
			}
			if traced == len(g.Trace) {
				continue
			}
			want := g.Trace[traced]
			if l.Updates() != want.Update || k != want.Example {
				t.Fatalf("update %d by example %d, want %d by %d", l.Updates(), k, want.Update,
					want.Example)
			}
			approx.AllNear(t, fmt.Sprintf("update %d: w", want.Update), w, want.W, tol)
			traced++
		}
	}
	if traced != len(g.Trace) || l.Updates() != g.Updates || epochs != g.Epochs {
		t.Fatalf("%d updates in %d epochs, %d compared; want %d in %d, %d", l.Updates(), epochs,
			traced, g.Updates, g.Epochs, len(g.Trace))
	}
	w := l.Weights()
	approx.AllNear(t, "w", w, g.FinalW, tol)
	margin := math.Inf(1)
	f := make([]float64, len(X))
	if err := l.Score(b, f); err != nil {
		t.Fatal(err)
	}
	for k := range f {
		margin = min(margin, g.Y[k]*f[k]/pnorm(w, q))
	}
	approx.Near(t, "margin", margin, g.Margin, tol)
}
