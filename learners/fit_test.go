package learners_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// spaces are the two ways in which Fit works; the small Refresh goes through the twofold refreshes
// often.
var spaces = map[string]learner.FitOptions{
	"scores":           {},
	"scores/refresh=3": {Refresh: 3},
	"weights":          {GramBytes: -1},
}

func fitter[T learner.Float](t testing.TB, name string, c learner.Config) learner.Fitter[T] {
	t.Helper()
	l, ok := newLearner[T](t, name, c).(learner.Fitter[T])
	if !ok {
		t.Fatalf("%s can't fit", name)
	}
	return l
}

// TestGoldenFit: the batch traces in both spaces; Delta is never materialised.
func TestGoldenFit(t *testing.T) {
	for _, name := range []string{"perceptron_batch_sep", "perceptron_soft_overlap",
		"alma2_batch_sep", "cramma_half_batch_sep", "cramma_half_soft_overlap"} {
		for space, o := range spaces {
			for _, form := range forms {
				t.Run(name+"/"+space+"/"+form, func(t *testing.T) { goldenFit(t, name, form, o) })
			}
		}
	}
}

func goldenFit(t *testing.T, name, form string, o learner.FitOptions) {
	const tol = goldenTol64
	var g struct {
		Data          goldenData
		Algorithm     string
		Rho, Delta, R float64
		Params        struct {
			Margin float64 `json:"b_over_etaR2"`
			Alpha  float64
			Eps    float64
			BetaR  float64 `json:"beta_R"`
			Eta0   float64
			Delta  float64
		}
		First []struct {
			Pattern int
			A       []float64
		} `json:"first_updates"`
		FirstEpochs []struct {
			Epoch   int64
			Updates int64
		} `json:"first_epochs"`
		Epochs    int64
		Updates   int64
		Counter   int64     `json:"t_final"`
		Direction []float64 `json:"final_direction"`
		Margin    float64
		Gamma     float64
		D, DPrime float64
		Excess    float64 `json:"deltaD_over_D"`
	}
	readGolden(t, "linear/"+name+".json", &g)
	X := make([][]float64, len(g.Data.X))
	for k, x := range g.Data.X {
		X[k] = append(slices.Clone(x), g.Rho)
	}
	b := block[float64](form, X, g.Data.Y)
	R2 := learner.MaxSumSq(b, g.Delta)
	approx.Near(t, "R", math.Sqrt(R2), g.R, tol)
	algorithm, _, _ := strings.Cut(g.Algorithm, "_")
	var config learner.Config
	switch algorithm {
	case "perceptron":
		config = &learners.PerceptronConfig{Margin: g.Params.Margin * R2, Eta: 1}
	case "alma":
		config = &learners.ALMAConfig{P: 2, Alpha: g.Params.Alpha}
	case "cramma":
		config = &learners.CRAMMAConfig{Epsilon: g.Params.Eps, Beta: g.Params.BetaR,
			Eta: g.Params.Eta0, EtaDelta: g.Params.Delta}
	default:
		t.Fatal(g.Algorithm)
	}
	o.Delta = g.Delta
	fit := func(max int64) (learner.FitResult, []float64) {
		t.Helper()
		o.MaxUpdates = max
		l := fitter[float64](t, algorithm, config)
		r, err := l.Fit(context.Background(), b, o)
		if err != nil {
			t.Fatal(err)
		}
		if r.ScoreSpace != (o.GramBytes == 0) {
			t.Fatalf("score space: %v", r.ScoreSpace)
		}
		if l.Updates() != r.Updates || r.Counter != r.Updates+1 {
			t.Fatalf("%d updates, the learner says %d, the counter %d", r.Updates, l.Updates(),
				r.Counter)
		}
		return r, l.Weights()
	}
	unit := func(w []float64) []float64 {
		return scaleRows([][]float64{w}, func(x []float64) float64 { return pnorm(x, 2) })[0]
	}
	for n, want := range g.First {
		r, w := fit(int64(n + 1))
		if r.Updates != int64(n+1) || r.Converged != (r.Updates == g.Updates) {
			t.Fatalf("%d updates of %d", r.Updates, n+1)
		}
		if g.Delta == 0 {
			approx.AllNear(t, "a", w, want.A, tol)
		} else { // the weights of CRAMMA are of unit length without their extended coordinates
			approx.AllNear(t, "a", unit(w), unit(want.A), tol)
		}
	}
	for i, e := range g.FirstEpochs {
		if i > 0 && e.Updates == g.FirstEpochs[i-1].Updates {
			break // the pass without updates
		}
		if r, _ := fit(e.Updates - 1); r.Epochs != e.Epoch-1 {
			t.Errorf("update %d in epoch %d, want %d", e.Updates, r.Epochs+1, e.Epoch)
		}
		if r, _ := fit(e.Updates); r.Epochs < e.Epoch {
			t.Errorf("update %d in epoch %d, want one after %d", e.Updates+1, r.Epochs+1, e.Epoch)
		}
	}
	r, w := fit(0)
	if !r.Converged || r.Violators != 0 || r.Updates != g.Updates || r.Epochs != g.Epochs ||
		r.Counter != g.Counter {
		t.Fatalf("%+v; want %d updates, %d epochs, counter %d", r, g.Updates, g.Epochs, g.Counter)
	}
	approx.Near(t, "margin", r.Margin, g.Margin, tol)
	approx.AllNear(t, "direction", unit(w), unit(g.Direction), tol)
	if g.Delta > 0 {
		approx.Near(t, "Gamma", r.Gamma, g.Margin, tol)
		approx.Near(t, "gamma", r.Gamma0, g.Gamma, tol)
		approx.Near(t, "D", r.D, g.D, tol)
		approx.Near(t, "D'", r.DPrime, g.DPrime, tol)
		approx.Near(t, "(D'-D)/D", r.Excess(), g.Excess, tol)
	}
}

// fits are settings with which Fit converges on the data of learnertest.
var fits = map[string]learner.Config{
	"perceptron": &learners.PerceptronConfig{Margin: 1, Eta: 1},
	"alma":       &learners.ALMAConfig{P: 2, Alpha: 0.7},
	"cramma":     &learners.CRAMMAConfig{Epsilon: 0.5, Beta: 0.8, Eta: 0.02, EtaDelta: 1},
}

// TestFitIsLearn: Fit makes the updates that passes of Learn make over the examples divided by R,
// in every space, form and precision, and ends in their weights.
func TestFitIsLearn(t *testing.T) {
	b := learnertest.Dense[float64](200, 20, 0.05)
	sparse := block[float64]("sparse", rowsOf(b.X, b.Stride, b.Dim, b.Len()), b.Y)
	R := math.Sqrt(learner.MaxSumSq(b, 0))
	for name, config := range fits {
		l := newLearner[float64](t, name, config)
		c := *b
		if name != "perceptron" {
			c.X = scaleRows([][]float64{b.X}, func([]float64) float64 { return R })[0]
		}
		rounds := make([]learner.Round, b.Len())
		epochs := int64(0)
		for last := int64(-1); last != l.Updates(); epochs++ {
			last = l.Updates()
			if err := l.Learn(&c, rounds); err != nil {
				t.Fatal(err)
			}
		}
		w := l.Weights()
		if l.Updates() < 100 {
			t.Fatalf("%s: %d updates only", name, l.Updates())
		}
		for space, o := range spaces {
			for _, x := range []*learnerBlock{b, sparse} {
				f := fitter[float64](t, name, config)
				r, err := f.Fit(context.Background(), x, o)
				if err != nil || !r.Converged || r.Updates != l.Updates() || r.Epochs != epochs {
					t.Fatalf("%s/%s: %+v, %v; want %d updates in %d epochs", name, space, r, err,
						l.Updates(), epochs)
				}
				tol := 1e-9
				if name == "perceptron" {
					tol = 0 // the weights are carried along
				}
				approx.AllNear(t, name+": w", f.Weights(), w, tol)
				margin := math.Inf(1)
				s := make([]float64, x.Len())
				if err := f.Score(x, s); err != nil {
					t.Fatal(err)
				}
				for i, y := range x.Y {
					margin = min(margin, y*s[i]/pnorm(w, 2))
				}
				approx.Near(t, name+": margin", r.Margin, margin, 1e-9)
				// Nothing is left to do for a Learn, or for another Fit.
				again, err := f.Fit(context.Background(), x, o)
				if err != nil || again.Updates != 0 || again.Epochs != 1 || !again.Converged ||
					again.Counter != l.Updates()+1 {
					t.Fatalf("%s/%s: again %+v, %v", name, space, again, err)
				}
			}
		}
		f := fitter[float32](t, name, config)
		r, err := f.Fit(context.Background(), learnertest.Dense[float32](200, 20, 0.05),
			learner.FitOptions{})
		if err != nil || !r.Converged || r.Margin < 0.01 {
			t.Errorf("%s in float32: %+v, %v", name, r, err)
		}
	}
}

// TestFitPerceptronBits: a perceptron ends in the same bits in both spaces, with and without soft
// margin, also if its weights are so long that every update is rounded by much more than a score
// is. Two features are equal, and their weights cancel.
func TestFitPerceptronBits(t *testing.T) {
	dense := learnertest.Dense[float64](60, 10, 0.02)
	X := rowsOf(dense.X, dense.Stride, dense.Dim, dense.Len())
	for i, x := range X {
		X[i] = append(slices.Clone(x), x[9])
	}
	b := block[float64]("dense", X, dense.Y)
	start := make([]float64, 11)
	start[9], start[10] = 1e12, -1e12
	for _, delta := range []float64{0, 0.3} {
		var want learner.FitResult
		var bits []float64
		for _, o := range []learner.FitOptions{{GramBytes: -1}, {}, {Refresh: 1000}} {
			o.Delta = delta
			l := fitter[float64](t, "perceptron", &learners.PerceptronConfig{Margin: 1000, Eta: 1})
			if err := l.SetState(learner.State{Counters: map[string]uint64{"updates": 0},
				Tensors: []learner.Tensor{{Name: "w", Shape: []int{11},
					Data: start}}}); err != nil {
				t.Fatal(err)
			}
			got, err := l.Fit(context.Background(), b, o)
			if err != nil || !got.Converged || got.ScoreSpace != (o.GramBytes == 0) ||
				got.Updates < 10000 {
				t.Fatalf("%+v, %v", got, err)
			}
			if got.ScoreSpace = false; bits == nil {
				want, bits = got, l.Weights()
			}
			if got != want || !slices.Equal(bits, l.Weights()) {
				t.Errorf("Delta %v, %+v: %+v, want %+v", delta, o, got, want)
			}
		}
	}
}

// TestFitLong: lengths that outgrow float64 by far are kept in range. CRAMMA at a high rate
// multiplies |a| at every update.
func TestFitLong(t *testing.T) {
	b := block[float64]("dense", [][]float64{{1, 0.5}, {1, -0.5}}, []float64{1, 1})
	config := &learners.CRAMMAConfig{Epsilon: 0.5, Beta: 40, Eta: 3, EtaDelta: 0}
	var results []learner.FitResult
	for _, space := range []string{"scores", "scores/refresh=3", "weights"} {
		r, err := fitter[float64](t, "cramma", config).Fit(context.Background(), b, spaces[space])
		if err != nil || !r.Converged || r.Updates < 1500 { // 4^1500 = 2^3000
			t.Fatalf("%s: %+v, %v", space, r, err)
		}
		results = append(results, r)
	}
	for _, r := range results {
		if r.Updates != results[0].Updates || r.Epochs != results[0].Epochs {
			t.Errorf("%+v and %+v", r, results[0])
		}
		approx.Near(t, "margin", r.Margin, results[0].Margin, 1e-12)
	}
}

// TestFitImplementations: the same bits on every implementation of the kernels.
func TestFitImplementations(t *testing.T) {
	before := vecmath.Active().String()
	defer func() {
		if err := vecmath.Use(before); err != nil {
			t.Error(err)
		}
	}()
	dense := learnertest.Dense[float32](101, 21, 0.05)
	sparse := learnertest.Sparse[float32](120, 50, 0.05)
	for name, config := range fits {
		for _, o := range []learner.FitOptions{{Refresh: 50}, {GramBytes: -1}, {Delta: 0.5},
			{Delta: 0.5, GramBytes: -1}} {
			b := dense
			if o.Delta > 0 {
				b = sparse
			}
			var want learner.FitResult
			var state []byte
			for _, im := range vecmath.Implementations() {
				if !im.Supported {
					continue
				}
				if err := vecmath.Use(im.Name); err != nil {
					t.Fatal(err)
				}
				l := fitter[float32](t, name, config)
				got, err := l.Fit(context.Background(), b, o)
				if err != nil || !got.Converged || got.Updates < 50 {
					t.Fatalf("%s, %s: %+v, %v", name, im.Name, got, err)
				}
				if state == nil {
					want, state = got, learnertest.StateBytes(l.State())
				}
				if got != want || !slices.Equal(state, learnertest.StateBytes(l.State())) {
					t.Errorf("%s, %+v, %s: %+v, want %+v", name, o, im.Name, got, want)
				}
			}
		}
	}
}

func TestFitRejects(t *testing.T) {
	ctx := context.Background()
	X, y := [][]float64{{1, 0}, {0, 0}, {-1, 1}}, []float64{1, 1, -1}
	good := block[float64]("dense", X[:1], y[:1])
	for name, config := range fits {
		l := fitter[float64](t, name, config)
		for what, c := range map[string]struct {
			b    *learnerBlock
			o    learner.FitOptions
			want error
		}{
			"no examples": {&learnerBlock{}, learner.FitOptions{}, learner.ErrFit},
			"an empty example": {block[float64]("sparse", X, y), learner.FitOptions{},
				learner.ErrFit},
			"negative Delta": {good, learner.FitOptions{Delta: -1}, learner.ErrConfig},
			"NaN Delta":      {good, learner.FitOptions{Delta: math.NaN()}, learner.ErrConfig},
			"MaxUpdates":     {good, learner.FitOptions{MaxUpdates: -1}, learner.ErrConfig},
			"Refresh":        {good, learner.FitOptions{Refresh: -1}, learner.ErrConfig},
			"overflow": {block[float64]("dense", [][]float64{{1e200}}, y[:1]),
				learner.FitOptions{}, learner.ErrLength},
		} {
			before := learnertest.StateBytes(l.State())
			if _, err := l.Fit(ctx, c.b, c.o); !errors.Is(err, c.want) {
				t.Errorf("%s, %s: %v, want %v", name, what, err, c.want)
			}
			if !slices.Equal(before, learnertest.StateBytes(l.State())) {
				t.Errorf("%s, %s changed the state", name, what)
			}
		}
		if r, err := l.Fit(ctx, block[float64]("sparse", X, y),
			learner.FitOptions{Delta: 1}); err != nil || !r.Converged {
			t.Errorf("%s: an empty example with Delta: %+v, %v", name, r, err)
		}
		if _, err := l.Fit(ctx, good, learner.FitOptions{Delta: 1}); !errors.Is(err,
			learner.ErrFit) {
			t.Errorf("%s: Delta on top of updates: %v", name, err)
		}
	}
	if _, err := fitter[float64](t, "alma", &learners.ALMAConfig{P: 3}).Fit(ctx, good,
		learner.FitOptions{}); !errors.Is(err, learner.ErrConfig) {
		t.Errorf("p = 3: %v", err)
	}
}

// TestFitEnds: what can't converge ends with the context or at MaxUpdates, and says what is left.
func TestFitEnds(t *testing.T) {
	b := block[float64]("dense", [][]float64{{1, 0.5}, {1, 0.5}, {0.5, 1}}, []float64{1, -1, 1})
	proofs := map[string]bool{}
	for name, config := range fits {
		for space, o := range spaces {
			ctx, cancel := context.WithCancelCause(context.Background())
			stop := errors.New("enough")
			o.Observe = func(s learner.FitStatus) {
				if s.Violators == 0 || s.Margin >= 0 {
					t.Errorf("%s/%s: %+v", name, space, s)
				}
				if s.Updates >= 1000 {
					cancel(stop)
				}
			}
			o.Refresh = 100
			l := fitter[float64](t, name, config)
			r, err := l.Fit(ctx, b, o)
			stopped := errors.Is(err, stop) && r.Updates == 1000 && l.Updates() == 1000
			proven := err == nil && r.Updates < 1000 && r.Bound <= learner.LeastMargin*math.Sqrt(
				learner.MaxSumSq(b, o.Delta))
			if !stopped && !proven || r.Converged || r.Violators == 0 {
				t.Errorf("%s/%s: %+v, %v", name, space, r, err)
			}
			proofs[name] = proofs[name] || proven
			o.MaxUpdates = 500
			if r, err := fitter[float64](t, name, config).Fit(context.Background(), b,
				o); err != nil || r.Converged || r.Violators == 0 || r.Updates != 500 {
				t.Errorf("%s/%s: %+v, %v", name, space, r, err)
			}
		}
	}
	if !proofs["cramma"] {
		t.Errorf("no bound of CRAMMA showed that there is no margin: %v", proofs)
	}
	// Nothing limits a perceptron but its bound.
	r, err := fitter[float64](t, "perceptron", &learners.PerceptronConfig{Eta: 1}).Fit(
		context.Background(), b, learner.FitOptions{})
	if err != nil || r.Converged || r.Bound > learner.LeastMargin*math.Sqrt(learner.MaxSumSq(b,
		0)) {
		t.Errorf("perceptron: %+v, %v", r, err)
	}
}

// TestFitSweeps: active sets and halving leave a margin that is certified for delta, in the last
// pass over all, within what the bound allows.
func TestFitSweeps(t *testing.T) {
	b := learnertest.Dense[float64](300, 12, 0.05)
	ctx := context.Background()
	for name, c := range map[string]struct {
		learner string
		config  learner.Config
		delta   float64
	}{
		"pumma":            {"pumma", &learners.PUMMAConfig{P: "2", Delta: 0.02}, 0.02},
		"pumma p=5":        {"pumma", &learners.PUMMAConfig{P: "5", Delta: 0.05}, 0.05},
		"pumma soft":       {"pumma", &learners.PUMMAConfig{P: "2", Delta: 0.02, SoftC: 3}, 0.02},
		"aggressive romma": {"romma", &learners.ROMMAConfig{Aggressive: true, Delta: 0.02}, 0.02},
	} {
		for _, o := range []learner.FitOptions{{}, {ActiveSet: true}, {Halving: true},
			{ActiveSet: true, Halving: true}} {
			l := fitter[float64](t, c.learner, c.config)
			r, err := l.Fit(ctx, b, o)
			if err != nil || !r.Converged || r.Violators != 0 || r.Updates != l.Updates() {
				t.Fatalf("%s, %+v: %+v, %v", name, o, r, err)
			}
			if !(r.Margin >= (1-c.delta)*r.Bound*(1-1e-9)) || r.Margin > r.Bound {
				t.Errorf("%s, %+v: margin %v, bound %v, delta %v", name, o, r.Margin, r.Bound,
					c.delta)
			}
			if again, err := l.Fit(ctx, b, learner.FitOptions{}); name != "pumma soft" &&
				(err != nil || again.Updates != 0 || !again.Converged) {
				t.Errorf("%s, %+v: one more pass: %+v, %v", name, o, again, err)
			}
		}
	}
}

// TestFitSweepsMICRA: MICRA's accuracy is not certified, its bound is one all the same.
func TestFitSweepsMICRA(t *testing.T) {
	b, ctx := learnertest.Dense[float64](300, 12, 0.05), context.Background()
	best, err := fitter[float64](t, "romma", &learners.ROMMAConfig{Aggressive: true,
		Delta: 0.01}).Fit(ctx, b, learner.FitOptions{})
	if err != nil || !best.Converged {
		t.Fatalf("romma: %+v, %v", best, err)
	}
	for _, delta := range []float64{0, 0.5} {
		l := fitter[float64](t, "micra", &learners.MICRAConfig{Beta: 0.1, Epsilon: 0.1, Eta: 1,
			Zeta: 0.9})
		r, err := l.Fit(ctx, b, learner.FitOptions{ActiveSet: true, Delta: delta,
			MaxUpdates: 100000})
		if err != nil || !(r.Margin <= r.Bound) || r.Bound < best.Margin ||
			r.Bound > 100*best.Margin {
			t.Errorf("micra, Delta %v: %+v, %v; a margin of %v exists", delta, r, err, best.Margin)
		}
		if delta > 0 {
			continue
		}
		again := fitter[float64](t, "micra", &learners.MICRAConfig{Beta: 0.1, Epsilon: 0.1, Eta: 1,
			Zeta: 0.9})
		if err := again.SetState(l.State()); err != nil {
			t.Fatal(err)
		}
		if r, err := again.Fit(ctx, b, learner.FitOptions{MaxUpdates: 1}); err != nil ||
			!math.IsInf(r.Bound, 1) {
			t.Errorf("micra, resumed: %+v, %v: its bound is not known", r, err)
		}
	}
}

// TestFitSweepsRefused: learners that have no active sets or halving refuse them.
func TestFitSweepsRefused(t *testing.T) {
	b, ctx := learnertest.Dense[float64](300, 12, 0.05), context.Background()
	for name, config := range fits {
		if _, err := fitter[float64](t, name, config).Fit(ctx, b,
			learner.FitOptions{ActiveSet: true}); !errors.Is(err, learner.ErrConfig) {
			t.Errorf("%s with an active set: %v", name, err)
		}
	}
	if _, err := fitter[float64](t, "romma", &learners.ROMMAConfig{Delta: 0.1}).Fit(ctx, b,
		learner.FitOptions{Halving: true}); !errors.Is(err, learner.ErrConfig) {
		t.Errorf("romma without delta, halving: %v", err)
	}
	// Equal examples with both labels: pumma has no update for them, and no margin.
	same := block[float64]("dense", [][]float64{{1, 2}, {1, 2}}, []float64{1, -1})
	if r, err := fitter[float64](t, "pumma", &learners.PUMMAConfig{P: "2", Delta: 0.1}).Fit(ctx,
		same, learner.FitOptions{}); err != nil || r.Converged || r.Violators == 0 {
		t.Errorf("equal examples: %+v, %v", r, err)
	}
}
