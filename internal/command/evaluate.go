package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/report"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// evaluateReport is what evaluate prints with --json.
type evaluateReport struct {
	Schema string `json:"schema"`
	metricsReport
	// Of two classes with scores or probabilities; of more with scores the mean of the classes',
	// by bins of scores; null else.
	AveragePrecision *float64 `json:"average_precision"`
	Warnings         warnings `json:"warnings"` // in which the result may not be what it seems
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
	exact  []exactCurve // of all classes, more than two, of which files have scores
	m      *eval.Metrics
	told   warnings
	// the files have none
	noScores bool
}

// exactCurve is the curve of a class against the rest, of all scores as they are.
type exactCurve struct {
	eval.Curve
	auc, precision float64
}

// mostScored is how many scores are kept, 24 bytes each, for curves and an AUC that are exact;
// where there are more, both are of bins.
const mostScored = 1 << 26

func newEvaluateCmd() *cobra.Command {
	e := &evaluator{}
	cmd := &cobra.Command{
		Use:   "evaluate [flags] FILE...",
		Short: "Measure predictions of any program, or of a model on labeled examples",
		Long:  helpText("evaluate", "{CURVES}", fmt.Sprint(mostCurves)),
		Example: `  halfspace evaluate -i a9a.model --roc roc.svg a9a.t
  halfspace evaluate --columns label,proba --calibration bins.csv scored.csv
  halfspace evaluate --columns label,proba:a,proba:b,proba:c --pr pr.svg three.csv`,
		Annotations: args(UseExamples),
		RunE:        func(cmd *cobra.Command, args []string) error { return e.run(cmd, args) },
	}
	fs := cmd.Flags()
	fs.StringVarP(&e.model, "from", "i", "", "predict the examples by the model in `FILE`")
	fs.StringSliceVar(&e.columns, "columns", nil, "the `NAMES` of the columns, as label,score")
	fs.StringVar(&e.positive, "positive", "", "the `LABEL` that is positive; all others are not")
	fs.StringVar(&e.roc, "roc", "", "write the ROC curve to `FILE`")
	fs.StringVar(&e.pr, "pr", "", "write the curve of precision and recall to `FILE`")
	fs.StringVar(&e.calib, "calibration", "", "write the bins of probabilities to `FILE`")
	e.read.flags(fs)
	e.read.anyFormatFlag(fs)
	e.machine.flags(fs)
	e.output.flags(fs)
	Names(fs, UseRead, "from")
	Names(fs, UseReplaced, "roc", "pr", "calibration")
	return cmd
}

func (e *evaluator) run(cmd *cobra.Command, args []string) error {
	e.cmd = cmd
	if err := e.pictures(); err != nil {
		return err
	}
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
			return Usage("Leave it out: the model knows the labels.",
				"%s is for files of predictions, without %s", Given(fs, field), Given(fs, "from"))
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
	o.AnyClasses = true // errors, and no more, where other labels come
	s, work, end, _, err := openFiles[T](ctx, files, in, false, o)
	if err != nil {
		return unread(ctx, e.cmd, err, "nothing was measured")
	}
	defer end()
	if err := data.Idle(s.Info().Format); err != nil {
		return optionError(e.cmd.Flags(), err)
	}
	e.output.decided(e.cmd, s.Info())
	proba := learner.ProbaOf(p) != nil
	e.labels = labelsOf(&m.Prep)
	t, classes := m.Threshold, len(m.Prep.Classes)
	_, err = eval.TallyEach(work, p, s, proba, func(o *eval.Outcome, scores []float64) {
		if classes > 0 && int(o.Class) >= classes {
			o.Class = -1 // none of them, as predict has it
		}
		if t != nil && o.Predicted >= 0 {
			o.Predicted = 0
			if o.Score >= t.Score {
				o.Predicted = 1
			}
		}
		e.add(o, scores)
	})
	if err != nil {
		return unread(ctx, e.cmd, err, "nothing was measured")
	}
	if x, ok := training.NewForeign(s.Info(), ""); ok {
		e.told.tell(e.cmd.ErrOrStderr(), x.Code, x.Text, nextOf(x, false))
	}
	return nil
}

// add takes an outcome.
func (e *evaluator) add(o *eval.Outcome, scores []float64) {
	if len(scores) > 0 {
		e.m.AddScored(o, scores)
		return
	}
	e.m.Add(o)
	if len(e.labels) == 2 && len(e.all) <= mostScored {
		if o.Class < 0 {
			return
		}
		e.all = append(e.all, eval.Scored{Score: o.Score, Weight: o.Weight, Positive: o.Class == 1})
	}
}

// report prints what was measured, and writes the curves.
func (e *evaluator) report() error {
	r := evaluateReport{Schema: schema, Warnings: append(warnings{}, e.told...)}
	d := describeMetrics(e.m, e.labels)
	if d == nil {
		return &fail{CodeData, errors.New("no predictions"),
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
	curves := e.classCurves(&curve)
	p, area := meanPrecision(curves), aucName(e.m)
	if e.exact != nil {
		p, area = e.exactAreas(&r), macroAUC
	}
	if p == p {
		r.AveragePrecision = &p
	}
	if err := e.curves(curves); err != nil {
		return err
	}
	return e.output.print(e.cmd, r, func(w io.Writer) error { return e.print(w, &r, area) })
}

// print prints the report for people; area is what the AUC is called.
func (e *evaluator) print(w io.Writer, r *evaluateReport, area string) error {
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
	}{{area, r.AUC}, {"weighted AUC", r.AUCWeighted},
		{strings.Replace(area, "AUC", "average precision", 1), r.AveragePrecision},
		{"log-loss", r.LogLoss}, {"Brier score", r.Brier},
		{"calibration error", r.CalibrationError}} {
		if v.value != nil {
			rows.add(v.name, "%.6g", *v.value)
		}
	}
	if err := rows.write(w); err != nil {
		return err
	}
	tables := metricFlags{list: []string{perClass}}
	if len(e.labels) <= 20 {
		tables.list = append(tables.list, theConfusion)
	}
	return tables.tables(w, &r.metricsReport)
}

// exactAreas puts the areas of the exact curves into r, and returns their mean average precision. A
// class that never came, or alone, has none.
func (e *evaluator) exactAreas(r *evaluateReport) (precision float64) {
	var n, auc, weighted, came float64
	for k := range r.Classes {
		if c := &e.exact[k]; c.Positives > 0 && c.Negative > 0 {
			r.Classes[k].AUC = &c.auc
			n, auc, precision = n+1, auc+c.auc, precision+c.precision
			weighted, came = weighted+c.Positives*c.auc, came+c.Positives
		}
	}
	if n > 0 {
		auc, weighted = auc/n, weighted/came
		exact := 0.0
		r.AUC, r.AUCBound, r.AUCWeighted = &auc, &exact, &weighted
	}
	return precision / n
}

// write writes a curve.
func (e *evaluator) write(name string, text []byte, f report.Figure) error {
	return replaceFile(name, name, func(w io.Writer) (err error) {
		if strings.EqualFold(filepath.Ext(name), ".svg") {
			return f.Write(w)
		}
		_, err = w.Write(text)
		return err
	})
}
