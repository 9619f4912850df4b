package training

import (
	"context"
	"errors"
	"io"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/model"
)

// Sample is the first examples of a run over files, prepared and in memory: on it can be tried what
// runs of other settings, or of parts of an ensemble, would cost.
type Sample struct {
	Info dataset.Info // what was found in the data
	Rows int          // examples of the sample
	// Examples is how many the files have: counted where reading came to their end, else by how
	// large a share of their bytes was read; 0 where the size is not known.
	Examples int64
	Counted  bool

	of interface {
		try(ctx context.Context, j *Job, rows int, mark func(learned int)) (*Trial, error)
	}
}

// Trial is a run over a Sample.
type Trial struct {
	Counts eval.Result
	Bytes  int64                // that the learner holds
	State  func() learner.State // of the learner
	Model  func() (*model.Model, error)
}

// NewSample reads the first examples of the job's files into memory, at most so many, and reads on,
// over the files again behind their end, while more returns true: it is asked after each block with
// how many examples were read, so that a caller can tell what reading costs. The job is one pass
// over a stream, or the error is of kind ErrOption; others are those of reading.
func NewSample(ctx context.Context, j *Job, rows int, more func(read int64) bool) (*Sample,
	error) {
	if j.inMemory() || j.whole() || j.env.Open != nil {
		return nil, badOption("One pass in the order of the data, without {normalize} max and "+
			"settings relative to the data.", "a sample is of a stream of files, and these "+
			"settings need all examples in memory")
	}
	read := func() (*Sample, error) {
		if j.precision == "f64" {
			return sample[float64](ctx, j, rows, more)
		}
		return sample[float32](ctx, j, rows, more)
	}
	s, err := read()
	if errors.Is(err, dataset.ErrThird) && j.again() {
		s, err = read()
	}
	return s, err
}

// Run has a job learn the first examples of the sample, at most so many, and saves and measures
// nothing: learning costs what it does in the job's own Run, without the reading. mark is called
// before each block, and at the end, with how many were learned by then. Errors are those of Run.
func (s *Sample) Run(ctx context.Context, j *Job, rows int, mark func(learned int)) (*Trial,
	error) {
	pool, done := j.env.workers(j.o.Threads)
	defer done()
	j.pool = pool
	return s.of.try(ctx, j, rows, mark)
}

// sampled is a Sample in the precision of T.
type sampled[T engine.Float] struct {
	info   dataset.Info
	blocks []*engine.Block[T]
}

// sample is NewSample in the precision of T.
func sample[T engine.Float](ctx context.Context, j *Job, rows int, more func(read int64) bool) (
	*Sample, error) {
	of := &sampled[T]{}
	s := &Sample{of: of}
	for read, on := int64(0), true; on; {
		in, work, done, err := Open[T](ctx, j.o.Files, j.data)
		if err != nil {
			return nil, err
		}
		j.settle(in.Info())
		src, before := weighStream[T](&j.o, in, in.Info), read
		for on {
			var b *engine.Block[T]
			if b, err = src.Next(); err != nil {
				break
			}
			if before == 0 && s.Rows < rows {
				kept, n := new(engine.Block[T]), min(b.Len(), rows-s.Rows)
				first := b.Slice(0, n)
				kept.Copy(&first)
				of.blocks = append(of.blocks, kept)
				s.Rows += n
			}
			read += int64(b.Len())
			on = work.Err() == nil && more(read)
		}
		if before == 0 {
			of.info = in.Info()
			s.Info = of.info
			s.Examples, s.Counted = examplesOf(s.Info, err == io.EOF)
		}
		done()
		if err != nil && err != io.EOF {
			return nil, unread(ctx, err)
		}
		if ctx.Err() != nil {
			return nil, unread(ctx, ctx.Err())
		}
		on = on && read > before
	}
	return s, nil
}

// examplesOf is how many examples there are in all of what was read up to here.
func examplesOf(info dataset.Info, ended bool) (n int64, counted bool) {
	switch {
	case ended:
		return int64(info.Rows), true
	case info.InputSize == 0 || info.InputRead == 0:
		return 0, false
	}
	return int64(float64(info.Rows) * float64(info.InputSize) / float64(info.InputRead)), false
}

func (s *sampled[T]) try(ctx context.Context, j *Job, rows int, mark func(learned int)) (*Trial,
	error) {
	r := &run[T]{j: j, work: ctx}
	r.info = func() dataset.Info { return s.info }
	j.settle(s.info)
	var err error
	if r.room, err = newRoom[T](j, false); err != nil {
		return nil, err
	}
	if err := r.takeClasses(s.info); err != nil {
		return nil, err
	}
	r.in = &trying[T]{blocks: s.blocks, left: rows, mark: mark}
	if err := r.resolve(0); err != nil {
		return nil, err
	}
	if _, err := r.prepare(ctx); err != nil {
		return nil, err
	}
	res, err := r.learn()
	if err != nil {
		return nil, unread(ctx, err)
	}
	return &Trial{Counts: res, Bytes: r.l.Bytes(), State: r.l.State,
		Model: func() (*model.Model, error) { return capture(j, r.l, s.info, res) }}, nil
}

// trying gives the examples of a sample, as many at once as are learned at once.
type trying[T engine.Float] struct {
	blocks  []*engine.Block[T]
	at      int // examples of the first of them that were given
	part    engine.Block[T]
	learned int
	left    int
	mark    func(learned int)
}

// Next is eval.Source.Next.
func (t *trying[T]) Next() (*engine.Block[T], error) {
	t.mark(t.learned)
	if len(t.blocks) > 0 && t.at == t.blocks[0].Len() {
		t.blocks, t.at = t.blocks[1:], 0
	}
	if len(t.blocks) == 0 || t.left == 0 {
		return nil, io.EOF
	}
	b := t.blocks[0]
	n := min(eval.DefaultBlock, b.Len()-t.at, t.left)
	t.part = b.Slice(t.at, t.at+n)
	t.at, t.learned, t.left = t.at+n, t.learned+n, t.left-n
	return &t.part, nil
}
