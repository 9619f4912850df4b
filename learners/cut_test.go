package learners_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

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

// cutCase is a run, and where another learner of the same can be put to go on.
type cutCase[T learner.Float] struct {
	cutRun
	b    *engine.Block[T]
	want learner.FitResult // in one go
	end  []byte            // the State then
}

func newCutCase[T learner.Float](t *testing.T, run cutRun, form string) *cutCase[T] {
	t.Helper()
	c := &cutCase[T]{cutRun: run}
	if run.config != nil && run.config.Traits().Classes {
		c.b = classCutData[T](form)
	} else {
		d := learnertest.Dense[float64](120, 10, 0.05)
		c.b = block[T](form, rowsOf(d.X, d.Stride, d.Dim, d.Len()), d.Y)
	}
	l := c.learner(t, nil)
	r, err := c.fit(t.Context(), l, c.options)
	if err != nil || !r.Converged && !strings.Contains(run.called(), "of ep") {
		t.Fatalf("in one go: %+v, %v", r, err)
	}
	c.want, c.end = r, learnertest.StateBytes(l.State())
	return c
}

// eachCut has a test look at all runs, of both precisions and forms.
func eachCut(t *testing.T, runs []cutRun, test32 func(*testing.T, *cutCase[float32]),
	test64 func(*testing.T, *cutCase[float64])) {
	for _, run := range runs {
		t.Run(run.called(), func(t *testing.T) {
			t.Parallel()
			if run.name != "ovo" {
				test32(t, newCutCase[float32](t, run, "sparse"))
			}
			if run.name != "ovr" {
				test64(t, newCutCase[float64](t, run, "dense"))
			}
		})
	}
}

// allCutRuns are those of two classes and of several.
func allCutRuns() []cutRun { return append(cutRuns(), classCutRuns()...) }

// learner returns one with that State, if there is one.
func (c *cutCase[T]) learner(t *testing.T, s *learner.State) learner.Learner[T] {
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

func (c *cutCase[T]) fit(ctx context.Context, l learner.Learner[T], o learner.FitOptions) (
	learner.FitResult, error) {
	return learner.Fit(ctx, l, c.b, o)
}

// goesOn: l, whose run has done that, comes to the end of the run in one go.
func (c *cutCase[T]) goesOn(t *testing.T, l learner.Learner[T], done learner.FitResult) {
	t.Helper()
	r, err := c.fit(t.Context(), l, c.options)
	if err != nil || !r.Resumed {
		t.Fatalf("from %+v: %+v, %v", done, r, err)
	}
	c.ends(t, l, r, done)
}

func (c *cutCase[T]) ends(t *testing.T, l learner.Learner[T], r, done learner.FitResult) {
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

// TestFitCheckpoints: a run with checkpoints ends as one without, and from the State at any of them
// another learner comes to the same end, to the bit, with what it counts. An error ends the run,
// and it goes on in the same learner.
func TestFitCheckpoints(t *testing.T) {
	eachCut(t, allCutRuns(), checkpointsOf[float32], checkpointsOf[float64])
}

func checkpointsOf[T learner.Float](t *testing.T, c *cutCase[T]) {
	t.Helper()
	l := c.learner(t, nil)
	type place struct {
		state learner.State
		done  learner.FitResult
	}
	var kept []place
	o := c.options
	o.CheckpointEvery = 1 + c.want.Presented/7
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

// counted is a context that counts the looks at it, and ends at the one of that number.
type counted struct {
	context.Context
	looks atomic.Int64
	end   int64 // 0: never
}

// Err is context.Context.Err.
func (c *counted) Err() error {
	if n := c.looks.Add(1); c.end > 0 && n >= c.end {
		return context.Canceled
	}
	return nil
}

// TestCutByContext: the same where the context ends the run at any look at it.
func TestCutByContext(t *testing.T) {
	eachCut(t, allCutRuns(), func(*testing.T, *cutCase[float32]) {}, cutByContext[float64])
}

func cutByContext[T learner.Float](t *testing.T, c *cutCase[T]) {
	t.Helper()
	all, l := &counted{Context: t.Context()}, c.learner(t, nil)
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
}

// TestFitLooksAtContext: between two looks at ctx there are at most 2^25 elements of work, which
// take less than 0.1 s, however much an update costs: 1 to 4 ns each, on a machine of 2026. To make
// the Gram matrix is work, too.
func TestFitLooksAtContext(t *testing.T) {
	const examples, dim, updates = 1500, 20, 60_000
	b := learnertest.Dense[float64](examples, dim, 0)
	for i := range b.Y { // not separable
		if i%7 == 0 {
			b.Y[i] = -b.Y[i]
		}
	}
	for name, c := range map[string]learner.Config{
		"perceptron": &learners.PerceptronConfig{Margin: 1, Eta: 1}, // by a fixed rule
		"cramma":     &learners.CRAMMAConfig{Epsilon: 0.5, Beta: 0.8, Eta: 0.02, EtaDelta: 1},
	} {
		ctx := &counted{Context: t.Context()}
		r, err := learner.Fit(ctx, newLearner[float64](t, name, c), b,
			learner.FitOptions{MaxUpdates: updates})
		if err != nil || !r.ScoreSpace {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		work := int64(examples*examples/2*dim + updates*examples)
		if looks, least := ctx.looks.Load(), work>>25; looks < least {
			t.Errorf("%s: %d looks at the context in %d updates of %d examples, want %d", name,
				looks, updates, examples, least)
		}
	}
}

// TestCut: the same where MaxUpdates ends the run, of learners that are cut anywhere.
func TestCut(t *testing.T) {
	runs := slices.DeleteFunc(allCutRuns(), func(r cutRun) bool { return r.config.Traits().Anew })
	eachCut(t, runs, cutByLimit[float32], cutByLimit[float64])
}

func cutByLimit[T learner.Float](t *testing.T, c *cutCase[T]) {
	t.Helper()
	for _, step := range []int64{1 + c.want.Updates/7, c.want.Updates / 2, c.want.Updates - 1} {
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
}

// TestCutDropped: over other examples or with other options a run begins anew, from the weights
// alone, as it does after Learn; slacks of others refuse it; and a cut that no run left is refused.
func TestCutDropped(t *testing.T) {
	for _, run := range allCutRuns() {
		t.Run(run.called(), func(t *testing.T) {
			t.Parallel()
			c := newCutCase[float64](t, run, "sparse")
			s := c.cut(t)
			c.otherwise(t, &s)
			if l := c.learner(t, &s); run.config.Traits().Stream {
				if err := l.Learn(c.b, make([]learner.Round, c.b.Len())); err != nil {
					t.Fatal(err)
				}
				if learner.WasCut(l.State()) {
					t.Error("the cut is kept after Learn")
				}
			}
			c.forged(t, s)
		})
	}
}

// cut returns the State of a learner whose run was cut.
func (c *cutCase[T]) cut(t *testing.T) (s learner.State) {
	t.Helper()
	l, o := c.learner(t, nil), c.options
	o.CheckpointEvery = 1 + c.want.Presented/2
	o.Checkpoint = func(learner.FitResult) error {
		s = l.State()
		return nil
	}
	if _, err := c.fit(t.Context(), l, o); err != nil || !learner.WasCut(s) {
		t.Fatalf("not cut: %v", err)
	}
	return s
}

// otherwise goes on from a cut over other examples, and with other options.
func (c *cutCase[T]) otherwise(t *testing.T, s *learner.State) {
	t.Helper()
	other := *c.b
	if c.b.Class != nil {
		other.Class = slices.Clone(c.b.Class)
		other.Class[5], other.Class[6] = other.Class[6], other.Class[5]
	} else {
		other.Val = slices.Clone(c.b.Val)
		other.Val[7] *= 1.5
	}
	o := c.options
	o.MaxUpdates = 100
	refused := o.Delta > 0 && !c.config.Traits().Anew
	anew := func(what string, b *engine.Block[T], o learner.FitOptions) {
		t.Helper()
		l := c.learner(t, s)
		before := learnertest.StateBytes(l.State())
		r, err := learner.Fit(t.Context(), l, b, o)
		switch {
		case refused && o.Delta > 0: // its coordinates are nowhere else
			if !errors.Is(err, learner.ErrFit) && !errors.Is(err, learner.ErrSlacks) ||
				!bytes.Equal(learnertest.StateBytes(l.State()), before) {
				t.Errorf("%s: %+v, %v", what, r, err)
			}
		case err != nil || r.Resumed:
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	anew("other examples", &other, o)
	if c.b.Class != nil {
		return
	}
	options := o
	if c.config.Traits().ActiveSet {
		options.ActiveSet = !o.ActiveSet
	} else {
		options.GramBytes = -1 - o.GramBytes
	}
	anew("other options", c.b, options)
	if options = o; o.Delta > 0 {
		options.Delta *= 2
		anew("another margin", c.b, options)
		options.Delta = 0
		anew("a hard margin", c.b, options)
	}
}

// forged gives a learner cuts that no run left.
func (c *cutCase[T]) forged(t *testing.T, s learner.State) {
	t.Helper()
	l := c.learner(t, nil)
	before := learnertest.StateBytes(l.State())
	refused := func(what string, change func(*learner.State)) {
		t.Helper()
		forged := c.learner(t, &s).State()
		change(&forged)
		if err := l.SetState(forged); !errors.Is(err, learner.ErrState) {
			t.Errorf("%s: %v", what, err)
		}
		if !bytes.Equal(learnertest.StateBytes(l.State()), before) {
			t.Errorf("%s: a refused state changed the learner", what)
		}
	}
	is := func(name string) bool { return strings.HasPrefix(name, learner.CutPrefix) }
	for k := range s.Counters {
		if is(k) {
			refused("without "+k, func(s *learner.State) { delete(s.Counters, k) })
			refused("huge "+k, func(s *learner.State) { s.Counters[k] = 1 << 60 })
		}
	}
	for k := range s.Scalars {
		if is(k) {
			refused("NaN "+k, func(s *learner.State) { s.Scalars[k] = math.NaN() })
		}
	}
	for i, x := range s.Tensors {
		if !is(x.Name) {
			continue
		}
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
	refused("no examples", func(s *learner.State) { s.Counters["cut.n"] = 0 })
	with := func(name string, v float64) func(*learner.State) {
		return func(s *learner.State) {
			if s.Scalars == nil {
				s.Scalars = map[string]float64{}
			}
			s.Scalars[name] = v
		}
	}
	refused("a negative Delta", with("cut.soft", -1))
	refused("a foreign counter", func(s *learner.State) { s.Counters["cut.foreign"] = 1 })
	refused("a foreign scalar", with("cut.foreign", 1))
	refused("a foreign tensor", func(s *learner.State) {
		s.Tensors = append(s.Tensors, learner.Tensor{Name: "cut.foreign", Shape: []int{1},
			Data: []float64{1}})
	})
	if c.b.Class != nil {
		refused("a column that isn't there", func(s *learner.State) {
			s.Counters["cut.column"] = uint64(len(s.Counters))
		})
		return
	}
	if c.options.Delta > 0 {
		refused("a soft margin of 0", with("cut.soft", 0))
		if s.Tensor("cut.a") != nil || s.Tensor("cut.w") != nil { // else a hard one has all
			refused("parts of a soft margin without it",
				func(s *learner.State) { delete(s.Scalars, "cut.soft") })
		}
	}
	if _, ok := s.Scalars["cut.slack_scale"]; ok {
		for k, v := range map[string]float64{"slack_scale": 0x1p-64, "scale": 0, "norm2": -1} {
			refused(k, with("cut."+k, v))
		}
	}
}
