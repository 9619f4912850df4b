package learners_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/learners/internal/learnertest"
)

// variants lists settings beside the defaults under which a learner must pass too.
var variants = map[string]map[string]learners.Config{
	"perceptron": {
		"margin": &learners.PerceptronConfig{Margin: 0.3, Eta: 0.25},
	},
	"alma": {
		"BC":    &learners.ALMAConfig{P: 2, B: 1.11, C: 0.71},
		"alpha": &learners.ALMAConfig{P: 2, Alpha: 0.5},
		"p=4":   &learners.ALMAConfig{P: 4, Alpha: 0.9},
		"p=2.5": &learners.ALMAConfig{P: 2.5, B: 1, C: 1},
	},
	"pa": {
		"PA":    &learners.PAConfig{Variant: 0},
		"PA-II": &learners.PAConfig{Variant: 2, C: 0.5},
	},
}

func TestConformance(t *testing.T) {
	for _, name := range learners.Names() {
		e, err := learners.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		run := func(variant string, c learners.Config) {
			t.Run(name+"/"+variant, func(t *testing.T) {
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
	for _, name := range learners.Names() {
		if !strings.Contains(string(doc), "//\t"+name+" ") {
			t.Errorf("doc.go does not list %s", name)
		}
	}
}

// TestBits pins the state that fixed examples lead to, so that every architecture is held to the same bits. The examples are multiples
// of 1/64 by integer arithmetic alone.
func TestBits(t *testing.T) {
	for _, c := range []struct {
		name     string
		config   learners.Config
		f32, f64 string
	}{
		{"perceptron", &learners.PerceptronConfig{Margin: 0.3, Eta: 0.1}, "358521a5a599", "5b51cdafbae9"},
		{"alma", &learners.ALMAConfig{P: 2}, "942e63cf4369", "65b3c238168f"},
		{"alma", &learners.ALMAConfig{P: 4, Alpha: 0.5}, "2898dcde2a72", "2898dcde2a72"},
		{"alma", &learners.ALMAConfig{P: 2.3, Alpha: 0.5}, "2acf1afd98a8", "2acf1afd98a8"},
		{"lms", &learners.LMSConfig{Eta: 0.01}, "76597a1b5052", "01f7a107fefd"},
		{"pa", &learners.PAConfig{Variant: 0}, "146d200cd2bc", "1d877bf0d6d0"},
		{"pa", &learners.PAConfig{Variant: 1, C: 0.05}, "a2ddb56050f7", "dcb6b3884410"},
		{"pa", &learners.PAConfig{Variant: 2}, "8a86dbd29bbc", "34d69073354b"},
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
func bits[T learners.Float](t *testing.T, name string, c learners.Config) string {
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
	rounds := make([]learners.Round, n)
	for _, form := range forms {
		if err := l.Learn(block[T](form, X, y), rounds); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256(learnertest.StateBytes(l.State()))
	return hex.EncodeToString(sum[:6])
}

func TestRegistry(t *testing.T) {
	if _, err := learners.Lookup("oracle"); !errors.Is(err, learners.ErrConfig) || !strings.Contains(err.Error(), "perceptron") {
		t.Errorf("an unknown name: %v", err)
	}
	e, err := learners.Lookup("lms")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a name taken twice does not panic")
		}
	}()
	learners.Register(e)
}
