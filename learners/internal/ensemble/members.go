package ensemble

import "github.com/halfspace-ml/halfspace/learner"

// MemberForm is the members' form of a linear learner of some settings, [learner.Traits.Members].
type MemberForm struct {
	// Additive: an update adds a multiple of the example to the weights and changes nothing else,
	// so that the sum of all members' weights can be kept beside them.
	Additive bool
	// Toward: an update adds a positive multiple of y x, never a negative one.
	Toward bool
	// Norm2: Step looks at |x|^2.
	Norm2 bool
	// Unit: no member's weights are ever longer than 1, but for roundings.
	Unit bool
	// Optional: ensembles of this base were of learners of their own before it had a members' form,
	// and their models say so: whether the form counts is a setting of the ensemble.
	Optional bool
	// Bytes is what a member has besides its weights.
	Bytes int64
	// Rule32 and Rule64 make the rule of so many members, all of them new, of settings that are
	// valid. They wrap ErrConfig if those are still relative to the data.
	Rule32 func(members int) (MemberRule[float32], error)
	Rule64 func(members int) (MemberRule[float64], error)
}

// MemberRule is a learner's update rule for the members of an ensemble, with what state of theirs
// it needs besides weights. The weights are the ensemble's: the rule is given the scores and
// returns what to add.
type MemberRule[T learner.Float] interface {
	// Fixed returns the margin and the step of a rule by which a member adds step y x when its
	// score s has T(y s) <= margin, and that does nothing else. An ensemble needs no Step of it.
	// ok is false for all other rules.
	Fixed() (margin, step T, ok bool)
	// Step decides for the members lo, lo+1, ... in mask (bit l%64 of mask[l/64]), whose weights
	// score the example s[0], s[1], ..., which of them update. w is the example's weight, above 0;
	// it is 1 unless the settings' Traits.Weights is true. It clears the bits of the others and
	// returns how many update, with their coefficients c: to member lo+l, c[l] times the example is
	// added, for each bit that is left. (A member whose first weights are no update yet has its bit
	// left and is not counted.) coef, as long as s, is room for c. The sum of the coefficients in
	// word i of mask, in the order of the members, is added to sums[i]. lo is a multiple of 64, or
	// mask has bit 0 alone. Distinct members may be stepped at the same time; nothing is allocated.
	Step(sums []float64, mask []uint64, lo int, s []T, y, w T, norm2 float64,
		coef []T) (updates int, c []T)
	// Total returns the sum of the scores, or weights, of the members lo, lo+1, ... from those of
	// their stored weights, in order.
	Total(lo int, s []T) float64
	// Bind names the store of the weights; it may come again, when they have moved.
	Bind(MemberWeights[T])
	// Fields walks what the members have besides weights, as a part of the ensemble's State;
	// weights are the stored ones that come with it, [feature][member]. Names are the rule's own,
	// and not features, members or sum.
	Fields(c *learner.Codec, weights []T)
}

// MemberWeights are the stored weights of an ensemble's members.
type MemberWeights[T learner.Float] interface {
	// Scale multiplies all weights of member m.
	Scale(m int, f T)
	// SumSq returns the sum of the squares of member m's weights, in float64, in the order of the
	// features. Distinct members may be asked at the same time.
	SumSq(m int) float64
}

// Additive is what rules whose members have nothing but weights share: embed it.
type Additive[T learner.Float] struct{}

// Fixed says that the rule is none with a fixed margin and step.
func (Additive[T]) Fixed() (margin, step T, ok bool) { return 0, 0, false }

// Total returns the sum of s.
func (Additive[T]) Total(_ int, s []T) float64 {
	var sum float64
	for _, v := range s {
		sum += float64(v)
	}
	return sum
}

// Bind does nothing.
func (Additive[T]) Bind(MemberWeights[T]) {}

// Fields has nothing to walk.
func (Additive[T]) Fields(*learner.Codec, []T) {}

// FormOf returns the members' form of a learner of these traits, nil if it has none.
func FormOf(t learner.Traits) *MemberForm {
	f, _ := t.Members.(*MemberForm)
	return f
}

// newMemberRule makes the rule of a form in the precision of T.
func newMemberRule[T learner.Float](f *MemberForm, members int) (MemberRule[T], error) {
	var (
		rule any
		err  error
		zero T
	)
	switch any(zero).(type) {
	case float32:
		rule, err = f.Rule32(members)
	default:
		rule, err = f.Rule64(members)
	}
	if err != nil {
		return nil, err
	}
	return rule.(MemberRule[T]), nil
}
