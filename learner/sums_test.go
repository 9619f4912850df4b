package learner_test

import (
	"errors"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
)

// TestCheckSums: a sum is exact where weights are small whole numbers, and else off by what so many
// updates round at most, in whatever ensemble of a State.
func TestCheckSums(t *testing.T) {
	state := func(prefix string, members any, sum []float64, updates uint64) learner.State {
		return learner.State{Counters: map[string]uint64{prefix + "updates": updates},
			Tensors: []learner.Tensor{
				{Name: "members", Shape: []int{0, 2}, Data: []float32{}}, // another's, without a sum
				{Name: prefix + "members", Shape: []int{2, 2}, Data: members},
				{Name: prefix + "sum", Shape: []int{2}, Data: sum}}}
	}
	for _, c := range []struct {
		name  string
		state learner.State
		peak  float64
		good  bool
	}{
		{"whole", state("", []float32{1, -3, 2, 7}, []float64{-2, 9}, 1e9), 0, true},
		{"whole, one off", state("", []float32{1, -3, 2, 7}, []float64{-2, 10}, 1e9), 1e9, false},
		{"whole float64, one off", state("", []float64{1, -3, 2, 7}, []float64{-1, 9}, 9), 0, false},
		{"of a class", state("3.", []float32{1, -3, 2, 7}, []float64{-2, 8}, 9), 0, false},
		{"large whole numbers", state("", []float32{1 << 25, 0, 2, 7}, []float64{1<<25 - 8, 9}, 9),
			0, true},
		{"reals", state("", []float32{.1, .2, 2, 7}, []float64{.3, 9}, 1), 0, true},
		{"reals, too far", state("", []float32{.1, .2, 2, 7}, []float64{.3, 9.1}, 1), 0, false},
		{"reals, many updates", state("", []float32{.1, .2, 2, 7}, []float64{.3, 9.1}, 1e6), 0, true},
		{"reals that were larger", state("", []float32{.1, .2, 2, 7}, []float64{.3, 9.1}, 1), 1e6,
			true},
		{"another sum", state("", []float32{1, -3, 2, 7}, nil, 9), 0, true},
	} {
		if err := c.state.CheckSums(c.peak); (err == nil) != c.good ||
			err != nil && !errors.Is(err, learner.ErrSums) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
