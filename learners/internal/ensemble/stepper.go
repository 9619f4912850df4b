package ensemble

import (
	"fmt"
	"iter"
	"math/bits"

	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
)

// Stepper steps members by the base learner's rule, L and S of Algorithm 2. A rule of a fixed
// margin and step, the generalised perceptron (Algorithm 1) with constant rho and eta, it knows
// itself: in vector lanes that is one comparison, and the coefficient of every member that updates
// is eta y.
type Stepper[T learner.Float] struct {
	Rule   MemberRule[T]
	Form   *MemberForm
	fixed  bool // the rule is margin and step alone
	margin T
	step   T
	// Unit of Partial.Coef: the fixed step, so that its sums are whole numbers, else 1.
	Unit        float64
	plus, minus [WideTile]T // the fixed step times y = +1 and -1, in all lanes
}

// NewStepper returns the stepper of so many members of a base of that form.
func NewStepper[T learner.Float](form *MemberForm, members int) (*Stepper[T], error) {
	rule, err := newMemberRule[T](form, members)
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

// Step is MemberRule.Step; the sums go to t.Coef in units of s.UnitOf(w).
func (s *Stepper[T]) Step(t *Partial, mask []uint64, lo int, scores []T, y, w T, norm2 float64,
	coef []T) (int, []T) {
	if !s.fixed {
		return s.Rule.Step(t.Coef[:], mask, lo, scores, y, w, norm2, coef)
	}
	var le [tileWords]uint64 // members with y s <= margin, line 3 of Algorithm 1
	vecmath.LanesLE(le[:len(mask)], scores, y, s.margin)
	n := keep(mask, le[:len(mask)]) // of those, the members that see the example
	s.count(t, n, y)
	return n, s.steps(y, w, coef[:len(scores)])
}

// UnitOf returns the unit of Partial.Coef for an example of weight w: Unit, times w of a fixed
// step.
func (s *Stepper[T]) UnitOf(w T) float64 {
	if w == 1 || !s.fixed {
		return s.Unit
	}
	return float64(T(s.step * w))
}

// count adds n updates by the fixed step to t.Coef.
func (s *Stepper[T]) count(t *Partial, n int, y T) {
	if y > 0 { // whole numbers, exact in any order: the first word takes those of all
		t.Coef[0] += float64(n)
	} else {
		t.Coef[0] -= float64(n)
	}
}

// steps returns the coefficients of updates by the fixed step in as many lanes as room has: eta y,
// and times the weight, for which room is used, where that is not 1.
func (s *Stepper[T]) steps(y, w T, room []T) []T {
	all := &s.plus
	if y < 0 {
		all = &s.minus
	}
	if w == 1 {
		return all[:len(room)]
	}
	for l := range room {
		room[l] = T(all[0] * w)
	}
	return room
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

// Members yields the members in mask, in order: what a MemberRule.Step that has no vector form goes
// over.
func Members(mask []uint64) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, todo := range mask {
			for ; todo != 0; todo &= todo - 1 {
				if !yield(64*i + bits.TrailingZeros64(todo)) {
					return
				}
			}
		}
	}
}
