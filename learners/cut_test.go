package learners_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
			cutRun{name, c, learner.FitOptions{GramBytes: -1, Refresh: 53}})
	}
	for name, c := range map[string]learner.Config{
		"romma": &learners.ROMMAConfig{Aggressive: true, Delta: 0.02, KernelConfig: linear},
		"micra": &learners.MICRAConfig{Beta: 0.1, Epsilon: 0.1, Eta: 1, Zeta: 0.9},
		"pumma": &learners.PUMMAConfig{P: "2.5", Delta: 0.02, KernelConfig: linear},
	} {
		for i, o := range []learner.FitOptions{{}, {ActiveSet: true}, {Halving: true},
			{ActiveSet: true, Halving: true}} {
			if name != "micra" || i < 2 {
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
		name := fmt.Sprintf("%s/gram=%d,refresh=%d,active=%v,halving=%v", run.name, o.GramBytes,
			o.Refresh, o.ActiveSet, o.Halving)
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
		if resumed(cut(), &other, run.options) {
			t.Errorf("%s: gone on over other examples", run.name)
		}
		o := run.options
		switch run.name {
		case "romma", "micra", "pumma":
			o.ActiveSet = !o.ActiveSet
		default:
			o.GramBytes = -1 - o.GramBytes
		}
		if resumed(cut(), b, o) {
			t.Errorf("%s, %+v: gone on with %+v", run.name, run.options, o)
		}
		l := cut()
		if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
			t.Fatal(err)
		}
		for k := range l.State().Counters {
			if len(k) > 4 && k[:4] == "cut." {
				t.Errorf("%s: %s is kept after Learn", run.name, k)
			}
		}

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
			}
		}
	}
}
