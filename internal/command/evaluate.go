package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/bench/papers"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/internal/atomicfile"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
	"github.com/halfspace-ml/halfspace/training"
)

// evaluateReport is what evaluate prints with --json.
type evaluateReport struct {
	Schema string `json:"schema"`
	metricsReport
	// Of two classes with scores or probabilities; null else.
	AveragePrecision *float64 `json:"average_precision"`
}

// evaluator is one run of evaluate.
type evaluator struct {
	model    string
	columns  []string
	positive string
	roc      string
	pr       string
	calib    string
	read     readFlags
	machine  machineFlags
	output   outputFlags

	cmd    *cobra.Command
	labels []string // of the classes
	all    []eval.Scored
	m      *eval.Metrics
	// the files have none
	noScores bool
}

// mostScored is how many scores are kept, 24 bytes each, for curves and an AUC that are exact;
// where there are more, both are of bins.
const mostScored = 1 << 26

func newEvaluateCmd() *cobra.Command {
	e := &evaluator{}
	cmd := &cobra.Command{
		Use:   "evaluate [flags] FILE...",
		Short: "Measure predictions: anybody's, or a model's on labelled examples",
		Long: `Measure predictions beside the labels that came.

Files have a line for each prediction, its columns divided by tabs, commas, semicolons or blanks.
--columns names them, or a header line does: label, predicted, score, proba, weight, and - for what
is to be left out. Without both, two columns are label,score; three label,predicted,score; four
label,predicted,score,proba. So the output of predict is measured behind the labels:

  paste labels.txt predicted.txt | halfspace evaluate -

Of two labels the larger number, or the later text, is the positive one; --positive LABEL chooses,
and makes all others negative. Without a column "predicted" a score of 0 or more, or a probability
of 0.5 or more, predicts the positive label. Of more labels it is needed.

With -i MODEL the files are labelled examples, which the model predicts first.

The metrics are those of: halfspace help metrics. AUC of two labels is exact: all scores are kept,
24 bytes each, up to 2^26 of them. --roc, --pr and --calibration write curves, as a picture where
the name ends in .svg or .png, else as CSV.`,
		Example: `  halfspace evaluate -i a9a.model --roc roc.svg a9a.t
  halfspace evaluate --columns label,proba --calibration bins.csv scored.csv`,
		Annotations: args(useExamples),
		RunE:        func(cmd *cobra.Command, args []string) error { return e.run(cmd, args) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&e.model, "from", "i", "", "predict the examples by the model in `FILE`")
	fs.StringSliceVar(&e.columns, "columns", nil, "the `NAMES` of the columns, as label,score")
	fs.StringVar(&e.positive, "positive", "", "the `LABEL` that is positive; all others are not")
	fs.StringVar(&e.roc, "roc", "", "write the ROC curve to `FILE`")
	fs.StringVar(&e.pr, "pr", "", "write the curve of precision and recall to `FILE`")
	fs.StringVar(&e.calib, "calibration", "", "write the bins of probabilities to `FILE`")
	e.read.flags(fs)
	e.machine.flags(fs)
	e.output.flags(fs)
	names(fs, useRead, "from")
	names(fs, useReplaced, "roc", "pr", "calibration")
	return cmd
}

func (e *evaluator) run(cmd *cobra.Command, args []string) error {
	e.cmd = cmd
	var in *streamInput
	files, err := args, error(nil)
	if e.model == "" {
		files, err = inputs(args)
	} else {
		files, in, err = streamOr(cmd, args)
	}
	if err != nil {
		return err
	}
	fs := cmd.Flags()
	e.m = eval.NewMetrics(eval.MetricsOptions{AUC: true})
	if e.model == "" {
		err = e.predictions(files)
	} else {
		if len(e.columns) > 0 || e.positive != "" {
			field := "columns"
			if e.positive != "" {
				field = "positive"
			}
			return usage("Leave it out: the model knows the labels.",
				"%s is for files of predictions, without %s", given(fs, field), given(fs, "from"))
		}
		err = e.byModel(cmd.Context(), files, in)
	}
	if err != nil {
		return err
	}
	return e.report()
}

// byModel predicts labelled examples.
func (e *evaluator) byModel(ctx context.Context, files []string, in *streamInput) error {
	m, err := loadModel(e.model)
	if err != nil {
		return err
	}
	pool, err := e.machine.start(e.cmd.Flags())
	if err != nil {
		return err
	}
	defer pool.Close()
	if m.Precision == "f64" {
		return evaluateModel[float64](ctx, e, m, pool, files, in)
	}
	return evaluateModel[float32](ctx, e, m, pool, files, in)
}

func evaluateModel[T engine.Float](ctx context.Context, e *evaluator, m *model.Model,
	pool *engine.Pool, files []string, in *streamInput) error {
	p, err := model.RestorePredictor[T](m, pool)
	if err != nil {
		return modelError(e.model, err)
	}
	data := e.read.data(e.cmd.Flags())
	o := data.Reading()
	o.Workers, o.OnBad = e.machine.threads, warnBadRows(e.cmd.ErrOrStderr())
	training.AsTrained(&o, m)
	s, work, end, _, err := openFiles[T](ctx, files, in, false, o)
	if err != nil {
		return e.unread(ctx, err)
	}
	defer end()
	if err := data.Idle(s.Info().Format); err != nil {
		return optionError(e.cmd.Flags(), err)
	}
	proba := learner.ProbaOf(p) != nil
	if e.labels = m.Prep.Classes; e.labels == nil {
		shown := m.Prep.Shown()
		e.labels = []string{orRest(shown.Negative), shown.Positive}
	}
	_, err = eval.TallyEach(work, p, s, proba, e.add)
	if err != nil {
		return e.unread(ctx, err)
	}
	return nil
}

func (e *evaluator) unread(ctx context.Context, err error) error {
	if training.Interrupted(ctx, err) {
		return &fail{codeStopped, errStopped, ""}
	}
	if err, is := sourceError(e.cmd, err, "nothing was measured"); is {
		return err
	}
	return dataError(err, "nothing was measured")
}

// add takes an outcome.
func (e *evaluator) add(o *eval.Outcome, scores []float64) {
	if len(scores) > 0 {
		e.m.AddScored(o, scores)
		return
	}
	e.m.Add(o)
	if len(e.labels) == 2 && len(e.all) <= mostScored {
		e.all = append(e.all, eval.Scored{Score: o.Score, Weight: o.Weight, Positive: o.Class == 1})
	}
}

// report prints what was measured, and writes the curves.
func (e *evaluator) report() error {
	r := evaluateReport{Schema: schema}
	d := describeMetrics(e.m, e.labels)
	if d == nil {
		return &fail{codeData, errors.New("no predictions"),
			"Check that this is the file you mean."}
	}
	r.metricsReport = *d
	curve := e.m.Curve()
	if n := len(e.all); n > 0 && n <= mostScored {
		curve = eval.CurveOf(e.all)
		if auc := curve.AUC(); auc == auc {
			exact := 0.0
			r.AUC, r.AUCBound = &auc, &exact
		}
	}
	if e.noScores {
		curve, r.AUC, r.AUCBound = eval.Curve{}, nil, nil
	}
	if p := curve.AveragePrecision(); len(curve.Points) > 0 && p == p {
		r.AveragePrecision = &p
	}
	if err := e.curves(&curve); err != nil {
		return err
	}
	if e.output.quiet && !e.output.json {
		return nil
	}
	w := stdout(e.cmd)
	if e.output.json {
		return printJSON(w, r)
	}
	var rows summaryRows
	rows.add("examples", "%d", r.Examples)
	rows.add("error", "%.3f %%", 100*r.Error)
	rows.add("balanced error", "%.3f %%", 100*r.BalancedError)
	if len(e.labels) > 2 {
		rows.add("macro F1", "%.6g", r.F1)
	} else {
		rows.add("F1", "%.6g", r.F1)
	}
	for _, v := range []struct {
		name  string
		value *float64
	}{{aucName(e.m), r.AUC}, {"weighted AUC", r.AUCWeighted},
		{"average precision", r.AveragePrecision}, {"log-loss", r.LogLoss},
		{"Brier score", r.Brier}, {"calibration error", r.CalibrationError}} {
		if v.value != nil {
			rows.add(v.name, "%.6g", *v.value)
		}
	}
	if err := twoColumns(w, rows); err != nil {
		return err
	}
	tables := metricFlags{list: []string{perClass}}
	if len(e.labels) <= 20 {
		tables.list = append(tables.list, theConfusion)
	}
	return tables.tables(w, e.m, e.labels)
}

// curves writes those that were asked for.
func (e *evaluator) curves(c *eval.Curve) error {
	fs := e.cmd.Flags()
	for _, f := range []struct{ flag, file string }{{"roc", e.roc}, {"pr", e.pr}} {
		if f.file != "" && !(c.Positives > 0 && c.Negative > 0) {
			return usage("It needs scores of two labels, both of which come.",
				"%s: there is no curve", given(fs, f.flag))
		}
	}
	if e.roc != "" {
		line := papers.Line{Name: "ROC"}
		text := []byte("false_positive_rate,true_positive_rate,threshold\n0,0,+Inf\n")
		line.X, line.Y = []float64{0}, []float64{0}
		for _, p := range pointsFor(e.roc, c) {
			x, y := p.False/c.Negative, p.True/c.Positives
			line.X, line.Y = append(line.X, x), append(line.Y, y)
			text = csvLine(text, x, y, p.Threshold)
		}
		if err := e.write(e.roc, text, papers.Figure{Name: "roc", Title: "ROC curve",
			XLabel: "false positive rate", YLabel: "true positive rate", YMin: 0, YMax: 1,
			LegendBottom: true, Lines: []papers.Line{line}}); err != nil {
			return err
		}
	}
	if e.pr != "" {
		line := papers.Line{Name: "precision"}
		text := []byte("recall,precision,threshold\n")
		for _, p := range pointsFor(e.pr, c) {
			x, y := p.True/c.Positives, p.True/(p.True+p.False)
			line.X, line.Y = append(line.X, x), append(line.Y, y)
			text = csvLine(text, x, y, p.Threshold)
		}
		if err := e.write(e.pr, text, papers.Figure{Name: "pr", Title: "Precision and recall",
			XLabel: "recall", YLabel: "precision", YMin: 0, YMax: 1, LegendBottom: true,
			Lines: []papers.Line{line}}); err != nil {
			return err
		}
	}
	if e.calib == "" {
		return nil
	}
	if !e.m.Proba() {
		return usage("Leave it out, or name a column proba.", "%s: there are no probabilities",
			given(fs, "calibration"))
	}
	line := papers.Line{Name: "share that came true"}
	text := []byte("from,to,examples,mean_probability,share\n")
	for _, b := range e.m.Calibration() {
		line.X, line.Y = append(line.X, b.Mean), append(line.Y, b.Share)
		text = csvLine(text, b.From, b.To, b.Weight, b.Mean, b.Share)
	}
	return e.write(e.calib, text, papers.Figure{Name: "calibration", Title: "Calibration",
		XLabel: "mean probability", YLabel: "share that came true", YMin: 0, YMax: 1,
		LegendLeft: true, Lines: []papers.Line{line, {Name: "perfect", X: []float64{0, 1},
			Y: []float64{0, 1}}}})
}

// pointsFor returns all points for a text, and about a thousand for a picture.
func pointsFor(file string, c *eval.Curve) []eval.CurvePoint {
	const most = 1000
	n := len(c.Points)
	if pictureOf(file) == "" || n <= most {
		return c.Points
	}
	var some []eval.CurvePoint
	for i := range most {
		some = append(some, c.Points[i*(n-1)/(most-1)])
	}
	return some
}

// pictureOf returns the form of a picture that a name ends in; "" for another name.
func pictureOf(file string) string {
	switch ext := strings.ToLower(filepath.Ext(file)); ext {
	case ".svg", ".png":
		return ext[1:]
	}
	return ""
}

func csvLine(b []byte, v ...float64) []byte {
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, x, 'g', -1, 64)
	}
	return append(b, '\n')
}

// write writes a curve.
func (e *evaluator) write(name string, text []byte, f papers.Figure) error {
	file, err := atomicfile.Create(name, 0o666)
	if err == nil {
		defer file.Discard()
		if form := pictureOf(name); form != "" {
			err = f.Write(file, form)
		} else {
			_, err = file.Write(text)
		}
		if err == nil {
			err = file.Commit()
		}
	}
	if err != nil {
		return &fail{codeFailed, fmt.Errorf("%s: %w", name, pathCause(err)),
			"Choose a folder that can be written."}
	}
	return nil
}
