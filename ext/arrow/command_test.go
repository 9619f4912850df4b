package arrow

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	arr "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/command"
	"github.com/halfspace-ml/halfspace/internal/commandtest"
	"github.com/halfspace-ml/halfspace/internal/realdata"
)

// TestMain is the command in processes that tests start.
func TestMain(m *testing.M) { commandtest.Main(m, func() int { return command.Run() }, nil) }

// asPairs, asLists and asDense are the forms of rows that are lists.
const (
	asPairs = iota
	asLists
	asDense
)

// batches are rows of text as record batches of a form, of so many rows each. Labels are 1 and -1,
// of dense rows as numbers.
func batches(t testing.TB, d *dataset.Data[float32], form, each, dim int) (recs []arr.RecordBatch) {
	t.Helper()
	schema := fields("y", utf8, "x", arr.ListOf(pair))
	switch form {
	case asLists:
		schema = fields("y", utf8, "indices", arr.ListOf(i32), "values", arr.ListOf(f32))
	case asDense:
		schema = fields("y", i32, "x", arr.FixedSizeListOf(int32(dim), f32))
	}
	for lo := 0; lo < d.Block.Len(); lo += each {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := lo; i < min(lo+each, d.Block.Len()); i++ {
			idx, val := d.Block.Sparse(i)
			switch y := b.Field(0).(type) {
			case *array.Int32Builder:
				y.Append(int32(d.Block.Y[i]))
			case *array.StringBuilder:
				y.Append(fmt.Sprintf("%g", d.Block.Y[i]))
			}
			switch form {
			case asDense:
				row := make([]float32, dim)
				for k, j := range idx {
					row[j] = val[k]
				}
				list := b.Field(1).(*array.FixedSizeListBuilder)
				list.Append(true)
				list.ValueBuilder().(*array.Float32Builder).AppendValues(row, nil)
			case asLists:
				l, v := b.Field(1).(*array.ListBuilder), b.Field(2).(*array.ListBuilder)
				l.Append(true)
				v.Append(true)
				for k, j := range idx {
					l.ValueBuilder().(*array.Int32Builder).Append(j + 1)
					v.ValueBuilder().(*array.Float32Builder).Append(val[k])
				}
			default:
				l := b.Field(1).(*array.ListBuilder)
				l.Append(true)
				s := l.ValueBuilder().(*array.StructBuilder)
				for k, j := range idx {
					s.Append(true)
					s.FieldBuilder(0).(*array.Int32Builder).Append(j + 1)
					s.FieldBuilder(1).(*array.Float32Builder).Append(val[k])
				}
			}
		}
		recs = append(recs, b.NewRecordBatch())
		b.Release()
	}
	return recs
}

// columns are rows of text as a table of columns, and as csv.
func columns(t testing.TB, d *dataset.Data[float32], rows, dim int) (recs []arr.RecordBatch,
	csv []byte) {
	t.Helper()
	names := make([]any, 0, 2*dim+2)
	for j := range dim {
		names = append(names, "f"+strings.Repeat("x", j%7)+string(rune('a'+j/7)), f32)
	}
	schema := fields(append(names, "label", i32)...)
	var text bytes.Buffer
	for i, f := range schema.Fields() {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(f.Name)
	}
	text.WriteByte('\n')
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range min(rows, d.Block.Len()) {
		row := make([]float32, dim)
		idx, val := d.Block.Sparse(i)
		for k, j := range idx {
			row[j] = val[k]
		}
		for j, v := range row {
			b.Field(j).(*array.Float32Builder).Append(v)
			if v == 0 {
				text.WriteString("0,")
			} else {
				text.WriteString("1,") // of a9a
			}
		}
		y := int32(d.Block.Y[i])
		b.Field(dim).(*array.Int32Builder).Append(y)
		if y > 0 {
			text.WriteString("1\n")
		} else {
			text.WriteString("-1\n")
		}
	}
	return []arr.RecordBatch{b.NewRecordBatch()}, text.Bytes()
}

// TestSameModel: the rows of a9a make the same model, to the byte, as text, and as Parquet or
// Arrow's file and stream of each form; those of columns that of csv.
func TestSameModel(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	file := realdata.File(t, "a9a.gz")
	d, err := dataset.Load[float32](context.Background(), []string{file}, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	shell, dir := commandtest.Shell(t, "halfspace-arrow"), t.TempDir()
	put := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(script string) {
		t.Helper()
		if out, err := shell(dir, script); err != nil {
			t.Fatalf("%s\n%v\n%s", script, err, out)
		}
	}
	run("zcat " + file + ` | sed 's/^+//' > plain.svm
	halfspace-arrow train -q -a obpm -m want.model plain.svm
	echo "` + realdata.A9aModel + `  want.model" | sha256sum -c`)
	lists, pairs := batches(t, d, asLists, 5000, 123), batches(t, d, asPairs, 5000, 123)
	put("lists.parquet", asParquet(t, lists))
	put("pairs.parquet", asParquet(t, pairs))
	put("pairs.arrow", asFile(t, pairs, ipc.WithLZ4()))
	put("lists.arrows", asStream(t, lists))
	run(`for f in lists.parquet pairs.parquet pairs.arrow lists.arrows; do
		halfspace-arrow train -q -a obpm -m $f.model $f
		cmp want.model $f.model
	done
	halfspace-arrow train -q -a obpm -m stdin.model - < lists.arrows
	cmp want.model stdin.model`)
	dense := batches(t, d, asDense, 1<<20, 123)
	put("dense.parquet", asParquet(t, dense))
	put("dense.arrow", asFile(t, dense))
	table, csv := columns(t, d, 4000, 123)
	put("columns.csv", csv)
	put("columns.parquet", asParquet(t, table))
	put("columns.arrows", asStream(t, table))
	run(`for f in dense.parquet dense.arrow; do
		halfspace-arrow train -q -a obpm -m $f.model $f
		cmp want.model $f.model
	done
	for f in columns.csv columns.parquet columns.arrows; do
		halfspace-arrow train -q -a perceptron -m $f.model $f
		cmp columns.csv.model $f.model
	done`)
	// a model of one form meets the others, and text
	run(`halfspace-arrow predict -i lists.parquet.model plain.svm > want
	for f in pairs.parquet lists.arrows dense.arrow; do
		halfspace-arrow predict -i lists.parquet.model $f > got
		cmp want got
	done
	halfspace-arrow predict -i columns.csv.model columns.parquet > got
	halfspace-arrow predict -i columns.parquet.model columns.csv > want
	cmp want got`)
}
