package learner_test

import (
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// Data that differ in one label, class, weight, index or value are not taken for each other, and
// weights of 1 are none.
func TestFingerprint(t *testing.T) {
	block := func(change func(b *engine.Block[float32])) *engine.Block[float32] {
		b := &engine.Block[float32]{Y: []float32{1, 1, 1}, Class: []int32{2, 0, 1}, Dim: 4,
			Ptr: []int{0, 1, 3, 4}, Idx: []int32{0, 1, 2, 3}, Val: []float32{1, 2, 3, 4}}
		if change != nil {
			change(b)
		}
		return b
	}
	plain, seen := block(nil), map[uint64]string{}
	for name, change := range map[string]func(b *engine.Block[float32]){
		"as it is": nil,
		"a label":  func(b *engine.Block[float32]) { b.Y[1] = -1 },
		"classes":  func(b *engine.Block[float32]) { b.Class[1], b.Class[2] = 1, 0 },
		"a weight": func(b *engine.Block[float32]) { b.W = []float32{1, 2, 1} },
		"an index": func(b *engine.Block[float32]) { b.Idx[3] = 2 },
		"a value":  func(b *engine.Block[float32]) { b.Val[3] = 5 },
	} {
		f := learner.Fingerprint(block(change))
		if other, taken := seen[f]; taken {
			t.Errorf("%s and %s: %x", name, other, f)
		}
		seen[f] = name
	}
	ones := block(func(b *engine.Block[float32]) { b.W = []float32{1, 1, 1} })
	if learner.Fingerprint(ones) != learner.Fingerprint(plain) {
		t.Error("weights of 1 count")
	}
}
