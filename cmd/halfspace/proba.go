package main

import (
	"strings"

	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learners"
)

// probaReport is what is told of probabilities beside the labels that came.
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

// noProbabilities refuses a flag that a learner without probabilities can't serve.
func noProbabilities(flag, learner string) error {
	var those []string
	for _, name := range learners.Names() {
		e, err := learners.Lookup(name)
		if err != nil {
			continue
		}
		if l, err := e.New64(e.Config(), learners.Env{}); err == nil && learners.ProberOf(l) != nil {
			those = append(those, name)
		}
	}
	return usage("Leave "+flag+" out: larger scores are more certain. Learners that have probabilities: "+strings.Join(those, ", ")+".",
		"%s: %s has no probabilities: its scores are margins, in no unit of certainty", flag, learner)
}
