package papers

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/halfspace-ml/halfspace/internal/atomicfile"
)

// Figure is a published figure made again: what an experiment found, to be drawn.
type Figure struct {
	Name   string // paper/name, or paper/name-part
	Title  string
	XLabel string
	YLabel string
	XLog   bool
	// names of the places 0, 1, ... along X: each line is then a bar at every place
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

// Form is what a line is, if not a curve.
type Form string

// Forms of lines in pictures of a plane, of the mean of the other lines, and of marks beside them.
const (
	Mean     Form = "mean"
	Marks    Form = "marks" // at each X, as high as the lines are; there is no Y
	Dots     Form = "dots"
	Rings    Form = "rings"    // around dots
	Segments Form = "segments" // each of two points
	Shadow   Form = "shadow"   // segments, behind the rest
)

// lineColors tell lines apart for most people who see colors differently (M. Okabe, K. Ito), and
// shapes where there are no colors. Lines behind the last of them have these again, and dashes.
var (
	lineColors = []color.Color{rgb(0x0072b2), rgb(0xd55e00), rgb(0x009e73), rgb(0xcc79a7),
		rgb(0xe69f00), rgb(0x56b4e9), rgb(0x000000), rgb(0x7f7f7f)}
	lineShapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{},
		draw.PyramidGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}}
)

func rgb(v uint32) color.Color {
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}

// errorBars is what plotter.NewYErrorBars wants.
type errorBars struct {
	plotter.XYs
	plotter.YErrors
}

// slack ends the names in legends: where an SVG is shown in a wider font than the one that it was
// laid out with, names stay apart from their lines.
const slack = "   "

// plot makes the picture.
func (f Figure) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.XLabel, f.YLabel
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	for _, s := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font,
		&p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font,
		&p.Legend.TextStyle.Font} {
		size := s.Size
		*s = font.From(sans, size)
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = steps{}, steps{}
	p.Title.Padding = vg.Points(6)
	p.Legend.Top, p.Legend.Padding, p.Legend.YOffs = !f.LegendBottom, vg.Points(2), vg.Points(-4)
	if f.LegendBottom {
		p.Legend.YOffs = vg.Points(4)
	}
	p.Legend.XOffs = vg.Points(-4)
	if f.LegendLeft {
		p.Legend.Left, p.Legend.XOffs = true, vg.Points(4)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xe4}, color.Gray{0xe4}
	p.Add(grid)
	var back, front []plot.Plotter // lines with a form
	var marks []formed
	for i, l := range f.Lines {
		if f.Bars != nil {
			if err := f.bar(p, i); err != nil {
				return nil, err
			}
			continue
		}
		xys := l.points()
		c, shape := lineColors[i%len(lineColors)], lineShapes[i%len(lineShapes)]
		if l.Form != "" {
			if _, err := plotter.CopyXYs(xys); len(xys) > 0 && err != nil {
				return nil, fmt.Errorf("bench: %s, %s: %w", f.Name, l.Name, err)
			}
			drawn := formed{l.Form, xys, c}
			switch l.Form {
			case Shadow:
				back = append(back, drawn)
			case Marks:
				marks = append(marks, drawn)
			default:
				front = append(front, drawn)
			}
			if l.Form == Mean || l.Form == Marks {
				p.Legend.Add(l.Name+slack, drawn)
			}
			continue
		}
		line, points, err := plotter.NewLinePoints(xys)
		if err != nil {
			return nil, fmt.Errorf("bench: %s, %s: %w", f.Name, l.Name, err)
		}
		line.Color, line.Width = c, vg.Points(1.2)
		if i >= len(lineColors) {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(2)}
		}
		points.Color, points.Shape, points.Radius = c, shape, vg.Points(2.6)
		if len(xys) > 40 { // a curve over time
			p.Add(line)
			p.Legend.Add(l.Name+slack, line)
		} else {
			p.Add(line, points)
			p.Legend.Add(l.Name+slack, line, points)
		}
		if l.Low == nil {
			continue
		}
		e := errorBars{xys, make(plotter.YErrors, len(xys))}
		for k := range xys {
			e.YErrors[k].Low, e.YErrors[k].High = l.Y[k]-l.Low[k], l.High[k]-l.Y[k]
		}
		bars, err := plotter.NewYErrorBars(e)
		if err != nil {
			return nil, fmt.Errorf("bench: %s, %s: %w", f.Name, l.Name, err)
		}
		bars.Color, bars.CapWidth = c, vg.Points(4)
		p.Add(bars)
	}
	p.Add(append(back, front...)...)
	if f.Bars != nil {
		p.NominalX(f.Bars...)
		p.X.Min, p.X.Max = -0.5, float64(len(f.Bars))-0.5
		p.Y.Max *= 1.25 // the legend is above them
	}
	if f.XLog {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{}
	}
	if f.YMin != f.YMax {
		p.Y.Min, p.Y.Max = f.YMin, f.YMax
	}
	f.makeRoom(p)
	if marks != nil {
		f.addMarks(p, marks)
	}
	return p, nil
}

// points are those of the line; marks have no height of their own.
func (l *Line) points() plotter.XYs {
	xys := make(plotter.XYs, len(l.X))
	for k := range l.X {
		if xys[k].X = l.X[k]; l.Form != Marks {
			xys[k].Y = l.Y[k]
		}
	}
	return xys
}

// addMarks adds marks, and has the legend above all.
func (f Figure) addMarks(p *plot.Plot, marks []formed) {
	const line, edge = 0.05, 0.02 // as in makeRoom
	for _, m := range marks {
		for k := range m.XYs {
			m.XYs[k].Y = p.Y.Max
		}
		p.Add(m)
	}
	legend := line*float64(len(f.Lines)) + edge
	p.Y.Max = (p.Y.Max - legend*p.Y.Min) / (1 - legend)
}

// makeRoom has no axis cut an error bar, and no legend above cover one.
func (f Figure) makeRoom(p *plot.Plot) {
	// shares of the height: of a legend's line, and of what is left at both ends; and of the width
	// of a long legend
	const line, edge, long = 0.05, 0.02, 0.6
	low, high, below := p.Y.Min, p.Y.Max, math.Inf(-1)
	bars := false
	for _, l := range f.Lines {
		for k := range l.Low {
			bars = true
			low, high = min(low, l.Low[k]), max(high, l.High[k])
			if x := p.X.Norm(l.X[k]); f.LegendLeft && x < long || !f.LegendLeft && x > 1-long {
				below = max(below, l.High[k])
			}
		}
	}
	if !bars {
		return
	}
	pad := edge * (high - low)
	p.Y.Min, p.Y.Max = low-pad, high+pad
	if legend := line*float64(len(f.Lines)) + edge; !f.LegendBottom {
		p.Y.Max = max(p.Y.Max, (below-legend*p.Y.Min)/(1-legend))
	}
}

// Finding says in words what the figure shows: of each line the value at its end, from the least;
// of bars all values; of panels their titles.
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

// marksText says where marks are, the first ones.
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

// bar adds line i as bars, side by side with those of the others.
func (f Figure) bar(p *plot.Plot, i int) error {
	width := figureWidth * 0.6 / vg.Length(len(f.Bars)*len(f.Lines))
	bars, err := plotter.NewBarChart(plotter.Values(f.Lines[i].Y), width)
	if err != nil {
		return fmt.Errorf("bench: %s, %s: %w", f.Name, f.Lines[i].Name, err)
	}
	bars.Color, bars.LineStyle.Width = lineColors[i%len(lineColors)], 0
	bars.Offset = width * vg.Length(float64(i)-float64(len(f.Lines)-1)/2)
	p.Add(bars)
	p.Legend.Add(f.Lines[i].Name+slack, bars)
	return nil
}

// formed is a line with a form, as plot.Plotter, plot.DataRanger and plot.Thumbnailer.
type formed struct {
	form Form
	plotter.XYs
	color color.Color
}

// Plot is plot.Plotter.
func (l formed) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := make([]vg.Point, len(l.XYs))
	for i, v := range l.XYs {
		at[i] = vg.Point{X: x(v.X), Y: y(v.Y)}
	}
	l.draw(c, at)
}

// DataRange is plot.DataRanger: a plane is as large as its dots need.
func (l formed) DataRange() (xmin, xmax, ymin, ymax float64) {
	if l.form != Dots {
		return math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	}
	return plotter.XYRange(l.XYs)
}

// Thumbnail is plot.Thumbnailer.
func (l formed) Thumbnail(c *draw.Canvas) {
	middle := c.Center()
	switch l.form {
	case Dots, Rings:
		l.draw(*c, []vg.Point{middle})
	case Marks:
		l.draw(*c, []vg.Point{{X: middle.X, Y: c.Max.Y}})
	default:
		l.draw(*c, []vg.Point{{X: c.Min.X, Y: middle.Y}, {X: c.Max.X, Y: middle.Y}})
	}
}

func (l formed) draw(c draw.Canvas, at []vg.Point) {
	switch l.form {
	case Dots:
		for _, p := range at {
			c.DrawGlyph(draw.GlyphStyle{Color: l.color, Radius: vg.Points(1.1),
				Shape: draw.CircleGlyph{}}, p)
		}
	case Rings:
		for _, p := range at {
			c.DrawGlyph(draw.GlyphStyle{Color: color.Black, Radius: vg.Points(2.6),
				Shape: draw.RingGlyph{}}, p)
		}
	case Marks:
		style := draw.LineStyle{Color: color.Gray{0x60}, Width: vg.Points(1),
			Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
		for _, p := range at {
			if c.ContainsX(p.X) {
				c.StrokeLine2(style, p.X, c.Min.Y, p.X, p.Y)
			}
		}
	case Mean:
		c.StrokeLines(draw.LineStyle{Color: color.Black, Width: vg.Points(2.4),
			Dashes: []vg.Length{vg.Points(3), vg.Points(2)}}, at)
	default:
		style := draw.LineStyle{Color: color.Black, Width: vg.Points(1.4)}
		if l.form == Shadow {
			style = draw.LineStyle{Color: color.Gray{0xb8}, Width: vg.Points(3)}
		}
		for i := 0; i+1 < len(at); i += 2 {
			c.StrokeLines(style, at[i:i+2])
		}
	}
}

// zeros returns where f, linear in triangles of a grid of n times n squares over [x0, x1] x [y0,
// y1], is 0. f takes the grid's points row by row.
func zeros(name string, x0, x1, y0, y1 float64, n int, f func(x, y []float64) ([]float64, error)) (
	Line, error) {
	var x, y []float64
	for i := range n + 1 {
		for j := range n + 1 {
			x, y = append(x, x0+(x1-x0)*float64(j)/float64(n)), append(y,
				y0+(y1-y0)*float64(i)/float64(n))
		}
	}
	z, err := f(x, y)
	l := Line{Name: name, Form: Segments}
	for i := 0; i < n && err == nil; i++ {
		for j := range n {
			a := i*(n+1) + j
			for _, t := range [2][3]int{{a, a + 1, a + n + 2}, {a, a + n + 1, a + n + 2}} {
				for k, p := range t {
					q := t[(k+1)%3]
					if (z[p] > 0) != (z[q] > 0) { // on no side of a triangle, or on two
						s := z[p] / (z[p] - z[q])
						l.X, l.Y = append(l.X, x[p]+s*(x[q]-x[p])), append(l.Y, y[p]+s*(y[q]-y[p]))
					}
				}
			}
		}
	}
	return l, err
}

// logTicks marks 1, 2 and 5 times the powers of ten.
type logTicks struct{}

// Ticks is plot.Ticker.
func (logTicks) Ticks(low, high float64) (ticks []plot.Tick) {
	for d := math.Pow(10, math.Floor(math.Log10(low))); d <= high; d *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if v := m * d; v >= low && v <= high {
				tick := plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)}
				if m > 1 && high > 1000*low { // there is no room for all labels
					tick.Label = ""
				}
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}

// Size of a figure, and points of a PNG per inch.
const (
	figureWidth  = 16 * vg.Centimeter
	figureHeight = 11 * vg.Centimeter
	figureDPI    = 160
)

// Panels stand three in a row, each of the size panelSize with what is between it and the next,
// under a title and a legend of the height panelHead.
const (
	panelColumns = 3
	panelSize    = 8 * vg.Centimeter
	panelHead    = 2 * vg.Centimeter
	panelBetween = 0.6 * vg.Centimeter
)

// size returns the figure's width and height.
func (f Figure) size() (w, h vg.Length) {
	if n := len(f.Panels); n > 0 {
		return panelColumns * panelSize, panelHead +
			vg.Length((n+panelColumns-1)/panelColumns)*panelSize
	}
	return figureWidth, figureHeight
}

// draw draws the figure on a canvas of its size.
func (f Figure) draw(c draw.Canvas) error {
	p, err := f.plot()
	if err != nil {
		return err
	}
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	if len(f.Panels) == 0 {
		p.Draw(draw.Crop(c, 0, -vg.Points(8), 0, 0)) // half of the last tick's label
		return nil
	}
	title := p.Title.TextStyle
	title.XAlign, title.YAlign = draw.XCenter, draw.YTop
	c.FillText(title, vg.Point{X: c.Center().X, Y: c.Max.Y - vg.Points(8)}, f.Title)
	// One legend in a row, of the names of all panels.
	seen, x := map[string]bool{}, c.Min.X+vg.Points(30)
	for _, panel := range f.Panels {
		for i, l := range panel.Lines {
			if seen[l.Name] {
				continue
			}
			seen[l.Name] = true
			one := plot.NewLegend()
			one.TextStyle, one.Left, one.Top = p.Legend.TextStyle, true, true
			one.Add(l.Name, formed{form: l.Form, color: lineColors[i%len(lineColors)]})
			one.Draw(draw.Crop(c, x-c.Min.X, 0, 0, -vg.Points(24)))
			x += one.ThumbnailWidth + one.TextStyle.Width(l.Name) + vg.Points(24)
		}
	}
	tiles := draw.Tiles{Cols: panelColumns, Rows: (len(f.Panels) + panelColumns - 1) / panelColumns,
		PadTop: panelHead, PadX: panelBetween, PadY: panelBetween,
		PadLeft: panelBetween, PadRight: panelBetween, PadBottom: panelBetween}
	for i, panel := range f.Panels {
		p, err := panel.plot()
		if err != nil {
			return err
		}
		p.Title.TextStyle.Font.Size = vg.Points(11)
		p.Draw(tiles.At(c, i%panelColumns, i/panelColumns))
	}
	return nil
}

// Write draws the figure as svg or png.
func (f Figure) Write(w io.Writer, format string) error {
	width, height := f.size()
	if format == "png" {
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height),
			vgimg.UseDPI(figureDPI))}
		err := f.draw(draw.New(c))
		if err == nil {
			_, err = c.WriteTo(w)
		}
		return err
	}
	to, err := draw.NewFormattedCanvas(width, height, format)
	if err != nil {
		return fmt.Errorf("bench: %s: %w", f.Name, err)
	}
	if err := f.draw(draw.New(to)); err != nil {
		return err
	}
	var text bytes.Buffer
	if _, err := to.WriteTo(&text); err != nil {
		return err
	}
	// Fonts of the same widths, for where Liberation isn't there.
	_, err = w.Write(bytes.ReplaceAll(text.Bytes(), []byte("font-family:Liberation Sans"),
		[]byte("font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif")))
	return err
}

// WriteFiles draws the figure into the folder, as SVG and as PNG, and returns the files' names. The
// name's slash becomes a hyphen.
func (f Figure) WriteFiles(dir string) (names []string, err error) {
	base := []byte(f.Name)
	for i, c := range base {
		if c == '/' {
			base[i] = '-'
		}
	}
	for _, format := range []string{"svg", "png"} {
		name := filepath.Join(dir, string(base)+"."+format)
		file, err := atomicfile.Create(name, 0o666)
		if err != nil {
			return names, err
		}
		if err = f.Write(file, format); err == nil {
			err = file.Commit()
		}
		file.Discard()
		if err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

// add adds a point with an error bar.
func (l *Line) add(x, y, low, high float64) {
	l.X, l.Y, l.Low, l.High = append(l.X, x), append(l.Y, y), append(l.Low, low), append(l.High,
		high)
}

// sorted orders a line's points by X.
func (l Line) sorted() Line {
	order := make([]int, len(l.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case l.X[a] < l.X[b]:
			return -1
		case l.X[a] > l.X[b]:
			return 1
		}
		return 0
	})
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

// meanLine averages curves point by point; one that has ended stays where it is.
func meanLine(lines []Line) Line {
	var out Line
	for _, l := range lines {
		for len(out.X) < len(l.X) {
			out.X, out.Y = append(out.X, 0), append(out.Y, 0)
		}
	}
	for k := range out.X {
		for _, l := range lines {
			i := min(k, len(l.X)-1)
			out.X[k] += l.X[i] / float64(len(lines))
			out.Y[k] += l.Y[i] / float64(len(lines))
		}
	}
	return out
}

// thinned leaves out points nearer to the one before than a part in curvePoints of the axis, but
// not the last.
func (l Line) thinned(log bool) Line {
	place := func(i int) float64 {
		if log {
			return math.Log(l.X[i])
		}
		return l.X[i]
	}
	last := len(l.X) - 1
	out := Line{Name: l.Name}
	for i, kept := 0, 0; i <= last; i++ {
		if i == 0 || i == last || place(i)-place(kept) >= (place(last)-place(0))/curvePoints {
			out.X, out.Y, kept = append(out.X, l.X[i]), append(out.Y, l.Y[i]), i
		}
	}
	return out
}
