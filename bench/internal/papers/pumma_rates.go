package papers

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

func init() {
	register(Experiment{
		Name: "pumma/rates",
		Summary: "how the updates of PUMMA grow with r, k and n on r-of-k thresholds, and what " +
			"the value of ROMMA's bias feature costs (what sections 5.1 and 6 say of both)",
		Runs: 5, Run: pummaRates})
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
		pass, err := training.Learn(ctx, l, eval.NewMemory(b, nil), training.LearnOptions{})
		if err != nil || pass.Converged {
			return float64(l.Updates()), measure.ThreadTime() - began, err
		}
	}
}

const ratesDelta = 0.1

func pummaRates(ctx context.Context, o RunOptions) ([]Row, error) {
	slopes, err := updateSlopes(ctx, o)
	if err != nil {
		return slopes, err
	}
	values, err := biasValues(ctx, o)
	return append(slopes, values...), err
}

// updateSlopes has PUMMA with p = 2 ln n learn thresholds of several r, k and n, and fits a line to
// the logarithms of the updates against those of r k ln n.
func updateSlopes(ctx context.Context, o RunOptions) (rows []Row, err error) {
	type cell struct{ r, k, n int }
	var cells []cell
	for _, n := range []int{50, 200} {
		for _, k := range []int{8, 16} {
			for _, r := range []int{1, 4} {
				cells = append(cells, cell{r, k, n})
			}
		}
	}
	updates, took := make([][]float64, len(cells)), make([][]time.Duration, len(cells))
	for i := range cells {
		updates[i], took[i] = make([]float64, o.Runs), make([]time.Duration, o.Runs)
	}
	err = sideBySide(ctx, o, len(cells)*o.Runs, func(_ RunOptions, i int) (err error) {
		c, run := cells[i/o.Runs], i%o.Runs
		b, err := thresholds(c.r, c.k, c.n, o.Seed+uint64(run))
		if err != nil {
			return err
		}
		p := &learners.PUMMAConfig{P: "auto", Delta: ratesDelta}
		resolved, err := p.Resolve(learner.Facts{Features: c.n})
		if err != nil {
			return err
		}
		updates[i/o.Runs][run], took[i/o.Runs][run], err = updatesUntil(ctx, "pumma", resolved, b)
		return err
	})
	if err != nil {
		return nil, err
	}
	put := func(r Row) {
		rows = append(rows, r)
		o.done(r)
	}
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
		row := Row{Experiment: "pumma/rates", Quantity: "updates",
			Row: fmt.Sprintf("pumma p=2 ln n, r=%d k=%d n=%d", c.r, c.k, c.n)}
		for _, t := range took[i] {
			row.Seconds += t.Seconds()
		}
		row.fill(updates[i])
		put(row)
	}
	slope := Row{Experiment: "pumma/rates", Quantity: "slope",
		Row: "pumma p=2 ln n, log updates against log(r k ln n)"}
	slope.fill(fit)
	put(slope)
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
		row := Row{Experiment: "pumma/rates", Quantity: "exponent",
			Row: "pumma p=2 ln n, updates as a power of " + f.of}
		row.fill(f.values)
		put(row)
	}
	less := make([]float64, len(ofK))
	for i, e := range ofK {
		less[i] = 2 - e
	}
	put(claim("pumma/rates", "pumma p=2 ln n, 2 above the exponent of k", "exponent",
		"the bound is O(k^2 ln n), and experiments suggest a better one", less))
	put(claim("pumma/rates", "pumma p=2 ln n, 1 above the slope of log updates against log(r k "+
		"ln n)", "slope", "PUMMA seems to converge in O(r k ln n) iterations", below))
	return rows, nil
}

// biasValues has ROMMA learn thresholds with a feature -R or 1 that stands for the bias.
func biasValues(ctx context.Context, o RunOptions) (rows []Row, err error) {
	const n, k = 100, 16
	R := math.Sqrt(n)
	c := &learners.ROMMAConfig{Aggressive: true, Delta: ratesDelta}
	put := func(r Row) {
		rows = append(rows, r)
		o.done(r)
	}
	for _, r := range []int{1, 4, 8} {
		bias := k - 2*r + 1
		var updates [2][]float64
		for v, value := range []float64{-R, 1} {
			took := make([]time.Duration, o.Runs)
			updates[v] = make([]float64, o.Runs)
			err := sideBySide(ctx, o, o.Runs, func(_ RunOptions, run int) error {
				b, err := thresholds(r, k, n, o.Seed+uint64(run))
				if err != nil {
					return err
				}
				updates[v][run], took[run], err = updatesUntil(ctx, "romma", c, withBias(b, value))
				return err
			})
			if err != nil {
				return rows, err
			}
			row := Row{Experiment: "pumma/rates", Quantity: "updates",
				Row: fmt.Sprintf("romma aggressive, bias %d by a feature %g", bias, value)}
			for _, t := range took {
				row.Seconds += t.Seconds()
			}
			row.fill(updates[v])
			put(row)
		}
		ratio := make([]float64, o.Runs)
		for i := range ratio {
			ratio[i] = updates[1][i] / updates[0][i]
		}
		row := Row{Experiment: "pumma/rates", Quantity: "times",
			Row: fmt.Sprintf("romma aggressive, bias %d, updates with 1 by those with -R", bias)}
		row.fill(ratio)
		put(row)
		if r > 1 {
			continue
		}
		const says = "another value than -R, as 1, increases the iterations by O(R^2) times " +
			"where the bias is large"
		put(claim("pumma/rates", fmt.Sprintf("bias %d, a feature 1 above -R", bias), "updates",
			says, difference(updates[1], updates[0])))
		put(claim("pumma/rates", fmt.Sprintf("bias %d, R^2 times a feature -R above 1", bias),
			"updates", says, difference(scaled(updates[0], R*R), updates[1])))
	}
	return rows, nil
}
