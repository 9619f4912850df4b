package measure

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/realdata"
)

func TestSonarReal(t *testing.T) {
	dir := filepath.Dir(realdata.File(t, "sonar.mines"))
	b, err := Sonar(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range b.Y {
		if (y > 0) != (i < 49) {
			t.Fatalf("label %v of return %d", y, i)
		}
	}
	mine, rock := b.Row(0), b.Row(49) // CM078, CR036
	if b.Len() != 49+55 || mine[0] != 0.0491 || mine[59] != 0.0439 || rock[0] != 0.0200 {
		t.Errorf("%d returns, the first mine is %v, the first rock %v", b.Len(), mine, rock)
	}
}

func TestSonarBad(t *testing.T) {
	good := "About: this file\n\n*CM1:\n{" + strings.Repeat("0.5 ", 30) + "\n " +
		strings.Repeat("0.25 ", 30) + "}\n\n"
	other := strings.Replace(good, "*", "", 1)
	var b engine.Block[float64]
	if err := readSonar(strings.NewReader(good+other+good), -1, &b); err != nil ||
		len(b.Y) != 2 || len(b.X) != 120 || b.X[29] != 0.5 || b.X[30] != 0.25 || b.Y[1] != -1 {
		t.Fatalf("%d returns, %v", len(b.Y), err)
	}
	for _, c := range []struct {
		text, say string
		want      error
	}{
		{"", "0: ", dataset.ErrEmpty},
		{"no return\n", "1: ", dataset.ErrEmpty},
		{good + strings.Replace(good, "0.5 ", "x ", 1), `10: expected a number, found "x"`,
			dataset.ErrBadRow},
		{strings.Replace(good, "0.5 ", "NaN ", 1), "4: expected a number", dataset.ErrBadRow},
		{strings.Replace(good, "0.5 ", "", 1), "5: expected 60 numbers up to here, found 59",
			dataset.ErrBadRow},
		{strings.Replace(good, "}", "", 1), "closing brace", dataset.ErrTruncated},
	} {
		if err := readSonar(strings.NewReader(c.text), 1, &b); !errors.Is(err, c.want) ||
			!strings.Contains(err.Error(), c.say) {
			t.Errorf("%.20q: %v, want %q and %v", c.text, err, c.say, c.want)
		}
	}
}
