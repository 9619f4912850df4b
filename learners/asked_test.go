package learners_test

import (
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// moreAsked are settings beside the variants whose Score has scratch of its own.
var moreAsked = map[string]map[string]learner.Config{
	"obpm": {
		"vote": &learners.OBPMConfig{Members: 70, Tau: 0.3, Base: "perceptron",
			Combine: learners.CombineVote},
		"alma": &learners.OBPMConfig{Members: 20, Tau: 0.5, Base: "alma",
			Combine: learners.CombineWeights},
	},
	"rff": {
		"vvm": &learners.RFFConfig{D: 40, Sigma: 2, Base: "vvm"},
		"vote": &learners.RFFConfig{D: 40, Sigma: 2, Base: "obpm",
			BaseConfig: &learners.OBPMConfig{Members: 70, Tau: 0.3, Base: "perceptron",
				Combine: learners.CombineVote}},
		"ng": &learners.RFFConfig{D: 40, Sigma: 2, Base: "ng"},
	},
}

// TestSnapshots: a Predictor of every learner answers many who ask at once while the learner learns
// on.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	eachAsked(t, learnertest.Snapshots[float32], learnertest.Snapshots[float64])
}

// TestAsked: every learner gives scores and probabilities without labels, and to many who ask at
// once.
func TestAsked(t *testing.T) {
	t.Parallel()
	eachAsked(t, learnertest.Asked[float32], learnertest.Asked[float64])
}

// eachAsked runs a test of each learner with all of its settings.
func eachAsked(t *testing.T, test32, test64 func(*testing.T, learner.Entry, learner.Config)) {
	for _, name := range learner.Names() {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		run := func(variant string, c learner.Config) {
			t.Run(name+"/"+variant, func(t *testing.T) {
				t.Parallel()
				t.Run("f32", func(t *testing.T) { test32(t, e, c) })
				// which goroutine touches what does not depend on the precision
				if variant == "default" {
					t.Run("f64", func(t *testing.T) { test64(t, e, c) })
				}
			})
		}
		run("default", e.Config())
		for variant, c := range variants[name] {
			run(variant, c)
		}
		for variant, c := range moreAsked[name] {
			run(variant, c)
		}
	}
}
