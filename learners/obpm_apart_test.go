package learners

import (
	"reflect"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestOBPMApart: parts that widen rows of bytes for themselves learn what one core learns from the
// rows of a block, in blocks of neighbours and of listed rows.
func TestOBPMApart(t *testing.T) {
	const n, dim = 200, 300
	rng := engine.NewRand(31, 0)
	rows := engine.NewByteRows[float32](dim, false, n)
	var floats engine.Block[float32]
	order := make([]int32, n)
	for i := range n {
		x := make([]float32, dim)
		for j := range x {
			x[j] = float32(uint8(256 * rng.Uniform()))
		}
		y := float32(1)
		if x[0]+x[1] < 200 {
			y = -1
		}
		if !rows.Append(x, y, 0) {
			t.Fatal("a row of bytes was refused")
		}
		order[i] = int32(n - 1 - i)
	}
	rows.Block(&floats, 0, n)
	plain := engine.Block[float32]{Y: floats.Y, Dim: dim, X: floats.X, Stride: floats.Stride}
	pool := engine.NewPool(3)
	pool.Insist()
	defer pool.Close()
	cfg := OBPMConfig{Members: 100, Tau: .4}
	want := newTestOBPM[float32](t, cfg, learner.Env{Seed: 3})
	got := newTestOBPM[float32](t, cfg, learner.Env{Seed: 3, Pool: pool})
	for turn := range 3 {
		var of engine.Block[float32]
		from := plain
		if rows.Block(&of, 0, n); turn == 1 {
			rows.Gather(&of, order)
			from = engine.Block[float32]{Y: of.Y, Dim: dim, X: of.X, Stride: of.Stride}
		}
		if !reflect.DeepEqual(learnAll(t, got, &of, 90), learnAll(t, want, &from, n)) {
			t.Fatal("rounds differ")
		}
		if !reflect.DeepEqual(stateBytes(t, got.State()), stateBytes(t, want.State())) {
			t.Fatal("states differ")
		}
	}
	if got.LearnRun.Parts < 2 {
		t.Error("one part alone")
	}
}
