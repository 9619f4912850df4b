package learners

import "sync"

// stack keeps scratch for calls that may run at the same time: each takes one and gives it back, so there are as
// many as ran at once. It is shared by the copies that SetState makes of a learner. A nil one keeps none.
type stack[S any] struct {
	mu   sync.Mutex
	free []*S
}

func (s *stack[S]) take() *S {
	if s == nil {
		return new(S)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return new(S)
	}
	x := s.free[n-1]
	s.free = s.free[:n-1]
	return x
}

// give takes scratch back. After a panic it is simply not given back.
func (s *stack[S]) give(x *S) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, x)
}

// bytes is what the scratch holds that nobody uses.
func (s *stack[S]) bytes(of func(*S) int64) int64 {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var n int64
	for _, x := range s.free {
		n += of(x)
	}
	return n
}
