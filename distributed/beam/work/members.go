package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/halfspace-ml/halfspace/internal/machine"
	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// traceFile is the trace of a part; while it is not whole it has openEnd behind its name.
const (
	traceFile = "trace"
	openEnd   = ".open"
)

// members deals the members of an ensemble out, in words of 64: each part goes over all examples.
func members() Way {
	return Way{Name: "members", Summary: "deals the members of an ensemble out, in words of 64, " +
		"each part over all examples, and joins them to the model of one machine",
		Cut: cutMembers, Begun: begunShard, Learn: learnShard, Join: joinShards}
}

// classes deals the classes out, each of which is learned against all others.
func classes() Way {
	return Way{Name: "classes", Summary: "deals out the learners of three or more classes, each " +
		"part over all examples, and joins them likewise", Begun: begunShard, Learn: learnShard,
		Join: joinShards, Cut: func(o training.Options, p shard.Cut) ([]any, any, error) {
			o.ShardBy = training.ShardClasses
			return cutMembers(o, p)
		}}
}

func cutMembers(o training.Options, p shard.Cut) (parts []any, whole any, err error) {
	for k := range p.Workers {
		o := o
		o.Shard = fmt.Sprintf("%d/%d", k+1, p.Workers)
		o.Model = "-" // that there is one
		if _, err := training.New(o, training.Env{}); err != nil {
			return nil, nil, err
		}
		o.Model = ""
		r, err := newRun(o)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, r)
	}
	return parts, joinedFiles{o.Files}, nil
}

// run is training.Options in JSON, to which settings come back with their type.
type run struct {
	Learner string           `json:"learner"`
	Config  json.RawMessage  `json:"config"`
	Options training.Options `json:"options"`
}

func newRun(o training.Options) (r run, err error) {
	r.Learner, r.Options = o.Learner, o
	r.Config, err = json.Marshal(o.Config)
	r.Options.Config, r.Options.Learner = nil, ""
	return r, err
}

// options are what newRun was given.
func (r *run) options() (training.Options, error) {
	if r.Learner == "" { // the model has it that is gone on from
		return r.Options, nil
	}
	e, err := learner.Lookup(r.Learner)
	if err != nil {
		return training.Options{}, err
	}
	o := r.Options
	o.Learner, o.Config, o.Literal = r.Learner, e.Config(), true
	return o, json.Unmarshal(r.Config, o.Config)
}

// learnShard learns a part with its trace.
func learnShard(ctx context.Context, do json.RawMessage, with Plain, dir string) error {
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
	}
	o.Model, o.Threads, o.MemBudget = name, with.Threads, with.MemBudget
	o.CheckpointEvery = with.CheckpointEvery
	_, err = shard.Train(ctx, o, training.Env{Machine: machine.This(with.MemBudget)},
		filepath.Join(dir, traceFile))
	return err
}

// begunShard takes over model and trace. A trace only grows, and has all that its model has when
// this is written: so it is copied after that.
func begunShard(from, to string) (int64, error) {
	m, err := begunModel(from, to)
	if m == nil || err != nil {
		return 0, err
	}
	trace, target := filepath.Join(from, traceFile+openEnd), traceFile+openEnd
	err = copyFile(filepath.Join(to, target), trace)
	if errors.Is(err, fs.ErrNotExist) { // it has come to its end
		if m.Position == nil {
			target = traceFile
		}
		err = copyFile(filepath.Join(to, target), filepath.Join(from, traceFile))
	}
	if err != nil {
		return 0, damaged(trace, err)
	}
	return int64(m.Presented), nil
}

// begunModel takes over the model; nil: there is none.
func begunModel(from, to string) (*model.Model, error) {
	name := filepath.Join(from, ModelFile)
	err := copyFile(filepath.Join(to, ModelFile), name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := model.Load(filepath.Join(to, ModelFile))
	if err != nil {
		return nil, damaged(name, err)
	}
	return m, nil
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}

// joinedFiles are the examples that all parts have learned.
type joinedFiles struct {
	Files []string `json:"files"`
}

// joinShards puts the members side by side, and goes through the examples once more.
func joinShards(ctx context.Context, do json.RawMessage, with Plain, parts []string, dir string) (
	any, error) {
	var j joinedFiles
	if err := json.Unmarshal(do, &j); err != nil {
		return nil, err
	}
	p := shard.Parts{Files: j.Files, Model: filepath.Join(dir, ModelFile), Threads: with.Threads,
		MemBudget: with.MemBudget}
	for _, part := range parts {
		p.Models = append(p.Models, filepath.Join(part, ModelFile))
		p.Traces = append(p.Traces, filepath.Join(part, traceFile))
	}
	res, err := shard.Join(ctx, p, training.Env{Machine: machine.This(with.MemBudget)})
	if err != nil {
		return nil, err
	}
	return shard.JoinedReport(res, parts), nil
}
