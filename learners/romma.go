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

func init() { learner.Register("romma", (*ROMMAConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*ROMMAConfig) Entry() learner.Entry {
	return learner.EntryFor(ROMMAConfig{Delta: 0.1,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		newROMMA[float32], newROMMA[float64], learner.Entry{
			Summary:  "ROMMA and aggressive ROMMA, the relaxed online maximum margin algorithm",
			Optional: []string{"grown"},
		})
}

// ROMMAConfig is ROMMA: it keeps the shortest weights that give the last example it learned a
// margin of 1 and stay on the far side of the plane through the weights before, which stands for
// all earlier examples. The aggressive form approaches the maximal margin.
//
// Reference: Y. Li, P. M. Long, "The Relaxed Online Maximum Margin Algorithm", Machine Learning
// 46(1-3):361-387, 2002, as in (2) of the PUMMA paper (see [PUMMAConfig]). With w_1 = 0, on example
// t:
//
//	(1) update if y_t (w_t . x_t) <= 0;  aggressive: if y_t (w_t . x_t) < 1 - delta
//	(2) w_{t+1} = argmin |w|^2 / 2  subject to  y_t (w . x_t) >= 1,  w . w_t >= |w_t|^2
//
// With m = y_t (w_t . x_t), X = |x_t|^2, W = |w_t|^2 the solution of (2) is
//
//	(3) c w_t + d y_t x_t,  c = (XW - m)/(XW - m^2),  d = W (1-m)/(XW - m^2),  if XW > m
//	(4) y_t x_t / X                                                           otherwise
//	(5) |w_{t+1}|^2 = c W + d, as both constraints of (3) hold with equality
//
//	paper       here               shape, unit
//	x_t, y_t    block              example; label, -1 or +1
//	w_t         scale * w          one a feature
//	|w_t|^2     norm2
//	delta       Config.Delta       share of the maximal margin given up
//
// Deviations: an example without features, for which (2) has no solution, is skipped, as is one
// so short that T doesn't hold 1/|x|^2. Where x_t is parallel to w_t up to rounding, (2) has no
// solution or that of (4): (4) is taken. Examples that can't be separated let |w| grow without end;
// where |w|^2 would exceed 2^126, in float64 2^1000, (4) is taken too, so that learning starts
// again from x_t.
//
// Guarantee: if y (u.x) >= 1 for all examples of length at most R, |w_t| never falls and never
// exceeds |u|, and each update of the aggressive form adds at least (delta/R)^2 to |w_t|^2: at most
// (R |u|/delta)^2 updates, then a margin of at least (1-delta) times the maximal one. TestROMMA.
//
// Cost: one dot an example, one axpy and a sum of squares an update: O(non-zeros), and O(features)
// every 1024 updates. Memory: one T a feature. With a kernel see [OnlineConfig].
type ROMMAConfig struct {
	// Aggressive updates while y f < 1 - delta, not only on mistakes. Default false.
	Aggressive bool `json:"aggressive" flag:"aggressive"`
	// Delta is the fraction of the maximal margin given up. Default 0.1; above 0 to 1.
	Delta float64 `json:"delta" flag:"delta" with:"aggressive"`
	// Budget is the limit on support vectors of a stream, 0 for none. Default 0; 0 to 2^31-1.
	Budget int `json:"budget,omitempty" flag:"budget" with:"kernel=poly|rbf,scale"`

	learner.KernelConfig
}

// Validate wants Delta in (0,1], Budget >= 0 and a kernel.
func (c *ROMMAConfig) Validate() error {
	return cmp.Or(learner.CheckSetting("romma", "delta", c.Delta, c.Delta > 0 && c.Delta <= 1,
		"a number in (0,1]"), checkBudget("romma", c.Budget, 1), c.KernelConfig.Validate("romma"))
}

func (c *ROMMAConfig) budget() *int { return &c.Budget }

// Traits is Config.Traits: with a kernel a stream's examples are kept, and a whole data set's are
// learned by their rows of its Gram matrix, without a budget.
func (c *ROMMAConfig) Traits() learner.Traits {
	t := margin.Traits()
	t.ActiveSet, t.Halving, t.Cut = true, c.Aggressive, c.Linear()
	t.Memory = primal.LinearMemory(margin.AddPasses)
	if c.Linear() {
		cfg := *c
		t.Members = membersOf(ensemble.MemberForm{Optional: true}, cfg.rule)
		return t
	}
	if c.Budget > 0 {
		t.Whole, t.SoftDelta, t.ActiveSet, t.Halving = false, false, false, false
	}
	return onlineTraits("romma", t, &c.KernelConfig, c.Budget, 1, sized(c))
}

// due returns the margin up to which (1) holds with that accuracy, if aggressive.
func (c *ROMMAConfig) due(delta float64) float64 {
	if c.Aggressive {
		return max(0, math.Nextafter(1-delta, math.Inf(-1)))
	}
	return 0
}

func newROMMA[T learner.Float](cfg ROMMAConfig, env learner.Env) (learner.Learner[T], error) {
	if !cfg.Linear() {
		p := precision{margin.ParallelSine2[T](), primal.MostSquare[float64]()}
		l, err := newOnline[T](&cfg.KernelConfig, cfg.Budget, cfg.rule(p), env)
		if cfg.Budget == 0 {
			l.solve = func(ctx context.Context, rows engine.RowSource[T], y, weights []float64,
				o learner.FitOptions) (learner.MarginDual, error) {
				return FitROMMARows(ctx, rows, y, weights, cfg, o)
			}
		}
		return l, err
	}
	whole := passes{delta: cfg.Delta,
		// no vector that separates with margins of 1 is shorter
		bound: func(norm2, _ float64) float64 { return 1 / math.Sqrt(norm2) }}
	if cfg.Aggressive {
		whole.goal = cfg.due
	}
	return newScaledLinear[T](cfg.rule(precisionOf[T]()), whole), nil
}

// rule is (1) to (5). What a removal from kept examples leaves of w is the w_t of the next (2),
// which asks nothing else of it.
func (c *ROMMAConfig) rule(p precision) rule {
	return rule{name: "romma", lengths: true, margin: c.due(c.Delta), // (1)
		step: func(x example) update {
			if x.sq == 0 {
				return update{}
			}
			m, X, W := x.margin, x.sq, x.norm2
			XW := float64(X * W)
			if D := XW - float64(m*m); XW > m && D > float64(p.sine2*XW) { // (3)
				c, d := (XW-m)/D, float64(W*(1-m))/D
				if next := float64(c*W) + d; next <= p.most { // (5)
					return update{c, d, next, true}
				}
			}
			return update{0, 1 / X, 1 / X, true} // (4)
		}}
}

// FitROMMARows is Fit of [ROMMAConfig] in the space of a kernel, over the rows of the examples'
// Gram matrix. With u = w/|w|^2, (2) of ROMMA is (A) of [PUMMAConfig] without a bias: u' is the
// point of least length of the segment from u to y_t x_t. All else is as in [FitPUMMARows], with
// one row an update; the soft margin is that of K + Delta^2/w_i delta_ij, as it is without a
// kernel, where weights are the examples', nil where all are 1, as with a hard margin.
func FitROMMARows[T learner.Float](ctx context.Context, rows engine.RowSource[T], y,
	weights []float64, cfg ROMMAConfig, o learner.FitOptions) (learner.MarginDual, error) {
	if err := cfg.Validate(); err != nil {
		return learner.MarginDual{}, err
	}
	fits := margin.Fits{ActiveSet: true, Halving: cfg.Aggressive}
	if err := fits.CheckOptions("romma", &o); err != nil {
		return learner.MarginDual{}, err
	}
	// (1)
	c := margin.RowSolver[T]{Rows: rows, Y: y, Weights: weights, Ridge: float64(o.Delta * o.Delta),
		Violates: func(m, delta float64) bool { return m <= cfg.due(delta) }}
	r, err := c.Fit(ctx, "romma", cfg.Delta, cfg.Aggressive, o)
	if c.Ridge > 0 && c.Norm2 > 0 {
		c.FillSoftMargin(&r.FitResult)
	}
	return r, err
}
