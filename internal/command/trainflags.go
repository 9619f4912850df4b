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
		Short: "Fit a learner on files or a stream, with progressive validation as it goes",
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
	choose(fs, &t.precision, "precision", "numbers of weights and examples: single or double",
		"f32", "f64")
	fs.IntVar(&t.epochs, "epochs", 0, fmt.Sprintf("passes over the examples; without: %d, each in "+
		"a fresh order, over csv files of fewer than %d rows, 1 over all else",
		training.FewEpochs, training.FewRows))
	fs.BoolVar(&o.UntilConverged, "until-converged", false, "pass until a whole pass makes no "+
		"update (ensembles: and no member makes a mistake on any example); exit code 6 if "+
		"--max-updates ends it before")
	fs.Int64Var(&t.maxUpdates, "max-updates", training.DefaultMaxUpdates, "with "+
		"--until-converged: give up (exit code 6) after so many updates, or 10^9 examples; "+
		"0 is no limit")
	fs.BoolVar(&o.ActiveSet, "active-set", false, "with --until-converged: pass over the "+
		"examples that still make updates before all are passed again")
	fs.BoolVar(&o.Halving, "halving", false, "with --until-converged: begin with delta 1 "+
		"and halve it down to --delta")
	fs.Float64Var(&o.SoftDelta, "soft-delta", 0, "with --until-converged: soft margin, by "+
		"a feature of this size of its own for each example")
	fs.Float64Var(&o.Rho, "rho", 0, "append a feature of this value to each example, "+
		"whose weight is the bias")
	fs.BoolVar(&o.Shuffle, "shuffle", false, "a fresh order for each epoch, drawn from --seed")
	fs.Uint64Var(&t.seed, "seed", 1, "seed of all random draws")
	choose(fs, &t.drift, "drift", "watch the errors on examples not learned yet, and find where "+
		"they rise", append([]string{"none"}, eval.DriftDetectors()...)...)
	choose(fs, &t.onDrift, "on-drift", "with --drift: say where it was found, or also have the "+
		"learner begin anew there, forget but for --drift-keep"+
		who(func(t learner.Traits) bool { return t.Forgets }), training.DriftPolicies()...)
	fs.Float64Var(&o.DriftKeep, "drift-keep", training.DefaultDriftKeep, "with --on-drift forget: "+
		"the share of weights, or of the precision of posteriors, that is kept")
	fs.StringArrayVar(&o.Test, "test", nil, "count the errors on this `FILE` afterwards, prepared "+
		"as the training set; may be given again")
	fs.BoolVar(&o.Proba, "proba", false, "report log-loss, Brier score and calibration error of "+
		"probabilities, each of an example not learned yet; takes time"+
		who(func(t learner.Traits) bool { return t.Proba }))
	fs.StringVar(&o.Calibrate, "calibrate", "", "find the probabilities that scores stand for, by "+
		"`METHOD`: platt, or temperature, of scores of examples not learned yet, and where "+
		"the whole data set is learned at once, of folds; the model keeps them, and --proba of "+
		"predict then works with any learner")
	fs.StringVar(&o.Threshold, "threshold", "", "find the score from which on the label is the "+
		"positive one, for `TARGET`: precision=0.9, recall=0.9, or cost=FP:FN, the least cost of "+
		"errors where a false positive costs FP and a false negative FN; of scores of examples "+
		"not learned yet; the model keeps it")
	t.metrics.flags(fs)
	fs.IntVar(&o.Window, "window", 0, "show metrics of the last `N` examples beside those of all")
	fs.Float64Var(&o.Fading, "fading", 0, "show metrics that fade beside those of all: each "+
		"example weighs `A` times what the next one does, as 0.999")
	fs.IntVar(&o.Delay, "delay", 0, "the label of an example comes after `N` more were "+
		"predicted; they wait in memory, and what is learned is the same")
	fs.StringVar(&o.IDCol, "id-col", "", "labels may come in later rows: "+format.Help("IDCol"))
	fs.IntVar(&o.WaitMax, "wait-max", training.DefaultWaitMax, "with --id-col: at most `N` rows "+
		"wait for their labels; the oldest make room")
	t.waitBytes = training.DefaultWaitBytes
	fs.Var(&t.waitBytes, "wait-bytes", "with --id-col: memory for the rows that wait")
	fs.BoolVar(&o.MarginReport, "margin-report", false, "report the geometric margin over the "+
		"training set, even if it must be read again for that")
	fs.BoolVar(&o.MarginSVM, "margin-svm", false, "with --margin-report: run the svm too (hard "+
		"margin, no bias, on the examples as prepared) and report the share of its margin that "+
		"was reached")
	fs.BoolVar(&o.Latency, "latency", false, "learn the examples one by one and report the "+
		"median, 99th percentile and longest time (always for learners that keep examples)")
	fs.StringVar(&o.Positive, "positive", "", "the `LABEL` that is +1; all others are -1")
	fs.StringSliceVar(&o.Classes, "classes", nil, "the `LABELS` of all classes, as a,b,c; others "+
		"are errors (without: any labels, a class each where there are more than two)")
	fs.BoolVar(&o.Pairs, "pairs", false, "of more than two classes learn each two apart, and vote "+
		"(without: each against the rest)")
	fs.StringVar(&o.ClassWeight, "class-weight", "", "`FACTORS` of the weights of examples by "+
		"label: a=2,b=0.5 (1 for others), or balanced: all labels weigh the same"+
		who(func(t learner.Traits) bool { return t.Weights }))
	choose(fs, &t.bias, "bias", "append: a feature of 1, added before normalising; auto: "+
		"append with csv", "auto", "none", "append")
	fs.IntVar(&o.HashBits, "hash-bits", 0, "hash names of features into so many bits (csv, "+
		"ndjson, vw); 0 keeps a dictionary of them")
	fs.StringSliceVar(&o.Interactions, "interactions", nil, format.Help("Interactions"))
	columnFlags(fs, &o.Data)
	choose(fs, &t.missing, "missing", format.Help("Missing"), "", "error", "mean", "indicator")
	choose(fs, &t.normalize, "normalize", "unit: each example to length 1; max: all by the "+
		"longest; auto: unit with csv", "auto", "none", "unit", "max")
	t.read.flags(fs)
	t.read.anyFormatFlag(fs)
	fs.StringVarP(&o.Model, "model", "m", "", "write the model to `FILE`")
	fs.BoolVar(&o.PredictOnly, "predict-only", false, "write a model that predicts and can't be "+
		"learned on, without what learning on needs")
	fs.StringVarP(&o.From, "from", "i", "", "go on from the model in `FILE`, with its settings")
	fs.BoolVar(&o.Resume, "resume", false, "go on where the run that wrote the model of -m was "+
		"stopped or killed, with its settings and over the same files: the end is the one of a "+
		"run that wasn't; without that model, begin")
	fs.StringVar(&o.CheckpointEvery, "checkpoint-every", "", "write the model each `N` examples, "+
		"or each 60s; the one before it is kept as FILE.1")
	fs.StringVar(&t.replay, "replay", "", "rebuild the model of serve --log from the log `FILE`, "+
		"to the byte: of the model that the log begins with, or of -i")
	Names(fs, UseRead, "replay")
	fs.Uint64Var(&t.until, "until", 0, "with --replay: stop at the model that has learned `N` "+
		"examples; 0 is at the end")
	fs.StringVar(&o.Shard, "shard", "", "learn part `K/N` of the members, as 2/4; parts that saw "+
		"the same examples are joined by merge to what one machine learns")
	choose(fs, &t.shardBy, "shard-by", "with --shard: cut the members of an ensemble, or the "+
		"classes, each against the rest", training.ShardMembers, training.ShardClasses)
	fs.StringVar(&o.Rows, "rows", "", "learn part `K/N` of the rows, as 2/4: the K-th of N pieces "+
		"of as many bytes; merge makes one model of all parts")
	fs.StringVar(&t.trace, "trace", "", "with --shard: write what merge needs of each example to "+
		"`FILE`, some bits of each")
	Names(fs, UseReplaced, "trace")
	fs.Var(&t.memory, "mem-budget", "keep within so much memory, as 512MiB or 2G, all counted; "+
		"see: halfspace help memory")
	fs.BoolVar(&t.dry, "dry-run", false, "learn for a second, say what was found, what is meant "+
		"and how long all would take, and write nothing")
	t.machine.flags(fs)
	t.output.flags(fs)
	choose(fs, &t.output.progress, "progress", "see: halfspace help progress", "auto", "bar",
		"lines", "json", "none")
	fs.StringVar(&t.html, "html", "", "write a report of the run to `FILE`, one page: learning "+
		"curve, ROC, calibration, confusion, settings")
	Names(fs, UseReplaced, "html")
	Names(fs, UseModel, "model")
	Names(fs, UseRead, "from")
	Names(fs, UseExamples, "test")
	t.profiles.flags(fs)
	t.settings = addLearnerFlags(fs)
	t.settings.share("scale", &t.scale, "the examples: std by the standard deviation of each "+
		"feature, columns to a mean of 0; maxabs by its largest absolute value; as far as seen, "+
		"before normalising; auto, where it isn't given: std with csv", "auto", "none", "std",
		"maxabs")
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
