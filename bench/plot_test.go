package bench

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
	f := Figure{Name: "paper/figure1", Title: "a title", XLabel: "kept", YLabel: "error, %", XLog: true, Lines: []Line{
		{Name: "one", X: []float64{20, 40, 100}, Y: []float64{3, 2, 1}, Low: []float64{2, 1, 0.5}, High: []float64{4, 3, 2}},
		{Name: "point", X: []float64{500}, Y: []float64{1.5}},
	}}
	dir := t.TempDir()
	names, err := f.WriteFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 2 || filepath.Base(names[0]) != "paper-figure1.svg" || filepath.Base(names[1]) != "paper-figure1.png" {
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

// TestSteps: the marks are round numbers within the axis, and there are some, but not many.
func TestSteps(t *testing.T) {
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
		for _, tick := range (steps{}).Ticks(c.low, c.high) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("from %g to %g: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

// TestBars: bars have the places' names below and the lines' in the legend.
func TestBars(t *testing.T) {
	var svg bytes.Buffer
	f := Figure{Name: "paper/bars", Bars: []string{"first", "second"}, Lines: []Line{{Name: "one", Y: []float64{3, 2}}, {Name: "two", Y: []float64{4, 5}}}}
	if err := f.Write(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first", "second", "one", "two"} {
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
	got := meanLine([]Line{{X: []float64{1, 3, 5}, Y: []float64{10, 20, 30}}, {X: []float64{3}, Y: []float64{0}}})
	if !slices.Equal(got.X, []float64{2, 3, 4}) || !slices.Equal(got.Y, []float64{5, 10, 15}) {
		t.Errorf("%+v", got)
	}
	var l Line
	for i := range 10_000 {
		l.X, l.Y = append(l.X, float64(i+1)), append(l.Y, float64(i))
	}
	for _, log := range []bool{false, true} {
		thin := l.thinned(log)
		if n := len(thin.X); n < curvePoints/2 || n > curvePoints+2 || thin.X[0] != 1 || thin.X[n-1] != 10_000 || thin.Y[n-1] != 9999 {
			t.Errorf("log %v: %d points from %v to %v", log, n, thin.X[0], thin.X[n-1])
		}
	}
}
