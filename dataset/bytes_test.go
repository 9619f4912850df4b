package dataset

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
)

// pixels makes n rows of 40 bytes with labels 0 and 1.
func pixels(n int) (x, y []byte) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		for range 40 {
			x = append(x, byte(rng.IntN(256)*rng.IntN(2)))
		}
		y = append(y, byte(i%3%2))
	}
	clear(x[40:80]) // a row without length
	return x, y
}

// csvOf writes rows as csv, the label first, with another value in row odd.
func csvOf(x, y []byte, odd int, value string) string {
	var b strings.Builder
	for i, label := range y {
		fmt.Fprintf(&b, "%d", label)
		for j, v := range x[40*i:][:40] {
			if i == odd && j == 7 {
				fmt.Fprintf(&b, ",%s", value)
			} else {
				fmt.Fprintf(&b, ",%d", v)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestLoadBytes: examples of bytes are the floats that they would be else, of whatever format, and
// others stay floats, wherever the first value stands that is no byte.
func TestLoadBytes(t *testing.T) {
	t.Run("f32", testLoadBytes[float32])
	t.Run("f64", testLoadBytes[float64])
}

func testLoadBytes[T engine.Float](t *testing.T) {
	dir, n := t.TempDir(), 300
	x, y := pixels(n)
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	images := file("images", idx(0x803, []uint32{uint32(n), 5, 8}, x...))
	labels := file("labels", idx(0x801, []uint32{uint32(n)}, y...))
	whole := file("whole.csv", csvOf(x, y, -1, ""))
	for _, tc := range []struct {
		files []string
		label string
		bytes bool
	}{
		{[]string{images, labels}, "", true},
		{[]string{whole}, "1", true},
		{[]string{whole, whole}, "1", true},
		{[]string{file("first.csv", csvOf(x, y, 0, "0.5"))}, "1", false},
		{[]string{file("large.csv", csvOf(x, y, 150, "256"))}, "1", false},
		{[]string{file("last.csv", csvOf(x, y, n-1, "-1"))}, "1", false},
		{[]string{whole, file("more.csv", csvOf(x, y, 20, "0.5"))}, "1", false},
	} {
		for _, o := range []Options{{}, {Bias: "append"}, {Bias: "append", BiasValue: 0.3,
			Normalize: "unit"}, {Normalize: "unit"}, {Normalize: "max"}, {Normalize: "max",
			Scale: 33.3, Bias: "append"}} {
			o.chunk, o.LabelCol = 4000, tc.label
			name := fmt.Sprintf("%v %+v", tc.files, o)
			want, err := Load[T](t.Context(), tc.files, o)
			if err != nil || want.Bytes != nil {
				t.Fatal(name, err)
			}
			o.Bytes = true
			got, err := Load[T](t.Context(), tc.files, o)
			if err != nil {
				t.Fatal(name, err)
			}
			if fmt.Sprint(got.Info) != fmt.Sprint(want.Info) {
				t.Errorf("%s: %+v, want %+v", name, got.Info, want.Info)
			}
			if (got.Bytes != nil) != tc.bytes {
				t.Errorf("%s: kept as bytes: %v", name, !tc.bytes)
			}
			b := got.Block
			if got.Bytes != nil {
				if b.Len() > 0 {
					t.Errorf("%s: floats beside the bytes", name)
				}
				got.Bytes.Block(&b, 0, got.Bytes.Len())
			}
			if err := b.Check(); err != nil {
				t.Error(name, err)
			}
			if w := want.Block; !slices.Equal(b.Y, w.Y) || !slices.Equal(b.X, w.X) ||
				b.Stride != w.Stride || b.Dim != w.Dim {
				t.Errorf("%s: other examples", name)
			}
			order := []int32{3, 299, 3, 1}
			var p, q engine.Block[T]
			got.Gather(&p, order)
			if want.Gather(&q, order); !slices.Equal(p.Y, q.Y) || !slices.Equal(p.X, q.X) {
				t.Errorf("%s: gathered others", name)
			}
		}
	}
}

// TestLoadBytesNarrow: rows too short to gain, and sparse ones, stay what they are.
func TestLoadBytesNarrow(t *testing.T) {
	for _, text := range []string{"1,2,3\n0,3,4\n", "+1 1:1\n-1 2:3\n"} {
		d, err := LoadReader[float32](t.Context(), "in", strings.NewReader(text),
			Options{Bytes: true})
		if err != nil || d.Bytes != nil || d.Block.Len() != 2 {
			t.Errorf("%q: %v, %+v", text, err, d)
		}
	}
}
