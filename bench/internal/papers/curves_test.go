package papers

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/report"
)

func TestMeanLine(t *testing.T) {
	got := meanLine([]report.Line{{X: []float64{1, 3, 5}, Y: []float64{10, 20, 30}},
		{X: []float64{3},
			Y: []float64{0}}})
	if !slices.Equal(got.X, []float64{2, 3, 4}) || !slices.Equal(got.Y, []float64{5, 10, 15}) {
		t.Errorf("%+v", got)
	}
	var l report.Line
	for i := range 10_000 {
		l.X, l.Y = append(l.X, float64(i+1)), append(l.Y, float64(i))
	}
	for _, log := range []bool{false, true} {
		thin := thinned(l, log)
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
