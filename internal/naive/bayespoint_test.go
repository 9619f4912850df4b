package naive_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/naive"
)

type goldenPoint struct {
	X      [][]float64
	Mean   [3]float64 `json:"mean_unit_sphere"`
	Area   float64
	Normal [3]float64 `json:"posterior_mean_gaussian_prior"`
}

func readPoints(t *testing.T) (cases []goldenPoint) {
	t.Helper()
	data, err := os.ReadFile("testdata/bayes_point_3d.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	return cases
}

func TestBayesPoint3(t *testing.T) {
	for k, c := range readPoints(t) {
		mean, area, err := naive.BayesPoint3(c.X)
		if err != nil {
			t.Fatal(err)
		}
		// The area is what is left of angles that add up to about pi a corner; the mean is divided
		// by it.
		tol := 1e-14 / c.Area
		if math.Abs(area-c.Area) > tol*c.Area {
			t.Errorf("case %d: area %v, want %v", k, area, c.Area)
		}
		for d, v := range mean {
			if math.Abs(v-c.Mean[d]) > tol || math.Abs(v*naive.MeanNormal3-c.Normal[d]) > 2*tol {
				t.Errorf("case %d: mean[%d] is %v, want %v; times %v %v, want %v", k, d, v,
					c.Mean[d], naive.MeanNormal3, v*naive.MeanNormal3, c.Normal[d])
			}
		}
	}
	// An octant: area pi/2, mean 1/2 in each direction.
	mean, area, err := naive.BayesPoint3([][]float64{{2, 0, 0}, {0, 1, 0}, {0, 0, 0.1}, {1, 1, 1}})
	if err != nil || math.Abs(area-math.Pi/2) > 1e-15 || math.Abs(mean[0]-0.5)+math.Abs(
		mean[1]-0.5)+math.Abs(mean[2]-0.5) > 1e-15 {
		t.Errorf("octant: mean %v, area %v (%v)", mean, area, err)
	}
	for name, X := range map[string][][]float64{
		"half of the sphere": {{1, 0, 0}},
		"a lune":             {{1, 0, 0}, {0, 1, 0}},
		"contradiction":      {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}},
		"two features":       {{1, 0}},
	} {
		if _, _, err := naive.BayesPoint3(X); !errors.Is(err, naive.ErrVersionSpace) {
			t.Errorf("%s: %v, want %v", name, err, naive.ErrVersionSpace)
		}
	}
}

// TestBilliard: near the exact mean after 40,000 bounces, which make about 4000 pieces of path with
// directions of their own: within four standard errors if a piece's mean has a quarter of the width
// of the polygon as its deviation. In five dimensions, in an orthant, whose mean is known.
func TestBilliard(t *testing.T) {
	for k, c := range readPoints(t) {
		got, err := naive.Billiard(c.X, 40_000, 7)
		if err != nil {
			t.Fatal(err)
		}
		for d, v := range got {
			if math.Abs(v-c.Mean[d]) > math.Sqrt(c.Area)/math.Sqrt(4000) {
				t.Errorf("case %d: mean[%d] is %v, exactly %v", k, d, v, c.Mean[d])
			}
		}
	}
	// E w_1 of a unit vector in the orthant is E|N(0,1)| over the mean length of N(0, I):
	// sqrt(2/pi)/(sqrt 2 Gamma(3)/Gamma(5/2)).
	const d = 5
	X := make([][]float64, d)
	for j := range X {
		X[j] = make([]float64, d)
		X[j][j] = 1 + float64(j)
	}
	mean, err := naive.Billiard(X, 40_000, 7)
	if err != nil {
		t.Fatal(err)
	}
	want := math.Sqrt(2/math.Pi) / (math.Sqrt2 * math.Gamma(3) / math.Gamma(2.5))
	for j, v := range mean {
		if math.Abs(v-want) > 1/math.Sqrt(4000) {
			t.Errorf("orthant: mean[%d] is %v, want %v", j, v, want)
		}
	}
	if _, err := naive.Billiard([][]float64{{1, 0}, {-1, 0}}, 10, 1); !errors.Is(err,
		naive.ErrVersionSpace) {
		t.Errorf("contradiction: %v", err)
	}
}
