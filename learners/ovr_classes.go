package learners

import (
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// validatePart checks Part.
func (c *OVRConfig) validatePart(base learner.Config) error {
	p := c.Part
	bad := func(want string) error {
		return fmt.Errorf("ovr: part is %+v, want %s: %w", *p, want, learner.ErrConfig)
	}
	switch {
	case p == nil:
		return nil
	case !p.Classes || p.Members != 0 || p.First < 0 || p.First >= p.Of || p.Of > MaxClasses:
		return bad("one of classes")
	case c.Classes > 0 && p.Of > c.Classes:
		return bad(fmt.Sprintf("at most one a class, of %d", c.Classes))
	case !shardsClasses(base.Traits()):
		return bad("none: such columns can't be taken apart")
	}
	return nil
}

// shardsClasses reports whether columns of such a base can learn apart: those that keep examples
// share them.
func shardsClasses(base learner.Traits) bool {
	return base.Stream && base.Keeps == 0 && base.Part == nil
}

// shardTraits fills in what says how the classes are taken apart.
func (c *OVRConfig) shardTraits(t *learner.Traits, base learner.Config) {
	switch {
	case c.Part != nil:
		whole := *c
		whole.Part = nil
		t.PartOf, t.Part = &whole, c.Part
		t.Splits, t.Shard, t.Merges = 0, nil, false
		t.Whole, t.SoftDelta, t.ActiveSet, t.Halving = false, false, false, false
		t.Cut, t.Anew = false, false
	case shardsClasses(base.Traits()):
		t.ShardClasses = func(p learner.Part) learner.Config {
			r := *c
			r.Part = &p
			return &r
		}
	}
}

// leading is the class with the largest output of some, the first of several.
type leading struct {
	output float64
	class  int // -1: there are none
	nan    bool
}

func noLeading() leading { return leading{math.Inf(-1), -1, false} }

// take looks at another output, of no smaller class than those before, or of any.
func (l *leading) take(output float64, class int) {
	switch {
	case output != output:
		l.nan = true
	case l.class < 0 || output > l.output || output == l.output && class < l.class:
		l.output, l.class = output, class
	}
}

// write adds it to an entry.
func (l *leading) write(t *learner.Trace) {
	switch {
	case l.nan:
		t.Count(0)
	case l.class < 0:
		t.Count(1)
	default:
		t.Count(l.class + 2)
		t.Sums([]float64{l.output})
	}
}

// read takes what write has written.
func (l *leading) read(t *learner.TraceReader) {
	switch n := t.Count(); n {
	case 0:
		l.nan = true
	case 1:
	default:
		l.take(t.AddTo(0), n-2)
	}
}

// traceClasses writes the entry of example e of the run: updates, and of the outputs that there
// were before it came that of its class, if it is one of the part's, and the largest of the classes
// before and behind.
func (o *ovr[T]) traceClasses(e, known int, comes bool) {
	r, n, class := &o.own, o.own.b.Len(), int(o.own.b.Class[e])
	if !comes {
		known = len(o.since)
	}
	before, own, after := noLeading(), noLeading(), noLeading()
	for k := range o.count(known) {
		f := r.scores[k*n+e]
		switch c := o.classOf(k); {
		case c < class:
			before.take(f, c)
		case c > class:
			after.take(f, c)
		default:
			own.take(f, c)
		}
	}
	t := o.trace.to
	t.Count(int(r.updates(e, len(o.learners))))
	for _, l := range []*leading{&before, &own, &after} {
		l.write(t)
	}
	t.End()
}

// gatheredClasses is what Join leaves for Learn of parts of the classes.
type gatheredClasses[T learner.Float] struct {
	parts  []*ovr[T] // by Part.First
	traces []*learner.TraceReader
}

// joinClasses is Join of parts of the classes.
func (o *ovr[T]) joinClasses(parts []learner.Part, states []learner.State,
	traces []*learner.TraceReader) error {
	n := parts[0].Of
	g := &gatheredClasses[T]{make([]*ovr[T], n), make([]*learner.TraceReader, n)}
	for i, p := range parts {
		switch {
		case !p.Classes || p.Of != n:
			return fmt.Errorf("ovr: %v and %v: not of one cut: %w", parts[0], p, learner.ErrParts)
		case p.First < 0 || p.First >= n:
			return fmt.Errorf("ovr: %v: there is no such part: %w", p, learner.ErrParts)
		case g.parts[p.First] != nil:
			return fmt.Errorf("ovr: %v come twice: %w", p, learner.ErrParts)
		}
		one, err := o.partOf(p, states[i])
		if err != nil {
			return err
		}
		g.parts[p.First], g.traces[p.First] = one, traces[i]
	}
	first := g.parts[0]
	for k, one := range g.parts {
		switch {
		case one == nil:
			return fmt.Errorf("ovr: %v are missing: %w", learner.Part{First: k, Of: n,
				Classes: true}, learner.ErrParts)
		case one.presented != first.presented || !slices.Equal(one.since, first.since):
			return fmt.Errorf("ovr: part %d saw %d examples of %d classes, another %d of %d: %w",
				k+1, one.presented, len(one.since), first.presented, len(first.since),
				learner.ErrParts)
		}
	}
	o.gathered = g
	return nil
}

// givenClasses is Learn by what the parts did.
func (o *ovr[T]) givenClasses(b *engine.Block[T], rounds []learner.Round) error {
	for e := range b.Len() {
		class, known := int(b.Class[e]), len(o.since)
		for len(o.since) <= class {
			o.since = append(o.since, int64(o.presented))
		}
		before, own, after, updates := noLeading(), noLeading(), noLeading(), 0
		for _, t := range o.gathered.traces {
			updates += t.Count()
			for _, l := range []*leading{&before, &own, &after} {
				l.read(t)
			}
			if err := t.Err(); err != nil {
				return fmt.Errorf("ovr: %w", err)
			}
		}
		rounds[e] = ledBy(before, own, after, class, known)
		rounds[e].Updates = int32(updates)
		o.presented++
		o.updates += uint64(updates)
	}
	return nil
}

// ledBy is the round of an example of that class, of which so many outputs were known, by those
// that led: as [learner.ClassScore] and [learner.Predicted] have it of all.
func ledBy(before, own, after leading, class, known int) (r learner.Round) {
	r.Predicted = -1
	if before.nan || own.nan || after.nan {
		if r.Score = math.NaN(); class >= known {
			r.Score = learner.LostTie
		}
		return r
	}
	best := noLeading()
	for _, l := range []leading{before, own, after} {
		if l.class >= 0 {
			best.take(l.output, l.class)
		}
	}
	r.Predicted = int32(best.class)
	switch {
	case class >= known, own.output == before.output && !(after.output > own.output):
		r.Score = learner.LostTie
	default:
		r.Score = own.output - max(before.output, after.output)
	}
	if known == 1 && class == 0 {
		r.Score = 0
	}
	return r
}

// joinedClasses is Joined of parts of the classes: their columns become o's.
func (o *ovr[T]) joinedClasses() error {
	g := o.gathered
	o.gathered = nil
	for _, t := range g.traces {
		if err := t.Ended(); err != nil {
			return fmt.Errorf("ovr: %w", err)
		}
	}
	first, updates := g.parts[0], uint64(0)
	for _, one := range g.parts {
		updates += one.updates
	}
	if !slices.Equal(o.since, first.since) || o.presented != first.presented ||
		o.updates != updates {
		return fmt.Errorf("ovr: %d classes, %d examples and %d updates, the parts had %d, %d and "+
			"%d: %w", len(o.since), o.presented, o.updates, len(first.since), first.presented,
			updates, learner.ErrTrace)
	}
	o.learners, o.lone = nil, first.lone
	for c := range o.since {
		o.learners = append(o.learners, g.parts[c%len(g.parts)].learners[c/len(g.parts)])
	}
	o.dim = first.dim
	return nil
}
