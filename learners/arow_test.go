package learners_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// TestAROWGolden follows a trace that was computed by other formulas, in exact fractions: with the
// full covariance Sigma is the inverse of I + sum of x x'/r, and mu is Sigma times the sum of y
// x/r.
func TestAROWGolden(t *testing.T) {
	var g struct {
		Data struct {
			X [][]float64
			Y []float64
		}
		Runs []struct {
			Covariance string
			R          float64
			Trace      []struct {
				Score       float64
				Updated     bool
				W, Variance []float64
			}
		}
	}
	readGolden(t, "linear/arow_trace.json", &g)
	for _, run := range g.Runs {
		c := &learners.AROWConfig{Covariance: run.Covariance, R: run.R}
		for _, form := range forms {
			l := newLearner[float64](t, "arow", c)
			b := block[float64](form, g.Data.X, g.Data.Y)
			updates := int64(0)
			for i, want := range run.Trace {
				r := one(t, l, b, i)
				at := fmt.Sprintf("%s, r = %v, %s: example %d: ", run.Covariance, run.R, form, i)
				approx.Near(t, at+"score", r.Score, want.Score, goldenTol64)
				if want.Updated {
					updates++
				}
				if l.Updates() != updates {
					t.Fatalf("%s%d updates, want %d", at, l.Updates(), updates)
				}
				approx.AllNear(t, at+"w", l.Weights(), want.W, goldenTol64)
				approx.AllNear(t, at+"variance", variances(t, l), want.Variance, goldenTol64)
			}
			if updates == 0 || updates == int64(len(run.Trace)) {
				t.Errorf("%d of %d examples are updates", updates, len(run.Trace))
			}
		}
	}
}

// variances returns those of AROW's weights.
func variances[T learner.Float](t *testing.T, l learner.Learner[T]) []float64 {
	t.Helper()
	s := l.State()
	if v := s.Tensor("variance"); v != nil {
		return v.Data.([]float64)
	}
	lower := s.Tensor("covariance").Data.([]float64)
	var v []float64
	for i := 0; len(v) < len(l.Weights()); i++ {
		v = append(v, lower[i*(i+3)/2])
	}
	return v
}

// TestAROWMistakeBound is Theorem 2, for some vectors u: those that the labels come from, longer
// and shorter, and others.
func TestAROWMistakeBound(t *testing.T) {
	const n, d = 400, 5
	rng := rand.New(rand.NewPCG(3, 4))
	for _, r := range []float64{0.01, 1, 30} {
		for _, flips := range []float64{0, 0.2} {
			truth := normals(rng, d, 1)
			X, y := make([][]float64, n), make([]float64, n)
			for i := range X {
				X[i] = normals(rng, d, 1)
				y[i] = math.Copysign(1, inner(truth, X[i]))
				if rng.Float64() < flips {
					y[i] = -y[i]
				}
			}
			l := newLearner[float64](t, "arow", &learners.AROWConfig{Covariance: "full", R: r})
			b := block[float64]("dense", X, y)
			updated := make([]bool, n)
			mistakes, logDet := 0, 0.0
			for i := range X {
				// log det(I + X/r) grows by log(1 + x' Sigma x/r)
				v := quadratic(l, X[i])
				round := one(t, l, b, i)
				if updated[i] = round.Updates > 0; !updated[i] {
					continue
				}
				logDet += math.Log1p(v / r)
				if y[i]*round.Score <= 0 {
					mistakes++
				}
			}
			for k := range 40 {
				u := slices.Clone(truth)
				scale := math.Exp2(float64(k%10) - 3)
				for j, g := range normals(rng, d, 0.2*float64(k/10)) {
					u[j] = scale * (u[j] + g)
				}
				sq, loss, others := r*inner(u, u), 0.0, 0
				for i := range X {
					if !updated[i] {
						continue
					}
					f := inner(u, X[i])
					sq += f * f
					loss += max(0, 1-y[i]*f)
					others++
				}
				others -= mistakes
				bound := math.Sqrt(sq)*math.Sqrt(logDet+float64(others)) + loss - float64(others)
				if float64(mistakes) > bound {
					t.Errorf("r = %v, flips %v, u %v: %d mistakes, bound %v", r, flips, u, mistakes,
						bound)
				}
			}
		}
	}
}

func normals(rng *rand.Rand, n int, scale float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = scale * rng.NormFloat64()
	}
	return x
}

// quadratic returns x' Sigma x.
func quadratic(l learner.Learner[float64], x []float64) (sum float64) {
	s := l.State()
	lower := s.Tensor("covariance").Data.([]float64)
	if len(lower) == 0 {
		return inner(x, x)
	}
	k := 0
	for i := range x {
		for j := range i {
			sum += 2 * x[i] * x[j] * lower[k]
			k++
		}
		sum += x[i] * x[i] * lower[k]
		k++
	}
	return sum
}

// TestAROWDiagonal: for examples of one feature each the diagonal covariance is the full one.
func TestAROWDiagonal(t *testing.T) {
	const n, d = 300, 7
	rng := rand.New(rand.NewPCG(5, 6))
	X, y := make([][]float64, n), make([]float64, n)
	for i := range X {
		X[i] = make([]float64, d)
		j := rng.IntN(d)
		X[i][j] = 3 * rng.NormFloat64()
		y[i] = math.Copysign(1, X[i][j]*(float64(j)-2.5)+rng.NormFloat64())
	}
	b := block[float64]("sparse", X, y)
	full := newLearner[float64](t, "arow", &learners.AROWConfig{Covariance: "full", R: 0.5})
	diagonal := newLearner[float64](t, "arow", &learners.AROWConfig{Covariance: "diagonal", R: 0.5})
	for i := range n {
		one(t, full, b, i)
		one(t, diagonal, b, i)
		approx.AllNear(t, "weights", diagonal.Weights(), full.Weights(), 1e-12)
		approx.AllNear(t, "variances", variances(t, diagonal), variances(t, full), 1e-12)
	}
	if full.Updates() != diagonal.Updates() || full.Updates() == 0 {
		t.Errorf("%d updates, with the full covariance %d", diagonal.Updates(), full.Updates())
	}
}

// TestAROWRange: variances stay positive and all is finite, for features of any size that is taken.
func TestAROWRange(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, covariance := range []string{"diagonal", "full"} {
		for _, scale := range []float64{1e-160, 1e-30, 1, 1e30, 1e70, 1e140} {
			l := newLearner[float64](t, "arow", &learners.AROWConfig{Covariance: covariance,
				R: 1e-9})
			for range 200 {
				x := normals(rng, 4, 1)
				x[rng.IntN(4)] *= scale
				b := block[float64]("dense", [][]float64{x}, []float64{math.Copysign(1, x[0]+x[1])})
				one(t, l, b, 0)
			}
			for _, v := range append(l.Weights(), variances(t, l)...) {
				if v-v != 0 {
					t.Fatalf("%s, features of %v: %v, variances %v", covariance, scale, l.Weights(),
						variances(t, l))
				}
			}
			if v := slices.Min(variances(t, l)); !(v >= 0) || covariance == "diagonal" && v == 0 {
				t.Errorf("%s, features of %v: variance %v", covariance, scale, v)
			}
		}
	}
	wide := &engine.Block[float64]{Y: []float64{1}, Dim: 1 << 20, Ptr: []int{0, 1},
		Idx: []int32{1<<20 - 1}, Val: []float64{1}}
	l := newLearner[float64](t, "arow", &learners.AROWConfig{Covariance: "full", R: 1})
	if err := l.Learn(wide, make([]learner.Round, 1)); !errors.Is(err, learner.ErrDim) {
		t.Errorf("too many features: %v", err)
	}
}
