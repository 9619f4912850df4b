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
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	_ "github.com/halfspace-ml/halfspace/learners" // which learner.Make finds
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := server{log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	go func() { s.log.Info("learning ended", "error", s.learn(ctx, os.Stdin)) }()
	web := http.Server{Addr: "localhost:8080", Handler: &s, ReadHeaderTimeout: 5 * time.Second}
	closed := make(chan error)
	go func() { // requests that came are answered to the end
		<-ctx.Done()
		closed <- web.Shutdown(context.Background())
	}()
	err := web.ListenAndServe()
	if err == http.ErrServerClosed {
		err = <-closed
	}
	if err != nil {
		s.log.Error("serving ended", "error", err)
		os.Exit(1)
	}
}

// server scores by the newest hypothesis; there is none before the first examples.
type server struct {
	now atomic.Pointer[learner.Predictor[float32]]
	log *slog.Logger
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
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
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
