package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/model"
)

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
		e, err := learners.Lookup(c.learner)
		if err != nil {
			t.Fatal(err)
		}
		m := &model.Model{Learner: c.learner, Precision: "f64"}
		if c.tensor != "" {
			m.State.Tensors = []learners.Tensor{{Name: c.tensor, Shape: []int{2},
				Data: []int32{0, c.last}}}
		}
		err = modelFits("m", m, e.Config(), 1<<30)
		if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), c.tensor) {
			t.Errorf("%s with feature %d in %s: %v, want it to fit: %v", c.learner, c.last,
				c.tensor, err, c.fits)
		}
	}
}

// TestPredictCaptured: a model that a program has captured without telling of its data has the
// labels -1 and +1.
func TestPredictCaptured(t *testing.T) {
	t.Parallel()
	e, err := learners.Lookup("perceptron")
	if err != nil {
		t.Fatal(err)
	}
	c := e.Config()
	l, err := learners.New[float32](e, c, learners.Env{})
	if err != nil {
		t.Fatal(err)
	}
	b := &engine.Block[float32]{Dim: 2, Stride: 2, X: []float32{1, 0, 0, 1}, Y: []float32{1, -1}}
	if err := l.Learn(b, make([]learners.Round, 2)); err != nil {
		t.Fatal(err)
	}
	m, err := model.Capture("perceptron", c, 0, l)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, data := filepath.Join(dir, "m"), filepath.Join(dir, "d")
	if _, err := model.Save(file, m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(data, []byte("+1 1:1\n-1 2:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("halfspace", "predict", "-i", file, data).Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := "+1\t1\n-1\t-1\n"; string(out) != want {
		t.Errorf("predict prints %q, want %q", out, want)
	}
}
