package margin

import (
	"context"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// ScaledLinear is [primal.Linear] with a factor on the weights, for rules that stretch or shrink
// all of them at each update: the factor takes the stretch, so that an update costs the example's
// non-zeros alone. The weights of the rule are Scale W.
type ScaledLinear[T learner.Float] struct {
	primal.Linear[T]
	// |scale * w|^2, carried along by the rule; extended coordinates included
	Norm2 float64
	Grown float64   // see [primal.Growth]
	Ext   *extended // while Fit runs with a soft margin; else nil
}

// NewScaledLinear returns weights without features.
func NewScaledLinear[T learner.Float](name string) ScaledLinear[T] {
	return ScaledLinear[T]{Linear: primal.NewLinear[T](name, 1)}
}

// extended holds the coordinates of a soft margin while Fit runs: example k has one of its own, y_k
// Delta, over the root of its weight, at which the weights have that times alpha_k. What Learn
// calls one example are then the extended ones, by their position in the block.
type extended struct {
	ridge ridge
	alpha []float64 // alpha_k / Scale, one an example
	Scale float64   // the factor of these: the rule's own stretches, without what was folded
}

// sumSq returns the sum of Delta^2 alpha_k^2 / w_k.
func (e *extended) sumSq() (sum float64) {
	for k, v := range e.alpha {
		v = float64(e.Scale * v)
		sum += float64(float64(v*v) * e.ridge.inverse(k))
	}
	return float64(sum * e.ridge.delta2)
}

// scaleAndAdd sets alpha to c alpha + a e_k.
func (e *extended) scaleAndAdd(c float64, k int, a float64) {
	// 2^64 either way leaves a/Scale, and the coordinates beside it, far within float64. A factor
	// of 0 clears all.
	if e.Scale *= c; !(e.Scale > 0x1p-64 && e.Scale < 0x1p64) { // also 0
		for i := range e.alpha {
			e.alpha[i] *= e.Scale
		}
		e.Scale = 1
	}
	e.alpha[k] += a / e.Scale
}

// ScoreExample returns f(x) of example i.
func (l *ScaledLinear[T]) ScoreExample(b *engine.Block[T], i int) float64 {
	return float64(l.Scale * l.Dot(b, i))
}

// ExtendedMargin returns y f of example i with label y and score f, its extended coordinate
// included.
func (l *ScaledLinear[T]) ExtendedMargin(i int, y, f float64) float64 {
	m := float64(y * f)
	if l.Ext != nil {
		m += float64(l.Ext.ridge.of(i) * float64(l.Ext.Scale*l.Ext.alpha[i]))
	}
	return m
}

// SquaredLength returns |x|^2 of example i, its extended coordinate included.
func (l *ScaledLinear[T]) SquaredLength(b *engine.Block[T], i int) float64 {
	if l.Ext != nil {
		return primal.SumSq(b, i) + l.Ext.ridge.of(i)
	}
	return primal.SumSq(b, i)
}

// Representable reports whether stretch can add a times an example to c w: a factor that T doesn't
// hold, as of an example so short that 1/|x|^2 overflows, would end all learning.
func (l *ScaledLinear[T]) Representable(c, a float64) bool {
	s := l.Scale * c
	if s == 0 {
		s = 1 // as ScaleAndAdd has it
	}
	v := T(a / s)
	return v-v == 0
}

// ScaleAndAdd sets w to c w + a y x_i, c >= 0. The rule then calls CountUpdate.
func (l *ScaledLinear[T]) ScaleAndAdd(c float64, b *engine.Block[T], i int, a float64) {
	l.Scale *= c
	if l.Scale == 0 { // c is 0, or the product underflows: what was learned is beyond T
		clear(l.W)
		l.Scale = 1
	}
	l.Add(b, i, T(float64(b.Y[i])*a/l.Scale))
	if l.Ext != nil {
		l.Ext.scaleAndAdd(c, i, a)
	}
}

// Divide divides the weights by length.
func (l *ScaledLinear[T]) Divide(length float64) {
	l.Scale /= length
	if l.Ext != nil {
		l.Ext.Scale /= length
	}
}

// CountUpdate counts an update after which |w|^2 is next, and was that times kept, of the weights
// that it left. It folds the factor into the weights and measures Norm2 every
// [primal.MeasureEvery] updates, where the error of Norm2 has grown, and where the factor has come
// far from 1: within 2^32 either way the stored weights stay far within the range of T. A fold is
// O(features), which so many updates of O(non-zeros) share.
func (l *ScaledLinear[T]) CountUpdate(next, kept float64) {
	l.UpdateCount++
	l.Norm2, l.Grown = next, primal.Growth(l.Grown, kept)
	if l.UpdateCount%primal.MeasureEvery != 0 && l.Grown <= primal.MostGrowth &&
		l.Scale > 0x1p-32 && l.Scale < 0x1p32 {
		return
	}
	l.fold()
	if l.Ext != nil {
		l.Norm2 += l.Ext.sumSq()
	}
}

// fold makes the factor 1 and takes Norm2 from the weights alone, without extended coordinates.
func (l *ScaledLinear[T]) fold() {
	vecmath.Scal(l.W, T(l.Scale))
	l.Scale, l.Norm2, l.Grown = 1, engine.SumSqOrdered(l.W), 0
}

// PassRule is what FitByPasses needs of a learner.
type PassRule[T learner.Float] struct {
	Learn    func(b *engine.Block[T], i int) learner.Round // learns one example
	Violates func(m float64) bool                          // it would learn one of that margin
	// Bound is FitResult.Bound if all that was learned are the examples of one run.
	Bound func() float64
	Delta float64 // the accuracy
	Least float64 // a run whose bound is this low ends, as one at LeastMargin
	Goal  func(float64)
	// Own returns what the learner has of a run besides its state, to be part of a cut; may be nil.
	Own func() map[string]float64
}

// FitByPasses is Fitter.Fit. Goal sets the accuracy, Delta in the end; nil if there is none.
func (l *ScaledLinear[T]) FitByPasses(ctx context.Context, b *engine.Block[T],
	o learner.FitOptions, rule *PassRule[T]) (learner.FitResult, error) {
	name, n := l.Name, b.Len()
	if err := CheckFit(name, b, &o, Fits{Weights: o.Delta > 0, ActiveSet: true,
		Halving: rule.Goal != nil}); err != nil {
		return learner.FitResult{}, err
	}
	from := ResumableCut(l.Cut, b, &o)
	if o.Delta > 0 && from != nil && len(floats(from, "w")) != max(len(l.W), b.Dim) {
		from = nil
	}
	if from == nil && o.Delta > 0 && l.UpdateCount > 0 {
		return learner.FitResult{}, noSlacks(name, o.Delta, l.UpdateCount)
	}
	slacks := ridgeOf(b, o.Delta)
	l.W = primal.Grown(l.W, b.Dim)
	keeps := Cuts{Cut: &l.Cut, Updates: l.Updates, Own: rule.Own}
	if o.Delta > 0 {
		l.Ext = &extended{ridge: slacks, alpha: make([]float64, n), Scale: 1}
		defer func() { l.Ext = nil }()
		if from != nil {
			l.unfold(from)
		}
		keeps.Leave = func() { l.foldSlacks(o.Delta) }
		keeps.Return = func() { l.unfold(l.Cut) }
	}
	return FitPasses(ctx, b, o, from, &Passes{
		N: n, Goal: rule.Goal, Delta: rule.Delta,
		Learn:  func(k int) bool { return slacks.counts(k) && rule.Learn(b, k).Updates > 0 },
		Status: func(r *learner.FitResult) { l.judge(b, rule.Violates, r) },
		Bound:  rule.Bound, Known: l.UpdateCount == 0,
		Least: max(rule.Least, leastMargin(b, &slacks)),
	}, &keeps)
}

// foldSlacks makes the weights what they are without extended coordinates, which are no part of the
// learner. Where a run is cut, the cut has these, and the weights as they were: a learner that
// drops it knows nothing of them.
func (l *ScaledLinear[T]) foldSlacks(delta float64) {
	if l.Cut != nil {
		w := primal.Scaled(l.W, 1)
		for k, v := range map[string]float64{cutSoft: delta, "scale": l.Scale, "norm2": l.Norm2,
			"slack_scale": l.Ext.Scale} {
			l.Cut.Scalars[k] = v
		}
		if l.Grown > 0 {
			l.Cut.Scalars["grown"] = l.Grown
		}
		keepIn(l.Cut, "slacks", l.Ext.alpha)
		l.Cut.Tensors = append(l.Cut.Tensors, learner.Tensor{Name: "w", Shape: []int{len(w)},
			Data: w})
	}
	l.fold()
}

// unfold undoes foldSlacks, by the cut.
func (l *ScaledLinear[T]) unfold(cut *learner.State) {
	for j, v := range floats(cut, "w") {
		l.W[j] = T(v)
	}
	l.Scale, l.Norm2, l.Grown = cut.Scalars["scale"], cut.Scalars["norm2"], cut.Scalars["grown"]
	copy(l.Ext.alpha, floats(cut, "slacks"))
	l.Ext.Scale = cut.Scalars["slack_scale"]
}

// checkSlackFields checks what foldSlacks adds to a cut of a run over n examples, if it did.
func checkSlackFields(c *learner.Codec, n uint64) {
	if !softField(c, nil) {
		return
	}
	for _, k := range []string{"scale", "norm2", "slack_scale"} {
		v := c.Scalar(k, nil)
		ok := v > 0 || k == "norm2" && v == 0
		if k == "slack_scale" {
			ok = v > 0x1p-64 && v < 0x1p64
		}
		c.Want(ok, "where a run was cut: scalar %q is %v", k, v)
	}
	primal.GrowthField(c, nil)
	slacks := learner.View[float64](c, "slacks", nil)
	c.Want(uint64(len(slacks)) == n, "where a run was cut: tensor %q has %d elements for %d "+
		"examples", "slacks", len(slacks), n)
	learner.View[float64](c, "w", nil)
}

// judge fills in what the weights, with their extended coordinates, have reached.
func (l *ScaledLinear[T]) judge(b *engine.Block[T], violates func(m float64) bool,
	r *learner.FitResult) {
	s, least := make([]float64, b.Len()), math.Inf(1) // y f with extended coordinates
	r.Violators = 0
	for k := range s {
		if l.Ext != nil && !l.Ext.ridge.counts(k) {
			continue
		}
		s[k] = l.ExtendedMargin(k, float64(b.Y[k]), l.ScoreExample(b, k))
		if least = min(least, s[k]); violates(s[k]) {
			r.Violators++
		}
	}
	length2 := float64(float64(l.Scale*l.Scale) * engine.SumSqOrdered(l.W))
	if l.Ext == nil {
		r.Margin = least / math.Sqrt(length2)
		return
	}
	ext := l.Ext.sumSq() // |w extended|^2 - |w|^2
	length := math.Sqrt(length2)
	r.Margin = least / math.Sqrt(length2+ext)
	r.Gamma, r.Gamma0 = r.Margin, least/length
	r.DPrime = math.Sqrt(float64(l.Ext.ridge.delta2*ext)) / length
	softMargin(r, len(s), func(k int) (m, inverse float64) {
		own := float64(l.Ext.ridge.of(k) * float64(l.Ext.Scale*l.Ext.alpha[k]))
		return (s[k] - own) / length, l.Ext.ridge.inverse(k)
	})
}

// Fields walks the tensor w with the scalars scale, norm2 and grown, the number of updates, and
// where a Fit was cut.
func (l *ScaledLinear[T]) Fields(c *learner.Codec) {
	l.Linear.Fields(c)
	scale, norm2 := c.Scalar("scale", &l.Scale), c.Scalar("norm2", &l.Norm2)
	c.Want(scale > 0, "scalar %q is %v, want a number > 0", "scale", scale)
	c.Want(norm2 >= 0, "scalar %q is %v, want a number >= 0", "norm2", norm2)
	primal.GrowthField(c, &l.Grown)
	c.Part(learner.CutPrefix, &l.Cut, CheckPassCut)
}

// SumField walks the sum of a learner's dual coefficients, after Fields. It is no part of the
// state, but of a cut; where it is not known it becomes NaN.
func (l *ScaledLinear[T]) SumField(c *learner.Codec, sum *float64) {
	c.Then(func() {
		*sum = math.NaN() // of a bound that the next Fit can do without
		if l.UpdateCount == 0 {
			*sum = 0
		} else if l.Cut != nil {
			if known, ok := l.Cut.Scalars["sum"]; ok {
				*sum = known
			}
		}
	})
}

// ParallelSine2 is the squared sine of the angle below which rounding of scores decides: 1 - cos^2
// is then a difference of numbers near 1 that a score of T rounds by some units of 2^-24 or 2^-53,
// a dot of many terms by some more. 2^-17 and 2^-46 leave a factor of 2^7 for those.
func ParallelSine2[T learner.Float]() float64 {
	if unsafe.Sizeof(T(0)) == 4 {
		return 0x1p-17
	}
	return 0x1p-46
}
