package eval

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// Trace is what a run tells of the examples that it learns beside what it counts: by which runs of
// parts of an ensemble over the same examples are joined.
type Trace struct {
	// Examples is how many were learned so far, over all passes, and Sum a fingerprint of them, of
	// 53 bits, equal for equal examples in equal order. A run goes on from what they are.
	Examples int64
	Sum      uint64
	// Write, if there, is given what a part did with the examples of each block, in order, after
	// Examples and Sum have counted them: see learner.Tracer, which the learner must be
	// (ErrOptions). The slice is used again. An error ends the run.
	Write func(entries []byte) error
	// Flush, if there, is called by package training before a model is saved, at checkpoints and at
	// the end: what Write was given must last as the model does. An error ends the run.
	Flush func() error
}

// tracing is what a run needs for a Trace.
type tracing[T engine.Float] struct {
	to      *Trace
	entries learner.Trace
}

// begin has the learner write what it does; end ends that.
func (t *tracing[T]) begin(l learner.Learner[T], to *Trace) (end func(), err error) {
	t.to = to
	if to == nil || to.Write == nil {
		return func() {}, nil
	}
	tracer := learner.TracerOf(l)
	if tracer == nil {
		return nil, fmt.Errorf("eval: a trace of a learner that writes none: %w", ErrOptions)
	}
	tracer.TraceTo(&t.entries)
	return func() { tracer.TraceTo(nil) }, nil
}

// learned is called with each block when it was learned.
func (t *tracing[T]) learned(b *engine.Block[T]) error {
	if t.to == nil {
		return nil
	}
	t.to.Examples += int64(b.Len())
	t.to.Sum = learner.Fingerprinted(t.to.Sum, b)
	if t.to.Write == nil {
		return nil
	}
	err := t.to.Write(t.entries.Bytes)
	t.entries.Reset()
	return err
}
