package halfspace_test

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/training"
)

// TestNewRefuses: New passes over nothing that it was asked for.
func TestNewRefuses(t *testing.T) {
	five := int64(5)
	for name, o := range map[string]halfspace.Options{
		"bias":          {Learner: "pa", Data: halfspace.Data{Bias: "yes"}},
		"normalize":     {Learner: "pa", Data: halfspace.Data{Normalize: "l2"}},
		"normalize max": {Learner: "pa", Data: halfspace.Data{Normalize: "max"}},
		"rho < 0":       {Learner: "perceptron", Rho: -1},
		"rho NaN":       {Learner: "perceptron", Rho: math.NaN()},
		"rho, bias": {Learner: "perceptron", Rho: 2,
			Data: halfspace.Data{Bias: "append"}},
		"rho of pumma":     {Learner: "pumma", Rho: 2},
		"format":           {Learner: "pa", Data: halfspace.Data{Format: "csv"}},
		"label_col":        {Learner: "pa", Data: halfspace.Data{LabelCol: "3"}},
		"max_updates":      {Learner: "pa", MaxUpdates: &five},
		"checkpoint_every": {Learner: "pa", CheckpointEvery: "5"},
		"files":            {Learner: "pa", Files: []string{"a"}},
	} {
		if m, err := halfspace.New(o); m != nil || !errors.Is(err, training.ErrOption) {
			t.Errorf("%s: got %v, want %v", name, err, training.ErrOption)
		}
	}
	for _, names := range [][]string{{"a", "a"}, {"a", ""}} {
		_, err := halfspace.New(halfspace.Options{Learner: "pa"}, names...)
		if !errors.Is(err, halfspace.ErrFeature) {
			t.Errorf("features %q: got %v, want %v", names, err, halfspace.ErrFeature)
		}
	}
}

// TestFeatureNamedLabel: a feature may have the name that the label's column has by default.
func TestFeatureNamedLabel(t *testing.T) {
	m, err := halfspace.New(halfspace.Options{Learner: "perceptron", Precision: "f64"}, "a",
		"label")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.LearnOne(m.Row().Set("label", 2), "+1"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "m.model")
	if err := m.Save(file); err != nil {
		t.Fatal(err)
	}
	if m, err = halfspace.Load(file); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"a": 0, "label": 2} {
		if f, err := m.Score(m.Row().Set(name, 1)); f != want || err != nil {
			t.Errorf("score of feature %s: %v, %v, want %v", name, f, err, want)
		}
	}
}

// TestWrongRows: what is wrong with a row is an error and no score, not one of the row before.
func TestWrongRows(t *testing.T) {
	m, err := halfspace.New(halfspace.Options{Learner: "adf"}, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.LearnOne(m.Row().Set("a", 1), "+1"); err != nil {
		t.Fatal(err)
	}
	for _, ask := range []func(*halfspace.Row) (float64, error){m.Score, m.Proba,
		func(r *halfspace.Row) (float64, error) { return m.LearnOne(r, "+1") }} {
		if _, err := m.Score(m.Row().Set("a", 1)); err != nil {
			t.Fatal(err)
		}
		for name, r := range map[string]*halfspace.Row{"nil": nil,
			"NaN": m.Row().Set("b", math.NaN()), "number": m.Row().At(3, 1)} {
			if f, err := ask(r); f != 0 || err == nil {
				t.Errorf("%s: score %v, error %v, want 0 and an error", name, f, err)
			}
		}
	}
}
