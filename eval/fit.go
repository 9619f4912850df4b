package eval

import (
	"context"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// Fit lets l pass over a whole data set until it has converged; see [learner.Fitter]. Nothing is
// predicted on the way, so Result has no errors and no mistakes. p, which may be nil, is shown how
// the run goes in place of o.Observe.
func Fit[T engine.Float](ctx context.Context, l learner.Fitter[T], src *Memory[T],
	o learner.FitOptions, p Progress) (Result, error) {
	start := time.Now()
	var last time.Duration
	if p != nil {
		o.Observe = func(s learner.FitStatus) {
			if now := time.Since(start); now-last >= time.Second {
				last = now
				p.Fit(s, now)
			}
		}
	}
	r, err := l.Fit(ctx, src.All(), o)
	if p != nil {
		if err == nil || r.Updates > 0 {
			p.Fit(learner.FitStatus{Updates: r.Updates, Epochs: r.Epochs, Violators: r.Violators,
				Margin: r.Margin, Bound: r.Bound}, time.Since(start))
		}
		p.End(Status{})
	}
	n := int64(src.Len())
	// Learners that don't count examples pass over all of them in each epoch.
	presented := r.Presented
	if presented == 0 && !r.Resumed && (r.Updates > 0 || r.Epochs > 0) {
		presented = n * max(r.Epochs, 1)
	}
	var sc scales
	add(&sc, src.All())
	var standing *Standing
	if err != nil {
		standing = &Standing{Fit: true, Examples: n, Data: fingerprint(src), Updates: r.Updates}
	}
	return Result{
		Standing: standing,
		Warnings: sc.warnings(),
		Examples: n, Presented: presented, Epochs: int(r.Epochs), Updates: r.Updates,
		Converged: r.Converged, Resumed: r.Resumed,
		Fit: &r, Learn: time.Since(start),
	}, err
}
