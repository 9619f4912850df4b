package learners

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

func init() { learner.Register("alma", (*ALMAConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*ALMAConfig) Entry() learner.Entry {
	return learner.EntryFor(ALMAConfig{P: 2}, newALMA[float32], newALMA[float64], learner.Entry{
		Summary:  "ALMA, approximate maximal margin in any p-norm, p >= 2",
		Optional: []string{"R", "grown"},
	})
}

// ALMAConfig is ALMA: the perceptron with a margin and a step that shrink with the number of
// updates, and weights kept in the unit ball, so that it approaches the maximal margin. With p > 2
// margins are measured in the p-norm of the examples, which suits targets of few relevant features.
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
// one T a feature, for p > 2 and a float64. With a kernel, which p = 2 has, see [OnlineConfig].
type ALMAConfig struct {
	// P is the p of |x|_p, the norm of the examples. Default 2; 2 or more.
	P float64 `json:"p" flag:"p"`
	// Alpha is the fraction of the maximal margin given up: B = sqrt(8)/alpha, C = sqrt(2); 0 is
	// 0.9, unless B is given. Default 0; 0 to 1.
	Alpha float64 `json:"alpha" flag:"alpha" tune:"0.5|0.7|0.9"`
	// B is the B of the margin B sqrt((p-1)/k) at update k, 0 to derive it from alpha. Default 0; 0
	// or more.
	B float64 `json:"B" flag:"B"`
	// C is the C of the step C/sqrt((p-1) k) at update k, with B, 0 for sqrt(2). Default 0; 0 or
	// more.
	C float64 `json:"C" flag:"C"`

	OnlineConfig
}

// Validate wants P >= 2, Alpha in [0,1], B and C >= 0, B only without Alpha, C only with B, and a
// kernel, with P = 2 if it isn't the plain inner product.
func (c *ALMAConfig) Validate() error {
	check := func(name string, v float64, ok bool, want string) error {
		return learner.CheckSetting("alma", name, v, ok, want)
	}
	if err := cmp.Or(check("p", c.P, c.P >= 2, "a number >= 2"), check("alpha", c.Alpha,
		c.Alpha >= 0 && c.Alpha <= 1, "a number in (0,1], or 0 for none"),
		check("B", c.B, c.B >= 0, "a number > 0, or 0 for none"),
		check("C", c.C, c.C >= 0, "a number > 0, or 0 for sqrt(2)")); err != nil {
		return err
	}
	switch {
	case c.Alpha != 0 && c.B != 0:
		return fmt.Errorf("alma: alpha is %v and B is %v, want one of them: %w", c.Alpha, c.B,
			learner.ErrConfig)
	case c.C != 0 && c.B == 0:
		return fmt.Errorf("alma: C is %v without B; alpha sets both: %w", c.C, learner.ErrConfig)
	case !c.Linear() && c.P != 2:
		return fmt.Errorf("alma: p is %v and the kernel %s: kernels have p = 2 only: %w", c.P,
			c.kernel().EngineKernel().Kind, learner.ErrConfig)
	}
	return c.OnlineConfig.validate("alma")
}

// Traits is Config.Traits: what makes use of scores, of all of a data set and of a soft margin, has
// p = 2 only; with a kernel a stream's examples are kept.
func (c *ALMAConfig) Traits() learner.Traits {
	t := margin.Traits()
	t.Norm, t.Weights = c.P, true
	t.Whole, t.SoftDelta, t.Cut = c.P == 2, c.P == 2, c.P == 2
	t.Memory = func(x learner.Extent) learner.Footprint {
		return primal.FeatureMemory(x, "weights", x.Elem+8, 8)
	}
	if c.P == 2 { // an update changes what the example has, and a factor
		t.Members = membersOf(ensemble.MemberForm{Unit: true}, func(precision) rule {
			return c.rule(1)
		})
		t.Memory = primal.LinearMemory(margin.AddCycle)
	}
	return c.traits("alma", t, sized(c))
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

func newALMA[T learner.Float](cfg ALMAConfig, env learner.Env) (learner.Learner[T], error) {
	if !cfg.Linear() {
		return newOnline[T](cfg.kernel(), cfg.Budget, cfg.rule(1), env)
	}
	l := &alma[T]{Linear: primal.NewLinear[T]("alma", 1), cfg: cfg, c: 1,
		power: primal.PowerOf(cfg.P - 1), root: primal.PowerOf(1 / cfg.P)}
	l.Walk = l.fields
	return l, nil
}

// rule is (2) to (5) for p = 2, where f is the identity, of examples divided by R. For other p it
// is (2) and (3). That |w|^2 is carried along and never taken from the weights costs no accuracy:
// errors are small against 1, and (5) shrinks them with the rest.
func (c *ALMAConfig) rule(R float64) rule {
	cfg := *c
	return rule{name: "alma", weights: true, length: atMostUnit, // (5)
		due: func(updates int64, _ float64) float64 { // (2)
			return float64(R * cfg.threshold(float64(updates+1)))
		},
		step: func(x example) update { // (3), (4)
			return x.adds(float64(cfg.rate(float64(x.updates+1))*x.weight) / R)
		}}
}

// alma is ALMA on weights.
type alma[T learner.Float] struct {
	primal.Linear[T] // p = 2: the factor is in (0, 1]
	cfg              ALMAConfig
	rule             rule // of examples divided by ruleR
	ruleR            float64
	// what examples are divided by; 0: open, nothing was learned (or the state is one that didn't
	// hold it)
	R     float64
	norm2 float64 // p = 2: |w|^2, the factor included

	// p > 2
	power primal.Power // p-1
	root  primal.Power // 1/p
	theta []float64    // t; W has its powers
	c     float64      // 0 in the form of older states, until the next update: f(w) = t
	sum   primal.Sum   // S
	norm  float64      // |f(w)|_p, as step (5) left it
}

func (a *alma[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := a.Begin(b, rounds, true); err != nil {
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
	if a.rule.step == nil || R != a.ruleR {
		a.rule, a.ruleR = a.cfg.rule(R), R
	}
	rule := &a.rule
	due := rule.dueAt(a.UpdateCount, 0)
	for i := range b.Len() {
		f, y := float64(a.Scale*a.Dot(b, i)), float64(b.Y[i])
		rounds[i] = learner.Round{Score: f}
		x := example{float64(y * f), 0, a.norm2, float64(b.Weight(i)), a.UpdateCount}
		if x.margin > due || x.weight == 0 {
			continue
		}
		if a.cfg.P == 2 {
			x.sq = primal.SumSq(b, i)
		}
		u := rule.step(x)
		if a.UpdateCount++; a.cfg.P > 2 {
			a.updateP(b, i, float64(u.add*y))
		} else {
			a.update2(b, i, float64(u.add*y), u.norm2)
		}
		rounds[i].Updates = 1
		due = rule.dueAt(a.UpdateCount, 0)
	}
	return nil
}

// update2 is (4) and (5) for p = 2; norm2 is |w|^2 after (4).
func (a *alma[T]) update2(b *engine.Block[T], i int, step, norm2 float64) {
	a.Add(b, i, T(step/a.Scale))
	if a.norm2 = norm2; !(norm2 > 1) {
		return
	}
	a.Scale /= math.Sqrt(norm2)
	a.norm2 = 1
	a.Fold()
}

// Fit is Fitter.Fit, for p = 2 only: ErrConfig else. Examples count as divided by R, or by what
// they were divided by before.
func (a *alma[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
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
	rule := &margin.LengthRule{Rate: C / a.R, Updates: a.UpdateCount, Longest: 1 / a.Scale,
		Divides: true, Factors: func(k int64, thresholds, divisors []float64) {
			for i := range thresholds {
				thresholds[i], divisors[i] = margins, math.Sqrt(float64(k+int64(i)))
			}
		}}
	c.Begin(rule, false)
	before := a.UpdateCount
	return c.Run(ctx, func(res *learner.FitResult) {
		a.Cut = c.Cut
		a.W, a.Scale = c.Weights(func(float64) float64 { return 1 / rule.Longest }), 1
		a.norm2 = 0
		for _, v := range a.W {
			a.norm2 += float64(float64(v) * float64(v))
		}
		a.UpdateCount = before + res.Updates
		res.Counter = a.UpdateCount + 1
	})
}

func (a *alma[T]) Bytes() int64 {
	return primal.BytesOf(a.W) + primal.BytesOf(a.theta) + int64(unsafe.Sizeof(*a))
}

// fields walks for p = 2 the tensor w with the scalars scale and norm2, and R once something was
// learned; for p > 2 the float64 tensor theta, which is t, with the scalars scale, which is c,
// length, which is |f(w)|_p, and sum, from which w follows.
func (a *alma[T]) fields(c *learner.Codec) {
	c.Then(func() { a.R = 0 })
	if a.cfg.P > 2 {
		a.fieldsP(c)
		return
	}
	w := a.Fields(c)
	scale, norm2 := c.Scalar("scale", &a.Scale), c.Scalar("norm2", &a.norm2)
	if c.Reading() {
		err := ensemble.CheckBall(scale, norm2, engine.SumSqOrdered(w))
		c.Want(err == nil, "%w", err)
	}
	// states written before it was kept have none
	if c.Optional("R", a.UpdateCount > 0 && a.R > 0) {
		R := c.Scalar("R", &a.R)
		c.Want(R > 0, "scalar %q is %v, want a number > 0", "R", R)
	}
	c.Part(learner.CutPrefix, &a.Cut, margin.CheckCycleCut)
}
