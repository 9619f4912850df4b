package measure

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// posteriorNoise is the rate of wrong labels of the stream, and what the learners take it to be.
const posteriorNoise = 0.05

// Posterior measures the Virtual Vector Machine, EP run to 1e-8, on one core beside one that
// refines each site with dense covariance matrices in plain loops, and ADF likewise. Both have
// learned a thousand examples of a stream when the clock starts, and go on with it.
func Posterior(ctx context.Context, o Options) ([]Result, error) {
	if o.Each == 0 {
		o.Each = 40 * time.Millisecond // some need more sweeps than others
	}
	var cases []pair
	for _, c := range []struct {
		d, buffer int
	}{{100, 0}, {100, 30}, {400, 50}} {
		v, err := startVVM(c.d, c.buffer)
		if err != nil {
			return nil, fmt.Errorf("bench: posterior: %w", err)
		}
		cases = append(cases, pair{name: fmt.Sprintf("vvm/f64/d=%d/B=%d", c.d, c.buffer),
			unit: "ns/example",
			ours: v.ours, peerName: "dense", peer: v.dense})
	}
	return runAll(ctx, cases, o)
}

// vvmRun is a stream and two learners on it that began with the same state. At its end they begin
// anew.
type vvmRun struct {
	learner learner.Learner[float64]
	config  learner.Config
	state   learner.State
	stream  engine.Block[float64]
	naive   *naive.VVM
	at, to  int // the next example of each
	rounds  [1]learner.Round
}

const posteriorWarmUp, posteriorStream = 1000, 3000

// startVVM learns the warm-up of a stream.
func startVVM(d, buffer int) (*vvmRun, error) {
	v := &vvmRun{config: &learners.VVMConfig{Buffer: buffer,
		PointsConfig: learners.PointsConfig{Noise: posteriorNoise, Tolerance: 1e-8, Sweeps: 50,
			Damping: 1}},
		stream: posteriorExamples(posteriorWarmUp+posteriorStream, d)}
	var err error
	if v.learner, err = learner.Make[float64]("vvm", v.config, learner.Env{}); err != nil {
		return nil, err
	}
	if err := v.stream.Check(); err != nil {
		return nil, err
	}
	head := v.stream.Slice(0, posteriorWarmUp)
	if err := v.learner.Learn(&head, make([]learner.Round, posteriorWarmUp)); err != nil {
		return nil, err
	}
	v.stream = v.stream.Slice(posteriorWarmUp, posteriorWarmUp+posteriorStream)
	v.state = v.learner.State()
	v.naive = naive.NewVVM(d, buffer, false, posteriorNoise, 1e-8, 50)
	v.takeState()
	return v, nil
}

// takeState gives the naive learner the state after the warm-up.
func (v *vvmRun) takeState() {
	data := func(name string) []float64 {
		return append([]float64(nil), v.state.Tensor(name).Data.([]float64)...)
	}
	n, d := v.naive, v.stream.Dim
	copy(n.MR, data("residual_mean"))
	triangle, points := data("residual_cov"), data("points")
	for i := range d {
		for j := range i + 1 {
			n.VR[i][j], n.VR[j][i] = triangle[i*(i+1)/2+j], triangle[i*(i+1)/2+j]
		}
	}
	var X [][]float64
	for ; len(points) > 0; points = points[d:] {
		X = append(X, points[:d:d])
	}
	n.Take(X, data("tau"), data("nu"))
}

func (v *vvmRun) ours(k int) {
	for range k {
		if v.at == v.stream.Len() {
			if err := v.learner.SetState(v.state); err != nil {
				panic(fmt.Sprintf("bench: vvm: %v", err)) // its own state
			}
			v.at = 0
		}
		one := v.stream.Slice(v.at, v.at+1)
		if err := v.learner.Learn(&one, v.rounds[:]); err != nil {
			panic(fmt.Sprintf("bench: vvm: %v", err)) // checked data
		}
		v.at++
	}
}

func (v *vvmRun) dense(k int) {
	for range k {
		if v.to == v.stream.Len() {
			v.takeState()
			v.to = 0
		}
		x := append([]float64(nil), v.stream.Row(v.to)...)
		for i := range x {
			x[i] *= v.stream.Y[v.to]
		}
		v.naive.Learn(x)
		v.to++
	}
}

// posteriorExamples draws n normal examples of expected length 1, the labels of a hyperplane
// through 0, and flips some.
func posteriorExamples(n, d int) engine.Block[float64] {
	rand := engine.NewRand(7, uint64(d))
	w := make([]float64, d)
	for i := range w {
		w[i] = rand.Normal()
	}
	b := engine.Block[float64]{Dim: d, Stride: d}
	for range n {
		f := 0.0
		for i := range d {
			x := rand.Normal() / math.Sqrt(float64(d))
			b.X = append(b.X, x)
			f += w[i] * x
		}
		y := math.Copysign(1, f)
		if rand.Uniform() < posteriorNoise {
			y = -y
		}
		b.Y = append(b.Y, y)
	}
	return b
}
