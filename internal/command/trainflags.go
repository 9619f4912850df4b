package command

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// trainCmd makes the command whose flags fill in t.
func trainCmd(t *trainer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "train [flags] FILE...",
		Short: "Train a learner on files or a stream, with progressive validation",
		Long:  helpText("train", "{LEARNERS}", learnerHelp()),
		Example: "  halfspace train -a obpm --bias append --normalize unit --epochs 3 --shuffle " +
			`--test a9a.t a9a
  halfspace train -a perceptron --until-converged --max-updates 1000000 -m sonar.model sonar.csv
  zcat stream.gz | halfspace train -a pa --C 0.1 -m stream.model --checkpoint-every 60s -
  halfspace train -i stream.model -m stream.model more.svm
  halfspace train -a obpm --epochs 3 --shuffle --checkpoint-every 10000 -m a9a.model a9a
  halfspace train --resume -m a9a.model a9a`,
		Annotations: args(UseExamples),
		RunE:        func(cmd *cobra.Command, args []string) error { return t.run(cmd, args) },
	}
	fs, o := cmd.Flags(), &t.o
	fs.SortFlags = false
	fs.StringVarP(&t.learner, "learner", "a", learner.Default(), "the `NAME` of the learner")
	choose(fs, &t.precision, "precision", "single or double precision of weights and examples",
		"f32", "f64")
	fs.IntVar(&t.epochs, "epochs", 0, fmt.Sprintf("passes over the examples (0: 1, or %d "+
		"shuffled ones for csv files with fewer than %d rows)",
		training.FewEpochs, training.FewRows))
	fs.BoolVar(&o.UntilConverged, "until-converged", false, "repeat epochs until one makes no "+
		"update (ensembles: and every member classifies every example); exit code 6 if "+
		"--max-updates is reached first")
	fs.Int64Var(&t.maxUpdates, "max-updates", training.DefaultMaxUpdates, "with "+
		"--until-converged: stop (exit code 6) after this many updates, or 10^9 examples; "+
		"0: no limit")
	fs.BoolVar(&o.ActiveSet, "active-set", false, "with --until-converged: repeat "+
		"the examples that still cause updates before all are repeated")
	fs.BoolVar(&o.Halving, "halving", false, "with --until-converged: start with delta 1 "+
		"and halve it down to --delta")
	fs.Float64Var(&o.SoftDelta, "soft-delta", 0, "with --until-converged: a soft margin; "+
		"each example gets a feature of its own with this value")
	fs.Float64Var(&o.Rho, "rho", 0, "append a feature with this value to each example; "+
		"its weight is the bias")
	fs.BoolVar(&o.Shuffle, "shuffle", false, "shuffle the examples for each epoch, by --seed")
	fs.Uint64Var(&t.seed, "seed", 1, "seed of all random samples")
	choose(fs, &t.drift, "drift", "detect where the progressive error rises",
		append([]string{"none"}, eval.DriftDetectors()...)...)
	choose(fs, &t.onDrift, "on-drift", "with --drift: report it, restart the learner, or keep "+
		"only --drift-keep of what it learned"+
		who(func(t learner.Traits) bool { return t.Forgets }), training.DriftPolicies()...)
	fs.Float64Var(&o.DriftKeep, "drift-keep", training.DefaultDriftKeep, "with --on-drift forget: "+
		"the fraction of the weights, or of the posterior precision, to keep")
	fs.StringArrayVar(&o.Test, "test", nil, "measure errors on this `FILE` after training; "+
		"repeatable")
	fs.BoolVar(&o.Proba, "proba", false, "report log-loss, Brier score and calibration error of "+
		"progressive probabilities; takes time"+
		who(func(t learner.Traits) bool { return t.Proba }))
	fs.StringVar(&o.Calibrate, "calibrate", "", "fit probabilities to progressive scores "+
		"(batch learners: folds) by `METHOD`: platt or temperature; predict --proba then works "+
		"with any learner")
	fs.StringVar(&o.Threshold, "threshold", "", "choose the decision threshold from progressive "+
		"scores for `TARGET`: precision=0.9, recall=0.9, or cost=FP:FN, the lowest cost of false "+
		"positives and false negatives")
	t.metrics.flags(fs)
	fs.IntVar(&o.Window, "window", 0, "also show metrics of the last `N` examples")
	fs.Float64Var(&o.Fading, "fading", 0, "also show metrics in which an example weighs `A` times "+
		"as much as the next one, such as 0.999")
	fs.IntVar(&o.Delay, "delay", 0, "the label of an example arrives after `N` more "+
		"predictions; the model stays the same")
	fs.StringVar(&o.IDCol, "id-col", "", "labels may arrive in later rows: "+format.Help("IDCol"))
	fs.IntVar(&o.WaitMax, "wait-max", training.DefaultWaitMax, "with --id-col: at most `N` rows "+
		"are pending; the oldest are dropped")
	t.waitBytes = training.DefaultWaitBytes
	fs.Var(&t.waitBytes, "wait-bytes", "with --id-col: memory for pending rows")
	fs.BoolVar(&o.MarginReport, "margin-report", false, "report the geometric margin over the "+
		"training set, reading it again if needed")
	fs.BoolVar(&o.MarginSVM, "margin-svm", false, "with --margin-report: also run a hard-margin "+
		"svm without bias, and report the fraction of its margin that was reached")
	fs.BoolVar(&o.Latency, "latency", false, "learn examples one at a time and report the "+
		"median, 99th percentile and maximum time (always for kernel learners on streams)")
	fs.StringVar(&o.Positive, "positive", "", "the positive `LABEL`; all others become -1")
	fs.StringSliceVar(&o.Classes, "classes", nil, "all class `LABELS`, as a,b,c; others are "+
		"errors (default: any labels)")
	fs.BoolVar(&o.Pairs, "pairs", false, "one-vs-one for more than two classes "+
		"(default: one-vs-rest)")
	fs.StringVar(&o.ClassWeight, "class-weight", "", "weight `FACTORS` by label: a=2,b=0.5 "+
		"(others 1), or balanced: equal total weights"+
		who(func(t learner.Traits) bool { return t.Weights }))
	choose(fs, &t.bias, "bias", "append: add a feature of value 1 before normalizing; "+
		"auto: append for csv", "auto", "none", "append")
	fs.IntVar(&o.HashBits, "hash-bits", 0, "hash feature names into this many bits (csv, "+
		"ndjson, vw); 0: keep a dictionary")
	fs.StringSliceVar(&o.Interactions, "interactions", nil, format.Help("Interactions"))
	columnFlags(fs, &o.Data)
	choose(fs, &t.missing, "missing", format.Help("Missing"), "", "error", "mean", "indicator")
	choose(fs, &t.normalize, "normalize", "unit: divide each example by its norm; max: by the "+
		"maximum norm; auto: unit for csv", "auto", "none", "unit", "max")
	t.read.flags(fs)
	t.read.anyFormatFlag(fs)
	fs.StringVarP(&o.Model, "model", "m", "", "write the model to `FILE`")
	fs.BoolVar(&o.PredictOnly, "predict-only", false, "write a smaller model that predicts "+
		"but cannot be trained further")
	fs.StringVarP(&o.From, "from", "i", "", "continue training the model in `FILE`, with "+
		"its settings")
	fs.BoolVar(&o.Resume, "resume", false, "continue the interrupted run that wrote the model "+
		"of -m, with its settings and files; the result equals that of an uninterrupted run; "+
		"without that model, start")
	fs.StringVar(&o.CheckpointEvery, "checkpoint-every", "", "save the model every `N` examples, "+
		"or every 60s; the previous one is kept as FILE.1")
	fs.StringVar(&t.replay, "replay", "", "rebuild the model of serve --log from the log `FILE`, "+
		"byte for byte, from its first model or that of -i")
	Names(fs, UseRead, "replay")
	fs.Uint64Var(&t.until, "until", 0, "with --replay: stop after `N` examples; 0: at the "+
		"end")
	fs.StringVar(&o.Shard, "shard", "", "learn part `K/N` of the members, as 2/4; merge joins "+
		"the parts into the model of one machine")
	choose(fs, &t.shardBy, "shard-by", "with --shard: divide the members of an ensemble, or "+
		"the classes", training.ShardMembers, training.ShardClasses)
	fs.StringVar(&o.Rows, "rows", "", "learn part `K/N` of the rows, as 2/4: the K-th of N equal "+
		"byte ranges; merge joins the parts")
	fs.StringVar(&t.trace, "trace", "", "with --shard: write the trace that merge needs to "+
		"`FILE`, a few bits per example")
	Names(fs, UseReplaced, "trace")
	fs.Var(&t.memory, "mem-budget", "memory limit of the process, such as 512MiB or 2G; "+
		"see halfspace help memory")
	fs.BoolVar(&t.dry, "dry-run", false, "learn for a second, then report data, settings, memory "+
		"and the estimated time; write nothing")
	t.machine.flags(fs)
	t.output.flags(fs)
	choose(fs, &t.output.progress, "progress", "see halfspace help progress", "auto", "bar",
		"lines", "json", "none")
	fs.StringVar(&t.html, "html", "", "write an HTML report to `FILE`: learning "+
		"curve, ROC, calibration, confusion matrix, settings")
	Names(fs, UseReplaced, "html")
	Names(fs, UseModel, "model")
	Names(fs, UseRead, "from")
	Names(fs, UseExamples, "test")
	t.profiles.flags(fs)
	t.settings = addLearnerFlags(fs)
	t.settings.share("scale", &t.scale, "std: standardize features seen so far; maxabs: divide "+
		"them by the largest absolute value; before normalizing; auto (default): std for csv",
		"auto", "none", "std", "maxabs")
	a := fs.Lookup("learner")
	a.Value = learnerFlag{a.Value}
	rare(fs, "drift-keep", "fading", "delay", "id-col", "wait-max", "wait-bytes", "margin-svm",
		"latency", "hash-bits", "interactions", "number-col", "index-base", "header", "max-line",
		"any-format", "predict-only", "replay", "until", "shard-by", "trace", "impl")
	for _, f := range ofTraits {
		rare(fs, f.flag)
		fs.Lookup(f.flag).Usage += who(f.of)
	}
	return cmd
}

// ofTraits are flags that only learners with a trait have: the help of these shows them.
var ofTraits = []struct {
	flag string
	of   func(learner.Traits) bool
}{
	{"active-set", func(t learner.Traits) bool { return t.ActiveSet }},
	{"halving", func(t learner.Traits) bool { return t.Halving }},
	{"soft-delta", func(t learner.Traits) bool { return t.SoftDelta }},
	{"rho", func(t learner.Traits) bool { return t.Origin }},
	{"shard", func(t learner.Traits) bool { return t.Splits > 0 }},
	{"rows", func(t learner.Traits) bool { return t.Merges }},
}

// traitRows lists the flags that learners of some traits have.
func traitRows(fs *pflag.FlagSet, has learner.Traits) (rows []flagRow) {
	for _, f := range ofTraits {
		if flag := fs.Lookup(f.flag); flag != nil && f.of(has) {
			rows = append(rows, rowOf(flag))
		}
	}
	return rows
}
