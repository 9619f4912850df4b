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

// Scores of three classes, of which the largest is right three times out of four.
func ExampleClassCalibrator() {
	c := eval.ClassCalibrator{Temperature: true}
	for i := range 1000 {
		scores := make([]float64, 3)
		scores[i%3] = 1
		class := i % 3
		if i%4 == 0 {
			class = (class + 1 + i/12%2) % 3
		}
		c.Add(class, scores, true)
	}
	s, ok := c.Fit()
	p := []float64{0, 1, 0}
	s.ClassProbas(p)
	fmt.Printf("%v %s %.2f\n", ok, s.Method, p)
	// Output:
	// true temperature [0.12 0.75 0.12]
}
