package report

import (
	"errors"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sizes in pixels. Panels are three in a row, under a title and a legend.
const (
	figureWidth, figureHeight = 640.0, 440.0
	panelColumns              = 3
	panelSize                 = 320.0
	panelHead                 = 76.0
	pad                       = 6.0 // from the frame of the axes to the ends of the data
	fontSize                  = 12.0
	digitWidth                = 7.0 // of most characters in that size, and a bit more
	legendLine                = 17.0
	thumbnail                 = 22.0 // width of a line in a legend
)

// darkStyle changes colors if the reader's system is dark; attributes have the light ones. Printed
// pages are light.
const darkStyle = `<style>@media screen and (prefers-color-scheme: dark) {
.fig text { fill: #e6edf3 } .fig .paper { fill: #0d1117 } .fig .grid { stroke: #2b323b }
.fig .axis { stroke: #9198a1 } .fig .halo { stroke: #0d1117 } .fig .ink { stroke: #e6edf3 } .fig .shadow { stroke: #57606a }
.fig [stroke="#0072b2"] { stroke: #3d8ee6 } .fig [fill="#0072b2"] { fill: #3d8ee6 }
}</style>`

// lineColors can be told apart by most people with a color vision deficiency (M. Okabe, K. Ito),
// and glyphs without color. Lines after the last color begin again, dashed.
var lineColors = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
	"#000000", "#7f7f7f"}

// glyphs are paths relative to their center; open ones are not filled.
var glyphs = []struct {
	path string
	open bool
}{
	{"m-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0-5.2 0", false},
	{"m-2.4-2.4h4.8v4.8h-4.8z", true},
	{"m0-3l2.8 4.8h-5.6z", true},
	{"m0-3l2.8 4.8h-5.6z", false},
	{"m-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0-5.2 0", true},
	{"m-2.4-2.4h4.8v4.8h-4.8z", false},
	{"m-2.4-2.4l4.8 4.8m-4.8 0l4.8-4.8", true},
	{"m-3 0h6m-3-3v6", true},
}

// color returns the color of line i as an attribute, stroke or fill.
func color(attribute string, i int) string {
	c := lineColors[i%len(lineColors)]
	if c == "#000000" && attribute == "stroke" {
		return `class="ink" stroke="#000000"`
	}
	return fmt.Sprintf(`%s="%s"`, attribute, c)
}

// svg is a picture under construction.
type svg struct{ strings.Builder }

func (s *svg) add(format string, args ...any) { fmt.Fprintf(s, format, args...) }

// text writes a text at a point; anchor is start, middle or end.
func (s *svg) text(x, y float64, anchor, more, text string) {
	s.add(`<text x="%s" y="%s" text-anchor="%s"%s>%s</text>`+"\n", num(x), num(y), anchor, more,
		html.EscapeString(text))
}

// path writes a path; an empty one is left out.
func (s *svg) path(d, attributes string) {
	if d != "" {
		s.add(`<path d="%s" %s/>`+"\n", d, attributes)
	}
}

// num is a coordinate to a tenth of a pixel.
func num(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(math.Round(10*v)/10+0, 'f', 1, 64), ".0")
}

// textWidth is about the width of a text: no font is at hand to measure it.
func textWidth(text string) float64 { return digitWidth * float64(utf8.RuneCountInString(text)) }

// SVG returns the figure as an SVG element for a page; alt is its description.
func (f Figure) SVG(alt string) (HTML, error) {
	w, h, n := figureWidth, figureHeight, len(f.Panels)
	if n > 0 {
		w, h = panelColumns*panelSize, panelHead+float64((n+panelColumns-1)/panelColumns)*panelSize
	}
	s := &svg{}
	s.add(`<svg class="fig" viewBox="0 0 %s %s" width="%s" `+
		`height="%s" role="img" aria-label="%s" font-family="system-ui, Arial, Helvetica, `+
		`sans-serif" font-size="%s" fill="#1b1f24">`+"\n%s\n", num(w), num(h), num(w), num(h),
		html.EscapeString(alt), num(fontSize), darkStyle)
	s.add(`<rect class="paper" width="%s" height="%s" fill="#fff"/>`+"\n", num(w), num(h))
	err := f.drawIn(s, 0, 0, w, h)
	if err != nil {
		return "", fmt.Errorf("figure %s: %w", f.Name, err)
	}
	s.add("</svg>")
	return HTML(s.String()), nil
}

// drawIn draws the figure into a rectangle.
func (f Figure) drawIn(s *svg, left, top, w, h float64) error {
	size := ` font-size="15"`
	if f.XLabel+f.YLabel == "" {
		size = ` font-size="13"` // of a panel
	}
	if f.Title != "" {
		s.text(left+w/2, top+20, "middle", size, f.Title)
	}
	if len(f.Panels) == 0 {
		return f.plot(s, left, top+30, w, h-30)
	}
	seen, x := map[string]bool{}, left+30 // one legend in a row, of the names in all panels
	for _, panel := range f.Panels {
		for i, l := range panel.Lines {
			if !seen[l.Name] {
				seen[l.Name] = true
				l.thumbnail(s, i, false, x, panelHead-28)
				s.text(x+thumbnail+6, panelHead-24, "start", "", l.Name)
				x += thumbnail + textWidth(l.Name) + 24
			}
		}
	}
	for i, panel := range f.Panels {
		err := panel.drawIn(s, left+float64(i%panelColumns)*panelSize,
			panelHead+float64(i/panelColumns)*panelSize, panelSize-10, panelSize-10)
		if err != nil {
			return err
		}
	}
	return nil
}

// axes are the ranges of a picture and the rectangle of its data.
type axes struct {
	x0, x1, y0, y1 float64
	log            bool
	w, h           float64 // of the frame; the data stay pad away from it
}

// norm maps x to 0 at the left end and 1 at the right end.
func (a *axes) norm(x float64) float64 {
	if a.log {
		return math.Log(x/a.x0) / math.Log(a.x1/a.x0)
	}
	return (x - a.x0) / (a.x1 - a.x0)
}

func (a *axes) x(v float64) float64 { return pad + float64(a.norm(v)*(a.w-2*pad)) }

func (a *axes) y(v float64) float64 {
	return a.h - pad - float64((v-a.y0)/(a.y1-a.y0)*(a.h-2*pad))
}

// ranges returns the axes that the lines need.
func (f Figure) ranges() (*axes, error) {
	a := &axes{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1), f.XLog, 0, 0}
	widen := func(low, high *float64, v float64) { *low, *high = min(*low, v), max(*high, v) }
	for _, l := range f.Lines {
		for _, of := range [][]float64{l.X, l.Y, l.Low, l.High} {
			if slices.ContainsFunc(of, func(v float64) bool { return v-v != 0 }) {
				return nil, fmt.Errorf("%s: a value that is not finite", l.Name)
			}
		}
		switch {
		case f.Bars != nil:
			widen(&a.y0, &a.y1, 0)
		case l.Form != "" && l.Form != Dots:
			continue // a plane is as large as its dots, and a mean is within its lines
		}
		for _, x := range l.X {
			widen(&a.x0, &a.x1, x)
		}
		for _, y := range l.Y {
			widen(&a.y0, &a.y1, y)
		}
	}
	if f.Bars != nil {
		a.x0, a.x1 = -0.5, float64(len(f.Bars))-0.5
		a.y1 *= 1.25 // room for the legend
	}
	if f.YMin != f.YMax {
		a.y0, a.y1 = f.YMin, f.YMax
	}
	if a.x0 > a.x1 || a.y0 > a.y1 { // no points
		a.x0, a.x1, a.y0, a.y1 = 0, 1, 0, 1
	}
	if f.XLog && a.x0 <= 0 {
		return nil, errors.New("a logarithmic axis with values of 0 or less")
	}
	if a.x0 == a.x1 && f.XLog {
		a.x0, a.x1 = a.x0/2, a.x1*2
	} else if a.x0 == a.x1 {
		a.x0, a.x1 = a.x0-1, a.x1+1
	}
	if a.y0 == a.y1 {
		a.y0, a.y1 = a.y0-1, a.y1+1
	}
	f.makeRoom(a)
	return a, nil
}

// makeRoom extends the Y axis: over error bars, and so far that a legend at the top covers neither
// an error bar nor a mark.
func (f Figure) makeRoom(a *axes) {
	// fractions of the height: of a legend's line, and of the space at both ends; and of the width
	// of a long legend
	const line, edge, long = 0.05, 0.02, 0.6
	legend := line*float64(len(f.Lines)) + edge
	low, high, below := a.y0, a.y1, math.Inf(-1)
	bars, marks := false, false
	for _, l := range f.Lines {
		marks = marks || l.Form == Marks
		for k := range l.Low {
			bars = true
			low, high = min(low, l.Low[k]), max(high, l.High[k])
			if x := a.norm(l.X[k]); f.LegendLeft && x < long || !f.LegendLeft && x > 1-long {
				below = max(below, l.High[k])
			}
		}
	}
	if bars {
		space := edge * (high - low)
		a.y0, a.y1 = low-space, high+space
		if !f.LegendBottom {
			a.y1 = max(a.y1, (below-legend*a.y0)/(1-legend))
		}
	}
	if marks {
		a.y1 = (a.y1 - legend*a.y0) / (1 - legend)
	}
}

// tick is a labeled value of an axis.
type tick struct {
	value float64
	label string
}

// ticks are the multiples of 1, 2 or 5 times a power of ten: three to eight of them.
func ticks(low, high float64) (list []tick) {
	least := (high - low) / 7
	power := math.Pow(10, math.Floor(math.Log10(least)))
	step := 10 * power
	for _, m := range []float64{1, 2, 5} {
		if v := m * power; v >= least {
			step = v
			break
		}
	}
	digits := max(0, -int(math.Floor(math.Log10(step))))
	for k := math.Ceil(low / step); k*step <= high; k++ {
		v := float64(k*step) + 0 // -0 is 0
		list = append(list, tick{v, strconv.FormatFloat(v, 'f', digits, 64)})
	}
	return list
}

// logTicks are 1, 2 and 5 times the powers of ten.
func logTicks(low, high float64) (list []tick) {
	for d := math.Pow(10, math.Floor(math.Log10(low))); d <= high; d *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if v := m * d; v >= low && v <= high {
				t := tick{v, fmt.Sprintf("%g", v)}
				if m > 1 && high > 1000*low { // too many labels
					t.label = ""
				}
				list = append(list, t)
			}
		}
	}
	return list
}

// plot draws axes, lines and legend into a rectangle.
func (f Figure) plot(s *svg, left, top, w, h float64) error {
	a, err := f.ranges()
	if err != nil {
		return err
	}
	xTicks, yTicks := ticks(a.x0, a.x1), ticks(a.y0, a.y1)
	if f.XLog {
		xTicks = logTicks(a.x0, a.x1)
	}
	if f.Bars != nil {
		xTicks = nil
		for i, name := range f.Bars {
			xTicks = append(xTicks, tick{float64(i), name})
		}
	}
	labels := 0.0
	for _, t := range yTicks {
		labels = max(labels, textWidth(t.label))
	}
	right, bottom, before := 16.0, 28.0, labels+16
	if f.XLabel != "" {
		bottom += 18
	}
	if f.YLabel != "" {
		before += 18
		s.text(-(top + (h-bottom)/2), left+16, "middle", ` transform="rotate(-90)"`, f.YLabel)
	}
	a.w, a.h = w-before-right, h-bottom
	left += before
	if f.XLabel != "" {
		s.text(left+a.w/2, top+h-10, "middle", "", f.XLabel)
	}
	var grid strings.Builder
	for _, t := range xTicks {
		x := left + a.x(t.value)
		fmt.Fprintf(&grid, "M%s %sv%s", num(x), num(top), num(a.h+4))
		if t.label != "" {
			s.text(x, top+a.h+18, "middle", "", t.label)
		}
	}
	for _, t := range yTicks {
		y := top + a.y(t.value)
		fmt.Fprintf(&grid, "M%s %sh%s", num(left-4), num(y), num(a.w+4))
		s.text(left-8, y+4, "end", "", t.label)
	}
	s.path(grid.String(), `class="grid" fill="none" stroke="#e4e4e4"`)
	s.path(fmt.Sprintf("M%s %sv%sh%s", num(left), num(top), num(a.h), num(a.w)),
		`class="axis" fill="none" stroke="#59636e"`)
	// An inner element of SVG hides what is outside of it: lines end at the frame.
	s.add(`<svg x="%s" y="%s" width="%s" height="%s">`+"\n", num(left), num(top), num(a.w),
		num(a.h))
	for _, shadows := range []bool{true, false} {
		for i, l := range f.Lines {
			if shadows == (l.Form == Shadow) {
				f.line(s, a, i)
			}
		}
	}
	f.legend(s, a)
	s.add("</svg>\n")
	return nil
}

// style returns the attributes of line i's path, without its color.
func (l Line) style(i int) string {
	switch l.Form {
	case Dots:
		return color("stroke", i) + ` stroke-width="2.4" stroke-linecap="round"`
	case Rings:
		return `class="ink" fill="none" stroke="#000"`
	case Marks:
		return `class="axis" fill="none" stroke="#606060" stroke-dasharray="4 3"`
	case Mean:
		return `class="ink" fill="none" stroke="#000" stroke-width="2.6" stroke-dasharray="3 2"`
	case Segments:
		return `class="ink" fill="none" stroke="#000" stroke-width="1.4"`
	case Shadow:
		return `class="shadow" fill="none" stroke="#b8b8b8" stroke-width="3"`
	}
	dashes := ""
	if i >= len(lineColors) {
		dashes = ` stroke-dasharray="5 2"`
	}
	return color("stroke", i) + ` fill="none" stroke-width="1.5" stroke-linejoin="round"` + dashes
}

// line draws line i.
func (f Figure) line(s *svg, a *axes, i int) {
	l := f.Lines[i]
	if f.Bars != nil {
		width := 0.6 * (a.x(1) - a.x(0)) / float64(len(f.Lines))
		for k, v := range l.Y {
			x := a.x(float64(k)) + float64(width*(float64(i)-float64(len(f.Lines))/2))
			y0, y1 := a.y(max(v, 0)), a.y(min(v, 0))
			s.add(`<rect x="%s" y="%s" width="%s" height="%s" %s/>`+"\n", num(x), num(y0),
				num(width), num(y1-y0), color("fill", i))
		}
		return
	}
	var path, bars strings.Builder
	for k, v := range l.X {
		x, y := a.x(v), 0.0
		if l.Form != Marks {
			y = a.y(l.Y[k])
		}
		move := "L"
		if k == 0 || k%2 == 0 && (l.Form == Segments || l.Form == Shadow) {
			move = "M"
		}
		switch l.Form {
		case Marks:
			y = a.h - (a.h-2*pad)*(1-0.05*float64(len(f.Lines))) // up to the legend
			fmt.Fprintf(&path, "M%s %sV%s", num(x), num(a.h), num(y))
			continue
		case Dots:
			fmt.Fprintf(&path, "M%s %sh0", num(x), num(y))
			continue
		case Rings:
			fmt.Fprintf(&path, "M%s %s%s", num(x), num(y), glyphs[0].path)
			continue
		}
		fmt.Fprintf(&path, "%s%s %s", move, num(x), num(y))
		if l.Low != nil {
			low, high := a.y(l.Low[k]), a.y(l.High[k])
			fmt.Fprintf(&bars, "M%s %sV%sm-2 0h4M%s %sh4", num(x), num(low), num(high), num(x-2),
				num(low))
		}
	}
	s.path(path.String(), l.style(i))
	s.path(bars.String(), color("stroke", i)+` fill="none"`)
	if l.Form == "" && !l.long() {
		l.glyphs(s, i, a)
	}
}

// long reports whether the line is a curve without glyphs at its points.
func (l Line) long() bool { return len(l.X) > 40 }

// glyphs draws the points of line i.
func (l Line) glyphs(s *svg, i int, a *axes) {
	var path strings.Builder
	for k, x := range l.X {
		fmt.Fprintf(&path, "M%s %s%s", num(a.x(x)), num(a.y(l.Y[k])), glyphs[i%len(glyphs)].path)
	}
	s.path(path.String(), glyphStyle(i))
}

func glyphStyle(i int) string {
	if glyphs[i%len(glyphs)].open {
		return color("stroke", i) + ` fill="none"`
	}
	return color("fill", i)
}

// thumbnail draws a short piece of line i for a legend, from x to the right.
func (l Line) thumbnail(s *svg, i int, bar bool, x, y float64) {
	middle := fmt.Sprintf("M%s %s", num(x+thumbnail/2), num(y))
	switch {
	case bar:
		s.path(fmt.Sprintf("M%s %sh%sv8h-%sz", num(x), num(y-4), num(thumbnail), num(thumbnail)),
			color("fill", i))
	case l.Form == Dots:
		s.path(middle+"h0", l.style(i))
	case l.Form == Rings:
		s.path(middle+glyphs[0].path, l.style(i))
	case l.Form == Marks:
		s.path(middle+"m0-7v14", l.style(i))
	default:
		s.path(fmt.Sprintf("M%s %sh%s", num(x), num(y), num(thumbnail)), l.style(i))
		if l.Form == "" && !l.long() {
			s.path(middle+glyphs[i%len(glyphs)].path, glyphStyle(i))
		}
	}
}

// legend draws the names of the lines into a corner of the frame.
func (f Figure) legend(s *svg, a *axes) {
	var shown []int
	for i, l := range f.Lines {
		if l.Form == "" || l.Form == Mean || l.Form == Marks {
			shown = append(shown, i)
		}
	}
	y := 12.0
	if f.LegendBottom {
		y = a.h - legendLine*float64(len(shown)) + 4
	}
	for _, i := range shown {
		x, at, anchor := a.w-8-thumbnail, a.w-14-thumbnail, "end"
		if f.LegendLeft {
			x, at, anchor = 8, 14+thumbnail, "start"
		}
		f.Lines[i].thumbnail(s, i, f.Bars != nil, x, y)
		s.text(at, y+4, anchor, ` class="halo" stroke="#fff" stroke-width="3" paint-order="stroke"`,
			f.Lines[i].Name)
		y += legendLine
	}
}
