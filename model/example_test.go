package model_test

import (
	"bytes"
	"errors"
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

// What only predicts holds less, and can't learn on.
func ExampleForPredicting() {
	m := captured("obpm")
	small := must(model.ForPredicting(m))
	p := must(model.RestorePredictor[float32](small, nil))
	fmt.Println(small.PredictOnly, len(p.Weights()), "weights")
	_, err := model.Restore[float32](small, nil)
	fmt.Println(errors.Is(err, model.ErrPredictOnly))

	var all, less bytes.Buffer
	fmt.Println(model.Encode(&all, m), model.Encode(&less, small))
	fmt.Println(less.Len() < all.Len()/10)
	// Output:
	// true 100 weights
	// true
	// <nil> <nil>
	// true
}

// Preparation and labels are kept with the weights: the caller says what was done.
func ExamplePrep() {
	m := captured("pa")
	fmt.Println(m.Prep.Labels.OrDefault())
	m.Prep = model.Prep{Labels: model.Labels{Negative: "ham", Positive: "spam"}, Bias: "none",
		Normalize: "unit", Scale: 1, Format: "svmlight", IndexBase: 1, Dim: 100}
	var file bytes.Buffer
	fmt.Println(model.Encode(&file, m))
	m = must(model.Decode(file.Bytes()))
	fmt.Println(m.Prep.Normalize, m.Prep.Shown())
	// Output:
	// {-1 +1}
	// <nil>
	// unit {ham spam}
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

// A file that was changed is refused, whatever byte it is.
func ExampleDecode() {
	var file bytes.Buffer
	fmt.Println(model.Encode(&file, captured("pa")))
	data := file.Bytes()
	data[len(data)-1] ^= 1
	_, err := model.Decode(data)
	fmt.Println(errors.Is(err, model.ErrDamaged))
	// Output:
	// <nil>
	// true
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

// The model of a run that goes on knows where the run stands.
func ExamplePosition() {
	m := captured("pa")
	m.Position = &model.Position{Example: 300, Data: 7, Options: []byte(`{"epochs":1}`),
		Counts: []byte(`{}`), Sources: []model.SourcePosition{{Name: "rows.svm", Size: 48211}}}
	var file bytes.Buffer
	if err := model.Encode(&file, m); err != nil {
		panic(err)
	}
	at := must(model.Decode(file.Bytes())).Position
	fmt.Printf("%s: %d examples are behind it\n", at.Sources[0].Name, at.Example)
	// Output: rows.svm: 300 examples are behind it
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
