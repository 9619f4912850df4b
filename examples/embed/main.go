// Command embed learns from a file of examples, saves the model, and scores with what it has loaded
// again: what a program needs that learns here and predicts there.
//
//	halfspace gen margin -n 10000 -o train.svm
//	go run ./examples/embed train.svm embed.model
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learners"
	"github.com/halfspace-ml/halfspace/model"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: embed EXAMPLES MODEL")
	}
	if err := learn(context.Background(), os.Stdout, os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
	if err := score(os.Stdout, os.Args[2], []float32{0.5, -0.5}); err != nil {
		log.Fatal(err)
	}
}

// learn goes over the examples of a file once and writes the model.
func learn(ctx context.Context, w io.Writer, examples, file string) error {
	entry, err := learners.Lookup("adf")
	if err != nil {
		return err
	}
	config := entry.Config()
	learner, err := learners.New[float32](entry, config, learners.Env{Seed: 1})
	if err != nil {
		return err
	}
	stream, err := dataset.Open[float32](ctx, []string{examples}, dataset.Options{})
	if err != nil {
		return err
	}
	defer stream.Close()
	result, err := eval.Run(ctx, learner, stream, eval.Options{})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d examples, %.2f %% of them wrong before they were learned\n",
		result.Examples, 100*result.ProgressiveError())
	m, err := model.Capture("adf", config, 1, learner)
	if err != nil {
		return err
	}
	_, err = model.Save(file, m)
	return err
}

// score loads a model and scores an example by its first features.
func score(w io.Writer, file string, x []float32) error {
	m, err := model.Load(file)
	if err != nil {
		return err
	}
	learner, err := model.Restore[float32](m, nil)
	if err != nil {
		return err
	}
	var f [1]float64
	row := engine.Block[float32]{X: x, Stride: len(x), Dim: len(x)}
	if err := learner.Score(&row, f[:]); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "score %.4f\n", f[0])
	return err
}
