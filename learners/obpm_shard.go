package learners

import (
	"fmt"
	"slices"

	"github.com/halfspace-ml/halfspace/learner"
)

var (
	_ learner.Tracer = (*obpm[float32])(nil)
	_ learner.Joiner = (*obpm[float32])(nil)
)

// joining is what Join leaves for Learn.
type joining struct {
	traces             []*learner.TraceReader
	presented, updates uint64 // of all parts in the end
}

// ownMembers refuses scores by the members while parts are joined: these have learned already what
// is only gone through.
func (o *obpm[T]) ownMembers() error {
	if o.joining == nil {
		return nil
	}
	return fmt.Errorf("obpm: the parts' members have learned later examples, too: %w",
		learner.ErrParts)
}

func (o *obpm[T]) TraceTo(t *learner.Trace) { o.trace = t }

// Join is learner.Joiner.Join: weights and settings of the members are put side by side. S begins
// at 0 and follows the examples as it did in learning, by what the traces say of the members.
func (o *obpm[T]) Join(parts []learner.Part, states []learner.State,
	traces []*learner.TraceReader, after learner.Joiner) error {
	order, err := inOrder(parts, o.cfg.Members)
	if err != nil {
		return err
	}
	j, sorted := &joining{}, make([]learner.State, 0, len(parts))
	for _, i := range order {
		p, s := parts[i], states[i]
		if err := o.checkPart(p, s); err != nil {
			return err
		}
		presented := s.Counters["presented"]
		if len(sorted) > 0 && presented != j.presented {
			return fmt.Errorf("obpm: %v learned %d examples, those before %d: %w", p, presented,
				j.presented, learner.ErrParts)
		}
		j.presented, j.updates = presented, j.updates+s.Counters["updates"]
		j.traces, sorted = append(j.traces, traces[i]), append(sorted, s)
	}
	if err := o.SetState(o.together(sorted)); err != nil {
		return err
	}
	if o.joining = j; after != nil {
		before := after.(*obpm[T]) // of the same settings
		o.GrowTo(len(before.Sum()))
		copy(o.Sum(), before.Sum())
		o.sumSq, o.presented, o.updates = before.sumSq, before.presented, before.updates
	}
	return nil
}

// checkPart returns the error of a State that is none of such a part.
func (o *obpm[T]) checkPart(p learner.Part, s learner.State) error {
	c := o.cfg
	c.Members, c.Part = p.Members, &p
	l, err := newOBPM[T](c, learner.Env{})
	if err != nil {
		return err
	}
	return l.CheckState(s)
}

// together returns the State of the whole from those of its parts, in their order: but for counters
// and S, which are those of an ensemble that has learned nothing.
func (o *obpm[T]) together(parts []learner.State) learner.State {
	whole := o.State()
	var features []int32
	for _, s := range parts {
		features = append(features, s.Tensor("features").Data.([]int32)...)
		whole.Counters["dim"] = max(whole.Counters["dim"], s.Counters["dim"])
	}
	slices.Sort(features)
	features = slices.Compact(features)
	n := o.cfg.Members
	members, first := make([]T, len(features)*n), 0
	for _, s := range parts {
		has, weights := s.Tensor("features").Data.([]int32), s.Tensor("members").Data.([]T)
		m, at := s.Tensor("members").Shape[1], 0
		for i, j := range has {
			for features[at] != j {
				at++
			}
			copy(members[at*n+first:][:m], weights[i*m:])
		}
		first += m
	}
	for i := range whole.Tensors {
		t := &whole.Tensors[i]
		switch t.Name {
		case "features":
			t.Shape, t.Data = []int{len(features)}, features
		case "members":
			t.Shape, t.Data = []int{len(features), n}, members
		case "sum":
			t.Shape, t.Data = []int{len(features)}, make([]float64, len(features))
		default: // one a member
			t.Data = oneAMember(parts, t)
		}
	}
	// what a new ensemble lacks, and a part whose members have 0: see ensemble.Scaled
	if slices.ContainsFunc(parts, func(s learner.State) bool { return s.Tensor("grown") != nil }) {
		var grown []float64
		for _, s := range parts {
			if t := s.Tensor("grown"); t != nil {
				grown = append(grown, t.Data.([]float64)...)
			} else {
				grown = append(grown, make([]float64, s.Tensor("members").Shape[1])...)
			}
		}
		whole.Tensors = append(whole.Tensors, learner.Tensor{Name: "grown", Shape: []int{n},
			Data: grown})
	}
	return whole
}

// oneAMember returns the parts' tensors of that name and type one behind the other.
func oneAMember(parts []learner.State, t *learner.Tensor) any {
	switch t.Data.(type) {
	case []int64:
		return concatenated[int64](parts, t.Name)
	default:
		return concatenated[float64](parts, t.Name)
	}
}

func concatenated[E learner.Element](parts []learner.State, name string) (all []E) {
	for _, s := range parts {
		all = append(all, s.Tensor(name).Data.([]E)...)
	}
	return all
}

func (o *obpm[T]) Joined() error {
	j := o.joining
	o.joining = nil
	for _, t := range j.traces {
		if err := t.Ended(); err != nil {
			return fmt.Errorf("obpm: %w", err)
		}
	}
	if o.presented != j.presented || o.updates != j.updates {
		return fmt.Errorf("obpm: %d examples and %d updates, the parts had %d and %d: %w",
			o.presented, o.updates, j.presented, j.updates, learner.ErrTrace)
	}
	return nil
}

// inOrder returns the order in which the parts follow one another, and make up so many members.
func inOrder(parts []learner.Part, members int) ([]int, error) {
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return parts[a].First - parts[b].First })
	next := 0
	for _, i := range order {
		p := parts[i]
		switch {
		case p.Of != members:
			return nil, fmt.Errorf("obpm: a part of %d members, of %d wanted: %w", p.Of, members,
				learner.ErrParts)
		case p.First < next:
			return nil, fmt.Errorf("obpm: members %d to %d come twice: %w", p.First,
				min(next, p.First+p.Members)-1, learner.ErrParts)
		case p.First > next:
			return nil, fmt.Errorf("obpm: members %d to %d are missing: %w", next, p.First-1,
				learner.ErrParts)
		}
		next = p.First + p.Members
	}
	if next != members {
		return nil, fmt.Errorf("obpm: members %d to %d are missing: %w", next, members-1,
			learner.ErrParts)
	}
	return order, nil
}
