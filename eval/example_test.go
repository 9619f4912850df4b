package eval_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learner"
	_ "github.com/halfspace-ml/halfspace/learners"
)

var ctx = context.Background()

// must returns v of a call that does not fail here.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// newLearner makes a learner of that name with the settings that it has by default.
func newLearner(name string) learner.Learner[float64] {
	e := must(learner.Lookup(name))
	return must(learner.New[float64](e, e.Config(), learner.Env{Seed: 1}))
}

// generated are 400 examples of two classes that a hyperplane separates; split is train or test.
func generated(split string) *eval.Memory[float64] {
	params := map[string]string{"n": "400", "d": "10", "split": split}
	d := must(dataset.Generate[float64]("margin", params))
	return eval.NewMemory(&d.Block, d.Gather)
}

// Progressive validation: each example is predicted before its label is shown.
func ExampleRun() {
	var r eval.Result = must(eval.Run(ctx, newLearner("pa"), generated("train"), eval.Options{}))
	fmt.Printf("%d examples, %d errors: %.1f %%\n", r.Examples, r.Errors, 100*r.ProgressiveError())
	// Output:
	// 400 examples, 12 errors: 3.0 %
}

// Passes in fresh orders, until a whole pass makes no update.
func ExampleOptions() {
	r := must(eval.Run(ctx, newLearner("perceptron"), generated("train"),
		eval.Options{UntilConverged: true, MaxUpdates: 10_000, Shuffle: true, Seed: 1}))
	fmt.Println(r.Converged, r.Epochs, "passes", r.Updates, "updates")
	// Output:
	// true 3 passes 37 updates
}

// What was learned, on examples that were not.
func ExampleTest() {
	l := newLearner("pa")
	must(eval.Run(ctx, l, generated("train"), eval.Options{}))
	var c eval.Count = must(eval.Test(ctx, l.Snapshot(), generated("test")))
	fmt.Println(c.Errors, "errors in", c.Examples, "examples,", c.Positives, "of them positive")
	// Output:
	// 3 errors in 400 examples, 200 of them positive
}

// A learner of the whole data set passes over it until it has converged.
func ExampleFit() {
	l := learner.AsFitter(newLearner("svm"))
	r := must(eval.Fit(ctx, l, generated("train"), learner.FitOptions{}, nil))
	fmt.Println(r.Converged, r.Fit.Violators, "violators")
	// Output:
	// true 0 violators
}

// A learner with probabilities: how good they are.
func ExampleProbabilities() {
	r := must(eval.Run(ctx, newLearner("adf"), generated("train"), eval.Options{Proba: true}))
	fmt.Printf("%d examples, log loss %.2f, Brier score %.3f, calibration error %.3f\n",
		r.Proba.Examples, r.Proba.LogLoss(), r.Proba.Brier(), r.Proba.CalibrationError())
	// Output:
	// 400 examples, log loss 0.10, Brier score 0.019, calibration error 0.074
}

// The margin of a hypothesis is the least distance of an example from the hyperplane.
func ExampleMargins() {
	l := newLearner("romma")
	must(eval.Run(ctx, l, generated("train"), eval.Options{UntilConverged: true}))
	m, ok, err := eval.Measure(ctx, l.Snapshot(), generated("train"))
	fmt.Printf("%.4f; in the largest coordinate %.4f %v %v\n", m.Norm(2, 0), m.Norm(math.Inf(1), 0),
		ok, err)
	// Output:
	// 0.0296; in the largest coordinate 0.0116 true <nil>
}

// Members at an angle have an average of more margin than theirs: the bound says at least how much.
func ExampleAverageBound() {
	b := &engine.Block[float64]{Dim: 2, Stride: 2, X: []float64{1, 1, -1, -1}, Y: []float64{1, -1}}
	members := [][]float64{{1, 0.1}, {0.1, 1}}
	l := newLearner("perceptron")
	must(eval.Run(ctx, l, eval.NewMemory(b, nil), eval.Options{}))
	var bound eval.AverageBound
	m, bound, ok, err := eval.MeasureAverage(ctx, l.Snapshot(), members, eval.NewMemory(b, nil))
	fmt.Printf("margins %.2f, of the average at least %.2f, it is %.2f %v %v\n", bound.Margins,
		bound.Equal, m.Norm(2, 0), ok, err)
	// Output:
	// margins [1.09 1.09], of the average at least 1.41, it is 1.41 true <nil>
}

// Memory gives a data set again, in any order.
func ExampleMemory() {
	d := must(dataset.Generate[float64]("margin", map[string]string{"n": "3", "d": "2"}))
	m := eval.NewMemory(&d.Block, d.Gather)
	for _, order := range [][]int32{nil, {2, 0, 1}} {
		m.Rewind(order)
		fmt.Printf("%.2f\n", must(m.Next()).Row(0))
	}
	fmt.Printf("%.2f is example 2\n", m.All().Row(2))
	// Output:
	// [0.99 0.15]
	// [0.22 0.98]
	// [0.22 0.98] is example 2
}

// endless is a source of one example, which comes so many times.
type endless struct{ left int }

func (s *endless) Next() (*engine.Block[float64], error) {
	if s.left == 0 {
		return nil, io.EOF
	}
	s.left--
	return &engine.Block[float64]{Dim: 2, Stride: 2, X: []float64{3, 4}, Y: []float64{1}}, nil
}

// Wait makes it an eval.Waiter: the next example is there after a millisecond, say.
func (s *endless) Wait(d time.Duration) bool { return d >= time.Millisecond }

// A source is anything that gives blocks.
func ExampleSource() {
	var src eval.Source[float64] = &endless{left: 5}
	r := must(eval.Run(ctx, newLearner("pa"), src, eval.Options{}))
	fmt.Println(r.Examples, "examples,", r.Updates, "update")
	// Output:
	// 5 examples, 1 update
}

// A source that may have to wait says so, and a run can save its model meanwhile.
func ExampleWaiter() {
	src := &endless{left: 1}
	var _ eval.Waiter = src
	fmt.Println(eval.Wait[float64](src, 0), eval.Wait[float64](src, time.Second))
	// Output:
	// false true
}

// doubling shows how a run goes, at example 1, 2, 4, 8, ...
type doubling struct{}

func (doubling) Line(s eval.Status) {
	fmt.Printf("%d: %.2f since the line before, %.2f in all\n", s.Examples, s.ErrorSince(),
		s.Error())
}
func (doubling) Step(eval.Status)                         {}
func (doubling) Fit(s learner.FitStatus, _ time.Duration) { fmt.Println(s.Violators) }
func (doubling) End(s eval.Status)                        { fmt.Println("end at", s.Examples) }

// Progress of a run, as it goes.
func ExampleProgress() {
	var p eval.Progress = doubling{}
	must(eval.Run(ctx, newLearner("pa"), generated("train"), eval.Options{Progress: p}))
	// Output:
	// 1: 0.00 since the line before, 0.00 in all
	// 2: 0.00 since the line before, 0.00 in all
	// 4: 0.50 since the line before, 0.25 in all
	// 8: 0.25 since the line before, 0.25 in all
	// 16: 0.12 since the line before, 0.19 in all
	// 32: 0.12 since the line before, 0.16 in all
	// 64: 0.06 since the line before, 0.11 in all
	// 128: 0.03 since the line before, 0.07 in all
	// 256: 0.02 since the line before, 0.05 in all
	// end at 400
}

// The Status of a moment: 3 errors in the last 10 of 100 examples.
func ExampleStatus() {
	s := eval.Status{Examples: 100, Errors: 12, SinceExamples: 10, SinceErrors: 3}
	fmt.Println(s.Error(), s.ErrorSince())
	// Output:
	// 0.12 0.3
}

// Sorted labels make a progressive error that says little.
func ExampleWarning() {
	d := must(dataset.Generate[float64]("margin", map[string]string{"n": "400", "d": "10"}))
	var order []int32
	for _, y := range []float64{-1, 1} {
		for i, label := range d.Block.Y {
			if label == y {
				order = append(order, int32(i))
			}
		}
	}
	var sorted engine.Block[float64]
	d.Gather(&sorted, order)
	r := must(eval.Run(ctx, newLearner("pa"), eval.NewMemory(&sorted, nil), eval.Options{}))
	var w eval.Warning = r.Warnings[0]
	fmt.Printf("%s: %d change, %.0f expected\n", w.Code, w.Count.Changes, w.Expected)
	// Output:
	// label-runs: 1 change, 200 expected
}

// Scores of a stream, block by block.
func ExampleScore() {
	l := newLearner("pa")
	must(eval.Run(ctx, l, generated("train"), eval.Options{}))
	err := eval.Score(ctx, l.Snapshot(), &endless{left: 2},
		func(b *engine.Block[float64], scores []float64) error {
			fmt.Printf("%d example, score %.3f\n", b.Len(), scores[0])
			return nil
		})
	fmt.Println(err)
	// Output:
	// 1 example, score 9.166
	// 1 example, score 9.166
	// <nil>
}

// A run that was stopped goes on, and counts on.
func ExampleStanding() {
	l := newLearner("pa")
	var at *eval.Standing
	stop := errors.New("enough")
	_, err := eval.Run(ctx, l, generated("train"), eval.Options{Epochs: 2, CheckpointEvery: 70,
		Checkpoint: func(r eval.Result) error { at = r.Standing; return stop }})
	fmt.Println(errors.Is(err, stop), at.Presented())
	r := must(eval.Run(ctx, l, generated("train"), eval.Options{Epochs: 2, Continue: at}))
	fmt.Println(r.Epochs, r.Presented == 2*r.Examples, r.Behind)
	// Output:
	// true 70
	// 2 true 70
}
