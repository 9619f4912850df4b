package eval_test

import (
	"context"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// fake is a learner that the data steer: its scores are the value of feature 0, and it updates
// where feature 1 says so.
type fake struct {
	learner.Learner[float64]
	seen   []float64 // feature 0 of each example learned, in order
	learns int       // calls of Learn
	weight []float64
	hook   func(learns int) error
}

func (l *fake) Learn(b *engine.Block[float64], rounds []learner.Round) error {
	l.learns++
	if l.hook != nil {
		if err := l.hook(l.learns); err != nil {
			return err
		}
	}
	for i := range b.Len() {
		x := b.Row(i)
		l.seen = append(l.seen, x[0])
		rounds[i] = learner.Round{Score: x[0], Updates: int32(x[1])}
	}
	return nil
}

func (l *fake) Score(b *engine.Block[float64], dst []float64) error {
	for i := range b.Len() {
		dst[i] = b.Row(i)[0]
	}
	return nil
}

func (l *fake) Outputs() int { return 1 }

func (l *fake) Weights() []float64 { return l.weight }

// block makes a dense block of rows (label, score, updates).
func block(rows ...[3]float64) *engine.Block[float64] {
	b := &engine.Block[float64]{Dim: 2, Stride: 2}
	for _, r := range rows {
		b.Y = append(b.Y, r[0])
		b.X = append(b.X, r[1], r[2])
	}
	return b
}

// slow is a fake that takes a given time for each example; it keeps the sizes of its blocks.
type slow struct {
	fake
	each  time.Duration
	sizes []int
}

func (l *slow) Learn(b *engine.Block[float64], rounds []learner.Round) error {
	time.Sleep(time.Duration(b.Len()) * l.each)
	l.sizes = append(l.sizes, b.Len())
	return l.fake.Learn(b, rounds)
}

// TestSlowBlocks: a learner gets blocks of up to DefaultBlock examples, but none that takes it
// long.
func TestSlowBlocks(t *testing.T) {
	all := &engine.Block[float64]{Dim: 2, Stride: 2, Y: slices.Repeat([]float64{1}, 2000),
		X: make([]float64, 4000)}
	for _, c := range []struct {
		each  time.Duration
		first []int
		most  int
	}{
		{time.Microsecond, []int{4, 8, 16, 32, 64}, eval.DefaultBlock},
		{15 * time.Millisecond, []int{4, 4, 4}, 4},        // 60 ms: neither short nor long
		{30 * time.Millisecond, []int{4, 2, 2}, 4},        // 120 ms is long
		{300 * time.Millisecond, []int{4, 2, 1, 1, 1}, 4}, // nothing is shorter than 1
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &slow{each: c.each}
			if _, err := eval.Run(context.Background(), l, memory(all),
				eval.Options{}); err != nil {
				t.Fatal(err)
			}
			if got := l.sizes[:len(c.first)]; !slices.Equal(got, c.first) ||
				slices.Max(l.sizes) != c.most || len(l.seen) != 2000 {
				t.Errorf("%v an example: blocks of %d ..., at most %d, want %d and %d; %d examples",
					c.each, got, slices.Max(l.sizes), c.first, c.most, len(l.seen))
			}
		})
	}
}

func gather(all *engine.Block[float64]) func(dst *engine.Block[float64], order []int32) {
	return func(dst *engine.Block[float64], order []int32) {
		dst.Reset()
		dst.Dim, dst.Stride = all.Dim, all.Dim
		for _, i := range order {
			dst.Y = append(dst.Y, all.Y[i])
			dst.X = append(dst.X, all.Row(int(i))...)
		}
	}
}

func memory(all *engine.Block[float64]) *eval.Memory[float64] {
	return eval.NewMemory(all, gather(all))
}

// stream gives blocks once.
type stream struct {
	blocks []*engine.Block[float64]
	err    error // after them, instead of io.EOF
}

func (s *stream) Next() (*engine.Block[float64], error) {
	if len(s.blocks) == 0 {
		if s.err != nil {
			return nil, s.err
		}
		return nil, io.EOF
	}
	b := s.blocks[0]
	s.blocks = s.blocks[1:]
	return b, nil
}

// random makes n separable examples of 2-norm below about 2, with a margin.
func random(n int, seed uint64) *engine.Block[float64] {
	r := engine.NewRand(seed, 0)
	const dim = 5
	b := &engine.Block[float64]{Dim: dim, Stride: dim}
	for b.Len() < n {
		x := make([]float64, dim)
		for j := range x {
			x[j] = 2*r.Uniform() - 1
		}
		if f := x[0] + x[1] - x[2]; math.Abs(f) > 0.2 {
			b.X = append(b.X, x...)
			b.Y = append(b.Y, math.Copysign(1, f))
		}
	}
	return b
}

// sameMetrics compares all that was tallied.
func sameMetrics(a, b *eval.Metrics) bool { return reflect.DeepEqual(a, b) }

// diff compares results, but for what a tally in a warning would need to be gone on with.
func diff(want, got eval.Result) string {
	return cmp.Diff(want, got, cmp.Comparer(sameMetrics), cmpopts.IgnoreUnexported(eval.Count{}))
}

// TestCounts works out by hand what a zero score is: always a mistake, an error for negatives only.
func TestCounts(t *testing.T) {
	b := block(
		[3]float64{+1, 0.5, 0},
		[3]float64{+1, 0, 1},
		[3]float64{-1, 0, 2},
		[3]float64{-1, -2, 0},
		[3]float64{+1, -1, 5},
		[3]float64{-1, math.NaN(), 0},
	)
	warning := func(n, of int64) []eval.Warning {
		all := eval.Count{Examples: of, Errors: of / 2, Positives: of / 2, Predicted: of / 2,
			NotFinite: n, Changes: of/6*4 - 1} // + + - - + -, in turn
		return []eval.Warning{{Code: eval.NotFinite, Count: all}}
	}
	want := eval.Result{Examples: 6, Presented: 6, Epochs: 1, Updates: 8, Mistakes: 4, Errors: 3,
		NotFinite: 1, Warnings: warning(1, 6)}
	for name, src := range map[string]eval.Source[float64]{
		"memory": memory(b),
		"stream": &stream{blocks: []*engine.Block[float64]{b}},
	} {
		r, err := eval.Run(t.Context(), &fake{}, src, eval.Options{Block: 4})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r.Read, r.Learn = 0, 0
		if d := diff(want, r); d != "" {
			t.Errorf("%s: result (-want +got):\n%s", name, d)
		}
		if got := r.ProgressiveError(); got != 0.5 {
			t.Errorf("%s: progressive error %v, want 0.5", name, got)
		}
	}
	r, err := eval.Run(t.Context(), &fake{}, memory(b), eval.Options{Epochs: 3})
	if err != nil {
		t.Fatal(err)
	}
	r.Read, r.Learn = 0, 0
	want = eval.Result{Examples: 6, Presented: 18, Epochs: 3, Updates: 24, Mistakes: 12, Errors: 3,
		NotFinite: 3, Warnings: warning(3, 18)}
	if d := diff(want, r); d != "" {
		t.Errorf("3 epochs: result (-want +got):\n%s", d)
	}
}

// TestBlocks checks that the size of blocks, the cut of the stream and checkpoints never show.
func TestBlocks(t *testing.T) {
	all := random(700, 1)
	run := func(src eval.Source[float64], o eval.Options) (eval.Result, learner.State) {
		l := newOf(t, "perceptron", nil)
		r, err := eval.Run(t.Context(), l, src, o)
		if err != nil {
			t.Fatal(err)
		}
		r.Read, r.Learn = 0, 0
		return r, l.State()
	}
	for _, o := range []eval.Options{{Epochs: 1}, {Epochs: 3}, {Epochs: 3, Shuffle: true, Seed: 7},
		{UntilConverged: true, Shuffle: true}} {
		wantResult, wantState := run(memory(all), o)
		for _, size := range []int{1, 7, 256, 10000} {
			o := o
			o.Block = size
			o.CheckpointEvery, o.Checkpoint = 100, func(eval.Result) error { return nil }
			r, s := run(memory(all), o)
			if d := diff(wantResult, r); d != "" {
				t.Errorf("%+v, block %d: result\n%s", o, size, d)
			}
			if d := cmp.Diff(wantState, s); d != "" {
				t.Errorf("%+v, block %d: state\n%s", o, size, d)
			}
		}
	}
	wantResult, wantState := run(memory(all), eval.Options{})
	wantResult.Converged = false // a stream can't know
	a, b := all.Slice(0, 300), all.Slice(300, 700)
	r, s := run(&stream{blocks: []*engine.Block[float64]{&a, &b}}, eval.Options{Block: 64})
	if d := diff(wantResult, r) + cmp.Diff(wantState, s); d != "" {
		t.Errorf("stream:\n%s", d)
	}
}

// TestGoOn checks that epochs are counted on over runs: 3 shuffled epochs are 1 and then 2.
func TestGoOn(t *testing.T) {
	all := random(100, 2)
	o := eval.Options{Shuffle: true, Seed: 5, Epochs: 3}
	once := &fake{}
	if _, err := eval.Run(t.Context(), once, memory(all), o); err != nil {
		t.Fatal(err)
	}
	parts := &fake{}
	var before int64
	for _, epochs := range []int{1, 2} {
		o.Epochs, o.Before = epochs, before
		r, err := eval.Run(t.Context(), parts, memory(all), o)
		if err != nil {
			t.Fatal(err)
		}
		before += r.Presented
	}
	if !slices.Equal(once.seen, parts.seen) {
		t.Error("3 epochs and 1+2 epochs show the examples in different orders")
	}
	first, second := slices.Clone(once.seen[:100]), slices.Clone(once.seen[100:200])
	if slices.Equal(first, second) {
		t.Error("two epochs have the same order")
	}
	slices.Sort(first)
	slices.Sort(second)
	if !slices.Equal(first, second) {
		t.Error("two epochs show different examples")
	}
}

func TestUntilConverged(t *testing.T) {
	all := random(300, 3)
	l := newOf(t, "perceptron", nil)
	r, err := eval.Run(t.Context(), l, memory(all), eval.Options{UntilConverged: true})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Converged || r.Epochs < 2 || r.Presented != int64(r.Epochs)*300 {
		t.Errorf("result %+v, want converged after some epochs", r)
	}
	if c, err := eval.Test(t.Context(), learner.ViewOf(l), memory(all)); err != nil ||
		c.Errors != 0 {
		t.Errorf("%d errors (%v) on the data it converged on", c.Errors, err)
	}
	limited, err := eval.Run(t.Context(), newOf(t, "perceptron", nil), memory(all),
		eval.Options{UntilConverged: true, MaxUpdates: 1})
	if err != nil {
		t.Fatal(err)
	}
	if limited.Converged || limited.Epochs != 1 {
		t.Errorf("limit of 1 update: %+v, want one epoch and no convergence", limited)
	}
}

func TestRefusals(t *testing.T) {
	once := &stream{blocks: []*engine.Block[float64]{random(10, 4)}}
	for _, o := range []eval.Options{{Epochs: 2}, {Shuffle: true}, {UntilConverged: true}} {
		if _, err := eval.Run(t.Context(), &fake{}, once, o); !errors.Is(err, eval.ErrOnePass) {
			t.Errorf("stream with %+v: %v, want ErrOnePass", o, err)
		}
	}
	for _, o := range []eval.Options{{Epochs: 2, UntilConverged: true}, {Epochs: -1}, {Block: -1},
		{CheckpointEvery: -1}} {
		if _, err := eval.Run(t.Context(), &fake{}, memory(random(10, 4)), o); !errors.Is(err,
			eval.ErrOptions) {
			t.Errorf("%+v: %v, want ErrOptions", o, err)
		}
	}
	bad := errors.New("bad row")
	half := &stream{blocks: []*engine.Block[float64]{random(10, 4)}, err: bad}
	if r, err := eval.Run(t.Context(), &fake{}, half, eval.Options{}); !errors.Is(err, bad) ||
		r.Presented != 10 || r.Epochs != 0 {
		t.Errorf("source that fails: %+v, %v; want 10 examples and its error", r, err)
	}
	l := &fake{hook: func(n int) error {
		if n == 3 {
			return bad
		}
		return nil
	}}
	if r, err := eval.Run(t.Context(), l, memory(random(10, 4)),
		eval.Options{Block: 2}); !errors.Is(err, bad) || r.Presented != 4 {
		t.Errorf("learner that fails: %+v, %v; want 4 examples and its error", r, err)
	}
}

// TestStop ends the context within a block: that block is finished, the next one is not begun.
func TestStop(t *testing.T) {
	why := errors.New("enough")
	for name, src := range map[string]eval.Source[float64]{
		"memory": memory(random(100, 5)),
		"stream": &stream{blocks: []*engine.Block[float64]{random(100, 5)}},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		l := &fake{hook: func(n int) error {
			if n == 4 {
				cancel(why)
			}
			return nil
		}}
		r, err := eval.Run(ctx, l, src, eval.Options{Block: 10})
		if !errors.Is(err, why) || r.Presented != 40 || len(l.seen) != 40 {
			t.Errorf("%s: %d presented, %v; want 40 and the cause", name, r.Presented, err)
		}
	}
}

func TestCheckpoints(t *testing.T) {
	all := random(250, 6)
	for _, size := range []int{1, 64, 256} {
		var marks []int64
		l := &fake{}
		o := eval.Options{Epochs: 2, Block: size, CheckpointEvery: 120,
			Checkpoint: func(r eval.Result) error {
				if int64(len(l.seen)) != r.Presented {
					t.Errorf("checkpoint says %d presented, learner saw %d", r.Presented,
						len(l.seen))
				}
				marks = append(marks, r.Presented)
				return nil
			}}
		if _, err := eval.Run(t.Context(), l, memory(all), o); err != nil {
			t.Fatal(err)
		}
		if want := []int64{120, 240, 360, 480}; !slices.Equal(marks, want) {
			t.Errorf("block %d: checkpoints after %v, want %v", size, marks, want)
		}
	}
	n := 0
	o := eval.Options{Block: 10, CheckpointAfter: time.Nanosecond,
		Checkpoint: func(eval.Result) error { n++; return nil }}
	if _, err := eval.Run(t.Context(), &fake{}, memory(all), o); err != nil || n != 25 {
		t.Errorf("%d checkpoints (%v), want one a block, 25", n, err)
	}
	full := errors.New("disk full")
	o.Checkpoint = func(eval.Result) error { return full }
	if r, err := eval.Run(t.Context(), &fake{}, memory(all), o); !errors.Is(err, full) ||
		r.Presented != 10 {
		t.Errorf("%+v, %v; want the checkpoint's error after the first block", r, err)
	}
}

// recorder is a Progress that keeps each Status, less the times.
type recorder struct{ lines, steps, ends []eval.Status }

func (r *recorder) add(to *[]eval.Status, s eval.Status) { s.Elapsed = 0; *to = append(*to, s) }
func (r *recorder) Line(s eval.Status)                   { r.add(&r.lines, s) }
func (r *recorder) Step(s eval.Status)                   { r.add(&r.steps, s) }
func (r *recorder) Fit(learner.FitStatus, time.Duration) {}
func (r *recorder) End(s eval.Status)                    { r.add(&r.ends, s) }

func TestProgress(t *testing.T) {
	b := block([3]float64{+1, -1, 1}, [3]float64{+1, 1, 0}, [3]float64{-1, 1, 3})
	want := []eval.Status{
		{Examples: 1, Errors: 1, SinceExamples: 1, SinceErrors: 1, Updates: 1, Epoch: 1, Total: 6},
		{Examples: 2, Errors: 1, SinceExamples: 1, SinceErrors: 0, Updates: 1, Epoch: 1, Total: 6},
		{Examples: 4, Errors: 3, SinceExamples: 2, SinceErrors: 2, Updates: 5, Epoch: 2, Total: 6},
	}
	end := eval.Status{Examples: 6, Errors: 4, SinceExamples: 2, SinceErrors: 1, Updates: 8,
		Epoch: 2, Total: 6}
	for _, size := range []int{1, 2, 256} {
		var got recorder
		if _, err := eval.Run(t.Context(), &fake{}, memory(b), eval.Options{Epochs: 2, Block: size,
			Progress: &got}); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got.lines); d != "" {
			t.Errorf("block %d: lines (-want +got):\n%s", size, d)
		}
		if d := cmp.Diff([]eval.Status{end}, got.ends); d != "" {
			t.Errorf("block %d: end (-want +got):\n%s", size, d)
		}
		if last := got.steps[len(got.steps)-1]; last != end {
			t.Errorf("block %d: last step %+v, want %+v", size, last, end)
		}
	}
}

func TestTest(t *testing.T) {
	all := block([3]float64{+1, 0, 0}, [3]float64{-1, 0, 0}, [3]float64{-1, -4, 0}, [3]float64{+1,
		-1, 0})
	l := &fake{}
	c, err := eval.Test(t.Context(), l, memory(all))
	if err != nil || c.Examples != 4 || c.Errors != 2 || c.Positives != 2 || c.Predicted != 2 ||
		c.NotFinite != 0 || c.Changes != 2 || c.Error() != 0.5 {
		t.Errorf("%+v (%v), want 2 errors of 4", c, err)
	}
	if l.learns != 0 {
		t.Error("Test taught the learner")
	}
	if (eval.Count{}).Error() != 0 {
		t.Error("no examples have an error")
	}
}

// TestAllocs checks that a run's cost in memory does not grow with the examples.
func TestAllocs(t *testing.T) {
	all := random(5120, 8)
	l := newOf(t, "perceptron", nil)
	mem := memory(all)
	o := eval.Options{Epochs: 1, Shuffle: true}
	run := func() {
		if _, err := eval.Run(context.Background(), l, mem, o); err != nil {
			t.Fatal(err)
		}
	}
	run()
	one := testing.AllocsPerRun(5, run)
	o.Epochs = 8
	if eight := testing.AllocsPerRun(5, run); eight > one {
		t.Errorf("1 epoch: %v allocations, 8 epochs: %v", one, eight)
	}
}

// TestConvergedMembers: an ensemble has converged when no member makes a mistake, and not when none
// that saw an example did.
func TestConvergedMembers(t *testing.T) {
	all := random(300, 3)
	e, err := learner.Lookup("obpm")
	if err != nil {
		t.Fatal(err)
	}
	c := e.Config().(*learners.OBPMConfig)
	c.Members, c.Tau = 5, 0.02
	l, err := learner.New[float64](e, c, learner.Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := eval.Run(t.Context(), l, memory(all), eval.Options{UntilConverged: true})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Converged || r.Mistaken == nil || *r.Mistaken != 0 {
		t.Errorf("%+v", r)
	}
	if n, err := learner.MistakeCheckerOf(l).Mistakes(all); n != 0 || err != nil {
		t.Errorf("converged with %d mistakes (%v)", n, err)
	}
	c.Tau = 0 // no member ever sees an example
	if l, err = learner.New[float64](e, c, learner.Env{Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if r, err = eval.Run(t.Context(), l, memory(all),
		eval.Options{UntilConverged: true}); err != nil {
		t.Fatal(err)
	}
	if r.Converged || r.Updates != 0 || *r.Mistaken != 300 {
		t.Errorf("members that saw nothing: %+v", r)
	}
	if r, err = eval.Run(t.Context(), l, memory(all), eval.Options{Epochs: 2}); err != nil ||
		r.Converged || r.Mistaken == nil {
		t.Errorf("2 epochs: %v, %+v", err, r)
	}
}

func (f *fake) State() learner.State { return learner.State{} }

// TestFit: a learner of the whole data set passes over it until it has converged, is shown on the
// way, and says where it stands.
func TestFit(t *testing.T) {
	var seen recorder
	o := eval.Options{Progress: &seen, CheckpointEvery: 1,
		Checkpoint: func(r eval.Result) error {
			if !r.Standing.Valid() || !r.Standing.Fit {
				t.Errorf("%+v", r.Standing)
			}
			return nil
		}}
	r, err := eval.Fit(t.Context(), learner.AsFitter(newOf(t, "svm", nil)), memory(random(100, 3)),
		learner.FitOptions{}, o)
	if err != nil || !r.Converged || r.Fit.Violators != 0 || r.Examples != 100 ||
		r.Standing != nil || len(seen.ends) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestTrace: what was learned is written block by block, and summed up.
func TestTrace(t *testing.T) {
	all, bytes := random(100, 3), 0
	trace := eval.Trace{Write: func(entries []byte) error { bytes += len(entries); return nil }}
	o := eval.Options{Trace: &trace}
	if _, err := eval.Run(t.Context(), newOf(t, "obpm", nil), memory(all), o); err != nil ||
		trace.Examples != 100 || bytes != 100 || trace.Sum != learner.Fingerprinted(0, all) {
		t.Errorf("%v, %d bytes, %+v", err, bytes, trace)
	}
	if _, err := eval.Run(t.Context(), newOf(t, "pa", nil), memory(all), o); !errors.Is(err,
		eval.ErrOptions) {
		t.Errorf("of a learner that writes none: %v", err)
	}
}
