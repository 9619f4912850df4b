package learners

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/learner"
)

var (
	_ learner.Tracer = (*ovr[float32])(nil)
	_ learner.Joiner = (*ovr[float32])(nil)
)

// lifted gives the traits of a learner over another one the parts that that one can be taken into,
// with settings as over makes them of its settings.
func lifted(t *learner.Traits, over func(base learner.Config) learner.Config) {
	if shard := t.Shard; shard != nil {
		t.Shard = func(p learner.Part) learner.Config { return over(shard(p)) }
	}
	if shard := t.ShardClasses; shard != nil {
		t.ShardClasses = func(p learner.Part) learner.Config { return over(shard(p)) }
	}
	if t.PartOf != nil {
		t.PartOf = over(t.PartOf)
	}
}

// columnTraces are what columns, and behind them the lone learner, write of the run's examples.
type columnTraces struct {
	to *learner.Trace
	of []*learner.Trace
}

// TraceTo is learner.Tracer.TraceTo: an example's entry has those of the columns that there are.
func (o *ovr[T]) TraceTo(t *learner.Trace) {
	o.trace = nil
	if t != nil {
		o.trace = &columnTraces{to: t}
	}
	o.traceColumns()
}

// traceColumns has all learners write, after columns have come. What a part of the classes writes
// is of their scores: traceClasses.
func (o *ovr[T]) traceColumns() {
	if o.cfg.Part != nil {
		return
	}
	for k, l := range o.all() {
		if o.trace == nil {
			learner.TracerOf(l).TraceTo(nil)
			continue
		}
		if k == len(o.trace.of) {
			o.trace.of = append(o.trace.of, &learner.Trace{})
		}
		learner.TracerOf(l).TraceTo(o.trace.of[k])
	}
}

// take puts the entries of n examples together, example by example.
func (c *columnTraces) take(n int) {
	for e := range n {
		for _, t := range c.of {
			c.to.Bytes = append(c.to.Bytes, t.Entry(e)...)
		}
		c.to.End()
	}
	for _, t := range c.of {
		t.Reset()
	}
}

// ovrJoining is what Join leaves for Learn: of the parts what each column ended with.
type ovrJoining struct {
	parts              []learner.Part
	ends               [][]learner.State // [column][part]
	since              []int64
	traces             []*learner.TraceReader
	presented, updates uint64
}

// Join is learner.Joiner.Join: that of the columns. Those of classes that come later follow when
// these do.
func (o *ovr[T]) Join(parts []learner.Part, states []learner.State,
	traces []*learner.TraceReader, after learner.Joiner) error {
	if after != nil {
		return fmt.Errorf("ovr: it is no column: %w", learner.ErrParts)
	}
	if len(parts) > 0 && parts[0].Classes {
		return o.joinClasses(parts, states, traces)
	}
	j := &ovrJoining{parts: parts, traces: traces}
	var lone []learner.State
	for i, p := range parts {
		one, err := o.partOf(p, states[i])
		if err != nil {
			return err
		}
		if i == 0 {
			j.ends = make([][]learner.State, len(one.learners))
			j.since, j.presented = one.since, one.presented
		}
		if len(one.learners) != len(j.ends) || one.presented != j.presented {
			return fmt.Errorf("ovr: %d classes and %d examples, of another part %d and %d: %w",
				len(one.learners), one.presented, len(j.ends), j.presented, learner.ErrParts)
		}
		for k, l := range one.learners {
			j.ends[k] = append(j.ends[k], l.State())
		}
		for _, l := range one.lone {
			lone = append(lone, l.State())
		}
		j.updates += one.updates
	}
	for k, l := range o.learners { // of classes that are known
		if err := learner.JoinerOf(l).Join(parts, j.ends[k], traces, nil); err != nil {
			return err
		}
	}
	if len(o.lone) > 0 {
		if err := learner.JoinerOf(o.lone[0]).Join(parts, lone, traces, nil); err != nil {
			return err
		}
	}
	o.joining = j
	return nil
}

// partOf returns the part's learner, of that State.
func (o *ovr[T]) partOf(p learner.Part, s learner.State) (*ovr[T], error) {
	base, cfg := o.traits, o.cfg
	switch {
	case p.Classes:
		cfg.Part = &p
	case base.Shard == nil:
		return nil, fmt.Errorf("ovr: base %s can't be made of parts: %w", o.cfg.Base,
			learner.ErrParts)
	default:
		cfg.BaseConfig = base.Shard(p)
	}
	l, err := newOVR[T](cfg, learner.Env{Seed: o.env.Seed})
	if err != nil {
		return nil, err
	}
	one := l.(*ovr[T])
	return one, one.SetState(s)
}

// joinColumn makes column k, of a class that has come, that of the parts.
func (o *ovr[T]) joinColumn(k int) error {
	j := o.joining
	if k >= len(j.ends) {
		return fmt.Errorf("ovr: a class that no part has: %w", learner.ErrTrace)
	}
	return learner.JoinerOf(o.learners[k]).Join(j.parts, j.ends[k], j.traces,
		learner.JoinerOf(o.lone[0]))
}

// given has all learners go through the run by what the parts did, example by example, as the
// traces have them.
func (o *ovr[T]) given() error {
	r, n := &o.own, o.own.b.Len()
	for e := range n {
		for k, l := range o.all() {
			v, at := &r.views[k], k*n+e
			*v = r.b.Slice(e, e+1)
			v.Class, v.Y = nil, r.y[at:][:1]
			if v.Y[0] = -1; k == int(r.b.Class[e]) && k < len(o.learners) {
				v.Y[0] = 1
			}
			if err := l.Learn(v, r.rounds[at:][:1]); err != nil {
				return fmt.Errorf("ovr: base: %w", err)
			}
			r.scores[at] = r.rounds[at].Score
		}
	}
	return nil
}

func (o *ovr[T]) Joined() error {
	if o.gathered != nil {
		return o.joinedClasses()
	}
	j := o.joining
	o.joining = nil
	for _, l := range o.all() {
		if err := learner.JoinerOf(l).Joined(); err != nil {
			return err
		}
	}
	if len(o.learners) != len(j.ends) || o.presented != j.presented || o.updates != j.updates {
		return fmt.Errorf("ovr: %d classes, %d examples and %d updates, the parts had %d, %d and "+
			"%d: %w", len(o.learners), o.presented, o.updates, len(j.ends), j.presented, j.updates,
			learner.ErrTrace)
	}
	return nil
}
