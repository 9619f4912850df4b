package model

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

var writeKept = flag.Bool("write-kept", false, "write the files of testdata/kept that are "+
	"not there")

// smallModel is a learner with settings, whose model is small.
type smallModel struct {
	name    string // of the learner, a dash, and what is special
	config  learner.Config
	f64     bool
	noBatch bool // it learns example by example

	predictOnly bool // of the learner's Predictor
}

// predictModels are some of smallModels that only predict: one a form of hypothesis.
func predictModels(t testing.TB) (list []smallModel) {
	forms := map[string]bool{"perceptron-margin-f32": true, "alma-f64": true, "obpm-f32": true,
		"obpm-f64": true, "obpm-vote-f32": true, "obpm-rbf-f64": true, "svm-f64": true,
		"svm-rbf-f32": true, "sogp-f32": true, "ng-f64": true, "vvm-f32": true,
		"adf-diagonal-f64": true, "rff-adf-f32": true}
	for _, s := range smallModels(t) {
		if forms[s.name] {
			s.predictOnly = true
			s.name += "-predict"
			list = append(list, s)
		}
	}
	if len(list) != len(forms) {
		t.Fatalf("%d models that only predict, want %d", len(list), len(forms))
	}
	return list
}

// smallModels are all learners, with the settings that change the form of their state.
func smallModels(t testing.TB) (list []smallModel) {
	t.Helper()
	rbf := learner.KernelConfig{Kernel: "rbf", Gamma: 0.5}
	online := learners.OnlineConfig{Kernel: "rbf", Gamma: 0.5, Budget: 7}
	points := learners.PointsConfig{Noise: 0.1, Tolerance: 1e-3, Sweeps: 10, Damping: 1}
	obpm := func(change func(c *learners.OBPMConfig)) learner.Config {
		c := &learners.OBPMConfig{Members: 4, Tau: 0.6, Base: "perceptron",
			Combine: learners.CombineWeights}
		change(c)
		return c
	}
	special := map[string][]struct {
		what   string
		config learner.Config
	}{
		"alma": {{"p=3", &learners.ALMAConfig{P: 3, Alpha: 0.9}},
			{"p=4", &learners.ALMAConfig{P: 4, Alpha: 0.9}},
			{"rbf-budget", &learners.ALMAConfig{P: 2, Alpha: 0.9, OnlineConfig: online}}},
		"perceptron": {{"margin", &learners.PerceptronConfig{Margin: 0.3, Eta: 0.25}},
			{"beta", &learners.PerceptronConfig{Beta: 0.3, Eta: 0.25}},
			{"rbf-budget", &learners.PerceptronConfig{MarginRel: 0.3, Eta: 0.25,
				OnlineConfig: online}}},
		"pa": {{"rbf-budget", &learners.PAConfig{Variant: 2, OnlineConfig: online}}},
		"cramma": {{"rbf-budget", &learners.CRAMMAConfig{Epsilon: 0.5, Beta: 1, Eta: 0.01,
			EtaDelta: 1, OnlineConfig: online}}},
		"micra": {{"rbf-budget", &learners.MICRAConfig{Beta: 0.1, Epsilon: 0.1, Eta: 1, Zeta: 0.9,
			OnlineConfig: online}}},
		"obpm": {
			{"", obpm(func(*learners.OBPMConfig) {})},
			{"vote", obpm(func(c *learners.OBPMConfig) { c.Combine = learners.CombineVote })},
			{"cap", obpm(func(c *learners.OBPMConfig) { c.Cap = true })},
			{"pa", obpm(func(c *learners.OBPMConfig) { c.Base = "pa" })},
			{"alma", obpm(func(c *learners.OBPMConfig) { c.Base = "alma" })},
			{"romma", obpm(func(c *learners.OBPMConfig) { c.Base = "romma" })},
			{"romma-together", obpm(func(c *learners.OBPMConfig) {
				c.Base, c.Together = "romma", true
			})},
			{"cramma", obpm(func(c *learners.OBPMConfig) {
				c.Base, c.Together = "cramma", true
			})},
			{"rbf", obpm(func(c *learners.OBPMConfig) {
				c.Budget, c.Removal, c.KernelConfig = 9,
					learners.RemoveErrors, rbf
			})},
			{"project", obpm(func(c *learners.OBPMConfig) {
				c.Budget, c.Removal, c.KernelConfig = 9,
					learners.RemoveProject, rbf
			})},
		},
		"pairs": {{"alma", &learners.PairsConfig{Base: "alma",
			BaseConfig: &learners.ALMAConfig{P: 3, Alpha: 0.9}}}},
		"rff": {
			{"", &learners.RFFConfig{D: 8, Sigma: 2, Base: "perceptron"}},
			{"obpm", &learners.RFFConfig{D: 8, Sigma: 2, Base: "obpm",
				BaseConfig: obpm(func(*learners.OBPMConfig) {})}},
			{"adf", &learners.RFFConfig{D: 8, Sigma: 2, Base: "adf"}},
		},
		"svm": {{"rbf", &learners.SVMConfig{C: 10, Norm: 1, Gap: 1e-6, KernelConfig: rbf}}},
		"kmp": {{"", &learners.KMPConfig{Size: 5, Backfit: true, KernelConfig: rbf}}},
		"budget": {
			{"", &learners.BudgetConfig{Budget: 7,
				UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
				KernelConfig: rbf}},
			{"all", &learners.BudgetConfig{UpdateConfig: learners.UpdateConfig{Update: "svm", C: 1,
				Beta: 0.5}, KernelConfig: rbf}},
		},
		"tbp": {
			{"", &learners.TBPConfig{Budget: 7, ErrorCache: "sv", ErrorSize: 1, Ties: "margin",
				UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
				KernelConfig: rbf}},
			{"removals", &learners.TBPConfig{Budget: 7, ErrorCache: "random", ErrorSize: 8,
				Ties: "oldest", Candidates: 3, Removals: 2,
				UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
				KernelConfig: rbf}},
			{"random", &learners.TBPConfig{Budget: 7, ErrorCache: "random", ErrorSize: 8,
				Ties:         "oldest",
				UpdateConfig: learners.UpdateConfig{Update: "svm", C: 2, Beta: 0.5},
				KernelConfig: rbf}},
		},
		"sogp": {{"", &learners.SOGPConfig{Basis: 6, Novelty: 1e-4, Noise: 0.1,
			KernelConfig: rbf}}},
		"ng": {{"", &learners.NGConfig{Buffer: 4, Rank: 2, Decay: 0.98, Lambda: 0.1, Eta: 0.5}}},
		"romma": {
			{"rbf", &learners.ROMMAConfig{Aggressive: true, Delta: 0.1, KernelConfig: rbf}},
			{"rbf-budget", &learners.ROMMAConfig{Aggressive: true, Delta: 0.1, Budget: 7,
				KernelConfig: rbf}},
		},
		"pumma": {
			{"p=3", &learners.PUMMAConfig{P: "3", Delta: 0.1}},
			{"p=4", &learners.PUMMAConfig{P: "4", Delta: 0.1}},
			{"soft", &learners.PUMMAConfig{P: "2", Delta: 0.1, SoftC: 10}},
			{"rbf", &learners.PUMMAConfig{P: "2", Delta: 0.1, SoftC: 10, KernelConfig: rbf}},
			{"rbf-budget", &learners.PUMMAConfig{P: "2", Delta: 0.1, SoftC: 10, Budget: 7,
				KernelConfig: rbf}},
		},
		"arow": {{"full", &learners.AROWConfig{Covariance: "full", R: 1}}},
		"scw":  {{"full", &learners.SCWConfig{Covariance: "full", C: 1, Eta: 0.75}}},
		"adf":  {{"diagonal", &learners.ADFConfig{Covariance: "diagonal", Noise: 0.05}}},
		"ovo":  {{"", &learners.OVOConfig{Base: "pa"}}},
		"ovr":  {{"classes", &learners.OVRConfig{Base: "pa"}}}, // they have names: version 2
		"wep":  {{"", &learners.WEPConfig{Buffer: 3, PointsConfig: points}}},
		"vvm":  {{"", &learners.VVMConfig{Buffer: 3, Pairs: 3, PointsConfig: points}}},
	}
	for _, name := range learner.Names() {
		e := must(learner.Lookup(name))(t)
		variants := special[name]
		if !slices.ContainsFunc(variants, func(v struct {
			what   string
			config learner.Config
		}) bool {
			return v.what == ""
		}) {
			list = append(list, smallModel{name: name + "-f32", config: e.Config()},
				smallModel{name: name + "-f64", config: e.Config(), f64: true})
		}
		for _, v := range variants {
			full := strings.TrimSuffix(name+"-"+v.what, "-")
			list = append(list, smallModel{name: full + "-f32", config: v.config},
				smallModel{name: full + "-f64", config: v.config, f64: true})
		}
	}
	for i := range list {
		m := &list[i]
		m.noBatch = m.config.Traits().Stream
	}
	return list
}

// learner returns the name of the learner alone.
func (s *smallModel) learner() string {
	name, _, _ := strings.Cut(s.name, "-")
	return name
}

// smallRows are n dense or sparse rows of 5 features, with some zeros, and labels that a line
// nearly separates.
func smallRows[T learner.Float](n int, sparse bool) *engine.Block[T] {
	const d = 5
	rng := engine.NewRand(7, uint64(n))
	b := &engine.Block[T]{Dim: d, Stride: d}
	if sparse {
		b.Stride, b.Ptr = 0, []int{0}
	}
	for i := range n {
		var f float64
		for j := range d {
			v := T(rng.IntN(129)-64) / 64
			if rng.IntN(4) == 0 {
				v = 0
			}
			f += float64(v) * float64(j%3-1)
			switch {
			case !sparse:
				b.X = append(b.X, v)
			case v != 0:
				b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, v)
			}
		}
		if sparse {
			b.Ptr = append(b.Ptr, len(b.Idx))
		}
		y := T(1)
		if f < 0 || i == 3 {
			y = -1
		}
		b.Y = append(b.Y, y)
	}
	return b
}

// smallPrep is the Prep of smallRows.
func smallPrep(sparse bool) Prep {
	if sparse {
		return Prep{Labels: Labels{"-1", "+1"}, Bias: "none", Normalize: "none", Scale: 1,
			Format: "svmlight", IndexBase: 1, Dim: 5}
	}
	return Prep{Labels: Labels{"no", "yes"}, Bias: "none", Normalize: "none", Scale: 1,
		Format: "csv", Dim: 5, Columns: []string{"a", "b", "c", "d", "e", "class"}, LabelCol: 6}
}

// make trains the model.
func (s *smallModel) make(t testing.TB) *Model {
	if s.predictOnly {
		whole := *s
		whole.predictOnly = false
		if s.f64 {
			return predicting[float64](t, whole.make(t))
		}
		m := predicting[float32](t, whole.make(t))
		return m
	}
	if s.f64 {
		return makeSmall[float64](t, s)
	}
	return makeSmall[float32](t, s)
}

// predicting is the model of what m's learner predicts with.
func predicting[T learner.Float](t testing.TB, m *Model) *Model {
	t.Helper()
	_, c, err := m.Settings()
	if err != nil {
		t.Fatal(err)
	}
	p := must(CapturePredictor(m.Learner, c, m.Seed, must(Restore[T](m, nil))(t).Snapshot()))(t)
	p.Prep, p.Presented, p.Mistakes = m.Prep, m.Presented, m.Mistakes
	return p
}

func makeSmall[T learner.Float](t testing.TB, s *smallModel) *Model {
	t.Helper()
	const seed, n = 5, 24
	e := must(learner.Lookup(s.learner()))(t)
	l := must(learner.New[T](e, s.config, learner.Env{Seed: seed}))(t)
	b := smallRows[T](n, s.f64)
	for i := range n { // for learners of classes
		b.Class = append(b.Class, int32(i%3))
	}
	var err error
	if s.noBatch {
		err = l.Learn(b, make([]learner.Round, n))
	} else {
		_, err = l.(learner.Fitter[T]).Fit(context.Background(), b,
			learner.FitOptions{MaxUpdates: 200})
	}
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	m := must(Capture(s.learner(), s.config, seed, l))(t)
	m.Prep, m.Presented, m.Mistakes = smallPrep(s.f64), n, 3
	if strings.HasPrefix(s.name, "ovr-classes-") {
		m.Prep.Labels, m.Prep.Classes = Labels{}, []string{"no", "yes", "don't know"}
	}
	return m
}

// scoresOf returns the scores and probabilities that the restored model gives.
func scoresOf[T learner.Float](t testing.TB, m *Model) []float64 {
	t.Helper()
	l := must(RestorePredictor[T](m, nil))(t)
	var all []float64
	for _, sparse := range []bool{false, true} {
		b := smallRows[T](9, sparse)
		scores := make([]float64, b.Len()*l.Outputs())
		ok(t, l.Score(b, scores))
		all = append(all, scores...)
		if p := learner.ProbaOf(l); p != nil {
			ok(t, p.Proba(b, scores))
			all = append(all, scores...)
		}
	}
	return all
}

// recapture returns the restored model as it is saved.
func recapture[T learner.Float](t testing.TB, m *Model) *Model {
	t.Helper()
	_, c, err := m.Settings()
	if err != nil {
		t.Fatal(err)
	}
	var again *Model
	if m.PredictOnly {
		p := must(RestorePredictor[T](m, nil))(t)
		again = must(CapturePredictor(m.Learner, c, m.Seed, p))(t)
		again.Prep, again.Presented, again.Mistakes = m.Prep, m.Presented, m.Mistakes
		return again
	}
	l := must(Restore[T](m, nil))(t)
	again = must(Capture(m.Learner, c, m.Seed, l))(t)
	again.Prep, again.Presented, again.Mistakes = m.Prep, m.Presented, m.Mistakes
	return again
}

// TestKept reads model files that were written when the format was new. They must load, predict and
// be saved as they were for ever.
func TestKept(t *testing.T) {
	t.Parallel()
	const dir = "testdata/kept"
	var pins map[string]string // of the scores
	if text, err := os.ReadFile(filepath.Join(dir, "scores.json")); err == nil {
		ok(t, json.Unmarshal(text, &pins))
	} else if !*writeKept {
		t.Fatal(err)
	}
	if pins == nil {
		pins = map[string]string{}
	}
	digest := func(t testing.TB, m *Model) string {
		scores := []float64(nil)
		if m.Precision == "f64" {
			scores = scoresOf[float64](t, m)
		} else {
			scores = scoresOf[float32](t, m)
		}
		h := sha256.New()
		ok(t, binary.Write(h, binary.LittleEndian, scores))
		return hex.EncodeToString(h.Sum(nil)[:8])
	}
	if *writeKept {
		for _, s := range slices.Concat(smallModels(t), predictModels(t)) {
			file := filepath.Join(dir, s.name+".model")
			if _, there := pins[s.name]; there {
				continue
			}
			m := s.make(t)
			ok(t, os.WriteFile(file, encode(t, m), 0o644))
			pins[s.name] = digest(t, m)
		}
		text := must(json.MarshalIndent(pins, "", "\t"))(t)
		ok(t, os.WriteFile(filepath.Join(dir, "scores.json"), append(text, '\n'),
			0o644))
	}
	for _, s := range slices.Concat(smallModels(t), predictModels(t)) {
		if pins[s.name] == "" {
			t.Errorf("no file keeps %s: go test ./model -run Kept -write-kept", s.name)
		}
	}
	for name, want := range pins {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name+".model")
			data := must(os.ReadFile(file))(t)
			m := must(Load(file))(t)
			if got := digest(t, m); got != want {
				t.Errorf("its scores have the sum %s, want %s", got, want)
			}
			again := recapture[float32]
			if m.Precision == "f64" {
				again = recapture[float64]
			}
			if !bytes.Equal(encode(t, again(t, m)), data) {
				t.Errorf("saved again it is another file")
			}
		})
	}
}
