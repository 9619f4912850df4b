package measure

import (
	"flag"
	"fmt"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// go test ./bench -run 'BesideADF|StressedModels' -posterior-seeds 20 is the whole measurement:
// some 20 s. The first stream of 5 % on which VVM fell apart is the sixth.
var posteriorSeeds = flag.Int("posterior-seeds", 6,
	"streams of each kind on which posteriors are compared with ADF's")

// streamErrors lets a learner learn b and returns the share of wrong predictions on the way.
func streamErrors(t *testing.T, name string, c learner.Config, b *engine.Block[float32]) (
	share float64, model learner.Learner[float32]) {
	t.Helper()
	l, err := learner.Make[float32](name, c, learner.Env{})
	if err != nil {
		t.Fatal(err)
	}
	rounds, wrong := make([]learner.Round, b.Len()), 0
	if err := l.Learn(b, rounds); err != nil {
		t.Fatal(err)
	}
	for i, r := range rounds {
		if float64(b.Y[i])*r.Score <= 0 {
			wrong++
		}
	}
	return float64(wrong) / float64(b.Len()), l
}

// onTheWay lets a learner learn b and returns the share of wrong predictions on the way, and those
// of its hypothesis on the test examples after each 25 examples, from the 200th on.
func onTheWay(t *testing.T, name string, c learner.Config, b, test *engine.Block[float32]) (
	share float64, hypotheses []float64) {
	t.Helper()
	l, err := learner.Make[float32](name, c, learner.Env{})
	if err != nil {
		t.Fatal(err)
	}
	wrong := func(b *engine.Block[float32], score func(i int) float64) (n int) {
		for i, y := range b.Y {
			if float64(y)*score(i) <= 0 {
				n++
			}
		}
		return n
	}
	const step = 25
	errors, rounds, scores := 0, make([]learner.Round, step), make([]float64, test.Len())
	for i := 0; i < b.Len(); i += step {
		part := b.Slice(i, i+step)
		if err := l.Learn(&part, rounds); err != nil {
			t.Fatal(err)
		}
		errors += wrong(&part, func(i int) float64 { return rounds[i].Score })
		if i < 200 {
			continue
		}
		if err := l.Score(test, scores); err != nil {
			t.Fatal(err)
		}
		n := wrong(test, func(i int) float64 { return scores[i] })
		hypotheses = append(hypotheses, float64(n)/float64(test.Len()))
	}
	return float64(errors) / float64(b.Len()), hypotheses
}

// pointsLearners are window-EP and VVM, the latter with and without merging.
func pointsLearners(buffer int, noise float64) map[string]learner.Config {
	p := learners.PointsConfig{Noise: noise, Tolerance: 1e-3, Sweeps: 20, Damping: 1}
	return map[string]learner.Config{
		"wep":             &learners.WEPConfig{Buffer: buffer, PointsConfig: p},
		"vvm":             &learners.VVMConfig{Buffer: buffer, PointsConfig: p},
		"vvm with merges": &learners.VVMConfig{Buffer: buffer, Pairs: 1, PointsConfig: p},
	}
}

// TestPosteriorsBesideADF: on two classes with flipped labels, where EP often does not converge, or
// at another fixed point, no run of window-EP or VVM has more than 5 points more errors than ADF,
// nor has its hypothesis at any time.
func TestPosteriorsBesideADF(t *testing.T) {
	t.Parallel()
	for _, flips := range []float64{0.01, 0.05, 0.1} {
		above, runs := 0.0, 0
		for seed := 1; seed <= *posteriorSeeds; seed++ {
			d, err := dataset.Generate[float32]("gauss", map[string]string{
				"n": "1500", "seed": fmt.Sprint(seed), "noise": fmt.Sprint(flips)})
			if err != nil {
				t.Fatal(err)
			}
			test, err := dataset.Generate[float32]("gauss", map[string]string{
				"n": "500", "seed": fmt.Sprint(seed), "split": "test"})
			if err != nil {
				t.Fatal(err)
			}
			plain := &learners.ADFConfig{Covariance: "full", Noise: flips}
			adf, good := onTheWay(t, "adf", plain, &d.Block, &test.Block)
			for _, buffer := range []int{10, 30} {
				for what, c := range pointsLearners(buffer, flips) {
					e, bad := onTheWay(t, what[:3], c, &d.Block, &test.Block)
					for i, h := range bad {
						if h > good[i]+0.05 {
							t.Errorf("%v flips, seed %d, %s with %d points: after %d examples "+
								"%.1f %% errors "+
								"on others, adf %.1f %%", flips, seed, what, buffer, 225+25*i,
								100*h, 100*good[i])
							break
						}
					}
					if above, runs = above+e-adf, runs+1; e > adf+0.05 {
						t.Errorf("%v flips, seed %d, %s with %d points: %.1f %% errors, "+
							"adf %.1f %%",
							flips, seed, what, buffer, 100*e, 100*adf)
					}
				}
			}
		}
		if mean := above / float64(runs); mean > 0.005 {
			t.Errorf("%v flips: %.2f points above adf on average", flips, 100*mean)
		}
	}
}

// TestStressedModelsLoad: labels noisier than the model of them, few features and many points break
// what rounding can break. What is learned can be loaded, and is near ADF.
func TestStressedModelsLoad(t *testing.T) {
	t.Parallel()
	const n = 400
	seeds := max(1, *posteriorSeeds/4) // 5 make 1080 runs
	runs := 0
	for d := 1; d <= 3; d++ {
		for _, noise := range []float64{0.001, 0.01, 0.05, 0.2} {
			for _, sigma := range []float64{0.5, 1, 1.5} {
				for seed := range seeds {
					rng := engine.NewRand(uint64(1000*d+seed), uint64(100*sigma))
					b := &engine.Block[float32]{Dim: d, Stride: d}
					for range n {
						f := 0.0
						for range d {
							x := 2*rng.Uniform() - 1
							b.X = append(b.X, float32(x))
							f += x
						}
						bell := rng.Uniform() + rng.Uniform() + rng.Uniform() + rng.Uniform() - 2
						b.Y = append(b.Y, float32(math.Copysign(1, f+float64(sigma*bell))))
					}
					plain := &learners.ADFConfig{Covariance: "full", Noise: noise}
					adf, _ := streamErrors(t, "adf", plain, b)
					for _, buffer := range []int{10, 30} {
						for what, c := range pointsLearners(buffer, noise) {
							e, l := streamErrors(t, what[:3], c, b)
							in := fmt.Sprintf("d %d, eps %v, sigma %v, seed %d, %s with %d points",
								d, noise, sigma, seed, what, buffer)
							if err := l.SetState(l.State()); err != nil {
								t.Errorf("%s: %v", in, err)
							}
							// Of one feature, VVM is behind ADF where EP converges, too.
							if runs++; e > adf+0.1 {
								t.Errorf("%s: %.1f %% errors, adf %.1f %%", in, 100*e, 100*adf)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d runs", runs)
}
