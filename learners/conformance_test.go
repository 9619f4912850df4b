package learners_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// variants lists settings beside the defaults under which a learner must pass too.
var variants = map[string]map[string]learner.Config{
	"perceptron": {
		"margin": &learners.PerceptronConfig{Margin: 0.3, Eta: 0.25},
		"beta":   &learners.PerceptronConfig{Beta: 0.05, Eta: 0.5},
		"rbf": &learners.PerceptronConfig{MarginRel: 0.2, Eta: 0.5,
			OnlineConfig: onlineRBF(0)},
		"norma": &learners.PerceptronConfig{Margin: 1, Eta: 0.5, Lambda: 0.001,
			OnlineConfig: onlineRBF(250)},
	},
	"alma": {
		"BC":    &learners.ALMAConfig{P: 2, B: 1.11, C: 0.71},
		"alpha": &learners.ALMAConfig{P: 2, Alpha: 0.5},
		"p=4":   &learners.ALMAConfig{P: 4, Alpha: 0.9},
		"p=2.5": &learners.ALMAConfig{P: 2.5, B: 1, C: 1},
		"rbf, p=150": &learners.ALMAConfig{P: 2, B: 1.11, C: 0.71,
			OnlineConfig: onlineRBF(150)},
	},
	"cramma": {
		"epsilon=2": &learners.CRAMMAConfig{Epsilon: 2, Beta: 50, Eta: 0.02, EtaDelta: 0, R: 1},
		"R=3":       &learners.CRAMMAConfig{Epsilon: 0.7, Beta: 0.5, Eta: 0.3, EtaDelta: 0.4, R: 3},
		"rbf, p=250": &learners.CRAMMAConfig{Epsilon: 0.5, Beta: 1, Eta: 0.1, EtaDelta: 1,
			OnlineConfig: onlineRBF(250)},
	},
	"svm": {
		"no bias": &learners.SVMConfig{C: 10, Norm: 1, NoBias: true, Gap: 1e-5,
			KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		"2-norm": &learners.SVMConfig{C: 10, Norm: 2, Gap: 1e-6,
			KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		"rbf": &learners.SVMConfig{C: 10, Norm: 1, Gap: 1e-6,
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.5}},
		"poly 2-norm": &learners.SVMConfig{C: 10, Norm: 2, NoBias: true, Gap: 1e-6,
			KernelConfig: learner.KernelConfig{Kernel: "poly", Gamma: 1, Coef0: 1, Degree: 2}},
	},
	"budget": {
		"rbf, variable": &learners.BudgetConfig{Variable: true,
			UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1, Beta: 1},
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}},
		"rbf, p=150": &learners.BudgetConfig{Budget: 150,
			UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}},
		"rbf, no limit": &learners.BudgetConfig{
			UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}},
		"svm": &learners.BudgetConfig{Budget: 200,
			UpdateConfig: learners.UpdateConfig{Beta: 1, Update: "svm", C: 2},
			KernelConfig: learner.KernelConfig{Kernel: "linear"}},
	},
	"obpm": {
		"rbf":          kernelOBPM(30, 0.3, 310, learners.RemoveNorm),
		"rbf, project": kernelOBPM(150, 0.3, 200, learners.RemoveProject),
		"rbf, oldest":  kernelOBPM(70, 0.2, 310, learners.RemoveOldest),
		"rbf, errors":  kernelOBPM(20, 0.5, 200, learners.RemoveErrors),
		"rbf, all":     kernelOBPM(20, 0.3, 0, learners.RemoveNorm),

		"cap":      capped(obpmOf("pa", nil)),
		"of romma": obpmOf("romma", nil),
		"of cramma": obpmOf("cramma",
			&learners.CRAMMAConfig{Epsilon: 0.5, Beta: 0.5, Eta: 0.1, EtaDelta: 1, R: 3}),
		"of micra": obpmOf("micra", nil),
		"of perceptron, beta": obpmOf("perceptron", &learners.PerceptronConfig{Beta: 0.05,
			Eta: 0.5}),
		"of alma p=4":    obpmOf("alma", &learners.ALMAConfig{P: 4, Alpha: 0.9}),
		"of romma apart": apart(obpmOf("romma", nil)),
		"of romma, cap":  capped(obpmOf("romma", &learners.ROMMAConfig{Aggressive: true, Delta: 0.1})),
		"of pumma, cap":  capped(obpmOf("pumma", nil)),
		"of pumma p=4":   obpmOf("pumma", &learners.PUMMAConfig{P: "4", Delta: 0.1}),
		"of adf":         obpmOf("adf", &learners.ADFConfig{Covariance: "diagonal", Noise: 0.05}),
		"of pumma":       obpmOf("pumma", nil),
		"of scw":         obpmOf("scw", nil),
		"of budget": obpmOf("budget", &learners.BudgetConfig{Budget: 40,
			UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.5}}),
		"of sogp": obpmOf("sogp", &learners.SOGPConfig{Basis: 30, Novelty: 1e-4, Noise: 0.1,
			KernelConfig: learner.KernelConfig{Kernel: "linear"}}),
	},
	"ovr": {
		"of perceptron": &learners.OVRConfig{Base: "perceptron"},
		"of perceptron, beta": &learners.OVRConfig{Base: "perceptron",
			BaseConfig: &learners.PerceptronConfig{Beta: 0.05, Eta: 1}},
		"two classes": &learners.OVRConfig{Base: "pa", Classes: 2},
		"of adf":      &learners.OVRConfig{Base: "adf"},
		"of svm":      &learners.OVRConfig{Base: "svm"},
		"of romma":    &learners.OVRConfig{Base: "romma"},
		"of scw":      &learners.OVRConfig{Base: "scw"},
		"of pumma, soft, two": &learners.OVRConfig{Classes: 2, Base: "pumma",
			BaseConfig: &learners.PUMMAConfig{P: "2", Delta: 0.1, SoftC: 50}},
		"of budget": &learners.OVRConfig{Base: "budget", BaseConfig: &learners.BudgetConfig{
			Budget: 90, UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}}},
	},
	"ovo": {
		"of pa, two":    &learners.OVOConfig{Base: "pa", Classes: 2},
		"of perceptron": &learners.OVOConfig{Base: "perceptron"},
		"of svm":        &learners.OVOConfig{Base: "svm"},
		"of micra":      &learners.OVOConfig{Base: "micra"},
	},
	"mpa": {
		"PA":            &learners.MPAConfig{Variant: 0},
		"PA-II, of two": &learners.MPAConfig{Variant: 2, C: 0.3, Classes: 2},
	},
	"kmp": {
		"rbf, backfit": &learners.KMPConfig{Size: 60, Backfit: true,
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}},
	},
	"pairs": {
		"of alma, p = 3": &learners.PairsConfig{Base: "alma", BaseConfig: &learners.ALMAConfig{P: 3,
			Alpha: 0.9}},
		"of obpm": &learners.PairsConfig{Base: "obpm"},
	},
	"rff": {
		"pa": &learners.RFFConfig{D: 600, Sigma: 5, Base: "pa"},
		"scw": &learners.RFFConfig{D: 600, Sigma: 5, Base: "scw",
			BaseConfig: &learners.SCWConfig{Covariance: "diagonal", C: 1, Eta: 0.75}},
		"budget": &learners.RFFConfig{D: 600, Sigma: 5, Base: "budget",
			BaseConfig: &learners.BudgetConfig{Budget: 120,
				UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
				KernelConfig: learner.KernelConfig{Kernel: "linear"}}},
		"sogp": &learners.RFFConfig{D: 400, Sigma: 5, Base: "sogp",
			BaseConfig: &learners.SOGPConfig{Basis: 60, Novelty: 1e-4, Noise: 0.1,
				KernelConfig: learner.KernelConfig{Kernel: "linear"}}},
		"ovr": &learners.RFFConfig{D: 600, Sigma: 5, Base: "ovr",
			BaseConfig: &learners.OVRConfig{Base: "pa"}},
		"pumma": &learners.RFFConfig{D: 600, Sigma: 5, Base: "pumma",
			BaseConfig: &learners.PUMMAConfig{P: "auto", Delta: 0.1}},
	},
	"tbp": {
		"rbf, sv": &learners.TBPConfig{Budget: 260, ErrorCache: "sv", ErrorSize: 1,
			Ties: "margin", UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}},
		"rbf, candidates": &learners.TBPConfig{Budget: 260, ErrorCache: "random", ErrorSize: 200,
			Ties: "oldest", Candidates: 150, Removals: 2,
			UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}},
		"rbf, flips": &learners.TBPConfig{Budget: 200, ErrorCache: "flips", ErrorSize: 100,
			Ties: "oldest", UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}},
		"poly, random": &learners.TBPConfig{Budget: 260, ErrorCache: "random", ErrorSize: 100,
			Ties: "oldest", UpdateConfig: learners.UpdateConfig{Beta: 0.5, Update: "svm", C: 100},
			KernelConfig: learner.KernelConfig{Kernel: "poly", Gamma: 1, Coef0: 1, Degree: 2}},
	},
	"sogp": {
		"rbf": &learners.SOGPConfig{Basis: 60, Novelty: 1e-4, Noise: 0.1,
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.2}},
		"poly, step": &learners.SOGPConfig{Basis: 40, Novelty: 1e-3, Eps: 0.01,
			KernelConfig: learner.KernelConfig{Kernel: "poly", Gamma: 1, Coef0: 1, Degree: 2}},
	},
	"ng": {
		"small": &learners.NGConfig{Buffer: 4, Rank: 2, Decay: 0.98, Lambda: 0.1, Eta: 0.5},
	},
	"romma": {
		"aggressive": &learners.ROMMAConfig{Aggressive: true, Delta: 0.05},
		"rbf": &learners.ROMMAConfig{Aggressive: true, Delta: 0.1,
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}},
		"rbf, p=150": &learners.ROMMAConfig{Aggressive: true, Delta: 0.1, Budget: 150,
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}},
	},
	"micra": {
		"harder": &learners.MICRAConfig{Beta: 0.5, Epsilon: 0.3, Eta: 0.5, Zeta: 0.7},
		"rbf, p=250": &learners.MICRAConfig{Beta: 0.1, Epsilon: 0.3, Eta: 0.3, Zeta: 0.3,
			OnlineConfig: onlineRBF(250)},
	},
	"pumma": {
		"p=2.5": &learners.PUMMAConfig{P: "2.5", Delta: 0.1},
		"p=9.3": &learners.PUMMAConfig{P: "9.3", Delta: 0.1},
		"soft":  &learners.PUMMAConfig{P: "2", Delta: 0.1, SoftC: 50},
		"rbf": &learners.PUMMAConfig{P: "2", Delta: 0.1,
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}},
		"rbf, p=250": &learners.PUMMAConfig{P: "2", Delta: 0.1, SoftC: 100, Budget: 250,
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.02}},
		"soft, p=3.7": &learners.PUMMAConfig{P: "3.7", Delta: 0.1, SoftC: 50},
	},
	"adf": {
		"diagonal":  &learners.ADFConfig{Covariance: "diagonal", Noise: 0.05},
		"separable": &learners.ADFConfig{Covariance: "full"},
		"probit":    &learners.ADFConfig{Covariance: "full", Noise: 0.01, Probit: 0.3},
		"probit, diagonal": &learners.ADFConfig{Covariance: "diagonal", Noise: 0.05,
			Probit: 0.3},

		"noise estimated": &learners.ADFConfig{Covariance: "full", Noise: 0.05,
			NoiseAuto: true},
		"noise estimated, diagonal": &learners.ADFConfig{Covariance: "diagonal", Noise: 0.05,
			NoiseAuto: true},
	},
	"arow": {
		"full": &learners.AROWConfig{Covariance: "full", R: 1},
		"r":    &learners.AROWConfig{Covariance: "diagonal", R: 0.1},
	},
	"scw": {
		"full": &learners.SCWConfig{Covariance: "full", C: 1, Eta: 0.75},
		"C":    &learners.SCWConfig{Covariance: "diagonal", C: 10, Eta: 0.95},
	},
	"ep": {
		"probit": &learners.EPConfig{PointsConfig: learners.PointsConfig{Noise: 0.05,
			Tolerance: 1e-6, Sweeps: 100, Damping: 1, Probit: 0.3}},
	},
	"wep": {
		"noise estimated": &learners.WEPConfig{Buffer: 4, PointsConfig: learners.PointsConfig{
			Noise: 0.1, Tolerance: 1e-3, Sweeps: 10, Damping: 1, NoiseAuto: true}},
		"separable": &learners.WEPConfig{Buffer: 4,
			PointsConfig: learners.PointsConfig{Tolerance: 1e-3, Sweeps: 10, Damping: 1}},
	},
	"vvm": {
		"noise estimated": &learners.VVMConfig{Buffer: 6, Pairs: 2,
			PointsConfig: learners.PointsConfig{
				Noise: 0.1, Tolerance: 1e-3, Sweeps: 10, Damping: 1, NoiseAuto: true}},
		"probit": &learners.VVMConfig{Buffer: 6, PointsConfig: learners.PointsConfig{
			Noise: 0.1, Tolerance: 1e-3, Sweeps: 10, Damping: 1, Probit: 0.3}},
		"merge": &learners.VVMConfig{Buffer: 6, Pairs: 3,
			PointsConfig: learners.PointsConfig{Noise: 0.1, Tolerance: 1e-3, Sweeps: 10,
				Damping: 0.9}},
		"separable": &learners.VVMConfig{Buffer: 5, Pairs: 2,
			PointsConfig: learners.PointsConfig{Tolerance: 1e-3, Sweeps: 10, Damping: 1}},
	},
	"pa": {
		"PA":    &learners.PAConfig{Variant: 0},
		"PA-II": &learners.PAConfig{Variant: 2, C: 0.5},
		"rbf, p=150": &learners.PAConfig{Variant: 2, C: 1,
			OnlineConfig: onlineRBF(150)},
	},
}

// onlineRBF returns settings of the RBF kernel.
func onlineRBF(budget int) learners.OnlineConfig {
	return learners.OnlineConfig{Kernel: "rbf", Gamma: 0.5, Budget: budget}
}

// kernelOBPM returns settings with the RBF kernel.
func kernelOBPM(members int, tau float64, budget int, removal string) *learners.OBPMConfig {
	return &learners.OBPMConfig{Members: members, Tau: tau, Base: "perceptron",
		Combine: learners.CombineWeights, Together: true,
		Budget: budget, Removal: removal, KernelConfig: learner.KernelConfig{Kernel: "rbf",
			Gamma: 0.02}}
}

// obpmOf returns settings of few members over a base that has no members' form.
func obpmOf(base string, c learner.Config) *learners.OBPMConfig {
	return &learners.OBPMConfig{Members: 5, Tau: 0.5, Base: base, Combine: learners.CombineWeights,
		Together: true, BaseConfig: c}
}

// apart returns c with members of their own.
func apart(c *learners.OBPMConfig) *learners.OBPMConfig {
	c.Together = false
	return c
}

// capped returns c with step 15.
func capped(c *learners.OBPMConfig) *learners.OBPMConfig {
	c.Cap = true
	return c
}

func TestConformance(t *testing.T) {
	for _, name := range learner.Names() {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		run := func(variant string, c learner.Config) {
			t.Run(name+"/"+variant, func(t *testing.T) {
				t.Parallel()
				t.Run("f32", func(t *testing.T) { learnertest.Check[float32](t, e, c) })
				t.Run("f64", func(t *testing.T) { learnertest.Check[float64](t, e, c) })
			})
		}
		run("default", e.Config())
		for variant, c := range variants[name] {
			run(variant, c)
		}
	}
}

// TestDocLists: doc.go names every learner and its file.
func TestDocLists(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range learner.Names() {
		if !strings.Contains(string(doc), "//\t"+name+" ") {
			t.Errorf("doc.go does not list %s", name)
		}
	}
}

// TestBits pins the state that fixed examples lead to, so that every architecture is compared with
// the same bits. The examples are multiples of 1/64 by integer arithmetic alone.
func TestBits(t *testing.T) {
	for _, c := range []struct {
		name     string
		config   learner.Config
		f32, f64 string
	}{
		{"perceptron", &learners.PerceptronConfig{Margin: 0.3, Eta: 0.1}, "358521a5a599",
			"5b51cdafbae9"},
		{"perceptron", &learners.PerceptronConfig{Beta: 0.3, Eta: 0.1}, "f9fb717b56c3",
			"983c9a514d21"},
		{"alma", &learners.ALMAConfig{P: 2}, "b77e7e5e24dd", "2179c1288fa8"},
		{"alma", &learners.ALMAConfig{P: 4, Alpha: 0.5}, "7ec227a9e6c2", "7ec227a9e6c2"},
		{"alma", &learners.ALMAConfig{P: 2.3, Alpha: 0.5}, "c64b9e4bb23d", "c64b9e4bb23d"},
		{"cramma", &learners.CRAMMAConfig{Epsilon: 0.5, Beta: 1, Eta: 0.1, EtaDelta: 1, R: 3},
			"553fde296c4f", "8e850aa7bef5"},
		{"cramma", &learners.CRAMMAConfig{Epsilon: 0.7, Beta: 0.5, Eta: 0.1, EtaDelta: 0.3, R: 3},
			"e0c520d107c7", "f46a05b49a8e"},
		{"lms", &learners.LMSConfig{Eta: 0.01}, "76597a1b5052", "01f7a107fefd"},
		{"pa", &learners.PAConfig{Variant: 0}, "146d200cd2bc", "1d877bf0d6d0"},
		{"pa", &learners.PAConfig{Variant: 1, C: 0.05}, "a2ddb56050f7", "dcb6b3884410"},
		{"pa", &learners.PAConfig{Variant: 2}, "8a86dbd29bbc", "34d69073354b"},
		{"romma", &learners.ROMMAConfig{Aggressive: true, Delta: 0.1}, "99839e5ea4ea",
			"72be107d4bb1"},
		{"micra", &learners.MICRAConfig{Beta: 0.1, Epsilon: 0.3, Eta: 1, Zeta: 0.9}, "12f2e2030f6e",
			"de8dbd40fba9"},
		{"pumma", &learners.PUMMAConfig{P: "2", Delta: 0.1}, "fb49416114ec", "fb49416114ec"},
		{"pumma", &learners.PUMMAConfig{P: "7.3", Delta: 0.1}, "7c487977402a", "7c487977402a"},
		{"pumma", &learners.PUMMAConfig{P: "2.7", Delta: 0.1, SoftC: 2}, "7a3cea1b7388",
			"7a3cea1b7388"},
		{"adf", &learners.ADFConfig{Covariance: "full", Noise: 0.05}, "a2e91a7b7d06",
			"a2e91a7b7d06"},
		{"adf", &learners.ADFConfig{Covariance: "diagonal", Noise: 0.05}, "d71ee8ed811f",
			"d71ee8ed811f"},
		{"arow", &learners.AROWConfig{Covariance: "full", R: 0.5}, "6b2984d6948f", "6b2984d6948f"},
		{"arow", &learners.AROWConfig{Covariance: "diagonal", R: 0.5}, "119e4f0b4772",
			"119e4f0b4772"},
		{"ep", &learners.EPConfig{PointsConfig: learners.PointsConfig{Noise: 0.05, Tolerance: 1e-6,
			Sweeps: 30, Damping: 0.9}}, "e8a0aedbf353", "e8a0aedbf353"},
		{"wep", &learners.WEPConfig{Buffer: 5, PointsConfig: learners.PointsConfig{Noise: 0.02,
			Tolerance: 1e-4, Sweeps: 8, Damping: 1}}, "d14d22908291", "d14d22908291"},
		{"vvm", &learners.VVMConfig{Buffer: 5, Pairs: 4,
			PointsConfig: learners.PointsConfig{Noise: 0.05, Tolerance: 1e-4, Sweeps: 8,
				Damping: 1}}, "e53ba7bec6a0", "e53ba7bec6a0"},
	} {
		if got := bits[float32](t, c.name, c.config); got != c.f32 {
			t.Errorf("%s %+v, f32: %s, want %s", c.name, c.config, got, c.f32)
		}
		if got := bits[float64](t, c.name, c.config); got != c.f64 {
			t.Errorf("%s %+v, f64: %s, want %s", c.name, c.config, got, c.f64)
		}
	}
}

// bits returns the head of a hash of the state after two epochs over dense and sparse examples.
func bits[T learner.Float](t *testing.T, name string, c learner.Config) string {
	t.Helper()
	const n, dim = 200, 37
	X, y := make([][]float64, n), make([]float64, n)
	state := uint64(1)
	next := func(k uint64) int {
		state = state*6364136223846793005 + 1442695040888963407
		return int(state >> 33 % k)
	}
	for i := range X {
		X[i] = make([]float64, dim)
		sum := 0
		for j := range X[i] {
			if next(3) == 0 {
				v := next(129) - 64
				X[i][j] = float64(v) / 64
				sum += v * (j%5 - 2)
			}
		}
		if y[i] = 1; sum < 0 || next(20) == 0 {
			y[i] = -1
		}
	}
	l := newLearner[T](t, name, c)
	rounds := make([]learner.Round, n)
	for _, form := range forms {
		var err error
		if b := block[T](form, X, y); !c.Traits().Stream {
			_, err = l.(learner.Fitter[T]).Fit(t.Context(), b, learner.FitOptions{})
		} else {
			err = l.Learn(b, rounds)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256(learnertest.StateBytes(l.State()))
	return hex.EncodeToString(sum[:6])
}

func TestRegistry(t *testing.T) {
	if _, err := learner.Lookup("oracle"); !errors.Is(err, learner.ErrConfig) ||
		!strings.Contains(err.Error(), "perceptron") {
		t.Errorf("an unknown name: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a name taken twice does not panic")
		}
	}()
	learner.Register("lms", (*learners.LMSConfig)(nil))
}
