package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// pieces gives its text in pieces of any length, and before some of them the stream does what it
// does where its input pauses.
type pieces struct {
	text   []byte
	most   int
	rng    *rand.Rand
	stream atomic.Pointer[Stream[float64]]
}

func (p *pieces) Read(b []byte) (int, error) {
	if s := p.stream.Load(); s != nil && p.rng.IntN(3) == 0 {
		s.cut.Lock()
		if k := s.cutter; k != nil && k.reading && !s.over {
			k.handOver()
		}
		s.cut.Unlock()
	}
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), 1+p.rng.IntN(p.most))], p.text)
	p.text = p.text[n:]
	return n, nil
}

// readPieces reads a text to its end or an error, and says what was read, and which rows are bad.
func readPieces(r io.Reader, o Options) (said string) {
	var bad strings.Builder
	o.OnBad = func(err error) { fmt.Fprintln(&bad, err) }
	s, err := OpenReader[float64](context.Background(), "in", r, o)
	if err != nil {
		return err.Error()
	}
	if p, ok := r.(*pieces); ok {
		p.stream.Store(s)
	}
	rows, err := drain(s)
	in := s.Info()
	in.Bytes, in.InputRead, in.MaxNorm = 0, 0, 0 // of the chunk that the error stands in
	return fmt.Sprintf("%s%v\n%s%+v", rows, err, &bad, in)
}

// checkPieces reads a text in pieces, by chunks and workers as the options say: what comes of it is
// what comes of the whole.
func checkPieces(t *testing.T, text []byte, o Options, most int, seed uint64) {
	t.Helper()
	whole := o
	whole.chunk, whole.Workers = 0, 1
	want := readPieces(bytes.NewReader(text), whole)
	got := readPieces(&pieces{text: text, most: most, rng: rand.New(rand.NewPCG(seed, 1))}, o)
	if got != want {
		t.Errorf("%q in pieces of up to %d (seed %d), %+v: %s\nwhole: %s", text, most, seed, o, got,
			want)
	}
}

// TestPieces reads the same however the input comes: in pieces of any length, with pauses anywhere.
func TestPieces(t *testing.T) {
	t.Parallel()
	var svm, csv, fasta strings.Builder
	for i := range 300 {
		fmt.Fprintf(&svm, "%+d %d:%g %d:%d # %d\n", 1-2*(i%3&1), 1+i%7, float64(i)/7, 9+i, i%10, i)
		if i%20 == 0 {
			fmt.Fprintf(&svm, "\n+1 bad:%d\n", i)
		}
		fmt.Fprintf(&csv, "%d,%g,%s\n", i, float64(i)/3, []string{"yes", "no"}[i&1])
		if i%30 == 29 {
			fmt.Fprintf(&csv, "# c\n1,?,%d\n", i)
		}
		if i < 40 {
			fmt.Fprintf(&fasta, ">s%d label=%d\n%s\n%s\n", i, i&1, strings.Repeat("ACGT", 10),
				strings.Repeat("TTN", 5))
			if i%10 == 5 {
				fasta.WriteString(">bad label=1\nACGTE\n")
			}
		}
	}
	texts := map[string]string{
		"svmlight": svm.String(), "one label first": strings.Repeat("3 1:1\n", 200) + "5 1:2\n",
		"csv":    csv.String(),
		"header": "a,b,label\n" + csv.String(), "no line end": strings.TrimSuffix(svm.String(),
			"\n"), "fasta": fasta.String(),
		"third label": csv.String() + "1,2,maybe\n",
		"descending":  svm.String() + strings.Repeat("+1 5:1 4:1\n", 3),
		"cut":         svm.String() + "+1 1:1 2:", "many bad": "+1 1:1\n-1 1:2\n" +
			strings.Repeat("x\n+1 y\n", 100) + "+1 1:3\n",
	}
	for name, text := range texts {
		for seed := range uint64(6) {
			for _, most := range []int{1, 3, 40, 1000} {
				o := Options{OnError: []string{"skip", "limit=12"}[seed&1], Workers: 1 +
					int(seed%3)}
				if seed > 3 {
					o.chunk = 64
				}
				checkPieces(t, []byte(text), o, most, seed)
				if name == "svmlight" {
					checkPieces(t, gz([]byte(text)), o, most, seed)
				}
			}
		}
	}
}

func FuzzPieces(f *testing.F) {
	f.Add([]byte("+1 1:1\n-1 2:1\n+1 x\n"), uint16(3), uint64(1))
	f.Add([]byte("a,b,class\n1,2,x\n3,4,y\n"), uint16(1), uint64(2))
	f.Add([]byte("0 1:1\n-1 2:1\n"), uint16(2), uint64(3))
	f.Add([]byte("\x1f\x8b"), uint16(1), uint64(4))
	f.Add([]byte(">a label=1\n"+strings.Repeat("ACG", 20)+"\n>b label=0\n"+strings.Repeat("ACT",
		20)), uint16(7), uint64(5))
	f.Fuzz(func(t *testing.T, text []byte, most uint16, seed uint64) {
		if bytes.HasPrefix(text, []byte{0, 0, 8}) {
			return // idx wants a second file
		}
		checkPieces(t, text, Options{OnError: "skip", Workers: 2}, 1+int(most), seed)
	})
}

// slow is a writer to a stream that waits for the rows of what it wrote.
type slow struct {
	t *testing.T
	w io.Writer
	s *Stream[float64]
}

// expect waits for rows.
func (l *slow) expect(want string) {
	l.t.Helper()
	got := ""
	for got != want && len(got) < len(want) {
		if !l.s.Wait(20 * time.Second) {
			l.t.Fatalf("got %q within 20 s, want %q", got, want)
		}
		b, err := l.s.Next()
		if err != nil {
			l.t.Fatal(err)
		}
		got += dump(b)
	}
	if got != want {
		l.t.Fatalf("got %q, want %q", got, want)
	}
}

// TestLive gives the rows of whole lines though the input goes on, packed or not.
func TestLive(t *testing.T) {
	t.Parallel()
	for _, packed := range []string{"", "gzip", "zstd", "gzip members"} {
		t.Run(packed, func(t *testing.T) {
			t.Parallel()
			r, w := io.Pipe()
			write := func(s string) { io.WriteString(w, s) }
			end := func() { w.Close() }
			switch packed {
			case "gzip":
				z := gzip.NewWriter(w)
				write = func(s string) { io.WriteString(z, s); z.Flush() }
				end = func() { z.Close(); w.Close() }
			case "gzip members":
				write = func(s string) { w.Write(gz([]byte(s))) }
			case "zstd":
				z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
				if err != nil {
					t.Fatal(err)
				}
				write = func(s string) { io.WriteString(z, s); z.Flush() }
				end = func() { z.Close(); w.Close() }
			}
			first := make(chan bool)
			go func() { write("+1 1:1\n"); close(first) }() // the reader must be there
			s, err := OpenReader[float64](context.Background(), "in", r, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			l := &slow{t, w, s}
			l.expect("+1 0:1|")
			<-first
			write("-1 2:2\n+1 3:")
			l.expect("-1 1:2|")
			if s.Wait(30 * time.Millisecond) {
				t.Error("half a line was taken for a row")
			}
			write("3\n")
			l.expect("+1 2:3|")
			write("-1 4:4\n-1 5:5\n")
			l.expect("-1 3:4|-1 4:5|")
			go func() { write("+1 6:6"); end() }()
			l.expect("+1 5:6|")
			if _, err := s.Next(); err != io.EOF ||
				s.Info().Compression != strings.TrimSuffix(packed, " members") {
				t.Error(err, s.Info().Compression)
			}
		})
	}
}

// TestSteady gives the rows of an input that never pauses, but would fill the head, or a chunk,
// only after minutes.
func TestSteady(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"svmlight": "+1 1:1\n", "csv": "1,2,+1\n"} {
		r, w := io.Pipe()
		enough, ended := make(chan bool), make(chan bool)
		go func() {
			defer close(ended)
			defer w.Close()
			for range 10_000 {
				select {
				case <-enough:
					return
				case <-time.After(2 * time.Millisecond):
					io.WriteString(w, line)
				}
			}
		}()
		s, err := OpenReader[float64](context.Background(), "in", r, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-ended:
				t.Errorf("%s: rows came only at the end", name)
			default:
			}
		}
		close(enough)
		s.Close()
		r.Close()
	}
}

// TestStop gives what was read until the reading was stopped, whole lines, and no more.
func TestStop(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	go io.WriteString(w, "+1 1:1\n-1 2:2\n")
	s, err := OpenReader[float64](context.Background(), "in", r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l := &slow{t, w, s}
	l.expect("+1 0:1|-1 1:2|")
	io.WriteString(w, "+1 3:3\n+1 4:") // returns when it was read
	s.Stop()
	l.expect("+1 2:3|")
	for range 2 {
		if _, err := s.Next(); err != ErrStopped {
			t.Error(err)
		}
	}
	s.Stop() // again: nothing
	w.Close()

	text := strings.Repeat("+1 1:1 2:2\n-1 1:2 7:7\n", 50_000)
	want, err := stream(text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		s := opened[float64](t, strings.NewReader(text), Options{})
		time.AfterFunc(time.Duration(rng.IntN(3000))*time.Microsecond, s.Stop)
		rows, err := drain(s)
		if !strings.HasPrefix(want, rows) || err != nil && !errors.Is(err, ErrStopped) ||
			err == nil && rows != want {
			t.Errorf("%d bytes of rows: %v", len(rows), err)
		}
	}

	// One label that means itself, and one that doesn't.
	for text, want := range map[string]string{"1 1:1\n": "+1 0:1|", "2 1:1\n": ""} {
		r, w := io.Pipe()
		read := make(chan bool)
		go func() { io.WriteString(w, text); close(read) }()
		s := opened[float64](t, r, Options{})
		<-read
		s.Stop()
		if rows, err := drain(s); rows != want || err != ErrStopped {
			t.Error(rows, err)
		}
		w.Close()
	}
}

// TestPauseBase decides the index base by what came before the first pause, and refuses what
// contradicts it later.
func TestPauseBase(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"+1 1:1\n", "+1 0:1\n"} {
		r, w := io.Pipe()
		go io.WriteString(w, first+"-1 2:1\n")
		s := opened[float64](t, r, Options{})
		go func() { io.WriteString(w, "+1 0:5\n"); w.Close() }()
		rows, err := drain(s)
		want := "+1 0:1|-1 1:1|"
		if first[3] == '0' {
			want = "+1 0:1|-1 2:1|+1 0:5|"
		} else if !errors.Is(err, ErrBadRow) ||
			!strings.Contains(err.Error(), "before the first pause has none: set "+
				"Options.IndexBase to 0") {
			t.Error(err)
		}
		if rows != want || !strings.HasSuffix(s.Info().BaseFound, "before the first pause") {
			t.Error(rows, err, s.Info().BaseFound)
		}
		r.Close()
	}
}

// TestOneClass returns the rows of labels that mean themselves at once, and with the second label
// gives the names that both together give.
func TestOneClass(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		first, second string
		atOnce        bool
		err           error
		labels        LabelMap
	}{
		{"+1", "-1", true, nil, LabelMap{"-1", "+1"}},
		{"+1", "0", true, nil, LabelMap{"0", "+1"}},
		{"-1", "+1", true, nil, LabelMap{"-1", "+1"}},
		{"-1", "1", true, nil, LabelMap{"-1", "1"}},
		{"-1.0", "5", true, nil, LabelMap{"-1.0", "5"}},
		{"0", "1", true, nil, LabelMap{"0", "1"}},
		{"0", "2", true, nil, LabelMap{"0", "2"}},
		{"1", "0", false, nil, LabelMap{"0", "1"}},
		{"1", "-1", false, nil, LabelMap{"-1", "1"}},
		{"1", "2", false, nil, LabelMap{"1", "2"}},
		{"3", "2", false, nil, LabelMap{"2", "3"}},
		{"+1", "+2", true, ErrLabels, LabelMap{}},
		{"0", "-1", true, ErrLabels, LabelMap{}},
		{"-1", "-2", true, ErrLabels, LabelMap{}},
	} {
		r, w := io.Pipe()
		go io.WriteString(w, strings.Repeat(tc.first+" 1:1\n", 3))
		s := opened[float64](t, r, Options{})
		var err error
		if tc.atOnce {
			if _, err := s.Next(); err != nil {
				t.Error(tc, err)
			}
		} else if s.Wait(100 * time.Millisecond) {
			t.Errorf("%v: rows before the second label", tc)
		}
		go func() { io.WriteString(w, tc.second+" 2:1\n"); w.Close() }()
		_, err = drain(s)
		if !errors.Is(err, tc.err) || err != nil && !strings.Contains(err.Error(),
			"Options.Positive") {
			t.Errorf("%v: %v", tc, err)
		}
		if tc.err == nil {
			if got := s.Info().Labels; got != tc.labels {
				t.Errorf("%v: labels %v", tc, got)
			}
			// In memory the pair decides as ever.
			d, err := load(strings.Repeat(tc.first+" 1:1\n", 3)+tc.second+" 2:1\n", Options{})
			if err != nil || d.Info.Labels != tc.labels {
				t.Errorf("%v: %v, %v", tc, d, err)
			}
		}
	}
	// Rows that wait for a second label are reported where nothing more comes.
	r, w := io.Pipe()
	go io.WriteString(w, "2 1:1\n2 1:1\n")
	told := make(chan string, 10)
	s := opened[float64](t, r, Options{OnWarn: func(what string) { told <- what }})
	s.Wait(3 * time.Second)
	s.Wait(1500 * time.Millisecond)
	w.Close()
	drain(s)
	if len(told) != 1 {
		t.Errorf("told %d times", len(told))
	} else if what := <-told; !strings.Contains(what, "2 rows") ||
		!strings.Contains(what, "set Options.Positive to 2") {
		t.Error(what)
	}
}
