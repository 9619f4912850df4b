package main

import (
	"strings"
	"testing"

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
			m.State.Tensors = []learners.Tensor{{Name: c.tensor, Shape: []int{2}, Data: []int32{0, c.last}}}
		}
		err = modelFits("m", m, e.Config(), 1<<30)
		if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), c.tensor) {
			t.Errorf("%s with feature %d in %s: %v, want it to fit: %v", c.learner, c.last, c.tensor, err, c.fits)
		}
	}
}
