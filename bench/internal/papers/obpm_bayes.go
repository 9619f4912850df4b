package papers

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

func init() {
	register(Experiment{
		Name: "obpm/bayespoint",
		Summary: "how near OBPM, a perceptron, SVM, PUMMA, VVM and EP come to the Bayes point, " +
			"on isotropic examples that a hyperplane through the origin labels, 20 a dimension",
		Seconds: 25, Runs: 30, Run: obpmBayesPoint})
}

// bayesSteps is how many great circles the Bayes point is the mean over; a tenth more are left out
// at first.
const bayesSteps = 100_000

// bayesLearner is one that learns examples which a hyperplane through the origin separates: by its
// Fit, or presented until no member is wrong.
type bayesLearner struct {
	text, name string
	config     learner.Config
	fits       bool
}

func bayesLearners() []bayesLearner {
	small, large := measure.Defaults[*learners.OBPMConfig]("obpm"),
		measure.Defaults[*learners.OBPMConfig]("obpm")
	small.Members, large.Members = 25, 100
	svm := measure.Defaults[*learners.SVMConfig]("svm")
	svm.NoBias, svm.C, svm.Gap = true, 0, 1e-5
	pumma := measure.Defaults[*learners.PUMMAConfig]("pumma")
	pumma.P, pumma.Delta = "2", 0.01
	points := learners.PointsConfig{Tolerance: 1e-6, Sweeps: 100, Damping: 1}
	vvm := &learners.VVMConfig{Buffer: 40, Pairs: 1, PointsConfig: points}
	return []bayesLearner{
		{"perceptron", "perceptron", nil, true},
		{"svm", "svm", svm, true},
		{"pumma", "pumma", pumma, true},
		{"vvm B=40", "vvm", vvm, false},
		{"ep", "ep", &learners.EPConfig{PointsConfig: points}, true},
		{"obpm N=25", "obpm", small, false},
		{"obpm N=100", "obpm", large, false},
	}
}

// learn returns the weights.
func (l *bayesLearner) learn(ctx context.Context, b *engine.Block[float64], seed uint64) (
	[]float64, error) {
	ofLearner(ctx, l.name)
	env := learner.Env{Seed: seed}
	if l.fits {
		if l.name == "pumma" { // its bias is then 0
			b = mirrored(b)
		}
		r, f, err := measure.Fit(ctx, l.name, l.config, env, b, learner.FitOptions{MaxUpdates: 1e8})
		if err == nil && !r.Converged {
			err = fmt.Errorf("not converged after %d updates: %w", r.Updates, learner.ErrFit)
		}
		if err != nil {
			return nil, fmt.Errorf("bench: %s: %w", l.text, err)
		}
		return f.Weights(), nil
	}
	f, err := learner.Make[float64](l.name, l.config, env)
	if err != nil {
		return nil, err
	}
	const most = 100_000
	for epoch := range most {
		if _, err := pass(ctx, f, b, eval.Options{Epochs: 1,
			Before: int64(epoch * b.Len())}); err != nil {
			return nil, err
		}
		members := learner.MistakeCheckerOf(f)
		if members == nil { // of one that has no members one pass is all
			return f.Weights(), nil
		}
		if wrong, err := members.Mistakes(b); err != nil || wrong == 0 {
			return f.Weights(), err
		}
	}
	return nil, fmt.Errorf("bench: %s: members do not separate after %d epochs", l.text, most)
}

// mirrored returns the examples and each turned over, label and all: of those a hyperplane with a
// bias and the largest margin goes through the origin.
func mirrored(b *engine.Block[float64]) *engine.Block[float64] {
	out := &engine.Block[float64]{Dim: b.Dim, Stride: b.Dim}
	for i := range b.Len() {
		out.X = append(append(out.X, b.Row(i)...), scaled(b.Row(i), -1)...)
		out.Y = append(out.Y, b.Y[i], -b.Y[i])
	}
	return out
}

// isotropic returns n unit vectors, labelled by w.
func isotropic(rng *engine.Rand, n int, w []float64) *engine.Block[float64] {
	b := &engine.Block[float64]{Dim: len(w), Stride: len(w)}
	for range n {
		x := direction(rng, len(w))
		b.X, b.Y = append(b.X, x...), append(b.Y, math.Copysign(1, dot(x, w)))
	}
	return b
}

// direction draws a unit vector.
func direction(rng *engine.Rand, d int) []float64 {
	x := make([]float64, d)
	for j := range x {
		x[j] = rng.Normal()
	}
	return unitVector(x)
}

func unitVector(x []float64) []float64 { return scaled(x, 1/math.Sqrt(engine.SumSqOrdered(x))) }

func dot(a, b []float64) (sum float64) {
	for j, v := range a {
		sum += float64(v * b[j])
	}
	return sum
}

// degrees returns the angle between two vectors, less than 180.
func degrees(a, b []float64) float64 {
	apart := difference(unitVector(a), unitVector(b))
	return 360 / math.Pi * math.Asin(min(1, math.Sqrt(engine.SumSqOrdered(apart))/2))
}

// bayesPoint returns the centre of mass of the version space {w : y_i x_i.w > 0, |w| = 1} by
// hit-and-run. A step draws a great circle through w, whose part inside is one arc, as each row has
// half of the circle: it goes to a uniform place on the arc, all of which counts by its own centre
// of mass.
func bayesPoint(b *engine.Block[float64], steps int, seed uint64) ([]float64, error) {
	X := make([][]float64, b.Len())
	for i := range X {
		X[i] = scaled(b.Row(i), b.Y[i])
	}
	w, err := naive.Inside(X)
	if err != nil {
		return nil, err
	}
	w = unitVector(w)
	rng, mean := engine.NewRand(seed, 2), make([]float64, len(w))
	for s := -steps / 10; s < steps; s++ {
		u := direction(rng, len(w))
		across := dot(u, w)
		for j := range u {
			u[j] -= float64(across * w[j])
		}
		u = unitVector(u)
		lo, hi := math.Inf(-1), math.Inf(1) // tan(t) on cos(t) w + sin(t) u, which 0 is inside of
		for _, x := range X {
			switch a, c := dot(x, w), dot(x, u); { // a > 0: cos(t) a + sin(t) c > 0
			case c > 0:
				lo = max(lo, -a/c)
			case c < 0:
				hi = min(hi, -a/c)
			}
		}
		lo, hi = math.Atan(lo), math.Atan(hi)
		at := func(t float64) []float64 {
			sin, cos := math.Sincos(t)
			v := make([]float64, len(w))
			for j := range v {
				v[j] = float64(cos*w[j]) + float64(sin*u[j])
			}
			return v
		}
		if s >= 0 {
			half := (hi - lo) / 2
			for j, v := range at((lo + hi) / 2) {
				mean[j] += float64(v * math.Sin(half) / half)
			}
		}
		w = unitVector(at(lo + float64(rng.Uniform()*(hi-lo))))
	}
	return scaled(mean, 1/float64(steps)), nil
}

// obpmBayesPoint holds the average of perceptrons beside what the paper averages them for.
func obpmBayesPoint(ctx context.Context, o RunOptions) error {
	list := bayesLearners()
	var texts []string
	for _, l := range list {
		texts = append(texts, l.text)
	}
	for _, d := range []int{3, 5, 10} {
		prefix := fmt.Sprintf("%d dimensions, ", d)
		if !o.wants(prefix + "above " + strings.Join(texts, " ")) {
			continue
		}
		// of each learner the angle, and behind all of those the labels
		values, err := perRun(ctx, o, func(o RunOptions, run int) ([]float64, error) {
			seed := o.Seed + uint64(run)
			rng := engine.NewRand(seed, uint64(d))
			target := direction(rng, d)
			b, fresh := isotropic(rng, 20*d, target), isotropic(rng, 10_000, target)
			point, err := bayesPoint(b, bayesSteps, seed)
			if err != nil {
				return nil, err
			}
			out := make([]float64, 2*len(list))
			for i := range list {
				w, err := list[i].learn(ctx, b, seed)
				if err != nil {
					return nil, err
				}
				unlike := 0
				for k := range fresh.Len() {
					if (dot(fresh.Row(k), w) >= 0) != (dot(fresh.Row(k), point) >= 0) {
						unlike++
					}
				}
				out[i] = degrees(w, point)
				out[len(list)+i] = 100 * float64(unlike) / float64(fresh.Len())
			}
			return out, nil
		})
		if err != nil {
			return err
		}
		for q, quantity := range []string{"degrees_to_the_bayes_point",
			"labels_unlike_the_bayes_points_percent"} {
			of := map[string][]float64{}
			for i, l := range list {
				of[l.text] = values[q*len(list)+i]
				o.add(Row{Row: prefix + l.text, Quantity: quantity}, of[l.text]...)
			}
			for _, c := range [][3]string{
				{"perceptron", "obpm N=100", "the paper: the average of perceptrons approximates " +
					"the Bayes point"},
				{"svm", "obpm N=100", "ours: the average is no SVM by other means"},
				{"obpm N=25", "obpm N=100", "ours: more members approximate it better"},
				{"obpm N=100", "ep", "ours: EP is made for that point, off which hit-and-run " +
					"itself is 0.04 to 0.12 degrees"},
			} {
				o.add(Row{Kind: Claim, Row: prefix + c[0] + " above " + c[1],
					Quantity: quantity + "_difference", Note: c[2]},
					difference(of[c[0]], of[c[1]])...)
			}
		}
	}
	return nil
}
