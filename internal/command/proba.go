package command

import "github.com/halfspace-ml/halfspace/internal/eval"

// probaReport measures probabilities against the labels of the examples that have one.
type probaReport struct {
	Examples         int64   `json:"examples"`
	LogLoss          float64 `json:"log_loss"` // nats
	Brier            float64 `json:"brier"`
	CalibrationError float64 `json:"calibration_error"` // expected, over 10 equal bins

	// The bins that are not empty: of the probability of +1, or of the most probable class.
	Bins []binReport `json:"bins"`
}

// binReport is what came of probabilities that are alike.
type binReport struct {
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Examples int64   `json:"examples"`
	Mean     float64 `json:"mean"`  // of the probabilities
	Share    float64 `json:"share"` // of those that came true
}

// describeProba returns the report, or nil where there is nothing to tell.
func describeProba(s *eval.Metrics) *probaReport {
	if s == nil || s.Examples() == 0 {
		return nil
	}
	r := &probaReport{s.Examples(), s.LogLoss(), s.Brier(), s.CalibrationError(), nil}
	for _, b := range s.Calibration() {
		r.Bins = append(r.Bins, binReport{b.From, b.To, int64(b.Weight), b.Mean, b.Share})
	}
	return r
}
