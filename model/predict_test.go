package model

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
)

// TestPredictOnly: of every learner a model that only predicts gives the scores and probabilities
// of the whole one, to the bit, is smaller where learning on needs more, and refuses to be learned
// on.
func TestPredictOnly(t *testing.T) {
	t.Parallel()
	for _, s := range smallModels(t) {
		t.Run(s.name, func(t *testing.T) {
			if s.f64 {
				testPredictOnly[float64](t, &s)
			} else {
				testPredictOnly[float32](t, &s)
			}
		})
	}
}

func testPredictOnly[T learner.Float](t *testing.T, s *smallModel) {
	whole := s.make(t)
	m := predicting[T](t, whole)
	data := encode(t, m)
	if n := len(encode(t, whole)); strings.HasPrefix(s.name, "obpm-f") && len(data) >= n {
		t.Errorf("%d bytes, %d of the whole model", len(data), n)
	}
	back := must(Decode(data))(t)
	if !back.PredictOnly || !bytes.Equal(encode(t, back), data) {
		t.Error("read and written it is another file")
	}
	if l, err := Restore[T](back, nil); !errors.Is(err, ErrPredictOnly) || l != nil {
		t.Errorf("Restore: %v, want %v", err, ErrPredictOnly)
	}
	back.Prep = whole.Prep
	got, want := scoresOf[T](t, back), scoresOf[T](t, whole)
	if p, err := RestorePredictor[T](back, nil); err != nil {
		t.Fatal(err)
	} else if learner.ProbaOf(p) == nil && len(got) < len(want) { // an average without its members
		n := len(got) / 2
		want = slices.Concat(want[:n], want[2*n:3*n])
	}
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d", len(got), len(want))
	}
	for i, v := range got {
		if math.Float64bits(v) != math.Float64bits(want[i]) {
			t.Fatalf("answer %d is %v, want %v", i, v, want[i])
		}
	}
	mixed := *whole // the State of a learner under the name of a predictor's
	mixed.PredictOnly = true
	if _, err := RestorePredictor[T](&mixed, nil); !errors.Is(err, ErrDamaged) ||
		!errors.Is(err, learner.ErrState) {
		t.Errorf("a learner's State: %v, want %v", err, ErrDamaged)
	}
}

// TestPredictOnlyHostile: files of predictors that were cut or changed, and predictors of the other
// precision, are refused by errors of a kind that says so, or are good; none of them panics.
func TestPredictOnlyHostile(t *testing.T) {
	t.Parallel()
	for _, s := range smallModels(t) {
		t.Run(s.name, func(t *testing.T) {
			s.predictOnly = true
			m := s.make(t)
			other := func(m *Model) (err error) {
				if s.f64 {
					_, err = RestorePredictor[float32](m, nil)
				} else {
					_, err = RestorePredictor[float64](m, nil)
				}
				return err
			}
			if err := other(m); err == nil {
				t.Error("a predictor of the other precision was made")
			}
			use := func(what string, data []byte, cut bool) {
				t.Helper()
				m, err := Decode(data)
				if err != nil {
					if !refused(err) {
						t.Errorf("%s: an error of no kind: %v", what, err)
					}
					return
				}
				if cut {
					t.Errorf("%s was read", what)
				}
				if s.f64 {
					predictAll[float64](t, m)
				} else {
					predictAll[float32](t, m)
				}
			}
			data := encode(t, m)
			for n := 0; n < len(data); n += 1 + len(data)/50 {
				use(fmt.Sprintf("%d of %d bytes", n, len(data)), data[:n], true)
				changed := slices.Clone(data)
				changed[n] ^= 0x41
				use(fmt.Sprintf("byte %d changed", n), changed, false)
			}
			use("all but a byte", data[:len(data)-1], true)
			use("a byte more", append(slices.Clone(data), 0), true)
		})
	}
}
