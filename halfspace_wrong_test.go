package halfspace_test

import (
	"errors"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestFeatureNamedLabel: a feature may have the name that the label's column has by default.
func TestFeatureNamedLabel(t *testing.T) {
	m := must(halfspace.New(halfspace.Options{Learner: "perceptron", Precision: "f64"}, "a",
		"label"))(t)
	must(m.LearnOne(m.Row().Set("label", 2), "+1"))(t)
	file := filepath.Join(t.TempDir(), "m.model")
	ok(t, m.Save(file))
	m = must(halfspace.Load(file))(t)
	for name, want := range map[string]float64{"a": 0, "label": 2} {
		if f, err := m.Score(m.Row().Set(name, 1)); f != want || err != nil {
			t.Errorf("score of feature %s: %v, %v, want %v", name, f, err, want)
		}
	}
}

// TestWrongRows: what is wrong with a row is an error and no score, not one of the row before.
func TestWrongRows(t *testing.T) {
	m := must(halfspace.New(halfspace.Options{Learner: "adf"}, "a", "b"))(t)
	must(m.LearnOne(m.Row().Set("a", 1), "+1"))(t)
	for _, ask := range []func(*halfspace.Row) (float64, error){m.Score, m.Proba,
		func(r *halfspace.Row) (float64, error) { return m.LearnOne(r, "+1") }} {
		must(m.Score(m.Row().Set("a", 1)))(t)
		for name, r := range map[string]*halfspace.Row{"nil": nil,
			"NaN": m.Row().Set("b", math.NaN()), "number": m.Row().At(3, 1)} {
			if f, err := ask(r); f != 0 || err == nil {
				t.Errorf("%s: score %v, error %v, want 0 and an error", name, f, err)
			}
		}
	}
}

// TestForeignRows: a row means features by their names and numbers, whatever another model's are.
func TestForeignRows(t *testing.T) {
	fresh := func(features ...string) *halfspace.Model {
		m := must(halfspace.New(halfspace.Options{Learner: "adf"}, features...))(t)
		return m
	}
	named, numbered := fresh("a", "b"), fresh()
	for _, c := range []struct {
		what string
		m    *halfspace.Model
		r    *halfspace.Row
		want error
	}{
		{"own", named, named.Row(), nil},
		{"its snapshot's", named, named.Snapshot().Row(), nil},
		{"of the same names", named, fresh("a", "b").Row(), nil},
		{"of names in another order", named, fresh("b", "a").Row(), halfspace.ErrFeature},
		{"of other names", named, fresh("a", "c").Row(), halfspace.ErrFeature},
		{"of more names", named, fresh("a", "b", "c").Row(), halfspace.ErrFeature},
		{"numbered, of names", named, numbered.Row(), halfspace.ErrFeature},
		{"named, of numbers", numbered, named.Row(), halfspace.ErrFeature},
		{"of numbers", numbered, fresh().Row(), nil},
		{"of no model", numbered, new(halfspace.Row), halfspace.ErrFeature},
	} {
		c.r.At(1, 1)
		for name, ask := range map[string]func(*halfspace.Row) (float64, error){
			"Score": c.m.Score, "Proba": c.m.Proba, "Score of Snapshot": c.m.Snapshot().Score,
			"LearnOne": func(r *halfspace.Row) (float64, error) { return c.m.LearnOne(r, "1") },
		} {
			if f, err := ask(c.r); !errors.Is(err, c.want) || err != nil && f != 0 {
				t.Errorf("a row %s: %s: %v, %v, want %v", c.what, name, f, err, c.want)
			}
		}
	}
}

// TestNoModel: what is not a model panics at once, whatever it is asked.
func TestNoModel(t *testing.T) {
	var none *halfspace.Model
	for what, ask := range map[string]func(){
		"nil Row":       func() { none.Row() },
		"nil Score":     func() { none.Score(nil) },
		"nil LearnOne":  func() { none.LearnOne(nil, "1") },
		"nil Save":      func() { none.Save("x") },
		"nil Snapshot":  func() { none.Snapshot() },
		"zero Row":      func() { new(halfspace.Model).Row() },
		"zero Score":    func() { new(halfspace.Model).Score(nil) },
		"zero Labels":   func() { new(halfspace.Model).Labels() },
		"zero Predict":  func() { new(halfspace.Model).Predict(t.Context()) },
		"zero Test":     func() { new(halfspace.Model).Test(t.Context()) },
		"zero LearnOne": func() { new(halfspace.Model).LearnOne(nil, "1") },
		"zero Save":     func() { new(halfspace.Model).Save("x") },
		"zero Snapshot": func() { new(halfspace.Snapshot).Save("x") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			ask()
		}()
	}
}

// TestDiverges: steps that grow without end are an error at the rows at which the weights leave the
// range of numbers, by every call that learns, and until then the model can be saved.
func TestDiverges(t *testing.T) {
	for _, precision := range []string{"f32", "f64"} {
		o := halfspace.Options{Learner: "lms", Settings: map[string]any{"eta": 5.},
			Precision: precision}
		learn := map[string]func(m *halfspace.Model, i int) error{
			"one": func(m *halfspace.Model, i int) error {
				_, err := m.LearnOne(m.Row().At(0, 1).At(1, 2), []string{"1", "-1"}[i%2])
				return err
			},
			"rows": func(m *halfspace.Model, i int) error {
				_, err := m.LearnRows(t.Context(), &halfspace.Rows{N: 1, Dim: 2,
					F64: []float64{1, 2}, Labels: []int32{int32(i % 2)},
					Names: []string{"1", "-1"}})
				return err
			},
		}
		for name, one := range learn {
			m := must(halfspace.New(o))(t)
			var err error
			for i := 0; err == nil && i < 2000; i++ {
				if e := m.Encode(io.Discard); e != nil {
					t.Fatalf("%s, %s: after %d examples without an error: %v", precision, name,
						i, e)
				}
				err = one(m, i)
			}
			if !errors.Is(err, learner.ErrDiverged) {
				t.Errorf("%s, %s: got %v, want %v", precision, name, err, learner.ErrDiverged)
			}
		}
		rows := &halfspace.Rows{N: 2000, Dim: 2, F64: make([]float64, 4000),
			Labels: make([]int32, 2000), Names: []string{"1", "-1"}}
		for i := range rows.F64 {
			rows.F64[i] = float64(1 + i%2)
			rows.Labels[i/2] = int32(i / 2 % 2)
		}
		o.Data.Scale, o.Data.Bias, o.Data.Normalize = "none", "none", "none"
		if _, err := halfspace.TrainRows(t.Context(), o, rows); !errors.Is(err,
			training.ErrDiverged) || !strings.Contains(err.Error(), "lms: examples ") {
			t.Errorf("%s: TrainRows: %v, want %v", precision, err, training.ErrDiverged)
		}
	}
}
