package learners

import (
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/margin"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// begin makes room for the features of b.
func (l *pumma[T]) begin(b *engine.Block[T]) {
	if l.c == 0 && l.kept == 0 && b.Len() > 0 && !b.Dense() {
		l.c = 1
	}
	l.grow(b.Dim)
}

// grow makes room for dim features.
func (l *pumma[T]) grow(dim int) {
	l.u = primal.Grown(l.u, dim)
	if l.c == 0 || l.p > 2 {
		l.w = primal.Grown(l.w, dim)
	}
	if l.c == 0 {
		for _, v := range [...]*[]float64{&l.dense[0], &l.dense[1], &l.x, &l.d, &l.v} {
			*v = primal.Grown(*v, dim)
		}
		if l.p > 2 {
			l.powered = primal.Grown(l.powered, dim)
		}
	}
}

// score returns f(x) of example i.
func (l *pumma[T]) score(b *engine.Block[T], i int) float64 {
	return primal.DotMixed(b, i, l.powers())/l.div + l.b
}

// powers returns div times the weights.
func (l *pumma[T]) powers() []float64 {
	if l.c > 0 && l.p == 2 {
		return l.u
	}
	return l.w
}

// sparseExample has the features of an example, which are not 0.
type sparseExample struct {
	idx []int32
	val []float64
	sq  float64 // squared length
}

// setSparse sets x to example i of b.
func setSparse[T learner.Float](x *sparseExample, b *engine.Block[T], i int) {
	idx, val := b.Example(i)
	if idx == nil {
		idx = firstRows(len(val))
	}
	val = val[:len(idx)]
	to, as := slices.Grow(x.idx[:0], len(idx))[:len(idx)],
		slices.Grow(x.val[:0], len(idx))[:len(idx)]
	n := 0
	for k, v := range val {
		to[n], as[n] = idx[k], float64(v)
		if v != 0 {
			n++
		}
	}
	x.idx, x.val = to[:n], as[:n]
	x.sq = vecmath.SumSq(x.val)
}

// take sets e to the non-zeros of x.
func (e *sparseExample) take(x []float64) {
	e.idx, e.val = e.idx[:0], e.val[:0]
	for j, v := range x {
		if v != 0 {
			e.idx, e.val = append(e.idx, int32(j)), append(e.val, v)
		}
	}
	e.sq = vecmath.SumSq(e.val)
}

// spread sets x to e.
func (e *sparseExample) spread(x []float64) {
	clear(x)
	for n, j := range e.idx {
		x[j] = e.val[n]
	}
}

// dot returns w.e.
func (e *sparseExample) dot(w []float64) float64 {
	return vecmath.SparseDot(e.idx, e.val, w)
}

// featureMarks has a mark for each feature of an example, at the last bits of its index. Examples
// without a common mark have no common feature, as nearly all pairs of a wide stream: to look takes
// a tenth of the time of going through two lists at once, whose branches nothing predicts.
type featureMarks [1 << 12]bool

// set sets or takes off the marks of e.
func (m *featureMarks) set(e *sparseExample, to bool) {
	for _, j := range e.idx {
		m[j&int32(len(m)-1)] = to
	}
}

// none reports whether no feature of e has a mark.
func (m *featureMarks) none(e *sparseExample) bool {
	any := false
	for _, j := range e.idx {
		any = any || m[j&int32(len(m)-1)]
	}
	return !any
}

// markBoth makes the marks of xpos and xneg.
func (l *pumma[T]) markBoth() {
	l.marks = [2]featureMarks{}
	for k := range l.marks {
		l.marks[k].set(&l.sparse[k], true)
	}
}

// toSparse changes from the form after dense examples to that after sparse ones.
func (l *pumma[T]) toSparse() {
	for k, x := range l.dense {
		l.sparse[k].take(x)
	}
	l.markBoth()
	if l.dropDense(); l.p == 2 {
		l.w = nil
	}
	l.c = 1
	if top := maxAbs(l.u); top > 0 {
		l.c = top
		for j := range l.u {
			l.u[j] /= top
		}
	}
	l.addUp()
	l.measure()
}

// dropDense drops what only dense examples need.
func (l *pumma[T]) dropDense() {
	l.dense, l.x, l.d, l.v, l.powered = [2][]float64{}, nil, nil, nil, nil
}

// toDense changes from the form after sparse examples to that after dense ones.
func (l *pumma[T]) toDense() {
	c := l.c
	l.c, l.div, l.sum = 0, 1, primal.Sum{}
	l.grow(len(l.u))
	for j := range l.u {
		l.u[j] = float64(c * l.u[j])
	}
	clear(l.w)
	for k, x := range l.dense {
		l.sparse[k].spread(x)
	}
	if l.kept == keptPos|keptNeg {
		l.length = l.to.measure(l.u, l.powered)
		l.norm2 = l.length.norm2 + float64(l.m2*l.invC)
		l.setWeights(l.w, l.u, l.powered, l.length.k/l.norm2)
	}
}

// setWeights sets w to (B), f r u, where r are the powers of u, 1 for p = 2.
func (l *pumma[T]) setWeights(w, u, r []float64, f float64) {
	if l.p == 2 {
		for j, v := range u {
			w[j] = float64(f * v)
		}
		return
	}
	for j, v := range u {
		w[j] = float64(float64(f*r[j]) * v)
	}
}

func maxAbs(x []float64) float64 {
	// Without their signs numbers are ordered as their bits are, by one instruction each, not five.
	var a, b uint64
	for ; len(x) >= 2; x = x[2:] {
		a = max(a, math.Float64bits(x[0])&^(1<<63))
		b = max(b, math.Float64bits(x[1])&^(1<<63))
	}
	for _, v := range x {
		a = max(a, math.Float64bits(v)&^(1<<63))
	}
	return math.Float64frombits(max(a, b))
}

func (l *pumma[T]) fields(c *learner.Codec) {
	learner.Count(c, "updates", &l.updates)
	c.Scalar("b", &l.b)
	kept := learner.Count(c, "kept", &l.kept)
	c.Want(kept <= keptPos|keptNeg, "counter %q is %d", "kept", kept)
	for k, name := range [2]string{"m_neg", "m_pos"} {
		m := c.Scalar(name, &l.m[k])
		c.Want(m >= 0 && m <= 1, "scalar %q is %v, want one in [0, 1]", name, m)
	}
	m2 := c.Scalar("m2", &l.m2)
	c.Want(m2 >= 0, "scalar %q is %v, want a number >= 0", "m2", m2)
	r := [2]float64{1, 1} // of weights of 1 a State lacks it
	for k, name := range [2]string{"r_neg", "r_pos"} {
		if c.Optional(name, l.r[k] != 1) {
			r[k] = c.Scalar(name, &l.r[k])
			c.Want(r[k] >= 0, "scalar %q is %v, want a number >= 0", name, r[k])
		}
	}
	c.Then(func() { l.r = r })
	both := kept == keptPos|keptNeg
	if c.Optional("u", l.c == 0) {
		l.denseFields(c, both, m2)
	} else {
		l.sparseFields(c, both, m2)
	}
}

// denseFields is the part of fields after dense examples.
func (l *pumma[T]) denseFields(c *learner.Codec, both bool, m2 float64) {
	u := learner.Vector(c, "u", &l.u)
	dim := len(u)
	c.PerFeature("u", dim)
	for k, name := range []string{"pos", "neg"} {
		x := learner.Vector(c, name, &l.dense[1-k])
		c.Want(len(x) == dim, "tensor %q has %d elements, the others %d", name, len(x), dim)
	}
	c.Part(learner.CutPrefix, &l.cut, margin.CheckPassCut)
	if !c.Reading() {
		return
	}
	c.Want(both || maxAbs(u) == 0, "tensor %q is not 0, of one label", "u")
	w, norm2 := make([]float64, dim), 0.0
	var length dualLength
	var powered []float64
	if l.p > 2 {
		powered = make([]float64, dim)
	}
	if both {
		length = l.to.measure(u, powered)
		norm2 = length.norm2 + float64(m2*l.invC)
		c.Want(norm2 > 0, "tensor %q has length %v", "u", math.Sqrt(norm2))
		l.setWeights(w, u, powered, length.k/norm2)
	}
	c.Then(func() {
		l.c, l.div, l.sum, l.norm2, l.w = 0, 1, primal.Sum{}, norm2, w
		l.length, l.powered = length, powered
		l.x, l.d, l.v = make([]float64, dim), make([]float64, dim), make([]float64, dim)
	})
}

// sparseFields is the part of fields after sparse examples.
func (l *pumma[T]) sparseFields(c *learner.Codec, both bool, m2 float64) {
	t := learner.Vector(c, "t", &l.u)
	dim := len(t)
	c.PerFeature("t", dim)
	for k, name := range []string{"pos", "neg"} {
		var x []float64
		of := &l.sparse[1-k]
		if c.Writing() {
			x = make([]float64, dim)
			of.spread(x)
		}
		x = learner.View(c, name, x)
		c.Want(len(x) == dim, "tensor %q has %d elements, the others %d", name, len(x), dim)
		c.Then(func() { of.take(x) })
	}
	scale := c.Scalar("scale", &l.c)
	c.Want(scale > 0, "scalar %q is %v, want a number > 0", "scale", scale)
	var w []float64
	steps := l.p > 2 && c.Optional("w", l.steps)
	if steps {
		w = learner.Vector(c, "w", &l.w)
		steps = c.Want(len(w) == dim, "tensor %q has %d elements, the others %d", "w", len(w), dim)
	}
	terms := 0.0
	if c.Reading() {
		for j, v := range t {
			power := v
			if l.p > 2 {
				power = l.to.signed(v)
			}
			if steps {
				c.Want(math.Abs(w[j]-power) <= float64(0x1p-20*math.Abs(power))+0x1p-600,
					"tensor %q has %v, the power of %v is %v", "w", w[j], v, power)
				power = w[j]
			}
			terms += float64(power * v)
		}
	}
	l.sum.Fields(c, "sum", terms, len(t), pummaShare)
	c.Want(both || maxAbs(t) == 0, "tensor %q is not 0, of one label", "t")
	if both {
		norm2 := float64(float64(scale*scale)*l.to.square.Of(terms)) + float64(m2*l.invC)
		c.Want(norm2 > 0 && norm2 <= math.MaxFloat64, "tensor %q has length %v", "t",
			math.Sqrt(norm2))
	}
	c.Part(learner.CutPrefix, &l.cut, margin.CheckPassCut)
	c.Then(func() {
		l.dropDense()
		if l.steps = steps; l.p == 2 {
			l.w = nil
		} else if !steps {
			l.w = make([]float64, dim)
			for j, v := range l.u {
				l.w[j] = l.to.signed(v)
			}
		}
		l.markBoth()
		l.measure()
	})
}
