package learners

import (
	"math"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

func init() { learner.Register("lms", (*LMSConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*LMSConfig) Entry() learner.Entry {
	return learner.EntryFor(LMSConfig{Eta: 0.5}, newLMS[float32], newLMS[float64], learner.Entry{
		Summary: "least mean squares (Widrow-Hoff)",
	})
}

// LMSConfig is least mean squares: one gradient step an example, on its squared error.
//
// Reference: B. Widrow, M. E. Hoff, "Adaptive Switching Circuits", IRE WESCON Convention Record
// 4:96-104, 1960.
//
//	minimise (y_t - w.x_t)^2 / 2:   w_{t+1} = w_t + eta (y_t - w_t . x_t) x_t        (w_1 = 0)
//
//	paper       here         shape, unit
//	x_t, y_t    block        example; the label is the target, -1 or +1
//	w_t         w            one a feature
//	eta         Config.Eta   fixed
//
// Deviations: none. A weight multiplies eta: the error is w (y - w.x)^2/2. The rule fires on every
// example that w does not fit exactly, so "no update in a pass" is no stopping rule for LMS.
//
// Guarantee: a step multiplies the example's own residual by 1 - eta |x|^2, so with eta |x|^2 < 2
// it shrinks; TestLMSResidual. Beyond that LMS diverges: bring examples to unit length.
//
// Cost: one dot and one axpy an example: O(non-zeros). Memory: one T a feature.
type LMSConfig struct {
	// Eta is the step size, stable below 2 over the squared maximum norm. Default 0.5; above 0.
	Eta float64 `json:"eta" flag:"eta" tune:"0.001|0.01|0.1|0.5"`
}

// Validate wants Eta > 0.
func (c *LMSConfig) Validate() error {
	return learner.CheckSetting("lms", "eta", c.Eta, c.Eta > 0, "a number > 0")
}

// Traits is Config.Traits.
func (c *LMSConfig) Traits() learner.Traits {
	t := learner.LinearTraits()
	t.Memory = primal.LinearMemory()
	t.Weights, t.Forgets, t.Mixes = true, true, true
	t.Members = membersOf(ensemble.MemberForm{Additive: true}, c.rule)
	return t
}

func newLMS[T learner.Float](cfg LMSConfig, _ learner.Env) (learner.Learner[T], error) {
	return newAdditive[T](cfg.rule(precision{})), nil
}

// rule is the step, with y (y - w.x) = 1 - y w.x.
func (c *LMSConfig) rule(precision) rule {
	eta := c.Eta
	return rule{name: "lms", weights: true, margin: math.Inf(1),
		add: func(margin, _, weight float64) float64 {
			return float64(float64(eta*(1-margin)) * weight)
		}}
}
