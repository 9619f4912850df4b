package learners

import (
	"cmp"
	"context"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

func init() { learner.Register("cramma", (*CRAMMAConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*CRAMMAConfig) Entry() learner.Entry {
	return learner.EntryFor(CRAMMAConfig{Epsilon: 0.5, Beta: 1, Eta: 0.01, EtaDelta: 1},
		newCRAMMA[float32], newCRAMMA[float64], learner.Entry{
			Summary:  "CRAMMA, approximate maximal margin at a constant effective learning rate",
			Optional: []string{"grown"},
		})
}

// CRAMMA keeps a weight vector of length 1 and turns it towards examples whose geometric margin is
// at most a threshold, which shrinks with the number of updates, always by the same rate.
//
// Reference: P. Tsampouka, J. Shawe-Taylor, "Constant Rate Approximate Maximum Margin Algorithms",
// ECML 2006, LNAI 4212, 437-448. With y_k the reflected example (label times example) and t - 1
// updates so far:
//
//	(init) u_1 = y_1/|y_1|
//	(7)    update if u_t . y_k/R <= (beta/R) / t^epsilon
//	(6)    u_{t+1} = (u_t + eta_eff y_k/R) / |u_t + eta_eff y_k/R|
//	       eta_eff = eta_0 (beta/R)^-delta                     (Theorem 1)
//
//	paper       here              shape, unit
//	y_k         block             label times example
//	R           Config.R          length of the longest example, with rho and Delta
//	beta/R      Config.Beta       threshold of the first update, in units of R
//	epsilon     Config.Epsilon    > 0
//	eta_0       Config.Eta        > 0
//	delta       Config.EtaDelta   >= 0
//	t           updates + 1
//	u_t         scale * w         one a feature
//
// Deviations: on a stream u_1 is the first example with a feature, which is then also checked as an
// example, as in a first pass; its score before is 0. An example without features, and one that
// would leave nothing but rounding errors of u, change nothing. |u| is carried along by (6), and
// measured where its error has grown ([primal.Growth]) or after 1024 updates.
// R may be any length: what is learned then is CRAMMA's of beta/R and eta/R.
//
// Guarantee: on separable data with maximal directional margin gamma_d, the updates end if eta_eff
// < (sqrt(1 + 8 gamma_d/R) - 1)/2; for beta/R to infinity the margin reached tends to gamma_d where
// 0 < epsilon delta < 1 (Theorem 1). TestCRAMMAMargin. |u| stays 1: TestCRAMMAUnit.
//
// Cost: one dot an example, one axpy an update: O(non-zeros), and O(features) every 1024 updates at
// least. Memory: one T a feature. With a
// kernel see [OnlineConfig].
type CRAMMAConfig struct {
	// Epsilon is the exponent of the threshold: beta/t^epsilon at update t. Default 0.5; above 0.
	Epsilon float64 `json:"epsilon" flag:"epsilon"`
	// Beta is the threshold of the first update, in units of R. Default 1; above 0.
	Beta float64 `json:"beta" flag:"beta"`
	// Eta is the eta_0 of the rate eta_0 beta^-delta by which updates turn the weights. Default
	// 0.01; above 0.
	Eta float64 `json:"eta" flag:"eta"`
	// EtaDelta is the exponent delta of the rate eta_0 beta^-delta. Default 1; 0 or more.
	EtaDelta float64 `json:"eta_delta" flag:"eta-delta"`
	// R is the norm that beta and eta are relative to, 0 for the maximum norm, with an appended
	// bias and the soft margin.
	//
	// With a kernel a length is the root of K(x, x). Default 0; 0 or more.
	R float64 `json:"R" flag:"R"`

	OnlineConfig
}

// Validate wants Epsilon, Beta and Eta > 0, EtaDelta and R >= 0, and a kernel; R = 0 is open.
func (c *CRAMMAConfig) Validate() error {
	above := func(name string, v float64) error {
		return learner.CheckSetting("cramma", name, v, v > 0, "a number > 0")
	}
	return cmp.Or(above("epsilon", c.Epsilon), above("beta", c.Beta), above("eta", c.Eta),
		learner.CheckSetting("cramma", "eta-delta", c.EtaDelta, c.EtaDelta >= 0, "a number >= 0"),
		learner.CheckSetting("cramma", "R", c.R, c.R >= 0, "a length > 0, or 0 for that of the "+
			"data"),
		above("eta beta^-delta", c.rate()), c.OnlineConfig.validate("cramma"))
}

// Traits is Config.Traits: with a kernel a stream's examples are kept.
func (c *CRAMMAConfig) Traits() learner.Traits {
	t := margin.Traits()
	t.Memory = primal.LinearMemory(margin.AddCycle)
	t.Relative = c.R == 0 && c.relativeLengths()
	t.Members = membersOf(ensemble.MemberForm{Unit: true, Optional: true}, c.rule)
	return c.traits("cramma", t, sized(c))
}

// Resolve sets R if it is open.
func (c *CRAMMAConfig) Resolve(f learner.Facts) (learner.Config, error) {
	r := *c
	if c.R != 0 {
		return &r, nil
	}
	r.R = math.Sqrt(c.self(f.R2()))
	if err := learner.CheckSetting("cramma", "R", r.R, r.R > 0, "a length > 0"); err != nil {
		return nil, err
	}
	return &r, nil
}

// rate returns eta_eff.
func (c *CRAMMAConfig) rate() float64 { return c.Eta / primal.Pow(c.Beta, c.EtaDelta) }

// threshold returns the right side of (7).
func (c *CRAMMAConfig) threshold(t float64) float64 {
	switch c.Epsilon {
	case 0.5:
		return c.Beta / math.Sqrt(t)
	case 1:
		return c.Beta / t
	case 2:
		return c.Beta / float64(t*t)
	}
	return c.Beta / primal.Pow(t, c.Epsilon)
}

func newCRAMMA[T learner.Float](cfg CRAMMAConfig, env learner.Env) (learner.Learner[T], error) {
	r := cfg.rule(precisionOf[T]())
	if !cfg.Linear() {
		return newOnline[T](cfg.kernel(), cfg.Budget, r, env)
	}
	l := &cramma[T]{Linear: primal.NewLinear[T]("cramma", 0), rule: r, cfg: cfg}
	l.Walk = l.fields
	return l, nil
}

// rule is (init), (6) and (7). An R that is open is 1.
func (c *CRAMMAConfig) rule(p precision) rule {
	cfg := *c
	if cfg.R == 0 {
		cfg.R = 1
	}
	step := cfg.rate() / cfg.R
	return rule{name: "cramma", length: unitLength, first: true,
		due: func(updates int64, _ float64) float64 { // (7)
			return float64(cfg.threshold(float64(updates+1)) * cfg.R)
		},
		step: func(x example) update { // (6)
			u := x.adds(step)
			u.ok = x.sq > 0 && // more than rounding errors is left
				u.norm2 > float64(p.sine2*max(x.norm2, float64(float64(step*step)*x.sq)))
			return u
		}}
}

// cramma is CRAMMA on weights, whose factor is 1/|w|; 0 as long as there is no u_1.
type cramma[T learner.Float] struct {
	primal.Linear[T]
	rule  rule
	cfg   CRAMMAConfig
	grown float64 // see primal.Growth
}

func (c *cramma[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := c.Begin(b, rounds, false); err != nil {
		return err
	}
	due := c.rule.dueAt(c.UpdateCount, 1)
	for i := range b.Len() {
		f, y := float64(c.Scale*c.Dot(b, i)), float64(b.Y[i])
		rounds[i] = learner.Round{Score: f}
		m := float64(y * f)
		if c.Scale == 0 {
			n2 := primal.SumSq(b, i)
			if n2 == 0 {
				continue
			}
			c.Add(b, i, T(y)) // (init)
			c.Scale, m = 1/math.Sqrt(n2), math.Sqrt(n2)
		}
		if m > due {
			continue
		}
		u := c.rule.step(example{m, primal.SumSq(b, i), 1, 1, c.UpdateCount})
		if !u.ok {
			continue
		}
		c.UpdateCount++
		rounds[i].Updates = 1
		c.Add(b, i, T(float64(y*u.add)/c.Scale))
		c.Scale /= math.Sqrt(u.norm2)
		c.grown = primal.Growth(c.grown, 1/u.norm2)
		if c.grown > primal.MostGrowth || c.UpdateCount%primal.MeasureEvery == 0 {
			c.Scale, c.grown = 1/math.Sqrt(engine.SumSqOrdered(c.W)), 0
		}
		c.Fold()
		due = c.rule.dueAt(c.UpdateCount, 1)
	}
	return nil
}

// Fit is Fitter.Fit. R is Config.R, and where that is open that of the data.
func (c *cramma[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
	learner.FitResult, error) {
	run, R2, err := margin.NewCycle("cramma", b, o, c.W, c.UpdateCount)
	if err != nil {
		return learner.FitResult{}, err
	}
	R := c.cfg.R
	if c.cfg.R == 0 {
		R = math.Sqrt(R2)
	}
	if err := run.Resume(c.Cut); err != nil {
		return learner.FitResult{}, err
	}
	run.Begin(&margin.LengthRule{Rate: c.cfg.rate() / R, Updates: c.UpdateCount, // u = a/|a|
		Factors: func(t int64, thresholds, _ []float64) {
			for i := range thresholds {
				thresholds[i] = float64(c.cfg.threshold(float64(t+int64(i))) * R) // (7)
			}
		}}, c.Scale == 0)
	before := c.UpdateCount
	return run.Run(ctx, func(res *learner.FitResult) {
		c.Cut = run.Cut
		c.W, c.Scale = run.Weights(func(length float64) float64 { return 1 / length }), 1
		c.grown = 0
		c.UpdateCount = before + res.Updates
		res.Counter = c.UpdateCount + 1
	})
}

func (c *cramma[T]) fields(d *learner.Codec) {
	w := c.Linear.Fields(d)
	scale := d.Scalar("scale", &c.Scale)
	if d.Reading() {
		length := float64(scale * math.Sqrt(engine.SumSqOrdered(w)))
		zero := scale == 0 && engine.SumSqOrdered(w) == 0
		d.Want(zero || scale > 0 && length > 0 && length-length == 0,
			"scalar %q is %v, and the weights have the length %v", "scale", scale, length)
	}
	primal.GrowthField(d, &c.grown)
	d.Part(learner.CutPrefix, &c.Cut, margin.CheckCycleCut)
}
