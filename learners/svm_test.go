package learners

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/smo"
	"pgregory.net/rapid"
)

// gram is a RowSource that holds all of K.
type gram[T learner.Float] struct {
	n int
	k []T
}

func (g *gram[T]) Len() int     { return g.n }
func (g *gram[T]) Diag(i int) T { return g.k[i*g.n+i] }
func (g *gram[T]) Row(_ context.Context, i, n int) ([]T, error) {
	return g.k[i*g.n:][:n], nil
}

// gramOf holds kernel values of points, by their plain formula.
func gramOf[T learner.Float](x [][]float64, kernel func(a, b []float64) float64) *gram[T] {
	g := &gram[T]{n: len(x), k: make([]T, len(x)*len(x))}
	for i := range x {
		for j := range i + 1 {
			v := T(kernel(x[i], x[j]))
			g.k[i*g.n+j], g.k[j*g.n+i] = v, v
		}
	}
	return g
}

func plainDot(a, b []float64) (s float64) {
	for i, v := range a {
		s += float64(v * b[i])
	}
	return s
}

func rbf(gamma float64) func(a, b []float64) float64 {
	return func(a, b []float64) float64 {
		var s float64
		for i, v := range a {
			s += float64((v - b[i]) * (v - b[i]))
		}
		return math.Exp(-gamma * s)
	}
}

func poly(gamma, coef0 float64, degree int) func(a, b []float64) float64 {
	return func(a, b []float64) float64 {
		v, p := float64(gamma*plainDot(a, b))+coef0, 1.0
		for range degree {
			p *= v
		}
		return p
	}
}

// problem is SVM.problem of settings with that norm and C, 0 for a hard margin.
func problem(norm int, c float64, bias bool) smo.Problem {
	p := smo.Problem{Upper: math.Inf(1), Bias: bias}
	if c > 0 {
		if norm == 1 {
			p.Upper = c
		} else {
			p.Ridge = 1 / c
		}
	}
	return p
}

func denseBlock(x [][]float64, y []float64) *engine.Block[float64] {
	b := &engine.Block[float64]{Y: y, Dim: len(x[0]), Stride: len(x[0])}
	for _, r := range x {
		b.X = append(b.X, r...)
	}
	return b
}

// TestSVMByHand: problems whose solution a pencil finds.
func TestSVMByHand(t *testing.T) {
	type result struct{ bias, dual, norm2 float64 }
	for _, c := range []struct {
		name string
		x    [][]float64
		y    []float64
		p    smo.Problem
		want result
		beta []float64
	}{
		// w = 2 z/|z|^2, z = (4,0); f = (x-1)/2 . alpha = 1/8 each
		{"two points", [][]float64{{3, 0}, {-1, 0}}, []float64{1, -1}, problem(1, 0, true),
			result{-0.5, 0.125, 0.25}, []float64{0.125, -0.125}},
		// 3w >= 1, w >= 1: the second binds
		{"two points, no bias", [][]float64{{3, 0}, {-1, 0}}, []float64{1, -1}, problem(1, 0,
			false), result{0, 0.5, 1}, []float64{0, -1}},
		// max 2a - 16a^2/2, a <= 1/16: w = 4/16; b between 1 - 3/4 and -1 + 1/4
		{"two points, C", [][]float64{{3, 0}, {-1, 0}}, []float64{1, -1}, problem(1, 1./16, true),
			result{-0.25, 2./16 - 8./256, 1. / 16}, []float64{1. / 16, -1. / 16}},
		// max 2a - (16 + 2/C)a^2/2: a = 1/9 for C = 1; b = -1/C a y + ... by symmetry the middle, x
		// = 1: -4/9
		{"two points, 2-norm", [][]float64{{3, 0}, {-1, 0}}, []float64{1, -1}, problem(2, 1, true),
			result{-4. / 9, 1. / 9, 16. / 81}, []float64{1. / 9, -1. / 9}},
		// the pair of the classes nearest each other decides: (2,0) and (0,0); the third, at (5,1),
		// has margin to spare
		{"three points", [][]float64{{2, 0}, {0, 0}, {5, 1}}, []float64{1, -1, 1}, problem(1, 0,
			true), result{-1, 0.5, 1}, []float64{0.5, -0.5, 0}},
		// one label only: w = 0, b = y loses nothing
		{"one label", [][]float64{{2, 0}, {1, 7}}, []float64{-1, -1}, problem(1, 1, true),
			result{-1, 0, 0}, []float64{0, 0}},
		// x, y duplicates with opposite labels: w = 0, both lose 1
		{"opposites", [][]float64{{1, 1}, {1, 1}}, []float64{1, -1}, problem(1, 2, true), result{0,
			4, 0}, []float64{2, -2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const gap = 1e-12
			for i, s := range svmSolvers(c.x, plainDot, c.y, c.p) {
				if i == 2 && c.p.Bias {
					break
				}
				v, _, beta, err := s.solve(gap, 1e6)
				// the objective is 1/2 |w|^2 and what is convex: w is off by the root of twice the
				// gap
				off := 1e-9
				if i > 0 {
					off = math.Sqrt(2 * gap * max(1, c.want.dual))
					off *= 2*math.Sqrt(c.want.norm2) + off // of |w|^2
				}
				if err != nil || !v.Converged || !(math.Abs(v.Dual-c.want.dual) <= 1e-9) ||
					!(math.Abs(v.Norm2-c.want.norm2) <= off) {
					t.Errorf("%s: %+v, %v, want %+v", s.name, v, err, c.want)
				}
				if i == 0 && !(math.Abs(v.Bias-c.want.bias) <= 1e-9 &&
					approx.AllEqual(beta, c.beta, 1e-9)) {
					t.Errorf("bias %v, beta %v, want %v, %v", v.Bias, beta, c.want.bias, c.beta)
				}
			}
		})
	}
}

// svmSolver solves a problem and returns y alpha, too.
type svmSolver struct {
	name  string
	solve func(gap float64, limit int64) (v smo.Value, steps int64, beta []float64, err error)
}

// svmSolvers returns all solvers of a problem on these examples; only the first takes a kernel that
// is not the inner product.
func svmSolvers(x [][]float64, kernel func(a, b []float64) float64, y []float64,
	p smo.Problem) []svmSolver {
	ctx := context.Background()
	return []svmSolver{
		{"pairs", func(gap float64, limit int64) (smo.Value, int64, []float64, error) {
			s := smo.NewPairSolver[float64](gramOf[float64](x, kernel), y, p)
			v, steps, err := s.Solve(ctx, gap, limit)
			return v, steps, s.Beta, err
		}},
		{"newton", func(gap float64, limit int64) (smo.Value, int64, []float64, error) {
			s := smo.NewNewtonSolver(denseBlock(x, y), p, nil)
			v, steps, err := s.Solve(ctx, gap, min(limit, 1e6))
			return v, steps, signed(s.Alpha, y), err
		}},
		{"coordinate descent", func(gap float64, limit int64) (smo.Value, int64, []float64, error) {
			s := smo.NewCoordinateSolver(denseBlock(x, y), p, 7)
			v, steps, err := s.Solve(ctx, gap, limit)
			return v, steps, signed(s.Alpha, y), err
		}},
	}
}

// TestSVMNotSeparable: a hard margin that does not exist is an error, soon.
func TestSVMNotSeparable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	overlap := func(n, dim int) (x [][]float64, y []float64) {
		for i := range n {
			r := make([]float64, dim)
			for j := range r {
				r[j] = rng.NormFloat64()
			}
			x, y = append(x, r), append(y, float64(i%2*2-1))
		}
		return x, y
	}
	many, ys := overlap(300, 3)
	for _, c := range []struct {
		name string
		x    [][]float64
		y    []float64
		bias bool
	}{
		{"duplicates", [][]float64{{1, 1}, {1, 1}, {2, 0}}, []float64{1, -1, 1}, true},
		{"xor", [][]float64{{0, 0}, {1, 1}, {0, 1}, {1, 0}}, []float64{1, 1, -1, -1}, true},
		{"a zero, no bias", [][]float64{{0, 0}, {1, 1}}, []float64{1, -1}, false},
		{"opposite rays, no bias", [][]float64{{1, 2}, {2, 4}}, []float64{1, -1}, false},
		{"no features", [][]float64{{0, 0}, {0, 0}}, []float64{1, -1}, true},
		{"no features, no bias", [][]float64{{0, 0}, {0, 0}}, []float64{1, -1}, false},
		{"a cloud", many, ys, true},
		{"a cloud, no bias", many, ys, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range svmSolvers(c.x, plainDot, c.y, problem(1, 0, c.bias)) {
				_, steps, _, err := s.solve(1e-6, 1e7)
				if !errors.Is(err, learner.ErrNotSeparable) || s.name == "newton" && steps > 1000 {
					t.Errorf("%s, %d steps: %v", s.name, steps, err)
				}
				t.Logf("%s, %d steps: %v", s.name, steps, err)
			}
		})
	}
}

// newTestSVM returns an SVM of checked settings.
func newTestSVM[T learner.Float](t testing.TB, c SVMConfig) *svm[T] {
	t.Helper()
	l, err := newSVM[T](c, learner.Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return l.(*svm[T])
}

// TestSVMFitNotSeparable: the error of Fit is one that says so, and the state stays.
func TestSVMFitNotSeparable(t *testing.T) {
	s := newTestSVM[float64](t, SVMConfig{Norm: 1, Gap: 1e-6,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}})
	good := denseBlock([][]float64{{3, 0}, {-1, 0}}, []float64{1, -1})
	if _, err := s.Fit(context.Background(), good, learner.FitOptions{}); err != nil {
		t.Fatal(err)
	}
	before := stateBytes(t, s.State())
	xor := denseBlock([][]float64{{0, 0}, {1, 1}, {0, 1}, {1, 0}}, []float64{1, 1, -1, -1})
	if _, err := s.Fit(context.Background(), xor, learner.FitOptions{}); !errors.Is(err,
		learner.ErrNotSeparable) || !errors.Is(err, learner.ErrFit) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Fit(context.Background(), xor, learner.FitOptions{MaxUpdates: 100}); !errors.Is(
		err, learner.ErrNotSeparable) {
		t.Errorf("within 100 steps: %v", err)
	}
	if stateBytes(t, s.State()) != before {
		t.Error("a failed Fit changed the state")
	}
}

// TestSVMLimit: a run that meets its limit says what is left.
func TestSVMLimit(t *testing.T) {
	for i := range 4 {
		b, noBias := randomBlock[float64](200, []int{10, smo.MostNewtonDim + 1}[i/2], 5, false, 3),
			i%2 > 0
		s := newTestSVM[float64](t, SVMConfig{C: 100, Norm: 1, NoBias: noBias, Gap: 1e-9,
			KernelConfig: learner.KernelConfig{Kernel: "linear"}})
		r, err := s.Fit(context.Background(), b, learner.FitOptions{MaxUpdates: 5})
		if err != nil || r.Converged || s.Solution().Converged || !(s.Solution().Gap > 1e-9) ||
			r.Updates > 200 {
			t.Errorf("%d features, no bias %v: %+v, %+v, %v", b.Dim, noBias, r, s.Solution(), err)
		}
	}
}

// TestSVMObserve: the observer sees the run come nearer, and changes no bit of it.
func TestSVMObserve(t *testing.T) {
	for i := range 4 {
		b, noBias := randomBlock[float64](300, []int{12, smo.MostNewtonDim + 1}[i/2], 6, false, 3),
			i%2 > 0
		c := SVMConfig{C: 10, Norm: 1, NoBias: noBias, Gap: 1e-8,
			KernelConfig: learner.KernelConfig{Kernel: "linear"}}
		quiet, seen := newTestSVM[float64](t, c), newTestSVM[float64](t, c)
		var all []learner.FitStatus
		r, err := seen.Fit(context.Background(), b, learner.FitOptions{Observe: func(
			s learner.FitStatus) {
			all = append(all, s)
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := quiet.Fit(context.Background(), b, learner.FitOptions{}); err != nil {
			t.Fatal(err)
		}
		if stateBytes(t, quiet.State()) != stateBytes(t, seen.State()) {
			t.Errorf("no bias %v: the observer changed the state", noBias)
		}
		if len(all) < 2 || !(all[0].Violators > 0) || !(all[0].Margin > 0) ||
			all[len(all)-1].Updates <= all[0].Updates || r.Violators != 0 {
			t.Errorf("no bias %v: saw %+v, result %+v", noBias, all, r)
		}
	}
}

// TestSVMOptimal: on random data, of which many points coincide, the conditions of Karush, Kuhn and
// Tucker hold and the objectives meet, all computed from beta by the plain formulas.
func TestSVMOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, dim := rapid.IntRange(2, 40).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "dim")
		x, y := make([][]float64, n), make([]float64, n)
		for i := range x {
			x[i] = make([]float64, dim)
			for j := range x[i] {
				x[i][j] = float64(rapid.IntRange(-8, 8).Draw(t, "x")) / 4
			}
			y[i] = float64(2*rapid.IntRange(0, 1).Draw(t, "y") - 1)
		}
		p := problem(rapid.IntRange(1, 2).Draw(t, "norm"), rapid.SampledFrom([]float64{0.01, 1,
			30}).Draw(t, "C"), rapid.Bool().Draw(t, "bias"))
		k := rapid.SampledFrom([]string{"linear", "rbf", "poly"}).Draw(t, "kernel")
		kernel := map[string]func(a, b []float64) float64{"linear": plainDot, "rbf": rbf(0.7),
			"poly": poly(0.5, 1, 2)}[k]
		g := gramOf[float64](x, kernel)
		for i, s := range svmSolvers(x, kernel, y, p) {
			if i == 1 && k != "linear" || i == 2 && p.Bias {
				break
			}
			v, _, beta, err := s.solve(1e-9, 1e7)
			if err != nil || !v.Converged {
				t.Fatalf("%s: %+v, %v", s.name, v, err)
			}
			optimal(t, g, y, p, beta, v.Bias, v.Primal)
		}
	})
}

// TestSVMSolversAgree: on sparse data coordinate descent and Newton steps bound the same optimum.
func TestSVMSolversAgree(t *testing.T) {
	const gap = 1e-6
	b := randomBlock[float32](400, 300, 8, false, 5)
	for _, norm := range []int{1, 2} {
		for _, c := range []float64{0.01, 1, 10} {
			for _, bias := range []bool{false, true} {
				p := problem(norm, c, bias)
				n, _, err := smo.NewNewtonSolver(b, p, nil).Solve(t.Context(), gap, 1000)
				if err != nil || !n.Converged {
					t.Fatalf("newton: %+v, %v", n, err)
				}
				d, steps, err := smo.NewCoordinateSolver(b, p, 7).Solve(t.Context(), gap, 1e7)
				if err != nil || !d.Converged {
					t.Fatalf("coordinate descent: %+v, %v", d, err)
				}
				if d.Dual > n.Primal || n.Dual > d.Primal {
					t.Errorf("norm %d, C %v, bias %v: newton %v to %v, coordinate descent %v to %v",
						norm, c, bias, n.Dual, n.Primal, d.Dual, d.Primal)
				}
				t.Logf("norm %d, C %v, bias %v: %d steps", norm, c, bias, steps)
			}
		}
	}
}

// signed returns y_i alpha_i.
func signed(alpha, y []float64) []float64 {
	beta := make([]float64, len(y))
	for i, a := range alpha {
		beta[i] = a * y[i]
	}
	return beta
}

func optimal(t *rapid.T, g *gram[float64], y []float64, p smo.Problem, beta []float64, bias,
	objective float64) {
	t.Helper()
	// of margins: a gap of 1e-9 leaves w within its root, times lengths of up to 10 and C = 30
	const tol = 2e-3
	var sum, sumAlpha, ext, norm2, loss float64
	for i, b := range beta {
		alpha := b * y[i]
		if alpha < 0 || alpha > p.Upper {
			t.Errorf("alpha %d is %v, want 0..%v", i, alpha, p.Upper)
		}
		var f float64
		for j, c := range beta {
			f += c * g.k[i*g.n+j]
		}
		sum += b
		sumAlpha += alpha
		norm2 += b * f
		ext += b*f + p.Ridge*b*b
		margin := y[i] * (f + bias)
		if xi := max(0, 1-margin); p.Ridge > 0 {
			loss += xi * xi
		} else {
			loss += xi
		}
		slack := p.Ridge * alpha // 2-norm: alpha = C xi
		// what an alpha short of its bound costs is part of the gap
		atUpper := alpha >= p.Upper || (p.Upper-alpha)*max(0, 1-margin) <= 1e-9*objective
		switch {
		case alpha <= 0 && margin < 1-tol, alpha >= p.Upper && margin > 1+tol,
			alpha > 0 && !atUpper && math.Abs(margin+slack-1) > tol:
			t.Errorf("example %d: alpha %v, y f %v, slack %v", i, alpha, margin, slack)
		}
	}
	if p.Bias && !(math.Abs(sum) <= 1e-9*(1+sumAlpha)) {
		t.Errorf("sum of alpha y is %v", sum)
	}
	dual, primal := sumAlpha-ext/2, norm2/2+p.Upper*loss
	if p.Ridge > 0 {
		dual, primal = sumAlpha*sumAlpha/ext/2, norm2/2+loss/p.Ridge/2
	}
	if loss == 0 {
		primal = norm2 / 2
	}
	if sumAlpha == 0 {
		dual = 0
	}
	if !(primal-dual <= 2e-9*primal+1e-12) || !(math.Abs(primal-objective) <= 1e-9*(1+primal)) {
		t.Errorf("primal %v, said to be %v, dual %v", primal, objective, dual)
	}
}

// TestSVMMemory: the memory for kernel values changes no bit.
func TestSVMMemory(t *testing.T) {
	b := randomBlock[float64](300, 30, 6, false, 9)
	var want string
	for i, bytes := range []int64{0, 1, 10 * 300 * 8, -1} {
		s := newTestSVM[float64](t, SVMConfig{C: 3, Norm: 1, Gap: 1e-6,
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Gamma: 0.2}})
		if _, err := s.Fit(context.Background(), b,
			learner.FitOptions{GramBytes: bytes}); err != nil {
			t.Fatal(err)
		}
		if got := stateBytes(t, s.State()); i == 0 {
			want = got
		} else if got != want {
			t.Errorf("with %d bytes the state differs", bytes)
		}
	}
}

// TestSVMOverflow: numbers that can't be squared end in an error, not in an endless run.
func TestSVMOverflow(t *testing.T) {
	b := denseBlock([][]float64{{3e200, 0}, {-1e200, 1}, {1, 1}}, []float64{1, -1, 1})
	for _, c := range []SVMConfig{
		{C: 1, Norm: 1, Gap: 1e-6},
		{C: 1, Norm: 1, NoBias: true, Gap: 1e-6},
		{C: 1, Norm: 2, Gap: 1e-6, KernelConfig: learner.KernelConfig{Kernel: "poly", Gamma: 1,
			Degree: 2}},
	} {
		if _, err := newTestSVM[float64](t, c).Fit(context.Background(), b,
			learner.FitOptions{}); !errors.Is(err, learner.ErrLength) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestSVMBits pins the state that fixed examples lead to, so that every architecture is compared
// with the same bits. The examples are multiples of 1/64 by integer arithmetic alone.
func TestSVMBits(t *testing.T) {
	const n, dim = 120, 17
	b := &engine.Block[float64]{Dim: dim, Stride: dim}
	state := uint64(1)
	for range n {
		sum := 0
		for j := range dim {
			state = state*6364136223846793005 + 1442695040888963407
			v := int(state>>33%129) - 64
			sum += v * (j%5 - 2)
			b.X = append(b.X, float64(v)/64)
		}
		y := 1.0
		if sum < 0 || state>>40%10 == 0 {
			y = -1
		}
		b.Y = append(b.Y, y)
	}
	for _, c := range []struct {
		c    SVMConfig
		want string
	}{
		{SVMConfig{C: 1, Norm: 1, Gap: 1e-6, KernelConfig: learner.KernelConfig{Kernel: "linear"}},
			"a61c469e11f7"},
		{SVMConfig{C: 1, Norm: 2, NoBias: true, Gap: 1e-6,
			KernelConfig: learner.KernelConfig{Kernel: "linear"}}, "5d2cf0f2b5b9"},
		{SVMConfig{C: 1, Norm: 1, Gap: 1e-6, KernelConfig: learner.KernelConfig{Kernel: "rbf",
			Gamma: 0.25}}, "2e2dfb916c64"},
		{SVMConfig{C: 1, Norm: 2, NoBias: true, Gap: 1e-6,
			KernelConfig: learner.KernelConfig{Kernel: "poly", Gamma: 0.5, Coef0: 1, Degree: 3}},
			"323bd1137db7"},
	} {
		s := newTestSVM[float64](t, c.c)
		if _, err := s.Fit(context.Background(), b, learner.FitOptions{}); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(fmt.Sprintf("%x ", math.Float64bits(s.Bias())) + stateBytes(t,
			s.State())))
		if got := hex.EncodeToString(sum[:6]); got != c.want {
			t.Errorf("%+v: %s, want %s", c.c, got, c.want)
		}
	}
}

// TestSVMWeights: an example of weight 2 is the example twice, one of weight 0 none, and half the
// weights are half of C; by every solver.
func TestSVMWeights(t *testing.T) {
	for name, c := range map[string]SVMConfig{
		"linear":          {C: 0.3, Norm: 1},
		"without a bias":  {C: 0.3, Norm: 1, NoBias: true},
		"squared":         {C: 0.3, Norm: 2},
		"squared, alone":  {C: 0.3, Norm: 2, NoBias: true},
		"rbf":             {C: 2, Norm: 1, KernelConfig: rbf02},
		"squared rbf":     {C: 2, Norm: 2, KernelConfig: rbf02},
		"rbf, no bias":    {C: 2, Norm: 1, NoBias: true, KernelConfig: rbf02},
		"wide":            {C: 0.3, Norm: 1},
		"wide and alone":  {C: 0.3, Norm: 1, NoBias: true},
		"wide, squared":   {C: 0.3, Norm: 2},
		"sparse":          {C: 0.3, Norm: 1},
		"sparse, squared": {C: 0.3, Norm: 2},
	} {
		const gap = 1e-9
		if c.Gap = gap; c.Kernel == "" {
			c.Kernel = "linear"
		}
		dim := 6
		if strings.Contains(name, "wide") {
			dim = smo.MostNewtonDim + 1
		}
		weighted, twice := pricedExamples(dim, strings.Contains(name, "sparse"))
		solve := func(c SVMConfig, b *engine.Block[float64]) *svm[float64] {
			s := newTestSVM[float64](t, c)
			r, err := s.Fit(context.Background(), b, learner.FitOptions{})
			if err != nil || !r.Converged {
				t.Fatalf("%s: %+v, %v", name, r, err)
			}
			return s
		}
		got, want := solve(c, weighted), solve(c, twice)
		halved, double := *weighted, c
		double.C *= 2
		halved.W = make([]float64, weighted.Len())
		for i, v := range weighted.W {
			halved.W[i] = v / 2
		}
		half := solve(double, &halved)
		for _, s := range []*svm[float64]{got, half} {
			a, b := s.Solution(), want.Solution()
			if !(math.Abs(a.Objective-b.Objective) <= 2*gap*b.Objective) ||
				!(math.Abs(a.Primal-b.Primal) <= 2*gap*b.Objective) {
				t.Errorf("%s: objective %v to %v, of the examples repeated %v to %v", name,
					a.Objective, a.Primal, b.Objective, b.Primal)
			}
			f, g := make([]float64, 60), make([]float64, 60)
			if err := errors.Join(s.Score(weighted, f), want.Score(weighted, g)); err != nil {
				t.Fatal(err)
			}
			// |w - w'| is at most the root of twice the gaps, and examples are of length 6 at most
			off := 6 * 2 * math.Sqrt(2*2*gap*b.Objective)
			for i := range f {
				if !(math.Abs(f[i]-g[i]) <= off+math.Abs(a.Bias-b.Bias)) ||
					!(math.Abs(a.Bias-b.Bias) <= 100*off) {
					t.Fatalf("%s: example %d scores %v, with it repeated %v", name, i, f[i], g[i])
				}
			}
		}
		// those on the wrong side of the margin are at their own bounds
		if s := got.Solution(); c.Norm == 1 && s.Bounded == 0 || s.Bounded > s.SupportVectors ||
			s.SupportVectors > 45 {
			t.Errorf("%s: %+v", name, s)
		}
		clear(weighted.W)
		s := newTestSVM[float64](t, c)
		if _, err := s.Fit(context.Background(), weighted, learner.FitOptions{}); !errors.Is(err,
			learner.ErrFit) {
			t.Errorf("%s, all of weight 0: %v", name, err)
		}
	}
	hard := newTestSVM[float64](t, SVMConfig{Norm: 1, Gap: 1e-6,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}})
	b := denseBlock([][]float64{{1}, {-1}}, []float64{1, -1})
	b.W = []float64{1, 2}
	if _, err := hard.Fit(context.Background(), b, learner.FitOptions{}); !errors.Is(err,
		learner.ErrWeights) {
		t.Errorf("a hard margin: %v", err)
	}
}

// sparsely returns the same examples, by their non-zeros.
func sparsely(b *engine.Block[float64]) *engine.Block[float64] {
	s := &engine.Block[float64]{Y: b.Y, Dim: b.Dim, Ptr: []int{0}}
	for i := range b.Len() {
		for j, v := range b.Row(i)[:b.Dim] {
			if v != 0 {
				s.Idx, s.Val = append(s.Idx, int32(j)), append(s.Val, v)
			}
		}
		s.Ptr = append(s.Ptr, len(s.Idx))
	}
	return s
}

func TestSVMConfig(t *testing.T) {
	good := SVMConfig{C: 1, Norm: 1, Gap: 1e-6,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}}
	for name, change := range map[string]func(c *SVMConfig){
		"norm 0":         func(c *SVMConfig) { c.Norm = 0 },
		"norm 3":         func(c *SVMConfig) { c.Norm = 3 },
		"gap 0":          func(c *SVMConfig) { c.Gap = 0 },
		"gap 1":          func(c *SVMConfig) { c.Gap = 1 },
		"rbf, no gamma":  func(c *SVMConfig) { c.Kernel = "rbf" },
		"poly, degree 0": func(c *SVMConfig) { c.Kernel, c.Gamma = "poly", 1 },
	} {
		c := good
		change(&c)
		if err := c.Validate(); !errors.Is(err, learner.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := newTestSVM[float64](t, good)
	b := denseBlock([][]float64{{3, 0}, {-1, 0}}, []float64{1, -1})
	if _, err := s.Fit(context.Background(), b, learner.FitOptions{Delta: 1}); !errors.Is(err,
		learner.ErrConfig) {
		t.Errorf("Delta: %v", err)
	}
}
