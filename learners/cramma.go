package learners

import (
	"context"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
	"github.com/halfspace-ml/halfspace/vecmath"
)

var _ learner.Learner[float32] = (*CRAMMA[float32])(nil)

func init() { learner.Register("cramma", (*CRAMMAConfig)(nil)) }

// Entry is that of [learner.Settings].
func (*CRAMMAConfig) Entry() learner.Entry {
	return learner.Entry{
		Summary: "CRAMMA, approximate maximal margin at a constant effective learning rate",
		Config: func() learner.Config {
			return &CRAMMAConfig{Epsilon: 0.5, Beta: 1, Eta: 0.01,
				EtaDelta: 1}
		},
		New32: newCRAMMA[float32], New64: newCRAMMA[float64],
		Optional: []string{"grown"},
	}
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
// kernel see [OnlineKernel].
type CRAMMA[T learner.Float] struct {
	primal.Linear[T] // without its factor
	cfg              CRAMMAConfig
	R                float64 // of Learn: Config.R, or 1 where that is open
	eta              float64 // eta_eff
	scale            float64 // 1/|w|; 0 as long as there is no u_1
	grown            float64 // see primal.Growth
}

// CRAMMAConfig holds the settings of CRAMMA.
type CRAMMAConfig struct {
	// Epsilon is the power by which the threshold shrinks: beta/t^epsilon at update t. Default 0.5;
	// above 0.
	Epsilon float64 `json:"epsilon" flag:"epsilon"`
	// Beta is the threshold of the first update, in units of R. Default 1; above 0.
	Beta float64 `json:"beta" flag:"beta"`
	// Eta is the eta_0 of the rate eta_0 beta^-delta by which updates turn the weights. Default
	// 0.01; above 0.
	Eta float64 `json:"eta" flag:"eta"`
	// EtaDelta is the power delta by which the rate eta_0 beta^-delta falls with beta. Default 1; 0
	// or more.
	EtaDelta float64 `json:"eta_delta" flag:"eta-delta"`
	// R is the length that beta and eta are relative to, 0 for that of the longest example, with an
	// appended bias and the soft margin.
	//
	// With a kernel a length is the root of K(x, x). Default 0; 0 or more.
	R float64 `json:"R" flag:"R"`

	OnlineConfig
}

// Validate wants Epsilon, Beta and Eta > 0, EtaDelta and R >= 0, and a kernel; R = 0 is open.
func (c *CRAMMAConfig) Validate() error {
	for _, s := range []struct {
		name string
		v    float64
	}{{"epsilon", c.Epsilon}, {"beta", c.Beta}, {"eta", c.Eta}} {
		if err := learner.CheckSetting("cramma", s.name, s.v, s.v > 0, "a number > 0"); err != nil {
			return err
		}
	}
	if err := learner.CheckSetting("cramma", "eta-delta", c.EtaDelta, c.EtaDelta >= 0,
		"a number >= 0"); err != nil {
		return err
	}
	if err := learner.CheckSetting("cramma", "R", c.R, c.R >= 0, "a length > 0, or 0 for that "+
		"of the data"); err != nil {
		return err
	}
	if err := learner.CheckSetting("cramma", "eta beta^-delta", c.rate(), c.rate() > 0,
		"a number > 0"); err != nil {
		return err
	}
	return c.OnlineConfig.validate("cramma")
}

// Traits is Config.Traits: with a kernel a stream's examples are kept.
func (c *CRAMMAConfig) Traits() learner.Traits {
	t := margin.Traits()
	t.Relative, t.Members = c.R == 0 && c.relativeLengths(), c.members()
	return c.traits("cramma", t, func(n int) learner.Config {
		d := *c
		d.Budget = n
		return &d
	})
}

// Memory is Config.Memory: one T a feature, and what a cycle takes; with a kernel the kept
// examples.
func (c *CRAMMAConfig) Memory(x learner.Extent) learner.Footprint {
	if !c.Linear() {
		return onlineMemory(x, c.Budget)
	}
	f := primal.LinearFootprint(x, 0)
	margin.AddCycle(&f, x)
	return f
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

func newCRAMMA[T learner.Float](c learner.Config, env learner.Env) (learner.Learner[T], error) {
	cfg, err := learner.ConfigAs[CRAMMAConfig]("cramma", c)
	if err != nil {
		return nil, err
	}
	if !cfg.Linear() {
		if cfg.R == 0 {
			cfg.R = 1
		}
		return newOnline[T]("cramma", cfg.kernel(), cfg.Budget,
			&crammaOnline{cfg, margin.ParallelSine2[T]()}, env)
	}
	l := &CRAMMA[T]{Linear: primal.NewLinear[T](), cfg: cfg, R: cfg.R, eta: cfg.rate()}
	if cfg.R == 0 {
		l.R = 1
	}
	return l, nil
}

// Learn is Learner.Learn.
func (c *CRAMMA[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := c.BeginBounded("cramma", b, rounds, false); err != nil {
		return err
	}
	threshold := float64(c.cfg.threshold(float64(c.UpdateCount+1)) * c.R)
	for i := range b.Len() {
		f, y := float64(c.scale*c.Dot(b, i)), float64(b.Y[i])
		rounds[i] = learner.Round{Score: f}
		if c.scale == 0 {
			n2 := primal.SumSq(b, i)
			if n2 == 0 {
				continue
			}
			c.Add(b, i, T(y)) // (init)
			c.scale = 1 / math.Sqrt(n2)
			f = float64(y * math.Sqrt(n2))
		}
		if float64(y*f) > threshold { // (7)
			continue
		}
		step := float64(c.eta / c.R * y)
		next, ok := crammaNext(1, step, f, primal.SumSq(b, i), margin.ParallelSine2[T]())
		if !ok {
			continue
		}
		c.UpdateCount++
		rounds[i].Updates = 1
		c.Add(b, i, T(step/c.scale)) // (6)
		c.scale /= math.Sqrt(next)
		c.grown = primal.Growth(c.grown, 1/next)
		if c.grown > primal.MostGrowth || c.UpdateCount%primal.MeasureEvery == 0 {
			c.scale, c.grown = 1/math.Sqrt(engine.SumSqOrdered(c.W)), 0
		}
		// fold it in, all but its mantissa; a power of two rounds nothing
		if c.scale < 0x1p-32 || c.scale > 0x1p32 {
			m, e := math.Frexp(c.scale)
			vecmath.Scal(c.W, T(math.Ldexp(1, e)))
			c.scale = m
		}
		threshold = float64(c.cfg.threshold(float64(c.UpdateCount+1)) * c.R)
	}
	return nil
}

// crammaNext returns |u + step x|^2 of (6), of a u of squared length norm2 with u.x = f, where
// |x|^2 is X, and whether it is more than rounding errors: sine2 is that of margin.ParallelSine2.
func crammaNext(norm2, step, f, X, sine2 float64) (next float64, ok bool) {
	next = norm2 + float64(step*(float64(2*f)+float64(step*X)))
	return next, X > 0 && next > float64(sine2*max(norm2, float64(float64(step*step)*X)))
}

// Fit is Fitter.Fit. R is Config.R, and where that is open that of the data.
func (c *CRAMMA[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
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
	run.Begin(&margin.LengthRule{Rate: c.eta / R, Updates: c.UpdateCount, // u = a/|a|
		Factors: func(t int64, thresholds, _ []float64) {
			for i := range thresholds {
				thresholds[i] = float64(c.cfg.threshold(float64(t+int64(i))) * R) // (7)
			}
		}}, c.scale == 0)
	before := c.UpdateCount
	return run.Run(ctx, func(res *learner.FitResult) {
		c.Cut = run.Cut
		c.W, c.scale = run.Weights(func(length float64) float64 { return 1 / length }), 1
		c.grown = 0
		c.UpdateCount = before + res.Updates
		res.Counter = c.UpdateCount + 1
	})
}

// Score is Learner.Score.
func (c *CRAMMA[T]) Score(b *engine.Block[T], dst []float64) error {
	return c.Scores("cramma", c.scale, b, dst)
}

// Snapshot is Learner.Snapshot.
func (c *CRAMMA[T]) Snapshot() learner.Predictor[T] {
	return c.Hypothesis("cramma", c.scale).Copied()
}

// View is for [learner.ViewOf].
func (c *CRAMMA[T]) View() learner.Predictor[T] { return c.Hypothesis("cramma", c.scale).View() }

// Weights is Learner.Weights.
func (c *CRAMMA[T]) Weights() []float64 { return primal.Scaled(c.W, c.scale) }

// Bytes is Learner.Bytes.
func (c *CRAMMA[T]) Bytes() int64 { return primal.BytesOf(c.W) + int64(unsafe.Sizeof(*c)) }

// State is Learner.State: the tensor w and the scalar scale.
func (c *CRAMMA[T]) State() learner.State { return learner.StateOf(c.fields) }

// SetState is Learner.SetState.
func (c *CRAMMA[T]) SetState(s learner.State) error {
	return learner.SetState("cramma", s, c.fields)
}

// CheckState is Learner.CheckState.
func (c *CRAMMA[T]) CheckState(s learner.State) error {
	return learner.CheckState("cramma", s, c.fields)
}

func (c *CRAMMA[T]) fields(d *learner.Codec) {
	w := c.WeightFields(d)
	scale := d.Scalar("scale", &c.scale)
	if d.Reading() {
		length := float64(scale * math.Sqrt(engine.SumSqOrdered(w)))
		zero := scale == 0 && engine.SumSqOrdered(w) == 0
		d.Want(zero || scale > 0 && length > 0 && length-length == 0,
			"scalar %q is %v, and the weights have the length %v", "scale", scale, length)
	}
	primal.GrowthField(d, &c.grown)
	d.Part(learner.CutPrefix, &c.Cut, margin.CheckCycleCut)
}

// crammaOnline is (6) and (7) in the space of a kernel: see [OnlineKernel].
type crammaOnline struct {
	cfg   CRAMMAConfig
	sine2 float64
}

// violates is (7).
func (r *crammaOnline) violates(m float64, updates int64) bool {
	return m <= float64(r.cfg.threshold(float64(updates+1))*r.cfg.R)
}

func (r *crammaOnline) step(m, K, norm2, _ float64, updates int64) onlineStep {
	if K == 0 {
		return onlineStep{}
	}
	if norm2 == 0 { // (init); an update by the same example leaves u_1
		length := math.Sqrt(K)
		return onlineStep{a: 1 / length, norm2: 1, uncount: !r.violates(length, updates)}
	}
	a := r.cfg.rate() / r.cfg.R
	next, ok := crammaNext(norm2, a, m, K, r.sine2)
	if !ok {
		return onlineStep{}
	}
	c := r.bound(next) // (6)
	return onlineStep{c: c, a: float64(c * a), norm2: 1}
}

// bound is the length of (6).
func (r *crammaOnline) bound(norm2 float64) float64 { return unit(norm2) }

// crammaMembers is (init), (6) and (7) for the members of an ensemble. A factor of 0 is that of a
// member without u_1.
type crammaMembers[T learner.Float] struct {
	ensemble.Scaled[T]
	cfg    CRAMMAConfig
	R, eta float64
}

// Step is learner.MemberRule.Step. S is not kept, so the sums of the coefficients are not needed.
func (r *crammaMembers[T]) Step(_ []float64, mask []uint64, lo int, s []T, y, _ T, norm2 float64,
	coef []T) (updates int, _ []T) {
	ensemble.EachMember(mask, func(l int) bool {
		w := &r.Members[lo+l]
		f, first := float64(w.Scale*float64(s[l])), T(0)
		if w.Scale == 0 {
			if norm2 == 0 {
				return false
			}
			first, w.Scale, w.Norm2 = y, 1/math.Sqrt(norm2), 1 // (init)
			f = float64(float64(y) * math.Sqrt(norm2))
		}
		if coef[l] = first; float64(float64(y)*f) > w.Threshold { // (7)
			return first != 0
		}
		if first == 0 {
			r.Fold(lo + l)
		}
		step := float64(r.eta / r.R * float64(y))
		next, ok := crammaNext(w.Norm2, step, f, norm2, margin.ParallelSine2[T]())
		if !ok {
			return first != 0
		}
		coef[l] += T(step / w.Scale) // (6)
		w.Scale /= math.Sqrt(next)
		w.CountUpdate(1, w.Norm2/next)
		r.aim(w)
		updates++
		return true
	})
	return updates, coef
}

// aim sets the threshold of (7) for a member's next update.
func (r *crammaMembers[T]) aim(w *ensemble.ScaledMember) {
	w.Threshold = float64(r.cfg.threshold(float64(w.Updates+1)) * r.R)
}

// Fields is learner.MemberRule.Fields.
func (r *crammaMembers[T]) Fields(c *learner.Codec, weights []T) {
	r.MemberFields(c, weights, true, r.aim)
}

// members is the members' form of CRAMMA.
func (c *CRAMMAConfig) members() *learner.MemberForm {
	return &learner.MemberForm{Norm2: true, Unit: true, Optional: true,
		Bytes: ensemble.ScaledMemberBytes,
		Rule32: func(n int) (learner.MemberRule[float32], error) {
			return newCRAMMAMembers[float32](c, n), nil
		},
		Rule64: func(n int) (learner.MemberRule[float64], error) {
			return newCRAMMAMembers[float64](c, n), nil
		},
	}
}

func newCRAMMAMembers[T learner.Float](c *CRAMMAConfig, members int) *crammaMembers[T] {
	r := &crammaMembers[T]{Scaled: newScaled[T](members, 0), cfg: *c, R: c.R, eta: c.rate()}
	if c.R == 0 {
		r.R = 1
	}
	for m := range r.Members {
		r.aim(&r.Members[m])
	}
	return r
}
