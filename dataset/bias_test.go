package dataset

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestBiasValue: the appended feature has the value asked for, counts in lengths, and is divided
// with the rest.
func TestBiasValue(t *testing.T) {
	for name, text := range map[string]string{
		"csv":        "3,0,4,1\n0,0,12,-1\n",
		"svmlight":   "+1 1:3 3:4\n-1 3:12\n",
		"svmlight 0": "+1 0:3 2:4\n-1 2:12\n",
	} {
		for _, c := range []struct {
			normalize string
			scale     [2]float64 // of the rows
		}{{"none", [2]float64{1, 1}}, {"unit", [2]float64{math.Hypot(5, 7), math.Hypot(12, 7)}},
			{"max", [2]float64{math.Hypot(12, 7), math.Hypot(12, 7)}}} {
			d, err := LoadReader[float64](context.Background(), name, strings.NewReader(text),
				Options{Bias: "append", BiasValue: 7, Normalize: c.normalize})
			if err != nil {
				t.Fatal(err)
			}
			if want := math.Hypot(12, 7); math.Abs(d.Info.MaxNorm-want) > 1e-12 || d.Info.Dim != 4 {
				t.Errorf("%s, %s: longest %v, want %v; %d features", name, c.normalize,
					d.Info.MaxNorm, want, d.Info.Dim)
			}
			for i, want := range [][]float64{{7, 3, 0, 4}, {7, 0, 0, 12}} {
				got := make([]float64, 4)
				if d.Block.Dense() {
					copy(got, d.Block.Row(i))
				} else {
					idx, val := d.Block.Sparse(i)
					for n, j := range idx {
						got[j] = val[n]
					}
				}
				for j := range want {
					if math.Abs(got[j]-want[j]/c.scale[i]) > 1e-15 {
						t.Errorf("%s, %s: row %d is %v, want %v over %v", name, c.normalize, i, got,
							want, c.scale[i])
						break
					}
				}
			}
		}
	}
}

// TestBiasValueIDX is the same for images.
func TestBiasValueIDX(t *testing.T) {
	d, err := Load[float32](context.Background(), written(t, images2, labels2),
		Options{Bias: "append", BiasValue: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Block.Row(1); !slices.Equal(got, []float32{0.5, 3, 4}) ||
		math.Abs(d.Info.MaxNorm-math.Sqrt(25.25)) > 1e-12 {
		t.Errorf("row %v, longest %v", got, d.Info.MaxNorm)
	}
}
