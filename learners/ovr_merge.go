package learners

import (
	"fmt"
	"slices"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/gauss"
)

// Posterior is for [learner.PosteriorOf]: those of the columns, where the base has one.
func (o *ovr[T]) Posterior() learner.PosteriorMerger[T] {
	if !o.traits.Merges {
		return nil
	}
	return ovrPosterior[T]{o}
}

type ovrPosterior[T learner.Float] struct{ o *ovr[T] }

// MergePosterior merges column by column, class by class: both know as many, by the same numbers.
// Counters add up; of the examples before a class's first those are counted that o has. The columns
// are there twice meanwhile. Errors wrap learner.ErrPrior or ErrDim.
func (p ovrPosterior[T]) MergePosterior(other learner.Learner[T]) error {
	of, err := p.columns(other, learner.PosteriorMerger[T].MergePosterior)
	if err != nil {
		return err
	}
	o := p.o
	o.presented += of.presented
	o.updates += of.updates
	return nil
}

// DividePrior divides column by column; prior has the same classes.
func (p ovrPosterior[T]) DividePrior(prior learner.Learner[T], times int) error {
	o := p.o
	if times == 0 {
		prior = o
	}
	if of, ok := prior.(*ovr[T]); ok {
		if err := gauss.CheckBegun(o.name, int64(o.presented), int64(of.presented),
			times); err != nil {
			return err
		}
	}
	of, err := p.columns(prior, func(l learner.PosteriorMerger[T],
		prior learner.Learner[T]) error {
		return l.DividePrior(prior, times)
	})
	if err != nil {
		return err
	}
	n := uint64(times)
	o.presented -= n * of.presented
	o.updates -= min(o.updates, n*of.updates)
	return nil
}

// columns does what do says to each column, with that of the same class of other.
func (p ovrPosterior[T]) columns(other learner.Learner[T],
	do func(learner.PosteriorMerger[T], learner.Learner[T]) error) (*ovr[T], error) {
	o := p.o
	of, ok := other.(*ovr[T])
	if !ok || of.pairs != o.pairs || of.cfg.Base != o.cfg.Base {
		return nil, fmt.Errorf("%s: %T has no posteriors of this form: %w", o.name, other,
			learner.ErrPrior)
	}
	if len(of.since) != len(o.since) || len(of.learners) != len(o.learners) ||
		len(of.lone) != len(o.lone) {
		return nil, fmt.Errorf("%s: %d classes and %d: want the same ones: %w", o.name,
			len(o.since), len(of.since), learner.ErrPrior)
	}
	to, from := slices.Concat(o.learners, o.lone), slices.Concat(of.learners, of.lone)
	merged := make([]learner.Learner[T], len(to))
	for k := range to {
		l, err := o.column()
		if err == nil {
			err = l.SetState(to[k].State())
		}
		if err == nil {
			err = do(learner.PosteriorOf(l), from[k])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: column %d: %w", o.name, k, err)
		}
		merged[k] = l
	}
	n := len(o.learners)
	o.learners, o.lone = merged[:n:n], merged[n:]
	o.dim = max(o.dim, of.dim)
	return of, nil
}

// Report adds up those of the columns.
func (p ovrPosterior[T]) Report() (sum learner.PosteriorReport) {
	for _, l := range p.o.learners {
		r := learner.ReportOf(l)
		sum.Sweeps, sum.Unconverged = sum.Sweeps+r.Sweeps, sum.Unconverged+r.Unconverged
		sum.Merged, sum.Passed, sum.Lost = sum.Merged+r.Merged, sum.Passed+r.Passed, sum.Lost+r.Lost
	}
	return sum
}
