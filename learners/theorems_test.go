package learners_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// Theorems of the papers that are about more than one learner, or about all that Fit returns.

// TestPairsArePUMMA: section 3.2 of the PUMMA paper, on sparse and dense examples. ROMMA, given z =
// (xpos - xneg)/2 with the label +1 for each example that comes, paired with the last one of the
// other label that was learned, makes the updates of PUMMA for p = 2, and its weights are PUMMA's.
// The example kept has the margin 1, so that w.z < 1 - delta/2 is y f(x) < 1 - delta.
func TestPairsArePUMMA(t *testing.T) {
	for _, form := range []string{"dense", "sparse"} {
		for seed := range uint64(9) {
			delta := []float64{0.5, 0.1, 0.01}[seed%3]
			X, y := randomProblem("shifted", seed, 120, 6)
			b := block[float64](form, X, y)
			pumma := newPUMMA[float64](t, 2, delta, 0)
			pairs := newLearner[float64](t, "pairs", &learners.PairsConfig{Base: "romma",
				BaseConfig: &learners.ROMMAConfig{Aggressive: true, Delta: delta / 2}})
			for range 3 {
				for i := range X {
					want := one(t, learner.Learner[float64](pumma), b, i)
					got := one(t, pairs, b, i)
					if got.Updates != want.Updates {
						t.Fatalf("%s, example %d: %+v, pumma: %+v", form, i, got, want)
					}
					approx.Near(t, "score", got.Score, want.Score, 1e-9)
				}
			}
			approx.AllNear(t, form+": w", pairs.Weights(), pumma.Weights(), 1e-9)
			bias, _ := learner.BiasOf(pairs)
			approx.Near(t, "b", bias, pumma.Bias(), 1e-9)
			if pairs.Updates() != pumma.Updates() {
				t.Errorf("%d updates, pumma: %d", pairs.Updates(), pumma.Updates())
			}
		}
	}
}

// TestPairsMargin: Theorem 2 of the PUMMA paper for p = 2. The largest margin with a bias of a set
// is the largest through the origin of the halved differences of its classes, and that of the
// hyperplane found on these, with the bias midway between the classes, on the set.
func TestPairsMargin(t *testing.T) {
	const delta = 2e-3
	X, y := randomProblem("shifted", 4, 50, 4)
	pumma := newPUMMA[float64](t, 2, delta, 0)
	r, err := pumma.Fit(t.Context(), block[float64]("dense", X, y), learner.FitOptions{})
	if err != nil || !r.Converged {
		t.Fatal(r, err)
	}
	var Z [][]float64
	var labels []float64
	for i, x := range X {
		for k, other := range X {
			if y[i] > 0 && y[k] < 0 {
				z := make([]float64, len(x))
				for j := range z {
					z[j] = (x[j] - other[j]) / 2
				}
				Z, labels = append(Z, z), append(labels, 1)
			}
		}
	}
	romma := fitter[float64](t, "romma", &learners.ROMMAConfig{Aggressive: true, Delta: delta})
	on, err := romma.Fit(t.Context(), block[float64]("dense", Z, labels), learner.FitOptions{})
	if err != nil || !on.Converged {
		t.Fatal(on, err)
	}
	w := romma.Weights()
	pos, neg := math.Inf(1), math.Inf(1)
	for i, x := range X {
		if f := inner(w, x); y[i] > 0 {
			pos = min(pos, f)
		} else {
			neg = min(neg, -f)
		}
	}
	margin := (pos + neg) / 2 / pnorm(w, 2) // with b = (neg - pos)/2
	for what, m := range map[string]float64{"pumma": r.Margin, "romma on the pairs": on.Margin,
		"its hyperplane": margin} {
		if top := min(pumma.Bound(), on.Bound); m > top*(1+1e-9) || m < top*(1-delta)*(1-1e-9) {
			t.Errorf("%s: margin %v, the largest one is from %v to %v", what, m, top*(1-delta), top)
		}
	}
}

// TestPUMMAInfinityMargin: Corollary 4 of the PUMMA paper. With p = c ln n the margin in the
// infinity norm is at least e^(-1/c) (1-delta) times that of any hyperplane, after O(ln n (R |u|_1
// / delta)^2) updates, which Theorem 3 makes 4 (p-1) e^(2/c) of the latter.
func TestPUMMAInfinityMargin(t *testing.T) {
	const n, relevant = 60, 3
	rng := rand.New(rand.NewPCG(3, n))
	var X [][]float64
	var y []float64
	for len(X) < 120 {
		x := make([]float64, n)
		for j := range x {
			x[j] = float64(1 - 2*rng.IntN(2))
		}
		X, y = append(X, x), append(y, math.Copysign(1, x[0]+x[1]-x[2]+2))
	}
	u := make([]float64, n) // x.u + 2 is -1 or at least 1, and labels are its signs
	u[0], u[1], u[2] = 1, 1, -1
	for _, c := range []float64{0.5, 1, 2, 4} {
		for _, delta := range []float64{0.5, 0.1} {
			p := c * math.Log(n)
			l := newPUMMA[float64](t, p, delta, 0)
			r, err := l.Fit(t.Context(), block[float64]("dense", X, y), learner.FitOptions{})
			if err != nil || !r.Converged {
				t.Fatal(r, err)
			}
			w, margin := l.Weights(), math.Inf(1)
			for i, x := range X {
				margin = min(margin, y[i]*(inner(w, x)+l.Bias())/pnorm(w, 1))
			}
			if least := math.Exp(-1/c) * (1 - delta) / relevant; margin < least {
				t.Errorf("c = %v, delta = %v: margin %v, want %v", c, delta, margin, least)
			}
			limit := 4 * (p - 1) * math.Exp(2/c) * math.Pow(relevant/delta, 2)
			if float64(r.Updates) > limit+pummaFirst {
				t.Errorf("c = %v, delta = %v: %d updates, the bound is %v", c, delta, r.Updates,
					limit)
			}
		}
	}
}

// TestPUMMASoftObjective: Theorem 5 of the PUMMA paper. The weights of a run, divided by 1 - delta,
// have an objective |w|_q^2 + C sum xi^2 of at most 1/(1-delta)^2 times the least, which a run of a
// small delta bounds from above by its own; after at most (4 (p-1) R^2 + 2/C)/delta^2 times the
// least updates, by Lemma 6 with the slacks' coordinates of z/2.
func TestPUMMASoftObjective(t *testing.T) {
	const closest, C = 2e-3, 2
	X, y := randomProblem("shifted", 6, 80, 5)
	for i := range y {
		if i%9 == 0 {
			y[i] = -y[i] // no hyperplane separates them
		}
	}
	b := block[float64]("sparse", X, y)
	for _, p := range []float64{2, 3.5, 7} {
		objective := func(delta float64) (value float64, r learner.FitResult, least float64) {
			l := newPUMMA[float64](t, p, delta, C)
			r, err := l.Fit(t.Context(), b, learner.FitOptions{})
			if err != nil || !r.Converged {
				t.Fatal(r, err)
			}
			w := l.Weights()
			value = math.Pow(pnorm(w, p/(p-1))/(1-delta), 2)
			for i, x := range X {
				xi := max(0, 1-y[i]*(inner(w, x)+l.Bias())/(1-delta))
				value += C * xi * xi
			}
			return value, r, 1 / (l.Bound() * l.Bound())
		}
		best, _, least := objective(closest)
		if best > least/(1-closest)/(1-closest)*(1+1e-9) || best < least*(1-1e-9) {
			t.Fatalf("p = %v: objective %v at delta %v, which is never above %v", p, best, closest,
				least)
		}
		R := 0.0
		for _, x := range X {
			R = max(R, pnorm(x, p))
		}
		for _, delta := range []float64{0.5, 0.1, 0.02} {
			value, r, _ := objective(delta)
			if value > best/(1-delta)/(1-delta)*(1+1e-9) || value < least*(1-1e-9) {
				t.Errorf("p = %v, delta = %v: objective %v, the least is from %v to %v", p, delta,
					value, least, best)
			}
			if limit := (4*(p-1)*R*R + 2/C) * best / delta / delta; float64(r.Updates) >
				limit+pummaFirst {
				t.Errorf("p = %v, delta = %v: %d updates, the bound is %v", p, delta, r.Updates,
					limit)
			}
		}
	}
}

// TestExtendedSpace: Theorem 2 of the CRAMMA paper with (20), (21) and (27). J of any unit u and
// gamma is at least Gamma_opt^-2, the largest margin's of the extended space, which lies between
// Fit's margin and its bound; that of a run's weights is at most Gamma^-2, with equality for the
// largest one (remark 3).
func TestExtendedSpace(t *testing.T) {
	X, y := randomProblem("dense", 5, 60, 6)
	for i := range y {
		if i%8 == 0 {
			y[i] = -y[i]
		}
	}
	b := block[float64]("dense", X, y)
	for _, Delta := range []float64{0.3, 1, 4} {
		J := func(u []float64, gamma float64) float64 {
			D2, length := 0.0, pnorm(u, 2)
			for i, x := range X {
				d := max(0, gamma-y[i]*inner(u, x)/length)
				D2 += d * d
			}
			return (1 + D2/Delta/Delta) / gamma / gamma
		}
		fit := func(name string, c learner.Config) (learner.FitResult, []float64) {
			c, err := learner.Resolve(c, learner.Facts{SumSq: learner.MaxSumSq(b, 0), Delta: Delta})
			if err != nil {
				t.Fatal(err)
			}
			l := fitter[float64](t, name, c)
			r, err := l.Fit(t.Context(), b, learner.FitOptions{Delta: Delta})
			if err != nil || !r.Converged {
				t.Fatal(name, r, err)
			}
			return r, l.Weights()
		}
		const delta = 1e-3
		best, w := fit("romma", &learners.ROMMAConfig{Aggressive: true, Delta: delta})
		if best.Bound < best.Margin || best.Margin < (1-delta)*best.Bound {
			t.Fatalf("Delta = %v: margin %v, bound %v", Delta, best.Margin, best.Bound)
		}
		least := 1 / best.Bound / best.Bound
		if best.Bound < Delta/math.Sqrt(float64(len(X))) { // (27)
			t.Errorf("Delta = %v: the largest margin is %v", Delta, best.Bound)
		}
		if j := J(w, best.Gamma0); j > least/(1-delta)/(1-delta) {
			t.Errorf("Delta = %v: J = %v of the largest margin, want %v", Delta, j, least)
		}
		for name, c := range map[string]learner.Config{
			"perceptron": &learners.PerceptronConfig{Eta: 1, MarginRel: 1},
			"alma":       &learners.ALMAConfig{P: 2, Alpha: 0.5},
			"cramma":     &learners.CRAMMAConfig{Epsilon: 0.5, Beta: 0.5, Eta: 0.005, EtaDelta: 1},
			"romma":      &learners.ROMMAConfig{Aggressive: true, Delta: 0.3},
		} {
			r, w := fit(name, c)
			j := J(w, r.Gamma0)
			approx.Near(t, name+": J by D", (1+r.D*r.D/Delta/Delta)/r.Gamma0/r.Gamma0, j, 1e-9*j)
			if j < least*(1-1e-9) || j > (1+1e-9)/r.Margin/r.Margin { // (21)
				t.Errorf("%s, Delta = %v: J = %v, want one from %v to %v", name, Delta, j, least,
					1/r.Margin/r.Margin)
			}
			if r.Gamma0 < r.Margin || r.DPrime < r.D*(1-1e-12) { // (24)
				t.Errorf("%s, Delta = %v: %+v", name, Delta, r)
			}
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 200 { // (20)
			u := make([]float64, len(X[0]))
			for j := range u {
				u[j] = w[j] + 0.3*pnorm(w, 2)*rng.NormFloat64()
			}
			gamma := best.Gamma0 * math.Exp(rng.NormFloat64())
			if j := J(u, gamma); j < least*(1-1e-9) {
				t.Fatalf("Delta = %v: J = %v of a u of margin %v, want %v or more", Delta, j, gamma,
					least)
			}
		}
	}
}

// TestAugmentedMargin: (2) of the CRAMMA paper. The largest margin with a bias is from 1 to R/rho
// times the largest one through the origin of the augmented space, and nearer with a larger rho.
func TestAugmentedMargin(t *testing.T) {
	X, y := randomProblem("shifted", 8, 60, 4)
	largest := func(X [][]float64, noBias bool) float64 {
		l := fitter[float64](t, "svm", &learners.SVMConfig{Norm: 2, NoBias: noBias, Gap: 1e-9,
			KernelConfig: learner.KernelConfig{Kernel: "linear"}})
		r, err := l.Fit(t.Context(), block[float64]("dense", X, y),
			learner.FitOptions{MaxUpdates: 1e7})
		if err != nil || !r.Converged {
			t.Fatal(r, err)
		}
		return r.Margin
	}
	gamma, before := largest(X, false), math.Inf(1)
	for _, rho := range []float64{0.3, 1, 3, 10, 100} {
		R := 0.0
		Y := augmented(X, rho)
		for _, x := range Y {
			R = max(R, pnorm(x, 2))
		}
		ratio := gamma / largest(Y, true)
		if ratio < 1-1e-8 || ratio > R/rho*(1+1e-8) || ratio > before*(1+1e-8) {
			t.Errorf("rho = %v: gamma/gamma_d = %v, want one from 1 to %v, and at most %v", rho,
				ratio, R/rho, before)
		}
		before = ratio
	}
	approx.Near(t, "at rho = 100", before, 1, 0.01)
}

// TestFixedDirectionalMargin: the class of section 2 of the CRAMMA paper with a directional
// condition u.y <= beta that stays, at a rate that stays or falls, is MICRA with epsilon 0. Where
// it ends, the margin is above beta; beyond the largest margin it does not end.
func TestFixedDirectionalMargin(t *testing.T) {
	const gamma = 0.1
	b := learnertest.Dense[float64](150, 6, gamma)
	for _, zeta := range []float64{0, 0.5} {
		for _, beta := range []float64{0, 0.3 * gamma, 0.6 * gamma} {
			l := fitter[float64](t, "micra", &learners.MICRAConfig{Beta: beta, Eta: 0.02,
				Zeta: zeta})
			r, err := l.Fit(t.Context(), b, learner.FitOptions{})
			if err != nil || !r.Converged || r.Margin <= beta {
				t.Errorf("zeta = %v, beta = %v: %+v, %v", zeta, beta, r, err)
			}
		}
		l := fitter[float64](t, "micra", &learners.MICRAConfig{Beta: 0.9, Eta: 0.02, Zeta: zeta})
		r, err := l.Fit(t.Context(), b, learner.FitOptions{MaxUpdates: 20000})
		if err != nil || r.Converged {
			t.Errorf("zeta = %v, beta above all margins: %+v, %v", zeta, r, err)
		}
	}
}
