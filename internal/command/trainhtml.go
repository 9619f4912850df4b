package command

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/exchange"
	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/report"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// htmlPoints are those of the learning curve of --html.
const htmlPoints = 120

// htmlStyle is the style of a run's page besides that of all pages.
const htmlStyle = `th { max-width: min(16rem, 40vw); overflow-wrap: break-word; }
td.heat { padding-left: .7rem; background: rgba(var(--heat), var(--share)); }
.settings td { overflow-wrap: anywhere; }
`

// htmlFigure is a picture, and its description for those who don't see it.
type htmlFigure struct {
	report.Figure
	Alt string
}

// writeHTML writes the report of a run as one page that needs no other file.
func (t *trainer) writeHTML(r *trainReport, res *training.Result) error {
	what := Given(t.cmd.Flags(), "html") + " " + t.html
	return replaceFile(what, t.html, func(w io.Writer) error {
		page, err := t.htmlPage(r, res)
		if err == nil {
			_, err = io.WriteString(w, page)
		}
		return err
	})
}

func (t *trainer) htmlPage(r *trainReport, res *training.Result) (string, error) {
	var p report.Page
	p.Begin("halfspace train: "+r.Learner, htmlStyle, "")
	p.Put("<h1>%s</h1>\n<p class=\"soft\">Each example was predicted before it was learned: all "+
		"figures of the first epoch are of examples not seen before.</p>\n"+
		"<div class=\"tiles\">\n", r.Learner)
	tile := func(name, format string, value any) {
		p.Put("<div class=\"tile\"><b>"+format+"</b>%s</div>\n", value, name)
	}
	tile("examples", "%d", r.Examples)
	if r.ProgressiveError != nil {
		tile("error, first epoch", "%.2f %%", 100**r.ProgressiveError)
	}
	if m := r.Metrics; m != nil {
		tile("balanced error", "%.2f %%", 100*m.BalancedError)
		if m.AUC != nil {
			tile("AUC", "%.4f", *m.AUC)
		}
	}
	if r.Test != nil {
		tile("error, test", "%.2f %%", 100*r.Test.Error)
		if m := r.Test.Metrics; m != nil && m.AUCWeighted != nil {
			tile("macro AUC, test", "%.4f", *m.AUC)
		}
	}
	p.Put("</div>\n")
	if figures := htmlFigures(&t.o, res); figures != nil {
		p.Put("<div class=\"figures\">\n")
		for _, f := range figures {
			if err := p.Figure(f.Figure, f.Alt, ""); err != nil {
				return "", err
			}
		}
		p.Put("</div>\n")
	}
	if r.Metrics != nil {
		htmlMetrics(&p, "First epoch", r.Metrics)
	}
	if r.Test != nil && r.Test.Metrics != nil {
		htmlMetrics(&p, "Test", r.Test.Metrics)
	}
	htmlWeights(&p, res)
	p.Put("<h2>The run</h2>\n<div class=\"settings\">")
	p.Table("The run", "")
	var rows summaryRows
	r.rows(&rows, res, &t.metrics, recentName(&t.o))
	for _, row := range rows {
		p.Put("<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", row[0], row[1])
	}
	p.EndTable()
	p.Put("</div>\n")
	p.End()
	return p.String(), nil
}

// htmlMetrics writes the tables of some examples' metrics.
func htmlMetrics(p *report.Page, title string, m *metricsReport) {
	p.Put("<h2>%s</h2>\n", title)
	p.Table("Classes, "+title, "Of each class", "class", ">examples", ">predicted", ">precision",
		">recall", ">F1")
	for _, c := range m.Classes {
		p.Put("<tr><th scope=\"row\">%s</th>", c.Label)
		p.Cell(count(c.Examples))
		p.Cell(count(c.Predicted))
		for _, v := range []float64{c.Precision, c.Recall, c.F1} {
			p.Cell(fmt.Sprintf("%.4f", v))
		}
		p.Put("</tr>\n")
	}
	p.EndTable()
	if m.Confusion == nil {
		return
	}
	head := []string{`is \ predicted`}
	for _, c := range m.Classes {
		head = append(head, ">"+c.Label)
	}
	p.Table("Confusion, "+title, "What each class (a row) was predicted as; more colour is "+
		"a larger share of the row", head...)
	for k, row := range m.Confusion {
		p.Put("<tr><th scope=\"row\">%s</th>", m.Classes[k].Label)
		for _, v := range row {
			share := 0.0
			if all := m.Classes[k].Examples; all > 0 {
				share = 0.6 * v / all
			}
			p.Put("<td class=\"n heat\" style=\"--share: %.3f\">%s</td>", share, count(v))
		}
		p.Put("</tr>\n")
	}
	p.EndTable()
}

// htmlWeights writes the largest weights of a model that has weights.
func htmlWeights(p *report.Page, res *training.Result) {
	m, err := res.Model()
	if err != nil {
		return
	}
	s, err := exchange.Inspect(m, 20)
	if err != nil {
		return
	}
	outputs := slices.DeleteFunc(s.Outputs, func(o exchange.OutputSummary) bool {
		return len(o.Top) == 0
	})
	slices.SortStableFunc(outputs, func(a, b exchange.OutputSummary) int {
		return cmp.Or(format.CompareLabels(a.Class, b.Class),
			format.CompareLabels(a.Against, b.Against))
	})
	for i, o := range outputs {
		open := report.HTML("")
		if i == 0 {
			p.Put("<h2>The largest weights</h2>\n")
			open = " open"
		}
		name := "for " + o.Class
		if o.Against != "" {
			name += " against " + o.Against
		}
		p.Put("<details%s><summary>%s</summary>\n", open, name)
		caption := fmt.Sprintf("%d of %d weights that are not zero", len(o.Top), o.NonZeros)
		if o.Bias != 0 {
			caption += fmt.Sprintf(", and a bias of %.6g", o.Bias)
		}
		p.Table("Weights "+name, caption, "feature", ">weight")
		for _, w := range o.Top {
			p.Put("<tr><th scope=\"row\">%s</th>", w.Feature)
			p.Cell(fmt.Sprintf("%.6g", w.Weight))
			p.Put("</tr>\n")
		}
		p.EndTable()
		p.Put("</details>\n")
	}
}

// mostCurves is how many classes have ROC curves in one figure.
const mostCurves = 10

// classCurves draws those of the classes, each against the rest, of up to mostCurves.
func classCurves(m *eval.Metrics, labels []string) (lines []report.Line) {
	if m.Classes() > mostCurves || m.Classes() > len(labels) {
		return nil
	}
	for _, k := range inOrder(m.Classes(), labels) {
		if c := m.ClassCurve(k); len(c.Points) > 0 {
			lines = append(lines, rocLine(labels[k], &c))
		}
	}
	return lines
}

// rocLine draws a ROC curve, which it thins.
func rocLine(name string, c *eval.Curve) report.Line {
	c.Thin(htmlPoints)
	t := rocCurve(&classCurve{Curve: *c})
	return report.Line{Name: name, X: t.x, Y: t.y}
}

// driftMarks are where drift was found, and what was done then.
func driftMarks(o *training.Options, drifts []eval.Drift) report.Line {
	l := report.Line{Name: "drift found", Form: report.Marks}
	switch o.OnDrift {
	case training.DriftReset:
		l.Name = "drift found, begun anew"
	case training.DriftForget:
		l.Name = "drift found, forgotten"
	}
	for _, d := range drifts {
		l.X = append(l.X, float64(d.Example))
	}
	return l
}

// htmlFigures draws the learning curve, ROC curves and the calibration, where there are any.
func htmlFigures(o *training.Options, res *training.Result) (list []htmlFigure) {
	if points := res.Counts.Curve; len(points) > 1 {
		far, late := report.Line{Name: "so far"}, report.Line{Name: "since the last point"}
		if name := recentName(o); name != "" {
			late.Name = name
		}
		var last eval.LearningPoint
		for _, p := range points {
			x := float64(p.Examples)
			far.X, far.Y = append(far.X, x), append(far.Y, float64(p.Errors)/x)
			y := p.Recent
			if y != y {
				y = float64(p.Errors-last.Errors) / float64(p.Examples-last.Examples)
			}
			late.X, late.Y = append(late.X, x), append(late.Y, y)
			last = p
		}
		x := "examples"
		if n := res.Counts.Examples; n < last.Examples {
			x = fmt.Sprintf("examples; those beyond %d were learned before", n)
		}
		f := report.Figure{Name: "learning", Title: "Progressive error", XLabel: x,
			YLabel: "error", Lines: []report.Line{late, far}}
		if marks := driftMarks(o, res.Counts.Drifts); len(marks.X) > 0 {
			f.Lines = append(f.Lines, marks)
		}
		list = append(list, htmlFigure{f, f.Finding()})
	}
	tested, labels := (*eval.Metrics)(nil), []string(nil)
	if res.Test != nil {
		tested, labels = res.Test.Metrics, shownClasses(res.Test.Info)
	}
	var roc, calibration []report.Line
	var areas, errors []string // by name
	for _, of := range []struct {
		name string
		m    *eval.Metrics
	}{{"first epoch", res.Counts.Metrics}, {"test", tested}} {
		if of.m == nil {
			continue
		}
		if c := of.m.Curve(); of.m.Classes() == 2 && c.Positives > 0 && c.Negative > 0 {
			areas = append(areas, fmt.Sprintf("%s %.4f", of.name, c.AUC()))
			roc = append(roc, rocLine(of.name, &c))
		}
		if lines := classCurves(of.m, labels); lines != nil {
			mean, _ := of.m.AUC()
			areas = append(areas, fmt.Sprintf("%s %.4f, mean of %d classes", of.name, mean,
				len(lines)))
			roc = append(roc, lines...)
		}
		if of.m.Proba() {
			errors = append(errors, fmt.Sprintf("%s %.4f", of.name, of.m.CalibrationError()))
			calibration = append(calibration, calibrationLine(of.name, of.m))
		}
	}
	if roc != nil {
		list = append(list, htmlFigure{rocFigure(roc),
			"ROC curve. Area below it: " + strings.Join(areas, "; ")})
	}
	if calibration != nil {
		list = append(list, htmlFigure{calibrationFigure(calibration),
			"Calibration. Expected error: " + strings.Join(errors, "; ")})
	}
	return list
}
