package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readRanges reads all ranges of a file, in order: rows, how many were good and bad, and the first
// error.
func readRanges(file string, n int, o Options) (rows string, good, bad, ranges int, err error) {
	list, err := Split(file, n, o)
	if err != nil {
		return "", 0, 0, 0, err
	}
	end := list[0].From
	for _, r := range list {
		if r.From != end || r.To <= r.From && len(list) > 1 {
			return "", 0, 0, 0, fmt.Errorf("range %+v behind byte %d", r, end)
		}
		end = r.To
		s, err := OpenRange[float64](context.Background(), r, o)
		if err != nil {
			return "", 0, 0, 0, fmt.Errorf("%+v: %w", r, err)
		}
		text, err := drain(s)
		in := s.Info()
		rows, good, bad = rows+text, good+in.Rows, bad+in.BadRows
		if err != nil {
			return rows, good, bad, len(list), err
		}
	}
	return rows, good, bad, len(list), nil
}

// readWhole reads a file by one stream.
func readWhole(file string, o Options) (rows string, good, bad int, err error) {
	s, err := Open[float64](context.Background(), []string{file}, o)
	if err != nil {
		return "", 0, 0, err
	}
	rows, err = drain(s)
	in := s.Info()
	return rows, in.Rows, in.BadRows, err
}

// TestSplit: the ranges of a file give the rows of the file, wherever the cuts fall.
func TestSplit(t *testing.T) {
	record := func(label, letters string) string {
		return "> x > label=" + label + "\n" + letters[:30] + "\n" + letters[30:] + "\n"
	}
	a, c := strings.Repeat("ACGTN", 11), strings.Repeat("CATGA", 11)
	long := strings.Repeat(" ", 40_000)
	for _, tc := range []struct {
		name, text string
		o          Options
	}{
		{"svmlight", strings.Repeat("+1 1:1 2:0.5\n-1 3:1e3\n", 50), Options{}},
		{"svmlight that counts from 0", "-1 0:1\n" + strings.Repeat("+1 1:1\n-1 2:2\n", 50),
			Options{}},
		{"svmlight of Windows", strings.Repeat("+1 1:1\r\n\r\n# no\r\n-1 2:1 # c\r\n", 30),
			Options{}},
		{"no end of the last line", strings.Repeat("1 1:1\n2 1:2\n", 20) + "2 3:4", Options{}},
		{"empty lines alone behind", "1 1:1\n2 2:2\n" + strings.Repeat("\n \t\n", 99), Options{}},
		{"a byte order mark", "\ufeff" + strings.Repeat("1 1:1\n2 2:2\n", 9), Options{}},
		{"lines longer than a read", "1 1:1" + long + "2:2\n2 1:3\n" + "1 4:1" + long + "\n",
			Options{}},
		{"bad rows", strings.Repeat("1 1:1\nx\n2 2:1 1:1\n", 20), Options{OnError: "skip"}},
		{"csv", "a,b,class\n" + strings.Repeat("1,2,x\n3,4,y\n", 40), Options{}},
		{"csv behind a comment", "# c\n\nclass;a;b\n" + strings.Repeat("x;1;2\ny;3;4\n", 9),
			Options{}},
		{"a csv header behind much", strings.Repeat("# comment\n", 500) + "1st,2nd,class\n" +
			strings.Repeat("1,2,x\n3,4,y\n", 9), Options{}},
		{"quotes in csv", strings.Repeat("\"1\",\"a,\"\"b\"\n\"2\",\"x\"\n", 20),
			Options{Labels: &LabelMap{Negative: `a,"b`, Positive: "x"}}},
		{"fasta", strings.Repeat(record("1", a)+record("-1", c), 20), Options{}},
		{"fasta with blank lines", "\n\n" + strings.Repeat(record("1", a)+"\n \n"+record("2", c),
			9),
			Options{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "data")
			if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if tc.o.Labels == nil {
				s, err := Load[float64](context.Background(), []string{file}, tc.o)
				if err != nil {
					t.Fatal(err)
				}
				tc.o.Labels = &s.Info.Labels
			}
			want, rows, bad, err := readWhole(file, tc.o)
			if err != nil {
				t.Fatal(err)
			}
			most := 0
			for _, n := range []int{1, 2, 3, 4, 5, 7, 10, 16, 31, 60} {
				got, good, wrong, ranges, err := readRanges(file, n, tc.o)
				if err != nil || got != want || good != rows || wrong != bad || ranges > n {
					t.Fatalf("%d ranges: %d rows, %d bad, want %d and %d: %v", n, good, wrong,
						rows, bad, err)
				}
				most = max(most, ranges)
			}
			if most < 2 {
				t.Errorf("at most %d ranges", most)
			}
		})
	}
}

// idxFiles writes n images, with their labels beside them.
func idxFiles(t *testing.T, dir string, n int) (file string, o Options) {
	t.Helper()
	file = filepath.Join(dir, "t-images-idx3-ubyte")
	var pixels, labels []byte
	for i := range n {
		pixels = append(pixels, byte(i), byte(2*i), 255, 0, 7, byte(i*i))
		labels = append(labels, byte(i%2))
	}
	for name, text := range map[string]string{
		file: idx(0x803, []uint32{uint32(n), 2, 3}, pixels...),
		filepath.Join(dir, "t-labels-idx1-ubyte"): idx(0x801, []uint32{uint32(n)}, labels...),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file, Options{Labels: &LabelMap{Negative: "0", Positive: "1"}}
}

// TestSplitIDX: images are cut between images, with the labels beside them.
func TestSplitIDX(t *testing.T) {
	file, o := idxFiles(t, t.TempDir(), 37)
	want, _, _, err := readWhole(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 50; n++ {
		got, _, _, ranges, err := readRanges(file, n, o)
		if err != nil || got != want || ranges != min(n, 37) {
			t.Fatalf("%d ranges for %d: %v", ranges, n, err)
		}
	}
	if _, err := OpenRange[float64](context.Background(), Range{file, 17, 40}, o); !errors.Is(err,
		ErrOption) {
		t.Error(err)
	}
}

// TestSplitWhole: what can't be cut is one range, and ranges that aren't of the file are refused.
func TestSplitWhole(t *testing.T) {
	text := strings.Repeat("+1 1:1\n-1 2:1\n", 100)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(text))
	z.Close()
	dir := t.TempDir()
	plain, gz := filepath.Join(dir, "plain"), filepath.Join(dir, "gz")
	for name, b := range map[string][]byte{plain: []byte(text), gz: packed.Bytes()} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, _, _, _ := readWhole(plain, Options{})
	if got, _, _, ranges, err := readRanges(gz, 5, Options{}); err != nil || got != want ||
		ranges != 1 {
		t.Errorf("packed: %d ranges, %v", ranges, err)
	}
	if _, err := Split(plain, 0, Options{}); !errors.Is(err, ErrOption) {
		t.Error(err)
	}
	if _, err := Split(dir, 2, Options{}); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
	for _, r := range []Range{{plain, 1, 7}, {plain, 0, 8}, {plain, -7, 7}, {plain, 14, 7},
		{plain, 0, 1 << 20}, {gz, 7, 14}, {gz, 0, 5}} {
		if _, err := OpenRange[float64](context.Background(), r, Options{}); !errors.Is(err,
			ErrOption) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// TestRangePlace: an error in a range says where its lines are counted from.
func TestRangePlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data")
	text := strings.Repeat("+1 1:1\n-1 2:1\n", 10) + "oops\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := OpenRange[float64](context.Background(), Range{file, 14, 0}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = drain(s)
	want := file + " from byte 14:19:1: expected a label"
	if !errors.Is(err, ErrBadRow) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// FuzzSplit: ranges give the rows of the file, whatever is in it.
func FuzzSplit(f *testing.F) {
	f.Add([]byte("+1 1:1\n-1 2:1\r\n\n# c\n+1 1:1"), 3, 0)
	f.Add([]byte("a,b,class\n1,2,x\n3,\"4\",y\n"), 4, 1)
	f.Add([]byte("> label=1\n"+strings.Repeat("ACGTN", 11)+"\n\n> label=2\n"+
		strings.Repeat("A", 55)+"\n>"), 5, 2)
	f.Add([]byte("\ufeff1\n2\n3\n"), 2, 0)
	f.Fuzz(func(t *testing.T, text []byte, n, kind int) {
		o := Options{OnError: "skip", Positive: "1", Workers: 1, IndexBase: "1",
			Format: []string{"svmlight", "csv", "fasta"}[uint(kind)%3]}
		file := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		want, rows, bad, err := readWhole(file, o)
		if err != nil { // none has a 1, say: others tell more of a file without
			return
		}
		n = int(uint(n)%20) + 1
		got, good, wrong, _, err := readRanges(file, n, o)
		if errors.Is(err, ErrOption) { // texts in columns: no part knows their numbers
			o.HashBits = 8
			if want, rows, bad, err = readWhole(file, o); err != nil {
				return
			}
			got, good, wrong, _, err = readRanges(file, n, o)
		}
		if err != nil || got != want || good != rows || wrong != bad {
			t.Errorf("%q in %d: %q, %d bad, want %q, %d: %v", text, n, got, wrong, want, bad, err)
		}
	})
}

// TestSplitNames: ranges whose features have names give the rows of the file where these are known.
func TestSplitNames(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	for _, text := range []string{
		"job,pay,class\n" + strings.Repeat("clerk,1,x\nsmith,2,y\ncook,1,x\n", 40),
		strings.Repeat("{\"y\":0,\"job\":\"clerk\"}\n{\"y\":1,\"age\":3,\"job\":\"cook\"}\n", 40),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var o Options
		if _, _, _, _, err := readRanges(file, 4, o); !errors.Is(err, ErrOption) {
			t.Errorf("names that nothing says: %v", err)
		}
		all, err := Load[float64](context.Background(), []string{file}, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Labels = &all.Info.Labels
		want, good, _, err := readWhole(file, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Names, o.FixedNames = all.Info.Names, true
		got, n, _, ranges, err := readRanges(file, 4, o)
		if err != nil || got != want || n != good || ranges < 2 {
			t.Errorf("%d rows of %d in %d ranges: %v\n%s", n, good, ranges, err, got)
		}
	}
}
