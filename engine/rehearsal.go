package engine

import (
	"context"
	"slices"
	"time"
)

// Rehearsal is what a pool of [NewRehearsal] has measured. It belongs to one goroutine.
type Rehearsal struct {
	// Parts is the time of all parts, one after the other, and Span what they would have taken on
	// the workers, without the time of handing them out.
	Parts, Span time.Duration
	// All hands over work however little it is, so that it is seen at all.
	All bool

	clock func() time.Duration
	free  []time.Duration // when each worker has done its parts of the present Run
}

// NewRehearsal returns a pool that stands for one of so many workers, at least 2: whoever asks it
// cuts and hands over work as for these, but Run runs every part on the caller, takes its time by
// the clock, and gives it to the worker that would be free first. What is outside of Run is serial.
// So a machine of few cores, and a busy one, shows how work is spread over many. The pool is for
// one goroutine, and needs no Close. A part that panics does so in the caller.
func NewRehearsal(workers int, clock func() time.Duration) (*Pool, *Rehearsal) {
	r := &Rehearsal{clock: clock, free: make([]time.Duration, workers)}
	return &Pool{workers: workers, rehearsal: r}, r
}

func (r *Rehearsal) run(ctx context.Context, n int, j Job) error {
	clear(r.free)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		begin := r.clock()
		j.Part(i)
		took := r.clock() - begin
		first := 0
		for w, t := range r.free {
			if t < r.free[first] {
				first = w
			}
		}
		r.free[first] += took
		r.Parts += took
	}
	r.Span += slices.Max(r.free)
	return nil
}
