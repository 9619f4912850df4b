package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/dataset/format"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/model"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// trainReport is what train prints with --json.
type trainReport struct {
	Schema           string          `json:"schema"`
	Learner          string          `json:"learner"`
	Config           learners.Config `json:"config"`
	Precision        string          `json:"precision"`
	Examples         int64           `json:"examples"`
	Presented        int64           `json:"presented"`
	Epochs           int             `json:"epochs"`
	Updates          int64           `json:"updates"`
	Mistakes         int64           `json:"mistakes"`
	ProgressiveError *float64        `json:"progressive_error"` // null where nothing was predicted
	Proba            *probaReport    `json:"proba"`             // with --proba, of the first epoch; null else
	Support          *int64          `json:"support"`           // kept examples; null for learners that keep none
	Margin           *float64        `json:"margin"`
	Converged        bool            `json:"converged"`
	Mistaken         *int            `json:"mistaken"` // learners with members, after a pass without an update: examples that a member or all together get wrong still; null else
	Fit              *fitReport      `json:"fit"`      // of --until-converged on the whole data set; null else
	Margins          *marginReport   `json:"margins"`
	Stopped          bool            `json:"stopped"`
	Format           string          `json:"format"`
	Features         int             `json:"features"`
	BadRows          int             `json:"bad_rows"`
	Bytes            int64           `json:"bytes"`
	Impl             string          `json:"impl"`
	Threads          int             `json:"threads"`
	Seed             uint64          `json:"seed"`
	Labels           model.Labels    `json:"labels"`
	Seconds          trainSeconds    `json:"seconds"`
	NsPerExample     float64         `json:"ns_per_example"`
	Latency          *latencyReport  `json:"latency"` // of learning one example; null unless they were learned one by one
	Memory           *memoryReport   `json:"memory"`  // of --mem-budget; null without it
	Test             *testReport     `json:"test"`
	Model            *string         `json:"model"`
	ModelSHA256      *string         `json:"model_sha256"`

	Posterior *learners.PosteriorReport `json:"posterior"`  // null for learners without one
	NotFinite int64                     `json:"not_finite"` // scores of all epochs that are NaN or infinite
	Warnings  warnings                  `json:"warnings"`   // in which the result may not be what it seems
}

// fitReport is what a run on a whole data set tells. Margins are in the units of the examples as prepared.
type fitReport struct {
	Updates    int64    `json:"updates"`
	Counter    int64    `json:"counter"` // t or k of the papers: all the learner's updates + 1
	Violators  int      `json:"violators"`
	Margin     *float64 `json:"margin"` // least margin, with the coordinates of the slacks where there are any
	Bound      *float64 `json:"bound"`  // no hypothesis has a larger margin; null where the learner doesn't know
	ScoreSpace bool     `json:"score_space"`
	Gamma      *float64 `json:"gamma"`  // soft margin by --soft-delta: the margin of the weights, beyond which deviations count
	Excess     *float64 `json:"excess"` // D'/D - 1
	Gap        *float64 `json:"gap"`    // svm: duality gap, relative
}

// marginReport is what --margin-report adds. All are least margins over the training set as prepared.
type marginReport struct {
	Geometric   float64  `json:"geometric"`   // over |w|_2, without the weight of an appended feature where there is one
	Directional float64  `json:"directional"` // over |w|_2, that weight included
	P           *float64 `json:"p"`           // the learner's p, where it has one; else 2
	PNorm       float64  `json:"p_norm"`      // over |w|_q, 1/p + 1/q = 1
	Max         *float64 `json:"max"`         // directional margin of the svm, where --margin-svm ran it
	OfMax       *float64 `json:"of_max"`      // Directional/Max
}

type trainSeconds struct {
	Read  float64 `json:"read"`
	Learn float64 `json:"learn"`
	Total float64 `json:"total"`
}

type testReport struct {
	Examples int64        `json:"examples"`
	Errors   int64        `json:"errors"`
	Error    float64      `json:"error"`
	Proba    *probaReport `json:"proba"` // with --proba; null else

	NotFinite int64 `json:"not_finite"`        // scores that are NaN or infinite
	Unknown   int64 `json:"unknown_non_zeros"` // of features that training never had
}

// defaultMaxUpdates ends runs that would never converge: some seconds in score space, minutes on the weights.
const defaultMaxUpdates = 100_000_000

// trainer is one run of train.
type trainer struct {
	learner   string
	precision choice
	positive  string
	bias      choice
	normalize choice
	test      []string

	epochs         int
	untilConverged bool
	maxUpdates     int64
	softDelta      float64
	rho            float64
	activeSet      bool
	halving        bool
	marginSVM      bool
	shuffle        bool
	seed           uint64
	marginReport   bool
	latency        bool
	proba          bool

	model      string
	from       string
	checkpoint string

	read     readFlags
	memory   byteSize
	machine  machineFlags
	output   outputFlags
	profiles profiles
	settings *learnerFlags

	cmd        *cobra.Command
	started    time.Time
	files      []string
	entry      learners.Entry
	config     learners.Config
	before     *model.Model // of -i
	wasCut     bool         // the run that wrote it was stopped before it had converged
	opts       dataset.Options
	pool       *engine.Pool
	every      int64         // checkpoint marks
	after      time.Duration //
	marginGram int64         // --mem-budget: for kernel values of --margin-svm; 0: their default
	testInfo   dataset.Info  // of a test set in memory
	tested     *tested       // nil: no test, or not yet
	saved      int64         // presented examples after which the model was last written; 0: not written
	large      bool          // so much memory is planned that what isn't needed any more must go early
	report     trainReport
}

func newTrainCmd() *cobra.Command {
	t := &trainer{}
	cmd := &cobra.Command{
		Use:   "train [flags] FILE...",
		Short: "Fit a learner on files or a stream, with progressive validation as it goes",
		Long: `Fit a learner on files or a stream.

Each example is predicted before it is learned, so the error that is shown while it goes is one on
examples not yet seen. One epoch in the order of the data reads a stream of any length; several
epochs, --shuffle, --until-converged and --normalize max read all examples into memory first.

Learners, each with settings of its own (halfspace train -a NAME --help):
` + learnerHelp(),
		Example: `  halfspace train -a obpm --bias append --normalize unit --epochs 3 --shuffle --test a9a.t a9a
  halfspace train -a perceptron --until-converged --max-updates 1000000 -m sonar.model sonar.csv
  zcat stream.gz | halfspace train -a pa --C 0.1 -m stream.model --checkpoint-every 60s -
  halfspace train -i stream.model -m stream.model more.svm`,
		Annotations: args(useExamples),
		RunE:        func(cmd *cobra.Command, args []string) error { return t.run(cmd, args) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&t.learner, "learner", "a", "obpm", "the `NAME` of the learner")
	choose(fs, &t.precision, "precision", "of weights and examples", "f32", "f64")
	fs.IntVar(&t.epochs, "epochs", 1, "passes over the examples")
	fs.BoolVar(&t.untilConverged, "until-converged", false, "pass until a whole pass makes no "+
		"update (obpm: and no member makes a mistake on any example): exit code 6 if "+
		"--max-updates ends it before")
	fs.Int64Var(&t.maxUpdates, "max-updates", defaultMaxUpdates, "with --until-converged: give up (exit code 6) after so many updates; 0 is no limit. svm counts its steps and has its own limit")
	fs.BoolVar(&t.activeSet, "active-set", false, "romma, micra and pumma, with --until-converged: pass over the examples that still make updates before all are passed again")
	fs.BoolVar(&t.halving, "halving", false, "pumma and romma --aggressive, with --until-converged: begin with delta 1 and halve it down to --delta")
	fs.Float64Var(&t.softDelta, "soft-delta", 0, "perceptron, alma, romma, micra and cramma, with --until-converged: soft margin, an own feature of this size for each example")
	fs.Float64Var(&t.rho, "rho", 0, "perceptron, alma, romma, micra and cramma: append a feature of this value to each example; its weight is the bias")
	fs.BoolVar(&t.shuffle, "shuffle", false, "a fresh order for each epoch, drawn from --seed")
	fs.Uint64Var(&t.seed, "seed", 1, "of all draws")
	fs.StringArrayVar(&t.test, "test", nil, "count the errors on this `FILE` afterwards, prepared as the training set; may be given again")
	fs.BoolVar(&t.proba, "proba", false, "report log-loss, Brier score and calibration error of probabilities too, for learners that have them: each example is asked for before it is learned, which takes time")
	fs.BoolVar(&t.marginReport, "margin-report", false, "report the geometric margin over the training set, even if it must be read again for that")
	fs.BoolVar(&t.marginSVM, "margin-svm", false, "with --margin-report: run the svm too (hard margin, no bias, on the examples as prepared) and report the share of its margin that was reached")
	fs.BoolVar(&t.latency, "latency", false, "learn the examples one by one and report the median, 99th percentile and longest time (always for learners that keep examples)")
	fs.StringVar(&t.positive, "positive", "", "the `LABEL` that is +1; all others are -1")
	choose(fs, &t.bias, "bias", "append: a feature of 1, added before normalising", "none", "append")
	choose(fs, &t.normalize, "normalize", "unit: each example to length 1; max: all by the longest", "none", "unit", "max")
	t.read.flags(fs)
	fs.StringVarP(&t.model, "model", "m", "", "write the model to `FILE`")
	fs.StringVarP(&t.from, "from", "i", "", "go on from the model in `FILE`, with its settings")
	fs.StringVar(&t.checkpoint, "checkpoint-every", "", "write the model each `N` examples, or each 60s")
	fs.Var(&t.memory, "mem-budget", "keep within so much memory, as 512MiB or 2G, all counted; "+
		"see: halfspace help memory")
	t.machine.flags(fs)
	t.output.flags(fs)
	choose(fs, &t.output.progress, "progress", "see: halfspace help progress", "auto", "bar", "lines", "json", "none")
	names(fs, useModel, "model")
	names(fs, useRead, "from")
	names(fs, useExamples, "test")
	t.profiles.flags(fs)
	t.settings = addLearnerFlags(fs)
	a := fs.Lookup("learner")
	a.Value = learnerFlag{a.Value}
	return cmd
}

// run checks everything that can be checked before data are read, then trains in the model's or the flag's precision.
func (t *trainer) run(cmd *cobra.Command, args []string) (err error) {
	t.cmd, t.started = cmd, time.Now()
	fs := cmd.Flags()
	if t.files, err = inputs(args); err != nil {
		return err
	}
	if err := t.check(fs); err != nil {
		return err
	}
	if t.pool, err = t.machine.start(fs); err != nil {
		return err
	}
	defer t.pool.Close()
	t.report.Warnings = warnings{}
	t.opts = t.read.options(t.machine.threads, cmd.ErrOrStderr(), &t.report.Warnings)
	t.opts.Positive, t.opts.Bias, t.opts.Normalize = t.positive, t.bias.value, t.normalize.value
	if t.rho > 0 {
		t.opts.Bias, t.opts.BiasValue = "append", t.rho
	}
	if t.from == "" {
		if t.entry, err = lookupLearner(given(fs, "learner"), t.learner); err != nil {
			return err
		}
		t.config = t.entry.Config()
		if fs.Changed("rff") && t.learner != "rff" {
			if err := t.onRandomFeatures(fs); err != nil {
				return err
			}
		}
		if err := t.settings.apply(t.learner, t.config); err != nil {
			return err
		}
	} else if err := t.goOn(fs); err != nil {
		return err
	}
	if err := t.config.Validate(); err != nil {
		return settingError(err)
	}
	if err := t.checkWhole(fs); err != nil {
		return err
	}
	stop, err := t.profiles.start(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer func() {
		if e := stop(); e != nil && err == nil {
			err = e
		}
	}()
	t.output.note(cmd, "%s on %s (%s), %s, %s", t.learner, vecmath.Active(), vecmath.Why(), plural(t.machine.threads, "thread"), t.precision.value)
	if t.precision.value == "f64" {
		return train[float64](cmd.Context(), t)
	}
	return train[float32](cmd.Context(), t)
}

// check looks at flags that exclude or need each other, and at the files named.
func (t *trainer) check(fs *pflag.FlagSet) error {
	set := func(name string) bool { return fs.Lookup(name).Changed }
	switch {
	case t.epochs < 1:
		return usage("1 is one pass over the examples.", "%s %d: not a number of epochs", given(fs, "epochs"), t.epochs)
	case t.untilConverged && set("epochs"):
		return usage("Choose one of them.", "%s and %s exclude each other", given(fs, "epochs"), given(fs, "until-converged"))
	case set("max-updates") && !t.untilConverged:
		return usage("It limits --until-converged.", "%s without --until-converged", given(fs, "max-updates"))
	case (t.activeSet || t.halving) && !t.untilConverged:
		return usage("Add --until-converged.", "%s without --until-converged", given(fs, map[bool]string{true: "active-set", false: "halving"}[t.activeSet]))
	case t.marginSVM && !t.marginReport:
		return usage("Add --margin-report.", "%s without --margin-report", given(fs, "margin-svm"))
	case set("rho") && !(t.rho > 0 && t.rho <= math.MaxFloat32):
		return usage("It is the value of a feature, as 1.", "%s %v: not a positive number", given(fs, "rho"), t.rho)
	case set("rho") && set("bias"):
		return usage("Leave one of them out: --rho 1 is --bias append.", "%s and %s exclude each other", given(fs, "rho"), given(fs, "bias"))
	case t.maxUpdates < 0:
		return usage("0 is no limit.", "%s %d: negative", given(fs, "max-updates"), t.maxUpdates)
	case t.read.anyFormat && t.from == "" && len(t.test) == 0:
		return usage("It goes with -i and --test: training takes any format.",
			"%s without a model or a test set", given(fs, "any-format"))
	case set("checkpoint-every") && t.model == "":
		return usage("Name the model file: -m FILE.", "%s without a model file", given(fs, "checkpoint-every"))
	}
	if t.output.quiet && set("progress") && t.output.progress.value != "none" {
		return usage("Choose one of them.", "%s and %s exclude each other", given(fs, "quiet"), given(fs, "progress"))
	}
	if set("checkpoint-every") {
		var err error
		if t.every, t.after, err = checkpointMarks(t.checkpoint); err != nil {
			return usage("Give a number of examples (100000) or a time (60s, 5m).", "%s %s: %w", given(fs, "checkpoint-every"), t.checkpoint, err)
		}
	}
	for i, name := range t.test {
		if name == "-" {
			return usage("Name a file.", "%s -: test examples can't come from stdin", given(fs, "test"))
		}
		file, err := findInput(name)
		if err != nil {
			return err
		}
		t.test[i] = file
	}
	return nil
}

// whole reports whether the learner must see the data set as a whole: to learn at all, or for the soft margin that was asked for.
func (t *trainer) whole() bool {
	return !t.config.Traits().Stream || t.softDelta != 0 || t.config.Traits().Soft
}

// onRandomFeatures makes -a NAME --rff D the learner rff with the base NAME.
func (t *trainer) onRandomFeatures(fs *pflag.FlagSet) error {
	if fs.Changed("base") {
		return usage("Leave one of them out.", "%s and %s exclude each other, but with %s rff", given(fs, "rff"), given(fs, "base"), given(fs, "learner"))
	}
	base := t.learner
	entry, err := lookupLearner("-a", "rff")
	if err != nil {
		return err
	}
	c := entry.Config().(*learners.RFFConfig)
	c.Base, c.BaseConfig = base, t.config
	t.learner, t.entry, t.config = "rff", entry, c
	return nil
}

// withTrait returns the learners that have a trait with their default settings.
func withTrait(has func(learners.Traits) bool) (names []string) {
	for _, name := range learners.Names() {
		if e, err := learners.Lookup(name); err == nil && has(e.Config().Traits()) {
			names = append(names, name)
		}
	}
	return names
}

// checkWhole refuses what doesn't go with that.
func (t *trainer) checkWhole(fs *pflag.FlagSet) error {
	if t.rho > 0 && !t.config.Traits().Origin {
		return usage("It goes with "+strings.Join(withTrait(func(t learners.Traits) bool { return t.Origin }), ", ")+"; else take --bias append.", "%s has no %s", t.learner, given(fs, "rho"))
	}
	what := given(fs, "soft-delta")
	if t.softDelta == 0 {
		what = t.learner + " with these settings"
	}
	switch {
	case !t.whole():
		return nil
	case !t.config.Traits().Whole:
		soft := "--soft-c"
		if t.softDelta != 0 {
			soft = "--soft-delta"
		}
		return usage("Leave out "+soft+": the slacks of a soft margin belong to the places of a "+
			"whole data set.",
			"%s needs a whole data set at once, and %s learns one example after another", what,
			describeLearner(t.learner, t.config))
	case !t.untilConverged:
		return usage("Add --until-converged.", "%s learns from a whole data set only", what)
	case t.shuffle:
		return usage("Leave one of them out.", "%s keeps the order of the data, %s changes it", what, given(fs, "shuffle"))
	case t.from != "":
		return usage("Leave out "+given(fs, "from")+".", "%s starts anew each time", what)
	case t.checkpoint != "":
		return usage("Leave out "+given(fs, "checkpoint-every")+".", "%s has no state to save before its end", what)
	}
	return nil
}

// describeLearner names a learner with what it stands on.
func describeLearner(learner string, c learners.Config) string {
	if name, _, ok := base(c); ok {
		return learner + " over " + name.String()
	}
	return learner
}

// fitting reports whether the run is one of Fit: on the whole data set, in its order.
func (t *trainer) fitting() bool {
	return t.config.Traits().Whole && t.untilConverged && !t.shuffle && t.checkpoint == ""
}

// notConverged says what is left.
func (t *trainer) notConverged(res eval.Result) error {
	what := fmt.Sprintf("not converged: %d updates in %s", res.Updates, plural(res.Epochs, "epoch"))
	if f := res.Fit; f != nil {
		what += fmt.Sprintf("; %d of %d examples still violate", f.Violators, res.Examples)
		if f.Margin-f.Margin == 0 {
			what += fmt.Sprintf(", margin %.6g", f.Margin)
		}
		if f.Bound < math.Inf(1) {
			what += fmt.Sprintf(", and no margin is larger than %.3g", f.Bound)
		}
	}
	if m := res.Mistaken; m != nil {
		what += fmt.Sprintf("; the last one made none, and %d of %d examples are mistakes of a "+
			"member or of all together", *m, res.Examples)
	}
	next := t.toConverge(res)
	return &fail{codeNotConverged, errors.New(what), next}
}

// checkpointMarks reads N or a duration.
func checkpointMarks(text string) (int64, time.Duration, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n < 1 {
			return 0, 0, errors.New("not a positive number")
		}
		return n, 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, 0, errors.New("neither a number of examples nor a time")
	}
	return 0, d, nil
}

// settingError gives an error of a Config its exit code.
func settingError(err error) error {
	if errors.Is(err, learners.ErrConfig) {
		return &fail{codeUsage, err, "The learners' flags: halfspace train --help."}
	}
	return err
}

// reader is a source of examples that tells what it found.
type reader[T engine.Float] struct {
	source eval.Source[T]
	info   func() dataset.Info
	close  func()
}

// train is run in the precision of T.
func train[T engine.Float](ctx context.Context, t *trainer) (err error) {
	inMemory := t.epochs > 1 || t.untilConverged || t.shuffle || t.config.Traits().Relative ||
		t.opts.Normalize == "max" && t.opts.Scale == 0

	plan, err := newPlan[T](t, inMemory)
	if err != nil {
		return err
	}
	var in reader[T]
	work := ctx
	var loading time.Duration
	var facts learners.Facts
	var testBytes int64
	if inMemory {
		if testBytes, err = plan.measure(ctx); err != nil {
			return err
		}
		data, err := await(ctx, func() (*dataset.Data[T], error) { return dataset.Load[T](ctx, t.files, t.opts) })
		loading = time.Since(t.started)
		if err != nil {
			return t.unread(ctx, err)
		}
		in = reader[T]{eval.NewMemory(&data.Block, data.Gather), func() dataset.Info { return data.Info }, func() {}}
		facts = factsOf(t, data)
	} else {
		var s *dataset.Stream[T]
		var end func()
		if s, work, end, err = openStream[T](ctx, t.files, t.opts); err != nil {
			return t.unread(ctx, err)
		}
		in = reader[T]{s, s.Info, end}
		defer func() { in.close() }()
		if err := checkTest[T](ctx, t, s.Info()); err != nil {
			return t.unread(ctx, err)
		}
	}
	if err := t.read.idle(t.cmd.Flags(), in.info().Format); err != nil {
		return err
	}
	if t.config, err = t.config.Resolve(facts); err != nil {
		return settingError(err)
	}
	if err := plan.begin(&in, testBytes); err != nil {
		return err
	}
	l, err := learners.New[T](t.entry, t.config, learners.Env{Seed: t.seed, Pool: t.pool,
		Kept: plan.kept})
	if err != nil {
		return settingError(err)
	}
	if t.proba && learners.ProberOf(l) == nil {
		return noProbabilities(given(t.cmd.Flags(), "proba"), t.learner)
	}
	var before int64
	if t.before != nil {
		if err := l.SetState(t.before.State); err != nil {
			return modelError(t.from, err)
		}
		before = int64(t.before.Presented)
		t.wasCut = t.before.Pass != nil || learners.WasCut(t.before.State)
		t.before.State = learners.State{} // the learner has a copy
		t.collect()
		if err := plan.restored(l.Bytes()); err != nil {
			return err
		}
	}
	met := learners.ReportOf(l)
	// In memory the test set is read before the learning: bad rows in it are found early.
	var test *eval.Memory[T]
	if len(t.test) > 0 && inMemory {
		if test, err = loadTest[T](ctx, t, in.info()); err != nil {
			return t.unread(ctx, err)
		}
	}

	o := eval.Options{
		UntilConverged: t.untilConverged, MaxUpdates: t.maxUpdates, Shuffle: t.shuffle, Seed: t.seed, Before: before,
		Proba: t.proba, Progress: t.progress(), CheckpointEvery: t.every, CheckpointAfter: t.after,
	}
	if !t.untilConverged {
		o.Epochs = t.epochs
	} else if t.before != nil {
		o.Resume = t.before.Pass
	}
	if t.every > 0 || t.after > 0 {
		o.Checkpoint = func(r eval.Result) error { return save(t, l, in.info(), r) }
	}
	latency := newLatency()
	if _, keeps := l.(learners.Keeper); keeps || t.latency {
		o.Timed = latency.add
	}
	var res eval.Result
	f, fitter := l.(learners.Fitter[T])
	if t.whole() && !fitter {
		return usage("Learners that can: perceptron, alma with p = 2, romma, micra, cramma.", "%s has no soft margin by %s", t.learner, given(t.cmd.Flags(), "soft-delta"))
	}
	if fitter && (t.whole() || t.fitting()) {
		if t.proba && len(t.test) == 0 {
			return usage("Name examples with --test, or leave it out.", "%s: %s learns the whole data set at once, so there is nothing to predict before it", given(t.cmd.Flags(), "proba"), t.learner)
		}
		fit := learners.FitOptions{MaxUpdates: t.maxUpdates, Delta: t.softDelta,
			GramBytes: plan.gram, ActiveSet: t.activeSet, Halving: t.halving}
		if t.config.Traits().Dual && !t.cmd.Flags().Changed("max-updates") {
			fit.MaxUpdates = 0
		}
		res, err = eval.Fit(ctx, f, in.source.(*eval.Memory[T]), fit, o.Progress)
	} else if t.activeSet || t.halving {
		return usage("Leave it out.", "%s passes over all examples each time: it has no %s", t.learner, given(t.cmd.Flags(), map[bool]string{true: "active-set", false: "halving"}[t.activeSet]))
	} else {
		res, err = eval.Run(work, l, in.source, o)
	}
	info := in.info()
	stopped := err != nil && interrupted(ctx, err)
	if errors.Is(err, learners.ErrConfig) {
		return settingError(err)
	}
	if errors.Is(err, learners.ErrLength) {
		return &fail{codeData, err, upper(t.kept()) + ". Bring the features to one scale: " +
			"--normalize unit " +
			"or max, or divide them; --precision f64 holds more than f32."}
	}
	if errors.Is(err, learners.ErrMemory) {
		return &fail{codeFailed, err, upper(t.kept()) + "." + keptSizes}
	}
	if errors.Is(err, learners.ErrDim) {
		return &fail{codeFailed, err, upper(t.kept()) + "."}
	}
	if err != nil && !stopped {
		return t.failed(err)
	}
	t.describe(info)
	t.collect()
	t.tellRestart(res)
	worthless := diverged(t, l, res)
	if t.model != "" && worthless == nil && (res.Presented > 0 || res.Updates > 0) &&
		!(stopped && t.whole()) {
		if err := save(t, l, info, res); err != nil {
			return err
		}
	}
	t.tally(res, info, l.Bytes(), stopped)
	t.fitted(res.Fit, l)
	if k, ok := l.(learners.Keeper); ok {
		n := int64(k.Support())
		t.report.Support = &n
	}
	t.report.Latency = latency.report()
	if t.report.Memory != nil {
		t.report.Memory.Peak = peakMemory()
	}
	t.report.Posterior = learners.ReportOf(l)
	t.report.Seconds.Read += loading.Seconds()
	var measured *eval.Count
	if !stopped && worthless == nil {
		if measured, err = afterwards(ctx, t, l, in, test, inMemory); err != nil {
			if !interrupted(ctx, err) {
				return t.failed(err)
			}
			stopped, t.report.Stopped = true, true
		}
	}
	_, biased := l.(learners.Biased)
	t.warn(res, info, measured, biased)
	t.warnPassed(res, met)
	t.report.Seconds.Total = time.Since(t.started).Seconds()
	if err := t.print(); err != nil {
		return err
	}
	if worthless == nil && t.tested != nil {
		worthless = useless("in the test ", t.tested.count)
	}
	switch {
	case worthless != nil:
		return worthless
	case stopped:
		return t.stopped(res.Presented)
	case t.untilConverged && !res.Converged:
		return t.notConverged(res)
	}
	return nil
}

// afterwards measures the final hypothesis: the margin over the training set and the errors on the
// test set. It returns what it counted of the training set, nil if it didn't look there.
func afterwards[T engine.Float](ctx context.Context, t *trainer, l learners.Learner[T],
	in reader[T], test *eval.Memory[T], inMemory bool) (measured *eval.Count, err error) {
	t.collect()
	if inMemory || t.marginReport {
		src := in.source
		if !inMemory {
			for _, f := range t.files {
				if f == "-" {
					return nil, usage("Put the examples into a file.",
						"%s: the examples came from stdin and can't be read again",
						given(t.cmd.Flags(), "margin-report"))
				}
			}
			again, err := dataset.Open[T](ctx, t.files, fixed(t.opts, in.info()))
			if err != nil {
				return measured, err
			}
			defer again.Close()
			src = again
		}
		m, ok, err := eval.Measure(ctx, learner.ViewOf(l), src)
		if err != nil {
			return measured, err
		}
		if ok {
			measured = &m.Count
			margin := m.Norm(2, 0)
			t.report.Margin = &margin
			if t.marginReport {
				if err := t.margins(m); err != nil {
					return measured, err
				}
				if err := marginOfSVM(ctx, t, l, src); err != nil {
					return measured, err
				}
			}
		} else if t.report.Fit != nil {
			t.report.Margin = t.report.Fit.Margin // a kernel: no weights
		}
	}
	if len(t.test) == 0 {
		return measured, nil
	}
	var src eval.Source[T] = test
	testInfo := func() dataset.Info { return t.testInfo }
	if test == nil {
		s, err := dataset.Open[T](ctx, t.test, fixed(t.opts, in.info()))
		if err != nil {
			return measured, err
		}
		defer s.Close()
		src, testInfo = s, s.Info
	}
	var c eval.Count
	var proba *probaReport
	if t.proba {
		var s eval.Probabilities
		c, s, err = eval.TestProba(ctx, learner.ViewOf(l), src)
		proba = describeProba(&s)
	} else {
		c, err = eval.Test(ctx, learner.ViewOf(l), src)
	}
	if err != nil {
		return measured, err
	}
	info := testInfo()
	t.tested = &tested{c, info}
	t.report.Test = &testReport{c.Examples, c.Errors, c.Error(), proba, c.NotFinite, info.Unknown}
	return measured, nil
}

// margins fills in what --margin-report adds.
func (t *trainer) margins(m eval.Margins) error {
	skip, p := 0, 2.0
	if t.opts.Bias == "append" {
		skip = 1
	}
	r := &marginReport{Geometric: m.Norm(2, skip), Directional: m.Norm(2, 0)}
	if norm := t.config.Traits().Norm; norm == norm {
		p = norm
		r.P = &p
	}
	r.PNorm = m.Norm(p, skip)
	if r.Geometric != r.Geometric || r.PNorm != r.PNorm {
		return nil // nothing but a bias was learned
	}
	t.report.Margins = r
	return nil
}

// marginOfSVM is --margin-svm: the largest margin there is, of a hyperplane of the learner's kind.
func marginOfSVM[T engine.Float](ctx context.Context, t *trainer, l learners.Learner[T], src eval.Source[T]) error {
	if !t.marginSVM || t.report.Margins == nil {
		return nil
	}
	mem, ok := src.(*eval.Memory[T])
	if !ok {
		return usage("Add --until-converged, or several epochs.", "%s needs the examples in memory", given(t.cmd.Flags(), "margin-svm"))
	}
	entry, err := learners.Lookup("svm")
	if err != nil {
		return err
	}
	c := entry.Config().(*learners.SVMConfig)
	_, biased := l.(learners.Biased)
	c.C, c.NoBias = 0, !biased
	svm, err := learners.New[T](entry, c, learners.Env{Seed: t.seed, Pool: t.pool})
	if err != nil {
		return err
	}
	res, err := eval.Fit(ctx, svm.(learners.Fitter[T]), mem,
		learners.FitOptions{GramBytes: t.marginGram}, nil)
	if errors.Is(err, learners.ErrNotSeparable) {
		return nil
	}
	if err != nil {
		return err
	}
	r := t.report.Margins
	share := r.Directional / res.Fit.Margin
	r.Max, r.OfMax = &res.Fit.Margin, &share
	return nil
}

func loadTest[T engine.Float](ctx context.Context, t *trainer, info dataset.Info) (*eval.Memory[T], error) {
	data, err := dataset.Load[T](ctx, t.test, fixed(t.opts, info))
	if err != nil {
		return nil, err
	}
	t.testInfo = data.Info
	return eval.NewMemory(&data.Block, data.Gather), nil
}

// checkTest looks, before a stream is learned, whether the test set is of its kind: format and
// columns. What can be read only once is left alone.
func checkTest[T engine.Float](ctx context.Context, t *trainer, info dataset.Info) error {
	for _, name := range t.test {
		if st, err := os.Stat(name); err != nil || !st.Mode().IsRegular() {
			return nil
		}
	}
	if len(t.test) == 0 {
		return nil
	}
	s, err := dataset.Open[T](ctx, t.test, fixed(t.opts, info))
	if err != nil {
		return err
	}
	return s.Close()
}

// fixed returns options that prepare other examples as the training set was.
func fixed(o dataset.Options, info dataset.Info) dataset.Options {
	o.Labels, o.Positive = &info.Labels, ""
	if format.Lookup(info.Format).HasIndices() {
		o.IndexBase, o.Base = "auto", &info.IndexBase
	}
	if o.Normalize == "max" {
		o.Scale = info.Scale
	}
	o.Format, o.Columns, o.Header = "auto", info.Columns, info.Header
	o.Label, o.LabelCol = info.LabelCol, ""
	o.Trained = info.Format
	known := info.Dim
	if o.Bias == "append" {
		known--
	}
	o.Dim = max(o.Dim, known)
	return o
}

// factsOf returns what settings may be relative to. Normalised examples have the length that they
// were normalised to, whatever it was rounded to.
func factsOf[T engine.Float](t *trainer, data *dataset.Data[T]) learners.Facts {
	f := learners.Facts{Delta: t.softDelta, Features: data.Info.Dim}
	switch t.opts.Normalize {
	case "unit":
		f.SumSq = min(data.Info.MaxNorm, 1) // 0 if all examples are
	case "max":
		longest := data.Info.MaxNorm / data.Info.Scale
		f.SumSq = float64(longest * longest)
	default:
		f.SumSq = learners.MaxSumSq(&data.Block, 0)
	}
	return f
}

// interrupted tells whether err is that the user stopped the work.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) ||
		errors.Is(err, context.Cause(ctx)) || errors.Is(err, dataset.ErrStopped))
}

// unread is an error before anything was learned.
func (t *trainer) unread(ctx context.Context, err error) error {
	if interrupted(ctx, err) {
		return &fail{codeStopped, errStopped, "Nothing was learned yet; nothing was saved."}
	}
	return dataError(err, "nothing was saved")
}

// failed is an error after learning began.
func (t *trainer) failed(err error) error {
	return dataError(err, t.kept())
}

// stopped is how an interrupted run ends.
func (t *trainer) stopped(presented int64) error {
	next := "Nothing was saved: name a model file with -m to keep what was learned."
	switch {
	case presented == 0 && t.report.Model == nil:
		next = "Nothing was learned yet; nothing was saved."
	case t.whole():
		next = "Nothing was saved: " + t.learner + " has nothing to save before its end."
	case t.report.Model != nil:
		next = "The model is in " + t.model + "; to go on from it: -i " + t.model + "."
	}
	return &fail{codeStopped, fmt.Errorf("%w after %s", errStopped, plural(int(presented), "example")), next}
}

func (t *trainer) progress() eval.Progress {
	w := t.cmd.ErrOrStderr()
	mode := t.output.progress.value
	if t.output.quiet {
		mode = "none"
	}
	if mode == "auto" {
		mode = "lines"
		if isTerminal(w) {
			mode = "bar"
		}
	}
	switch mode {
	case "bar":
		return &progressBar{bar: bar{w: w}}
	case "json":
		return newProgressJSON(w)
	case "lines":
		return &progressLines{w: w}
	}
	return nil
}

// describe says with -v what was found in the data.
func (t *trainer) describe(info dataset.Info) {
	t.output.note(t.cmd, "%s: %d examples, %d features, %d non-zeros, %d bytes of text", info.Format, info.Rows, info.Dim, info.NonZeros, info.Bytes)
	if format.Lookup(info.Format).HasIndices() {
		t.output.note(t.cmd, "features are numbered from %d (%s)", info.IndexBase, info.BaseFound)
	}
	t.output.note(t.cmd, "label %q is -1, label %q is +1", orRest(info.Labels.Negative), info.Labels.Positive)
	t.output.note(t.cmd, "the longest example has length %g before normalising", info.MaxNorm)
}

func orRest(label string) string {
	if label == "" {
		return "(any other)"
	}
	return label
}

func (t *trainer) tally(res eval.Result, info dataset.Info, bytes int64, stopped bool) {
	r := &t.report
	r.Schema, r.Learner, r.Config, r.Precision = schema, t.learner, t.config, t.precision.value
	r.Examples, r.Presented, r.Epochs, r.Updates, r.Mistakes = res.Examples, res.Presented, res.Epochs, res.Updates, res.Mistakes
	r.Converged, r.Mistaken, r.Stopped = res.Converged, res.Mistaken, stopped
	r.NotFinite = res.NotFinite
	if res.Fit == nil {
		e := res.ProgressiveError()
		r.ProgressiveError = &e
		r.Proba = describeProba(res.Proba)
	}
	r.Format, r.Features, r.BadRows, r.Bytes = info.Format, info.Dim, info.BadRows, bytes
	r.Labels = model.Labels{Negative: info.Labels.Negative, Positive: info.Labels.Positive}
	r.Impl, r.Threads, r.Seed = vecmath.Active().String(), t.machine.threads, t.seed
	r.Seconds.Read, r.Seconds.Learn, r.NsPerExample = res.Read.Seconds(), res.Learn.Seconds(), res.NsPerExample()
}

// fitted tells of a run of Fit.
func (t *trainer) fitted(f *learners.FitResult, l any) {
	if f == nil {
		return
	}
	finite := func(v float64) *float64 {
		if v-v != 0 {
			return nil
		}
		return &v
	}
	r := &fitReport{Updates: f.Updates, Counter: f.Counter, Violators: f.Violators, Margin: finite(f.Margin), Bound: finite(f.Bound), ScoreSpace: f.ScoreSpace}
	if t.softDelta > 0 {
		r.Gamma, r.Excess = finite(f.Gamma0), finite(f.Excess())
	}
	if s, ok := l.(interface{ Solution() learners.SVMSolution }); ok {
		solution := s.Solution()
		r.Gap = finite(solution.Gap)
		if support := int64(solution.SupportVectors); solution.Iterations > 0 {
			t.report.Support = &support
		}
	}
	t.report.Fit = r
}

// print shows the report.
func (t *trainer) print() error {
	w := stdout(t.cmd)
	if t.output.json {
		return printJSON(w, t.report)
	}
	if t.output.quiet {
		return nil
	}
	return t.summary(w)
}

func (t *trainer) summary(w io.Writer) error {
	r := &t.report
	rows := [][2]string{
		{"learner", r.Learner + " " + describeConfig(r.Learner, r.Config) + ", " + r.Precision},
		{"data", fmt.Sprintf("%s, %s; label %q is -1, %q is +1", r.Format, t.features(),
			orRest(r.Labels.Negative), r.Labels.Positive)},
		{"examples", fmt.Sprintf("%d (%s, %d presented)", r.Examples,
			epochs(r.Epochs, r.Presented%max(r.Examples, 1) != 0), r.Presented)},
		{"updates", fmt.Sprint(r.Updates)},
	}
	if r.Fit != nil && r.Fit.Gap != nil {
		rows[2][1] = fmt.Sprint(r.Examples)
		rows[3] = [2]string{"steps", fmt.Sprint(r.Updates)}
	}
	if r.Support != nil {
		rows = append(rows, [2]string{"support", plural(int(*r.Support), "support vector")})
	}
	if p := r.Posterior; p != nil {
		if text := describePosterior(p); text != "" {
			rows = append(rows, [2]string{"posterior", text})
		}
	}
	if r.ProgressiveError != nil {
		rows = append(rows, [2]string{"progressive", fmt.Sprintf("%.3f %% error in the first epoch", 100**r.ProgressiveError)})
	}
	probabilities := func(p *probaReport, where string) {
		if p != nil {
			rows = append(rows, [2]string{"probabilities", fmt.Sprintf("log-loss %.4f, Brier score %.4f, calibration error %.4f %s", p.LogLoss, p.Brier, p.CalibrationError, where)})
		}
	}
	probabilities(r.Proba, "in the first epoch")
	if r.BadRows > 0 {
		rows = append(rows, [2]string{"bad rows", fmt.Sprintf("%d passed over", r.BadRows)})
	}
	if r.Test != nil {
		rows = append(rows, [2]string{"test", fmt.Sprintf("%.3f %% error (%d of %d)", 100*r.Test.Error, r.Test.Errors, r.Test.Examples)})
		probabilities(r.Test.Proba, "in the test")
	}
	if r.Margin != nil {
		rows = append(rows, [2]string{"margin", fmt.Sprintf("%.6g", *r.Margin)})
	}
	rows = append(rows, r.marginRows()...)
	switch {
	case r.Fit != nil && r.Fit.Gap != nil:
		rows = append(rows, [2]string{"converged", fmt.Sprintf("%v, duality gap %.3g of the objective", r.Converged, *r.Fit.Gap)})
	case r.Converged && r.Mistaken != nil:
		rows = append(rows, [2]string{"converged", "the last epoch made no update, and no member " +
			"makes a mistake"})
	case r.Converged:
		rows = append(rows, [2]string{"converged", "the last epoch made no update"})
	case r.Fit != nil:
		rows = append(rows, [2]string{"converged", fmt.Sprintf("no, %s left", plural(r.Fit.Violators, "violator"))})
	}
	rows = append(rows,
		[2]string{"seconds", fmt.Sprintf("%.3f read, %.3f learn, %.3f total", r.Seconds.Read, r.Seconds.Learn, r.Seconds.Total)},
		[2]string{"speed", fmt.Sprintf("%.0f ns an example (%s, %s)", r.NsPerExample, r.Impl, plural(r.Threads, "thread"))})
	if l := r.Latency; l != nil {
		rows = append(rows, [2]string{"latency", fmt.Sprintf("median %v, 99 %% within %v, longest %v", time.Duration(l.P50), time.Duration(l.P99), time.Duration(l.Max))})
	}
	if m := r.Memory; m != nil && m.Peak > 0 {
		rows = append(rows, [2]string{"memory", fmt.Sprintf("%s at most, %s planned", inMiB(m.Peak), inMiB(m.planned()))})
	}
	if r.Model != nil {
		rows = append(rows, [2]string{"model", *r.Model + " (sha256 " + *r.ModelSHA256 + ")"})
	}
	return twoColumns(w, rows)
}

// features tells how many there are.
func (t *trainer) features() string {
	if t.opts.Bias == "append" {
		return plural(t.report.Features-1, "feature") + " and the bias"
	}
	return plural(t.report.Features, "feature")
}

// epochs tells of complete passes, and of one that was cut short.
func epochs(n int, part bool) string {
	switch {
	case n == 0:
		return "the first epoch was not finished"
	case part:
		return plural(n, "epoch") + " and a part"
	}
	return plural(n, "epoch")
}

// marginRows tells of margins besides the geometric one.
func (r *trainReport) marginRows() (rows [][2]string) {
	if m := r.Margins; m != nil {
		if m.Geometric != m.Directional {
			rows = append(rows, [2]string{"without bias", fmt.Sprintf("%.6g, over the length of the weights without the bias feature's", m.Geometric)})
		}
		if m.P != nil && *m.P != 2 {
			rows = append(rows, [2]string{"p-norm margin", fmt.Sprintf("%.6g, p = %.6g", m.PNorm, *m.P)})
		}
		if m.OfMax != nil {
			rows = append(rows, [2]string{"of the maximum", fmt.Sprintf("%.4f, the svm reaches %.6g", *m.OfMax, *m.Max)})
		}
	}
	if f := r.Fit; f != nil {
		if f.Bound != nil {
			rows = append(rows, [2]string{"margin's bound", fmt.Sprintf("%.6g, no hyperplane reaches more", *f.Bound)})
		}
		if f.Gamma != nil && f.Margin != nil {
			rows = append(rows, [2]string{"soft margin", fmt.Sprintf("Gamma %.6g in the extended space, gamma %.6g", *f.Margin, *f.Gamma)})
		}
		if f.Excess != nil {
			rows = append(rows, [2]string{"D'/D - 1", fmt.Sprintf("%.3g", *f.Excess)})
		}
	}
	return rows
}

// describeConfig writes settings as the flags that give them. Left out are zeros that are defaults, and what has no effect.
func describeConfig(learner string, c learners.Config) string {
	var s []string
	var defaults []field
	if e, err := learners.Lookup(learner); err == nil {
		defaults = settingsOf(e.Config())
	}
	all := settingsOf(c)
	for i, f := range all {
		if f.value.IsZero() && (defaults == nil || defaults[i].value.IsZero()) {
			continue
		}
		if _, idle := f.idle(all); idle {
			continue
		}
		if f.value.Kind() == reflect.Bool {
			s = append(s, fmt.Sprintf("--%s=%v", f.flag, f.value.Interface()))
		} else {
			s = append(s, fmt.Sprintf("--%s %s", f.flag, f.text()))
		}
	}
	if name, config, ok := base(c); ok {
		if bc, _ := config.Interface().(learners.Config); bc != nil {
			if text := describeConfig(name.String(), bc); text != "" {
				s = append(s, text)
			}
		}
	}
	return strings.Join(s, " ")
}

// goOn takes the learner, its settings and the preparation from the model of -i. Flags may repeat them, not change them.
func (t *trainer) goOn(fs *pflag.FlagSet) (err error) {
	if err := t.roomForModel(); err != nil {
		return err
	}
	if t.before, err = loadModel(t.from); err != nil {
		return err
	}
	if t.entry, t.config, err = t.before.Settings(); err != nil {
		return modelError(t.from, err)
	}
	// what was trained had settings without open ends, unless the learner goes without
	if t.config.Traits().Relative {
		if _, err := t.entry.New64(t.config, learners.Env{}); err != nil {
			return modelError(t.from, err)
		}
	}
	if err := asTrained(&t.opts, t.before, fs); err != nil {
		return err
	}
	t.learner, t.precision.value, t.seed = t.before.Learner, t.before.Precision, t.before.Seed
	t.config, err = t.settings.unchanged(t.learner, t.config)
	return err
}

// kept says what is there of a run that ends with an error.
func (t *trainer) kept() string {
	if t.saved > 0 {
		return fmt.Sprintf("the model after %d examples is in %s", t.saved, t.model)
	}
	return "nothing was saved"
}

// save writes the model.
func save[T engine.Float](t *trainer, l learners.Learner[T], info dataset.Info, r eval.Result) error {
	t.collect()
	m, err := model.Capture(t.learner, t.config, t.seed, l)
	if err != nil {
		return saveError(t.model, t.kept(), err)
	}
	m.Prep = prep(t.opts, info, t.before)
	m.Presented, m.Mistakes, m.Pass = uint64(r.Presented), uint64(r.Mistakes), r.Pass
	if t.before != nil {
		m.Presented = min(m.Presented+t.before.Presented, model.MaxCount)
		m.Mistakes = min(m.Mistakes+t.before.Mistakes, model.MaxCount)
	}
	sum, err := model.Save(t.model, m)
	if err != nil {
		return saveError(t.model, t.kept(), err)
	}
	t.saved, t.report.Model, t.report.ModelSHA256 = r.Presented, &t.model, &sum
	return nil
}
