package realdata

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Row is an example whose features are 1 or not there, as those of Adult: a label, 1 or -1, and the
// numbers of the features, from 1 and ascending.
type Row struct {
	Label    string
	Features []int
}

// Rows reads the rows of such a data file, svmlight packed by gzip.
func Rows(t testing.TB, name string) (rows []Row) {
	t.Helper()
	for s := bufio.NewScanner(bytes.NewReader(Text(t, name))); s.Scan(); {
		words := strings.Fields(s.Text())
		row := Row{Label: strings.TrimPrefix(words[0], "+")}
		for _, word := range words[1:] {
			number, one := strings.CutSuffix(word, ":1")
			j, err := strconv.Atoi(number)
			if err != nil || !one {
				t.Fatalf("%s: %q is no feature of value 1", name, word)
			}
			row.Features = append(row.Features, j)
		}
		rows = append(rows, row)
	}
	return rows
}

// A9aModel is the SHA-256 of the model that train -a obpm, with all else left out, makes of the
// rows of a9a with labels 1 and -1, in whatever form they come: files of any format, streams of a
// broker, record batches. A change of what is learned, or of the model file, changes it.
const A9aModel = "66c48d7d828088460b7dc8347d8a626d" +
	"638fff1a657d659ce594c407a5d9a2ab"

// Forms writes rows of so many features in a folder of its own, once in each format that is written
// by hand, and returns the files by "svmlight", "vw", "ndjson" (an object of numbers), "arrays"
// (ndjson, an array each), "csv" (without a header, the label last) and "npy" (the labels stand
// beside). The same numbers are in all of them.
func Forms(t testing.TB, rows []Row, features int) map[string]string {
	t.Helper()
	text := map[string]*bytes.Buffer{}
	for _, form := range []string{"svmlight", "vw", "ndjson", "arrays", "csv"} {
		text[form] = &bytes.Buffer{}
	}
	x := array("|u1", fmt.Sprintf("(%d, %d)", len(rows), features))
	y := array("|i1", fmt.Sprintf("(%d,)", len(rows)))
	one := make([]byte, features)
	for _, r := range rows {
		clear(one)
		var pairs, names, keys []string
		for _, j := range r.Features {
			one[j-1] = 1
			pairs = append(pairs, fmt.Sprintf(" %d:1", j))
			names = append(names, fmt.Sprintf(" %d", j))
			keys = append(keys, fmt.Sprintf(`"%d":1`, j))
		}
		values := make([]string, features)
		for j, v := range one {
			values[j] = string('0' + v)
		}
		all := strings.Join(values, ",")
		fmt.Fprintf(text["svmlight"], "%s%s\n", r.Label, strings.Join(pairs, ""))
		fmt.Fprintf(text["vw"], "%s |%s\n", r.Label, strings.Join(names, ""))
		fmt.Fprintf(text["ndjson"], `{"y":%s,"x":{%s}}`+"\n", r.Label, strings.Join(keys, ","))
		fmt.Fprintf(text["arrays"], `{"y":%s,"x":[%s]}`+"\n", r.Label, all)
		fmt.Fprintf(text["csv"], "%s,%s\n", all, r.Label)
		label, err := strconv.ParseInt(r.Label, 10, 8)
		if err != nil {
			t.Fatal(err)
		}
		x, y = append(x, one...), append(y, byte(label))
	}
	dir, files := t.TempDir(), map[string]string{}
	write := func(form, name string, data []byte) {
		files[form] = filepath.Join(dir, name)
		if err := os.WriteFile(files[form], data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for form, b := range text {
		write(form, "rows."+form, b.Bytes())
	}
	write("npy", "y.npy", y)
	write("npy", "X.npy", x)
	return files
}

// array is the header of a NumPy file.
func array(kind, shape string) []byte {
	h := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape)
	h += strings.Repeat(" ", 63-(10+len(h))%64) + "\n"
	return append([]byte("\x93NUMPY\x01\x00"+string([]byte{byte(len(h)), byte(len(h) >> 8)})), h...)
}
