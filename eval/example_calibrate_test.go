package eval_test

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// Scores and labels as they come give the probability that a score stands for.
func ExampleCalibrator() {
	var c eval.Calibrator
	for i := range 1000 {
		score := float64(i%5 - 2)                        // -2 to 2
		label := []float64{-1, -1, 1, 1, 1}[(i+i/5*3)%5] // for some scores more often +1
		if i%5 == 0 {
			label = -1
		}
		if i%5 == 4 {
			label = 1
		}
		c.Add(label, score, true) // before the example was learned
	}
	var s learner.Calibration
	s, ok := c.Fit()
	fmt.Println(ok, s.Proba(2) > 0.8, s.Proba(-2) < 0.2)
	// Output:
	// true true true
}
