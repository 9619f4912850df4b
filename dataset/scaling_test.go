package dataset

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// someRows are n rows of csv or svmlight with columns of very different scales: one of thousands,
// one of thousandths, one that never changes, one that is 0 in most rows.
func someRows(n int, sparse bool) (text string, values [][]float64) {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := range n {
		rare := 0.0
		if r.IntN(10) == 0 {
			rare = float64(r.IntN(5)) + 1
		}
		x := []float64{1000 + 100*r.NormFloat64(), 0.001 * r.Float64(), 5, rare}
		values = append(values, x)
		label := "+1"
		if i%2 == 0 {
			label = "-1"
		}
		if !sparse {
			fmt.Fprintf(&b, "%v,%v,%v,%v,%s\n", x[0], x[1], x[2], x[3], label)
			continue
		}
		b.WriteString(label)
		for j, v := range x {
			if v != 0 {
				fmt.Fprintf(&b, " %d:%v", j+1, v)
			}
		}
		b.WriteByte('\n')
	}
	return b.String(), values
}

// scaledBy is the value of column j as the documentation says, by the rows seen.
func scaledBy(method string, sparse bool, seen [][]float64, j int, x float64) float64 {
	n, sum, sq, most := 0.0, 0.0, 0.0, 0.0
	for _, row := range seen {
		if v := row[j]; v != 0 || !sparse {
			n, sum, sq, most = n+1, sum+v, sq+v*v, max(most, math.Abs(v))
		}
	}
	switch {
	case method == "maxabs" && most > 0:
		return x / most
	case method == "maxabs":
		return x
	case sparse && sq > 0:
		return x / math.Sqrt(sq/n)
	case sparse:
		return x
	}
	mean, m2 := sum/n, 0.0
	for _, row := range seen {
		m2 += (row[j] - mean) * (row[j] - mean)
	}
	if m2/n < 1e-20*mean*mean {
		return 0
	}
	return (x - mean) / math.Sqrt(m2/n)
}

// gathered reads a stream to its end, into rows without the appended feature.
func gathered(t *testing.T, s *Stream[float64]) (rows [][]float64) {
	t.Helper()
	defer s.Close()
	for {
		b, err := s.Next()
		if err == io.EOF {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, valuesOf(b)...)
	}
}

func valuesOf(b *engine.Block[float64]) (rows [][]float64) {
	for i := range b.Len() {
		row := make([]float64, 4)
		for j := range row {
			row[j] = b.At(i, j+1)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestScaling compares scaled rows with what their definition gives: those of a stream by the rows
// up to and with each, those in memory by all, others by what was learned.
func TestScaling(t *testing.T) {
	const n = 300
	ctx := context.Background()
	for _, sparse := range []bool{false, true} {
		text, values := someRows(n, sparse)
		for _, method := range []string{"std", "maxabs"} {
			check := func(where string, got [][]float64, seen func(i int) [][]float64) {
				t.Helper()
				if len(got) != n {
					t.Fatalf("%s: %d rows", where, len(got))
				}
				for i, row := range values {
					for j, x := range row {
						want := scaledBy(method, sparse, seen(i), j, x)
						// the mean of n values near 1000 has lost n eps 1000 to roundings
						if math.Abs(got[i][j]-want) > 1e-9*(1+math.Abs(want)) {
							t.Fatalf("sparse %v, %s, %s: row %d, column %d is %v, want %v", sparse,
								method, where, i, j, got[i][j], want)
						}
					}
				}
			}
			o := Options{Bias: "append", Scaling: method}
			s := opened[float64](t, strings.NewReader(text), o)
			check("stream", gathered(t, s), func(i int) [][]float64 { return values[:i+1] })
			d, err := load(text, o)
			if err != nil {
				t.Fatal(err)
			}
			all := func(int) [][]float64 { return values }
			check("memory", valuesOf(&d.Block), all)
			if a, b := d.Info.Scaling, s.Info().Scaling; !slices.Equal(a.Known, b.Known) {
				t.Errorf("known in memory %v, of the stream %v", a.Known, b.Known)
			}
			s, err = OpenReader[float64](ctx, "x", strings.NewReader(text),
				Options{Bias: "append", Scaled: d.Info.Scaling})
			if err != nil {
				t.Fatal(err)
			}
			check("later", gathered(t, s), all)
		}
	}
}

// TestScalingGoesOn: what is known after two files is the same whether they are read in one run or
// two, in any pieces, by any number of workers.
func TestScalingGoesOn(t *testing.T) {
	text, _ := someRows(500, false)
	cut := strings.Index(text[len(text)/3:], "\n") + len(text)/3 + 1
	read := func(text string, o Options) ([][]float64, *Scaling) {
		s := opened[float64](t, strings.NewReader(text), o)
		rows := gathered(t, s)
		return rows, s.Info().Scaling
	}
	want, known := read(text, Options{Bias: "append", Normalize: "unit", Scaling: "std"})
	for _, chunk := range []int{300, 5000} {
		for _, workers := range []int{1, 3} {
			o := Options{Bias: "append", Normalize: "unit", Scaling: "std", Workers: workers,
				chunk: chunk}
			a, first := read(text[:cut], o)
			o.Scaled = first
			before := slices.Clone(first.Known)
			b, both := read(text[cut:], o)
			if !slices.Equal(both.Known, known.Known) || !slices.Equal(before, first.Known) ||
				!slices.EqualFunc(append(a, b...), want, slices.Equal) {
				t.Errorf("pieces of %d, %d workers: other rows, or other means", chunk, workers)
			}
		}
	}
}

// TestScalingExtremes: whatever the values are, the scaled ones are finite.
func TestScalingExtremes(t *testing.T) {
	for _, text := range []string{
		"1e308,-1e308,1\n-1e308,1e308,-1\n1e308,0,1\n", "1e-300,5e-324,1\n-1e-300,0,-1\n",
		"+1 1:1e308 2:-1e308\n-1 1:-1e308 2:1e-308\n", "0,0,1\n0,0,-1\n",
	} {
		for _, method := range []string{"std", "maxabs"} {
			for _, whole := range []bool{false, true} {
				var b engine.Block[float64]
				o := Options{Scaling: method}
				if whole {
					d, err := load(text, o)
					if err != nil {
						t.Fatal(err)
					}
					b = d.Block
				} else {
					s := opened[float64](t, strings.NewReader(text), o)
					next, err := s.Next()
					if err != nil {
						t.Fatal(err)
					}
					b = *next
				}
				for i := range b.Len() {
					for j := range b.Dim {
						if v := b.At(i, j); v-v != 0 {
							t.Errorf("%s %s %v: row %d, feature %d is %v", text, method, whole, i,
								j, v)
						}
					}
				}
			}
		}
	}
}
