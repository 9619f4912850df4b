package training_test

import (
	"context"
	"fmt"

	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/training"
)

// Parts that are missing are refused before anything is learned; package shard fills a Join from
// files.
func ExampleJoin() {
	file, done := ring()
	defer done()
	j := training.Join{Parts: []learner.Part{{First: 0, Members: 64, Of: 100}},
		States: make([]learner.State, 1), Traces: make([]*learner.TraceReader, 1)}
	_, err := training.Run(context.Background(), training.Options{Learner: "obpm",
		Files: []string{file}}, training.Env{Join: &j})
	fmt.Println(err)
	// Output: obpm: members 64 to 99 are missing: parts do not make up the whole
}
