package learners

import (
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// TestShortest: an example without features is none whose length counts, also where the coordinate
// Delta gives it one.
func TestShortest(t *testing.T) {
	b := &engine.Block[float64]{Y: []float64{1, -1, 1}, Dim: 2, Ptr: []int{0, 1, 1, 3},
		Idx: []int32{0, 0, 1}, Val: []float64{3, 3, 4}}
	if s, l := primal.SquaredLengths(b, 0); s != 9 || l != 25 {
		t.Errorf("squared lengths from %v to %v, want 9 to 25", s, l)
	}
	if s, l := primal.SquaredLengths(b, 2); s != 13 || l != 29 {
		t.Errorf("with Delta 2 squared lengths from %v to %v, want 13 to 29", s, l)
	}
	none := b.Slice(1, 2)
	if s, l := primal.SquaredLengths(&none, 0); s != 0 || l != 0 {
		t.Errorf("without features squared lengths from %v to %v, want 0", s, l)
	}
}
