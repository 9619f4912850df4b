package learners_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// cutRun is a learner with options of Fit.
type cutRun struct {
	name    string
	config  learner.Config
	options learner.FitOptions
}

func cutRuns() (runs []cutRun) {
	linear := learner.KernelConfig{Kernel: "linear"}
	for name, c := range map[string]learner.Config{
		"perceptron": &learners.PerceptronConfig{Margin: 1, Eta: 1},
		"alma":       &learners.ALMAConfig{P: 2, Alpha: 0.7},
		"cramma":     &learners.CRAMMAConfig{Epsilon: 0.5, Beta: 0.8, Eta: 0.02, EtaDelta: 1},
	} {
		runs = append(runs,
			cutRun{name, c, learner.FitOptions{}},
			cutRun{name, c, learner.FitOptions{Refresh: 37}},
			cutRun{name, c, learner.FitOptions{GramBytes: -1}},
			cutRun{name, c, learner.FitOptions{GramBytes: -1, Refresh: 53}},
			cutRun{name, c, learner.FitOptions{Delta: 0.5, Refresh: 41}},
			cutRun{name, c, learner.FitOptions{Delta: 0.5, GramBytes: -1}})
	}
	for name, c := range map[string]learner.Config{
		"perceptron": &learners.PerceptronConfig{Beta: 0.04, Eta: 1},
		"romma":      &learners.ROMMAConfig{Aggressive: true, Delta: 0.02, KernelConfig: linear},
		"micra":      &learners.MICRAConfig{Beta: 0.1, Epsilon: 0.1, Eta: 1, Zeta: 0.9},
		"pumma":      &learners.PUMMAConfig{P: "2.5", Delta: 0.02, KernelConfig: linear},
	} {
		for _, o := range []learner.FitOptions{{}, {ActiveSet: true}, {Halving: true},
			{ActiveSet: true, Halving: true}, {Delta: 0.5}, {Delta: 0.5, ActiveSet: true},
			{Delta: 0.5, ActiveSet: true, Halving: true}} {
			if t := c.Traits(); (!o.Halving || t.Halving) && (o.Delta == 0 || t.SoftDelta) {
				runs = append(runs, cutRun{name, c, o})
			}
		}
	}
	return runs
}

func cutData[T learner.Float](form string) *engine.Block[T] {
	d := learnertest.Dense[float64](120, 10, 0.05)
	return block[T](form, rowsOf(d.X, d.Stride, d.Dim, d.Len()), d.Y)
}

// TestCut: a run that is cut, saved, loaded and gone on from ends as one that wasn't, to the bit.
func TestCut(t *testing.T) {
	for _, run := range cutRuns() {
		o := run.options
		name := fmt.Sprintf("%s/gram=%d,refresh=%d,active=%v,halving=%v,delta=%v", run.name,
			o.GramBytes, o.Refresh, o.ActiveSet, o.Halving, o.Delta)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testCut[float32](t, run, "sparse")
			testCut[float64](t, run, "dense")
		})
	}
}

func testCut[T learner.Float](t *testing.T, run cutRun, form string) {
	t.Helper()
	b := cutData[T](form)
	fit := func(l learner.Learner[T], most int64) learner.FitResult {
		o := run.options
		o.MaxUpdates = most
		r, err := l.(learner.Fitter[T]).Fit(t.Context(), b, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	whole := newLearner[T](t, run.name, run.config)
	want := fit(whole, 0)
	if !want.Converged || want.Updates < 20 || want.Presented != want.Epochs*int64(b.Len()) {
		t.Fatalf("in one go: %+v", want)
	}
	end := learnertest.StateBytes(whole.State())
	for _, step := range []int64{1 + want.Updates/7, want.Updates / 2, want.Updates - 1} {
		l := newLearner[T](t, run.name, run.config)
		var sum learner.FitResult
		for {
			r := fit(l, step)
			if r.Resumed != (sum.Updates > 0) {
				t.Fatalf("after %d updates: %+v", sum.Updates, r)
			}
			sum.Updates += r.Updates
			sum.Epochs += r.Epochs
			sum.Presented += r.Presented
			if r.Converged {
				if r.Margin != want.Margin || r.Bound != want.Bound || r.Counter != want.Counter {
					t.Errorf("cut each %d updates: %+v, in one go %+v", step, r, want)
				}
				break
			}
			if r.Updates == 0 {
				t.Fatalf("%+v", r)
			}
			next := newLearner[T](t, run.name, run.config)
			st := l.State()
			if err := next.SetState(st); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(learnertest.StateBytes(next.State()), learnertest.StateBytes(st)) {
				t.Fatal("loaded and saved, the state is another")
			}
			l = next
		}
		if sum.Updates != want.Updates || sum.Epochs != want.Epochs ||
			sum.Presented != want.Presented {
			t.Errorf("cut each %d updates: %+v, in one go %+v", step, sum, want)
		}
		if !bytes.Equal(learnertest.StateBytes(l.State()), end) {
			t.Errorf("cut each %d of %d updates, the end is another", step, want.Updates)
		}
	}
}

// TestFitCheckpoints: a run with checkpoints ends as one without, and from the State at any of them
// another learner comes to the same end, to the bit.
func TestFitCheckpoints(t *testing.T) {
	for _, run := range cutRuns() {
		t.Run(fmt.Sprintf("%s/%+v", run.name, run.options), func(t *testing.T) {
			t.Parallel()
			testFitCheckpoints[float32](t, run, "sparse")
			testFitCheckpoints[float64](t, run, "dense")
		})
	}
}

func testFitCheckpoints[T learner.Float](t *testing.T, run cutRun, form string) {
	t.Helper()
	b := cutData[T](form)
	fit := func(l learner.Learner[T], o learner.FitOptions) (learner.FitResult, error) {
		return l.(learner.Fitter[T]).Fit(t.Context(), b, o)
	}
	end := func(l learner.Learner[T], done int64) (learner.FitResult, []byte) {
		r, err := fit(l, run.options)
		if err != nil || !r.Converged || r.Resumed != (done > 0) {
			t.Fatalf("after %d updates: %+v, %v", done, r, err)
		}
		r.Updates += done
		return r, learnertest.StateBytes(l.State())
	}
	want, bytesOf := end(newLearner[T](t, run.name, run.config), 0)

	l := newLearner[T](t, run.name, run.config)
	type place struct {
		state learner.State
		done  learner.FitResult
	}
	var kept []place
	o := run.options
	o.CheckpointEvery = 1 + want.Presented/9
	stop := errors.New("stop")
	o.Checkpoint = func(r learner.FitResult) error {
		if l.Updates() != r.Updates || r.Counter != r.Updates+1 {
			t.Errorf("%d updates, the checkpoint's result is %+v", l.Updates(), r)
		}
		kept = append(kept, place{l.State(), r})
		return nil
	}
	r, err := fit(l, o)
	if err != nil || r.Updates != want.Updates || r.Presented != want.Presented ||
		r.Margin != want.Margin || r.Bound != want.Bound ||
		!bytes.Equal(learnertest.StateBytes(l.State()), bytesOf) {
		t.Errorf("with checkpoints: %+v, %v; without: %+v", r, err, want)
	}
	if len(kept) == 0 {
		t.Fatalf("no checkpoint in %d examples", want.Presented)
	}
	for _, k := range kept {
		l := newLearner[T](t, run.name, run.config)
		if err := l.SetState(k.state); err != nil {
			t.Fatal(err)
		}
		r, got := end(l, k.done.Updates)
		if r.Updates != want.Updates || r.Presented+k.done.Presented != want.Presented ||
			r.Margin != want.Margin || r.Bound != want.Bound || !bytes.Equal(got, bytesOf) {
			t.Errorf("from %+v: %+v, want %+v", k.done, r, want)
		}
	}

	// An error ends the run, and it goes on in the same learner.
	l = newLearner[T](t, run.name, run.config)
	o.Checkpoint = func(learner.FitResult) error { return stop }
	if r, err = fit(l, o); !errors.Is(err, stop) || r.Converged {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, got := end(l, r.Updates); !bytes.Equal(got, bytesOf) {
		t.Errorf("after an error: %+v, want %+v", r, want)
	}
}

// TestCutByContext: the same where the context ends the run anywhere.
func TestCutByContext(t *testing.T) {
	b := cutData[float64]("dense")
	for _, run := range cutRuns() {
		whole := newLearner[float64](t, run.name, run.config)
		if _, err := whole.(learner.Fitter[float64]).Fit(t.Context(), b, run.options); err != nil {
			t.Fatal(err)
		}
		l := newLearner[float64](t, run.name, run.config)
		for wait := time.Microsecond; ; wait *= 3 {
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			r, err := l.(learner.Fitter[float64]).Fit(ctx, b, run.options)
			cancel()
			if err == nil {
				if !r.Converged {
					t.Fatalf("%+v", r)
				}
				break
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(learnertest.StateBytes(l.State()), learnertest.StateBytes(whole.State())) {
			t.Errorf("%s, %+v: the end is another", run.name, run.options)
		}
	}
}

// TestCutDropped: other examples, other options and a stream go on from the weights alone, and a
// cut that no run left is refused.
func TestCutDropped(t *testing.T) {
	b := cutData[float64]("sparse")
	other := *b
	other.Val = append([]float64(nil), b.Val...)
	other.Val[7] *= 1.5
	for _, run := range cutRuns() {
		cut := func() learner.Learner[float64] {
			l := newLearner[float64](t, run.name, run.config)
			o := run.options
			o.MaxUpdates = 10
			if _, err := l.(learner.Fitter[float64]).Fit(t.Context(), b, o); err != nil {
				t.Fatal(err)
			}
			return l
		}
		resumed := func(l learner.Learner[float64], b *engine.Block[float64],
			o learner.FitOptions) bool {
			r, err := l.(learner.Fitter[float64]).Fit(t.Context(), b, o)
			if err != nil {
				t.Fatal(err)
			}
			return r.Resumed
		}
		if !resumed(cut(), b, run.options) {
			t.Errorf("%s, %+v: not gone on", run.name, run.options)
		}
		if run.options.Delta == 0 && resumed(cut(), &other, run.options) {
			t.Errorf("%s: gone on over other examples", run.name)
		}
		cutOtherwise(t, run, b, cut, resumed)
		l := cut()
		if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
			t.Fatal(err)
		}
		for k := range l.State().Counters {
			if len(k) > 4 && k[:4] == "cut." {
				t.Errorf("%s: %s is kept after Learn", run.name, k)
			}
		}

		cutForged(t, run, cut)
	}
}

// cutOtherwise goes on from a cut with other options.
func cutOtherwise(t *testing.T, run cutRun, b *engine.Block[float64],
	cut func() learner.Learner[float64], resumed func(learner.Learner[float64],
		*engine.Block[float64], learner.FitOptions) bool) {
	t.Helper()
	o := run.options
	if run.config.Traits().ActiveSet {
		o.ActiveSet = !o.ActiveSet
	} else {
		o.GramBytes = -1 - o.GramBytes
	}
	switch {
	case o.Delta == 0:
		if resumed(cut(), b, o) {
			t.Errorf("%s, %+v: gone on with %+v", run.name, run.options, o)
		}
	default: // its coordinates are nowhere else
		other := run.options
		other.Delta *= 2
		for _, o := range []learner.FitOptions{o, other} {
			l := cut()
			before := learnertest.StateBytes(l.State())
			_, err := l.(learner.Fitter[float64]).Fit(t.Context(), b, o)
			if !errors.Is(err, learner.ErrFit) ||
				!bytes.Equal(learnertest.StateBytes(l.State()), before) {
				t.Errorf("%s, %+v: with %+v: %v", run.name, run.options, o, err)
			}
		}
		o = run.options
		if o.Delta = 0; resumed(cut(), b, o) {
			t.Errorf("%s, %+v: gone on with a hard margin", run.name, run.options)
		}
	}
}

// cutForged gives a learner cuts that no run left.
func cutForged(t *testing.T, run cutRun, cut func() learner.Learner[float64]) {
	t.Helper()
	good := cut().State()
	refused := func(what string, change func(*learner.State)) {
		l := cut()
		before := learnertest.StateBytes(l.State())
		st := cut().State()
		change(&st)
		if err := l.SetState(st); !errors.Is(err, learner.ErrState) {
			t.Errorf("%s, %+v: %s: %v", run.name, run.options, what, err)
		}
		if !bytes.Equal(learnertest.StateBytes(l.State()), before) {
			t.Errorf("%s: %s: a refused state changed the learner", run.name, what)
		}
	}
	for k := range good.Counters {
		if len(k) > 4 && k[:4] == "cut." {
			refused("without "+k, func(s *learner.State) { delete(s.Counters, k) })
			refused("huge "+k, func(s *learner.State) { s.Counters[k] = 1 << 60 })
		}
	}
	for k := range good.Scalars {
		if len(k) > 4 && k[:4] == "cut." {
			refused("NaN "+k, func(s *learner.State) { s.Scalars[k] = math.NaN() })
		}
	}
	if run.options.Delta > 0 {
		refused("a soft margin of 0", func(s *learner.State) { s.Scalars["cut.soft"] = 0 })
		if good.Tensor("cut.a") != nil || good.Tensor("cut.w") != nil { // else a hard one has all
			refused("parts of a soft margin without it",
				func(s *learner.State) { delete(s.Scalars, "cut.soft") })
		}
	}
	if _, ok := good.Scalars["cut.slack_scale"]; ok {
		for k, v := range map[string]float64{"slack_scale": 0x1p-64, "scale": 0, "norm2": -1} {
			refused(k, func(s *learner.State) { s.Scalars["cut."+k] = v })
		}
	}
	refused("a foreign counter", func(s *learner.State) { s.Counters["cut.foreign"] = 1 })
	refused("a foreign scalar", func(s *learner.State) { s.Scalars["cut.foreign"] = 1 })
	refused("a foreign tensor", func(s *learner.State) {
		s.Tensors = append(s.Tensors, learner.Tensor{Name: "cut.foreign", Shape: []int{1},
			Data: []float64{1}})
	})
	for i, x := range good.Tensors {
		if len(x.Name) > 4 && x.Name[:4] == "cut." {
			refused("another type of "+x.Name,
				func(s *learner.State) { s.Tensors[i].Data = []uint8{1} })
			refused("another shape of "+x.Name,
				func(s *learner.State) { s.Tensors[i].Shape = []int{1, 1 << 30} })
			if x, ok := x.Data.([]float64); ok {
				refused("NaN in a tensor", func(s *learner.State) {
					s.Tensors[i].Data = slices.Repeat([]float64{math.NaN()}, len(x))
				})
			}
		}
	}
}
