package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"testing/fstest"

	"github.com/halfspace-ml/halfspace/dataset"
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
