// Package margins measures the margins of hypotheses.
package margins

import (
	"context"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
)

// Margins measures a hypothesis f(x) = w.x + b on some examples.
type Margins struct {
	Least float64    // min y f(x), negative if an example is on the wrong side
	W     []float64  // one a feature as prepared
	Count eval.Count // of the same examples
}

// Norm returns the p-norm margin Least/|w|_q, 1/p + 1/q = 1, p >= 1 or +Inf: the least distance, in
// the p-norm, of an example from the hyperplane (PUMMA paper, Lemma 1). The first skip weights
// don't count, as that of an appended bias where margins are to be those of the examples without
// it. NaN if no other weight is there.
func (m Margins) Norm(p float64, skip int) float64 {
	w := m.W[min(skip, len(m.W)):]
	var norm float64
	switch {
	case p == 2:
		norm = math.Sqrt(vecmath.SumSq(w))
	case p == 1: // q is infinite: the largest weight
		for _, v := range w {
			norm = max(norm, math.Abs(v))
		}
	default:
		q := 1 / (1 - 1/p) // the dual exponent; 1 for p = +Inf
		for _, v := range w {
			norm += math.Pow(math.Abs(v), q)
		}
		norm = math.Pow(norm, 1/q)
	}
	if !(norm > 0) {
		return math.NaN()
	}
	return m.Least / norm
}

// Measure takes the Margins of p over src. ok is false where none is defined: p has no weight
// vector or several, the vector is 0, scores are not finite, or src is empty. The examples are
// taken as prepared: an appended bias feature and its weight count like any other.
func Measure[T engine.Float](ctx context.Context, p learner.Predictor[T],
	src eval.Source[T]) (m Margins, ok bool, err error) {
	return measure(ctx, p, src, func(*engine.Block[T]) {})
}

// measure is Measure that hands the blocks to visit.
func measure[T engine.Float](ctx context.Context, p learner.Predictor[T], src eval.Source[T],
	visit func(b *engine.Block[T])) (m Margins, ok bool, err error) {
	m = Margins{Least: math.Inf(1), W: p.Weights()}
	if !(vecmath.SumSq(m.W) > 0) || p.Outputs() > 1 {
		return m, false, nil
	}
	err = eval.Score(ctx, p, src, func(b *engine.Block[T], scores []float64) error {
		for i, f := range scores {
			m.Least = min(m.Least, float64(b.Y[i])*f)
			m.Count.Add(float64(b.Y[i]), f)
		}
		visit(b)
		return nil
	})
	d := m.Norm(2, 0)
	return m, err == nil && d-d == 0, err // not finite: no examples, or a learner that diverged
}
