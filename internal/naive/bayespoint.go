package naive

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
)

// Exact and sampled means of the version space {w : x_i . w > 0}, the rows x_i being labels times
// features. They are what tests compare approximations with.

// ErrVersionSpace is returned where the rows leave no version space, or none of the kind that is
// asked for.
var ErrVersionSpace = errors.New("no version space")

// MeanNormal3 is what the mean over the unit sphere is multiplied by for the mean under the prior
// N(0, I) in three dimensions: the mean length of a vector there, 2 sqrt(2/pi).
const MeanNormal3 = 1.5957691216057308

// BayesPoint3 returns the mean of the vectors of the version space on the unit sphere in three
// dimensions (not of length 1 itself), and the area of that spherical polygon. Cost: O(n^3).
//
// The edge on the plane of x_k has the length theta_k, and by Stokes' theorem the integral of the
// unit vectors over the polygon is the sum of theta_k x_k/|x_k| over the edges, halved; the area is
// the excess of the angles.
func BayesPoint3(X [][]float64) (mean [3]float64, area float64, err error) {
	n := make([][3]float64, len(X))
	for i, x := range X {
		if len(x) != 3 {
			return mean, 0, fmt.Errorf("naive: row %d has %d features, want 3: %w", i, len(x),
				ErrVersionSpace)
		}
		n[i] = scale3([3]float64(x), 1/math.Sqrt(dot3([3]float64(x), [3]float64(x))))
	}
	ends := make([][][3]float64, len(X)) // of each plane's edge
	vertices, angles := 0, 0.0
	for i := range n {
		for j := range i {
			for _, sign := range []float64{1, -1} {
				a := cross3(n[i], n[j])
				a = scale3(a, sign/math.Sqrt(dot3(a, a)))
				inside := !slices.ContainsFunc(a[:], func(v float64) bool { return v != v })
				for k := 0; inside && k < len(n); k++ {
					inside = k == i || k == j || dot3(n[k], a) > 0
				}
				if inside {
					ends[i], ends[j] = append(ends[i], a), append(ends[j], a)
					vertices++
					angles += math.Acos(-dot3(n[i], n[j]))
				}
			}
		}
	}
	for k, e := range ends {
		switch len(e) {
		case 0:
			continue
		case 2:
		default:
			return mean, 0, fmt.Errorf("naive: the plane of row %d has %d corners: %w", k, len(e),
				ErrVersionSpace)
		}
		c := cross3(e[0], e[1])
		theta := math.Atan2(math.Sqrt(dot3(c, c)), dot3(e[0], e[1]))
		for d := range mean {
			mean[d] += theta * n[k][d] / 2
		}
	}
	if vertices < 3 {
		return mean, 0, fmt.Errorf("naive: %d corners, want 3 or more: %w", vertices,
			ErrVersionSpace)
	}
	area = angles - float64(vertices-2)*math.Pi
	return scale3(mean, 1/area), area, nil
}

func dot3(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func cross3(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func scale3(a [3]float64, s float64) [3]float64 { return [3]float64{s * a[0], s * a[1], s * a[2]} }

// Inside returns a vector with x_i . w > 0 for all rows, by the perceptron.
func Inside(X [][]float64) ([]float64, error) {
	if len(X) == 0 {
		return nil, fmt.Errorf("naive: no rows: %w", ErrVersionSpace)
	}
	w := make([]float64, len(X[0]))
	for range 100_000 {
		wrong := false
		for _, x := range X {
			if dotWide(x, w) <= 0 {
				wrong = true
				addWide(w, 1/math.Sqrt(dotWide(x, x)), x)
			}
		}
		if !wrong {
			return w, nil
		}
	}
	return nil, fmt.Errorf("naive: 100000 passes separated nothing: %w", ErrVersionSpace)
}

func dotWide(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func addWide(w []float64, a float64, x []float64) {
	for i, v := range x {
		w[i] += a * v
	}
}

// Billiard returns the mean of the vectors of the version space on the unit sphere, in any number
// of dimensions, from the path of a ball that flies along great circles and bounces off the planes
// of the rows: each flight counts by its length.
//
// Reference: P. Rujan, "Playing Billiards in Version Space", Neural Computation 9, 1997; R.
// Herbrich, T. Graepel, C. Campbell, "Bayes Point Machines", IJCAI workshop 1999. Between few
// planes a ball may go round the same way for ever, so it is sent in a new random direction after
// each piece of path of a fixed length, that of about ten flights; the uniform law stays as it is
// under that. Error about 1e-3 after 40,000 bounces in three dimensions. Cost: O(n d) a bounce.
func Billiard(X [][]float64, bounces int, seed uint64) ([]float64, error) {
	at, err := Inside(X)
	if err != nil {
		return nil, err
	}
	d, rand := len(at), engine.NewRand(seed, 0)
	unit := func(x []float64) {
		length := math.Sqrt(dotWide(x, x))
		for i := range x {
			x[i] /= length
		}
	}
	unit(at)
	way, mean, path := make([]float64, d), make([]float64, d), 0.0
	turn := func() {
		for i := range way {
			way[i] = rand.Normal()
		}
	}
	turn()
	last, piece, mark := -1, 0.0, math.Inf(1)
	for n := 0; n < bounces; n++ {
		if n == 100 {
			piece = path / 10
			mark = path + piece
		}
		addWide(way, -dotWide(way, at), at) // tangent, also after rounding
		unit(way)
		hit, tau := -1, mark-path
		for j, x := range X {
			t := math.Pi // what was left last comes again at the other side
			if j != last {
				t = math.Atan2(max(0, dotWide(x, at)), -dotWide(x, way))
			}
			if t < tau {
				hit, tau = j, t
			}
		}
		sin, cos := math.Sincos(tau)
		addWide(mean, sin, at) // the integral of cos(t) at + sin(t) way
		addWide(mean, 1-cos, way)
		path += tau
		for i := range at {
			at[i], way[i] = cos*at[i]+sin*way[i], cos*way[i]-sin*at[i]
		}
		unit(at)
		if last = hit; hit < 0 {
			turn()
			mark = path + piece
			n--
			continue
		}
		x := X[hit]
		addWide(way, -2*dotWide(x, way)/dotWide(x, x), x)
	}
	for i := range mean {
		mean[i] /= path
	}
	return mean, nil
}
