package learners

import (
	"fmt"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/gauss"
)

// stepped returns N(m, V) times the step factor of rate eps of w.x, as the Gaussian of its moments.
func stepped(m []float64, V [][]float64, x []float64, eps float64) ([]float64, [][]float64) {
	s := make([]float64, len(x))
	for i := range s {
		s[i] = naiveDot(V[i], x)
	}
	v := naiveDot(s, x)
	f := gauss.NewStepFactor(naiveDot(m, x)/math.Sqrt(v), eps)
	mean, cov := make([]float64, len(x)), make([][]float64, len(x))
	for i := range s {
		mean[i] = m[i] + f.H*s[i]/math.Sqrt(v)
		cov[i] = make([]float64, len(x))
		for j := range s {
			cov[i][j] = V[i][j] - f.H*f.D/v*s[i]*s[j]
		}
	}
	return mean, cov
}

func naiveDot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// TestMergeParallel: of three rows, two of which are equal, parallel or all but equal, these two
// are merged. Two equal likelihoods are one step of rate eps^2/(eps^2 + (1-eps)^2), and the
// posterior has its moments.
func TestMergeParallel(t *testing.T) {
	for _, eps := range []float64{0, 0.01, 0.05, 0.1, 0.2, 0.3} {
		for d := 1; d <= 3; d++ {
			for at := range 3 { // the row that is another
				for _, apart := range []float64{0, 1e-9, 1e-6, 1e-3} {
					rng := engine.NewRand(uint64(d), uint64(at))
					x, other := make([]float64, d), make([]float64, d)
					for i := range d {
						x[i], other[i] = rng.Normal(), rng.Normal()
					}
					if d == 1 { // all rows are parallel, but these two are closer to each other
						x[0], other[0] = 1.3, 0.4
					}
					b := &engine.Block[float64]{Dim: d, Stride: d}
					for i := range 3 {
						row := append([]float64(nil), x...)
						if i == at {
							row = other
						}
						if i == (at+1)%3 {
							row[d-1] += apart
						}
						b.X, b.Y = append(b.X, row...), append(b.Y, 1)
					}
					what := fmt.Sprintf("eps %v, %d features, row %d another, %v apart", eps, d, at,
						apart)
					points := PointsConfig{Noise: eps, Tolerance: 1e-13, Sweeps: 2000, Damping: 1}
					l := virtual(t, "vvm", &VVMConfig{Buffer: 2, Pairs: 3, PointsConfig: points})
					kept := virtual(t, "vvm", &VVMConfig{Buffer: 3, PointsConfig: points})
					for _, v := range []*vvm[float64]{l, kept} {
						if err := v.Learn(b, make([]learner.Round, 3)); err != nil {
							t.Fatal(err)
						}
					}
					if l.Report().Merged != 1 {
						t.Errorf("%s: %+v", what, l.Report())
						continue
					}
					if lower(residualCov(l.p)) == nil {
						t.Errorf("%s: not definite", what)
					}
					if d == 1 {
						continue
					}
					// the prior times the site of the other row
					m, V := make([]float64, d), make([][]float64, d)
					tau, nu := kept.p.Tau[at], kept.p.Nu[at]
					den := 1 + tau*naiveDot(other, other)
					for i := range d {
						m[i], V[i] = nu*other[i]/den, make([]float64, d)
						for j := range d {
							V[i][j] = -tau * other[i] * other[j] / den
						}
						V[i][i]++
					}
					m, V = stepped(m, V, x, eps*eps/(eps*eps+(1-eps)*(1-eps)))
					tol := 1e-10 + 10*apart
					if apart > 0 && apart < 1e-6 {
						tol = 1e-5
					}
					approx.AllNear(t, what+": mean", l.Weights(), m, tol)
					sameMatrix(t, what+": covariance", fullCov(l.p), V, tol)
				}
			}
		}
	}
}

// TestMergeUnits: points of columns in other units, which are all but parallel, are merged, and the
// covariance stays positive definite.
func TestMergeUnits(t *testing.T) {
	for _, unit := range []float64{1, 1e3, 1e6} {
		b := vvmStream(300, 4, 1.3)
		for i := range b.Len() {
			b.X[i*4] *= unit
		}
		l := virtual(t, "vvm", &VVMConfig{Buffer: 10, Pairs: 5, PointsConfig: defaultPoints})
		if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
			t.Fatal(err)
		}
		if r := l.Report(); r.Merged == 0 || lower(residualCov(l.p)) == nil {
			t.Errorf("unit %v: %+v", unit, r)
		}
	}
}
