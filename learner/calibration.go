package learner

import (
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
)

// Calibration says what probability scores stand for. Of two classes, P(y = +1 | f) =
// 1/(1 + exp(-(Slope f + Intercept))). Of more, with a score f_k each, P(k) is in proportion to
// that of Classes[k]; or, of the method "temperature", to exp(Slope f_k).
type Calibration struct {
	// Method is "temperature", whose Intercept is 0; "" is Platt's.
	Method    string  `json:"method,omitempty"`
	Slope     float64 `json:"slope"` // above 0, but of a learner that knows worse than nothing
	Intercept float64 `json:"intercept"`
	// Classes has what is of each of more than two classes; with "temperature" none.
	Classes []ClassCalibration `json:"classes,omitempty"`
}

// ClassCalibration is a Calibration of one class against all others.
type ClassCalibration struct {
	Slope     float64 `json:"slope"`
	Intercept float64 `json:"intercept"`
}

// temperature is the Method of a softmax.
const temperature = "temperature"

// Proba returns the probability of +1 that score f stands for, of two classes; NaN of NaN.
func (c Calibration) Proba(f float64) float64 { return Sigmoid(float64(c.Slope*f) + c.Intercept) }

// ClassProbas puts the probabilities of classes in the place of their scores. A class that has none
// in Classes has the probability 0; all are the same where they would add up to 0, and NaN where a
// score is.
func (c Calibration) ClassProbas(scores []float64) {
	var sum float64
	if c.Method == temperature {
		top := math.Inf(-1)
		for k, f := range scores {
			scores[k] = float64(c.Slope * f)
			top = max(top, scores[k]) // NaN if one is
		}
		for k, z := range scores {
			scores[k] = math.Exp(z - top)
			sum += scores[k]
		}
	} else {
		for k, f := range scores {
			scores[k] = 0
			if k < len(c.Classes) {
				scores[k] = Sigmoid(float64(c.Classes[k].Slope*f) + c.Classes[k].Intercept)
			}
			sum += scores[k]
		}
	}
	for k := range scores {
		if scores[k] /= sum; sum == 0 {
			scores[k] = 1 / float64(len(scores))
		}
	}
}

// ForOutputs returns c for so many scores: a class of which it says nothing, as one that came
// later, has the probability 1e-6.
func (c Calibration) ForOutputs(n int) Calibration {
	if n <= 1 {
		c.Classes = nil
	} else if c.Method == "" && len(c.Classes) < n {
		c.Classes = slices.Clone(c.Classes)
		for len(c.Classes) < n {
			c.Classes = append(c.Classes, ClassCalibration{Intercept: rareIntercept})
		}
	}
	return c
}

// rareIntercept is the log-odds of 1e-6.
const rareIntercept = -13.8

// Check names the first bad field, of a model of so many outputs: numbers are finite, and Classes
// are those of more than one output.
func (c Calibration) Check(outputs int) error {
	if c.Method != "" && c.Method != temperature {
		return fmt.Errorf("calibration: method is %q, want none or %q: %w", c.Method, temperature,
			ErrState)
	}
	want := 0
	if outputs > 1 && c.Method == "" {
		want = outputs
	}
	if len(c.Classes) != want {
		return fmt.Errorf("calibration: %d classes, want %d: %w", len(c.Classes), want, ErrState)
	}
	for k := -1; k < len(c.Classes); k++ {
		one := ClassCalibration{c.Slope, c.Intercept}
		if k >= 0 {
			one = c.Classes[k]
		}
		if one.Slope-one.Slope != 0 || one.Intercept-one.Intercept != 0 {
			return fmt.Errorf("calibration: slope is %v and intercept %v, want finite numbers: %w",
				one.Slope, one.Intercept, ErrState)
		}
	}
	return nil
}

// Threshold is a score of two classes from which on the label is +1, in the place of 0, and why.
type Threshold struct {
	Score  float64 `json:"score"`
	Target string  `json:"target"` // "precision=0.9" or "cost=1:5", say
	// What it reached on scores of examples that were not learned yet, and an interval of that
	// which was to be reached: a share, or the mean cost.
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	// Cost is the mean cost of an example, where it was to be the least; nil else.
	Cost *float64 `json:"cost,omitempty"`
}

// maxTarget is longer than any Target.
const maxTarget = 64

// Check names the first bad field: Score is finite, the others are shares, or costs of 0 or more.
func (t Threshold) Check() error {
	if t.Score-t.Score != 0 {
		return fmt.Errorf("threshold: score is %v, want a finite number: %w", t.Score, ErrState)
	}
	shares := []float64{t.Precision, t.Recall, t.Low, t.High}
	if t.Cost != nil {
		shares = shares[:2]
		for _, v := range []float64{*t.Cost, t.Low, t.High} {
			if !(v >= 0 && v <= math.MaxFloat64) {
				return fmt.Errorf("threshold: %v is no cost: %w", v, ErrState)
			}
		}
	}
	for _, v := range shares {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("threshold: %v is no share: %w", v, ErrState)
		}
	}
	if len(t.Target) > maxTarget {
		return fmt.Errorf("threshold: target of %d bytes: %w", len(t.Target), ErrState)
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

// CalibratedProber gives the probabilities that c makes of scores: of a learner as it is, or a
// Predictor. outputs is how many scores it has of an example, which may grow.
func CalibratedProber[T Float](of interface {
	Score(b *engine.Block[T], dst []float64) error
}, outputs func() int, c Calibration) Prober[T] {
	return calibratedScores[T]{of.Score, outputs, c}
}

type calibratedScores[T Float] struct {
	score   func(b *engine.Block[T], dst []float64) error
	outputs func() int
	c       Calibration
}

func (p calibratedScores[T]) Proba(b *engine.Block[T], dst []float64) error {
	if err := p.score(b, dst); err != nil {
		return err
	}
	n := b.Len()
	if k := p.outputs(); k > 1 {
		for i := range n {
			p.c.ClassProbas(dst[i*k:][:k])
		}
		return nil
	}
	for i, f := range dst[:n] {
		dst[i] = p.c.Proba(f)
	}
	return nil
}

// Calibrated returns p with the probabilities that c makes of its scores, in the place of any of
// its own. [ProbaOf] gives them.
func Calibrated[T Float](p Predictor[T], c Calibration) Predictor[T] {
	return calibrated[T]{p, CalibratedProber[T](p, p.Outputs, c)}
}

type calibrated[T Float] struct {
	Predictor[T]
	Prober[T]
}

func (p calibrated[T]) Restored(s State) (Predictor[T], error) { return Restored(p.Predictor, s) }

// Hypothesis is for HypothesisOf: that of the scores.
func (p calibrated[T]) Hypothesis() Hypothesis {
	h, _ := HypothesisOf(p.Predictor)
	return h
}

func (p calibrated[T]) CheckState(s State) error { return CheckRestored(p.Predictor, s) }
