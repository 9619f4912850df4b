package learner_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

var ctx = context.Background()

// must returns v of a call that does not fail here.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// defaults makes a learner of that name with the settings that it has by default.
func defaults(name string) learner.Learner[float64] {
	e := must(learner.Lookup(name))
	return must(learner.New[float64](e, e.Config(), learner.Env{Seed: 1}))
}

// generated are 300 examples of two classes in 10 features that a hyperplane separates.
func generated() *engine.Block[float64] {
	params := map[string]string{"n": "300", "d": "10"}
	return &must(dataset.Generate[float64]("margin", params)).Block
}

// taught is a learner of that name that has learned these examples once.
func taught(name string) learner.Learner[float64] {
	l, b := defaults(name), generated()
	if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
		panic(err)
	}
	return l
}

// scores of the first two examples.
func scores(s interface {
	Score(b *engine.Block[float64], dst []float64) error
}) string {
	var dst [2]float64
	first := generated().Slice(0, 2)
	if err := s.Score(&first, dst[:]); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.3f", dst)
}

// A learner scores each example, and then learns it: rounds tell what became of each.
func ExampleLearner() {
	var l learner.Learner[float64] = defaults("pa")
	b := generated()
	rounds := make([]learner.Round, b.Len())
	fmt.Println(l.Learn(b, rounds))
	mistakes := 0
	for i, r := range rounds {
		if b.Y[i]*r.Score <= 0 {
			mistakes++
		}
	}
	fmt.Println(mistakes, "mistakes,", l.Updates(), "updates; scores", scores(l))
	// Output:
	// <nil>
	// 13 mistakes, 102 updates; scores [1.881 2.767]
}

// A registered learner by its name, made of settings, a seed and, where there are some, workers.
func ExampleEntry() {
	var e learner.Entry = must(learner.Lookup("perceptron"))
	var c learner.Config = e.Config() // the defaults
	l := must(learner.New[float32](e, c, learner.Env{Seed: 1}))
	fmt.Println(e.Name, c.Validate(), l.Updates())
	_, err := learner.Lookup("percepton")
	fmt.Println(errors.Is(err, learner.ErrConfig))
	// Output:
	// perceptron <nil> 0
	// true
}

// Settings relative to the data become absolute by what is known of these.
func ExampleConfig_resolve() {
	var open learner.Config = &learners.CRAMMAConfig{Epsilon: 0.5, Beta: 1, Eta: 0.01}
	c := must(learner.Resolve(open, learner.Facts{SumSq: 9, Features: 2}))
	fmt.Println(open.Traits().Relative, open.(*learners.CRAMMAConfig).R)
	fmt.Println(c.Traits().Relative, c.(*learners.CRAMMAConfig).R)
	// Output:
	// true 0
	// false 3
}

// Traits say what a learner of these settings can do, before there is one.
func ExampleTraits() {
	for _, name := range []string{"pa", "svm", "adf", "budget"} {
		var t learner.Traits = must(learner.Lookup(name)).Config().Traits()
		fmt.Printf("%-6s stream %-5v whole %-5v proba %-5v keeps %d\n", name, t.Stream, t.Whole,
			t.Proba, t.Keeps)
	}
	// Output:
	// pa     stream true  whole false proba false keeps 0
	// svm    stream false whole true  proba false keeps 0
	// adf    stream true  whole false proba true  keeps 0
	// budget stream true  whole false proba false keeps 100
}

// What a learner will take is known before it is made: here an ensemble's weights decide.
func ExampleFootprint() {
	x := learner.Extent{Features: 1000, Examples: learner.Any, NonZeros: learner.Any, Longest: 50,
		Elem: 4, Growing: true}
	var f learner.Footprint = must(learner.Lookup("obpm")).Config().Traits().Memory(x)
	var most learner.MemoryPart
	for _, p := range f.Parts {
		if p.Bytes > most.Bytes {
			most = p
		}
	}
	fmt.Println(most.Name, most.Bytes >= 1000*100*4, f.Held() < f.Peak(), f.Peak() < 8<<20)
	// Output:
	// members' weights true true true
}

// A snapshot scores as the learner did, and stays as it is while that learns on.
func ExamplePredictor() {
	l := taught("pa")
	var p learner.Predictor[float64] = l.Snapshot()
	fmt.Println(scores(p), scores(l))
	b := generated()
	if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
		fmt.Println(err)
	}
	fmt.Println(scores(p), scores(l))
	// Output:
	// [1.881 2.767] [1.881 2.767]
	// [1.881 2.767] [2.348 3.699]
}

// All that learning has changed can be kept and put back: both learn on to the same bits.
func ExampleState() {
	l := taught("alma")
	var s learner.State = l.State()
	var w learner.Tensor = s.Tensors[0]
	fmt.Println(w.Name, w.Shape)
	back := defaults("alma")
	fmt.Println(back.CheckState(s), back.SetState(s), scores(back) == scores(l))
	s.Tensors = nil
	fmt.Println(errors.Is(back.CheckState(s), learner.ErrState))
	// Output:
	// w [10]
	// <nil> <nil> true
	// true
}

// A learner that can passes over a whole data set until it has converged.
func ExampleFitter() {
	e := must(learner.Lookup("romma"))
	l := must(learner.New[float64](e, &learners.ROMMAConfig{Aggressive: true, Delta: 0.1},
		learner.Env{}))
	var f learner.Fitter[float64] = learner.AsFitter(l)
	o := learner.FitOptions{MaxUpdates: 10_000,
		Observe: func(s learner.FitStatus) { _ = s.Violators }} // called each second
	var r learner.FitResult = must(f.Fit(ctx, generated(), o))
	fmt.Printf("converged %v, %d updates, margin %.4f\n", r.Converged, r.Updates, r.Margin)
	_, err := learner.Fit(ctx, defaults("adf"), generated(), o)
	fmt.Println(errors.Is(err, learner.ErrFit))
	// Output:
	// converged true, 2263 updates, margin 0.0585
	// true
}

// Probabilities of the label +1.
func ExampleProber() {
	var p learner.Prober[float64] = learner.ProberOf(taught("adf"))
	var dst [2]float64
	first := generated().Slice(0, 2)
	fmt.Println(p.Proba(&first, dst[:]))
	fmt.Printf("%.2f, labels %v\n", dst, first.Y)
	// Output:
	// <nil>
	// [0.95 0.95], labels [1 1]
}

// Two learners that have seen other examples become one.
func ExamplePosteriorMerger() {
	l := taught("adf")
	var m learner.PosteriorMerger[float64] = learner.PosteriorOf(l)
	fmt.Println(m.MergePosterior(taught("adf")), l.Updates())
	var r learner.PosteriorReport = *learner.ReportOf(l)
	fmt.Println(r.Passed, "examples skipped")
	// Output:
	// <nil> 600
	// 0 examples skipped
}

// A width and a gamma are two ways to say the same of an rbf.
func ExampleKernelConfig() {
	c := must(learner.Lookup("budget")).Config().(*learners.BudgetConfig) // the defaults
	c.KernelConfig = learner.KernelConfig{Kernel: "rbf", Sigma: 0.5}
	fmt.Println(c.Validate(), c.Traits().Kept.Gamma)
	c.Kernel = "gauss"
	fmt.Println(errors.Is(c.Validate(), learner.ErrConfig))
	// Output:
	// <nil> 2
	// true
}

// steep is a perceptron of another step, by a name of its own. Its settings say how it is made.
type steep struct{ learners.PerceptronConfig }

func (*steep) Entry() learner.Entry {
	e := (*learners.PerceptronConfig)(nil).Entry()
	e.Summary = "a perceptron of large steps"
	e.Config = func() learner.Config { return &learners.PerceptronConfig{Eta: 8} }
	return e
}

// Whoever imports a package that registers its learner in init has it by its name.
func ExampleSettings() {
	var s learner.Settings = (*steep)(nil)
	learner.Register("steep", s)
	e := must(learner.Lookup("steep"))
	fmt.Println(e.Name+":", e.Summary)
	l := must(learner.New[float64](e, e.Config(), learner.Env{}))
	b := &engine.Block[float64]{Dim: 1, Stride: 1, X: []float64{1}, Y: []float64{1}}
	fmt.Println(l.Learn(b, make([]learner.Round, 1)), l.Weights())
	// Output:
	// steep: a perceptron of large steps
	// <nil> [8]
}

// What a calibration makes of scores.
func ExampleCalibration() {
	c := learner.Calibration{Slope: 2, Intercept: -1}
	fmt.Printf("%.3f %.3f %.3f %v\n", c.Proba(0.5), c.Proba(3), c.Proba(-1), c.Check(1))
	// Output:
	// 0.500 0.993 0.047 <nil>
}

// What a predictor computes, laid open, and another learner that holds it.
func ExampleHypothesis() {
	p := taught("pa").Snapshot()
	var h learner.Hypothesis
	h, ok := learner.HypothesisOf(p)
	var out learner.Output = h.Outputs[0]
	fmt.Println(ok, len(h.Outputs), len(out.Weights), out.Bias, out.Divisor, h.Fourier == nil)

	e, _, _, ok := learner.Hold(&h)
	fmt.Println(e.Name, ok)
	// Output:
	// true 1 10 0 1 true
	// perceptron true
}

// A learner of weights forgets nine tenths of them: its scores are a tenth of what they were. A
// learner whose steps shrink with what it has learned can't.
func ExampleForgetter() {
	l, f := taught("pa"), make([]float64, 300)
	fmt.Println(l.Score(generated(), f))
	before := f[0]
	var forgets learner.Forgetter = learner.ForgetterOf(l)
	fmt.Println(forgets.Forget(0.1), l.Score(generated(), f))
	fmt.Printf("%.3f\n", f[0]/before)
	fmt.Println(learner.ForgetterOf(taught("alma")))
	// Output:
	// <nil>
	// <nil> <nil>
	// 0.100
	// <nil>
}

// Learners of different examples are averaged, each with its share.
func ExampleMixer() {
	of := make([]learner.Learner[float32], 2)
	for i, x := range []float32{1, 3} {
		l, err := learner.Make[float32]("perceptron", nil, learner.Env{})
		if err != nil {
			panic(err)
		}
		b := engine.Block[float32]{Y: []float32{1}, X: []float32{x}, Dim: 1, Stride: 1}
		if err := l.Learn(&b, make([]learner.Round, 1)); err != nil {
			panic(err)
		}
		of[i] = l
	}
	mixed, err := learner.Make[float32]("perceptron", nil, learner.Env{})
	if err != nil {
		panic(err)
	}
	var m learner.Mixer[float32] = learner.MixerOf(mixed)
	err = m.Mix(of, []float64{0.25, 0.75}, nil)
	fmt.Println(mixed.Weights(), mixed.Updates(), err)
	// Output: [2.5] 2 <nil>
}
