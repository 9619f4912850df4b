package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/halfspace-ml/halfspace/internal/format"
	"github.com/halfspace-ml/halfspace/internal/race"
)

// lines is a reader of n lines that are made as they are read.
type lines struct {
	n, i int
	line func(i int) string
	rest string
}

func (l *lines) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if l.rest == "" {
			if l.i == l.n {
				break
			}
			l.rest = l.line(l.i)
			l.i++
		}
		m := copy(p[n:], l.rest)
		l.rest = l.rest[m:]
		n += m
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// wide returns a line of n non-zeros.
func wide(label string, n int) string {
	var s strings.Builder
	s.WriteString(label)
	for i := range n {
		fmt.Fprintf(&s, " %d:1", i+1)
	}
	return s.String() + "\n"
}

// TestMemory reads streams made to take memory: the memory in use stays within Options.Memory.
func TestMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	rows20k := [2]string{wide("-1", 20000), wide("+1", 20000)}
	long := wide("+1", 2_000_000)
	for _, tc := range []struct {
		name   string
		n      int
		line   func(i int) string
		o      Options
		err    error // nil: all is read
		rows   int   // at least
		needle string
	}{
		{"short rows", 250_000, func(i int) string { return []string{"0\n", "1\n"}[i&1] },
			Options{}, nil, 250_000, ""},
		{"wide rows behind narrow ones", 7000, func(i int) string {
			if i < 6000 {
				return []string{"-1 1:1\n", "+1 2:1\n"}[i&1]
			}
			return rows20k[i&1]
		}, Options{}, nil, 7000, ""},
		{"one label", 2_000_000, func(int) string {
			return "2 1:1 2:1 3:1 4:1 5:1\n"
		}, Options{}, ErrMemory, 0, "Options.Positive"},
		{"one label that means itself", 250_000, func(int) string {
			return "+1 1:1 2:1 3:1\n"
		}, Options{}, nil, 250_000, ""},
		{"a plain 1", 250_000, func(int) string {
			return "1 1:1 2:1 3:1\n"
		}, Options{}, nil, 250_000, ""},
		{"labels without end", 250_000, func(i int) string {
			return fmt.Sprintf("%d 1:1\n", i)
		}, Options{Positive: "5"}, nil, 250_000, ""},
		{"text labels without end", 250_000, func(i int) string {
			return fmt.Sprintf("1,2,l%d\n", i)
		}, Options{Positive: "l5"}, nil, 250_000, ""},
		{"unknown labels without end", 250_000, func(i int) string {
			return fmt.Sprintf("%d 1:1\n", i)
		},
			Options{Labels: &LabelMap{"5", "6"}, LabelsOptional: true}, nil, 250_000, ""},
		{"a long line", 1000, func(i int) string {
			if i == 900 {
				return long
			}
			return []string{"-1 1:1\n", "+1 2:1\n"}[i&1]
		}, Options{}, ErrMemory, 900, "Options.Memory"},
		{"bad rows", 500_000, func(i int) string {
			if i < 10 {
				return []string{"-1 1:1\n", "+1 2:1\n"}[i&1]
			}
			return "x\n"
		}, Options{OnError: "skip", OnBad: func(error) {}}, nil, 10, ""},
		{"csv of one digit", 100_000, func(i int) string {
			return []string{"1,2,a\n",
				"3,4,b\n"}[i&1]
		}, Options{}, nil, 100_000, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const memory = 8 << 20
			if race.Enabled && tc.n > 90_000 {
				t.Skip("the race detector has memory of its own")
			}
			tc.o.Memory, tc.o.Workers = memory, 4
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			before, most, rows := m.HeapAlloc, uint64(0), 0
			s := opened[float64](t, &lines{n: tc.n, line: tc.line}, tc.o)
			var err error
			for i := 0; ; i++ {
				b, e := s.Next()
				if i%16 == 0 || e != nil {
					runtime.ReadMemStats(&m)
					most = max(most, m.HeapAlloc-min(before, m.HeapAlloc))
				}
				if err = e; err != nil {
					break
				}
				rows += b.Len()
			}
			if err == io.EOF {
				err = nil
			}
			if !errors.Is(err, tc.err) || rows < tc.rows ||
				err != nil && !strings.Contains(err.Error(), tc.needle) {
				t.Errorf("%d rows: %v", rows, err)
			}
			t.Logf("%.2f MiB", float64(most)/(1<<20))
			if most > memory+MemoryBase {
				t.Errorf("%.1f MiB of %.1f", float64(most)/(1<<20), float64(memory)/(1<<20))
			}
		})
	}
}

func TestLeastMemory(t *testing.T) {
	text := strings.Repeat("+1 1:1 2:0.5\n-1 3:1\n", 5000)
	var want string
	for _, o := range []Options{{}, {Memory: LeastMemory}, {Memory: LeastMemory, Workers: 64},
		{Memory: 3 << 20}, {Memory: 1 << 40}} {
		rows, err := stream(text, o)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = rows
		}
		if rows != want {
			t.Errorf("%+v: other rows", o)
		}
	}
	if _, err := stream(text, Options{Memory: LeastMemory - 1}); !errors.Is(err, ErrOption) ||
		!strings.Contains(err.Error(), "2 MiB") {
		t.Error(err)
	}
	for _, o := range []Options{{Memory: -1}, {MaxLine: -1}} {
		if _, err := stream(text, o); !errors.Is(err, ErrOption) {
			t.Error(err)
		}
	}
}

// TestMaxLine takes lines up to the limit to the byte, wherever they stand, and refuses one that is
// a byte longer.
func TestMaxLine(t *testing.T) {
	for _, most := range []int{20, 1 << 16, 300_000} {
		for _, first := range []string{"", "-1 1:1\n+1 1:2\n", strings.Repeat("-1 1:1\n+1 1:2\n",
			12_000)} {
			for _, end := range []string{"", "\n", "\n-1 1:1\n"} {
				line := "+1 1:1 # " + strings.Repeat("x", most-9)
				o := Options{MaxLine: int64(most)}
				if _, err := stream(first+line+end, o); err != nil {
					t.Errorf("%d, %d bytes before: %v", most, len(first), err)
				}
				rows, err := stream(first+line+"x"+end, o)
				if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(),
					"Options.MaxLine") ||
					strings.Count(rows, "|") != strings.Count(first, "\n") {
					t.Errorf("%d, %d bytes before: %d rows, %v", most, len(first),
						strings.Count(rows, "|"), err)
				}
				var row *RowError
				if errors.As(err, &row) && row.Line != 1+strings.Count(first, "\n") {
					t.Errorf("line %d", row.Line)
				}
			}
		}
	}
}

// zeros is a reader of n zero bytes.
type zeros int64

func (z *zeros) Read(p []byte) (int, error) {
	n := int(min(int64(len(p)), int64(*z)))
	if n == 0 {
		return 0, io.EOF
	}
	clear(p[:n])
	*z -= zeros(n)
	return n, nil
}

// bzip2Zeros is 50 MB of zeros packed by bzip2.
const bzip2Zeros = "QlpoOTFBWSZTWQ4J4t8BX45AAMAAAAggADCATUZCoCWpCoCXMUFZJlNZk8Ts" +
	"PQAfaMEAwAAAEAAIIAAwzAmqaZUiDapSIPF3JFOFCQj9cpgw"

// TestBombs refuses little files that unpack to very much without ever being text, at their
// beginning and behind good rows, before more than a little of it was unpacked.
func TestBombs(t *testing.T) {
	packed, err := base64.StdEncoding.DecodeString(bzip2Zeros)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenReader[float64](context.Background(), "in", bytes.NewReader(packed), Options{})
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "byte 0") {
		t.Errorf("bzip2: %v %v", s, err)
	}
	_, err = OpenReader[float64](context.Background(), "in", bytes.NewReader(packed),
		Options{Memory: LeastMemory})
	if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "bzip2") {
		t.Errorf("bzip2 without memory: %v", err)
	}
	pack := map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"zstd": func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
	}
	for name, packer := range pack {
		for _, before := range []string{"", "+1 1:1\n-1 2:1\n"} {
			for _, o := range []Options{{}, {Format: "svmlight"}, {Format: "csv"},
				{Memory: LeastMemory}, {OnError: "skip"}} {
				if o.Format == "csv" && before != "" || name == "zstd" && o.Memory > 0 {
					continue
				}
				var b bytes.Buffer
				w := packer(&b)
				io.WriteString(w, before)
				z := zeros(1 << 25)
				io.Copy(w, &z)
				w.Close()
				s, err := OpenReader[float64](context.Background(), "in", &b, o)
				rows := ""
				if err == nil {
					rows, err = drain(s)
				}
				if !errors.Is(err, ErrFormat) || strings.Count(rows, "|") > 2 {
					t.Errorf("%s %q %+v: %v", name, before, o, err)
				}
				if s != nil && s.Info().Bytes > 2<<20 {
					t.Errorf("%s: %d bytes were unpacked", name, s.Info().Bytes)
				}
			}
		}
	}
}

// TestSniffer looks at each byte of a head once: twice the text takes twice the time at most, which
// a count of reads shows.
func TestSniffer(t *testing.T) {
	r := &counting{r: strings.NewReader(strings.Repeat("1", 3<<20))}
	_, err := OpenReader[float64](context.Background(), "in", r, Options{MaxLine: 2 << 20})
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "longer than 2 MiB") {
		t.Error(err)
	}
	if r.n > 2<<20+1<<17 {
		t.Errorf("%d bytes were read", r.n)
	}
}

type counting struct {
	r io.Reader
	n int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// TestZstdWindow refuses data that take a larger window to unpack than there is memory.
func TestZstdWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	for range 400_000 {
		fmt.Fprintf(&text, "%d %d:%d\n", rng.IntN(2), 1+rng.IntN(1000), rng.IntN(1000))
	}
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(4<<20))
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, text.String())
	w.Close()
	for memory, want := range map[int64]error{0: nil, 16 << 20: nil, 4 << 20: ErrMemory} {
		s, err := OpenReader[float64](context.Background(), "in", bytes.NewReader(b.Bytes()),
			Options{Memory: memory})
		if err == nil {
			_, err = drain(s)
		}
		if !errors.Is(err, want) || err != nil && !strings.Contains(err.Error(), "window") {
			t.Errorf("memory %d: %v", memory, err)
		}
	}
}

// TestPadding reads gzip data followed by zeros, with one warning, and refuses other garbage.
func TestPadding(t *testing.T) {
	text := "+1 1:1\n-1 2:1\n"
	one := gz([]byte(text))
	for _, tc := range []struct {
		name, packed string
		want, warned string
		err          error
	}{
		{"zeros", string(one) + strings.Repeat("\x00", 100_000), "+1 0:1|-1 1:1|",
			"in: 100000 zero bytes behind the gzip data were passed over|", nil},
		{"one zero", string(one) + "\x00", "+1 0:1|-1 1:1|", "in: 1 zero bytes behind the gzip " +
			"data were passed over|", nil},
		{"two members, zeros", string(one) + string(one) + "\x00\x00",
			"+1 0:1|-1 1:1|+1 0:1|-1 1:1|", "in: 2 zero bytes behind the gzip data were " +
				"passed over|", nil},
		{"garbage", string(one) + "garbage and more", "+1 0:1|-1 1:1|", "", ErrFormat},
		{"zeros and garbage", string(one) + "\x00\x00garbage and more", "+1 0:1|-1 1:1|", "",
			ErrFormat},
		{"one zero and a member", string(one) + "\x00" + string(one), "+1 0:1|-1 1:1|", "",
			ErrFormat},
		{"zeros and a member", string(one) + "\x00\x00" + string(one), "+1 0:1|-1 1:1|", "",
			ErrFormat},
		{"part of a member", string(one) + string(one[:5]), "+1 0:1|-1 1:1|", "", ErrTruncated},
	} {
		for range 2 {
			warned := ""
			rows, err := stream(tc.packed, Options{OnWarn: func(w string) { warned += w + "|" }})
			if rows != tc.want || warned != tc.warned || !errors.Is(err, tc.err) {
				t.Errorf("%s: %s %q %v", tc.name, rows, warned, err)
			}
		}
	}
}

// TestManyLabels: only some labels are distinguished, in a chunk and in the stream, where one label
// stands against the rest; the one that counts is found among them wherever it stands.
func TestManyLabels(t *testing.T) {
	var text strings.Builder
	positives := 0
	for i := range 20_000 {
		label := i
		if i%1000 == 999 {
			label = 77_777
			positives++
		}
		fmt.Fprintf(&text, "%d 1:1\n", label)
	}
	c := chunkOf[float64](t, []byte(text.String()))
	c.Parse(&format.Settings{Format: format.SVMLight, Stop: true,
		Known: []format.Label{format.MakeLabel("77777")}})
	if n := len(c.Out.Labels.List); n > format.SomeLabels+2 || c.Out.N != 20_000 {
		t.Errorf("%d labels are kept of a chunk of %d rows", n, c.Out.N)
	}
	for _, size := range []int{0, 50} {
		s, err := OpenReader[float64](context.Background(), "in", strings.NewReader(text.String()),
			Options{Positive: "77777", chunk: size})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := drain(s)
		if in := s.Info(); err != nil || len(in.Seen) > format.SomeLabels+2 ||
			in.Positives != positives ||
			strings.Count(rows, "|") != 20_000 {
			t.Errorf("%v: %d labels, %d positives of %d", err, len(in.Seen), in.Positives,
				strings.Count(rows, "|"))
		}
	}
}

// TestLongField takes time in proportion to a quoted field's length; its square would be minutes.
func TestLongField(t *testing.T) {
	field := strings.Repeat(`x""`, 1_000_000)
	rows, err := stream("1,2,\""+field+"\"\n1,2,3\n", Options{OnError: "skip", Positive: "3"})
	if err != nil || rows != "+1 1 2|" {
		t.Error(rows, err)
	}
}
