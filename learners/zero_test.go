package learners_test

import (
	"errors"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// TestZeroValues: a learner that New has not made has no settings, and says so rather than learn
// nothing.
func TestZeroValues(t *testing.T) {
	b := &engine.Block[float32]{Y: []float32{1}, Dim: 1, Ptr: []int{0, 1}, Idx: []int32{0},
		Val: []float32{1}}
	for name, l := range map[string]learner.Learner[float32]{
		"perceptron": &learners.Perceptron[float32]{}, "alma": &learners.ALMA[float32]{},
		"lms": &learners.LMS[float32]{},
		"pa":  &learners.PA[float32]{}, "cramma": &learners.CRAMMA[float32]{},
		"romma": &learners.ROMMA[float32]{},
		"micra": &learners.MICRA[float32]{},
	} {
		if err := l.Learn(b, make([]learner.Round, 1)); !errors.Is(err, learner.ErrConfig) {
			t.Errorf("%s: Learn says %v, want %v", name, err, learner.ErrConfig)
		}
		if err := l.Score(b, make([]float64, 1)); !errors.Is(err, learner.ErrConfig) {
			t.Errorf("%s: Score says %v, want %v", name, err, learner.ErrConfig)
		}
	}
}
