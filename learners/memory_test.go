package learners

import (
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// TestFeatureBytes: what a stream learner's state takes after an example of a large index is what FeatureBytes says before it, but for what append
// takes beyond, and for what isn't state (the example that kernel learners spread out).
func TestFeatureBytes(t *testing.T) {
	const dim = 1 << 16
	b := &engine.Block[float32]{Dim: dim, Ptr: []int{0, 2}, Idx: []int32{0, dim - 1}, Val: []float32{1, 1}, Y: []float32{1}}
	for _, name := range []string{"perceptron", "pa", "lms", "alma", "romma", "micra", "cramma", "obpm", "pumma", "ng", "rff", "adf"} {
		e, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		c := e.Config()
		if c, ok := c.(*ADFConfig); ok {
			c.Covariance = "diagonal"
		}
		l, err := New[float32](e, c, Env{})
		if err != nil {
			t.Fatal(err)
		}
		before := l.Bytes()
		if err := l.Learn(b, make([]Round, 1)); err != nil {
			t.Fatal(err)
		}
		got, want := l.Bytes()-before, dim*FeatureBytes(c, 4)
		if got < want*9/10 || got > want*3/2 {
			t.Errorf("%s: %d bytes for %d features, FeatureBytes says %d", name, got, dim, want)
		}
	}
}
