package papers

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/halfspace-ml/halfspace/internal/realdata"
	"github.com/halfspace-ml/halfspace/internal/report"
	"github.com/halfspace-ml/halfspace/learners"
)

// stdErr returns the mean with its standard error.
func stdErr(v []float64) (mean, se float64) {
	mean, sd := stat.MeanStdDev(v, nil)
	return mean, sd / math.Sqrt(float64(len(v)))
}

// apart fails if two means are further apart than two standard errors of their difference.
func apart(t *testing.T, what string, ours, se, want, wantSE float64) {
	t.Helper()
	if !(math.Abs(ours-want) <= 2*math.Hypot(se, wantSE)) {
		t.Errorf("%s: %.3f (standard error %.3f), an independent implementation has %.3f (%.3f)",
			what, ours, se, want, wantSE)
	}
}

// TestVVMFigure1 holds the paper's order by means of length 1, and the means of an independent
// implementation over 40 other data sets of each kind (over 20 as they are); their spread is taken
// for ours. By the means as they are EP is not the nearest, which its claim must say.
func TestVVMFigure1(t *testing.T) {
	t.Parallel()
	rows, _ := drawing(t, "vvm/figure1", RunOptions{})
	mse := map[string]Row{}
	for _, r := range rows {
		if r.Kind == Measurement {
			mse[r.Row] = r
		}
	}
	for _, c := range []struct {
		data      string
		want, raw map[string]float64 // of length 1, and as they are
	}{
		{"a mixture of two Gaussians a class, ", map[string]float64{"ep": 6.1, "vvm B=40": 9.85,
			"vvm B=10": 34.5, "wep B=40": 90.5, "wep B=10": 135.5, "adf": 175},
			map[string]float64{"ep": 320, "vvm B=40": 220, "vvm B=10": 190, "wep B=40": 840,
				"wep B=10": 1030, "adf": 930}},
		{"one Gaussian a class, ", map[string]float64{"ep": 1.9, "vvm B=40": 2.2, "vvm B=10": 11.05,
			"wep B=40": 99.5, "wep B=10": 109.5, "adf": 114.5}, nil},
	} {
		const unit = ", means of length 1"
		at := func(l string) float64 { return mse[c.data+l+unit].Ours }
		best := max(at("ep"), at("vvm B=40"))
		worst := min(at("wep B=40"), at("wep B=10"), at("adf"))
		if vvm := at("vvm B=10"); !(best < vvm && vvm < worst) {
			t.Errorf("%sEP and VVM-40 %v at most, VVM-10 %v, window-EP and ADF %v at least", c.data,
				best, vvm, worst)
		}
		of := func(name string, want, runs float64) {
			r := mse[name]
			// the half-width of a standard error of 1
			se := r.OursPM / halfWidth(math.Sqrt(float64(r.Runs)), r.Runs, 0.05)
			apart(t, name, r.Ours, se, want, se*math.Sqrt(float64(r.Runs)/runs))
		}
		for l, want := range c.want {
			of(c.data+l+unit, want, 40)
		}
		for l, want := range c.raw {
			of(c.data+l, want, 20)
		}
	}
	for name, want := range map[string]Verdict{"": Contradicted, ", means of length 1": Supported} {
		if r := find(t, rows, vvmGenerated[0].name+", all above ep"+name,
			"mse*1e5_difference"); r.Verdict != want {
			t.Errorf("%s: %s, %s", r.Row, r.OursText(), r.Verdict)
		}
	}
}

// TestVVMTable1 holds errors against means of an independent implementation over 10 other
// permutations. Its standard deviations are known to be 0.7 to 1.4: ours are taken for them, or
// 1.4. They do not fall with B, and neither do test errors, which the claim must say.
func TestVVMTable1(t *testing.T) {
	t.Parallel()
	const runs = 20
	rows, _ := drawing(t, "vvm/table1", RunOptions{Runs: runs})
	want := map[string]float64{
		"Thyroid B=10, wep": 7.95, "Thyroid B=10, vvm": 7.67, "Thyroid B=20, wep": 7.77,
		"Thyroid B=20, vvm": 7.63, "Thyroid B=30, wep": 7.81, "Thyroid B=30, vvm": 7.72,
		"Thyroid B=50, wep": 7.67, "Thyroid B=50, vvm": 7.63,
	}
	for row, mean := range want {
		r := find(t, rows, row, "error_percent")
		sd := r.OursPM / halfWidth(1, runs, 0.05)
		apart(t, r.Row, r.Ours, sd/math.Sqrt(runs), mean, min(sd, 1.4)/math.Sqrt(10))
		if !strings.Contains(r.Note, "% where the first B do not") {
			t.Errorf("%s: no note of the other reading: %q", r.Row, r.Note)
		}
	}
	for _, l := range []string{"wep", "vvm"} {
		if r := find(t, rows, "Thyroid B=50, "+l, "test_error_percent"); r.Verdict != Inside {
			t.Errorf("%s: %s, %s", r.Row, r.OursText(), r.Verdict)
		}
		r := find(t, rows, fmt.Sprintf("Thyroid, %s B=10 above", l),
			"test_error_percent_difference")
		if r.Verdict != Undecided || !(math.Abs(r.Ours) < 0.5) {
			t.Errorf("%s: %s, %s", r.Row, r.OursText(), r.Verdict)
		}
	}
}

// TestVVMGuards: with little label noise on data that are not separable points come to tell less
// than nothing, and without a guard their eviction broke the covariance of an independent
// implementation on one permutation in three, which went on to 37 % errors.
func TestVVMGuards(t *testing.T) {
	t.Parallel()
	data, err := spambase.load(filepath.Dir(realdata.File(t, spambaseFile)))
	if err != nil {
		t.Fatal(err)
	}
	for run := range 3 {
		c := &learners.VVMConfig{Buffer: 30, Pairs: 1,
			PointsConfig: learners.PointsConfig{Noise: 0.01, Tolerance: 1e-3, Sweeps: 20,
				Damping: 1}}
		wrong, _, err := streamLearner{data: data, name: "vvm", config: c}.pass(t.Context(),
			RunOptions{Seed: 1}, run)
		if err != nil {
			t.Fatal(err)
		}
		n := data.Block.Len()
		if e := float64(wrong[n]) / float64(n); !(e < 0.1) {
			t.Errorf("permutation %d: %.1f %% errors", run, 100*e)
		} else {
			t.Logf("permutation %d: %.2f %% errors", run, 100*e)
		}
	}
}

// TestVVMStreams holds the claim that VVM is better than NG and NG than PA, and VVM's errors and
// the others' differences to it against those of an independent implementation over 10 other
// permutations. That one's settings of NG are not known, only that they were sought: ours may be
// better.
func TestVVMStreams(t *testing.T) {
	t.Parallel()
	// mean and standard error: of vvm its own, of the others the paired difference's
	want := map[string]map[string][2]float64{
		"vvm/figure2": {"vvm": {7.92, 0.13 / math.Sqrt(10)}, "ng": {0.86, 0.13}, "pa": {4.36, 0.11},
			"sogp probit s0=1": {0.36, 0.07}, "sogp probit s0=.1": {0.30, 0.12},
			"sogp step eps=.05": {-0.57, 0.08}},
		"vvm/figure3": {"vvm": {7.21, 1.05 / math.Sqrt(10)}, "ng": {1.81, 0.42}, "pa": {5.35, 0.58},
			"sogp probit s0=1": {2.23, 0.40}, "sogp probit s0=.1": {-0.23, 0.37},
			"sogp step eps=.05": {0.37, 0.41}},
		"vvm/figure3-narrow": {"vvm": {8.05, 1.14 / math.Sqrt(10)}, "ng": {0.65, 0.39}, "pa": {1.16,
			0.34}, "sogp probit s0=.1": {-1.07, 0.45}},
		"vvm/figure4": {"vvm": {13.56, 1.33 / math.Sqrt(10)}, "ng": {2.05, 0.28}, "pa": {8.32,
			0.70},
			"sogp probit s0=1": {0.80, 0.75}, "sogp probit s0=.1": {-1.91, 0.54},
			"sogp step eps=.05": {-1.40, 0.60}},
	}
	for i := range vvmStreams {
		s := &vvmStreams[i]
		t.Run(s.name, func(t *testing.T) {
			o := RunOptions{Seed: 1, Runs: 40, DataDir: filepath.Dir(realdata.File(t, s.data.file))}
			switch {
			case s.data == spambase && testing.Short():
				t.Skip("takes 4 s")
			case s.data == spambase:
				o.Runs = 10
			case s.data == ionosphere:
				o.Runs = 10
			}
			var drawn []report.Figure
			o.Drawn = func(f report.Figure) { drawn = append(drawn, f) }
			var final map[string][]float64
			if _, err := collect("vvm/figures2-4", o, func(o RunOptions) (err error) {
				final, err = s.run(t.Context(), o)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			vvm, ng, pa := stat.Mean(final["vvm"], nil), stat.Mean(final["ng"], nil),
				stat.Mean(final["pa"], nil)
			if !(vvm < ng && ng < pa) {
				t.Errorf("VVM %v %%, NG %v %%, PA %v %%", vvm, ng, pa)
			}
			for l, w := range want[s.figure] {
				v := final[l]
				if l != "vvm" {
					v = difference(v, final["vvm"])
				}
				mean, se := stdErr(v)
				if l == "ng" {
					mean = max(mean, w[0])
				}
				apart(t, l, mean, se, w[0], w[1])
			}
			lines := 8
			if s.noise > 0 { // the other eviction, too
				lines++
			}
			if len(drawn) != 1 || len(drawn[0].Lines) != lines {
				t.Fatalf("%d figures", len(drawn))
			}
			for _, l := range drawn[0].Lines {
				n := len(l.X)
				if mean := stat.Mean(final[l.Name], nil); n > curvePoints || l.X[n-1] < 215 ||
					math.Abs(l.Y[n-1]-mean) > 1e-9 {
					t.Errorf("the curve of %s has %d points and ends with %v %% at %v, want %v %%",
						l.Name, n, l.Y[n-1], l.X[n-1], mean)
				}
			}
		})
	}
}
