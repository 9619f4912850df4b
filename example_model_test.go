package halfspace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/learners"
)

// flowers is a small file: whether a flower is a rose, by the length and width of its petals.
func flowers() string {
	dir, err := os.MkdirTemp("", "halfspace")
	if err != nil {
		log.Fatal(err)
	}
	file := filepath.Join(dir, "flowers.csv")
	text := "length,width,label\n"
	for i := range 200 {
		length, width := float64(i%20)/2, float64(i%7)
		label := "tulip"
		if length > width+2 {
			label = "rose"
		}
		text += fmt.Sprintf("%g,%g,%s\n", length, width, label)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	return file
}

// A program's own logger gets what a run has to say; without one nothing is written.
func ExampleWithLogger() {
	file := flowers()
	defer os.RemoveAll(filepath.Dir(file))

	counts := func(_ []string, a slog.Attr) slog.Attr { // what doesn't differ from run to run
		if a.Key == slog.MessageKey || a.Key == "examples" || a.Key == "rows" {
			return a
		}
		return slog.Attr{}
	}
	ctx := halfspace.WithLogger(context.Background(), slog.New(slog.NewTextHandler(os.Stdout,
		&slog.HandlerOptions{ReplaceAttr: counts})))
	if _, err := halfspace.Train(ctx, halfspace.Options{Learner: "adf",
		Data: halfspace.Data{Positive: "rose"}}, file); err != nil {
		fmt.Println(err)
	}
	// Output:
	// msg=planned examples=0
	// msg=learned examples=200
	// msg="data read" rows=200
}

// Learn from a file, score a row by the names of its columns, save, load.
func ExampleTrain() {
	file := flowers()
	defer os.RemoveAll(filepath.Dir(file))

	m, err := halfspace.Train(context.Background(), halfspace.Options{Learner: "adf",
		Data: halfspace.Data{Bias: "append", Positive: "rose"}}, file)
	if err != nil {
		log.Fatal(err)
	}
	row := m.Row().Set("length", 8).Set("width", 1)
	label, err := m.Label(row)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("a %s, after %d examples\n", label, m.Presented())

	saved := filepath.Join(filepath.Dir(file), "flowers.model")
	if err := m.Save(saved); err != nil {
		log.Fatal(err)
	}
	if m, err = halfspace.Load(saved); err != nil {
		log.Fatal(err)
	}
	p, err := m.Proba(row)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("is it likely?", p > 0.9)
	// Output:
	// a rose, after 200 examples
	// is it likely? true
}

// Learn examples as they come, with settings that the compiler checks.
func ExampleNew() {
	m, err := halfspace.New(halfspace.Options{Learner: "alma",
		Config: &learners.ALMAConfig{P: 2}}, "age", "income")
	if err != nil {
		log.Fatal(err)
	}
	row := m.Row()
	for i := range 100 {
		age, income, label := float64(20+i%50), float64(i%9), "-1"
		if income > 4 {
			label = "+1"
		}
		row.Reset().Set("age", age/100).Set("income", income-4.5)
		if _, err := m.LearnOne(row, label); err != nil {
			log.Fatal(err)
		}
	}
	label, err := m.Label(row.Reset().Set("age", 0.3).Set("income", 3))
	fmt.Println(label, err)
	// Output:
	// +1 <nil>
}

// Options by name, from JSON; TOML serves as well.
func ExampleOptions() {
	var o halfspace.Options
	err := json.Unmarshal([]byte(`{
		"learner": "obpm", "config": {"members": 50, "tau": 0.3},
		"bias": "append", "normalize": "unit", "epochs": 3, "shuffle": true
	}`), &o)
	if err != nil {
		log.Fatal(err)
	}
	file := flowers()
	defer os.RemoveAll(filepath.Dir(file))
	m, err := halfspace.Train(context.Background(), o, file)
	if err != nil {
		log.Fatal(err)
	}
	name, settings := m.Learner()
	fmt.Println(name, len(settings) > 0, m.Presented())
	// Output:
	// obpm true 600
}

// Predict the rows of a file, and count the errors.
func ExampleModel() {
	file := flowers()
	defer os.RemoveAll(filepath.Dir(file))
	ctx := context.Background()
	m, err := halfspace.Train(ctx, halfspace.Options{Learner: "adf",
		Data: halfspace.Data{Bias: "append"}}, file)
	if err != nil {
		log.Fatal(err)
	}
	n := 0
	for p, err := range m.Predict(ctx, file) {
		if err != nil {
			log.Fatal(err)
		}
		if n++; n <= 2 {
			fmt.Println(p.Label, p.Actual)
		}
	}
	examples, errors, err := m.Test(ctx, file)
	fmt.Println(n, examples, errors < 20, err)
	// Output:
	// tulip tulip
	// tulip tulip
	// 200 200 true <nil>
}

// A snapshot scores in any number of goroutines while the model learns on.
func ExampleSnapshot() {
	m, err := halfspace.New(halfspace.Options{Learner: "perceptron"})
	if err != nil {
		log.Fatal(err)
	}
	row := m.Row().At(0, 1)
	if _, err := m.LearnOne(row, "+1"); err != nil {
		log.Fatal(err)
	}
	known := m.Snapshot()
	for range 2 {
		if _, err := m.LearnOne(row, "-1"); err != nil {
			log.Fatal(err)
		}
	}
	before, _ := known.Label(row)
	now, _ := m.Label(row)
	fmt.Println(before, now)
	// Output:
	// +1 -1
}

// Features that a row doesn't name are 0, and names that the model doesn't have are an error.
func ExampleRow() {
	m, err := halfspace.New(halfspace.Options{Learner: "perceptron"}, "age", "income")
	if err != nil {
		log.Fatal(err)
	}
	_, err = m.Score(m.Row().Set("age", 0.3).Set("incme", 3))
	fmt.Println(err)
	// Output:
	// halfspace: feature "incme", want one of 2 names: no such feature
}
