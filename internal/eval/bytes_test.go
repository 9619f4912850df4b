package eval_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// TestBytes: learning from examples kept as bytes is learning from floats, to the bit: in order and
// shuffled, until all are separated, stopped and gone on with, and scored.
func TestBytes(t *testing.T) {
	const n, dim = 400, 37
	rng := engine.NewRand(4, 0)
	rows := engine.NewByteRows[float64](dim, false, 0)
	all := &engine.Block[float64]{Dim: dim, Stride: dim}
	for range n {
		x, f := make([]float64, dim), -1000.0
		for j := range x {
			x[j] = float64(uint8(256 * rng.Uniform()))
			f += x[j] * float64(j%3-1)
		}
		y := 1.0
		if f < -1000 {
			y = -1
		}
		if !rows.Append(x, y, 0) {
			t.Fatal("no bytes")
		}
		all.X, all.Y = append(all.X, x...), append(all.Y, y)
	}
	for _, name := range []string{"perceptron", "obpm"} {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		c := e.Config()
		if o, ok := c.(*learners.OBPMConfig); ok {
			o.Members, o.Tau = 5, 0.2
		}
		for _, o := range []eval.Options{{}, {Epochs: 3, Shuffle: true, Seed: 9, Block: 7},
			{UntilConverged: true, MaxUpdates: 4000}} {
			var states [2]learner.State
			var results [2]eval.Result
			var counts [2]eval.Count
			for k, src := range []*eval.Memory[float64]{memory(all), eval.NewBytes(rows)} {
				if src.Len() != n || src.All().Len() != n || (src.Bytes() > 0) != (k == 1) {
					t.Fatalf("%d examples in %d bytes", src.Len(), src.Bytes())
				}
				l, err := learner.New[float64](e, c, learner.Env{Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				results[k] = stoppedRun(t, l, src, o)
				count, err := eval.Test(t.Context(), learner.ViewOf(l), src)
				if err != nil {
					t.Fatal(err)
				}
				states[k], counts[k] = l.State(), count
			}
			if !reflect.DeepEqual(states[0], states[1]) || counts[0] != counts[1] ||
				!reflect.DeepEqual(results[0], results[1]) {
				t.Errorf("%s, %+v: bytes %+v, floats %+v", name, o, results[1], results[0])
			}
		}
	}
}

// stoppedRun stops a run that may be gone on with after 600 examples, and goes on with it. It
// returns what doesn't depend on time.
func stoppedRun(t *testing.T, l learner.Learner[float64], src *eval.Memory[float64],
	o eval.Options) eval.Result {
	t.Helper()
	if o.UntilConverged {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		first := o
		first.CheckpointEvery, first.Checkpoint = 600, func(eval.Result) error {
			cancel()
			return nil
		}
		r, err := eval.Run(ctx, l, src, first)
		if !errors.Is(err, context.Canceled) || r.Pass == nil {
			t.Fatalf("not stopped: %v, %+v", err, r)
		}
		o.Resume, o.Before = r.Pass, r.Presented
	}
	r, err := eval.Run(t.Context(), l, src, o)
	if err != nil || r.Resumed != (o.Resume != nil) {
		t.Fatal(err, r.Resumed)
	}
	return eval.Result{Presented: r.Presented, Updates: r.Updates, Mistakes: r.Mistakes,
		Epochs: r.Epochs, Converged: r.Converged, Pass: r.Pass}
}
