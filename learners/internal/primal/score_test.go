package primal

import (
	"math"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// TestDenseScores: tiles of rows give the bits of row after row, whether the weights end before the
// features, with them or behind.
func TestDenseScores(t *testing.T) {
	rng := engine.NewRand(1, 0)
	random := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.Normal())
		}
		return x
	}
	for _, dim := range []int{1, 3, 17, 64, 131} {
		for _, n := range []int{0, 1, tileRows, 2*tileRows + 3} {
			b := &engine.Block[float32]{Dim: dim, Stride: dim + 5, Y: make([]float32, n)}
			if n > 0 {
				b.X = random((n-1)*b.Stride + dim) // nothing behind the last row
			}
			for _, reach := range []int{0, dim / 2, dim, dim + 9} {
				w := random(reach)
				wide := make([]float64, reach)
				for j, v := range w {
					wide[j] = float64(v)
				}
				narrow := weights[float32]{name: "test", w: w, scale: 0.3}
				p := WideWeights[float32]{Name: "test", W: wide, Divisor: 7}
				got, want := make([]float64, 2*n), make([]float64, 2*n)
				if err := narrow.Score(b, got[:n]); err != nil {
					t.Fatal(err)
				}
				if err := p.Score(b, got[n:]); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					want[i] = float64(0.3 * dotOf(w, b, i))
					want[n+i] = vecmath.DotMixed(wide, b.RowPrefix(i, reach)) / 7
				}
				same := func(a, b float64) bool {
					return math.Float64bits(a) == math.Float64bits(b)
				}
				if !slices.EqualFunc(got, want, same) {
					t.Errorf("%d rows of %d, %d weights: %v, want %v", n, dim, reach, got, want)
				}
			}
		}
	}
}
