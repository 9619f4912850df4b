package format_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/dataset/format"
	"github.com/halfspace-ml/halfspace/engine"
	"log"
	"os"
)

// spins is a format of rows of + and -: the label, and features that are -1 or +1.
var spins = &format.Format{
	Name: "spins", Dense: true, Cut: "\n",
	Options: []format.Option{{Field: "Dim", Help: "spins: columns behind the label"}},
	Sniff: func(h *format.Head) int {
		if bytes.HasPrefix(h.Text, []byte("#spins")) {
			return 0
		}
		return format.No
	},
	Layout: func(*format.Head, *format.Options, *format.Layout) (*format.Layout, error) {
		return &format.Layout{IndexBase: 1}, nil
	},
	Parse32: parseSpins[float32], Parse64: parseSpins[float64],
}

// parseSpins makes a row of each line of a chunk.
func parseSpins[T float32 | float64](c *format.Chunk[T], s *format.Settings) {
	for pos := 0; pos < c.N; pos, c.Out.Lines = c.NextLine(pos), c.Out.Lines+1 {
		line := bytes.TrimSpace(c.Line(pos))
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		code, bad := c.Label(s, append(line[:1:1], '1'), pos, pos)
		if bad != "" && !c.Bad(s, pos, pos, bad) {
			return
		}
		var x []T
		for _, spin := range line[1:] {
			x = append(x, T(44-int(spin))) // '+' is 43, '-' is 45
		}
		c.Dense(s, code, x)
	}
}

// A format is a row of the table: from then on it is recognised, and read by many workers.
func ExampleFormat() {
	format.Register(spins)
	defer format.Unregister("spins") // which only tests of package format can
	d, err := dataset.LoadReader[float32](context.Background(), "in",
		strings.NewReader("#spins\n++-+\n-+--\n"), dataset.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Info.Format, d.Block.Y, d.Block.Row(0), d.Block.Row(1))
	var f *format.Format = format.Lookup("spins")
	fmt.Println(f.Files(), f.HasColumns(), f.Takes("Dim"))
	// Output:
	// spins [1 -1] [1 -1 1] [1 -1 -1]
	// true false true
}

// The format of a file is found by how it begins.
func ExampleRecognise() {
	for _, text := range []string{"+1 3:0.5 7:1\n-1 2:1\n", "a,b,label\n1,2,x\n", "PK\x03\x04"} {
		var h = &format.Head{File: "in", Text: []byte(text), Whole: true, Ended: true}
		f, err := format.Recognise(h, "")
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(f.Name)
	}
	// Output:
	// svmlight
	// csv
	// in:byte 0: this is a zip archive: unpack it first
}

// What follows from the head of a csv file for all of it.
func ExampleLayout() {
	h := &format.Head{File: "in", Text: []byte("class,a,b\nx,1,2\ny,3,4\n"), Whole: true}
	var l *format.Layout
	l, err := format.CSV.Layout(h, &format.Options{Files: 1, Base: -1}, nil)
	fmt.Println(l.Columns, "columns, the label in column", l.LabelCol, l.Header, err)
	// Output:
	// 3 columns, the label in column 1 [class a b] <nil>
}

// Some options of package dataset are for some formats only.
func ExampleOption() {
	var o format.Option = format.CSV.Options[0]
	fmt.Println(o.Field, o.Help)
	fmt.Println(format.Taking("IndexBase"))
	// Output:
	// LabelCol csv, ndjson, npz: the labels' column, by `NAME` or number (-1: the last)
	// [svmlight ndjson vw]
}

// Text may be cut anywhere near: a record of several lines stays whole.
func ExampleCut() {
	text := []byte(">a\nACGT\nACG\n>b\nTTTT\n>c\nAC")
	lines, records := format.Cut("\n"), format.Cut("\n>")
	fmt.Printf("%q\n", text[:lines.First(text)])
	fmt.Printf("%q\n", text[:records.First(text)])
	fmt.Printf("%q\n", text[records.Last(text):])
	// Output:
	// ">a\n"
	// ">a\nACGT\nACG\n"
	// ">c\nAC"
}

// A chunk is parsed by itself, by the settings of its stream: labels are numbered as they come.
func ExampleChunk() {
	text := []byte("yes,1,2\nno,3,4\n")
	h := &format.Head{File: "in", Text: text, Whole: true}
	layout, err := format.CSV.Layout(h, &format.Options{Files: 1, Base: -1, LabelCol: "1"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var rows format.Rows[float64]
	rows.Reset(true)
	c := format.Chunk[float64]{File: "in", Text: append(text, "\n\n"...), N: len(text),
		Layout: layout, Out: &rows}
	c.Parse(&format.Settings{Format: format.CSV, Scale: 1})
	fmt.Println(rows.N, "rows", rows.X[:2], rows.Code)
	var first format.Label = rows.Labels.List[0]
	var where format.Place = rows.Where[1]
	fmt.Println(first.Text, "and", rows.Labels.List[1].Text, "from byte", where.Start)
	// Output:
	// 2 rows [1 2] [0 1]
	// yes and no from byte 8
}

// Bad rows are noted and reported later, with their place.
func ExampleBadRow() {
	text := []byte("+1 1:1\n-1 1:x\n")
	h := &format.Head{File: "in", Text: text, Whole: true}
	layout, err := format.SVMLight.Layout(h, &format.Options{Files: 1, Base: -1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var rows format.Rows[float32]
	rows.Reset(false)
	c := format.Chunk[float32]{File: "in", Text: append(text, "\n\n"...), N: len(text),
		Layout: layout, Out: &rows}
	s := &format.Settings{Format: format.SVMLight, KeepBad: 10}
	c.Parse(s)
	var bad format.BadRow = c.BadAt(0, s)
	fmt.Println(rows.N, "good,", rows.NBad, "bad, in line", bad.Err.Line, "from 0:", bad.Err.What)
	// Output:
	// 1 good, 1 bad, in line 1 from 0: expected a number after "1:", found "x"
}

// An error in the data leads to its sentinel.
func ExampleRowError() {
	var err error = &format.RowError{File: "in", Line: 2, Col: 6, What: "expected a number",
		Excerpt: "-1 1:x", Err: format.ErrBadRow}
	fmt.Println(err, errors.Is(err, format.ErrBadRow))
	// Output:
	// in:2:6: expected a number in "-1 1:x" true
}

// Plain numerals compare as numbers, all else as text.
func ExampleLabel() {
	one, same, version := format.MakeLabel("1.1"), format.MakeLabel("+1.1"), format.MakeLabel("1.10")
	fmt.Println(one.Equal(same), one.Equal(version), one.Less(format.MakeLabel("10")))
	// Output:
	// true false true
}

// A label is found among others by its text, else by its value.
func ExampleLabelIndex() {
	x := format.IndexLabels([]string{"-1", "+1"})
	fmt.Println(x.Find(format.MakeLabel("1.0")), x.Find(format.MakeLabel("01")))
	// Output:
	// 1 -1
}

// Labels are numbered in the order in which they occur first.
func ExampleLabelSet() {
	var s format.LabelSet
	s.Reset()
	for _, text := range []string{"ham", "spam", "ham"} {
		code, ok := s.Find([]byte(text), false)
		if !ok {
			code = s.Add(format.MakeLabel(text))
		}
		fmt.Print(code, " ")
	}
	fmt.Println(len(s.List))
	// Output:
	// 0 1 0 2
}

// A line longer than there is room for is refused.
func ExampleLimits() {
	l := format.Limits{Line: 64 << 10}
	fmt.Println(l.TooLong("in", []byte("+1 1:1")))
	// Output:
	// in:1:1: the line is longer than 64 KiB: if it is meant, raise Options.MaxLine in "+1 1:1"
}

// A batch of columns is checked, and cut as text would be.
func ExampleBatch() {
	b := format.Batch[float32]{Columns: [][]float32{{1, 2, 3}, {4, 5, 6}}, Y: []float64{1, -1, 1}}
	fmt.Println(b.Check(b.Width()), b.Len(), "rows of", b.Width())
	var first format.Slab = b.Slabs(1)[0]
	fmt.Println(len(b.Slabs(1)), "slabs of about", first.Size, "bytes, or", len(b.Slabs(1<<20)))
	b.Columns[1] = b.Columns[1][:2]
	fmt.Println(b.Check(2) != nil)
	// Output:
	// <nil> 3 rows of 2
	// 3 slabs of about 12 bytes, or 1
	// true
}

// bytesFile is a file in memory: one of those that a format opens together.
type bytesFile struct {
	io.Reader
	name string
}

func (f bytesFile) Name() string { return f.name }
func (f bytesFile) Close()       {}
func (f bytesFile) At() (io.ReaderAt, int64) {
	return nil, 0
}
func (f bytesFile) Broken(offset int64, wanted string, err error) error {
	return &format.RowError{File: f.name, Offset: offset, What: "expected " + wanted, Err: err}
}

// A binary format opens images and labels together, and gives the part that holds the examples.
func ExamplePart() {
	files := map[string]string{
		"images": "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x02" +
			"\x01\x02\x03\x04",
		"labels": "\x00\x00\x08\x01\x00\x00\x00\x02\x07\x03",
	}
	open := func(name string) (format.File, error) {
		return bytesFile{strings.NewReader(files[name]), name}, nil
	}
	parts, err := format.IDX.Open([]string{"images", "labels"}, &format.Options{Files: 2,
		Limits: &format.Limits{Line: 64 << 10, Held: 1 << 20}}, open)
	if err != nil {
		fmt.Println(err)
		return
	}
	var p format.Part = parts[0]
	fmt.Println(p.File.Name(), p.Layout.Rows, "rows of", p.Layout.Size, "bytes")
	// Output:
	// images 2 rows of 2 bytes
}

// What was seen of columns of other units brings them to one scale.
func ExampleScaling() {
	s := &format.Scaling{Method: "std", Columns: true}
	for _, row := range [][]float64{{1000, 1}, {3000, 3}} {
		format.SeeRow(s, row, false)
	}
	row := []float64{4000, 1}
	format.ScaleRow(s, row)
	fmt.Println(s.Features(), row)
	// Output: 2 [2 -1]
}

// Features of two namespaces are multiplied where their first letters are a pair.
func ExamplePair() {
	var pairs []format.Pair
	pairs, err := format.Pairs([]string{"ab", "aa"})
	fmt.Printf("%c %v\n", pairs, err)
	// Output:
	// [[a b] [a a]] <nil>
}

// A dictionary numbers names as they come; a hash needs no list, and counts what names share.
func ExampleDictionary() {
	var d format.Dictionary
	for _, name := range []string{"red", "round", "red"} {
		j, err := d.Number(name, 0)
		fmt.Print(j, " ", err, " ")
	}
	fmt.Println(d.List())

	hashed, err := format.NewDictionary(nil, 10)
	j, _ := hashed.Number("red", format.HashName(nil, []byte("red")))
	fmt.Println(j < 1<<10, hashed.Bits(), hashed.Shared(), err)
	// Output:
	// 0 <nil> 1 <nil> 0 <nil> [red round]
	// true 10 0 <nil>
}

// Names have numbers of the chunk's own until the rows are taken in file order.
func ExampleNameSet() {
	text := []byte(`{"y": 1, "round": 1, "red": 0.5}` + "\n")
	h := &format.Head{File: "in", Text: text, Whole: true}
	var words format.Naming = format.Words
	layout, err := format.NDJSON.Layout(h, &format.Options{Files: 1, Base: -1, Naming: words}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var rows format.Rows[float64]
	rows.Names = new(format.NameSet)
	rows.Reset(false)
	c := format.Chunk[float64]{File: "in", Text: append(text, "\n\n"...), N: len(text),
		Layout: layout, Out: &rows}
	c.Parse(&format.Settings{Format: format.NDJSON, Scale: 1})
	d, _ := format.NewDictionary([]string{"red"}, 0) // known from rows before
	_, err = rows.Settle(d, 0, false)
	fmt.Println(rows.Idx, rows.Val, d.List(), err)
	// Output:
	// [0 1] [0.5 1] [red round] <nil>
}

// one is a run of rows in columns: all there are, of a format that somebody else made.
type one struct {
	columns *format.Columns
	a, y    []float64
	given   bool
}

func (r *one) Next([]byte, int) (format.Run, error) {
	if r.given {
		return format.Run{}, io.EOF
	}
	r.given = true
	return format.Run{Value: r, Bytes: 32}, nil
}

func (r *one) Close() {}

// A format of columns arranges them by name and options, as csv's are, and gives rows in runs.
func ExampleTable() {
	f := &format.Format{Name: "columns", Parse64: func(c *format.Chunk[float64],
		s *format.Settings) {
		if r, ok := c.Run.(*one); ok { // nil at the end
			var t = format.Table[float64]{Columns: r.columns, Rows: len(r.y),
				Numbers: [][]float64{r.a}, Y: r.y}
			c.AddTable(s, &t)
		}
	}}
	rows := &one{a: []float64{0.5, -2}, y: []float64{1, 0}}
	open := func(o *format.Options) (runs format.Runs, l *format.Layout, err error) {
		rows.columns, l, err = format.ArrangeColumns("rows", []string{"label", "a"},
			[]bool{false, false}, o, nil)
		return rows, l, err
	}
	s, err := dataset.OpenRuns[float64](context.Background(), "rows", f, open,
		dataset.Options{Bias: "append"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	b, err := s.Next()
	var columns format.Columns = *rows.columns
	fmt.Println(columns.Label, columns.Numbers, b.Row(0), b.Y, err)
	// Output:
	// 0 [1] [1 0.5] [1 -1] <nil>
}

// A run is text in a form of the format's own, or a value that its parser knows.
func ExampleRun() {
	rows := &one{y: []float64{1, 0}}
	var run format.Run
	run, err := rows.Next(nil, 1<<17)
	fmt.Println(run.Value == rows, run.Bytes, err)
	run, err = rows.Next(nil, 1<<17)
	fmt.Println(run.Value, run.Bytes, err)
	// Output:
	// true 32 <nil>
	// <nil> 0 EOF
}

// A program writes its own examples.
func ExampleWriter() {
	b := &engine.Block[float64]{Y: []float64{-1, 1}, Dim: 3, Ptr: []int{0, 2, 3},
		Idx: []int32{0, 2, 1}, Val: []float64{1, 0.5, 2}, W: []float64{1, 3}}
	for _, to := range []string{"vw", "svmlight"} {
		w, err := format.NewWriter(os.Stdout, nil, to, format.About{IndexBase: 1})
		if err != nil {
			log.Fatal(err)
		}
		if err := w.Write(b, []string{"no", "yes"}, nil); err != nil {
			fmt.Println(err)
			continue
		}
		if err := w.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// no | 1 3:0.5
	// yes 3 | 2:2
	// svmlight has no place for weights: write vw, csv or npz: the format has no place for it
}

func ExampleAbout() {
	b := &engine.Block[float64]{Y: []float64{-1, 1}, Dim: 2, Stride: 2, X: []float64{3, 1, 4, 0}}
	w, err := format.NewWriter(os.Stdout, nil, "csv", format.About{Kind: "csv",
		Header: []string{"age", "member", "y"}, LabelCol: 3})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Write(b, []string{"a", "b"}, nil); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// age,member,label
	// 3,1,a
	// 4,0,b
}

// ExampleObjectKeys reads rows of a request for a model whose features have numbers from 1.
func ExampleObjectKeys() {
	keys := format.ObjectKeys{Label: []string{"label"}, ID: "id", Features: "features", Base: 1}
	text := `{"id":"a7","label":"yes","features":{"3":0.5}}`
	c := format.Chunk[float32]{File: "body", Text: []byte(text + "\n\n"), N: len(text),
		Layout: keys.Layout(), Out: &format.Rows[float32]{}}
	c.Parse(&format.Settings{Format: format.NDJSON})
	id, _ := c.Out.RowID(0)
	fmt.Println(string(id), c.Out.Labels.List[c.Out.Code[0]].Text, c.Out.Idx, c.Out.Val)
	// Output: a7 yes [2] [0.5]
}

// What was decided of a table stands in one line.
func ExampleDecided() {
	d := format.Decided{Delimiter: ";", Header: true, Label: "pay", Texts: []string{"job"},
		Missing: []string{"NA"}, Comments: 1}
	fmt.Println(&d)
	// Output:
	// a header, columns between ";", label "pay", texts "job", missing values "NA", 1 comment line
}
