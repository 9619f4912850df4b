package learners_test

import (
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
