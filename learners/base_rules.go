package learners

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// fixedStep is the rule of a fixed margin and step: Algorithm 1 of the OBPM paper; see Perceptron.
type fixedStep[T Float] struct {
	learner.Additive[T]
	margin, eta T
}

// Fixed is learner.MemberRule.Fixed.
func (r *fixedStep[T]) Fixed() (margin, step T, ok bool) { return r.margin, r.eta, true }

// Step is learner.MemberRule.Step, for ensembles that don't ask for Fixed.
func (r *fixedStep[T]) Step(sums []float64, mask []uint64, _ int, s []T, y T, _ float64,
	coef []T) (int, []T) {
	return eachMember(mask, func(l int) bool {
		if T(y*s[l]) > r.margin {
			return false
		}
		coef[l] = y * r.eta
		sums[l/64] += float64(coef[l])
		return true
	}), coef
}

// members is the members' form of the perceptron.
func (c *PerceptronConfig) members() *learner.MemberForm {
	return &learner.MemberForm{Additive: true, Toward: true,
		Rule32: func(int) (learner.MemberRule[float32], error) { return newFixedStep[float32](c) },
		Rule64: func(int) (learner.MemberRule[float64], error) { return newFixedStep[float64](c) },
	}
}

func newFixedStep[T Float](c *PerceptronConfig) (learner.MemberRule[T], error) {
	if c.MarginRel != 0 {
		return nil, c.unresolved()
	}
	return &fixedStep[T]{margin: T(c.Margin), eta: T(c.Eta)}, nil
}

// stepper steps members by a rule: one of a fixed margin and step in vector lanes.
type stepper[T Float] struct {
	rule        learner.MemberRule[T]
	form        *learner.MemberForm
	fixed       bool
	margin      T
	unit        float64            // of tally.coef: the fixed step, or 1
	plus, minus [engine.WideTile]T // the fixed step times y, in all lanes
}

// newStepper returns that of a base with such a members' form.
func newStepper[T Float](form *learner.MemberForm, members int) (*stepper[T], error) {
	rule, err := learner.NewMemberRule[T](form, members)
	if err != nil {
		return nil, fmt.Errorf("obpm: base: %w", err)
	}
	s := &stepper[T]{rule: rule, form: form, unit: 1}
	var step T
	if s.margin, step, s.fixed = rule.Fixed(); s.fixed {
		s.unit = float64(step)
		for l := range s.plus {
			s.plus[l], s.minus[l] = step, -step
		}
	}
	return s, nil
}

// step is learner.MemberRule.Step; the sums go to t.coef in units of s.unit.
func (s *stepper[T]) step(t *tally, mask []uint64, lo int, scores []T, y T, norm2 float64,
	coef []T) (int, []T) {
	if !s.fixed {
		return s.rule.Step(t.coef[:], mask, lo, scores, y, norm2, coef)
	}
	var le [tileWords]uint64
	vecmath.LanesLE(le[:len(mask)], scores, y, s.margin)
	n := keep(mask, le[:len(mask)])
	return n, s.coef(t, n, y)[:len(scores)]
}

// coef tallies n updates by the fixed step and returns their coefficients.
func (s *stepper[T]) coef(t *tally, n int, y T) *[engine.WideTile]T {
	if y > 0 { // whole numbers: one word does for all
		t.coef[0] += float64(n)
		return &s.plus
	}
	t.coef[0] -= float64(n)
	return &s.minus
}

// keep clears the bits of mask that are not in those and counts the others.
func keep(mask, those []uint64) int {
	n := 0
	those = those[:len(mask)]
	for i, m := range mask {
		m &= those[i]
		mask[i] = m
		n += bits.OnesCount64(m)
	}
	return n
}

// eachMember calls decide for the members in mask, in order, clears those for which it is false and
// counts the others.
func eachMember(mask []uint64, decide func(l int) bool) int {
	n := 0
	for i, todo := range mask {
		for ; todo != 0; todo &= todo - 1 {
			bit := bits.TrailingZeros64(todo)
			if decide(64*i + bit) {
				n++
			} else {
				mask[i] &^= 1 << bit
			}
		}
	}
	return n
}

// paRule: see PA.
type paRule[T Float] struct {
	learner.Additive[T]
	cfg PAConfig
}

// members is the members' form of PA.
func (c *PAConfig) members() *learner.MemberForm {
	return &learner.MemberForm{Additive: true, Toward: true, Norm2: true,
		Rule32: func(int) (learner.MemberRule[float32], error) {
			return &paRule[float32]{cfg: *c}, nil
		},
		Rule64: func(int) (learner.MemberRule[float64], error) {
			return &paRule[float64]{cfg: *c}, nil
		},
	}
}

// Step is learner.MemberRule.Step.
func (r *paRule[T]) Step(sums []float64, mask []uint64, _ int, s []T, y T, norm2 float64,
	coef []T) (int, []T) {
	return eachMember(mask, func(l int) bool {
		loss := 1 - float64(float64(y)*float64(s[l]))
		if !(loss > 0 && norm2 > 0) {
			return false
		}
		coef[l] = T(r.cfg.step(loss, norm2) * float64(y))
		sums[l/64] += float64(coef[l])
		return true
	}), coef
}

// lmsRule: see LMS.
type lmsRule[T Float] struct {
	learner.Additive[T]
	eta float64
}

// members is the members' form of LMS.
func (c *LMSConfig) members() *learner.MemberForm {
	return &learner.MemberForm{Additive: true,
		Rule32: func(int) (learner.MemberRule[float32], error) {
			return &lmsRule[float32]{eta: c.Eta}, nil
		},
		Rule64: func(int) (learner.MemberRule[float64], error) {
			return &lmsRule[float64]{eta: c.Eta}, nil
		},
	}
}

// Step is learner.MemberRule.Step.
func (r *lmsRule[T]) Step(sums []float64, mask []uint64, _ int, s []T, y T, _ float64,
	coef []T) (int, []T) {
	return eachMember(mask, func(l int) bool {
		e := float64(y) - float64(s[l])
		coef[l] = T(r.eta * e)
		sums[l/64] += float64(coef[l])
		return e != 0
	}), coef
}

// almaRule: see ALMA with p = 2. A member's weights are its stored ones times its scale.
type almaRule[T Float] struct {
	cfg     ALMAConfig
	members []almaMember
	weights learner.MemberWeights[T]
}

// members is the members' form of ALMA: only with p = 2, where an update changes what the example
// has, and a factor.
func (c *ALMAConfig) members() *learner.MemberForm {
	if c.P != 2 {
		return nil
	}
	return &learner.MemberForm{Norm2: true, Bytes: int64(unsafe.Sizeof(almaMember{})),
		Rule32: func(n int) (learner.MemberRule[float32], error) {
			return newALMARule[float32](c, n), nil
		},
		Rule64: func(n int) (learner.MemberRule[float64], error) {
			return newALMARule[float64](c, n), nil
		},
	}
}

func newALMARule[T Float](c *ALMAConfig, members int) *almaRule[T] {
	r := &almaRule[T]{cfg: *c, members: make([]almaMember, members)}
	for m := range r.members {
		r.members[m] = almaMember{scale: 1, threshold: c.threshold(1)}
	}
	return r
}

// Fixed is learner.MemberRule.Fixed.
func (r *almaRule[T]) Fixed() (margin, step T, ok bool) { return 0, 0, false }

type almaMember struct {
	scale     float64 // in (0, 1]
	norm2     float64 // |scale * w|^2
	threshold float64 // of the next update
	updates   int64
}

// Step is learner.MemberRule.Step. S is not kept, so nobody looks at the sums of the coefficients.
func (r *almaRule[T]) Step(_ []float64, mask []uint64, lo int, s []T, y T, norm2 float64,
	coef []T) (int, []T) {
	return eachMember(mask, func(l int) bool {
		m := &r.members[lo+l]
		f := float64(m.scale * float64(s[l]))
		if float64(float64(y)*f) > m.threshold { // (2)
			return false
		}
		if m.scale < 0x1p-32 { // as ALMA does; a power of two rounds nothing
			frac, exp := math.Frexp(m.scale)
			r.weights.Scale(lo+l, T(math.Ldexp(1, exp)))
			m.scale = frac
		}
		m.updates++
		step := float64(r.cfg.rate(float64(m.updates)) * float64(y))
		coef[l] = T(step / m.scale)                                     // (4)
		m.norm2 += float64(step * (float64(2*f) + float64(step*norm2))) // |w + step x|^2
		if m.norm2 > 1 {                                                // (5)
			m.scale /= math.Sqrt(m.norm2)
			m.norm2 = 1
		}
		m.threshold = r.cfg.threshold(float64(m.updates + 1))
		return true
	}), coef
}

// Total is learner.MemberRule.Total.
func (r *almaRule[T]) Total(lo int, s []T) float64 {
	var sum float64
	for l, v := range s {
		sum += float64(r.members[lo+l].scale * float64(v))
	}
	return sum
}

// Bind is learner.MemberRule.Bind.
func (r *almaRule[T]) Bind(w learner.MemberWeights[T]) { r.weights = w }

// checkShrunk refuses a factor of ALMA's weights that is none, and a squared length of theirs that
// is not what the stored weights, whose squares add up to sumSq, and the factor give. Rounding
// errors of the length carried along are far below the tolerance: step (5) shrinks them with the
// rest.
func checkShrunk(scale, norm2, sumSq float64) error {
	if !(scale > 0 && scale <= 1) {
		return fmt.Errorf("scale is %v, want one in (0, 1]: %w", scale, ErrState)
	}
	const tolerance = 0.25
	if have := float64(float64(scale*scale) * sumSq); !(math.Abs(norm2-have) <= tolerance &&
		norm2 <= 1+tolerance) {
		return fmt.Errorf("norm2 is %v, but the weights have %v, and at most 1 by the rule: %w",
			norm2, have, ErrState)
	}
	return nil
}

// Fields is learner.MemberRule.Fields.
func (r *almaRule[T]) Fields(c *learner.Codec, weights []T) {
	n := len(r.members)
	scale, norm2, updates := make([]float64, n), make([]float64, n), make([]int64, n)
	for i, m := range r.members {
		scale[i], norm2[i], updates[i] = m.scale, m.norm2, min(m.updates, MaxCount)
	}
	scale = learner.View(c, "scale", scale, n)
	norm2 = learner.View(c, "norm2", norm2, n)
	updates = learner.View(c, "member_updates", updates, n)
	if !c.Reading() {
		return
	}
	sumSq := make([]float64, n)
	for i, v := range weights {
		sumSq[i%n] += float64(float64(v) * float64(v))
	}
	for m := range n {
		if err := checkShrunk(scale[m], norm2[m], sumSq[m]); err != nil {
			c.Want(false, "member %d: %w", m, err)
		} else if updates[m] < 0 || updates[m] > MaxCount {
			c.Want(false, "member %d: member_updates is %d", m, updates[m])
		}
	}
	c.Then(func() {
		for i, u := range updates {
			r.members[i] = almaMember{scale[i], norm2[i], r.cfg.threshold(float64(u + 1)), u}
		}
	})
}
