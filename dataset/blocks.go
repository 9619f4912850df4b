package dataset

import (
	"context"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// Batch is a run of examples that a program has made, see [OpenBlocks].
type Batch[T engine.Float] = format.Batch[T]

// Blocks is a source of examples that are in blocks already.
type Blocks[T engine.Float] interface {
	// Next returns the next examples, io.EOF behind the last. One goroutine calls it. The batch is
	// the stream's until its Done is called.
	Next() (*Batch[T], error)
}

// OpenBlocks makes a stream of blocks that a program has made. They go the way of text: values and
// indices are checked (a bad row is an ErrBadRow, which Options.OnError may skip), two labels are
// distinguished and become -1 and +1, the bias is appended, rows are divided by their length,
// what waits is bounded. Sparse and dense batches don't mix, and dense ones are all as wide.
//
// name stands for the source in errors, whose lines are the examples, from 1, and whose columns are
// the places of values in them. Options that belong to files (IndexBase, LabelCol, Columns, Header)
// are not looked at; the format of [Info] is "blocks", and its Kind svmlight, since features have
// numbers: 1, 2, ... An error of src ends the stream. Cost: one
// copy, made by Options.Workers goroutines.
func OpenBlocks[T engine.Float](ctx context.Context, name string, src Blocks[T],
	o Options) (*Stream[T], error) {
	return openRuns[T](ctx, name, format.Blocks, runsOf(name, src, o, false), o, false)
}

// LoadBlocks is OpenBlocks to the end of src, into memory of its own.
func LoadBlocks[T engine.Float](ctx context.Context, name string, src Blocks[T],
	o Options) (*Data[T], error) {
	return loaded(openRuns[T](ctx, name, format.Blocks, runsOf(name, src, o, true), o, true))
}

// blockRuns gives batches in runs that take about as much as a chunk of text.
type blockRuns[T engine.Float] struct {
	src     Blocks[T]
	name    string
	shares  int // of each batch, where all is kept; 0: chunks
	started bool
	width   int
	slabs   []format.Slab
}

// runsOf opens the runs of a source. Where all is kept in memory without a bound, batches are cut
// into as many equal shares as there are workers, so that little need be put together in the end.
func runsOf[T engine.Float](name string, src Blocks[T], o Options,
	whole bool) func(*format.Options) (format.Runs, *format.Layout, error) {
	return func(opts *format.Options) (format.Runs, *format.Layout, error) {
		r := &blockRuns[T]{src: src, name: name}
		if whole && o.Memory == 0 {
			r.shares = opts.Workers
		}
		return r, &format.Layout{Kind: format.SVMLight.Name, IndexBase: 1,
			BaseFound: "blocks have no numbers of their own", NoRows: "none"}, nil
	}
}

// Next implements format.Runs.
func (r *blockRuns[T]) Next(_ []byte, size int) (format.Run, error) {
	for len(r.slabs) == 0 {
		b, err := r.src.Next()
		if err != nil {
			return format.Run{}, err
		}
		if !r.started {
			r.started, r.width = true, b.Width()
		}
		if err = b.Check(r.width); err != nil {
			return format.Run{}, &RowError{File: r.name, Line: 1, Col: 1, What: err.Error(),
				Err: ErrFormat}
		}
		if r.shares > 0 {
			size = max(size, int(min(b.TextBytes()/int64(r.shares)+1, math.MaxInt32)))
		}
		r.slabs = b.Slabs(size)
	}
	slab := r.slabs[0]
	r.slabs = r.slabs[1:]
	return format.Run{Value: slab.Rows, Bytes: slab.Size}, nil
}

// Close implements format.Runs.
func (r *blockRuns[T]) Close() {}
