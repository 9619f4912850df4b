package dataset

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/internal/format"
)

func generate(t *testing.T, name string, params ...string) *Data[float64] {
	t.Helper()
	m := map[string]string{}
	for _, p := range params {
		k, v, _ := strings.Cut(p, "=")
		m[k] = v
	}
	d, err := Generate[float64](name, m)
	if err != nil {
		t.Fatal(err)
	}
	verify(t, &d.Block)
	d.Info.check(t, d)
	return d
}

// TestMargin runs a perceptron over both splits until it errs no more. Novikoff's theorem: unit
// vectors with margin m take at most 1/m^2 mistakes, in any order, if one target separates all of
// them.
func TestMargin(t *testing.T) {
	for _, margin := range []float64{0.05, 0.15} {
		train := generate(t, "margin", "n=500", fmt.Sprint("margin=", margin))
		test := generate(t, "margin", "n=500", "split=test", fmt.Sprint("margin=", margin))
		w := make([]float64, train.Block.Dim)
		mistakes := 0
		for clean := false; !clean; {
			clean = true
			for _, d := range []*Data[float64]{train, test} {
				for i, y := range d.Block.Y {
					x := d.Block.Row(i)
					if n := format.Squares(x); math.Abs(n-1) > 1e-12 {
						t.Fatalf("squared length %v", n)
					}
					f := 0.0
					for j := range x {
						f += w[j] * x[j]
					}
					if y*f <= 0 {
						clean = false
						mistakes++
						for j := range x {
							w[j] += y * x[j]
						}
					}
				}
			}
			if float64(mistakes) > 1/(margin*margin) {
				t.Fatalf("margin %v: %d mistakes are more than 1/margin^2", margin, mistakes)
			}
		}
		approx.Mean(t, "share of positives", float64(train.Info.Positives)/500, 0.5, 0.5, 500)
		if train.Block.X[0] == test.Block.X[0] {
			t.Error("train and test hold the same examples")
		}
	}
}

// TestNoise flips labels only, and not those of the test split.
func TestNoise(t *testing.T) {
	flips := func(split string) int {
		a, b := generate(t, "margin", "n=2000", "d=5", split), generate(t, "margin", "n=2000",
			"d=5", "noise=0.1", split)
		n := 0
		for i := range a.Block.Y {
			if a.Block.X[i] != b.Block.X[i] {
				t.Fatal("noise changed an instance")
			}
			if a.Block.Y[i] != b.Block.Y[i] {
				n++
			}
		}
		return n
	}
	approx.Mean(t, "share of flips", float64(flips("split=train"))/2000, 0.1, 0.3, 2000)
	if n := flips("split=test"); n != 0 {
		t.Errorf("%d labels of the test split were flipped", n)
	}
}

// TestROfK finds the attributes that matter by their mean, and recomputes the labels.
func TestROfK(t *testing.T) {
	for _, r := range []int{1, 4, 16} {
		n := 4000
		d := generate(t, "rofk", "n=4000", "d=40", "k=16", fmt.Sprint("r=", r))
		approx.Mean(t, "share of positives", float64(d.Info.Positives)/float64(n), 0.5, 0.5, n)
		relevant := make([]bool, 40)
		found := 0
		for j := range relevant {
			mean := 0.0
			for i := range n {
				mean += d.Block.Row(i)[j] / float64(n)
			}
			if relevant[j] = math.Abs(mean) > 0.2; relevant[j] {
				found++
			}
		}
		if found != 16 {
			t.Fatalf("r=%d: %d attributes have a mean off 0, want 16", r, found)
		}
		for i, y := range d.Block.Y {
			on := 0
			for j, v := range d.Block.Row(i) {
				if v != 1 && v != -1 {
					t.Fatal(v)
				}
				if relevant[j] && v > 0 {
					on++
				}
			}
			if on >= r != (y > 0) {
				t.Fatalf("r=%d: %d attributes on, label %v", r, on, y)
			}
		}
	}
	if p := atLeast(1, 2, 0.5); p != 0.75 {
		t.Errorf("P(one of two coins) = %v", p)
	}
	if p, want := atLeast(3, 4, 0.25), 4*0.25*0.25*0.25*0.75+math.Pow(0.25,
		4); math.Abs(p-want) > 1e-15 {
		t.Errorf("P(three of four) = %v, want %v", p, want)
	}
}

func TestGauss(t *testing.T) {
	d := generate(t, "gauss", "n=8000", "d=3", "distance=3", "spread=2")
	n := 8000
	var mean [3]float64
	sq := 0.0
	for i, y := range d.Block.Y {
		x := d.Block.Row(i)
		mean[0] += y * x[0] / float64(n)
		mean[1] += math.Abs(x[1]) / float64(n)
		mean[2] += x[2] / float64(n)
		sq += x[1] * x[1] / float64(n)
	}
	approx.Mean(t, "half distance", mean[0], 1.5, 1, n)
	approx.Mean(t, "second moment along the spread", sq, 1+1, math.Sqrt(2+4), n)
	approx.Mean(t, "mean of a feature without structure", mean[2], 0, 1, n)
	approx.Mean(t, "share of positives", float64(d.Info.Positives)/float64(n), 0.5, 0.5, n)
}

func TestWaveform(t *testing.T) {
	n := 6000
	d := generate(t, "waveform", "n=6000", "positive=1", "negative=3")
	pos := float64(d.Info.Positives)
	approx.Mean(t, "share of positives", pos/float64(n), 0.5, 0.5, n)
	// means of h1/2 + h2/2 and h2/2 + h3/2 at attributes 11, 7, 15
	for j, want := range map[int][2]float64{10: {3 + 1, 1 + 1}, 6: {1, 3}, 14: {1 + 3, 3}} {
		var mean [2]float64
		for i, y := range d.Block.Y {
			if y > 0 {
				mean[0] += d.Block.Row(i)[j] / pos
			} else {
				mean[1] += d.Block.Row(i)[j] / (float64(n) - pos)
			}
		}
		approx.Mean(t, fmt.Sprintf("class 1 at attribute %d", j+1), mean[0], want[0], 3, int(pos))
		approx.Mean(t, fmt.Sprintf("class 3 at attribute %d", j+1), mean[1], want[1], 3, n-int(pos))
	}
	d = generate(t, "waveform", "n=6000", "negative=0")
	approx.Mean(t, "share of one class", float64(d.Info.Positives)/float64(n), 1.0/3, 0.48, n)
}

func TestBanana(t *testing.T) {
	d := generate(t, "banana", "n=2000", "spread=0")
	for i, y := range d.Block.Y {
		x := d.Block.Row(i)
		u, v := x[0], x[1]
		if y > 0 {
			u, v = 1-u, 0.5-v
		}
		if math.Abs(math.Hypot(u, v)-1) > 1e-12 || v < 0 {
			t.Fatalf("%v %v is on no crescent", x, y)
		}
	}
	approx.Mean(t, "share of positives", float64(d.Info.Positives)/2000, 0.5, 0.5, 2000)
}

// TestDrift follows the schedule over images whose only pixel is their label.
func TestDrift(t *testing.T) {
	dir := t.TempDir()
	y := make([]byte, 100)
	for i := range y {
		y[i] = byte(i % 10)
	}
	images, labels := filepath.Join(dir, "i"), filepath.Join(dir, "l")
	for name, text := range map[string]string{images: idx(0x803, []uint32{100, 1, 1}, y...),
		labels: idx(0x801, []uint32{100}, y...)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := 20000
	d := generate(t, "drift", "n=20000", "images="+images, "labels="+labels, "positives=0.3")
	approx.Mean(t, "share of positives", float64(d.Info.Positives)/float64(n), 0.3, 0.46, n)
	// of label 1 in the first tenth, 2 in the fifth, 3 in the last among the positives
	var count, positives [3]int
	for i, y := range d.Block.Y {
		v := int(d.Block.Row(i)[0])
		tt := float64(i+1) / float64(n)
		if y < 0 {
			if tt > 0.91 && v == 3 {
				t.Fatal("a negative example of the positive label")
			}
			continue
		}
		if v < 1 || v > 3 || tt > 0.5 && v == 1 || tt > 0.901 && v != 3 {
			t.Fatalf("a positive example of label %d at %v", v, tt)
		}
		for k, mid := range []float64{0.05, 0.45, 0.85} {
			if math.Abs(tt-mid) < 0.05 {
				positives[k]++
				if v == k+1 {
					count[k]++
				}
			}
		}
	}
	// Averages over each tenth: label 1 is left with 1-2t, label 3 has come with 1.11 t, label 2
	// has the rest.
	for k, want := range []float64{0.9, 0.9 - 1.11*0.45, 1.11 * 0.85} {
		approx.Mean(t, fmt.Sprintf("share of label %d", k+1), float64(count[k])/float64(positives[k]),
			want, 0.5, positives[k])
	}
}

// TestGeneratedBits pins the bits, which every platform makes alike, and shows that few examples
// are the first of many.
func TestGeneratedBits(t *testing.T) {
	for name, want := range map[string]uint64{
		"margin": 0x70dd38935782e48f, "rofk": 0x69271993e5f5efba, "gauss": 0x726b392554d6f0f5,
		"waveform": 0x7a7aeb20ffca0287, "banana": 0xb6b071b810d1dc4b,
	} {
		few, many := generate(t, name, "n=20"), generate(t, name, "n=30")
		h := fnv.New64a()
		for i := range 20 {
			if many.Block.Y[i] != few.Block.Y[i] {
				t.Errorf("%s: label %d depends on n", name, i)
			}
			for j, v := range few.Block.Row(i) {
				if v != many.Block.Row(i)[j] {
					t.Fatalf("%s: example %d depends on n", name, i)
				}
				fmt.Fprintf(h, "%x ", math.Float64bits(v))
			}
		}
		if h.Sum64() != want {
			t.Errorf("%s: the bits have hash %#x, want %#x", name, h.Sum64(), want)
		}
		if other := generate(t, name, "n=20", "seed=2"); dump(&other.Block) == dump(&few.Block) {
			t.Errorf("%s does not depend on the seed", name)
		}
	}
}

func TestGeneratorErrors(t *testing.T) {
	for _, tc := range []struct{ name, param, want string }{
		{"no", "", "expected one of margin, rofk, gauss"},
		{"margin", "k=3", "no parameter k: it has d, margin, n, seed, split, noise"},
		{"margin", "d=0", "d=0: expected a whole number from 1"},
		{"margin", "margin=x", "margin=x: expected a number"},
		{"margin", "margin=nan", "margin=nan: expected a number"},
		{"margin", "margin=0.99 d=12", "lower the margin"},
		{"rofk", "r=17", "expected a whole number from 1 to 16"},
		{"gauss", "n=0", "n=0"},
		{"gauss", "seed=-1", "seed=-1"},
		{"gauss", "split=both", "expected train or test"},
		{"waveform", "negative=1", "another class"},
		{"drift", "", "an idx file of images"},
	} {
		params := map[string]string{}
		for _, param := range strings.Fields(tc.param) {
			k, v, _ := strings.Cut(param, "=")
			params[k] = v
		}
		if _, err := Generate[float32](tc.name, params); !errors.Is(err, ErrOption) ||
			!strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s %s: %v", tc.name, tc.param, err)
		}
	}
	if _, err := Generate[float32]("drift", map[string]string{"images": "none"}); !errors.Is(err,
		os.ErrNotExist) {
		t.Error(err)
	}
}
