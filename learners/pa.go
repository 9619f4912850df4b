package learners

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*PA[float32])(nil)

func init() { learner.Register("pa", (*PAConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*PAConfig) Entry() learner.Entry {
	return learner.Entry{
		Summary: "passive-aggressive: PA, PA-I, PA-II",
		Config:  func() learner.Config { return &PAConfig{Variant: 1} },
		New32:   newPA[float32], New64: newPA[float64],
		Optional: []string{"grown"},
	}
}

// PA changes its weights as little as brings an example's margin to 1 (PA), or as a trade of that
// against the loss that remains (PA-I, PA-II).
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
//	tau_t       (*PAConfig).step
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
// a feature. With a kernel see [OnlineKernel].
type PA[T learner.Float] struct {
	primal.Linear[T]
	cfg PAConfig
}

// PAConfig holds the settings of PA.
type PAConfig struct {
	// Variant is the rule: 0 is PA, 1 is PA-I, 2 is PA-II. Default 1; 0, 1 or 2.
	Variant int `json:"variant" flag:"variant" values:"0|1|2"`
	// C is the aggressiveness, the price of a loss that remains, 0 for 1. Default 0; 0 or more.
	C float64 `json:"C" flag:"C" with:"variant=1|2" tune:"0.01|0.1|1|10"`

	OnlineConfig
}

// Validate wants a Variant of 0, 1 or 2, C >= 0, or 0 with variant 0, which has none, and a kernel.
func (c *PAConfig) Validate() error {
	if err := c.checkRule("pa"); err != nil {
		return err
	}
	return c.OnlineConfig.validate("pa")
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
	t.Members, t.Weights, t.Forgets, t.Mixes = c.members(), c.Variant != 0, true, true
	return c.traits("pa", t, func(n int) learner.Config {
		d := *c
		d.Budget = n
		return &d
	})
}

// Resolve is Config.Resolve: nothing is relative to the data.
func (c *PAConfig) Resolve(learner.Facts) (learner.Config, error) {
	return learner.Absolute(c), nil
}

// Memory is Config.Memory: one T a feature; with a kernel the kept examples.
func (c *PAConfig) Memory(x learner.Extent) learner.Footprint {
	if !c.Linear() {
		return onlineMemory(x, c.Budget)
	}
	return primal.LinearFootprint(x, 0)
}

// step returns tau_t for the loss, |x|^2 and the weight of an example, all > 0 (Figure 1, line
// "set").
func (c *PAConfig) step(loss, sq, w float64) float64 {
	C := c.C
	if C == 0 {
		C = 1
	}
	C = float64(C * w)
	switch c.Variant {
	case 0:
		return loss / sq
	case 1:
		return min(C, loss/sq)
	default:
		return loss / (sq + 1/float64(2*C))
	}
}

func newPA[T learner.Float](c learner.Config, env learner.Env) (learner.Learner[T], error) {
	cfg, err := learner.ConfigAs[PAConfig]("pa", c)
	if err != nil {
		return nil, err
	}
	if !cfg.Linear() {
		return newWeighted[T]("pa", &cfg.OnlineConfig, cfg.Variant != 0, &paOnline{cfg}, env)
	}
	return &PA[T]{Linear: primal.NewLinear[T](), cfg: cfg}, nil
}

// Learn is Learner.Learn.
func (p *PA[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := p.Begin("pa", b, rounds); err != nil {
		return err
	}
	if p.cfg.Variant == 0 && b.Weighted() {
		return fmt.Errorf("pa: variant 0 has no price of losses: %w", learner.ErrWeights)
	}
	for i := range b.Len() {
		f, y := p.Dot(b, i), float64(b.Y[i])
		rounds[i] = learner.Round{Score: f}
		loss := 1 - float64(y*f) // Figure 1: suffer loss
		w := float64(b.Weight(i))
		if !(loss > 0) || w == 0 {
			continue
		}
		sq := primal.SumSq(b, i)
		// an infinite step would end all learning
		if a := T(p.cfg.step(loss, sq, w) * y); sq > 0 && a-a == 0 {
			p.Add(b, i, a) // Figure 1: update
			p.UpdateCount++
			rounds[i].Updates = 1
		}
	}
	return nil
}

// Score is Learner.Score.
func (p *PA[T]) Score(b *engine.Block[T], dst []float64) error {
	return p.Scores("pa", 1, b, dst)
}

// Forget is [learner.Forgetter.Forget].
func (p *PA[T]) Forget(keep float64) error { return p.Weaken("pa", keep) }

// Snapshot is Learner.Snapshot.
func (p *PA[T]) Snapshot() learner.Predictor[T] {
	return p.Hypothesis("pa", 1).Copied()
}

// View is for [learner.ViewOf].
func (p *PA[T]) View() learner.Predictor[T] { return p.Hypothesis("pa", 1).View() }

// SetState is Learner.SetState.
func (p *PA[T]) SetState(s learner.State) error { return learner.SetState("pa", s, p.Fields) }

// CheckState is Learner.CheckState.
func (p *PA[T]) CheckState(s learner.State) error { return learner.CheckState("pa", s, p.Fields) }

// paOnline is the rule in the space of a kernel: see [OnlineKernel].
type paOnline struct{ cfg PAConfig }

func (r *paOnline) violates(m float64, _ int64) bool { return m < 1 }

func (r *paOnline) step(m, K, norm2, w float64, _ int64) onlineStep {
	if K == 0 {
		return onlineStep{}
	}
	tau := r.cfg.step(1-m, K, w)
	return onlineStep{c: 1, a: tau, norm2: added(m, K, norm2, tau)}
}

func (r *paOnline) bound(float64) float64 { return 1 }

// paRule: see PA.
type paRule[T learner.Float] struct {
	learner.Additive[T]
	cfg PAConfig
}

// Step is learner.MemberRule.Step.
func (r *paRule[T]) Step(sums []float64, mask []uint64, _ int, s []T, y, w T, norm2 float64,
	coef []T) (int, []T) {
	return ensemble.EachMember(mask, func(l int) bool {
		loss := 1 - float64(float64(y)*float64(s[l]))
		if !(loss > 0 && norm2 > 0) {
			return false
		}
		coef[l] = T(r.cfg.step(loss, norm2, float64(w)) * float64(y))
		sums[l/64] += float64(coef[l])
		return true
	}), coef
}

// members is the members' form of PA.
func (c *PAConfig) members() *learner.MemberForm {
	return &learner.MemberForm{Additive: true, Toward: true, Norm2: true,
		Rule32: func(int) (learner.MemberRule[float32], error) {
			return &paRule[float32]{cfg: *c}, nil
		},
		Rule64: func(int) (learner.MemberRule[float64], error) {
			return &paRule[float64]{cfg: *c}, nil
		},
	}
}
