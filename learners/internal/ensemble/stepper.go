package ensemble

import (
	"fmt"
	"math/bits"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// Stepper steps members by the base learner's rule, L and S of Algorithm 2. A rule of a fixed
// margin and step, the generalised perceptron (Algorithm 1) with constant rho and eta, it knows
// itself: in vector lanes that is one comparison, and the coefficient of every member that updates
// is eta y.
type Stepper[T learner.Float] struct {
	Rule   learner.MemberRule[T]
	Form   *learner.MemberForm
	fixed  bool // the rule is margin and step alone
	margin T
	step   T
	// Unit of Partial.Coef: the fixed step, so that its sums are whole numbers, else 1.
	Unit        float64
	plus, minus [engine.WideTile]T // the fixed step times y = +1 and -1, in all lanes
}

// NewStepper returns the stepper of so many members of a base of that form.
func NewStepper[T learner.Float](form *learner.MemberForm, members int) (*Stepper[T], error) {
	rule, err := learner.NewMemberRule[T](form, members)
	if err != nil {
		return nil, fmt.Errorf("obpm: base: %w", err)
	}
	s := &Stepper[T]{Rule: rule, Form: form, Unit: 1}
	if s.margin, s.step, s.fixed = rule.Fixed(); s.fixed {
		s.Unit = float64(s.step)
		for l := range s.plus {
			s.plus[l], s.minus[l] = s.step, -s.step
		}
	}
	return s, nil
}

// Step is learner.MemberRule.Step; the sums go to t.Coef in units of s.Unit.
func (s *Stepper[T]) Step(t *Partial, mask []uint64, lo int, scores []T, y T, norm2 float64,
	coef []T) (int, []T) {
	if !s.fixed {
		return s.Rule.Step(t.Coef[:], mask, lo, scores, y, norm2, coef)
	}
	var le [tileWords]uint64 // members with y s <= margin, line 3 of Algorithm 1
	vecmath.LanesLE(le[:len(mask)], scores, y, s.margin)
	n := keep(mask, le[:len(mask)]) // of those, the members that see the example
	return n, s.coef(t, n, y)[:len(scores)]
}

// coef adds n updates by the fixed step to t.Coef and returns their coefficients.
func (s *Stepper[T]) coef(t *Partial, n int, y T) *[engine.WideTile]T {
	if y > 0 { // whole numbers, exact in any order: the first word takes those of all
		t.Coef[0] += float64(n)
	} else {
		t.Coef[0] -= float64(n)
	}
	return s.steps(y)
}

// steps returns the coefficients of updates by the fixed step: eta y in all lanes.
func (s *Stepper[T]) steps(y T) *[engine.WideTile]T {
	if y > 0 {
		return &s.plus
	}
	return &s.minus
}

// keep clears the bits of mask that are not in those and counts the others. It clears what a
// comparison has set for the padding of a tile's lanes, too: no member there sees an example.
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

// EachMember calls decide for the members in mask, in order, clears those for which it is false and
// counts the others: what a MemberRule.Step does that has no vector form.
func EachMember(mask []uint64, decide func(l int) bool) int {
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
