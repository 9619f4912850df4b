package papers

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/margins"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

func init() {
	register(Experiment{
		Name: "obpm/bases",
		Summary: "OBPM over other base learners against each alone, weights against votes, and " +
			"the Bayes point machine by permutations, on Adult",
		Seconds: 10, Runs: 20, Needs: []string{"a9a.gz", "a9a.t.gz"}, Run: obpmBases})
	register(Experiment{
		Name: "obpm/bound",
		Summary: "the bound (2) of the average's margin with alpha_i = 1/N and the best alpha_i " +
			"(section 3), the perceptron's mistake bound (section 4.1), and what OBPM costs",
		Seconds: 2, Runs: 30, Run: obpmBound})
}

// obpmBase is a base learner. Members of some are learners of their own, ten times slower.
type obpmBase struct {
	text, name string
	config     learner.Config
	slow       bool
}

// obpmBaseList are the bases with their defaults, but for cramma, whose are for many passes.
func obpmBaseList() []obpmBase {
	almaP4 := measure.Defaults[*learners.ALMAConfig]("alma")
	almaP4.P = 4
	aggressive := measure.Defaults[*learners.ROMMAConfig]("romma")
	aggressive.Aggressive = true
	cramma := measure.Defaults[*learners.CRAMMAConfig]("cramma")
	cramma.Beta, cramma.Eta, cramma.R = 0.5, 0.1, 1
	pumma4 := measure.Defaults[*learners.PUMMAConfig]("pumma")
	pumma4.P = "4"
	return []obpmBase{
		{text: "perceptron", name: "perceptron"}, {text: "pa", name: "pa"},
		{text: "lms", name: "lms"}, {text: "alma", name: "alma"},
		{text: "alma p=4", name: "alma", config: almaP4, slow: true},
		{text: "romma", name: "romma"},
		{text: "romma aggressive", name: "romma", config: aggressive},
		{text: "cramma beta=.5 eta=.1", name: "cramma", config: cramma},
		{text: "micra", name: "micra"}, {text: "pumma", name: "pumma", slow: true},
		{text: "pumma p=4", name: "pumma", config: pumma4, slow: true},
	}
}

// obpmBases has each run pass once over Adult in another order. The paper has perceptrons as
// members and leaves other base learners to the reader.
func obpmBases(ctx context.Context, o RunOptions) error {
	const quantity, note = "test_error_percent", "ours: the paper's members are perceptrons"
	data, err := loadUnit(ctx, o, "a9a.gz", "a9a.t.gz")
	if err != nil {
		return err
	}
	train, test := &data[0].Block, &data[1].Block
	ensemble := func(base string, c learner.Config) *learners.OBPMConfig {
		e := measure.Defaults[*learners.OBPMConfig]("obpm")
		e.Members, e.Tau, e.Base, e.BaseConfig = 100, 0.3, base, c
		return e
	}
	var list []obpmBase
	bases := obpmBaseList()
	for _, b := range bases {
		list = append(list, b, obpmBase{"obpm of " + b.text, "obpm", ensemble(b.name, b.config),
			b.slow})
	}
	votes := ensemble("perceptron", nil)
	votes.Combine = learners.CombineVote
	list = append(list, obpmBase{"obpm of perceptron, votes", "obpm", votes, false})
	permuted := len(list)
	list = append(list, obpmBase{text: "perceptrons on permutations, N=100, 3 epochs", slow: true})
	errors := make([][]float64, len(list))
	var parts [][2]int
	for k, e := range list {
		n := o.Runs
		if e.slow {
			n = min(n, 5)
		}
		errors[k] = make([]float64, n)
		for run := range n {
			parts = append(parts, [2]int{k, run})
		}
	}
	err = sideBySide(ctx, o, len(parts), func(o RunOptions, i int) (err error) {
		k, run := parts[i][0], parts[i][1]
		seed := o.Seed + uint64(run)
		if k == permuted {
			errors[k][run], err = permutedBayesPoint(ctx, train, test, 100, 3, seed)
			return err
		}
		ofLearner(ctx, list[k].name)
		l, err := learner.Make[float32](list[k].name, list[k].config, learner.Env{Seed: seed})
		if err != nil {
			return err
		}
		if _, err := pass(ctx, l, train, eval.Options{Shuffle: true, Seed: seed}); err != nil {
			return err
		}
		errors[k][run], err = testError(ctx, l, test)
		return err
	})
	if err != nil {
		return err
	}
	add := func(r Row, values []float64) {
		r.Row = "Adult, " + r.Row
		o.add(r, values...)
	}
	for k, e := range list {
		add(Row{Row: e.text, Quantity: quantity, Note: note}, errors[k])
	}
	for k, b := range bases {
		add(Row{Kind: Claim, Row: b.text + " above obpm of it", Quantity: quantity + "_difference",
			Note: note}, difference(errors[2*k], errors[2*k+1]))
	}
	add(Row{Row: "votes above weights", Quantity: quantity + "_difference",
		Note: "the paper averages weights"}, difference(errors[permuted-1], errors[1]))
	add(Row{Row: "perceptrons on permutations above obpm", Quantity: quantity + "_difference",
		Note: "the Bayes point machine by permutations [7] keeps and passes over all examples, " +
			"three times here"}, difference(errors[permuted], errors[1][:len(errors[permuted])]))
	return nil
}

// permutedBayesPoint is the Bayes point machine by permutations (R. Herbrich, T. Graepel, C.
// Campbell, "Bayes Point Machines", JMLR 2001): so many perceptrons, each of which passes over all
// examples in orders of its own; their weights, of length 1, are averaged. It returns the test
// error in %.
func permutedBayesPoint(ctx context.Context, train, test *engine.Block[float32], members,
	epochs int, seed uint64) (float64, error) {
	var mean []float64
	ofLearner(ctx, "perceptron")
	for m := range members {
		l, err := learner.Make[float32]("perceptron", nil, learner.Env{})
		if err != nil {
			return 0, err
		}
		if _, err := pass(ctx, l, train, eval.Options{Epochs: epochs, Shuffle: true,
			Seed: seed<<20 + uint64(m)}); err != nil {
			return 0, err
		}
		w := l.Weights()
		length := math.Sqrt(engine.SumSqOrdered(w))
		if mean == nil {
			mean = make([]float64, len(w))
		}
		for j, v := range w {
			mean[j] += v / length
		}
	}
	return errorOf(mean, test), nil
}

// errorOf returns the error of the sign of w.x, in %; a score of 0 predicts +1.
func errorOf(w []float64, b *engine.Block[float32]) float64 {
	wrong := 0
	for i := range b.Len() {
		var f float64
		idx, val := b.Example(i)
		for k, v := range val {
			if j := engine.FeatureOf(idx, k); j < len(w) {
				f += float64(w[j] * float64(v))
			}
		}
		if (f >= 0) != (b.Y[i] > 0) {
			wrong++
		}
	}
	return 100 * float64(wrong) / float64(b.Len())
}

// boundRun is what a run of obpmBound came to.
type boundRun struct {
	margin, bound  [2]float64 // of weights 1/N and of the best ones, with members of length 1
	test           [2]float64 // their test errors, in %
	slack          float64    // of the margin over the bound, the least of both
	passed         float64    // training errors of a perceptron after one epoch
	mistakes       float64    // of a perceptron until it makes none
	longest        float64    // |x|, of the examples
	seen, examples float64    // by the members; presented
}

// obpmBound has members pass over Table 1's examples, without noise, until each separates them:
// (2) needs members of positive margins.
func obpmBound(ctx context.Context, o RunOptions) error {
	const target = 0.05
	runs := make([]boundRun, o.Runs)
	err := sideBySide(ctx, o, o.Runs, func(o RunOptions, run int) error {
		seed := o.Seed + uint64(run)
		train, err := measure.MarginProblem[float32](seed, 1000, 100, target, 0, false)
		if err != nil {
			return err
		}
		test, err := measure.MarginProblem[float32](seed, 1000, 100, target, 0, true)
		if err != nil {
			return err
		}
		if err := runs[run].ensemble(ctx, &train.Block, &test.Block, seed); err != nil {
			return err
		}
		return runs[run].perceptron(ctx, &train.Block)
	})
	if err != nil {
		return err
	}
	add := func(r Row, value func(r *boundRun) float64) {
		values := make([]float64, len(runs))
		for i := range runs {
			values[i] = value(&runs[i])
		}
		o.add(r, values...)
	}
	const text = "generated e=0, obpm N=100 tau=0.35 until members separate, "
	for i, alpha := range [2]string{"alpha_i=1/N", "the best alpha_i"} {
		add(Row{Row: text + alpha, Quantity: "bound"},
			func(r *boundRun) float64 { return r.bound[i] })
		add(Row{Row: text + alpha, Quantity: "margin"},
			func(r *boundRun) float64 { return r.margin[i] })
		add(Row{Row: text + alpha, Quantity: "test_error_percent"},
			func(r *boundRun) float64 { return r.test[i] })
	}
	add(Row{Kind: Claim, Row: text + "margin above bound (2)", Quantity: "margin_difference",
		Note: "the paper: (2), proved in appendix A; the lesser of 1/N and the best alpha_i"},
		func(r *boundRun) float64 { return r.slack })
	add(Row{Kind: Claim, Row: text + "the best alpha_i gain less than 0.1",
		Quantity: "test_error_percent_difference", Note: "the paper: maximizing the bound of (2) " +
			"had no performance gain compared to alpha_i = 1/N; 0.1 % is ours"},
		func(r *boundRun) float64 { return 0.1 - (r.test[0] - r.test[1]) })
	add(Row{Kind: Claim, Row: text + "the best alpha_i do not widen the margin",
		Quantity: "margin_difference", Note: "as before, of the margin: that of 1/N above it"},
		func(r *boundRun) float64 { return r.margin[0] - r.margin[1] })

	add(Row{Row: "generated e=0, perceptron", Quantity: "mistake_bound", Paper: at(400),
		Note: "section 4.1: (R/gamma)^2, gamma = 0.05", given: "R is 1 and gamma 0.05 as drawn"},
		func(r *boundRun) float64 { return math.Pow(r.longest/target, 2) })
	add(Row{Kind: Claim, Row: "generated e=0, perceptron within its mistake bound",
		Quantity: "mistakes_difference", Note: "the paper: 400 less the mistakes until there are " +
			"none"}, func(r *boundRun) float64 { return 400 - r.mistakes })
	add(Row{Kind: Claim, Row: "generated e=0, perceptron makes mistakes after an epoch",
		Quantity: "training_errors", Note: "the paper: it is highly unlikely that the perceptron " +
			"could learn this in a single epoch"},
		func(r *boundRun) float64 { return r.passed })
	add(Row{Row: "generated e=0, obpm N=100 tau=0.35", Quantity: "member_examples_per_example",
		Paper: at(35), Note: "section 3: tau N times ALMA's arithmetic, which has one weight " +
			"vector", given: "tau N is what is drawn"},
		func(r *boundRun) float64 { return r.seen / r.examples })
	return nil
}

// ensemble fills in what is of OBPM.
func (r *boundRun) ensemble(ctx context.Context, train, test *engine.Block[float32],
	seed uint64) error {
	const members, tau, most = 100, 0.35, 200
	ofLearner(ctx, "obpm")
	l, err := measure.NewOBPM[float32](members, tau, learner.Env{Seed: seed})
	if err != nil {
		return err
	}
	draws, mask := engine.NewDraws(seed, 0).Bernoulli(tau), make([]uint64, (members+63)/64)
	for epoch := range most {
		if _, err := pass(ctx, l, train, eval.Options{Epochs: 1,
			Before: int64(epoch * train.Len())}); err != nil {
			return err
		}
		for range train.Len() {
			draws.Masks(mask, 0, members, uint64(r.examples))
			for _, m := range mask {
				r.seen += float64(bits.OnesCount64(m))
			}
			r.examples++
		}
		wrong, err := learner.MistakeCheckerOf(l).Mistakes(train)
		if err != nil {
			return err
		}
		if wrong == 0 {
			break
		}
		if epoch == most-1 {
			return fmt.Errorf("bench: members do not separate after %d epochs", most)
		}
	}
	w, _ := learner.MembersOf(l, 1<<20)
	_, b, _, err := margins.MeasureAverage(ctx, learner.ViewOf(l), w,
		eval.NewMemory(train, nil))
	if err != nil {
		return err
	}
	equal := make([]float64, members)
	for i := range equal {
		equal[i] = 1.0 / members
	}
	r.bound, r.slack = [2]float64{b.Equal, b.Best}, math.Inf(1)
	for i, alpha := range [2][]float64{equal, b.Alpha} {
		mean := make([]float64, len(w[0]))
		for m, v := range w {
			length := math.Sqrt(engine.SumSqOrdered(v))
			for j, x := range v {
				mean[j] += float64(alpha[m]*x) / length
			}
		}
		r.test[i], r.margin[i] = errorOf(mean, test), marginOf(mean, train)
		r.slack = min(r.slack, r.margin[i]-r.bound[i])
	}
	return nil
}

// marginOf returns the least y w.x/|w|.
func marginOf(w []float64, b *engine.Block[float32]) float64 {
	least := math.Inf(1)
	for i := range b.Len() {
		var f float64
		idx, val := b.Example(i)
		for k, v := range val {
			f += float64(w[engine.FeatureOf(idx, k)] * float64(v))
		}
		least = min(least, float64(b.Y[i])*f)
	}
	return least / math.Sqrt(engine.SumSqOrdered(w))
}

// perceptron fills in what is of the perceptron.
func (r *boundRun) perceptron(ctx context.Context, train *engine.Block[float32]) error {
	ofLearner(ctx, "perceptron")
	l, err := learner.Make[float32]("perceptron", nil, learner.Env{})
	if err != nil {
		return err
	}
	if _, err := pass(ctx, l, train, eval.Options{}); err != nil {
		return err
	}
	r.passed = errorOf(l.Weights(), train) / 100 * float64(train.Len())
	for before := int64(-1); l.Updates() != before; {
		before = l.Updates()
		if _, err := pass(ctx, l, train, eval.Options{}); err != nil {
			return err
		}
	}
	r.mistakes = float64(l.Updates())
	for i := range train.Len() {
		_, val := train.Example(i)
		r.longest = max(r.longest, math.Sqrt(engine.SumSqOrdered(val)))
	}
	return nil
}
