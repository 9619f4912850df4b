package model

import (
	"errors"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// bent is a learner whose State is changed.
type bent struct {
	learner.Learner[float64]
	change func(s *learner.State)
}

func (b bent) State() learner.State {
	s := b.Learner.State()
	b.change(&s)
	return s
}

func (b bent) CheckState(s learner.State) error {
	return b.Learner.CheckState(s)
}

// TestCaptureRefuses: what could not be loaded again is not captured.
func TestCaptureRefuses(t *testing.T) {
	t.Parallel()
	e, err := learner.Lookup("perceptron")
	if err != nil {
		t.Fatal(err)
	}
	good, bad := e.Config(), &learners.PerceptronConfig{Eta: -1}
	l, err := learner.New[float64](e, good, learner.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Learn(smallRows[float64](5, false), make([]learner.Round, 5)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		config learner.Config
		change func(s *learner.State)
		want   error
	}{
		{"nothing wrong", good, func(*learner.State) {}, nil},
		{"NaN", good, func(s *learner.State) { s.Tensors[0].Data.([]float64)[1] = math.NaN() },
			ErrNotFinite},
		{"a tensor less", good, func(s *learner.State) { s.Tensors = nil }, learner.ErrState},
		{"a counter more", good, func(s *learner.State) { s.Counters["more"] = 1 }, ErrInvalid},
		{"settings", bad, func(*learner.State) {}, ErrInvalid},
	} {
		if m, err := Capture("perceptron", c.config, 0,
			learner.Learner[float64](bent{l, c.change})); !errors.Is(err, c.want) ||
			(m == nil) != (c.want != nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// TestCountsEnd: counters of a file that no run can have reached are refused, and those next to the
// end stay there.
func TestCountsEnd(t *testing.T) {
	t.Parallel()
	for _, s := range smallModels(t) {
		if s.f64 || !s.noBatch {
			continue
		}
		m := s.make(t)
		most := uint64(MaxCount)
		names := []string{"updates", "presented", "seen", "passed", "sweeps"}
		for _, name := range names {
			if _, ok := m.State.Counters[name]; ok {
				m.State.Counters[name] = most + 1
				if _, err := Restore[float32](m, nil); !errors.Is(err, ErrDamaged) ||
					!errors.Is(err, learner.ErrState) {
					t.Errorf("%s: counter %s is %d: %v", s.name, name, most+1, err)
				}
				m.State.Counters[name] = most
			}
		}
		l, err := Restore[float32](m, nil)
		if err != nil {
			t.Errorf("%s: counters of %d: %v", s.name, most, err)
			continue
		}
		b := smallRows[float32](20, false)
		if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		again, err := Capture(m.Learner, s.config, m.Seed, l)
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		for _, name := range names {
			if n, ok := again.State.Counters[name]; ok && n != most {
				t.Errorf("%s: counter %s is %d after learning on from %d", s.name, name, n, most)
			}
		}
		if _, err := Restore[float32](again, nil); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}
