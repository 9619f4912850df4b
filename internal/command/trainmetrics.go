package command

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/spelling"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// metric is one that --metrics names.
type metric struct {
	name   string
	column string // above it in progress lines
	proba  bool   // of probabilities
	// The value with its words, and the number alone; "" where there is none.
	text   func(*eval.Metrics) string
	number func(*eval.Metrics) string
}

// allMetrics are the metrics of --metrics that fit into a line.
var allMetrics = []metric{
	{"error", "error", false, func(m *eval.Metrics) string {
		return fmt.Sprintf("error %.3f %%", 100*m.Error())
	}, func(m *eval.Metrics) string { return fmt.Sprintf("%.6f", m.Error()) }},
	{"balanced", "balanced", false, func(m *eval.Metrics) string {
		return fmt.Sprintf("balanced error %.3f %%", 100*m.BalancedError())
	}, func(m *eval.Metrics) string { return fmt.Sprintf("%.6f", m.BalancedError()) }},
	{"f1", "F1", false, func(m *eval.Metrics) string {
		if m.Classes() > 2 {
			return fmt.Sprintf("macro F1 %.4f", m.F1())
		}
		return fmt.Sprintf("F1 %.4f", m.F1())
	}, func(m *eval.Metrics) string { return fmt.Sprintf("%.6f", m.F1()) }},
	{"auc", "AUC", false, func(m *eval.Metrics) string {
		auc, bound := m.AUC()
		if auc != auc {
			return ""
		}
		return fmt.Sprintf("%s %.5f ± %.5f", aucName(m), auc, bound)
	}, func(m *eval.Metrics) string {
		auc, _ := m.AUC()
		if auc != auc {
			return "-"
		}
		return fmt.Sprintf("%.6f", auc)
	}},
	{"log-loss", "log-loss", true, probaText("log-loss", (*eval.Metrics).LogLoss),
		probaNumber((*eval.Metrics).LogLoss)},
	{"brier", "Brier", true, probaText("Brier score", (*eval.Metrics).Brier),
		probaNumber((*eval.Metrics).Brier)},
	{"ece", "calibration", true,
		probaText("calibration error", (*eval.Metrics).CalibrationError),
		probaNumber((*eval.Metrics).CalibrationError)},
}

func probaText(what string, of func(*eval.Metrics) float64) func(*eval.Metrics) string {
	return func(m *eval.Metrics) string {
		if !m.Proba() {
			return ""
		}
		return fmt.Sprintf("%s %.4f", what, of(m))
	}
}

func probaNumber(of func(*eval.Metrics) float64) func(*eval.Metrics) string {
	return func(m *eval.Metrics) string {
		if !m.Proba() {
			return "-"
		}
		return fmt.Sprintf("%.6f", of(m))
	}
}

// Names of --metrics that are more than a line.
const (
	everyMetric  = "all"
	perClass     = "classes"
	theConfusion = "confusion"
)

// metricNames are what --metrics takes.
func metricNames() (names []string) {
	for _, m := range allMetrics {
		names = append(names, m.name)
	}
	return append(names, perClass, theConfusion, everyMetric)
}

// metricFlags say which metrics are shown, and of what.
type metricFlags struct{ list []string }

func (m *metricFlags) flags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&m.list, "metrics", nil, "show these `METRICS`, as auc,f1: "+
		strings.Join(metricNames(), ", ")+" (see: halfspace help metrics)")
}

// options has measured what is to be shown. It refuses what is no metric.
func (m *metricFlags) options(fs *pflag.FlagSet, o *training.Options, html string) error {
	if o.AUC = m.asks("auc") || html != ""; html != "" {
		o.Curve = htmlPoints
	}
	return m.check(fs)
}

// proba has probabilities tallied where a metric of them is to be shown. A learner without has
// those of --calibrate, in the test.
func (m *metricFlags) proba(fs *pflag.FlagSet, o *training.Options) error {
	t := o.Config.Traits()
	switch {
	case m.asks(everyMetric) && !o.UntilConverged && t.Proba:
		o.Proba = true
	case !m.asksProba() || o.Calibrate != "" && len(o.Test) > 0 && !t.Proba:
	case !t.Proba && !o.Proba:
		return Usage("Add --calibrate platt and --test FILE, or leave it out.",
			"%s %s: %s has no probabilities of its own", Given(fs, "metrics"),
			strings.Join(m.list, ","), o.Learner)
	default:
		o.Proba = true
	}
	return nil
}

func (m *metricFlags) check(fs *pflag.FlagSet) error {
	names := metricNames()
	for _, name := range m.list {
		if slices.Contains(names, name) {
			continue
		}
		next := "The metrics: " + strings.Join(names, ", ") + "."
		if near := spelling.Nearest(name, names); near != "" {
			next = "Did you mean " + near + "? " + next
		}
		return Usage(next, "%s %s: no such metric", Given(fs, "metrics"), name)
	}
	return nil
}

func (m *metricFlags) asks(name string) bool {
	return slices.Contains(m.list, name) || slices.Contains(m.list, everyMetric)
}

// asksProba reports whether a metric of probabilities was named.
func (m *metricFlags) asksProba() bool {
	return slices.ContainsFunc(allMetrics, func(k metric) bool {
		return k.proba && slices.Contains(m.list, k.name)
	})
}

// line is the values that were asked for, as text. error is left out where it stands beside them.
func (m *metricFlags) line(of *eval.Metrics, withError bool) string {
	var parts []string
	for _, k := range allMetrics {
		asked := m.asks(k.name)
		switch {
		case k.name == "error":
			asked = withError
		case k.proba: // of all examples they have a line of their own
			asked = withError && of.Proba()
		}
		if text := ""; asked {
			if text = k.text(of); text != "" {
				parts = append(parts, text)
			}
		}
	}
	return strings.Join(parts, ", ")
}

// columns are the metrics that progress lines have beside the error: those named, but for
// probabilities, which have columns of their own.
func (m *metricFlags) columns() (list []metric) {
	for _, k := range allMetrics {
		if k.name != "error" && !k.proba && m.asks(k.name) {
			list = append(list, k)
		}
	}
	return list
}

// recentName says of which examples Options.Window or Fading show metrics; "" without.
func recentName(o *training.Options) string {
	switch {
	case o.Window > 0:
		return fmt.Sprintf("last %d", o.Window)
	case o.Fading > 0:
		return "fading"
	}
	return ""
}

// tables writes what was asked for that is more than a line: figures of each class, and the
// confusion matrix. Nothing where there are no metrics.
func (m *metricFlags) tables(w io.Writer, of *metricsReport) error {
	if of == nil {
		return nil
	}
	var rows [][]string
	if m.asks(perClass) {
		rows = [][]string{{"class", "examples", "predicted", "precision", "recall", "F1"}}
		for _, c := range of.Classes {
			rows = append(rows, []string{shownLabel(c.Label), count(c.Examples), count(c.Predicted),
				fmt.Sprintf("%.4f", c.Precision), fmt.Sprintf("%.4f", c.Recall),
				fmt.Sprintf("%.4f", c.F1)})
		}
		if err := rightTable(w, rows); err != nil {
			return err
		}
	}
	if !m.asks(theConfusion) || of.Confusion == nil {
		return nil
	}
	rows = [][]string{{"is \\ predicted"}}
	for k, cells := range of.Confusion {
		label := shownLabel(of.Classes[k].Label)
		rows[0] = append(rows[0], label)
		row := []string{label}
		for _, v := range cells {
			row = append(row, count(v))
		}
		rows = append(rows, row)
	}
	return rightTable(w, rows)
}

// count is a weight: without weights a whole number.
func count(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// rightTable writes a table behind an empty line: the first column to the left, the others to the
// right.
func rightTable(w io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	b.WriteByte('\n')
	for _, row := range rows {
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(&b, "%-*s", widths[i], cell)
			} else {
				fmt.Fprintf(&b, "  %*s", widths[i], cell)
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
