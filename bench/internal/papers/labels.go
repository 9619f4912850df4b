package papers

import (
	"context"
	"runtime/pprof"
	"strings"

	"github.com/halfspace-ml/halfspace/engine"
)

// Samples of profiles (runtime/pprof) have the label experiment, and from where a learner is made
// the label learner, its name, until another one is made or the part of the work ends. While its
// plain form is timed they also have form: plain. Labels are set between what is timed, never in
// it.

// ofLearner has this goroutine work on a learner from here on.
func ofLearner(ctx context.Context, name string) {
	pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("learner", name)))
}

// ofPlain has it work on a learner's plain form, and on the learner again once done is called.
func ofPlain(ctx context.Context, name string) (done func()) {
	pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("learner", name, "form", "plain")))
	return func() { ofLearner(ctx, name) }
}

// name is that of the learner, which text begins with.
func (m made) name() string {
	name, _, _ := strings.Cut(m.text, " ")
	return name
}

// freshPool is a pool as large as o.Pool, for one learner: its workers get the labels of who calls
// when they start, and keep them. It is nil where that is.
func (o RunOptions) freshPool() *engine.Pool {
	if o.Pool == nil {
		return nil
	}
	return engine.NewPool(o.Pool.Workers())
}
