package training_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/halfspace-ml/halfspace/training"
)

// Settings are tried by two processes, and compared by what these have written.
func ExampleJoinTune() {
	file, done := ring()
	defer done()
	ctx := context.Background()
	settings := []training.Options{{Learner: "pa", Files: []string{file}},
		{Learner: "perceptron", Files: []string{file}}}
	var parts []training.TunePart
	for only := range settings {
		var log bytes.Buffer
		p, err := training.RunTunePart(ctx, settings, training.TuneOptions{}, []int{only}, &log,
			training.Env{})
		if err != nil {
			fmt.Println(err)
			return
		}
		var of training.Found = p.Info[0]
		fmt.Println("setting", only, "of", of.Dim, "features")
		p.Log = &log
		parts = append(parts, *p)
	}
	joined, err := training.JoinTune(ctx, settings, training.TuneOptions{}, parts, training.Env{})
	if err != nil {
		fmt.Println(err)
		return
	}
	one, err := training.Tune(ctx, settings, training.TuneOptions{}, training.Env{})
	fmt.Println(joined.Best == one.Best && joined.Tried[1].P == one.Tried[1].P, err)
	// Output:
	// setting 0 of 2 features
	// setting 1 of 2 features
	// true <nil>
}

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
