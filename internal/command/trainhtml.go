package command

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/bench/papers"
	"github.com/halfspace-ml/halfspace/dataset/format"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/exchange"
	"github.com/halfspace-ml/halfspace/internal/atomicfile"
	"github.com/halfspace-ml/halfspace/training"
)

//go:embed trainhtml.html
var trainHTML string

// htmlPoints are those of the learning curve of --html.
const htmlPoints = 120

// htmlPart is the metrics of some examples.
type htmlPart struct {
	Title   string
	Metrics *metricsReport
}

// htmlFigure is a picture, and what it says for those who don't see it.
type htmlFigure struct {
	papers.Figure
	Alt string
}

// writeHTML writes the report of a run as one page that needs no other file.
func (t *trainer) writeHTML(r *trainReport, res *training.Result) error {
	data := struct {
		Report  *trainReport
		Tiles   [][2]string
		Figures []htmlFigure
		Parts   []htmlPart
		Rows    summaryRows
		Outputs []exchange.OutputSummary // weights
	}{Report: r, Figures: htmlFigures(&t.o, res)}
	tile := func(name, format string, value ...any) {
		data.Tiles = append(data.Tiles, [2]string{name, fmt.Sprintf(format, value...)})
	}
	tile("examples", "%d", r.Examples)
	if r.ProgressiveError != nil {
		tile("error, first epoch", "%.2f %%", 100**r.ProgressiveError)
	}
	if m := r.Metrics; m != nil {
		data.Parts = append(data.Parts, htmlPart{"First epoch", m})
		tile("balanced error", "%.2f %%", 100*m.BalancedError)
		if m.AUC != nil {
			tile("AUC", "%.4f", *m.AUC)
		}
	}
	if r.Test != nil {
		tile("error, test", "%.2f %%", 100*r.Test.Error)
		if r.Test.Metrics != nil {
			if auc := r.Test.Metrics.AUCWeighted; auc != nil {
				tile("macro AUC, test", "%.4f", *r.Test.Metrics.AUC)
			}
			data.Parts = append(data.Parts, htmlPart{"Test", r.Test.Metrics})
		}
	}
	if m, err := res.Model(); err == nil {
		if s, err := exchange.Inspect(m, 20); err == nil {
			data.Outputs = slices.DeleteFunc(s.Outputs, func(o exchange.OutputSummary) bool {
				return len(o.Top) == 0
			})
			slices.SortStableFunc(data.Outputs, func(a, b exchange.OutputSummary) int {
				return cmp.Or(format.CompareLabels(a.Class, b.Class),
					format.CompareLabels(a.Against, b.Against))
			})
		}
	}
	r.rows(&data.Rows, res, &t.metrics, recentName(&t.o))
	page, err := template.New("train").Funcs(template.FuncMap{
		"count": count,
		"share": func(v, of float64) string {
			if of <= 0 {
				return "0"
			}
			return fmt.Sprintf("%.3f", 0.6*v/of)
		},
		"picture": func(f papers.Figure) (template.URL, error) {
			var b bytes.Buffer
			if err := f.Write(&b, "png"); err != nil {
				return "", err
			}
			return template.URL("data:image/png;base64," +
				base64.StdEncoding.EncodeToString(b.Bytes())), nil
		},
	}).Parse(trainHTML)
	if err != nil {
		return err
	}
	file, err := atomicfile.Create(t.html, 0o666)
	if err == nil {
		defer file.Discard()
		if err = page.Execute(file, data); err == nil {
			err = file.Commit()
		}
	}
	if err != nil {
		return &fail{codeFailed, fmt.Errorf("%s %s: %w", given(t.cmd.Flags(), "html"), t.html,
			pathCause(err)), "Choose a folder that can be written."}
	}
	return nil
}

// mostCurves is how many classes have ROC curves in one figure.
const mostCurves = 10

// classCurves draws those of the classes, each against the rest, of up to mostCurves.
func classCurves(m *eval.Metrics, labels []string) (lines []papers.Line) {
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
func rocLine(name string, c *eval.Curve) papers.Line {
	c.Thin(htmlPoints)
	l := papers.Line{Name: name, X: []float64{0}, Y: []float64{0}}
	for _, p := range c.Points {
		l.X, l.Y = append(l.X, p.False/c.Negative), append(l.Y, p.True/c.Positives)
	}
	return l
}

// driftMarks are where drift was found, and what was done then.
func driftMarks(o *training.Options, drifts []eval.Drift) papers.Line {
	l := papers.Line{Name: "drift found", Form: papers.Marks}
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
		far, late := papers.Line{Name: "so far"}, papers.Line{Name: "since the last point"}
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
		f := papers.Figure{Name: "learning", Title: "Progressive error", XLabel: x,
			YLabel: "error", Lines: []papers.Line{late, far}}
		if marks := driftMarks(o, res.Counts.Drifts); len(marks.X) > 0 {
			f.Lines = append(f.Lines, marks)
		}
		list = append(list, htmlFigure{f, f.Finding()})
	}
	tested, labels := (*eval.Metrics)(nil), []string(nil)
	if res.Test != nil {
		tested, labels = res.Test.Metrics, shownClasses(res.Test.Info)
	}
	var roc, calibration []papers.Line
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
			l := papers.Line{Name: of.name}
			for _, b := range of.m.Calibration() {
				l.X, l.Y = append(l.X, b.Mean), append(l.Y, b.Share)
			}
			errors = append(errors, fmt.Sprintf("%s %.4f", of.name, of.m.CalibrationError()))
			calibration = append(calibration, l)
		}
	}
	if roc != nil {
		list = append(list, htmlFigure{papers.Figure{Name: "roc", Title: "ROC curve", YMin: 0,
			YMax: 1, XLabel: "false positive rate", YLabel: "true positive rate",
			LegendBottom: true, Lines: roc},
			"ROC curve. Area below it: " + strings.Join(areas, "; ")})
	}
	if calibration != nil {
		list = append(list, htmlFigure{papers.Figure{Name: "calibration", Title: "Calibration",
			YMin: 0, YMax: 1, XLabel: "mean probability", YLabel: "share that came true",
			LegendLeft: true, Lines: append(calibration, papers.Line{Name: "perfect",
				X: []float64{0, 1}, Y: []float64{0, 1}})},
			"Calibration. Expected error: " + strings.Join(errors, "; ")})
	}
	return list
}
