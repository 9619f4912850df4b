package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// wellFormed fails unless the text is XML.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

// TestFigure: a figure is well-formed, has all texts, escaped, and the same bytes every time. One
// that cannot be drawn leaves no file.
func TestFigure(t *testing.T) {
	f := Figure{Name: "paper/figure1", Title: "a < title", XLabel: "kept", YLabel: "error, %",
		XLog: true, Lines: []Line{
			{Name: "one", X: []float64{20, 40, 100}, Y: []float64{3, 2, 1}, Low: []float64{2, 1,
				0.5}, High: []float64{4, 3, 2}},
			{Name: "point", X: []float64{500}, Y: []float64{1.5}},
		}}
	dir := t.TempDir()
	name, err := f.WriteFile(dir)
	if err != nil || filepath.Base(name) != "paper-figure1.svg" {
		t.Fatalf("%s, %v", name, err)
	}
	svg, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, string(svg))
	for _, want := range []string{">a &lt; title<", ">error, %<", ">kept<", ">point<", ">20<"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %q in the SVG", want)
		}
	}
	var again bytes.Buffer
	if err := f.Write(&again); err != nil || !bytes.Equal(again.Bytes(), svg) {
		t.Errorf("the SVG differs when drawn again: %v", err)
	}
	f.Lines[0].Y[1] = math.NaN()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteFile(dir); err == nil {
		t.Error("a line with a NaN was drawn")
	}
	if all, _ := os.ReadDir(dir); len(all) != 0 {
		t.Errorf("a failed drawing left %v", all)
	}
	f.Lines[0].Y[1], f.Lines[0].X[0] = 2, 0
	if _, err := f.WriteFile(dir); err == nil {
		t.Error("0 was drawn on a logarithmic axis")
	}
}

// TestBars: bars have the positions' names below and the lines' in the legend.
func TestBars(t *testing.T) {
	f := Figure{Name: "paper/bars", Bars: []string{"first", "second"}, Lines: []Line{{Name: "one",
		Y: []float64{3, 2}}, {Name: "two", Y: []float64{4, 5}}}}
	svg, err := f.SVG("")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">first<", ">second<", ">one<", ">two<"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %q in the SVG", want)
		}
	}
	if n := strings.Count(string(svg), "<rect"); n != 1+4 {
		t.Errorf("%d rectangles, want the paper and 4 bars", n)
	}
}

// TestPanels: the legend names each line once, and the picture is as large as its rows need.
func TestPanels(t *testing.T) {
	panel := Figure{Title: "first", Lines: []Line{
		{Name: "class +1", Form: Dots, X: []float64{0, 1, 2}, Y: []float64{1, 2, 0}},
		{Name: "class -1", Form: Dots, X: []float64{3}, Y: []float64{1}},
		{Name: "kept", Form: Rings, X: []float64{1}, Y: []float64{2}}, {Name: "best", Form: Shadow,
			X: []float64{0, 3}, Y: []float64{0, 1}},
		{Name: "score 0", Form: Segments, X: []float64{0, 1, 1, 3}, Y: []float64{0, 1, 1, 2}},
		{Name: "nothing", Form: Rings}}}
	f := Figure{Name: "paper/figure2", Title: "both", Panels: []Figure{panel, panel, panel, panel}}
	f.Panels[3].Title = "last"
	svg, err := f.SVG("")
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, string(svg))
	for text, n := range map[string]int{">both<": 1, ">first<": 3, ">last<": 1, ">class +1<": 1,
		">score 0<": 1, ">nothing<": 1, `viewBox="0 0 960 716"`: 1} {
		if strings.Count(string(svg), text) != n {
			t.Errorf("%q is there %d times, want %d", text, strings.Count(string(svg), text), n)
		}
	}
}

// TestErrorBars: an axis that a figure asks for is longer where an error bar needs it.
func TestErrorBars(t *testing.T) {
	f := Figure{YMin: 1, YMax: 2, LegendBottom: true, Lines: []Line{{Name: "a",
		X: []float64{1, 2}, Y: []float64{1.5, 9}, Low: []float64{0.5, 1.2},
		High: []float64{1.7, 2.5}}, {Name: "b", X: []float64{1, 2}, Y: []float64{-3, 20}}}}
	a, err := f.ranges()
	if err != nil || a.y0 > 0.5 || a.y0 < 0.4 || a.y1 < 2.5 || a.y1 > 2.6 {
		t.Errorf("from %g to %g, %v", a.y0, a.y1, err)
	}
	f.LegendBottom = false
	if a, err = f.ranges(); err != nil || a.y1 < 2.7 {
		t.Errorf("up to %g (%v): the legend covers an error bar", a.y1, err)
	}
	f.LegendLeft = true
	if a, err = f.ranges(); err != nil || a.y1 > 2.7 {
		t.Errorf("up to %g (%v), with the legend elsewhere", a.y1, err)
	}
}

// TestFinding: a figure's finding names its lines by their ends, bars by position, and panels.
func TestFinding(t *testing.T) {
	curve := Figure{Title: "Web", XLabel: "seen", YLabel: "errors", Lines: []Line{{Name: "alma",
		X: []float64{1, 50}, Y: []float64{0, 30}}, {Name: "obpm", X: []float64{1, 50},
		Y: []float64{1, 20}}, {Name: "none"}}}
	bars := Figure{Title: "Time", XLabel: "bias", YLabel: "s", Bars: []string{"15", "9"},
		Lines: []Line{{Name: "romma", X: []float64{0, 1}, Y: []float64{3, 0.25}}}}
	panels := Figure{Title: "Toy", Panels: []Figure{{Title: "svm: 3 kept"}, {Title: "tbp: 2 kept"}}}
	for want, f := range map[string]Figure{
		"Web. errors against seen: obpm 20 at 50; alma 30 at 50": curve,
		"Time. s against bias: romma 3 at 15, 0.25 at 9":         bars,
		"Toy: svm: 3 kept; tbp: 2 kept":                          panels} {
		if got := f.Finding(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestMarks: marks are drawn up to the highest line, below the legend, and the finding lists them.
func TestMarks(t *testing.T) {
	f := Figure{Title: "Error", XLabel: "x", YLabel: "y", Lines: []Line{{Name: "a",
		X: []float64{0, 1, 20}, Y: []float64{0, 1, 0.5}}, {Name: "found", Form: Marks}}}
	for x := range 12 {
		f.Lines[1].X = append(f.Lines[1].X, float64(x))
	}
	a, err := f.ranges()
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 / (1 - 0.12); a.y0 != 0 || math.Abs(a.y1-want) > 1e-12 || a.x1 != 20 {
		t.Errorf("axes from %v to %v and to %v, want 0 to %v and 20", a.y0, a.y1, a.x1, want)
	}
	const want = "Error. y against x: a 0.5 at 20; found at 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
	if text := f.Finding(); text != want {
		t.Errorf("it says %q, want %q", text, want)
	}
	svg, err := f.SVG("")
	if _, marks, _ := strings.Cut(string(svg), "stroke-dasharray"); err != nil || marks == "" {
		t.Errorf("no marks, %v", err)
	}
}

// TestTicks: the ticks are round numbers within the axis, some, but not many.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{-0.1, 3, "0.0 0.5 1.0 1.5 2.0 2.5 3.0"},
		{6.3, 27.5, "10 15 20 25"},
		{-0.003, 0.0031, "-0.003 -0.002 -0.001 0.000 0.001 0.002 0.003"},
		{0, 60000, "0 10000 20000 30000 40000 50000 60000"},
	} {
		var labels []string
		for _, tick := range ticks(c.low, c.high) {
			labels = append(labels, tick.label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("from %g to %g: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

// TestPage: texts are escaped, numbers and HTML are not.
func TestPage(t *testing.T) {
	type label string
	var p Page
	p.Put("<b>%s %s %d %.1f %s</b>", "<i>", label("&"), 3, 1.5, HTML("<br/>"))
	if want := "<b>&lt;i&gt; &amp; 3 1.5 <br/></b>"; p.String() != want {
		t.Errorf("%q, want %q", p.String(), want)
	}
}

// TestContrast: text has a contrast of 4.5 at least against what is behind it, light and dark (WCAG
// 2.1, 1.4.3).
func TestContrast(t *testing.T) {
	luminance := func(hex string) float64 {
		if len(hex) == 3 {
			hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
		}
		v, err := strconv.ParseUint(hex, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			c := float64(v>>(16-8*i)&255) / 255
			if c <= 0.03928 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	modes := regexp.MustCompile(`:root \{[^}]*\}`).FindAllString(pageStyle, -1)
	if len(modes) != 2 {
		t.Fatalf("%d sets of colors, want light and dark", len(modes))
	}
	for _, mode := range modes {
		color := map[string]float64{}
		for _, m := range regexp.MustCompile(`--([a-z]+): #([0-9a-f]+)`).FindAllStringSubmatch(mode,
			-1) {
			color[m[1]] = luminance(m[2])
		}
		for _, back := range []string{"back", "card"} {
			for _, front := range []string{"text", "soft", "good", "mark", "bad"} {
				a, b := color[front]+0.05, color[back]+0.05
				if c := max(a, b) / min(a, b); c < 4.5 {
					t.Errorf("%s on %s: a contrast of %.2f in %s", front, back, c, mode)
				}
			}
		}
	}
}
