package halfspace_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/training"
)

func ExampleModel_Interval() {
	m, err := halfspace.New(halfspace.Options{Learner: "obpm",
		Settings: map[string]any{"members": 50, "tau": 0.3},
		Data:     halfspace.Data{Positive: "spam"}}, "free", "meeting")
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 20 {
		m.LearnOne(m.Row().Set("free", 1), "spam")
		m.LearnOne(m.Row().Set("meeting", 1), "ham")
	}
	row := m.Row().Set("free", 1).Set("meeting", 0.5)
	score, _ := m.Score(row)
	low, high, err := m.Interval(row, 0.9)
	fmt.Println(low <= score && score <= high, err)
	// Output: true <nil>
}

// TestInterval: intervals hold the score, follow what is learned, and are there for members alone.
func TestInterval(t *testing.T) {
	make1 := func(learner string, classes ...string) *halfspace.Model {
		o := halfspace.Options{Learner: learner, Data: halfspace.Data{Classes: classes}}
		if o.Seed = new(uint64(1)); len(classes) == 0 {
			o.Positive = "a"
		}
		m := must(halfspace.New(o, "x", "y"))(t)
		return m
	}
	m := make1("obpm")
	row := func(m *halfspace.Model) *halfspace.Row { return m.Row().Set("x", 1).Set("y", -1) }
	if low, high, err := m.Interval(row(m), 0.5); low != 0 || high != 0 || err != nil {
		t.Errorf("of nothing: %v, %v, %v", low, high, err)
	}
	must(m.LearnOne(row(m), "a"))(t)
	_, half, err := m.Interval(row(m), 0.5)
	low, high, err2 := m.Interval(row(m), 0.99)
	if err := errors.Join(err, err2); err != nil || low != 0 || !(high > 0) || half > high {
		t.Errorf("%v, %v, half %v, %v", low, high, half, err)
	}
	var file bytes.Buffer
	ok(t, m.Snapshot().Encode(&file))
	fixed := must(halfspace.Decode(file.Bytes()))(t)
	for name, c := range map[string]struct {
		m     *halfspace.Model
		share float64
		want  error
	}{
		"share 0":      {m, 0, training.ErrOption},
		"share 1":      {m, 1, training.ErrOption},
		"no members":   {make1("pa"), 0.9, halfspace.ErrMembers},
		"classes":      {make1("obpm", "a", "b", "c"), 0.9, halfspace.ErrMembers},
		"predict only": {fixed, 0.9, halfspace.ErrMembers},
	} {
		if _, _, err := c.m.Interval(row(c.m), c.share); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, _, err := m.Interval(m.Row().Set("z", 1), 0.9); !errors.Is(err, halfspace.ErrFeature) {
		t.Errorf("another feature: %v", err)
	}
}
