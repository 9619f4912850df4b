package learners

import (
	"cmp"
	"math"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

func init() { learner.Register("micra", (*MICRAConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*MICRAConfig) Entry() learner.Entry {
	return learner.EntryFor(MICRAConfig{Beta: 0.1, Epsilon: 0.1, Eta: 1, Zeta: 0.9},
		newMICRA[float32], newMICRA[float64], learner.Entry{
			Summary: "MICRA, approximate maximal margin with a rule controlled by the number of " +
				"mistakes",
			Optional: []string{"grown"},
		})
}

// MICRA keeps weights of length 1 and turns them by steps that shrink with the number of updates,
// as does the margin below which it updates.
//
// Reference: P. Tsampouka, J. Shawe-Taylor, "Approximate Maximum Margin Algorithms with Rules
// Controlled by the Number of Mistakes", ICML 2007. With u_1 = y_1 x_1 / |x_1| and t = 1, 2, ...
// counting the updates from there:
//
//	(1) update if u_t . y x <= beta / t^epsilon
//	(2) u' = u_t + eta / t^zeta y x
//	(3) u_{t+1} = u' / |u'|
//
//	paper          here              shape, unit
//	x, y           block             example; label, -1 or +1
//	u_t            scale * w         one a feature
//	t              updates           the first example counts as an update, too
//	beta, epsilon  Config            margin, of examples of length at most 1
//	eta, zeta      Config            step
//
// Deviations: examples are taken as they are: the paper divides them by the length of the longest.
// The paper's values of the parameters are not known; the defaults are ours. An example without
// features, and one that would leave u' = 0, change nothing. Which Beta can be reached is known
// from the examples alone, so Validate takes any; Fit ends where it sees that it can't be.
//
// Guarantee: |u| = 1 after every update: TestMICRA.
//
// Cost: one dot an example, one axpy and a sum of squares an update: O(non-zeros), and O(features)
// every 1024 updates. Memory: one T a feature. With a kernel see [OnlineConfig].
type MICRAConfig struct {
	// Beta is the margin at the first update, for weights of norm 1. Default 0.1; 0 or more.
	Beta float64 `json:"beta" flag:"beta"`
	// Epsilon is the exponent of the margin: beta/t^epsilon at update t. Default 0.1; 0 to 1.
	Epsilon float64 `json:"epsilon" flag:"epsilon"`
	// Eta is the step at the first update, for weights of norm 1. Default 1; above 0.
	Eta float64 `json:"eta" flag:"eta"`
	// Zeta is the exponent of the step: eta/t^zeta at update t. Default 0.9; 0 to 1.
	Zeta float64 `json:"zeta" flag:"zeta"`

	OnlineConfig
}

// Validate wants Beta >= 0, Eta > 0, Epsilon and Zeta in [0,1], and a kernel.
func (c *MICRAConfig) Validate() error {
	check := func(name string, v float64, ok bool, want string) error {
		return learner.CheckSetting("micra", name, v, ok, want)
	}
	return cmp.Or(check("beta", c.Beta, c.Beta >= 0, "a number >= 0"),
		check("epsilon", c.Epsilon, c.Epsilon >= 0 && c.Epsilon <= 1, "a number in [0,1]"),
		check("eta", c.Eta, c.Eta > 0, "a number > 0"),
		check("zeta", c.Zeta, c.Zeta >= 0 && c.Zeta <= 1, "a number in [0,1]"),
		c.OnlineConfig.validate("micra"))
}

// Traits is Config.Traits: with a kernel a stream's examples are kept.
func (c *MICRAConfig) Traits() learner.Traits {
	t := margin.Traits()
	t.ActiveSet, t.Memory = true, primal.LinearMemory(margin.AddPasses)
	t.Members = membersOf(ensemble.MemberForm{Unit: true, Optional: true}, c.rule)
	t.Remedies = []learner.Remedy{{Change: "lower", Setting: "beta"}, {Change: "raise",
		Setting: "epsilon"}}
	return c.traits("micra", t, sized(c))
}

func newMICRA[T learner.Float](cfg MICRAConfig, env learner.Env) (learner.Learner[T], error) {
	r := cfg.rule(precisionOf[T]())
	if !cfg.Linear() {
		return newOnline[T](cfg.kernel(), cfg.Budget, r, env)
	}
	return newScaledLinear[T](r, passes{sums: true,
		least: cfg.Beta / primal.Pow(micraMost, cfg.Epsilon),
		// for every v of length 1, u.v = sum alpha_k y_k x_k.v >= margin(v) sum alpha_k, |u| = 1
		bound: func(_, sum float64) float64 {
			if !(sum > 0) {
				return math.Inf(1)
			}
			return 1 / sum
		}}), nil
}

// micraMost is the number of updates after which Fit would still not have come to an end where it
// gives up: at 10 ns each, more than a day. While the margin of (1) is FitResult.Bound or more some
// example is at or under it, so a run for which that would hold after 10^13 updates ends after the
// first pass that shows it, and has not converged: Beta is too large for these examples, or Epsilon
// too small (with Epsilon 0 the margin never falls).
const micraMost = 1e13

// rule is (1) to (3).
func (c *MICRAConfig) rule(p precision) rule {
	cfg := *c
	return rule{name: "micra", lengths: true, length: unitLength, // (3)
		due: func(updates int64, _ float64) float64 { // (1)
			if updates == 0 {
				return math.Inf(1)
			}
			return cfg.Beta / primal.Pow(float64(updates), cfg.Epsilon)
		},
		step: func(x example) update { // (2)
			a := 1.0 // u_1
			if x.updates > 0 {
				a = cfg.Eta / primal.Pow(float64(x.updates), cfg.Zeta)
			}
			u := x.adds(a)
			u.ok = x.sq > 0 && u.norm2 > float64(p.sine2*max(x.norm2, float64(float64(a*a)*x.sq)))
			return u
		}}
}
