package learners

import (
	"fmt"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestOBPMDrawsAhead: whether runs are as long as those before them, weighted, or after other
// members' scores never shows in what parts draw ahead of them.
func TestOBPMDrawsAhead(t *testing.T) {
	b := randomBlock[float32](1500, 60, 9, true, 31)
	other := randomBlock[float32](1500, 60, 9, false, 32)
	weighted := randomBlock[float32](300, 60, 9, false, 33)
	weighted.W = make([]float32, 300)
	for i := range weighted.W {
		weighted.W[i] = float32(i % 3)
	}
	for _, threads := range []int{2, 3} {
		pool := engine.NewPool(threads)
		pool.Insist()
		defer pool.Close()
		for _, members := range []int{70, 100, 200, 450} {
			t.Run(fmt.Sprintf("%d threads, %d members", threads, members), func(t *testing.T) {
				cfg := OBPMConfig{Members: members, Tau: .3}
				want := newTestOBPM[float32](t, cfg, learner.Env{Seed: 5})
				got := newTestOBPM[float32](t, cfg, learner.Env{Seed: 5, Pool: pool})
				votes := make([]float64, b.Len())
				for _, o := range []*OBPM[float32]{want, got} {
					for _, size := range []int{256, 256, 100, 256, 1500, 256} {
						learnAll(t, o, b, size)
					}
					for _, size := range []int{256, 512, 300} {
						learnAll(t, o, other, size)
						learnAll(t, o, weighted, 200)
						learnAll(t, o, other, size)
						if err := o.Proba(b, votes); err != nil {
							t.Fatal(err)
						}
					}
				}
				if stateBytes(t, want.State()) != stateBytes(t, got.State()) {
					t.Error("states differ")
				}
			})
		}
	}
}
