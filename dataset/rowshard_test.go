package dataset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parts are n parts of the rows of files, read in order.
type parts struct {
	rows      string
	good, bad int
	some      int // parts that have rows
	cut       uint64
}

// readParts reads all of n parts of the rows of files, as streams or whole; n = 0: the files as
// they are.
func readParts(files []string, n int, o Options, whole bool) (p parts, err error) {
	for k := min(n, 1); k <= n; k++ {
		o.Rows = RowShard{k, n}
		var info Info
		rows := ""
		if whole {
			var d *Data[float64]
			if d, err = Load[float64](context.Background(), files, o); err == nil {
				info, rows = d.Info, dump(&d.Block)
			}
		} else {
			var s *Stream[float64]
			if s, err = Open[float64](context.Background(), files, o); err == nil {
				rows, err = drain(s)
				info = s.Info()
			}
		}
		p.rows, p.good, p.bad = p.rows+rows, p.good+info.Rows, p.bad+info.BadRows
		if err != nil && !(errors.Is(err, ErrEmpty) && n > 0) {
			return p, err
		}
		if info.Rows == 0 {
			continue
		}
		if p.some++; p.some == 1 {
			p.cut = info.Cut
		}
		if info.Cut != p.cut || n > 0 && p.cut == 0 {
			return p, fmt.Errorf("part %d of %d is of the cut %d, those before of %d", k, n,
				info.Cut, p.cut)
		}
	}
	return p, nil
}

// sameParts demands that parts of files, read in any way, are all rows, each once and in order.
func sameParts(t *testing.T, files []string, o Options, most ...int) {
	t.Helper()
	want, err := readParts(files, 0, o, false)
	if err != nil {
		t.Fatalf("%v: %v", files, err)
	}
	for _, n := range most {
		for _, whole := range []bool{false, true} {
			got, err := readParts(files, n, o, whole)
			if got.rows != want.rows || got.good != want.good || err != nil {
				t.Errorf("%v in %d parts, loaded %v: %d rows, want %d: %v", files, n, whole,
					got.good, want.good, err)
			}
		}
	}
}

// TestRowShards: parts of the rows are all rows, each once and in their order, whatever the files
// are and wherever the cuts fall.
func TestRowShards(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if strings.HasSuffix(name, ".gz") {
			text = string(gz([]byte(text)))
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
		sameParts(t, tc.files, tc.o, 1, 2, 7, 200)
	}
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
	sameParts(t, there, o, 1, 3)
	got, err := readParts(there, 0, o, false)
	if want, _ := readParts(here, 0, Options{}, false); got.rows != want.rows || err != nil {
		t.Errorf("other rows: %v", err)
	}
	if _, err := readParts([]string{"gs://in/b"}, 0, o, false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of what isn't there: %v", err)
	}
}

// TestRowShardsIDX: images are cut by their number.
func TestRowShardsIDX(t *testing.T) {
	dir := t.TempDir()
	images, o := idxFiles(t, dir, 23)
	sameParts(t, []string{images}, o, 1, 2, 3, 4, 23, 40)
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
	file := written(t, strings.Repeat("+1 1:1\n-1 2:1\n", 10)+"oops\n")[0]
	_, err := readParts([]string{file}, 2, Options{}, false)
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
		strings.Repeat("# comment\n", 500) + "1st,2nd,class\n" +
			strings.Repeat("1,2,1\n3,4,y\n", 9),
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
		file := written(t, string(text))[0]
		want, err := readParts([]string{file}, 0, o, false)
		if err != nil { // none has a 1, say: others tell more of a file without
			return
		}
		n = int(uint(n)%20) + 1
		got, err := readParts([]string{file}, n, o, false)
		if err != nil || got.rows != want.rows || got.good != want.good || got.bad != want.bad {
			t.Errorf("%q in %d: %+v, want %+v: %v", text, n, got, want, err)
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
		want, err := readParts([]string{file}, 0, o, false)
		if err != nil {
			t.Fatal(err)
		}
		o.Names, o.FixedNames = all.Info.Names, true
		got, err := readParts([]string{file}, 4, o, false)
		if err != nil || got.rows != want.rows || got.good != want.good || got.some < 2 {
			t.Errorf("%d rows of %d in %d parts: %v\n%s", got.good, want.good, got.some, err,
				got.rows)
		}
	}
}
