package command

import (
	"cmp"
	"context"
	"errors"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/calibration"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// predictReport is what predict prints with --json.
type predictReport struct {
	Schema   string `json:"schema"`
	Examples int64  `json:"examples"`
	Labelled int64  `json:"labelled"` // with a label, whether the model knows it or not
	// examples that were given no label; null without --abstain-below
	Abstained *int64 `json:"abstained"`
	// among the labelled that were given a label; null if there are none
	Errors *int64       `json:"errors"`
	Error  *float64     `json:"error"`
	Proba  *probaReport `json:"proba"` // of all that are labelled; null without probabilities
	// score from which on the positive label was given; null of classes, and with costs
	Threshold *float64        `json:"threshold"`
	Interval  *intervalReport `json:"interval"` // null without --interval
	// of the labelled that were given a label; null if there are none
	Metrics   *metricsReport `json:"metrics"`
	BadRows   int            `json:"bad_rows"`
	NotFinite int64          `json:"not_finite"` // scores that are NaN or infinite
	// of features that the model knows nothing of
	Unknown    int64          `json:"unknown_non_zeros"`
	Warnings   warnings       `json:"warnings"` // in which the result may not be what it seems
	Impl       string         `json:"impl"`
	Seconds    predictSeconds `json:"seconds"`
	OutputFile string         `json:"output,omitempty"`
}

type predictSeconds struct {
	Total float64 `json:"total"`
}

// predictor is one run of predict.
type predictor struct {
	model   string
	out     string
	proba   bool
	each    bool // scores or probabilities of all classes
	abstain float64
	share   float64 // of the members that --interval spans; 0: not asked

	threshold threshold

	read    readFlags
	machine machineFlags
	output  outputFlags
	profile profiles

	cmd     *cobra.Command
	started time.Time
	files   []string
	in      *streamInput // instead of files, if not nil
	answers *answering   // on a stream; nil: lines are written
	m       *model.Model
	told    warnings
	opts    dataset.Options
	pool    *engine.Pool
	skipped []skipped // bad rows whose lines are not made yet
}

// skipped is the place of a bad row: how many good ones come before it, and its line.
type skipped struct {
	good int64
	line int
}

// passOver returns warn for bad rows that keep their place among the lines.
func (p *predictor) passOver(warn func(error)) func(error) {
	return func(err error) {
		if e := (*dataset.RowError)(nil); errors.As(err, &e) {
			p.skipped = append(p.skipped, skipped{e.Good, cmp.Or(e.Read, e.Line)})
		}
		warn(err)
	}
}

// flushAfter is how long the input may give nothing before what was printed is handed on.
const flushAfter = 10 * time.Millisecond

// wholeAfter is how long it may give nothing before a message is answered of which not all rows
// came.
const wholeAfter = time.Second

// abstention is printed for a label that is not given. No label is written so: it is what csv has
// for missing ones.
const abstention = "?"

// probable reports whether probabilities are needed.
func (p *predictor) probable() bool { return p.proba || p.abstain > 0 || p.threshold.cost }

// threshold is from where on examples get the positive label: a score, or, of costs, a probability.
type threshold struct {
	text  string
	value float64
	cost  bool
}

func (t *threshold) String() string { return t.text }
func (t *threshold) Type() string   { return "VALUE" }

// Set takes a score, or cost=FP:FN.
func (t *threshold) Set(text string) error {
	bad := errors.New("want a score, or cost=FP:FN with two costs above 0")
	if strings.HasPrefix(text, "cost=") {
		target, err := calibration.ParseTarget(text)
		if err != nil {
			return bad
		}
		*t = threshold{text, target.Proba(), true}
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v-v != 0 {
		return bad
	}
	*t = threshold{text, v, false}
	return nil
}

func newPredictCmd() *cobra.Command {
	p := &predictor{}
	cmd := &cobra.Command{
		Use:   "predict [flags] -i MODEL FILE...",
		Short: "Predict labels and scores",
		Long:  helpText("predict", "{NONE}", abstention),
		Example: `  halfspace predict -i a9a.model a9a.t > a9a.predicted
  halfspace predict -i a9a.model --json a9a.t
  halfspace predict -i sogp.model --proba --abstain-below 0.9 a9a.t`,
		Annotations: args(UseExamples),
		RunE:        func(cmd *cobra.Command, args []string) error { return p.run(cmd, args) },
	}
	fs := cmd.Flags()
	fs.StringVarP(&p.model, "from", "i", "", "the model `FILE`")
	fs.StringVarP(&p.out, "output", "o", "", "write the lines to `FILE`, which appears whole or "+
		"not at all")
	fs.BoolVar(&p.proba, "proba", false, "print the probability of the positive label too, for "+
		"learners that have one")
	fs.BoolVar(&p.each, "each-class", false, "of more than two classes print the scores of all, "+
		"or with --proba their probabilities, below a line of names")
	fs.Float64Var(&p.abstain, "abstain-below", 0,
		"give no label, but "+abstention+", where neither has at least the probability `P`")
	fs.Float64Var(&p.share, "interval", 0, "print the scores, too, between which a share `P` of "+
		"the members of an ensemble lies, and with --proba of a calibrated model what they stand "+
		"for: their spread, no confidence interval")
	fs.Var(&p.threshold, "threshold", "the positive label from this score on, `VALUE`, instead of "+
		"from the model's or 0; or cost=FP:FN, where a false positive costs FP and a false "+
		"negative FN: from the "+
		"probability FP/(FP+FN) on")
	p.read.flags(fs)
	p.read.anyFormatFlag(fs)
	p.machine.flags(fs)
	p.output.flags(fs)
	Names(fs, UseRead, "from")
	Names(fs, UseOutput, "output")
	p.profile.flags(fs)
	return cmd
}

func (p *predictor) run(cmd *cobra.Command, args []string) (err error) {
	p.cmd, p.started = cmd, time.Now()
	fs := cmd.Flags()
	if p.files, p.in, err = streamOr(cmd, args); err != nil {
		return err
	}
	if p.model == "" {
		return Usage("Name it with -i FILE; train -m FILE writes one.", "no model")
	}
	if p.m, err = loadModel(p.model); err != nil {
		return err
	}
	if fs.Changed("abstain-below") && !(p.abstain >= 0.5 && p.abstain <= 1) {
		return Usage("The more probable label always has at least 0.5.", "%s %v: not a "+
			"probability from 0.5 to 1", Given(fs, "abstain-below"), p.abstain)
	}
	if fs.Changed("interval") && !(p.share > 0 && p.share < 1) {
		return Usage("0.9 leaves out a twentieth of the members at either end.",
			"%s %v: not a share above 0 and below 1", Given(fs, "interval"), p.share)
	}
	if t := p.m.Threshold; t != nil && p.threshold.text == "" {
		p.threshold.value = t.Score
	}
	if p.pool, err = p.machine.start(fs); err != nil {
		return err
	}
	defer p.pool.Close()
	p.told = warnings{}
	data := p.read.data(fs)
	p.opts = data.Reading()
	p.opts.Workers, p.opts.OnBad = p.machine.threads, p.passOver(warnBadRows(cmd.ErrOrStderr()))
	p.opts.OnWarn = func(what string) {
		p.told.note(cmd.ErrOrStderr(), training.OddData,
			withFlags(what))
	}
	training.AsTrained(&p.opts, p.m)
	p.opts.LabelsOptional = true
	return p.profile.during(func() error {
		if p.m.Precision == "f64" {
			return predict[float64](cmd.Context(), p)
		}
		return predict[float32](cmd.Context(), p)
	})
}

// predict is run in the precision of T.
func predict[T engine.Float](ctx context.Context, p *predictor) error {
	hypothesis, spread, err := hypothesisOf[T](p)
	if err != nil {
		return err
	}
	if err := p.suits(hypothesis.Outputs(), learner.ProbaOf(hypothesis) != nil); err != nil {
		return err
	}
	toStream := sourceOf(p.out) != nil
	var (
		s        *dataset.Stream[T]
		work     context.Context
		end      func()
		messages *training.Messages
	)
	p.labelled(ctx, "read", func(ctx context.Context) { // what is read ahead later, too
		s, work, end, messages, err = openFiles[T](ctx, p.files, p.in, toStream, p.opts)
	})
	if err != nil {
		return p.unread(ctx, err, "nothing was predicted")
	}
	defer end()
	data := p.read.data(p.cmd.Flags())
	if err := data.Idle(s.Info().Format); err != nil {
		return optionError(p.cmd.Flags(), err)
	}
	p.output.decided(p.cmd, s.Info())
	r := predictReport{Schema: schema, Impl: vecmath.Active().String(), OutputFile: p.out}
	var lines *output
	switch {
	case toStream:
		if p.answers, err = openAnswers(ctx, p.cmd, p.out, p.in); err != nil {
			return err
		}
		p.answers.m = messages
		r.OutputFile = withoutUser(p.out)
	case !p.output.json || p.out != "":
		if lines, err = newOutput(stdout(p.cmd), p.out); err != nil {
			return err
		}
	}
	var count eval.Count
	p.labelled(work, "predict", func(ctx context.Context) {
		count, err = write(ctx, p, hypothesis, spread, s, lines, &r)
	})
	switch {
	case p.answers != nil:
		err = p.answers.finish(err)
	case lines != nil:
		err = lines.finish(err)
	}
	info := s.Info()
	r.BadRows, r.Unknown = info.BadRows, info.Unknown
	if err := p.warn(&r, count, info); err != nil {
		return err
	}
	if err != nil {
		return p.unread(ctx, err, "the lines before it are good")
	}
	r.Warnings = p.told
	r.Seconds.Total = time.Since(p.started).Seconds()
	if p.output.json {
		if err := PrintJSON(stdout(p.cmd), r); err != nil {
			return err
		}
	}
	return useless("", eval.Count{Examples: r.Examples, NotFinite: r.NotFinite})
}

// labelled does some work whose samples in profiles have the labels learner and stage, those of
// goroutines that it starts too, as training's have.
func (p *predictor) labelled(ctx context.Context, stage string, work func(context.Context)) {
	pprof.Do(ctx, pprof.Labels("learner", p.m.Learner, "stage", stage), work)
}

// suits refuses what a model of so many outputs, with probabilities or without, can't give.
func (p *predictor) suits(outputs int, proba bool) error {
	if p.threshold.text != "" && outputs > 1 {
		return Usage("Leave it out: the label is that of the largest score.", "%s %s: %s tells "+
			"more than two classes", Given(p.cmd.Flags(), "threshold"), p.threshold.text, p.model)
	}
	if p.each && outputs < 2 {
		return Usage("Leave it out: score and probability of the positive label say all of the "+
			"other's.", "%s: %s tells two classes", Given(p.cmd.Flags(), "each-class"), p.model)
	}
	if p.probable() && !proba {
		field := "proba"
		switch {
		case p.abstain > 0 && !p.proba:
			field = "abstain_below"
		case !p.proba:
			field = "threshold"
		}
		_, c, err := p.m.Settings()
		if err != nil {
			return modelError(p.model, err)
		}
		if p.m.PredictOnly && c.Traits().Proba {
			return Usage("Leave it out, or take the model of the whole learner.",
				"%s: %s can only predict, and was saved without the members whose votes are the "+
					"probabilities", Given(p.cmd.Flags(), strings.ReplaceAll(field, "_", "-")),
				p.model)
		}
		return optionError(p.cmd.Flags(), training.NoProbabilities(field, p.m.Learner, c))
	}
	return nil
}

// warn adds the warnings where the predictions may not be what they seem. count is of those that
// had a label and were given one.
func (p *predictor) warn(r *predictReport, count eval.Count, info dataset.Info) error {
	_, config, err := p.m.Settings()
	if err != nil {
		return modelError(p.model, err)
	}
	w := p.cmd.ErrOrStderr()
	tell := func(x training.Warning) { p.told.tell(w, x.Code, x.Text, nextOf(x, false)) }
	if x, ok := training.NewUnknown(info, p.opts, ""); ok {
		tell(x)
	}
	if x, ok := training.NewForeign(info, ""); ok {
		tell(x)
	}
	if r.NotFinite > 0 {
		count = eval.Count{Examples: r.Examples, NotFinite: r.NotFinite}
	}
	for _, x := range count.Warnings() {
		tell(training.Warning{Code: x.Code, Text: training.WarningText(x, ""), Config: config,
			Bias: p.opts.Bias == "append", Predicting: true})
	}
	return nil
}

// unread is an error of the data; kept says what became of the lines, where these are not for a
// file.
func (p *predictor) unread(ctx context.Context, err error, kept string) error {
	if p.answers != nil {
		kept = "the answers before it are sent"
	} else if p.out != "" {
		kept = p.out + " was not written"
	}
	return unread(ctx, p.cmd, err, kept)
}
