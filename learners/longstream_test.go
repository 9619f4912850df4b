package learners_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// inseparableStream returns n examples of lengths from 1e-6 to 1e6 times size, a quarter of them
// with a wrong label, some without any feature. The first two contradict each other.
func inseparableStream[T learner.Float](n, dim int, size float64) *engine.Block[T] {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(dim)))
	b := &engine.Block[T]{Dim: dim, Ptr: []int{0}}
	for i := range n {
		y, long := 1.0, size
		if size == 0 {
			long = math.Pow(10, 12*rng.Float64()-6)
		}
		for j := range dim {
			x := rng.NormFloat64() * long
			if i < 2 {
				x = float64(j + 1)
			} else if rng.IntN(3) == 0 || i%97 == 0 {
				continue
			}
			if j == 0 {
				y = math.Copysign(1, x)
			}
			b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, T(x))
		}
		if i == 1 || i > 1 && rng.IntN(4) == 0 {
			y = -y
		}
		b.Y, b.Ptr = append(b.Y, T(y)), append(b.Ptr, len(b.Idx))
	}
	return b
}

// TestLongStreams: errors of roundings that add up over 100,000 inseparable examples spoil no
// learner: all of its numbers stay finite, and CRAMMA's weights keep their length of 1, for which
// [primal.MostGrowth] gives the bound of 2^14 units in the last place, and some for the sum over
// the features.
func TestLongStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 examples a learner take a minute")
	}
	t.Run("f32", longStreams[float32])
	t.Run("f64", longStreams[float64])
}

func longStreams[T learner.Float](t *testing.T) {
	unit := math.Ldexp(1, 15-24)
	if unsafe.Sizeof(T(0)) == 8 {
		unit = math.Ldexp(1, 15-53)
	}
	configs := map[string]learner.Config{}
	for _, name := range learner.Names() {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		c := e.Config()
		if traits := c.Traits(); traits.Stream && traits.Keeps == 0 && traits.OverClasses == nil {
			configs[name] = c
		}
	}
	for _, base := range []string{"romma", "cramma", "micra", "pa"} {
		configs["obpm over "+base] = &learners.OBPMConfig{Members: 16, Tau: 0.3, Base: base,
			Combine: learners.CombineWeights, Budget: 1000,
			Removal: learners.RemoveProject, KernelConfig: learner.KernelConfig{Kernel: "linear"}}
	}
	configs["perceptron"] = &learners.PerceptronConfig{Beta: 0.05, Eta: 1}
	for name, c := range configs {
		n := 100_000
		if c.Traits().Posterior { // of covariances, and points that take some 20 us an example
			n = 5_000
		}
		for _, size := range []float64{1e-6, 1, 1e6, 0} {
			t.Run(fmt.Sprintf("%s/%g", name, size), func(t *testing.T) {
				t.Parallel()
				b := inseparableStream[T](n, 10, size)
				c, err := learner.Resolve(c, learner.Facts{Features: b.Dim,
					SumSq: learner.MaxSumSq(b, 0)})
				if err != nil {
					t.Fatal(err)
				}
				of := name
				if _, ok := c.(*learners.OBPMConfig); ok {
					of = "obpm"
				}
				if c.Traits().Classes {
					inTwoClasses(b)
				}
				l := newLearner[T](t, of, c)
				if err := learner.Learn(l, b, make([]learner.Round, b.Len())); err != nil {
					if errors.Is(err, learner.ErrDiverged) && of == "lms" { // its step is fixed
						return
					}
					t.Fatal(err)
				}
				state := l.State()
				if err := state.CheckFinite(); err != nil {
					t.Fatal(err)
				}
				if of != "cramma" {
					return
				}
				if u := pnorm(l.Weights(), 2); !(math.Abs(u-1) <= unit) {
					t.Errorf("|u| is 1 %+g after %d updates, want within %g", u-1, l.Updates(), unit)
				}
			})
		}
	}
}

// inTwoClasses gives the examples of b classes by their labels.
func inTwoClasses[T learner.Float](b *engine.Block[T]) {
	for _, y := range b.Y {
		b.Class = append(b.Class, int32((1-y)/2))
	}
}
