package eval

import (
	"context"
	"io"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// Score passes over src, scores each block (at most DefaultBlock examples at once) with l as it is, and hands both to each.
// The slices are good during the call only.
func Score[T engine.Float](ctx context.Context, l learners.Learner[T], src Source[T], each func(b *engine.Block[T], scores []float64) error) error {
	if mem, ok := src.(*Memory[T]); ok {
		mem.Rewind(nil)
		defer mem.Rewind(nil)
	}
	scores := make([]float64, DefaultBlock)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, err := src.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for lo := 0; lo < b.Len(); lo += DefaultBlock {
			part := b.Slice(lo, min(lo+DefaultBlock, b.Len()))
			dst := scores[:part.Len()]
			if err := l.Score(&part, dst); err != nil {
				return err
			}
			if err := each(&part, dst); err != nil {
				return err
			}
		}
	}
}

// Count is the errors among some examples.
type Count struct {
	Examples int64 `json:"examples"`
	Errors   int64 `json:"errors"` // wrong predicted labels; a score of 0 predicts +1
}

// Error returns Errors/Examples, 0 without examples.
func (c Count) Error() float64 {
	if c.Examples == 0 {
		return 0
	}
	return float64(c.Errors) / float64(c.Examples)
}

// Add tallies one score.
func (c *Count) Add(y, score float64) {
	c.Examples++
	if wrong(y, score) {
		c.Errors++
	}
}

// Test returns the errors of l, as it is, on src.
func Test[T engine.Float](ctx context.Context, l learners.Learner[T], src Source[T]) (Count, error) {
	var c Count
	err := Score(ctx, l, src, func(b *engine.Block[T], scores []float64) error {
		for i, f := range scores {
			c.Add(float64(b.Y[i]), f)
		}
		return nil
	})
	return c, err
}

// Margin returns the geometric margin of l's hypothesis over src: the least y f(x)/|w|, negative if an example is on the wrong
// side. ok is false where it is not defined: the learner has no weight vector, the vector is 0, or src is empty.
// The examples are taken as prepared: an appended bias feature and its weight count like any other.
func Margin[T engine.Float](ctx context.Context, l learners.Learner[T], src Source[T]) (margin float64, ok bool, err error) {
	w := l.Weights()
	norm := math.Sqrt(vecmath.SumSq(w))
	if !(norm > 0) {
		return 0, false, nil
	}
	least := math.Inf(1)
	err = Score(ctx, l, src, func(b *engine.Block[T], scores []float64) error {
		for i, f := range scores {
			least = min(least, float64(b.Y[i])*f)
		}
		return nil
	})
	margin = least / norm
	if err != nil || math.IsNaN(margin) || math.IsInf(margin, 0) { // no examples, or a learner that diverged
		return 0, false, err
	}
	return margin, true, nil
}
