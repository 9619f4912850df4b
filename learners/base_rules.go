package learners

import (
	"fmt"
	"math/bits"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

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
