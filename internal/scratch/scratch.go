// Package scratch keeps memory that is used again and again by calls which may run at the same
// time.
package scratch

import "sync"

// Stack keeps scratch of one kind. Each call takes one and gives it back, so there are as many as
// ran at once. The zero value is empty; a nil one keeps none. Safe for concurrent use.
type Stack[S any] struct {
	mu   sync.Mutex
	free []*S
}

// Take returns scratch that no call uses: what was given last, or a new zero value.
func (s *Stack[S]) Take() *S {
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

// Give takes scratch back. After a panic it is simply not given back.
func (s *Stack[S]) Give(x *S) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, x)
}

// Bytes adds up the bytes of the scratch that no call uses.
func (s *Stack[S]) Bytes(of func(*S) int64) int64 {
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
