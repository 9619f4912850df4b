package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	return openBlocks(ctx, name, src, o, false)
}

// LoadBlocks is OpenBlocks to the end of src, into memory of its own.
func LoadBlocks[T engine.Float](ctx context.Context, name string, src Blocks[T],
	o Options) (*Data[T], error) {
	s, err := openBlocks(ctx, name, src, o, true)
	if err != nil {
		return nil, err
	}
	return s.load()
}

func openBlocks[T engine.Float](ctx context.Context, name string, src Blocks[T], o Options,
	whole bool) (*Stream[T], error) {
	s, err := newStream[T]([]string{name}, &opener{}, o, whole)
	if err != nil {
		return nil, err
	}
	s.source = src
	if s.atOnce() {
		s.gate.most = math.MaxInt64
	}
	return s.begin(ctx, s.prepareBlocks)
}

// prepareBlocks settles what needs no look at the source.
func (s *Stream[T]) prepareBlocks() error {
	if err := s.divided(); err != nil {
		return err
	}
	f := format.Blocks
	if s.cfg.format != nil && s.cfg.format != f {
		return badOption("format", s.cfg.Format, "auto or "+f.Name)
	}
	if err := s.cfg.foreign(s.files[0], f); err != nil {
		return err
	}
	s.settings(f)
	s.layout = &format.Layout{IndexBase: 1, BaseFound: "blocks have no numbers of their own",
		NoRows: "none"}
	s.info.Format, s.info.Kind = f.Name, format.SVMLight.Name
	s.info.IndexBase, s.info.BaseFound = 1, s.layout.BaseFound
	if err := s.fitPreset(); err != nil {
		return err
	}
	s.setFinishing()
	return nil
}

// atOnce reports whether batches are copied whole: into a data set without a bound of memory.
func (s *Stream[T]) atOnce() bool { return s.source != nil && s.whole && s.cfg.Memory == 0 }

// slabSize returns how much of a batch a worker takes at a time: as much as a chunk of text, or
// where all is kept an equal share, so that little need be put together in the end.
func (s *Stream[T]) slabSize(b *Batch[T]) int {
	size := s.lim.chunk
	if s.atOnce() {
		share := b.TextBytes()/int64(s.lim.workers) + 1
		size = max(size, int(min(share, math.MaxInt32)))
	}
	return size
}

// readBlocks hands batches over, in runs that take about as much as a chunk of text. The caller
// holds s.cut; it is free while the source is asked.
func (s *Stream[T]) readBlocks() {
	first, width := true, 0
	for {
		if !s.stop.enter() {
			return
		}
		s.cut.Unlock()
		b, err := s.source.Next()
		s.cut.Lock()
		s.stop.leave()
		if s.over || s.ctx.Err() != nil {
			return
		}
		var slabs []format.Slab
		if err == nil {
			if first {
				width = b.Width()
			}
			if err = b.Check(width); err == nil {
				slabs = b.Slabs(s.slabSize(b))
			}
			if err != nil {
				err = &RowError{File: s.files[0], Line: 1, Col: 1, What: err.Error(),
					Err: ErrFormat}
			}
		}
		if err != nil { // nothing comes behind it
			slabs = []format.Slab{{Layout: s.layout}}
		}
		for _, slab := range slabs {
			c := s.chunk(0)
			c.File, c.Layout, c.first, c.size = s.files[0], slab.Layout, first, slab.Size
			first = false
			switch e := new(RowError); {
			case err == io.EOF:
				c.last = true
			case errors.As(err, &e):
				c.fail, c.inLine = err, true
			case err != nil:
				c.fail = fmt.Errorf("%s: %w", s.files[0], err)
			}
			if !s.send(c) || c.last {
				return
			}
		}
	}
}
