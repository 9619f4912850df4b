package gauss

import (
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/learners/internal/golden"
)

func TestBVN(t *testing.T) {
	var g struct {
		Rows []struct{ H, K, Rho, P float64 }
	}
	golden.Read(t, "bayes/bvn_cdf", &g)
	if len(g.Rows) != 135 {
		t.Fatalf("%d rows, want 135", len(g.Rows))
	}
	worst := map[int]float64{}
	for _, r := range g.Rows {
		class := 0
		for _, bound := range []float64{0.3, 0.75, 0.925} {
			if math.Abs(r.Rho) >= bound {
				class++
			}
		}
		for _, p := range []float64{bvnCDF(r.H, r.K, r.Rho), bvnCDF(r.K, r.H, r.Rho)} {
			e := math.Abs(p - r.P)
			if worst[class] = max(worst[class], e); !(e <= 3e-16) { // as bvnCDF states
				t.Errorf("Phi2(%v, %v; %v) is %v, want %v", r.H, r.K, r.Rho, p, r.P)
			}
		}
	}
	t.Logf("off by %v at most for |r| < 0.3, 0.75, 0.925, 1", worst)
	// P(X <= h, Y <= k) + P(X <= h, -Y <= -k) = P(X <= h)
	for _, h := range []float64{-3, -0.4, 0, 1.3} {
		for _, k := range []float64{-2, 0, 0.7} {
			for r := -1.0; r <= 1; r += 1. / 64 {
				e := math.Abs(bvnCDF(h, k, r) + bvnCDF(h, -k, -r) - NormalCDF(h))
				if !(e <= 2e-15) {
					t.Errorf("h %v, k %v, r %v: off by %.3g", h, k, r, e)
				}
			}
		}
	}
	for x := -0.925; x <= 0.925; x += 1. / 128 {
		if math.Abs(arcsin(x)-math.Asin(x)) > 1e-15 {
			t.Errorf("arcsin(%v) is %v", x, arcsin(x))
		}
	}
}

func TestTwoStep(t *testing.T) {
	var g struct {
		Rows []struct {
			Eps, LogZ       float64
			Mu, Mean, Gamma [2]float64
			S, Cov, H       [2][2]float64
		}
	}
	golden.Read(t, "bayes/two_step_moments", &g)
	if len(g.Rows) != 10 {
		t.Fatalf("%d rows, want 10", len(g.Rows))
	}
	worst := 0.0
	for _, r := range g.Rows {
		mu, S := Pair{r.Mu[0], r.Mu[1]}, Sym2{r.S[0][0], r.S[0][1], r.S[1][1]}
		Z, gamma, H, ok := twoStep(mu, S, r.Eps)
		if !ok {
			t.Fatalf("%+v: no moments", r)
		}
		d, c := S.Mul(gamma), S.sandwich(H)
		for i, v := range [][2]float64{{logScalar(Z), r.LogZ}, {gamma.A, r.Gamma[0]}, {gamma.B,
			r.Gamma[1]}, {H.AA, r.H[0][0]}, {H.AB, r.H[0][1]}, {H.BB, r.H[1][1]},
			{mu.A + d.A, r.Mean[0]}, {mu.B + d.B, r.Mean[1]}, {S.AA + c.AA, r.Cov[0][0]},
			{S.AB + c.AB, r.Cov[0][1]}, {S.BB + c.BB, r.Cov[1][1]}} {
			e := golden.Off(v[0], v[1], math.Abs(v[1]) < 1)
			if worst = max(worst, e); !(e <= 1e-12) {
				t.Errorf("eps %v, mu %v, S %v: number %d is %v, want %v", r.Eps, r.Mu, r.S, i, v[0],
					v[1])
			}
		}
	}
	t.Logf("off by %.2g at most", worst)
	if _, _, _, ok := twoStep(Pair{1, -1}, Sym2{1, -1, 1}, 0); ok {
		t.Error("opposite points have moments")
	}
}

// TestTwoStepParallel: where 1 - r^2 runs out of digits the moments go on without a jump, for equal
// places and for two on one line.
func TestTwoStepParallel(t *testing.T) {
	for _, eps := range []float64{0, 0.05, 0.2} {
		for _, between := range []float64{0, 1e-7, 1e-5, 0.3} {
			var last [3]float64
			for i, apart := range []float64{0x1p-39, 0x1p-41, 0} { // 1 - r^2
				S := Sym2{4, 2 * math.Sqrt(1-apart), 1}
				Z, gamma, H, ok := twoStep(Pair{0.6, 0.3 + between}, S, eps)
				if !ok {
					t.Fatalf("eps %v, %v between, %v apart: no moments", eps, between, apart)
				}
				now := [3]float64{Z, S.Mul(gamma).A, S.sandwich(H).AA}
				for j, v := range now { // some 2^-20 of the mass lies between the two
					if i > 0 && math.Abs(v-last[j]) > 0x1p-17 {
						t.Errorf("eps %v, %v between, %v apart: number %d is %v, before %v", eps,
							between, apart, j, v, last[j])
					}
				}
				last = now
			}
		}
	}
}
