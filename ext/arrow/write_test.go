package arrow

import (
	"bytes"
	"strings"
	"testing"

	arr "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

var (
	i32, i64 = arr.PrimitiveTypes.Int32, arr.PrimitiveTypes.Int64
	f32, f64 = arr.PrimitiveTypes.Float32, arr.PrimitiveTypes.Float64
	utf8     = arr.BinaryTypes.String
	pair     = arr.StructOf(arr.Field{Name: "index", Type: i32},
		arr.Field{Name: "value", Type: f32})
)

// fields are columns: a name and a type in turn.
func fields(columns ...any) *arr.Schema {
	var f []arr.Field
	for i := 0; i < len(columns); i += 2 {
		f = append(f, arr.Field{Name: columns[i].(string), Type: columns[i+1].(arr.DataType),
			Nullable: true})
	}
	return arr.NewSchema(f, nil)
}

// table makes record batches of rows in JSON, as many as rows are given.
func table(t testing.TB, schema *arr.Schema, rows ...string) (recs []arr.RecordBatch) {
	t.Helper()
	for _, r := range rows {
		rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema,
			strings.NewReader("["+r+"]"))
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec)
	}
	return recs
}

// asFile, asStream and asParquet write batches.
func asFile(t testing.TB, recs []arr.RecordBatch, o ...ipc.Option) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := ipc.NewFileWriter(&b, append(o, ipc.WithSchema(recs[0].Schema()))...)
	for _, r := range recs {
		if err == nil {
			err = w.Write(r)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asStream(t testing.TB, recs []arr.RecordBatch, o ...ipc.Option) []byte {
	t.Helper()
	var b bytes.Buffer
	w := ipc.NewWriter(&b, append(o, ipc.WithSchema(recs[0].Schema()))...)
	for _, r := range recs {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asParquet(t testing.TB, recs []arr.RecordBatch, o ...parquet.WriterProperty) []byte {
	t.Helper()
	var b bytes.Buffer
	o = append([]parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd)}, o...)
	w, err := pqarrow.NewFileWriter(recs[0].Schema(), &b, parquet.NewWriterProperties(o...),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	for _, r := range recs {
		if err == nil {
			err = w.Write(r) // a row group each
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
