// Command http learns from a stream while an HTTP server scores: requests never wait for learning,
// nor learning for requests, since each request reads an immutable copy of what is known.
//
//	halfspace gen margin -n 100000 | go run ./examples/http
//	curl -d '[0.5, -0.25]' localhost:8080
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	_ "github.com/halfspace-ml/halfspace/learners" // which learner.Make finds
)

func main() {
	var s server
	go func() { log.Print("learning ended: ", s.learn(context.Background(), os.Stdin)) }()
	log.Fatal(http.ListenAndServe("localhost:8080", &s))
}

// server scores by the newest hypothesis; there is none before the first examples.
type server struct {
	now atomic.Pointer[learner.Predictor[float32]]
}

// learn learns examples in any format and hands a copy of each new hypothesis to the requests.
func (s *server) learn(ctx context.Context, r io.Reader) error {
	stream, err := dataset.OpenReader[float32](ctx, "stream", r, dataset.Options{})
	if err != nil {
		return err
	}
	defer stream.Close()
	l, err := learner.Make[float32]("obpm", nil, learner.Env{Seed: 1})
	for err == nil {
		var block *engine.Block[float32]
		if block, err = stream.Next(); err == nil { // io.EOF at the end
			err = l.Learn(block, make([]learner.Round, block.Len()))
			newest := l.Snapshot() // of what was learned, also where an example was refused
			s.now.Store(&newest)
		}
	}
	return err
}

// ServeHTTP answers a JSON array of features with their score. Any number of requests run at once.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x, score := []float32{}, make([]float64, 1)
	err := json.NewDecoder(r.Body).Decode(&x)
	switch p := s.now.Load(); {
	case err != nil || len(x) == 0:
		http.Error(w, "want a JSON array of numbers", http.StatusBadRequest)
	case p == nil:
		http.Error(w, "nothing was learned yet", http.StatusServiceUnavailable)
	default:
		row := engine.Block[float32]{X: x, Stride: len(x), Dim: len(x)}
		if err := (*p).Score(&row, score); err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		fmt.Fprintf(w, "{\"score\": %g}\n", score[0])
	}
}
