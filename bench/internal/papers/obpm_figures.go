package papers

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/halfspace-ml/halfspace/bench/internal/measure"
	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/internal/report"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// noNumber is the note of rows for which the paper has a curve.
const noNumber = "the paper has a curve, no number"

// obpmFigure1 measures OBPM against tau on the problem of Table 1 without noise.
func obpmFigure1(ctx context.Context, o RunOptions) error {
	const name = "obpm/figure1"
	taus, members := obpmTaus, []int{25, 50, 100}
	type point struct {
		errors, margins []float64
		learn           time.Duration
		plain           float64
	}
	points := make([][]point, len(members))
	for m := range points {
		points[m] = make([]point, len(taus))
	}
	runtime.LockOSThread() // for the times
	defer runtime.UnlockOSThread()
	var data problems
	for run := range o.Runs {
		seed := o.Seed + uint64(run)
		trainData, testData, err := data.of(ctx, o, 0, run)
		if err != nil {
			return err
		}
		train, test := &trainData.Block, &testData.Block
		for m, n := range members {
			for k, tau := range taus {
				p, c := &points[m][k], obpm(n, tau)
				l, _, err := c.learn(ctx, seed, train)
				if err != nil {
					return err
				}
				p.learn += l.took
				if run == 0 {
					p.plain = c.plainSeconds(ctx, c.plain(train.Dim, seed), train, nil)
				}
				missed, err := testError(ctx, l.Learner, test)
				if err != nil {
					return err
				}
				margin, err := marginOn(ctx, l.Learner, train)
				if err != nil {
					return err
				}
				p.errors, p.margins = append(p.errors, missed), append(p.margins, margin)
			}
		}
	}

	figures := []report.Figure{
		{Name: name + "a", Title: "(a) test error, one epoch, no label noise", XLabel: "tau",
			YLabel: "test error, %"},
		{Name: name + "b", Title: "(b) margin of the training sample", XLabel: "tau",
			YLabel: "margin", LegendBottom: true},
	}
	for m, n := range members {
		lines := [2]report.Line{{Name: fmt.Sprintf("N=%d", n)}, {Name: fmt.Sprintf("N=%d", n)}}
		for k, tau := range taus {
			p := points[m][k]
			for i, values := range [][]float64{p.errors, p.margins} {
				row := o.add(Row{Row: "generated e=0, " + obpm(n, tau).text,
					Quantity: [2]string{"test_error_percent", "margin"}[i], Note: noNumber,
					Seconds: p.learn.Seconds(), NaiveSeconds: at(p.plain * float64(o.Runs))},
					values...)
				lines[i].Add(tau, row.Ours, row.Ours-row.OursPM, row.Ours+row.OursPM)
			}
		}
		for i, l := range lines {
			figures[i].Lines = append(figures[i].Lines, l)
		}
	}
	o.drawn(figures...)

	// What the text says. All learners had the same samples.
	var margins, small [][]float64
	last, best := len(members)-1, 0
	for k := range taus {
		for m := range last {
			margins = append(margins, difference(points[m+1][k].margins, points[m][k].margins))
		}
		if stat.Mean(points[last][k].margins, nil) > stat.Mean(points[last][best].margins, nil) {
			best = k
		}
	}
	for m := range last {
		small = append(small, difference(points[m][0].errors, points[m+1][0].errors))
	}
	o.addAll(Row{Kind: Claim, Row: "the margin rises with N at every tau",
		Quantity: "margin_difference",
		Note:     "the paper: by increasing N, the margin was increased"}, margins,
		func(least int) string {
			return fmt.Sprintf("least surely at tau=%g from N=%d to %d", taus[least/last],
				members[least%last], members[least%last+1])
		})
	o.addAll(Row{Kind: Claim, Row: fmt.Sprintf("at tau=%g the test error falls with N", taus[0]),
		Quantity: "test_error_percent_difference", Note: "the paper: if tau is too small N must " +
			"be increased to ensure that the average is in the version space"}, small,
		nil)
	top := points[len(members)-1][best]
	o.add(Row{Row: fmt.Sprintf("generated e=0, %s, the best tau", obpm(100, taus[best]).text),
		Quantity: "margin", Paper: at(0.02), Tolerance: 0.005, Seconds: top.learn.Seconds(),
		Note: "section 4.1; the paper prints one digit"}, top.margins...)
	return nil
}

// online is what learners did along a stream, summed over runs: after each of so many examples, the
// wrong predictions and the updates.
type online struct {
	learner         made
	errors, updates []float64 // means
	final           [2][]float64
	learn           time.Duration
	plain           float64
}

// follow has each learner pass over each run's stream, whose lengths are equal. A score of 0
// predicts +1.
func follow(ctx context.Context, o RunOptions, list []made,
	stream func(run int) *engine.Block[float32]) ([]online, error) {
	runtime.LockOSThread() // for the times
	defer runtime.UnlockOSThread()
	out := make([]online, len(list))
	for run := range o.Runs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b, seed := stream(run), o.Seed+uint64(run)
		if err := b.Check(); err != nil {
			return nil, err
		}
		rounds := make([]learner.Round, b.Len())
		for i, m := range list {
			c := &out[i]
			if run == 0 {
				c.learner, c.errors, c.updates = m, make([]float64, b.Len()), make([]float64,
					b.Len())
				c.plain = m.plainSeconds(ctx, m.plain(b.Dim, seed), b, nil)
			}
			ofLearner(ctx, m.name())
			made, err := m.make(learner.Env{Seed: seed})
			if err != nil {
				return nil, err
			}
			l := &clocked{Learner: made}
			if err := l.Learn(b, rounds); err != nil {
				return nil, err
			}
			c.learn += l.took
			var wrong, updates float64
			for t, r := range rounds {
				if (r.Score >= 0) != (b.Y[t] > 0) {
					wrong++
				}
				updates += float64(r.Updates)
				c.errors[t] += wrong / float64(o.Runs)
				c.updates[t] += updates / float64(o.Runs)
			}
			c.final[0], c.final[1] = append(c.final[0], wrong), append(c.final[1], updates)
		}
	}
	return out, nil
}

// line is a curve over the examples seen, at curvePoints of them.
func (c online) line(values []float64) report.Line {
	n := len(values)
	step := (n + curvePoints - 1) / curvePoints
	l := report.Line{Name: c.learner.text, X: []float64{0}, Y: []float64{0}}
	for seen := n - (n-1)/step*step; seen <= n; seen += step { // the last is n
		l.X, l.Y = append(l.X, float64(seen)), append(l.Y, values[seen-1])
	}
	return l
}

// add puts the row of a final count.
func (c online) add(o RunOptions, prefix, quantity, note string, values []float64) {
	o.add(Row{Row: prefix + c.learner.text, Quantity: quantity, Note: note,
		Seconds: c.learn.Seconds(), NaiveSeconds: at(c.plain * float64(len(values)))}, values...)
}

func lms(eta float64) made {
	return made{fmt.Sprintf("lms eta=%g", eta),
		func(env learner.Env) (learner.Learner[float32], error) {
			cfg := measure.Defaults[*learners.LMSConfig]("lms")
			cfg.Eta = eta
			return learner.Make[float32]("lms", cfg, env)
		},
		func(dim int, _ uint64) naive.Learner[float32] { return naive.NewLMS[float32](dim, eta) }}
}

// obpmFigure2 lets the positive digit change from 1 to 2 to 3 within 1000 examples; all other
// digits are negative. Which share is positive the paper does not tell. The second phase is printed
// as r_t > 1 - t/(1.11 T), by which after 900 examples a fifth would still be no 3; as 1 - 1.11 t/T
// it gives what the text says. Both are run.
func obpmFigure2(ctx context.Context, o RunOptions) error {
	const name, length = "obpm/figure2", 1000
	d, err := load[float32](ctx, o, dataset.Options{Positive: "1", Bias: "append",
		Normalize: "unit"}, mnistImages, mnistLabels)
	if err != nil {
		return err
	}
	digits, err := mnistDigits(o.DataDir)
	if err != nil {
		return err
	}
	list := []made{obpm(100, 0.4), lms(0.5), alma(2, math.Sqrt2), perceptron()}
	for _, of := range []struct {
		share   float64
		printed bool
	}{{0.1, false}, {0.5, false}, {0.1, true}, {0.5, true}} {
		share := of.share
		curves, err := follow(ctx, o, list, func(run int) *engine.Block[float32] {
			order, y := driftingDigits(digits, o.Seed+uint64(run), length, share, of.printed)
			b := &engine.Block[float32]{}
			d.Gather(b, order)
			b.Y = y
			return b
		})
		if err != nil {
			return err
		}
		drift, file := "MNIST drift", fmt.Sprintf("%s-%g", name, share)
		if of.printed {
			drift, file = drift+" as printed", file+"-printed"
		}
		prefix := fmt.Sprintf("%s, %g positive, ", drift, share)
		figure := report.Figure{Name: file,
			Title: fmt.Sprintf("%s of the positive digit from 1 to 2 to 3; %g %% positive", drift,
				100*share),
			XLabel: "examples seen", YLabel: "prediction errors", LegendLeft: true}
		for _, c := range curves {
			c.add(o, prefix, "prediction_errors", noNumber+", and does not tell the share of "+
				"positives", c.final[0])
			figure.Lines = append(figure.Lines, c.line(c.errors))
		}
		o.drawn(figure)
		for _, c := range curves[1:] {
			o.claim(prefix+c.learner.text+" above obpm", "prediction_errors", "OBPM made fewer "+
				"prediction errors than several other online algorithms",
				difference(c.final[0], curves[0].final[0]))
		}
	}
	return nil
}

// mnistDigits reads the labels.
func mnistDigits(dir string) ([]uint8, error) {
	const header = 8 // bytes: kind, number
	f, err := os.Open(filepath.Join(dir, mnistLabels))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("bench: %s: %w", mnistLabels, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("bench: %s: %w", mnistLabels, err)
	}
	return text[min(header, len(text)):], nil
}

// driftingDigits draws a stream: rows of the data set and labels. No row comes twice.
func driftingDigits(digits []uint8, seed uint64, length int, share float64, printed bool) (
	order []int32, y []float32) {
	rng, used := engine.NewRand(seed, 0), map[int]bool{}
	take := func(want func(digit uint8) bool) int32 {
		for {
			if i := rng.IntN(len(digits)); want(digits[i]) && !used[i] {
				used[i] = true
				return int32(i)
			}
		}
	}
	for t := 1; t <= length; t++ {
		r, at := rng.Uniform(), float64(t)/float64(length)
		positive := uint8(1)
		if r > 1-2*at {
			positive = 2
		}
		third := 1 - 1.11*at
		if printed {
			third = 1 - at/1.11
		}
		if r > third {
			positive = 3
		}
		if rng.Uniform() < share {
			order, y = append(order, take(func(d uint8) bool { return d == positive })), append(y,
				1)
		} else {
			order, y = append(order, take(func(d uint8) bool { return d != positive })), append(y,
				-1)
		}
	}
	return order, y
}

// obpmFigure3 passes once over Web's training set, all of which is public, in a random order for
// each run.
func obpmFigure3(ctx context.Context, o RunOptions) error {
	const name = "obpm/figure3"
	d, err := loadUnit(ctx, o, "w8a.gz")
	if err != nil {
		return err
	}
	curves, err := follow(ctx, o, []made{obpm(100, 0.3), alma(0.625, math.Sqrt2)},
		func(run int) *engine.Block[float32] { return shuffled(d[0], o.Seed+uint64(run), 0)[0] })
	if err != nil {
		return err
	}
	figures := []report.Figure{
		{Name: name + "a", Title: "(a) Web", XLabel: "examples seen", YLabel: "prediction errors",
			LegendLeft: true},
		{Name: name + "b", Title: "(b) Web", XLabel: "examples seen", YLabel: "updates",
			LegendLeft: true},
	}
	for _, c := range curves {
		figures[0].Lines, figures[1].Lines = append(figures[0].Lines, c.line(c.errors)),
			append(figures[1].Lines, c.line(c.updates))
		for i, quantity := range []string{"prediction_errors", "updates"} {
			c.add(o, "Web, ", quantity, noNumber, c.final[i])
		}
	}
	o.drawn(figures...)
	// Below from when on: "consistently lower" is claimed of a curve that begins at 0 for both.
	below := len(curves[0].errors)
	for below > 0 && curves[0].errors[below-1] < curves[1].errors[below-1] {
		below--
	}
	o.claim("Web, ALMA above OBPM", "prediction_errors", fmt.Sprintf("OBPM's are consistently "+
		"lower; the mean curve is lower from example %d of %d on", below+1,
		len(curves[0].errors)), difference(curves[1].final[0], curves[0].final[0]))
	o.claim("Web, OBPM above ALMA", "updates", "the lower prediction error comes at a cost",
		difference(curves[0].final[1], curves[1].final[1]))
	return nil
}
