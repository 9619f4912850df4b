// Package report writes what a run says as pictures and pages: figures in SVG and HTML. Both have
// one style, light or dark as the reader's system asks, and the same bytes every time.
package report

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/atomicfile"
)

// Figure is a picture of lines, bars or points over two axes.
type Figure struct {
	Name   string // paper/name, or paper/name-part
	Title  string
	XLabel string
	YLabel string
	XLog   bool
	// names of the positions 0, 1, ... along X: each line is then a bar at every position
	Bars         []string
	Lines        []Line
	YMin, YMax   float64 // both 0: as the lines need
	LegendBottom bool    // else at the top
	LegendLeft   bool    // else at the right

	// instead of Lines: pictures of one plane, each with a title and lines, side by side under one
	// legend
	Panels []Figure `json:",omitempty"`
}

// Line is one curve, by ascending X, or points where there is one X.
type Line struct {
	Name      string
	X, Y      []float64
	Low, High []float64 // ends of error bars; nil: none
	Form      Form      `json:",omitempty"`
}

// Form is the shape of a line that is not a curve.
type Form string

// Forms of lines in pictures of a plane, of the mean of the other lines, and of marks.
const (
	Mean     Form = "mean"
	Marks    Form = "marks" // at each X, as high as the lines are; there is no Y
	Dots     Form = "dots"
	Rings    Form = "rings"    // around dots
	Segments Form = "segments" // each of two points
	Shadow   Form = "shadow"   // segments, drawn under the rest
)

// Add adds a point with an error bar.
func (l *Line) Add(x, y, low, high float64) {
	l.X, l.Y, l.Low, l.High = append(l.X, x), append(l.Y, y), append(l.Low, low), append(l.High,
		high)
}

// Sorted returns the line with its points in the order of X.
func (l Line) Sorted() Line {
	order := make([]int, len(l.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.X[a], l.X[b]) })
	pick := func(v []float64) []float64 {
		if v == nil {
			return nil
		}
		out := make([]float64, len(order))
		for i, k := range order {
			out[i] = v[k]
		}
		return out
	}
	return Line{l.Name, pick(l.X), pick(l.Y), pick(l.Low), pick(l.High), l.Form}
}

// Finding says in words what the figure shows: the value at the end of each line, in ascending
// order; all values of bars; the titles of panels.
func (f Figure) Finding() string {
	var parts []string
	for _, p := range f.Panels {
		parts = append(parts, p.Title)
	}
	if f.Panels != nil {
		return f.Title + ": " + strings.Join(parts, "; ")
	}
	var marks []string
	for _, l := range f.Lines {
		if l.Form == Marks && len(l.X) > 0 {
			marks = append(marks, "; "+l.marksText())
		}
	}
	lines := slices.Clone(f.Lines)
	lines = slices.DeleteFunc(lines, func(l Line) bool { return len(l.X) == 0 || l.Form == Marks })
	last := func(l Line) float64 { return l.Y[len(l.Y)-1] }
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(last(a), last(b)) })
	for _, l := range lines {
		switch {
		case f.Bars != nil:
			var values []string
			for k, v := range l.Y {
				values = append(values, fmt.Sprintf("%.3g at %s", v, f.Bars[k]))
			}
			parts = append(parts, l.Name+" "+strings.Join(values, ", "))
		default:
			parts = append(parts, fmt.Sprintf("%s %.3g at %.4g", l.Name, last(l), l.X[len(l.X)-1]))
		}
	}
	return fmt.Sprintf("%s. %s against %s: %s%s", f.Title, f.YLabel, f.XLabel, strings.Join(parts,
		"; "), strings.Join(marks, ""))
}

// marksText lists the positions of the first marks.
func (l Line) marksText() string {
	const most = 10
	var at []string
	for _, x := range l.X[:min(most, len(l.X))] {
		at = append(at, fmt.Sprintf("%.10g", x))
	}
	text := l.Name + " at " + strings.Join(at, ", ")
	if more := len(l.X) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Write writes the figure as an SVG file.
func (f Figure) Write(w io.Writer) error {
	svg, err := f.SVG(f.Finding())
	if err == nil { // a page names no namespace
		_, err = fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\"%s\n",
			strings.TrimPrefix(string(svg), "<svg"))
	}
	return err
}

// WriteFile writes the figure as an SVG file into a folder, and returns its name: Name, with a
// hyphen for each slash.
func (f Figure) WriteFile(dir string) (name string, err error) {
	name = filepath.Join(dir, strings.ReplaceAll(f.Name, "/", "-")+".svg")
	file, err := atomicfile.Create(name, 0o666)
	if err != nil {
		return name, err
	}
	defer file.Discard()
	if err := f.Write(file); err != nil {
		return name, err
	}
	return name, file.Commit()
}
