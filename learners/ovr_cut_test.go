package learners_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// classCutRuns are runs over several classes: of bases that are cut anywhere, and of some that
// begin anew, so that there are cuts between two columns alone.
func classCutRuns() (runs []cutRun) {
	rbf := learner.KernelConfig{Kernel: "rbf", Gamma: 0.1}
	bases := append(cutRuns(),
		cutRun{"svm", &learners.SVMConfig{C: 10, Norm: 1, Gap: 1e-6, KernelConfig: rbf},
			learner.FitOptions{}},
		cutRun{"kmp", &learners.KMPConfig{Size: 10, KernelConfig: rbf}, learner.FitOptions{}},
		cutRun{"ep", nil, learner.FitOptions{}},
		cutRun{"pumma", &learners.PUMMAConfig{P: "2", Delta: 0.1, SoftC: 5,
			KernelConfig: learner.KernelConfig{Kernel: "linear"}}, learner.FitOptions{}},
		cutRun{"romma", &learners.ROMMAConfig{Aggressive: true, Delta: 0.1, KernelConfig: rbf},
			learner.FitOptions{ActiveSet: true, Delta: 1}})
	for _, r := range bases {
		runs = append(runs,
			cutRun{"ovr", &learners.OVRConfig{Base: r.name, BaseConfig: r.config}, r.options},
			cutRun{"ovo", &learners.OVOConfig{Base: r.name, BaseConfig: r.config}, r.options})
	}
	return runs
}

// called is the run's name for t.Run.
func (r *cutRun) called() string {
	base := fmt.Sprintf("%T", r.config)
	switch c := r.config.(type) {
	case *learners.OVRConfig:
		base = c.Base
	case *learners.OVOConfig:
		base = c.Base
	}
	return fmt.Sprintf("%s of %s/%+v", r.name, base, r.options)
}

// classCutData are examples of four classes, each of which a hyperplane separates from the rest.
func classCutData[T learner.Float](form string) *engine.Block[T] {
	d := learnertest.Dense[float64](120, 10, 0)
	rows := rowsOf(d.X, d.Stride, d.Dim, d.Len())
	class := make([]int32, len(rows))
	for i, x := range rows {
		for j := range 4 {
			x[j] = math.Tanh(x[j])
		}
		class[i] = int32((5*i + i/7) % 4)
		x[class[i]] = 2.2
		x[9] = 1
	}
	b := block[T](form, rows, d.Y)
	b.Class = class
	return b
}

// classCut is a run, and where another learner of the same can be put to go on.
type classCut[T learner.Float] struct {
	cutRun
	b    *engine.Block[T]
	want learner.FitResult // in one go
	end  []byte            // the State then
}

func newClassCut[T learner.Float](t *testing.T, run cutRun, form string) *classCut[T] {
	t.Helper()
	c := &classCut[T]{cutRun: run, b: classCutData[T](form)}
	l := c.learner(t, nil)
	r, err := c.fit(t.Context(), l, c.options)
	if err != nil || !r.Converged && !strings.Contains(run.called(), "of ep") {
		t.Fatalf("in one go: %+v, %v", r, err)
	}
	c.want, c.end = r, learnertest.StateBytes(l.State())
	return c
}

// learner returns one with that State, if there is one.
func (c *classCut[T]) learner(t *testing.T, s *learner.State) learner.Learner[T] {
	t.Helper()
	l := newLearner[T](t, c.name, c.config)
	if s != nil {
		if err := l.SetState(*s); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(learnertest.StateBytes(l.State()), learnertest.StateBytes(*s)) {
			t.Fatal("loaded and saved, the state is another")
		}
	}
	return l
}

func (c *classCut[T]) fit(ctx context.Context, l learner.Learner[T], o learner.FitOptions) (
	learner.FitResult, error) {
	return learner.Fit(ctx, l, c.b, o)
}

// goesOn: l, whose run has done that, comes to the end of the run in one go.
func (c *classCut[T]) goesOn(t *testing.T, l learner.Learner[T], done learner.FitResult) {
	t.Helper()
	r, err := c.fit(t.Context(), l, c.options)
	if err != nil || !r.Resumed {
		t.Fatalf("from %+v: %+v, %v", done, r, err)
	}
	c.ends(t, l, r, done)
}

func (c *classCut[T]) ends(t *testing.T, l learner.Learner[T], r, done learner.FitResult) {
	t.Helper()
	same := func(a, b float64) bool { return a == b || a != a && b != b }
	if r.Updates+done.Updates != c.want.Updates || r.Epochs+done.Epochs != c.want.Epochs ||
		r.Presented+done.Presented != c.want.Presented || r.Counter != c.want.Counter ||
		r.Violators != c.want.Violators || r.Converged != c.want.Converged ||
		!same(r.Margin, c.want.Margin) || !same(r.Bound, c.want.Bound) {
		t.Errorf("from %+v: %+v, want %+v", done, r, c.want)
	}
	if !bytes.Equal(learnertest.StateBytes(l.State()), c.end) {
		t.Errorf("from %+v: the end is another", done)
	}
}

// TestClassCheckpoints: a run over several classes with checkpoints ends as one without, and from
// the State at any of them another learner comes to the same end, to the bit, with what it counts.
func TestClassCheckpoints(t *testing.T) {
	for _, run := range classCutRuns() {
		t.Run(run.called(), func(t *testing.T) {
			t.Parallel()
			if run.name == "ovr" {
				testClassCheckpoints[float32](t, run, "sparse")
			} else {
				testClassCheckpoints[float64](t, run, "dense")
			}
		})
	}
}

func testClassCheckpoints[T learner.Float](t *testing.T, run cutRun, form string) {
	t.Helper()
	c := newClassCut[T](t, run, form)
	l := c.learner(t, nil)
	type place struct {
		state learner.State
		done  learner.FitResult
	}
	var kept []place
	o := c.options
	o.CheckpointEvery = 1 + c.want.Presented/5
	o.Checkpoint = func(r learner.FitResult) error {
		if l.Updates() != r.Updates || r.Counter != r.Updates+1 || r.Converged {
			t.Errorf("%d updates, the checkpoint's result is %+v", l.Updates(), r)
		}
		kept = append(kept, place{l.State(), r})
		return nil
	}
	r, err := c.fit(t.Context(), l, o)
	if err != nil {
		t.Fatal(err)
	}
	c.ends(t, l, r, learner.FitResult{})
	if len(kept) < 3 {
		t.Fatalf("%d checkpoints in %+v", len(kept), c.want)
	}
	for _, k := range kept {
		if !learner.WasCut(k.state) {
			t.Fatalf("the state at %+v is not one of a run that was cut", k.done)
		}
		l := c.learner(t, &k.state)
		if err := l.Score(c.b, make([]float64, c.b.Len()*learner.OutputsOf(l))); err != nil {
			t.Fatal(err)
		}
		c.goesOn(t, l, k.done)
	}

	// An error ends the run, and it goes on in the same learner.
	for at := 0; at < len(kept); at += 1 + len(kept)/4 {
		l = c.learner(t, nil)
		stop, left := errors.New("stop"), at
		o.Checkpoint = func(learner.FitResult) error {
			if left--; left < 0 {
				return stop
			}
			return nil
		}
		if r, err = c.fit(t.Context(), l, o); !errors.Is(err, stop) || r.Converged {
			t.Fatalf("%+v, %v", r, err)
		}
		c.goesOn(t, l, r)
	}
}

// TestClassCutByContext: the same where the context ends the run at any look at it.
func TestClassCutByContext(t *testing.T) {
	for _, run := range classCutRuns() {
		t.Run(run.called(), func(t *testing.T) {
			t.Parallel()
			c := newClassCut[float64](t, run, "dense")
			all := &counted{Context: t.Context()}
			l := c.learner(t, nil)
			fresh := learnertest.StateBytes(l.State())
			if _, err := c.fit(all, l, c.options); err != nil {
				t.Fatal(err)
			}
			looks := all.looks.Load()
			for end := int64(1); end <= looks; end += 1 + looks/9 {
				l := c.learner(t, nil)
				r, err := c.fit(&counted{Context: t.Context(), end: end}, l, c.options)
				if err == nil {
					continue // it looked once more where it was at its end
				}
				s := l.State()
				if r.Updates == 0 && r.Presented == 0 && !learner.WasCut(s) {
					if !bytes.Equal(learnertest.StateBytes(s), fresh) {
						t.Errorf("ended at look %d: nothing was done, and the state is another", end)
					}
					continue
				}
				c.goesOn(t, c.learner(t, &s), r)
			}
		})
	}
}

// TestClassCutByLimit: the same where MaxUpdates ends the run, of bases that are cut anywhere.
func TestClassCutByLimit(t *testing.T) {
	for _, run := range classCutRuns() {
		if run.config.Traits().Anew {
			continue
		}
		t.Run(run.called(), func(t *testing.T) {
			t.Parallel()
			c := newClassCut[float32](t, run, "sparse")
			for _, step := range []int64{1 + c.want.Updates/9, c.want.Updates / 2,
				c.want.Updates - 1} {
				l, done := c.learner(t, nil), learner.FitResult{}
				for {
					o := c.options
					o.MaxUpdates = step
					r, err := c.fit(t.Context(), l, o)
					if err != nil || r.Resumed != (done.Updates > 0) {
						t.Fatalf("after %d updates: %+v, %v", done.Updates, r, err)
					}
					if r.Converged {
						c.ends(t, l, r, done)
						break
					}
					if r.Updates != step {
						t.Fatalf("%d updates, want %d: %+v", r.Updates, step, r)
					}
					done.Updates += r.Updates
					done.Epochs += r.Epochs
					done.Presented += r.Presented
					s := l.State()
					l = c.learner(t, &s)
				}
			}
		})
	}
}

// TestClassCutDropped: over other examples or with other options a run begins at the first class,
// as it does after Learn; slacks of others refuse it; and a cut that no run left is refused.
func TestClassCutDropped(t *testing.T) {
	for _, run := range classCutRuns() {
		t.Run(run.called(), func(t *testing.T) { testClassCutDropped(t, run) })
	}
}

func testClassCutDropped(t *testing.T, run cutRun) {
	c := newClassCut[float64](t, run, "sparse")
	var s *learner.State
	l := c.learner(t, nil)
	o := c.options
	o.CheckpointEvery = 1 + c.want.Presented/2
	o.Checkpoint = func(learner.FitResult) error {
		kept := l.State()
		s = &kept
		return nil
	}
	if _, err := c.fit(t.Context(), l, o); err != nil {
		t.Fatal(err)
	}
	other := *c.b
	other.Class = append([]int32(nil), c.b.Class...)
	other.Class[5], other.Class[6] = other.Class[6], other.Class[5]
	o = c.options
	o.MaxUpdates = 100
	r, err := learner.Fit(t.Context(), c.learner(t, s), &other, o)
	switch anew := run.config.Traits().Anew; {
	case !anew && o.Delta > 0:
		if !errors.Is(err, learner.ErrSlacks) {
			t.Errorf("other classes: %+v, %v", r, err)
		}
	case err != nil || r.Resumed:
		t.Errorf("other classes: %+v, %v", r, err)
	}
	if l := c.learner(t, s); run.config.Traits().Stream {
		if err := l.Learn(c.b, make([]learner.Round, c.b.Len())); err != nil {
			t.Fatal(err)
		}
		if learner.WasCut(l.State()) {
			t.Error("the cut is kept after Learn")
		}
	}
	refused := func(what string, change func(*learner.State)) {
		t.Helper()
		l, forged := c.learner(t, nil), c.learner(t, s).State()
		before := learnertest.StateBytes(l.State())
		change(&forged)
		if err := l.SetState(forged); !errors.Is(err, learner.ErrState) {
			t.Errorf("%s: %v", what, err)
		}
		if !bytes.Equal(learnertest.StateBytes(l.State()), before) {
			t.Errorf("%s: a refused state changed the learner", what)
		}
	}
	for k := range s.Counters {
		if strings.HasPrefix(k, learner.CutPrefix) {
			refused("without "+k, func(s *learner.State) { delete(s.Counters, k) })
			refused("huge "+k, func(s *learner.State) { s.Counters[k] = 1 << 59 })
		}
	}
	for k := range s.Scalars {
		if strings.HasPrefix(k, learner.CutPrefix) {
			refused("NaN "+k, func(s *learner.State) { s.Scalars[k] = math.NaN() })
		}
	}
	refused("no examples", func(s *learner.State) { s.Counters["cut.n"] = 0 })
	refused("a column that isn't there", func(s *learner.State) {
		s.Counters["cut.column"] = uint64(len(s.Counters))
	})
	refused("a negative Delta", func(s *learner.State) {
		s.Scalars = map[string]float64{"cut.soft": -1}
	})
	refused("a foreign tensor", func(s *learner.State) {
		s.Tensors = append(s.Tensors, learner.Tensor{Name: "cut.foreign", Shape: []int{1},
			Data: []float64{1}})
	})
}
