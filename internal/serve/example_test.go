package serve_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/halfspace-ml/halfspace"
	"github.com/halfspace-ml/halfspace/internal/serve"
	_ "github.com/halfspace-ml/halfspace/learners"
)

// exampleModel writes the file of a model that knows two labels.
func exampleModel() (dir, path string) {
	dir, err := os.MkdirTemp("", "serve")
	if err != nil {
		log.Fatal(err)
	}
	m, err := halfspace.New(halfspace.Options{Learner: "perceptron"}, "size", "age")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := m.LearnOne(m.Row().Set("size", 2).Set("age", 1), "+1"); err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, "a.model")
	if err := m.Save(path); err != nil {
		log.Fatal(err)
	}
	return dir, path
}

// ExampleServer asks without HTTP, and rebuilds what was learned from the log.
func ExampleServer() {
	dir, path := exampleModel()
	defer os.RemoveAll(dir)
	logFile := filepath.Join(dir, "a.log")
	s, err := serve.New(serve.Options{Models: []serve.Model{{Name: "a", Path: path, Log: logFile}},
		PublishEvery: 1})
	if err != nil {
		log.Fatal(err)
	}
	ask := func(op, body string) serve.Answer {
		return s.Do(&serve.Request{Op: op, Model: "a", Media: "application/json",
			Body: []byte(body)}, nil)
	}
	fmt.Print(string(ask(serve.Predict, `{"id":"x","size":1,"age":0.5}`).Body))
	fmt.Print(string(ask(serve.Learn, `{"id":"x","label":"-1"}`).Body))
	fmt.Print(string(ask(serve.Predict, `{"features":[1,0.5]}`).Body))
	fmt.Println(ask(serve.Predict, `{"size":"big"}`).Status)
	st := s.Stats()[0]
	fmt.Println(st.Learned, st.Mistakes, st.LastBad[0].Code, st.Curve)
	if err := s.Close(context.Background()); err != nil {
		log.Fatal(err)
	}
	m, replayed, err := serve.Replay(context.Background(), logFile, nil, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(replayed.Learned, m.Presented())
	// Output:
	// {"id":"x","label":"+1","score":2.5,"snapshot":1}
	// {"learned":1,"mistakes":1,"examples":2,"snapshot":2}
	// {"label":"+1","score":1.25,"snapshot":2}
	// 422
	// 1 1 unfit [{1 1}]
	// 1 2
}
