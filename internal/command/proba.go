package command

import "github.com/halfspace-ml/halfspace/eval"

// probaReport measures probabilities against the labels of the examples that have one.
type probaReport struct {
	Examples         int64   `json:"examples"`
	LogLoss          float64 `json:"log_loss"` // nats
	Brier            float64 `json:"brier"`
	CalibrationError float64 `json:"calibration_error"` // expected, over 10 equal bins
}

// describeProba returns the report, or nil where there is nothing to tell.
func describeProba(s *eval.Probabilities) *probaReport {
	if s == nil || s.Examples == 0 {
		return nil
	}
	return &probaReport{s.Examples, s.LogLoss(), s.Brier(), s.CalibrationError()}
}
