package eval_test

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
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
	r := must(eval.Fit(ctx, l, generated("train"), learner.FitOptions{}, eval.Options{}))
	fmt.Println(r.Converged, r.Fit.Violators, "violators")
	// Output:
	// true 0 violators
}

// A learner with probabilities: how good they are.
func ExampleMetrics_Probabilities() {
	r := must(eval.Run(ctx, newLearner("adf"), generated("train"), eval.Options{Proba: true}))
	fmt.Printf("%d examples, log loss %.2f, Brier score %.3f, calibration error %.3f\n",
		r.Proba.Examples(), r.Proba.LogLoss(), r.Proba.Brier(), r.Proba.CalibrationError())
	// Output:
	// 400 examples, log loss 0.10, Brier score 0.019, calibration error 0.074
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

// Metrics of six predictions: one positive is missed, and one negative is taken for a positive.
func ExampleMetrics() {
	m := eval.NewMetrics(eval.MetricsOptions{AUC: true})
	for _, e := range []struct{ label, score float64 }{
		{1, 2}, {1, 1}, {1, -0.5}, {-1, 0.25}, {-1, -1}, {-1, -2},
	} {
		var o eval.Outcome = eval.Outcome2(e.label, e.score)
		m.Add(&o)
	}
	auc, _ := m.AUC()
	fmt.Printf("error %.3f, F1 %.3f, AUC %.3f\n", m.Error(), m.F1(), auc)
	fmt.Println(m.Confusion()) // a row for each class that came: -1, +1
	// Output:
	// error 0.333, F1 0.667, AUC 0.889
	// [[2 1] [1 2]]
}

// What each threshold gets of two positives and two negatives, from the largest score down.
func ExampleCurve() {
	all := []eval.Scored{{Score: -1, Weight: 1}, {Score: 2, Weight: 1, Positive: true},
		{Score: 1, Weight: 1}, {Score: 0.5, Weight: 1, Positive: true}}
	var c eval.Curve = eval.CurveOf(all)
	show := func(p eval.CurvePoint) {
		fmt.Printf("from %4.1f on: precision %.2f, recall %.2f\n", p.Threshold,
			p.True/(p.True+p.False), p.True/c.Positives)
	}
	for _, p := range c.Points {
		show(p)
	}
	fmt.Printf("AUC %.2f, average precision %.3f\n", c.AUC(), c.AveragePrecision())
	// Output:
	// from  2.0 on: precision 1.00, recall 0.50
	// from  1.0 on: precision 0.50, recall 0.50
	// from  0.5 on: precision 0.67, recall 1.00
	// from -1.0 on: precision 0.50, recall 1.00
	// AUC 0.75, average precision 0.833
}

// The last four outcomes of a stream: what was wrong before them counts no longer.
func ExampleWindow() {
	var w *eval.Window = eval.NewWindow(4, eval.MetricsOptions{})
	for i, score := range []float64{-1, -1, -1, 1, 1, 1, 1} {
		o := eval.Outcome2(1, score)
		w.Add(&o)
		fmt.Println(i+1, "outcomes, error of the last", w.Len(), "is", w.Error())
	}
	// Output:
	// 1 outcomes, error of the last 1 is 1
	// 2 outcomes, error of the last 2 is 1
	// 3 outcomes, error of the last 3 is 1
	// 4 outcomes, error of the last 4 is 0.75
	// 5 outcomes, error of the last 4 is 0.5
	// 6 outcomes, error of the last 4 is 0.25
	// 7 outcomes, error of the last 4 is 0
}

// turned are 2000 examples of which the labels change sign after 1000.
func turned() *eval.Memory[float64] {
	params := map[string]string{"n": "2000", "d": "10"}
	d := must(dataset.Generate[float64]("margin", params))
	for i := 1000; i < 2000; i++ {
		d.Block.Y[i] = -d.Block.Y[i]
	}
	return eval.NewMemory(&d.Block, d.Gather)
}

// A run that watches for drift: all labels change sign after 1000 examples. It is found soon,
// and once more while errors still rise, until the new labels are learned.
func ExampleDrift() {
	r := must(eval.Run(ctx, newLearner("pa"), turned(), eval.Options{Drift: "adwin"}))
	for _, at := range r.Drifts {
		var d eval.Drift = at
		fmt.Printf("after %d examples, error until then %.3f\n", d.Example, d.Error)
	}
	// Output:
	// after 1024 examples, error until then 0.032
	// after 1056 examples, error until then 0.594
}

// A learning curve of at most five points: errors so far, and of the last 100 examples. Labels
// change sign after 1000.
func ExampleLearningPoint() {
	r := must(eval.Run(ctx, newLearner("pa"), turned(), eval.Options{Curve: 5, Window: 100}))
	for _, at := range r.Curve {
		var p eval.LearningPoint = at
		fmt.Printf("%4d examples, %3d errors, recent error %.2f\n", p.Examples, p.Errors, p.Recent)
	}
	// Output:
	//  512 examples,  13 errors, recent error 0.01
	// 1024 examples,  33 errors, recent error 0.20
	// 1536 examples,  69 errors, recent error 0.02
	// 2000 examples,  69 errors, recent error 0.00
}

// Labels come in rows of their own, found by the ids of the examples.
func ExampleIDs() {
	rows := engine.Block[float64]{Dim: 1, Y: []float64{1, 1, 1, -1}, Ptr: []int{0, 1, 2, 2, 2},
		Idx: []int32{0, 0}, Val: []float64{2, -1}}
	ids := []string{"a", "b", "a", "b"} // the last two rows are labels alone
	e, _ := learner.Lookup("perceptron")
	l, _ := learner.New[float64](e, e.Config(), learner.Env{})
	res, err := eval.Run[float64](context.Background(), l, &once{block: &rows}, eval.Options{
		IDs: &eval.IDs{Most: 100, Row: func(i int) (id []byte, labelled, bare bool) {
			return []byte(ids[i]), i >= 2, i >= 2
		}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d learned, %d answered, %d wait\n", res.Presented, res.Late.Answered, res.Waiting)
	// Output: 2 learned, 2 answered, 0 wait
}

// once is a source of one block.
type once struct{ block *engine.Block[float64] }

func (o *once) Next() (*engine.Block[float64], error) {
	b := o.block
	if o.block = nil; b == nil {
		return nil, io.EOF
	}
	return b, nil
}
