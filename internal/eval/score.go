package eval

import (
	"context"
	"fmt"
	"io"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// Score passes over src, scores each block (at most DefaultBlock examples at once) with p, and
// hands both to each. The slices are good during the call only.
func Score[T engine.Float](ctx context.Context, p learner.Predictor[T], src Source[T],
	each func(b *engine.Block[T], scores []float64) error) error {
	if mem, ok := src.(*Memory[T]); ok {
		mem.Rewind(nil)
		defer mem.Rewind(nil)
	}
	outputs := p.Outputs()
	scores := make([]float64, DefaultBlock*outputs)
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
			dst := scores[:part.Len()*outputs]
			if err := p.Score(&part, dst); err != nil {
				return err
			}
			if err := each(&part, dst); err != nil {
				return err
			}
		}
	}
}

// Count is what was counted of scores beside the labels. Warnings says what they are worth.
type Count struct {
	Examples  int64 `json:"examples"`
	Errors    int64 `json:"errors"`    // wrong predicted labels; a score of 0 predicts +1
	Positives int64 `json:"positives"` // labelled +1
	Predicted int64 `json:"predicted"` // as +1
	// scores that are NaN or infinite; NaN is an error and predicts neither label
	NotFinite int64 `json:"not_finite"`
	Changes   int64 `json:"changes"` // examples whose label is not that of the one before

	last    float64 // label of the one before; 0: none
	neither bool    // an example had none of the two labels
}

// Error returns Errors/Examples, 0 without examples.
func (c Count) Error() float64 { return share(c.Errors, c.Examples) }

// Add tallies one score of an example labelled y, -1 or +1; 0 is neither, of which any score is an
// error.
func (c *Count) Add(y, score float64) {
	c.Examples++
	c.Errors += one(wrong(y, score))
	c.Positives += one(y > 0)
	c.Predicted += one(score >= 0)
	c.NotFinite += one(score-score != 0) // NaN or infinite
	c.Changes += one(y*c.last < 0)       // not at the first example, where last is 0
	c.last, c.neither = y, c.neither || y == 0
}

// one is 1 for what is true: without a branch, which labels and scores make hard to predict.
func one(b bool) (n int64) {
	if b {
		n = 1
	}
	return n
}

// addAll tallies the scores of a block: of classes, the outputs of each example, as the score of
// its own class against the others.
func addAll[T engine.Float](c *Count, b *engine.Block[T], scores []float64) {
	if b.Class == nil {
		for i, f := range scores {
			c.Add(float64(b.Y[i]), f)
		}
		return
	}
	k := len(scores) / max(b.Len(), 1)
	for i, class := range b.Class {
		c.Add(1, learner.ClassScore(scores[i*k:][:k], int(class)))
	}
}

// Test returns the errors of p on src. [learner.ViewOf] gives the Predictor of a learner as it is.
func Test[T engine.Float](ctx context.Context, p learner.Predictor[T],
	src Source[T]) (Count, error) {
	var c Count
	err := Score(ctx, p, src, func(b *engine.Block[T], scores []float64) error {
		addAll(&c, b, scores)
		return nil
	})
	return c, err
}

// Tally adds what p predicts of src to m: with probabilities, where p has any and they are asked
// for (ErrOptions if it has none). Without labels there are no outcomes: each example needs one.
func Tally[T engine.Float](ctx context.Context, p learner.Predictor[T], src Source[T], m *Metrics,
	proba bool) (Count, error) {
	return TallyEach(ctx, p, src, proba, func(o *Outcome, scores []float64) {
		if len(scores) > 0 {
			m.AddScored(o, scores)
		} else {
			m.Add(o)
		}
	})
}

// TallyEach hands the outcomes to each, one by one, with the classes' scores where there are more
// than two, good during the call; else it is Tally.
func TallyEach[T engine.Float](ctx context.Context, p learner.Predictor[T], src Source[T],
	proba bool, each func(*Outcome, []float64)) (Count, error) {
	var c Count
	t, err := newTally(p, each, proba)
	if err != nil {
		return c, err
	}
	err = Score(ctx, p, src, func(b *engine.Block[T], scores []float64) error {
		addAll(&c, b, scores)
		return t.add(b, scores)
	})
	return c, err
}

// tally makes outcomes.
type tally[T engine.Float] struct {
	each   func(*Outcome, []float64)
	k      int // outputs
	prober learner.Prober[T]
	proba  []float64
}

func newTally[T engine.Float](p learner.Predictor[T], each func(*Outcome, []float64),
	proba bool) (*tally[T], error) {
	t := &tally[T]{each: each, k: p.Outputs()}
	if !proba {
		return t, nil
	}
	if t.prober = learner.ProbaOf(p); t.prober == nil {
		return nil, fmt.Errorf("eval: probabilities of a predictor that has none: %w", ErrOptions)
	}
	t.proba = make([]float64, DefaultBlock*max(t.k, 1))
	return t, nil
}

func (t *tally[T]) add(b *engine.Block[T], scores []float64) error {
	if t.prober != nil {
		if err := t.prober.Proba(b, t.proba); err != nil {
			return err
		}
	}
	for i := range b.Len() {
		var o Outcome
		var each []float64
		if b.Class != nil {
			each = scores[i*t.k:][:t.k]
			o = OutcomeOf(int(b.Class[i]), learner.Predicted(each))
			if t.prober != nil {
				o.BelieveEach(t.proba[i*t.k:][:t.k])
			}
		} else {
			o = Outcome2(float64(b.Y[i]), scores[i])
			if t.prober != nil {
				o.Believe(t.proba[i])
			}
		}
		o.Weight = float64(b.Weight(i))
		t.each(&o, each)
	}
	return nil
}
