package learners

import (
	"reflect"
	"slices"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// TestOBPMInt16: that weights are kept in int16 never shows, also where they outgrow it, where
// another value comes, where scores are asked for in between, and after a restart. Lists of the
// members that see an example are kept in floats.
func TestOBPMInt16(t *testing.T) {
	before := vecmath.Active().String()
	defer func() {
		if err := vecmath.Use(before); err != nil {
			t.Error(err)
		}
	}()
	ones := randomBlock[float32](400, 60, 9, true, 21)
	late := randomBlock[float32](400, 60, 9, true, 22)
	late.Val = slices.Clone(late.Val)
	late.Val[len(late.Val)*2/3] = .5
	wide := randomBlock[float32](600, 2500, 9, true, 23) // rows are looked up at first
	pool := engine.NewPool(3)
	pool.Insist()
	defer pool.Close()
	for _, im := range vecmath.Implementations() {
		if !im.Supported {
			continue
		}
		if err := vecmath.Use(im.Name); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name   string
			n      int
			b      *engine.Block[float32]
			tau    float64
			margin float64
			eta    float64
			start  bool // in int16 at first
			end    bool // at last
		}{
			{"ones", 200, ones, .3, 0, 1, true, true},
			{"tau 1", 200, ones, 1, 2.5, 1, true, true},
			{"another value", 200, late, .3, 0, 1, true, false},
			{"another step", 200, ones, .3, 0, 2, false, false},
			{"large margin", 200, ones, .3, 1 << 15, 1, false, false},
			{"long", 70, repeated(1500, 45), .9, 32000, 1, true, false},     // weights beyond 20
			{"beyond int8", 130, repeated(8, 400), .9, 2000, 1, true, true}, // weights up to 250
			{"within int8", 70, repeated(8, 400), .9, 400, 1, true, true},
			{"long for int8", 70, repeated(200, 400), .9, 32000, 1, true, true}, // from 32 on
			{"rows in order", 100, wide, .3, 0, 1, true, true},
			{"too long", 3, repeated(1<<15, 3), .3, 0, 1, false, false},
		} {
			t.Run(im.Name+"/"+c.name, func(t *testing.T) {
				cfg := OBPMConfig{Members: c.n, Tau: c.tau, BaseConfig: &PerceptronConfig{
					Margin: c.margin, Eta: c.eta}}
				learnInt16(t, c.b, cfg, learner.Env{Seed: 3, Pool: pool}, c.start, c.end)
			})
		}
	}
}

func learnInt16(t *testing.T, b *engine.Block[float32], cfg OBPMConfig, env learner.Env, start,
	end bool) {
	const size = 90
	active := cfg
	active.path = ensemble.PathActive
	want, got := newTestOBPM[float32](t, active, env), newTestOBPM[float32](t, cfg, env)
	first := b.Slice(0, 1)
	same := func(what string, a, b any) {
		t.Helper()
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%s differ", what)
		}
	}
	same("first rounds", learnAll(t, got, &first, 1), learnAll(t, want, &first, 1))
	has := vecmath.Active() != vecmath.NEON
	if got.Lanes.Int16() != start && has {
		t.Errorf("in int16 at first: %v", !start)
	}
	same("rounds", learnAll(t, got, b, size), learnAll(t, want, b, size))
	if got.Lanes.Int16() != end && has {
		t.Errorf("in int16 at last: %v", !end)
	}
	if end && has && !got.Lanes.Direct() {
		t.Error("rows are looked up")
	}
	same("states", stateBytes(t, got.State()), stateBytes(t, want.State()))

	p, q := make([]float64, b.Len()), make([]float64, b.Len())
	for range 2 {
		if err := got.Proba(b, p); err != nil {
			t.Fatal(err)
		}
		if err := want.Proba(b, q); err != nil {
			t.Fatal(err)
		}
		same("votes", p, q)
		same("later rounds", learnAll(t, got, b, size), learnAll(t, want, b, size))
	}
	again := newTestOBPM[float32](t, cfg, env)
	if err := again.SetState(got.State()); err != nil {
		t.Fatal(err)
	}
	same("rounds after a restart", learnAll(t, again, b, size), learnAll(t, got, b, size))
	same("states after a restart", stateBytes(t, again.State()), stateBytes(t, got.State()))
}

// TestOBPMInt8: where int8 has a kernel the weights are there until they outgrow it.
func TestOBPMInt8(t *testing.T) {
	b := repeated(8, 400)
	o := newTestOBPM[float32](t, OBPMConfig{Members: 70, Tau: .9,
		BaseConfig: &PerceptronConfig{Margin: 2000, Eta: 1}}, learner.Env{Seed: 3})
	first := b.Slice(0, 50)
	for i, small := range []bool{true, false} {
		learnAll(t, o, &first, 20)
		if got := o.Lanes.Tiles[0].Int8 != nil; got != (small && vecmath.RunsInt8()) {
			t.Errorf("step %d: in int8: %v", i, got)
		}
		if first = *b; !o.Lanes.Int16() {
			t.Errorf("step %d: not in int16", i)
		}
	}
}

// TestOBPMInt16Sum: where S is not the sum of the members' weights, as a model that was read may
// say, scores are those of S, and weights stay in floats.
func TestOBPMInt16Sum(t *testing.T) {
	b := randomBlock[float32](100, 20, 5, true, 23)
	cfg := OBPMConfig{Members: 10, Tau: .5, path: ensemble.PathActive}
	want := newTestOBPM[float32](t, cfg, learner.Env{Seed: 3})
	learnAll(t, want, b, 10)
	want.Sum()[3]++
	cfg.path = ""
	got := newTestOBPM[float32](t, cfg, learner.Env{Seed: 3})
	if err := got.SetState(want.State()); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(learnAll(t, got, b, 10), learnAll(t, want, b, 10)) {
		t.Error("rounds differ")
	}
	if got.Lanes.Int16() {
		t.Error("weights are in int16")
	}
}

// repeated makes n examples of the same features, all 1, and the label +1: they move the weights
// one way.
func repeated(nnz, n int) *engine.Block[float32] {
	b := &engine.Block[float32]{Dim: nnz, Ptr: []int{0}}
	for range n {
		for k := range nnz {
			b.Idx, b.Val = append(b.Idx, int32(k)), append(b.Val, 1)
		}
		b.Ptr, b.Y = append(b.Ptr, len(b.Idx)), append(b.Y, 1)
	}
	return b
}
