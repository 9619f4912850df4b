package papers

import (
	"bytes"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFigure: both forms are whole, the same each time, and nothing else is left in the folder.
func TestFigure(t *testing.T) {
	f := Figure{Name: "paper/figure1", Title: "a title", XLabel: "kept", YLabel: "error, %",
		XLog: true, Lines: []Line{
			{Name: "one", X: []float64{20, 40, 100}, Y: []float64{3, 2, 1}, Low: []float64{2, 1,
				0.5}, High: []float64{4, 3, 2}},
			{Name: "point", X: []float64{500}, Y: []float64{1.5}},
		}}
	dir := t.TempDir()
	names, err := f.WriteFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 2 || filepath.Base(names[0]) != "paper-figure1.svg" ||
		filepath.Base(names[1]) != "paper-figure1.png" {
		t.Errorf("files %v", names)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("the folder has %v, %v", all, err)
	}
	svg, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "</svg>", "a title", "error, %", "point"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %q in the SVG", want)
		}
	}
	var again bytes.Buffer
	if err := f.Write(&again, "svg"); err != nil || !bytes.Equal(again.Bytes(), svg) {
		t.Errorf("the SVG differs when drawn again: %v", err)
	}
	pic, err := os.Open(names[1])
	if err != nil {
		t.Fatal(err)
	}
	defer pic.Close()
	if img, err := png.Decode(pic); err != nil || img.Bounds().Dx() < 500 {
		t.Errorf("PNG: %v", err)
	}
	f.Lines[0].Y[1] = math.NaN()
	if _, err := f.WriteFiles(dir); err == nil {
		t.Error("a line with a NaN was drawn")
	}
	if all, _ := os.ReadDir(dir); len(all) != 2 {
		t.Errorf("a failed drawing left %v", all)
	}
}

// TestBars: bars have the places' names below and the lines' in the legend.
func TestBars(t *testing.T) {
	var svg bytes.Buffer
	f := Figure{Name: "paper/bars", Bars: []string{"first", "second"}, Lines: []Line{{Name: "one",
		Y: []float64{3, 2}}, {Name: "two", Y: []float64{4, 5}}}}
	if err := f.Write(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first", "second", "one" + slack, "two" + slack} {
		if !strings.Contains(svg.String(), ">"+want+"<") {
			t.Errorf("no %q in the SVG", want)
		}
	}
	f.Lines[1].Y[0] = math.NaN()
	if err := f.Write(&svg, "svg"); err == nil {
		t.Error("a bar of height NaN was drawn")
	}
}

func TestMeanLine(t *testing.T) {
	got := meanLine([]Line{{X: []float64{1, 3, 5}, Y: []float64{10, 20, 30}}, {X: []float64{3},
		Y: []float64{0}}})
	if !slices.Equal(got.X, []float64{2, 3, 4}) || !slices.Equal(got.Y, []float64{5, 10, 15}) {
		t.Errorf("%+v", got)
	}
	var l Line
	for i := range 10_000 {
		l.X, l.Y = append(l.X, float64(i+1)), append(l.Y, float64(i))
	}
	for _, log := range []bool{false, true} {
		thin := l.thinned(log)
		if n := len(thin.X); n < curvePoints/2 || n > curvePoints+2 || thin.X[0] != 1 ||
			thin.X[n-1] != 10_000 || thin.Y[n-1] != 9999 {
			t.Errorf("log %v: %d points from %v to %v", log, n, thin.X[0], thin.X[n-1])
		}
	}
}

// TestZeros: the zeros of a circle and of a line are near them, in segments whose ends meet others'
// or the edge.
func TestZeros(t *testing.T) {
	const r = 0.71 // through no point of the grid
	circle := func(x, y []float64) ([]float64, error) {
		z := make([]float64, len(x))
		for i := range x {
			z[i] = x[i]*x[i] + y[i]*y[i] - r*r
		}
		return z, nil
	}
	l, err := zeros("circle", -1, 1, -1, 1, 40, circle)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[[2]float64]int{}
	for i, x := range l.X {
		// The chord of a circle of radius r over a square's diagonal h is h^2/(8 r) from it at
		// most; h = sqrt(2)/20.
		if off := math.Abs(math.Hypot(x, l.Y[i]) - r); off > 0.005/(8*r) {
			t.Errorf("(%v, %v) is %v off the circle", x, l.Y[i], off)
		}
		ends[[2]float64{math.Round(1e9 * x), math.Round(1e9 * l.Y[i])}]++
	}
	for at, n := range ends {
		if n != 2 {
			t.Errorf("%d segments meet at %v", n, at)
		}
	}
	if len(l.X) < 100 || len(l.X)%2 != 0 {
		t.Errorf("%d ends", len(l.X))
	}
	if l, err := zeros("none", -1, 1, -1, 1, 10, func(x, _ []float64) ([]float64,
		error) {
		return make([]float64, len(x)), nil
	}); err != nil || len(l.X) > 0 {
		t.Errorf("of 0 everywhere: %v, %v", l, err)
	}
	if _, err := zeros("error", -1, 1, -1, 1, 10, func(_, _ []float64) ([]float64,
		error) {
		return nil, os.ErrInvalid
	}); err == nil {
		t.Error("an error was lost")
	}
}

// TestPanels: the legend names each line once, the picture is as large as its rows want, and the
// same each time.
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
	var svg, again, pic bytes.Buffer
	for _, w := range []*bytes.Buffer{&svg, &again} {
		if err := f.Write(w, "svg"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(svg.Bytes(), again.Bytes()) {
		t.Error("the SVG differs when drawn again")
	}
	for text, n := range map[string]int{">both<": 1, ">first<": 3, ">last<": 1, ">class +1<": 1,
		">score 0<": 1, ">nothing<": 1} {
		if strings.Count(svg.String(), text) != n {
			t.Errorf("%q is there %d times, want %d", text, strings.Count(svg.String(), text), n)
		}
	}
	if err := f.Write(&pic, "png"); err != nil {
		t.Fatal(err)
	}
	// Two rows of 8 cm under 2 cm, 24 cm wide, 160 points an inch.
	if c, err := png.DecodeConfig(&pic); err != nil || math.Abs(float64(c.Width)-24/2.54*160) > 1 ||
		math.Abs(float64(c.Height)-18/2.54*160) > 1 {
		t.Errorf("PNG: %+v, %v", c, err)
	}
	f.Panels[1].Lines[0].X = []float64{0, math.NaN(), 2}
	if err := f.Write(&pic, "png"); err == nil {
		t.Error("a NaN was drawn")
	}
}

// TestErrorBars: an axis that a figure asks for is longer where an error bar needs it.
func TestErrorBars(t *testing.T) {
	f := Figure{YMin: 1, YMax: 2, LegendBottom: true, Lines: []Line{{Name: "a", X: []float64{1, 2}, Y: []float64{1.5, 9},
		Low: []float64{0.5, 1.2}, High: []float64{1.7, 2.5}}, {Name: "b", X: []float64{1, 2},
		Y: []float64{-3, 20}}}}
	p, err := f.plot()
	if err != nil {
		t.Fatal(err)
	}
	if p.Y.Min > 0.5 || p.Y.Min < 0.4 || p.Y.Max < 2.5 || p.Y.Max > 2.6 {
		t.Errorf("from %g to %g", p.Y.Min, p.Y.Max)
	}
	f.LegendBottom = false
	if p, err = f.plot(); err != nil || p.Y.Max < 2.7 {
		t.Errorf("up to %g (%v): the legend covers an error bar", p.Y.Max, err)
	}
	f.LegendLeft = true
	if p, err = f.plot(); err != nil || p.Y.Max > 2.7 {
		t.Errorf("up to %g (%v), with the legend elsewhere", p.Y.Max, err)
	}
}

// TestFinding: a figure's finding names its lines by their ends, bars by place, and panels.
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

// TestMarks: marks are drawn up to the highest line, below the legend, and their places are told.
func TestMarks(t *testing.T) {
	t.Parallel()
	f := Figure{Title: "Error", XLabel: "x", YLabel: "y", Lines: []Line{{Name: "a",
		X: []float64{0, 1, 20}, Y: []float64{0, 1, 0.5}}, {Name: "found", Form: Marks}}}
	for x := range 12 {
		f.Lines[1].X = append(f.Lines[1].X, float64(x))
	}
	p, err := f.plot()
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 / (1 - 0.12); p.Y.Min != 0 || math.Abs(p.Y.Max-want) > 1e-12 || p.X.Max != 20 {
		t.Errorf("axes from %v to %v and to %v, want 0 to %v and 20", p.Y.Min, p.Y.Max, p.X.Max,
			want)
	}
	const want = "Error. y against x: a 0.5 at 20; found at 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
	if text := f.Finding(); text != want {
		t.Errorf("it says %q, want %q", text, want)
	}
	var with, without bytes.Buffer
	if err := f.Write(&with, "svg"); err != nil {
		t.Fatal(err)
	}
	f.Lines[1].X = nil
	if err := f.Write(&without, "svg"); err != nil {
		t.Fatal(err)
	}
	marks := func(svg []byte) int { return bytes.Count(svg, []byte("stroke-dasharray")) }
	if n := marks(with.Bytes()) - marks(without.Bytes()); n < 12 {
		t.Errorf("%d marks are drawn, want 12", n)
	}
}
