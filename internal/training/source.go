package training

import (
	"context"
	"fmt"
	"io"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
)

// Source is a stream of examples that lie in no file, such as a topic's messages or a program's own
// arrays.
type Source struct {
	// Reader gives their text, rows of one of the formats of package dataset in whole lines. Its
	// reads are ended by Close. The run ends where it returns io.EOF, or for now at ErrPaused.
	Reader io.Reader
	// Place is dataset.Options.Placed: it returns the place behind the first n bytes that Reader
	// gave, so that a run that is resumed begins there, learns each row once, and reads none of
	// those before. nil: there are no places, and Open is asked for the beginning.
	Place func(n int64) string
	// Located is dataset.Options.Located: it returns how errors name line n, from 1, of what Reader
	// gave. nil: as line n of the source.
	Located func(n int) (name string, line int)
	// Blocks32 gives examples that are no text, and Reader is nil: for runs in float32, of what
	// dataset.OpenBlocks takes. Blocks64 is the same for runs in float64.
	Blocks32 dataset.Blocks[float32]
	Blocks64 dataset.Blocks[float64]
	// Close is called at the end of the run, once; nil: nothing is to be done.
	Close func() error
}

// blocksOf returns the blocks of the source in the precision of T; nil: it has text.
func blocksOf[T engine.Float](s *Source) dataset.Blocks[T] {
	var blocks any = s.Blocks32
	if _, wide := any(T(0)).(float64); wide {
		blocks = s.Blocks64
	}
	of, _ := blocks.(dataset.Blocks[T])
	return of
}

// source opens that of the run, which closed closes. Its name is that of Options.Files.
func (j *Job) source(ctx context.Context, at string) (src *Source, closed func(), err error) {
	opened, err := j.env.Open(ctx, at)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", j.o.Files[0], err)
	}
	return &opened, opened.close, nil
}

// close calls Close.
func (s *Source) close() {
	if s.Close != nil {
		s.Close() // what was learned is saved, so its error changes nothing
	}
}

// stream opens that of the run: of its files, or of its source.
func (r *run[T]) stream(ctx context.Context, o dataset.Options) (s *dataset.Stream[T],
	work context.Context, done func(), err error) {
	j, at := r.j, ""
	if j.env.Open == nil {
		s, work, done, err = Open[T](ctx, j.o.Files, o)
		if err == nil && j.regular() {
			work = ctx // what was read can be read again
		}
		return s, work, done, err
	}
	if j.at.placed() {
		at = j.at.position.Sources[0].At
	}
	src, _, err := j.source(ctx, at)
	if err != nil {
		return nil, nil, nil, err
	}
	s, work, done, err = OpenSource[T](ctx, j.o.Files[0], *src, o)
	if err == nil && j.env.Repeats {
		work = ctx
	}
	return s, work, done, err
}

// regular reports whether all files can be read again.
func (j *Job) regular() bool {
	for _, name := range j.o.Files {
		if st, err := j.data.Stat(name); err != nil || !st.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// ReadOnce returns the name of a file that can be read only once, such as a pipe; "" where there is
// none.
func (j *Job) ReadOnce() string {
	for _, name := range j.o.Files {
		if name == "-" {
			return "standard input"
		}
		st, err := j.data.Stat(name)
		if err == nil && !st.Mode().IsRegular() && !st.IsDir() {
			return name
		}
	}
	return ""
}

// OpenSource is Open of a source, which is called name in errors. done closes it, too; where there
// is an error it is closed already.
func OpenSource[T engine.Float](ctx context.Context, name string, src Source,
	o dataset.Options) (s *dataset.Stream[T], work context.Context, done func(), err error) {
	o.Placed, o.Located = src.Place, src.Located
	s, work, end, err := stream(ctx, func(work context.Context) (*dataset.Stream[T], error) {
		if blocks := blocksOf[T](&src); blocks != nil {
			return dataset.OpenBlocks(work, name, blocks, o)
		}
		return dataset.OpenReader[T](work, name, src.Reader, o)
	})
	if err != nil {
		src.close()
		return nil, nil, nil, err
	}
	return s, work, func() { src.close(); end() }, nil
}

// load reads all examples of the run into memory.
func (r *run[T]) load(ctx context.Context, o dataset.Options) (*dataset.Data[T], error) {
	j := r.j
	if j.env.Open == nil {
		return dataset.Load[T](ctx, j.o.Files, o)
	}
	src, closed, err := j.source(ctx, "")
	if err != nil {
		return nil, err
	}
	defer closed()
	if blocks := blocksOf[T](src); blocks != nil {
		return dataset.LoadBlocks(ctx, j.o.Files[0], blocks, o)
	}
	return dataset.LoadReader[T](ctx, j.o.Files[0], src.Reader, o)
}
