package learners

import (
	"errors"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestMistakes: the examples that the average or any member gets wrong, against members that are
// taken out of the state one by one.
func TestMistakes(t *testing.T) {
	for _, base := range []string{"perceptron", "pa", "alma"} {
		for _, combine := range []string{CombineWeights, CombineVote} {
			for _, dense := range []bool{false, true} {
				b := randomBlock[float32](300, 30, 5, false, 4)
				o := newTestOBPM[float32](t, OBPMConfig{Members: 70, Tau: 0.2, Base: base,
					Combine: combine}, learner.Env{Seed: 3})
				for range 3 {
					learnAll(t, o, b, 64)
				}
				if dense {
					b = toDense(b)
				}
				before := stateBytes(t, o.State())
				got, err := o.Mistakes(b)
				if err != nil {
					t.Fatal(err)
				}
				if stateBytes(t, o.State()) != before {
					t.Error("Mistakes changed the state")
				}
				f := make([]float64, b.Len())
				if err := o.Score(b, f); err != nil {
					t.Fatal(err)
				}
				col := make([]float32, 70)
				w := make([][]float64, 70)
				for j := range o.Dim {
					o.Store().Column(col, j)
					for m, v := range col {
						w[m] = append(w[m], float64(v))
					}
				}
				want := 0
				for i, y := range b.Y {
					wrong := !(float64(y)*f[i] > 0)
					idx, val := b.Example(i)
					for m := range w {
						var s float64
						for k, v := range val {
							s += w[m][engine.FeatureOf(idx, k)] * float64(v)
						}
						wrong = wrong || float64(y)*s <= 0
					}
					if wrong {
						want++
					}
				}
				if got != want || want == 0 || want == b.Len() {
					t.Errorf("%s, %s, dense %v: %d mistakes, want %d", base, combine, dense, got,
						want)
				}
			}
		}
	}
}

// TestMistakesKernel: with a linear kernel's equal, a polynomial of degree 1, the members are those
// of weights.
func TestMistakesKernel(t *testing.T) {
	b := randomBlock[float64](120, 10, 5, false, 4)
	c := OBPMConfig{Members: 70, Tau: 0.2, Base: "perceptron", Combine: CombineWeights}
	plain := newTestOBPM[float64](t, c, learner.Env{Seed: 3})
	c.KernelConfig = learner.KernelConfig{Kernel: "poly", Gamma: 1, Degree: 1}
	c.Removal = RemoveOldest
	l, err := newOBPM[float64](c, learner.Env{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for pass := range 4 {
		want, err1 := plain.Mistakes(b)
		got, err2 := learner.MistakeCheckerOf(l).Mistakes(b)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if got != want || pass == 0 && want != b.Len() {
			t.Errorf("pass %d: %d mistakes, %d without a kernel", pass, got, want)
		}
		learnAll(t, plain, b, 64)
		learnAll(t, l, b, 64)
	}
	if err := mistakesOfNothing(l); err != nil {
		t.Error(err)
	}
}

func mistakesOfNothing(l learner.Learner[float64]) error {
	n, err := learner.MistakeCheckerOf(l).Mistakes(&engine.Block[float64]{Ptr: []int{0}})
	if n != 0 {
		return errors.New("mistakes among no examples")
	}
	return err
}
