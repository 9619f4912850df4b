package learners_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// classed returns examples of so many classes that come one after another.
func classed(classes int) (x [][]float64, of []int) {
	b := learnertest.Sparse[float32](300, 90, 0)
	inClasses(b, classes)
	for i := range b.Len() {
		row := make([]float64, b.Dim)
		idx, val := b.Sparse(i)
		for k, j := range idx {
			row[j] = float64(val[k])
		}
		x, of = append(x, row), append(of, int(b.Class[i]))
	}
	return x, of
}

// TestMPANaive: scores, updates and weights are those of loops over a vector for each class,
// whether classes are known before or come, and for more classes than a tile has.
func TestMPANaive(t *testing.T) {
	for _, classes := range []int{3, 20, 150} {
		for variant := range 3 {
			for _, known := range []int{0, classes} {
				t.Run(fmt.Sprintf("%d/%d/%d", classes, variant, known), func(t *testing.T) {
					x, of := classed(classes)
					mpaNaive(t, x, of, variant, known)
				})
			}
		}
	}
}

func mpaNaive(t *testing.T, x [][]float64, of []int, variant, known int) {
	const C = 0.2
	c := &learners.MPAConfig{Variant: variant, C: C, Classes: known}
	if variant == 0 {
		c.C = 0
	}
	l := newLearner[float64](t, "mpa", c)
	rounds := learnClassed(t, l, x, of)
	w := make([][]float64, known) // of each class
	for k := range w {
		w[k] = make([]float64, len(x[0]))
	}
	updates := int64(0)
	for i, row := range x {
		scores, sq := make([]float64, len(w)), 0.0
		for k := range w {
			for j, v := range row {
				scores[k] += w[k][j] * v
			}
		}
		for _, v := range row {
			sq += v * v
		}
		r, s := of[i], -1
		want := learner.ClassScore(scores, r)
		if got := rounds[i].Score; math.Abs(got-want) > 1e-9 {
			t.Fatalf("example %d of class %d scores %v, want %v", i, r, got, want)
		}
		for r >= len(w) {
			w, scores = append(w, make([]float64, len(row))), append(scores, 0)
		}
		for k, f := range scores {
			if k != r && (s < 0 || f > scores[s]) && (known > 0 || wasThere(of[:i], k)) {
				s = k
			}
		}
		if s < 0 || sq == 0 || scores[r]-scores[s] >= 1 {
			continue
		}
		loss := 1 - (scores[r] - scores[s])
		tau := []float64{loss / (2 * sq), min(C, loss/(2*sq)), loss / (2*sq + 1/(2*C))}[variant]
		for j, v := range row {
			w[r][j] += tau * v
			w[s][j] -= tau * v
		}
		updates++
		if rounds[i].Updates != 1 {
			t.Fatalf("example %d: no update where the loss is %v", i, loss)
		}
	}
	if l.Updates() != updates || updates < 50 {
		t.Errorf("%d updates, want %d", l.Updates(), updates)
	}
	got := l.Weights()
	for j := range x[0] {
		var sum float64
		for k := range w {
			approx.Near(t, fmt.Sprintf("class %d: w[%d]", k, j), got[k*len(x[0])+j], w[k][j], 1e-9)
			sum += got[k*len(x[0])+j]
		}
		approx.Near(t, fmt.Sprintf("sum of w[%d]", j), sum, 0, 1e-9)
	}
}

// learnClassed learns examples of those classes at once.
func learnClassed(t *testing.T, l learner.Learner[float64], x [][]float64,
	of []int) []learner.Round {
	t.Helper()
	b := block[float64]("dense", x, make([]float64, len(x)))
	for _, k := range of {
		b.Class = append(b.Class, int32(k))
	}
	rounds := make([]learner.Round, len(x))
	if err := l.Learn(b, rounds); err != nil {
		t.Fatal(err)
	}
	return rounds
}

// wasThere reports whether class k is one of those.
func wasThere(of []int, k int) bool {
	for _, c := range of {
		if c >= k {
			return true
		}
	}
	return false
}

// TestMPALossAfterStep: after a step the difference to the rival is what the variant says.
func TestMPALossAfterStep(t *testing.T) {
	const C = 0.05
	x, of := classed(5)
	for variant := range 3 {
		c := &learners.MPAConfig{Variant: variant, C: C}
		if variant == 0 {
			c.C = 0
		}
		l := newLearner[float64](t, "mpa", c)
		steps := 0
		for i, row := range x {
			b := block[float64]("sparse", [][]float64{row}, []float64{1})
			b.Class = []int32{int32(of[i])}
			before, after := make([]float64, learner.OutputsOf(l)), make([]float64, 5)
			if err := l.Score(b, before); err != nil {
				t.Fatal(err)
			}
			var round [1]learner.Round
			if err := l.Learn(b, round[:]); err != nil {
				t.Fatal(err)
			}
			if err := l.Score(b, after); err != nil {
				t.Fatal(err)
			}
			if round[0].Updates == 0 || of[i] >= len(before) {
				continue
			}
			steps++
			r, s := of[i], 0
			for k, f := range before {
				if k != r && (s == r || f > before[s]) {
					s = k
				}
			}
			var sq float64
			for _, v := range row {
				sq += v * v
			}
			loss := 1 - (before[r] - before[s])
			want := []float64{0, max(0, loss-2*C*sq), loss / (1 + 4*C*sq)}[variant]
			approx.Near(t, fmt.Sprintf("variant %d, example %d: loss", variant, i),
				1-(after[r]-after[s]), want, 1e-9)
		}
		if steps < 50 {
			t.Errorf("%d steps", steps)
		}
	}
}

// TestMPAByHand: PA, five examples of three classes.
func TestMPAByHand(t *testing.T) {
	l := newLearner[float64](t, "mpa", &learners.MPAConfig{Variant: 0})
	for i, s := range []struct {
		x       []float64
		class   int32
		score   float64
		updates int32
		w       []float64
	}{
		{[]float64{1, 0}, 0, learner.LostTie, 0, []float64{0, 0}}, // no rival
		{[]float64{0, 1}, 1, learner.LostTie, 1, []float64{0, -0.5, 0, 0.5}},
		{[]float64{2, 0}, 2, learner.LostTie, 1, []float64{-0.25, -0.5, 0, 0.5, 0.25, 0}},
		{[]float64{0, 2}, 1, 1, 0, []float64{-0.25, -0.5, 0, 0.5, 0.25, 0}}, // loss 0
		// class 1 is the rival, 0 to 0.25: loss 1.25, |x|^2 1
		{[]float64{1, 0}, 1, -0.25, 1, []float64{-0.25, -0.5, 0.625, 0.5, -0.375, 0}},
	} {
		b := block[float64]("dense", [][]float64{s.x}, []float64{1})
		b.Class = []int32{s.class}
		var round [1]learner.Round
		if err := l.Learn(b, round[:]); err != nil {
			t.Fatal(err)
		}
		if round[0].Score != s.score || round[0].Updates != s.updates {
			t.Errorf("example %d: %+v, want score %v", i, round[0], s.score)
		}
		w := l.Weights()
		for j := range s.w {
			approx.Near(t, fmt.Sprintf("example %d: w[%d]", i, j), w[j], s.w[j], 1e-15)
		}
	}
}
