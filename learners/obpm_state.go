package learners

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
)

// State returns the features (ascending) for which any member's weight or S is not +0 as "features", the members' weights of those
// as "members" [feature][member], S of those as "sum" (unless votes or ALMA go without), and the members' own settings
// where the base has any. The counters tell the examples presented, the updates, and the features seen.
func (o *OBPM[T]) State() State {
	s := State{Counters: map[string]uint64{"presented": o.presented, "updates": o.updates, "dim": uint64(o.dim)}}
	most := o.held // features of the state
	if o.lanes != nil {
		most = o.lanes.Features()
	}
	var (
		features = make([]int32, 0, most)
		members  = make([]T, 0, most*o.cfg.Members)
		sum      = make([]float64, 0, most)
	)
	col := make([]T, o.cfg.Members)
	for j := range o.held {
		if any := o.store().Column(col, j); !any && (!o.keepsSum || math.Float64bits(o.sum[j]) == 0) {
			continue
		}
		features, members = append(features, int32(j)), append(members, col...)
		if o.keepsSum {
			sum = append(sum, o.sum[j])
		}
	}
	n := len(features)
	s.Tensors = []Tensor{{Name: "features", Shape: []int{n}, Data: features}, {Name: "members", Shape: []int{n, o.cfg.Members}, Data: members}}
	if o.keepsSum {
		s.Tensors = append(s.Tensors, Tensor{Name: "sum", Shape: []int{n}, Data: sum})
	}
	s.Tensors = append(s.Tensors, o.rule.tensors()...)
	if o.cfg.Cap {
		s.Scalars = map[string]float64{"sum_sq": o.sumSq}
	}
	return s
}

// SetState is Learner.SetState.
func (o *OBPM[T]) SetState(s State) error { return o.takeState(s, true) }

// CheckState is StateChecker.CheckState.
func (o *OBPM[T]) CheckState(s State) error { return o.takeState(s, false) }

// takeState is SetState, or CheckState if the state shall not be kept.
func (o *OBPM[T]) takeState(s State, keep bool) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("obpm: %s: %w", fmt.Sprintf(format, args...), ErrState)
	}
	names, scalars := []string{"features", "members"}, []string(nil)
	if o.keepsSum {
		names = append(names, "sum")
	}
	for _, t := range o.rule.tensors() {
		names = append(names, t.Name)
	}
	if o.cfg.Cap {
		scalars = []string{"sum_sq"}
	}
	if err := holds(&s, "obpm", names, []string{"presented", "updates", "dim"}, scalars); err != nil {
		return err
	}
	if v := s.Scalars["sum_sq"]; !(v >= 0) {
		return bad("scalar %q is %v", "sum_sq", v)
	}
	presented, err1 := count(&s, "obpm", "presented")
	updates, err2 := count(&s, "obpm", "updates")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	dim := s.Counters["dim"]
	if dim > math.MaxInt32 {
		return bad("counter %q is %d", "dim", dim)
	}
	features, err := vector[int32](&s, "obpm", "features")
	if err != nil {
		return err
	}
	last := int32(-1)
	for _, j := range features {
		if j <= last || uint64(j) >= dim {
			return bad("feature %d after %d, of %d", j, last, dim)
		}
		last = j
	}
	n := o.cfg.Members
	t := s.Tensor("members")
	members, ok := t.Data.([]T)
	if !ok || !slices.Equal(t.Shape, []int{len(features), n}) || len(members) != len(features)*n {
		return bad("tensor %q is %T of shape %v, want %T of shape %v", t.Name, t.Data, t.Shape, members, []int{len(features), n})
	}
	var sum []float64
	if o.keepsSum {
		if sum, err = vector[float64](&s, "obpm", "sum"); err != nil {
			return err
		}
		if len(sum) != len(features) {
			return bad("tensor %q has %d elements, want %d", "sum", len(sum), len(features))
		}
	}
	if err := o.rule.takeTensors(&s, keep); err != nil || !keep {
		return err
	}
	o.presented, o.updates, o.sumSq = uint64(presented), uint64(updates), s.Scalars["sum_sq"]
	o.dim, o.held, o.sum = int(dim), 0, nil
	o.useLanes(engine.NewLanes[T](n))
	o.reach(int(last) + 1)
	for i, j := range features {
		o.lanes.SetColumn(int(j), members[i*n:(i+1)*n])
		if o.keepsSum {
			o.sum[j] = sum[i]
		}
	}
	return nil
}
