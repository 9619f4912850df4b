package learners

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
)

// TestRFFKernel: z(x).z(y) approximates the kernel: it is the mean of D/2 independent values of
// cos(omega.(x-y)), whose mean is K and whose variance is at most 1/2, so that over draws of omega
// the mean square error is at most 1/D. Intervals are of three standard errors over the seeds.
func TestRFFKernel(t *testing.T) {
	const D, dim, n, sigma, seeds = 200, 7, 40, 1.5, 60
	r := rand.New(rand.NewPCG(1, 2))
	b := &engine.Block[float64]{Dim: dim, Stride: dim, Y: make([]float64, n), X: make([]float64,
		n*dim)}
	for i := range b.X {
		b.X[i] = r.NormFloat64()
	}
	for i := range b.Y {
		b.Y[i] = 1
	}
	var errs, squares []float64 // means over the pairs, one a seed
	for seed := range uint64(seeds) {
		l, err := newRFF[float64](RFFConfig{D: D, Sigma: sigma, Base: "perceptron"},
			learner.Env{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		f := l.(*rffLearner[float64])
		var z engine.Block[float64]
		if err := f.fourier.Map(&z, b); err != nil {
			t.Fatal(err)
		}
		var sum, square, pairs float64
		for i := range n {
			if dot := vecmath.Dot(z.Row(i), z.Row(i)); math.Abs(dot-1) > 1e-12 {
				t.Fatalf("|z|^2 is %v", dot)
			}
			for j := range i {
				e := vecmath.Dot(z.Row(i), z.Row(j)) -
					math.Exp(-vecmath.SqDist(b.Row(i), b.Row(j))/(2*sigma*sigma))
				sum, square, pairs = sum+e, square+e*e, pairs+1
			}
		}
		errs, squares = append(errs, sum/pairs), append(squares, square/pairs)
	}
	mean, dev := stat.MeanStdDev(errs, nil)
	if math.Abs(mean) > 3*dev/math.Sqrt(seeds) {
		t.Errorf("the error has mean %v, standard deviation %v over %d seeds", mean, dev, seeds)
	}
	mean, dev = stat.MeanStdDev(squares, nil)
	if mean-3*dev/math.Sqrt(seeds) > 1./D || mean < 0.2/D {
		t.Errorf("the mean square error is %v with deviation %v, want at most %v", mean, dev, 1./D)
	}
}
