package learners_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
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

// newOf makes a learner of a name and settings; seed 1 is that of its draws, if it has any.
func newOf(name string, c learner.Config) learner.Learner[float64] {
	return must(learner.New[float64](must(learner.Lookup(name)), c, learner.Env{Seed: 1}))
}

// generated are 500 examples of a generator; split is train or test. Of margin, a hyperplane
// through the origin separates them; of gauss and waveform the classes overlap; of banana they are
// two crescents that no hyperplane separates.
func generated(kind, split string) *eval.Memory[float64] {
	params := map[string]string{"n": "500", "split": split}
	if kind == "gauss" {
		params["distance"] = "3"
	}
	d := must(dataset.Generate[float64](kind, params))
	return eval.NewMemory(&d.Block, d.Gather)
}

// progress teaches l a generated stream and prints the mistakes that it made on the way, each
// before the label was shown, and the errors on examples of the test split.
func progress(l learner.Learner[float64], kind string) {
	r := must(eval.Run(ctx, l, generated(kind, "train"), eval.Options{}))
	fmt.Printf("%d mistakes in %d examples, then ", r.Mistakes, r.Examples)
	tested(l, kind)
}

// tested prints the errors of what l has learned on the generator's test split.
func tested(l learner.Learner[float64], kind string) {
	c := must(eval.Test(ctx, l.Snapshot(), generated(kind, "test")))
	fmt.Printf("%.1f %% test errors\n", 100*c.Error())
}

// With a margin the perceptron also learns what it has barely recognised, and errs less on others.
func ExamplePerceptronConfig() {
	progress(newOf("perceptron", &learners.PerceptronConfig{Eta: 1}), "margin")
	progress(newOf("perceptron", &learners.PerceptronConfig{Eta: 1, Margin: 1}), "margin")
	// Output:
	// 65 mistakes in 500 examples, then 5.0 % test errors
	// 28 mistakes in 500 examples, then 0.6 % test errors
}

// C bounds how far one example moves the weights: where classes overlap, small steps are better.
func ExamplePAConfig() {
	for _, c := range []float64{1, 0.01} {
		progress(newOf("pa", &learners.PAConfig{Variant: 1, C: c}), "waveform")
	}
	// Output:
	// 45 mistakes in 500 examples, then 8.8 % test errors
	// 46 mistakes in 500 examples, then 7.0 % test errors
}

// The step must be below 2 over the squared length of the longest example: these have about 21
// features of some units each.
func ExampleLMSConfig() {
	progress(newOf("lms", &learners.LMSConfig{Eta: 0.001}), "waveform")
	// Output:
	// 44 mistakes in 500 examples, then 6.2 % test errors
}

// Where few features decide, a p-norm beyond 2 needs fewer examples.
func ExampleALMAConfig() {
	for _, p := range []float64{2, 8} {
		progress(newOf("alma", &learners.ALMAConfig{P: p, Alpha: 0.9}), "rofk")
	}
	// Output:
	// 230 mistakes in 500 examples, then 42.8 % test errors
	// 155 mistakes in 500 examples, then 16.6 % test errors
}

// A few members, each of which sees three examples in ten, and the mean of their weights.
func ExampleOBPMConfig() {
	c := must(learner.Lookup("obpm")).Config().(*learners.OBPMConfig) // the defaults
	c.Members, c.Tau = 50, 0.3
	progress(newOf("perceptron", &learners.PerceptronConfig{Eta: 1}), "waveform")
	progress(newOf("obpm", c), "waveform")
	// Output:
	// 45 mistakes in 500 examples, then 10.0 % test errors
	// 43 mistakes in 500 examples, then 7.6 % test errors
}

// With a kernel the members share the examples that are kept, 60 of them here.
func ExampleOBPMConfig_kernel() {
	c := must(learner.Lookup("obpm")).Config().(*learners.OBPMConfig) // the defaults
	c.Members, c.Budget, c.Removal = 20, 60, "norm"
	c.KernelConfig = learner.KernelConfig{Kernel: "rbf", Sigma: 0.5}
	l := newOf("obpm", c)
	progress(l, "banana")
	fmt.Println(must(supported(l)), "examples kept")
	// Output:
	// 46 mistakes in 500 examples, then 6.6 % test errors
	// 60 examples kept
}

// PUMMA with a kernel has a bias of its own, and slacks for labels that are wrong.
func ExamplePUMMAConfig_kernel() {
	c := must(learner.Lookup("pumma")).Config().(*learners.PUMMAConfig) // the defaults
	c.Delta, c.SoftC, c.Budget = 0.1, 10, 100
	c.KernelConfig = learner.KernelConfig{Kernel: "rbf", Sigma: 0.5}
	l := newOf("pumma", c)
	progress(l, "banana")
	fmt.Println(must(supported(l)), "examples kept")
	// Output:
	// 55 mistakes in 500 examples, then 5.6 % test errors
	// 100 examples kept
}

// supported returns how many examples l keeps.
func supported(l learner.Learner[float64]) (int, error) {
	n, ok := learner.SupportOf(l)
	if !ok {
		return 0, fmt.Errorf("keeps no examples")
	}
	return n, nil
}

// Random features let a linear learner learn what a kernel would be needed for.
func ExampleRFFConfig() {
	linear := &learners.PAConfig{Variant: 1, C: 0.1}
	progress(newOf("pa", linear), "banana")
	c := &learners.RFFConfig{D: 200, Sigma: 0.5, Base: "pa", BaseConfig: linear}
	progress(newOf("rff", c), "banana")
	// Output:
	// 70 mistakes in 500 examples, then 14.6 % test errors
	// 42 mistakes in 500 examples, then 7.8 % test errors
}

// The natural gradient follows the covariance of the gradients, of which it keeps 5 directions.
func ExampleNGConfig() {
	c := must(learner.Lookup("ng")).Config().(*learners.NGConfig) // the defaults
	c.Buffer, c.Rank = 20, 5
	progress(newOf("ng", c), "margin")
	// Output:
	// 27 mistakes in 500 examples, then 0.4 % test errors
}

// adf knows how sure it is of a label, from the examples it has seen.
func ExampleADFConfig() {
	l := newOf("adf", &learners.ADFConfig{Covariance: "full", Noise: 0.05})
	progress(l, "gauss")
	p := eval.NewMetrics(eval.MetricsOptions{})
	_, err := eval.Tally(ctx, l.Snapshot(), generated("gauss", "test"), p, true)
	fmt.Printf("log loss %.3f %v\n", p.LogLoss(), err)
	// Output:
	// 39 mistakes in 500 examples, then 5.6 % test errors
	// log loss 0.205 <nil>
}

// AROW keeps a variance a weight and takes large steps where that is large; R makes them smaller.
func ExampleAROWConfig() {
	for _, r := range []float64{0.1, 10} {
		c := must(learner.Lookup("arow")).Config().(*learners.AROWConfig) // the defaults
		c.R = r
		progress(newOf("arow", c), "waveform")
	}
	// Output:
	// 47 mistakes in 500 examples, then 8.8 % test errors
	// 48 mistakes in 500 examples, then 6.8 % test errors
}

// VVM keeps a few points beside the Gaussian: examples, or merged ones, that are still to be
// absorbed.
func ExampleVVMConfig() {
	c := &learners.VVMConfig{Buffer: 10, Pairs: 0, PointsConfig: learners.PointsConfig{
		Noise: 0.05, Tolerance: 1e-4, Sweeps: 50, Damping: 1}}
	l := newOf("vvm", c)
	progress(l, "gauss")
	// Output:
	// 39 mistakes in 500 examples, then 5.2 % test errors
}

// The last 20 examples are looked at again whenever one comes; older ones are a Gaussian.
func ExampleWEPConfig() {
	c := must(learner.Lookup("wep")).Config().(*learners.WEPConfig) // the defaults
	c.Buffer = 20
	progress(newOf("wep", c), "gauss")
	// Output:
	// 39 mistakes in 500 examples, then 5.2 % test errors
}

// EP sees the whole data set at once, and says how many sweeps over it that took.
func ExampleEPConfig() {
	c := must(learner.Lookup("ep")).Config().(*learners.EPConfig) // the defaults
	l := newOf("ep", c)
	fit := must(learner.Fit(ctx, l, generated("gauss", "train").All(), learner.FitOptions{}))
	fmt.Println("converged:", fit.Converged, "violators:", fit.Violators)
	tested(l, "gauss")
	// Output:
	// converged: true violators: 33
	// 7.6 % test errors
}

// A kernel perceptron that keeps 50 examples.
func ExampleBudgetConfig() {
	l := newOf("budget", &learners.BudgetConfig{Budget: 50,
		UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
		KernelConfig: learner.KernelConfig{Kernel: "rbf", Sigma: 0.5}})
	progress(l, "banana")
	kept, _ := learner.SupportOf(l)
	fmt.Println(kept, "examples kept")
	// Output:
	// 54 mistakes in 500 examples, then 7.2 % test errors
	// 50 examples kept
}

// The kept example goes without which the others are recognised best, so wrong labels do not stay.
func ExampleTBPConfig() {
	l := newOf("tbp", &learners.TBPConfig{Budget: 50, ErrorCache: "sv", ErrorSize: 100,
		Ties: "oldest", UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
		KernelConfig: learner.KernelConfig{Kernel: "rbf", Sigma: 0.5}})
	progress(l, "banana")
	kept, _ := learner.SupportOf(l)
	fmt.Println(kept, "examples kept")
	// Output:
	// 54 mistakes in 500 examples, then 6.0 % test errors
	// 50 examples kept
}

// A Gaussian process on at most 30 basis points, with probabilities.
func ExampleSOGPConfig() {
	c := must(learner.Lookup("sogp")).Config().(*learners.SOGPConfig) // the defaults
	c.Basis, c.KernelConfig = 30, learner.KernelConfig{Kernel: "rbf", Sigma: 0.5}
	l := newOf("sogp", c)
	progress(l, "banana")
	p := eval.NewMetrics(eval.MetricsOptions{})
	_, err := eval.Tally(ctx, l.Snapshot(), generated("banana", "test"), p, true)
	fmt.Printf("log loss %.3f %v\n", p.LogLoss(), err)
	// Output:
	// 33 mistakes in 500 examples, then 5.6 % test errors
	// log loss 0.177 <nil>
}

// The labels of 500 examples, fitted by a sum over 20 of them.
func ExampleKMPConfig() {
	l := newOf("kmp", &learners.KMPConfig{Size: 20, Backfit: true,
		KernelConfig: learner.KernelConfig{Kernel: "rbf", Sigma: 0.5}})
	must(learner.Fit(ctx, l, generated("banana", "train").All(), learner.FitOptions{}))
	tested(l, "banana")
	fmt.Println(must(supported(l)), "examples kept")
	// Output:
	// 5.8 % test errors
	// 20 examples kept
}

// fitted has l pass over separable examples until it has converged, and prints its margin and the
// share that it is of the largest there is.
func fitted(l learner.Learner[float64], largest float64) {
	fit := must(learner.Fit(ctx, l, generated("margin", "train").All(),
		learner.FitOptions{MaxUpdates: 100_000}))
	fmt.Printf("%d updates, margin %.4f, %.0f %% of the largest\n", fit.Updates, fit.Margin,
		100*fit.Margin/largest)
}

// largestMargin is that of a hyperplane with a bias, or through the origin, which an SVM finds.
func largestMargin(bias bool) float64 {
	l := newOf("svm", &learners.SVMConfig{C: 0, Norm: 1, NoBias: !bias, Gap: 1e-6})
	must(learner.Fit(ctx, l, generated("margin", "train").All(), learner.FitOptions{}))
	return l.(interface{ Solution() learners.SVMSolution }).Solution().Margin
}

// Aggressive ROMMA approaches the largest margin to delta.
func ExampleROMMAConfig() {
	fitted(newOf("romma", &learners.ROMMAConfig{Aggressive: true, Delta: 0.1}),
		largestMargin(false))
	// Output:
	// 2328 updates, margin 0.0604, 95 % of the largest
}

// The larger the threshold of the first update, the nearer CRAMMA comes to the largest margin.
func ExampleCRAMMAConfig() {
	largest := largestMargin(false)
	for _, beta := range []float64{1, 10} {
		fitted(newOf("cramma", &learners.CRAMMAConfig{Epsilon: 0.5, Beta: beta, Eta: 0.01,
			EtaDelta: 1}), largest)
	}
	// Output:
	// 834 updates, margin 0.0351, 55 % of the largest
	// 25647 updates, margin 0.0625, 98 % of the largest
}

// Of MICRA both margin and step shrink with the updates.
func ExampleMICRAConfig() {
	fitted(newOf("micra", &learners.MICRAConfig{Beta: 0.1, Epsilon: 0.1, Eta: 1, Zeta: 0.9}),
		largestMargin(false))
	// Output:
	// 1305 updates, margin 0.0489, 77 % of the largest
}

// PUMMA has a bias of its own.
func ExamplePUMMAConfig() {
	l := newOf("pumma", &learners.PUMMAConfig{P: "2", Delta: 0.1})
	fitted(l, largestMargin(true))
	bias, ok := learner.BiasOf(l)
	fmt.Printf("bias %.3f %v\n", bias, ok)
	// Output:
	// 3695 updates, margin 0.0589, 93 % of the largest
	// bias 0.017 true
}

// An SVM solves the problem to a relative gap, and says what it has found.
func ExampleSVMConfig() {
	l := newOf("svm", &learners.SVMConfig{C: 1, Norm: 1, Gap: 1e-6,
		KernelConfig: learner.KernelConfig{Kernel: "rbf", Sigma: 0.5}})
	must(learner.Fit(ctx, l, generated("banana", "train").All(), learner.FitOptions{}))
	var s learners.SVMSolution = l.(interface{ Solution() learners.SVMSolution }).Solution()
	fmt.Printf("%d of 500 support vectors, objective %.2f\n", s.SupportVectors, s.Objective)
	tested(l, "banana")
	// Output:
	// 104 of 500 support vectors, objective 78.16
	// 6.2 % test errors
}

// With a kernel a learner of weights keeps examples instead, here 60 at most: passive-aggressive
// steps on two crescents that no hyperplane separates.
func ExampleOnlineConfig() {
	var kernel learners.KernelName = "rbf"
	progress(newOf("pa", &learners.PAConfig{Variant: 1, C: 1}), "banana")
	progress(newOf("pa", &learners.PAConfig{Variant: 1, C: 1, OnlineConfig: learners.OnlineConfig{
		Kernel: kernel, Sigma: 0.5, Budget: 60}}), "banana")
	// Output:
	// 82 mistakes in 500 examples, then 14.2 % test errors
	// 37 mistakes in 500 examples, then 8.4 % test errors
}

// Three classes around the origin: a learner of two for each is shown its own class against the
// rest, and the largest score says which class an example is of.
func ExampleOVRConfig_probabilities() {
	b := &engine.Block[float64]{Dim: 2, Stride: 2,
		X:     []float64{1, 0, 2, 0.1, 0, 1, 0.1, 2, -1, -1, -2, -2},
		Class: []int32{0, 0, 1, 1, 2, 2}}
	l := newOf("ovr", &learners.OVRConfig{Base: "pa"})
	for range 3 {
		if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
			panic(err)
		}
	}
	k := learner.OutputsOf(l)
	outputs := make([]float64, k*b.Len())
	if err := l.Score(b, outputs); err != nil {
		panic(err)
	}
	for i := range b.Len() {
		fmt.Print(learner.Predicted(outputs[i*k:][:k]), " ")
	}
	fmt.Println("of", k)
	// Output:
	// 0 0 1 1 2 2 of 3
}

// Settings of a learner of two classes become those of one of any number.
func ExampleOVRConfig() {
	_, c, err := learner.ForClasses(must(learner.Lookup("rff")), &learners.RFFConfig{D: 200,
		Sigma: 1, Base: "pa"}, "", 0)
	rff := c.(*learners.RFFConfig)
	fmt.Println(err, rff.Base, rff.BaseConfig.(*learners.OVRConfig).Base)
	// Output:
	// <nil> ovr pa
}

// One loss for all classes: an example is brought 1 above the class that scores most but its own.
func ExampleMPAConfig_classes() {
	b := &engine.Block[float64]{Dim: 2, Stride: 2,
		X:     []float64{1, 0, 2, 0.1, 0, 1, 0.1, 2, -1, -1, -2, -2},
		Class: []int32{0, 0, 1, 1, 2, 2}}
	l := newOf("mpa", &learners.MPAConfig{Variant: 0})
	for range 3 {
		if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
			panic(err)
		}
	}
	k := learner.OutputsOf(l)
	outputs := make([]float64, k*b.Len())
	if err := l.Score(b, outputs); err != nil {
		panic(err)
	}
	for i := range b.Len() {
		fmt.Print(learner.Predicted(outputs[i*k:][:k]), " ")
	}
	fmt.Println("of", k)
	// Output:
	// 0 0 1 1 2 2 of 3
}

// Where the classes lie on one side of the origin, ROMMA needs a bias, which it has over pairs.
func ExamplePairsConfig_ranks() {
	b := &engine.Block[float64]{Dim: 1, Stride: 1, X: []float64{4, 6, 4, 6},
		Y: []float64{-1, 1, -1, 1}}
	for _, name := range []string{"romma", "pairs"} {
		l := newOf(name, must(learner.Lookup(name)).Config())
		for range 20 {
			if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
				panic(err)
			}
		}
		var f [4]float64
		if err := l.Score(b, f[:]); err != nil {
			panic(err)
		}
		fmt.Printf("%s %+.1f\n", name, f)
	}
	// Output:
	// romma [+0.7 +1.0 +0.7 +1.0]
	// pairs [-1.0 +1.0 -1.0 +1.0]
}

// The base is any learner of margins with one weight vector and no bias.
func ExamplePairsConfig() {
	c := &learners.PairsConfig{Base: "alma", BaseConfig: &learners.ALMAConfig{P: 2, Alpha: 0.9}}
	fmt.Println(c.Validate(), c.Traits().Biased)
	err := (&learners.PairsConfig{Base: "pumma"}).Validate() // has a bias already
	fmt.Println("pairs: bad setting", errors.Is(err, learner.ErrConfig))
	// Output:
	// <nil> true
	// pairs: bad setting true
}

// PA-II for all classes, of which there are to be four.
func ExampleMPAConfig() {
	c := &learners.MPAConfig{Variant: 2, C: 0.1, Classes: 4}
	fmt.Println(c.Validate(), c.Traits().ClassCount, c.Traits().Weights)
	// Output:
	// <nil> 4 true
}

// A learner of two classes for each pair of three.
func ExampleOVOConfig() {
	c := must(learner.Lookup("ovo")).Config().(*learners.OVOConfig) // the defaults
	c.Base, c.Classes = "pa", 3
	fmt.Println(c.Validate(), c.Traits().Classes, c.Traits().ClassCount)
	// Output:
	// <nil> true 3
}
