package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// errTerminated is the cause of a context's end by SIGTERM.
var errTerminated = fmt.Errorf("terminated: %w", context.Canceled)

// terminated reports whether SIGTERM has ended the work.
func terminated(ctx context.Context) bool { return context.Cause(ctx) == errTerminated }

// untilStopped returns a context that ends when the user wants the work to: by an interrupt,
// SIGTERM, or SIGHUP, which the end of a terminal sends. After it an interrupt and SIGTERM kill as
// they always do.
func untilStopped() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				cancel(errTerminated)
			}
			cancel(nil)
		case <-ctx.Done():
		}
		signal.Stop(signals)
	}()
	onHangup(func() { cancel(nil) })
	return ctx
}

// results is stdout. Where the reader of a pipe is gone the process ends as any other does that
// writes to one.
type results struct{ watched }

func (r *results) Write(p []byte) (int, error) {
	n, err := r.watched.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		dieOfBrokenPipe(r.Writer, p)
	}
	return n, err
}
