package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// waiting is the examples that were predicted and whose labels have not come: Options.Delay. The
// blocks that they came in are copied, and their memory serves the next ones.
type waiting[T engine.Float] struct {
	blocks, free []*engine.Block[T]
	at           int // of the first block: examples that are learned
	asked        []asked
	first        int // of asked
	scores       []float64
}

// asked is what was predicted of an example.
type asked struct {
	round    learner.Round
	believed Outcome
	sample   []float64 // of SampleEach examples of classes, one's scores; else nil
}

// len returns how many wait.
func (w *waiting[T]) len() int { return len(w.asked) - w.first }

// take copies a block.
func (w *waiting[T]) take(b *engine.Block[T]) {
	var c *engine.Block[T]
	if n := len(w.free); n > 0 {
		c, w.free = w.free[n-1], w.free[:n-1]
	} else {
		c = new(engine.Block[T])
	}
	c.Copy(b)
	w.blocks = append(w.blocks, c)
}

// next makes view the first example that waits, which no longer does, and returns what was
// predicted of it.
func (w *waiting[T]) next(view *engine.Block[T]) asked {
	for w.at == w.blocks[0].Len() {
		w.free = append(w.free, w.blocks[0])
		n := copy(w.blocks, w.blocks[1:])
		w.blocks, w.at = w.blocks[:n], 0
	}
	*view = w.blocks[0].Slice(w.at, w.at+1)
	w.at++
	a := w.asked[w.first]
	if w.first++; w.first > 1024 && w.first > len(w.asked)/2 {
		n := copy(w.asked, w.asked[w.first:])
		w.asked, w.first = w.asked[:n], 0
	}
	return a
}

// delayed predicts the examples of b, and learns those whose labels come meanwhile.
func (r *run[T]) delayed(ctx context.Context, b *engine.Block[T]) error {
	if r.o.Prepare != nil {
		r.o.Prepare(0, b.Len())
	}
	r.waits.take(b)
	for i := range b.Len() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.view = b.Slice(i, i+1)
		if err := r.ask(&r.view); err != nil {
			return err
		}
		if err := r.learn(ctx, r.o.Delay); err != nil {
			return err
		}
	}
	r.res.Learn += r.lap()
	return nil
}

// ask predicts the one example of b.
func (r *run[T]) ask(b *engine.Block[T]) error {
	w := r.waits
	if err := r.believe(b); err != nil {
		return err
	}
	k := learner.OutputsOf(r.l)
	for len(w.scores) < k {
		w.scores = append(w.scores, 0)
	}
	f := w.scores[:k]
	if err := r.l.Score(b, f); err != nil {
		return fmt.Errorf("after %d examples: %w", r.res.Presented, err)
	}
	a := asked{believed: r.believed}
	if b.Class != nil {
		a.round.Score = learner.ClassScore(f, int(b.Class[0]))
		a.round.Predicted = int32(learner.Predicted(f))
		if r.classes != nil && (r.res.Presented+int64(w.len()))%SampleEach == 0 {
			a.sample = slices.Clone(f)
		}
	} else {
		a.round.Score = f[0]
	}
	w.asked = append(w.asked, a)
	return nil
}

// answer puts what was predicted when the example was asked about in the place of the round in
// which it was learned, and returns 1 if that was a mistake, which the learner's count has.
func (r *run[T]) answer(b *engine.Block[T], round *learner.Round) (mistake int64) {
	y := 1.0
	if b.Class == nil {
		y = float64(b.Y[0])
	}
	mistake = one(!(y*round.Score > 0))
	round.Score, round.Predicted = r.answered.round.Score, r.answered.round.Predicted
	return mistake
}

// learn learns examples until no more than so many wait.
func (r *run[T]) learn(ctx context.Context, most int) error {
	for r.waits.len() > most {
		if most == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.answered = r.waits.next(&r.view)
		if err := r.block(&r.view); err != nil {
			return err
		}
	}
	return nil
}
