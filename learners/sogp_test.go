package learners_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// gaussian is the posterior that a State of sogp holds.
type gaussian struct {
	points [][]float64
	alpha  []float64
	C, Q   *mat.SymDense
}

func posteriorOf(t *testing.T, l learner.Learner[float64], dim int) (g gaussian) {
	t.Helper()
	s := l.State()
	tensor := func(name string) []float64 { return s.Tensor(name).Data.([]float64) }
	g.alpha = tensor("alpha")
	n := len(g.alpha)
	square := func(name string) *mat.SymDense {
		A, at := mat.NewSymDense(max(n, 1), nil), 0
		for i := range n {
			for j := range i + 1 {
				A.SetSym(i, j, tensor(name)[at])
				at++
			}
		}
		return A
	}
	g.C, g.Q = square("C"), square("Q")
	lo := int64(0)
	for _, hi := range s.Tensor("basis_end").Data.([]int64) {
		x := make([]float64, dim)
		for ; lo < hi; lo++ {
			x[s.Tensor("basis_idx").Data.([]int32)[lo]] = tensor("basis_val")[lo]
		}
		g.points = append(g.points, x)
	}
	return g
}

// TestGoldenSOGP: after every example the mean there before it, the basis points, alpha and C;
// twelve points are removed.
func TestGoldenSOGP(t *testing.T) {
	g := readBaselines(t)
	if len(g.SOGP.Steps) != len(g.Features) {
		t.Fatalf("%d steps of %d examples", len(g.SOGP.Steps), len(g.Features))
	}
	for _, form := range forms {
		b := block[float64](form, g.Features, g.Labels)
		l := newLearner[float64](t, "sogp", &learners.SOGPConfig{Basis: g.SOGP.Cap, Noise: 1,
			Novelty: 1e-6, KernelConfig: learner.KernelConfig{Kernel: "rbf", Sigma: 1}})
		for i, want := range g.SOGP.Steps {
			r := one(t, l, b, i)
			approx.Near(t, fmt.Sprintf("step %d: score", i), r.Score, want.Before, goldenTol64)
			got := posteriorOf(t, l, len(g.Features[0]))
			if len(got.points) != len(want.Basis) {
				t.Fatalf("step %d: %d basis points, want %d", i, len(got.points), len(want.Basis))
			}
			// the slot of each: what comes takes the place of what went
			at := make([]int, len(want.Basis))
			for k, x := range want.Basis {
				at[k] = slices.IndexFunc(got.points, func(p []float64) bool {
					return slices.Equal(p,
						x)
				})
				if at[k] < 0 {
					t.Fatalf("step %d: basis point %v is not kept", i, x)
				}
				approx.Near(t, fmt.Sprintf("step %d: alpha[%d]", i, k), got.alpha[at[k]], want.Alpha[k],
					goldenTol64)
			}
			for j := range at {
				for k := range at {
					approx.Near(t, fmt.Sprintf("step %d: C[%d][%d]", i, j, k), got.C.At(at[j], at[k]),
						want.C[j][k], goldenTol64)
				}
			}
		}
	}
}

// TestSOGPIsADF: with a linear kernel and enough basis points, scores and probabilities are those
// of assumed density filtering in the space of weights: m += y h V x/s, V -= (h d/s^2) V x x'V.
func TestSOGPIsADF(t *testing.T) {
	// k'C k is rounded by up to 4 x 2^-52 |C| |k|^2 with |C| = 5e4 and |k|^2 = 100 here: the fourth
	// point is nearly in the span of three.
	const tol = 5e-9
	g := readBaselines(t)
	for _, c := range []learners.SOGPConfig{{Noise: 1}, {Noise: 0.1}, {Eps: 0.05}, {Noise: 0.5,
		Eps: 0.2}} {
		t.Run(fmt.Sprintf("noise=%v, eps=%v", c.Noise, c.Eps), func(t *testing.T) {
			c.Basis, c.Kernel, c.Novelty = 50, "linear", 1e-6
			b, l := block[float64]("dense", g.Features, g.Labels), newLearner[float64](t, "sogp",
				&c)
			adf := newLearner[float64](t, "adf", &learners.ADFConfig{Covariance: "full",
				Noise: c.Eps, Probit: c.Noise})
			dim := len(g.Features[0])
			m, V := mat.NewVecDense(dim, nil), mat.NewDense(dim, dim, nil)
			for j := range dim {
				V.Set(j, j, 1)
			}
			phi := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
			for i := range b.Len() {
				x, y := mat.NewVecDense(dim, g.Features[i]), g.Labels[i]
				var Vx mat.VecDense
				Vx.MulVec(V, x)
				s := math.Sqrt(c.Noise*c.Noise + mat.Dot(x, &Vx))
				var p [1]float64
				v := b.Slice(i, i+1)
				f := mat.Dot(m, x)
				for _, l := range []learner.Learner[float64]{l, adf} {
					if err := learner.ProberOf(l).Proba(&v, p[:]); err != nil {
						t.Fatal(err)
					}
					approx.Near(t, fmt.Sprintf("step %d: probability", i), p[0],
						c.Eps+(1-2*c.Eps)*phi(f/s), tol)
					approx.Near(t, fmt.Sprintf("step %d: score", i), one(t, l, b, i).Score, f, tol)
				}
				z := y * f / s
				h := (1 - 2*c.Eps) * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) /
					(c.Eps + (1-2*c.Eps)*phi(z))
				m.AddScaledVec(m, y*h/s, &Vx)
				V.RankOne(V, -h*(h+z)/(s*s), &Vx, &Vx)
			}
			if n := l.(learner.Keeper).Support(); n != dim {
				t.Errorf("%d basis points span %d dimensions", n, dim)
			}
		})
	}
}

// TestSOGPRemoval: of the posteriors on the points that stay, the one of (4) has the least
// Kullback-Leibler divergence to the old one: small changes of its mean and covariance raise it.
func TestSOGPRemoval(t *testing.T) {
	g := readBaselines(t)
	const n = 7
	X, y := g.Features[:n], g.Labels[:n]
	after := func(basis int) gaussian {
		l := newLearner[float64](t, "sogp", &learners.SOGPConfig{Basis: basis, Noise: 0.3,
			Novelty: 1e-6, KernelConfig: learner.KernelConfig{Kernel: "rbf", Sigma: 1.5}})
		if err := l.Learn(block[float64]("dense", X, y), make([]learner.Round, n)); err != nil {
			t.Fatal(err)
		}
		return posteriorOf(t, l, len(X[0]))
	}
	full, less := after(n), after(n-1)
	if len(full.points) != n || len(less.points) != n-1 {
		t.Fatalf("%d and %d basis points", len(full.points), len(less.points))
	}
	var K mat.Dense
	if err := K.Inverse(full.Q); err != nil {
		t.Fatal(err)
	}
	// moments of the basis points' values: K alpha, K + K C K
	moments := func(alpha []float64, C mat.Matrix) (mean mat.VecDense, cov mat.Dense) {
		mean.MulVec(&K, mat.NewVecDense(n, alpha))
		cov.Product(&K, C, &K)
		cov.Add(&cov, &K)
		return mean, cov
	}
	m0, S0 := moments(full.alpha, full.C)
	divergence := func(alpha []float64, C mat.Matrix) float64 {
		m, S := moments(alpha, C)
		var A mat.Dense
		var diff, solved mat.VecDense
		diff.SubVec(&m0, &m)
		if err := A.Solve(&S0, &S); err != nil {
			t.Fatal(err)
		}
		if err := solved.SolveVec(&S0, &diff); err != nil {
			t.Fatal(err)
		}
		ld0, _ := mat.LogDet(&S0)
		ld, _ := mat.LogDet(&S)
		return (mat.Trace(&A) + mat.Dot(&diff, &solved) - n + ld0 - ld) / 2
	}
	alpha, C := make([]float64, n), mat.NewSymDense(n, nil)
	place := make([]int, n-1)
	for j, x := range less.points {
		place[j] = slices.IndexFunc(full.points, func(p []float64) bool {
			return slices.Equal(p,
				x)
		})
		alpha[place[j]] = less.alpha[j]
		for k := range j + 1 {
			C.SetSym(place[j], place[k], less.C.At(j, k))
		}
	}
	least := divergence(alpha, C)
	if !(least > 1e-6) {
		t.Fatalf("the removal costs %v", least)
	}
	for _, step := range []float64{1e-3, -1e-3} {
		for j, a := range place {
			was := alpha[a]
			alpha[a] += step
			if d := divergence(alpha, C); !(d > least) {
				t.Errorf("alpha[%d] %+g: divergence %v, before %v", j, step, d, least)
			}
			alpha[a] = was
			for _, b := range place[:j+1] {
				was := C.At(a, b)
				C.SetSym(a, b, was+step)
				if d := divergence(alpha, C); !(d > least) {
					t.Errorf("C[%d][%d] %+g: divergence %v, before %v", a, b, step, d, least)
				}
				C.SetSym(a, b, was)
			}
		}
	}
}

// TestSOGPStaysDefinite: after a stream with wrong labels in which nearly every example removes a
// basis point, Q is still the inverse of their Gram matrix, and the covariance on them positive
// definite.
func TestSOGPStaysDefinite(t *testing.T) {
	const n, dim, basis, gamma = 4000, 6, 30, 0.05
	rand := engine.NewRand(9, 0)
	X, y := make([][]float64, n), make([]float64, n)
	for i := range X {
		X[i] = make([]float64, dim)
		for j := range X[i] {
			X[i][j] = rand.Normal()
		}
		y[i] = math.Copysign(1, X[i][0]*X[i][1]+X[i][2])
		if rand.IntN(20) == 0 {
			y[i] = -y[i]
		}
	}
	for _, c := range []learners.SOGPConfig{{Noise: 1}, {Noise: 0.1}, {Eps: 0.05}} {
		c.Basis, c.Novelty, c.Kernel, c.Gamma = basis, 1e-4, "rbf", gamma
		l := newLearner[float64](t, "sogp", &c)
		rounds := make([]learner.Round, n)
		if err := l.Learn(block[float64]("dense", X, y), rounds); err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i, r := range rounds[n/2:] {
			if r.Score*y[n/2+i] <= 0 {
				wrong++
			}
		}
		if wrong > n/2*3/10 || l.Updates() != n {
			t.Errorf("%+v: %d of the last %d wrong, %d updates", c, wrong, n/2, l.Updates())
		}
		g := posteriorOf(t, l, dim)
		if len(g.points) != basis {
			t.Fatalf("%d basis points", len(g.points))
		}
		K := mat.NewSymDense(basis, nil)
		for i, a := range g.points {
			for j, b := range g.points[:i+1] {
				d := 0.0
				for k := range a {
					d += (a[k] - b[k]) * (a[k] - b[k])
				}
				K.SetSym(i, j, math.Exp(-gamma*d))
			}
		}
		var KQ, KCK mat.Dense
		KQ.Mul(K, g.Q)
		for i := range basis {
			KQ.Set(i, i, KQ.At(i, i)-1)
		}
		// A removal divides by the entries that it takes away, so errors grow with the square of
		// the condition at worst.
		if off, cond := mat.Norm(&KQ, 2), mat.Cond(K, 2); off > 0x1p-52*cond*cond {
			t.Errorf("%+v: K Q is off by %v at the condition %v", c, off, cond)
		}
		KCK.Product(K, g.C, K)
		cov := mat.NewSymDense(basis, nil)
		for i := range basis {
			for j := range i + 1 {
				cov.SetSym(i, j, K.At(i, j)+(KCK.At(i, j)+KCK.At(j, i))/2)
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(cov, false) || !(eigen.Values(nil)[0] > 0) {
			t.Errorf("%+v: the least eigenvalue of the covariance is %v", c, eigen.Values(nil)[0])
		}
	}
}
