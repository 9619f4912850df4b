package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/machine"
	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
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
