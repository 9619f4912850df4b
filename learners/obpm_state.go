package learners

import (
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// State returns the features (ascending) for which any member's weight or S is not +0 as
// "features", the members' weights of those as "members" [feature][member], S of those as "sum"
// (where S is kept), and the members' own settings where the base has any. The
// counters are the examples presented, the updates, and the features seen.
func (o *obpm[T]) State() learner.State { return learner.StateOf(o.fields) }

func (o *obpm[T]) SetState(s learner.State) error { return learner.SetState("obpm", s, o.fields) }

func (o *obpm[T]) CheckState(s learner.State) error {
	return learner.CheckState("obpm", s, o.fields)
}

func (o *obpm[T]) fields(c *learner.Codec) {
	learner.Count(c, "presented", &o.presented)
	learner.Count(c, "updates", &o.updates)
	o.memberFields(c)
}

// memberFields walks what the hypothesis is made of, without what counts learning.
func (o *obpm[T]) memberFields(c *learner.Codec) {
	dim := learner.Count(c, "dim", &o.Dim)
	c.Want(dim <= math.MaxInt32, "counter %q is %d", "dim", dim)
	c.PerFeature("dim", dim)
	if o.cfg.Cap {
		sumSq := c.Scalar("sum_sq", &o.sumSq)
		c.Want(sumSq >= 0, "scalar %q is %v, want a number >= 0", "sum_sq", sumSq)
	}
	var (
		features []int32
		members  []T
		sum      []float64
	)
	if c.Writing() {
		features, members, sum = o.packed()
	}
	features = learner.View(c, "features", features)
	last := int32(-1) // features ascend, so that a State has one form
	for _, j := range features {
		if j <= last || int(j) >= dim {
			c.Want(false, "feature %d after %d, of %d", j, last, dim)
			break
		}
		last = j
	}
	n := o.cfg.Members
	members = learner.View(c, "members", members, len(features), n)
	if o.KeepsSum {
		sum = learner.View(c, "sum", sum, len(features))
	}
	o.Rule.Fields(c, members)
	c.Then(func() {
		lanes := o.NewLanes() // whatever the members were in: they are moved when needed
		lanes.Reserve(len(features))
		o.Clear(lanes)
		o.GrowTo(int(last) + 1)
		for i, j := range features {
			o.Lanes.SetColumn(int(j), members[i*n:(i+1)*n])
			if o.KeepsSum {
				o.Sum()[j] = sum[i]
			}
		}
	})
}

// packed returns the features that any member or S has, the members' weights of them, and S.
func (o *obpm[T]) packed() (features []int32, members []T, sum []float64) {
	n, s := o.cfg.Members, o.Sum()
	summed := func(j int) bool { return o.KeepsSum && math.Float64bits(s[j]) != 0 }
	for j := range o.Room { // that may have any
		if o.Lanes == nil || o.Lanes.Has(j) || summed(j) {
			features = append(features, int32(j))
		}
	}
	members = make([]T, len(features)*n)
	k := 0 // features that have
	for i, j := range features {
		col := members[i*n:][:n]
		o.Column(col, int(j))
		if !summed(int(j)) && !slices.ContainsFunc(col, hasBits[T]) {
			continue
		}
		if features[k] = j; k < i {
			copy(members[k*n:], col)
		}
		if o.KeepsSum {
			sum = append(sum, s[j])
		}
		k++
	}
	return features[:k], members[:k*n], sum
}

// hasBits reports whether v is not +0.
func hasBits[T learner.Float](v T) bool { return v != 0 || 1/v < 0 }

// members is the hypothesis of an ensemble that keeps no S: a vote, or the average of members whose
// weights have factors of their own. They are moved into the form of the examples to be scored.
type members[T learner.Float] struct {
	primal.OneOutput
	o *obpm[T]
}

func (p *members[T]) Score(b *engine.Block[T], dst []float64) error { return p.o.Score(b, dst) }

// Proba is Prober.Proba, as that of the learner.
func (p *members[T]) Proba(b *engine.Block[T], dst []float64) error { return p.o.Proba(b, dst) }

func (p *members[T]) Weights() []float64 {
	p.o.Form.RLock()
	defer p.o.Form.RUnlock()
	return p.o.Weights()
}

// Hypothesis is for [learner.HypothesisOf]: none of votes.
func (p *members[T]) Hypothesis() learner.Hypothesis {
	w := p.Weights()
	if w == nil {
		return learner.Hypothesis{}
	}
	return learner.Hypothesis{Outputs: []learner.Output{{Weights: w, Divisor: 1}}}
}

// Bytes is Predictor.Bytes, with the runs that are not in use.
func (p *members[T]) Bytes() int64 {
	p.o.Form.RLock()
	defer p.o.Form.RUnlock()
	return p.o.MembersBytes() + p.o.SpareRuns.Bytes((*ensemble.MemberRun[T]).Bytes) +
		int64(unsafe.Sizeof(*p.o))
}

// State is Predictor.State: the members, with the features that any of them has a weight for.
func (p *members[T]) State() learner.State {
	p.o.Form.RLock()
	defer p.o.Form.RUnlock()
	return learner.StateOf(p.o.memberFields)
}

// CheckState is for [learner.CheckRestored].
func (p *members[T]) CheckState(s learner.State) error {
	return learner.CheckState("obpm", s, p.o.memberFields)
}

func (p *members[T]) Restored(s learner.State) (learner.Predictor[T], error) {
	l, err := newOBPM[T](p.o.cfg, learner.Env{Pool: p.o.Pool})
	if err != nil {
		return nil, err
	}
	q := &members[T]{o: l.(*obpm[T])}
	return q, learner.SetState("obpm", s, q.o.memberFields)
}

// average is f where S is kept.
func (o *obpm[T]) average() primal.WideWeights[T] {
	n := float64(o.cfg.Members)
	if o.cfg.Cap {
		n *= o.length()
	}
	return primal.WideWeights[T]{Name: "obpm", W: o.Sum(), Divisor: n, Ends: true}
}

// votedAverage is the average with the members, which have its probabilities.
type votedAverage[T learner.Float] struct {
	primal.WideWeights[T]
	o *obpm[T]
}

// Proba is Prober.Proba, as that of the learner.
func (p *votedAverage[T]) Proba(b *engine.Block[T], dst []float64) error {
	return p.o.Proba(b, dst)
}

// Snapshot is Learner.Snapshot: where S is kept it is a copy of S and takes no more memory than
// that, and has no probabilities, which are the members'; else it is a copy of the members.
func (o *obpm[T]) Snapshot() learner.Predictor[T] {
	if o.KeepsSum {
		return o.average().Copied()
	}
	p, err := (&members[T]{o: o}).Restored(learner.StateOf(o.memberFields))
	if err != nil {
		panic(err) // it is the State of such a learner
	}
	p.(*members[T]).o.GrowTo(o.Room)
	return p
}

// View is for [learner.ViewOf]. It has the probabilities, which are the members'.
func (o *obpm[T]) View() learner.Predictor[T] {
	if o.KeepsSum {
		return &votedAverage[T]{o.average(), o}
	}
	return &members[T]{o: o}
}
