package dataset

import (
	"context"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/format"
)

// OpenRuns makes a stream of runs of examples that a program has, instead of a file that f would
// open: they are parsed as those of f are. open gets what [format.Format.Runs] gets, and returns
// the runs and their layout; it is called once, before OpenRuns returns. name stands for them in
// errors. f need not be registered. Errors are those of open and of [Open].
func OpenRuns[T engine.Float](ctx context.Context, name string, f *format.Format,
	open func(o *format.Options) (format.Runs, *format.Layout, error), o Options) (*Stream[T],
	error) {
	return openRuns[T](ctx, name, f, open, o, false)
}

// LoadRuns is OpenRuns of all examples, put together in memory as [Load] does.
func LoadRuns[T engine.Float](ctx context.Context, name string, f *format.Format,
	open func(o *format.Options) (format.Runs, *format.Layout, error), o Options) (*Data[T],
	error) {
	return loaded(openRuns[T](ctx, name, f, open, o, true))
}

func openRuns[T engine.Float](ctx context.Context, name string, f *format.Format,
	open func(o *format.Options) (format.Runs, *format.Layout, error), o Options,
	whole bool) (*Stream[T], error) {
	from := &opener{}
	s, err := newStream[T]([]string{name}, from, o, whole)
	if err != nil {
		return nil, err
	}
	s.foreign = true
	if f == format.Blocks && whole && o.Memory == 0 { // batches are copied whole
		s.gate.most = math.MaxInt64
	}
	return s.begin(ctx, func() error {
		if err := s.divided(); err != nil {
			return err
		}
		if g := s.cfg.format; g != nil && g != f {
			return badOption("format", s.cfg.Format, "auto or "+f.Name)
		}
		if err := s.cfg.foreign(name, f); err != nil {
			return err
		}
		s.settings(f)
		s.info.Format = f.Name
		s.opts = s.options()
		in := &input{name: name, limits: &s.lim, read: &from.read, close: func() {}}
		s.first = in
		if in.runs, in.layout, err = open(s.opts); err != nil {
			return err
		}
		s.layout = in.layout
		return s.arranged(f)
	})
}
