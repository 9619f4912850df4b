package learners

import "github.com/halfspace-ml/halfspace/engine"

// MistakeChecker is a Learner for which a whole pass without an update doesn't mean that it has
// converged, as an ensemble whose members see parts of the examples: mistakes may be left.
type MistakeChecker[T Float] interface {
	// Mistakes returns how many examples of b are mistakes (y f(x) <= 0) of the hypothesis or of
	// any part of it, with the present state, and changes nothing that later calls see. It fails as
	// Learn does, and like it is not for many goroutines at once. Cost: the scores of all members.
	Mistakes(b *engine.Block[T]) (int, error)
}

// MistakeCheckerOf returns what checks l, or nil if a pass without an update is all: l itself, or
// what stands for the learner that l gives its examples to.
func MistakeCheckerOf[T Float](l Learner[T]) MistakeChecker[T] {
	if w, ok := l.(interface{ checker() MistakeChecker[T] }); ok {
		return w.checker()
	}
	c, _ := l.(MistakeChecker[T])
	return c
}

// countMistakes returns how many of the scores f of b's examples are mistakes, or whose members'
// mistakes aren't 0.
func countMistakes[T Float](b *engine.Block[T], f, members []float64) (n int) {
	for i, y := range b.Y {
		if !(float64(y)*f[i] > 0) || members[i] != 0 {
			n++
		}
	}
	return n
}

// checker is for MistakeCheckerOf: the mistakes are the inner learner's.
func (l *RFF[T]) checker() MistakeChecker[T] {
	if inner := MistakeCheckerOf(l.inner); inner != nil {
		return &rffChecker[T]{l, inner}
	}
	return nil
}

type rffChecker[T Float] struct {
	rff   *RFF[T]
	inner MistakeChecker[T]
}

// Mistakes is MistakeChecker.Mistakes.
func (c *rffChecker[T]) Mistakes(b *engine.Block[T]) (n int, err error) {
	if err := checkBlock("rff", b, b.Len()); err != nil {
		return 0, err
	}
	err = c.rff.each(b, func(z *engine.Block[T], _, _ int) error {
		of, err := c.inner.Mistakes(z)
		n += of
		return err
	})
	return n, err
}
