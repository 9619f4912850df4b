package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/dataset/format"
	"github.com/halfspace-ml/halfspace/internal/realdata"
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

// whole reads all examples of a file, as text of them, with what is known of them.
func whole(t testing.TB, file string, o Options) string {
	t.Helper()
	o.AnyClasses = true
	d, err := Load[float64](context.Background(), []string{file}, o)
	if err != nil {
		t.Fatal(err)
	}
	in := &d.Info
	return fmt.Sprint(dump(&d.Block), d.Block.Class, d.Block.W, in.Names, in.Labels, in.Classes,
		in.Kind, in.IndexBase, in.Header, in.Kinds, in.LabelCol, in.Columns, in.WeightCol, in.Dim,
		in.MaxNorm)
}

// convert writes a file of another format.
func convert(t testing.TB, dir, from, to string, o Options) (file string, done *Converted,
	err error) {
	t.Helper()
	file = filepath.Join(dir, "out."+to)
	var out, labels bytes.Buffer
	done, err = Convert(context.Background(), []string{from}, o, Conversion{To: to, Out: &out,
		Labels: &labels, Folder: dir})
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

// TestBinaryForm: what is read of hsb is what is read of the text, to the bit.
func TestBinaryForm(t *testing.T) {
	for _, tc := range convertibles {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			text := filepath.Join(dir, "text")
			if err := os.WriteFile(text, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			file, _, err := convert(t, dir, text, "hsb", tc.o)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range []Options{{}, {Bias: "append", Normalize: "unit"}, {Normalize: "max"},
				{Scaling: "auto"}, {Scaling: "std", Bias: "append"}, {chunk: 1}} {
				read := tc.o
				read.Bias, read.Normalize, read.Scaling = o.Bias, o.Normalize, o.Scaling
				want := whole(t, text, read)
				if got := whole(t, file, o); got != want {
					t.Errorf("%+v:\n got %s\nwant %s", o, got, want)
				}
			}
			again, _, err := convert(t, t.TempDir(), file, "hsb", Options{})
			if err != nil || whole(t, again, Options{}) != whole(t, file, Options{}) {
				t.Error("of itself: ", err)
			}
		})
	}
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
				dir := t.TempDir()
				text := filepath.Join(dir, "text")
				if err := os.WriteFile(text, []byte(tc.text), 0o600); err != nil {
					t.Fatal(err)
				}
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

// TestConvertReal: a9a, one of the largest that are used here.
func TestConvertReal(t *testing.T) {
	dir, text := t.TempDir(), realdata.File(t, "a9a.gz")
	file, done, err := convert(t, dir, text, "hsb", Options{})
	if err != nil || done.Rows != 32561 {
		t.Fatal(done, err)
	}
	if whole(t, file, Options{}) != whole(t, text, Options{}) {
		t.Error("the examples differ")
	}
}

func TestConvertOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("1 1:1\n0 2:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
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

// TestStale: a file whose source has changed is refused, and one whose source has only been
// touched, or has gone, is not.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	put := func(s string, at time.Time) {
		if err := os.WriteFile(text, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(text, at, at); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	put("1 1:1\n0 2:1\n", now)
	file, _, err := convert(t, dir, text, "hsb", Options{})
	if err != nil {
		t.Fatal(err)
	}
	load := func() error {
		_, err := Load[float32](context.Background(), []string{file}, Options{})
		return err
	}
	put("1 1:1\n0 2:1\n", now.Add(time.Hour))
	if err := load(); err != nil {
		t.Error("touched: ", err)
	}
	for _, s := range []string{"1 1:1\n0 2:2\n", "1 1:1\n0 2:1\n1 1:1\n"} {
		put(s, now.Add(time.Hour))
		if err := load(); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(),
			"text has changed since this was made of it: make it anew") {
			t.Error(err)
		}
	}
	os.Remove(text)
	if err := load(); err != nil {
		t.Error("gone: ", err)
	}
}

// resummed makes the checksums of a binary file right again.
func resummed(b []byte) []byte {
	for at := 16; at+24 <= len(b); {
		n := binary.LittleEndian.Uint64(b[at+8:])
		if n > uint64(len(b)-at-24) {
			break
		}
		end := at + 24 + int(n)
		table := crc32.MakeTable(crc32.Castagnoli)
		sum := crc32.Update(crc32.Checksum(b[at:at+16], table), table, b[at+24:end])
		binary.LittleEndian.PutUint32(b[at+16:], sum)
		at = end
	}
	return b
}

// binaryOf is a text's binary form.
func binaryOf(t testing.TB, text string, o Options) []byte {
	name := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := Convert(context.Background(), []string{name}, o, Conversion{To: "hsb",
		Out: &out}); err != nil {
		t.Fatal(err)
	}
	os.Remove(name)
	return out.Bytes()
}

// TestBinaryClaims: dense values that are all 1 take no bytes in a record, so a small file may
// claim any number of them. It is refused before memory is taken for them.
func TestBinaryClaims(t *testing.T) {
	u32 := func(b []byte, v ...uint32) []byte {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
		return b
	}
	record := func(b []byte, kind, rows uint32, body []byte) []byte {
		for len(body)%8 != 0 {
			body = append(body, 0)
		}
		return append(u32(b, kind, rows, uint32(len(body)), 0, 0, 0), body...)
	}
	claims := func(dim, rows uint32, records int) []byte {
		b := append([]byte("\x8dHSB\r\n\x1a\n"), 1, 0, 0, 0, 0, 0, 0, 0)
		b = record(b, 1, 0, []byte(`{"kind":"npy","index_base":0,"sources":[]}  `))
		b = record(b, 2, 0, append(u32(nil, 2, 0, 1), "a\x01\x00\x00\x00b"...))
		for range records {
			// ones, dense, labels of a byte, no weights
			head := u32([]byte{0, 0, 1, 0}, dim, dim*rows, 0)
			b = record(b, 3, rows, append(head, bytes.Repeat([]byte{0, 1}, int(rows))[:rows]...))
		}
		end := binary.LittleEndian.AppendUint64(nil, uint64(rows)*uint64(records))
		return resummed(record(b, 4, 0, binary.LittleEndian.AppendUint64(end,
			uint64(dim)*uint64(rows)*uint64(records))))
	}
	load := func(b []byte) (took uint64, err error) {
		file := filepath.Join(t.TempDir(), "f.hsb")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = Load[float32](context.Background(), []string{file}, Options{Workers: 1})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc, err
	}
	if _, err := load(claims(3, 4, 2)); err != nil {
		t.Errorf("a good file: %v", err)
	}
	for _, tc := range [][2]uint32{{1e9, 1}, {1<<31 - 2, 2}, {1<<32 - 1, 1}, {66000, 65000}} {
		took, err := load(claims(tc[0], tc[1], 1))
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "longer than") {
			t.Errorf("%d rows of %d: %v, want one that tells of their length", tc[1], tc[0], err)
		}
		if took > 64<<20 {
			t.Errorf("%d rows of %d: %d bytes allocated", tc[1], tc[0], took)
		}
	}
}

// TestBinaryRefused: what is wrong with a file is said with its byte, and what to do next.
func TestBinaryRefused(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("+1 1:0.5 3:1\n-1 2:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, _, err := convert(t, dir, text, "hsb", Options{})
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const anew = ": make it anew of the examples that it was made of"
	for _, tc := range []struct {
		name   string
		change func(b []byte) []byte
		want   string
	}{
		{"magic", func(b []byte) []byte { return append([]byte("\x8dHSB\n\x1a\n\n"), b[8:]...) }, ""},
		{"version", func(b []byte) []byte { b[8] = 2; return b }, "byte 8: hsb of version 2, and " +
			"this program reads 1" + anew},
		{"byte order", func(b []byte) []byte { b[8], b[11] = 0, 1; return b }, "byte 8: hsb whose " +
			"numbers have the other byte order" + anew},
		{"no header", func(b []byte) []byte { return b[:12] }, "byte 12: "},
		{"no records", func(b []byte) []byte { return b[:16] }, "byte 16: "},
		{"cut", func(b []byte) []byte { return b[:len(b)-1] }, "expected a whole record, but " +
			"the file is truncated"},
		{"no end", func(b []byte) []byte { return b[:len(b)-24-16] }, "the next record"},
		{"checksum", func(b []byte) []byte { b[len(b)-24-16-1] ^= 1; return b }, "the checksum of " +
			"a record differs: the file is damaged" + anew},
		{"no record", func(b []byte) []byte { b[16] = 9; return b }, "byte 16: expected a record, " +
			"found other bytes: the file is damaged"},
	} {
		b := tc.change(bytes.Clone(good))
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Load[float32](t.Context(), []string{file}, Options{})
		if d != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// TestBinaryForged: counts, numbers of features and totals that contradict each other are refused,
// however right the checksums are.
func TestBinaryForged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.npz")
	if err := os.WriteFile(file, []byte(matrix(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := Convert(t.Context(), []string{file}, Options{}, Conversion{To: "hsb",
		Out: &out}); err != nil {
		t.Fatal(err)
	}
	good := out.Bytes() // two rows, of the features 0 and 2 and 1, of 3
	const (
		end    = 24 + 16 // the last record, and what stands before it, from the file's end
		codes  = end + 8
		idx    = codes + 8
		counts = idx + 8
	)
	for name, tc := range map[string]struct {
		at, from, to int // a byte from the end
		want         string
	}{
		"as it is":              {1, 0, 0, ""},
		"fewer values in a row": {counts - 4, 1, 0, "as many values as there are"},
		"more values in a row":  {counts - 4, 1, 2, "as many values as there are"},
		"a feature beyond":      {idx - 1, 2, 3, "too large a number"},
		"a label beyond":        {codes, 0, 9, "a label that has no name"},
		"other examples in all": {16, 2, 1, "the end says others"},
		"other values in all":   {8, 3, 4, "the end says others"},
		"features that are one": {idx - 1, 2, 0, "don't ascend"},
	} {
		b := bytes.Clone(good)
		if b[len(b)-tc.at] != byte(tc.from) {
			t.Fatalf("%s: found %d, want %d", name, b[len(b)-tc.at], tc.from)
		}
		b[len(b)-tc.at] = byte(tc.to)
		_, err := LoadReader[float64](t.Context(), "f", bytes.NewReader(resummed(b)), Options{
			Format: "hsb"})
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(
			err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// TestDamagedBinary: no byte can be another without an error, and none be missing.
func TestDamagedBinary(t *testing.T) {
	for _, tc := range convertibles {
		b := binaryOf(t, tc.text, tc.o)
		load := func(b []byte) error {
			_, err := LoadReader[float64](context.Background(), "f", bytes.NewReader(b), Options{
				Format: "hsb", AnyClasses: true})
			return err
		}
		if err := load(b); err != nil {
			t.Fatal(err)
		}
		for i := range b {
			if testing.Short() && i%7 != 0 {
				continue
			}
			other := bytes.Clone(b)
			other[i] ^= 1 << (i % 8)
			if err := load(other); err == nil && i >= 16 {
				t.Errorf("%s: byte %d of %d changed, and no error", tc.name, i, len(b))
			}
			if err := load(b[:i]); err == nil {
				t.Errorf("%s: cut at %d of %d, and no error", tc.name, i, len(b))
			}
		}
	}
}

// FuzzBinary never panics, whatever is in the parts whose checksums are right.
func FuzzBinary(f *testing.F) {
	for _, tc := range convertibles {
		f.Add(binaryOf(f, tc.text, tc.o))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, o := range []Options{{}, {Bias: "append", Normalize: "unit", OnError: "skip"}} {
			o.Format, o.Positive, o.MaxLine = "hsb", "a", 1<<20
			s, err := OpenReader[float32](context.Background(), "f",
				bytes.NewReader(resummed(bytes.Clone(b))), o)
			if err != nil {
				continue
			}
			for {
				b, err := s.Next()
				if err != nil {
					if err == io.EOF && s.Info().Rows == 0 {
						t.Error("no rows and no error")
					}
					break
				}
				verify(t, b)
			}
			s.Close()
		}
	})
}

// BenchmarkBinary reads and parses a9a as text and in the binary form, which is verified, too, in
// pieces of the size that a stream has; best-ns/row is the fastest pass, which other jobs on the
// machine disturb least.
func BenchmarkBinary(b *testing.B) {
	text := inflated(b, "a9a.gz")
	b.Run("text", func(b *testing.B) {
		var chunks []*format.Chunk[float32]
		for rest := text; len(rest) > 0; {
			n := bytes.LastIndexByte(rest[:min(len(rest), chunkSize)], '\n') + 1
			chunks = append(chunks, chunkOf[float32](b, bytes.Clone(rest[:n])))
			rest = rest[n:]
		}
		set := &format.Settings{Format: format.SVMLight, Stop: true}
		bestOf(b, func() (rows int) {
			for _, c := range chunks {
				c.Out = chunks[0].Out
				c.Parse(set)
				rows += c.Out.N
			}
			return rows
		})
	})
	b.Run("hsb", func(b *testing.B) {
		binary := binaryOf(b, string(text), Options{})
		set := &format.Settings{Format: format.HSB, Stop: true}
		out, buf := &format.Rows[float32]{}, []byte(nil)
		bestOf(b, func() (rows int) {
			runs, _, err := format.HSB.Runs(&input{name: "f", r: bytes.NewReader(binary)},
				&format.Options{Base: -1, Lookup: format.Lookup,
					Limits: &format.Limits{Line: DefaultMaxLine}}, nil)
			if err != nil {
				b.Fatal(err)
			}
			for err == nil {
				var run format.Run
				if run, err = runs.Next(buf, chunkSize); err != nil && err != io.EOF {
					b.Fatal(err)
				}
				buf = run.Text
				c := &format.Chunk[float32]{Text: buf, N: len(buf), Layout: run.Layout, Out: out}
				c.Parse(set)
				rows += out.N
			}
			return rows
		})
	})
}

func bestOf(b *testing.B, pass func() (rows int)) {
	best := time.Hour
	rows := 0
	for b.Loop() {
		start := time.Now()
		rows = pass()
		best = min(best, time.Since(start))
	}
	if rows != 32561 {
		b.Fatal(rows)
	}
	b.ReportMetric(float64(best.Nanoseconds())/float64(rows), "best-ns/row")
}
