package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// convertible examples: sparse and dense, with names, classes and weights.
var convertibles = []struct {
	name, text string
	o          Options
}{
	{"numbers", "+1 1:1 3:0.5 7:1e-300\n-1 2:2\n+1\n-1 1:255 900:0.1\n", Options{}},
	{"from zero", "1 0:1 3:0.5\n2 2:2\n", Options{}},
	{"classes", "a 1:1\nb 2:1\nc 3:1\na 1:0.25\nb 1:2\nc 2:1\na 3:3\n", Options{}},
	{"columns", "size,times,class\n1,2.5,x\n0,1,y\n-3,0,x\n", Options{}},
	{"columns without names", "1,2.5,0\n0,1,1\n-3,0,0\n", Options{}},
	{"texts", "age,job,town,y\n3,clerk,Rome,no\n5,smith,?,yes\n4,clerk,\"a, b\",no\n", Options{}},
	{"weights", "size,w,class\n1,2.5,x\n0,1,y\n-3,0.1,x\n", Options{WeightCol: "w"}},
	{"words", `{"y":"no","age":3,"job":"clerk"}` + "\n" +
		`{"y":"yes","job":"smith","age":5.5}` + "\n", Options{}},
	{"spaces", "yes |user age:3 x |item shoe\nno 2 |user age:5 |item hat\n", Options{}},
}

// convert writes a file of another format.
func convert(t testing.TB, dir, from, to string, o Options) (file string, done *Converted,
	err error) {
	t.Helper()
	file = filepath.Join(dir, "out."+to)
	var out, labels bytes.Buffer
	done, err = Convert(context.Background(), []string{from}, o, Conversion{To: to, Out: &out,
		Labels: &labels})
	if err == nil {
		if to == "npy" {
			file = filepath.Join(dir, "X.npy")
			if err := os.WriteFile(filepath.Join(dir, "y.npy"), labels.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file, done, err
}

// TestConvert: all formats give the same examples, or an error says what has no place.
func TestConvert(t *testing.T) {
	refused := map[string]string{
		"weights svmlight": "no place for weights: write vw, csv", "weights npy": "npz, vw",
		"weights ndjson": "vw, csv", "spaces svmlight": "weights", "spaces ndjson": "weights",
		"spaces npy": "weights", "texts vw": `the name "town=a, b"`,
	}
	for _, tc := range convertibles {
		for _, to := range format.Written() {
			t.Run(tc.name+" "+to, func(t *testing.T) {
				dir, text := t.TempDir(), written(t, tc.text)[0]
				file, done, err := convert(t, dir, text, to, tc.o)
				if want := refused[tc.name+" "+to]; want != "" {
					if !errors.Is(err, ErrNoPlace) || !strings.Contains(err.Error(), want) {
						t.Errorf("%v, want %s", err, want)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				o := Options{AnyClasses: true}
				switch {
				case strings.Contains(strings.Join(done.Lost, " "), "called weight"):
					o.WeightCol = "weight"
				case strings.Contains(strings.Join(done.Lost, " "), "last but one"):
					o.WeightCol = "-2"
				}
				want, err := Load[float64](context.Background(), []string{text}, Options{
					AnyClasses: true, WeightCol: tc.o.WeightCol})
				if err != nil {
					t.Fatal(err)
				}
				got, err := Load[float64](context.Background(), []string{file}, o)
				if err != nil {
					t.Fatal(err)
				}
				if a, b := plain(got), plain(want); a != b {
					t.Errorf("got %s, want %s", a, b)
				}
			})
		}
	}
}

// plain is what any format keeps: labels, weights and the values that are not 0, in order of size
// where features may be numbered anew.
func plain(d *Data[float64]) string {
	var s strings.Builder
	for i := range d.Block.Len() {
		label := d.Info.Labels.Negative
		switch {
		case d.Block.Class != nil:
			label = d.Info.Classes[d.Block.Class[i]]
		case d.Block.Y[i] > 0:
			label = d.Info.Labels.Positive
		}
		fmt.Fprint(&s, strings.TrimPrefix(label, "+"))
		if d.Block.W != nil {
			fmt.Fprint(&s, " w", d.Block.W[i])
		}
		_, val := d.Block.Example(i)
		sum, n := 0.0, 0
		for _, v := range val {
			if v != 0 {
				sum += v
				n++
			}
		}
		fmt.Fprintf(&s, " %d %.12g|", n, sum)
	}
	return s.String()
}

func TestConvertOptions(t *testing.T) {
	file := written(t, "1 1:1\n0 2:1\n")[0]
	for _, o := range []Options{{Bias: "append"}, {Normalize: "unit"}, {Scaling: "std"},
		{Positive: "1"}, {HashBits: 3}, {Missing: "mean"}} {
		if _, _, err := convert(t, t.TempDir(), file, "csv", o); !errors.Is(err, ErrOption) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, _, err := convert(t, t.TempDir(), file, "idx", Options{}); !errors.Is(err, ErrOption) {
		t.Error(err)
	}
}
