package learners

import (
	"math/rand/v2"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// images is dense, with a fifth of it non-zero, in runs, as those of written digits are.
func images(n, d int) *engine.Block[float32] {
	r := rand.New(rand.NewPCG(3, 1))
	b := &engine.Block[float32]{Dim: d, Stride: d, X: make([]float32, n*d)}
	for i := range n {
		row := b.X[i*d:][:d]
		y := float32(1)
		if r.Float64() < 0.5 {
			y = -1
		}
		for at := 100; at < d-100; at += 28 {
			k := 4 + int(r.Float64()*9)
			for j := range k {
				row[at+int(y)+j] = float32(r.Float64())
			}
		}
		b.Y = append(b.Y, y)
	}
	return b
}

// BenchmarkDiagonalADF is the time of a dense example of 784 features.
func BenchmarkDiagonalADF(b *testing.B) {
	block := images(500, 784)
	rounds := make([]learner.Round, block.Len())
	l, err := newADF[float32](ADFConfig{Covariance: "diagonal", Noise: 0.05}, learner.Env{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := l.Learn(block, rounds); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/500, "ns/example")
}
