package training

import (
	"context"
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// LearnOptions say how Learn goes about it. The zero value is one pass, one example after another.
type LearnOptions struct {
	eval.Options

	// Fit, if there, has the learner pass over the whole data set until it has converged. Of
	// Options, Progress and Checkpoint with its marks are used then.
	Fit *learner.FitOptions
}

// Learn teaches l the examples of src: one after another as eval.Run does, with what it says of
// errors, cost and ctx, or with o.Fit as eval.Fit does. The latter needs a learner that can Fit,
// and examples in memory ([eval.Memory]); it is learner.ErrFit else.
func Learn[T engine.Float](ctx context.Context, l learner.Learner[T], src eval.Source[T],
	o LearnOptions) (eval.Result, error) {
	if o.Fit == nil {
		return eval.Run(ctx, l, src, o.Options)
	}
	f, mem := learner.AsFitter(l), (*eval.Memory[T])(nil)
	if m, ok := src.(*eval.Memory[T]); ok {
		mem = m
	}
	if f == nil || mem == nil {
		return eval.Result{}, fmt.Errorf("training: to fit needs a learner that can, and examples "+
			"in memory: %w", learner.ErrFit)
	}
	return eval.Fit(ctx, f, mem, *o.Fit, o.Options)
}
