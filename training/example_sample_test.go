package training_test

import (
	"context"
	"fmt"

	"github.com/halfspace-ml/halfspace/training"
)

// What settings would cost is tried on a sample, without reading the files again.
func ExampleNewSample() {
	file, done := ring()
	defer done()
	o := training.Options{Learner: "perceptron", Files: []string{file}}
	job, err := training.New(o, training.Env{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var s *training.Sample
	s, err = training.NewSample(context.Background(), job, 50, func(read int64) bool {
		return read < 50
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	o.Learner = "pa"
	if job, err = training.New(o, training.Env{}); err != nil {
		fmt.Println(err)
		return
	}
	var t *training.Trial
	t, err = s.Run(context.Background(), job, 20, func(learned int) {
		fmt.Println("before", learned)
	})
	fmt.Println(t.Counts.Presented, "of", s.Rows, err)
	// Output:
	// before 0
	// before 20
	// 20 of 50 <nil>
}
