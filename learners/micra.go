package learners

import (
	"context"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*MICRA[float32])(nil)

func init() { learner.Register("micra", (*MICRAConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*MICRAConfig) Entry() learner.Entry {
	return learner.Entry{
		Summary: "MICRA, approximate maximal margin with a rule controlled by the number of " +
			"mistakes",
		Config: func() learner.Config {
			return &MICRAConfig{Beta: 0.1, Epsilon: 0.1, Eta: 1,
				Zeta: 0.9}
		},
		New32: newMICRA[float32], New64: newMICRA[float64],
		Optional: []string{"grown"},
	}
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
// every 1024 updates. Memory: one T a feature. With a kernel see [OnlineKernel].
type MICRA[T learner.Float] struct {
	margin.ScaledLinear[T]
	cfg       MICRAConfig
	threshold float64 // of the next update
	// of the dual coefficients of u = sum alpha_k y_k x_k; NaN where they are not known
	sum float64
}

// MICRAConfig holds the settings of MICRA.
type MICRAConfig struct {
	// Beta is the margin at the first update, of weights of length 1. Default 0.1; 0 or more.
	Beta float64 `json:"beta" flag:"beta"`
	// Epsilon is the power by which the margin shrinks: beta/t^epsilon at update t. Default 0.1; 0
	// to 1.
	Epsilon float64 `json:"epsilon" flag:"epsilon"`
	// Eta is the step at the first update, of weights of length 1. Default 1; above 0.
	Eta float64 `json:"eta" flag:"eta"`
	// Zeta is the power by which the step shrinks: eta/t^zeta at update t. Default 0.9; 0 to 1.
	Zeta float64 `json:"zeta" flag:"zeta"`

	OnlineConfig
}

// Validate wants Beta >= 0, Eta > 0, Epsilon and Zeta in [0,1], and a kernel.
func (c *MICRAConfig) Validate() error {
	if err := learner.CheckSetting("micra", "beta", c.Beta, c.Beta >= 0,
		"a number >= 0"); err != nil {
		return err
	}
	if err := learner.CheckSetting("micra", "epsilon", c.Epsilon, c.Epsilon >= 0 && c.Epsilon <= 1,
		"a number in [0,1]"); err != nil {
		return err
	}
	if err := learner.CheckSetting("micra", "eta", c.Eta, c.Eta > 0, "a number > 0"); err != nil {
		return err
	}
	if err := learner.CheckSetting("micra", "zeta", c.Zeta, c.Zeta >= 0 && c.Zeta <= 1,
		"a number in [0,1]"); err != nil {
		return err
	}
	return c.OnlineConfig.validate("micra")
}

// Traits is Config.Traits: with a kernel a stream's examples are kept.
func (c *MICRAConfig) Traits() learner.Traits {
	t := margin.Traits()
	t.ActiveSet, t.Members = true, c.members()
	t.Remedies = []learner.Remedy{{Change: "lower", Setting: "beta"}, {Change: "raise",
		Setting: "epsilon"}}
	return c.traits("micra", t, func(n int) learner.Config {
		d := *c
		d.Budget = n
		return &d
	})
}

// Resolve is Config.Resolve: nothing is relative to the data.
func (c *MICRAConfig) Resolve(learner.Facts) (learner.Config, error) {
	return learner.Absolute(c), nil
}

// Memory is Config.Memory: one T a feature, and what passes take; with a kernel the kept examples.
func (c *MICRAConfig) Memory(x learner.Extent) learner.Footprint {
	if !c.Linear() {
		return onlineMemory(x, c.Budget)
	}
	f := primal.LinearFootprint(x, 0)
	margin.AddPasses(&f, x)
	return f
}

func newMICRA[T learner.Float](c learner.Config, env learner.Env) (learner.Learner[T], error) {
	cfg, err := learner.ConfigAs[MICRAConfig]("micra", c)
	if err != nil {
		return nil, err
	}
	if !cfg.Linear() {
		return newOnline[T]("micra", cfg.kernel(), cfg.Budget,
			&micraOnline{cfg, margin.ParallelSine2[T]()}, env)
	}
	return &MICRA[T]{ScaledLinear: margin.ScaledLinear[T]{Linear: primal.NewLinear[T](), Scale: 1},
		cfg: cfg}, nil
}

// Learn is Learner.Learn.
func (r *MICRA[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := r.BeginBounded("micra", b, rounds, false); err != nil {
		return err
	}
	r.aim()
	for i := range b.Len() {
		rounds[i] = r.learn(b, i)
	}
	return nil
}

// aim sets the threshold of (1) for the next update.
func (r *MICRA[T]) aim() {
	if r.UpdateCount > 0 {
		r.threshold = r.cfg.Beta / primal.Pow(float64(r.UpdateCount), r.cfg.Epsilon)
	}
}

func (r *MICRA[T]) learn(b *engine.Block[T], i int) learner.Round {
	f, y := r.ScoreExample(b, i), float64(b.Y[i])
	m := r.ExtendedMargin(i, y, f)
	if !r.violates(m) { // (1)
		return learner.Round{Score: f}
	}
	step, norm2, X := 1.0, 0.0, r.SquaredLength(b, i) // u_1
	if r.UpdateCount > 0 {
		step, norm2 = r.cfg.Eta/primal.Pow(float64(r.UpdateCount), r.cfg.Zeta), r.Norm2
	}
	// |u + step y x|^2 = |u|^2 + step (2 u.yx + step |x|^2)
	next := norm2 + float64(step*(float64(2*m)+float64(step*X)))
	if X == 0 || !r.Representable(1, step) || !(next > float64(margin.ParallelSine2[T]()*max(norm2,
		float64(float64(step*step)*X)))) {
		return learner.Round{Score: f}
	}
	r.ScaleAndAdd(1, b, i, step) // (2)
	r.normalise(next)            // (3)
	r.sum = (r.sum + step) / math.Sqrt(next)
	r.CountUpdate(1, norm2/next)
	r.aim()
	return learner.Round{Score: f, Updates: 1}
}

// violates is (1).
func (r *MICRA[T]) violates(m float64) bool { return r.UpdateCount == 0 || m <= r.threshold }

// normalise divides the weights by their length, the root of norm2.
func (r *MICRA[T]) normalise(norm2 float64) {
	length := math.Sqrt(norm2)
	r.Scale /= length
	if r.Ext != nil {
		r.Ext.Scale /= length
	}
}

// micraMost is the number of updates after which Fit would still not have come to an end where it
// gives up: at 10 ns each, more than a day.
const micraMost = 1e13

// Fit is Fitter.Fit: cyclic passes on the weights, whatever GramBytes. Examples are not divided by
// R. While the margin of (1) is FitResult.Bound or more some example is at or under it, so a run
// for which it would be so after 10^13 updates, too, ends after the first pass that shows it, and
// has not converged: Beta is too large for these examples, or Epsilon too small (with Epsilon 0 the
// margin never falls).
func (r *MICRA[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
	learner.FitResult, error) {
	r.aim()
	least := r.cfg.Beta / primal.Pow(micraMost, r.cfg.Epsilon)
	return r.FitByPasses(ctx, "micra", b, o, r.learn, r.violates, r.bound, 0, least, nil,
		func() map[string]float64 { return map[string]float64{"sum": r.sum} })
}

// bound: for every v of length 1, u.v = sum alpha_k y_k x_k.v >= margin(v) sum alpha_k, and |u| =
// 1.
func (r *MICRA[T]) bound() float64 {
	if !(r.sum > 0) {
		return math.Inf(1)
	}
	return 1 / r.sum
}

// Score is Learner.Score.
func (r *MICRA[T]) Score(b *engine.Block[T], dst []float64) error {
	return r.Scores("micra", r.Scale, b, dst)
}

// Snapshot is Learner.Snapshot.
func (r *MICRA[T]) Snapshot() learner.Predictor[T] {
	return r.Hypothesis("micra", r.Scale).Copied()
}

// View is for [learner.ViewOf].
func (r *MICRA[T]) View() learner.Predictor[T] { return r.Hypothesis("micra", r.Scale).View() }

// State is Learner.State: that of [margin.ScaledLinear].
func (r *MICRA[T]) State() learner.State { return learner.StateOf(r.fields) }

// SetState is Learner.SetState.
func (r *MICRA[T]) SetState(s learner.State) error { return learner.SetState("micra", s, r.fields) }

// CheckState is Learner.CheckState.
func (r *MICRA[T]) CheckState(s learner.State) error {
	return learner.CheckState("micra", s, r.fields)
}

func (r *MICRA[T]) fields(c *learner.Codec) {
	r.FieldsWithSum(c, &r.sum)
}

// micraOnline is (1) to (3) in the space of a kernel: see [OnlineKernel].
type micraOnline struct {
	cfg   MICRAConfig
	sine2 float64
}

// violates is (1).
func (r *micraOnline) violates(m float64, updates int64) bool {
	return updates == 0 || m <= r.cfg.Beta/primal.Pow(float64(updates), r.cfg.Epsilon)
}

func (r *micraOnline) step(m, K, norm2, _ float64, updates int64) onlineStep {
	a := 1.0 // u_1
	if updates > 0 {
		a = r.cfg.Eta / primal.Pow(float64(updates), r.cfg.Zeta) // (2)
	}
	next := added(m, K, norm2, a)
	if K == 0 || !(next > float64(r.sine2*max(norm2, float64(float64(a*a)*K)))) {
		return onlineStep{}
	}
	c := r.bound(next) // (3)
	return onlineStep{c: c, a: float64(c * a), norm2: 1}
}

// bound is (3).
func (r *micraOnline) bound(norm2 float64) float64 { return unit(norm2) }

// micraMembers is (1) to (3) for the members of an ensemble.
type micraMembers[T learner.Float] struct {
	ensemble.Scaled[T]
	cfg MICRAConfig
}

// Step is learner.MemberRule.Step. S is not kept, so the sums of the coefficients are not needed.
func (r *micraMembers[T]) Step(_ []float64, mask []uint64, lo int, s []T, y, _ T, norm2 float64,
	coef []T) (int, []T) {
	return ensemble.EachMember(mask, func(l int) bool {
		w := &r.Members[lo+l]
		m := float64(float64(y) * float64(w.Scale*float64(s[l])))
		if norm2 == 0 || w.Updates > 0 && m > w.Threshold { // (1)
			return false
		}
		r.Fold(lo + l)
		step := 1.0 // u_1
		if w.Updates > 0 {
			step = r.cfg.Eta / primal.Pow(float64(w.Updates), r.cfg.Zeta)
		}
		next := w.Norm2 + float64(step*(float64(2*m)+float64(step*norm2)))
		if !(next > float64(margin.ParallelSine2[T]()*max(w.Norm2,
			float64(float64(step*step)*norm2)))) {
			return false
		}
		a, ok := r.Stretch(lo+l, 1, float64(float64(y)*step)) // (2)
		if !ok {
			return false
		}
		coef[l] = a
		w.Scale /= math.Sqrt(next) // (3)
		w.CountUpdate(1, w.Norm2/next)
		r.aim(w)
		return true
	}), coef
}

// aim sets the threshold of (1) for a member's next update.
func (r *micraMembers[T]) aim(w *ensemble.ScaledMember) {
	if w.Updates > 0 {
		w.Threshold = r.cfg.Beta / primal.Pow(float64(w.Updates), r.cfg.Epsilon)
	}
}

// Fields is learner.MemberRule.Fields.
func (r *micraMembers[T]) Fields(c *learner.Codec, weights []T) {
	r.MemberFields(c, weights, false, r.aim)
}

// members is the members' form of MICRA.
func (c *MICRAConfig) members() *learner.MemberForm {
	return &learner.MemberForm{Norm2: true, Unit: true, Optional: true,
		Bytes: ensemble.ScaledMemberBytes,
		Rule32: func(n int) (learner.MemberRule[float32], error) {
			return &micraMembers[float32]{newScaled[float32](n, 1), *c}, nil
		},
		Rule64: func(n int) (learner.MemberRule[float64], error) {
			return &micraMembers[float64]{newScaled[float64](n, 1), *c}, nil
		},
	}
}
