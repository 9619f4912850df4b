package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
)

// table is a source of one batch: columns as a table in memory has them.
type table struct{ columns [][]float32 }

func (t *table) Next() (*dataset.Batch[float32], error) {
	if t.columns == nil {
		return nil, io.EOF
	}
	b := &dataset.Batch[float32]{Columns: t.columns, Labels: []string{"spam", "ham", "spam"}}
	t.columns = nil
	return b, nil
}

// OpenBlocks takes examples that a program has in memory the way of text: here columns become rows
// of length 1, labelled -1 and +1.
func ExampleOpenBlocks() {
	src := &table{[][]float32{{3, 0, 1}, {4, 2, 0}}}
	s, err := dataset.OpenBlocks[float32](context.Background(), "mails", src,
		dataset.Options{Normalize: "unit"})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	b, err := s.Next()
	if err != nil {
		log.Fatal(err)
	}
	for i := range b.Len() {
		fmt.Println(b.Y[i], b.Row(i))
	}
	fmt.Println(s.Info().Labels)
	// Output:
	// 1 [0.6 0.8]
	// -1 [0 1]
	// 1 [1 0]
	// {ham spam}
}

// Load reads a whole file, whatever its format is, and says what was found.
func ExampleLoadReader() {
	text := "length,width,kind\n5.1,1.5,rose\n4.9,1.25,rose\n6.3,2.5,lily\n"
	var d *dataset.Data[float32]
	d, err := dataset.LoadReader[float32](context.Background(), "flowers",
		strings.NewReader(text), dataset.Options{Bias: "append"})
	if err != nil {
		log.Fatal(err)
	}
	var info dataset.Info = d.Info
	fmt.Println(info.Format, info.Rows, "rows of", info.Dim, "features", info.Header)
	fmt.Println(info.Labels, d.Block.Y, d.Block.Row(2))
	// Output:
	// csv 3 rows of 3 features [length width kind]
	// {lily rose} [1 1 -1] [1 6.3 2.5]
}

// A stream gives examples as they are read, some at a time.
func ExampleStream() {
	var s *dataset.Stream[float64]
	s, err := dataset.OpenReader[float64](context.Background(), "in",
		strings.NewReader("2 1:1 4:2\n1 2:0.5\n"), dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	b, err := s.Next()
	if err != nil {
		log.Fatal(err)
	}
	idx, val := b.Sparse(0)
	fmt.Println(b.Y, idx, val, s.Info().Labels.Positive)
	// Output:
	// [1 -1] [0 3] [1 2] 2
}

// Of many labels one is +1, and all others are -1.
func ExampleLabelMap() {
	d, err := dataset.LoadReader[float32](context.Background(), "digits",
		strings.NewReader("7 1:1\n3 1:2\n1 1:3\n"), dataset.Options{Positive: "3"})
	if err != nil {
		log.Fatal(err)
	}
	var m dataset.LabelMap = d.Info.Labels
	fmt.Printf("%q %q %v others %v\n", m.Positive, m.Negative, d.Block.Y, d.Info.Rest)
	// Output:
	// "3" "" [-1 1 -1] others [7 1]
}

// An error in the data says where it is.
func ExampleRowError() {
	_, err := dataset.LoadReader[float32](context.Background(), "in",
		strings.NewReader("+1 1:0.5\n-1 2:abc\n"), dataset.Options{})
	var row *dataset.RowError
	fmt.Println(errors.As(err, &row), row.Line, row.Col, errors.Is(err, dataset.ErrBadRow))
	fmt.Println(err)
	// Output:
	// true 2 6 true
	// in:2:6: expected a number after "2:", found "abc" in "-1 2:abc"
}

// Bad rows may be skipped.
func ExampleOptions() {
	o := dataset.Options{OnError: "limit=10",
		OnBad: func(err error) { fmt.Println("skipped:", err) }}
	d, err := dataset.LoadReader[float32](context.Background(), "in",
		strings.NewReader("+1 1:0.5\n-1 2:abc\n-1 3:1\n"), o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Info.Rows, "rows,", d.Info.BadRows, "bad")
	// Output:
	// skipped: in:2:6: expected a number after "2:", found "abc" in "-1 2:abc"
	// 2 rows, 1 bad
}

// The generators and their parameters; the same parameters give the same examples everywhere.
func ExampleGenerator() {
	var g dataset.Generator = dataset.Generators()[0]
	var p dataset.Param = g.Params[1]
	fmt.Printf("%s: %s is %s by default\n", g.Name, p.Name, p.Default)
	params := map[string]string{"d": "2", p.Name: "0.2", "n": "3"}
	d, err := dataset.Generate[float64](g.Name, params)
	if err != nil {
		log.Fatal(err)
	}
	for i, y := range d.Block.Y {
		fmt.Printf("%+g %.2f\n", y, d.Block.Row(i))
	}
	// Output:
	// margin: margin is 0.05 by default
	// +1 [0.99 0.15]
	// -1 [-0.94 0.35]
	// +1 [0.22 0.98]
}

// Examples in memory are written as text with labels of one's own.
func ExampleWriteSVMLight() {
	b := engine.Block[float64]{Dim: 3, Stride: 3, X: []float64{0.5, 0, 2, 0, 1, 0},
		Y: []float64{1, -1}}
	labels := dataset.LabelMap{Negative: "ham", Positive: "spam"}
	if err := dataset.WriteSVMLight(os.Stdout, &b, labels); err != nil {
		log.Fatal(err)
	}
	// Output:
	// spam 1:0.5 3:2
	// ham 2:1
}

// Blocks is what OpenBlocks reads: batches of rows as a program has them, here one row of numbers.
func ExampleBlocks() {
	var src dataset.Blocks[float32] = &table{[][]float32{{1, 2, 3}}}
	b, err := src.Next()
	fmt.Println(b.Len(), "rows", err)
	_, err = src.Next()
	fmt.Println(err)
	// Output:
	// 3 rows <nil>
	// EOF
}

// A Preparer gives examples a bias and length 1 as reading would have done, so that one block can
// be prepared in several ways. The bias is feature 0; the others move up by one.
func ExamplePreparer() {
	b := &engine.Block[float64]{Dim: 3, Ptr: []int{0, 2}, Idx: []int32{0, 2},
		Val: []float64{2, 2}, Y: []float64{1}}
	for _, o := range []dataset.Options{{Bias: "append"}, {Bias: "append", Normalize: "unit"}} {
		var p *dataset.Preparer[float64]
		p, err := dataset.NewPreparer[float64](o, dataset.Info{})
		if err != nil {
			log.Fatal(err)
		}
		idx, val := p.Block(b).Example(0)
		fmt.Printf("%d %.3f\n", idx, val)
	}
	// Output:
	// [0 1 3] [1.000 2.000 2.000]
	// [0 1 3] [0.333 0.667 0.667]
}

// A file is converted to NumPy's arrays, which are read in its place.
func ExampleConvert() {
	dir, err := os.MkdirTemp("", "convert")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	text, arrays := filepath.Join(dir, "data.csv"), filepath.Join(dir, "data.npz")
	if err := os.WriteFile(text, []byte("size,job,y\n1,clerk,a\n2,smith,b\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	f, err := os.Create(arrays)
	if err != nil {
		log.Fatal(err)
	}
	done, err := dataset.Convert(context.Background(), []string{text}, dataset.Options{},
		dataset.Conversion{To: "npz", Out: f})
	if err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Rows, "rows of", done.Format, done.Lost)

	d, err := dataset.Load[float32](context.Background(), []string{arrays}, dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Info.Format, "of", d.Info.Kind, d.Info.Dim, "features,", d.Info.Labels)
	// Output:
	// 2 rows of csv [the names of features: they are columns]
	// npz of svmlight 3 features, {a b}
}

// What a format has no place for is an error, or, where the examples serve without it, is said.
func ExampleConversion() {
	dir, err := os.MkdirTemp("", "convert")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "clicks.vw")
	if err := os.WriteFile(name, []byte("1 2.5 |u age:3\n-1 |u age:5\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	for _, to := range []string{"svmlight", "csv"} {
		_, err := dataset.Convert(context.Background(), []string{name}, dataset.Options{},
			dataset.Conversion{To: to, Out: os.Stdout})
		fmt.Println(errors.Is(err, dataset.ErrNoPlace))
	}
	// Output:
	// true
	// u^age,weight,label
	// 3,2.5,1
	// 5,1,-1
	// false
}

func ExampleConverted() {
	dir, err := os.MkdirTemp("", "convert")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "data.csv")
	if err := os.WriteFile(name, []byte("size,y\n1,0\n2,1\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	done, err := dataset.Convert(context.Background(), []string{name}, dataset.Options{},
		dataset.Conversion{To: "svmlight", Out: os.Stdout})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Rows, done.Lost)
	// Output:
	// 0 1:1
	// 1 1:2
	// 2 [the names of features: they are numbered]
}

// Each of several readers takes a part of the rows, which depends on the files and their number.
func ExampleRowShard() {
	dir, err := os.MkdirTemp("", "rows")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "data.svm")
	text := "+1 1:1\n-1 1:2\n+1 1:3\n-1 1:4\n+1 1:5\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	for k := range 2 {
		d, err := dataset.Load[float32](context.Background(), []string{file},
			dataset.Options{Rows: dataset.RowShard{K: k + 1, Of: 2}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.Info.Rows, d.Block.Val)
	}
	// Output:
	// 3 [1 2 3]
	// 2 [4 5]
}

// Files of another file system than the machine's, such as an embed.FS, are read where they are.
func ExampleFile() {
	files := fstest.MapFS{"data.svm": {Data: []byte("+1 1:1 3:0.5\n-1 2:2\n")}}
	o := dataset.Options{OpenFile: func(name string) (dataset.File, error) {
		f, err := files.Open(name)
		if err != nil {
			return nil, err
		}
		return f.(dataset.File), nil
	}}
	for _, part := range []string{"1/2", "2/2"} {
		var err error
		if o.Rows, err = dataset.ParseRowShard(part); err != nil {
			log.Fatal(err)
		}
		o.Labels = &dataset.LabelMap{Negative: "-1", Positive: "+1"}
		d, err := dataset.Load[float32](context.Background(), []string{"data.svm"}, o)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.Info.Rows, d.Block.Y)
	}
	// Output:
	// 1 [1]
	// 1 [-1]
}
