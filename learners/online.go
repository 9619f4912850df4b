package learners

import (
	"context"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/kept"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

var _ learner.Learner[float32] = (*onlineKernel[float32])(nil)

// onlineKernel is an online learner of weights in the space of a kernel: the weights are a sum over
// kept examples, w = sum_j coef_j phi(x_j), and only w.phi(x), |phi(x)|^2 and |w|^2 are asked for.
//
//	w.phi(x) = sum_j coef_j K(x_j, x)
//	|c w + a y phi(x)|^2 = c^2 |w|^2 + 2 c a y w.phi(x) + a^2 K(x, x)
//
// So any rule whose update is w <- c w + a y phi(x) has this kernel form. It is that of
// [PerceptronConfig], [PAConfig], [ALMAConfig] of p = 2, [CRAMMAConfig], [MICRAConfig] and
// [ROMMAConfig]; [PUMMAConfig] shares all but the update.
//
//	rule        here                          shape, unit
//	w           kept.ScaledSet                coef_j/Divisor of each kept example
//	|w|^2       Norm2                         carried along by the rule
//	            Config.Budget                 examples kept at most; 0: no limit
//
// Deviations: with a budget, where one more example would be too many, the kept one whose part of w
// is the shortest, |coef_j| |phi(x_j)|, goes after the update, and the rule's bound on |w|, if it
// has one, is restored. An example equal to a kept one of the same label adds to its coefficient
// and removes nothing. Ties go to the oldest.
//
// Guarantee: without a budget it makes the updates of the form without a kernel, if the kernel is
// the inner product: TestOnlineLinear. With one, never more examples are kept: TestOnlineBudget.
//
// Cost: a kernel row over the kept examples an example, one more where one is removed. Memory: the
// kept examples and some 50 bytes for each.
type onlineKernel[T learner.Float] struct {
	primal.Stored
	set  kept.ScaledSet[T]
	rule rule

	// What Fit found, of learners that have it; Learn goes on from there.
	dual   kept.Sum[T]
	fitted bool // the hypothesis is dual
	pool   *engine.Pool
	rows   *engine.SharedRows
	solve  func(ctx context.Context, rows engine.RowSource[T], y, weights []float64,
		o learner.FitOptions) (learner.MarginDual, error)
	prices []float64 // of the support vectors of dual, see kept.ScaledSet.Price

	unit, bias float64 // f = w.phi/unit + bias; 1 and 0 but for pumma
	// by what w shrinks at each example, after it was scored; 1 but for a perceptron with lambda
	fade float64
}

// KernelName is the kernel of an [OnlineConfig]: linear, poly or rbf. "" is linear.
type KernelName string

// IsZero reports whether it is linear, which JSON leaves out.
func (k KernelName) IsZero() bool { return k == "" || k == "linear" }

// OnlineConfig holds the settings of the kernel form of a learner that keeps weights without one.
// JSON has only what is set: models of such learners from before they had kernels, and those
// without one today, have the same bytes. The fields are those of [learner.KernelConfig].
type OnlineConfig struct {
	// Kernel is linear: x.z; poly: (gamma x.z + coef0)^degree; or rbf: exp(-gamma |x-z|^2).
	//
	// "", which stands for linear, is what the defaults have. Default linear; linear, poly or rbf.
	Kernel KernelName `json:"kernel,omitzero" flag:"kernel" values:"linear|poly|rbf"`
	// Gamma is the factor of poly and rbf, in units of 1/|x|^2, needed without sigma. Default 0; 0
	// or more.
	Gamma float64 `json:"gamma,omitzero" flag:"gamma" with:"kernel=poly|rbf" tune:"0.01|0.1|1|10"`
	// Sigma is the width of rbf, in units of |x|, instead of gamma = 1/(2 sigma^2). Default 0; 0 or
	// more.
	Sigma float64 `json:"sigma,omitzero" flag:"sigma" with:"kernel=rbf"`
	// Degree is the degree of poly, which needs it. Default 0; 0 or more.
	Degree int `json:"degree,omitzero" flag:"degree" with:"kernel=poly"`
	// Coef0 is the constant of poly, in units of gamma |x|^2. Default 0; 0 or more.
	Coef0 float64 `json:"coef0,omitzero" flag:"coef0" with:"kernel=poly"`
	// Scale is the length by which the kernel divides examples, 0 for 1. Default 0; 0 or more.
	Scale float64 `json:"scale,omitzero" flag:"scale"`
	// Budget is the limit on support vectors of a stream, 0 for none. Default 0; 0 to 2^31-1.
	Budget int `json:"budget,omitzero" flag:"budget" with:"kernel=poly|rbf,scale"`
}

func (c *OnlineConfig) kernel() *learner.KernelConfig {
	return &learner.KernelConfig{Kernel: string(c.Kernel), Gamma: c.Gamma, Sigma: c.Sigma,
		Degree: c.Degree, Coef0: c.Coef0, Scale: c.Scale}
}

// Linear reports whether the hypothesis is one weight vector: the plain inner product.
func (c *OnlineConfig) Linear() bool { return c.kernel().Linear() }

func (c *OnlineConfig) validate(name string) error {
	if err := checkBudget(name, c.Budget, 1); err != nil {
		return err
	}
	return c.kernel().Validate(name)
}

// relativeLengths is false of a kernel for which all examples have length 1: settings relative to
// that of the longest are known without the data.
func (c *OnlineConfig) relativeLengths() bool { return c.Kernel != "rbf" }

// self returns |phi(x)|^2 of the longest example, whose squared length is R2; without a kernel that
// is R2. It is 0 where it is not known.
func (c *OnlineConfig) self(R2 float64) float64 {
	if c.Linear() || R2 == 0 && c.relativeLengths() {
		return R2
	}
	return c.kernel().EngineKernel().Self(R2)
}

func (c *OnlineConfig) budget() *int { return &c.Budget }

// sized returns what makes copies of the settings with another budget.
func sized[C any, P interface {
	*C
	learner.Config
	budget() *int
}](c P) func(budget int) learner.Config {
	return func(budget int) learner.Config {
		d := *c
		*P(&d).budget() = budget
		return P(&d)
	}
}

// traits changes t to those of the kernel form, if there is a kernel: it learns streams only. sized
// is as in onlineTraits.
func (c *OnlineConfig) traits(name string, t learner.Traits,
	sized func(budget int) learner.Config) learner.Traits {
	if c.Linear() {
		return t
	}
	t.Whole, t.SoftDelta, t.ActiveSet, t.Halving, t.Cut = false, false, false, false, false
	t.Norm, t.Remedies, t.Mixes = math.NaN(), nil, false
	return onlineTraits(name, t, c.kernel(), c.Budget, 1, sized)
}

func newOnline[T learner.Float](k *learner.KernelConfig, budget int, r rule, env learner.Env) (
	*onlineKernel[T], error) {
	s, err := kept.NewScaled[T](kept.Settings{Name: r.name, Kernel: k.EngineKernel(),
		Limit: budget, Room: env.Kept})
	if err != nil {
		return nil, err
	}
	dual, err := kept.NewSum[T](r.name, kept.Batch, k.EngineKernel(), env.Pool)
	l := &onlineKernel[T]{Stored: primal.Stored{Name: r.name}, set: s, dual: dual,
		rule: r.stepping(), pool: env.Pool, rows: env.Rows, unit: 1, fade: 1}
	l.Walk = l.fields
	return l, err
}

func (l *onlineKernel[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := checkSlacks(l.Name, b, len(rounds), l.rule.weights); err != nil {
		return err
	}
	if l.fitted {
		l.goOn()
	}
	for i := range b.Len() {
		f, y := l.score(b, i), float64(b.Y[i])
		rounds[i] = learner.Round{Score: f}
		l.set.Seen++
		w := float64(b.Weight(i))
		if w == 0 {
			continue
		}
		x := example{margin: float64(y * f), weight: w, updates: l.set.UpdateCount,
			norm2: l.set.Norm2}
		if !(x.margin <= l.rule.dueAt(x.updates, x.norm2)) {
			l.shrink()
			continue
		}
		x.margin = float64(x.margin * l.fade)
		x.sq, x.norm2 = l.set.Self(), float64(x.norm2*float64(l.fade*l.fade))
		s, counts := l.step(x)
		if !(s.ok && s.add > 0 && s.add <= math.MaxFloat64) {
			l.shrink()
			continue
		}
		p, err := l.set.PlaceFor(y, false)
		if err != nil {
			l.set.Seen--
			return err
		}
		l.set.Stretch(float64(s.stretch * l.fade))
		kept := 0.0
		if x.norm2 > 0 && s.norm2 > 0 {
			kept = float64(s.stretch*s.stretch) * (x.norm2 / s.norm2)
		}
		l.set.Carry(s.norm2, kept)
		l.set.Put(p, y, s.add, 0, 1)
		if measured := l.set.Measure(0); measured || l.set.Gone != 0 {
			if c := l.rule.length.factor(l.set.Norm2); c != 1 {
				l.set.Stretch(c)
				l.set.Norm2 *= float64(c * c)
			}
		}
		if counts {
			l.set.UpdateCount++
			rounds[i].Updates = 1
		}
	}
	return nil
}

// step returns the rule's update, after which |w| is where the rule has it, and whether it counts.
func (l *onlineKernel[T]) step(x example) (_ update, counts bool) {
	if l.rule.first && x.norm2 == 0 && x.sq > 0 { // an update by the same example leaves w
		length := math.Sqrt(x.sq)
		return update{add: 1 / length, norm2: 1, ok: true}, length <= l.rule.dueAt(x.updates, 1)
	}
	u := l.rule.step(x)
	u.norm2 = min(max(0, u.norm2), math.MaxFloat64)
	c := l.rule.length.factor(u.norm2)
	u.stretch, u.add = float64(c*u.stretch), float64(c*u.add)
	if c != 1 || l.rule.length == unitLength {
		u.norm2 = 1
	}
	return u, true
}

// shrink is what an example that is not learned does to w.
func (l *onlineKernel[T]) shrink() {
	if l.fade != 1 {
		l.set.Stretch(l.fade)
		l.set.Norm2 *= float64(l.fade * l.fade)
	}
}

// score returns f of example i of b, by the operations of kept.Sum.
func (l *onlineKernel[T]) score(b *engine.Block[T], i int) float64 {
	return l.set.ScoreExample(b, i)/float64(l.set.Divisor*l.unit) + l.bias
}

// goOn makes what Fit found what Learn goes on from.
func (l *onlineKernel[T]) goOn() {
	l.set.Resume(&l.dual, 1)
	l.dropFit()
}

// dropFit forgets what Fit found.
func (l *onlineKernel[T]) dropFit() { l.fitted, l.dual, l.prices = false, l.dual.Cleared(), nil }

// hypothesis is that of Learn, or of Fit.
func (l *onlineKernel[T]) hypothesis() kept.Sum[T] {
	if !l.fitted {
		return l.set.Sum(l.unit, l.bias)
	}
	p := l.dual
	p.Bias = l.bias
	return p
}

func (l *onlineKernel[T]) Score(b *engine.Block[T], dst []float64) error {
	p := l.hypothesis()
	return p.Score(b, dst)
}

func (l *onlineKernel[T]) Snapshot() learner.Predictor[T] {
	if l.fitted { // which is replaced, never changed
		return l.View()
	}
	return l.hypothesis().Copied()
}

// View is for [learner.ViewOf].
func (l *onlineKernel[T]) View() learner.Predictor[T] {
	return l.hypothesis().View()
}

// Weights returns nil: the hypothesis is a sum over kept examples.
func (l *onlineKernel[T]) Weights() []float64 { return nil }

func (l *onlineKernel[T]) Updates() int64 { return l.set.UpdateCount }

func (l *onlineKernel[T]) Support() int {
	if l.fitted {
		return len(l.dual.Coef)
	}
	return l.set.Support()
}

func (l *onlineKernel[T]) Bytes() int64 {
	return l.set.Bytes() + l.dual.Bytes() + primal.BytesOf(l.prices) + int64(unsafe.Sizeof(*l)-
		unsafe.Sizeof(l.set))
}

func (l *onlineKernel[T]) fields(c *learner.Codec) {
	l.fitFields(c, func(c *learner.Codec) { l.set.Fields(c) })
}

// fitFields is fields with those of what Learn has.
func (l *onlineKernel[T]) fitFields(c *learner.Codec, online func(c *learner.Codec)) {
	if !c.Optional("dim", l.fitted) {
		online(c)
		c.Then(l.dropFit)
		return
	}
	updates := learner.Count(c, "updates", &l.set.UpdateCount)
	norm2 := c.Scalar("norm2", &l.set.Norm2)
	c.Want(norm2 >= 0, "scalar %q is %v, want a number >= 0", "norm2", norm2)
	vectors := l.dual.SupportFields(c)
	prices := kept.PriceField(c, l.prices, vectors)
	c.Then(func() {
		l.set.Clear()
		l.set.UpdateCount, l.set.Norm2 = updates, norm2
		l.prices = slices.Clone(prices)
		l.fitted = true
	})
}

// Fit is Fitter.Fit of romma and pumma, by [FitROMMARows] and [FitPUMMARows]: it starts anew every
// time, and GramBytes of kernel rows are kept. Without an update all is as it was. The others, and
// those two with a budget, return an error that wraps ErrFit.
func (l *onlineKernel[T]) Fit(ctx context.Context, b *engine.Block[T], o learner.FitOptions) (
	learner.FitResult, error) {
	if err := checkSlacks(l.Name, b, b.Len(), l.rule.weights || o.Delta > 0); err != nil {
		return learner.FitResult{}, err
	}
	if l.solve == nil {
		return learner.FitResult{}, fmt.Errorf("%s: with a kernel, or with a budget beside it, it "+
			"learns one example after another only: %w", l.Name, learner.ErrFit)
	}
	d, err := margin.FitRows(l.Name, b, o, l.set.List.Kernel(), l.pool, l.rows,
		&l.dual, func(rows engine.RowSource[T], y, weights []float64) (learner.MarginDual, error) {
			return l.solve(ctx, rows, y, weights, o)
		})
	if d.Updates > 0 {
		l.prices = nil
		if weights := margin.WeightsOf(b); weights != nil {
			l.prices = make([]float64, 0, len(l.dual.Coef))
			for k, a := range d.Coef {
				if a != 0 {
					l.prices = append(l.prices, weights[k])
				}
			}
		}
		updates := l.set.UpdateCount + d.Updates
		l.set.Clear()
		l.set.UpdateCount, l.set.Norm2 = updates, float64(d.Bound*d.Bound)
		if l.rule.step != nil {
			l.set.Norm2 = 1 / l.set.Norm2 // of w, not of u
		}
		l.bias, l.fitted = d.Bias, true
		d.Counter = updates + 1
	}
	return d.FitResult, err
}

// checkBudget wants least to 2^31-1 examples, or 0, and none without a kernel.
func checkBudget(name string, budget, least int) error {
	if budget != 0 && budget < least || budget > math.MaxInt32 {
		return fmt.Errorf("%s: budget is %d, want a number of examples from %d, or 0 for no "+
			"limit: %w", name, budget, least, learner.ErrConfig)
	}
	return nil
}

// onlineTraits changes t to the traits of the kernel form. sized returns a copy of the settings
// with that budget.
func onlineTraits(name string, t learner.Traits, k *learner.KernelConfig, budget, least int,
	sized func(budget int) learner.Config) learner.Traits {
	keeps := int64(learner.Any)
	if budget > 0 {
		keeps = int64(budget)
	}
	n, whole := learner.KernelTraits(k.EngineKernel(), keeps), t.Whole
	t.Memory = func(x learner.Extent) (f learner.Footprint) {
		if x.Whole && whole { // the rows of a data set
			kept.AddRows(&f, x, x.Elem, x.Examples, 5*8)
			kept.AddCurrent(&f, x, 1) // of the empty set of kept examples
			return f
		}
		kept.AddScaled(&f, x, keeps)
		return f
	}
	t.Stream, t.Support, t.Keeps, t.Kept = true, true, n.Keeps, n.Kept
	t.Linear, t.Vector, t.Members, t.Forgets = false, false, nil, false
	if t.Whole {
		t.Threads = learner.ThreadsRows
	}
	t.Sizes = []string{"budget"}
	t.FitMemory = kept.FitMemory(name, kept.MaxKept, func(n int) learner.Config {
		return sized(max(least, n))
	})
	return t
}
