package eval_test

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
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

// The score from which on nine of ten examples are positive.
func ExampleTarget() {
	var target eval.Target
	target, err := eval.ParseTarget("precision=0.9")
	var c eval.Calibrator
	for i := range 2000 {
		score := float64(i%100)/50 - 1
		label := -1.0
		if i%100 > 60 || i%10 == 0 {
			label = 1
		}
		c.Add(label, score, true) // before the example was learned
	}
	t, ok := c.Threshold(target)
	fmt.Println(err, target, ok, t.Precision >= 0.9, t.Score > 0, t.Score < 0.25)
	// Output:
	// <nil> precision=0.9 true true true true
}

// How far the members of an ensemble are apart.
func ExampleSpread() {
	e, err := learner.Lookup("obpm")
	if err != nil {
		panic(err)
	}
	l, err := learner.New[float64](e, e.Config(), learner.Env{Seed: 1})
	if err != nil {
		panic(err)
	}
	b := &engine.Block[float64]{Dim: 1, Ptr: []int{0, 1, 2}, Idx: []int32{0, 0},
		Val: []float64{1, -1}, Y: []float64{1, -1}}
	if err := l.Learn(b, make([]learner.Round, 2)); err != nil {
		panic(err)
	}
	var s *eval.Spread[float64]
	s, ok := eval.NewSpread(l, 100_000)
	low, high := s.Quantiles(b, 0, 0.9)
	fmt.Println(ok, s.Members(), low, high)
	// Output:
	// true 100 0 1
}
