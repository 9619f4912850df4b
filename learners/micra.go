package learners

import (
	"context"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

func init() {
	Register(Entry{Name: "micra", Summary: "MICRA, approximate maximal margin with a rule controlled by the number of mistakes",
		Config: func() Config { return &MICRAConfig{Beta: 0.1, Epsilon: 0.1, Eta: 1, Zeta: 0.9} }, New32: newMICRA[float32], New64: newMICRA[float64]})
}

// MICRA keeps weights of length 1 and turns them by steps that shrink with the number of updates, as does the margin that it asks
// for.
//
// Reference: P. Tsampouka, J. Shawe-Taylor, "Approximate Maximum Margin Algorithms with Rules Controlled by the Number of
// Mistakes", ICML 2007. With u_1 = y_1 x_1 / |x_1| and t = 1, 2, ... counting the updates from there:
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
// Deviations: examples are taken as they are: the paper divides them by the length of the longest. The paper's values of the
// parameters are not known; the defaults are ours. An example without features, and one that would leave u' = 0, are passed over.
//
// Guarantee: |u| = 1 after every update: TestMICRA.
//
// Cost: one dot an example, one axpy and a sum of squares an update: O(non-zeros), and O(features) every 1024 updates.
// Memory: one T a feature.
type MICRA[T Float] struct {
	scaledLinear[T]
	cfg       MICRAConfig
	threshold float64 // of the next update
	sum       float64 // of the dual coefficients of u = sum alpha_k y_k x_k; NaN where they are not known
}

// MICRAConfig holds the settings of MICRA.
type MICRAConfig struct {
	Beta    float64 `json:"beta" flag:"beta" help:"margin at the first update"`
	Epsilon float64 `json:"epsilon" flag:"epsilon" help:"the margin is beta/t^epsilon at update t, epsilon in [0,1]"`
	Eta     float64 `json:"eta" flag:"eta" help:"step at the first update"`
	Zeta    float64 `json:"zeta" flag:"zeta" help:"the step is eta/t^zeta at update t, zeta in [0,1]"`
}

// Validate wants Beta >= 0, Eta > 0, Epsilon and Zeta in [0,1].
func (c *MICRAConfig) Validate() error {
	if err := checkSetting("micra", "beta", c.Beta, c.Beta >= 0, "a number >= 0"); err != nil {
		return err
	}
	if err := checkSetting("micra", "epsilon", c.Epsilon, c.Epsilon >= 0 && c.Epsilon <= 1, "a number in [0,1]"); err != nil {
		return err
	}
	if err := checkSetting("micra", "eta", c.Eta, c.Eta > 0, "a number > 0"); err != nil {
		return err
	}
	return checkSetting("micra", "zeta", c.Zeta, c.Zeta >= 0 && c.Zeta <= 1, "a number in [0,1]")
}

// Traits is Config.Traits.
func (c *MICRAConfig) Traits() Traits {
	t := marginTraits()
	t.ActiveSet = true
	return t
}

// Resolve is Config.Resolve: nothing is relative to the data.
func (c *MICRAConfig) Resolve(Facts) (Config, error) { return learner.Absolute(c), nil }

// Memory is Config.Memory: one T a feature, and what passes take.
func (c *MICRAConfig) Memory(x Extent) Footprint {
	f := linearFootprint(x, 0)
	passed(&f, x)
	return f
}

func newMICRA[T Float](c Config, _ Env) (Learner[T], error) {
	cfg, err := configAs[MICRAConfig]("micra", c)
	if err != nil {
		return nil, err
	}
	return &MICRA[T]{scaledLinear: scaledLinear[T]{linear: newLinear[T](), scale: 1}, cfg: cfg}, nil
}

// Learn is Learner.Learn.
func (r *MICRA[T]) Learn(b *engine.Block[T], rounds []Round) error {
	if err := r.beginLengths("micra", b, rounds); err != nil {
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
	if r.updates > 0 {
		r.threshold = r.cfg.Beta / pow(float64(r.updates), r.cfg.Epsilon)
	}
}

func (r *MICRA[T]) learn(b *engine.Block[T], i int) Round {
	f, y := r.score(b, i), float64(b.Y[i])
	m := r.margin(i, y, f)
	if !r.violates(m) { // (1)
		return Round{Score: f}
	}
	step, norm2, X := 1.0, 0.0, r.size(b, i) // u_1
	if r.updates > 0 {
		step, norm2 = r.cfg.Eta/pow(float64(r.updates), r.cfg.Zeta), r.norm2
	}
	// |u + step y x|^2 = |u|^2 + step (2 u.yx + step |x|^2)
	next := norm2 + float64(step*(float64(2*m)+float64(step*X)))
	if X == 0 || !r.holds(1, step) || !(next > float64(parallel[T]()*max(norm2,
		float64(float64(step*step)*X)))) {
		return Round{Score: f}
	}
	r.stretch(1, b, i, step) // (2)
	r.normalise(next)        // (3)
	r.sum = (r.sum + step) / math.Sqrt(next)
	r.updated()
	r.aim()
	return Round{Score: f, Updates: 1}
}

// violates is (1).
func (r *MICRA[T]) violates(m float64) bool { return r.updates == 0 || m <= r.threshold }

// normalise divides the weights by their length.
func (r *MICRA[T]) normalise(norm2 float64) {
	length := math.Sqrt(norm2)
	r.scale /= length
	if r.ext != nil {
		r.ext.scale /= length
	}
	r.norm2 = 1
}

// Fit is Fitter.Fit: cyclic passes on the weights, whatever GramBytes. Examples are not divided by R.
func (r *MICRA[T]) Fit(ctx context.Context, b *engine.Block[T], o FitOptions) (FitResult, error) {
	r.aim()
	return r.fit(ctx, "micra", b, o, r.learn, r.violates, r.bound, 0, nil,
		func() map[string]float64 { return map[string]float64{"sum": r.sum} })
}

// bound: for every v of length 1, u.v = sum alpha_k y_k x_k.v >= margin(v) sum alpha_k, and |u| = 1.
func (r *MICRA[T]) bound() float64 {
	if !(r.sum > 0) {
		return math.Inf(1)
	}
	return 1 / r.sum
}

// Score is Learner.Score.
func (r *MICRA[T]) Score(b *engine.Block[T], dst []float64) error {
	return r.scores("micra", r.scale, b, dst)
}

// Snapshot is Learner.Snapshot.
func (r *MICRA[T]) Snapshot() Predictor[T] {
	return r.hypothesis("micra", r.scale).copied()
}

// View is for [learner.ViewOf].
func (r *MICRA[T]) View() Predictor[T] { return r.hypothesis("micra", r.scale).view() }

// State is Learner.State: that of scaledLinear.
func (r *MICRA[T]) State() State { return learner.StateOf(r.fields) }

// SetState is Learner.SetState.
func (r *MICRA[T]) SetState(s State) error { return learner.SetState("micra", s, r.fields) }

// CheckState is Learner.CheckState.
func (r *MICRA[T]) CheckState(s State) error { return learner.CheckState("micra", s, r.fields) }

func (r *MICRA[T]) fields(c *learner.Codec) {
	r.scaledLinear.fields(c)
	c.Then(func() {
		r.sum = math.NaN() // of a bound that the next Fit can do without
		if r.updates == 0 {
			r.sum = 0
		} else if r.cut != nil {
			if sum, ok := r.cut.Scalars["sum"]; ok {
				r.sum = sum
			}
		}
	})
}
