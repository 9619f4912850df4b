package learners_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// tbpReference is figure 3 of the paper as it is printed, with sums over all occurrences of all
// examples: perceptron updates, an RBF kernel of exponent gamma, beta = 0, ties to the oldest.
type tbpReference struct {
	budget int
	gamma  float64
	cache  string
	kept   []tbpKept
	seen   []tbpKept // the error cache, an entry for every occurrence
}

type tbpKept struct {
	x     []float64
	y     float64
	alpha float64
}

func (r *tbpReference) kernel(a, b []float64) float64 {
	var d float64
	for i, v := range a {
		d += (v - b[i]) * (v - b[i])
	}
	return math.Exp(-r.gamma * d)
}

// score is that of all kept examples but one; without is -1 for all.
func (r *tbpReference) score(x []float64, without int) (f float64) {
	for j, k := range r.kept {
		if j != without {
			f += k.y * k.alpha * r.kernel(k.x, x)
		}
	}
	return f
}

func (r *tbpReference) learn(x []float64, y float64) {
	wrong := y*r.score(x, -1) <= 0
	same := func(k tbpKept) bool { return k.y == y && slices.Equal(k.x, x) }
	switch r.cache {
	case "all", "random": // there is room for all distinct examples
		r.seen = append(r.seen, tbpKept{x: x, y: y})
	case "flips": // what was never learned is not in the cache
		if wrong || slices.ContainsFunc(r.seen, same) {
			r.seen = append(r.seen, tbpKept{x: x, y: y})
		}
	}
	if !wrong {
		return
	}
	if j := slices.IndexFunc(r.kept, same); j >= 0 {
		r.kept[j].alpha++
		return
	}
	if len(r.kept) == r.budget {
		best, least := 0, math.Inf(1)
		for j := range r.kept {
			var errors float64
			for _, s := range r.seen {
				if s.y*r.score(s.x, j) <= 0 {
					errors++
				}
			}
			if r.cache == "sv" { // an example was learned as often as its alpha says
				for _, s := range r.kept {
					if s.y*r.score(s.x, j) <= 0 {
						errors += s.alpha
					}
				}
			}
			if errors < least {
				best, least = j, errors
			}
		}
		r.kept = slices.Delete(r.kept, best, best+1)
	}
	r.kept = append(r.kept, tbpKept{x, y, 1})
}

// TestTBPRepeated learns noisy streams in which few examples come again and again, some under both
// labels, and wants the kept examples and coefficients of the paper's rule, whose sum (1a) counts
// every occurrence. A run that is saved and loaded half-way ends with the same bytes.
func TestTBPRepeated(t *testing.T) {
	type row struct {
		x []float64
		y float64
	}
	hand := []row{{[]float64{0, 0}, 1}, {[]float64{0, 0}, -1}, {[]float64{0, 0}, 1},
		{[]float64{0, 0}, 1}, {[]float64{1, 0}, -1}}
	cube := func(d, n int, flips float64, seed uint64) (rows []row) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		for range n {
			x, y := make([]float64, d), -1.0
			for i := range x {
				x[i] = float64(2*rnd.IntN(2)-1) * (1 + 0.01*float64(i))
			}
			if x[0]*x[1] > 0 {
				y = 1
			}
			if rnd.Float64() < flips {
				y = -y
			}
			rows = append(rows, row{x, y})
		}
		return rows
	}
	for _, c := range []struct {
		name   string
		budget int
		rows   []row
	}{
		{"by hand", 2, hand},
		{"cube of 3, 20 % flips", 4, cube(3, 400, 0.2, 1)},
		{"cube of 4, 20 % flips", 10, cube(4, 600, 0.2, 2)},
		{"cube of 5, 30 % flips", 8, cube(5, 600, 0.3, 3)},
	} {
		for _, cache := range []string{"all", "random", "sv", "flips"} {
			t.Run(c.name+"/"+cache, func(t *testing.T) {
				// 1/(2 sigma^2) is 0.3; the cache has room for all distinct examples
				cfg := &learners.TBPConfig{Budget: c.budget, ErrorCache: cache, ErrorSize: 200,
					Ties: "oldest", UpdateConfig: learners.UpdateConfig{Update: "perceptron", C: 1},
					KernelConfig: learner.KernelConfig{Kernel: "rbf", Sigma: math.Sqrt(1 / 0.6)}}
				l := newLearner[float64](t, "tbp", cfg)
				ref := &tbpReference{budget: c.budget, gamma: 0.3, cache: cache}
				for i, r := range c.rows {
					b := &engine.Block[float64]{Y: []float64{r.y}, Dim: len(r.x), X: r.x,
						Stride: len(r.x)}
					if err := l.Learn(b, make([]learner.Round, 1)); err != nil {
						t.Fatal(err)
					}
					ref.learn(r.x, r.y)
					var got, want []float64
					s := l.State()
					got = slices.Sorted(slices.Values(s.Tensor("alpha").Data.([]float64)))
					for _, k := range ref.kept {
						want = append(want, k.alpha)
					}
					slices.Sort(want)
					if !slices.Equal(got, want) {
						t.Fatalf("after %d examples the coefficients are %v, want %v", i+1, got, want)
					}
					f := make([]float64, 1)
					if err := l.Score(b, f); err != nil {
						t.Fatal(err)
					}
					// 2n roundings, and 4 in a kernel value, of sums that are at most sum alpha
					var sum float64
					for _, a := range want {
						sum += a
					}
					bound := float64(2*len(want)+4) * 0x1p-52 * sum
					if math.Abs(f[0]-ref.score(r.x, -1)) > bound {
						t.Fatalf("after %d examples the score is %v, want %v", i+1, f[0],
							ref.score(r.x, -1))
					}
					if i == len(c.rows)/2 {
						m := newLearner[float64](t, "tbp", cfg)
						if err := m.SetState(s); err != nil {
							t.Fatal(err)
						}
						l = m
					}
				}
			})
		}
	}
}
