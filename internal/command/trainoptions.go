package command

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/training"
)

// shows takes what reports go by of the run that is gone on with.
func (t *trainer) shows(o training.Options) {
	t.o.Window, t.o.Fading, t.o.Drift, t.o.SoftDelta = o.Window, o.Fading, o.Drift, o.SoftDelta
}

// options fills in what flags don't fill in themselves. What was not given stays open where a model
// that is gone on from has it.
func (t *trainer) options(fs *pflag.FlagSet, args []string) (err error) {
	o := &t.o
	if t.streams {
		o.Files, t.in, err = streamOr(t.cmd, args)
	} else {
		o.Files, err = t.away.inputs(args)
	}
	if err != nil {
		return err
	}
	if t.output.quiet && fs.Changed("progress") && t.output.progress.value != "none" {
		return Usage("Choose one of them.", "%s and %s exclude each other", Given(fs, "quiet"),
			Given(fs, "progress"))
	}
	if err := t.zeros(fs); err != nil {
		return err
	}
	own := o.Data // by flags of this verb alone
	o.Data = t.read.data(fs)
	o.Scale, o.Missing = t.scale, t.missing.value
	o.TextCols, o.NumberCols, o.IgnoreCols = own.TextCols, own.NumberCols, own.IgnoreCols
	o.HashBits, o.Interactions = own.HashBits, own.Interactions
	o.Positive, o.Classes, o.MemBudget = own.Positive, own.Classes, training.Bytes(t.memory)
	anew := o.From == "" && !o.Resume
	if anew || fs.Changed("learner") {
		o.Learner = t.learner
	}
	if anew || fs.Changed("precision") {
		o.Precision = t.precision.value
	}
	if anew || fs.Changed("seed") {
		o.Seed = &t.seed
	}
	for _, c := range []struct {
		flag string
		to   *string
		of   *choice
	}{{"shard-by", &o.ShardBy, &t.shardBy}, {"bias", &o.Bias, &t.bias},
		{"normalize", &o.Normalize, &t.normalize}, {"on-drift", &o.OnDrift, &t.onDrift}} {
		if fs.Changed(c.flag) {
			*c.to = c.of.value
		}
	}
	if t.drift.value != "none" {
		o.Drift = t.drift.value
	}
	if !fs.Changed("drift-keep") {
		o.DriftKeep = 0
	}
	if !fs.Changed("wait-max") {
		o.WaitMax = 0
	}
	if fs.Changed("wait-bytes") {
		o.WaitBytes = training.Bytes(t.waitBytes)
	}
	t.passes(fs)
	if fs.Changed("max-updates") {
		o.MaxUpdates = &t.maxUpdates
	}
	if err := findTests(o.Test); err != nil {
		return err
	}
	if err := t.metrics.options(fs, o, t.html); err != nil {
		return err
	}
	if !anew {
		o.Proba = o.Proba || t.metrics.asksProba()
		return nil
	}
	if o.Learner, o.Config, err = t.settings.config(o.Learner); err != nil {
		return err
	}
	o.Literal = true
	if err := t.metrics.proba(fs, o); err != nil {
		return err
	}
	o.KeepSizes = slices.ContainsFunc(o.Config.Traits().Sizes, fs.Changed)
	return nil
}

// passes fills in what the flags say of how often the examples are gone through.
func (t *trainer) passes(fs *pflag.FlagSet) {
	switch o := &t.o; {
	case fs.Changed("epochs"):
		o.Epochs = t.epochs
	case fs.Changed("shuffle") && !o.Shuffle && o.From == "" && !o.Resume && !o.UntilConverged:
		o.Epochs = 1 // the order of the data: not left to them
	}
}

// findTests finds the files of --test.
func findTests(files []string) (err error) {
	for i, name := range files {
		if name != "-" {
			if files[i], err = findInput(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// zeros refuses the value 0 of flags for which Options take it as none given.
func (t *trainer) zeros(fs *pflag.FlagSet) error {
	switch {
	case fs.Changed("epochs") && t.epochs == 0:
		return Usage("1 is one pass over the examples.", "%s 0: not a number of epochs",
			Given(fs, "epochs"))
	case fs.Changed("window") && t.o.Window == 0:
		return Usage("It is a number of examples, as 1000.", "%s 0: no examples",
			Given(fs, "window"))
	case fs.Changed("fading") && t.o.Fading == 0:
		return Usage("0.999 is about the last 1000 examples.", "%s 0: nothing would be left",
			Given(fs, "fading"))
	case fs.Changed("drift-keep") && t.o.DriftKeep == 0:
		return Usage("To forget all: --on-drift reset.", "%s 0: nothing would be left",
			Given(fs, "drift-keep"))
	case fs.Changed("wait-max") && t.o.WaitMax == 0, fs.Changed("wait-bytes") && t.waitBytes == 0:
		return Usage("A row that can't wait is never learned.", "%s or %s 0: no room",
			Given(fs, "wait-max"), Given(fs, "wait-bytes"))
	case fs.Changed("rho") && t.o.Rho == 0:
		return Usage("It is the value of a feature, as 1.", "%s 0: not a positive number",
			Given(fs, "rho"))
	}
	return nil
}
