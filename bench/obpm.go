package bench

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learners"
)

// Tables of E. Harrington, R. Herbrich, J. Kivinen, J. C. Platt, R. C. Williamson, "Online Bayes Point Machines", PAKDD 2003.
// The paper's results were produced with C code on a 1 GHz DEC Alpha.

func init() {
	register(Experiment{
		Name:    "obpm/kernel",
		Summary: "OBPM with an RBF kernel (section 3) against the kernel perceptron, on banana and MNIST",
		Runs:    5, Needs: []string{bananaFile, mnistImages, mnistLabels, mnistTest, mnistTestLabels}, Run: obpmKernel})
	register(Experiment{
		Name:    "obpm/table1",
		Summary: "test error after one epoch on the generated margin problem, with and without label noise; updates and margin of section 4.1",
		Runs:    30, Run: obpmTable1})
	register(Experiment{
		Name:    "obpm/table2",
		Summary: "test error after 1, 2 and 3 epochs on Adult and Web",
		Runs:    30, Needs: []string{"a9a.gz", "a9a.t.gz", "w8a.gz"}, Run: obpmTable2})
}

// made is a learner with the parameters that a row prints.
type made struct {
	text string
	make func(env learners.Env) (learners.Learner[float32], error)
}

// obpmKernel runs what section 3 of the paper leaves to the reader: OBPM with a kernel, against the kernel perceptron, one pass. On banana 4000 examples and on MNIST's 8
// against the rest the first 10000 are learned, each run in another order (banana: other examples).
func obpmKernel(ctx context.Context, o RunOptions) ([]Row, error) {
	banana, err := dataset.Load[float32](ctx, []string{filepath.Join(o.DataDir, bananaFile)}, dataset.Options{})
	if err != nil {
		return nil, err
	}
	var mnist [2]*dataset.Data[float32]
	for i, file := range []string{mnistImages, mnistTest} {
		if mnist[i], err = dataset.Load[float32](ctx, []string{filepath.Join(o.DataDir, file)}, dataset.Options{Positive: "8"}); err != nil {
			return nil, err
		}
	}
	draw := func(d *dataset.Data[float32], n, of int) func(run int) (train, rest *engine.Block[float32]) {
		return func(run int) (train, rest *engine.Block[float32]) {
			order := make([]int32, of)
			engine.Permute(order, o.Seed+uint64(run), 0)
			train, rest = &engine.Block[float32]{}, &engine.Block[float32]{}
			d.Gather(train, order[:n])
			d.Gather(rest, order[n:])
			return train, rest
		}
	}
	list := func(k learners.KernelConfig) []tbpLearner {
		c := func(members int, tau float64, budget int) *learners.OBPMConfig {
			return &learners.OBPMConfig{Members: members, Tau: tau, Base: "perceptron", Combine: learners.CombineWeights, Path: learners.PathAuto,
				Budget: budget, Removal: learners.RemoveOldest, KernelConfig: k}
		}
		return []tbpLearner{
			{text: "perceptron", learner: "budget", config: &learners.BudgetConfig{UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1}, KernelConfig: k}},
			{text: "obpm N=100, tau=.3", learner: "obpm", config: c(100, 0.3, 0)},
			{text: "obpm N=100, tau=.3, budget=1000", learner: "obpm", config: c(100, 0.3, 1000)},
		}
	}
	const note = "the paper only says that kernels are possible"
	small := tbpFigure{name: "obpm/kernel", part: "banana", note: note, list: list(learners.KernelConfig{Kernel: "rbf", Sigma: 0.7})}
	rows, err := small.run(ctx, o, draw(banana, 4000, banana.Block.Len()))
	if err != nil {
		return nil, err
	}
	first := draw(mnist[0], 10000, 10000)
	large := tbpFigure{name: "obpm/kernel", part: "MNIST 8 against the rest", note: note, list: list(learners.KernelConfig{Kernel: "rbf", Gamma: 0.02, Scale: 255})}
	more, err := large.run(ctx, o, func(run int) (train, test *engine.Block[float32]) {
		train, _ = first(run)
		return train, &mnist[1].Block
	})
	return append(rows, more...), err
}

func newOBPM[T engine.Float](members int, tau float64, env learners.Env) (learners.Learner[T], error) {
	e, err := learners.Lookup("obpm")
	if err != nil {
		return nil, err
	}
	c := e.Config().(*learners.OBPMConfig)
	c.Members, c.Tau = members, tau
	return learners.New[T](e, c, env)
}

func obpm(members int, tau float64) made {
	return made{fmt.Sprintf("obpm N=%d tau=%g", members, tau), func(env learners.Env) (learners.Learner[float32], error) {
		return newOBPM[float32](members, tau, env)
	}}
}

func perceptron() made {
	return made{"perceptron", func(env learners.Env) (learners.Learner[float32], error) {
		e, err := learners.Lookup("perceptron")
		if err != nil {
			return nil, err
		}
		return learners.New[float32](e, e.Config(), env)
	}}
}

func alma(b, c float64) made {
	return made{fmt.Sprintf("alma B=%g C=%.4g", b, c), func(env learners.Env) (learners.Learner[float32], error) {
		e, err := learners.Lookup("alma")
		if err != nil {
			return nil, err
		}
		cfg := e.Config().(*learners.ALMAConfig)
		cfg.Alpha, cfg.B, cfg.C = 0, b, c
		return learners.New[float32](e, cfg, env)
	}}
}

func at(v float64) *float64 { return &v }

// obpmTable1 runs Table 1 and the figures that section 4.1 gives in the text. One run: a target, 1000 training and 1000 test examples in
// 100 dimensions with margin 0.05, labels of the training examples flipped with probability e, one epoch.
func obpmTable1(ctx context.Context, o RunOptions) ([]Row, error) {
	const (
		errorRate = "test_error_percent"
		updates   = "updates"
		margin    = "margin"
	)
	reading := "instances isotropic of length 1, target uniform on {-1,0,1}^100; ALMA updates when y w.x <= B/sqrt(k)"
	noisy := "label noise 0.1 was not matched under any reading tried; the ordering ALMA < OBPM << perceptron holds"
	spreadless := "the paper prints no spread: ours is taken for it"
	half := math.Sqrt2 / 2
	type spec struct {
		noise     float64
		learner   made
		quantity  string
		paper, pm float64
		note      string
	}
	specs := []spec{
		{0, perceptron(), errorRate, 2.03, 0.32, reading},
		{0, alma(1.11, half), errorRate, 0.07, 0.04, reading},
		{0, obpm(100, 0.35), errorRate, 0, 0, reading},
		{0.01, perceptron(), errorRate, 3.35, 0.44, reading},
		{0.01, alma(0.83, half), errorRate, 0.14, 0.07, reading},
		{0.01, obpm(100, 0.5), errorRate, 0.10, 0.06, reading},
		{0.1, perceptron(), errorRate, 12.96, 1.0, noisy},
		{0.1, alma(1.25, half), errorRate, 0.76, 0.13, noisy},
		{0.1, obpm(100, 0.15), errorRate, 0.96, 0.13, noisy},
		{0, obpm(25, 0.3), updates, 1334, 0, spreadless},
		{0, obpm(100, 0.3), updates, 5306, 0, spreadless},
		{0, obpm(100, 0.35), margin, 0.02, 0, spreadless + ", and one digit"},
		{0, alma(1.11, half), margin, 0.006, 0, spreadless + ", and one digit"},
	}
	var rows []Row
	for _, s := range specs {
		var values []float64
		var learn time.Duration
		for run := range o.Runs {
			seed := o.Seed + uint64(run)
			train, err := marginProblem[float32](seed, 1000, 100, 0.05, s.noise, false)
			if err != nil {
				return nil, err
			}
			test, err := marginProblem[float32](seed, 1000, 100, 0.05, 0, true)
			if err != nil {
				return nil, err
			}
			l, err := s.learner.make(learners.Env{Seed: seed, Pool: o.Pool})
			if err != nil {
				return nil, err
			}
			res, err := eval.Run(ctx, l, eval.NewMemory(&train.Block, train.Gather), eval.Options{})
			if err != nil {
				return nil, err
			}
			learn += res.Learn
			switch s.quantity {
			case updates:
				values = append(values, float64(res.Updates))
			case margin:
				m, _, err := eval.Measure(ctx, l, eval.NewMemory(&train.Block, nil))
				if err != nil {
					return nil, err
				}
				values = append(values, m.Norm(2, 0))
			default:
				c, err := eval.Test(ctx, l, eval.NewMemory(&test.Block, nil))
				if err != nil {
					return nil, err
				}
				values = append(values, 100*c.Error())
			}
		}
		row := Row{Experiment: "obpm/table1", Row: fmt.Sprintf("generated e=%g, %s", s.noise, s.learner.text), Quantity: s.quantity,
			Paper: at(s.paper), PaperPM: s.pm, Note: s.note, Seconds: learn.Seconds()}
		if s.pm == 0 && s.quantity != errorRate {
			_, row.PaperPM = meanPM(values)
		}
		if s.quantity == margin { // printed to one digit
			row.PaperPM += 0.5 * math.Pow(10, math.Floor(math.Log10(s.paper)))
		}
		row.fill(values)
		rows = append(rows, row)
		o.done(row)
	}
	return rows, nil
}

// obpmTable2 runs the Adult and Web columns of Table 2: a fresh permutation for every epoch, the weights after the last example as
// hypothesis, every instance brought to unit length after a bias attribute of 1 was added.
func obpmTable2(ctx context.Context, o RunOptions) ([]Row, error) {
	prep := dataset.Options{Bias: "append", Normalize: "unit"}
	load := func(name string) (*dataset.Data[float32], error) {
		return dataset.Load[float32](ctx, []string{filepath.Join(o.DataDir, name)}, prep)
	}
	adult, err := load("a9a.gz")
	if err != nil {
		return nil, err
	}
	adultTest, err := load("a9a.t.gz")
	if err != nil {
		return nil, err
	}
	web, err := load("w8a.gz")
	if err != nil {
		return nil, err
	}
	half := math.Sqrt2 / 2
	const tau = "the printed tau=0.01 does not give the printed values; tau=0.05 fits their level and spread"
	const split = "the paper's test set of 21,489 is not public: a random 70/30 split of the 49,749 training examples"
	missing := math.NaN() // the row is not in the text
	type column struct {
		data      string
		learner   made
		paper, pm [3]float64
		note      string
	}
	var rows []Row
	for _, c := range []column{
		{"Adult", perceptron(), [3]float64{19.59, 18.81, 21.21}, [3]float64{1.54, 0.96, 2.21}, ""},
		{"Adult", alma(20, half), [3]float64{15.88, 15.35, missing}, [3]float64{0.19, 0.13, 0}, ""},
		{"Adult", obpm(200, 0.01), [3]float64{15.29, 15.24, 15.17}, [3]float64{0.15, 0.19, 0.14}, tau},
		{"Adult", obpm(200, 0.05), [3]float64{15.29, 15.24, 15.17}, [3]float64{0.15, 0.19, 0.14}, "best reading; " + tau},
		{"Web", perceptron(), [3]float64{1.84, 2.12, 1.72}, [3]float64{0.12, 1.03, 0.18}, split},
		{"Web", alma(0.625, math.Sqrt2), [3]float64{1.36, 1.29, missing}, [3]float64{0.03, 0.03, 0}, split},
		{"Web", obpm(200, 0.3), [3]float64{1.42, 1.36, 1.31}, [3]float64{0.04, 0.04, 0.03}, split},
	} {
		var values [3][]float64
		var learn [3]time.Duration
		for run := range o.Runs {
			seed := o.Seed + uint64(run)
			train, test := &adult.Block, &adultTest.Block
			gather := adult.Gather
			if c.data == "Web" {
				tr, te := split70(web, seed)
				train, test, gather = &tr.Block, &te.Block, tr.Gather
			}
			l, err := c.learner.make(learners.Env{Seed: seed, Pool: o.Pool})
			if err != nil {
				return nil, err
			}
			src := eval.NewMemory(train, gather)
			for e := range 3 {
				res, err := eval.Run(ctx, l, src, eval.Options{Shuffle: true, Seed: seed, Before: int64(e * train.Len())})
				if err != nil {
					return nil, err
				}
				learn[e] += res.Learn
				count, err := eval.Test(ctx, l, eval.NewMemory(test, nil))
				if err != nil {
					return nil, err
				}
				values[e] = append(values[e], 100*count.Error())
			}
		}
		for e := range 3 {
			row := Row{Experiment: "obpm/table2", Row: fmt.Sprintf("%s, %s, epoch %d", c.data, c.learner.text, e+1), Quantity: "test_error_percent",
				Paper: at(c.paper[e]), PaperPM: c.pm[e], Note: c.note, Seconds: learn[e].Seconds()}
			if math.IsNaN(c.paper[e]) {
				row.Paper, row.Note = nil, "the value is missing in the paper's text"
			}
			if c.data == "Web" {
				row.Verdict = NotComparable
			}
			row.fill(values[e])
			rows = append(rows, row)
			o.done(row)
		}
	}
	return rows, nil
}

// split70 parts a data set at random: 70 % to train, the rest to test.
func split70(d *dataset.Data[float32], seed uint64) (train, test *dataset.Data[float32]) {
	order := make([]int32, d.Block.Len())
	engine.Permute(order, seed, 1<<32) // no epoch of the run
	cut := len(order) * 7 / 10
	train, test = &dataset.Data[float32]{}, &dataset.Data[float32]{}
	d.Gather(&train.Block, order[:cut])
	d.Gather(&test.Block, order[cut:])
	return train, test
}

// marginProblem generates the problem of section 4.1; the noise is on training labels only.
func marginProblem[T engine.Float](seed uint64, n, d int, margin, noise float64, test bool) (*dataset.Data[T], error) {
	split := "train"
	if test {
		split = "test"
	}
	return dataset.Generate[T]("margin", map[string]string{
		"n": strconv.Itoa(n), "d": strconv.Itoa(d), "margin": fmt.Sprint(margin), "noise": fmt.Sprint(noise),
		"seed": strconv.FormatUint(seed, 10), "split": split,
	})
}
