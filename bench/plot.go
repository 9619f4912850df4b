package bench

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Figure is a published figure made again: what an experiment found, to be drawn.
type Figure struct {
	Name         string // paper/name, or paper/name-part
	Title        string
	XLabel       string
	YLabel       string
	XLog         bool
	Lines        []Line
	YMin, YMax   float64 // both 0: as the lines need
	LegendBottom bool    // else at the top
}

// Line is one curve, by ascending X, or points where there is one X.
type Line struct {
	Name      string
	X, Y      []float64
	Low, High []float64 // ends of error bars; nil: none
}

// lineColors tell lines apart for most people who see colors differently (M. Okabe, K. Ito), and shapes where there are no colors.
var (
	lineColors = []color.Color{rgb(0x0072b2), rgb(0xd55e00), rgb(0x009e73), rgb(0xcc79a7), rgb(0xe69f00), rgb(0x56b4e9), rgb(0x000000), rgb(0x7f7f7f)}
	lineShapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}}
)

func rgb(v uint32) color.Color {
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}

// errorBars is what plotter.NewYErrorBars wants.
type errorBars struct {
	plotter.XYs
	plotter.YErrors
}

// plot makes the picture.
func (f Figure) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.XLabel, f.YLabel
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	for _, s := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font} {
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
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xe4}, color.Gray{0xe4}
	p.Add(grid)
	for i, l := range f.Lines {
		xys := make(plotter.XYs, len(l.X))
		for k := range l.X {
			xys[k].X, xys[k].Y = l.X[k], l.Y[k]
		}
		c, shape := lineColors[i%len(lineColors)], lineShapes[i%len(lineShapes)]
		line, points, err := plotter.NewLinePoints(xys)
		if err != nil {
			return nil, fmt.Errorf("bench: %s, %s: %w", f.Name, l.Name, err)
		}
		line.Color, line.Width = c, vg.Points(1.2)
		points.Color, points.Shape, points.Radius = c, shape, vg.Points(2.6)
		if len(xys) > 40 { // a curve over time
			p.Add(line)
			p.Legend.Add(l.Name, line)
		} else {
			p.Add(line, points)
			p.Legend.Add(l.Name, line, points)
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
	if f.XLog {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{}
	}
	if f.YMin != f.YMax {
		p.Y.Min, p.Y.Max = f.YMin, f.YMax
	}
	return p, nil
}

// logTicks marks 1, 2 and 5 times the powers of ten.
type logTicks struct{}

// Ticks is plot.Ticker.
func (logTicks) Ticks(low, high float64) (ticks []plot.Tick) {
	for d := math.Pow(10, math.Floor(math.Log10(low))); d <= high; d *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if v := m * d; v >= low && v <= high {
				ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
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

// Write draws the figure as svg or png.
func (f Figure) Write(w io.Writer, format string) error {
	p, err := f.plot()
	if err != nil {
		return err
	}
	if format == "png" {
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(figureWidth, figureHeight), vgimg.UseDPI(figureDPI))}
		p.Draw(draw.New(c))
		_, err = c.WriteTo(w)
		return err
	}
	to, err := p.WriterTo(figureWidth, figureHeight, format)
	if err != nil {
		return fmt.Errorf("bench: %s: %w", f.Name, err)
	}
	var text bytes.Buffer
	if _, err := to.WriteTo(&text); err != nil {
		return err
	}
	// Fonts of the same widths, for where Liberation isn't there.
	_, err = w.Write(bytes.ReplaceAll(text.Bytes(), []byte("font-family:Liberation Sans"), []byte("font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif")))
	return err
}

// WriteFiles draws the figure into the folder, as SVG and as PNG, and returns the files' names. The name's slash becomes a hyphen.
func (f Figure) WriteFiles(dir string) (names []string, err error) {
	base := []byte(f.Name)
	for i, c := range base {
		if c == '/' {
			base[i] = '-'
		}
	}
	for _, format := range []string{"svg", "png"} {
		name := filepath.Join(dir, string(base)+"."+format)
		file, err := os.CreateTemp(dir, ".figure-*")
		if err != nil {
			return names, err
		}
		err = f.Write(file, format)
		if e := file.Chmod(0o644); err == nil {
			err = e
		}
		if e := file.Close(); err == nil {
			err = e
		}
		if err == nil {
			err = os.Rename(file.Name(), name)
		}
		if err != nil {
			os.Remove(file.Name())
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
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
	return Line{l.Name, pick(l.X), pick(l.Y), pick(l.Low), pick(l.High)}
}
