package learners

import (
	"fmt"
	"slices"

	"github.com/halfspace-ml/halfspace/learner"
)

// Posterior is for [learner.PosteriorOf]: those of the columns, where the base has one.
func (o *OVR[T]) Posterior() learner.PosteriorMerger[T] {
	if !o.base.Traits().Merges {
		return nil
	}
	return ovrPosterior[T]{o}
}

// overOf returns the OVR that l is, whatever its base; nil if it is none.
func overOf[T learner.Float](l learner.Learner[T]) *OVR[T] {
	switch o := l.(type) {
	case *OVR[T]:
		return o
	case keepingOVR[T]:
		return o.OVR
	case fittingOVR[T]:
		return o.OVR
	case fittingKeepingOVR[T]:
		return o.OVR
	}
	return nil
}

type ovrPosterior[T learner.Float] struct{ o *OVR[T] }

// MergePosterior merges column by column, class by class: both know as many, by the same numbers.
// Counters add up; of the examples before a class's first those are counted that o has. The columns
// are there twice meanwhile. Errors wrap learner.ErrPrior or ErrDim.
func (p ovrPosterior[T]) MergePosterior(other learner.Learner[T]) error {
	o := p.o
	of := overOf(other)
	if of == nil || of.pairs != o.pairs || of.cfg.Base != o.cfg.Base {
		return fmt.Errorf("%s: %T has no posteriors of this form: %w", o.name(), other,
			learner.ErrPrior)
	}
	if len(of.since) != len(o.since) || len(of.columns) != len(o.columns) ||
		len(of.lone) != len(o.lone) {
		return fmt.Errorf("%s: %d classes and %d: want the same ones: %w", o.name(), len(o.since),
			len(of.since), learner.ErrPrior)
	}
	to, from := slices.Concat(o.columns, o.lone), slices.Concat(of.columns, of.lone)
	merged := make([]learner.Learner[T], len(to))
	for k := range to {
		l, err := o.column()
		if err == nil {
			err = l.SetState(to[k].State())
		}
		if err == nil {
			err = learner.PosteriorOf(l).MergePosterior(from[k])
		}
		if err != nil {
			return fmt.Errorf("%s: column %d: %w", o.name(), k, err)
		}
		merged[k] = l
	}
	n := len(o.columns)
	o.columns, o.scorers, o.probers = nil, nil, nil
	for _, l := range merged[:n] {
		o.add(l)
	}
	o.lone = merged[n:]
	o.presented += of.presented
	o.updates += of.updates
	o.dim = max(o.dim, of.dim)
	return nil
}

// Report adds up those of the columns.
func (p ovrPosterior[T]) Report() (sum learner.PosteriorReport) {
	for _, l := range p.o.columns {
		r := learner.ReportOf(l)
		sum.Sweeps, sum.Unconverged = sum.Sweeps+r.Sweeps, sum.Unconverged+r.Unconverged
		sum.Merged, sum.Passed, sum.Lost = sum.Merged+r.Merged, sum.Passed+r.Passed, sum.Lost+r.Lost
	}
	return sum
}
