package learners

import (
	"cmp"
	"fmt"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

func init() { learner.Register("pa", (*PAConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*PAConfig) Entry() learner.Entry {
	return learner.EntryFor(PAConfig{Variant: 1}, newPA[float32], newPA[float64], learner.Entry{
		Summary:  "passive-aggressive: PA, PA-I, PA-II",
		Optional: []string{"grown"},
	})
}

// PAConfig is passive-aggressive: the weights change as little as brings an example's margin to 1
// (PA), or as a trade of that against the loss that remains (PA-I, PA-II).
//
// Reference: K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, "Online
// Passive-Aggressive Algorithms", JMLR 7:551-585, 2006, Figure 1. With the hinge loss l_t = max(0,
// 1 - y_t (w_t . x_t)):
//
//	PA     min |w - w_t|^2/2           subject to l = 0           tau_t = l_t/|x_t|^2
//	PA-I   min |w - w_t|^2/2 + C xi    subject to l <= xi, xi>=0  tau_t = min(C, l_t/|x_t|^2)
//	PA-II  min |w - w_t|^2/2 + C xi^2  subject to l <= xi         tau_t = l_t/(|x_t|^2 + 1/(2C))
//	w_{t+1} = w_t + tau_t y_t x_t        (w_1 = 0)
//
//	paper       here             shape, unit
//	x_t, y_t    block            example; label, -1 or +1
//	w_t         w                one a feature
//	C           Config.C         aggressiveness, of PA-I and PA-II
//	tau_t       paStep
//
// Deviations: a weight multiplies C, the price of the example's loss; PA has none and takes none.
// An all-zero example is skipped (PA's problem has no solution there, and the others' solution is
// w_t), and so is one so short that tau_t is beyond the range of T.
//
// Guarantee: after a step of PA the example's loss is 0, and PA-I's step is at most C;
// TestPALossAfterStep. Over a separable run with margin 1 by u, the sum of squared losses is at
// most R^2 |u|^2 (Theorem 2); TestPASeparableBound.
//
// Cost: one dot an example, one sum of squares and one axpy an update: O(non-zeros). Memory: one T
// a feature. With a kernel see [OnlineConfig].
type PAConfig struct {
	// Variant is the rule: 0 is PA, 1 is PA-I, 2 is PA-II. Default 1; 0, 1 or 2.
	Variant int `json:"variant" flag:"variant" values:"0|1|2"`
	// C is the aggressiveness, the penalty of the remaining loss, 0 for 1. Default 0; 0 or more.
	C float64 `json:"C" flag:"C" with:"variant=1|2" tune:"0.01|0.1|1|10"`

	OnlineConfig
}

// Validate wants a Variant of 0, 1 or 2, C >= 0, or 0 with variant 0, which has none, and a kernel.
func (c *PAConfig) Validate() error {
	return cmp.Or(c.checkRule("pa"), c.OnlineConfig.validate("pa"))
}

// checkRule is Validate of Variant and C, for a learner of that name.
func (c *PAConfig) checkRule(name string) error {
	if c.Variant < 0 || c.Variant > 2 {
		return fmt.Errorf("%s: variant is %d, want 0 (PA), 1 (PA-I) or 2 (PA-II): %w", name,
			c.Variant, learner.ErrConfig)
	}
	if c.Variant == 0 && c.C != 0 {
		return fmt.Errorf("%s: C is %v, but variant 0 has none; want variant 1 or 2: %w", name,
			c.C, learner.ErrConfig)
	}
	return learner.CheckSetting(name, "C", c.C, c.C >= 0, "a number > 0, or 0 for 1")
}

// Traits is Config.Traits: with a kernel the examples learned are kept.
func (c *PAConfig) Traits() learner.Traits {
	t := learner.LinearTraits()
	t.Memory = primal.LinearMemory()
	t.Weights, t.Forgets, t.Mixes = c.Variant != 0, true, true
	t.Members = membersOf(ensemble.MemberForm{Additive: true, Toward: true, Norm2: true}, c.rule)
	return c.traits("pa", t, sized(c))
}

func newPA[T learner.Float](cfg PAConfig, env learner.Env) (learner.Learner[T], error) {
	r := cfg.rule(precision{})
	if !cfg.Linear() {
		return newOnline[T](cfg.kernel(), cfg.Budget, r, env)
	}
	return newAdditive[T](r), nil
}

// rule is Figure 1.
func (c *PAConfig) rule(precision) rule {
	variant, C := c.Variant, c.price()
	return rule{name: "pa", weights: variant != 0, lengths: true, margin: 1,
		add: func(margin, sq, weight float64) float64 {
			loss := 1 - margin // suffer loss
			if !(loss > 0 && sq > 0) {
				return 0
			}
			return paStep(variant, float64(C*weight), loss, sq) // set
		}}
}

// price returns C.
func (c *PAConfig) price() float64 {
	if c.C == 0 {
		return 1
	}
	return c.C
}

// paStep returns tau_t for the loss and |x|^2 of an example, both > 0.
func paStep(variant int, C, loss, sq float64) float64 {
	if variant == 2 {
		sq += 1 / float64(2*C)
	}
	tau := loss / sq
	if variant == 1 && C < tau {
		return C
	}
	return tau
}
