package engine

import "context"

// Pool is a set of workers; see NewPool.
type Pool struct{ workers int }

// Job is work in numbered parts.
type Job interface{ Part(i int) }

// NewPool starts workers-1 goroutines.
func NewPool(workers int) *Pool { return &Pool{workers} }

// Close ends the workers.
func (p *Pool) Close() {}

// Workers returns how many parts can run at once, the caller included; 1 for a nil pool.
func (p *Pool) Workers() int { return 1 }

// Run calls j.Part(0..n-1).
func (p *Pool) Run(ctx context.Context, n int, j Job) error {
	for i := range n {
		j.Part(i)
	}
	return nil
}
