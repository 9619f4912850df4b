package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestScoresWhileLearning: eight clients are served while examples come in, and in the end the
// scores are those of what was learned.
func TestScoresWhileLearning(t *testing.T) {
	var s server
	web := httptest.NewServer(&s)
	defer web.Close()
	score := func(row string) (score float64, status int) {
		answer, err := http.Post(web.URL, "application/json", strings.NewReader(row))
		if err != nil {
			t.Error(err)
			return 0, 0
		}
		defer answer.Body.Close()
		var got struct{ Score float64 }
		if answer.StatusCode == http.StatusOK {
			if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
				t.Error(err)
			}
		}
		return got.Score, answer.StatusCode
	}

	in, out := io.Pipe()
	learned := make(chan error)
	go func() {
		err := s.learn(context.Background(), in)
		in.CloseWithError(err) // what is written to a learner that has stopped is an error
		learned <- err
	}()
	done := make(chan struct{})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					if _, status := score("[1, 0.5]"); status != http.StatusOK &&
						status != http.StatusServiceUnavailable {
						t.Errorf("status %d", status)
						return
					}
				}
			}
		})
	}
	for i := range 5000 { // the label is the sign of the first feature
		x, label := float64(i*37%101-50)/50, "+1"
		if x < 0 {
			label = "-1"
		}
		if _, err := fmt.Fprintf(out, "%s 1:%g 2:%g\n", label, x,
			float64(i*53%89-44)/44); err != nil {
			break // why, learned says
		}
	}
	out.Close()
	if err := <-learned; err != io.EOF {
		t.Errorf("learning ended with %v", err)
	}
	close(done)
	clients.Wait()

	up, _ := score("[1, 0.5]")
	down, _ := score("[-1, 0.5]")
	if up <= 0 || down >= 0 {
		t.Errorf("scores %g and %g of a positive and a negative example", up, down)
	}
	if _, status := score("[]"); status != http.StatusBadRequest {
		t.Errorf("an empty row: status %d", status)
	}
	if _, status := score(`["x"]`); status != http.StatusBadRequest {
		t.Errorf("a text: status %d", status)
	}
}
