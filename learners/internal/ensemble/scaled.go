package ensemble

import (
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// Scaled is what rules w <- c w + a y x share: a member's weights are its stored ones times a
// factor of its own, which takes the stretch, so that an update costs the example's non-zeros
// alone. A MemberRule embeds it and adds Step, and Fields by way of [Scaled.MemberFields].
type Scaled[T learner.Float] struct {
	Members []ScaledMember
	// Ball: the rule shrinks weights that are longer than 1, and so the errors of Norm2. It is
	// never measured, and a factor is folded but for its mantissa, which rounds nothing.
	Ball    bool
	weights MemberWeights[T]
}

// ScaledMember is what a member has besides its stored weights v.
type ScaledMember struct {
	Scale     float64 // its weights are Scale v
	Norm2     float64 // |Scale v|^2, carried along by the rule
	Grown     float64 // see [primal.Growth]
	Threshold float64 // of the next update, for rules that have one
	Updates   int64
}

// ScaledMemberBytes is the memory of a ScaledMember.
const ScaledMemberBytes = 40

// CountUpdate counts an update, as [margin.ScaledLinear] does; Fold measures before the next one.
func (m *ScaledMember) CountUpdate(next, kept float64) {
	m.Updates++
	m.Norm2, m.Grown = next, primal.Growth(m.Grown, kept)
}

// Due reports whether the next Fold measures.
func (m *ScaledMember) Due() bool {
	return m.Updates > 0 && m.Updates%primal.MeasureEvery == 0 || m.Grown > primal.MostGrowth ||
		!(m.Scale > 0x1p-32 && m.Scale < 0x1p32)
}

// NewScaled returns n members without weights, whose factors are scale.
func NewScaled[T learner.Float](n int, scale float64) Scaled[T] {
	return Scaled[T]{Members: slices.Repeat([]ScaledMember{{Scale: scale}}, n)}
}

// Fixed is MemberRule.Fixed.
func (r *Scaled[T]) Fixed() (margin, step T, ok bool) { return 0, 0, false }

// Total is MemberRule.Total.
func (r *Scaled[T]) Total(lo int, s []T) float64 {
	var sum float64
	for l, v := range s {
		sum += float64(r.Members[lo+l].Scale * float64(v))
	}
	return sum
}

// Bind is MemberRule.Bind.
func (r *Scaled[T]) Bind(w MemberWeights[T]) { r.weights = w }

// Fold makes the factor of member i 1, and takes Norm2 from the weights, where that is due: as in
// margin.ScaledLinear. Cost: all weights of a member.
func (r *Scaled[T]) Fold(i int) {
	m := &r.Members[i]
	switch {
	case r.Ball && m.Scale < 0x1p-32:
		frac, exp := math.Frexp(m.Scale)
		r.weights.Scale(i, T(math.Ldexp(1, exp)))
		m.Scale = frac
		return
	case r.Ball || !m.Due():
		return
	}
	r.weights.Scale(i, T(m.Scale))
	m.Scale, m.Norm2, m.Grown = 1, r.weights.SumSq(i), 0
}

// Stretch sets the factor of member i for w <- c w + a x, c >= 0, and returns the multiple of x
// that its stored weights take. ok is false, and nothing has changed, where T doesn't hold that.
func (r *Scaled[T]) Stretch(i int, c, a float64) (coef T, ok bool) {
	m := &r.Members[i]
	scale := float64(m.Scale * c)
	if scale == 0 { // what was learned is beyond T
		scale = 1
		if coef = T(a); coef-coef != 0 {
			return 0, false
		}
		r.weights.Scale(i, 0)
	} else if coef = T(a / scale); coef-coef != 0 {
		return 0, false
	}
	m.Scale = scale
	return coef, true
}

// MemberFields walks the members as a part of the ensemble's State: scale, norm2, member_updates
// and, unless all are 0, grown, one a member. weights are the stored ones, [feature][member]. A
// factor of 0 is that of a member without weights, which only some rules have (mayBeNew). next sets
// what follows from the rest.
func (r *Scaled[T]) MemberFields(c *learner.Codec, weights []T, mayBeNew bool,
	next func(m *ScaledMember)) {
	n := len(r.Members)
	scale, norm2, updates := make([]float64, n), make([]float64, n), make([]int64, n)
	grown, grows := make([]float64, n), false
	for i, m := range r.Members {
		scale[i], norm2[i], updates[i] = m.Scale, m.Norm2, min(m.Updates, learner.MaxCount)
		grown[i], grows = m.Grown, grows || m.Grown > 0
	}
	scale = learner.View(c, "scale", scale, n)
	norm2 = learner.View(c, "norm2", norm2, n)
	updates = learner.View(c, "member_updates", updates, n)
	if !r.Ball && c.Optional("grown", grows) {
		grown = learner.View(c, "grown", grown, n)
	} else {
		clear(grown)
	}
	if !c.Reading() {
		return
	}
	sumSq := make([]float64, n)
	for i, v := range weights {
		sumSq[i%n] += float64(float64(v) * float64(v))
	}
	for m := range n {
		c.Want(grown[m] == 0 || grown[m] > 1, "member %d: grown is %v", m, grown[m])
		if r.Ball {
			err := CheckBall(scale[m], norm2[m], sumSq[m])
			c.Want(err == nil, "member %d: %w", m, err)
		}
		none := mayBeNew && scale[m] == 0 && sumSq[m] == 0 && updates[m] == 0
		length2 := float64(float64(scale[m]*scale[m]) * sumSq[m])
		c.Want(none || scale[m] > 0 && norm2[m] >= 0 && length2-length2 == 0,
			"member %d: scale is %v, norm2 %v and the stored weights' %v", m, scale[m], norm2[m],
			sumSq[m])
		c.Want(updates[m] >= 0 && updates[m] <= learner.MaxCount, "member %d: member_updates is %d",
			m, updates[m])
	}
	c.Then(func() {
		for i, u := range updates {
			m := ScaledMember{Scale: scale[i], Norm2: norm2[i], Grown: grown[i], Updates: u}
			next(&m)
			r.Members[i] = m
		}
	})
}

// CheckBall refuses a factor of weights of length 1 at most that is none, and a squared length of
// theirs that is not what the stored weights, whose squares add up to sumSq, and the factor give.
// Rounding errors of the length carried along are far below the tolerance: the rule shrinks them
// with the rest.
func CheckBall(scale, norm2, sumSq float64) error {
	if !(scale > 0 && scale <= 1) {
		return fmt.Errorf("scale is %v, want one in (0, 1]: %w", scale, learner.ErrState)
	}
	const tolerance = 0.25
	if have := float64(float64(scale*scale) * sumSq); !(math.Abs(norm2-have) <= tolerance &&
		norm2 <= 1+tolerance) {
		return fmt.Errorf("norm2 is %v, but the weights have %v, and at most 1 by the rule: %w",
			norm2, have, learner.ErrState)
	}
	return nil
}
