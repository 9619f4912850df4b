package learnertest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// hardRows are examples that end other learners: rows, and labels of which some contradict.
type hardRows struct {
	name string
	x    [][]float64
	y    []float64
	same bool // few enough for the same result from sparse and dense examples
}

// hardCases returns what no learner may lose its numbers on.
func hardCases() (cases []hardRows) {
	rng := rand.New(rand.NewPCG(3, 9))
	rows := func(n, dim int) (x [][]float64, y []float64) {
		for range n {
			v := unit(rng, dim)
			x = append(x, v)
			y = append(y, math.Copysign(1, v[0]-0.3*v[1]))
		}
		return x, y
	}
	one := []float64{1, 0, 0, 0.5}
	none := make([]float64, 4)
	x, y := rows(12, 4)
	starts := map[string][][]float64{"equal": {one, one}, "empty": {none, none},
		"equal and empty": {one, one, none, none}}
	for _, name := range []string{"equal", "empty", "equal and empty"} {
		first := starts[name]
		h := hardRows{name: "first " + name, same: true}
		for k, v := range first {
			h.x, h.y = append(h.x, v), append(h.y, float64(1-2*(k%2)))
		}
		h.x, h.y = append(h.x, x...), append(h.y, y...)
		cases = append(cases, h)
	}
	for _, size := range []float64{1e-6, 1, 1e6} {
		x, y := rows(400, 10)
		for i := range x {
			if i%4 == 0 { // a wrong label of a quarter of the examples
				y[i] = -y[i]
			}
			for j := range x[i] {
				x[i][j] *= size
			}
		}
		cases = append(cases, hardRows{name: fmt.Sprintf("inseparable, size %g", size), x: x, y: y})
	}
	x, y = rows(200, 10)
	for i := range x {
		size := math.Pow(10, float64(i%13)-6)
		for j := range x[i] {
			x[i][j] *= size
		}
		if i%5 == 0 {
			y[i] = -y[i]
		}
	}
	return append(cases, hardRows{name: "sizes 1e-6 to 1e6", x: x, y: y})
}

// blockOf returns the rows as a block, sparse without zeros or dense.
func blockOf[T learner.Float](h *hardRows, dense bool) *engine.Block[T] {
	b := &engine.Block[T]{Dim: len(h.x[0])}
	if dense {
		b.Stride = b.Dim
	} else {
		b.Ptr = []int{0}
	}
	for i, x := range h.x {
		b.Y = append(b.Y, T(h.y[i]))
		for j, v := range x {
			if dense {
				b.X = append(b.X, T(v))
			} else if v != 0 {
				b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, T(v))
			}
		}
		if !dense {
			b.Ptr = append(b.Ptr, len(b.Idx))
		}
	}
	return b
}

// hard: whatever the examples, a learner has finite scores and a State that a new one takes, says
// that an example is too long, or has diverged, so that its State is refused; and where no
// roundings add up, sparse and dense examples teach it the same.
func (s *suite[T]) hard(t *testing.T) {
	for _, h := range hardCases() {
		t.Run(h.name, func(t *testing.T) {
			var scores [2][]float64
			for k := range scores {
				b := blockOf[T](&h, k == 1)
				if s.config.Traits().Classes {
					setClasses(b)
				}
				l := s.fresh(t, nil)
				if !learnsOrSays(t, l, b) || FiniteState(l.State()) != nil {
					err := s.fresh(t, nil).CheckState(l.State())
					if FiniteState(l.State()) != nil && err == nil {
						t.Fatal("a State that is not finite is taken")
					}
					return
				}
				scores[k] = make([]float64, b.Len()*learner.OutputsOf(l))
				if err := l.Score(b, scores[k]); err != nil {
					t.Fatal(err)
				}
				for i, f := range scores[k] {
					if f-f != 0 {
						t.Fatalf("dense %t: score %d is %v", k == 1, i, f)
					}
				}
				if err := errors.Join(FiniteState(l.State()), s.fresh(t, nil).CheckState(
					l.State())); err != nil {
					t.Fatalf("dense %t: the state: %v", k == 1, err)
				}
			}
			if !h.same || epsilon[T]() > 0x1p-50 {
				return
			}
			for i, f := range scores[0] {
				if g := scores[1][i]; !(math.Abs(f-g) <= 0x1p-20*(1+math.Abs(f)+math.Abs(g))) {
					t.Fatalf("score %d is %v of sparse examples, %v of dense ones", i, f, g)
				}
			}
		})
	}
}

// learnsOrSays learns b twice. It reports false where the learner says that it can't.
func learnsOrSays[T learner.Float](t *testing.T, l learner.Learner[T], b *engine.Block[T]) bool {
	t.Helper()
	rounds := make([]learner.Round, b.Len())
	for range 2 {
		for lo := 0; lo < b.Len(); lo += 64 {
			hi := min(lo+64, b.Len())
			v := b.Slice(lo, hi)
			err := l.Learn(&v, rounds[lo:hi])
			if errors.Is(err, learner.ErrLength) {
				return false
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, r := range rounds {
		if r.Score-r.Score != 0 && FiniteState(l.State()) == nil {
			t.Fatalf("example %d: score %v", i, r.Score)
		}
	}
	return true
}

// FiniteState returns an error that names the first part of s that has a NaN or an infinity.
func FiniteState(s learner.State) error { return s.CheckFinite() }
