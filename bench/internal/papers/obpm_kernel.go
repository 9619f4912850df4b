package papers

import (
	"context"
	"maps"
	"strconv"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

func init() {
	register(Experiment{
		Name: "obpm/kernel",
		Summary: "OBPM with an RBF kernel (section 3), with and without a budget, against the " +
			"kernel perceptron, on four data sets and two generated ones whose classes overlap",
		Seconds: 20, Runs: 10,
		Needs: []string{bananaFile, measure.WaveformFile, "a9a.gz", mnistImages,
			mnistLabels, mnistTest, mnistTestLabels}, Run: obpmKernel})
}

// kernelData are examples for obpmKernel.
type kernelData struct {
	name   string
	kernel learner.KernelConfig
	draw   func(run int) (train, test *engine.Block[float32])
}

// obpmKernel runs what section 3 of the paper leaves to the reader: OBPM with a kernel, against the
// kernel perceptron, one pass. Each run learns other examples of banana, waveform, a9a and the
// generated problems, and the first 10000 of MNIST in another order.
func obpmKernel(ctx context.Context, o RunOptions) error {
	list, err := kernelProblems(ctx, o)
	if err != nil {
		return err
	}
	for _, d := range list {
		if err := d.run(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func kernelProblems(ctx context.Context, o RunOptions) ([]kernelData, error) {
	var list []kernelData
	for _, f := range []struct {
		name, file string
		n, of      int // of so many examples so many are learned, the others are the test set
		kernel     learner.KernelConfig
	}{
		{"banana", bananaFile, 4000, 5300, learner.KernelConfig{Kernel: "rbf", Sigma: 0.7}},
		{"waveform", measure.WaveformFile, 4000, 5000,
			learner.KernelConfig{Kernel: "rbf", Sigma: 3.16}},
		{"a9a", "a9a.gz", 5000, 10000, learner.KernelConfig{Kernel: "rbf", Gamma: 0.05}},
	} {
		d, err := load[float32](ctx, o, dataset.Options{}, f.file)
		if err != nil {
			return nil, err
		}
		list = append(list, kernelData{f.name, f.kernel, func(run int) (train,
			test *engine.Block[float32]) {
			parts := shuffled(d, o.Seed+uint64(run), 0, f.n, f.of)
			return parts[0], parts[1]
		}})
	}
	for _, g := range []struct {
		name   string
		params map[string]string
		kernel learner.KernelConfig
	}{
		{"gauss", map[string]string{"d": "10", "distance": "2", "noise": "0.1"},
			learner.KernelConfig{Kernel: "rbf", Gamma: 0.05}},
		{"banana", map[string]string{"spread": "0.4", "noise": "0.1"},
			learner.KernelConfig{Kernel: "rbf", Sigma: 0.5}},
	} {
		text := "gen " + g.name
		for _, p := range []string{"d", "distance", "spread", "noise"} {
			if v, ok := g.params[p]; ok {
				text += " --" + p + " " + v
			}
		}
		var splits [2][]*dataset.Data[float32]
		for i, split := range []string{"train", "test"} {
			var err error
			splits[i], err = drawRuns(ctx, o, 0, o.Runs, func(seed uint64) (*dataset.Data[float32],
				error) {
				params := map[string]string{"n": "4000", "split": split,
					"seed": strconv.FormatUint(seed, 10)}
				maps.Copy(params, g.params)
				return dataset.Generate[float32](g.name, params)
			})
			if err != nil {
				return nil, err
			}
		}
		list = append(list, kernelData{text, g.kernel, func(run int) (train,
			test *engine.Block[float32]) {
			return &splits[0][run].Block, &splits[1][run].Block
		}})
	}
	eight := dataset.Options{Positive: "8"}
	train, err := load[float32](ctx, o, eight, mnistImages)
	if err != nil {
		return nil, err
	}
	test, err := load[float32](ctx, o, eight, mnistTest)
	if err != nil {
		return nil, err
	}
	return append(list, kernelData{"MNIST 8 against the rest",
		learner.KernelConfig{Kernel: "rbf", Gamma: 0.02, Scale: 255},
		func(run int) (*engine.Block[float32], *engine.Block[float32]) {
			order, b := make([]int32, 10000), &engine.Block[float32]{}
			engine.Permute(order, o.Seed+uint64(run), 0)
			train.Gather(b, order)
			return b, &test.Block
		}}), nil
}

func (d kernelData) run(ctx context.Context, o RunOptions) error {
	const one, many, kept = "perceptron", "obpm, no limit", "obpm at defaults"
	const below = "not in the paper: the average, within its budget, is to be better than one " +
		"of those that it is made of"
	perceptron := func(budget int) *learners.BudgetConfig {
		return &learners.BudgetConfig{Budget: budget, KernelConfig: d.kernel,
			UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1}}
	}
	obpm, all := measure.Defaults[*learners.OBPMConfig]("obpm"),
		measure.Defaults[*learners.OBPMConfig]("obpm")
	obpm.KernelConfig, all.KernelConfig, all.Budget = d.kernel, d.kernel, 0
	budget := strconv.Itoa(obpm.Budget)
	t := tbpFigure{part: d.name,
		note: "the paper only says that kernels are possible; obpm has N=100, tau=.3, by default " +
			"p=" + budget,
		list: []tbpLearner{
			{text: one, learner: "budget", config: perceptron(0)},
			{text: "perceptron p=" + budget, learner: "budget", config: perceptron(obpm.Budget)},
			{text: many, learner: "obpm", config: all},
			{text: kept, learner: "obpm", config: obpm},
		},
		orders: []paperOrder{{quantity: "test_error_percent", high: one, low: kept, ours: true,
			says: below}}}
	return t.run(ctx, o, d.draw)
}
