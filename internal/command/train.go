package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/internal/machine"
	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/model"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// trainer is one run of train.
type trainer struct {
	o training.Options // what flags fill in themselves, and options the rest

	// Flags whose values go into o where they were given.
	learner    string
	precision  choice
	epochs     int
	maxUpdates int64
	seed       uint64
	bias       choice
	scale      string
	missing    choice
	normalize  choice
	drift      choice
	onDrift    choice
	memory     byteSize
	waitBytes  byteSize
	read       readFlags
	machine    machineFlags
	settings   *learnerFlags
	metrics    metricFlags
	html       string
	trace      string
	dry        bool
	shardBy    choice
	away       away

	output   outputFlags
	profiles profiles

	cmd     *cobra.Command
	learns  func(context.Context) (*training.Result, error)
	streams bool         // files may be a stream: examples are read once
	replay  string       // a log to be learned again; ""
	until   uint64       // up to so many examples; 0: all
	in      *streamInput // that one, if not nil
	started time.Time
	latency latency
	plan    *training.Plan
	saved   *training.Saved // the model that was written last
	told    warnings
}

func newTrainCmd() *cobra.Command {
	t := &trainer{}
	cmd := trainCmd(t)
	if elsewhere != nil {
		t.away.flags(cmd.Flags())
	}
	helpAllFlag(cmd)
	return cmd
}

// run makes Options of the flags, trains, and prints what came of it.
func (t *trainer) run(cmd *cobra.Command, args []string) error {
	t.cmd, t.started, t.told, t.latency = cmd, time.Now(), warnings{}, newLatency()
	fs := cmd.Flags()
	if t.until > 0 && t.replay == "" {
		return Usage("Name the log with --replay FILE.", "%s %d without --replay", Given(
			t.cmd.Flags(), "until"), t.until)
	}
	if t.replay != "" {
		return t.replayed(args)
	}
	if t.away.by.value != "" {
		return t.elsewhere(fs, args)
	}
	if err := t.away.without(fs); err != nil {
		return err
	}
	t.streams = true
	if t.o.Resume && t.dry {
		return Usage("Leave one of them out.", "%s and --dry-run exclude each other",
			Given(fs, "resume"))
	}
	if t.o.Resume && t.trace == "" && t.o.Model != "" && isNew(t.o.Model) {
		t.o.Resume = false
		if !t.output.quiet {
			fmt.Fprintf(cmd.ErrOrStderr(), "halfspace: %s: no run has written it yet: this one "+
				"begins at the first example\n", t.o.Model)
		}
	}
	if err := t.options(fs, args); err != nil {
		return err
	}
	if t.dry {
		t.dryly()
	}
	if err := t.machine.use(fs); err != nil {
		return err
	}
	t.o.Threads = t.machine.threads
	env := training.Env{Observer: &watcher{t: t}, Machine: machine.This(training.Bytes(t.memory))}
	if t.in != nil {
		env.Open = t.in.open
	}
	job, err := t.job(env)
	if errors.Is(err, training.ErrFinished) {
		if !t.output.quiet {
			fmt.Fprintf(cmd.ErrOrStderr(), "halfspace: %s: finished: nothing to do (to learn "+
				"other examples, too: -i %s)\n", t.o.Model, t.o.Model)
		}
		return nil
	}
	if err != nil {
		return t.explain(err)
	}
	ctx := cmd.Context()
	if t.dry {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer cancel(nil)
		env.Observer.(*watcher).planned = func() {
			time.AfterFunc(drySeconds*time.Second, func() { cancel(errDry) })
		}
	}
	if t.o.From != "" || t.o.Resume {
		if _, err := t.settings.unchanged(job.Learner(), job.Config()); err != nil {
			return err
		}
		t.shows(job.Options())
	}
	return t.profiles.during(func() error { return t.learn(ctx, job) })
}

// learn runs the job and prints its result.
func (t *trainer) learn(ctx context.Context, job *training.Job) error {
	t.output.note(t.cmd, "%s on %s (%s), %s, %s", job.Learner(), vecmath.Active(), vecmath.Why(),
		Plural(t.machine.threads, "thread"), job.Precision())
	result, err := t.learns(ctx)
	if errors.Is(err, training.ErrPaused) {
		if !t.output.quiet {
			fmt.Fprintf(t.cmd.ErrOrStderr(), "halfspace: %s: nothing came; %s\n", t.in.name,
				t.kept())
		}
		return nil
	}
	if result == nil {
		return t.explain(err)
	}
	if err := t.print(result); err != nil {
		return err
	}
	if err == nil || errors.Is(err, training.ErrStopped) && context.Cause(ctx) == errDry {
		return nil
	}
	return t.ended(job, result, err)
}

// drySeconds is how long a dry run learns.
const drySeconds = 1

// errDry ends a dry run.
var errDry = errors.New("a dry run has learned enough")

// dryly takes away what the run would write, for a dry run.
func (t *trainer) dryly() {
	t.o.Model, t.o.CheckpointEvery, t.o.Test, t.html = "", "", nil, ""
	t.o.Shard, t.trace = "", ""
}

// dryRow says in the summary of a dry run how far it came, and how long all would take.
func dryRow(rows *summaryRows, res *training.Result) {
	n, p := res.Counts.Presented, res.Plan
	said := fmt.Sprintf("%s learned in %s; nothing was written", Plural(int(n), "example"),
		res.Counts.Learn.Round(time.Millisecond))
	switch all := int64(p.Examples) * int64(p.Epochs); {
	case !res.Stopped:
		said += "; these are all"
	case all > 0:
		took := float64(res.Counts.Learn) / float64(max(1, n)) * float64(all)
		said += fmt.Sprintf("; all %d take about %v", all, time.Duration(took).Round(time.Second))
	}
	rows.add("dry run", "%s", said)
}

// isNew reports whether neither a model file nor the checkpoint before it is there.
func isNew(file string) bool {
	for _, name := range []string{file, model.Kept(file)} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// job makes the run: of a part, whose trace it writes, or of the whole.
func (t *trainer) job(env training.Env) (*training.Job, error) {
	fs := t.cmd.Flags()
	switch {
	case t.trace == "" && t.o.Shard != "":
		return nil, Usage("Name a file with --trace, which merge needs.",
			"%s without its trace can't be joined", Given(fs, "shard"))
	case t.trace != "" && t.o.Shard == "" && !t.o.Resume:
		return nil, Usage("Say which one with --shard, as 2/4.", "%s is written by a part",
			Given(fs, "trace"))
	case t.trace != "" && t.o.Model == "":
		return nil, Usage("Name a file with -m.", "%s: a part without its model can't be joined",
			Given(fs, "shard"))
	case t.trace == "":
		job, err := training.New(t.o, env)
		if err != nil {
			return nil, err
		}
		if t.o.Resume && job.Config().Traits().Part != nil {
			return nil, Usage("Name the trace that it writes with --trace.",
				"%s: its run is of a part, which can't be joined without its trace", t.o.Model)
		}
		t.learns = job.Run
		return job, nil
	}
	part, err := shard.New(t.o, env, t.trace)
	if err != nil {
		return nil, traceError(err)
	}
	t.learns = part.Run
	return part.Job, nil
}
