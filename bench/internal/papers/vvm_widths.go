package papers

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

func init() {
	register(Experiment{
		Name: "vvm/widths",
		Summary: "the width of the random features chosen by EP on validation examples, and VVM " +
			"with it, on Thyroid and Ionosphere",
		Runs: 20, Needs: []string{thyroidFile, ionosphereFile}, Run: vvmWidths})
}

// widthGrid are the variances sigma^2 that EP chooses among: the paper names none.
var widthGrid = []float64{0.25, 0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320, 640}

// validationShare is the share of the examples that EP doesn't learn; the paper doesn't tell it.
const validationShare = 0.3

// vvmWidths is the protocol of section 5.2: "we first run EP with various frequency parameters and
// select the one with the smallest validation error". A width's error is the mean over the runs,
// each with an order and frequencies of its own. VVM then learns the streams of figures 3 and 4.
func vvmWidths(ctx context.Context, o RunOptions) ([]Row, error) {
	var rows []Row
	for _, s := range vvmStreams {
		if s.features == 0 || strings.Contains(s.name, "=") { // linear, or a second width of one
			continue
		}
		all, err := s.data.load(o.DataDir)
		if err != nil {
			return nil, err
		}
		chosen, note, err := s.chooseWidth(ctx, o, all)
		if err != nil {
			return nil, err
		}
		rows = append(rows, Row{Experiment: "vvm/widths", Row: s.name + ", sigma^2 chosen by EP",
			Quantity: "variance", Note: note})
		rows[len(rows)-1].fill([]float64{chosen})
		o.done(rows[len(rows)-1])
		if chosen == s.variance {
			continue // the row is there
		}
		errs := map[float64][]float64{}
		vvm := &learners.VVMConfig{Buffer: s.buffer, Pairs: 1,
			PointsConfig: learners.PointsConfig{Noise: s.noise, Tolerance: 1e-3, Sweeps: 20,
				Damping: 1}}
		for _, variance := range []float64{chosen, s.variance} {
			of := make([]float64, o.Runs)
			err := sideBySide(ctx, o, o.Runs, func(o RunOptions, run int) error {
				wrong, _, err := onStream(ctx, o, run, all, "vvm", vvm, s.features, variance)
				if err == nil {
					of[run] = 100 * float64(wrong[len(wrong)-1]) / float64(len(wrong)-1)
				}
				return err
			})
			if err != nil {
				return nil, err
			}
			errs[variance] = of
		}
		for _, r := range []struct {
			text, note string
			values     []float64
		}{
			{"vvm, sigma^2 as chosen", "", errs[chosen]},
			{fmt.Sprintf("vvm, sigma^2=%g of vvm/figures2-4 less that", s.variance),
				"paired; above 0 where the chosen width is the better one",
				difference(errs[s.variance], errs[chosen])},
		} {
			row := Row{Experiment: "vvm/widths", Row: s.name + ", " + r.text,
				Quantity: "error_percent", Note: r.note}
			row.fill(r.values)
			rows = append(rows, row)
			o.done(row)
		}
	}
	return rows, nil
}

// chooseWidth returns the variance of the least validation error of EP, and all errors in words.
func (s *vvmStream) chooseWidth(ctx context.Context, o RunOptions, d *dataset.Data[float64]) (
	chosen float64, note string, err error) {
	least := math.Inf(1)
	note = "the paper prints none. EP's errors on validation examples, in percent, by sigma^2:"
	for _, variance := range widthGrid {
		of := make([]float64, o.Runs)
		if err := sideBySide(ctx, o, o.Runs, func(o RunOptions, run int) (err error) {
			of[run], err = s.validated(ctx, o, run, d, variance)
			return err
		}); err != nil {
			return 0, "", err
		}
		mean, _ := meanPM(of)
		note += fmt.Sprintf(" %g: %.2f;", variance, mean)
		if mean < least {
			least, chosen = mean, variance
		}
	}
	return chosen, strings.TrimSuffix(note, ";"), nil
}

// validated returns EP's error, in percent, on the examples of the run's order that it doesn't
// learn: the last ones.
func (s *vvmStream) validated(ctx context.Context, o RunOptions, run int,
	d *dataset.Data[float64], variance float64) (float64, error) {
	ofLearner(ctx, "ep")
	z := &engine.Block[float64]{}
	seed := o.Seed + uint64(run)
	f, err := engine.NewFourier[float64](s.features, math.Sqrt(variance), seed, o.Pool)
	if err == nil {
		err = f.Map(z, streamOf(o, run, d))
	}
	if err != nil {
		return 0, err
	}
	n := z.Len()
	cut := n - int(validationShare*float64(n))
	train, rest := z.Slice(0, cut), z.Slice(cut, n)
	l, err := learner.Make[float64]("ep", &learners.EPConfig{PointsConfig: learners.PointsConfig{
		Noise: s.noise, Tolerance: 1e-3, Sweeps: 50, Damping: 0.5}}, learner.Env{Pool: o.Pool})
	if err != nil {
		return 0, err
	}
	if _, err := learner.Fit(ctx, l, &train, learner.FitOptions{}); err != nil {
		return 0, err
	}
	scores, wrong := make([]float64, rest.Len()), 0
	if err := l.Score(&rest, scores); err != nil {
		return 0, err
	}
	for i, score := range scores {
		if float64(rest.Y[i]*score) <= 0 {
			wrong++
		}
	}
	return 100 * float64(wrong) / float64(rest.Len()), nil
}
