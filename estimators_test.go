package halfspace_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestNewOfTwoLabels: a model of every learner that New makes for two labels can be saved, loaded
// and learned on, with the labels' names; Positive of a learner of classes is refused.
func TestNewOfTwoLabels(t *testing.T) {
	rows := &halfspace.Rows{N: 2, Dim: 2, F32: []float32{1, 0, 0, 1}, Labels: []int32{0, 1},
		Names: []string{"ham", "spam"}}
	for _, name := range learner.Names() {
		e := must(learner.Lookup(name))(t)
		traits := e.Config().Traits()
		o := halfspace.Options{Learner: name, Data: halfspace.Data{Positive: "spam",
			Classes: rows.Names}}
		if traits.Classes {
			for _, classes := range [][]string{nil, rows.Names} {
				o.Classes = classes
				if _, err := halfspace.New(o); !errors.Is(err, training.ErrOption) {
					t.Errorf("%s with a positive label: %v, want %v", name, err, training.ErrOption)
				}
				_, err := halfspace.TrainRows(t.Context(), o, rows)
				if !errors.Is(err, training.ErrOption) {
					t.Errorf("%s trained with a positive label: %v, want %v", name, err,
						training.ErrOption)
				}
			}
			o.Positive, o.Classes = "", rows.Names
		}
		m, err := halfspace.New(o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for range 2 {
			if !slices.Equal(m.Classes(), rows.Names) {
				t.Errorf("%s: classes %q", name, m.Classes())
			}
			if traits.Stream {
				if _, err := m.LearnRows(t.Context(), rows); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			m.SetNote("a note")
			var b bytes.Buffer
			ok(t, m.Encode(&b))
			if m, err = halfspace.Decode(b.Bytes()); err != nil || m.Note() != "a note" {
				t.Fatalf("%s: note %q, %v", name, m.Note(), err)
			}
		}
	}
	for _, classes := range [][]string{{"a", "b"}, {"spam", "spam"}, {"spam", ""},
		{"a", "b", "spam"}} {
		_, err := halfspace.New(halfspace.Options{Learner: "pa", Data: halfspace.Data{
			Positive: "spam", Classes: classes}})
		if !errors.Is(err, training.ErrOption) {
			t.Errorf("positive spam of %q: %v, want %v", classes, err, training.ErrOption)
		}
	}
}

// TestLearnRowsIsWhole: LearnRows that refuses a row has learned none and has no new class,
// wherever the row stands.
func TestLearnRowsIsWhole(t *testing.T) {
	const n = 3000
	for _, o := range []halfspace.Options{{Learner: "pa"}, {Learner: "mpa"},
		{Learner: "pa", Data: halfspace.Data{Scale: "std"}}} {
		for _, at := range []int{0, 5, n - 1} {
			for what, spoil := range map[string]func(r *halfspace.Rows){
				"value":  func(r *halfspace.Rows) { r.F64[2*at+1] = 1e300 },
				"NaN":    func(r *halfspace.Rows) { r.F64[2*at] = math.NaN() },
				"label":  func(r *halfspace.Rows) { r.Labels[at] = -1 },
				"weight": func(r *halfspace.Rows) { r.Weights[at] = -1 },
			} {
				m := must(halfspace.New(o))(t)
				r := &halfspace.Rows{N: n, Dim: 2, F64: make([]float64, 2*n),
					Labels: make([]int32, n), Names: []string{"-1", "+1"},
					Weights: make([]float64, n)}
				for i := range n {
					r.Labels[i], r.Weights[i], r.F64[2*i+i%2] = int32(i%2), 1, 1
				}
				var before, after bytes.Buffer
				ok(t, m.Encode(&before))
				spoil(r)
				if _, err := m.LearnRows(t.Context(), r); !errors.Is(err, halfspace.ErrRows) {
					t.Errorf("%s: row %d, %s: %v, want %v", o.Learner, at, what, err,
						halfspace.ErrRows)
				}
				ok(t, m.Encode(&after))
				if !bytes.Equal(before.Bytes(), after.Bytes()) {
					t.Errorf("%s: row %d, %s: refused, but the model is another", o.Learner, at,
						what)
				}
			}
		}
	}
}
