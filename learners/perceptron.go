package learners

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

func init() { learner.Register("perceptron", (*PerceptronConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*PerceptronConfig) Entry() learner.Entry {
	return learner.EntryFor(PerceptronConfig{Eta: 1},
		newPerceptron[float32], newPerceptron[float64], learner.Entry{
			Summary:  "the perceptron, optionally with a margin",
			Holding:  holdWeights,
			Optional: []string{"grown"},
		})
}

// PerceptronConfig is the perceptron: an example is added to the weights if its margin is at most
// b, or, with Beta, at most that share of the weights' length: the marginalised perceptron.
//
// Reference: F. Rosenblatt, "The Perceptron: A Probabilistic Model for Information Storage and
// Organization in the Brain", Psychological Review 65(6):386-408, 1958. With a margin: R. O. Duda,
// P. E. Hart, "Pattern Classification and Scene Analysis", Wiley, 1973, section 5.5. The rule is
// Algorithm 1 of E. Harrington, R. Herbrich, J. Kivinen, J. C. Platt, R. C. Williamson, "Online
// Bayes Point Machines", PAKDD 2003:
//
//	if y_t (w_k . x_t) <= b         then w_{k+1} = w_k + eta y_t x_t        (w_1 = 0)
//	if y_t (w_k . x_t) / |w_k| <= rho    likewise, of the marginalised perceptron
//
//	paper       here            shape, unit
//	x_t, y_t    block           example; label, -1 or +1
//	w_k         w               one a feature
//	rho_k |w|   Config.Margin   b, of y f; Config.MarginRel is b/R^2
//	rho         Config.Beta     of weights of length 1; without a kernel
//	eta_k       Config.Eta      fixed
//
// With a kernel, lambda > 0 and a budget it is NORMA with the hinge loss and truncation (J.
// Kivinen, A. J. Smola, R. C. Williamson, "Online Learning with Kernels", NIPS 14, 2002):
//
//	w_{k+1} = (1 - eta lambda) w_k, then eta y_t phi(x_t) is added if y_t f(x_t) <= b
//
// as what is added all has one length with the RBF kernel, the shortest part of w, which makes
// room, is the oldest. TestNORMA.
//
// Deviations: without Beta the margin b is that of w.x (line 3 of Algorithm 1 divides by |w|), as
// in the CRAMMA paper and in the published tables. A zero score is a mistake. A weight multiplies
// eta. |w|^2 is carried along, and measured as in [MICRAConfig].
//
// Guarantee: if some unit u has y (u.x) >= gamma for all examples and |x| <= R, the perceptron
// without margin updates at most (R/gamma)^2 times over any number of epochs (A. B. J. Novikoff,
// "On convergence proofs on perceptrons", 1962); with margin b at most (R^2 + 2b/eta)/gamma^2.
// TestPerceptronNovikoff. With Beta below gamma the updates end, too, and every example then has a
// margin y (w.x)/|w| above Beta: TestMarginalPerceptron.
//
// Cost: one dot an example, one axpy an update: O(non-zeros); with Beta a sum of squares, too, and
// O(features) every 1024 updates. Memory: one T a feature. With a kernel see [OnlineConfig].
type PerceptronConfig struct {
	// Margin is the margin b up to which an example is learned: y f <= b. Default 0; 0 or more.
	Margin float64 `json:"margin" flag:"margin" tune:"0|0.1|1|10"`
	// MarginRel is the margin as b/R^2, R the maximum norm, with an appended bias and the soft
	// margin.
	//
	// With a kernel R^2 is K(x, x) of that example. Default 0; 0 or more.
	MarginRel float64 `json:"margin_rel" flag:"margin-rel"`
	// Beta is the margin for weights of norm 1, up to which an example is learned: y f <= beta |w|.
	//
	// It goes without Margin, MarginRel and a kernel. Default 0; 0 or more.
	Beta float64 `json:"beta,omitzero" flag:"beta"`
	// Eta is the step size. Default 1; above 0.
	Eta float64 `json:"eta" flag:"eta"`
	// Lambda shrinks the weights in a kernel's space by 1 - eta lambda at each example: NORMA.
	//
	// With a kernel only, and times eta below 1. The budget drops the oldest. Default 0; 0 to below
	// 1.
	Lambda float64 `json:"lambda,omitzero" flag:"lambda" with:"kernel=poly|rbf,scale"`

	OnlineConfig
}

// Validate wants Margin, MarginRel and Beta >= 0, one of them at most, Eta > 0 and a kernel, which
// is the plain inner product with Beta.
func (c *PerceptronConfig) Validate() error {
	check := func(name string, v float64, ok bool, want string) error {
		return learner.CheckSetting("perceptron", name, v, ok, want)
	}
	if err := cmp.Or(check("margin", c.Margin, c.Margin >= 0, "a number >= 0"),
		check("margin-rel", c.MarginRel, c.MarginRel >= 0, "a number >= 0"),
		check("beta", c.Beta, c.Beta >= 0, "a number >= 0"),
		check("eta", c.Eta, c.Eta > 0, "a number > 0"),
		check("lambda", c.Lambda, c.Lambda >= 0 && float64(c.Eta*c.Lambda) < 1,
			"a number >= 0 and below 1/eta")); err != nil {
		return err
	}
	switch {
	case c.Margin != 0 && c.MarginRel != 0:
		return fmt.Errorf("perceptron: margin is %v and margin-rel is %v, want one of them: %w",
			c.Margin, c.MarginRel, learner.ErrConfig)
	case c.Beta != 0 && (c.Margin != 0 || c.MarginRel != 0):
		return fmt.Errorf("perceptron: beta is %v beside a margin or margin-rel, want one of "+
			"them: %w", c.Beta, learner.ErrConfig)
	case c.Beta != 0 && !c.Linear():
		return fmt.Errorf("perceptron: beta is %v and the kernel %s: with a kernel take margin or "+
			"margin-rel: %w", c.Beta, c.kernel().EngineKernel().Kind, learner.ErrConfig)
	}
	return c.OnlineConfig.validate("perceptron")
}

// Traits is Config.Traits: with a kernel a stream's examples are kept.
func (c *PerceptronConfig) Traits() learner.Traits {
	t := margin.Traits()
	t.Relative, t.Members = c.MarginRel != 0 && c.relativeLengths(), c.members()
	t.Weights, t.Forgets, t.Mixes = true, c.Beta == 0, c.Beta == 0
	t.Memory = primal.LinearMemory(margin.AddFixedCycle)
	if c.Beta != 0 {
		t.ActiveSet, t.Memory = true, primal.LinearMemory(margin.AddPasses)
		t.Remedies = []learner.Remedy{{Change: "lower", Setting: "beta"}}
	}
	return c.traits("perceptron", t, sized(c))
}

// Resolve sets Margin = MarginRel R^2 and clears MarginRel.
func (c *PerceptronConfig) Resolve(f learner.Facts) (learner.Config, error) {
	r := *c
	if c.MarginRel == 0 {
		return &r, nil
	}
	R2 := c.self(f.R2())
	r.Margin, r.MarginRel = float64(c.MarginRel*R2), 0
	ok := R2 > 0 && r.Margin-r.Margin == 0
	if err := learner.CheckSetting("perceptron", "R^2", R2, ok, "a finite number > 0"); err != nil {
		return nil, err
	}
	return &r, nil
}

// unresolved is the error of a learner that is made before Resolve.
func (c *PerceptronConfig) unresolved() error {
	return fmt.Errorf("perceptron: margin-rel is %v and R is not known: call Resolve first: %w",
		c.MarginRel, learner.ErrConfig)
}

func newPerceptron[T learner.Float](cfg PerceptronConfig, env learner.Env) (learner.Learner[T],
	error) {
	if cfg.MarginRel != 0 {
		if cfg.relativeLengths() {
			return nil, cfg.unresolved()
		}
		cfg.Margin = float64(cfg.MarginRel * cfg.self(0))
	}
	if !cfg.Linear() {
		l, err := newOnline[T](cfg.kernel(), cfg.Budget, cfg.rule(cfg.Eta), env)
		l.fade = 1 - float64(cfg.Eta*cfg.Lambda)
		return l, err
	}
	if cfg.Beta != 0 {
		return newScaledLinear[T](cfg.rule(cfg.Eta), passes{sums: true, least: cfg.Beta,
			// for every v of length 1, |w| >= w.v >= margin(v) times the sum of the steps
			bound: func(norm2, sum float64) float64 {
				if !(sum > 0) {
					return math.Inf(1)
				}
				return math.Sqrt(norm2) / sum
			}}), nil
	}
	return newPlain[T](&cfg), nil
}

// rule is Algorithm 1 of the OBPM paper with that step.
func (c *PerceptronConfig) rule(eta float64) rule {
	r := rule{name: "perceptron", weights: true, margin: c.Margin, // line 3
		add: func(margin, _, weight float64) float64 { // line 4
			if math.IsNaN(margin) {
				return 0
			}
			return float64(eta * weight)
		}}
	if beta := c.Beta; beta != 0 {
		r.relative = true
		r.due = func(_ int64, norm2 float64) float64 { return float64(beta * math.Sqrt(norm2)) }
	}
	return r
}

// perceptron is the perceptron without Beta and a kernel, which has a Fit of its own.
type perceptron[T learner.Float] struct {
	additive[T]
	cfg *PerceptronConfig
}

func newPlain[T learner.Float](cfg *PerceptronConfig) *perceptron[T] {
	p := &perceptron[T]{*newAdditive[T](cfg.rule(float64(T(cfg.Eta)))), cfg}
	p.Walk = func(c *learner.Codec) {
		p.Fields(c)
		c.Part(learner.CutPrefix, &p.Cut, margin.CheckCycleCut)
	}
	return p
}

// holdWeights is Entry.Holding: one weight vector without a bias.
func holdWeights(h *learner.Hypothesis) (learner.Config, learner.State, bool) {
	if len(h.Outputs) != 1 || h.Outputs[0].Weights == nil || h.Outputs[0].Bias != 0 ||
		h.Outputs[0].Divisor != 1 || h.Fourier != nil {
		return nil, learner.State{}, false
	}
	c := &PerceptronConfig{Eta: 1}
	p := newPlain[float64](c)
	p.W = h.Outputs[0].Weights
	return c, p.State(), true
}

func (p *perceptron[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
	learner.FitResult, error) {
	c, _, err := margin.NewCycle("perceptron", b, o, p.W, p.UpdateCount)
	if err != nil {
		return learner.FitResult{}, err
	}
	if err := c.BeginFixed(&margin.FixedMargin{Margin: p.cfg.Margin, Eta: p.cfg.Eta},
		p.Cut); err != nil {
		return learner.FitResult{}, err
	}
	before := p.UpdateCount
	return c.Run(ctx, func(res *learner.FitResult) {
		p.Cut = c.Cut
		p.W = c.Weights(func(float64) float64 { return c.Unit })
		p.UpdateCount = before + res.Updates
		res.Counter = p.UpdateCount + 1
	})
}

// members is the members' form of the perceptron.
func (c *PerceptronConfig) members() *ensemble.MemberForm {
	if c.Beta != 0 {
		return membersOf(ensemble.MemberForm{}, func(precision) rule { return c.rule(c.Eta) })
	}
	return &ensemble.MemberForm{Additive: true, Toward: true,
		Rule32: func(int) (ensemble.MemberRule[float32], error) { return newFixed[float32](c) },
		Rule64: func(int) (ensemble.MemberRule[float64], error) { return newFixed[float64](c) },
	}
}

// fixedMembers are members of a fixed margin and step, which ensembles step in vector lanes.
type fixedMembers[T learner.Float] struct {
	additiveMembers[T]
	margin, eta T
}

func newFixed[T learner.Float](c *PerceptronConfig) (ensemble.MemberRule[T], error) {
	if c.MarginRel != 0 {
		return nil, c.unresolved()
	}
	m := &fixedMembers[T]{margin: T(c.Margin), eta: T(c.Eta)}
	m.rule = c.rule(float64(m.eta))
	return m, nil
}

func (m *fixedMembers[T]) Fixed() (margin, step T, ok bool) { return m.margin, m.eta, true }
