package learners

import (
	"fmt"
	"slices"

	"github.com/halfspace-ml/halfspace/learner"
)

// mixWeights averages the weights of single learners, and gives to the result.
func mixWeights[T learner.Float](to learner.Learner[T], of []learner.Learner[T], share []float64,
	before learner.Learner[T]) error {
	states := statesOf(of)
	s, sum := to.State(), []float64(nil)
	for i, other := range states {
		w, ok := tensorOf[T](other, "w")
		if !ok {
			return noWeights(of[i])
		}
		if n := len(w) - len(sum); n > 0 {
			sum = append(sum, make([]float64, n)...)
		}
		addShare(sum, share[i], w)
	}
	w := make([]T, len(sum))
	for j, v := range sum {
		w[j] = T(v)
	}
	setTensor(&s, "w", w, len(w))
	mixCounters(&s, states, before, "updates")
	return to.SetState(s)
}

// Mixer is for [learner.MixerOf]: of averages whose members have nothing but weights.
func (o *obpm[T]) Mixer() learner.Mixer[T] {
	if !o.cfg.Traits().Mixes {
		return nil
	}
	return mixingOBPM[T]{o}
}

type mixingOBPM[T learner.Float] struct{ o *obpm[T] }

// Mix is [learner.Mixer.Mix]: member by member, and S.
func (m mixingOBPM[T]) Mix(of []learner.Learner[T], share []float64,
	before learner.Learner[T]) error {
	o, states := m.o, statesOf(of)
	s, n := o.State(), o.cfg.Members
	var features []int32
	for i, other := range states {
		has, ok := tensorOf[int32](other, "features")
		w, also := tensorOf[T](other, "members")
		sum, sums := tensorOf[float64](other, "sum")
		if !ok || !also || !sums || len(w) != len(has)*n || len(sum) != len(has) {
			return noWeights(of[i])
		}
		features = append(features, has...)
		s.Counters["dim"] = max(s.Counters["dim"], other.Counters["dim"])
	}
	slices.Sort(features)
	features = slices.Compact(features)
	members, sum := make([]float64, len(features)*n), make([]float64, len(features))
	for i, other := range states {
		has, _ := tensorOf[int32](other, "features")
		w, _ := tensorOf[T](other, "members")
		S, _ := tensorOf[float64](other, "sum")
		at := 0
		for k, j := range has {
			for features[at] != j {
				at++
			}
			addShare(members[at*n:][:n], share[i], w[k*n:][:n])
			addShare(sum[at:at+1], share[i], S[k:k+1])
		}
	}
	w := make([]T, len(members))
	for i, v := range members {
		w[i] = T(v)
	}
	setTensor(&s, "features", features, len(features))
	setTensor(&s, "members", w, len(features), n)
	setTensor(&s, "sum", sum, len(features))
	mixCounters(&s, states, before, "presented", "updates")
	if o.cfg.Cap {
		length := 0.0
		for _, v := range sum {
			length += float64(v * v)
		}
		s.Scalars["sum_sq"] = length
	}
	return o.SetState(s)
}

// statesOf returns the State of each.
func statesOf[T learner.Float](of []learner.Learner[T]) []learner.State {
	states := make([]learner.State, len(of))
	for i, l := range of {
		states[i] = l.State()
	}
	return states
}

// noWeights is the error of a learner that is none of those that are mixed.
func noWeights[T learner.Float](l learner.Learner[T]) error {
	return fmt.Errorf("%T has no weights to be averaged with: %w", l, learner.ErrState)
}

// tensorOf returns the elements of a tensor of a State, and whether it has them.
func tensorOf[E learner.Element](s learner.State, name string) ([]E, bool) {
	t := s.Tensor(name)
	if t == nil {
		return nil, false
	}
	data, ok := t.Data.([]E)
	return data, ok
}

// setTensor gives the tensor of that name other elements.
func setTensor[E learner.Element](s *learner.State, name string, data []E, shape ...int) {
	t := s.Tensor(name)
	t.Shape, t.Data = shape, data
}

// addShare adds share times x to sum.
func addShare[T learner.Float](sum []float64, share float64, x []T) {
	for j, v := range x {
		sum[j] += float64(share * float64(v))
	}
}

// mixCounters adds up counters, in which those of before count once.
func mixCounters[T learner.Float](s *learner.State, of []learner.State, before learner.Learner[T],
	names ...string) {
	var b learner.State
	if before != nil {
		b = before.State()
	}
	for _, name := range names {
		all := b.Counters[name]
		for _, other := range of {
			all += max(other.Counters[name], b.Counters[name]) - b.Counters[name]
		}
		s.Counters[name] = min(all, learner.MaxCount)
	}
}
