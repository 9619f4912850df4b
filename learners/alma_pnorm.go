package learners

import (
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// What ALMA does for p > 2, on f(w) = c t: (4) to (7).

// updateP is (4) and (5) for p > 2, on f(w) = c t.
func (a *alma[T]) updateP(b *engine.Block[T], i int, step float64) {
	if a.c == 0 {
		a.c = 1
		a.renew()
	}
	step /= a.c
	if b.Dense() { // (4), inside f^-1
		vecmath.AxpyMixed(a.theta[:b.Dim], step, b.Row(i))
		a.renew()
	} else {
		a.addSparse(b, i, step)
	}
	a.bound()
}

// bound is (5) for p > 2.
func (a *alma[T]) bound() {
	s := a.root.Of(a.sum.Hi)
	if a.norm = float64(a.c * s); a.norm > 1 {
		a.c, a.norm = 1/s, 1
	}
	a.project(s)
}

// project sets the factor of w by (7), with s = S^(1/p).
func (a *alma[T]) project(s float64) {
	if a.Scale = 0; s > 0 {
		a.Scale = float64(a.norm*s) / a.sum.Hi
	}
}

// addSparse adds step times sparse example i to t.
func (a *alma[T]) addSparse(b *engine.Block[T], i int, step float64) {
	idx, val := b.Sparse(i)
	var terms [32]float64 // taken off and added
	n, at := 0, 0
	for k, j := range idx {
		if val[k] == 0 {
			continue
		}
		n++
		t := a.theta[j]
		_, old := a.powers(t)
		t += float64(step * float64(val[k]))
		a.theta[j] = t
		u, term := a.powers(t)
		a.W[j] = T(u)
		terms[at], terms[at+1] = -old, term
		if at += 2; at == len(terms) {
			a.sum.AddAll(terms[:])
			at = 0
		}
	}
	a.sum.AddAll(terms[:at])
	if s := a.sum.Hi; n > 0 && !(s >= almaLeast && s <= almaMost && a.sum.Good(s, primal.HalfUlp)) {
		a.renew()
	}
}

// Between these S may be. The powers of float32 then lie below 2^40, and their largest above 2^-71
// for any number of features: all that matters to w.x is far above 2^-149, where they end. After
// renew S is at least 1 and at most the number of features.
const almaLeast, almaMost = 0x1p-40, 0x1p40

// powers returns sign(t) |t|^(p-1) and |t|^p.
func (a *alma[T]) powers(t float64) (u, term float64) {
	if a.cfg.P == 4 { // NaN is as good as infinity: all is made anew
		u = primal.Cube(t)
		return u, float64(u * t)
	}
	u = a.power.Of(math.Abs(t))
	return math.Copysign(u, t), float64(u * math.Abs(t))
}

// renew makes max |t_i| = 1, and the powers and S anew. Everything is divided by the largest
// element, so that no power overflows.
func (a *alma[T]) renew() {
	top := maxAbs(a.theta)
	if a.sum = (primal.Sum{}); top == 0 {
		clear(a.W)
		a.c = 1
		return
	}
	a.c *= top
	n := 0
	for j, t := range a.theta {
		if t == 0 {
			a.W[j] = 0
			continue
		}
		t /= top
		a.theta[j] = t
		u, term := a.powers(t)
		a.W[j] = T(u)
		a.sum.Add(term)
		n++
	}
	a.sum.Changed(n, a.sum.Hi)
}

// pNorm returns |x|_p, summed in order after dividing by the largest element.
func pNorm(x []float64, p float64) float64 {
	var top float64
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	if top == 0 {
		return 0
	}
	var sum float64
	for _, v := range x {
		if v != 0 {
			sum += primal.Pow(math.Abs(v)/top, p)
		}
	}
	return float64(top * primal.Pow(sum, 1/p))
}

// fieldsP is fields for p > 2.
func (a *alma[T]) fieldsP(c *learner.Codec) {
	learner.Count(c, "updates", &a.UpdateCount)
	theta := learner.Vector(c, "theta", &a.theta)
	c.PerFeature("theta", len(theta))
	unscaled := c.Optional("norm", a.c == 0) // as states were before f(w) had a factor
	name, factor := "length", 1.0
	if unscaled {
		name = "norm"
	}
	norm := c.Scalar(name, &a.norm)
	if !unscaled {
		factor = c.Scalar("scale", &a.c)
		c.Want(factor > 0, "scalar %q is %v, want a number > 0", "scale", factor)
		var terms float64
		for _, t := range theta {
			_, term := a.powers(t)
			terms += term
		}
		a.sum.Fields(c, "sum", terms, len(theta), primal.HalfUlp)
	}
	if c.Reading() {
		of := float64(factor * pNorm(theta, a.cfg.P))
		c.Want(norm >= 0 && math.Abs(norm-of) <= 0x1p-10,
			"scalar %q is %v, but the tensor theta has %v", name, norm, of)
	}
	c.Then(func() {
		a.W = make([]T, len(theta))
		if unscaled {
			a.c, a.Scale = 0, 1
			for j, t := range a.theta {
				if t != 0 {
					r := math.Abs(t) / a.norm
					a.W[j] = T(math.Copysign(float64(a.norm*primal.Pow(r, a.cfg.P-1)), t))
				}
			}
			return
		}
		for j, t := range a.theta {
			u, _ := a.powers(t)
			a.W[j] = T(u)
		}
		a.project(a.root.Of(a.sum.Hi))
	})
}
