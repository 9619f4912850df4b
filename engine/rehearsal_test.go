package engine

import (
	"context"
	"errors"
	"testing"
	"time"
)

// slowParts are parts of stated lengths by a clock that only they move.
type slowParts struct {
	now   time.Duration
	takes []time.Duration
	ran   []int
	pool  *Pool
}

func (s *slowParts) Part(i int) {
	s.now += s.takes[i]
	s.ran = append(s.ran, i)
	if s.pool != nil { // from within, it works on the caller, unmeasured
		inner := s.pool
		s.pool = nil
		inner.Run(context.Background(), 2, s)
	}
}

// TestRehearsal: parts go to whoever is free first, by hand.
func TestRehearsal(t *testing.T) {
	j := &slowParts{takes: []time.Duration{5, 3, 4, 1}}
	pool, r := NewRehearsal(2, func() time.Duration { return j.now })
	if pool.Workers() != 2 || !pool.Worth(1e9) || pool.Worth(1) {
		t.Error("it doesn't stand for two workers")
	}
	// 5 | 3 4, then 1 behind the 5
	if err := pool.Run(context.Background(), 4, j); err != nil || r.Parts != 13 || r.Span != 7 {
		t.Errorf("%v: parts %d, span %d, want 13 and 7", err, r.Parts, r.Span)
	}
	if err := pool.Run(context.Background(), 1, j); err != nil || r.Parts != 13 || j.now != 18 {
		t.Errorf("%v: one part is serial, parts %d", err, r.Parts)
	}
	j.pool = pool
	if err := pool.Run(context.Background(), 2, j); err != nil || r.Parts != 13+16 {
		t.Errorf("%v: a run within a run: parts %d", err, r.Parts)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ran := len(j.ran)
	if err := pool.Run(ctx, 4, j); !errors.Is(err, context.Canceled) || len(j.ran) != ran {
		t.Errorf("%v: %d parts after the end", err, len(j.ran)-ran)
	}
	pool.Close()
}
