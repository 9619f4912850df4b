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

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/internal/naive"
	"github.com/halfspace-ml/halfspace/learner"
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

// TestOBPMConfig: what is no setting, or no base, is refused by what it is.
func TestOBPMConfig(t *testing.T) {
	e, err := learner.Lookup("obpm")
	if err != nil {
		t.Fatal(err)
	}
	rbf := func(c *OBPMConfig) {
		c.Removal, c.KernelConfig = RemoveOldest, learner.KernelConfig{Kernel: "rbf", Gamma: 1}
	}
	for want, change := range map[string]func(*OBPMConfig){
		"members is 0":       func(c *OBPMConfig) { c.Members = 0 },
		"members is 1048577": func(c *OBPMConfig) { c.Members = MaxMembers + 1 },
		"tau is 1.5":         func(c *OBPMConfig) { c.Tau = 1.5 },
		"tau is NaN":         func(c *OBPMConfig) { c.Tau = math.NaN() },
		`combine is "mean"`:  func(c *OBPMConfig) { c.Combine = "mean" },
		"cap is true, want false with combine": func(c *OBPMConfig) {
			c.Combine, c.Cap = CombineVote, true
		},
		`no learner "x"`:  func(c *OBPMConfig) { c.Base = "x" },
		"settings are":    func(c *OBPMConfig) { c.Base, c.BaseConfig = "alma", &LMSConfig{Eta: 1} },
		"lms: eta is 0":   func(c *OBPMConfig) { c.Base, c.BaseConfig = "lms", &LMSConfig{} },
		"ensemble itself": func(c *OBPMConfig) { c.Base = "obpm" },
		"an ensemble": func(c *OBPMConfig) {
			c.Base, c.BaseConfig = "rff", &RFFConfig{D: 8, Sigma: 1, Base: "obpm"}
		},
		"whole data sets": func(c *OBPMConfig) { c.Base = "svm" },
		"soft margin": func(c *OBPMConfig) {
			c.Base, c.BaseConfig = "pumma", &PUMMAConfig{P: "2", Delta: 0.1, SoftC: 1}
		},
		"which has no weight vector": func(c *OBPMConfig) { c.Base, c.Cap = "sogp", true },
		"margin-rel is 0.5": func(c *OBPMConfig) {
			c.BaseConfig = &PerceptronConfig{MarginRel: 0.5, Eta: 1}
		},
		"budget is -1":                func(c *OBPMConfig) { c.Budget = -1 },
		`removal is "newest"`:         func(c *OBPMConfig) { rbf(c); c.Removal = "newest" },
		"gamma is -1":                 func(c *OBPMConfig) { rbf(c); c.Gamma = -1 },
		"members are averaged":        func(c *OBPMConfig) { rbf(c); c.Combine = CombineVote },
		"cap changes no label":        func(c *OBPMConfig) { rbf(c); c.Cap = true },
		"and no others":               func(c *OBPMConfig) { rbf(c); c.Base = "lms" },
		"must add positive multiples": func(c *OBPMConfig) { rbf(c); c.Base = "adf" },
	} {
		c := e.Config().(*OBPMConfig)
		change(c)
		if _, err := learner.New[float32](e, c, learner.Env{}); !errors.Is(err,
			learner.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: New says %v", want, err)
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
	r, err := c.Resolve(learner.Facts{SumSq: 4})
	if err != nil {
		t.Fatal(err)
	}
	if m := r.(*OBPMConfig).BaseConfig.(*PerceptronConfig).Margin; !c.Traits().Relative ||
		r.Traits().Relative || m != 2 {
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
// is what the score says.
func TestOBPMProba(t *testing.T) {
	b := randomBlock[float64](40, 3, 3, false, 3)
	c := OBPMConfig{Members: 7, Tau: 0.3, Combine: CombineVote}
	votes := newTestOBPM[float64](t, c, learner.Env{Seed: 3})
	c.Combine = CombineWeights
	average := newTestOBPM[float64](t, c, learner.Env{Seed: 3})
	learnAll(t, votes, b, 40)
	learnAll(t, average, b, 40)
	f, p, q := make([]float64, 40), make([]float64, 40), make([]float64, 40)
	if err := errors.Join(votes.Score(b, f), votes.Proba(b, p), average.Proba(b, q)); err != nil {
		t.Fatal(err)
	}
	for i := range f {
		if math.Abs(p[i]-(1+f[i])/2) > 1e-15 || q[i] != p[i] {
			t.Errorf("example %d: score %v, probability %v; of the average %v", i, f[i], p[i], q[i])
		}
	}
	if slices.Min(p) != 0 || slices.Max(p) != 1 || !slices.ContainsFunc(p,
		func(v float64) bool { return v > 0 && v < 1 }) {
		t.Errorf("the members never agree, or always: %v", p)
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
