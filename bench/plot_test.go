package bench

import (
	"bytes"
	"image/png"
	"math"
	"os"
	"path/filepath"
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
