package learners

import (
	"errors"
	"runtime"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// newSeparate returns an ensemble of learners of their own.
func newSeparate[T learner.Float](t testing.TB, c OBPMConfig, env learner.Env) *separateOBPM[T] {
	t.Helper()
	e, err := learner.Lookup("obpm")
	if err != nil {
		t.Fatal(err)
	}
	if c.Combine == "" {
		c.Combine = CombineWeights
	}
	c.Together = false
	l, err := learner.New[T](e, &c, env)
	if err != nil {
		t.Fatal(err)
	}
	return l.(*separateOBPM[T])
}

// TestSeparateOneMember: one member that sees everything is its base, to the bit, one that draws
// too.
func TestSeparateOneMember(t *testing.T) {
	b := randomBlock[float32](300, 40, 7, false, 6)
	for _, base := range []string{"romma", "adf", "rff", "sogp"} {
		o := newSeparate[float32](t, OBPMConfig{Members: 1, Tau: 1, Base: base},
			learner.Env{Seed: 9})
		e, err := learner.Lookup(base)
		if err != nil {
			t.Fatal(err)
		}
		l, err := learner.New[float32](e, e.Config(), learner.Env{Seed: 9})
		if err != nil {
			t.Fatal(err)
		}
		r, q := learnAll(t, l, b, 300), learnAll(t, o, b, 64)
		for i := range r {
			if r[i] != q[i] {
				t.Fatalf("%s: example %d: %v, as a member %v", base, i, r[i], q[i])
			}
		}
		if stateBytes(t, l.State()) != stateBytes(t, o.learners[0].State()) {
			t.Errorf("%s: the states differ", base)
		}
	}
}

// TestSeparateSeeds: members draw differently, and the same in every ensemble of the seed.
func TestSeparateSeeds(t *testing.T) {
	b := randomBlock[float64](60, 12, 5, false, 8)
	c := OBPMConfig{Members: 4, Tau: 1, Base: "rff"}
	one, again := newSeparate[float64](t, c, learner.Env{Seed: 2}), newSeparate[float64](t, c,
		learner.Env{Seed: 2})
	learnAll(t, one, b, 60)
	learnAll(t, again, b, 7)
	if stateBytes(t, one.State()) != stateBytes(t, again.State()) {
		t.Error("two ensembles of one seed differ")
	}
	states := map[string]bool{}
	for _, l := range one.learners {
		states[stateBytes(t, l.State())] = true
	}
	if len(states) != c.Members {
		t.Errorf("%d members have %d states", c.Members, len(states))
	}
}

// TestSeparateRefuses: features that the members refuse change nothing; a member that fails out of
// an example ends learning.
func TestSeparateRefuses(t *testing.T) {
	o := newSeparate[float64](t, OBPMConfig{Members: 5, Tau: 0.5, Base: "adf"}, learner.Env{})
	learnAll(t, o, randomBlock[float64](20, 12, 5, false, 8), 20)
	before := stateBytes(t, o.State())
	wide := &engine.Block[float64]{Y: []float64{1}, Dim: 1 << 20, Ptr: []int{0, 1},
		Idx: []int32{1<<20 - 1}, Val: []float64{1}}
	if err := o.Learn(wide, make([]learner.Round, 1)); !errors.Is(err, learner.ErrDim) {
		t.Errorf("too many features: %v", err)
	}
	if stateBytes(t, o.State()) != before {
		t.Error("refused features changed the state")
	}

	p := newSeparate[float64](t, OBPMConfig{Members: 5, Tau: 0.5, Base: "romma"}, learner.Env{})
	failing := &failingLearner{Learner: p.learners[3]}
	p.learners[3] = failing
	b := randomBlock[float64](50, 12, 5, false, 8)
	rounds := make([]learner.Round, b.Len())
	if err := p.Learn(b, rounds); err != nil {
		t.Fatal(err)
	}
	failing.err = errors.New("broken")
	for range 2 {
		if err := p.Learn(b, rounds); !errors.Is(err, failing.err) {
			t.Errorf("a member that fails: %v", err)
		}
		failing.Learner = nil // is not asked again
	}
}

type failingLearner struct {
	learner.Learner[float64]
	err error
}

func (l *failingLearner) Learn(b *engine.Block[float64], rounds []learner.Round) error {
	if l.err != nil && b.Len() > 0 {
		return l.err
	}
	return l.Learner.Learn(b, rounds)
}

// TestSeparateMakesNoneFirst: members of their own that a model only claims to have are not made.
func TestSeparateMakesNoneFirst(t *testing.T) {
	cfg := OBPMConfig{Members: 3, Tau: 0.5, Base: "pumma", Combine: CombineWeights}
	small, err := newOBPM[float64](cfg, learner.Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	state := small.State()
	cfg.Members = MaxMembers
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l, err := newOBPM[float64](cfg, learner.Env{Seed: 1, Restored: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.SetState(state); !errors.Is(err, learner.ErrState) {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("%d bytes were taken", took)
	}
	cfg.Members = 3
	l, err = newOBPM[float64](cfg, learner.Env{Seed: 1, Restored: true})
	if err == nil {
		err = l.SetState(state)
	}
	if err != nil {
		t.Error(err)
	}
}
