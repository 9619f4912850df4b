package learners_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// mixed returns separable examples of length about 1, every second one multiplied by size.
func mixed[T learner.Float](size float64) *engine.Block[T] {
	b := learnertest.Dense[T](100, 4, 0.1)
	for i := range b.Len() {
		if i%2 == 0 {
			for j := range b.X[i*b.Stride : i*b.Stride+b.Dim] {
				b.X[i*b.Stride+j] *= T(size)
			}
		}
	}
	return b
}

func testLengths[T learner.Float](t *testing.T, huge float64) {
	for name, c := range map[string]learner.Config{
		"romma": &learners.ROMMAConfig{Aggressive: true, Delta: 0.1},
		"micra": &learners.MICRAConfig{Beta: 0.1, Epsilon: 0.1, Eta: 1, Zeta: 0.9},
		"pumma": &learners.PUMMAConfig{P: "2", Delta: 0.1,
			KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		"alma":       &learners.ALMAConfig{P: 2},
		"cramma":     &learners.CRAMMAConfig{Epsilon: 0.5, Beta: 1, Eta: 0.01, EtaDelta: 1, R: 1},
		"pa":         &learners.PAConfig{Variant: 1, C: 1},
		"perceptron": &learners.PerceptronConfig{Beta: 0.05, Eta: 1},
	} {
		for _, size := range []float64{1e18, 1e-18, 1e-30} {
			b := mixed[T](size)
			l := newLearner[T](t, name, c)
			rounds := make([]learner.Round, b.Len())
			dst := make([]float64, b.Len())
			for range 20 {
				if err := l.Learn(b, rounds); err != nil {
					t.Fatalf("%s, size %g: %v", name, size, err)
				}
			}
			if err := l.Score(b, dst); err != nil {
				t.Fatal(err)
			}
			for i, f := range dst {
				if f-f != 0 || rounds[i].Score-rounds[i].Score != 0 {
					t.Fatalf("%s, size %g: example %d scores %v", name, size, i, f)
				}
			}
		}
		b := mixed[T](huge)
		l := newLearner[T](t, name, c)
		rounds := make([]learner.Round, b.Len())
		before := learnertest.StateBytes(l.State())
		if err := l.Learn(b, rounds); !errors.Is(err, learner.ErrLength) {
			t.Errorf("%s, size %g: %v", name, huge, err)
		}
		if !bytes.Equal(learnertest.StateBytes(l.State()), before) {
			t.Errorf("%s, size %g: a refused block changed the state", name, huge)
		}
		if f := learner.AsFitter(l); f != nil {
			if _, err := f.Fit(t.Context(), b,
				learner.FitOptions{MaxUpdates: 10000}); huge > 1e100 && err == nil {
				t.Errorf("%s, size %g: Fit says %v", name, huge, err)
			}
		}
	}
}

// TestLengths: examples of very different lengths make no number that isn't one, and such that are
// beyond what the numbers hold are refused.
func TestLengths(t *testing.T) {
	t.Run("f32", func(t *testing.T) { testLengths[float32](t, 1e30) })
	t.Run("f64", func(t *testing.T) { testLengths[float64](t, 1e160) })
}

// TestMarginOfShortExamples: a margin that is small beside the longest example, but not beside the
// others, is one: the run goes on until it is found.
func TestMarginOfShortExamples(t *testing.T) {
	for _, size := range []float64{1, 1e4, 1e9, 1e18} {
		b := mixed[float64](size)
		for name, c := range map[string]learner.Config{
			"romma": &learners.ROMMAConfig{Aggressive: true, Delta: 0.1},
			"pumma": &learners.PUMMAConfig{P: "2", Delta: 0.1,
				KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		} {
			if name == "pumma" && size > 1e9 {
				// the short ones' share of u is lost in roundings: it says that it doesn't converge
				continue
			}
			l := newLearner[float64](t, name, c)
			r, err := l.(learner.Fitter[float64]).Fit(t.Context(), b,
				learner.FitOptions{MaxUpdates: 100000})
			if err != nil || !r.Converged || r.Violators != 0 {
				t.Errorf("%s, size %g: %v, %+v", name, size, err, r)
			}
			if !(r.Margin > 0.01) || math.IsInf(r.Margin, 0) {
				t.Errorf("%s, size %g: margin %v", name, size, r.Margin)
			}
		}
	}
}

// TestLengthRule: one rule for all learners: an example whose square the numbers don't hold is
// refused, and nothing is learned of its block.
func TestLengthRule(t *testing.T) {
	b := mixed[float64](1e160)
	for i := range b.Len() {
		b.Class = append(b.Class, int32(b.Y[i]+1)/2)
	}
	for _, name := range learner.Names() {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := learner.New[float64](e, e.Config(), learner.Env{})
		if err != nil {
			t.Logf("%s: %v", name, err) // relative to the data
			continue
		}
		before := learnertest.StateBytes(l.State())
		if e.Config().Traits().Stream {
			err = l.Learn(b, make([]learner.Round, b.Len()))
		} else if f := learner.AsFitter(l); f != nil {
			_, err = f.Fit(t.Context(), b, learner.FitOptions{})
		}
		if !errors.Is(err, learner.ErrLength) {
			t.Errorf("%s: %v, want %v", name, err, learner.ErrLength)
		}
		if !bytes.Equal(learnertest.StateBytes(l.State()), before) {
			t.Errorf("%s: a refused block changed the state", name)
		}
	}
}
