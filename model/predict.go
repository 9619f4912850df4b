package model

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// CapturePredictor returns a Model of what a learner of these settings and seed knew, as its
// Snapshot or [learner.ViewOf] gives it: it predicts to the bit as the learner does, is smaller
// where learning on needs more than predicting, and can't be learned on. Of an obpm that averages
// weights it has the average, not the members, and so no probabilities. The other fields are the
// caller's to fill, as those of [Capture], whose errors are these; Pass stays nil.
func CapturePredictor[T learner.Float](name string, c learner.Config, seed uint64,
	p learner.Predictor[T]) (*Model, error) {
	m, err := captured[T](name, c, seed, p.State())
	if err != nil {
		return nil, err
	}
	m.PredictOnly = true
	if err := learner.CheckRestored(p, m.State); err != nil {
		return nil, fmt.Errorf("%w, so it could not be loaded again: %w", err, ErrInvalid)
	}
	return m, nil
}

// RestorePredictor returns what the captured learner, or the captured Predictor, predicts with,
// with the probabilities of Model.Calibration where there is one. T must be the model's Precision;
// the pool may be nil.
func RestorePredictor[T learner.Float](m *Model, pool *engine.Pool) (learner.Predictor[T], error) {
	p, err := restorePredictor[T](m, pool)
	if err == nil && m.Calibration != nil {
		p = learner.Calibrated(p, *m.Calibration)
	}
	return p, err
}

func restorePredictor[T learner.Float](m *Model, pool *engine.Pool) (learner.Predictor[T], error) {
	if !m.PredictOnly {
		l, err := Restore[T](m, pool)
		if err != nil {
			return nil, err
		}
		return learner.ViewOf(l), nil
	}
	e, c, err := m.settingsFor(precision[T]())
	if err != nil {
		return nil, err
	}
	p, err := learner.PredictorFrom[T](e, c, learner.Env{Seed: m.Seed, Pool: pool}, m.State)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; train anew", err, ErrDamaged)
	}
	return p, nil
}
