package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/machine"
	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// rowShards cuts the rows of the data into shards, whose models are merged. Their number decides
// what comes of it, and not the workers'.
func rowShards() Way {
	return Way{Name: "rows", Summary: "cuts the rows of the data into shards and merges their " +
		"posteriors, or averages their weights", Shards: true, Ranges: true,
		Cut: cutRows, Begun: begunRows,
		Learn: learnRows, Join: mergeRows}
}

// merged is how row shards are merged.
type merged struct {
	Mix  string `json:"mix,omitempty"`
	From string `json:"from,omitempty"` // the model that all shards of the first round went on from
}

func cutRows(o training.Options, p shard.Cut) (parts []any, whole any, err error) {
	for k := range p.Shards {
		o := o
		o.Rows = fmt.Sprintf("%d/%d", k+1, p.Shards)
		if k == 0 { // the others differ by their numbers alone
			if err := mergeable(o, p.Mix); err != nil {
				return nil, nil, err
			}
		}
		r, err := newRun(o)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, r)
	}
	return parts, merged{p.Mix, o.From}, nil
}

// mergeable refuses what can't be merged behind its training. Of several classes, which the
// examples show, what can't be is told when it is merged.
func mergeable(o training.Options, mix string) error {
	o.Model = "-" // that there is one
	job, err := training.New(o, training.Env{})
	if err != nil {
		return err
	}
	t := job.Config().Traits()
	switch {
	case mix == "" && !t.Merges:
		return training.NewError(training.ErrOption, "Learners that have: "+strings.Join(
			shard.Mergeable(), ", ")+". Of others weights can be averaged: {mix} uniform.",
			"%s has no posterior to merge", job.Learner())
	case mix != "" && !t.Mixes:
		return training.NewError(training.ErrOption, "Learners that can: "+strings.Join(
			shard.Mixable(), ", ")+".", "%s has no weights to be averaged", job.Learner())
	}
	return nil
}

// learnRows learns a shard, in rounds behind the first from what was mixed.
func learnRows(ctx context.Context, do json.RawMessage, with Plain, dir string) error {
	var r run
	if err := json.Unmarshal(do, &r); err != nil {
		return err
	}
	o, err := r.options()
	if err != nil {
		return err
	}
	name := filepath.Join(dir, ModelFile)
	if _, err := os.Stat(name); err == nil { // the rest is in the model
		o = training.Options{Resume: true, Files: o.Files}
	} else if with.before != "" {
		o = shard.NextRound(o, filepath.Join(with.before, ModelFile))
	}
	o.Model, o.Threads, o.MemBudget = name, with.Threads, with.MemBudget
	o.CheckpointEvery = with.CheckpointEvery
	_, err = training.Run(ctx, o, training.Env{Machine: machine.This(with.MemBudget),
		OpenFile: with.open})
	if e := (*training.Error)(nil); errors.As(err, &e) && e.Kind == training.ErrFinished {
		return nil
	}
	return err
}

// begunRows takes over the model.
func begunRows(from, to string) (int64, error) {
	m, err := begunModel(from, to)
	if m == nil || err != nil {
		return 0, err
	}
	return int64(m.Presented), nil
}

// mergeRows merges the shards.
func mergeRows(ctx context.Context, do json.RawMessage, with Plain, parts []string, dir string) (
	any, error) {
	var j merged
	if err := json.Unmarshal(do, &j); err != nil {
		return nil, err
	}
	m := shard.Merging{Prior: j.From, Mix: j.Mix, Model: filepath.Join(dir, ModelFile),
		Machine: machine.This(with.MemBudget)}
	if with.before != "" {
		m.Prior = filepath.Join(with.before, ModelFile)
	}
	for _, part := range parts {
		m.Models = append(m.Models, filepath.Join(part, ModelFile))
	}
	res, err := shard.Merge(ctx, m)
	if err != nil {
		return nil, err
	}
	return res.Report(parts, m.Model), nil
}
