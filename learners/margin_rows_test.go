package learners_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// gram is a RowSource in memory.
type gram [][]float64

func (g gram) Len() int                                           { return len(g) }
func (g gram) Row(_ context.Context, i, n int) ([]float64, error) { return g[i][:n], nil }
func (g gram) Diag(i int) float64                                 { return g[i][i] }

// linearGram returns the inner products of X.
func linearGram(X [][]float64) gram {
	g := make(gram, len(X))
	for i, x := range X {
		for _, z := range X {
			g[i] = append(g[i], inner(x, z))
		}
	}
	return g
}

// sumOf returns the sum of c_i x_i.
func sumOf(X [][]float64, c []float64) []float64 {
	w := make([]float64, len(X[0]))
	for i, x := range X {
		for j, v := range x {
			w[j] += c[i] * v
		}
	}
	return w
}

func TestGoldenPUMMARows(t *testing.T) {
	for _, name := range []string{"pumma_kernel_linear_soft", "pumma_kernel_rbf_soft"} {
		t.Run(name, func(t *testing.T) {
			var g struct {
				C, Delta float64
				Y        []float64   `json:"y"`
				Gram     [][]float64 `json:"gram_with_soft_term"`
				Trace    []struct {
					Update int64
					Coef   []float64
					B, W2  float64
				}
				Updates, Epochs int64
				FinalCoef       []float64 `json:"final_coef"`
				FinalB          float64   `json:"final_b"`
				FinalW2         float64   `json:"final_w2"`
				Margin          float64
				Max             float64 `json:"max_margin_libsvm"`
			}
			readGolden(t, "margin/"+name+".json", &g)
			for i := range g.Gram {
				g.Gram[i][i] -= 1 / g.C
			}
			c := learners.PUMMAConfig{P: "2", Delta: g.Delta, SoftC: g.C}
			for _, want := range g.Trace {
				r, err := learners.FitPUMMARows(t.Context(), gram(g.Gram), g.Y, nil, c,
					learner.FitOptions{MaxUpdates: want.Update + pummaFirst})
				if err != nil || r.Converged {
					t.Fatal(r, err)
				}
				what := fmt.Sprintf("update %d: ", want.Update)
				approx.AllNear(t, what+"coef", r.Coef, want.Coef, goldenTol64)
				approx.Near(t, what+"b", r.Bias, want.B, goldenTol64)
				approx.Near(t, what+"|w|^2", 1/(r.Bound*r.Bound), want.W2, goldenTol64)
			}
			r, err := learners.FitPUMMARows(t.Context(), gram(g.Gram), g.Y, nil, c,
				learner.FitOptions{})
			if err != nil || !r.Converged || r.Violators != 0 ||
				r.Updates-pummaFirst != g.Updates || r.Epochs != g.Epochs {
				t.Fatalf("%+v, %v; want %d updates, %d epochs", r.FitResult, err, g.Updates,
					g.Epochs)
			}
			approx.AllNear(t, "coef", r.Coef, g.FinalCoef, goldenTol64)
			approx.Near(t, "b", r.Bias, g.FinalB, goldenTol64)
			approx.Near(t, "|w|^2", 1/(r.Bound*r.Bound), g.FinalW2, goldenTol64)
			approx.Near(t, "margin", r.Margin, g.Margin, goldenTol64)
			if r.Margin < (1-g.Delta)*g.Max || r.Bound < g.Max {
				t.Errorf("margin %v, bound %v, the maximum is %v", r.Margin, r.Bound, g.Max)
			}
		})
	}
}

// TestPUMMARows: with the linear kernel, over rows and over weights is the same.
func TestPUMMARows(t *testing.T) {
	for seed := range uint64(4) {
		for _, kind := range []string{"dense", "shifted"} {
			for _, soft := range []float64{0, 2} {
				X, y := randomProblem(kind, seed, 80, 6)
				if soft > 0 {
					y[3], y[50] = -y[3], -y[50]
				}
				l := newPUMMA[float64](t, 2, 0.1, soft)
				want, err := l.Fit(t.Context(), block[float64]("dense", X, y), learner.FitOptions{})
				if err != nil {
					t.Fatal(err)
				}
				r, err := learners.FitPUMMARows(t.Context(), linearGram(X), y, nil,
					learners.PUMMAConfig{P: "2", Delta: 0.1, SoftC: soft}, learner.FitOptions{})
				if err != nil || r.Updates != want.Updates || r.Epochs != want.Epochs ||
					!r.Converged {
					t.Fatalf("%+v, %v; want %+v", r.FitResult, err, want)
				}
				approx.AllNear(t, "w", sumOf(X, r.Coef), l.Weights(), 1e-9)
				approx.Near(t, "b", r.Bias, l.Bias(), 1e-9)
				approx.Near(t, "margin", r.Margin, want.Margin, 1e-9)
				approx.Near(t, "bound", r.Bound, l.Bound(), 1e-9)
			}
		}
	}
	// XOR is separable with a kernel of degree 2, with equal margins for all four.
	X, y := [][]float64{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}, []float64{1, -1, -1, 1}
	g := linearGram(X)
	for i := range g {
		for j, v := range g[i] {
			g[i][j] = (1 + v) * (1 + v)
		}
	}
	r, err := learners.FitPUMMARows(t.Context(), g, y, nil,
		learners.PUMMAConfig{P: "2", Delta: 0.01},
		learner.FitOptions{})
	if err != nil || !r.Converged {
		t.Fatal(r, err)
	}
	// x1 x2 has weight sqrt 2 in that space
	if best := math.Sqrt2; r.Margin < 0.99*best || r.Margin > best*(1+1e-12) ||
		r.Bound < best*(1-1e-12) {
		t.Errorf("margin %v, bound %v, want %v", r.Margin, r.Bound, best)
	}
}

// TestROMMARows: with the linear kernel, over rows and over weights is the same, also with a soft
// margin and for the form that is not aggressive.
func TestROMMARows(t *testing.T) {
	for seed := range uint64(4) {
		for _, c := range []struct {
			cfg learners.ROMMAConfig
			o   learner.FitOptions
		}{
			{learners.ROMMAConfig{Delta: 0.1}, learner.FitOptions{}},
			{learners.ROMMAConfig{Aggressive: true, Delta: 0.1}, learner.FitOptions{}},
			{learners.ROMMAConfig{Aggressive: true, Delta: 0.1}, learner.FitOptions{Halving: true,
				ActiveSet: true}},
			{learners.ROMMAConfig{Aggressive: true, Delta: 0.1}, learner.FitOptions{Delta: 0.7}},
			{learners.ROMMAConfig{Aggressive: true, Delta: 0.1}, learner.FitOptions{Delta: 0.7,
				MaxUpdates: 60}},
		} {
			X, y := randomProblem("dense", seed, 80, 6)
			if c.o.Delta > 0 {
				y[3], y[50] = -y[3], -y[50]
			}
			l := fitter[float64](t, "romma", &c.cfg)
			want, err := l.Fit(t.Context(), block[float64]("dense", X, y), c.o)
			if err != nil {
				t.Fatal(err)
			}
			r, err := learners.FitROMMARows(t.Context(), linearGram(X), y, nil, c.cfg, c.o)
			if err != nil || r.Updates != want.Updates || r.Epochs != want.Epochs ||
				r.Converged != want.Converged || r.Violators != want.Violators || want.Updates < 5 {
				t.Fatalf("%+v, %v; want %+v", r.FitResult, err, want)
			}
			approx.AllNear(t, "w", sumOf(X, r.Coef), l.Weights(), 1e-9)
			for what, v := range map[string][2]float64{"margin": {r.Margin, want.Margin},
				"bound": {r.FitResult.Bound, want.Bound}, "Gamma": {r.Gamma, want.Gamma},
				"Gamma0": {r.Gamma0, want.Gamma0}, "D": {r.D, want.D}, "D'": {r.DPrime,
					want.DPrime}} {
				approx.Near(t, what, v[0], v[1], 1e-9)
			}
			if r.Bias != 0 {
				t.Errorf("a bias of %v", r.Bias)
			}
		}
	}
}

// TestROMMAKernel: the learner is FitROMMARows with the kernel's rows, and comes to (1-delta) of
// the SVM's margin without a bias.
func TestROMMAKernel(t *testing.T) {
	X, y := randomProblem("shifted", 5, 60, 4)
	y[7] = -y[7]
	k := learner.KernelConfig{Kernel: "poly", Gamma: 1, Coef0: 1, Degree: 3, Scale: 2}
	b, o := block[float64]("dense", X, y), learner.FitOptions{Delta: 0.8, ActiveSet: true,
		Halving: true}
	g := make(gram, len(X))
	for i, x := range X {
		for _, z := range X {
			g[i] = append(g[i], math.Pow(1+inner(x, z)/4, 3))
		}
	}
	l := fitter[float64](t, "romma", &learners.ROMMAConfig{Aggressive: true, Delta: 0.01,
		KernelConfig: k})
	res, err := l.Fit(t.Context(), b, o)
	if err != nil || !res.Converged {
		t.Fatalf("%+v, %v", res, err)
	}
	want, err := learners.FitROMMARows(t.Context(), g, y, nil,
		learners.ROMMAConfig{Aggressive: true,
			Delta: 0.01}, o)
	if err != nil || want.Updates != res.Updates {
		t.Fatalf("%+v, %v; want %d updates", want.FitResult, err, res.Updates)
	}
	f := make([]float64, len(X))
	if err := l.Score(b, f); err != nil {
		t.Fatal(err)
	}
	for i := range f {
		var sum float64
		for j, c := range want.Coef {
			sum += c * g[j][i]
		}
		approx.Near(t, fmt.Sprintf("f(x_%d)", i), f[i], sum, 1e-9)
	}
	if l.Weights() != nil {
		t.Error("weights in the space of a kernel")
	}
	s := fitter[float64](t, "svm", &learners.SVMConfig{C: 1 / 0.64, Norm: 2, NoBias: true,
		Gap: 1e-9, KernelConfig: k})
	best, err := s.Fit(t.Context(), b, learner.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Margin < 0.99*best.Margin || res.Margin > best.Margin*(1+1e-6) ||
		res.Bound < best.Margin*(1-1e-6) {
		t.Errorf("margin %v, bound %v; the svm's is %v", res.Margin, res.Bound, best.Margin)
	}
}

// TestRowsNotSeparable: a hard margin that does not exist ends the run.
func TestRowsNotSeparable(t *testing.T) {
	X, y := [][]float64{{1, 2}, {1, 2}, {-3, 1}, {2, -1}}, []float64{1, -1, 1, -1}
	k := learner.KernelConfig{Kernel: "rbf", Gamma: 1}
	for name, c := range map[string]learner.Config{"pumma": &learners.PUMMAConfig{P: "2",
		Delta: 0.1, KernelConfig: k},
		"romma": &learners.ROMMAConfig{Aggressive: true, Delta: 0.1, KernelConfig: k}} {
		r, err := fitter[float64](t, name, c).Fit(t.Context(), block[float64]("dense", X, y),
			learner.FitOptions{MaxUpdates: 1e6})
		if err != nil || r.Converged || r.Violators == 0 || r.Updates == 1e6 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestMarginRowsRefuse(t *testing.T) {
	g, y := gram{{1, 0}, {0, 1}}, []float64{1, -1}
	for _, c := range []struct {
		cfg  learners.PUMMAConfig
		y    []float64
		o    learner.FitOptions
		want error
	}{
		{learners.PUMMAConfig{P: "3", Delta: 0.1}, y, learner.FitOptions{}, learner.ErrConfig},
		{learners.PUMMAConfig{P: "2"}, y, learner.FitOptions{}, learner.ErrConfig},
		{learners.PUMMAConfig{P: "2", Delta: 0.1}, y[:1], learner.FitOptions{}, learner.ErrFit},
		{learners.PUMMAConfig{P: "2", Delta: 0.1}, y, learner.FitOptions{Delta: 1},
			learner.ErrConfig},
		{learners.PUMMAConfig{P: "2", Delta: 0.1}, y, learner.FitOptions{MaxUpdates: -1},
			learner.ErrConfig},
	} {
		if _, err := learners.FitPUMMARows(t.Context(), g, c.y, nil, c.cfg, c.o); !errors.Is(err,
			c.want) {
			t.Errorf("%+v: %v, want %v", c, err, c.want)
		}
	}
	romma := learners.ROMMAConfig{Delta: 0.1}
	for _, c := range []struct {
		y    []float64
		o    learner.FitOptions
		want error
	}{
		{y[:1], learner.FitOptions{}, learner.ErrFit},
		{y, learner.FitOptions{Halving: true}, learner.ErrConfig}, // not aggressive
		{y, learner.FitOptions{Delta: math.NaN()}, learner.ErrConfig},
	} {
		if _, err := learners.FitROMMARows(t.Context(), g, c.y, nil, romma, c.o); !errors.Is(err,
			c.want) {
			t.Errorf("romma, %+v: %v, want %v", c.o, err, c.want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := learners.FitPUMMARows(ctx, g, y, nil, learners.PUMMAConfig{P: "2", Delta: 0.1},
		learner.FitOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
