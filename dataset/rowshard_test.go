package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readShards reads all of n parts of the rows of files, in order, as streams or whole.
func readShards(t *testing.T, files []string, n int, o Options, whole bool) (rows []string) {
	t.Helper()
	var text strings.Builder
	sum := uint64(0)
	for k := 1; k <= n; k++ {
		o.Rows = RowShard{k, n}
		var info Info
		if whole {
			d, err := Load[float64](context.Background(), files, o)
			if errors.Is(err, ErrEmpty) {
				continue
			}
			if err != nil {
				t.Fatalf("%v of %d: %v", files, n, err)
			}
			info = d.Info
			for i := range d.Block.Len() {
				idx, val := d.Block.Example(i)
				fmt.Fprintln(&text, d.Block.Y[i], idx, val)
			}
		} else {
			s, err := Open[float64](context.Background(), files, o)
			if err != nil {
				t.Fatalf("%v, part %d of %d: %v", files, k, n, err)
			}
			rows, err := drain(s)
			if info = s.Info(); errors.Is(err, ErrEmpty) {
				continue
			}
			if err != nil {
				t.Fatalf("%v, part %d of %d: %v", files, k, n, err)
			}
			text.WriteString(rows)
		}
		if sum == 0 {
			sum = info.Cut
		}
		if info.Cut != sum || sum == 0 {
			t.Errorf("part %d of %d is of the cut %d, those before of %d", k, n, info.Cut, sum)
		}
	}
	return strings.Split(text.String(), "\n")
}

// TestRowShards: parts of the rows are all rows, each once and in their order, whatever the files
// are and wherever the cuts fall.
func TestRowShards(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if strings.HasSuffix(name, ".gz") {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write([]byte(text))
			z.Close()
			text = b.String()
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	r := rand.New(rand.NewPCG(1, 2))
	svm := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%+d", 2*(i%2)-1)
			for j := range r.IntN(9) {
				fmt.Fprintf(&b, " %d:%d", 3*j+1+r.IntN(3), i)
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	csv := func(n int) string {
		var b strings.Builder
		b.WriteString("a,\"b\nc\",class\n")
		for i := range n {
			fmt.Fprintf(&b, "%d,\"%d\",%s\n", i, r.IntN(99), []string{"x", "y"}[i%2])
		}
		return b.String()
	}
	labels := &LabelMap{Negative: "x", Positive: "y"}
	a, b, c := write("a.svm", svm(300)), write("b.svm", svm(41)), write("c.svm", svm(7))
	packed := write("d.svm.gz", svm(60))
	bom := write("e.svm", "\ufeff"+svm(20))
	for _, tc := range []struct {
		files []string
		o     Options
	}{
		{[]string{a}, Options{}},
		{[]string{a, b, c}, Options{}},
		{[]string{c, b, a, c}, Options{}},
		{[]string{packed}, Options{}},
		{[]string{b, packed, c, packed, a}, Options{}},
		{[]string{bom, b, bom}, Options{}},
		{[]string{write("a.csv", csv(80)), write("b.csv", csv(9)), write("c.csv", csv(50))},
			Options{Labels: labels}},
	} {
		want := readShards(t, tc.files, 1, tc.o, false)
		all, _, _, err := readAll(tc.files, tc.o)
		if err != nil || all != strings.Join(want, "\n") {
			t.Fatalf("%v: one part of one is not all rows: %v", tc.files, err)
		}
		for _, n := range []int{2, 3, 7, 16, 200} {
			if got := readShards(t, tc.files, n, tc.o, false); !equal(got, want) {
				t.Errorf("%v in %d parts: %d rows, want %d", tc.files, n, len(got)-1, len(want)-1)
			}
		}
		loaded := readShards(t, tc.files, 1, tc.o, true)
		if got := readShards(t, tc.files, 5, tc.o, true); !equal(got, loaded) {
			t.Errorf("%v in 5 parts, loaded: %d rows, want %d", tc.files, len(got)-1,
				len(loaded)-1)
		}
	}
}

func equal(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

// readAll reads files by one stream.
func readAll(files []string, o Options) (rows string, good, bad int, err error) {
	s, err := Open[float64](context.Background(), files, o)
	if err != nil {
		return "", 0, 0, err
	}
	rows, err = drain(s)
	in := s.Info()
	return rows, in.Rows, in.BadRows, err
}

// TestOpenFile: what the options open stands for files, whole and in parts.
func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("1 1:1 3:2\n-1 2:1\n", 500)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{OpenFile: func(name string) (File, error) {
		name, ok := strings.CutPrefix(name, "gs://in/")
		if !ok {
			t.Errorf("%s was opened", name)
		}
		return os.Open(filepath.Join(dir, name))
	}}
	there, here := []string{"gs://in/a"}, []string{filepath.Join(dir, "a")}
	for _, n := range []int{1, 3} {
		for _, whole := range []bool{false, true} {
			got, want := readShards(t, there, n, o, whole), readShards(t, here, n, Options{}, whole)
			if !equal(got, want) || len(want[0]) == 0 {
				t.Errorf("%d parts:\n%.99s\nwant\n%.99s", n, got, want)
			}
		}
	}
	all, _, _, err := readAll(there, o)
	want, _, _, _ := readAll(here, Options{})
	if all != want || err != nil {
		t.Errorf("other rows: %v", err)
	}
	if _, _, _, err := readAll([]string{"gs://in/b"}, o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of what isn't there: %v", err)
	}
}

// TestRowShardsIDX: images are cut by their number.
func TestRowShardsIDX(t *testing.T) {
	dir := t.TempDir()
	images, o := idxFiles(t, dir, 23)
	want := readShards(t, []string{images}, 1, o, false)
	for _, n := range []int{2, 3, 23, 40} {
		if got := readShards(t, []string{images}, n, o, false); !equal(got, want) {
			t.Errorf("%d parts: %d rows, want %d", n, len(got)-1, len(want)-1)
		}
	}
	want = readShards(t, []string{images}, 1, o, true)
	if got := readShards(t, []string{images}, 4, o, true); !equal(got, want) || len(got) != 24 {
		t.Errorf("loaded: %d rows, want %d", len(got)-1, len(want)-1)
	}
}

// TestRowShardsChanged: the fingerprint is of the text, its files and the number of parts.
func TestRowShardsChanged(t *testing.T) {
	dir := t.TempDir()
	of := func(n int, texts ...string) uint64 {
		var files []string
		for i, text := range texts {
			files = append(files, filepath.Join(dir, fmt.Sprint(i)))
			os.WriteFile(files[i], []byte(text), 0o600)
		}
		s, err := Open[float32](t.Context(), files, Options{Rows: RowShard{1, n}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return s.Info().Cut
	}
	a, b := strings.Repeat("1 1:1\n-1 2:1\n", 50), strings.Repeat("1 1:2\n-1 2:1\n", 50)
	sums := map[uint64]bool{of(2, a): true, of(3, a): true, of(2, b): true, of(2, a, b): true,
		of(2, b, a): true, of(2, a+b): true}
	if len(sums) != 6 || !sums[of(2, a)] {
		t.Errorf("%d fingerprints of 6 cuts", len(sums))
	}
}

// TestRowShardsWrong: what is no part, and what can't be cut, is refused.
func TestRowShardsWrong(t *testing.T) {
	for _, text := range []string{"0/2", "3/2", "2", "x/2", "2/", "-1/2", "1/0", "1/99999999"} {
		if r, err := ParseRowShard(text); !errors.Is(err, ErrOption) {
			t.Errorf("%q is %v: %v", text, r, err)
		}
	}
	if r, err := ParseRowShard("2/4"); err != nil || r.String() != "2/4" {
		t.Errorf("2/4 is %v: %v", r, err)
	}
	o := Options{Rows: RowShard{1, 2}}
	_, err := OpenReader[float32](t.Context(), "x", strings.NewReader("1 1:1\n-1 1:2\n"), o)
	if !errors.Is(err, ErrOption) {
		t.Errorf("a reader: %v", err)
	}
	if _, err := Open[float32](t.Context(), []string{"-"}, o); !errors.Is(err, ErrOption) {
		t.Errorf("standard input: %v", err)
	}
	o.Rows.K = 3
	if _, err := Open[float32](t.Context(), []string{os.DevNull}, o); !errors.Is(err, ErrOption) {
		t.Errorf("part 3 of 2: %v", err)
	}
}
