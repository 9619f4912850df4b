package training

import (
	"context"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
)

// graceTime is how long work that is stopped goes on with what was read already: what came through
// a pipe can't be read again. Longer would keep a user waiting who has pressed Ctrl-C.
const graceTime = 2 * time.Second

// openTime is how long work that is stopped waits for a stream to open: where lines have come,
// their format is known by then, and where none have come there is nothing to lose.
const openTime = 200 * time.Millisecond

// Open opens files as a stream whose reading stops when ctx ends: the rows read until then still
// come, and dataset.ErrStopped behind them. The context that is returned, for work on them, ends
// two seconds later. done closes the stream. Errors are those of dataset.Open, and ctx's cause.
func Open[T engine.Float](ctx context.Context, files []string,
	o dataset.Options) (s *dataset.Stream[T], work context.Context, done func(), err error) {
	return stream(ctx, func(work context.Context) (*dataset.Stream[T], error) {
		return dataset.Open[T](work, files, o)
	})
}

// stream is Open of what open opens.
func stream[T engine.Float](ctx context.Context,
	open func(work context.Context) (*dataset.Stream[T], error)) (
	s *dataset.Stream[T], work context.Context, done func(), err error) {
	// Three lives: ctx is the caller's; patience ends openTime after it, while the stream opens;
	// work ends graceTime after it, once the stream is open.
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	patience, end := context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() {
		time.AfterFunc(openTime,
			func() { end(context.Cause(ctx)) })
	})
	s, err = await(patience, func() (*dataset.Stream[T], error) {
		return open(work)
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

// await runs f, which may be waiting for input that never comes, and gives it up when ctx ends: f
// then goes on in its goroutine, as a blocked read can't be called back, and its result is dropped.
func await[R any](ctx context.Context, f func() (R, error)) (R, error) {
	type outcome struct {
		r   R
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := f()
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		return o.r, o.err
	case <-ctx.Done():
		var none R
		return none, context.Cause(ctx)
	}
}
