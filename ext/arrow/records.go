package arrow

import (
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// Open makes a stream of examples of record batches that a program has: read by a library of
// Arrow's, received by Flight, or made by itself. They go the way of an Arrow file (see the package
// comment), with the same options; dataset.Info has the format "arrow".
//
// name stands for the batches in errors, whose lines are rows. rows is called by one goroutine of
// the stream's, and is the caller's to release once the stream is closed; a batch is retained until
// its rows are copied. Errors are those of dataset.Open, and that of rows.Err.
func Open[T engine.Float](ctx context.Context, name string, rows array.RecordReader,
	o dataset.Options) (*dataset.Stream[T], error) {
	return dataset.OpenRuns[T](ctx, name, IPC, ofRecords(name, rows), o)
}

// Load is Open of all rows, put together in memory; see dataset.Load.
func Load[T engine.Float](ctx context.Context, name string, rows array.RecordReader,
	o dataset.Options) (*dataset.Data[T], error) {
	return dataset.LoadRuns[T](ctx, name, IPC, ofRecords(name, rows), o)
}

// records are the batches of a program.
type records struct {
	rows array.RecordReader
	plan *plan
	cursor
}

func ofRecords(name string, rows array.RecordReader) func(o *format.Options) (format.Runs,
	*format.Layout, error) {
	return func(o *format.Options) (format.Runs, *format.Layout, error) {
		r := &records{rows: rows}
		begin := func(p *plan) (*batch, error) { return r.look(r.read(p)) }
		p, lay, err := newPlan(name, rows.Schema(), o, nil, begin)
		if err != nil {
			return nil, nil, err
		}
		r.plan = p
		return r, lay, r.used(p, rows)
	}
}

func (r *records) read(p *plan) (err error) {
	r.cur, r.next = nil, 0
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	r.cur, err = recordBatch(p, r.rows.RecordBatch())
	return err
}

// Next implements format.Runs.
func (r *records) Next(_ []byte, size int) (format.Run, error) {
	return r.take(size, func() error { return r.read(r.plan) })
}

// Close implements format.Runs.
func (r *records) Close() {
	if r.cur != nil {
		r.cur.release()
	}
}
