package learners_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// wordCounts are sparse examples of whole values, as counts of words are: few features come often
// and most seldom, some values are large. Classes are drawn in the order in which they come.
func wordCounts(n, dim, classes int, large float32) *engine.Block[float32] {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(classes)))
	b := &engine.Block[float32]{Dim: dim, Ptr: []int{0}}
	for range n {
		for j := rng.IntN(3); j < dim; j += 1 + int(float64(j)*rng.ExpFloat64()/3) {
			x := 1 + float32(int(rng.ExpFloat64()))
			switch rng.IntN(40) {
			case 0:
				x = large
			case 1:
				x = -x
			case 2:
				x = 0
			}
			b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, x)
		}
		b.Ptr = append(b.Ptr, len(b.Idx))
	}
	b.Y = make([]float32, n)
	inClasses(b, classes)
	b.Y = nil
	return b
}

// TestOVRAbreast: learned side by side, each class is that of two classes, to the bit, however the
// stream is cut into blocks, with members drawn seldom and often.
func TestOVRAbreast(t *testing.T) {
	for _, c := range []struct {
		examples, dim, classes, known, foreseen, block int
		large                                          float32
	}{
		{600, 3000, 20, 0, 0, 600, 40}, {600, 3000, 20, 20, 0, 50, 500},
		{600, 500, 40, 0, 0, 7, 40}, {600, 500, 40, 0, 30, 7, 40}, // side by side from the 15th on
		{17500, 60, 16, 0, 16, 3000, 15}, // more examples than are remembered, or than a run has
		{600, 400, 18, 0, 20, 100, 4000}, // scores that float32 may round
	} {
		t.Run(fmt.Sprintf("%d/%d/%d/%v", c.examples, c.classes, c.foreseen, c.large), func(
			t *testing.T) {
			b := wordCounts(c.examples, c.dim, c.classes, c.large)
			base := &learners.OBPMConfig{Members: 10, Tau: 0.3, Base: "perceptron",
				Combine: learners.CombineWeights, Path: learners.PathAuto,
				Budget: 1000, Removal: learners.RemoveProject,
				KernelConfig: learner.KernelConfig{Kernel: "linear"}}
			pool := engine.NewPool(2)
			pool.Insist()
			defer pool.Close()
			env := learner.Env{Seed: 7, Pool: pool, Classes: c.foreseen}
			all, err := learner.Make[float32]("ovr", &learners.OVRConfig{Classes: c.known,
				Base: "obpm", BaseConfig: base}, env)
			if err != nil {
				t.Fatal(err)
			}
			rounds := learnIn(t, all, b, c.block)
			state := all.State()
			classes := learner.OutputsOf(all)
			own := make([][]learner.Round, classes)
			for k := range classes {
				two, err := learner.Make[float32]("obpm", base, env)
				if err != nil {
					t.Fatal(err)
				}
				own[k] = learnIn(t, two, against(b, int32(k)), 512)
				got := learnertest.StateBytes(partOf(state, fmt.Sprintf("class%d.", k)))
				if !bytes.Equal(got, learnertest.StateBytes(two.State())) {
					t.Fatalf("class %d: the state is not that of two classes", k)
				}
			}
			outputs, come := make([]float64, classes), c.known
			for i, r := range rounds {
				for k := range own {
					outputs[k] = own[k][i].Score
				}
				class := int(b.Class[i])
				want := learner.ClassScore(outputs[:come], class)
				if come = max(come, class+1); math.Float64bits(r.Score) != math.Float64bits(want) {
					t.Fatalf("example %d of class %d scores %v, want %v", i, class, r.Score, want)
				}
			}
		})
	}
}

// learnIn learns b in blocks of so many examples.
func learnIn(t *testing.T, l learner.Learner[float32], b *engine.Block[float32],
	size int) []learner.Round {
	t.Helper()
	rounds := make([]learner.Round, b.Len())
	for lo := 0; lo < b.Len(); lo += size {
		hi := min(lo+size, b.Len())
		v := b.Slice(lo, hi)
		if err := l.Learn(&v, rounds[lo:hi]); err != nil {
			t.Fatal(err)
		}
	}
	return rounds
}

// TestOVRAbreastEnds: classes learned side by side go on one by one, to the same bits, from the
// first example on that is of other values or dense, and from a model that was read; and what is
// asked of them in between changes nothing. Weights of values up to 900 need more than 8 bits.
func TestOVRAbreastEnds(t *testing.T) {
	t.Run("40", func(t *testing.T) { testOVRAbreastEnds(t, 40) })
	t.Run("900", func(t *testing.T) { testOVRAbreastEnds(t, 900) })
}

func testOVRAbreastEnds(t *testing.T, large float32) {
	b := wordCounts(400, 300, 18, large)
	other := learnertest.Sparse[float32](100, 300, 0)
	inClasses(other, 18)
	other.Y = nil
	make1 := func() learner.Learner[float32] {
		t.Helper()
		l, err := learner.Make[float32]("ovr", &learners.OVRConfig{Base: "obpm"},
			learner.Env{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	one := make1()
	learnIn(t, one, b, 400)
	learnIn(t, one, other, 100)
	want := learnertest.StateBytes(one.State())
	two := make1()
	first, second := b.Slice(0, 250), b.Slice(250, 400)
	learnIn(t, two, &first, 50)
	read := make1()
	if err := read.SetState(two.State()); err != nil {
		t.Fatal(err)
	}
	probas := make([]float64, 18*other.Len())
	if err := learner.ProberOf(two).Proba(other, probas); err != nil {
		t.Fatal(err)
	}
	for i, l := range []learner.Learner[float32]{two, read} {
		if err := learner.ForgetterOf(l).Forget(1); err != nil { // nothing
			t.Fatal(err)
		}
		learnIn(t, l, &second, 30)
		learnIn(t, l, other, 10)
		if !bytes.Equal(learnertest.StateBytes(l.State()), want) {
			t.Errorf("%d: the state differs", i)
		}
	}
}

// TestOVRAbreastForgets: classes that have forgotten are what they are where they never were side
// by side, also those that come later.
func TestOVRAbreastForgets(t *testing.T) {
	b := wordCounts(400, 300, 18, 40)
	first, second := b.Slice(0, 300), b.Slice(300, 400)
	var want []byte
	for _, path := range []string{learners.PathAuto, learners.PathLanes} {
		base := &learners.OBPMConfig{Members: 10, Tau: 0.3, Base: "perceptron",
			Combine: learners.CombineWeights, Path: path, Budget: 1000,
			Removal:      learners.RemoveProject,
			KernelConfig: learner.KernelConfig{Kernel: "linear"}}
		l, err := learner.Make[float32]("ovr", &learners.OVRConfig{Base: "obpm", BaseConfig: base},
			learner.Env{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		learnIn(t, l, &first, 50)
		if err := learner.ForgetterOf(l).Forget(0.5); err != nil {
			t.Fatal(err)
		}
		learnIn(t, l, &second, 9)
		if got := learnertest.StateBytes(l.State()); want == nil {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Error("the states differ")
		}
	}
}

// TestOVRAbreastMemory: what is planned for classes side by side counts the masks of who took which
// example, which are most of it where features are few.
func TestOVRAbreastMemory(t *testing.T) {
	b := wordCounts(3000, 60, 20, 15)
	longest := 0
	for i := range b.Len() {
		longest = max(longest, b.NonZeros(i))
	}
	base := &learners.OBPMConfig{Members: 40, Tau: 0.3, Base: "perceptron",
		Combine: learners.CombineWeights, Path: learners.PathAuto,
		Budget: 1000, Removal: learners.RemoveProject,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}}
	c := &learners.OVRConfig{Base: "obpm", BaseConfig: base}
	l, err := learner.Make[float32]("ovr", c, learner.Env{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	learnIn(t, l, b, 500)
	x := learner.Extent{Elem: 4, Features: 60, Classes: 20, Longest: int64(longest)}
	if have, plan := l.Bytes(), c.Memory(x).Held(); have > plan {
		t.Errorf("%d bytes, %d planned", have, plan)
	}
}

// TestOVRAbreastLong: features that come for ever have weights of 8 bits as long as these do,
// though their values add up to far more than that, and take less memory than larger ones; the bits
// are those of classes by themselves.
func TestOVRAbreastLong(t *testing.T) {
	const features, members, classes = 4000, 40, 20
	base := &learners.OBPMConfig{Members: members, Tau: 0.3, Base: "perceptron",
		Combine: learners.CombineWeights, Path: learners.PathAuto,
		Budget: 1000, Removal: learners.RemoveProject,
		KernelConfig: learner.KernelConfig{Kernel: "linear"}}
	var bytesOf [2]int64
	large := 0 // features whose values add up to more than 8 bits hold
	for i, scale := range []float32{1, 70} {
		b := wordCounts(15000, features, classes, 2)
		sum := make([]float32, features)
		for k, j := range b.Idx {
			b.Val[k] *= scale
			sum[j] += max(b.Val[k], -b.Val[k])
		}
		if i == 0 {
			for _, s := range sum {
				if s > 127 {
					large++
				}
			}
		}
		l, err := learner.Make[float32]("ovr", &learners.OVRConfig{Classes: classes, Base: "obpm",
			BaseConfig: base}, learner.Env{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		learnIn(t, l, b, 700)
		bytesOf[i] = l.Bytes()
		for _, k := range []int32{0, 19} {
			two, err := learner.Make[float32]("obpm", base, learner.Env{Seed: 7})
			if err != nil {
				t.Fatal(err)
			}
			learnIn(t, two, against(b, k), 512)
			got := learnertest.StateBytes(partOf(l.State(), fmt.Sprintf("class%d.", k)))
			if !bytes.Equal(got, learnertest.StateBytes(two.State())) {
				t.Errorf("%v: class %d: the state is not that of two classes", scale, k)
			}
		}
	}
	// large ones are in 16 bits, where small ones have left no row
	const want = features * members * 32 * 2
	if saved := bytesOf[1] - bytesOf[0]; large < features/8 || saved < want {
		t.Errorf("small weights take %d bytes less than large ones, want %d; %d features come often",
			saved, want, large)
	}
}

// TestOVRAbreastDense: classes that learn dense examples together are, to the bit, those of two
// classes, with few members and with more than a word of them, with weights, with classes that come
// late, and where sparse examples follow.
func TestOVRAbreastDense(t *testing.T) {
	for _, c := range []struct {
		members, classes, known, block int
		tau                            float64
		weights                        bool
	}{
		{10, 3, 3, 300, 0.3, false}, {10, 13, 0, 7, 1, true}, {130, 8, 0, 200, 0.1, true},
	} {
		t.Run(fmt.Sprintf("%d/%d/%v", c.members, c.classes, c.weights), func(t *testing.T) {
			b := learnertest.Dense[float32](300, 1030, 0) // more than a run has
			sparse := learnertest.Sparse[float32](40, 1100, 0)
			for _, b := range []*engine.Block[float32]{b, sparse} {
				inClasses(b, c.classes)
				if c.weights {
					w := make([]float32, b.Len())
					for i := range w {
						w[i] = float32(i%4) / 2 // 0, 1/2, 1 or 3/2
					}
					b.Reweigh(w)
				}
			}
			base := &learners.OBPMConfig{Members: c.members, Tau: c.tau, Base: "perceptron",
				Combine: learners.CombineWeights, Path: learners.PathAuto,
				Budget: 1000, Removal: learners.RemoveProject,
				KernelConfig: learner.KernelConfig{Kernel: "linear"}}
			pool := engine.NewPool(2)
			pool.Insist()
			defer pool.Close()
			env := learner.Env{Seed: 7, Pool: pool}
			all, err := learner.Make[float32]("ovr", &learners.OVRConfig{Classes: c.known,
				Base: "obpm", BaseConfig: base}, env)
			if err != nil {
				t.Fatal(err)
			}
			updates := map[string]uint64{}
			for i := range 2 {
				learnIn(t, all, []*engine.Block[float32]{b, sparse}[i], c.block)
				state := all.State()
				for k := range learner.OutputsOf(all) {
					two, err := learner.Make[float32]("obpm", base, env)
					if err != nil {
						t.Fatal(err)
					}
					for _, b := range []*engine.Block[float32]{b, sparse}[:i+1] {
						learnIn(t, two, against(b, int32(k)), 512)
					}
					name := fmt.Sprintf("class%d.", k)
					got := learnertest.StateBytes(partOf(state, name))
					if !bytes.Equal(got, learnertest.StateBytes(two.State())) {
						t.Fatalf("class %d, after block %d: the state is not that of two classes",
							k, i)
					}
					if n := state.Counters[name+"updates"]; n <= updates[name] {
						t.Errorf("class %d: %d updates after block %d, %d before", k, n, i,
							updates[name])
					} else {
						updates[name] = n
					}
				}
			}
		})
	}
}
