package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/realdata"
)

func TestSonarReal(t *testing.T) {
	mines, rocks := realdata.File(t, "sonar.mines"), realdata.File(t, "sonar.rocks")
	for _, c := range []struct {
		training     bool
		mines, rocks int
	}{{true, 49, 55}, {false, 111, 97}} {
		d, err := Sonar[float64](mines, rocks, c.training)
		if err != nil {
			t.Fatal(err)
		}
		b := &d.Block
		if b.Len() != c.mines+c.rocks || d.Info.Positives != c.mines || d.Info.Rows != b.Len() {
			t.Fatalf("%d returns, %d mines; want %d and %d", b.Len(), d.Info.Positives,
				c.mines+c.rocks, c.mines)
		}
		for i, y := range b.Y {
			if (y > 0) != (i < c.mines) {
				t.Fatalf("label %v of return %d", y, i)
			}
		}
		if x := b.Row(0); x[0] != 0.0491 || x[59] != 0.0439 { // CM078
			t.Errorf("the first mine is %v", x)
		}
		if x := b.Row(c.mines); x[0] != 0.0200 { // CR036
			t.Errorf("the first rock is %v", x)
		}
	}
	if _, err := Sonar[float64](mines, rocks+".not", true); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestSonarBad(t *testing.T) {
	good := "About: this file\n\n*CM1:\n{" + strings.Repeat("0.5 ", 30) + "\n " +
		strings.Repeat("0.25 ", 30) + "}\n\n"
	other := strings.Replace(good, "*", "", 1)
	read := func(text string, training bool) (engine.Block[float32], error) {
		b := engine.Block[float32]{Dim: sonarDim, Stride: sonarDim}
		return b, readSonar(strings.NewReader(text), "f", 1, training, &b)
	}
	var b engine.Block[float32]
	if err := readSonar(strings.NewReader(good+other+good), "f", -1, true, &b); err != nil ||
		b.Len() != 2 || len(b.X) != 120 || b.X[29] != 0.5 || b.X[30] != 0.25 || b.Y[1] != -1 {
		t.Fatalf("%d returns, %v", b.Len(), err)
	}
	for _, c := range []struct {
		text, say string
		want      error
	}{
		{"", "f: ", ErrEmpty},
		{"no return\n", "f: ", ErrEmpty},
		{good + strings.Replace(good, "0.5 ", "x ", 1), `f:10:1: expected a number in "{x 0.5`,
			ErrBadRow},
		{strings.Replace(good, "0.5 ", "NaN ", 1), "f:4:1: expected a number", ErrBadRow},
		{strings.Replace(good, "0.5 ", "", 1), "f:5:1: expected 60 numbers up to here, found 59",
			ErrBadRow},
		{strings.Replace(good, "}", "", 1), "closing brace", ErrTruncated},
	} {
		if _, err := read(c.text, true); !errors.Is(err, c.want) || !strings.Contains(err.Error(),
			c.say) {
			t.Errorf("%q: %v, want %q and %v", c.text[:min(len(c.text), 20)], err, c.say, c.want)
		}
	}
	dir := t.TempDir()
	mines, rocks := filepath.Join(dir, "m"), filepath.Join(dir, "r")
	if err := errors.Join(os.WriteFile(mines, []byte(good), 0o600), os.WriteFile(rocks,
		[]byte("none"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Sonar[float32](mines, rocks, false); !errors.Is(err, ErrEmpty) {
		t.Errorf("no rocks: %v", err)
	}
}
