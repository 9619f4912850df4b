package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// npy is an array of that header's dictionary.
func npy(dict string, elements ...any) string {
	dict += "\n"
	b := []byte("\x93NUMPY\x01\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(len(dict)))
	b = append(b, dict...)
	for _, e := range elements {
		b, _ = binary.Append(b, binary.LittleEndian, e)
	}
	return string(b)
}

func dict(descr, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
}

// arrays loads files X.npy and y.npy, of which only those are named that name lists.
func arrays(t *testing.T, x, y, name string, o Options) (string, Info, error) {
	dir := t.TempDir()
	for file, text := range map[string]string{"X.npy": x, "y.npy": y} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var files []string
	for _, n := range strings.Fields(name) {
		files = append(files, filepath.Join(dir, n))
	}
	d, err := Load[float64](context.Background(), files, o)
	if err != nil {
		return strings.ReplaceAll(err.Error(), dir+"/", ""), Info{}, err
	}
	return dump(&d.Block), d.Info, nil
}

func TestNPY(t *testing.T) {
	x := npy(dict("<f8", "2, 2"), 1.5, -2.0, 0.0, 3.0)
	for _, tc := range []struct {
		name, x, y, files string
		o                 Options
		want              string
	}{
		{"both", x, npy(dict("<i8", "2,"), int64(1), int64(-1)), "X.npy y.npy", Options{},
			"+1 1.5 -2|-1 0 3|"},
		{"labels first", x, npy(dict("|b1", "2,"), byte(0), byte(1)), "y.npy X.npy", Options{},
			"-1 1.5 -2|+1 0 3|"},
		{"labels found beside, a bias", x, npy(dict("<f4", "2,"), float32(0.5), float32(2)),
			"X.npy", Options{Bias: "append"}, "-1 1 1.5 -2|+1 1 0 3|"},
		{"labels that are texts", x, npy(dict("<U2", "2,"), uint32('é'), uint32(0), uint32('+'),
			uint32('1')), "X.npy", Options{}, "+1 1.5 -2|-1 0 3|"},
		{"bytes", npy(dict("|u1", "2, 1"), byte(255), byte(0)), npy(dict("|S1", "2,"), byte('a'),
			byte('b')), "X.npy", Options{}, "-1 255|+1 0|"},
		{"small whole numbers", npy(dict("<i2", "2, 1"), int16(-7), int16(300)),
			npy(dict("<u2", "2,"), uint16(0), uint16(1)), "X.npy", Options{}, "-1 -7|+1 300|"},
		{"no labels, to be predicted", x, "", "X.npy", Options{LabelsOptional: true,
			Labels: &LabelMap{"0", "1"}, Trained: "svmlight"}, "+1 1.5 -2|+1 0 3|"},
		{"squares beyond a float64", npy(dict("<f8", "2, 1"), 1e200, -1e300), npy(dict("<i8", "2,"),
			int64(1), int64(-1)), "X.npy", Options{}, "+1 1e+200|-1 -1e+300|"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows, info, err := arrays(t, tc.x, tc.y, tc.files, tc.o)
			if err != nil || rows != tc.want || info.Format != "npy" || info.Kind != "svmlight" {
				t.Error(rows, info.Kind, err)
			}
		})
	}
}

// TestNPYLengths: rows of one kind of numbers are the rows of another, and have the same lengths,
// to the bit, however long a row is and whatever the bias.
func TestNPYLengths(t *testing.T) {
	t.Run("f32", testNPYLengths[float32])
	t.Run("f64", testNPYLengths[float64])
}

func testNPYLengths[T engine.Float](t *testing.T) {
	const n = 50
	rng := rand.New(rand.NewPCG(3, 4))
	for _, cols := range []int{1, 15, 33, 784} {
		var small []int8
		for range n * cols {
			small = append(small, int8(rng.IntN(128)*rng.IntN(2)))
		}
		kinds := map[string]any{"|i1": small, "<i2": eachAs[int16](small),
			"|u1": eachAs[uint8](small), "<f4": eachAs[float32](small),
			"<f8": eachAs[float64](small)}
		for _, bias := range []float64{0, 1, 0.3} {
			want := ""
			for descr, x := range kinds {
				dir := t.TempDir()
				for name, text := range map[string]string{
					"X.npy": npy(dict(descr, fmt.Sprintf("%d, %d", n, cols)), x),
					"y.npy": npy(dict("|i1", fmt.Sprintf("%d,", n)), small[:1], make([]int8, n-2),
						[]int8{3}),
				} {
					err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
					if err != nil {
						t.Fatal(err)
					}
				}
				o := Options{Normalize: "unit", Positive: "3", OnError: "skip"}
				if bias != 0 {
					o.Bias, o.BiasValue = "append", bias
				}
				d, err := Load[T](context.Background(), []string{filepath.Join(dir, "X.npy")}, o)
				if err != nil {
					t.Fatal(err)
				}
				got := fmt.Sprintf("%x %s", d.Info.MaxNorm, dump(&d.Block))
				if want == "" {
					want = got
				} else if got != want {
					t.Errorf("%d columns, bias %v: %s differs", cols, bias, descr)
				}
			}
		}
	}
}

func eachAs[T int16 | uint8 | float32 | float64](from []int8) (to []T) {
	for _, v := range from {
		to = append(to, T(v))
	}
	return to
}

func TestBrokenNPY(t *testing.T) {
	x := npy(dict("<f8", "2, 2"), 1.5, -2.0, 0.0, 3.0)
	y := npy(dict("<i8", "2,"), int64(1), int64(-1))
	for _, tc := range []struct {
		name, x, y string
		want       string
		err        error
	}{
		{"no labels", x, "", "X.npy:byte 0: examples without labels: name both, as X.npy y.npy",
			ErrFormat},
		{"counts differ", x, npy(dict("<i8", "1,"), int64(1)), "2 examples, but y.npy has 1 labels",
			ErrFormat},
		{"more rows than the header says", x + "x", y, "X.npy:byte 102: expected the file's end " +
			"behind 2 rows, as the header says, found more", ErrFormat},
		{"more labels than the header says", x, y + "x", "found more", ErrFormat},
		{"labels of two dimensions", x, npy(dict("<i8", "2, 1"), int64(1), int64(-1)),
			"y.npy:byte 0: expected labels, an array of one dimension: save y.ravel()", ErrFormat},
		{"labels alone", y, y, "an array of one dimension, as labels are", ErrFormat},
		{"three dimensions", npy(dict("<f8", "1, 1, 1"), 1.0), y, "can't be used", ErrFormat},
		{"no columns", npy(dict("<f8", "2, 0")), y, "can't be used", ErrFormat},
		{"no rows", npy(dict("<f8", "0, 2")), y, "expected examples", ErrEmpty},
		{"Fortran's order", strings.Replace(x, "False", "True ", 1), y, "", ErrFormat},
		{"big-endian", npy(dict(">f8", "2, 2")), y, "save X.astype('<f8')", ErrFormat},
		{"objects", npy(dict("|O8", "2, 2")), y, "can't be used", ErrFormat},
		{"complex", npy(dict("<c16", "2, 2")), y, "can't be used", ErrFormat},
		{"texts as features", npy(dict("<U1", "2, 2")), y, "can't be used", ErrFormat},
		{"a negative size", npy(dict("<f8", "-2, 2")), y, "expected sizes", ErrFormat},
		{"a huge size", npy(dict("<f8", "2, 99999999999999999999")), y, "expected sizes",
			ErrFormat},
		{"no dictionary", npy("{}"), y, "expected an array of numbers", ErrFormat},
		{"a version to come", "\x93NUMPY\x04\x00\x00\x00", y, "version 1 to 3", ErrFormat},
		{"cut in the header", x[:40], y, "truncated", ErrTruncated},
		{"cut in the rows", x[:len(x)-9], y, "example 2 of 2, but the file is truncated",
			ErrTruncated},
		{"cut in the labels", x, y[:len(y)-1], "label 2 of 2, but the file is truncated",
			ErrTruncated},
		{"many rows that aren't there", npy(dict("<f8", "2000000000, 1000")), npy(dict("<i1",
			"2000000000,")), "", ErrMemory},
		{"a long header", "\x93NUMPY\x02\x00\xff\xff\xff\x7f", y, "too long", ErrFormat},
		{"NaN", npy(dict("<f8", "2, 2"), 1.0, 2.0, 3.0, math.NaN()), y,
			"X.npy:2:2: expected a finite number, found NaN", ErrBadRow},
		{"an infinity", npy(dict("<f4", "2, 2"), float32(1), float32(2), float32(math.Inf(-1)),
			float32(0)), y, "X.npy:2:1: expected a finite number, found -Inf", ErrBadRow},
		{"a label that is none", x, npy(dict("<f8", "2,"), 1.0, math.NaN()),
			"found NaN, which is label 2 of ", ErrBadRow},
	} {
		t.Run(tc.name, func(t *testing.T) {
			said, _, err := arrays(t, tc.x, tc.y, "X.npy", Options{})
			if !errors.Is(err, tc.err) || !strings.Contains(said, tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

// FuzzNPY never panics, and reads no more rows than there are bytes.
func FuzzNPY(f *testing.F) {
	x := npy(dict("<f8", "2, 2"), 1.5, -2.0, 0.0, 3.0)
	f.Add([]byte(x), []byte(npy(dict("<i8", "2,"), int64(1), int64(-1))))
	f.Add([]byte(x[:50]), []byte(npy(dict("<U1", "2,"), uint32('a'), uint32(1<<31))))
	f.Add([]byte(npy(dict("|u1", "1, 1"), byte(7))), []byte(npy(dict("|S1", "1,"), byte(0))))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		d, err := Load[float32](t.Context(), written(t, string(a), string(b)),
			Options{Format: "npy", Positive: "1", OnError: "skip", OnBad: func(error) {}})
		if err != nil {
			return
		}
		verify(t, &d.Block)
		if d.Info.Rows == 0 {
			t.Error("no rows and no error")
		}
	})
}

// A float64 that float32 has no room for is said to be that, not an infinity that no file has.
func TestNPYTooLarge(t *testing.T) {
	files := written(t, npy(dict("<f8", "2, 2"), 1.0, 2.0, 3.0, -1e300),
		npy(dict("<f8", "2,"), 1.0, -1.0))
	_, err := Load[float32](t.Context(), files, Options{})
	const want = "0:2:2: -1e+300 is too large for a float32"
	if !errors.Is(err, ErrBadRow) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := Load[float64](t.Context(), files, Options{}); err != nil {
		t.Error(err)
	}
}
