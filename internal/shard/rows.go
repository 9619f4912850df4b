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

// Mixing is iterative parameter mixing: rounds in each of which shards of the rows are learned
// apart from the same weights, which are then averaged.
type Mixing struct {
	// Options are those of one shard's run in one round, whose Epochs are 1 in the paper. The
	// model goes to Model; with From the first round goes on from that one.
	training.Options
	Shards  int    // of the rows
	Rounds  int    // 1 or more
	Workers int    // that learn at a time
	By      string // MixUniform or MixMistakes; "" is MixUniform
	// Each is called with the model behind each round, from 1; nil: not at all. Its error ends it.
	Each func(round int, m *Merged) error
}

// Mix learns by iterative parameter mixing what can't be taken apart, or has no posterior: learners
// with Traits.Mixes, whose hypothesis is a vector of weights. The result depends on all fields but
// Workers; it is that of training each shard with training.Options.Rows and From, and Merge with
// Mix, round by round.
//
// Reference: R. McDonald, K. Hall, G. Mann, "Distributed Training Strategies for the Structured
// Perceptron", NAACL 2010.
//
// What the shards learn in a round they don't learn from each other, so that each has the fewer
// rows the more there are. Averaging makes up for some of it, and rounds for more. Command
// bench/rows measures what is left on Adult. Data and errors as of TrainRows. Cost
// of a round: a pass over the rows, and all shards' weights in memory.
func Mix(ctx context.Context, m Mixing, env training.Env) (*Merged, error) {
	if m.Rounds < 1 {
		return nil, fmt.Errorf("shard: %d rounds, want 1 or more: %w", m.Rounds, learner.ErrConfig)
	}
	dir, err := os.MkdirTemp("", "halfspace-mix-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	by := m.By
	if by == "" {
		by = MixUniform
	}
	o, done := m.Options, (*Merged)(nil)
	for round := 1; ; round++ {
		models, err := trainShards(ctx, o, m.Shards, m.Workers, env, dir)
		if err != nil {
			return nil, err
		}
		to := filepath.Join(dir, fmt.Sprintf("%d.mixed", round))
		if round == m.Rounds {
			to = m.Model
		}
		if done, err = Merge(ctx, Merging{Models: models, Prior: o.From, Mix: by, Model: to,
			Machine: env.Machine}); err != nil {
			return nil, err
		}
		if m.Each != nil {
			if err := m.Each(round, done); err != nil {
				return nil, err
			}
		}
		if round == m.Rounds {
			return done, nil
		}
		o = NextRound(o, to)
	}
}

// NextRound returns the options of a shard's run in the rounds behind the first, which goes on from
// the file of a model that was mixed: that has the learner, its settings and how examples are
// prepared, and the rest is of o.
func NextRound(o training.Options, from string) training.Options {
	o.From, o.Learner, o.Precision, o.Seed, o.Config, o.Literal = from, "", "", nil, nil, false
	o.Settings, o.Bias, o.Normalize, o.Scale, o.Missing, o.Rho = nil, "", "", "", "", 0
	o.HashBits, o.Interactions, o.Positive, o.Classes, o.Pairs = 0, nil, "", nil, false
	return o
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
