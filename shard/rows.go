package shard

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/training"
)

// TrainRows cuts the rows of o.Files into n shards (training.Options.Rows), has a model of o learn
// each of them apart, on so many workers at a time, and merges these: see Merge. The model goes to
// o.Model, if that isn't ""; it depends on o and n, and not on the workers, by a bit. With o.From
// all shards go on from that model, and it counts once.
//
// Between the two the models lie in a temporary folder. Each worker reads and learns by one thread,
// and env gives its Machine and Logger. Learners are those with Traits.Merges. Errors are those of
// training.Run, of the first shard that has one, and of Merge; nothing is written then.
func TrainRows(ctx context.Context, o training.Options, n, workers int, env training.Env) (
	*Merged, error) {
	dir, err := os.MkdirTemp("", "halfspace-rows-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	models, err := trainShards(ctx, o, n, workers, env, dir)
	if err != nil {
		return nil, err
	}
	return Merge(ctx, Merging{Models: models, Prior: o.From, Model: o.Model, Machine: env.Machine})
}

// trainShards trains all of n row shards and returns the files of their models, in that folder.
func trainShards(ctx context.Context, o training.Options, n, workers int, env training.Env,
	dir string) ([]string, error) {
	if n < 1 || workers < 1 {
		return nil, fmt.Errorf("shard: %d row shards and %d workers, want 1 or more: %w", n,
			workers, learner.ErrConfig)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	o.Threads, o.Test = 1, nil
	env = training.Env{Machine: env.Machine, Logger: env.Logger}
	models, errs := make([]string, n), make([]error, n)
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(workers, n) {
		wg.Go(func() {
			for k := range next {
				o := o
				o.Rows, o.Model = fmt.Sprintf("%d/%d", k+1, n), models[k]
				if _, errs[k] = training.Run(ctx, o, env); errs[k] != nil {
					stop() // the others would be for nothing
				}
			}
		})
	}
	for k := range models {
		models[k] = filepath.Join(dir, fmt.Sprintf("%d.model", k+1))
		next <- k
	}
	close(next)
	wg.Wait()
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || training.Interrupted(ctx, first)) {
			first = err
		}
	}
	return models, first
}
