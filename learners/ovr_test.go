package learners_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// inClasses gives the examples of b so many classes at random, numbered in the order in which they
// come: the last of them come late.
func inClasses(b *engine.Block[float32], classes int) {
	rng := rand.New(rand.NewPCG(uint64(classes), 1))
	b.Class = make([]int32, b.Len())
	for i := range b.Class {
		come := min(classes, 1+i*(classes+1)/b.Len()) // those that may have come
		b.Class[i] = int32(rng.IntN(come))
	}
	numbers := map[int32]int32{}
	for i, c := range b.Class {
		if _, ok := numbers[c]; !ok {
			numbers[c] = int32(len(numbers))
		}
		b.Class[i] = numbers[c]
	}
}

// against returns the labels of the class against the rest.
func against(b *engine.Block[float32], class int32) *engine.Block[float32] {
	two := b.Slice(0, b.Len())
	two.Class, two.Y = nil, make([]float32, b.Len())
	for i, c := range b.Class {
		if two.Y[i] = -1; c == class {
			two.Y[i] = 1
		}
	}
	return &two
}

// TestOVRColumns: the learner of each class is that of two classes over the same stream, to the
// bit, whenever the class came; so are outputs and updates.
func TestOVRColumns(t *testing.T) {
	for _, base := range []string{"obpm", "perceptron", "pa", "alma", "adf", "budget", "romma"} {
		for _, classes := range []int{2, 3, 20} {
			for _, form := range []string{"sparse", "dense"} {
				b := learnertest.Sparse[float32](300, 90, 0)
				if form == "dense" {
					b = learnertest.Dense[float32](300, 30, 0)
				}
				inClasses(b, classes)
				t.Run(fmt.Sprintf("%s/%d/%s", base, classes, form), func(t *testing.T) {
					columns(t, base, b)
				})
			}
		}
	}
}

func columns(t *testing.T, base string, b *engine.Block[float32]) {
	env := learner.Env{Seed: 7}
	all, err := learner.Make[float32]("ovr", &learners.OVRConfig{Base: base}, env)
	if err != nil {
		t.Fatal(err)
	}
	rounds := make([]learner.Round, b.Len())
	if err := all.Learn(b, rounds); err != nil {
		t.Fatal(err)
	}
	k := learner.OutputsOf(all)
	if want := int(slices.Max(b.Class)) + 1; k != want {
		t.Fatalf("%d outputs of %d classes", k, want)
	}
	outputs := make([]float64, k*b.Len())
	if err := all.Score(b, outputs); err != nil {
		t.Fatal(err)
	}
	states, updates := all.State(), int64(0)
	before := make([]float64, k*b.Len()) // outputs before each example
	for c := range k {
		two, err := learner.Make[float32](base, nil, env)
		if err != nil {
			t.Fatal(err)
		}
		own := make([]learner.Round, b.Len())
		if err := two.Learn(against(b, int32(c)), own); err != nil {
			t.Fatal(err)
		}
		f := make([]float64, b.Len())
		if err := two.Score(b, f); err != nil {
			t.Fatal(err)
		}
		for i := range f {
			if math.Float64bits(f[i]) != math.Float64bits(outputs[i*k+c]) {
				t.Fatalf("class %d: example %d scores %v, two classes %v", c, i, outputs[i*k+c], f[i])
			}
			before[i*k+c] = own[i].Score
		}
		want := learnertest.StateBytes(two.State())
		got := learnertest.StateBytes(partOf(states, fmt.Sprintf("class%d.", c)))
		if !bytes.Equal(got, want) {
			t.Fatalf("class %d: the state is not that of two classes", c)
		}
		updates += two.Updates()
	}
	come := 0
	for i, r := range rounds {
		own := int(b.Class[i])
		want := learner.ClassScore(before[i*k:][:come], own)
		if come = max(come, own+1); math.Float64bits(r.Score) != math.Float64bits(want) {
			t.Fatalf("example %d of class %d scores %v, want %v", i, own, r.Score, want)
		}
	}
	// Updates are those since a class came; a class's learner may have made some before.
	if all.Updates() > updates {
		t.Errorf("%d updates, %d of the learners of two classes", all.Updates(), updates)
	}
}

// TestOVRFit: of a base of whole data sets the learner of each class is that of two classes, to the
// bit, and kernel rows are computed once for all.
func TestOVRFit(t *testing.T) {
	rbf := learner.KernelConfig{Kernel: "rbf", Gamma: 0.1}
	for base, c := range map[string]learner.Config{
		"svm": &learners.SVMConfig{C: 10, Norm: 1, Gap: 1e-6, KernelConfig: rbf},
		"kmp": &learners.KMPConfig{Size: 20, KernelConfig: rbf},
		"ep":  nil,
	} {
		b := learnertest.Dense[float32](200, 10, 0.05)
		inClasses(b, 4)
		all, err := learner.Make[float32]("ovr", &learners.OVRConfig{Base: base, BaseConfig: c},
			learner.Env{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		r, err := learner.Fit(t.Context(), all, b, learner.FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		states, updates := all.State(), int64(0)
		for k := range 4 {
			two, err := learner.Make[float32](base, c, learner.Env{Seed: 7})
			if err != nil {
				t.Fatal(err)
			}
			one, err := learner.Fit(t.Context(), two, against(b, int32(k)), learner.FitOptions{})
			if err != nil {
				t.Fatal(err)
			}
			updates += one.Updates
			got := learnertest.StateBytes(partOf(states, fmt.Sprintf("class%d.", k)))
			if !bytes.Equal(got, learnertest.StateBytes(two.State())) {
				t.Errorf("%s, class %d: the state is not that of two classes", base, k)
			}
		}
		if r.Updates != updates || r.Converged == (base == "ep") || all.Updates() != updates {
			t.Errorf("%s: %+v, Updates %d, want %d", base, r, all.Updates(), updates)
		}
		if rows := r.KernelRows; base == "svm" && (rows.Misses > 200 || rows.Hits == 0) {
			t.Errorf("%d rows were computed for 4 classes of 200 examples", rows.Misses)
		}
	}
}

// partOf returns the parts of a State whose names begin with prefix.
func partOf(s learner.State, prefix string) learner.State {
	p := learner.State{Counters: map[string]uint64{}, Scalars: map[string]float64{}}
	for k, v := range s.Counters {
		if name, ok := bytes.CutPrefix([]byte(k), []byte(prefix)); ok {
			p.Counters[string(name)] = v
		}
	}
	for k, v := range s.Scalars {
		if name, ok := bytes.CutPrefix([]byte(k), []byte(prefix)); ok {
			p.Scalars[string(name)] = v
		}
	}
	for _, x := range s.Tensors {
		if name, ok := bytes.CutPrefix([]byte(x.Name), []byte(prefix)); ok {
			x.Name = string(name)
			p.Tensors = append(p.Tensors, x)
		}
	}
	return p
}

// TestClassScore: own less the largest other; ties go to the first.
func TestClassScore(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		outputs []float64
		class   int
		want    float64
		first   int
	}{
		{nil, 0, learner.LostTie, -1},
		{[]float64{-3}, 0, 0, 0},
		{[]float64{-3}, 1, learner.LostTie, 0},
		{[]float64{1, 3, 2}, 1, 1, 1},
		{[]float64{1, 3, 2}, 2, -1, 1},
		{[]float64{2, 3, 3}, 1, 0, 1},
		{[]float64{2, 3, 3}, 2, learner.LostTie, 1},
		{[]float64{4, 3, 3}, 2, -1, 0},
		{[]float64{3, 3, 4}, 1, -1, 2},
		{[]float64{1, nan, 2}, 2, nan, -1},
	} {
		got := learner.ClassScore(c.outputs, c.class)
		if got != c.want && !(got != got && c.want != c.want) {
			t.Errorf("class %d of %v scores %v, want %v", c.class, c.outputs, got, c.want)
		}
		if p := learner.Predicted(c.outputs); p != c.first {
			t.Errorf("of %v class %d is predicted, want %d", c.outputs, p, c.first)
		}
	}
}

// TestOVOColumns: the learner of each two classes scores, to the bit, as one of two classes over
// their examples alone, whenever they came, of streams and of whole data sets; votes and sums are
// those of a plain form.
func TestOVOColumns(t *testing.T) {
	for _, base := range []string{"obpm", "perceptron", "pa", "budget", "svm"} {
		for _, classes := range []int{2, 3, 7} {
			for _, form := range []string{"sparse", "dense"} {
				b := learnertest.Sparse[float32](200, 60, 0)
				if form == "dense" {
					b = learnertest.Dense[float32](200, 20, 0)
				}
				inClasses(b, classes)
				t.Run(fmt.Sprintf("%s/%d/%s", base, classes, form), func(t *testing.T) {
					pairs(t, base, b)
				})
			}
		}
	}
}

// ofTwo returns the examples of two classes, of which the first is +1.
func ofTwo(b *engine.Block[float32], first, second int32) *engine.Block[float32] {
	two := &engine.Block[float32]{Dim: b.Dim, Ptr: []int{0}}
	for i, c := range b.Class {
		if c != first && c != second {
			continue
		}
		idx, val := b.Example(i)
		two.Idx, two.Val = append(two.Idx, idx...), append(two.Val, val...)
		two.Ptr = append(two.Ptr, len(two.Idx))
		y := float32(-1)
		if c == first {
			y = 1
		}
		two.Y = append(two.Y, y)
	}
	if b.Dense() {
		two.X, two.Stride, two.Ptr, two.Idx, two.Val = two.Val, b.Dim, nil, nil, nil
	}
	return two
}

// teach learns b, or fits l to it.
func teach(t *testing.T, l learner.Learner[float32], b *engine.Block[float32], rounds int) {
	t.Helper()
	err := l.Learn(b, make([]learner.Round, rounds))
	if errors.Is(err, learner.ErrBatch) {
		_, err = learner.Fit(t.Context(), l, b, learner.FitOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func pairs(t *testing.T, base string, b *engine.Block[float32]) {
	all, err := learner.Make[float32]("ovo", &learners.OVOConfig{Base: base}, learner.Env{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	teach(t, all, b, b.Len())
	k := learner.OutputsOf(all)
	got, f := make([]float64, k*b.Len()), make([]float64, b.Len())
	if err := all.Score(b, got); err != nil {
		t.Fatal(err)
	}
	count, sums := make([]float64, k*b.Len()), make([]float64, k*b.Len())
	for second := 1; second < k; second++ {
		for first := range second {
			two, err := learner.Make[float32](base, nil, learner.Env{Seed: 7})
			if err != nil {
				t.Fatal(err)
			}
			some := ofTwo(b, int32(first), int32(second))
			teach(t, two, some, some.Len())
			if err := two.Score(b, f); err != nil {
				t.Fatal(err)
			}
			for i, v := range f {
				vote := 0.0
				if v != 0 {
					vote = math.Copysign(0.5, v)
				}
				count[i*k+first] += vote
				count[i*k+second] -= vote
				sums[i*k+first] += v
				sums[i*k+second] -= v
			}
		}
	}
	for i, s := range sums {
		want := count[i] + s/(3*(math.Abs(s)+1))
		if math.Float64bits(got[i]) != math.Float64bits(want) {
			t.Fatalf("output %d of example %d is %v, want %v", i%k, i/k, got[i], want)
		}
	}
}
