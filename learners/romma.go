package learners

import (
	"context"
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*ROMMA[float32])(nil)

func init() { learner.Register("romma", (*ROMMAConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*ROMMAConfig) Entry() learner.Entry {
	return learner.Entry{
		Summary: "ROMMA and aggressive ROMMA, the relaxed online maximum margin algorithm",
		Config: func() learner.Config {
			return &ROMMAConfig{Delta: 0.1, KernelConfig: learner.KernelConfig{Kernel: "linear"}}
		},
		New32: newROMMA[float32], New64: newROMMA[float64],
		Optional: []string{"grown"},
	}
}

// ROMMA keeps the shortest weights that give the last example it learned a margin of 1 and stay on
// the far side of the plane through the weights before, which stands for all earlier examples. The
// aggressive form approaches the maximal margin.
//
// Reference: Y. Li, P. M. Long, "The Relaxed Online Maximum Margin Algorithm", Machine Learning
// 46(1-3):361-387, 2002, as in (2) of the PUMMA paper (see [PUMMA]). With w_1 = 0, on example t:
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
// every 1024 updates. Memory: one T a feature. With a kernel see [OnlineKernel].
type ROMMA[T learner.Float] struct {
	margin.ScaledLinear[T]
	cfg ROMMAConfig
}

// ROMMAConfig holds the settings of ROMMA.
type ROMMAConfig struct {
	// Aggressive updates while y f < 1 - delta, not only on mistakes. Default false.
	Aggressive bool `json:"aggressive" flag:"aggressive"`
	// Delta is the share of the maximal margin given up. Default 0.1; above 0 to 1.
	Delta float64 `json:"delta" flag:"delta" with:"aggressive"`
	// Budget is the number of examples kept at most while a stream is learned, 0 for no limit.
	// Default 0; 0 to 2^31-1.
	Budget int `json:"budget,omitempty" flag:"budget" with:"kernel=poly|rbf,scale"`

	learner.KernelConfig
}

// Validate wants Delta in (0,1], Budget >= 0 and a kernel.
func (c *ROMMAConfig) Validate() error {
	if err := learner.CheckSetting("romma", "delta", c.Delta, c.Delta > 0 && c.Delta <= 1,
		"a number in (0,1]"); err != nil {
		return err
	}
	if err := checkBudget("romma", c.Budget, 1); err != nil {
		return err
	}
	return c.KernelConfig.Validate("romma")
}

// Traits is Config.Traits: with a kernel a stream's examples are kept, and a whole data set's are
// learned by their rows of its Gram matrix, without a budget.
func (c *ROMMAConfig) Traits() learner.Traits {
	t := margin.Traits()
	t.ActiveSet, t.Halving, t.Cut = true, c.Aggressive, c.Linear()
	if c.Linear() {
		t.Members = c.members()
		return t
	}
	if c.Budget > 0 {
		t.Whole, t.SoftDelta, t.ActiveSet, t.Halving = false, false, false, false
	}
	return onlineTraits("romma", t, &c.KernelConfig, c.Budget, 1, func(n int) learner.Config {
		d := *c
		d.Budget = n
		return &d
	})
}

// Resolve is Config.Resolve: nothing is relative to the data.
func (c *ROMMAConfig) Resolve(learner.Facts) (learner.Config, error) {
	return learner.Absolute(c), nil
}

// Memory is Config.Memory: one T a feature, and what passes take; with a kernel the kept examples,
// or what goes over the rows of a whole data set.
func (c *ROMMAConfig) Memory(x learner.Extent) learner.Footprint {
	if !c.Linear() {
		return fittedMemory(x, c.Budget)
	}
	f := primal.LinearFootprint(x, 0)
	margin.AddPasses(&f, x)
	return f
}

// violates is (1), with an accuracy delta if aggressive.
func (c *ROMMAConfig) violates(m, delta float64) bool {
	return m <= 0 || c.Aggressive && m < 1-delta
}

func newROMMA[T learner.Float](c learner.Config, env learner.Env) (learner.Learner[T], error) {
	cfg, err := learner.ConfigAs[ROMMAConfig]("romma", c)
	if err != nil {
		return nil, err
	}
	if !cfg.Linear() {
		l, err := newOnline[T]("romma", &cfg.KernelConfig, cfg.Budget,
			&rommaRule{cfg, margin.ParallelSine2[T]()}, env)
		if cfg.Budget == 0 {
			l.solve = func(ctx context.Context, rows engine.RowSource[T], y, weights []float64,
				o learner.FitOptions) (learner.MarginDual, error) {
				return FitROMMARows(ctx, rows, y, weights, cfg, o)
			}
		}
		return l, err
	}
	return &ROMMA[T]{ScaledLinear: margin.ScaledLinear[T]{Linear: primal.NewLinear[T](), Scale: 1},
		cfg: cfg}, nil
}

// Learn is Learner.Learn.
func (r *ROMMA[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := r.BeginBounded("romma", b, rounds, false); err != nil {
		return err
	}
	for i := range b.Len() {
		rounds[i] = r.learn(b, i)
	}
	return nil
}

func (r *ROMMA[T]) learn(b *engine.Block[T], i int) learner.Round {
	f, y := r.ScoreExample(b, i), float64(b.Y[i])
	m := r.ExtendedMargin(i, y, f)
	if !r.violates(m) { // (1)
		return learner.Round{Score: f}
	}
	X := r.SquaredLength(b, i)
	if X == 0 {
		return learner.Round{Score: f}
	}
	s := rommaStep(m, X, r.Norm2, margin.ParallelSine2[T](), primal.MostSquare[T]())
	if !r.Representable(s.c, s.d) {
		return learner.Round{Score: f}
	}
	r.ScaleAndAdd(s.c, b, i, s.d)
	r.CountUpdate(s.next, s.kept)
	return learner.Round{Score: f, Updates: 1}
}

// rommaUpdate is w <- c w + d y x, next the |w|^2 after it and kept the part of it that is from the
// weights before.
type rommaUpdate struct{ c, d, next, kept float64 }

// rommaStep returns the update of (3), or of (4): c = 0. sine2 is that of margin.ParallelSine2,
// most of primal.MostSquare.
func rommaStep(m, X, W, sine2, most float64) rommaUpdate {
	XW := float64(X * W)
	if D := XW - float64(m*m); XW > m && D > float64(sine2*XW) { // (3)
		c, d := (XW-m)/D, float64(W*(1-m))/D
		if next := float64(c*W) + d; next <= most { // (5)
			return rommaUpdate{c, d, next, float64(c*c) * (W / next)}
		}
	}
	return rommaUpdate{0, 1 / X, 1 / X, 0} // (4)
}

func (r *ROMMA[T]) violates(m float64) bool { return r.cfg.violates(m, r.cfg.Delta) }

// Fit is Fitter.Fit: cyclic passes on the weights, whatever GramBytes.
func (r *ROMMA[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
	learner.FitResult, error) {
	var goal func(float64)
	if r.cfg.Aggressive {
		goal = func(delta float64) { r.cfg.Delta = delta }
	}
	return r.FitByPasses(ctx, "romma", b, o, r.learn, r.violates, r.bound, r.cfg.Delta, 0, goal,
		func() map[string]float64 {
			return nil
		})
}

// bound returns 1/|w|: no vector that separates with margins of 1 is shorter.
func (r *ROMMA[T]) bound() float64 { return 1 / math.Sqrt(r.Norm2) }

// Score is Learner.Score.
func (r *ROMMA[T]) Score(b *engine.Block[T], dst []float64) error {
	return r.Scores("romma", r.Scale, b, dst)
}

// Snapshot is Learner.Snapshot.
func (r *ROMMA[T]) Snapshot() learner.Predictor[T] {
	return r.Hypothesis("romma", r.Scale).Copied()
}

// View is for [learner.ViewOf].
func (r *ROMMA[T]) View() learner.Predictor[T] { return r.Hypothesis("romma", r.Scale).View() }

// SetState is Learner.SetState.
func (r *ROMMA[T]) SetState(s learner.State) error { return learner.SetState("romma", s, r.Fields) }

// CheckState is Learner.CheckState.
func (r *ROMMA[T]) CheckState(s learner.State) error {
	return learner.CheckState("romma", s, r.Fields)
}

// rommaMembers is (1) to (5) for the members of an ensemble.
type rommaMembers[T learner.Float] struct {
	ensemble.Scaled[T]
	cfg ROMMAConfig
}

// Step is learner.MemberRule.Step. S is not kept, so the sums of the coefficients are not needed.
func (r *rommaMembers[T]) Step(_ []float64, mask []uint64, lo int, s []T, y, _ T, norm2 float64,
	coef []T) (int, []T) {
	return ensemble.EachMember(mask, func(l int) bool {
		w := &r.Members[lo+l]
		m := float64(float64(y) * float64(w.Scale*float64(s[l])))
		if norm2 == 0 || !r.cfg.violates(m, r.cfg.Delta) { // (1)
			return false
		}
		r.Fold(lo + l)
		u := rommaStep(m, norm2, w.Norm2, margin.ParallelSine2[T](), primal.MostSquare[T]())
		a, ok := r.Stretch(lo+l, u.c, float64(float64(y)*u.d))
		if !ok {
			return false
		}
		coef[l] = a
		w.CountUpdate(u.next, u.kept)
		return true
	}), coef
}

// Fields is learner.MemberRule.Fields.
func (r *rommaMembers[T]) Fields(c *learner.Codec, weights []T) {
	r.MemberFields(c, weights, false, func(*ensemble.ScaledMember) {})
}

// members is the members' form of ROMMA without a kernel.
func (c *ROMMAConfig) members() *learner.MemberForm {
	return &learner.MemberForm{Norm2: true, Optional: true,
		Bytes: ensemble.ScaledMemberBytes,
		Rule32: func(n int) (learner.MemberRule[float32], error) {
			return &rommaMembers[float32]{newScaled[float32](n, 1), *c}, nil
		},
		Rule64: func(n int) (learner.MemberRule[float64], error) {
			return &rommaMembers[float64]{newScaled[float64](n, 1), *c}, nil
		},
	}
}

// newScaled returns members without weights, whose factors are scale.
func newScaled[T learner.Float](members int, scale float64) ensemble.Scaled[T] {
	return ensemble.NewScaled[T](members, ensemble.ScaledMember{Scale: scale})
}

// rommaRule is (1) to (5) in the space of a kernel: see [OnlineKernel]. What a removal leaves of w
// is the w_t of the next (2), which asks nothing else of it.
type rommaRule struct {
	cfg   ROMMAConfig
	sine2 float64
}

func (r *rommaRule) violates(m float64, _ int64) bool { return r.cfg.violates(m, r.cfg.Delta) }

func (r *rommaRule) step(m, X, W, _ float64, _ int64) onlineStep {
	if X == 0 {
		return onlineStep{}
	}
	u := rommaStep(m, X, W, r.sine2, primal.MostSquare[float64]())
	return onlineStep{c: u.c, a: u.d, norm2: u.next}
}

func (r *rommaRule) bound(float64) float64 { return 1 }

// FitROMMARows is [ROMMA.Fit] in the space of a kernel, over the rows of the examples' Gram matrix.
// With u = w/|w|^2, (2) of ROMMA is (A) of [PUMMA] without a bias: u' is the point of least length
// of the segment from u to y_t x_t. All else is as in [FitPUMMARows], with one row an update; the
// soft margin is that of K + Delta^2/w_i delta_ij, as it is without a kernel, where weights are the
// examples', nil where all are 1, as with a hard margin.
func FitROMMARows[T learner.Float](ctx context.Context, rows engine.RowSource[T], y,
	weights []float64, cfg ROMMAConfig, o learner.FitOptions) (learner.MarginDual, error) {
	if err := cfg.Validate(); err != nil {
		return learner.MarginDual{}, err
	}
	if err := margin.CheckOptions("romma", &o, true, cfg.Aggressive); err != nil {
		return learner.MarginDual{}, err
	}
	if !(o.Delta >= 0) || math.IsInf(o.Delta, 0) {
		return learner.MarginDual{}, fmt.Errorf("romma: Delta is %v, want a number >= 0: %w",
			o.Delta, learner.ErrConfig)
	}
	// (1)
	c := margin.RowSolver[T]{Rows: rows, Y: y, Weights: weights, Ridge: float64(o.Delta * o.Delta),
		Violates: cfg.violates}
	r, err := c.Fit(ctx, "romma", cfg.Delta, cfg.Aggressive, o)
	if c.Ridge > 0 && c.Norm2 > 0 {
		c.FillSoftMargin(&r.FitResult)
	}
	return r, err
}
