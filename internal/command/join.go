package command

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/machine"
	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// joiner makes one ensemble of parts that train --shard has learned.
type joiner struct {
	traces, data []string
	memory       byteSize
	machine      machineFlags
}

func (j *joiner) flags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&j.traces, "trace", nil, "the models are parts (train --shard): the `FILE` "+
		"of a trace, one of each part, in any order")
	fs.StringArrayVar(&j.data, "data", nil, "with --trace: the `FILE` of the examples that all "+
		"parts have learned; may be given again, in their order")
	fs.Var(&j.memory, "mem-budget", "with --trace: keep within so much memory, as 512MiB or 2G")
	j.machine.flags(fs)
	Names(fs, UseRead, "trace")
	Names(fs, UseExamples, "data")
}

// join goes through the examples once more, with what the parts did, and writes the whole.
func (j *joiner) join(cmd *cobra.Command, to string, models []string) (*shard.Report, error) {
	fs := cmd.Flags()
	switch {
	case len(j.data) == 0:
		return nil, Usage("Name the files that the parts have learned.", "%s without --data",
			Given(fs, "trace"))
	case len(models) != len(j.traces):
		return nil, Usage("Give one --trace for each part.", "%s and %s", Plural(len(models),
			"model"), Plural(len(j.traces), "trace"))
	}
	if err := findTests(j.data); err != nil {
		return nil, err
	}
	if err := j.machine.use(fs); err != nil {
		return nil, err
	}
	res, err := shard.Join(cmd.Context(), shard.Parts{Models: models, Traces: j.traces,
		Files: j.data, Model: to, Threads: j.machine.threads, MemBudget: training.Bytes(j.memory)},
		training.Env{Machine: machine.This(training.Bytes(j.memory))})
	if err != nil {
		return nil, joinError(to, err)
	}
	return shard.JoinedReport(res, models), nil
}

// joinError gives an error of shard.Join, of what was to be written there, its exit code and next
// step.
func joinError(to string, err error) error {
	switch e := (*training.Error)(nil); {
	case errors.As(err, &e) && e.Kind == training.ErrSave:
		return saveError(to, "nothing was saved", e.Err)
	case slices.ContainsFunc([]error{model.ErrForeign, model.ErrTruncated, model.ErrDamaged,
		model.ErrNewer, model.ErrNotFinite}, func(of error) bool { return errors.Is(err, of) }):
		return modelError("", err)
	case errors.Is(err, dataset.ErrBadRow):
		return &fail{CodeData, err, "Nothing was written. Name with --data what all parts have " +
			"learned, in its order."}
	}
	told := traceError(err)
	if f := (*fail)(nil); errors.As(told, &f) {
		return told
	}
	return dataError(err, "nothing was written")
}

// traceError gives an error of package shard its exit code and next step.
func traceError(err error) error {
	next := ""
	switch e := (*training.Error)(nil); {
	case errors.Is(err, training.ErrStopped):
		return &fail{CodeStopped, ErrStopped, "Nothing was saved."}
	case errors.As(err, &e) && e.Kind != training.ErrOption:
		next = "Nothing was saved."
	case errors.Is(err, learner.ErrParts):
		next = "Name each part once, all of one train --shard 1/N to N/N."
	case errors.Is(err, shard.ErrForeign):
		next = "Take the models and traces of one run: the same settings, seed, options and " +
			"examples."
	case errors.Is(err, shard.ErrTraceFile):
		next = "Train that part again; or if it was stopped: train --resume with its --trace."
	case errors.Is(err, learner.ErrTrace):
		next = "Nothing was written. Name with --data what all parts have learned, in its order."
	case errors.Is(err, fs.ErrNotExist):
		next = "Check the name; train --shard writes a trace."
	default:
		return err
	}
	text := strings.TrimPrefix(err.Error(), "shard: ")
	return &fail{CodeModel, &explained{text, err}, next}
}
