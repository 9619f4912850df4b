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

// TestResume: passes until convergence that are stopped anywhere, and gone on from, show and teach
// what passes that weren't stopped do.
func TestResume(t *testing.T) {
	t.Parallel()
	all := random(97, 3)
	for _, name := range []string{"perceptron", "obpm", "budget"} {
		for _, shuffle := range []bool{false, true} {
			e, err := learner.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			c := e.Config()
			if o, ok := c.(*learners.OBPMConfig); ok {
				o.Members, o.Tau = 5, 0.1
			}
			start := func() learner.Learner[float64] {
				l, err := learner.New[float64](e, c, learner.Env{Seed: 5})
				if err != nil {
					t.Fatal(err)
				}
				return l
			}
			o := eval.Options{UntilConverged: true, Shuffle: shuffle, Seed: 5}
			whole := start()
			want, err := eval.Run(t.Context(), whole, memory(all), o)
			if err != nil || !want.Converged || want.Pass != nil || want.Epochs < 3 {
				t.Fatalf("%s: %v, %+v", name, err, want)
			}
			for _, every := range []int64{1, 50, 97, 130} {
				sum, l := pieces(t, name, all, o, start, every)
				if sum.Converged != want.Converged || sum.Presented != want.Presented ||
					sum.Updates != want.Updates || sum.Mistakes != want.Mistakes {
					t.Errorf("%s, shuffle %v: stopped, %+v; in one go %+v", name, shuffle, sum,
						want)
				}
				if !reflect.DeepEqual(l.State(), whole.State()) {
					t.Errorf("%s, shuffle %v, every %d: the end is another", name, shuffle, 7*every)
				}
			}
			// Over other examples it begins at the first.
			o.Resume = &learner.Pass{Data: learner.Fingerprint(all) + 1, Examples: 97, At: 5,
				Shuffle: shuffle}
			if r, err := eval.Run(t.Context(), start(), memory(all), o); err != nil || r.Resumed ||
				r.Presented != want.Presented {
				t.Errorf("%s: %v, %+v", name, err, r)
			}
		}
	}
}

// pieces runs a learner and stops it at the seventh checkpoint, again and again until it ends, each
// time going on with a new learner in the state of the last one. It returns the sum of what the
// pieces counted.
func pieces(t *testing.T, name string, all *engine.Block[float64], o eval.Options,
	start func() learner.Learner[float64], every int64) (sum eval.Result,
	l learner.Learner[float64]) {
	t.Helper()
	o.CheckpointEvery = every
	for l = start(); ; {
		ctx, cancel := context.WithCancel(t.Context())
		marks := 0
		o.Checkpoint = func(r eval.Result) error {
			marks++
			if r.Pass == nil {
				t.Errorf("%s: a checkpoint that doesn't say where it is", name)
			}
			if marks == 7 {
				cancel()
			}
			return nil
		}
		r, err := eval.Run(ctx, l, memory(all), o)
		cancel()
		if r.Resumed != (o.Resume != nil) {
			t.Fatalf("%s: resumed is %v at %+v", name, r.Resumed, o.Resume)
		}
		sum.Presented += r.Presented
		sum.Updates += r.Updates
		sum.Mistakes += r.Mistakes
		if err == nil {
			if sum.Converged = r.Converged; r.Pass != nil {
				t.Errorf("%s: at an end, and yet at %+v", name, r.Pass)
			}
			return sum, l
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if r.Pass == nil || !r.Pass.Valid() {
			t.Fatalf("%s: stopped nowhere: %+v", name, r.Pass)
		}
		o.Resume, o.Before = r.Pass, sum.Presented
		next := start()
		if err := next.SetState(l.State()); err != nil {
			t.Fatal(err)
		}
		l = next
	}
}
