package eval

import (
	"context"
	"fmt"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// Fit lets l pass over a whole data set until it has converged; see [learner.Fitter]. Nothing is
// predicted on the way, so Result has no errors and no mistakes. Of o, Progress is shown how the
// run goes, in place of f.Observe, and Checkpoint is called at its marks, in place of
// f.Checkpoint, if l has it (Traits.Cut).
func Fit[T engine.Float](ctx context.Context, l learner.Fitter[T], src *Memory[T],
	f learner.FitOptions, o Options) (Result, error) {
	start := time.Now()
	var last, saving time.Duration
	p := o.Progress
	if p != nil {
		f.Observe = func(s learner.FitStatus) {
			if now := time.Since(start); now-last >= time.Second {
				last = now
				p.Fit(s, now)
			}
		}
	}
	n := int64(src.Len())
	var data uint64 // of where it stands
	result := func(r learner.FitResult, stands bool) Result {
		// Learners that don't count examples pass over all of them in each epoch.
		presented := r.Presented
		if presented == 0 && !r.Resumed && (r.Updates > 0 || r.Epochs > 0) {
			presented = n * max(r.Epochs, 1)
		}
		res := Result{
			Examples: n, Presented: presented, Epochs: int(r.Epochs), Updates: r.Updates,
			Converged: r.Converged, Resumed: r.Resumed,
			Fit: &r, Learn: time.Since(start) - saving,
		}
		if stands {
			if data == 0 {
				data = fingerprint(src)
			}
			res.Standing = &Standing{Fit: true, Examples: n, Data: data, Updates: r.Updates,
				Epochs: res.Epochs, Count: Count{Examples: presented}}
		}
		return res
	}
	f.Checkpoint, f.CheckpointEvery, f.CheckpointAfter = nil, o.CheckpointEvery, o.CheckpointAfter
	if o.Checkpoint != nil {
		f.Checkpoint = func(r learner.FitResult) error {
			began := time.Now()
			defer func() { saving += time.Since(began) }()
			res := result(r, true)
			if err := o.Checkpoint(res); err != nil {
				return fmt.Errorf("checkpoint after %d examples: %w", res.Presented, err)
			}
			return nil
		}
	}
	r, err := l.Fit(ctx, src.All(), f)
	if p != nil {
		if err == nil || r.Updates > 0 {
			p.Fit(learner.FitStatus{Updates: r.Updates, Epochs: r.Epochs, Violators: r.Violators,
				Margin: r.Margin, Bound: r.Bound}, time.Since(start))
		}
		p.End(Status{})
	}
	res := result(r, err != nil)
	var sc scales
	add(&sc, src.All())
	res.Warnings = sc.warnings()
	return res, err
}
