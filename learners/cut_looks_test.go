package learners_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// counted is a context that counts the looks at it, and ends at the one of that number.
type counted struct {
	context.Context
	looks atomic.Int64
	end   int64 // 0: never
}

// Err is context.Context.Err.
func (c *counted) Err() error {
	if n := c.looks.Add(1); c.end > 0 && n >= c.end {
		return context.Canceled
	}
	return nil
}

// TestFitLooksAtContext: between two looks at ctx there are at most 2^25 elements of work, which
// take less than 0.1 s, however much an update costs: 1 to 4 ns each, on a machine of 2026. To make
// the Gram matrix is work, too.
func TestFitLooksAtContext(t *testing.T) {
	const examples, dim, updates = 1500, 20, 60_000
	b := learnertest.Dense[float64](examples, dim, 0)
	for i := range b.Y { // not separable
		if i%7 == 0 {
			b.Y[i] = -b.Y[i]
		}
	}
	for name, c := range map[string]learner.Config{
		"perceptron": &learners.PerceptronConfig{Margin: 1, Eta: 1}, // by a fixed rule
		"cramma":     &learners.CRAMMAConfig{Epsilon: 0.5, Beta: 0.8, Eta: 0.02, EtaDelta: 1},
	} {
		fit := func(l learner.Learner[float64], ctx *counted, updates int64) learner.FitResult {
			t.Helper()
			r, err := l.(learner.Fitter[float64]).Fit(ctx, b,
				learner.FitOptions{MaxUpdates: updates})
			if err != nil && !errors.Is(err, context.Canceled) || !r.ScoreSpace {
				t.Fatalf("%s: %+v, %v", name, r, err)
			}
			return r
		}
		whole, ctx := newLearner[float64](t, name, c), &counted{Context: t.Context()}
		fit(whole, ctx, updates)
		work := int64(examples*examples/2*dim + updates*examples)
		looks := ctx.looks.Load()
		if least := work >> 25; looks < least {
			t.Errorf("%s: %d looks at the context in %d updates of %d examples, want %d", name,
				looks, updates, examples, least)
		}
		// ended at any look, and gone on with, a run is the same
		for end := int64(1); end <= looks; end++ {
			l := newLearner[float64](t, name, c)
			r := fit(l, &counted{Context: t.Context(), end: end}, updates)
			fit(l, &counted{Context: t.Context()}, updates-r.Updates)
			if !bytes.Equal(learnertest.StateBytes(l.State()),
				learnertest.StateBytes(whole.State())) {
				t.Errorf("%s: ended at look %d, after %d updates, the run is another", name, end,
					r.Updates)
			}
		}
	}
}
