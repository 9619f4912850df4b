package learners_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// pummaLearner is what these tests ask of PUMMA.
type pummaLearner[T learner.Float] interface {
	learner.Fitter[T]
	learner.Biased
	Bound() float64
}

func newPUMMA[T learner.Float](t testing.TB, p any, delta, c float64) pummaLearner[T] {
	t.Helper()
	return newLearner[T](t, "pumma", &learners.PUMMAConfig{P: fmt.Sprint(p), Delta: delta,
		SoftC: c}).(pummaLearner[T])
}

type goldenPUMMA struct {
	P, C, Delta float64
	X           [][]float64
	Y           []float64 `json:"y"`
	Trace       []struct {
		Update   int64
		Pos, Neg int
		W, Xi    []float64
		B        float64
	}
	Updates  int64
	Epochs   int64
	FinalW   []float64 `json:"final_w"`
	FinalB   float64   `json:"final_b"`
	FinalXi  []float64 `json:"final_xi"`
	Margin   float64   `json:"final_margin"`
	MaxW     []float64 `json:"max_margin_w"`
	Max      float64   `json:"max_margin"`
	AugMax   float64   `json:"max_augmented_margin"`
	Aug      float64   `json:"augmented_margin"`
	Goal     float64   `json:"objective"`
	Stricter struct {
		Delta   float64
		Updates int64
		Epochs  int64
		FinalW  []float64 `json:"final_w"`
		FinalB  float64   `json:"final_b"`
		Margin  float64   `json:"final_margin"`
	} `json:"delta01"`
}

// The traces count updates from the first hypothesis, after the two examples that it is made of.
const pummaFirst = 2

func TestGoldenPUMMA(t *testing.T) {
	for _, name := range []string{"pumma_p2", "pumma_p2lnn"} {
		var g goldenPUMMA
		readGolden(t, "margin/"+name+".json", &g)
		for _, form := range forms {
			t.Run(name+"/"+form, func(t *testing.T) {
				b := block[float64](form, g.X, g.Y)
				l := newPUMMA[float64](t, g.P, g.Delta, 0)
				traced, epochs := 0, int64(0)
				for last := int64(-1); last != l.Updates(); epochs++ {
					last = l.Updates()
					for k := range g.X {
						if one(t, learner.Learner[float64](l), b, k).Updates == 0 ||
							l.Updates() < pummaFirst || traced == len(g.Trace) {
							continue
						}
						want := g.Trace[traced]
						if l.Updates()-pummaFirst != want.Update || k != want.Pos && k != want.Neg {
							t.Fatalf("update %d by example %d, want %+v", l.Updates()-pummaFirst, k,
								want)
						}
						approx.AllNear(t, fmt.Sprintf("update %d: w", want.Update), l.Weights(), want.W,
							goldenTol64)
						approx.Near(t, fmt.Sprintf("update %d: b", want.Update), l.Bias(), want.B,
							goldenTol64)
						traced++
					}
				}
				if traced != len(g.Trace) || l.Updates()-pummaFirst != g.Updates ||
					epochs != g.Epochs {
					t.Fatalf("%d updates in %d epochs, %d compared; want %d in %d, %d",
						l.Updates()-pummaFirst, epochs, traced, g.Updates, g.Epochs, len(g.Trace))
				}
				approx.AllNear(t, "w", l.Weights(), g.FinalW, goldenTol64)
				approx.Near(t, "b", l.Bias(), g.FinalB, goldenTol64)
				approx.Near(t, "margin", marginOf(l, g.X, g.Y, g.P), g.Margin, goldenTol64)
				if l.Bound() < g.Max {
					t.Errorf("the margin's bound is %v, the maximal margin %v", l.Bound(), g.Max)
				}

				l = newPUMMA[float64](t, g.P, g.Stricter.Delta, 0)
				r, err := l.Fit(t.Context(), b, learner.FitOptions{})
				if err != nil || !r.Converged || r.Updates-pummaFirst != g.Stricter.Updates ||
					r.Epochs != g.Stricter.Epochs {
					t.Fatalf("delta %v: %+v, %v; want %d updates, %d epochs", g.Stricter.Delta, r,
						err, g.Stricter.Updates, g.Stricter.Epochs)
				}
				approx.AllNear(t, "w", l.Weights(), g.Stricter.FinalW, goldenTol64)
				approx.Near(t, "b", l.Bias(), g.Stricter.FinalB, goldenTol64)
				approx.Near(t, "margin", r.Margin, g.Stricter.Margin, goldenTol64)
			})
		}
	}
}

// marginOf returns the margin of l in the p-norm.
func marginOf(l pummaLearner[float64], X [][]float64, y []float64, p float64) float64 {
	w, least := l.Weights(), math.Inf(1)
	for i, x := range X {
		least = min(least, y[i]*(inner(w, x)+l.Bias()))
	}
	return least / pnorm(w, p/(p-1))
}

// TestGoldenPUMMASoft runs problem (24) update by update.
func TestGoldenPUMMASoft(t *testing.T) {
	for _, name := range []string{"pumma_soft_p2", "pumma_soft_p2lnn"} {
		var g goldenPUMMA
		readGolden(t, "margin/"+name+".json", &g)
		for _, form := range forms {
			t.Run(name+"/"+form, func(t *testing.T) {
				b := block[float64](form, g.X, g.Y)
				for _, want := range g.Trace {
					l := newPUMMA[float64](t, g.P, g.Delta, g.C)
					if r, err := l.Fit(t.Context(), b, learner.FitOptions{MaxUpdates: want.Update +
						pummaFirst}); err != nil || r.Converged {
						t.Fatal(r, err)
					}
					approx.AllNear(t, fmt.Sprintf("update %d: w", want.Update), l.Weights(), want.W,
						goldenTol64)
					approx.Near(t, fmt.Sprintf("update %d: b", want.Update), l.Bias(), want.B, goldenTol64)
					s := l.State().Scalars
					v := g.C * l.Bound() * l.Bound()
					approx.Near(t, fmt.Sprintf("update %d: xi of xpos", want.Update), s["m_pos"]/v,
						want.Xi[want.Pos], goldenTol64)
					approx.Near(t, fmt.Sprintf("update %d: xi of xneg", want.Update), s["m_neg"]/v,
						want.Xi[want.Neg], goldenTol64)
					approx.Near(t, fmt.Sprintf("update %d: |xi|^2", want.Update), s["m2"]/(v*v),
						inner(want.Xi, want.Xi), goldenTol64)
				}
				l := newPUMMA[float64](t, g.P, g.Delta, g.C)
				r, err := l.Fit(t.Context(), b, learner.FitOptions{})
				if err != nil || !r.Converged || r.Violators != 0 ||
					r.Updates-pummaFirst != g.Updates || r.Epochs != g.Epochs {
					t.Fatalf("%+v, %v; want %d updates, %d epochs", r, err, g.Updates, g.Epochs)
				}
				approx.AllNear(t, "w", l.Weights(), g.FinalW, goldenTol64)
				approx.Near(t, "b", l.Bias(), g.FinalB, goldenTol64)
				approx.Near(t, "margin", r.Margin, g.Aug, goldenTol64)
				approx.Near(t, "objective", 0.5/(l.Bound()*l.Bound()), g.Goal, goldenTol64)
				if r.Margin < (1-g.Delta)*g.AugMax || l.Bound() < g.AugMax {
					t.Errorf("margin %v, bound %v, the maximum is %v", r.Margin, l.Bound(),
						g.AugMax)
				}
			})
		}
	}
}

// f is grad |w|_q^2 / 2; with p in place of q its inverse.
func f(w []float64, q float64) []float64 {
	out, n := make([]float64, len(w)), pnorm(w, q)
	for i, v := range w {
		if v != 0 {
			out[i] = math.Copysign(n*math.Pow(math.Abs(v)/n, q-1), v)
		}
	}
	return out
}

// kkt is how well a step solves problem (3).
type kkt struct {
	alpha, beta float64
	// residual of primal and dual feasibility, stationarity and complementarity, relative
	worst float64
}

// optimality takes w, theta and the examples from the states around a step on a label y, and looks
// whether they satisfy (7)-(14).
func optimality(t testing.TB, before, after learner.State, y, p float64) kkt {
	t.Helper()
	vec := func(s *learner.State, name string) []float64 { return s.Tensor(name).Data.([]float64) }
	q := p / (p - 1)
	u, un := vec(&before, "u"), vec(&after, "u")
	pos, neg := vec(&after, "pos"), vec(&after, "neg")
	z := make([]float64, len(un))
	for i := range z {
		z[i] = pos[i] - neg[i]
	}
	unit := func(u []float64) (theta []float64, V float64) { // theta = u/|u|^2, V = |theta|^2
		V = 1 / math.Pow(pnorm(u, p), 2)
		for _, v := range u {
			theta = append(theta, v*V)
		}
		return theta, V
	}
	theta, V := unit(u)
	next, Vn := unit(un)
	w := f(next, p)
	nz, nt, nw := pnorm(z, p), pnorm(theta, p), pnorm(w, q)

	var k kkt
	note := func(residual float64) { k.worst = max(k.worst, residual) }
	note(math.Abs(Vn-nw*nw) / (nw * nw)) // |w|_q = |f(w)|_p
	// Stationarity: f(w) = alpha z + beta theta, by least squares in units of |z| and |theta|.
	var zz, tt, zt, az, at float64
	for i, v := range next {
		a, b := z[i]/nz, theta[i]/nt
		zz, tt, zt, az, at = zz+a*a, tt+b*b, zt+a*b, az+v*a, at+v*b
	}
	D := zz*tt - zt*zt
	a, b := (az*tt-at*zt)/D, (at*zz-az*zt)/D
	k.alpha, k.beta = a/nz, b/nt
	var off float64
	for i, v := range next {
		off = max(off, math.Abs(v-k.alpha*z[i]-k.beta*theta[i]))
	}
	note(off / pnorm(next, p))
	note(max(0, -k.alpha*nz, -k.beta*nt) / pnorm(next, p)) // multipliers >= 0
	// Feasibility, in units in which a rounding error counts as one: |w||z| and |w||theta| are the
	// largest that products can be.
	wz, wt := inner(w, z), inner(w, theta)
	note(math.Abs(wz-2) / max(2, nw*nz))
	note(max(0, V-wt) / max(V, nw*nt))
	note(math.Abs(k.beta*(wt-V)) / Vn) // complementarity, of |w|^2
	return k
}

// TestPUMMAOptimal: every step on random data is the solution of (3), and the bias puts both
// examples at margin 1.
func TestPUMMAOptimal(t *testing.T) {
	const dim = 12
	for _, p := range []float64{2, 2.5, 4, 2 * math.Log(dim), 30} {
		worst, steps, first := 0.0, 0, 0
		for seed := range uint64(6) {
			for _, kind := range []string{"dense", "bits", "shifted"} {
				X, y := randomProblem(kind, seed, 150, dim)
				b := block[float64]("dense", X, y)
				l := newPUMMA[float64](t, p, 0.01, 0)
				before := l.State()
				for range 4 {
					for i := range X {
						if one(t, learner.Learner[float64](l), b, i).Updates == 0 {
							continue
						}
						after := l.State()
						if before.Counters["kept"] == 3 {
							k := optimality(t, before, after, y[i], p)
							worst = max(worst, k.worst)
							steps++
							if !(k.worst < 1e-9) {
								t.Fatalf("p=%v %s, seed %d, update %d: residual %v (%+v)", p, kind,
									seed, l.Updates(), k.worst, k)
							}
							if k.beta < 1e-9 {
								first++
							}
						}
						if after.Counters["kept"] == 3 {
							w := l.Weights()
							for name, want := range map[string]float64{"pos": 1, "neg": -1} {
								x := after.Tensor(name).Data.([]float64)
								if got := inner(w, x) + l.Bias(); math.Abs(got-want) > 1e-9 {
									t.Fatalf("p=%v: x%s scores %v", p, name, got)
								}
							}
						}
						before = after
					}
				}
			}
		}
		t.Logf("p = %.4g: worst residual %.2g of %d steps, %d of case (i)", p, worst, steps, first)
		if steps < 300 {
			t.Fatalf("p=%v: only %d steps", p, steps)
		}
	}
}

// randomProblem makes separable examples: Gaussian, of -1 and +1, or far from 0 on one side.
func randomProblem(kind string, seed uint64, n, dim int) (X [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, uint64(dim)))
	u := make([]float64, dim)
	for j := range u {
		u[j] = rng.NormFloat64()
		if kind == "bits" {
			u[j] = float64(rng.IntN(3) - 1)
		}
	}
	for len(X) < n {
		x := make([]float64, dim)
		for j := range x {
			switch x[j] = rng.NormFloat64(); kind {
			case "bits":
				x[j] = float64(1 - 2*rng.IntN(2))
			case "shifted":
				x[j] += 3
			}
		}
		s := inner(u, x)
		if kind == "shifted" {
			for _, v := range u {
				s -= 3 * v
			}
		}
		if math.Abs(s) < 0.3 {
			continue
		}
		X, y = append(X, x), append(y, math.Copysign(1, s))
	}
	return X, y
}

// TestPUMMAMargin: the updates end within the bound of Theorem 3, with a margin of at least
// (1-delta) times the maximal one, which lies between that of a hyperplane known to separate and
// Bound.
func TestPUMMAMargin(t *testing.T) {
	const closest = 2e-3
	for _, p := range []float64{2, 2.5, 4, 2 * math.Log(30), 30} {
		for _, delta := range []float64{0.5, 0.1, 0.01} {
			X, y := randomProblem("shifted", 3, 200, 5)
			b := block[float64]("sparse", X, y)
			R := 0.0
			for _, x := range X {
				R = max(R, pnorm(x, p))
			}
			best := newPUMMA[float64](t, p, closest, 0)
			if r, err := best.Fit(t.Context(), b, learner.FitOptions{}); err != nil ||
				!r.Converged {
				t.Fatal(r, err)
			}
			top := marginOf(best, X, y, p)
			if best.Bound() < top || best.Bound() > top/(1-closest)*(1+1e-9) {
				t.Fatalf("p=%v: margin %v at delta %v, but the bound is %v", p, top, closest,
					best.Bound())
			}
			l := newPUMMA[float64](t, p, delta, 0)
			r, err := l.Fit(t.Context(), b, learner.FitOptions{})
			if err != nil || !r.Converged || r.Violators != 0 {
				t.Fatal(r, err)
			}
			margin := marginOf(l, X, y, p)
			approx.Near(t, "FitResult.Margin", r.Margin, margin, 1e-9)
			if margin < (1-delta)*top || l.Bound() < top {
				t.Errorf("p=%v delta=%v: margin %v, bound %v, the best is %v", p, delta, margin,
					l.Bound(), top)
			}
			if limit := 4 * (p - 1) * math.Pow(R/(delta*top),
				2); float64(r.Updates) > limit+pummaFirst {
				t.Errorf("p=%v delta=%v: %d updates, the bound is %v", p, delta, r.Updates, limit)
			}
		}
	}
}

// TestPUMMAInseparable: contradictions neither stop nor break it, and with slacks they are learned.
func TestPUMMAInseparable(t *testing.T) {
	X := [][]float64{{0}, {2}, {1}, {1}, {-3}}
	y := []float64{-1, 1, 1, -1, 1}
	b := block[float64]("dense", X, y)
	for _, p := range []float64{2, 3} {
		l := newPUMMA[float64](t, p, 0.1, 0)
		r, err := l.Fit(t.Context(), b, learner.FitOptions{MaxUpdates: 1000})
		if err != nil || r.Converged || r.Updates != 1000 || r.Violators == 0 {
			t.Errorf("p=%v: %+v, %v", p, r, err)
		}
		for _, v := range append(l.Weights(), l.Bias()) {
			if v-v != 0 {
				t.Errorf("p=%v: weight or bias %v", p, v)
			}
		}
		soft := newPUMMA[float64](t, p, 0.1, 2)
		if r, err := soft.Fit(t.Context(), b, learner.FitOptions{}); err != nil || !r.Converged {
			t.Errorf("p=%v, soft: %+v, %v", p, r, err)
		}
	}
	// The kept example of the other label, again: no solution.
	l := newPUMMA[float64](t, 2, 0.1, 0)
	for i, want := range []int32{1, 1, 1, 0, 0} {
		if r := one(t, learner.Learner[float64](l), block[float64]("dense", [][]float64{{0}, {2},
			{1}, {1}, {1}}, []float64{-1, 1, 1, -1, -1}), i); r.Updates != want {
			t.Errorf("example %d: %+v, want %d updates", i, r, want)
		}
	}
}

// TestPUMMASoftStream: in one pass every example is new, and Learn does what Fit does.
func TestPUMMASoftStream(t *testing.T) {
	for _, p := range []float64{2, 3.7} {
		b := learnertest.Sparse[float64](300, 90, 0)
		fit, stream := newPUMMA[float64](t, p, 0.1, 3), newPUMMA[float64](t, p, 0.1, 3)
		if err := stream.Learn(b, make([]learner.Round, b.Len())); err != nil {
			t.Fatal(err)
		}
		r, err := fit.Fit(t.Context(), b, learner.FitOptions{MaxUpdates: stream.Updates()})
		if err != nil || r.Updates != stream.Updates() || r.Epochs != 0 {
			t.Fatal(r, err)
		}
		approx.AllNear(t, "w", fit.Weights(), stream.Weights(), 1e-11)
		approx.Near(t, "b", fit.Bias(), stream.Bias(), 1e-11)
	}
}

// TestPUMMACarriedLength: the sum of powers that is carried along is within its bound of the sum of
// these, whether the examples share features or not, and powers are those of t.
func TestPUMMACarriedLength(t *testing.T) {
	for _, c := range []struct {
		p            float64
		dim, each, n int
	}{{2, 30, 6, 20000}, {2, 9000, 6, 50000}, {9.3, 30, 6, 5000}, {20, 9000, 6, 10000}} {
		rng := rand.New(rand.NewPCG(7, uint64(c.dim)))
		at := rng.Perm(c.dim)
		b := &engine.Block[float64]{Dim: c.dim, Ptr: []int{0}}
		for range c.n {
			f := 0.0
			for k := range c.each {
				j, v := k*c.dim/c.each+rng.IntN(c.dim/c.each), rng.NormFloat64()
				b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, v)
				f += v * (float64(2*at[j])/float64(c.dim) - 1)
			}
			b.Ptr, b.Y = append(b.Ptr, len(b.Idx)), append(b.Y, math.Copysign(1, f))
		}
		l, anew, steps, last := newPUMMA[float64](t, c.p, 0.01, 0), 0, 0, 0.0
		for i := range c.n {
			one(t, learner.Learner[float64](l), b, i)
			if i%(c.n/200) != 0 {
				continue
			}
			s := l.State()
			sum, exact := s.Scalars["sum"], new(big.Float).SetPrec(200)
			u := s.Tensor("t").Data.([]float64)
			w := slices.Clone(u)
			if x := s.Tensor("w"); x != nil {
				w, steps = x.Data.([]float64), steps+1
			} else if c.p > 2 {
				for j, v := range u {
					w[j] = math.Copysign(primal.Pow(math.Abs(v), c.p-1), v)
				}
			}
			for j, v := range u {
				x := new(big.Float).SetPrec(200).SetFloat64(v)
				exact.Add(exact, x.Mul(x, big.NewFloat(w[j])))
				want := math.Copysign(math.Pow(math.Abs(v), c.p-1), v)
				if off := math.Abs(w[j] - want); off > float64(0x1p-40*math.Abs(want))+1e-290 {
					t.Fatalf("p=%v: the power of %v is %v, want %v", c.p, v, w[j], want)
				}
			}
			off, _ := exact.Sub(exact, big.NewFloat(sum)).Float64()
			off -= s.Scalars["sum_low"]
			if bound := s.Scalars["sum_off"]; !(math.Abs(off) <= bound && bound <= 0x1p-38*sum) {
				t.Fatalf("p=%v, %d features, example %d: %v is off by %.3g, the bound is %.3g", c.p,
					c.dim, i, sum, off, bound)
			}
			if s.Scalars["sum_off"]/sum < last {
				anew++
			}
			last = s.Scalars["sum_off"] / sum
		}
		t.Logf("p=%v, %d features, %d updates: made anew %d times or more", c.p, c.dim, l.Updates(),
			anew)
		if l.Updates() < 500 || anew == 0 {
			t.Fatalf("p=%v, %d features: %d updates, made anew %d times", c.p, c.dim, l.Updates(),
				anew)
		}
		if c.p > 2 != (steps > 0) {
			t.Fatalf("p=%v, %d features: %d states have powers", c.p, c.dim, steps)
		}
	}
}

func TestPUMMAConfig(t *testing.T) {
	c := &learners.PUMMAConfig{P: "auto", Delta: 0.1}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	e, err := learner.Lookup("pumma")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.New64(c, learner.Env{}); !errors.Is(err, learner.ErrConfig) {
		t.Errorf("New before Resolve says %v", err)
	}
	if _, err := c.Resolve(learner.Facts{}); !errors.Is(err, learner.ErrConfig) {
		t.Errorf("Resolve without features says %v", err)
	}
	r, err := c.Resolve(learner.Facts{Features: 100})
	if err != nil || r.Traits().Relative || !c.Traits().Relative {
		t.Errorf("%v, %+v, of %+v", err, r, c)
	}
	if want := fmt.Sprint(2 * math.Log(100)); r.(*learners.PUMMAConfig).P != want {
		t.Errorf("p is %s, want %s", r.(*learners.PUMMAConfig).P, want)
	}
	for _, p := range []string{"", "1.9", "Inf", "NaN", "2,5"} {
		if err := (&learners.PUMMAConfig{P: p, Delta: 0.1}).Validate(); !errors.Is(err,
			learner.ErrConfig) {
			t.Errorf("p = %q: %v", p, err)
		}
	}
}

func TestPUMMAFitRefuses(t *testing.T) {
	good := block[float64]("dense", [][]float64{{1}, {2}}, []float64{1, -1})
	used := newPUMMA[float64](t, 2, 0.1, 1)
	if _, err := used.Fit(t.Context(), good, learner.FitOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := used.Fit(t.Context(), good, learner.FitOptions{}); !errors.Is(err,
		learner.ErrFit) {
		t.Errorf("slacks lost: %v", err)
	}
	if _, err := newPUMMA[float64](t, 2, 0.1, 0).Fit(t.Context(), good,
		learner.FitOptions{Delta: 1}); !errors.Is(err, learner.ErrConfig) {
		t.Errorf("Delta: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := newPUMMA[float64](t, 2, 0.1, 0).Fit(ctx, good, learner.FitOptions{}); !errors.Is(
		err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestPUMMAMixedLengths: separable examples whose lengths differ by many orders are separated, and
// dense and sparse examples take the same way there.
func TestPUMMAMixedLengths(t *testing.T) {
	for _, p := range []string{"2", "2.5", "4"} {
		for seed := range uint64(40) {
			rng := rand.New(rand.NewPCG(seed, 7))
			u, X, y := []float64{1, -0.5, 0.25, 2}, [][]float64(nil), []float64(nil)
			for len(X) < 8 {
				x := make([]float64, 4)
				for j := range x {
					x[j] = rng.NormFloat64()
				}
				f := inner(u, x)
				if math.Abs(f) < 0.3 {
					continue
				}
				size := 1e-6 // half of them so short, others up to 1e8
				if rng.IntN(2) == 0 {
					size = math.Pow(10, 14*rng.Float64()-6)
				}
				for j := range x {
					x[j] *= size
				}
				X, y = append(X, x), append(y, math.Copysign(1, f))
			}
			var r [2]learner.FitResult
			for k, form := range forms {
				l := fitter[float64](t, "pumma", &learners.PUMMAConfig{P: p, Delta: 0.1})
				var err error
				if r[k], err = l.Fit(t.Context(), block[float64](form, X, y),
					learner.FitOptions{MaxUpdates: 20000}); err != nil {
					t.Fatal(err)
				}
			}
			// of p = 4 the short ones' share of sums is below the roundings of the long ones'
			if !r[0].Converged || !r[1].Converged || p != "4" && r[0].Updates != r[1].Updates {
				t.Errorf("p %s, seed %d: %s %+v, %s %+v", p, seed, forms[0], r[0], forms[1], r[1])
			}
		}
	}
}

func TestPUMMAByHand(t *testing.T) {
	steps := []struct { // p = 2
		x       []float64
		y       float64
		score   float64 // before
		updates int32
		w       []float64 // after
		b       float64
	}{
		{[]float64{2, 0}, +1, 0, 1, []float64{0, 0}, 1}, // one label: w = 0, b = y
		{[]float64{1, 5}, +1, 1, 0, []float64{0, 0}, 1},
		{[]float64{0, 0}, -1, 1, 1, []float64{1, 0}, -1}, // z = (2, 0), alpha = 1/2
		{[]float64{2, 4}, +1, 1, 0, []float64{1, 0}, -1},
		// case (ii): v.z = 1, V = 1, |z|^2 = 2: alpha = beta = 1
		{[]float64{1, 1}, +1, 0, 1, []float64{1, 1}, -1},
		{[]float64{-1, -1}, -1, -3, 0, []float64{1, 1}, -1},
		// case (i): z = (3/4, 1/4), alpha = 16/5, w.v = 3.2 > V = 2
		{[]float64{0.25, 0.75}, -1, 0, 1, []float64{2.4, 0.8}, -2.2},
	}
	for _, form := range forms {
		l := newPUMMA[float64](t, 2, 0.5, 0)
		for k, s := range steps {
			r := one(t, learner.Learner[float64](l), block[float64](form, [][]float64{s.x},
				[]float64{s.y}), 0)
			approx.Near(t, fmt.Sprintf("%s, example %d: score", form, k+1), r.Score, s.score, 1e-14)
			if r.Updates != s.updates {
				t.Fatalf("%s, example %d: %d updates, want %d", form, k+1, r.Updates, s.updates)
			}
			approx.AllNear(t, fmt.Sprintf("%s, example %d: w", form, k+1), l.Weights(), s.w, 1e-14)
			approx.Near(t, fmt.Sprintf("%s, example %d: b", form, k+1), l.Bias(), s.b, 1e-14)
		}
	}
}
