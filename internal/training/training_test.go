package training

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// TestCheckpointMarks reads numbers of examples and times.
func TestCheckpointMarks(t *testing.T) {
	for text, want := range map[string]string{"1000": "1000 0s", "60s": "0 1m0s",
		"1h30m": "0 1h30m0s"} {
		n, d, err := checkpointMarks(text)
		if got := fmt.Sprint(n, d); err != nil || got != want {
			t.Errorf("%q: %s (%v), want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-5", "-3s", "soon"} {
		if _, _, err := checkpointMarks(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestRatios: ratios are written with two digits that mean something, very large ones by their
// power.
func TestRatios(t *testing.T) {
	for ratio, want := range map[float64]string{
		100: "100", 123456: "120000", 9.96e6: "10000000", 1e7: "1.0e+07", 4.5e29: "4.5e+29",
	} {
		if got := times(ratio); got != want {
			t.Errorf("times(%v) = %q, want %q", ratio, got, want)
		}
	}
}

// TestModelFits: a small file may name a feature for whose tables no machine has the memory.
func TestModelFits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		learner, tensor string
		last            int32
		fits            bool
	}{
		{"obpm", "features", 1 << 20, true},
		{"obpm", "features", 1<<31 - 2, false},
		{"budget", "sv_idx", 1 << 20, true},
		{"budget", "sv_idx", 1<<31 - 2, false},
		{"sogp", "basis_idx", 1<<31 - 2, false},
		{"perceptron", "", 0, true},
	} {
		e, err := learner.Lookup(c.learner)
		if err != nil {
			t.Fatal(err)
		}
		m := &model.Model{Learner: c.learner, Precision: "f64"}
		if c.tensor != "" {
			m.State.Tensors = []learner.Tensor{{Name: c.tensor, Shape: []int{2},
				Data: []int32{0, c.last}}}
		}
		err = modelFits("m", m, e.Config(), 1<<30)
		if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), c.tensor) {
			t.Errorf("%s with feature %d in %s: %v, want it to fit: %v", c.learner, c.last,
				c.tensor, err, c.fits)
		}
	}
}

// TestLoadWithoutName: a Machine that has no name refuses as others do.
func TestLoadWithoutName(t *testing.T) {
	t.Parallel()
	e, err := learner.Lookup("obpm")
	if err != nil {
		t.Fatal(err)
	}
	l, err := learner.New[float32](e, e.Config(), learner.Env{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Capture("obpm", e.Config(), 1, l)
	if err != nil {
		t.Fatal(err)
	}
	m.Prep = model.Prep{Labels: model.Labels{Negative: "-1", Positive: "+1"}, Format: "svmlight",
		Scale: 1}
	path := filepath.Join(t.TempDir(), "m.model")
	if _, err := model.Save(path, m); err != nil {
		t.Fatal(err)
	}
	_, err = Load(path, Machine{Bytes: 1})
	if e := (*Error)(nil); !errors.As(err, &e) || !strings.HasPrefix(e.next, "This machine has") {
		t.Errorf("%v, want that this machine has no room", err)
	}
}

// TestWarningTexts: each warning says its numbers.
func TestWarningTexts(t *testing.T) {
	for _, c := range []struct {
		w    eval.Warning
		want string
	}{
		{eval.Warning{Code: eval.NotFinite, Count: eval.Count{Examples: 7, NotFinite: 2}},
			"2 of 7 scores are not finite numbers"},
		{eval.Warning{Code: eval.OneClass, Count: eval.Count{Examples: 30, Positives: 10}},
			"all 30 examples are predicted as one class, though 10 are of the other"},
		{eval.Warning{Code: eval.OneClass,
			Count: eval.Count{Examples: 30, Positives: 10, Predicted: 30}},
			"all 30 examples are predicted as one class, though 20 are of the other"},
		{eval.Warning{Code: eval.Worse,
			Count: eval.Count{Examples: 100, Errors: 40, Positives: 20}},
			"the error, 40.00 %, is above the rarer class's share, 20.00 %: " +
				"always guessing the other would do better"},
		{eval.Warning{Code: eval.LabelRuns, Count: eval.Count{Changes: 1}, Expected: 50},
			"the labels come in long runs: they change 1 time, where mixed they would about " +
				"50 times; to repeat the last label is right nearly always, " +
				"so the progressive error says little"},
		{eval.Warning{Code: eval.Unscaled, Feature: 3, Ratio: 1234},
			"feature 4 is 1200 times as large as the typical one, so it alone decides"},
		{eval.Warning{Code: eval.Uncentred, Ratio: 0.56},
			"the values lie to one side of 0 (56 % of their squares is their mean's), and only " +
				"hyperplanes through 0 are learned"},
		{eval.Warning{Code: eval.OneClass, Classes: 1, Count: eval.Count{Examples: 30, Errors: 20}},
			"all 30 examples are predicted as feature 4, though 20 are of other classes"},
		{eval.Warning{Code: eval.Worse, Classes: 1,
			Count: eval.Count{Examples: 100, Errors: 70, Positives: 40}},
			"the error, 70.00 %, is above that of always guessing feature 4, 60.00 %"},
		{eval.Warning{Code: eval.NeverPredicted, Classes: 2},
			"classes feature 4 are never predicted, though there are 10 examples or more each"},
		{eval.Warning{Code: eval.RareClass, Classes: 1, Count: eval.Count{Examples: 100}},
			"class feature 4 is of fewer than 5 of the 100 examples"},
	} {
		if got := WarningText(c.w, "feature 4"); got != c.want {
			t.Errorf("%s: %q, want %q", c.w.Code, got, c.want)
		}
	}
}
