package main

import (
	"context"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
)

// graceTime is how long a verb that is stopped goes on with what was read already: what came
// through a pipe can't be read again.
const graceTime = 2 * time.Second

// openTime is how long a verb that is stopped waits for a stream to open: where lines have come,
// their format is known by then.
const openTime = 200 * time.Millisecond

// flushAfter is how long the input may give nothing before what was printed is handed on.
const flushAfter = 10 * time.Millisecond

// openStream opens files as a stream whose reading stops when ctx ends: the rows read until then
// still come, and dataset.ErrStopped behind them. The context that is returned, for work on them,
// ends graceTime later. done closes the stream.
func openStream[T engine.Float](ctx context.Context, files []string,
	o dataset.Options) (s *dataset.Stream[T], work context.Context, done func(), err error) {
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	patience, end := context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() {
		time.AfterFunc(openTime,
			func() { end(context.Cause(ctx)) })
	})
	s, err = await(patience, func() (*dataset.Stream[T], error) {
		return dataset.Open[T](work, files, o)
	})
	unhook()
	end(nil)
	if err != nil {
		cancel(nil)
		return nil, nil, nil, err
	}
	unhook = context.AfterFunc(ctx, func() {
		time.AfterFunc(graceTime, func() { cancel(context.Cause(ctx)) })
		s.Stop()
	})
	return s, work, func() { unhook(); cancel(nil); s.Close() }, nil
}
