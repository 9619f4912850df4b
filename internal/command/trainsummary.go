package command

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
)

// summary prints the report for people.
func (r *trainReport) summary(w io.Writer, res *training.Result, m *metricFlags,
	recent string) error {
	var rows summaryRows
	r.rows(&rows, res, m, recent)
	if err := rows.write(w); err != nil {
		return err
	}
	of := r.Metrics // of the test, if there is one
	if r.Test != nil {
		of = r.Test.Metrics
	}
	return m.tables(w, of)
}

// rows are the lines of the summary.
func (r *trainReport) rows(rows *summaryRows, res *training.Result, m *metricFlags,
	recent string) {
	r.learned(rows, res)
	r.measured(rows, res, m, recent)
	r.margins(rows)
	r.converged(rows)
	rows.add("seconds", "%.3f read, %.3f learn, %.3f total", r.Seconds.Read, r.Seconds.Learn,
		r.Seconds.Total)
	rows.add("speed", "%.0f ns an example (%s, %s)", r.NsPerExample, r.Impl,
		Plural(r.Threads, "thread"))
	if l := r.Latency; l != nil {
		rows.add("latency", "median %v, 99 %% within %v, longest %v", time.Duration(l.P50),
			time.Duration(l.P99), time.Duration(l.Max))
	}
	if m := r.Memory; m != nil && m.Peak > 0 {
		rows.add("memory", "%s at most, %s planned", inMiB(m.Peak), inMiB(m.Planned()))
	}
	if r.Model != nil {
		rows.add("model", "%s (sha256 %s)", *r.Model, *r.ModelSHA256)
	}
}

// learned says what was learned, from what.
func (r *trainReport) learned(rows *summaryRows, res *training.Result) {
	rows.add("learner", "%s %s, %s", r.Learner, describeConfig(r.Learner, r.Config), r.Precision)
	if n := len(r.Classes); n > 0 {
		rows.add("data", "%s, %s; %d classes: %s", r.Format, featuresOf(res), n, someOf(r.Classes))
	} else {
		rows.add("data", "%s, %s; label %q is -1, %q is +1", r.Format, featuresOf(res),
			orRest(r.Labels.Negative), r.Labels.Positive)
	}
	if r.Layout != nil {
		rows.add("layout", "%s, %s", r.Format, r.Layout)
	}
	if p := r.Prepared; len(p.Auto) > 0 {
		rows.add("prepared", "%s: the default for %s; --%s none turns it off", p, r.Format,
			strings.Join(p.Auto, " none, --"))
	}
	if r.Few {
		rows.add("epochs", "%d, shuffled: the default for %s with fewer than %d rows; "+
			"--epochs 1 uses one", training.FewEpochs, r.Format, training.FewRows)
	}
	if r.Fit != nil && r.Fit.Gap != nil {
		rows.add("examples", "%d", r.Examples)
		rows.add("steps", "%d", r.Updates)
	} else {
		rows.add("examples", "%d (%s, %d presented)", r.Examples,
			epochs(r.Epochs, r.Presented%max(r.Examples, 1) != 0), r.Presented)
		rows.add("updates", "%d", r.Updates)
	}
	if r.Support != nil {
		rows.add("support", "%s", Plural(int(*r.Support), "support vector"))
	}
	if p := r.Posterior; p != nil {
		if text := describePosterior(p); text != "" {
			rows.add("posterior", "%s", text)
		}
	}
}

// describeCalibration says what probability a score, or those of more than two classes, stand for.
func describeCalibration(c *learner.Calibration, classes int) string {
	switch {
	case len(c.Classes) > 0:
		return "a sigmoid of each class's score, divided by their sum"
	case classes > 1:
		return fmt.Sprintf("softmax of %.4g times the scores (temperature %.4g)", c.Slope,
			1/c.Slope)
	}
	return fmt.Sprintf("P(+1) = 1/(1 + exp(-(%.4g f %+.4g))) of a score f", c.Slope, c.Intercept)
}

// measured says how good the predictions were.
func (r *trainReport) measured(rows *summaryRows, res *training.Result, m *metricFlags,
	recent string) {
	metrics := func(of *eval.Metrics, name, before string, withError bool) {
		if of == nil || of.Examples() == 0 {
			return
		}
		if text := m.line(of, withError); text != "" {
			rows.add(name, "%s%s", text, before)
		}
	}
	probabilities := func(p *probaReport, where string) {
		if p != nil {
			rows.add("probabilities", "log-loss %.4f, Brier score %.4f, calibration error %.4f %s",
				p.LogLoss, p.Brier, p.CalibrationError, where)
		}
	}
	if r.ProgressiveError != nil {
		rows.add("progressive", "%.3f %% error in the first epoch", 100**r.ProgressiveError)
	}
	if l := r.Late; l != nil {
		rows.add("by ids", "%d labels came, %d rows expired, %d wait, %d ids unknown, %d again",
			l.Answered, l.Expired, r.Waiting, l.Unknown, l.Again)
	}
	metrics(res.Counts.Metrics, "metrics", " in the first epoch", false)
	metrics(res.Counts.Recent, recent, "", true)
	probabilities(r.Proba, "in the first epoch")
	if c := r.Calibration; c != nil {
		rows.add("calibration", "%s", describeCalibration(c, len(res.Info.Classes)))
	}
	if t := r.Threshold; t != nil && t.Cost != nil {
		rows.add("threshold", "%.4g: precision %.3f, recall %.3f, cost %.4g an example not "+
			"learned yet; %.4g to %.4g (95 %%)", t.Score, t.Precision, t.Recall, *t.Cost, t.Low,
			t.High)
	} else if t != nil {
		of := "precision"
		if strings.HasPrefix(t.Target, "recall") {
			of = "recall"
		}
		rows.add("threshold", "%.4g: precision %.3f, recall %.3f on progressive scores; %s "+
			"%.3f to %.3f (95 %%)", t.Score, t.Precision, t.Recall, of, t.Low, t.High)
	}
	if r.BadRows > 0 {
		rows.add("bad rows", "%d passed over", r.BadRows)
	}
	if r.Drifts != nil {
		rows.add("drift", "%s", driftText(r.Drifts))
	}
	if r.Test != nil {
		rows.add("test", "%.3f %% error (%d of %d)", 100*r.Test.Error, r.Test.Errors,
			r.Test.Examples)
		metrics(res.Test.Metrics, "metrics", " in the test", false)
		probabilities(r.Test.Proba, "in the test")
	}
}

// converged says whether the passes have come to an end of themselves.
func (r *trainReport) converged(rows *summaryRows) {
	switch {
	case r.Fit != nil && r.Fit.Gap != nil:
		rows.add("converged", "%v, duality gap %.3g of the objective", r.Converged, *r.Fit.Gap)
	case r.Converged && r.Mistaken != nil:
		rows.add("converged", "the last epoch made no update, and no member makes a mistake")
	case r.Converged:
		rows.add("converged", "the last epoch made no update")
	case r.Fit != nil:
		rows.add("converged", "no, %s left", Plural(r.Fit.Violators, "violator"))
	}
}

// margins says how wide the margins are.
func (r *trainReport) margins(rows *summaryRows) {
	if r.Margin != nil {
		rows.add("margin", "%.6g", *r.Margin)
	}
	if m := r.Margins; m != nil {
		if m.Geometric != m.Directional {
			rows.add("without bias", "%.6g, over the length of the weights without the bias "+
				"feature's", m.Geometric)
		}
		if m.P != nil && *m.P != 2 {
			rows.add("p-norm margin", "%.6g, p = %.6g", m.PNorm, *m.P)
		}
		if a := m.Average; a != nil {
			rows.add("average's bound", "%.6g from the members' margins; %.6g with members of "+
				"length 1, %.6g with the best weights", a.Averaged, a.Equal, a.Best)
		}
		if m.OfMax != nil {
			rows.add("of the maximum", "%.4f, the svm reaches %.6g", *m.OfMax, *m.Max)
		}
	}
	if f := r.Fit; f != nil {
		if f.Bound != nil {
			rows.add("margin's bound", "%.6g, no hyperplane reaches more", *f.Bound)
		}
		if f.Gamma != nil && f.Margin != nil {
			rows.add("soft margin", "Gamma %.6g in the extended space, gamma %.6g", *f.Margin,
				*f.Gamma)
		}
		if f.Excess != nil {
			rows.add("D'/D - 1", "%.3g", *f.Excess)
		}
	}
}

// featuresOf says how many there are.
func featuresOf(res *training.Result) string {
	if res.Bias {
		return Plural(res.Info.Dim-1, "feature") + " and the bias"
	}
	return Plural(res.Info.Dim, "feature")
}

// epochs describes the complete passes, and one that was cut short.
func epochs(n int, part bool) string {
	switch {
	case n == 0:
		return "the first epoch was not finished"
	case part:
		return Plural(n, "epoch") + " and a part"
	}
	return Plural(n, "epoch")
}

// describeConfig writes settings as the flags that give them. Left out are zeros that are defaults,
// and what has no effect.
func describeConfig(learnerName string, c learner.Config) string {
	var s []string
	var defaults []field
	if e, err := learner.Lookup(learnerName); err == nil {
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
		if bc, _ := config.Interface().(learner.Config); bc != nil {
			if text := describeConfig(name.String(), bc); text != "" {
				s = append(s, text)
			}
		}
	}
	return strings.Join(s, " ")
}

// someOf lists labels, up to ten.
func someOf(labels []string) string {
	var s []string
	for i, label := range labels {
		if i == 10 {
			s = append(s, "...")
			break
		}
		s = append(s, shownLabel(label))
	}
	return strings.Join(s, ", ")
}

func orRest(label string) string {
	if label == "" {
		return "(any other)"
	}
	return label
}

// driftText says where drift was found.
func driftText(all []eval.Drift) string {
	if len(all) == 0 {
		return "none found"
	}
	const most = 5
	var at []string
	for _, d := range all[:min(len(all), most)] {
		at = append(at, fmt.Sprint(d.Example))
	}
	text := "found after " + strings.Join(at, ", ") + " examples"
	if len(all) > most {
		text += fmt.Sprintf(", and %d more", len(all)-most)
	}
	return text
}
