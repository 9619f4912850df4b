package learners

import (
	"math"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
)

// additiveMembers applies a rule that adds a multiple of the example to the members of an ensemble.
type additiveMembers[T learner.Float] struct {
	ensemble.Additive[T]
	rule rule
}

func (r *additiveMembers[T]) Step(sums []float64, mask []uint64, _ int, s []T, y, w T, sq float64,
	coef []T) (int, []T) {
	if !r.rule.lengths {
		sq = 0
	}
	due, add, updates := r.rule.margin, r.rule.add, 0
	for l := range ensemble.Members(mask) {
		a, m := 0.0, float64(float64(y)*float64(s[l]))
		if !(m > due) {
			a = add(m, sq, float64(w))
		}
		if a == 0 {
			mask[l/64] &^= 1 << (l % 64)
			continue
		}
		coef[l] = T(a * float64(y))
		sums[l/64] += float64(coef[l])
		updates++
	}
	return updates, coef
}

// scaledMembers applies any rule to the members of an ensemble.
type scaledMembers[T learner.Float] struct {
	ensemble.Scaled[T]
	rule rule
}

// measureFirst is the threshold of a member whose |w|^2 is to be measured first, since its
// threshold depends on that.
const measureFirst = -1

func newScaledMembers[T learner.Float](n int, r rule) *scaledMembers[T] {
	scale := 1.0
	if r.first {
		scale = 0
	}
	m := &scaledMembers[T]{Scaled: ensemble.NewScaled[T](n, scale), rule: r.stepping()}
	m.Ball = r.length == atMostUnit
	for i := range m.Members {
		m.aim(&m.Members[i])
	}
	return m
}

// aim sets the threshold of a member's next update.
func (r *scaledMembers[T]) aim(m *ensemble.ScaledMember) {
	if m.Threshold = r.rule.dueAt(m.Updates, m.Norm2); r.rule.relative && m.Due() {
		m.Threshold = measureFirst
	}
}

// Step is ensemble.MemberRule.Step. S is not kept, so the sums of the coefficients are not needed.
func (r *scaledMembers[T]) Step(_ []float64, mask []uint64, lo int, s []T, y, w T, sq float64,
	coef []T) (updates int, _ []T) {
	due, step, length := r.rule.due, r.rule.step, r.rule.length
	for l := range ensemble.Members(mask) {
		leave := uint64(1) << (l % 64) // cleared in mask where the member stays as it is
		m := &r.Members[lo+l]
		if m.Threshold == measureFirst {
			r.Fold(lo + l)
			m.Norm2 = min(m.Norm2, math.MaxFloat64)
			m.Threshold = due(m.Updates, m.Norm2)
		}
		if sq == 0 && (r.rule.lengths || m.Scale == 0) {
			mask[l/64] &^= leave
			continue
		}
		margin, first := float64(float64(y)*float64(m.Scale*float64(s[l]))), T(0)
		if m.Scale == 0 {
			first, m.Scale, m.Norm2 = y, 1/math.Sqrt(sq), 1
			margin = math.Sqrt(sq)
		}
		if first != 0 {
			leave = 0
		}
		if coef[l] = first; !(margin <= m.Threshold) {
			mask[l/64] &^= leave
			continue
		}
		if first == 0 && !r.rule.relative && (length != atMostUnit || m.Scale < 0x1p-32) {
			r.Fold(lo + l)
		}
		u := step(example{margin, sq, m.Norm2, float64(w), m.Updates})
		a := T(float64(float64(y)*u.add) / m.Scale)
		if u.stretch != 1 && u.ok {
			a, u.ok = r.Stretch(lo+l, u.stretch, float64(float64(y)*u.add))
		}
		if !u.ok || a-a != 0 {
			mask[l/64] &^= leave
			continue
		}
		coef[l] += a
		updates++
		if length == atMostUnit { // which shrinks the errors of Norm2
			m.Updates++
			if m.Norm2 = u.norm2; m.Norm2 > 1 {
				m.Scale /= math.Sqrt(m.Norm2)
				m.Norm2 = 1
			}
		} else {
			next, kept := u.kept(m.Norm2)
			if length == unitLength {
				m.Scale /= math.Sqrt(next)
				next = 1
			}
			m.CountUpdate(next, kept)
		}
		if due != nil {
			r.aim(m)
		}
	}
	return updates, coef
}

func (r *scaledMembers[T]) Fields(c *learner.Codec, weights []T) {
	r.MemberFields(c, weights, r.rule.first, r.aim)
}

// membersOf completes the members' form of a rule.
func membersOf(f ensemble.MemberForm, rule func(precision) rule) *ensemble.MemberForm {
	f.Rule32 = func(n int) (ensemble.MemberRule[float32], error) {
		return newMembers[float32](f.Additive, n, rule), nil
	}
	f.Rule64 = func(n int) (ensemble.MemberRule[float64], error) {
		return newMembers[float64](f.Additive, n, rule), nil
	}
	if !f.Additive {
		f.Norm2, f.Bytes = true, ensemble.ScaledMemberBytes
	}
	return &f
}

func newMembers[T learner.Float](adds bool, n int,
	rule func(precision) rule) ensemble.MemberRule[T] {
	r := rule(precisionOf[T]())
	if adds {
		return &additiveMembers[T]{rule: r}
	}
	return newScaledMembers[T](n, r)
}
