package learners

import (
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*LMS[float32])(nil)

func init() { learner.Register("lms", (*LMSConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*LMSConfig) Entry() learner.Entry {
	return learner.Entry{
		Summary: "least mean squares (Widrow-Hoff)",
		Config:  func() learner.Config { return &LMSConfig{Eta: 0.5} },
		New32:   newLMS[float32], New64: newLMS[float64],
	}
}

// LMS takes one gradient step on the squared error of each example.
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
type LMS[T learner.Float] struct {
	primal.Linear[T]
	cfg LMSConfig
}

// LMSConfig holds the settings of LMS.
type LMSConfig struct {
	// Eta is the step size, of use below 2 over the squared length of the longest example. Default
	// 0.5; above 0.
	Eta float64 `json:"eta" flag:"eta" tune:"0.001|0.01|0.1|0.5"`
}

// Validate wants Eta > 0.
func (c *LMSConfig) Validate() error {
	return learner.CheckSetting("lms", "eta", c.Eta, c.Eta > 0, "a number > 0")
}

// Traits is Config.Traits.
func (c *LMSConfig) Traits() learner.Traits {
	t := learner.LinearTraits()
	t.Members, t.Weights, t.Forgets, t.Mixes = c.members(), true, true, true
	return t
}

// Resolve is Config.Resolve: nothing is relative to the data.
func (c *LMSConfig) Resolve(learner.Facts) (learner.Config, error) {
	return learner.Absolute(c), nil
}

// Memory is Config.Memory: one T a feature.
func (c *LMSConfig) Memory(x learner.Extent) learner.Footprint {
	return primal.LinearFootprint(x, 0)
}

func newLMS[T learner.Float](c learner.Config, _ learner.Env) (learner.Learner[T], error) {
	cfg, err := learner.ConfigAs[LMSConfig]("lms", c)
	if err != nil {
		return nil, err
	}
	return &LMS[T]{Linear: primal.NewLinear[T](), cfg: cfg}, nil
}

// Learn is Learner.Learn.
func (l *LMS[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := l.Begin("lms", b, rounds); err != nil {
		return err
	}
	for i := range b.Len() {
		f := l.Dot(b, i)
		rounds[i] = learner.Round{Score: f}
		if e, w := float64(b.Y[i])-f, float64(b.Weight(i)); e != 0 && w != 0 {
			l.Add(b, i, T(float64(l.cfg.Eta*e)*w))
			l.UpdateCount++
			rounds[i].Updates = 1
		}
	}
	return nil
}

// Score is Learner.Score.
func (l *LMS[T]) Score(b *engine.Block[T], dst []float64) error {
	return l.Scores("lms", 1, b, dst)
}

// Forget is [learner.Forgetter.Forget].
func (l *LMS[T]) Forget(keep float64) error { return l.Weaken("lms", keep) }

// Snapshot is Learner.Snapshot.
func (l *LMS[T]) Snapshot() learner.Predictor[T] {
	return l.Hypothesis("lms", 1).Copied()
}

// View is for [learner.ViewOf].
func (l *LMS[T]) View() learner.Predictor[T] { return l.Hypothesis("lms", 1).View() }

// SetState is Learner.SetState.
func (l *LMS[T]) SetState(s learner.State) error { return learner.SetState("lms", s, l.Fields) }

// CheckState is Learner.CheckState.
func (l *LMS[T]) CheckState(s learner.State) error { return learner.CheckState("lms", s, l.Fields) }

// lmsRule: see LMS.
type lmsRule[T learner.Float] struct {
	learner.Additive[T]
	eta float64
}

// Step is learner.MemberRule.Step.
func (r *lmsRule[T]) Step(sums []float64, mask []uint64, _ int, s []T, y, w T, _ float64,
	coef []T) (int, []T) {
	return ensemble.EachMember(mask, func(l int) bool {
		e := float64(y) - float64(s[l])
		coef[l] = T(float64(r.eta*e) * float64(w))
		sums[l/64] += float64(coef[l])
		return e != 0
	}), coef
}

// members is the members' form of LMS.
func (c *LMSConfig) members() *learner.MemberForm {
	return &learner.MemberForm{Additive: true,
		Rule32: func(int) (learner.MemberRule[float32], error) {
			return &lmsRule[float32]{eta: c.Eta}, nil
		},
		Rule64: func(int) (learner.MemberRule[float64], error) {
			return &lmsRule[float64]{eta: c.Eta}, nil
		},
	}
}
