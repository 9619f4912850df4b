package work

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/training"
)

// big is some MiB of examples in a format: more than the head that each part looks at.
func big(t *testing.T, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if format == "csv" {
		b.WriteString("a,b,c,class\n")
	}
	pad := strings.Repeat(" ", 150)
	for i := 0; b.Len() < 6<<20; i++ {
		x, y, label := i*7919%1000, i*104729%1000, i*7919%1000/500
		switch format {
		case "svm", "gz":
			fmt.Fprintf(&b, "%d 1:%d 2:%d 3:1%s\n", 2*label-1, x, y, pad)
		case "csv":
			fmt.Fprintf(&b, "%d,%d,\"1\",%c%s\n", x, y, "xy"[label], pad)
		case "ndjson":
			fmt.Fprintf(&b, `{"class":%d,"a":%d,"b":%d}%s`+"\n", 2*label-1, x, y, pad)
		case "vw":
			fmt.Fprintf(&b, "%d | a:%d b:%d%s\n", 2*label-1, x, y, pad)
		}
	}
	if format != "gz" {
		return b.Bytes()
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(b.Bytes())
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// rowJob is one of row shards of an object, and the same of a file.
func rowJob(t *testing.T, m *memory, name string, text []byte, n int) (j, local *Job,
	s *Buckets) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.Base(name))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	m.Put(t.Context(), name, bytes.NewReader(text))
	o := options(t, file)
	e, c, err := (&training.Options{Learner: "pa"}).Entry()
	if err != nil {
		t.Fatal(err)
	}
	o.Learner, o.Config, o.Epochs, o.Shuffle, o.CheckpointEvery = e.Name, c, 1, false, ""
	by := shard.Cut{Way: "rows", Workers: 1, State: filepath.Join(dir, "state"), Shards: n,
		Mix: "uniform", Rounds: 1}
	if local, err = Cut(by, o); err != nil {
		t.Fatal(err)
	}
	s = m.buckets()
	s.Block = 1 << 16
	o.Files, by.State = []string{name}, bucketState
	if j, err = s.Cut(t.Context(), by, o); err != nil {
		t.Fatal(err)
	}
	return j, local, s
}

// TestRanges: shards of the rows of an object read their part of it, and learn what those of a file
// do. What can't be cut is read by one of them.
func TestRanges(t *testing.T) {
	for _, format := range []string{"svm", "csv", "ndjson", "vw", "gz"} {
		t.Run(format, func(t *testing.T) {
			const n = 4
			m := newMemory()
			text := big(t, format)
			name := "gs://in/big." + format
			j, local, s := rowJob(t, m, name, text, n)
			size, most := int64(len(text)), int64(0)
			const around = 1<<20 + 12<<16 // the head, and what is brought behind it and at its cuts
			for i, p := range j.Parts {
				if format == "gz" && i > 0 {
					break // the others have no examples
				}
				t.Setenv("TMPDIR", t.TempDir()) // a machine each
				m.served = 0
				d, err := s.Learn(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				want := learn(t, local.Parts[i])
				if got := d.Files; got[0] != want.Files[0] {
					t.Errorf("part %d is %v, want %v", i+1, got, want.Files)
				}
				// of csv the text before is looked at for quotes
				need := map[string]int64{"csv": int64(i+1) * size / n, "gz": size}[format]
				if need == 0 {
					need = size / n
				}
				if m.served > need+around {
					t.Errorf("part %d read %d bytes, and has %d of %d", i+1, m.served, size/n, size)
				}
				most = max(most, m.served)
			}
			t.Logf("at most %d bytes of %d", most, size)
		})
	}
}

// TestRangesWrong: an object that changes, or goes, is an error, and a server that is busy is asked
// again.
func TestRangesWrong(t *testing.T) {
	const name = "s3://in/big.svm"
	text := big(t, "svm")
	m := newMemory()
	j, local, s := rowJob(t, m, name, text, 2)
	asked := 0
	m.fault = func(op, _ string) error {
		if asked++; op == "range" && asked%3 == 0 {
			return errBusy
		}
		return nil
	}
	d, err := s.Learn(t.Context(), j.Parts[0])
	if err != nil {
		t.Fatal(err)
	}
	if want := learn(t, local.Parts[0]); d.Files[0] != want.Files[0] {
		t.Errorf("part 1 is %v, want %v", d.Files, want.Files)
	}
	for _, c := range []struct {
		op   func()
		text string
	}{
		{func() { m.Put(t.Context(), name, bytes.NewReader(text)) }, ": it has changed since"},
		{func() { m.Remove(t.Context(), name) }, ": no such object"},
	} {
		n := 0
		m.fault = func(op, _ string) error {
			if n++; op == "range" && n == 20 {
				c.op()
			}
			return nil
		}
		t.Setenv("TMPDIR", t.TempDir())
		f := (*shard.Failure)(nil)
		if _, err := s.Learn(t.Context(), j.Parts[1]); !errors.As(err, &f) || f.Code != 3 ||
			!strings.HasPrefix(f.Text, "part 2/2 of round 1: "+name+c.text) {
			t.Errorf("%v, want %q", err, c.text)
		}
		m.fault = nil
		m.Put(t.Context(), name, bytes.NewReader(text))
		if j, err = s.Cut(t.Context(), shard.Cut{Way: "rows", Workers: 1, Shards: 2,
			State: bucketState, Mix: "uniform", Rounds: 1}, training.Options{Learner: "pa",
			Files: []string{name}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestObject: an object is a file, whatever is read of it and in whichever order.
func TestObject(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	text := bytes.Repeat([]byte("0123456789abcde"), 777)
	for _, block := range []int64{1, 100, 1 << 12, 1 << 20} {
		m := newMemory()
		m.Put(t.Context(), "s3://in/x", bytes.NewReader(text))
		s := m.buckets()
		s.Block = block
		o, err := s.stat(t.Context(), "s3://in/x")
		if err != nil {
			t.Fatal(err)
		}
		if block == 1 {
			o.Size = 300
		}
		f, err := s.openObject(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if block > 1 {
			err = iotest.TestReader(f, text)
		} else if got, e := io.ReadAll(f); !bytes.Equal(got, text[:300]) {
			err = e
			t.Errorf("%d bytes came", len(got))
		}
		if err != nil {
			t.Errorf("blocks of %d: %v", block, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if _, err := f.ReadAt(make([]byte, 1<<15), int64(len(text))-2); err == nil {
			t.Error("it is closed")
		}
	}
}
