package learners

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/internal/race"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/vecmath"
)

func newTestOBPM[T learner.Float](t testing.TB, c OBPMConfig, env learner.Env) *obpm[T] {
	t.Helper()
	if c.Base == "" {
		c.Base = "perceptron"
	}
	if c.Combine == "" {
		c.Combine = CombineWeights
	}
	c.Together = true
	l, err := newOBPM[T](c, env)
	if err != nil {
		t.Fatal(err)
	}
	return l.(*obpm[T])
}

// randomBlock makes n examples of dim features with small whole values (0/1 if binary), about nnz
// of them not zero, with labels of a random halfspace, some of them wrong.
func randomBlock[T learner.Float](n, dim, nnz int, binary bool, seed uint64) *engine.Block[T] {
	rng := rand.New(rand.NewPCG(seed, 7))
	u := make([]float64, dim)
	for j := range u {
		u[j] = rng.NormFloat64()
	}
	b := &engine.Block[T]{Dim: dim, Ptr: []int{0}}
	for range n {
		var f float64
		for j := range dim {
			if rng.IntN(dim) < nnz {
				v := 1.0
				if !binary {
					v = rng.NormFloat64()
				}
				b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, T(v))
				f += u[j] * v
			}
		}
		b.Ptr = append(b.Ptr, len(b.Idx))
		y := T(1)
		if f < 0 != (rng.IntN(10) == 0) {
			y = -1
		}
		b.Y = append(b.Y, y)
	}
	return b
}

// toDense returns the same examples as rows.
func toDense[T learner.Float](b *engine.Block[T]) *engine.Block[T] {
	d := &engine.Block[T]{Y: b.Y, Dim: b.Dim, Stride: b.Dim + 3, X: make([]T, b.Len()*(b.Dim+3))}
	for i := range b.Len() {
		idx, val := b.Sparse(i)
		for k, j := range idx {
			d.X[i*d.Stride+int(j)] = val[k]
		}
	}
	return d
}

func learnAll[T learner.Float](t testing.TB, l learner.Learner[T], b *engine.Block[T],
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

// goldenOBPM is a published trace; see spec section 3 for its fields.
type goldenOBPM struct {
	Data struct {
		X [][]float64
		Y []float64
	}
	NormaliseInstances bool `json:"normalise_instances"`
	Epochs             int
	Params             struct {
		N        int
		Tau, Eta float64
	}
	Mask  [][]int
	Trace []struct {
		I             int
		ScoreBefore   float64 `json:"score_before"`
		Mistakes      int
		Updates       []int
		WAvgRaw       []float64 `json:"w_avg_raw"`
		WAvgProjected []float64 `json:"w_avg_projected"`
	}
	FinalW      [][]float64 `json:"final_W"`
	FinalMargin float64     `json:"final_margin"`
}

func (g *goldenOBPM) block() *engine.Block[float64] {
	b := &engine.Block[float64]{Dim: len(g.Data.X[0]), Ptr: []int{0}, Y: g.Data.Y}
	for _, x := range g.Data.X {
		norm := 1.0
		if g.NormaliseInstances {
			norm = 0
			for _, v := range x {
				norm += v * v
			}
			norm = math.Sqrt(norm)
		}
		for j, v := range x {
			if v != 0 {
				b.Idx, b.Val = append(b.Idx, int32(j)), append(b.Val, v/norm)
			}
		}
		b.Ptr = append(b.Ptr, len(b.Idx))
	}
	return b
}

// givenMasks are draws of a test's own.
type givenMasks func(example uint64, mask []uint64)

func (f givenMasks) Masks(mask []uint64, word, members int, example uint64) {
	of := (members + 63) / 64
	all := make([]uint64, word+of)
	for ; len(mask) > 0; mask = mask[of:] {
		f(example, all)
		copy(mask, all[word:])
		example++
	}
}

// TestOBPMGolden follows the published traces step by step, their draws given.
func TestOBPMGolden(t *testing.T) {
	for _, name := range []string{"obpm_sep", "obpm_overlap"} {
		doc, err := os.ReadFile(filepath.Join("testdata", "linear", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var g goldenOBPM
		if err := json.Unmarshal(doc, &g); err != nil {
			t.Fatal(err)
		}
		sparse := g.block()
		for form, b := range map[string]*engine.Block[float64]{"sparse": sparse,
			"dense": toDense(sparse)} {
			t.Run(name+"/"+form, func(t *testing.T) { followOBPM(t, &g, b) })
		}
	}
}

func followOBPM(t *testing.T, g *goldenOBPM, b *engine.Block[float64]) {
	c := OBPMConfig{Members: g.Params.N, Tau: g.Params.Tau,
		BaseConfig: &PerceptronConfig{Eta: g.Params.Eta}}
	raw := newTestOBPM[float64](t, c, learner.Env{})
	c.Cap = true
	capped := newTestOBPM[float64](t, c, learner.Env{})
	masks := givenMasks(func(example uint64, mask []uint64) {
		clear(mask)
		for l, bit := range g.Mask[example] {
			mask[l/64] |= uint64(bit) << (l % 64)
		}
	})
	raw.Draws, capped.Draws = masks, masks
	if len(g.Trace) != g.Epochs*b.Len() {
		t.Fatalf("%d steps for %d epochs of %d", len(g.Trace), g.Epochs, b.Len())
	}
	mistakes, updates := 0, 0
	member := make([]float64, g.Params.N)
	for step, want := range g.Trace {
		v := b.Slice(want.I, want.I+1)
		var r, rc [1]learner.Round
		if err := errors.Join(raw.Learn(&v, r[:]), capped.Learn(&v, rc[:])); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, n := range want.Updates {
			sum += n
		}
		if got := int(r[0].Updates); got != sum-updates || rc[0].Updates != r[0].Updates {
			t.Errorf("step %d: %d updates, want %d", step, got, sum-updates)
		}
		updates = sum
		if !approx.Equal(rc[0].Score, want.ScoreBefore, 1e-10) {
			t.Errorf("step %d: score %v, want %v", step, rc[0].Score, want.ScoreBefore)
		}
		if (rc[0].Score >= 0) != (v.Y[0] > 0) {
			mistakes++
		}
		if mistakes != want.Mistakes {
			t.Errorf("step %d: %d mistakes, want %d", step, mistakes, want.Mistakes)
		}
		if w := raw.Weights(); !approx.AllEqual(w, want.WAvgRaw, 1e-10) {
			t.Errorf("step %d: weights %v, want %v", step, w, want.WAvgRaw)
		}
		if w := capped.Weights(); !approx.AllEqual(w, want.WAvgProjected, 1e-10) {
			t.Errorf("step %d: capped weights %v, want %v", step, w, want.WAvgProjected)
		}
	}
	for j := range b.Dim {
		capped.Store().Column(member, j)
		for m, w := range member {
			if !approx.Equal(w, g.FinalW[m][j], 1e-10) {
				t.Errorf("member %d, feature %d: %v, want %v", m, j, w, g.FinalW[m][j])
			}
		}
	}
	scores := make([]float64, b.Len())
	if err := capped.Score(b, scores); err != nil {
		t.Fatal(err)
	}
	margin, length := math.Inf(1), 0.0
	for _, w := range capped.Weights() {
		length += w * w
	}
	for i, f := range scores {
		margin = min(margin, b.Y[i]*f/math.Sqrt(length))
	}
	if !approx.Equal(margin, g.FinalMargin, 1e-10) {
		t.Errorf("margin %v, want %v", margin, g.FinalMargin)
	}
}

// learnNaive runs the naive loop over a block.
func learnNaive[T learner.Float](o *naive.OBPM[T], b *engine.Block[T], rounds []learner.Round) {
	for i := range b.Len() {
		rounds[i].Score, rounds[i].Updates = o.Learn(b, i)
	}
}

// TestOBPMNaive: on 0/1 features, where sums are exact in any order, all paths give the naive
// loop's every bit.
func TestOBPMNaive(t *testing.T) {
	t.Run("float32", testOBPMNaive[float32])
	t.Run("float64", testOBPMNaive[float64])
}

func testOBPMNaive[T learner.Float](t *testing.T) {
	b := randomBlock[T](700, 120, 14, true, 1)
	for _, members := range []int{1, 17, 64, 100, 130} {
		for _, tau := range []float64{0, 0.05, 0.3, 1} {
			ref := naive.NewOBPM[T](members, b.Dim, tau, 5)
			want, again := make([]learner.Round, b.Len()), make([]learner.Round, b.Len())
			learnNaive(ref, b, want)
			learnNaive(ref, b, again)
			for path, x := range map[string]*engine.Block[T]{"sparse": b, "dense": toDense(b)} {
				o := newTestOBPM[T](t, OBPMConfig{Members: members, Tau: tau}, learner.Env{Seed: 5})
				for epoch, w := range [][]learner.Round{want, again} {
					if got := learnAll(t, o, x, 256); !reflect.DeepEqual(got, w) {
						t.Fatalf("%d members, tau %v, %s: epoch %d differs from the naive loop's",
							members, tau, path, epoch)
					}
				}
				col := make([]T, members)
				for j := range b.Dim {
					o.Store().Column(col, j)
					for m, v := range col {
						if v != ref.W[m][j] {
							t.Fatalf("%d members, tau %v, %s: member %d has %v for feature %d, "+
								"want %v", members, tau, path, m, v, j, ref.W[m][j])
						}
					}
				}
			}
		}
	}
}

// TestOBPMOneMember: one member that sees everything is the base learner.
func TestOBPMOneMember(t *testing.T) {
	sparse := randomBlock[float64](400, 30, 6, false, 2)
	for name, base := range map[string]learner.Config{
		"perceptron": &PerceptronConfig{Margin: 0.5, Eta: 0.25},
		"pa":         &PAConfig{Variant: 1, C: 0.5},
		"lms":        &LMSConfig{Eta: 0.02},
		"alma":       &ALMAConfig{P: 2, B: 1.1, C: 0.7},
		"romma":      &ROMMAConfig{Delta: 0.1, KernelConfig: learner.KernelConfig{Kernel: "linear"}},
		"cramma":     &CRAMMAConfig{Epsilon: 0.5, Beta: 0.1, Eta: 0.2, EtaDelta: 0.5, R: 5},
		"micra":      &MICRAConfig{Beta: 0.1, Epsilon: 0.1, Eta: 1, Zeta: 0.9},
	} {
		for form, b := range map[string]*engine.Block[float64]{"sparse": sparse,
			"dense": toDense(sparse)} {
			t.Run(name+"/"+form, func(t *testing.T) {
				e, err := learner.Lookup(name)
				if err != nil {
					t.Fatal(err)
				}
				single, err := learner.New[float64](e, base, learner.Env{})
				if err != nil {
					t.Fatal(err)
				}
				o := newTestOBPM[float64](t, OBPMConfig{Members: 1, Tau: 1, Base: name,
					BaseConfig: base}, learner.Env{})
				for range 2 {
					got, want := learnAll(t, o, b, 100), learnAll(t, single, b, 100)
					for i := range want {
						if got[i].Updates != want[i].Updates ||
							math.Abs(got[i].Score-want[i].Score) > 1e-12*(1+math.Abs(
								want[i].Score)) {
							t.Fatalf("example %d: %v, alone %v", i, got[i], want[i])
						}
					}
				}
				if w := o.Weights(); !approx.AllEqual(w, single.Weights(), 1e-10) {
					t.Error("weights differ from those of the base alone")
				}
			})
		}
	}
}

// stateBytes gives a State's every bit.
func stateBytes(t testing.TB, s learner.State) string {
	t.Helper()
	var out strings.Builder
	for _, k := range []string{"presented", "updates", "dim"} {
		fmt.Fprintln(&out, k, s.Counters[k])
	}
	fmt.Fprintf(&out, "%x\n", math.Float64bits(s.Scalars["sum_sq"]))
	for _, x := range s.Tensors {
		fmt.Fprintln(&out, x.Name, x.Shape)
		switch d := x.Data.(type) {
		case []float32:
			for _, v := range d {
				fmt.Fprintf(&out, "%x,", math.Float32bits(v))
			}
		case []float64:
			for _, v := range d {
				fmt.Fprintf(&out, "%x,", math.Float64bits(v))
			}
		default:
			fmt.Fprint(&out, d)
		}
	}
	return out.String()
}

// sameBitsCases are settings beside the conformance suite's, which runs the defaults.
var sameBitsCases = map[string]OBPMConfig{
	"perceptron": {Members: 100, Tau: 0.3},
	"few":        {Members: 70, Tau: 0.03, BaseConfig: &PerceptronConfig{Margin: 0.1, Eta: 0.3}},
	"cap":        {Members: 20, Tau: 0.3, Cap: true},
	"vote":       {Members: 70, Tau: 0.3, Combine: CombineVote},
	"pa":         {Members: 70, Tau: 0.3, Base: "pa"},
	"lms":        {Members: 70, Tau: 0.1, Base: "lms", BaseConfig: &LMSConfig{Eta: 0.01}},
	"alma":       {Members: 70, Tau: 0.3, Base: "alma", BaseConfig: &ALMAConfig{P: 2, B: 1, C: 1}},
	"alma/vote":  {Members: 70, Tau: 0.3, Base: "alma", Combine: CombineVote},
	"pa/cap":     {Members: 70, Tau: 0.3, Base: "pa", Cap: true},
	"romma":      {Members: 70, Tau: 0.3, Base: "romma"},
	"romma/vote": {Members: 70, Tau: 0.03, Base: "romma", Combine: CombineVote},
	"romma/cap":  {Members: 20, Tau: 0.3, Base: "romma", Cap: true},
	"micra":      {Members: 70, Tau: 0.3, Base: "micra"},
	"cramma": {Members: 70, Tau: 0.1, Base: "cramma",
		BaseConfig: &CRAMMAConfig{Epsilon: 0.5, Beta: 0.1, Eta: 0.2, EtaDelta: 0.5, R: 5}},
	"one":         {Members: 1, Tau: 0.5},
	"many, tau 1": {Members: 300, Tau: 1},
}

// TestOBPMSameBits: implementation, threads, block size and path never show, in rounds, state or
// scores.
func TestOBPMSameBits(t *testing.T) {
	sparse := randomBlock[float32](300, 40, 7, false, 3)
	before := vecmath.Active().String()
	defer func() {
		if err := vecmath.Use(before); err != nil {
			t.Error(err)
		}
	}()
	for form, b := range map[string]*engine.Block[float32]{"sparse": sparse,
		"dense": toDense(sparse)} {
		for name, c := range sameBitsCases {
			t.Run(form+"/"+name, func(t *testing.T) {
				type result struct {
					state  string
					rounds []learner.Round
					scores []float64
				}
				var want *result
				run := func(what string, pool *engine.Pool, size int) {
					t.Helper()
					o := newTestOBPM[float32](t, c, learner.Env{Seed: 9, Pool: pool})
					got := &result{rounds: learnAll(t, o, b, size), scores: make([]float64,
						b.Len())}
					if err := o.Score(b, got.scores); err != nil {
						t.Fatal(err)
					}
					got.state = stateBytes(t, o.State())
					if want == nil {
						want = got
					}
					if !reflect.DeepEqual(got, want) {
						t.Errorf("%s differs", what)
					}
				}
				for _, im := range vecmath.Implementations() {
					if !im.Supported {
						continue
					}
					if err := vecmath.Use(im.Name); err != nil {
						t.Fatal(err)
					}
					for _, threads := range []int{1, 2, 3, 8} {
						pool := engine.NewPool(threads)
						pool.Insist()
						for _, size := range []int{1, 7, 256} {
							run(fmt.Sprintf("%s, %d threads, blocks of %d", im.Name, threads, size),
								pool, size)
						}
						pool.Close()
					}
				}
			})
		}
	}
}

// TestOBPMPool: work that is worth it does go to the pool, in both forms, with the same result.
func TestOBPMPool(t *testing.T) {
	pool := engine.NewPool(4)
	defer pool.Close()
	// so many features that tiles are narrow
	sparse := randomBlock[float32](1100, 1500, 14, false, 4)
	for form, b := range map[string]*engine.Block[float32]{"sparse": sparse,
		"dense": toDense(sparse)} {
		for name, c := range sameBitsCases {
			if c.Members <= engine.NarrowTile || testing.Short() && form == "dense" &&
				name != "perceptron" {
				continue
			}
			one, four := newTestOBPM[float32](t, c, learner.Env{Seed: 1}), newTestOBPM[float32](t,
				c, learner.Env{Seed: 1, Pool: pool})
			r1, r4 := append(learnAll(t, one, b, 1100), learnAll(t, one, b, 1100)...),
				append(learnAll(t, four, b, 1100), learnAll(t, four, b, 1100)...)
			if !reflect.DeepEqual(r1, r4) || stateBytes(t, one.State()) != stateBytes(t,
				four.State()) {
				t.Errorf("%s/%s: four threads differ from one", form, name)
			}
			if err := four.LearnRun.Run(b, 0, four.aggregate, ensemble.NoDraws); err != nil {
				t.Fatal(err)
			}
			if c.Tau >= 0.3 && (!pool.Worth(four.LearnRun.Cost()) || four.LearnRun.Parts < 2) {
				t.Errorf("%s/%s: a run is thought to take %d ns in %d parts, too little for "+
					"the pool", form, name, four.LearnRun.Cost(), four.LearnRun.Parts)
			}
		}
	}
}

// TestOBPMTiles: how members are cut into tiles never shows.
func TestOBPMTiles(t *testing.T) {
	b := randomBlock[float32](400, 60, 9, false, 13)
	for name, c := range sameBitsCases {
		if c.Members <= engine.NarrowTile {
			continue
		}
		wide, narrow := newTestOBPM[float32](t, c, learner.Env{Seed: 1}), newTestOBPM[float32](t, c,
			learner.Env{Seed: 1})
		narrow.Lanes.Reach(5000)
		for j := range int32(5000) { // rows that no example needs
			narrow.Lanes.Rows(nil, []int32{j})
		}
		if len(narrow.Lanes.Tiles) <= len(wide.Lanes.Tiles) {
			t.Fatalf("%s: %d and %d tiles", name, len(wide.Lanes.Tiles), len(narrow.Lanes.Tiles))
		}
		r1, r2 := learnAll(t, wide, b, 100), learnAll(t, narrow, b, 100)
		if !reflect.DeepEqual(r1, r2) || stateBytes(t, wide.State()) != stateBytes(t,
			narrow.State()) {
			t.Errorf("%s: narrow tiles differ from wide ones", name)
		}
		turns, r3 := newTestOBPM[float32](t, c, learner.Env{Seed: 1}), []learner.Round(nil)
		for lo := 0; lo < b.Len(); lo += 50 { // now narrow, now wide
			part := b.Slice(lo, lo+50)
			turns.Lanes.Share(1 + 2*(lo/50&1))
			r3 = append(r3, learnAll(t, turns, &part, 50)...)
		}
		if !reflect.DeepEqual(r1, r3) || stateBytes(t, wide.State()) != stateBytes(t,
			turns.State()) {
			t.Errorf("%s: tiles that are cut in turn differ from wide ones", name)
		}
	}
}

// TestOBPMRestore: A then B is A, State, SetState, B.
func TestOBPMRestore(t *testing.T) {
	sparse := randomBlock[float32](600, 60, 9, false, 5)
	dense := toDense(sparse)
	for name, c := range sameBitsCases {
		for _, forms := range [][2]*engine.Block[float32]{{sparse, sparse}, {dense, dense},
			{sparse, dense}, {dense, sparse}} {
			a, b := forms[0].Slice(0, 300), forms[1].Slice(300, 600)
			whole := newTestOBPM[float32](t, c, learner.Env{Seed: 2})
			learnAll(t, whole, &a, 64)
			half := whole.State()
			saved := stateBytes(t, half)
			restored := newTestOBPM[float32](t, c, learner.Env{Seed: 2})
			if err := restored.SetState(half); err != nil {
				t.Fatal(err)
			}
			if stateBytes(t, restored.State()) != saved {
				t.Errorf("%s: the state differs after SetState", name)
			}
			r1, r2 := learnAll(t, whole, &b, 64), learnAll(t, restored, &b, 64)
			if !reflect.DeepEqual(r1, r2) || stateBytes(t, whole.State()) != stateBytes(t,
				restored.State()) {
				t.Errorf("%s (%v then %v): learning on from a restored state differs", name,
					a.Dense(), b.Dense())
			}
			if !reflect.DeepEqual(whole.Weights(), restored.Weights()) {
				t.Errorf("%s: weights differ after SetState", name)
			}
		}
	}
}

// TestOBPMForms: on 0/1 features, dense and sparse blocks of the same examples may alternate.
func TestOBPMForms(t *testing.T) {
	sparse := randomBlock[float64](600, 50, 8, true, 6)
	dense := toDense(sparse)
	for _, combine := range []string{CombineWeights, CombineVote} {
		c := OBPMConfig{Members: 80, Tau: 0.2, Combine: combine}
		pure, mixed := newTestOBPM[float64](t, c, learner.Env{Seed: 3}), newTestOBPM[float64](t, c,
			learner.Env{Seed: 3})
		want := learnAll(t, pure, sparse, 600)
		for lo := 0; lo < 600; lo += 100 {
			from := sparse
			if lo/100%2 == 1 {
				from = dense
			}
			v := from.Slice(lo, lo+100)
			if got := learnAll(t, mixed, &v, 100); !reflect.DeepEqual(got, want[lo:lo+100]) {
				t.Fatalf("%s: rounds differ from example %d on", combine, lo)
			}
		}
		if stateBytes(t, pure.State()) != stateBytes(t, mixed.State()) {
			t.Errorf("%s: states differ", combine)
		}
		a, b := make([]float64, 600), make([]float64, 600)
		if err := errors.Join(pure.Score(sparse, a), pure.Score(dense, b)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: a dense block of the same examples scores otherwise", combine)
		}
	}
}

// TestOBPMVote counts the votes one by one.
func TestOBPMVote(t *testing.T) {
	const members = 70
	b := randomBlock[float64](300, 40, 7, false, 8)
	o := newTestOBPM[float64](t, OBPMConfig{Members: members, Tau: 0.1, Combine: CombineVote},
		learner.Env{Seed: 4})
	learnAll(t, o, b, 50)
	f := make([]float64, b.Len())
	if err := o.Score(b, f); err != nil {
		t.Fatal(err)
	}
	col, split := make([]float64, members), 0
	for i := range f {
		var s [members]float64
		idx, val := b.Sparse(i)
		for k, j := range idx {
			o.Store().Column(col, int(j))
			for m, w := range col {
				s[m] = math.FMA(val[k], w, s[m])
			}
		}
		votes := 0
		for _, v := range s {
			if v >= 0 {
				votes++
			} else {
				votes--
			}
		}
		if f[i] != float64(votes)/members {
			t.Fatalf("example %d: %v, want %d of %d", i, f[i], votes, members)
		}
		if votes != members && votes != -members {
			split++
		}
	}
	if split == 0 {
		t.Error("the members always agree")
	}
	if o.Weights() != nil {
		t.Error("votes have weights")
	}
}

// TestOBPMCap: step 15 bounds the length by 1 and turns nothing, of whole numbers, too.
func TestOBPMCap(t *testing.T) {
	for _, ones := range []bool{false, true} {
		b := randomBlock[float32](2000, 40, 7, ones, 9)
		c := OBPMConfig{Members: 30, Tau: 0.3}
		raw := newTestOBPM[float32](t, c, learner.Env{})
		c.Cap = true
		capped := newTestOBPM[float32](t, c, learner.Env{})
		r, rc := learnAll(t, raw, b, 500), learnAll(t, capped, b, 500)
		w, wc := raw.Weights(), capped.Weights()
		var l, lc float64
		for j := range w {
			l += w[j] * w[j]
			lc += wc[j] * wc[j]
		}
		if l <= 1 || math.Abs(lc-1) > 1e-9 {
			t.Errorf("ones %v: |w|^2 is %v, capped %v, want more than 1, and 1", ones, l, lc)
		}
		for i := range r {
			if r[i].Updates != rc[i].Updates || r[i].Score*rc[i].Score < 0 ||
				math.Abs(rc[i].Score) > math.Abs(r[i].Score) {
				t.Fatalf("ones %v: example %d: %v, capped %v", ones, i, r[i], rc[i])
			}
		}
	}
}

// TestOBPMTable1 learns the paper's generated problem (section 4.1): total updates at tau 0.3 are
// 1334 with 25 members and 5306 with 100, published as means of 30 runs.
func TestOBPMTable1(t *testing.T) {
	const runs, examples, dim = 30, 1000, 100
	for members, want := range map[int]float64{25: 1334, 100: 5306} {
		total := int64(0)
		for run := range uint64(runs) {
			rng := engine.NewRand(run, 1)
			u := make([]float64, dim)
			norm := 0.0
			for j := range u {
				u[j] = float64(rng.IntN(3) - 1)
				norm += u[j] * u[j]
			}
			b := &engine.Block[float32]{Dim: dim, Stride: dim}
			x := make([]float64, dim)
			for b.Len() < examples {
				var f, length float64
				for j := range x {
					x[j] = rng.Normal()
					f += u[j] * x[j]
					length += x[j] * x[j]
				}
				f /= math.Sqrt(length * norm)
				if math.Abs(f) < 0.05 {
					continue
				}
				for _, v := range x {
					b.X = append(b.X, float32(v/math.Sqrt(length)))
				}
				b.Y = append(b.Y, float32(math.Copysign(1, f)))
			}
			o := newTestOBPM[float32](t, OBPMConfig{Members: members, Tau: 0.3},
				learner.Env{Seed: run})
			learnAll(t, o, b, 256)
			total += o.Updates()
		}
		mean := float64(total) / runs
		t.Logf("%d members: %.0f updates, published %.0f", members, mean, want)
		if math.Abs(mean/want-1) > 0.03 {
			t.Errorf("%d members: %.0f updates on average, want %.0f within 3 %%", members, mean,
				want)
		}
	}
}

func TestOBPMConfig(t *testing.T) {
	e, err := learner.Lookup("obpm")
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*OBPMConfig){
		"members is 0":       func(c *OBPMConfig) { c.Members = 0 },
		"members is 1048577": func(c *OBPMConfig) { c.Members = MaxMembers + 1 },
		"tau is 1.5":         func(c *OBPMConfig) { c.Tau = 1.5 },
		"tau is NaN":         func(c *OBPMConfig) { c.Tau = math.NaN() },
		`no learner "x"`:     func(c *OBPMConfig) { c.Base = "x" },
		`base is "obpm"`:     func(c *OBPMConfig) { c.Base = "obpm" },
		"settings are": func(c *OBPMConfig) {
			c.Base, c.BaseConfig = "alma",
				&LMSConfig{Eta: 1}
		},
		"lms: eta is 0":     func(c *OBPMConfig) { c.Base, c.BaseConfig = "lms", &LMSConfig{} },
		`combine is "mean"`: func(c *OBPMConfig) { c.Combine = "mean" },
		"cap is true":       func(c *OBPMConfig) { c.Combine, c.Cap = CombineVote, true },
		"margin-rel is 0.5": func(c *OBPMConfig) {
			c.BaseConfig = &PerceptronConfig{MarginRel: 0.5,
				Eta: 1}
		},
	} {
		c := e.Config().(*OBPMConfig)
		change(c)
		if _, err := learner.New[float32](e, c, learner.Env{}); !errors.Is(err,
			learner.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: New says %v", want, err)
		}
	}

	for _, base := range []learner.Config{nil, &ALMAConfig{P: 2, B: 1.5, C: 0.25}} {
		c := &OBPMConfig{Members: 7, Tau: 0.01, Base: "alma", Combine: CombineWeights,
			Together: true, BaseConfig: base}
		doc, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again := e.Config().(*OBPMConfig)
		if err := json.Unmarshal(doc, again); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(c, again) {
			t.Errorf("%s reads as %+v, want %+v", doc, again, c)
		}
	}
	for _, doc := range []string{`{"base":"x","base_config":{}}`,
		`{"base":"alma","base_config":{"eta":1}}`, `{"tao":1}`, `[]`} {
		if err := json.Unmarshal([]byte(doc), e.Config()); err == nil {
			t.Errorf("%s is accepted", doc)
		}
	}

	c := &OBPMConfig{Members: 5, Tau: 0.5, Base: "perceptron", Combine: CombineWeights,
		BaseConfig: &PerceptronConfig{MarginRel: 0.5, Eta: 1}}
	if !c.Traits().Relative {
		t.Error("a relative margin needs no radius")
	}
	r, err := c.Resolve(learner.Facts{SumSq: 4})
	if err != nil {
		t.Fatal(err)
	}
	if m := r.(*OBPMConfig).BaseConfig.(*PerceptronConfig).Margin; r.Traits().Relative || m != 2 {
		t.Errorf("margin %v after Resolve, want 2", m)
	}
}

// TestOBPMSetState: the parts that the conformance suite can't know.
func TestOBPMSetState(t *testing.T) {
	b := randomBlock[float32](100, 40, 7, false, 10)
	o := newTestOBPM[float32](t, OBPMConfig{Members: 10, Tau: 0.5, Base: "alma"}, learner.Env{})
	learnAll(t, o, b, 100)
	before := stateBytes(t, o.State())
	for what, change := range map[string]func(s *learner.State){
		"features descend": func(s *learner.State) {
			f := s.Tensor("features").Data.([]int32)
			f[0], f[1] = f[1], f[0]
		},
		"feature beyond dim": func(s *learner.State) { s.Counters["dim"] = 3 },
		"negative feature": func(s *learner.State) {
			s.Tensor("features").Data.([]int32)[0] =
				-1
		},
		"dim too large": func(s *learner.State) { s.Counters["dim"] = 1 << 40 },
		"other precision": func(s *learner.State) {
			s.Tensor("members").Data = make([]float64, len(s.Tensor("members").Data.([]float32)))
		},
		"scale 0":    func(s *learner.State) { s.Tensor("scale").Data.([]float64)[3] = 0 },
		"norm2 NaN":  func(s *learner.State) { s.Tensor("norm2").Data.([]float64)[3] = math.NaN() },
		"updates -1": func(s *learner.State) { s.Tensor("member_updates").Data.([]int64)[3] = -1 },
		"other members": func(s *learner.State) {
			*s = newTestOBPM[float32](t, OBPMConfig{Members: 11, Base: "alma"},
				learner.Env{}).State()
		},
	} {
		s := o.State()
		change(&s)
		if err := o.SetState(s); !errors.Is(err, learner.ErrState) {
			t.Errorf("%s: SetState says %v", what, err)
		}
		if stateBytes(t, o.State()) != before {
			t.Fatalf("%s: a refused SetState changed the state", what)
		}
	}
}

// TestOBPMScaleFolds: ALMA's factor is folded into a member's weights before it gets tiny, without
// a trace.
func TestOBPMScaleFolds(t *testing.T) {
	b := randomBlock[float64](200, 20, 5, false, 11)
	c := OBPMConfig{Members: 3, Tau: 1, Base: "alma", BaseConfig: &ALMAConfig{P: 2, B: 1, C: 1}}
	for _, x := range []*engine.Block[float64]{b, toDense(b)} {
		a, folded := newTestOBPM[float64](t, c, learner.Env{}), newTestOBPM[float64](t, c,
			learner.Env{})
		learnAll(t, a, x, 50)
		learnAll(t, folded, x, 50)
		for m := range 3 { // the same weights, in another form: as after very many shrinkings
			folded.Store().Scale(m, 0x1p40)
			folded.Rule.(*scaledMembers[float64]).Members[m].Scale *= 0x1p-40
		}
		if got, want := learnAll(t, folded, x, 50), learnAll(t, a, x, 50); !reflect.DeepEqual(got,
			want) {
			t.Error("rounds differ")
		}
		for m, s := range folded.Rule.(*scaledMembers[float64]).Members {
			if s.Scale < 0x1p-32 {
				t.Errorf("member %d: scale %v was not folded", m, s.Scale)
			}
		}
		if !reflect.DeepEqual(a.Weights(), folded.Weights()) {
			t.Error("weights differ")
		}
	}
}

func TestOBPMAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector's annotations of the kernels allocate")
	}
	pool := engine.NewPool(2)
	defer pool.Close()
	n := 2000
	if testing.Short() {
		n = 500
	}
	sparse := randomBlock[float32](n, 120, 14, false, 12)
	for form, b := range map[string]*engine.Block[float32]{"sparse": sparse,
		"dense": toDense(sparse)} {
		for name, c := range sameBitsCases {
			o := newTestOBPM[float32](t, c, learner.Env{Pool: pool})
			rounds, scores := make([]learner.Round, b.Len()), make([]float64, b.Len())
			learn := func() {
				if err := errors.Join(o.Learn(b, rounds), o.Score(b, scores)); err != nil {
					t.Fatal(err)
				}
			}
			since := time.Now()
			for n := 0; n < 20 || time.Since(since) < 10*time.Millisecond; n++ {
				learn()
			}
			if n := testing.AllocsPerRun(2, learn); n != 0 {
				t.Errorf("%s/%s: %v allocations", form, name, n)
			}
		}
	}
}

// TestOBPMOtherSum: where S is not the sum of the members' weights, as a model that was read may
// say, scores are those of S.
func TestOBPMOtherSum(t *testing.T) {
	b := randomBlock[float32](100, 20, 5, true, 23)
	o := newTestOBPM[float32](t, OBPMConfig{Members: 10, Tau: .5}, learner.Env{Seed: 3})
	learnAll(t, o, b, 10)
	s := o.State()
	for j := range s.Tensor("sum").Data.([]float64) {
		s.Tensor("sum").Data.([]float64)[j] += float64(j)
	}
	if err := o.SetState(s); err != nil {
		t.Fatal(err)
	}
	f := make([]float64, 1)
	for i := range b.Len() {
		v := b.Slice(i, i+1)
		if err := o.Score(&v, f); err != nil {
			t.Fatal(err)
		}
		if r := learnAll(t, o, &v, 1); r[0].Score != f[0] {
			t.Fatalf("example %d: Learn says %v, Score %v", i, r[0].Score, f[0])
		}
	}
}

// TestOBPMProba: the probability is the share of members that predict +1, which with combine vote
// is what the score says; on random features it is that of the learner of these, and learners
// without probabilities have none.
func TestOBPMProba(t *testing.T) {
	const n = 40
	b := &engine.Block[float64]{Dim: 3, Stride: 3}
	for i := range n {
		x := float64(i%8) - 3.5
		b.X = append(b.X, x, float64(i%3)-1, 0.5)
		b.Y = append(b.Y, math.Copysign(1, x))
	}
	trained := func(name string, c learner.Config) learner.Learner[float64] {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := learner.New[float64](e, c, learner.Env{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Learn(b, make([]learner.Round, n)); err != nil {
			t.Fatal(err)
		}
		return l
	}
	c := OBPMConfig{Members: 7, Tau: 0.3, Base: "perceptron", Combine: CombineVote}
	votes := trained("obpm", &c)
	c.Combine = CombineWeights
	average := trained("obpm", &c)
	f, p, q := make([]float64, n), make([]float64, n), make([]float64, n)
	if err := errors.Join(votes.Score(b, f), learner.ProberOf(votes).Proba(b, p),
		learner.ProberOf(average).Proba(b, q)); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if math.Abs(p[i]-(1+f[i])/2) > 1e-15 || q[i] != p[i] {
			t.Errorf("example %d: score %v, probability %v; of the average %v", i, f[i], p[i], q[i])
		}
	}
	if slices.Min(p) != 0 || slices.Max(p) != 1 || !slices.ContainsFunc(p,
		func(v float64) bool { return v > 0 && v < 1 }) {
		t.Errorf("the members never agree, or always: %v", p)
	}

	mapped := trained("rff", &RFFConfig{D: 50, Sigma: 2, Base: "obpm"})
	prober := learner.ProberOf(mapped)
	if prober == nil {
		t.Fatal("rff on obpm has no probabilities")
	}
	if err := errors.Join(mapped.Score(b, f), prober.Proba(b, p)); err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i, v := range p {
		if (v > 0.5) != (b.Y[i] > 0) {
			wrong++
		}
	}
	if wrong > n/10 {
		t.Errorf("on random features %d of %d are more probable to have the other label", wrong, n)
	}
	for _, l := range []learner.Learner[float64]{trained("pa", &PAConfig{Variant: 1}),
		trained("rff", &RFFConfig{D: 50, Sigma: 2, Base: "pa"})} {
		if learner.ProberOf(l) != nil {
			t.Errorf("%T has probabilities", l)
		}
	}
}
