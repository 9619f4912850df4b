package learners

import (
	"fmt"
	"math"
	"slices"
	"sync"
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
				for _, o := range []*obpm[float32]{want, got} {
					for _, size := range []int{256, 256, 100, 256, 1500, 256} {
						learnAll(t, o, b, size)
					}
					for _, size := range []int{256, 512, 300} {
						learnAll(t, o, other, size)
						learnAll(t, o, weighted, min(size, 300))
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

// TestOBPMSum: S is the same whenever it is asked for, also by several at once, and where weights
// leave int16.
func TestOBPMSum(t *testing.T) {
	ones := randomBlock[float32](1200, 300, 9, true, 41)
	others := randomBlock[float32](200, 300, 9, false, 42)
	dense := engine.Block[float32]{Dim: 10, Stride: 10, X: slices.Repeat([]float32{1, -.5}, 50)}
	for i := range 10 {
		dense.Y = append(dense.Y, float32(1-i%2*2))
	}
	pool := engine.NewPool(2)
	pool.Insist()
	defer pool.Close()
	for _, p := range []*engine.Pool{nil, pool} {
		for _, last := range []*engine.Block[float32]{&dense, others, ones} {
			cfg := OBPMConfig{Members: 150, Tau: .4}
			want := newTestOBPM[float32](t, cfg, learner.Env{Seed: 6})
			got := newTestOBPM[float32](t, cfg, learner.Env{Seed: 6, Pool: p})
			check := func(what string) {
				t.Helper()
				sum := want.Sum()
				for j, s := range got.Sum() {
					if math.Float64bits(s) != math.Float64bits(sum[j]) {
						t.Fatalf("%s: S[%d] is %v, want %v", what, j, s, sum[j])
					}
				}
			}
			for lo := 0; lo < ones.Len(); lo += 100 {
				part := ones.Slice(lo, lo+100)
				learnAll(t, want, &part, 100)
				learnAll(t, got, &part, 100)
				want.Sum() // each time
				if lo%500 == 100 {
					check("in between")
				}
			}
			if !got.SumFinite() {
				t.Error("S is not finite")
			}
			learnAll(t, got, ones, 400)
			learnAll(t, want, ones, 100)
			var all sync.WaitGroup
			f := make([][]float64, 3)
			for i := range f {
				all.Go(func() {
					f[i] = make([]float64, ones.Len())
					if err := got.Score(ones, f[i]); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			check("after scores")
			if !slices.Equal(f[0], f[1]) || !slices.Equal(f[0], f[2]) {
				t.Error("scores differ")
			}
			learnAll(t, got, ones, 400)
			learnAll(t, want, ones, 100)
			if !slices.Equal(learnAll(t, got, last, 50), learnAll(t, want, last, 50)) {
				t.Error("rounds differ")
			}
			check("at last")
			if stateBytes(t, want.State()) != stateBytes(t, got.State()) {
				t.Error("states differ")
			}
		}
	}
}
