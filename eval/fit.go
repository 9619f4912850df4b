package eval

import (
	"context"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learners"
)

// Fit lets l pass over a whole data set until it has converged; see [learners.Fitter]. Nothing is predicted on the way, so Result has
// no errors and no mistakes.
func Fit[T engine.Float](ctx context.Context, l learners.Fitter[T], src *Memory[T], o learners.FitOptions) (Result, error) {
	start := time.Now()
	r, err := l.Fit(ctx, src.all, o)
	n := int64(src.Len())
	return Result{
		Examples: n, Presented: n * max(r.Epochs, 1), Epochs: int(r.Epochs), Updates: r.Updates, Converged: r.Converged,
		Learn: time.Since(start),
	}, err
}
