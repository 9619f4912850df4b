package dataset_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
)

// Split cuts a file for many workers: each reads its range, and together, in order, they have read
// the file.
func ExampleSplit() {
	dir, err := os.MkdirTemp("", "split")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "data.svm")
	text := strings.Repeat("+1 1:1 3:0.5\n-1 2:2\n", 1000)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}

	ranges, err := dataset.Split(file, 3, dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range ranges { // on as many machines
		s, err := dataset.OpenRange[float32](context.Background(), r, dataset.Options{})
		if err != nil {
			log.Fatal(err)
		}
		rows := 0
		for {
			b, err := s.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				log.Fatal(err)
			}
			rows += b.Len()
		}
		s.Close()
		fmt.Printf("bytes %5d to %5d: %d examples\n", r.From, r.To, rows)
	}
	// Output:
	// bytes     0 to  6673: 667 examples
	// bytes  6673 to 13333: 666 examples
	// bytes 13333 to 20000: 667 examples
}

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
