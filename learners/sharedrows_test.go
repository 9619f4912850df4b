package learners_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// TestSharedRows: learners of several classes that share kernel rows learn what each learns alone,
// and ask for few rows that the others did not.
func TestSharedRows(t *testing.T) {
	t.Parallel()
	const n, dim, classes = 90, 3, 3
	rng := engine.NewRand(5, 0)
	x := make([]float32, n*dim)
	for i := range x {
		x[i] = float32(rng.Normal())
	}
	kernel := learner.KernelConfig{Kernel: "rbf", Gamma: 0.5}
	for name, c := range map[string]learner.Config{
		"svm":   &learners.SVMConfig{C: 1, Norm: 1, Gap: 1e-3, KernelConfig: kernel},
		"pumma": &learners.PUMMAConfig{P: "2", Delta: 0.1, SoftC: 1, KernelConfig: kernel},
		"romma": &learners.ROMMAConfig{Aggressive: true, Delta: 0.1, KernelConfig: kernel},
	} {
		var alone, together uint64 // rows computed
		shared := new(engine.SharedRows)
		for class := range classes {
			b := &engine.Block[float32]{X: x, Dim: dim, Stride: dim, Y: make([]float32, n)}
			for i := range b.Y {
				b.Y[i] = -1
				if i%classes == class {
					b.Y[i] = 1
				}
			}
			o := learner.FitOptions{}
			if name == "romma" {
				o.Delta = 1
			}
			fit := func(env learner.Env) (learner.State, uint64) {
				l, err := learner.Make[float32](name, c, env)
				if err != nil {
					t.Fatal(err)
				}
				r, err := learner.AsFitter(l).Fit(context.Background(), b, o)
				if err != nil {
					t.Fatal(err)
				}
				return l.State(), r.KernelRows.Misses
			}
			want, own := fit(learner.Env{})
			got, new := fit(learner.Env{Rows: shared})
			alone, together = alone+own, together+new
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, class %d: another state with shared rows", name, class)
			}
		}
		if together > n || alone < 2*together {
			t.Errorf("%s: %d rows computed with shared ones, %d without, of %d", name, together,
				alone, n)
		}
	}
}
