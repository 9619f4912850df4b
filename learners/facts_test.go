package learners_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

func document(t *testing.T, c learner.Config) string {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSettingsRefused: settings that contradict each other; the conformance suite has those that
// no field may have.
func TestSettingsRefused(t *testing.T) {
	for _, c := range []learner.Config{
		&learners.PAConfig{Variant: 3}, &learners.PAConfig{C: 1},
		&learners.ALMAConfig{P: 1.9}, &learners.ALMAConfig{},
		&learners.ALMAConfig{P: 2, Alpha: 0.5, B: 1}, &learners.ALMAConfig{P: 2, C: 1},
		&learners.ALMAConfig{P: 2, Alpha: 0.5, C: 1}, &learners.ALMAConfig{P: 2, Alpha: 1.1},
		&learners.PerceptronConfig{}, &learners.PerceptronConfig{Margin: 1, MarginRel: 1, Eta: 1},
		&learners.PerceptronConfig{Beta: -1, Eta: 1},
		&learners.PerceptronConfig{Beta: 0.1, Margin: 1, Eta: 1},
		&learners.PerceptronConfig{Beta: 0.1, MarginRel: 1, Eta: 1},
		&learners.PerceptronConfig{Beta: 0.1, Eta: 1, OnlineConfig: onlineRBF(0)},
		&learners.PerceptronConfig{Eta: 2, Lambda: 0.5, OnlineConfig: onlineRBF(0)}, // of NORMA
		&learners.PerceptronConfig{Eta: 1, Lambda: -1, OnlineConfig: onlineRBF(0)},
	} {
		if err := c.Validate(); !errors.Is(err, learner.ErrConfig) {
			t.Errorf("%T %+v: %v", c, c, err)
		}
	}
}

// TestResolve: what is relative becomes absolute in a copy, a wrapper's base included, and what is
// absolute stays.
func TestResolve(t *testing.T) {
	facts := learner.Facts{SumSq: 916, Delta: 1, Features: 100}
	if facts.R2() != 917 {
		t.Errorf("R^2 = %v, want 917", facts.R2())
	}
	perceptron := &learners.PerceptronConfig{MarginRel: 1, Eta: 1}
	for name, c := range map[string]struct {
		config   learner.Config
		relative bool
		want     string // part of the document
	}{
		"perceptron": {perceptron, true, `{"margin":917,"margin_rel":0,"eta":1}`},
		"absolute": {&learners.PerceptronConfig{Margin: 3, Eta: 1}, false,
			`{"margin":3,"margin_rel":0,"eta":1}`},
		"cramma": {&learners.CRAMMAConfig{Epsilon: 1, Beta: 1, Eta: 1}, true,
			`{"epsilon":1,"beta":1,"eta":1,"eta_delta":0,"R":30.28200785945344}`},
		"cramma, R": {&learners.CRAMMAConfig{Epsilon: 1, Beta: 1, Eta: 1, R: 2}, false,
			`{"epsilon":1,"beta":1,"eta":1,"eta_delta":0,"R":2}`},
		"lms": {&learners.LMSConfig{Eta: 0.5}, false, `{"eta":0.5}`},
	} {
		t.Run(name, func(t *testing.T) {
			before := document(t, c.config)
			if got := c.config.Traits().Relative; got != c.relative {
				t.Errorf("Relative is %v", got)
			}
			r, err := learner.Resolve(c.config, facts)
			if err != nil {
				t.Fatal(err)
			}
			if got := document(t, r); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if r.Traits().Relative {
				t.Error("still relative")
			}
			if after := document(t, c.config); after != before {
				t.Errorf("the caller's settings became %s from %s", after, before)
			}
		})
	}

	obpm := &learners.OBPMConfig{Members: 3, Tau: 1, Base: "perceptron", Combine: "weights",
		BaseConfig: perceptron}
	r, err := obpm.Resolve(facts)
	if err != nil {
		t.Fatal(err)
	}
	if m := r.(*learners.OBPMConfig).BaseConfig.(*learners.PerceptronConfig).Margin; m != 917 ||
		perceptron.Margin != 0 {
		t.Errorf("obpm: the base's margin is %v, the caller's %v", m, perceptron.Margin)
	}
	// A base of random features sees other examples than those that the facts are of.
	rff := &learners.RFFConfig{D: 40, Sigma: 1, Base: "perceptron", BaseConfig: perceptron}
	if r, err = rff.Resolve(facts); err != nil {
		t.Fatal(err)
	}
	if m := r.(*learners.RFFConfig).BaseConfig.(*learners.PerceptronConfig).Margin; m != 1 ||
		perceptron.Margin != 0 {
		t.Errorf("rff: the base's margin is %v, the caller's %v", m, perceptron.Margin)
	}
	if rff.Traits().Relative {
		t.Error("rff needs the data to know its base's settings")
	}

	if _, err := learner.Make[float64]("perceptron", perceptron, learner.Env{}); !errors.Is(err,
		learner.ErrConfig) {
		t.Errorf("New before Resolve says %v", err)
	}
	for _, c := range []learner.Config{perceptron, obpm, &learners.CRAMMAConfig{Epsilon: 1,
		Beta: 1, Eta: 1},
		&learners.PUMMAConfig{P: "auto", Delta: 0.1}} {
		if _, err := learner.Resolve(c, learner.Facts{}); !errors.Is(err, learner.ErrConfig) {
			t.Errorf("%T without facts: %v", c, err)
		}
	}
	for _, R2 := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := learner.Resolve(perceptron, learner.Facts{SumSq: R2}); !errors.Is(err,
			learner.ErrConfig) {
			t.Errorf("R^2 = %v: %v", R2, err)
		}
	}
}

// TestBaseDefaults: a base without settings has its defaults, which a model keeps: a version to
// come may have others.
func TestBaseDefaults(t *testing.T) {
	facts := learner.Facts{SumSq: 64, Features: 13}
	for _, c := range []learner.Config{
		&learners.OVRConfig{Base: "pa"}, &learners.OVRConfig{Base: "pumma"},
		&learners.OVOConfig{Base: "pa"}, &learners.PairsConfig{Base: "pa"},
		&learners.RFFConfig{D: 8, Sigma: 1, Base: "pa"},
		&learners.OBPMConfig{Members: 3, Tau: 1, Base: "alma", Combine: learners.CombineWeights},
	} {
		r, err := learner.Resolve(c, facts)
		if err != nil {
			t.Errorf("%T: %v", c, err)
		} else if doc := document(t, r); strings.Contains(doc, `"base_config":null`) {
			t.Errorf("%T keeps %s", c, doc)
		}
	}
}

// TestNewLeavesConfig: settings are the caller's, whatever learner is made of them.
func TestNewLeavesConfig(t *testing.T) {
	auto := &learners.RFFConfig{D: 200, Sigma: 2, Base: "pumma",
		BaseConfig: &learners.PUMMAConfig{P: "auto", Delta: 0.01,
			KernelConfig: learner.KernelConfig{Kernel: "linear"}}}
	look := func(name string, c learner.Config) {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		before := document(t, c)
		if _, err := e.New64(c, learner.Env{Kept: 1 << 20}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if after := document(t, c); after != before {
			t.Errorf("%s: %s became %s", name, before, after)
		}
	}
	look("rff", auto)
	for _, name := range learner.Names() {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		look(name, e.Config())
		for _, c := range variants[name] {
			look(name, c)
		}
	}
}

// TestCRAMMARadius: R that is given counts in a Fit too, in which one that is open is that of the
// data, with Delta.
func TestCRAMMARadius(t *testing.T) {
	b := learnertest.Dense[float64](200, 20, 0.05)
	fit := func(R, delta float64) (learner.FitResult, []float64) {
		l := newLearner[float64](t, "cramma", &learners.CRAMMAConfig{Epsilon: 0.5, Beta: 0.8,
			Eta: 0.02, EtaDelta: 1, R: R})
		r, err := l.(learner.Fitter[float64]).Fit(t.Context(), b,
			learner.FitOptions{Delta: delta})
		if err != nil || !r.Converged {
			t.Fatal(r, err)
		}
		return r, l.Weights()
	}
	for _, delta := range []float64{0, 0.5} {
		R := math.Sqrt(learner.MaxSumSq(b, delta))
		open, w := fit(0, delta)
		given, same := fit(R, delta)
		if open != given {
			t.Errorf("delta %v: %+v with R open, %+v with that of the data", delta, open, given)
		}
		approx.AllNear(t, "weights", same, w, 0)
		if other, _ := fit(2*R, delta); other.Updates == open.Updates {
			t.Errorf("delta %v: twice R makes the same %d updates", delta, other.Updates)
		}
	}
}

// TestALMALength: what examples were divided by first is what all later ones are divided by,
// whether they come as a stream or as a data set, and after a save.
func TestALMALength(t *testing.T) {
	const size = 7
	big := learnertest.Dense[float64](200, 20, 0.05)
	for i := range big.X {
		big.X[i] *= size
	}
	R := math.Sqrt(learner.MaxSumSq(big, 0))
	small := *big // the same, divided by R
	small.X = scaleRows([][]float64{big.X}, func([]float64) float64 { return R })[0]
	config := &learners.ALMAConfig{P: 2, Alpha: 0.5}
	rounds := make([]learner.Round, big.Len())
	start := func() learner.Learner[float64] { return newLearner[float64](t, "alma", config) }
	reload := func(l learner.Learner[float64]) learner.Learner[float64] {
		l2 := start()
		if err := l2.SetState(l.State()); err != nil {
			t.Fatal(err)
		}
		return l2
	}
	fit := func(l learner.Learner[float64], b *engine.Block[float64], most int64) {
		if _, err := l.(learner.Fitter[float64]).Fit(t.Context(), b,
			learner.FitOptions{MaxUpdates: most, GramBytes: -1}); err != nil {
			t.Fatal(err)
		}
	}
	learn := func(l learner.Learner[float64], b *engine.Block[float64]) {
		if err := l.Learn(b, rounds); err != nil {
			t.Fatal(err)
		}
	}
	// Fit, then a stream of examples of another length.
	half, other := *big, small
	half.X = scaleRows([][]float64{big.X}, func([]float64) float64 { return 2 })[0]
	other.X = scaleRows([][]float64{half.X}, func([]float64) float64 { return R })[0]
	a, b := start(), start()
	fit(a, big, 50)
	a = reload(a)
	if got := a.State().Scalars["R"]; got != R {
		t.Errorf("the state holds R = %v, want %v", got, R)
	}
	learn(a, &half)
	fit(a, &half, 30)
	fit(b, &small, 50)
	learn(b, &other)
	fit(b, &other, 30)
	if a.Updates() != b.Updates() || a.Updates() < 90 {
		t.Errorf("%d updates of examples, %d of divided ones", a.Updates(), b.Updates())
	}
	approx.AllNear(t, "weights", a.Weights(), b.Weights(), 1e-12)
	// A stream, then a Fit: examples stay as they are.
	c := start()
	learn(c, big)
	c = reload(c)
	fit(c, big, 0)
	if got := c.State().Scalars["R"]; got != 1 {
		t.Errorf("after a stream R = %v, want 1", got)
	}
	d := start()
	for before := int64(-1); d.Updates() != before; {
		before = d.Updates()
		learn(d, big)
	}
	if c.Updates() != d.Updates() {
		t.Errorf("%d updates, %d by passes over the stream", c.Updates(), d.Updates())
	}
	approx.AllNear(t, "weights after a stream", c.Weights(), d.Weights(), 1e-12)
	// A state that doesn't hold R is good.
	old := a.State()
	delete(old.Scalars, "R")
	if err := start().SetState(old); err != nil {
		t.Error(err)
	}
	old.Scalars["R"] = 0
	if err := start().SetState(old); !errors.Is(err, learner.ErrState) {
		t.Errorf("R = 0 says %v", err)
	}
}
