package learners_test

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/realdata"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// readTable reads a file of numbers between commas of which one column is the class, +1 where it is
// positive, and standardises the others.
func readTable(t *testing.T, name string, class int, positive string) (X [][]float64, y []float64) {
	t.Helper()
	f, err := os.Open(realdata.File(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for in.Scan() {
		cells := strings.Split(in.Text(), ",")
		at := (class + len(cells)) % len(cells)
		var x []float64
		for j, s := range cells {
			if j == at {
				y = append(y, -1)
				if s == positive {
					y[len(y)-1] = 1
				}
				continue
			}
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			x = append(x, v)
		}
		X = append(X, x)
	}
	for j := range X[0] {
		var sum, square float64
		for _, x := range X {
			sum += x[j]
		}
		mean := sum / float64(len(X))
		for _, x := range X {
			square += (x[j] - mean) * (x[j] - mean)
		}
		sd := math.Sqrt(square / float64(len(X)))
		for _, x := range X {
			if x[j] -= mean; sd > 0 {
				x[j] /= sd
			}
		}
	}
	return X, y
}

// streamErrors returns the mean share of wrong predictions, each before the label is learned, over
// 10 permutations, and its standard error.
func streamErrors(t *testing.T, X [][]float64, y []float64, name string, c learner.Config) (mean,
	se float64) {
	t.Helper()
	b := block[float64]("dense", X, y)
	const runs = 10
	var shares [runs]float64
	order := make([]int32, b.Len())
	for r := range shares {
		engine.Permute(order, 5, uint64(r))
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := learner.New[float64](e, c, learner.Env{Seed: uint64(r)})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range order {
			if f := one(t, l, b, int(i)).Score; (f >= 0) != (y[i] > 0) {
				shares[r] += 100 / float64(b.Len())
			}
		}
		mean += shares[r] / runs
	}
	for _, v := range shares {
		se += (v - mean) * (v - mean) / (runs * (runs - 1))
	}
	return mean, math.Sqrt(se)
}

// TestStreams: cumulative errors on the data of the VVM paper's figures 3 and 4 are those of an
// independent implementation, whose mean over 10 permutations is given: within two standard errors
// of the difference.
func TestStreams(t *testing.T) {
	type row struct {
		learner string
		config  learner.Config
		want    float64 // percent
	}
	ng := func(buffer int, sigma2, eta float64) *learners.RFFConfig {
		return &learners.RFFConfig{D: 100, Sigma: math.Sqrt(sigma2), Base: "ng",
			BaseConfig: &learners.NGConfig{Buffer: buffer, Rank: 5, Decay: 0.995, Lambda: 0.1,
				Eta: eta}}
	}
	sogp := func(basis int, sigma2, noise, eps float64) *learners.SOGPConfig {
		return &learners.SOGPConfig{Basis: basis, Noise: noise, Eps: eps, Novelty: 1e-4,
			KernelConfig: learner.KernelConfig{Kernel: "rbf", Sigma: math.Sqrt(sigma2)}}
	}
	for _, data := range []struct {
		file     string
		class    int
		positive string
		se       float64 // of the reference's means: that of its VVM
		rows     []row
	}{
		{"new-thyroid.data", 0, "1", 0.33, []row{
			{"rff", ng(10, 5, 10), 9.02}, {"rff", ng(10, 2, 3), 8.70},
			{"sogp", sogp(12, 3, 1, 0), 9.44}, {"sogp", sogp(12, 3, 0.1, 0), 6.98},
			{"sogp", sogp(12, 3, 0, 0.05), 7.58},
		}},
		{"ionosphere.data", -1, "g", 0.42, []row{
			{"rff", ng(30, 80, 3), 15.61},
			{"sogp", sogp(279, 15, 1, 0), 14.36}, {"sogp", sogp(279, 15, 0.1, 0), 11.65},
			{"sogp", sogp(279, 15, 0, 0.05), 12.17},
		}},
	} {
		X, y := readTable(t, data.file, data.class, data.positive)
		for k, r := range data.rows {
			if testing.Short() && len(X) > 300 && k > 1 {
				break
			}
			mean, se := streamErrors(t, X, y, r.learner, r.config)
			if math.Abs(mean-r.want) > 2*math.Hypot(se, data.se) {
				t.Errorf("%s, %s %+v: %.2f +- %.2f %%, want %.2f", data.file, r.learner, r.config,
					mean, se, r.want)
			}
		}
	}
}
