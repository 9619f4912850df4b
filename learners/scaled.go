package learners

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// scaledLinear is linear with a factor on the weights, for rules that stretch or shrink all of them at each update: the factor
// takes the stretch, so that an update costs the example's non-zeros alone.
type scaledLinear[T Float] struct {
	linear[T]         // the weights without their factor
	scale     float64 // > 0
	norm2     float64 // |scale * w|^2, carried along by the rule; extended coordinates included
	ext       *extended
}

// extended holds the coordinates of a soft margin while Fit runs: example k has one of its own, y_k Delta, at which the weights have
// y_k Delta alpha_k. What Learn calls one example are then the extended ones, by their position in the block.
type extended struct {
	delta2 float64   // Delta^2
	alpha  []float64 // alpha_k / scale
	scale  float64
}

// sumSq returns Delta^2 |alpha|^2.
func (e *extended) sumSq() (sum float64) {
	for _, v := range e.alpha {
		v = float64(e.scale * v)
		sum += float64(v * v)
	}
	return float64(sum * e.delta2)
}

func (e *extended) stretch(c float64, k int, a float64) {
	if e.scale *= c; !(e.scale > 0x1p-64 && e.scale < 0x1p64) { // also 0
		for i := range e.alpha {
			e.alpha[i] *= e.scale
		}
		e.scale = 1
	}
	e.alpha[k] += a / e.scale
}

// refold is the number of updates after which the factor is folded into the weights and norm2 is taken from them, so that the
// rounding errors of neither add up.
const refold = 1024

// score returns f(x) of example i.
func (l *scaledLinear[T]) score(b *engine.Block[T], i int) float64 {
	return float64(l.scale * l.dot(b, i))
}

// margin returns y f of example i with label y and score f.
func (l *scaledLinear[T]) margin(i int, y, f float64) float64 {
	m := float64(y * f)
	if l.ext != nil {
		m += float64(l.ext.delta2 * float64(l.ext.scale*l.ext.alpha[i]))
	}
	return m
}

// size returns |x|^2 of example i.
func (l *scaledLinear[T]) size(b *engine.Block[T], i int) float64 {
	if l.ext != nil {
		return sumSq(b, i) + l.ext.delta2
	}
	return sumSq(b, i)
}

// holds reports whether stretch can add a times an example to c w: a factor that T doesn't hold, as
// of an example so short that 1/|x|^2 overflows, would end all learning.
func (l *scaledLinear[T]) holds(c, a float64) bool {
	s := l.scale * c
	if s == 0 {
		s = 1
	}
	v := T(a / s)
	return v-v == 0
}

// stretch sets w to c w + a y x_i, c >= 0. The rule then sets norm2 and calls updated.
func (l *scaledLinear[T]) stretch(c float64, b *engine.Block[T], i int, a float64) {
	l.scale *= c
	if l.scale == 0 {
		clear(l.w)
		l.scale = 1
	}
	l.add(b, i, T(float64(b.Y[i])*a/l.scale))
	if l.ext != nil {
		l.ext.stretch(c, i, a)
	}
}

// updated counts an update.
func (l *scaledLinear[T]) updated() {
	l.updates++
	if l.updates%refold != 0 && l.scale > 0x1p-32 && l.scale < 0x1p32 {
		return
	}
	l.fold()
	if l.ext != nil {
		l.norm2 += l.ext.sumSq()
	}
}

// fold makes the factor 1 and takes norm2 from the weights alone.
func (l *scaledLinear[T]) fold() {
	vecmath.Scal(l.w, T(l.scale))
	l.scale, l.norm2 = 1, sumSq64(l.w)
}

// fit is Fitter.Fit of a learner called name, which learns one example by learn and would learn one
// of margin m if violates(m). bound is FitResult.Bound of a new learner; goal sets the accuracy,
// delta in the end; nil if there is none. own returns what the learner has of a run besides its
// state.
func (l *scaledLinear[T]) fit(ctx context.Context, name string, b *engine.Block[T], o FitOptions,
	learn func(b *engine.Block[T], i int) Round, violates func(m float64) bool,
	bound func() float64, delta float64, goal func(float64),
	own func() map[string]float64) (FitResult, error) {
	n := b.Len()
	if err := l.check(name); err != nil {
		return FitResult{}, err
	}
	if err := checkBlock(name, b, n); err != nil {
		return FitResult{}, err
	}
	if err := checkFit(name, &o, true, goal != nil); err != nil {
		return FitResult{}, err
	}
	if err := checkLengths(name, b, unsafe.Sizeof(T(0))); err != nil {
		return FitResult{}, err
	}
	switch {
	case !(o.Delta >= 0) || math.IsInf(o.Delta, 0):
		return FitResult{}, fmt.Errorf("%s: Delta is %v, want a number >= 0: %w", name, o.Delta, ErrConfig)
	case o.Delta > 0 && l.updates > 0:
		return FitResult{}, fmt.Errorf("%s: with Delta = %v a run can't go on from %d updates, whose extended weights were not kept: %w", name, o.Delta, l.updates, ErrFit)
	case n == 0:
		return FitResult{}, fmt.Errorf("%s: no examples: %w", name, ErrFit)
	}
	l.w = grown(l.w, b.Dim)
	if o.Delta > 0 {
		l.ext = &extended{delta2: float64(o.Delta * o.Delta), alpha: make([]float64, n), scale: 1}
	}
	from := passCut(l.cut, b, &o)
	known := l.updates == 0 // else other examples may have been learned
	if from != nil {
		known = from.Counters[cutFlags]&cutBound != 0
	}
	r := FitResult{}
	p := passes{
		resumed: from,
		bound: func() float64 {
			if !known {
				return math.Inf(1)
			}
			return bound()
		},
		least: leastMargin(lengths(b, o.Delta)),
		n:     n, learn: func(k int) bool { return learn(b, k).Updates > 0 }, goal: goal, delta: delta,
	}
	p.status = func(r *FitResult) {
		l.judge(b, violates, r)
		r.Bound = p.bound()
	}
	l.cut = nil
	err := p.run(ctx, &o, &r)
	if l.ext == nil {
		l.cut = ofData(p.cut, b, known, own())
	}
	r.Counter = l.updates + 1
	p.status(&r)
	r.Converged = r.Converged && r.Violators == 0 // an update may be impossible
	if l.ext != nil {
		l.ext = nil
		l.fold()
	}
	return r, err
}

// judge fills in what the weights, with their extended coordinates, have reached.
func (l *scaledLinear[T]) judge(b *engine.Block[T], violates func(m float64) bool, r *FitResult) {
	s, least := make([]float64, b.Len()), math.Inf(1)
	r.Violators = 0
	for k := range s {
		s[k] = l.margin(k, float64(b.Y[k]), l.score(b, k))
		if least = min(least, s[k]); violates(s[k]) {
			r.Violators++
		}
	}
	length2 := float64(float64(l.scale*l.scale) * sumSq64(l.w))
	if l.ext == nil {
		r.Margin = least / math.Sqrt(length2)
		return
	}
	ext := l.ext.sumSq()
	length := math.Sqrt(length2)
	r.Margin = least / math.Sqrt(length2+ext)
	r.Gamma, r.Gamma0 = r.Margin, least/length
	var d2 float64
	for k, m := range s {
		own := float64(l.ext.delta2 * float64(l.ext.scale*l.ext.alpha[k]))
		d := max(0, r.Gamma0-(m-own)/length) // (19) of the CRAMMA paper
		d2 += float64(d * d)
	}
	r.D, r.DPrime = math.Sqrt(d2), math.Sqrt(float64(l.ext.delta2*ext))/length
}

// Weights returns a copy of the weights, one a feature seen so far.
func (l *scaledLinear[T]) Weights() []float64 { return scaled(l.w, l.scale) }

// Bytes returns the memory that the weights hold.
func (l *scaledLinear[T]) Bytes() int64 { return bytesOf(l.w) + int64(unsafe.Sizeof(*l)) }

// State returns the tensor w with the scalars scale and norm2, and the number of updates.
func (l *scaledLinear[T]) State() State { return learner.StateOf(l.fields) }

func (l *scaledLinear[T]) fields(c *learner.Codec) {
	l.weights(c)
	scale, norm2 := c.Scalar("scale", &l.scale), c.Scalar("norm2", &l.norm2)
	c.Want(scale > 0, "scalar %q is %v, want a number > 0", "scale", scale)
	c.Want(norm2 >= 0, "scalar %q is %v, want a number >= 0", "norm2", norm2)
	c.Part(cutPrefix, &l.cut, checkPassCut)
}

// parallel is the squared sine of the angle below which rounding of scores decides.
func parallel[T Float]() float64 {
	if unsafe.Sizeof(T(0)) == 4 {
		return 0x1p-17
	}
	return 0x1p-46
}
