package learners

import (
	"fmt"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// members is the hypothesis of an ensemble [OBPM] that needs its members: a vote, the average of
// members whose weights have factors of their own, or the members' votes as probabilities. Its
// members are moved into the form of the examples that are asked about, sparse or dense.
type members[T Float] struct {
	oneOutput
	o *OBPM[T]
}

// Score is Predictor.Score.
func (p *members[T]) Score(b *engine.Block[T], dst []float64) error { return p.o.Score(b, dst) }

// Proba is Prober.Proba, as [OBPM.Proba].
func (p *members[T]) Proba(b *engine.Block[T], dst []float64) error { return p.o.Proba(b, dst) }

// Weights is Predictor.Weights.
func (p *members[T]) Weights() []float64 {
	p.o.form.RLock()
	defer p.o.form.RUnlock()
	return p.o.Weights()
}

// Bytes is Predictor.Bytes, with the runs that nobody uses.
func (p *members[T]) Bytes() int64 {
	p.o.form.RLock()
	defer p.o.form.RUnlock()
	return p.o.membersBytes() + p.o.runs.Bytes((*memberRun[T]).bytes) + int64(unsafe.Sizeof(*p.o))
}

// State is Predictor.State: of an average that has a sum this alone, else the members with the
// features that any of them has a weight for.
func (p *members[T]) State() State {
	if p.o.keepsSum {
		sum := p.o.average()
		return sum.State()
	}
	p.o.form.RLock()
	defer p.o.form.RUnlock()
	return learner.StateOf(p.o.memberFields)
}

// Restored is Restorer.Restored.
func (p *members[T]) Restored(s State) (Predictor[T], error) {
	r, err := p.o.membersOf(s)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// membersOf returns the members of a State in an ensemble of o's settings.
func (o *OBPM[T]) membersOf(s State) (*members[T], error) {
	l, err := newOBPM[T](&o.cfg, Env{Pool: o.pool})
	if err != nil {
		return nil, err
	}
	p := &members[T]{o: l.(*OBPM[T])}
	return p, learner.SetState("obpm", s, p.o.memberFields)
}

// average is f where S is kept.
func (o *OBPM[T]) average() wideWeights[T] {
	n := float64(o.cfg.Members)
	if o.cfg.Cap {
		n *= o.length()
	}
	return wideWeights[T]{name: "obpm", w: o.sum, divisor: n}
}

// Snapshot is Learner.Snapshot: where S is kept it is a copy of S and takes no more memory than
// that, and knows no probabilities, which are the members'; else it is a copy of the members.
func (o *OBPM[T]) Snapshot() Predictor[T] {
	if o.keepsSum {
		return o.average().copied()
	}
	p, err := o.membersOf(learner.StateOf(o.memberFields))
	if err != nil {
		panic(err) // it is the State of such a learner
	}
	p.o.reach(o.held)
	return p
}

// View is for [learner.ViewOf]. It knows the probabilities that are the members'.
func (o *OBPM[T]) View() Predictor[T] { return &members[T]{o: o} }

// committee is the hypothesis of a [SeparateOBPM]: a Predictor for each member.
type committee[T Float] struct {
	oneOutput
	o  *SeparateOBPM[T] // asks them; has no learners
	of []memberPredictor[T]
}

// memberPredictor is a Predictor that takes its State as a learner does.
type memberPredictor[T Float] struct{ p *Predictor[T] }

// State is the Predictor's.
func (p memberPredictor[T]) State() State { return (*p.p).State() }

// CheckState returns the error that SetState would return.
func (p memberPredictor[T]) CheckState(s State) error {
	_, err := learner.Restored(*p.p, s)
	return err
}

// SetState replaces the Predictor by one of that State.
func (p memberPredictor[T]) SetState(s State) error {
	q, err := learner.Restored(*p.p, s)
	if err == nil {
		*p.p = q
	}
	return err
}

// committeeOf returns that of o's settings.
func (o *SeparateOBPM[T]) committeeOf(of []Predictor[T]) *committee[T] {
	c := &committee[T]{o: &SeparateOBPM[T]{cfg: o.cfg, pool: o.pool, dim: o.dim}}
	for i := range of {
		c.of = append(c.of, memberPredictor[T]{&of[i]})
		c.o.asked = append(c.o.asked, of[i])
	}
	return c
}

// Score is Predictor.Score.
func (p *committee[T]) Score(b *engine.Block[T], dst []float64) error { return p.o.Score(b, dst) }

// Proba is Prober.Proba, as [OBPM.Proba].
func (p *committee[T]) Proba(b *engine.Block[T], dst []float64) error { return p.o.Proba(b, dst) }

// Weights is Predictor.Weights.
func (p *committee[T]) Weights() []float64 { return p.o.Weights() }

// Bytes is Predictor.Bytes.
func (p *committee[T]) Bytes() int64 {
	n := p.o.Bytes() + int64(unsafe.Sizeof(*p)) + 40*int64(len(p.of))
	for _, m := range p.of {
		n += (*m.p).Bytes()
	}
	return n
}

// State is Predictor.State: the members' hypotheses, each with its number before the names.
func (p *committee[T]) State() State { return learner.StateOf(p.fields) }

// Restored is Restorer.Restored.
func (p *committee[T]) Restored(s State) (Predictor[T], error) {
	of := make([]Predictor[T], len(p.of))
	for i, m := range p.of {
		of[i] = *m.p
	}
	r := p.o.committeeOf(of)
	if err := learner.SetState("obpm", s, r.fields); err != nil {
		return nil, err
	}
	return p.o.committeeOf(of), nil // of those that were restored
}

func (p *committee[T]) fields(c *learner.Codec) { learner.Inners(c, memberName, p.of) }

// memberName is what the names of member m's parts of a State begin with.
func memberName(m int) string { return fmt.Sprintf("member%d.", m) }

// Snapshot is Learner.Snapshot: one of each member.
func (o *SeparateOBPM[T]) Snapshot() Predictor[T] {
	of := make([]Predictor[T], len(o.members))
	for m, l := range o.members {
		of[m] = l.Snapshot()
	}
	return o.committeeOf(of)
}

// View is for [learner.ViewOf].
func (o *SeparateOBPM[T]) View() Predictor[T] {
	of := make([]Predictor[T], len(o.members))
	for m, l := range o.members {
		of[m] = learner.ViewOf(l)
	}
	return o.committeeOf(of)
}
