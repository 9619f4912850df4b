package learners

import (
	"fmt"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

func (o *ovr[T]) Learn(b *engine.Block[T], rounds []learner.Round) error {
	if err := o.check(b, rounds); err != nil {
		return err
	}
	if o.failed != nil {
		return o.failed
	}
	if o.gathered != nil {
		return o.givenClasses(b, rounds)
	}
	if b.Dim > o.dim {
		if err := o.reach(b, o.all()); err != nil {
			return err
		}
	}
	o.cut = nil
	r := &o.own
	for lo := 0; lo < b.Len(); {
		known := len(o.since)
		comes, err := o.welcome(b, int(b.Class[lo]))
		if err != nil {
			return err
		}
		hi := lo + 1
		end := min(b.Len(), lo+runOf(len(o.learners)))
		for hi < end && int(b.Class[hi]) < len(o.since) {
			hi++
		}
		if err := o.run(b, lo, hi); err != nil {
			o.failed = err
			return err
		}
		o.presented += uint64(hi - lo)
		if o.trace != nil && o.cfg.Part == nil {
			o.trace.take(hi - lo)
		}
		for e := range hi - lo {
			rounds[lo+e] = o.round(e)
			if o.trace != nil && o.cfg.Part != nil {
				o.traceClasses(e, known, comes && e == 0)
			}
			o.updates += uint64(rounds[lo+e].Updates)
		}
		if comes {
			rounds[lo].Score = learner.LostTie // what has not come is not predicted
			rounds[lo].Predicted = int32(learner.Predicted(o.outputsOf(0, known)))
		}
		lo = hi
	}
	r.b = engine.Block[T]{}
	return nil
}

// check refuses what no column can learn, before any does.
func (o *ovr[T]) check(b *engine.Block[T], rounds []learner.Round) error {
	known := o.cfg.Classes
	if known == 0 {
		known = o.most()
	}
	if !o.traits.Stream {
		return fmt.Errorf("%s: base: %s %w", o.name, o.cfg.Base, learner.ErrBatch)
	}
	if err := primal.CheckRows(o.name, b, len(rounds)); err != nil {
		return err
	}
	if err := b.CheckClasses(known); err != nil {
		return fmt.Errorf("%s: %w", o.name, err)
	}
	if b.Weighted() && !o.traits.Weights {
		return fmt.Errorf("%s: base: %w", o.name, learner.ErrWeights)
	}
	// A base may refuse an example that is too long for it.
	return primal.CheckLengths(o.name, b)
}

// run has all learners go through examples lo to hi-1 of b.
func (o *ovr[T]) run(b *engine.Block[T], lo, hi int) error {
	o.own.take(&o.fleet, fleetLearn, b, lo, hi, len(o.learners)+len(o.lone))
	if o.joining != nil {
		return o.given()
	}
	return o.own.run()
}

// welcome makes columns up to those of a class, and reports whether there were any to make.
func (o *ovr[T]) welcome(b *engine.Block[T], class int) (comes bool, err error) {
	for len(o.since) <= class {
		k := len(o.learners)
		if err := o.come(len(o.since) + 1); err != nil {
			return false, err
		}
		if o.joining != nil {
			if err := o.joinColumn(k); err != nil {
				return false, err
			}
			comes = true
			continue
		}
		if len(o.learners) == k && !o.pairs { // of another part
			comes = true
			continue
		}
		for i, l := range o.learners[k:] {
			if err := l.SetState(o.lone[i].State()); err != nil {
				return false, fmt.Errorf("%s: class %d: %w", o.name, len(o.since)-1, err)
			}
		}
		if o.pairs {
			l, err := o.column()
			if err == nil {
				err = o.show(l, b, o.dim)
			}
			if err != nil {
				return false, err
			}
			o.lone = append(o.lone, l)
		}
		comes = true
	}
	if comes && o.trace != nil {
		o.traceColumns()
	}
	return comes, nil
}

// all returns the columns, and the lone learners behind them.
func (o *ovr[T]) all() []learner.Learner[T] {
	return append(o.learners[:len(o.learners):len(o.learners)], o.lone...)
}

// learnPart has column k, or a lone learner behind them, learn the run's examples.
func (o *ovr[T]) learnPart(r *fleetRun[T], k int, v *engine.Block[T]) error {
	n := r.b.Len()
	y, at := r.y[k*n:][:n], k-len(o.learners)
	if at >= 0 {
		for i, c := range r.b.Class {
			y[i] = o.loneLabel(at, int(c))
		}
		return r.learn(k, o.lone[at], v, false)
	}
	for i, c := range r.b.Class {
		y[i] = o.label(k, int(c))
	}
	return r.learn(k, o.learners[k], v, true)
}

// round returns what example e of the run did.
func (o *ovr[T]) round(e int) (sum learner.Round) {
	sum.Updates = o.own.updates(e, len(o.learners))
	if o.cfg.Part != nil { // what the whole predicts it doesn't know
		sum.Score, sum.Predicted = learner.LostTie, -1
		return sum
	}
	outputs := o.outputsOf(e, len(o.since))
	sum.Score = learner.ClassScore(outputs, int(o.own.b.Class[e]))
	sum.Predicted = int32(learner.Predicted(outputs))
	return sum
}

// outputsOf returns what the columns of so many classes said of example e of the run.
func (o *ovr[T]) outputsOf(e, classes int) []float64 {
	scores, n := o.own.scores[e:], o.own.b.Len()
	if o.pairs {
		o.outputs = slices.Grow(o.outputs[:0], classes)[:classes]
		votes(o.outputs, scores, n, o.first)
		return o.outputs
	}
	o.outputs = o.outputs[:0]
	for k := range o.count(classes) {
		o.outputs = append(o.outputs, scores[k*n])
	}
	return o.outputs
}

// count is how many columns there are of so many classes.
func (o *ovr[T]) count(classes int) int {
	if o.pairs {
		return classes * (classes - 1) / 2
	}
	if p := o.cfg.Part; p != nil {
		return (classes + p.Of - 1 - p.First) / p.Of
	}
	return classes
}

// classOf is the class of column k, of no pairs.
func (o *ovr[T]) classOf(k int) int {
	if p := o.cfg.Part; p != nil {
		return p.First + k*p.Of
	}
	return k
}

// label is how column k is shown an example of the class: +1, -1, or not at all, 0.
func (o *ovr[T]) label(k, class int) T {
	first, second := o.classOf(k), -1
	if o.pairs {
		first, second = pairOf(k)
	}
	switch {
	case class == first:
		return 1
	case !o.pairs || class == second:
		return -1
	}
	return 0
}

// loneLabel is label for lone learner k.
func (o *ovr[T]) loneLabel(k, class int) T {
	switch {
	case !o.pairs:
		return -1
	case class == k:
		return 1
	}
	return 0
}

// come makes new columns up to so many classes.
func (o *ovr[T]) come(classes int) error {
	for len(o.since) < classes {
		o.since = append(o.since, int64(o.presented))
		for len(o.learners) < o.count(len(o.since)) {
			l, err := o.column()
			if err != nil {
				return err
			}
			o.learners = append(o.learners, l)
		}
	}
	return nil
}
