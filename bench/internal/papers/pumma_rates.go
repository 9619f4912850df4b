package papers

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

func init() {
	register(Experiment{
		Name: "pumma/rates",
		Summary: "how the updates of PUMMA grow with r, k and n on r-of-k thresholds, and what " +
			"the value of ROMMA's bias feature costs (what sections 5.1 and 6 say of both)",
		Seconds: 4, Runs: 5, Run: pummaRates})
}

// thresholds returns 1000 examples of an r-of-k function over n attributes.
func thresholds(r, k, n int, seed uint64) (*engine.Block[float64], error) {
	d, err := dataset.Generate[float64]("rofk", map[string]string{"n": "1000",
		"d": strconv.Itoa(n), "k": strconv.Itoa(k), "r": strconv.Itoa(r),
		"seed": strconv.FormatUint(seed, 10)})
	if err != nil {
		return nil, err
	}
	return &d.Block, nil
}

// updatesUntil has a new learner pass over b until a pass makes no update.
func updatesUntil(ctx context.Context, name string, c learner.Config, b *engine.Block[float64]) (
	updates float64, took time.Duration, err error) {
	ofLearner(ctx, name)
	l, err := learner.Make[float64](name, c, learner.Env{})
	if err != nil {
		return 0, 0, err
	}
	began := measure.ThreadTime()
	for {
		r, err := pass(ctx, l, b, eval.Options{})
		if err != nil || r.Converged {
			return float64(l.Updates()), measure.ThreadTime() - began, err
		}
	}
}

const ratesDelta = 0.1

func pummaRates(ctx context.Context, o RunOptions) error {
	if err := updateSlopes(ctx, o); err != nil {
		return err
	}
	return biasValues(ctx, o)
}

// updateSlopes has PUMMA with p = 2 ln n learn thresholds of several r, k and n, and fits a line to
// the logarithms of the updates against those of r k ln n.
func updateSlopes(ctx context.Context, o RunOptions) error {
	type cell struct{ r, k, n int }
	var cells []cell
	for _, n := range []int{50, 200} {
		for _, k := range []int{8, 16} {
			for _, r := range []int{1, 4} {
				cells = append(cells, cell{r, k, n})
			}
		}
	}
	// of each cell the updates, and behind all of those the times
	values, err := perRun(ctx, o, func(_ RunOptions, run int) ([]float64, error) {
		out := make([]float64, 2*len(cells))
		for i, c := range cells {
			b, err := thresholds(c.r, c.k, c.n, o.Seed+uint64(run))
			if err != nil {
				return nil, err
			}
			p := &learners.PUMMAConfig{P: "auto", Delta: ratesDelta}
			resolved, err := p.Resolve(learner.Facts{Features: c.n})
			if err != nil {
				return nil, err
			}
			n, took, err := updatesUntil(ctx, "pumma", resolved, b)
			if err != nil {
				return nil, err
			}
			out[i], out[len(cells)+i] = n, took.Seconds()
		}
		return out, nil
	})
	if err != nil {
		return err
	}
	updates, seconds := values[:len(cells)], values[len(cells):]
	fit := make([]float64, o.Runs)
	for run := range fit {
		var x, y []float64
		for i, c := range cells {
			x = append(x, math.Log(float64(c.r*c.k)*math.Log(float64(c.n))))
			y = append(y, math.Log(updates[i][run]))
		}
		_, fit[run] = stat.LinearRegression(x, y, nil, false)
	}
	for i, c := range cells {
		o.add(Row{Quantity: "updates", Row: fmt.Sprintf("pumma p=2 ln n, r=%d k=%d n=%d", c.r, c.k,
			c.n), Seconds: floats.Sum(seconds[i])}, updates[i]...)
	}
	o.add(Row{Quantity: "slope", Row: "pumma p=2 ln n, log updates against log(r k ln n)"}, fit...)
	below := make([]float64, len(fit))
	for i, s := range fit {
		below[i] = 1 - s
	}
	// All pairs of levels are there, so that each exponent is a mean of differences.
	exponent := func(level func(cell) float64) []float64 {
		e := make([]float64, o.Runs)
		for run := range e {
			for i, c := range cells {
				if level(c) > level(cells[0]) {
					e[run] += math.Log(updates[i][run])
				} else {
					e[run] -= math.Log(updates[i][run])
				}
			}
			last := cells[len(cells)-1]
			e[run] /= float64(len(cells)/2) * math.Log(level(last)/level(cells[0]))
		}
		return e
	}
	ofK := exponent(func(c cell) float64 { return float64(c.k) })
	for _, f := range []struct {
		of     string
		values []float64
	}{{"r", exponent(func(c cell) float64 { return float64(c.r) })}, {"k", ofK},
		{"ln n", exponent(func(c cell) float64 { return math.Log(float64(c.n)) })}} {
		o.add(Row{Quantity: "exponent", Row: "pumma p=2 ln n, updates as a power of " + f.of},
			f.values...)
	}
	less := make([]float64, len(ofK))
	for i, e := range ofK {
		less[i] = 2 - e
	}
	o.claim("pumma p=2 ln n, 2 above the exponent of k", "exponent",
		"the bound is O(k^2 ln n), and experiments suggest a better one", less)
	o.claim("pumma p=2 ln n, 1 above the slope of log updates against log(r k ln n)", "slope",
		"PUMMA seems to converge in O(r k ln n) iterations", below)
	return nil
}

// biasValues has ROMMA learn thresholds with a feature -R or 1 that stands for the bias.
func biasValues(ctx context.Context, o RunOptions) error {
	const n, k = 100, 16
	R := math.Sqrt(n)
	c := &learners.ROMMAConfig{Aggressive: true, Delta: ratesDelta}
	for _, r := range []int{1, 4, 8} {
		bias := k - 2*r + 1
		var updates [2][]float64
		for v, value := range []float64{-R, 1} {
			values, err := perRun(ctx, o, func(_ RunOptions, run int) ([]float64, error) {
				b, err := thresholds(r, k, n, o.Seed+uint64(run))
				if err != nil {
					return nil, err
				}
				n, took, err := updatesUntil(ctx, "romma", c, withBias(b, value))
				return []float64{n, took.Seconds()}, err
			})
			if err != nil {
				return err
			}
			updates[v] = values[0]
			o.add(Row{Quantity: "updates", Seconds: floats.Sum(values[1]),
				Row: fmt.Sprintf("romma aggressive, bias %d by a feature %g", bias, value)},
				values[0]...)
		}
		ratio := make([]float64, o.Runs)
		for i := range ratio {
			ratio[i] = updates[1][i] / updates[0][i]
		}
		o.add(Row{Quantity: "times", Row: fmt.Sprintf("romma aggressive, bias %d, updates with 1 "+
			"by those with -R", bias)}, ratio...)
		if r > 1 {
			continue
		}
		const says = "another value than -R, as 1, increases the iterations by O(R^2) times " +
			"where the bias is large"
		o.claim(fmt.Sprintf("bias %d, a feature 1 above -R", bias), "updates", says,
			difference(updates[1], updates[0]))
		o.claim(fmt.Sprintf("bias %d, R^2 times a feature -R above 1", bias), "updates", says,
			difference(scaled(updates[0], R*R), updates[1]))
	}
	return nil
}
