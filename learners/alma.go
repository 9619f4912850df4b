package learners

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

var _ learner.Learner[float32] = (*ALMA[float32])(nil)

func init() { learner.Register("alma", (*ALMAConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*ALMAConfig) Entry() learner.Entry {
	return learner.Entry{
		Summary: "ALMA, approximate maximal margin in any p-norm, p >= 2",
		Config:  func() learner.Config { return &ALMAConfig{P: 2} },
		New32:   newALMA[float32], New64: newALMA[float64],
		Optional: []string{"R", "grown"},
	}
}

// ALMA is the perceptron with a margin and a step that shrink with the number of updates, and
// weights kept in the unit ball, so that it approaches the maximal margin. With p > 2 margins are
// measured in the p-norm of the examples, which suits targets of few relevant features.
//
// Reference: C. Gentile, "A New Approximate Maximal Margin Classification Algorithm", JMLR
// 2:213-242, 2001. On example t with k - 1 updates so far, 1/p + 1/q = 1 and w_1 = 0:
//
//	(1) gamma_k = B sqrt((p-1)/k)
//	(2) update if y_t (w_k . x_t) <= (1-alpha) gamma_k
//	(3) eta_k = C / sqrt((p-1) k)
//	(4) w' = f^-1(f(w_k) + eta_k y_t x_t)
//	(5) w_{k+1} = w' / max(1, |w'|_q)
//	(6) f(w)_i        = sign(w_i) |w_i|^(q-1) / |w|_q^(q-2)
//	    f^-1(theta)_i = sign(theta_i) |theta_i|^(p-1) / |theta|_p^(p-2)
//
//	paper       here           shape, unit
//	x_t, y_t    block          example; label, -1 or +1
//	p           Config.P       norm of the examples, >= 2
//	alpha       Config.Alpha   share of the maximal margin given up; sets B = sqrt(8)/alpha,
//	                           C = sqrt(2)
//	B, C        Config.B, .C   with B given, (2) has no factor (1-alpha): the reading of the OBPM
//	                           paper
//	k           updates + 1
//	w_k         scale * w      one a feature
//	f(w_k)      c * theta      for p > 2; one a feature
//
// Deviations: scores use w itself, not w/|w|_q, and on a stream examples are taken as they are:
// whoever wants them of unit length (or of at most unit length) prepares them. Fit divides them by
// R, the length of the longest. What they were divided by first, 1 or R, is part of the state, and
// all that is learned later is divided by the same. For p = 2 the step (5) is kept as a factor and
// |w|^2 is carried along, so an update costs the example's non-zeros alone. f keeps norms (|f(w)|_p
// = |w|_q), so for p > 2 step (5) scales f(w) = c t, by the factor c alone; with S = sum |t_i|^p
//
//	(7) |f(w)|_p = c S^(1/p),  w_i = c S^(2/p-1) sign(t_i) |t_i|^(p-1)
//
// so that an update changes t, the powers and S where the example is not 0. All of them are made
// anew, with max |t_i| = 1, where S leaves 2^-40 to 2^40, since powers then leave the range of T,
// or where cancellation has left too few digits of it (see primal.Sum).
//
// Guarantee: on separable data of unit length with margin gamma, the updates end after
// O((p-1)/(alpha^2 gamma^2)), with a margin of at least (1-alpha) gamma (Theorem 3); |w|_q <= 1
// always: TestALMAMargin, TestALMAUnitBall.
//
// Cost: one dot an example. An update is O(non-zeros), for p > 2 two powers for each; O(features)
// every time that c has fallen by 2^(40/p), which is some p log(k)/20 times in k updates. Memory:
// one T a feature, for p > 2 and a float64. With a kernel, which p = 2 has, see [OnlineKernel].
type ALMA[T learner.Float] struct {
	primal.Linear[T] // w: for p = 2 the weights without their factor
	cfg              ALMAConfig
	// what examples are divided by; 0: open, nothing was learned (or the state is one that didn't
	// hold it)
	R     float64
	scale float64 // of w; for p = 2 in (0, 1]
	norm2 float64 // p = 2: |scale * w|^2

	// p > 2
	power primal.Power // p-1
	root  primal.Power // 1/p
	theta []float64    // t; W has its powers
	c     float64      // 0 in the form of older states, until the next update: f(w) = t
	sum   primal.Sum   // S
	norm  float64      // |f(w)|_p, as step (5) left it
}

// ALMAConfig holds the settings of ALMA: Alpha, or B and C.
type ALMAConfig struct {
	// P is the p of |x|_p, the norm of the examples. Default 2; 2 or more.
	P float64 `json:"p" flag:"p"`
	// Alpha is the share of the maximal margin given up: B = sqrt(8)/alpha, C = sqrt(2), 0 for 0.9,
	// unless B is given. Default 0; 0 to 1.
	Alpha float64 `json:"alpha" flag:"alpha" tune:"0.5|0.7|0.9"`
	// B is the B of the margin B sqrt((p-1)/k) at update k, 0 to leave it to alpha. Default 0; 0 or
	// more.
	B float64 `json:"B" flag:"B"`
	// C is the C of the step C/sqrt((p-1) k) at update k, beside B, 0 for sqrt(2). Default 0; 0 or
	// more.
	C float64 `json:"C" flag:"C"`

	OnlineConfig
}

// Validate wants P >= 2, Alpha in [0,1], B and C >= 0, B only without Alpha, C only with B, and a
// kernel, with P = 2 if it isn't the plain inner product.
func (c *ALMAConfig) Validate() error {
	if err := learner.CheckSetting("alma", "p", c.P, c.P >= 2, "a number >= 2"); err != nil {
		return err
	}
	if err := learner.CheckSetting("alma", "alpha", c.Alpha, c.Alpha >= 0 && c.Alpha <= 1,
		"a number in (0,1], or 0 for none"); err != nil {
		return err
	}
	if err := learner.CheckSetting("alma", "B", c.B, c.B >= 0,
		"a number > 0, or 0 for none"); err != nil {
		return err
	}
	if err := learner.CheckSetting("alma", "C", c.C, c.C >= 0,
		"a number > 0, or 0 for sqrt(2)"); err != nil {
		return err
	}
	if c.Alpha != 0 && c.B != 0 {
		return fmt.Errorf("alma: alpha is %v and B is %v, want one of them: %w", c.Alpha, c.B,
			learner.ErrConfig)
	}
	if c.C != 0 && c.B == 0 {
		return fmt.Errorf("alma: C is %v without B; alpha sets both: %w", c.C, learner.ErrConfig)
	}
	if !c.Linear() && c.P != 2 {
		return fmt.Errorf("alma: p is %v and the kernel %s: kernels have p = 2 only: %w", c.P,
			c.kernel().EngineKernel().Kind, learner.ErrConfig)
	}
	return c.OnlineConfig.validate("alma")
}

// Traits is Config.Traits: what makes use of scores, of all of a data set and of a soft margin, has
// p = 2 only; with a kernel a stream's examples are kept.
func (c *ALMAConfig) Traits() learner.Traits {
	t := margin.Traits()
	t.Norm, t.Members, t.Weights = c.P, c.members(), true
	t.Whole, t.SoftDelta, t.Cut = c.P == 2, c.P == 2, c.P == 2
	return c.traits("alma", t, func(n int) learner.Config {
		d := *c
		d.Budget = n
		return &d
	})
}

// Resolve is Config.Resolve: nothing is relative to the data.
func (c *ALMAConfig) Resolve(learner.Facts) (learner.Config, error) {
	return learner.Absolute(c), nil
}

// Memory is Config.Memory: one T a feature, for p > 2 a float64 more; and what a cycle takes. With
// a kernel it is the kept examples.
func (c *ALMAConfig) Memory(x learner.Extent) learner.Footprint {
	if !c.Linear() {
		return onlineMemory(x, c.Budget)
	}
	if c.P > 2 {
		return primal.LinearFootprint(x, 8)
	}
	f := primal.LinearFootprint(x, 0)
	margin.AddCycle(&f, x)
	return f
}

// constants returns the factor of gamma_k in (2), times B, and C.
func (c *ALMAConfig) constants() (B, C float64) {
	if c.B == 0 {
		alpha := c.Alpha
		if alpha == 0 {
			alpha = 0.9
		}
		return (1 - alpha) * (math.Sqrt(8) / alpha), math.Sqrt2
	}
	if c.C == 0 {
		return c.B, math.Sqrt2
	}
	return c.B, c.C
}

// threshold returns the right side of (2) for the k-th update, k from 1.
func (c *ALMAConfig) threshold(k float64) float64 {
	B, _ := c.constants()
	return B * math.Sqrt((c.P-1)/k)
}

// rate returns eta_k (3) for the k-th update, k from 1.
func (c *ALMAConfig) rate(k float64) float64 {
	_, C := c.constants()
	return C / math.Sqrt(float64((c.P-1)*k))
}

func newALMA[T learner.Float](c learner.Config, env learner.Env) (learner.Learner[T], error) {
	cfg, err := learner.ConfigAs[ALMAConfig]("alma", c)
	if err != nil {
		return nil, err
	}
	if !cfg.Linear() {
		return newWeighted[T]("alma", &cfg.OnlineConfig, true, &almaOnline{cfg}, env)
	}
	return &ALMA[T]{Linear: primal.NewLinear[T](), cfg: cfg, scale: 1, c: 1,
		power: primal.PowerOf(cfg.P - 1), root: primal.PowerOf(1 / cfg.P)}, nil
}

// Learn is Learner.Learn.
func (a *ALMA[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := a.BeginBounded("alma", b, rounds, true); err != nil {
		return err
	}
	if a.cfg.P > 2 {
		a.theta = primal.Grown(a.theta, b.Dim)
	}
	if a.UpdateCount == 0 {
		a.R = 1
	}
	R := a.R
	if R == 0 { // of a state that didn't hold it
		R = 1
	}
	threshold := float64(R * a.cfg.threshold(float64(a.UpdateCount+1)))
	for i := range b.Len() {
		f, y := float64(a.scale*a.Dot(b, i)), float64(b.Y[i])
		rounds[i] = learner.Round{Score: f}
		w := float64(b.Weight(i))
		if float64(y*f) > threshold || w == 0 { // (2)
			continue
		}
		a.UpdateCount++
		rounds[i].Updates = 1
		step := float64(float64(a.cfg.rate(float64(a.UpdateCount))*w) / R * y)
		if a.cfg.P > 2 {
			a.updateP(b, i, step)
		} else {
			a.update2(b, i, step, f)
		}
		threshold = float64(R * a.cfg.threshold(float64(a.UpdateCount+1)))
	}
	return nil
}

// update2 is (4) and (5) for p = 2, where f is the identity; step holds the label, score is w.x.
// That |w|^2 is carried along and never taken from the weights costs no accuracy: errors are small
// against 1, and (5) shrinks them with the rest.
func (a *ALMA[T]) update2(b *engine.Block[T], i int, step, score float64) {
	a.Add(b, i, T(step/a.scale)) // (4)
	// |w + step x|^2 = |w|^2 + step (2 w.x + step |x|^2)
	a.norm2 += float64(step * (float64(2*score) + float64(step*primal.SumSq(b, i))))
	if !(a.norm2 > 1) {
		return
	}
	a.scale /= math.Sqrt(a.norm2) // (5)
	a.norm2 = 1
	// fold it in, all but its mantissa, long before it matters to the range of T; a power of two
	// rounds nothing
	if a.scale < 0x1p-32 {
		m, e := math.Frexp(a.scale)
		vecmath.Scal(a.W, T(math.Ldexp(1, e)))
		a.scale = m
	}
}

// updateP is (4) and (5) for p > 2, on f(w) = c t.
func (a *ALMA[T]) updateP(b *engine.Block[T], i int, step float64) {
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
func (a *ALMA[T]) bound() {
	s := a.root.Of(a.sum.Hi)
	if a.norm = float64(a.c * s); a.norm > 1 {
		a.c, a.norm = 1/s, 1
	}
	a.project(s)
}

// project sets the factor of w by (7), with s = S^(1/p).
func (a *ALMA[T]) project(s float64) {
	if a.scale = 0; s > 0 {
		a.scale = float64(a.norm*s) / a.sum.Hi
	}
}

// addSparse adds step times sparse example i to t.
func (a *ALMA[T]) addSparse(b *engine.Block[T], i int, step float64) {
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
func (a *ALMA[T]) powers(t float64) (u, term float64) {
	if a.cfg.P == 4 { // NaN is as good as infinity: all is made anew
		u = primal.Cube(t)
		return u, float64(u * t)
	}
	u = a.power.Of(math.Abs(t))
	return math.Copysign(u, t), float64(u * math.Abs(t))
}

// renew makes max |t_i| = 1, and the powers and S anew. Everything is divided by the largest
// element, so that no power overflows.
func (a *ALMA[T]) renew() {
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

// Fit is Fitter.Fit, for p = 2 only: ErrConfig else. Examples count as divided by R, or by what
// they were divided by before.
func (a *ALMA[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
	learner.FitResult, error) {
	if a.cfg.P > 2 {
		return learner.FitResult{}, fmt.Errorf("alma: p is %v, and examples are fitted as a "+
			"whole for p = 2 only: pass over them with Learn: %w", a.cfg.P, learner.ErrConfig)
	}
	c, R2, err := margin.NewCycle("alma", b, o, a.W, a.UpdateCount)
	if err != nil {
		return learner.FitResult{}, err
	}
	if err := c.Resume(a.Cut); err != nil {
		return learner.FitResult{}, err
	}
	if a.UpdateCount == 0 || a.R == 0 {
		a.R = math.Sqrt(R2)
	}
	// w = a/length, and x/R is learned, so that (2) is w.x/R <= B/sqrt(k) and (4) w += C/sqrt(k)
	// x/R. length is what |a| has grown to by (5), or 1, for new weights, which are 0.
	B, C := a.cfg.constants()
	margins := float64(B * a.R)
	rule := &margin.LengthRule{Rate: C / a.R, Updates: a.UpdateCount, Longest: 1 / a.scale,
		Divides: true, Factors: func(k int64, thresholds, divisors []float64) {
			for i := range thresholds {
				thresholds[i], divisors[i] = margins, math.Sqrt(float64(k+int64(i)))
			}
		}}
	c.Begin(rule, false)
	before := a.UpdateCount
	return c.Run(ctx, func(res *learner.FitResult) {
		a.Cut = c.Cut
		a.W, a.scale = c.Weights(func(float64) float64 { return 1 / rule.Longest }), 1
		a.norm2 = 0
		for _, v := range a.W {
			a.norm2 += float64(float64(v) * float64(v))
		}
		a.UpdateCount = before + res.Updates
		res.Counter = a.UpdateCount + 1
	})
}

// Score is Learner.Score.
func (a *ALMA[T]) Score(b *engine.Block[T], dst []float64) error {
	return a.Scores("alma", a.scale, b, dst)
}

// Snapshot is Learner.Snapshot.
func (a *ALMA[T]) Snapshot() learner.Predictor[T] {
	return a.Hypothesis("alma", a.scale).Copied()
}

// View is for [learner.ViewOf].
func (a *ALMA[T]) View() learner.Predictor[T] { return a.Hypothesis("alma", a.scale).View() }

// Weights is Learner.Weights.
func (a *ALMA[T]) Weights() []float64 { return primal.Scaled(a.W, a.scale) }

// AddWeights is for [learner.AddWeights].
func (a *ALMA[T]) AddWeights(sum []float64) []float64 {
	sum = primal.Grown(sum, len(a.W))
	for j, v := range a.W {
		sum[j] += float64(a.scale * float64(v))
	}
	return sum
}

// Bytes is Learner.Bytes.
func (a *ALMA[T]) Bytes() int64 {
	return primal.BytesOf(a.W) + primal.BytesOf(a.theta) + int64(unsafe.Sizeof(*a))
}

// State is Learner.State. For p = 2: the tensor w with the scalars scale and norm2, and R once
// something was learned; for p > 2: the float64 tensor theta, which is t, with the scalars scale,
// which is c, length, which is |f(w)|_p, and sum, from which w follows.
func (a *ALMA[T]) State() learner.State { return learner.StateOf(a.fields) }

// SetState is Learner.SetState.
func (a *ALMA[T]) SetState(s learner.State) error { return learner.SetState("alma", s, a.fields) }

// CheckState is Learner.CheckState.
func (a *ALMA[T]) CheckState(s learner.State) error {
	return learner.CheckState("alma", s, a.fields)
}

func (a *ALMA[T]) fields(c *learner.Codec) {
	c.Then(func() { a.R = 0 })
	if a.cfg.P > 2 {
		a.fieldsP(c)
		return
	}
	w := a.WeightFields(c)
	scale, norm2 := c.Scalar("scale", &a.scale), c.Scalar("norm2", &a.norm2)
	if c.Reading() {
		err := checkShrunk(scale, norm2, engine.SumSqOrdered(w))
		c.Want(err == nil, "%w", err)
	}
	// states written before it was kept have none
	if c.Optional("R", a.UpdateCount > 0 && a.R > 0) {
		R := c.Scalar("R", &a.R)
		c.Want(R > 0, "scalar %q is %v, want a number > 0", "R", R)
	}
	c.Part(learner.CutPrefix, &a.Cut, margin.CheckCycleCut)
}

// fieldsP is fields for p > 2.
func (a *ALMA[T]) fieldsP(c *learner.Codec) {
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
			a.c, a.scale = 0, 1
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

// almaOnline is the rule of p = 2 in the space of a kernel: see [OnlineKernel]. Examples are taken
// as they are.
type almaOnline struct{ cfg ALMAConfig }

func (r *almaOnline) violates(m float64, updates int64) bool {
	return m <= r.cfg.threshold(float64(updates+1)) // (2)
}

func (r *almaOnline) step(m, K, norm2, w float64, updates int64) onlineStep {
	s := onlineStep{c: 1, a: float64(r.cfg.rate(float64(updates+1)) * w)} // (3), (4)
	s.norm2 = added(m, K, norm2, s.a)
	if c := r.bound(s.norm2); c != 1 {
		s.c, s.a, s.norm2 = c, float64(c*s.a), 1
	}
	return s
}

// bound is (5).
func (r *almaOnline) bound(norm2 float64) float64 {
	if norm2 > 1 {
		return 1 / math.Sqrt(norm2)
	}
	return 1
}

// almaRule: see ALMA with p = 2. A member's weights are its stored ones times its scale.
type almaRule[T learner.Float] struct {
	cfg     ALMAConfig
	members []almaMember
	weights learner.MemberWeights[T]
}

// Fixed is learner.MemberRule.Fixed.
func (r *almaRule[T]) Fixed() (margin, step T, ok bool) { return 0, 0, false }

// Step is learner.MemberRule.Step. S is not kept, so the sums of the coefficients are not needed.
func (r *almaRule[T]) Step(_ []float64, mask []uint64, lo int, s []T, y, w T, norm2 float64,
	coef []T) (int, []T) {
	return ensemble.EachMember(mask, func(l int) bool {
		m := &r.members[lo+l]
		f := float64(m.scale * float64(s[l]))
		if float64(float64(y)*f) > m.threshold { // (2)
			return false
		}
		if m.scale < 0x1p-32 { // as ALMA does; a power of two rounds nothing
			frac, exp := math.Frexp(m.scale)
			r.weights.Scale(lo+l, T(math.Ldexp(1, exp)))
			m.scale = frac
		}
		m.updates++
		step := float64(r.cfg.rate(float64(m.updates)) * float64(w) * float64(y))
		coef[l] = T(step / m.scale)                                     // (4)
		m.norm2 += float64(step * (float64(2*f) + float64(step*norm2))) // |w + step x|^2
		if m.norm2 > 1 {                                                // (5)
			m.scale /= math.Sqrt(m.norm2)
			m.norm2 = 1
		}
		m.threshold = r.cfg.threshold(float64(m.updates + 1))
		return true
	}), coef
}

// Total is learner.MemberRule.Total.
func (r *almaRule[T]) Total(lo int, s []T) float64 {
	var sum float64
	for l, v := range s {
		sum += float64(r.members[lo+l].scale * float64(v))
	}
	return sum
}

// Bind is learner.MemberRule.Bind.
func (r *almaRule[T]) Bind(w learner.MemberWeights[T]) { r.weights = w }

// Fields is learner.MemberRule.Fields.
func (r *almaRule[T]) Fields(c *learner.Codec, weights []T) {
	n := len(r.members)
	scale, norm2, updates := make([]float64, n), make([]float64, n), make([]int64, n)
	for i, m := range r.members {
		scale[i], norm2[i], updates[i] = m.scale, m.norm2, min(m.updates, learner.MaxCount)
	}
	scale = learner.View(c, "scale", scale, n)
	norm2 = learner.View(c, "norm2", norm2, n)
	updates = learner.View(c, "member_updates", updates, n)
	if !c.Reading() {
		return
	}
	sumSq := make([]float64, n)
	for i, v := range weights {
		sumSq[i%n] += float64(float64(v) * float64(v))
	}
	for m := range n {
		if err := checkShrunk(scale[m], norm2[m], sumSq[m]); err != nil {
			c.Want(false, "member %d: %w", m, err)
		} else if updates[m] < 0 || updates[m] > learner.MaxCount {
			c.Want(false, "member %d: member_updates is %d", m, updates[m])
		}
	}
	c.Then(func() {
		for i, u := range updates {
			r.members[i] = almaMember{scale[i], norm2[i], r.cfg.threshold(float64(u + 1)), u}
		}
	})
}

// members is the members' form of ALMA: only with p = 2, where an update changes what the example
// has, and a factor.
func (c *ALMAConfig) members() *learner.MemberForm {
	if c.P != 2 {
		return nil
	}
	return &learner.MemberForm{Norm2: true, Unit: true, Bytes: int64(unsafe.Sizeof(almaMember{})),
		Rule32: func(n int) (learner.MemberRule[float32], error) {
			return newALMARule[float32](c, n), nil
		},
		Rule64: func(n int) (learner.MemberRule[float64], error) {
			return newALMARule[float64](c, n), nil
		},
	}
}

func newALMARule[T learner.Float](c *ALMAConfig, members int) *almaRule[T] {
	r := &almaRule[T]{cfg: *c, members: make([]almaMember, members)}
	for m := range r.members {
		r.members[m] = almaMember{scale: 1, threshold: c.threshold(1)}
	}
	return r
}

type almaMember struct {
	scale     float64 // in (0, 1]
	norm2     float64 // |scale * w|^2
	threshold float64 // of the next update
	updates   int64
}

// checkShrunk refuses a factor of ALMA's weights that is none, and a squared length of theirs that
// is not what the stored weights, whose squares add up to sumSq, and the factor give. Rounding
// errors of the length carried along are far below the tolerance: step (5) shrinks them with the
// rest.
func checkShrunk(scale, norm2, sumSq float64) error {
	if !(scale > 0 && scale <= 1) {
		return fmt.Errorf("scale is %v, want one in (0, 1]: %w", scale, learner.ErrState)
	}
	const tolerance = 0.25
	if have := float64(float64(scale*scale) * sumSq); !(math.Abs(norm2-have) <= tolerance &&
		norm2 <= 1+tolerance) {
		return fmt.Errorf("norm2 is %v, but the weights have %v, and at most 1 by the rule: %w",
			norm2, have, learner.ErrState)
	}
	return nil
}
