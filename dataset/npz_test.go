package dataset

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/format"
)

// TestNPZ reads files that NumPy and SciPy wrote (testdata/README.md says by what).
func TestNPZ(t *testing.T) {
	const dense = "+1 1.5 0 -2|-1 0 3 0|+1 0 0 0|-1 0.25 1 7|"
	const sparse = "+1 0:1.5 2:-2|-1 1:3|+1|-1 0:0.25 1:1 2:7|"
	predict := Options{LabelsOptional: true, Labels: &LabelMap{"0", "1"}, Trained: "svmlight"}
	for _, tc := range []struct {
		files, want string
		o           Options
	}{
		{"stored.npz", dense, Options{}},
		{"stored.npz", strings.NewReplacer("+1 ", "+1 1 ", "-1 ", "-1 1 ").Replace(dense),
			Options{Bias: "append"}},
		{"deflated.npz", dense, Options{}},
		{"deflated.npz", dense + "w[1 2 0.5 1]", Options{WeightCol: "w"}},
		{"positional.npz", dense, Options{}},
		{"images.npz", "-1 0 1 2 3 4 5 6 7 8 9 10 11|+1 12 13 14 15 16 17 18 19 20 21 22 23|",
			Options{}},
		{"images.npz", "+1 12 13 14 15 16 17 18 19 20 21 22 23|-1 0 1 2 3 4 5 6 7 8 9 10 11|",
			Options{LabelCol: "y_test"}},
		{"Xsparse.npz", sparse, Options{}},
		{"Xsparse.npz ysparse.npy", sparse, Options{Format: "npz"}},
		{"Xsparse.npz", "+1 0:1 1:1.5 3:-2|-1 0:1 2:3|+1 0:1|-1 0:1 1:0.25 2:1 3:7|",
			Options{Bias: "append"}},
		{"plain.npz ysparse.npy", "+1 0:1 2:-2|-1 1:3|+1|-1 1:1 2:7|", Options{}},
		{"plain.npz", "+1 0:1 2:-2|+1 1:3|+1|+1 1:1 2:7|", predict},
		{"stored.npz stored.npz", dense + dense, Options{}},
		{"Xsparse.npz Xsparse.npz ysparse.npy ysparse.npy", sparse + sparse, Options{}},
	} {
		var files []string
		for _, name := range strings.Fields(tc.files) {
			files = append(files, filepath.Join("testdata", "npz", name))
		}
		for _, chunk := range []int{1, 0} {
			tc.o.chunk = chunk
			d, err := Load[float64](context.Background(), files, tc.o)
			if err != nil {
				t.Errorf("%s: %v", tc.files, err)
				continue
			}
			got := dump(&d.Block)
			if d.Block.W != nil {
				got += fmt.Sprintf("w%v", d.Block.W)
			}
			if got != tc.want || d.Info.Format != "npz" || d.Info.Kind != "svmlight" {
				t.Errorf("%s: %s, want %s; %s", tc.files, got, tc.want, d.Info.Kind)
			}
		}
	}
}

// archive is a zip of files, name after name and content.
func archive(t testing.TB, method uint16, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: files[i] + ".npy", Method: method})
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// matrix is a file of save_npz with another content of one of its arrays.
func matrix(t testing.TB, other ...string) string {
	parts := []string{"indices", npy(dict("<i4", "3,"), int32(0), int32(2), int32(1)),
		"indptr", npy(dict("<i4", "3,"), int32(0), int32(2), int32(3)),
		"format", npy(dict("|S3", ""), [3]byte{'c', 's', 'r'}),
		"shape", npy(dict("<i8", "2,"), int64(2), int64(3)),
		"data", npy(dict("<f8", "3,"), 1.5, -2.0, 3.0),
		"y", npy(dict("<i8", "2,"), int64(1), int64(-1))}
	for i := 0; i < len(other); i += 2 {
		k := slices.Index(parts, other[i])
		parts[k+1] = other[i+1]
		if other[i+1] == "" { // not there
			parts = slices.Delete(parts, k, k+2)
		}
	}
	return archive(t, zip.Deflate, parts...)
}

// beyond has the comment of the last file in a zip's directory, and so the directory, end a byte
// behind the zip.
func beyond(text string) string {
	b := []byte(text)
	last, end := strings.LastIndex(text, "PK\x01\x02"), strings.LastIndex(text, "PK\x05\x06")
	more := byte(len(b) - end + 1)
	b[last+32] += more
	b[end+12] += more
	return string(b)
}

func TestBrokenNPZ(t *testing.T) {
	x := npy(dict("<f8", "2, 2"), 1.5, -2.0, 0.0, 3.0)
	y := npy(dict("<i8", "2,"), int64(1), int64(-1))
	good := archive(t, zip.Store, "X", x, "y", y)
	bomb := archive(t, zip.Deflate, "X", npy(dict("|u1", "1000, 1048576"))+
		strings.Repeat("\x00", 1<<20), "y", npy(dict("|u1", "1000,"))+strings.Repeat("\x01", 1000))
	many := archive(t, zip.Store, slices.Repeat([]string{"a" + strings.Repeat("b", 1<<10), ""}, 2)...)
	long := make([]string, 0, 4000)
	for i := range 2000 {
		long = append(long, strings.Repeat("n", 1000)+string(rune('a'+i%26))+string(rune(1000+i)), "")
	}
	for _, tc := range []struct {
		name, text, want string
		err              error
	}{
		{"no labels", archive(t, zip.Store, "X", x), "put them into the zip (as y)", ErrFormat},
		{"counts differ", archive(t, zip.Store, "X", x, "y", npy(dict("<i8", "1,"), int64(1))),
			"2 examples, but f.npz/y.npy has 1 labels", ErrFormat},
		{"more labels than examples", archive(t, zip.Store, "X", x, "y", npy(dict("<i8", "3,"),
			int64(1), int64(-1), int64(1))), "2 examples, but f.npz/y.npy has 3 labels", ErrFormat},
		{"examples of one dimension", archive(t, zip.Store, "a", x, "b", x, "y", y, "x", y),
			"x.npy:byte 0: expected examples, an array of two dimensions", ErrFormat},
		{"which are the examples", archive(t, zip.Store, "a", x, "b", x), `"a" or "b"?`, ErrFormat},
		{"no examples", archive(t, zip.Store, "a", y), `of two dimensions and called X, among "a"`,
			ErrFormat},
		{"no rows", archive(t, zip.Store, "X", npy(dict("<f8", "0, 2")), "y", y),
			"expected examples, the header says 0", ErrEmpty},
		{"Fortran's order", archive(t, zip.Store, "X", strings.Replace(x, "False", "True ", 1), "y", y),
			"np.ascontiguousarray", ErrFormat},
		{"a header that says more", archive(t, zip.Store, "X", npy(dict("<f8", "2000000000, 1000"),
			1.0), "y", y), "the header says 16000000000082 bytes", ErrTruncated},
		{"a bomb", bomb, "the header says", ErrTruncated},
		{"an array twice", many, "comes twice", ErrFormat},
		{"a long directory", archive(t, zip.Store, long...), "directory is longer than 1 MiB",
			ErrFormat},
		{"cut", good[:len(good)-30], "the file is truncated or damaged", ErrTruncated},
		{"a directory beyond the end", beyond(good), "the file is truncated or damaged",
			ErrTruncated},
		{"cut early", good[:60], "the file is truncated or damaged", ErrTruncated},
		{"a wrong checksum", strings.Replace(good, "\x00\x00\x08\x40", "\x00\x00\x10\x40", 1),
			"length or checksum differ", ErrFormat},
		{"another method", strings.ReplaceAll(good, "\x14\x00\x08\x00\x00\x00",
			"\x14\x00\x08\x00\x63\x00"), "the zip's method 99", ErrFormat},
		{"NaN", archive(t, zip.Deflate, "X", npy(dict("<f4", "2, 1"), float32(1),
			binary.LittleEndian.Uint32([]byte{0, 0, 192, 127})), "y", y),
			"f.npz:2:1: expected a finite number, found NaN", ErrBadRow},

		{"compressed columns", matrix(t, "format", npy(dict("<U3", ""), uint32('c'), uint32('s'),
			uint32('c'))), "save X.tocsr()", ErrFormat},
		{"no indices", matrix(t, "indices", ""), `without its array "indices"`, ErrFormat},
		{"a negative size", matrix(t, "shape", npy(dict("<i8", "2,"), int64(-2), int64(3))),
			"found -2 and 3", ErrFormat},
		{"a shape of three", matrix(t, "shape", npy(dict("<i8", "3,"), int64(2), int64(3),
			int64(1))), "a matrix's rows and columns", ErrFormat},
		{"no rows, sparse", matrix(t, "shape", npy(dict("<i8", "2,"), int64(0), int64(3))),
			"the shape says 0", ErrEmpty},
		{"too few ends", matrix(t, "indptr", npy(dict("<i4", "2,"), int32(0), int32(3))),
			"2 elements for 2 rows", ErrFormat},
		{"ends that fall", matrix(t, "indptr", npy(dict("<i4", "3,"), int32(0), int32(2), int32(1))),
			"found 1 after 2", ErrFormat},
		{"ends below 0", matrix(t, "indptr", npy(dict("<i4", "3,"), int32(-1), int32(2), int32(3))),
			"found -1", ErrFormat},
		{"ends beyond", matrix(t, "indptr", npy(dict("<i8", "3,"), int64(0), int64(2), int64(1)<<60)),
			"from 0 to 3", ErrFormat},
		{"ends too early", matrix(t, "indptr", npy(dict("<i4", "3,"), int32(0), int32(2), int32(2))),
			"found 2 after 2", ErrFormat},
		{"fewer values", matrix(t, "data", npy(dict("<f8", "2,"), 1.5, -2.0)),
			"3 indices, but 2 values", ErrFormat},
		{"values of texts", matrix(t, "data", npy(dict("<U1", "3,"), [3]uint32{})),
			"values that are numbers", ErrFormat},
		{"indices that are none", matrix(t, "indices", npy(dict("<f4", "3,"), [3]float32{})),
			"of whole numbers", ErrFormat},
		{"a negative index", matrix(t, "indices", npy(dict("<i4", "3,"), int32(0), int32(2),
			int32(-1))), "f.npz:2:1: index -1 is negative", ErrBadRow},
		{"an index beyond", matrix(t, "indices", npy(dict("<i8", "3,"), int64(0), int64(3),
			int64(1))), "f.npz:1:2: index 3 of 3 features", ErrBadRow},
		{"indices that fall", matrix(t, "indices", npy(dict("<i8", "3,"), int64(2), int64(0),
			int64(1))), "index 0 after 2: call X.sort_indices()", ErrBadRow},
		{"an index twice", matrix(t, "indices", npy(dict("<u2", "3,"), uint16(2), uint16(2),
			uint16(1))), "X.sum_duplicates()", ErrBadRow},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, "f.npz")
			if err := os.WriteFile(name, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load[float64](context.Background(), []string{name}, Options{Format: "npz"})
			if !errors.Is(err, tc.err) || !strings.Contains(strings.ReplaceAll(err.Error(), dir+"/",
				""), tc.want) {
				t.Errorf("%v, want %v: %s", err, tc.err, tc.want)
			}
		})
	}
	t.Run("a pipe", func(t *testing.T) {
		_, err := LoadReader[float64](context.Background(), "stdin", strings.NewReader(good), Options{})
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "write it to a file") {
			t.Error(err)
		}
	})
	t.Run("a long row", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "f.npz")
		if err := os.WriteFile(name, []byte(matrix(t)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load[float64](context.Background(), []string{name}, Options{MaxLine: 16})
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "an example of 2 values") {
			t.Error(err)
		}
	})
}

// TestNPZSkips: bad rows are left out, one by one, however the rows are cut.
func TestNPZSkips(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f.npz")
	text := matrix(t, "indices", npy(dict("<i4", "3,"), int32(2), int32(0), int32(1)))
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, chunk := range []int{1, 0} {
		var said []string
		d, err := Load[float64](context.Background(), []string{name}, Options{OnError: "skip",
			Positive: "-1", OnBad: func(err error) { said = append(said, err.Error()) }, chunk: chunk})
		if err != nil || dump(&d.Block) != "+1 1:3|" || d.Info.BadRows != 1 || len(said) != 1 ||
			!strings.Contains(said[0], "f.npz:1:2: index 0 after 2") {
			t.Error(err, said)
		}
	}
}

// TestNPZOfPython compares what NumPy and SciPy write now with the same rows as text.
func TestNPZOfPython(t *testing.T) {
	const program = `
import sys, random
import numpy as np, scipy.sparse as sp
rng = np.random.RandomState(int(sys.argv[2]))
n, d = 300, 40
kinds = ['f4', 'f8', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', '?']
for k in kinds:
    X = np.where(rng.rand(n, d) < 0.2, rng.randint(0, 100, (n, d)) / (8 if k[0] == 'f' else 1), 0).astype(k)
    y = rng.randint(0, 2, n)
    name = sys.argv[1] + '/' + k.replace('?', 'b1')
    A = sp.csr_matrix(X)
    sp.save_npz(name + '_sparse.npz', A, compressed=bool(rng.randint(2)))
    np.save(name + '_y.npy', y)
    (np.savez if rng.randint(2) else np.savez_compressed)(name + '_dense.npz', X=X, y=y)
    with open(name + '.svm', 'w') as f:
        for i in range(n):
            f.write(str(2 * y[i] - 1) + ''.join(' %d:%r' % (j + 1, float(X[i, j])) for j in np.flatnonzero(X[i])) + '\n')
`
	if testing.Short() {
		t.Skip("starts Python")
	}
	if err := exec.Command("/usr/bin/python3", "-c", "import numpy, scipy.sparse").Run(); err != nil {
		if os.Getenv("CI") == "true" { // where .ci/run installs it
			t.Fatal("no SciPy: ", err)
		}
		t.Skip("no SciPy: ", err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("/usr/bin/python3", "-c", program, dir, "7").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	texts, _ := filepath.Glob(filepath.Join(dir, "*.svm"))
	if len(texts) != 11 {
		t.Fatal(texts)
	}
	load := func(files ...string) *Data[float64] {
		d, err := Load[float64](context.Background(), files, Options{chunk: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, text := range texts {
		base := strings.TrimSuffix(text, ".svm")
		want, sparse := load(text), load(base+"_sparse.npz", base+"_y.npy")
		if dump(&sparse.Block) != dump(&want.Block) {
			t.Error(base, "sparse differs")
		}
		dense := load(base + "_dense.npz")
		for i := range want.Block.Len() {
			idx, val := want.Block.Sparse(i)
			row := make([]float64, dense.Block.Dim)
			for k, j := range idx {
				row[j] = val[k]
			}
			if !slices.Equal(dense.Block.Row(i), row) || dense.Block.Y[i] != want.Block.Y[i] {
				t.Errorf("%s: dense row %d differs", base, i)
			}
		}
	}
}

// FuzzNPZ never panics, and takes no more memory than a few times what is there.
func FuzzNPZ(f *testing.F) {
	for _, name := range []string{"stored.npz", "deflated.npz", "images.npz", "csc.npz", "plain.npz"} {
		text, err := os.ReadFile(filepath.Join("testdata", "npz", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(matrix(f)))
	f.Add([]byte(matrix(f, "indptr", npy(dict("<i4", "3,"), int32(0), int32(3), int32(2)))))
	f.Fuzz(func(t *testing.T, text []byte) {
		name := filepath.Join(t.TempDir(), "f.npz")
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Load[float32](context.Background(), []string{name}, Options{Format: "npz",
			Positive: "1", OnError: "skip", OnBad: func(error) {}, MaxLine: 1 << 20})
		if err != nil {
			if e := new(format.RowError); !errors.As(err, &e) {
				t.Error(err)
			}
			return
		}
		verify(t, &d.Block)
		if d.Info.Rows == 0 {
			t.Error("no rows and no error")
		}
	})
}

// FuzzMatrix puts any bytes into the parts of a matrix, each with the checksum that a zip has.
func FuzzMatrix(f *testing.F) {
	f.Add([]byte(npy(dict("<i4", "3,"), int32(0), int32(2), int32(3))),
		[]byte(npy(dict("<i4", "3,"), int32(0), int32(2), int32(1))),
		[]byte(npy(dict("<f8", "3,"), 1.5, -2.0, 3.0)),
		[]byte(npy(dict("<i8", "2,"), int64(2), int64(3))))
	f.Add([]byte(npy(dict("<u8", "2,"), int64(0), int64(-1))),
		[]byte(npy(dict("|u1", "1,"), byte(200))), []byte(npy(dict("<f4", "0,"))),
		[]byte(npy(dict("<i4", "2,"), int32(1), int32(1<<30))))
	f.Fuzz(func(t *testing.T, ptr, idx, data, shape []byte) {
		name := filepath.Join(t.TempDir(), "f.npz")
		text := matrix(t, "indptr", string(ptr), "indices", string(idx), "data", string(data),
			"shape", string(shape))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Load[float64](context.Background(), []string{name}, Options{Positive: "1",
			OnError: "skip", MaxLine: 1 << 20})
		if err == nil {
			verify(t, &d.Block)
		}
	})
}
