package learners

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestShards: parts that learn apart and are joined have the state of the whole, and the rounds, to
// the bit, for any number of parts.
func TestShards(t *testing.T) {
	for _, base := range []string{"perceptron", "beta", "pa", "lms", "alma", "romma", "cramma",
		"micra"} {
		for _, combine := range []string{CombineWeights, CombineVote, "cap"} {
			for _, dense := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/dense=%v", base, combine, dense), func(t *testing.T) {
					testShards[float32](t, base, combine, dense)
					testShards[float64](t, base, combine, dense)
				})
			}
		}
	}
}

func testShards[T learner.Float](t *testing.T, base, combine string, dense bool) {
	cfg := &OBPMConfig{Members: 300, Tau: 0.1, Base: base, Combine: combine,
		Together: true, Budget: 1000, Removal: RemoveProject,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}}
	if base == "beta" {
		cfg.Base, cfg.BaseConfig = "perceptron", &PerceptronConfig{Beta: 0.1, Eta: 0.5}
	}
	if combine == "cap" {
		if cfg.Combine, cfg.Cap = CombineWeights, true; cfg.Traits().Shard == nil {
			return
		}
	}
	blocks := shardBlocks[T](dense, cfg.Traits().Weights)
	want, rounds := learnShard[T](t, cfg, blocks, nil)
	shard := cfg.Traits().Shard
	if shard == nil {
		t.Fatal("no way to take it apart")
	}
	for n := 1; n <= 5; n++ {
		var (
			parts  []learner.Part
			states []learner.State
			traces []*learner.TraceReader
		)
		for k := range n {
			p := learner.PartOf(300, (k+1)%n, n) // in any order
			c := shard(p)
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
			var trace learner.Trace
			l, _ := learnShard[T](t, c, blocks, &trace)
			parts, states = append(parts, p), append(states, l.State())
			traces = append(traces, learner.NewTraceReader(bytes.NewReader(trace.Bytes)))
		}
		l, err := newOBPM[T](*cfg, learner.Env{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		o := l.(*obpm[T])
		if err := o.Join(parts, states, traces, nil); err != nil {
			t.Fatal(err)
		}
		for i, b := range blocks {
			got := make([]learner.Round, b.Len())
			if err := o.Learn(b, got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, rounds[i]) {
				t.Fatalf("%d parts: other rounds of block %d", n, i)
			}
		}
		if err := o.Joined(); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(o.State(), want.State()) {
			t.Fatalf("%d parts: another state", n)
		}
		// it learns on as the whole does
		again, _ := newOBPM[T](*cfg, learner.Env{Seed: 7})
		if err := again.SetState(want.State()); err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			for _, l := range []learner.Learner[T]{again, o} {
				if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !reflect.DeepEqual(o.State(), again.State()) {
			t.Fatalf("%d parts: it learns on otherwise", n)
		}
	}
}

// shardBlocks are blocks of random examples of no whole numbers, the last with weights 0 to 2 where
// the learner takes some, and a short one of ones alone.
func shardBlocks[T learner.Float](dense, weights bool) (blocks []*engine.Block[T]) {
	r := engine.NewRand(3, 0)
	const dim = 40
	for _, n := range []int{1, 70, 20, 300} {
		b := &engine.Block[T]{Dim: dim, Ptr: []int{0}}
		for range n {
			y := T(2*r.IntN(2) - 1)
			b.Y = append(b.Y, y)
			for j := range dim {
				v := (T(r.Normal()) + y/4) / 4
				if n == 20 {
					v = 1
				}
				if dense {
					b.X = append(b.X, v)
				} else if r.IntN(3) == 0 {
					b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, v)
				}
			}
			b.Ptr = append(b.Ptr, len(b.Idx))
			if n == 300 && weights {
				b.W = append(b.W, T(r.IntN(5))/2)
			}
		}
		if dense {
			b.Ptr, b.Stride = nil, dim
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func learnShard[T learner.Float](t *testing.T, c learner.Config, blocks []*engine.Block[T],
	trace *learner.Trace) (*obpm[T], [][]learner.Round) {
	t.Helper()
	l, err := newOBPM[T](*c.(*OBPMConfig), learner.Env{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	o, rounds := l.(*obpm[T]), [][]learner.Round{}
	o.TraceTo(trace)
	for _, b := range blocks {
		r := make([]learner.Round, b.Len())
		if err := o.Learn(b, r); err != nil {
			t.Fatal(err)
		}
		rounds = append(rounds, r)
	}
	o.TraceTo(nil)
	return o, rounds
}

// TestShardsWrong: what doesn't make up the whole is refused by what is missing or double.
func TestShardsWrong(t *testing.T) {
	whole := []learner.Part{{First: 0, Members: 64, Of: 200}, {First: 64, Members: 64, Of: 200},
		{First: 128, Members: 72, Of: 200}}
	for name, parts := range map[string][]learner.Part{
		"first missing": whole[1:], "last missing": whole[:2],
		"middle missing": {whole[0], whole[2]}, "twice": append(whole[:3:3], whole[1]),
		"foreign": append(whole[:2:2], learner.Part{First: 128, Members: 72, Of: 300}),
	} {
		if _, err := inOrder(parts, 200); !errors.Is(err, learner.ErrParts) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if order, err := inOrder([]learner.Part{whole[2], whole[0], whole[1]}, 200); err != nil ||
		!reflect.DeepEqual(order, []int{1, 2, 0}) {
		t.Errorf("order %v, %v", order, err)
	}
}
