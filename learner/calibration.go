package learner

import (
	"fmt"
	"math"

	"github.com/halfspace-ml/halfspace/engine"
)

// Calibration says what probability a score of two classes stands for: P(y = +1 | f) =
// 1/(1 + exp(-(Slope f + Intercept))).
type Calibration struct {
	Slope     float64 `json:"slope"` // above 0, but of a learner that knows worse than nothing
	Intercept float64 `json:"intercept"`
}

// Proba returns the probability of +1 that score f stands for; NaN of NaN.
func (c Calibration) Proba(f float64) float64 { return Sigmoid(float64(c.Slope*f) + c.Intercept) }

// Check names the first bad field: both are finite.
func (c Calibration) Check() error {
	if c.Slope-c.Slope != 0 || c.Intercept-c.Intercept != 0 {
		return fmt.Errorf("calibration: slope is %v and intercept %v, want finite numbers: %w",
			c.Slope, c.Intercept, ErrState)
	}
	return nil
}

// Sigmoid is 1/(1 + e^-z), without overflow.
func Sigmoid(z float64) float64 {
	if z < 0 {
		e := math.Exp(z)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-z))
}

// CalibratedProber gives the probabilities that c makes of a score, of two classes: of a learner as
// it is, or a Predictor.
func CalibratedProber[T Float](of interface {
	Score(b *engine.Block[T], dst []float64) error
}, c Calibration) Prober[T] {
	return calibratedScores[T]{of.Score, c}
}

type calibratedScores[T Float] struct {
	score func(b *engine.Block[T], dst []float64) error
	c     Calibration
}

// Proba is Prober.Proba.
func (p calibratedScores[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := p.score(b, dst); err != nil {
		return err
	}
	for i, f := range dst[:b.Len()] {
		dst[i] = p.c.Proba(f)
	}
	return nil
}

// Calibrated returns p, of two classes, with the probabilities that c makes of its scores, in the
// place of any of its own. [ProbaOf] gives them.
func Calibrated[T Float](p Predictor[T], c Calibration) Predictor[T] {
	return calibrated[T]{p, CalibratedProber[T](p, c)}
}

type calibrated[T Float] struct {
	Predictor[T]
	Prober[T]
}

// Restored is Restorer.Restored.
func (p calibrated[T]) Restored(s State) (Predictor[T], error) { return Restored(p.Predictor, s) }

// Hypothesis is for HypothesisOf: that of the scores.
func (p calibrated[T]) Hypothesis() Hypothesis {
	h, _ := HypothesisOf(p.Predictor)
	return h
}

// CheckState is for CheckRestored.
func (p calibrated[T]) CheckState(s State) error { return CheckRestored(p.Predictor, s) }
