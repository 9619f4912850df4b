package papers

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

func init() {
	register(Experiment{
		Name: "vvm/widths",
		Summary: "the width of the random features chosen by EP on validation examples, and VVM " +
			"with it, on Thyroid and Ionosphere",
		Seconds: 4, Runs: 20, Needs: []string{thyroidFile, ionosphereFile}, Run: vvmWidths})
}

// widthGrid are the variances sigma^2 that EP chooses among: the paper names none.
var widthGrid = []float64{0.25, 0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320, 640}

// validationShare is the share of the examples that EP doesn't learn; the paper doesn't tell it.
const validationShare = 0.3

// vvmWidths is the protocol of section 5.2: "we first run EP with various frequency parameters and
// select the one with the smallest validation error". A width's error is the mean over the runs,
// each with an order and frequencies of its own. VVM then learns the streams of figures 3 and 4.
func vvmWidths(ctx context.Context, o RunOptions) error {
	for _, s := range vvmStreams {
		if s.features == 0 || strings.Contains(s.name, "=") { // linear, or a second width of one
			continue
		}
		all, err := s.data.load(o.DataDir)
		if err != nil {
			return err
		}
		chosen, note, err := s.chooseWidth(ctx, o, all)
		if err != nil {
			return err
		}
		o.add(Row{Row: s.name + ", sigma^2 chosen by EP", Quantity: "variance", Note: note}, chosen)
		if chosen == s.variance {
			continue // the row is there
		}
		vvm := &learners.VVMConfig{Buffer: s.buffer, Pairs: 1, PointsConfig: s.points()}
		errs, err := perRun(ctx, o, func(o RunOptions, run int) (out []float64, err error) {
			for _, variance := range []float64{chosen, s.variance} {
				wrong, _, err := streamLearner{all, "vvm", vvm, s.features, variance}.pass(ctx, o,
					run)
				if err != nil {
					return nil, err
				}
				n := len(wrong) - 1
				out = append(out, 100*float64(wrong[n])/float64(n))
			}
			return out, nil
		})
		if err != nil {
			return err
		}
		o.add(Row{Row: s.name + ", vvm, sigma^2 as chosen", Quantity: "error_percent"}, errs[0]...)
		o.add(Row{Row: fmt.Sprintf("%s, vvm, sigma^2=%g of vvm/figures2-4 less that", s.name,
			s.variance), Quantity: "error_percent", Note: "paired; above 0 where the chosen " +
			"width is the better one"}, difference(errs[1], errs[0])...)
	}
	return nil
}

// chooseWidth returns the variance of the least validation error of EP, and all errors in words.
func (s *vvmStream) chooseWidth(ctx context.Context, o RunOptions, d *dataset.Data[float64]) (
	chosen float64, note string, err error) {
	least := math.Inf(1)
	note = "the paper prints none. EP's errors on validation examples, in percent, by sigma^2:"
	errs, err := perRun(ctx, o, func(o RunOptions, run int) (out []float64, err error) {
		for _, variance := range widthGrid {
			missed, err := s.validated(ctx, o, run, d, variance)
			if err != nil {
				return nil, err
			}
			out = append(out, missed)
		}
		return out, nil
	})
	if err != nil {
		return 0, "", err
	}
	for i, variance := range widthGrid {
		mean, _ := meanPM(errs[i])
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
	z, err := streamLearner{data: d, features: s.features, variance: variance}.mapped(o, run,
		o.Pool)
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
