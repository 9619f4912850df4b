package learners

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
)

// A Fit that ctx or MaxUpdates ends leaves where it stood: the place among the examples, and what a
// run has besides the learner's own state. Another Fit over the same examples, with the same
// options, goes on from there as if nothing had happened, to the bit. That is a State of its own,
// the cut, and part of the learner's State under names that begin with cutPrefix. Learn drops it.

const cutPrefix = "cut."

// cutLimit bounds the counters of a cut: what they count is far below.
const cutLimit = 1 << 53

// WasCut reports whether s is that of a learner whose last Fit was cut.
func WasCut(s State) bool {
	_, ok := s.Counters[cutPrefix+cutData]
	return ok
}

// attach adds a cut, if there is one.
func attach(s, cut *State) {
	if cut == nil {
		return
	}
	s.Counters = maps.Clone(s.Counters)
	for k, v := range cut.Counters {
		s.Counters[cutPrefix+k] = v
	}
	if len(cut.Scalars) > 0 {
		if s.Scalars = maps.Clone(s.Scalars); s.Scalars == nil {
			s.Scalars = map[string]float64{}
		}
		for k, v := range cut.Scalars {
			s.Scalars[cutPrefix+k] = v
		}
	}
	for _, t := range cut.Tensors {
		t = Tensor{Name: cutPrefix + t.Name, Shape: slices.Clone(t.Shape), Data: cloneData(t.Data)}
		s.Tensors = append(s.Tensors, t)
	}
}

// detach takes a cut off s, or returns s and nil.
func detach(s State) (rest State, cut *State) {
	rest = State{Counters: map[string]uint64{}, Scalars: map[string]float64{}}
	cut = &State{Counters: map[string]uint64{}, Scalars: map[string]float64{}}
	for k, v := range s.Counters {
		if name, ok := strings.CutPrefix(k, cutPrefix); ok {
			cut.Counters[name] = v
		} else {
			rest.Counters[k] = v
		}
	}
	for k, v := range s.Scalars {
		if name, ok := strings.CutPrefix(k, cutPrefix); ok {
			cut.Scalars[name] = v
		} else {
			rest.Scalars[k] = v
		}
	}
	for _, t := range s.Tensors {
		if name, ok := strings.CutPrefix(t.Name, cutPrefix); ok {
			t = Tensor{Name: name, Shape: slices.Clone(t.Shape), Data: cloneData(t.Data)}
			cut.Tensors = append(cut.Tensors, t)
		} else {
			rest.Tensors = append(rest.Tensors, t)
		}
	}
	if len(cut.Counters)+len(cut.Scalars)+len(cut.Tensors) == 0 {
		return s, nil
	}
	return rest, cut
}

func cloneData(data any) any {
	switch d := data.(type) {
	case []float64:
		return slices.Clone(d)
	case []int32:
		return slices.Clone(d)
	}
	return data
}

// floats and ints return a tensor of a cut, nil if it isn't there.
func floats(s *State, name string) []float64 {
	if t := s.Tensor(name); t != nil {
		d, _ := t.Data.([]float64)
		return d
	}
	return nil
}

func ints(s *State, name string) []int32 {
	if t := s.Tensor(name); t != nil {
		d, _ := t.Data.([]int32)
		return d
	}
	return nil
}

// keepIn adds a tensor, if it isn't nil.
func keepIn[D any](s *State, name string, data []D) {
	if data != nil {
		s.Tensors = append(s.Tensors, Tensor{Name: name, Shape: []int{len(data)}, Data: slices.Clone(data)})
	}
}

// Counters of a cut.
const (
	cutData   = "data"   // fingerprint of the examples, 53 bits
	cutN      = "n"      // how many there are
	cutAt     = "at"     // the next one to look at, among those of the pass
	cutEpochs = "epochs" // complete passes
	cutFlags  = "flags"
)

// checkCut refuses a cut that no run of a learner called name has left: each counter and tensor is
// one of those named, and has the size that the others say.
func checkCut(name string, cut *State, counters, scalars []string,
	tensors map[string]func() int) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%s: where a run was cut: %s: %w", name, fmt.Sprintf(format, args...),
			ErrState)
	}
	for _, k := range append([]string{cutData, cutN, cutAt, cutEpochs, cutFlags}, counters...) {
		if v, ok := cut.Counters[k]; !ok || v > cutLimit {
			return bad("counter %q is %d (there: %v)", cutPrefix+k, v, ok)
		}
	}
	if len(cut.Counters) != 5+len(counters) {
		return bad("counters %v", slices.Sorted(maps.Keys(cut.Counters)))
	}
	for k, v := range cut.Scalars {
		if v-v != 0 || !slices.Contains(scalars, k) {
			return bad("scalar %q is %v", cutPrefix+k, v)
		}
	}
	n := cut.Counters[cutN]
	if n == 0 || n > math.MaxInt32 || cut.Counters[cutAt] > n {
		return bad("at example %d of %d", cut.Counters[cutAt], n)
	}
	for i, t := range cut.Tensors {
		size, ok := tensors[t.Name]
		if !ok || slices.ContainsFunc(cut.Tensors[:i], func(u Tensor) bool {
			return u.Name == t.Name
		}) {
			return bad("tensor %q", cutPrefix+t.Name)
		}
		var elements int
		switch d := t.Data.(type) {
		case []float64:
			elements = len(d)
			if slices.ContainsFunc(d, func(v float64) bool { return v-v != 0 }) {
				return bad("tensor %q has elements that aren't numbers", cutPrefix+t.Name)
			}
		case []int32:
			elements = len(d)
			foreign := func(v int32) bool { return v < 0 || int(v) >= int(n) }
			if elements > int(n) || slices.ContainsFunc(d, foreign) {
				return bad("tensor %q has elements that number no example", cutPrefix+t.Name)
			}
		default:
			return bad("tensor %q is %T", cutPrefix+t.Name, t.Data)
		}
		if len(t.Shape) != 1 || t.Shape[0] != elements || size != nil && elements != size() {
			return bad("tensor %q has shape %v and %d elements", cutPrefix+t.Name, t.Shape,
				elements)
		}
	}
	return nil
}

// Fingerprint returns a hash of the examples and their labels, by which a run that was cut knows
// them again: 53 bits, equal for equal examples in equal order. Cost: some ns a value.
func Fingerprint[T Float](b *engine.Block[T]) uint64 {
	h := uint64(b.Len())
	add := func(v uint64) {
		h = (h ^ v) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	for i, y := range b.Y {
		idx, val := rowOf(b, i)
		add(math.Float64bits(float64(y)))
		add(uint64(len(val)))
		for k, v := range val {
			add(uint64(at(idx, k)))
			add(math.Float64bits(float64(v)))
		}
	}
	return h >> 11
}

// cutOf reports whether a cut is one of a run over the examples of b.
func cutOf[T Float](cut *State, b *engine.Block[T]) bool {
	return cut != nil && cut.Counters[cutN] == uint64(b.Len()) &&
		cut.Counters[cutData] == Fingerprint(b)
}
