// Package compare estimates and compares errors: by cross-validation, of several settings of which
// the best is to be found, and of several learners or models that predict the same examples.
package compare

import (
	"context"
	"errors"
	"reflect"
	"runtime/pprof"
	"slices"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// jobsOf makes the jobs of settings that are compared. Their precisions may differ if mixed.
func jobsOf(settings []training.Options, env training.Env, mixed bool) ([]*training.Job, error) {
	if len(settings) == 0 {
		return nil, badOption("", "{settings}: none is given")
	}
	each := training.Env{Machine: env.Machine, Pool: env.Pool, Observer: env.Observer,
		Logger: env.Logger}
	each.Machine.Limit, each.Machine.Peak = nil, nil
	each.Machine.Bytes /= int64(len(settings))
	var list []training.Options
	for _, o := range settings {
		o.Model, o.From, o.Test, o.CheckpointEvery = "", "", nil, ""
		o.PredictOnly, o.MarginReport, o.MarginSVM = false, false, false
		o.Proba, o.Latency, o.MemBudget, o.AnyFormat = false, false, 0, false
		o.AUC, o.Window, o.Fading, o.Curve = false, 0, 0, 0
		o.Drift, o.OnDrift, o.Delay = "", "", 0
		o.IDCol, o.WaitMax, o.WaitBytes = "", 0, 0
		o.DriftKeep = 0
		o.Threshold = ""
		list = append(list, o)
	}
	jobs, err := training.NewJobs(list, each)
	if err != nil {
		return nil, err
	}
	first := &settings[0]
	for i, o := range settings[1:] {
		if !mixed && jobs[i+1].Precision() != jobs[0].Precision() || o.Shuffle != first.Shuffle ||
			o.UntilConverged != first.UntilConverged || !slices.Equal(o.Files, first.Files) ||
			!sameReading(o.Data, first.Data) {
			return nil, badOption("They must be the same.", "setting %d differs from the first in "+
				"{files}, {precision}, {shuffle}, {until_converged} or how files are read", i+1)
		}
	}
	return jobs, nil
}

// sameReading reports whether two Data differ only in what a dataset.Preparer does.
func sameReading(a, b training.Data) bool {
	a.Scale, a.Bias, a.Normalize = b.Scale, b.Bias, b.Normalize
	return reflect.DeepEqual(a, b)
}

// thirdLabel has all jobs start again with classes, if that can be.
func thirdLabel(jobs []*training.Job, err error) bool {
	if jobs == nil || !errors.Is(err, dataset.ErrThird) {
		return false
	}
	for _, j := range jobs {
		if !j.Again() {
			return false
		}
	}
	return true
}

// observer is Env.Observer, or one that does nothing.
func observer(e *training.Env) training.Observer {
	if e.Observer == nil {
		return training.Silent{}
	}
	return e.Observer
}

func badOption(next, format string, args ...any) error {
	return training.NewError(training.ErrOption, next, format, args...)
}

// labelledPart is labelled, by several labels, of a worker's work: those of Env.Pool have none.
func labelledPart(ctx context.Context, env *training.Env, work func(context.Context),
	labels ...string) {
	if env.Pool != nil {
		work(ctx)
		return
	}
	pprof.Do(ctx, pprof.Labels(labels...), work)
}
