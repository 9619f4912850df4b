package measure

import (
	"context"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// Budget measures the learners of kept examples, float32, on one core: the Budget Perceptron on
// Adult (a9a, bit sets); the Tighter Budget Perceptron on waveform against one that computes every
// kernel value when it needs it; and OBPM with a hundred members against OBPM with one that keeps
// as many examples.
func Budget(ctx context.Context, dataDir string, o Options) ([]Result, error) {
	adult, err := load[float32](ctx, dataDir, dataset.Options{}, "a9a.gz")
	if err != nil {
		return nil, err
	}
	wave, err := load[float64](ctx, dataDir, dataset.Options{}, WaveformFile)
	if err != nil {
		return nil, err
	}
	digits, _, err := digits(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	a, w, m := adult.Block.Slice(0, 10000), wave.Block.Slice(0, 2000), digits.Slice(0, 2000)
	w32 := engine.Block[float32]{Y: narrow(w.Y), X: narrow(w.X), Stride: w.Stride, Dim: w.Dim}
	for _, check := range []func() error{a.Check, w.Check, w32.Check, m.Check} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	u := learners.UpdateConfig{Update: "perceptron", C: 1}
	rbf := func(gamma float64) learner.KernelConfig {
		return learner.KernelConfig{Kernel: "rbf", Gamma: gamma}
	}
	obpm := func(members int) *learners.OBPMConfig {
		return &learners.OBPMConfig{Members: members, Tau: 0.3, Base: "perceptron",
			Combine: learners.CombineWeights,
			Budget:  100, Removal: learners.RemoveOldest, KernelConfig: rbf(2)}
	}
	const sigma = 3.16
	gamma := engine.RBFSigma(sigma).Gamma
	return runAll(ctx, []pair{
		{name: "budget/a9a/rbf/p=100", unit: "ns/example", scale: float64(a.Len()),
			ours: streamed(&a, "budget", &learners.BudgetConfig{Budget: 100, UpdateConfig: u,
				KernelConfig: rbf(1. / 123)}, nil)},
		{name: "tbp/waveform/rbf/p=100/q=300", unit: "ns/example", scale: float64(w.Len()),
			ours: streamed(&w32, "tbp", &learners.TBPConfig{Budget: 100, ErrorCache: "random",
				ErrorSize: 300, Ties: "oldest", UpdateConfig: u, KernelConfig: rbf(gamma)}, nil),
			peerName: "naive", peer: func(k int) {
				for range k {
					l := naive.TBP{RBF: naive.RBF{Gamma: gamma}, P: 100, Q: 300}
					for i := range w.Len() {
						l.Learn(w.Row(i), w.Y[i])
					}
				}
			}},
		{name: "obpm/mnist8/rbf/p=100/N=100", unit: "ns/example", scale: float64(m.Len()),
			ours:     streamed(&m, "obpm", obpm(100), nil),
			peerName: "N=1", peer: streamed(&m, "obpm", obpm(1), nil)},
	}, o)
}

func narrow(v []float64) []float32 {
	s := make([]float32, len(v))
	for i := range v {
		s[i] = float32(v[i])
	}
	return s
}
