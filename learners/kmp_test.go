package learners_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// TestKMPChoices: half the Gram matrix, kept or not, or the sum of examples leads to the bits of
// whole rows, also where examples are equal or few features leave nothing to choose.
func TestKMPChoices(t *testing.T) {
	for _, k := range []learner.KernelConfig{{Kernel: "linear"}, {Kernel: "linear", Scale: 2},
		{Kernel: "rbf", Sigma: 1.3}, {Kernel: "poly", Gamma: 0.5, Degree: 3, Coef0: 1}} {
		for _, backfit := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", k.Kernel, backfit), func(t *testing.T) {
				c := learners.KMPConfig{Size: 12, Backfit: backfit, KernelConfig: k}
				testKMPChoices(t, c, wide[float32](300, 90, 7))
				testKMPChoices(t, c, wide[float64](300, 9, 3))
				equal := wide[float32](300, 7, 3)
				for k := range equal.Val {
					equal.Val[k] = 1
				}
				testKMPChoices(t, c, equal)
			})
		}
	}
}

func testKMPChoices[T learner.Float](t *testing.T, c learners.KMPConfig, b *engine.Block[T]) {
	t.Helper()
	var states [2]learner.State
	for k, bytes := range []int64{0, -1} {
		l := fitter[T](t, "kmp", &c)
		if _, err := l.Fit(t.Context(), b, learner.FitOptions{GramBytes: bytes}); err != nil {
			t.Fatal(err)
		}
		states[k] = l.State()
	}
	want := states[0].Tensor("coef").Data.([]float64)
	if got := states[1].Tensor("coef").Data.([]float64); !slices.Equal(got, want) {
		t.Errorf("without a cache %v, with %v", got, want)
	}
	if c.Backfit {
		return
	}
	if got := wholeRows(t, c, b); !slices.Equal(want, got) {
		t.Errorf("%v, by whole rows %v", want, got)
	}
}

// wholeRows is the pursuit without backfitting over the whole Gram matrix: coefficients that are
// not 0, by example.
func wholeRows[T learner.Float](t *testing.T, c learners.KMPConfig, b *engine.Block[T]) []float64 {
	list, err := engine.NewPoints[T](c.EngineKernel())
	if err != nil {
		t.Fatal(err)
	}
	n := b.Len()
	list.Append(b, 0, n)
	rows := engine.NewRows(list, 1<<30, n, nil)
	r, coef := make([]float64, n), make([]float64, n)
	for i, y := range b.Y {
		r[i] = float64(y)
	}
	for range c.Size {
		best, gain, alpha := -1, 0.0, 0.0
		for j := range n {
			row, err := rows.Row(t.Context(), j, n)
			if err != nil {
				t.Fatal(err)
			}
			square := 0.0
			for _, v := range row {
				square += float64(float64(v) * float64(v))
			}
			dot := vecmath.DotMixed(r, row)
			if g := dot * dot / square; g > gain {
				best, gain, alpha = j, g, dot/square
			}
		}
		if !(gain > math.Ldexp(float64(n), -40)) {
			break
		}
		row, _ := rows.Row(t.Context(), best, n)
		coef[best] += alpha
		vecmath.AxpyMixed(r, -alpha, row)
	}
	return slices.DeleteFunc(coef, func(v float64) bool { return v == 0 })
}
