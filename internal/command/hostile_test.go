package command

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostileInputs: for each reader what is broken ends with the exit code of its kind, is said in
// one error with its place, and leaves nothing behind. What else a reader refuses is in the table
// beside it, in dataset, exchange and model.
func TestHostileInputs(t *testing.T) {
	const svm, csv, vw = "+1 1:1\n-1 2:1\n", "a,t,y\n1,u,no\n2,v,yes\n", "1 |a x\n-1 |a y\n"
	const json = `{"y":1,"a":2}` + "\n" + `{"y":0,"a":3}` + "\n"
	npyOf := func(shape, rows string) string {
		dict := "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }\n"
		return "\x93NUMPY\x01\x00" + string([]byte{byte(len(dict)), 0}) + dict + rows
	}
	images := "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x02abcd"
	labels := "\x00\x00\x08\x01\x00\x00\x00\x02\x00\x01"
	sequences := "> label=1\n" + strings.Repeat("A", 60) + "\n> label=-1\n" + strings.Repeat("C", 60)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, strings.Repeat(svm, 100))
	z.Close()
	gz := packed.String()
	train := []string{"train", "-q", "-a", "pa", "-m", "m", "f"}
	after := func(args ...string) []string { return append(train[:len(train):len(train)], args...) }
	measure := []string{"evaluate", "f"}
	linear := "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias -1\nw\n0.5 \n"
	vectors := "svm_type c_svc\nkernel_type rbf\ngamma 1\nnr_class 2\ntotal_sv 2\nrho 0\n" +
		"label 1 -1\nnr_sv 1 1\nSV\n1 1:1 \n-1 1:3 \n"
	imported := func(from string) []string { return []string{"import", "--from", from, "-o", "m", "f"} }
	for _, c := range []struct {
		name, f, g string // contents of the files f and g; "": no g
		args       []string
		code       int
		want       string // in the error
	}{
		{"svmlight", svm + "+1 3:1 1:1\n", "", train, 3, "f:3:8: index 1 after 3"},
		{"svmlight, a huge index", svm + "+1 2147483647:1\n", "", train, 3, "f:3:4: index"},
		{"svmlight, infinite", svm + "+1 1:inf\n", "", train, 3, "f:3:6: expected a finite"},
		{"svmlight, a byte 0", svm + "+1 1:\x00\n", "", train, 3, "f:byte 19: expected text"},
		{"svmlight, of comments", "# a\n\n", "", train, 3, "f:1:1: expected examples, found only"},
		{"svmlight, a long line", svm + "+1" + strings.Repeat(" ", 100), "",
			after("--max-line", "64B"), 3, "f:3:1: the line is longer"},
		{"svmlight, beyond the classes", svm + "7 1:1\n", "", after("--classes", "+1,-1"), 3,
			"f:3:1: expected a label of the classes"},
		{"csv, ragged", csv + "3,u\n", "", train, 3, "f:4:4: expected 3 columns"},
		{"csv, an open quote", csv + "3,\"u,no\n", "", train, 3, "f:4:3: quote is not closed"},
		{"csv, not UTF-8", csv + "3,\xe9,no\n", "", train, 3, `f:4:3: the name "t=\xe9"`},
		{"csv, a weight below 0", csv + "-3,u,no\n", "", after("--weight-col", "a"), 3,
			"f:4:1: expected a weight"},
		{"csv, no label", csv + "3,u,\n", "", train, 3, "f:4:5: the label is missing"},
		{"csv, an id too long", csv + strings.Repeat("i", 2000) + ",u,no\n", "",
			after("--id-col", "a"), 3, "f:4:1: expected an id of at most 1024 bytes"},
		{"vw, a weight below 0", vw + "1 -2 |a x\n", "", train, 3, "f:3:3: expected a weight"},
		{"vw, not a number", vw + "1 |a x:nan\n", "", train, 3, "f:3:8: expected a finite"},
		{"ndjson, deep", json + `{"y":1,"a":` + strings.Repeat("[", 1000) + "\n", "", train, 3,
			"f:3:75: deeper than 64"},
		{"ndjson, a key twice", json + `{"y":1,"a":1,"a":2}` + "\n", "", train, 3, "comes twice"},
		{"npy, cut", npyOf("2, 2", "abc"), npyOf("2,", "\x00\x01"), after("g"), 3,
			"f:byte 73: expected example 2 of 2, but the file is truncated"},
		{"npy, a lie", npyOf("2000000000, 1000", "abc"), npyOf("2000000000,", "\x00\x01"),
			after("g"), 1, "g:byte 10: 2000000000 labels take more than the 512 MiB"},
		{"npy, trailing", npyOf("2, 2", "abcde"), npyOf("2,", "\x00\x01"), after("g"), 3,
			"found more"},
		{"npz, cut", "PK\x03\x04\x14\x00\x00\x00\x00\x00" + strings.Repeat("\x00", 16) +
			"\x05\x00\x00\x00X.npy", "", train, 3, "f:byte 35: expected a zip's directory"},
		{"idx, cut", images[:19], labels, after("g"), 3, "f:byte 19: expected image 2 of 2"},
		{"idx, a lie", images[:4] + "\x7f\xff\xff\xff" + images[8:], labels[:4] + "\x7f\xff\xff\xff",
			after("g"), 1, "g:byte 4: 2147483647 labels take more than the 512 MiB"},
		{"fasta, a letter", sequences[:30] + "?" + sequences[31:], "", train, 3, "found '?'"},
		{"fasta, cut", sequences[:100], "", train, 3, "f:3:1: expected a sequence of 60 letters"},
		{"hsb", "\x8dHSB\r\n\x1a\n\x01\x00\x00\x00", "", train, 3,
			"this is an hsb file, which is no longer read: convert the original examples to npz"},
		{"gzip, cut", gz[:len(gz)-9], "", train, 3, "the gzip data are truncated here"},
		{"gzip, another checksum", gz[:len(gz)-8] + "sums" + gz[len(gz)-4:], "", train, 3,
			"f:201:1: the gzip data are damaged here"},
		{"bzip2, damaged", "BZh91AY&SY" + strings.Repeat("\x00", 20), "", train, 3,
			"f:1:1: the bzip2 data are damaged"},
		{"xz, cut", "\xfd7zXZ\x00\x00", "", train, 3, "f:1:1: the xz data are truncated"},
		{"zstd, damaged", "\x28\xb5\x2f\xfdgarbage and more", "", train, 3, "f:1:1: the zstd data"},
		{"UTF-16", "\xff\xfe+\x001\x00", "", train, 3, "f:byte 0: this is text in UTF-16"},
		{"predictions, not a number", "1 0.5\n-1 nan\n", "", measure, 3, "f:2:4: expected a score"},
		{"predictions, above 1", "label,proba\n1,1.5\n", "", measure, 3, "f:2:3: expected a prob"},
		{"predictions, a weight below 0", "label,score,weight\n1,1,-1\n", "", measure, 3,
			"f:2:5: expected a weight"},
		{"predictions, ragged", "1 0.5\n-1 2 3\n", "", measure, 3, "f:2:6: expected 2 columns"},
		{"predictions, of nothing", "\n", "", measure, 3, "f:1:1: expected predictions, found bl"},
		{"predictions, only a header", "label,score\n", "", measure, 3, "found only a header"},
		{"predictions, a long line", "1 2\n1 " + strings.Repeat("3", 1<<20), "", measure, 3,
			"f:2:1: the line is longer than 1024 KiB"},
		{"predictions, packed", gz, "", measure, 3, "f:1:1: expected text that is not packed"},
		{"predictions, not UTF-8", "1 2\n\xe9 1\n", "", measure, 3, "f:2:1: the label"},
		{"predictions, no label", "label,score\n1,2\n,1\n", "", measure, 3, "f:3:1: the label is"},
		{"liblinear, cut", linear[:len(linear)-5], "", imported("liblinear"), 4, "f: line 7: the file"},
		{"liblinear, not a number", strings.Replace(linear, "0.5", "nan", 1), "",
			imported("liblinear"), 4, "f: line 7: expected a number"},
		{"liblinear, a lie", strings.Replace(linear, "feature 1", "feature 2000000000", 1), "",
			imported("liblinear"), 4, "f: line 8: the file ends"},
		{"libsvm, a lie", strings.Replace(vectors, "sv 2", "sv 2000000000", 1), "",
			imported("libsvm"), 4, "f: line 12: the file ends"},
		{"libsvm, unsorted", strings.Replace(vectors, "1:3", "3:1 1:3", 1), "", imported("libsvm"),
			4, "f: line 11: feature 1"},
		{"a model, empty", "", svm, []string{"predict", "-i", "f", "g"}, 4, "the file is empty"},
		{"a model, that is text", strings.Repeat(svm, 9), svm, []string{"predict", "-i", "f", "g"}, 4,
			"not a halfspace model"},
		{"a model, whose header lies", "\xff\xff\xff\x7f\x00\x00\x00\x00{}", svm,
			[]string{"predict", "-i", "f", "g"}, 4, "f: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for name, text := range map[string]string{"f": c.f, "g": c.g} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			root := rootFor(io.Discard, c.args)
			root.SetErr(io.Discard)
			root.SetArgs(c.args)
			err := root.ExecuteContext(t.Context())
			if code, next := explain(err); code != c.code || next == "" ||
				!strings.Contains(errorText(err), c.want) {
				t.Errorf("exit code %d, want %d: %v, want %s\n%s", code, c.code, err, c.want, next)
			}
			if left, _ := filepath.Glob("*"); len(left) != 2 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
