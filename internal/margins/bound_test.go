package margins_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/internal/margins"
	"github.com/halfspace-ml/halfspace/learner"
	_ "github.com/halfspace-ml/halfspace/learners"
)

// TestMeasureAverage: the bounds of an ensemble are those of (2), worked out here from its
// definition, none exceeds the margin of the average that it is of, and no other weights beat the
// best; sparse and dense.
func TestMeasureAverage(t *testing.T) {
	const n, dim = 60, 4
	rng := engine.NewRand(3, 0)
	b := &engine.Block[float64]{Dim: dim, Stride: dim}
	for range n {
		x := make([]float64, dim)
		for j := range x {
			x[j] = rng.Normal()
		}
		x[0] = math.Copysign(1+math.Abs(x[0]), x[0]) // sign(x0) separates
		b.X, b.Y = append(b.X, x...), append(b.Y, math.Copysign(1, x[0]))
	}
	l, err := learner.Make[float64]("obpm", nil, learner.Env{Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if err := l.Learn(b, make([]learner.Round, n)); err != nil {
			t.Fatal(err)
		}
	}
	members, ok := learner.MembersOf(l, 1<<20)
	if !ok || len(members) != 100 {
		t.Fatalf("%d members, %v", len(members), ok)
	}
	if _, ok := learner.MembersOf(l, 10); ok {
		t.Error("members beyond what was asked for")
	}
	least := func(w []float64) float64 { // gamma of w
		m := math.Inf(1)
		for i := range n {
			var f float64
			for j, v := range w {
				f += v * b.X[i*dim+j]
			}
			m = min(m, b.Y[i]*f/length(w))
		}
		return m
	}
	average := func(alpha []float64) (w []float64, bound float64) { // and the right side of (2)
		w = make([]float64, dim)
		for m, a := range alpha {
			for j, v := range members[m] {
				w[j] += a * v / length(members[m])
			}
			bound += a * least(members[m])
		}
		return w, bound / length(w)
	}
	mem := eval.NewMemory(b, nil)
	m, got, ok, err := margins.MeasureAverage(context.Background(), learner.ViewOf(l), members, mem)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	equal, lengths := make([]float64, len(members)), make([]float64, len(members))
	for i, w := range members {
		equal[i], lengths[i] = 1/float64(len(members)), length(w)
		near("a member's margin", got.Margins[i], least(w))
	}
	w, bound := average(equal)
	near("Equal", got.Equal, bound)
	below := func(what string, bound, margin float64) {
		t.Helper()
		if !(bound <= margin+1e-12) {
			t.Errorf("%s: bound %v, margin %v", what, bound, margin)
		}
	}
	below("equal", bound, least(w))
	_, bound = average(lengths)
	near("Averaged", got.Averaged, bound)
	below("averaged", bound, m.Norm(2, 0))
	w, bound = average(got.Alpha)
	near("Best", got.Best, bound)
	below("best", bound, least(w))
	if got.Best <= 0 || got.Best < got.Equal || got.Best < got.Averaged {
		t.Errorf("best %v, equal %v, averaged %v", got.Best, got.Equal, got.Averaged)
	}
	for range 2000 {
		alpha := make([]float64, len(members))
		for i := range alpha {
			alpha[i] = max(0, got.Alpha[i]+0.01*rng.Normal())
		}
		if _, v := average(alpha); v > got.Best+1e-6 {
			t.Fatalf("other weights have the bound %v, the best %v", v, got.Best)
		}
	}
	if _, _, _, err := margins.MeasureAverage(context.Background(), learner.ViewOf(l),
		[][]float64{{0, 0}}, mem); !errors.Is(err, learner.ErrConfig) {
		t.Errorf("a member without weights: %v", err)
	}
}

func length(w []float64) float64 {
	var sum float64
	for _, v := range w {
		sum += v * v
	}
	return math.Sqrt(sum)
}

// linear is a hypothesis without a bias.
type linear []float64

func (l linear) Bytes() int64 { return 0 }

func (l linear) State() learner.State { return learner.State{} }

func (l linear) Outputs() int { return 1 }

func (l linear) Weights() []float64 { return l }

func (l linear) Score(b *engine.Block[float64], dst []float64) error {
	for i := range b.Len() {
		dst[i] = 0
		for j, w := range l {
			dst[i] += w * b.Row(i)[j]
		}
	}
	return nil
}

// TestNorm works margins out by hand: |w| = 5.
func TestNorm(t *testing.T) {
	data := func(y []float64, x ...float64) *eval.Memory[float64] {
		return eval.NewMemory(&engine.Block[float64]{Dim: 2, Stride: 2, Y: y, X: x}, nil)
	}
	w := linear{3, -4}
	all := data([]float64{1, -1}, 2, 1, 0, 1) // scores 2 and -4
	m, ok, err := margins.Measure[float64](t.Context(), w, all)
	for _, want := range []struct {
		p    float64
		skip int
		m    float64
	}{{2, 0, 2. / 5}, {2, 1, 2. / 4}, {1, 0, 2. / 4}, {math.Inf(1), 0, 2. / 7},
		{4, 0, 2 / math.Pow(math.Pow(3, 4./3)+math.Pow(4, 4./3), 3./4)}} {
		if got := m.Norm(want.p, want.skip); !(math.Abs(got-want.m) < 1e-15) || !ok || err != nil {
			t.Errorf("p = %v: margin %v %v %v, want %v", want.p, got, ok, err, want.m)
		}
	}
	m, ok, err = margins.Measure[float64](t.Context(), w, data([]float64{1, 1}, 2, 1, -1, 0))
	if m.Norm(2, 0) != -0.6 || !ok || err != nil {
		t.Errorf("margin %v %v %v, want -0.6", m.Norm(2, 0), ok, err)
	}
	for name, w := range map[string]linear{"no weights": nil, "zero weights": {0, 0}} {
		if _, ok, err := margins.Measure[float64](t.Context(), w, all); ok || err != nil {
			t.Errorf("%s: margin defined (%v)", name, err)
		}
	}
	if _, ok, err := margins.Measure[float64](t.Context(), w, data(nil)); ok || err != nil {
		t.Errorf("no examples: margin defined (%v)", err)
	}
}
