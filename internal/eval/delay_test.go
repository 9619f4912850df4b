package eval_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/race"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestDelay: with labels that come later, each example is predicted by what was learned of those
// that came long enough before it, and what is learned in the end is the same; whatever the blocks.
func TestDelay(t *testing.T) {
	all := random(300, 4)
	some := lateExamples(300, 4)
	for _, c := range []struct {
		name string
		data *engine.Block[float64]
		o    eval.Options
	}{
		{"perceptron", all, eval.Options{AUC: true}}, {"obpm", all, eval.Options{Proba: true}},
		{"ovr", some, eval.Options{Window: 50}},
	} {
		fresh := func() learner.Learner[float64] { return newOf(t, c.name, nil) }
		plain := fresh()
		if _, err := eval.Run(t.Context(), plain, memory(c.data), c.o); err != nil {
			t.Fatal(err)
		}
		for _, delay := range []int{0, 1, 7, 255, 299, 300, 1000} {
			want := delayedByHand(t, fresh(), c.data, delay, c.o)
			for _, size := range []int{1, 5, 256} {
				o, l := c.o, fresh()
				o.Delay, o.Block = delay, size
				got, err := eval.Run(t.Context(), l, memory(c.data), o)
				if err != nil || got.Presented != 300 || got.Epochs != 1 {
					t.Fatalf("%s: %v, %+v", c.name, err, got)
				}
				if got.Metrics.Error() != want.Error() ||
					got.Metrics.LogLoss() != want.LogLoss() ||
					!reflect.DeepEqual(got.Metrics.Confusion(), want.Confusion()) {
					t.Errorf("%s, delay %d, blocks of %d: error %v, want %v; confusion %v, want %v",
						c.name, delay, size, got.Metrics.Error(), want.Error(),
						got.Metrics.Confusion(), want.Confusion())
				}
				if !reflect.DeepEqual(l.State(), plain.State()) {
					t.Errorf("%s, delay %d: another state", c.name, delay)
				}
			}
		}
	}
	if _, err := eval.Run(context.Background(), newOf(t, "perceptron", nil), memory(all),
		eval.Options{Delay: 3, Epochs: 2}); !errors.Is(err, eval.ErrOptions) {
		t.Errorf("several passes: %v", err)
	}
}

// delayedByHand predicts and learns example by example.
func delayedByHand(t *testing.T, l learner.Learner[float64], data *engine.Block[float64],
	delay int, o eval.Options) *eval.Metrics {
	want := eval.NewMetrics(eval.MetricsOptions{AUC: o.AUC})
	var waits []eval.Outcome
	var r [1]learner.Round
	for i := range 300 + min(delay, 300) {
		if i < 300 {
			b := data.Slice(i, i+1)
			waits = append(waits, predicted(t, l, &b, o.Proba))
		}
		if k := i - delay; k >= 0 && k < 300 {
			b := data.Slice(k, k+1)
			want.Add(&waits[k])
			if err := l.Learn(&b, r[:]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for k := max(0, 300+min(delay, 300)-delay); k < 300; k++ {
		want.Add(&waits[k])
	}
	return want
}

// predicted is the outcome of the one example of b.
func predicted(t *testing.T, l learner.Learner[float64], b *engine.Block[float64],
	proba bool) (o eval.Outcome) {
	f, p := make([]float64, learner.OutputsOf(l)), make([]float64, 1)
	if err := l.Score(b, f); err != nil {
		t.Fatal(err)
	}
	if b.Class != nil {
		o = eval.OutcomeOf(int(b.Class[0]), learner.Predicted(f))
	} else {
		o = eval.Outcome2(b.Y[0], f[0])
	}
	if o.Weight = b.Weight(0); proba {
		if err := learner.ProberOf(l).Proba(b, p); err != nil {
			t.Fatal(err)
		}
		o.Believe(p[0])
	}
	return o
}

// TestDelayAllocs: once there is memory for what waits, none is taken.
func TestDelayAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	few, many := random(3000, 4), random(30000, 4)
	l := newOf(t, "perceptron", nil)
	of := func(b *engine.Block[float64]) float64 {
		return testing.AllocsPerRun(3, func() {
			if _, err := eval.Run(context.Background(), l, memory(b),
				eval.Options{Delay: 500}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if a, b := of(few), of(many); b > a+3 { // the list of what waits grows once more
		t.Errorf("%v allocations for 3000 examples, %v for 30000", a, b)
	}
}

// TestRecent: a window, fading and the learning curve don't depend on blocks.
func TestRecent(t *testing.T) {
	all := random(1000, 5)
	for _, o := range []eval.Options{{Window: 37, Curve: 16},
		{Fading: 0.98, Curve: 1000, AUC: true}, {Curve: 3, Epochs: 3}} {
		var first eval.Result
		for i, size := range []int{1, 7, 64, 1024} {
			o.Block = size
			got, err := eval.Run(t.Context(), newOf(t, "perceptron", nil), memory(all), o)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = got
			}
			if !sameMetrics(first.Metrics, got.Metrics) || !sameMetrics(first.Recent, got.Recent) ||
				len(first.Curve) != len(got.Curve) {
				t.Errorf("blocks of %d: other metrics", size)
			}
			for k, p := range got.Curve {
				q := first.Curve[k]
				if p.Recent != p.Recent && q.Recent != q.Recent {
					p.Recent, q.Recent = 0, 0
				}
				if p != q {
					t.Errorf("blocks of %d: point %d is %+v, was %+v", size, k, p, q)
				}
			}
			if n := len(got.Curve); n < 2 || n > max(o.Curve, 2) ||
				got.Curve[n-1].Examples != got.Presented {
				t.Errorf("curve of %d points, the last %+v", n, got.Curve[n-1])
			}
		}
	}
	for _, o := range []eval.Options{{Window: -1}, {Fading: 1}, {Fading: -0.1}, {Curve: -1},
		{Window: 3, Fading: 0.5}, {Delay: -1}} {
		_, err := eval.Run(t.Context(), newOf(t, "perceptron", nil), memory(all), o)
		if !errors.Is(err, eval.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// stopping is a source whose context ends behind its first block.
type stopping struct {
	*eval.Memory[float64]
	stop func()
	n    int
}

func (s *stopping) Next() (*engine.Block[float64], error) {
	if s.n++; s.n == 2 {
		s.stop()
	}
	return s.Memory.Next()
}

// TestDelayStopped: what waits where a run is stopped is counted.
func TestDelayStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	src := &stopping{Memory: memory(random(300, 4)), stop: stop}
	l := newOf(t, "perceptron", nil)
	got, err := eval.Run[float64](ctx, l, src, eval.Options{Delay: 100})
	// of the 256 examples of the first block all but the last 100 are learned
	if !errors.Is(err, context.Canceled) || got.Waiting != 100 || got.Presented != 156 {
		t.Errorf("%v: %d wait, %d presented", err, got.Waiting, got.Presented)
	}
}
