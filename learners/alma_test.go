package learners_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

func TestALMAByHand(t *testing.T) {
	// B = C = 1: threshold and step are 1/sqrt(k).
	// y f at the threshold, exactly, still fires: 1/2 for k = 4. The step 1/2 along (1/2, 0) is
	// shrunk away.
	runByHand(t, "alma", &learners.ALMAConfig{P: 2, B: 1, C: 1}, []handStep{
		{[]float64{1, 0}, +1, 0, 1, []float64{1, 0}},
		{[]float64{0, 0}, +1, 0, 1, []float64{1, 0}},
		{[]float64{0, 0}, +1, 0, 1, []float64{1, 0}},
		{[]float64{0.5, 0}, +1, 0.5, 1, []float64{1, 0}},
		{[]float64{0.5, 0}, +1, 0.5, 0, []float64{1, 0}}, // 1/sqrt 5
	})
	// p = 4, B = C = 1: threshold sqrt(3/k), step 1/sqrt(3k). theta is (1/sqrt 3, 0), then (1/sqrt
	// 3, 1/sqrt 6).
	u, v := 1/math.Sqrt(3), 1/math.Sqrt(6)
	n := math.Pow(math.Pow(u, 4)+math.Pow(v, 4), 0.25)
	w := []float64{u * u * u / (n * n), v * v * v / (n * n)}
	runByHand(t, "alma", &learners.ALMAConfig{P: 4, B: 1, C: 1}, []handStep{
		{[]float64{1, 0}, +1, 0, 1, []float64{u, 0}},
		{[]float64{0, 1}, +1, 0, 1, w},
		{[]float64{4, 0}, +1, 4 * w[0], 0, w},
		{[]float64{0, 0}, +1, 0, 1, w},
		{[]float64{-4, 0}, -1, -4 * w[0], 0, w},
	})
}

// almaReference is ALMA_2 word for word: weights in full, the norm from the weights.
type almaReference struct {
	c learners.ALMAConfig
	w []float64
	k float64
}

func (a *almaReference) score(x []float64) (f float64) {
	for i, v := range x {
		f += a.w[i] * v
	}
	return f
}

func (a *almaReference) threshold() float64 { return a.c.B / math.Sqrt(a.k) }

func (a *almaReference) update(x []float64, y float64) {
	for i, v := range x {
		a.w[i] += a.c.C / math.Sqrt(a.k) * y * v
	}
	if n := pnorm(a.w, 2); n > 1 {
		for i := range a.w {
			a.w[i] /= n
		}
	}
	a.k++
}

// TestALMAScale: the factor that is kept beside the weights and folded into them now and then gives
// the weights of the plain rule, also where every update shrinks them a thousandfold.
func TestALMAScale(t *testing.T) {
	for _, length := range []float64{1e-3, 1, 1e3, 1e6} {
		for _, form := range forms {
			t.Run(fmt.Sprintf("%g/%s", length, form), func(t *testing.T) {
				almaScale[float64](t, form, length, 1e-11)
				almaScale[float32](t, form, length, 2e-5)
			})
		}
	}
}

func almaScale[T learner.Float](t *testing.T, form string, length, tol float64) {
	t.Helper()
	const n, dim = 600, 9
	rng := rand.New(rand.NewPCG(7, 7))
	X, y := make([][]float64, n), make([]float64, n)
	for i := range X {
		X[i], y[i] = make([]float64, dim), float64(1-2*rng.IntN(2))
		for j := range X[i] {
			if rng.IntN(2) == 0 {
				X[i][j] = float64(float32(length * rng.NormFloat64()))
			}
		}
	}
	c := learners.ALMAConfig{P: 2, B: 2, C: 1}
	ref := almaReference{c: c, w: make([]float64, dim), k: 1}
	l := newLearner[T](t, "alma", &c)
	b := block[T](form, X, y)
	for i := range X {
		f, threshold := ref.score(X[i]), ref.threshold()
		r := one(t, l, b, i)
		approx.Near(t, fmt.Sprintf("example %d: score/length", i), r.Score/length, f/length, 10*tol)
		// Where rounding can decide, the learner's decision is as good as the reference's, which
		// follows.
		if updated := y[i]*f <= threshold; updated != (r.Updates == 1) &&
			math.Abs(y[i]*f-threshold) > 10*tol*length {
			t.Fatalf("example %d: updated %v, want %v", i, r.Updates, updated)
		}
		if r.Updates == 1 {
			ref.update(X[i], y[i])
		}
		approx.AllNear(t, fmt.Sprintf("example %d: w", i), l.Weights(), ref.w, tol)
	}
	if l.Updates() < n/4 {
		t.Fatalf("only %d updates seen", l.Updates())
	}
}

// TestALMAUnitBall: |w|_q <= 1 after every update, but for rounding.
func TestALMAUnitBall(t *testing.T) {
	for _, p := range []float64{2, 2.5, 4, 12.3} {
		t.Run(fmt.Sprintf("p=%v", p), func(t *testing.T) {
			almaUnitBall[float64](t, p, 1e-13)
			almaUnitBall[float32](t, p, 1e-6)
		})
	}
}

func almaUnitBall[T learner.Float](t *testing.T, p, tol float64) {
	t.Helper()
	b := learnertest.Dense[T](400, 12, 0.001)
	// a margin out of reach: always an update
	l := newLearner[T](t, "alma", &learners.ALMAConfig{P: p, Alpha: 0.05})
	q := p / (p - 1)
	onSphere := 0
	for epoch := range 3 {
		for i := range b.Len() {
			if epoch == 2 { // a target that turns round
				b.Y[i] = -b.Y[i]
			}
			if one(t, l, b, i).Updates == 0 {
				continue
			}
			norm := pnorm(l.Weights(), q)
			if norm > 1+tol {
				t.Fatalf("update %d: |w|_q is 1%+.3g", l.Updates(), norm-1)
			}
			if norm > 1-tol {
				onSphere++
			}
		}
	}
	if onSphere < 100 {
		t.Fatalf("the weights were shrunk %d times", onSphere)
	}
}

// TestALMAMargin: Theorem 3 for data of length at most 1 and margin gamma in the p-norm: at most
// 2(p-1)/gamma^2 (2/alpha - 1)^2 + 8/alpha - 4 updates, then a margin of at least (1-alpha) gamma.
func TestALMAMargin(t *testing.T) {
	const gamma = 0.1 // of a u with |u|_2 = 1; |u|_q may be larger, the margin by u/|u|_q smaller
	const dim = 6
	for _, p := range []float64{2, 3, 7.5} {
		for _, alpha := range []float64{0.9, 0.5, 0.2} {
			q := p / (p - 1)
			b := learnertest.Dense[float64](300, dim, gamma) // |x|_p <= |x|_2 = 1
			least := gamma / math.Pow(dim, 1/q-0.5)          // |u|_q <= dim^(1/q-1/2) |u|_2
			l := newLearner[float64](t, "alma", &learners.ALMAConfig{P: p, Alpha: alpha})
			bound := 2*(p-1)/(least*least)*math.Pow(2/alpha-1, 2) + 8/alpha - 4
			rounds := make([]learner.Round, b.Len())
			for last := int64(-1); last != l.Updates(); {
				last = l.Updates()
				if err := l.Learn(b, rounds); err != nil {
					t.Fatal(err)
				}
				if float64(l.Updates()) > bound {
					t.Fatalf("p=%v alpha=%v: %d updates, the bound is %v", p, alpha, l.Updates(),
						bound)
				}
			}
			norm, margin := pnorm(l.Weights(), q), math.Inf(1)
			for i, r := range rounds {
				margin = min(margin, b.Y[i]*r.Score/norm)
			}
			if margin < (1-alpha)*least {
				t.Errorf("p=%v alpha=%v: margin %v, want at least %v", p, alpha, margin,
					(1-alpha)*least)
			}
		}
	}
}

// TestALMADefaults: 0 stands for alpha = 0.9, and for C = sqrt(2) where B is given: the updates are
// those of these values.
func TestALMADefaults(t *testing.T) {
	b := learnertest.Dense[float64](100, 5, 0.01)
	same := func(a, c learners.ALMAConfig) {
		t.Helper()
		l, m := newLearner[float64](t, "alma", &a), newLearner[float64](t, "alma", &c)
		for i := range b.Len() {
			if r, s := one(t, l, b, i), one(t, m, b, i); r != s {
				t.Fatalf("%+v gives %v, %+v gives %v", a, r, c, s)
			}
		}
	}
	same(learners.ALMAConfig{P: 2}, learners.ALMAConfig{P: 2, Alpha: 0.9})
	same(learners.ALMAConfig{P: 2, B: 1.5}, learners.ALMAConfig{P: 2, B: 1.5, C: math.Sqrt2})
}
