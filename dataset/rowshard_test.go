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
		for _, n := range []int{2, 7, 200} {
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

// readParts reads all of n parts of a file's rows, in order: rows, how many were good and bad, how
// many parts have rows, and the first error.
func readParts(file string, n int, o Options) (rows string, good, bad, parts int, err error) {
	for k := 1; k <= n; k++ {
		o.Rows = RowShard{k, n}
		text, some, wrong, err := readAll([]string{file}, o)
		rows, good, bad = rows+text, good+some, bad+wrong
		if err != nil && !errors.Is(err, ErrEmpty) {
			return rows, good, bad, parts, err
		}
		if some > 0 {
			parts++
		}
	}
	return rows, good, bad, parts, nil
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

// TestPartPlace: an error in a part says where its lines are counted from.
func TestPartPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data")
	text := strings.Repeat("+1 1:1\n-1 2:1\n", 10) + "oops\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, _, err := readAll([]string{file}, Options{Rows: RowShard{2, 2}})
	want := file + " from byte 77:10:1: expected a label"
	if !errors.Is(err, ErrBadRow) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// FuzzParts: parts give the rows of the file, whatever is in it.
func FuzzParts(f *testing.F) {
	f.Add([]byte("+1 1:1\n-1 2:1\r\n\n# c\n+1 1:1"), 3, 0)
	f.Add([]byte("a,b,class\n1,2,x\n3,\"4\",y\n"), 4, 1)
	f.Add([]byte("> label=1\n"+strings.Repeat("ACGTN", 11)+"\n\n> label=2\n"+
		strings.Repeat("A", 55)+"\n>"), 5, 2)
	f.Add([]byte("\ufeff1\n2\n3\n"), 2, 0)
	record := func(label, letters string) string {
		return "> x > label=" + label + "\n" + letters[:30] + "\n" + letters[30:] + "\n"
	}
	a, c := strings.Repeat("ACGTN", 11), strings.Repeat("CATGA", 11)
	long := strings.Repeat(" ", 40_000) // more than a read
	for i, texts := range [][]string{{
		strings.Repeat("+1 1:1 2:0.5\n-1 3:1e3\n", 50),
		strings.Repeat("+1 1:1\r\n\r\n# no\r\n-1 2:1 # c\r\n", 30),
		"1 1:1\n2 2:2\n" + strings.Repeat("\n \t\n", 99),
		"1 1:1" + long + "2:2\n2 1:3\n" + "1 4:1" + long + "\n",
		strings.Repeat("1 1:1\nx\n2 2:2 1:1\n", 20),
	}, {
		"a,b,class\n" + strings.Repeat("1,2,1\n3,4,y\n", 40),
		"# c\n\nclass;a;b\n" + strings.Repeat("1;1;2\ny;3;4\n", 9),
		strings.Repeat("# comment\n", 500) + "1st,2nd,class\n" + strings.Repeat("1,2,1\n3,4,y\n", 9),
		strings.Repeat("\"1\",\"a,\"\"b\"\n\"2\",\"1\"\n", 20),
	}, {
		strings.Repeat(record("1", a)+record("-1", c), 20),
		"\n\n" + strings.Repeat(record("1", a)+"\n \n"+record("2", c), 9),
	}} {
		for _, text := range texts {
			for _, n := range []int{1, 3, 15} {
				f.Add([]byte(text), n, i)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, n, kind int) {
		o := Options{OnError: "skip", Positive: "1", Workers: 1, IndexBase: "1",
			Format: []string{"svmlight", "csv", "fasta"}[uint(kind)%3]}
		if o.Format == "csv" { // texts in columns: no part knows their numbers
			o.HashBits = 8
		}
		file := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		want, rows, bad, err := readAll([]string{file}, o)
		if err != nil { // none has a 1, say: others tell more of a file without
			return
		}
		n = int(uint(n)%20) + 1
		got, good, wrong, _, err := readParts(file, n, o)
		if err != nil || got != want || good != rows || wrong != bad {
			t.Errorf("%q in %d: %q, %d bad, want %q, %d: %v", text, n, got, wrong, want, bad, err)
		}
	})
}

// TestPartNames: parts whose features have names give the rows of the file where these are known.
func TestPartNames(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	for _, text := range []string{
		"job,pay,class\n" + strings.Repeat("clerk,1,x\nsmith,2,y\ncook,1,x\n", 40),
		strings.Repeat("{\"y\":0,\"job\":\"clerk\"}\n{\"y\":1,\"age\":3,\"job\":\"cook\"}\n", 40),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var o Options
		all, err := Load[float64](context.Background(), []string{file}, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Labels = &all.Info.Labels
		want, good, _, err := readAll([]string{file}, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Names, o.FixedNames = all.Info.Names, true
		got, n, _, parts, err := readParts(file, 4, o)
		if err != nil || got != want || n != good || parts < 2 {
			t.Errorf("%d rows of %d in %d parts: %v\n%s", n, good, parts, err, got)
		}
	}
}
