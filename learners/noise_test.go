package learners

import (
	"errors"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestNoiseEstimate: on labels of which so many are wrong, the estimate comes near to that, and
// the log-loss is no more than a hundredth above that of the true rate and below that of the
// labels' shares.
func TestNoiseEstimate(t *testing.T) {
	t.Parallel()
	const n = 1500
	for _, flips := range []float64{0, 0.01, 0.05, 0.1, 0.2} {
		rng := engine.NewRand(4, 0)
		b := &engine.Block[float64]{Dim: 2, Stride: 2}
		wrong := 0
		for range n {
			y := math.Copysign(1, rng.Uniform()-0.5)
			b.X = append(b.X, rng.Normal()+3*y, rng.Normal())
			if rng.Uniform() < flips {
				y, wrong = -y, wrong+1
			}
			b.Y = append(b.Y, y)
		}
		for name, c := range map[string]func(noise float64, auto bool) learner.Config{
			"adf": func(noise float64, auto bool) learner.Config {
				return &ADFConfig{Covariance: "full", Noise: noise, NoiseAuto: auto}
			},
			"diagonal": func(noise float64, auto bool) learner.Config {
				return &ADFConfig{Covariance: "diagonal", Noise: noise, NoiseAuto: auto}
			},
			"wep": func(noise float64, auto bool) learner.Config {
				return &WEPConfig{10, PointsConfig{Noise: noise, Tolerance: 1e-3,
					Sweeps: 20, Damping: 1, NoiseAuto: auto}}
			},
			"vvm": func(noise float64, auto bool) learner.Config {
				return &VVMConfig{Buffer: 10, Pairs: 1,
					PointsConfig: PointsConfig{Noise: noise, Tolerance: 1e-3, Sweeps: 20,
						Damping: 1, NoiseAuto: auto}}
			},
		} {
			name := map[bool]string{true: "adf", false: name}[name == "diagonal"]
			e, err := learner.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			loss := func(c learner.Config) (float64, learner.Learner[float64]) {
				l, err := learner.New[float64](e, c, learner.Env{})
				if err != nil {
					t.Fatal(err)
				}
				sum, p := 0.0, make([]float64, 1)
				for i, y := range b.Y {
					one := b.Slice(i, i+1)
					if err := l.(learner.Prober[float64]).Proba(&one, p); err != nil {
						t.Fatal(err)
					}
					if y < 0 {
						p[0] = 1 - p[0]
					}
					sum -= math.Log(p[0])
					learnOne(t, l, b, i)
				}
				return sum / n, l
			}
			got, l := loss(c(0.05, true))
			atTruth, _ := loss(c(max(flips, 1e-4), false))
			share := float64(wrong) / n
			estimate := learner.PosteriorOf(l).Report().LabelNoise
			// 4 standard errors of a share, and what the first examples leave
			if allowed := 4*math.Sqrt(share/n) + 0.002; !(math.Abs(estimate-share) <= allowed) {
				t.Errorf("%s: %v of the labels are wrong, the estimate is %v", name, share,
					estimate)
			}
			if !(got <= atTruth+0.01 && got < math.Ln2) {
				t.Errorf("%s, %v flips: log-loss %v, with the true rate %v", name, flips, got,
					atTruth)
			}
		}
	}
	// What the estimate began with must be in the model, and be a rate.
	c := &ADFConfig{Covariance: "full", Noise: 0.05, NoiseAuto: true}
	l, plain := virtual(t, "adf", c), virtual(t, "adf", &ADFConfig{Covariance: "full", Noise: 0.05})
	for what, change := range map[string]func(*learner.State){
		"none":     func(s *learner.State) { delete(s.Scalars, "noise") },
		"no count": func(s *learner.State) { delete(s.Counters, "noise_seen") },
		"one half": func(s *learner.State) { s.Scalars["noise"] = 0.5 },
		"0":        func(s *learner.State) { s.Scalars["noise"] = 0 },
		"not one":  func(s *learner.State) { s.Scalars["noise"] = math.NaN() },
	} {
		s := l.State()
		change(&s)
		if err := l.SetState(s); !errors.Is(err, learner.ErrState) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := plain.SetState(l.State()); !errors.Is(err, learner.ErrState) {
		t.Errorf("an estimate where there is none: %v", err)
	}
	c.Noise = 0
	if err := c.Validate(); !errors.Is(err, learner.ErrConfig) {
		t.Errorf("an estimate that begins at 0: %v", err)
	}
}

// TestNoiseMerge: the merged estimate is the mean by the examples seen.
func TestNoiseMerge(t *testing.T) {
	t.Parallel()
	b := vvmStream(300, 4, 1.3)
	head, tail := b.Slice(0, 200), b.Slice(200, 300)
	for _, c := range []*ADFConfig{
		{Covariance: "full", Noise: 0.05, NoiseAuto: true},
		{Covariance: "diagonal", Noise: 0.05, NoiseAuto: true}} {
		e, err := learner.Lookup("adf")
		if err != nil {
			t.Fatal(err)
		}
		var ls [2]learner.Learner[float64]
		for i, part := range []*engine.Block[float64]{&head, &tail} {
			if ls[i], err = learner.New[float64](e, c, learner.Env{}); err != nil {
				t.Fatal(err)
			}
			if err := ls[i].Learn(part, make([]learner.Round, part.Len())); err != nil {
				t.Fatal(err)
			}
		}
		a, o := learner.PosteriorOf(ls[0]), learner.PosteriorOf(ls[1])
		want := (2*a.Report().LabelNoise + o.Report().LabelNoise) / 3
		if err := a.MergePosterior(ls[1]); err != nil {
			t.Fatal(err)
		}
		if got := a.Report().LabelNoise; math.Abs(got-want) > 1e-15 {
			t.Errorf("%s: %v, want %v", c.Covariance, got, want)
		}
		fixed, err := learner.New[float64](e, &ADFConfig{Covariance: c.Covariance, Noise: 0.05},
			learner.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.MergePosterior(fixed); !errors.Is(err, learner.ErrPrior) {
			t.Errorf("%s: merged with a given rate: %v", c.Covariance, err)
		}
	}
}
