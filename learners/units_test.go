package learners

import (
	"fmt"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestPosteriorUnits: a feature in another unit than the others makes the problem harder, as the
// prior is not in that unit; but no guard takes it for one at the end of what numbers hold. The
// plain form has no guards.
func TestPosteriorUnits(t *testing.T) {
	t.Parallel()
	const n, d = 3000, 5
	for _, unit := range []float64{1, 1e6, 1e7, 1e-6} {
		rng := engine.NewRand(5, 1)
		b := &engine.Block[float64]{Dim: d, Stride: d}
		for range n {
			f := 0.0
			for j := range d {
				x := rng.Normal()
				f += float64(x * float64(j-1))
				if j == 2 {
					x *= unit
				}
				b.X = append(b.X, x)
			}
			y := 1.0
			if f < 0 {
				y = -1
			}
			b.Y = append(b.Y, y)
		}
		for _, eps := range []float64{0, 0.05} {
			plain, want := naive.NewVVM(d, 0, true, eps, 1e-9, 4), 0
			for i, y := range b.Y {
				f, x := 0.0, make([]float64, d)
				for j, v := range b.Row(i) {
					f += plain.M[j] * v
					x[j] = y * v
				}
				if y*f <= 0 {
					want++
				}
				plain.Learn(x)
			}
			points := PointsConfig{Noise: eps, Tolerance: 1e-3, Sweeps: 20, Damping: 1}
			for name, c := range map[string]learner.Config{"adf": &ADFConfig{Covariance: "full",
				Noise: eps},
				"wep": &WEPConfig{10, points}, "vvm": &VVMConfig{Buffer: 10, Pairs: 1, PointsConfig: points}} {
				what := fmt.Sprintf("unit %v, eps %v, %s", unit, eps, name)
				l, rounds, wrong := virtual(t, name, c), make([]learner.Round, n), 0
				if err := l.Learn(b, rounds); err != nil {
					t.Fatal(err)
				}
				whole := stateOf(learner.Learner[float64](l))
				for i, r := range rounds {
					if b.Y[i]*r.Score <= 0 {
						wrong++
					}
				}
				if name == "adf" && wrong != want || wrong > want+n/100 {
					t.Errorf("%s: %d mistakes, plain ADF %d", what, wrong, want)
				}
				if r := l.Report(); r.Lost+r.Passed > n/1000 {
					t.Errorf("%s: %+v", what, r)
				}
				if lower(residualCov(l.p)) == nil || lower(fullCov(l.p)) == nil {
					t.Errorf("%s: a covariance is not positive definite", what)
				}
				// Half, saved and loaded, and the other half: the same state.
				head, tail, l2 := b.Slice(0, n/2), b.Slice(n/2, n), virtual(t, name, c)
				if err := l2.Learn(&head, rounds); err != nil {
					t.Fatal(err)
				}
				l3 := virtual(t, name, c)
				if err := l3.SetState(l2.State()); err != nil {
					t.Fatal(err)
				}
				if err := l3.Learn(&tail, rounds); err != nil {
					t.Fatal(err)
				}
				if stateOf(learner.Learner[float64](l3)) != whole {
					t.Errorf("%s: resumed, another state", what)
				}
			}
		}
	}
}

// TestEPConverged: EP has not converged where it skipped examples, however still the sites of
// the others are, and what was lost is that of the last rebuilding.
func TestEPConverged(t *testing.T) {
	t.Parallel()
	const n = 300
	rng := engine.NewRand(7, 0)
	noisy := &engine.Block[float64]{Dim: 1, Stride: 1}
	clean := &engine.Block[float64]{Dim: 1, Stride: 1}
	for range n {
		x := 2*rng.Uniform() - 1
		bell := rng.Uniform() + rng.Uniform() + rng.Uniform() + rng.Uniform() - 2
		noisy.X, noisy.Y = append(noisy.X, x),
			append(noisy.Y, math.Copysign(1, x+float64(1.5*bell)))
		clean.X, clean.Y = append(clean.X, x), append(clean.Y, math.Copysign(1, x))
	}
	for _, c := range []struct {
		what      string
		b         *engine.Block[float64]
		noise     float64
		converged bool
	}{
		{"clean", clean, 0, true}, {"noisy, eps 0.3", noisy, 0.3, true},
		{"noisy, eps 0", noisy, 0, false},
	} {
		points := PointsConfig{Noise: c.noise, Tolerance: 1e-6, Sweeps: 100, Damping: 1}
		l := &epLearner[float64]{virtual(t, "ep", &EPConfig{points})}
		r, err := l.Fit(t.Context(), c.b, learner.FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		report := l.Report()
		if r.Converged != c.converged || c.converged != (report.Passed+report.Lost == 0) {
			t.Errorf("%s: converged %v, want %v; %+v", c.what, r.Converged, c.converged, report)
		}
		if report.Passed > n || report.Lost > n {
			t.Errorf("%s: more examples passed over or lost than there are: %+v", c.what, report)
		}
	}
}

// TestSOGPPassed: examples that sogp skips are counted, and the count is in the state.
func TestSOGPPassed(t *testing.T) {
	t.Parallel()
	const n = 400
	rng := engine.NewRand(7, 0)
	b := &engine.Block[float64]{Dim: 1, Stride: 1}
	for range n {
		x := 2*rng.Uniform() - 1
		b.X, b.Y = append(b.X, x), append(b.Y, math.Copysign(1, x+float64(rng.Normal())))
	}
	b.X[n/2] = 0 // has no features, and is no loss
	e, err := learner.Lookup("sogp")
	if err != nil {
		t.Fatal(err)
	}
	var ls [2]learner.Learner[float64]
	for i := range ls {
		c := &SOGPConfig{Basis: 5, Eps: 0.01, Novelty: 1e-4,
			KernelConfig: learner.KernelConfig{Kernel: "linear"}}
		ls[i], err = learner.New[float64](e, c, learner.Env{})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := ls[0].Learn(b, make([]learner.Round, n)); err != nil {
		t.Fatal(err)
	}
	if err := ls[1].SetState(ls[0].State()); err != nil {
		t.Fatal(err)
	}
	met, again := learner.ReportOf(ls[0]), learner.ReportOf(ls[1])
	if met == nil || met.Passed == 0 || met.Passed+ls[0].Updates() >= n || *again != *met {
		t.Errorf("%+v, %d updates; restored %+v", met, ls[0].Updates(), again)
	}
}

// TestUnconvergedAllocates: where EP does not converge nothing is allocated either, nor by the
// estimate of the noise.
func TestUnconvergedAllocates(t *testing.T) {
	const n = 300
	rng := engine.NewRand(7, 0)
	b := &engine.Block[float64]{Dim: 2, Stride: 2}
	for range n {
		x, z := rng.Normal(), rng.Normal()
		b.X, b.Y = append(b.X, x, z), append(b.Y, math.Copysign(1, x+float64(2*rng.Normal())))
	}
	for _, auto := range []bool{false, true} {
		l := virtual(t, "vvm", &VVMConfig{Buffer: 10, Pairs: 1, PointsConfig: PointsConfig{Noise: 0.02, Tolerance: 1e-3,
			Sweeps: 20, Damping: 1, NoiseAuto: auto}})
		rounds := make([]learner.Round, n)
		if err := l.Learn(b, rounds); err != nil {
			t.Fatal(err)
		}
		before := l.Report().Unconverged
		if allocs := testing.AllocsPerRun(1, func() {
			if err := l.Learn(b, rounds); err != nil {
				t.Fatal(err)
			}
		}); allocs != 0 {
			t.Errorf("auto %v: %v allocations", auto, allocs)
		}
		if !auto && l.Report().Unconverged == before { // the estimate comes out high enough for EP
			t.Error("EP converged always")
		}
	}
}

// TestEPHalvesDamping: with many wrong labels sites swing at full steps, and come to rest at
// smaller ones. On one of these 40 they do so at no step.
func TestEPHalvesDamping(t *testing.T) {
	t.Parallel()
	points := PointsConfig{Noise: 0.2, Tolerance: 1e-6, Sweeps: 100, Damping: 1}
	converged, longer := 0, 0 // longer than two runs of 100 sweeps take
	for d := 2; d <= 5; d++ {
		for seed := 1; seed <= 10; seed++ {
			l := &epLearner[float64]{virtual(t, "ep", &EPConfig{points})}
			r, err := l.Fit(t.Context(), noisyLabels(200, d, 0.2, seed), learner.FitOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Converged {
				converged++
				if r.Updates > 200 {
					longer++
				}
			}
		}
	}
	if converged < 39 || longer == 0 {
		t.Errorf("%d of 40 converged, %d after more than 200 sweeps", converged, longer)
	}
}
