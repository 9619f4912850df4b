package serve_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

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

// ExampleHTTP puts the handler into a program's own server.
func ExampleHTTP() {
	dir, path := exampleModel()
	defer os.RemoveAll(dir)
	s, err := serve.New(serve.Options{Models: []serve.Model{{Name: "a", Path: path}},
		ReadOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close(context.Background())
	web := httptest.NewServer(s.Handler(serve.HTTP{MaxBody: 1000}))
	defer web.Close()
	answer, err := http.Post(web.URL+"/v1/models/a/predict", "application/json",
		strings.NewReader(`{"size":1,"age":0.5}`))
	if err != nil {
		log.Fatal(err)
	}
	answer.Body.Close()
	fmt.Println(answer.Status)
	// Output: 200 OK
}

// ExampleError says what is wrong with options and requests.
func ExampleError() {
	var err error = &serve.Error{Status: 422, Code: "unfit", Message: "row 2 has no label", Row: 2}
	fmt.Println(err)
	// Output: row 2 has no label
}

// ExampleLatency reads how long requests took.
func ExampleLatency() {
	l := serve.Latency{Count: 3, Buckets: []serve.Bucket{{Seconds: 1e-5, Count: 1},
		{Seconds: 1e-4, Count: 3}}}
	fmt.Println(l.Count, l.Buckets[1].Count)
	// Output: 3 3
}

// ExampleStats shows what is known of a model.
func ExampleStats() {
	st := serve.Stats{Name: "a", Learned: 100, Mistakes: 7, Curve: []serve.Point{{50, 0.1},
		{100, 0.07}}, LastBad: []serve.Refusal{{Code: "malformed"}}}
	fmt.Println(st.Name, st.Curve[1].Error, st.LastBad[0].Code)
	// Output: a 0.07 malformed
}

// ExamplePage adds a path of a program's own.
func ExamplePage() {
	dir, path := exampleModel()
	defer os.RemoveAll(dir)
	s, err := serve.New(serve.Options{Models: []serve.Model{{Name: "a", Path: path}}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close(context.Background())
	h := s.Handler(serve.HTTP{Pages: map[string]serve.Page{"/names": func(dst []byte) serve.Answer {
		for _, st := range s.Stats() {
			dst = fmt.Append(dst, st.Name, ": ", st.Learner)
		}
		return serve.Answer{Status: http.StatusOK, Media: "text/plain", Body: dst}
	}}})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/names", nil))
	fmt.Println(w.Code, w.Body)
	// Output: 200 a: perceptron
}

// ExampleServer_Lines answers requests that come as lines of JSON.
func ExampleServer_Lines() {
	dir, path := exampleModel()
	defer os.RemoveAll(dir)
	s, err := serve.New(serve.Options{Models: []serve.Model{{Name: "a", Path: path}}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close(context.Background())
	in := strings.NewReader(`{"id":1,"op":"predict","rows":{"size":2,"age":1}}
{"id":"b","op":"predict","rows":[{"size":-2,"age":0}]}`)
	if err := s.Lines(context.Background(), in, os.Stdout, 0); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"id":1,"status":200,"answer":{"label":"+1","score":5,"snapshot":1}}
	// {"id":"b","status":200,"answer":[{"label":"-1","score":-4,"snapshot":1}]}
}
