package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func load(text string, o Options) (*Data[float64], error) {
	return LoadReader[float64](context.Background(), "in", strings.NewReader(text), o)
}

// dump writes a block as text, one row a line, and so compares labels, indices and values at once.
func dump[T engine.Float](b *engine.Block[T]) string {
	var s strings.Builder
	for i, y := range b.Y {
		fmt.Fprintf(&s, "%+g", float64(y))
		if b.Dense() {
			for _, v := range b.Row(i) {
				fmt.Fprintf(&s, " %v", v)
			}
		} else {
			idx, val := b.Sparse(i)
			for k := range idx {
				fmt.Fprintf(&s, " %d:%v", idx[k], val[k])
			}
		}
		s.WriteString("|")
	}
	return s.String()
}

// check compares the counts with the data.
func (in Info) check(t *testing.T, d *Data[float64]) {
	t.Helper()
	some := 0
	for _, y := range d.Block.Y {
		if y >= 0 {
			some++
		}
	}
	if in.Rows != d.Block.Len() || in.Positives+in.Unlabelled != some ||
		in.Dim != d.Block.Dim {
		t.Errorf("Info %+v does not fit the data", in)
	}
}

func TestInfo(t *testing.T) {
	d, err := load("# c\n2 1:3 4:4\nx\n1 1:1\n", Options{OnError: "skip", Bias: "append"})
	if err != nil {
		t.Fatal(err)
	}
	want := Info{Format: "svmlight", Kind: "svmlight", IndexBase: 1,
		BaseFound: "no index 0 in the data", Labels: LabelMap{"1", "2"}, Seen: []string{"2", "1"},
		Rows: 2, BadRows: 1, Positives: 1, Dim: 5, NonZeros: 5, Bytes: 22, InputRead: 22,
		MaxNorm: math.Sqrt(26), Scale: 1}
	if diff := cmp.Diff(want, d.Info); diff != "" {
		t.Error(diff)
	}
	d, err = load("a,b,y\n3,4,no\n5,6,yes\n0,0,no\n", Options{Normalize: "max"})
	if err != nil {
		t.Fatal(err)
	}
	want = Info{Format: "csv", Kind: "csv", IndexBase: 1, BaseFound: "columns count from 1",
		Labels: LabelMap{"no", "yes"}, Seen: []string{"no", "yes"},
		Rows: 3, Positives: 1, Dim: 2, NonZeros: 6, Bytes: 28, InputRead: 28,
		MaxNorm: math.Sqrt(61), Scale: math.Sqrt(61),
		Columns: 3, LabelCol: 3, Header: []string{"a", "b", "y"},
		Decided: &format.Decided{Delimiter: ",", Header: true, Label: "y", Texts: []string{},
			Ignored: []string{}, Missing: []string{}}}
	if diff := cmp.Diff(want, d.Info); diff != "" {
		t.Error(diff)
	}
}

func gz(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// idx makes an idx file of bytes.
func idx(magic uint32, dims []uint32, data ...byte) string {
	b := binary.BigEndian.AppendUint32(nil, magic)
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return string(append(b, data...))
}

var (
	images2 = idx(0x803, []uint32{2, 1, 2}, 1, 2, 3, 4)
	labels2 = idx(0x801, []uint32{2}, 7, 5)
)

// flip returns packed gzip data with a byte of the checksum changed.
func flip(packed []byte) string {
	b := bytes.Clone(packed)
	b[len(b)-6] ^= 0x55
	return string(b)
}

// numbered returns " 1:1 2:1 ... n:1".
func numbered(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, " %d:1", i+1)
	}
	return s.String()
}

// TestFloat32Range refuses what only a float64 holds.
func TestFloat32Range(t *testing.T) {
	_, err := LoadReader[float32](context.Background(), "in", strings.NewReader("+1 1:1e39\n"),
		Options{})
	if err == nil || err.Error() != `in:1:6: 1e39 is too large for a float32 in "+1 1:1e39"` {
		t.Error(err)
	}
}

// drain returns the rows of a stream, and its error unless that is io.EOF.
func drain[T engine.Float](s *Stream[T]) (string, error) {
	defer s.Close()
	var out strings.Builder
	for {
		b, err := s.Next()
		if err == io.EOF {
			return out.String(), nil
		}
		if err != nil {
			return out.String(), err
		}
		if err := b.Check(); err != nil {
			return out.String(), err
		}
		out.WriteString(dump(b))
	}
}

func stream(text string, o Options) (string, error) {
	s, err := OpenReader[float64](context.Background(), "in", strings.NewReader(text), o)
	if err != nil {
		return "", err
	}
	return drain(s)
}

// TestStreamBeforeError returns the good rows, then the error, and the error again.
func TestStreamBeforeError(t *testing.T) {
	s, err := OpenReader[float64](context.Background(), "in",
		strings.NewReader("+1 1:1\n-1 1:2\n+1 1:x\n-1 1:3\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, err := s.Next()
	if err != nil || dump(b) != "+1 0:1|-1 0:2|" {
		t.Fatal(b, err)
	}
	for range 2 {
		_, err = s.Next()
		var row *RowError
		if !errors.As(err, &row) || row.Line != 3 || row.Col != 6 || row.Good != 2 ||
			!errors.Is(err, ErrBadRow) {
			t.Error(err)
		}
	}
}

// TestTruncated cuts compressed text: the whole lines come, then the place.
func TestTruncated(t *testing.T) {
	text := strings.Repeat("+1 1:1 2:2 3:3 4:0.123456 5:5\n-1 1:2 7:11\n", 300)
	var zs bytes.Buffer
	w, _ := zstd.NewWriter(&zs)
	io.WriteString(w, text)
	w.Close()
	for name, packed := range map[string][]byte{"gzip": gz([]byte(text)), "zstd": zs.Bytes()} {
		for _, cut := range []int{len(packed) - 3, len(packed) - 12} {
			s, err := OpenReader[float64](context.Background(), "in.x",
				bytes.NewReader(packed[:cut]), Options{})
			var rows string
			if err == nil {
				rows, err = drain(s)
			}
			var row *RowError
			if !errors.As(err, &row) || !errors.Is(err, ErrTruncated) ||
				!strings.Contains(err.Error(), "truncated") || row.Line != strings.Count(rows,
				"|")+1 {
				t.Errorf("%s cut at %d of %d: after %d rows: %v", name, cut, len(packed),
					strings.Count(rows, "|"), err)
			}
			if row != nil && row.Good != int64(row.Line-1) {
				t.Errorf("%d good rows in %d lines", row.Good, row.Line-1)
			}
		}
	}
}

// TestHeldRows gives up when one label goes on for too long.
func TestHeldRows(t *testing.T) {
	text := strings.Repeat("2\n", maxHeld+chunkSize)
	rows, err := stream(text, Options{})
	if !errors.Is(err, ErrLabels) || !strings.Contains(err.Error(), "Options.Positive") ||
		rows != "" {
		t.Errorf("%d rows: %v", strings.Count(rows, "|"), err)
	}
	rows, err = stream(text, Options{Positive: "2"})
	if err != nil || strings.Count(rows, "+1|") != maxHeld+chunkSize {
		t.Error(err)
	}
}

// TestStreamBase decides the index base by the first MiB.
func TestStreamBase(t *testing.T) {
	filler := strings.Repeat("+1 10:1 20:1\n-1 1:0 30:1\n", headSize/24)
	if _, err := stream(filler+"+1 0:1\n", Options{}); !errors.Is(err, ErrBadRow) ||
		!strings.Contains(err.Error(), "set Options.IndexBase to 0") {
		t.Error(err)
	}
	if rows, err := stream("+1 0:1\n"+filler, Options{}); err != nil || !strings.HasPrefix(rows,
		"+1 0:1|+1 10:1") {
		t.Error(err)
	}
	if rows, err := stream("+1 1:1 # 0:1\n-1\n", Options{}); err != nil || rows != "+1 0:1|-1|" {
		t.Error(rows, err)
	}
	if rows, err := stream("+1 000:1\n-1\n", Options{}); err != nil || rows != "+1 0:1|-1|" {
		t.Error(rows, err)
	}
}

func TestIDX(t *testing.T) {
	dir := t.TempDir()
	name := func(s string) string { return filepath.Join(dir, s) }
	for n, text := range map[string]string{"a-images-idx3-ubyte": images2,
		"a-labels-idx1-ubyte": string(gz([]byte(labels2))), "i": string(gz([]byte(images2))),
		"l": labels2} {
		if err := os.WriteFile(name(n), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		files []string
		o     Options
		want  string
	}{
		{[]string{"i", "l"}, Options{}, "+1 1 2|-1 3 4|"},
		{[]string{"l", "i"}, Options{Positive: "5"}, "-1 1 2|+1 3 4|"},
		{[]string{"a-images-idx3-ubyte"}, Options{Bias: "append"}, "+1 1 1 2|-1 1 3 4|"},
		{[]string{"i", "l"}, Options{Normalize: "max"}, "+1 0.2 0.4|-1 0.6 0.8|"},
		{[]string{"i", "a-images-idx3-ubyte", "l", "a-labels-idx1-ubyte"}, Options{},
			"+1 1 2|-1 3 4|+1 1 2|-1 3 4|"},
		{[]string{"i", "l"}, Options{chunk: 1}, "+1 1 2|-1 3 4|"},
	} {
		var files []string
		for _, f := range tc.files {
			files = append(files, name(f))
		}
		d, err := Load[float64](context.Background(), files, tc.o)
		if err != nil {
			t.Errorf("%v: %v", tc.files, err)
			continue
		}
		verify(t, &d.Block)
		if got := dump(&d.Block); got != tc.want {
			t.Errorf("%v %+v: %s, want %s", tc.files, tc.o, got, tc.want)
		}
		if tc.o.Normalize != "" {
			continue
		}
		s, err := Open[float64](context.Background(), files, tc.o)
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := drain(s); rows != tc.want || err != nil {
			t.Errorf("stream: %s, %v", rows, err)
		}
	}
}

// TestFiles reads several csv files, each with its header, as one stream, and standard input.
func TestFiles(t *testing.T) {
	files := written(t, "# c\na,b,class\n1,2,x\n", "a,b,class\n3,4,y\n", "5,6,x\n")
	const want = "-1 1 2|+1 3 4|-1 5 6|"
	for _, chunk := range []int{0, 3} {
		d, err := Load[float64](context.Background(), files, Options{Header: []string{"a", "b",
			"class"}, chunk: chunk})
		if err != nil || dump(&d.Block) != want {
			t.Errorf("%v %+v", err, d)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdin
	defer func() { os.Stdin = old }()
	os.Stdin = r
	io.WriteString(w, "+1 1:1\n-1 2:1\n+1 x\n")
	w.Close()
	s, err := Open[float64](context.Background(), []string{"-"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := drain(s); rows != "+1 0:1|-1 1:1|" || err == nil ||
		!strings.HasPrefix(err.Error(), "stdin:3:4: ") {
		t.Error(rows, err)
	}
}

// TestLabelled finds the rows without a known label, in every block of a chunk.
func TestLabelled(t *testing.T) {
	var text strings.Builder
	for i := range 3 * blockRows {
		text.WriteString([]string{"+1 1:1\n", "7 1:1\n", "1:1\n", "-1\n"}[i%4])
	}
	s := opened[float64](t, strings.NewReader(text.String()),
		Options{Labels: &LabelMap{"-1", "1"}, LabelsOptional: true})
	row := 0
	for {
		b, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			if known := row%4 == 0 || row%4 == 3; s.Labelled(i) != known {
				t.Fatalf("row %d: labelled %v", row, !known)
			}
			row++
		}
	}
	if in := s.Info(); row != 3*blockRows || in.Unlabelled != row/2 || in.Positives != row/4 {
		t.Errorf("%d rows, %+v", row, in)
	}
}

func TestGather(t *testing.T) {
	for _, text := range []string{"+1 1:1 2:2\n-1\n+1 3:3\n", "1,2,0\n3,4,1\n5,6,0\n"} {
		d, err := load(text, Options{Bias: "append"})
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.SplitAfter(dump(&d.Block), "|")
		var b engine.Block[float64]
		order := []int32{2, 0, 2, 1}
		d.Gather(&b, order)
		verify(t, &b)
		if got, want := dump(&b), rows[2]+rows[0]+rows[2]+rows[1]; got != want ||
			b.Dim != d.Block.Dim {
			t.Errorf("%s, want %s", got, want)
		}
		if n := testing.AllocsPerRun(10, func() { d.Gather(&b, order) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
		if b.Y[0] = -b.Y[0]; d.Block.Y[2] == b.Y[0] {
			t.Error("the gathered block shares memory with the data")
		}
	}
}

// TestAllocs shows that memory does not depend on the number of rows.
func TestAllocs(t *testing.T) {
	text := strings.Repeat("+1 1:1 2:0.25 3:1e-3\n-1 1:2\n", 100000)
	n := testing.AllocsPerRun(1, func() {
		s := opened[float32](t, strings.NewReader(text), Options{Workers: 1})
		for {
			if _, err := s.Next(); err != nil {
				break
			}
		}
	})
	if n > 1000 {
		t.Errorf("%v allocations for 200000 rows", n)
	}
}

// TestCancel ends a stream whose input never comes.
func TestCancel(t *testing.T) {
	r, w := io.Pipe()
	go io.WriteString(w, strings.Repeat("+1 1:1\n-1 1:1\n", headSize/10))
	ctx, cancel := context.WithCancel(context.Background())
	s, err := OpenReader[float64](ctx, "pipe", r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, cancel)
	for err == nil {
		_, err = s.Next()
	}
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.Close()
	w.Close() // lets the reader end
	r.Close()
}

// TestCloseEarly closes a stream that was hardly read.
func TestCloseEarly(t *testing.T) {
	files := written(t, strings.Repeat("+1 1:1\n-1 1:1\n", 1<<18))
	for range 3 {
		s, err := Open[float64](t.Context(), files, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if _, err := s.Next(); !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	}
}

// TestLongLine has a row longer than many chunks.
func TestLongLine(t *testing.T) {
	rows, err := stream("+1"+numbered(200000)+"\n-1 1:1\n", Options{})
	if err != nil || strings.Count(rows, ":") != 200001 || !strings.HasSuffix(rows, "|-1 0:1|") {
		t.Error(err, len(rows))
	}
}

// TestBrokenFiles: what only files can have that is wrong: cases of texts are in testdata/cases.
func TestBrokenFiles(t *testing.T) {
	packed := gz([]byte(strings.Repeat("+1 1:1 2:2 3:3 4:0.123456 5:5\n-1 1:2\n", 20000)))
	images := idx(0x803, []uint32{2, 1 << 10, 1 << 10}, make([]byte, 2<<20)...)
	for _, tc := range []struct {
		files []string
		want  string
		is    error
		good  int64 // rows before the error
	}{
		{[]string{flip(packed)},
			"0:40001:1: the gzip data are damaged here (gzip: invalid checksum)",
			ErrFormat, 40000},
		{[]string{flip(gz([]byte(images))), labels2}, "0:byte 2097168: expected the file's " +
			"end, but the gzip data are damaged: gzip: invalid checksum", ErrFormat, 2},
	} {
		var row *RowError
		_, err := Load[float64](t.Context(), written(t, tc.files...), Options{})
		if !errors.Is(err, tc.is) || !strings.HasSuffix(err.Error(), tc.want) ||
			!errors.As(err, &row) || row.Good != tc.good {
			t.Errorf("%v, want %s", err, tc.want)
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	if _, err := Load[float64](t.Context(), []string{none}, Options{}); !errors.Is(err,
		os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Load[float64](t.Context(), nil, Options{}); !errors.Is(err, ErrOption) {
		t.Error(err)
	}
	if _, err := Load[float64](t.Context(), []string{t.TempDir()}, Options{}); !errors.Is(err,
		ErrFormat) || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
}

// TestNumbersOfOptions: numbers that JSON, in which cases are written, doesn't have.
func TestNumbersOfOptions(t *testing.T) {
	known := func(v ...float64) *Scaling {
		return &Scaling{Method: "std", Columns: true, Known: v}
	}
	for _, c := range []struct {
		o    Options
		want error
	}{
		{Options{Scale: math.NaN()}, ErrOption},
		{Options{Bias: "append", BiasValue: math.Inf(1)}, ErrOption},
		{Options{Bias: "append", BiasValue: math.NaN()}, ErrOption},
		{Options{Scaling: "maxabs", Scaled: known(2, 1, 1)}, ErrOption},
		{Options{Scaled: known(1)}, ErrOption},
		{Options{Scaled: known(1, 0, -1)}, ErrOption},
		{Options{Scaled: known(2, 1, 1)}, ErrForeign},
	} {
		if _, err := load("+1 1:1\n-1 1:2\n", c.o); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}
