// Command embed learns from a file of examples, saves the model, and scores with what it has loaded
// again: what a program needs that learns here and predicts there. Ctrl-C ends it with the model of
// what was learned until then; what the run has to say goes to the program's own log.
//
//	halfspace gen margin -n 10000 -o train.svm
//	go run ./examples/embed train.svm embed.model
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"

	"github.com/halfspace-ml/halfspace"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: embed EXAMPLES MODEL")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx = halfspace.WithLogger(ctx, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err := learn(ctx, os.Stdout, os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
	if err := score(os.Stdout, os.Args[2], 0.5, -0.5); err != nil {
		log.Fatal(err)
	}
}

// learn goes over the examples of a file once and writes the model.
func learn(ctx context.Context, w io.Writer, examples, file string) error {
	m, err := halfspace.Train(ctx, halfspace.Options{Learner: "adf"}, examples)
	if m == nil {
		return err
	}
	if err != nil { // stopped: the model is of what was learned until then
		fmt.Fprintln(w, err)
	}
	fmt.Fprintf(w, "%d examples, %.2f %% of them wrong before they were learned\n",
		m.Presented(), 100*m.Result().Counts.ProgressiveError())
	return m.Save(file)
}

// score loads a model and scores an example by its first features, which svmlight counts from 1.
func score(w io.Writer, file string, x ...float64) error {
	m, err := halfspace.Load(file)
	if err != nil {
		return err
	}
	row := m.Row()
	for i, v := range x {
		row.At(1+i, v)
	}
	f, err := m.Score(row)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "score %.4f\n", f)
	return err
}
