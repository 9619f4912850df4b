package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/machine"
	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Elsewhere has train --by cut its work into parts that other processes learn, on other machines: a
// module of its own that brings an engine for that calls RunElsewhere.
type Elsewhere struct {
	// Ways are what --by takes, in the order of its help, and what each does.
	Ways []Way
	// Flags adds the engine's own flags.
	Flags func(fs *pflag.FlagSet)
	// Train learns o in parts, and writes the whole to o.Model. What the workers are to have of
	// the flags is in o. Errors that Explain has made in a worker come back as they are.
	Train func(ctx context.Context, p shard.Cut, o training.Options) (*shard.Report, error)
	// Buckets are the schemes of URLs that both read files from and have state at, as in
	// gs://BUCKET/NAME.
	Buckets []string
}

// Way is one that work can be cut.
type Way struct {
	Name, Summary string
	// Shards: the work has shard.Cut.Shards of its own, and those of Rounds, whatever the workers.
	Shards bool
}

// elsewhere is what RunElsewhere was given.
var elsewhere *Elsewhere

// RunElsewhere is Run of a command that can have train work elsewhere.
func RunElsewhere(e Elsewhere) int {
	elsewhere = &e
	return Run()
}

// Explain returns what a command says of an error of a part's run, or of what joins parts. what
// names the part.
func Explain(what string, err error) *shard.Failure {
	code, next := explain(err)
	sent := (*shard.Failure)(nil)
	if errors.As(err, &sent) {
		return sent
	}
	if f := (*fail)(nil); !errors.As(err, &f) {
		err = partError(err)
		code, next = explain(err)
	}
	text := errorText(err)
	if what != "" {
		text = what + ": " + text
	}
	return &shard.Failure{Code: code, Text: text, Next: withFlags(next)}
}

// partError gives an error of a part its exit code and next step.
func partError(err error) error {
	const kept = "what is learned by now stays in --state: the same command goes on there"
	name := fieldFlags(pflag.NewFlagSet("", pflag.ContinueOnError))
	e := (*training.Error)(nil)
	switch {
	case errors.Is(err, training.ErrStopped):
		return &fail{CodeStopped, ErrStopped, upper(kept) + "."}
	case errors.As(err, &e):
		code, next := CodeFailed, e.Next(name)
		switch e.Kind {
		case training.ErrOption:
			code = CodeUsage
		case training.ErrModel:
			again := " Remove it, and its part begins anew."
			switch {
			case errors.Is(err, shard.ErrForeign):
				again = " Nothing was written."
			case errors.Is(err, learner.ErrPrior), errors.Is(err, learner.ErrConfig):
				again = ""
			}
			code, next = CodeModel, strings.TrimSpace(next+again)
		case training.ErrChanged:
			next, _, _ = strings.Cut(next, " To learn others")
			code, next = CodeData, next+" Or learn them anew: name another folder with --state."
		case training.ErrSave:
			next = upper(kept) + ", once there is room. " + next
		default:
			next = upper(kept) + ". " + next
		}
		return &fail{code, &explained{e.Text(name), err}, next}
	case errors.Is(err, shard.ErrTraceFile), errors.Is(err, model.ErrDamaged):
		return &fail{CodeModel, err, "Remove the folder that it is in: its part is learned " +
			"again, and the others stay as they are."}
	case errors.Is(err, learner.ErrTrace), errors.Is(err, shard.ErrForeign):
		return &fail{CodeData, err, "The examples have changed since a part was learned: bring " +
			"them back, or name another folder with --state. Nothing was written."}
	case errors.Is(err, learner.ErrParts):
		return traceError(err)
	case errors.Is(err, learner.ErrConfig):
		return settingError(err)
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) && path.Op != "open" {
		return &fail{CodeFailed, err, upper(kept) + ", once this is put right."}
	}
	return dataError(err, kept)
}

// away are the flags of train that cut its work.
type away struct {
	by, mix choice
	workers int
	state   string
	shards  int
	rounds  int
}

func (a *away) flags(fs *pflag.FlagSet) {
	ways := make([]string, len(elsewhere.Ways))
	help := "learn in parts, which other processes learn:"
	for i, w := range elsewhere.Ways {
		ways[i] = w.Name
		help += " " + w.Name + " " + w.Summary + ";"
	}
	choose(fs, &a.by, "by", strings.TrimSuffix(help, ";"), append([]string{""}, ways...)...)
	var sharded []string
	for _, w := range elsewhere.Ways {
		if w.Shards {
			sharded = append(sharded, w.Name)
		}
	}
	with := "with --by " + strings.Join(sharded, ", ") + ": "
	fs.IntVar(&a.shards, "shards", 0, with+"how many shards; the model depends on it")
	choose(fs, &a.mix, "mix", with+"average weights, not posteriors: uniform, or by the mistakes "+
		"of each"+who(func(t learner.Traits) bool { return t.Mixes }), "none", shard.MixUniform,
		shard.MixMistakes)
	fs.IntVar(&a.rounds, "rounds", 1, "with --mix: in each round all shards go on from the "+
		"weights that were mixed in the one before")
	fs.IntVar(&a.workers, "workers", 0, "with --by: how many learn at a time; any number learns "+
		"the same")
	fs.StringVar(&a.state, "state", "", "with --by: the `FOLDER`, seen by all workers under this "+
		"name, or place in a bucket, where parts are kept while they are learned, and from which "+
		"the same command goes on")
	Names(fs, UseFolder, "state")
	elsewhere.Flags(fs)
}

// without refuses flags that go with --by, which was not given.
func (a *away) without(fs *pflag.FlagSet) error {
	for _, name := range []string{"workers", "state", "shards", "mix", "rounds", "patience"} {
		if fs.Changed(name) {
			return Usage("Say how work is cut with --by.", "%s without --by", Given(fs, name))
		}
	}
	return nil
}

// parts are what the flags say of these.
func (a *away) parts(fs *pflag.FlagSet) (p shard.Cut, err error) {
	p = shard.Cut{Way: a.by.value, Workers: a.workers, State: a.state}
	i := slices.IndexFunc(elsewhere.Ways, func(w Way) bool { return w.Name == p.Way })
	if !elsewhere.Ways[i].Shards {
		for _, name := range []string{"shards", "mix", "rounds", "from"} {
			if fs.Changed(name) {
				return p, Usage("Leave it out: nothing is merged.", "%s and %s exclude each other",
					Given(fs, "by"), Given(fs, name))
			}
		}
		return p, nil
	}
	if p.Shards = a.shards; a.mix.value != "none" {
		p.Mix, p.Rounds = a.mix.value, a.rounds
	}
	switch {
	case p.Shards < 1 || p.Shards > dataset.MaxRowShards:
		return p, Usage(fmt.Sprintf("Say how many with --shards, 1 to %d: the model depends on "+
			"it, and not on the workers.", dataset.MaxRowShards), "%s: in %d shards",
			Given(fs, "by"), p.Shards)
	case p.Mix == "" && fs.Changed("rounds"):
		return p, Usage("Add --mix uniform, or leave it out: posteriors are merged once.",
			"%s without --mix", Given(fs, "rounds"))
	case p.Mix != "" && p.Rounds < 1:
		return p, Usage("1 is the average of shards that learned apart.", "--rounds %d: no round",
			p.Rounds)
	}
	return p, nil
}

// check refuses what workers can't do. how is what was said of work elsewhere.
func (a *away) check(how string, files []string) error {
	switch {
	case a.workers < 1:
		return Usage("Say how many with --workers; any number learns the same.",
			"%s: in no parts", how)
	case a.state == "":
		return Usage("Name one with --state. It keeps what is learned, so that nothing is learned "+
			"twice.", "%s: no folder that all workers see", how)
	}
	for _, name := range append(slices.Clone(files), a.state) {
		if err := reachable(name); err != nil {
			return err
		}
	}
	return nil
}

// idle are flags of train that say what one process does or shows of its run.
var idle = []string{"test", "html", "metrics", "window", "fading", "margin-report",
	"margin-svm", "latency", "resume", "rows", "shard", "shard-by", "trace", "replay", "progress",
	"predict-only", "profile"}

// elsewhere learns in parts, as --by says, and prints what came of it.
func (t *trainer) elsewhere(fs *pflag.FlagSet, args []string) error {
	a := &t.away
	if err := t.options(fs, args); err != nil {
		return err
	}
	for _, name := range idle {
		if fs.Changed(name) {
			return Usage("Leave it out; evaluate -i FILE measures the model.",
				"%s and %s exclude each other", Given(fs, "by"), Given(fs, name))
		}
	}
	o := t.o
	if err := a.check(Given(fs, "by"), o.Files); err != nil {
		return err
	}
	p, err := a.parts(fs)
	if err != nil {
		return err
	}
	if o.Model == "" {
		return Usage("Name a file with -m.", "%s: no place for the model", Given(fs, "by"))
	}
	if fs.Changed("threads") {
		o.Threads = t.machine.threads
	}
	if o.From != "" {
		job, err := training.New(o, training.Env{Machine: machine.This(o.MemBudget)})
		if err != nil {
			return t.explain(err)
		}
		if _, err := t.settings.unchanged(job.Learner(), job.Config()); err != nil {
			return err
		}
	}
	m, err := elsewhere.Train(t.cmd.Context(), p, o)
	if err != nil {
		return t.failed(err)
	}
	return t.output.print(t.cmd, m, mergedRows(m).write)
}

// reachable refuses what a worker of another machine can't read.
func reachable(name string) error {
	switch scheme, _, ok := strings.Cut(name, "://"); {
	case name == "-":
		return Usage("Put the examples into a file that all workers see.",
			"-: the workers don't have this process's stdin")
	case ok && !slices.Contains(elsewhere.Buckets, scheme):
		return Usage("Buckets are named by "+strings.Join(elsewhere.Buckets, ":// and ")+
			"://; else name a file or a folder that all workers see.",
			"%s: no file or folder: %s:// is not read", name, scheme)
	}
	return nil
}

// inputs are inputs, of which those that are in buckets are left to the workers.
func (a *away) inputs(args []string) (files []string, err error) {
	if a.state == "" || len(args) == 0 {
		return inputs(args)
	}
	for _, name := range args {
		if scheme, _, ok := strings.Cut(name, "://"); !ok ||
			!slices.Contains(elsewhere.Buckets, scheme) {
			local, err := inputs([]string{name})
			if err != nil {
				return nil, err
			}
			name = local[0]
		}
		files = append(files, name)
	}
	return files, nil
}

// failed gives an error of Elsewhere.Train its exit code and next step.
func (t *trainer) failed(err error) error {
	sent := (*shard.Failure)(nil)
	switch {
	case t.cmd.Context().Err() != nil:
		return &fail{CodeStopped, ErrStopped, "What is learned by now stays in " + t.away.state +
			": the same command goes on there."}
	case errors.As(err, &sent):
		return &fail{sent.Code, errors.New(sent.Text), sent.Next}
	}
	if f := (*fail)(nil); errors.As(err, &f) {
		return err
	}
	return t.explain(err)
}
