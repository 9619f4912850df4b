package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func load(text string, o Options) (*Data[float64], error) {
	return LoadReader[float64](context.Background(), "in", strings.NewReader(text), o)
}

// dump writes a block as text, one row a line, and so compares labels, indices and values at once.
func dump[T engine.Float](b *engine.Block[T]) string {
	var s strings.Builder
	for i, y := range b.Y {
		fmt.Fprintf(&s, "%+g", float64(y))
		if b.Dense() {
			for _, v := range b.Row(i) {
				fmt.Fprintf(&s, " %v", v)
			}
		} else {
			idx, val := b.Sparse(i)
			for k := range idx {
				fmt.Fprintf(&s, " %d:%v", idx[k], val[k])
			}
		}
		s.WriteString("|")
	}
	return s.String()
}

func zero() *int { return new(int) }

func TestRules(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		o          Options
		want       string
	}{
		{"plain", "+1 1:0.5 3:2\n-1 2:1\n", Options{}, "+1 0:0.5 2:2|-1 1:1|"},
		{"spellings of labels", "1.0 1:1\n-1.0 1:2\n+1 1:3\n-1 1:4\n1e+00 1:5\n", Options{},
			"+1 0:1|-1 0:2|+1 0:3|-1 0:4|+1 0:5|"},
		{"0 and 1", "0 1:1\n1 1:2\n-0 1:3\n", Options{}, "-1 0:1|+1 0:2|-1 0:3|"},
		{"the larger label is +1, whichever comes first", "7 1:1\n3 1:1\n", Options{},
			"+1 0:1|-1 0:1|"},
		{"the smaller first", "3 1:1\n7 1:1\n", Options{}, "-1 0:1|+1 0:1|"},
		{"numbers compare as numbers", "10 1:1\n9 1:1\n", Options{}, "+1 0:1|-1 0:1|"},
		{"one label +1", "+1 1:1\n1 1:2\n", Options{}, "+1 0:1|+1 0:2|"},
		{"one label -1", "-1 1:1\n", Options{}, "-1 0:1|"},
		{"one label 0", "0 1:1\n", Options{}, "-1 0:1|"},
		{"positive", "3 1:1\n1 1:2\n2 1:3\n2.0 1:4\n", Options{Positive: "2"},
			"-1 0:1|-1 0:2|+1 0:3|+1 0:4|"},
		{"labels of a model", "4 1:1\n2 1:1\n", Options{Labels: &LabelMap{"4", "2.0"}},
			"-1 0:1|+1 0:1|"},
		{"labels of a model, one against the rest", "4 1:1\n2 1:1\n3 1:1\n",
			Options{Labels: &LabelMap{"", "2"}}, "-1 0:1|+1 0:1|-1 0:1|"},
		{"comments, blank lines, blanks, tabs, CRLF", "# head\n\n  \t\r\n+1 1:1 \t 2:2  \r\n # " +
			"more\n\t-1 1:3 # 7:7\r\n-1 #x\n", Options{}, "+1 0:1 1:2|-1 0:3|-1|"},
		{"no line end", "+1 1:1\n-1 2:2", Options{}, "+1 0:1|-1 1:2|"},
		{"byte order mark", "\ufeff+1 1:1\n-1 2:2", Options{}, "+1 0:1|-1 1:2|"},
		{"qid", "1 qid:3 1:1\n0 qid:44 2:1\n", Options{}, "+1 0:1|-1 1:1|"},
		{"rows without features", "+1\n-1 \n", Options{}, "+1|-1|"},
		{"explicit zeros stay", "+1 1:0 3:0.0\n-1 1:-0\n", Options{}, "+1 0:0 2:0|-1 0:-0|"},
		{"base 0 found late", "+1 1:1\n-1 0:2 5:1\n", Options{}, "+1 1:1|-1 0:2 5:1|"},
		{"base 0 found, bias", "+1 1:1\n-1 0:2 5:1\n", Options{Bias: "append"},
			"+1 0:1 2:1|-1 0:1 1:2 6:1|"},
		{"base 0 given", "+1 1:1\n-1 2:2\n", Options{IndexBase: "0"}, "+1 1:1|-1 2:2|"},
		{"base of training", "+1 1:1\n-1 2:2\n", Options{Base: zero()}, "+1 1:1|-1 2:2|"},
		{"an index 0 in a bad row does not count", "+1 0:1 x\n+1 1:1\n-1 2:1\n",
			Options{OnError: "skip"}, "+1 0:1|-1 1:1|"},
		{"leading zeros of an index", "+1 0000000000000000000000007:1\n-1\n", Options{},
			"+1 6:1|-1|"},
		{"largest index", "+1 2147483646:1\n-1\n", Options{}, "+1 2147483645:1|-1|"},
		{"numbers", "+1 1:1. 2:.5 3:1e3 4:-1E-2 5:+2 6:123456789.125 " +
			"7:0.1000000000000000055511151231257827 8:4e-320\n-1\n", Options{},
			"+1 0:1 1:0.5 2:1000 3:-0.01 4:2 5:1.23456789125e+08 6:0.1 7:4e-320|-1|"},
		{"bias", "+1 1:3\n-1\n", Options{Bias: "append"}, "+1 0:1 1:3|-1 0:1|"},
		{"unit", "+1 1:3 2:4\n-1\n-1 5:0\n", Options{Normalize: "unit"}, "+1 0:0.6 " +
			"1:0.8|-1|-1 4:0|"},
		{"bias before unit", "+1 1:2 2:2\n-1\n", Options{Bias: "append", Normalize: "unit"},
			fmt.Sprintf("+1 0:%v 1:%v 2:%v|-1 0:1|", 1.0/3, 2.0/3, 2.0/3)},
		{"unit of huge and tiny", "+1 1:3e200 2:4e200\n-1 1:3e-200 2:4e-200\n",
			Options{Normalize: "unit"}, "+1 0:0.6 1:0.8|-1 0:0.6 1:0.8|"},
		{"max", "+1 1:3 2:4\n-1 1:1\n", Options{Normalize: "max"}, "+1 0:0.6 1:0.8|-1 0:0.2|"},
		{"max, dense", "3,4,1\n1,0,0\n", Options{Normalize: "max"}, "+1 0.6 0.8|-1 0.2 0|"},
		{"max of training", "+1 1:3 2:4\n-1 1:1\n", Options{Normalize: "max", Scale: 2},
			"+1 0:1.5 1:2|-1 0:0.5|"},
		{"skip", "+1 1:1\nx\n-1 1:1 1:2\n-1 1:5\n", Options{OnError: "skip"}, "+1 0:1|-1 0:5|"},
		{"skip a third label that stands in bad rows only", "+1 1:1\n5 1:x\n-1 1:5\n",
			Options{OnError: "skip"}, "+1 0:1|-1 0:5|"},
		{"limit", "+1 1:1\nx\ny\n-1 1:5\n", Options{OnError: "limit=2"}, "+1 0:1|-1 0:5|"},
		{"unlabelled", "1:1 2:2\n0 1:3\n+1 1:4\n-1\n", Options{Labels: &LabelMap{"-1", "+1"},
			LabelsOptional: true}, "+1 0:1 1:2|+0 0:3|+1 0:4|-1|"},
		{"labels of neither class", "3 1:1\n+1 1:2\n-1 1:3\n1 1:4\n", Options{
			Labels: &LabelMap{"-1", "+1"}, AnyClasses: true}, "+0 0:1|+1 0:2|-1 0:3|+1 0:4|"},

		{"labels that are words", "ham 1:1\nspam 1:2\nham\n", Options{}, "-1 0:1|+1 0:2|-1|"},
		{"words of any script and length", "яблоко 1:1\naprès-l'éclair_of-1999 1:2\n", Options{},
			"+1 0:1|-1 0:2|"},
		{"words that a model knows", "1 1:1\nspam 1:2\n",
			Options{Labels: &LabelMap{"1", "spam"}}, "-1 0:1|+1 0:2|"},
		{"a number among words", "spam 1:1\n7 1:2\n", Options{}, "+1 0:1|-1 0:2|"},
		{"a question mark is no label", "? 1:1\nham 1:2\n", Options{LabelsOptional: true,
			Labels: &LabelMap{"ham", "spam"}}, "+1 0:1|-1 0:2|"},

		{"csv", "1,2.5,1\n-3,4,0\n", Options{}, "+1 1 2.5|-1 -3 4|"},
		{"csv, text labels", "1,b\n2,a\n", Options{}, "+1 1|-1 2|"},
		{"csv, header", "x,class,z\n1,2,3\n4,5,6\n", Options{}, "-1 1 3|+1 4 6|"},
		{"csv, header of last column", "x,y2,z\n1,2,3\n4,5,6\n", Options{}, "-1 1 2|+1 4 5|"},
		{"csv, numbers in the header", "0,1,label\n1,2,3\n4,5,6\n", Options{}, "-1 1 2|+1 4 5|"},
		{"csv, text only is no header", "a,x\nb,y\n", Options{HeaderRow: "no", LabelCol: "1"},
			"-1 0:1|+1 1:1|"},
		{"csv, label by name", "x,kind\n1,2\n4,5\n", Options{LabelCol: "x"}, "-1 2|+1 5|"},
		{"csv, label by number", "1,2,3\n4,5,6\n", Options{LabelCol: "1"}, "-1 2 3|+1 5 6|"},
		{"csv, label from the end", "1,2,3\n4,5,6\n", Options{LabelCol: "-2"}, "-1 1 3|+1 4 6|"},
		{"csv, semicolons", "1;2;3\n4;5;6\n", Options{}, "-1 1 2|+1 4 5|"},
		{"csv, tabs", "1\t2\t3\n4\t5\t6\n", Options{}, "-1 1 2|+1 4 5|"},
		{"csv, blanks", " 1  2 \t3 \n4 5 6\n", Options{}, "-1 1 2|+1 4 5|"},
		{"csv, blanks around commas, CRLF, comments", "# c\r\n 1 , 2,3 \r\n\r\n4 ,5 , 6\r\n",
			Options{}, "-1 1 2|+1 4 5|"},
		{"csv, quotes", "\"x, 1\",y\n\"1.5\",\"a \"\"b\"\"\"\n2,\"c\"\n", Options{},
			"-1 1.5|+1 2|"},
		{"csv, labels 1 and 1.0", "1,1\n2,1.0\n3,0\n4,\"+1\"\n", Options{}, "+1 1|+1 2|-1 3|+1 4|"},
		{"csv, bias", "1,2,0\n3,4,1\n", Options{Bias: "append"}, "-1 1 1 2|+1 1 3 4|"},
		{"csv, unit", "3,4,0\n0,0,1\n", Options{Normalize: "unit"}, "-1 0.6 0.8|+1 0 0|"},
		{"csv, skip", "1,2,0\n1,?,0\n1,2\n1,2,3,4\n3,4,1\n", Options{OnError: "skip"},
			"-1 1 2|+1 3 4|"},
		{"csv, no label column", "1,2\n3,4\n", Options{Labels: &LabelMap{"a", "b"},
			LabelsOptional: true, Columns: 3}, "+1 1 2|+1 3 4|"},
		{"csv, labels missing", "1,a\n2,?\n3,\n4,c\n", Options{Labels: &LabelMap{"a", "b"},
			LabelsOptional: true}, "-1 1|+1 2|+1 3|+0 4|"},
		{"csv, header of training", "q,p,t\n5,6,1\n", Options{Header: []string{"q", "p", "t"},
			LabelCol: "q", Labels: &LabelMap{"4", "5"}}, "+1 6 1|"},
		{"csv, names of training without a header", "5,6,1\n", Options{Header: []string{"q", "p",
			"t"}, LabelCol: "q", Labels: &LabelMap{"4", "5"}}, "+1 6 1|"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := load(tc.text, tc.o)
			got := "error"
			if err == nil {
				got = dump(&d.Block)
				if d.Info.Foreign == 0 {
					verify(t, &d.Block)
				}
				d.Info.check(t, d)
			}
			if got != tc.want {
				t.Errorf("got  %s (%v)\nwant %s", got, err, tc.want)
			}
		})
	}
}

// check compares the counts with the data.
func (in Info) check(t *testing.T, d *Data[float64]) {
	t.Helper()
	some := 0
	for _, y := range d.Block.Y {
		if y >= 0 {
			some++
		}
	}
	if in.Rows != d.Block.Len() || in.Positives+in.Unlabelled != some ||
		in.Dim != d.Block.Dim {
		t.Errorf("Info %+v does not fit the data", in)
	}
}

func TestInfo(t *testing.T) {
	d, err := load("# c\n2 1:3 4:4\nx\n1 1:1\n", Options{OnError: "skip", Bias: "append"})
	if err != nil {
		t.Fatal(err)
	}
	want := Info{Format: "svmlight", Kind: "svmlight", IndexBase: 1, BaseFound: "no index 0 in the data",
		Labels: LabelMap{"1", "2"}, Seen: []string{"2", "1"},
		Rows: 2, BadRows: 1, Positives: 1, Dim: 5, NonZeros: 5, Bytes: 22, InputRead: 22,
		MaxNorm: math.Sqrt(26), Scale: 1}
	if diff := cmp.Diff(want, d.Info); diff != "" {
		t.Error(diff)
	}
	d, err = load("a,b,y\n3,4,no\n5,6,yes\n0,0,no\n", Options{Normalize: "max"})
	if err != nil {
		t.Fatal(err)
	}
	want = Info{Format: "csv", Kind: "csv", IndexBase: 1, BaseFound: "columns count from 1",
		Labels: LabelMap{"no", "yes"}, Seen: []string{"no", "yes"},
		Rows: 3, Positives: 1, Dim: 2, NonZeros: 6, Bytes: 28, InputRead: 28,
		MaxNorm: math.Sqrt(61), Scale: math.Sqrt(61),
		Columns: 3, LabelCol: 3, Header: []string{"a", "b", "y"},
		Decided: &format.Decided{Delimiter: ",", Header: true, Label: "y", Texts: []string{},
			Ignored: []string{}, Missing: []string{}}}
	if diff := cmp.Diff(want, d.Info); diff != "" {
		t.Error(diff)
	}
}

func gz(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// idx makes an idx file of bytes.
func idx(magic uint32, dims []uint32, data ...byte) string {
	b := binary.BigEndian.AppendUint32(nil, magic)
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return string(append(b, data...))
}

var (
	images2 = idx(0x803, []uint32{2, 1, 2}, 1, 2, 3, 4)
	labels2 = idx(0x801, []uint32{2}, 7, 5)
)

func TestBroken(t *testing.T) {
	longGood := strings.Repeat("+1 1:1 2:2 3:3 4:0.123456 5:5\n-1 1:2\n", 20000)
	packed := gz([]byte(longGood))
	for _, tc := range []struct {
		name  string
		files []string // contents; NAME= before it names the file
		o     Options
		want  string // with FILE for the first file's path, DIR/ for the folder
		is    error
		good  int64 // rows before the error
	}{
		{"missing file", nil, Options{}, "stat FILE: no such file or directory", fs.ErrNotExist, 0},
		{"empty", []string{""}, Options{}, "FILE:1:1: expected examples, found an empty file",
			ErrEmpty, 0},
		{"comments only", []string{"# a\n\n#b"}, Options{}, "FILE:1:1: expected examples, found " +
			"only blank lines and comments", ErrEmpty, 0},
		{"second file empty", []string{"+1 1:1\n-1 1:1\n", ""}, Options{}, "DIR/1:1:1: expected " +
			"examples, found an empty file", ErrEmpty, 2},
		{"all rows bad", []string{"x: 1:1\ny: 1:1\n"}, Options{OnError: "skip"},
			"FILE:2:1: expected examples, all 2 rows are bad", ErrEmpty, 0},
		{"gz garbage", []string{"\x1f\x8bgarbage and more of it"}, Options{},
			"FILE:1:1: the gzip data are damaged here (gzip: invalid header)", ErrFormat, 0},
		{"gz with another checksum", []string{flip(packed)}, Options{}, "FILE:40001:1: the gzip " +
			"data are damaged here (gzip: invalid checksum)", ErrFormat, 40000},
		{"bz2 garbage", []string{"BZh91AY&SY" + strings.Repeat("\x00", 200)}, Options{},
			"FILE:1:1: the bzip2 data are damaged here (bzip2 data invalid: no symbols in input)",
			ErrFormat, 0},
		{"zstd garbage", []string{"\x28\xb5\x2f\xfdgarbage and more of it"}, Options{}, "",
			ErrFormat, 0},
		{"gz of nothing", []string{string(gz(nil))}, Options{}, "FILE:1:1: expected examples, " +
			"found an empty file", ErrEmpty, 0},
		{"Parquet", []string{"PAR1\x15\x00"}, Options{}, "FILE:byte 0: this is a Parquet file: the " +
			"command halfspace-arrow reads it (ext/arrow); or write it as csv", ErrFormat, 0},
		{"Arrow file", []string{"ARROW1\x00\x00"}, Options{}, "FILE:byte 0: this is an Arrow file: " +
			"the command halfspace-arrow reads it (ext/arrow); or write it as csv", ErrFormat, 0},
		{"Arrow stream", []string{"\xff\xff\xff\xff\x78\x00\x00\x00"}, Options{}, "FILE:byte 0: " +
			"this is an Arrow stream: the command halfspace-arrow reads it (ext/arrow); or write it " +
			"as csv", ErrFormat, 0},
		{"packed twice", []string{string(gz(gz([]byte(longGood))))}, Options{}, "FILE:byte 0: this " +
			"is packed twice, by gzip too: unpack it once", ErrFormat, 0},
		{"other bytes behind gz", []string{string(gz([]byte("+1 1:1\n-1 1:2\n"))) + "else"},
			Options{}, "FILE:3:1: the gzip data are damaged here (gzip: invalid header)", ErrFormat, 2},
		{"tar", []string{"a" + strings.Repeat("\x00", 256) + "ustar\x0000"}, Options{}, "FILE:byte " +
			"0: this is a tar archive: unpack it first, as with tar -xf", ErrFormat, 0},
		{"UTF-16", []string{"\xff\xfe+\x001\x00"}, Options{}, "FILE:byte 0: this is text in " +
			"UTF-16: convert it, as with iconv -f UTF-16 -t UTF-8", ErrFormat, 0},
		{"a model", []string{"\x02\x01\x00\x00\x00\x00\x00\x00" + `{"__metadata__":{}}`},
			Options{}, "FILE:byte 0: this is a model, or another file of tensors: name a file of " +
				"examples", ErrFormat, 0},
		{"a pickle", []string{"\x80\x04\x95"}, Options{}, "FILE:byte 0: this is a pickle of " +
			"Python: save arrays by numpy.save, tables as csv", ErrFormat, 0},
		{"a page", []string{"<!DOCTYPE html>\n"}, Options{}, "FILE:byte 0: this is a page of HTML " +
			"or XML: check where it was got from", ErrFormat, 0},
		{"ARFF", []string{"@RELATION x\n@data\n1,2\n"}, Options{}, "FILE:1:1: this is an ARFF " +
			`file of Weka: write it as csv in "@RELATION x"`, ErrFormat, 0},
		{"zip", []string{"PK\x03\x04abc"}, Options{}, "FILE:byte 0: this is a zip archive: " +
			"unpack it first", ErrFormat, 0},
		{"binary", []string{"+1 1:1\n\x00\x01\x02"}, Options{}, "FILE:byte 7: expected text " +
			"(svmlight, csv, ndjson, vw or fasta) or an npy, npz or idx file, found the byte 0x00", ErrFormat, 0},
		{"binary as svmlight", []string{"\x00\x01\n\xff"}, Options{Format: "svmlight"},
			`FILE:1:1: expected a label (a number), found "" in "\x00\x01"`, ErrBadRow, 0},
		{"bad label", []string{"+1 1:1\n\n  yes 1:1\n"}, Options{},
			`FILE:3:3: expected a label (a number), found "yes" in "  yes 1:1"`, ErrBadRow, 1},
		{"label nan", []string{"nan 1:1\n"}, Options{},
			`FILE:1:1: expected a label (a number), found "nan" in "nan 1:1"`, ErrBadRow, 0},
		{"labels that are words but alone", []string{"spam\nham\n"}, Options{Format: "svmlight"},
			`FILE:1:1: expected a label (a number), found "spam" in "spam"`, ErrBadRow, 0},
		{"label no word among words", []string{"spam 1:1\n*ham 1:1\n"}, Options{},
			`FILE:2:1: expected a label (a number or a word), found "*ham" in "*ham 1:1"`,
			ErrBadRow, 1},
		{"third word", []string{"spam 1:1\nham 1:1\neggs 1:1\n"}, Options{},
			`FILE:3:1: a third label, "eggs", after "spam" and "ham": choose the one to tell from all others by Options.Positive in "eggs 1:1"`, ErrLabels, 2},
		{"label missing", []string{"+1 1:1\n1:1 2:2\n"}, Options{},
			`FILE:2:1: expected a label (a number), found "1:1" in "1:1 2:2"`, ErrBadRow, 1},
		{"label too large", []string{"1e999 1:1\n"}, Options{},
			`FILE:1:1: label 1e999 is too large in "1e999 1:1"`, ErrBadRow, 0},
		{"third label", []string{"1 1:1\n2 1:1\n1 1:1\n3 1:1\n"}, Options{},
			`FILE:4:1: a third label, "3", after "1" and "2": choose the one to tell from all others by Options.Positive in "3 1:1"`, ErrLabels, 3},
		{"third label, skip", []string{"1 1:1\n2 1:1\nx\n3 1:1\n"}, Options{OnError: "skip"},
			`FILE:4:1: a third label, "3", after "1" and "2": choose the one to tell from all others by Options.Positive in "3 1:1"`, ErrLabels, 2},
		{"label not of training", []string{"1 1:1\n2 1:1\n5 1:1\n"}, Options{Labels: &LabelMap{"1",
			"2"}},
			`FILE:3:1: expected a label of training ("1" or "2"), found "5" in "5 1:1"`, ErrLabels,
			2},
		{"one label", []string{"2 1:1\n2.0 1:1\n"}, Options{},
			`FILE:2:1: all rows have the label "2": say by Options.Positive which label is +1`,
			ErrLabels, 2},
		{"positive not met", []string{"1 1:1\n2 1:1\n"}, Options{Positive: "3"},
			`FILE:2:1: no row has the label "3" of Options.Positive; the labels are "1" and "2"`,
			ErrLabels, 2},
		{"NaN", []string{"+1 1:1\n-1 7:NaN\n"}, Options{},
			`FILE:2:6: expected a finite number after "7:", found "NaN" in "-1 7:NaN"`, ErrBadRow,
			1},
		{"Inf", []string{"+1 1:1\n-1 7:-inf\n"}, Options{},
			`FILE:2:6: expected a finite number after "7:", found "-inf" in "-1 7:-inf"`, ErrBadRow,
			1},
		{"too large a number", []string{"-1 7:1e400\n"}, Options{},
			`FILE:1:6: 1e400 is too large for a float64 in "-1 7:1e400"`, ErrBadRow, 0},
		{"not a number", []string{"+1 3:0.5 7:abc 9:1\n"}, Options{},
			`FILE:1:12: expected a number after "7:", found "abc" in "+1 3:0.5 7:abc 9:1"`,
			ErrBadRow, 0},
		{"infinity of Microsoft's", []string{"+1 1:1.#INF 2:5 3:7\n"}, Options{},
			`FILE:1:6: expected a finite number after "1:", found "1.#INF" in "+1 1:1.#INF 2:5 3:7"`, ErrBadRow, 0},
		{"NaN of Microsoft's", []string{"+1 1:1\n-1 1:-1.#QNAN\n"}, Options{},
			`FILE:2:6: expected a finite number after "1:", found "-1.#QNAN" in "-1 1:-1.#QNAN"`,
			ErrBadRow, 1},
		{"another NaN of Microsoft's", []string{"+1 1:1.#IND000 2:5\n"}, Options{},
			`FILE:1:6: expected a finite number after "1:", found "1.#IND000" in "+1 1:1.#IND000 2:5"`, ErrBadRow, 0},
		{"comment right behind a value", []string{"+1 1:2#x\n"}, Options{},
			`FILE:1:6: expected a number after "1:", found "2#x" in "+1 1:2#x"`, ErrBadRow, 0},
		{"comment right behind a label", []string{"+1 1:2\n1.#INF 1:2\n"}, Options{},
			`FILE:2:1: expected a label (a number), found "1.#INF" in "1.#INF 1:2"`, ErrBadRow, 1},
		{"comment right behind a colon", []string{"+1 1:#x\n"}, Options{},
			`FILE:1:6: expected a number after "1:", found "#x" in "+1 1:#x"`, ErrBadRow, 0},
		{"old Mac's line ends", []string{"+1 1:1\r-1 2:1\r"}, Options{},
			`FILE:1:7: found a carriage return (\r) inside the line: lines end in \n or \r\n; make others \n, as tr '\r' '\n' does in "+1 1:1\r-1 2:1"`, ErrFormat, 0},
		{"old Mac's line ends, named format", []string{"+1 1:1\r-1 2:1\r"},
			Options{Format: "svmlight"},
			`FILE:1:7: found a carriage return (\r) inside the line: lines end in \n or \r\n; make others \n, as tr '\r' '\n' does in "+1 1:1\r-1 2:1"`, ErrBadRow, 0},
		{"old Mac's line ends, csv", []string{"1,2\r3,4\r"}, Options{},
			`FILE:1:4: found a carriage return (\r) inside the line: lines end in \n or \r\n; make others \n, as tr '\r' '\n' does in "1,2\r3,4"`, ErrFormat, 0},
		{"array of JSON", []string{"\n[{\"y\": 1, \"x\": [1, 2]}]\n"}, Options{},
			`FILE:2:1: this is an array of JSON: write an object a line, as jq -c '.[]' does in "[{\"y\": 1, \"x\": [1, 2]}]"`,
			ErrFormat, 0},
		{"half a number", []string{"+1 3:0.5x\n"}, Options{},
			`FILE:1:6: expected a number after "3:", found "0.5x" in "+1 3:0.5x"`, ErrBadRow, 0},
		{"hexadecimal", []string{"+1 3:0x1p-2\n"}, Options{},
			`FILE:1:6: expected a number after "3:", found "0x1p-2" in "+1 3:0x1p-2"`, ErrBadRow,
			0},
		{"missing value", []string{"+1 3: 7:1\n"}, Options{},
			`FILE:1:6: expected a value after "3:" in "+1 3: 7:1"`, ErrBadRow, 0},
		{"missing value at the end", []string{"+1 3:"}, Options{},
			`FILE:1:6: expected a value after "3:" in "+1 3:"`, ErrBadRow, 0},
		{"missing colon", []string{"+1 1:1 2\n"}, Options{},
			`FILE:1:9: expected ":" and a value after "2" in "+1 1:1 2"`, ErrBadRow, 0},
		{"not a pair", []string{"+1 1:1 x:2\n"}, Options{},
			`FILE:1:8: expected INDEX:VALUE, found "x:2" in "+1 1:1 x:2"`, ErrBadRow, 0},
		{"negative index", []string{"+1 -1:1\n"}, Options{},
			`FILE:1:4: expected INDEX:VALUE, found "-1:1" in "+1 -1:1"`, ErrBadRow, 0},
		{"index 0 with base 1", []string{"+1 1:1\n-1 0:1 2:2\n"}, Options{IndexBase: "1"},
			`FILE:2:4: index 0, but indices count from 1 here: set Options.IndexBase to 0 if they count from 0 in "-1 0:1 2:2"`, ErrBadRow, 1},
		{"descending", []string{"+1 1:1\n-1 2:2\n+1 5:1 3:1\n"}, Options{},
			`FILE:3:8: index 3 after 5: indices must ascend in "+1 5:1 3:1"`, ErrBadRow, 2},
		{"twice", []string{"+1 5:1 5:1\n"}, Options{},
			`FILE:1:8: index 5 comes twice in the row in "+1 5:1 5:1"`, ErrBadRow, 0},
		{"huge index", []string{"+1 2147483647:1\n"}, Options{},
			`FILE:1:4: index 2147483647 is above 2147483646, the largest there may be in "+1 2147483647:1"`, ErrBadRow, 0},
		{"index beyond 64 bits", []string{"+1 18446744073709551617:1\n"}, Options{},
			`FILE:1:4: index 18446744073709551617 is above 2147483646, the largest there may be in "+1 18446744073709551617:1"`, ErrBadRow, 0},
		{"limit reached", []string{"+1 1:1\nx 1:1\ny 1:1\n"}, Options{OnError: "limit=1"},
			`FILE:3:1: expected a label (a number), found "y" in "y 1:1"`, ErrBadRow, 1},
		{"in the second file", []string{"+1 1:1\n-1 1:1\n", "+1 1:1\n+1 x:1\n"}, Options{},
			`DIR/1:2:4: expected INDEX:VALUE, found "x:1" in "+1 x:1"`, ErrBadRow, 3},
		{"another format in the second file", []string{"+1 1:1\n-1 1:1\n", "1,2\n"}, Options{},
			`DIR/1:1:1: expected svmlight as in DIR/0, found csv`, ErrFormat, 2},
		{"a long line", []string{"+1 1:1\n-1" + numbered(100) + " x " + strings.Repeat("y", 100) +
			"\n"}, Options{},
			`FILE:2:496: expected INDEX:VALUE, found "x" in "...5:1 96:1 97:1 98:1 99:1 100:1 x yyyyyyyyyyyyyyyyyyyyyyyyyyyy..."`, ErrBadRow, 1},

		{"csv third label", []string{"1,2,3\n1,2,4\n1,2,5\n"}, Options{},
			`FILE:3:5: labels are taken from column 3 (the last; Options.LabelCol names another): a third label, "5", after "3" and "4": choose the one to tell from all others by Options.Positive in "1,2,5"`, ErrLabels, 2},
		{"csv third label, named column", []string{"class,x\n1,2\n2,4\n3,5\n"}, Options{},
			`FILE:4:1: labels are taken from column 1 ("class"; Options.LabelCol names another): a third label, "3", after "1" and "2": choose the one to tell from all others by Options.Positive in "3,5"`, ErrLabels, 2},
		{"csv third label, chosen column", []string{"1,2,3\n1,2,4\n1,2,5\n"},
			Options{LabelCol: "3"},
			`FILE:3:5: a third label, "5", after "3" and "4": choose the one to tell from all others by Options.Positive in "1,2,5"`, ErrLabels, 2},
		{"csv ragged, few", []string{"1,2,3\n4,5\n"}, Options{},
			`FILE:2:4: expected 3 columns, found 2 in "4,5"`, ErrBadRow, 1},
		{"csv ragged, many", []string{"1,2,3\n4,5,6,7\n"}, Options{},
			`FILE:2:7: expected 3 columns, found more in "4,5,6,7"`, ErrBadRow, 1},
		{"csv missing value", []string{"1,2,3\n4,,6\n"}, Options{},
			`FILE:2:3: expected a number, the value is missing: say by Options.Missing ` +
				`what it stands for in "4,,6"`, ErrBadRow, 1},
		{"csv question mark", []string{"1,2,3\n?,5,6\n"}, Options{},
			`FILE:2:1: expected a number, the value is missing: say by Options.Missing ` +
				`what it stands for in "?,5,6"`, ErrBadRow, 1},
		{"csv missing label", []string{"1,2,3\n4,5, \n"}, Options{},
			`FILE:2:6: the label is missing in "4,5, "`, ErrBadRow, 1},
		{"csv NaN", []string{"1,2,3\nnan,5,6\n"}, Options{},
			`FILE:2:1: expected a finite number, found "nan" in "nan,5,6"`, ErrBadRow, 1},
		{"csv text", []string{"1,2,3\n4,five,6\n"}, Options{},
			`FILE:2:3: expected a number, found "five" (is it a column of texts? Say so ` +
				`by Options.TextCols) in "4,five,6"`, ErrBadRow, 1},
		{"csv text in the first row", []string{"1,two,3\n4,5,6\n"}, Options{},
			`FILE:1:3: expected a number, found "two" (is it a column of texts? Say so ` +
				`by Options.TextCols) in "1,two,3"`, ErrBadRow, 0},
		{"csv open quote", []string{"1,2,3\n4,\"5,6\n7,8,9\n"}, Options{},
			`FILE:2:3: quote is not closed in "4,\"5,6"`, ErrBadRow, 1},
		{"csv after quote", []string{"1,2,3\n4,\"5\"6,6\n7,8,9\n"}, Options{},
			`FILE:2:6: expected ',' or the line's end after a column in "4,\"5\"6,6"`, ErrBadRow, 1},
		{"csv one column", []string{"1\n2\n"}, Options{Format: "csv"},
			`FILE:1:1: expected columns set apart by , ; tab or blanks in "1"`, ErrFormat, 0},
		{"csv no such name", []string{"a,b\n1,2\n"}, Options{LabelCol: "c"},
			`FILE:1:1: no column "c": name one of the header by Options.LabelCol in "a,b"`,
			ErrFormat, 0},
		{"csv no such number", []string{"1,2\n1,3\n"}, Options{LabelCol: "3"},
			`FILE:1:1: no column 3 among 2: choose another by Options.LabelCol in "1,2"`, ErrFormat,
			0},
		{"csv name without header", []string{"1,2\n1,3\n"}, Options{LabelCol: "c"},
			`FILE:1:1: no header, so no column "c": name the label column by its number, by Options.LabelCol in "1,2"`, ErrFormat, 0},
		{"csv header of training", []string{"a,b\n1,2\n"}, Options{Header: []string{"a", "c"}},
			`FILE:1:1: expected the columns of training; not in training: "b"; no label column "c" (Options.LabelCol names another) in "a,b"`, ErrFormat, 0},
		{"csv columns of training", []string{"1,2\n"}, Options{Columns: 3},
			`FILE:1:1: expected 3 columns as in training, found 2 in "1,2"`, ErrFormat, 0},
		{"csv header alone", []string{"a,b,label\n"}, Options{},
			"FILE:1:1: expected examples, found only a header", ErrEmpty, 0},
		{"csv decimal comma", []string{"a;b;y\n1;2;x\n1;2,5;z\n"}, Options{},
			`FILE:3:3: expected a number, found "2,5" (a decimal comma? Write a point) in "1;2,5;z"`,
			ErrBadRow, 1},
		{"csv weight missing", []string{"a,w,y\n1,2,x\n1,,z\n"}, Options{WeightCol: "w"},
			`FILE:3:3: the weight is missing in "1,,z"`, ErrBadRow, 1},
		{"csv weight missing beside texts", []string{"a,w,y\nu,2,x\nv,?,z\n"},
			Options{WeightCol: "w"}, `FILE:3:3: the weight is missing in "v,?,z"`, ErrBadRow, 1},
		{"csv weight a word", []string{"a,w,y\n1,2,x\n1,q,z\n"}, Options{WeightCol: "w"},
			`FILE:3:3: expected a weight, a finite number of 0 or more, found "q" in "1,q,z"`,
			ErrBadRow, 1},
		{"csv weight below 0", []string{"a,w,y\n1,2,x\n1,-1,z\n"}, Options{WeightCol: "w"},
			`FILE:3:3: expected a weight, a finite number of 0 or more, found -1 in "1,-1,z"`,
			ErrBadRow, 1},
		{"csv header only", []string{"a,b,label\n"}, Options{Header: []string{"a", "b", "label"}},
			"FILE:1:1: expected examples, found only a header", ErrEmpty, 0},

		{"idx wrong magic", []string{idx(0x802, []uint32{2, 2}, 1, 2, 3, 4)}, Options{},
			"FILE:byte 0: expected the idx magic number 0x803 (images of bytes) or 0x801 " +
				"(labels), found 0x802", ErrFormat, 0},
		{"idx truncated header", []string{images2[:10]}, Options{}, "FILE:byte 10: expected an " +
			"idx header of 16 bytes, but the file is truncated", ErrTruncated, 0},
		{"idx truncated images", []string{images2[:19], labels2}, Options{},
			"FILE:byte 19: expected image 2 of 2, but the file is truncated", ErrTruncated, 1},
		{"idx truncated labels", []string{images2, labels2[:9]}, Options{},
			"DIR/1:byte 9: expected label 2 of 2, but the file is truncated", ErrTruncated, 0},
		{"idx goes on", []string{images2 + "x", labels2}, Options{}, "FILE:byte 20: expected the " +
			"file's end behind 2 rows, as the header says, found more", ErrFormat, 2},
		{"idx labels go on", []string{images2, labels2 + "x"}, Options{}, "DIR/1:byte 10: expected " +
			"the file's end behind 2 rows, as the header says, found more", ErrFormat, 0},
		{"idx packed with another checksum", []string{flip(gz([]byte(idx(0x803, []uint32{2, 1 << 10,
			1 << 10}, make([]byte, 2<<20)...)))), labels2}, Options{},
			"FILE:byte 2097168: expected the file's end, but the gzip data are damaged: gzip: invalid " +
				"checksum", ErrFormat, 2},
		{"idx counts differ", []string{images2, idx(0x801, []uint32{3}, 1, 2, 3)}, Options{},
			"FILE:byte 4: 2 images, but DIR/1 has 3 labels", ErrFormat, 0},
		{"idx many labels", []string{labels2 + "", idx(0x803, []uint32{2, 1, 1}, 1, 2), idx(0x803,
			[]uint32{1, 1, 1}, 1), idx(0x801, []uint32{1}, 9)}, Options{},
			"DIR/3:byte 8: a third label, \"9\", after \"7\" and \"5\": choose the one to tell from all " +
				"others by Options.Positive", ErrLabels, 2},
		{"idx labels alone", []string{labels2}, Options{}, "FILE:byte 0: labels without images: " +
			"name the images file (images-idx3) too", ErrFormat, 0},
		{"idx images alone", []string{images2}, Options{}, "FILE:byte 0: images without labels: " +
			"name the labels file (labels-idx1) too", ErrFormat, 0},
		{"idx no examples", []string{idx(0x803, []uint32{0, 1, 1}), labels2}, Options{},
			"FILE:byte 4: expected examples, the header says 0", ErrEmpty, 0},
		{"idx header that lies", []string{idx(0x803, []uint32{2, 0x1000, 0x4000}, 1), labels2},
			Options{},
			"FILE:byte 17: expected image 1 of 2, but the file is truncated", ErrTruncated, 0},
		{"idx expected", []string{"+1 1:1\n"}, Options{Format: "idx"},
			"FILE:byte 7: expected an idx header of 8 bytes, but the file is truncated",
			ErrTruncated, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			files := []string{filepath.Join(dir, "none")}
			if tc.files != nil {
				files = nil
			}
			for i, text := range tc.files {
				files = append(files, filepath.Join(dir, fmt.Sprint(i)))
				if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d, err := Load[float64](context.Background(), files, tc.o)
			if d != nil || err == nil {
				t.Fatalf("data came with %v", err)
			}
			got := strings.ReplaceAll(strings.ReplaceAll(err.Error(), files[0]+":", "FILE:"),
				dir+string(filepath.Separator), "DIR/")
			if tc.want != "" && got != tc.want || !errors.Is(err, tc.is) {
				t.Errorf("got  %s (%v)\nwant %s", got, errors.Unwrap(err), tc.want)
			}
			var row *RowError
			if errors.As(err, &row) && row.Good != tc.good {
				t.Errorf("%d good rows before, want %d", row.Good, tc.good)
			}
		})
	}
}

// flip returns packed gzip data with a byte of the checksum changed.
func flip(packed []byte) string {
	b := bytes.Clone(packed)
	b[len(b)-6] ^= 0x55
	return string(b)
}

// numbered returns " 1:1 2:1 ... n:1".
func numbered(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, " %d:1", i+1)
	}
	return s.String()
}

func TestFolder(t *testing.T) {
	if _, err := Load[float64](context.Background(), []string{t.TempDir()}, Options{}); !errors.Is(
		err, ErrFormat) || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
}

func TestBadOptions(t *testing.T) {
	two := 2
	for _, o := range []Options{{Format: "nosuch"}, {IndexBase: "2"}, {Base: &two},
		{OnError: "limit=x"}, {OnError: "no"}, {Bias: "direct"}, {Normalize: "l1"},
		{Workers: -1}, {Workers: 1e9},
		{Scale: -1}, {Scale: math.NaN()}, {Positive: "1", Labels: &LabelMap{"1", "2"}},
		{LabelsOptional: true}, {Columns: 1}, {Columns: 3, Header: []string{"a", "b"}}} {
		if _, err := load("+1 1:1\n", o); !errors.Is(err, ErrOption) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := Load[float64](context.Background(), nil, Options{}); !errors.Is(err, ErrOption) {
		t.Error(err)
	}
	if _, err := OpenReader[float64](context.Background(), "in", strings.NewReader("+1 1:1\n"),
		Options{Normalize: "max"}); !errors.Is(err, ErrScale) {
		t.Error(err)
	}
}

// TestFloat32Range refuses what only a float64 holds.
func TestFloat32Range(t *testing.T) {
	_, err := LoadReader[float32](context.Background(), "in", strings.NewReader("+1 1:1e39\n"),
		Options{})
	if err == nil || err.Error() != `in:1:6: 1e39 is too large for a float32 in "+1 1:1e39"` {
		t.Error(err)
	}
}

// drain returns the rows of a stream, and its error unless that is io.EOF.
func drain[T engine.Float](s *Stream[T]) (string, error) {
	defer s.Close()
	var out strings.Builder
	for {
		b, err := s.Next()
		if err == io.EOF {
			return out.String(), nil
		}
		if err != nil {
			return out.String(), err
		}
		if err := b.Check(); err != nil {
			return out.String(), err
		}
		out.WriteString(dump(b))
	}
}

func stream(text string, o Options) (string, error) {
	s, err := OpenReader[float64](context.Background(), "in", strings.NewReader(text), o)
	if err != nil {
		return "", err
	}
	return drain(s)
}

// TestStreamBeforeError returns the good rows, then the error, and the error again.
func TestStreamBeforeError(t *testing.T) {
	s, err := OpenReader[float64](context.Background(), "in",
		strings.NewReader("+1 1:1\n-1 1:2\n+1 1:x\n-1 1:3\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, err := s.Next()
	if err != nil || dump(b) != "+1 0:1|-1 0:2|" {
		t.Fatal(b, err)
	}
	for range 2 {
		_, err = s.Next()
		var row *RowError
		if !errors.As(err, &row) || row.Line != 3 || row.Col != 6 || row.Good != 2 ||
			!errors.Is(err, ErrBadRow) {
			t.Error(err)
		}
	}
}

// TestTruncated cuts compressed text: the whole lines come, then the place.
func TestTruncated(t *testing.T) {
	text := strings.Repeat("+1 1:1 2:2 3:3 4:0.123456 5:5\n-1 1:2 7:11\n", 300)
	var zs bytes.Buffer
	w, _ := zstd.NewWriter(&zs)
	io.WriteString(w, text)
	w.Close()
	for name, packed := range map[string][]byte{"gzip": gz([]byte(text)), "zstd": zs.Bytes()} {
		for _, cut := range []int{len(packed) - 3, len(packed) - 12} {
			s, err := OpenReader[float64](context.Background(), "in.x",
				bytes.NewReader(packed[:cut]), Options{})
			var rows string
			if err == nil {
				rows, err = drain(s)
			}
			var row *RowError
			if !errors.As(err, &row) || !errors.Is(err, ErrTruncated) ||
				!strings.Contains(err.Error(), "truncated") || row.Line != strings.Count(rows,
				"|")+1 {
				t.Errorf("%s cut at %d of %d: after %d rows: %v", name, cut, len(packed),
					strings.Count(rows, "|"), err)
			}
			if row != nil && row.Good != int64(row.Line-1) {
				t.Errorf("%d good rows in %d lines", row.Good, row.Line-1)
			}
		}
	}
}

// TestHeldRows gives up when one label goes on for too long.
func TestHeldRows(t *testing.T) {
	text := strings.Repeat("2\n", maxHeld+chunkSize)
	rows, err := stream(text, Options{})
	if !errors.Is(err, ErrLabels) || !strings.Contains(err.Error(), "Options.Positive") ||
		rows != "" {
		t.Errorf("%d rows: %v", strings.Count(rows, "|"), err)
	}
	rows, err = stream(text, Options{Positive: "2"})
	if err != nil || strings.Count(rows, "+1|") != maxHeld+chunkSize {
		t.Error(err)
	}
}

// TestStreamBase decides the index base by the first MiB.
func TestStreamBase(t *testing.T) {
	filler := strings.Repeat("+1 10:1 20:1\n-1 1:0 30:1\n", headSize/24)
	if _, err := stream(filler+"+1 0:1\n", Options{}); !errors.Is(err, ErrBadRow) ||
		!strings.Contains(err.Error(), "set Options.IndexBase to 0") {
		t.Error(err)
	}
	if rows, err := stream("+1 0:1\n"+filler, Options{}); err != nil || !strings.HasPrefix(rows,
		"+1 0:1|+1 10:1") {
		t.Error(err)
	}
	if rows, err := stream("+1 1:1 # 0:1\n-1\n", Options{}); err != nil || rows != "+1 0:1|-1|" {
		t.Error(rows, err)
	}
	if rows, err := stream("+1 000:1\n-1\n", Options{}); err != nil || rows != "+1 0:1|-1|" {
		t.Error(rows, err)
	}
}

// TestParallel reads the same, errors included, with any number of workers and any chunk size.
func TestParallel(t *testing.T) {
	var svm, csv strings.Builder
	for i := range 500 {
		fmt.Fprintf(&svm, "%+d %d:%g %d:%d # %d\n", 1-2*(i%3&1), 1+i%7, float64(i)/7, 9+i, i%10, i)
		if i%50 == 0 {
			fmt.Fprintf(&svm, "\n+1 bad:%d\n", i)
		}
		fmt.Fprintf(&csv, "%d,%g,%s\n", i, float64(i)/3, []string{"yes", "no"}[i&1])
		if i%60 == 59 {
			fmt.Fprintf(&csv, "# c\n1,?,%d\n", i)
		}
	}
	type result struct {
		rows, err string
		bad       []string
		info      Info
	}
	for _, text := range []string{svm.String(), svm.String() + strings.Repeat("+1 5:1 4:1\n", 3),
		csv.String(), csv.String() + "1,2,maybe\n", "a,b,label\n" + csv.String()} {
		for _, o := range []Options{{}, {OnError: "skip", Bias: "append", Normalize: "unit"},
			{OnError: "limit=11"}, {OnError: "skip", Positive: "no"}} {
			var want result
			for _, chunk := range []int{1 << 20, 1, 7, 64, 1000} {
				for _, workers := range []int{1, 2, 3, 8} {
					var got result
					o.chunk, o.Workers = chunk, workers
					o.OnBad = func(err error) { got.bad = append(got.bad, err.Error()) }
					s, err := OpenReader[float64](context.Background(), "in",
						strings.NewReader(text), o)
					if err != nil {
						t.Fatal(err)
					}
					got.rows, err = drain(s)
					got.err = fmt.Sprint(err)
					got.info = s.Info()
					// of the chunk that the error stands in
					got.info.Bytes, got.info.InputRead, got.info.MaxNorm = 0, 0, 0
					if want.rows == "" && want.err == "" {
						want = got
					}
					if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
						t.Fatalf("chunk %d, %d workers: %s", chunk, workers, diff)
					}
				}
			}
			if want.rows == "" && !strings.Contains(want.err, ":") {
				t.Errorf("%+v: neither rows nor an error: %q", o, want.err)
			}
		}
	}
}

func TestCompressed(t *testing.T) {
	text := "+1 1:1\n-1 2:1\n"
	var zs bytes.Buffer
	w, _ := zstd.NewWriter(&zs)
	io.WriteString(w, text)
	w.Close()
	two := append(gz([]byte(text)), gz([]byte(text))...)
	for _, tc := range []struct {
		packed []byte
		name   string
		want   string
	}{
		{gz([]byte(text)), "gzip", "+1 0:1|-1 1:1|"}, {two, "gzip", "+1 0:1|-1 1:1|+1 0:1|-1 1:1|"},
		{zs.Bytes(), "zstd", "+1 0:1|-1 1:1|"},
	} {
		d, err := load(string(tc.packed), Options{})
		if err != nil || dump(&d.Block) != tc.want || d.Info.Compression != tc.name {
			t.Errorf("%s: %v, %+v", tc.name, err, d)
		}
	}
}

func TestIDX(t *testing.T) {
	dir := t.TempDir()
	name := func(s string) string { return filepath.Join(dir, s) }
	for n, text := range map[string]string{"a-images-idx3-ubyte": images2,
		"a-labels-idx1-ubyte": string(gz([]byte(labels2))), "i": string(gz([]byte(images2))),
		"l": labels2} {
		if err := os.WriteFile(name(n), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		files []string
		o     Options
		want  string
	}{
		{[]string{"i", "l"}, Options{}, "+1 1 2|-1 3 4|"},
		{[]string{"l", "i"}, Options{Positive: "5"}, "-1 1 2|+1 3 4|"},
		{[]string{"a-images-idx3-ubyte"}, Options{Bias: "append"}, "+1 1 1 2|-1 1 3 4|"},
		{[]string{"i", "l"}, Options{Normalize: "max"}, "+1 0.2 0.4|-1 0.6 0.8|"},
		{[]string{"i", "a-images-idx3-ubyte", "l", "a-labels-idx1-ubyte"}, Options{},
			"+1 1 2|-1 3 4|+1 1 2|-1 3 4|"},
		{[]string{"i", "l"}, Options{chunk: 1}, "+1 1 2|-1 3 4|"},
	} {
		var files []string
		for _, f := range tc.files {
			files = append(files, name(f))
		}
		d, err := Load[float64](context.Background(), files, tc.o)
		if err != nil {
			t.Errorf("%v: %v", tc.files, err)
			continue
		}
		verify(t, &d.Block)
		if got := dump(&d.Block); got != tc.want {
			t.Errorf("%v %+v: %s, want %s", tc.files, tc.o, got, tc.want)
		}
		if tc.o.Normalize != "" {
			continue
		}
		s, err := Open[float64](context.Background(), files, tc.o)
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := drain(s); rows != tc.want || err != nil {
			t.Errorf("stream: %s, %v", rows, err)
		}
	}
}

// TestFiles reads several csv files, each with its header, as one stream, and standard input.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, text := range []string{"# c\na,b,class\n1,2,x\n", "a,b,class\n3,4,y\n", "5,6,x\n"} {
		files = append(files, filepath.Join(dir, fmt.Sprint(i)))
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const want = "-1 1 2|+1 3 4|-1 5 6|"
	for _, chunk := range []int{0, 3} {
		d, err := Load[float64](context.Background(), files, Options{Header: []string{"a", "b",
			"class"}, chunk: chunk})
		if err != nil || dump(&d.Block) != want {
			t.Errorf("%v %+v", err, d)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdin
	defer func() { os.Stdin = old }()
	os.Stdin = r
	io.WriteString(w, "+1 1:1\n-1 2:1\n+1 x\n")
	w.Close()
	s, err := Open[float64](context.Background(), []string{"-"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := drain(s); rows != "+1 0:1|-1 1:1|" || err == nil ||
		!strings.HasPrefix(err.Error(), "stdin:3:4: ") {
		t.Error(rows, err)
	}
}

// TestLabelled finds the rows without a known label, in every block of a chunk.
func TestLabelled(t *testing.T) {
	var text strings.Builder
	for i := range 3 * blockRows {
		text.WriteString([]string{"+1 1:1\n", "7 1:1\n", "1:1\n", "-1\n"}[i%4])
	}
	s, err := OpenReader[float64](context.Background(), "in", strings.NewReader(text.String()),
		Options{Labels: &LabelMap{"-1", "1"}, LabelsOptional: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	row := 0
	for {
		b, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			if known := row%4 == 0 || row%4 == 3; s.Labelled(i) != known {
				t.Fatalf("row %d: labelled %v", row, !known)
			}
			row++
		}
	}
	if in := s.Info(); row != 3*blockRows || in.Unlabelled != row/2 || in.Positives != row/4 {
		t.Errorf("%d rows, %+v", row, in)
	}
}

func TestGather(t *testing.T) {
	for _, text := range []string{"+1 1:1 2:2\n-1\n+1 3:3\n", "1,2,0\n3,4,1\n5,6,0\n"} {
		d, err := load(text, Options{Bias: "append"})
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.SplitAfter(dump(&d.Block), "|")
		var b engine.Block[float64]
		order := []int32{2, 0, 2, 1}
		d.Gather(&b, order)
		verify(t, &b)
		if got, want := dump(&b), rows[2]+rows[0]+rows[2]+rows[1]; got != want ||
			b.Dim != d.Block.Dim {
			t.Errorf("%s, want %s", got, want)
		}
		if n := testing.AllocsPerRun(10, func() { d.Gather(&b, order) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
		if b.Y[0] = -b.Y[0]; d.Block.Y[2] == b.Y[0] {
			t.Error("the gathered block shares memory with the data")
		}
	}
}

// TestAllocs shows that memory does not depend on the number of rows.
func TestAllocs(t *testing.T) {
	text := strings.Repeat("+1 1:1 2:0.25 3:1e-3\n-1 1:2\n", 100000)
	n := testing.AllocsPerRun(1, func() {
		s, err := OpenReader[float32](context.Background(), "in", strings.NewReader(text),
			Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for {
			if _, err := s.Next(); err != nil {
				break
			}
		}
	})
	if n > 1000 {
		t.Errorf("%v allocations for 200000 rows", n)
	}
}

// TestCancel ends a stream whose input never comes.
func TestCancel(t *testing.T) {
	r, w := io.Pipe()
	go io.WriteString(w, strings.Repeat("+1 1:1\n-1 1:1\n", headSize/10))
	ctx, cancel := context.WithCancel(context.Background())
	s, err := OpenReader[float64](ctx, "pipe", r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, cancel)
	for err == nil {
		_, err = s.Next()
	}
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.Close()
	w.Close() // lets the reader end
	r.Close()
}

// TestCloseEarly closes a stream that was hardly read.
func TestCloseEarly(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, bytes.Repeat([]byte("+1 1:1\n-1 1:1\n"), 1<<18),
		0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		s, err := Open[float64](context.Background(), []string{name}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if _, err := s.Next(); !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	}
}

// TestLongLine has a row longer than many chunks.
func TestLongLine(t *testing.T) {
	rows, err := stream("+1"+numbered(200000)+"\n-1 1:1\n", Options{})
	if err != nil || strings.Count(rows, ":") != 200001 || !strings.HasSuffix(rows, "|-1 0:1|") {
		t.Error(err, len(rows))
	}
}

// TestLabelOrder maps labels alike whatever comes first.
func TestLabelOrder(t *testing.T) {
	for _, pair := range [][2]string{{"-1", "+1"}, {"0", "1"}, {"1", "2"}, {"9", "10"}, {"b", "g"},
		{"10", "9x"}, {"M", "R"}} {
		for _, swap := range []bool{false, true} {
			first, second := pair[0], pair[1]
			if swap {
				first, second = second, first
			}
			d, err := load(fmt.Sprintf("1,%s\n2,%s\n", first, second), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d.Info.Labels != (LabelMap{pair[0], pair[1]}) || d.Block.Y[0] > 0 != swap {
				t.Errorf("%v swapped %v: %+v %v", pair, swap, d.Info.Labels, d.Block.Y)
			}
			if !slices.Equal(d.Info.Seen, []string{first, second}) {
				t.Error(d.Info.Seen)
			}
		}
	}
}
