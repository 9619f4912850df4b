package model_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	_ "github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/model"
)

// must returns v of a call that does not fail here.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// captured is the model of a learner of that name that has learned 300 generated examples.
func captured(name string) *model.Model {
	e := must(learner.Lookup(name))
	c := e.Config()
	l := must(learner.New[float32](e, c, learner.Env{Seed: 1}))
	b := &must(dataset.Generate[float32]("margin", map[string]string{"n": "300"})).Block
	if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
		panic(err)
	}
	m := must(model.Capture(name, c, 1, l))
	m.Presented = uint64(b.Len())
	return m
}

// A model is written in one step, and the learner that is made of it goes on where it stopped.
func ExampleModel() {
	dir := must(os.MkdirTemp("", "model"))
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "a.model")
	sum := must(model.Save(file, captured("pa")))
	var m *model.Model = must(model.Load(file))
	l := must(model.Restore[float32](m, nil))
	fmt.Println(len(sum), m.Learner, m.Precision, m.Presented, "examples", l.Updates(), "updates")
	// Output:
	// 64 pa f32 300 examples 189 updates
}

// A restored learner scores as the first one did, to the bit.
func ExampleRestore() {
	m := captured("adf")
	query := engine.Block[float32]{Dim: 2, Stride: 2, X: []float32{1, -1}}
	var first, second [1]float64
	fmt.Println(must(model.Restore[float32](m, nil)).Score(&query, first[:]))
	fmt.Println(must(model.RestorePredictor[float32](m, nil)).Score(&query, second[:]))
	fmt.Println(first == second)
	// Output:
	// <nil>
	// <nil>
	// true
}

// Where one class is learned against the rest, the other may have a name of its own.
func ExampleLabels() {
	p := model.Prep{Labels: model.Labels{Positive: "7"}}
	fmt.Println(p.Shown().Negative)
	p.Rest = "1"
	fmt.Println(p.Shown().Negative)
	// Output:
	// not-7
	// 1
}

// A model of a part of the rows says which, so that what merges all parts knows.
func ExampleRows() {
	m := captured("adf")
	m.Rows = &model.Rows{Shard: 2, Of: 4, Examples: m.Presented}
	var b bytes.Buffer
	if err := model.Encode(&b, m); err != nil {
		panic(err)
	}
	fmt.Println(must(model.Decode(b.Bytes())).Rows)
	// Output:
	// row shard 2 of 4
}
