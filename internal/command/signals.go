package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// untilStopped returns a context that ends when the user wants the work to: by an interrupt,
// SIGTERM, or SIGHUP, which the end of a terminal sends. After it an interrupt and SIGTERM kill as
// they always do.
func untilStopped() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(ctx)
	onHangup(cancel)
	context.AfterFunc(ctx, stop)
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
