package engine

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkMasks: the draws of a run of examples, as learners make them; ns an example.
func BenchmarkMasks(b *testing.B) {
	const run = 256
	for _, n := range []int{64, 100, 200} {
		for _, tau := range []float64{0.01, 0.05, 0.3, 0.5} {
			b.Run(fmt.Sprintf("n=%d/tau=%v", n, tau), func(b *testing.B) {
				d := NewDraws(1, 2).Bernoulli(tau)
				mask := make([]uint64, run*((n+63)/64))
				example := uint64(0)
				for b.Loop() {
					d.Masks(mask, 0, n, example)
					example += run
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/run, "ns/example")
			})
		}
	}
}

type nothing struct{}

func (nothing) Part(int) {}

// BenchmarkRun: what an empty fork and join costs.
func BenchmarkRun(b *testing.B) {
	for _, workers := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			p := NewPool(workers)
			defer p.Close()
			ctx, j := context.Background(), Job(nothing{})
			for b.Loop() {
				if err := p.Run(ctx, 8, j); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
