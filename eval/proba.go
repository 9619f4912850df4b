package eval

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// Probabilities tallies predicted probabilities p = P(y = +1) beside the labels that came. The zero
// value is empty.
type Probabilities struct {
	Examples int64
	logLoss  float64
	brier    float64
	bins     [calibrationBins]struct {
		examples, positive int64
		p                  float64 // sum
	}
}

// calibrationBins equal bins of [0, 1] are what CalibrationError compares; a probability on a
// border belongs to the upper one.
const calibrationBins = 10

// LeastProbability is what LogLoss takes the probability of a label for where it is less: certainty
// that was wrong would cost an infinite loss.
const LeastProbability = 1e-15

// Add tallies one prediction. y is -1 or +1, or 0, which is neither. A NaN is the probability 0 of
// the label that came.
func (s *Probabilities) Add(y, p float64) {
	o := Outcome2(y, 0)
	o.Believe(p)
	s.add(&o)
}

// AddClass tallies one prediction of several classes, p[k] = P(class k). LogLoss is of the
// probability of the class that came, Brier the sum over the classes, and CalibrationError of the
// most probable class, which is that of the example or not. A class without a place in p has the
// probability 0, and so has each where one is NaN.
func (s *Probabilities) AddClass(class int, p []float64) {
	o := Outcome{Class: int32(class)}
	o.BelieveEach(p)
	s.add(&o)
}

// add tallies an outcome with probabilities.
func (s *Probabilities) add(o *Outcome) {
	s.Examples++
	s.logLoss += o.LogLoss()
	s.brier += o.Brier
	if o.Sure == o.Sure {
		b := &s.bins[min(int(o.Sure*calibrationBins), calibrationBins-1)] // 1 is in the last one
		b.examples++
		b.p += o.Sure
		b.positive += one(o.Hit)
	}
}

// LogLoss returns the mean of -log P(y), in nats; 0 without examples.
func (s *Probabilities) LogLoss() float64 { return s.mean(s.logLoss) }

// Brier returns the mean of (p - [y = +1])^2; 0 without examples.
func (s *Probabilities) Brier() float64 { return s.mean(s.brier) }

// CalibrationError returns the expected calibration error: over 10 equal bins of p, the mean,
// weighted by their examples, of the distance between the mean of p and the share of +1; 0 without
// examples.
func (s *Probabilities) CalibrationError() float64 {
	var sum float64
	for _, b := range s.bins {
		sum += math.Abs(b.p - float64(b.positive))
	}
	return s.mean(sum)
}

// Calibration returns the bins of CalibrationError that are not empty, as Metrics.Calibration does.
func (s *Probabilities) Calibration() (bins []CalibrationBin) {
	for i, b := range s.bins {
		if n := float64(b.examples); n > 0 {
			bins = append(bins, CalibrationBin{float64(i) / calibrationBins,
				float64(i+1) / calibrationBins, n, b.p / n, float64(b.positive) / n})
		}
	}
	return bins
}

func (s *Probabilities) mean(sum float64) float64 {
	if s.Examples == 0 {
		return 0
	}
	return sum / float64(s.Examples)
}

// TestProba is Test that tallies the probabilities of p too; ErrOptions if it has none.
func TestProba[T engine.Float](ctx context.Context, p learner.Predictor[T],
	src Source[T]) (Count, Probabilities, error) {
	var c Count
	var s Probabilities
	prober := learner.ProbaOf(p)
	if prober == nil {
		return c, s, fmt.Errorf("eval: probabilities of a predictor that has none: %w", ErrOptions)
	}
	proba := make([]float64, DefaultBlock)
	k := p.Outputs()
	proba = slices.Grow(proba, len(proba)*k)[:len(proba)*k]
	err := Score(ctx, p, src, func(b *engine.Block[T], scores []float64) error {
		if err := prober.Proba(b, proba); err != nil {
			return err
		}
		addAll(&c, b, scores)
		for i := range b.Len() {
			if b.Class != nil {
				s.AddClass(int(b.Class[i]), proba[i*k:][:k])
			} else {
				s.Add(float64(b.Y[i]), proba[i])
			}
		}
		return nil
	})
	return c, s, err
}
