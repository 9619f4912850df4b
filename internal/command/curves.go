package command

import (
	"bytes"
	"encoding/csv"
	"math"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/report"
)

// macroAverage is the name of the mean of the classes' curves.
const macroAverage = "macro average"

// classCurve is the curve of a class against the rest; of two classes the only one has no name.
type classCurve struct {
	class string
	eval.Curve
}

// classCurves returns those of all classes that have one; of two it is c.
func (e *evaluator) classCurves(c *eval.Curve) (list []classCurve) {
	if len(e.labels) <= 2 {
		if c.Positives > 0 && c.Negative > 0 {
			list = append(list, classCurve{"", *c})
		}
		return list
	}
	for k := range e.exact {
		if c := e.exact[k].Curve; len(c.Points) > 0 && c.Positives > 0 && c.Negative > 0 {
			list = append(list, classCurve{e.labels[k], c})
		}
	}
	for _, k := range inOrder(e.m.Classes(), e.labels) {
		if c := e.m.ClassCurve(k); len(c.Points) > 0 {
			list = append(list, classCurve{e.labels[k], c})
		}
	}
	return list
}

// meanPrecision is the mean of the classes' average precisions; NaN without curves.
func meanPrecision(curves []classCurve) (p float64) {
	for i := range curves {
		p += curves[i].AveragePrecision()
	}
	return p / float64(len(curves))
}

// drawnCurve is a curve as it is drawn: X ascends.
type drawnCurve struct {
	class           string
	x, y, threshold []float64
}

// rocCurve begins where nothing is predicted.
func rocCurve(c *classCurve) drawnCurve {
	t := drawnCurve{c.class, []float64{0}, []float64{0}, []float64{math.Inf(1)}}
	for _, p := range c.Points {
		t.add(p.False/c.Negative, p.True/c.Positives, p.Threshold)
	}
	return t
}

// prCurve begins at the largest threshold.
func prCurve(c *classCurve) drawnCurve {
	t := drawnCurve{class: c.class}
	for _, p := range c.Points {
		t.add(p.True/c.Positives, p.True/(p.True+p.False), p.Threshold)
	}
	return t
}

func (t *drawnCurve) add(x, y, threshold float64) {
	t.x, t.y, t.threshold = append(t.x, x), append(t.y, y), append(t.threshold, threshold)
}

// rocAt is the largest y at x, on the line to the next point.
func (t *drawnCurve) rocAt(x float64) float64 {
	i := sort.Search(len(t.x), func(i int) bool { return t.x[i] > x }) - 1
	if i+1 == len(t.x) {
		return t.y[i]
	}
	return t.y[i] + (t.y[i+1]-t.y[i])*(x-t.x[i])/(t.x[i+1]-t.x[i])
}

// prAt is the precision of the largest threshold whose recall is x or more, as the average
// precision has it.
func (t *drawnCurve) prAt(x float64) float64 {
	return t.y[min(sort.SearchFloat64s(t.x, x), len(t.y)-1)]
}

// meanOf is the mean of drawn at x from 0 to 1.
func meanOf(drawn []drawnCurve, at func(t *drawnCurve, x float64) float64) drawnCurve {
	const steps = 1000
	mean := drawnCurve{class: macroAverage}
	for i := range steps + 1 {
		x, y := float64(i)/steps, 0.0
		for k := range drawn {
			y += at(&drawn[k], x)
		}
		mean.add(x, y/float64(len(drawn)), math.NaN())
	}
	return mean
}

// curves writes those that were asked for.
func (e *evaluator) curves(curves []classCurve) error {
	fs := e.cmd.Flags()
	for _, f := range []struct {
		flag, file string
		draw       func(*classCurve) drawnCurve
		at         func(*drawnCurve, float64) float64
		columns    []string
		figure     report.Figure
	}{
		{"roc", e.roc, rocCurve, (*drawnCurve).rocAt,
			[]string{"false_positive_rate", "true_positive_rate", "threshold"},
			rocFigure(nil)},
		{"pr", e.pr, prCurve, (*drawnCurve).prAt, []string{"recall", "precision", "threshold"},
			report.Figure{Name: "pr", Title: "Precision and recall", XLabel: "recall",
				YLabel: "precision", YMax: 1, LegendBottom: true, LegendLeft: true}},
	} {
		if f.file == "" {
			continue
		}
		if len(curves) == 0 {
			return Usage("It needs scores of two labels, both of which come, or of all classes by "+
				Given(fs, "from")+" ("+strconv.Itoa(eval.MaxConfusion)+" at most) or in columns.",
				"%s: there is no curve", Given(fs, f.flag))
		}
		var drawn []drawnCurve
		for i := range curves {
			drawn = append(drawn, f.draw(&curves[i]))
		}
		if len(e.labels) > 2 {
			drawn = append(drawn, meanOf(drawn, f.at))
		}
		f.figure.Lines = linesOf(drawn, f.columns[1])
		if err := e.write(f.file, csvOf(drawn, f.columns), f.figure); err != nil {
			return err
		}
	}
	if e.calib == "" {
		return nil
	}
	if !e.m.Proba() {
		return Usage("Leave it out, or name a column proba.", "%s: there are no probabilities",
			Given(fs, "calibration"))
	}
	text := []byte("from,to,examples,mean_probability,share\n")
	for _, b := range e.m.Calibration() {
		text = csvLine(text, b.From, b.To, b.Weight, b.Mean, b.Share)
	}
	return e.write(e.calib, text, calibrationFigure([]report.Line{calibrationLine(
		"share that came true", e.m)}))
}

// rocFigure is the picture of ROC curves.
func rocFigure(lines []report.Line) report.Figure {
	return report.Figure{Name: "roc", Title: "ROC curve", XLabel: "false positive rate",
		YLabel: "true positive rate", YMax: 1, LegendBottom: true, Lines: lines}
}

// calibrationLine has the share that came true of probabilities that are alike.
func calibrationLine(name string, m *eval.Metrics) report.Line {
	l := report.Line{Name: name}
	for _, b := range m.Calibration() {
		l.X, l.Y = append(l.X, b.Mean), append(l.Y, b.Share)
	}
	return l
}

// calibrationFigure is the picture of these lines, beside what they would be at best.
func calibrationFigure(lines []report.Line) report.Figure {
	return report.Figure{Name: "calibration", Title: "Calibration", XLabel: "mean probability",
		YLabel: "share that came true", YMax: 1, LegendLeft: true, Lines: append(lines,
			report.Line{Name: "perfect", X: []float64{0, 1}, Y: []float64{0, 1}})}
}

// csvOf has all points, of several classes with their names, and of a mean without thresholds.
func csvOf(drawn []drawnCurve, columns []string) []byte {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	several := len(drawn) > 1
	if several {
		columns = append([]string{"class"}, columns...)
	}
	w.Write(columns)
	for i := range drawn {
		t := &drawn[i]
		for k := range t.x {
			row := []string{shortest(t.x[k]), shortest(t.y[k]), shortest(t.threshold[k])}
			if several {
				row = append([]string{t.class}, row...)
				if i == len(drawn)-1 {
					row[3] = ""
				}
			}
			w.Write(row)
		}
	}
	w.Flush() // to memory: it can't fail
	return text.Bytes()
}

func shortest(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// linesOf draws drawn with a thousand points each; of more than mostCurves classes the mean alone.
func linesOf(drawn []drawnCurve, name string) (lines []report.Line) {
	const most = 1000
	mean := len(drawn) > 1
	if mean && len(drawn)-1 > mostCurves {
		drawn, mean = drawn[len(drawn)-1:], false
	}
	for i, t := range drawn {
		l := report.Line{Name: shownLabel(t.class)}
		if t.class == "" {
			l.Name = strings.ReplaceAll(name, "_", " ")
		}
		if mean && i == len(drawn)-1 {
			l.Form = report.Mean
		}
		n := len(t.x)
		for k := range min(n, most) {
			if n > most {
				k = k * (n - 1) / (most - 1)
			}
			l.X, l.Y = append(l.X, t.x[k]), append(l.Y, t.y[k])
		}
		lines = append(lines, l)
	}
	return lines
}

// pictures checks that the files of curves are pictures that can be drawn: SVG, or CSV.
func (e *evaluator) pictures() error {
	for _, f := range [][2]string{{"roc", e.roc}, {"pr", e.pr}, {"calibration", e.calib}} {
		switch strings.ToLower(filepath.Ext(f[1])) {
		case ".png", ".pdf", ".jpg", ".jpeg", ".eps":
			return Usage("Name a file that ends in .svg; a browser or rsvg-convert makes other "+
				"forms of it.", "%s %s: pictures are written as SVG only",
				Given(e.cmd.Flags(), f[0]), f[1])
		}
	}
	return nil
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
