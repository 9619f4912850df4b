// Package learnertest is the conformance suite: what every registered learner must pass, whatever
// it learns. A learner of another module passes it as those here do: its test calls Check, in both
// precisions, with the defaults and with other settings.
package learnertest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
)

const seed = 42

// Check runs the suite on one learner with one configuration in the precision of T. It switches the
// implementation of vecmath, so only other Checks may run beside it.
func Check[T learner.Float](t *testing.T, e learner.Entry, c learner.Config) {
	shared.RLock()
	defer shared.RUnlock()
	s := &suite[T]{entry: e, config: c}
	forms := []struct {
		name  string
		block *engine.Block[T]
	}{
		{"sparse", Sparse[T](300, 90, 0.05)},
		{"dense", Dense[T](300, 70, 0.05)},
	}
	if c.Traits().Classes {
		for _, form := range forms {
			setClasses(form.block)
		}
	}
	batch := !c.Traits().Stream
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			b := form.block
			if batch {
				s.batch(t, b)
				return
			}
			t.Run("inputs", func(t *testing.T) { s.inputs(t, b) })
			t.Run("bits", func(t *testing.T) { s.bits(t, b) })
			t.Run("score", func(t *testing.T) { s.score(t, b) })
			t.Run("reject", func(t *testing.T) { s.reject(t, b) })
			t.Run("state", func(t *testing.T) { s.state(t, b) })
			t.Run("zero", func(t *testing.T) { s.zero(t, b) })
			t.Run("unseen", func(t *testing.T) { s.unseen(t, b) })
			t.Run("weights", func(t *testing.T) { s.weights(t, b) })
			t.Run("learns", func(t *testing.T) { s.learns(t, b) })
			t.Run("snapshot", func(t *testing.T) { s.snapshot(t, b) })
			t.Run("allocs", func(t *testing.T) { s.allocs(t, b) })
			t.Run("memory", func(t *testing.T) { s.memory(t, b) })
			t.Run("proba", func(t *testing.T) { s.proba(t, s.trained(t, b), b) })
			t.Run("weighed", func(t *testing.T) { s.weighs(t, b) })
			t.Run("traits", func(t *testing.T) { s.traits(t, b) })
		})
	}
	t.Run("threads", func(t *testing.T) { s.threads(t, forms[0].block, forms[1].block) })
	if !batch {
		t.Run("grow", func(t *testing.T) { s.grow(t, forms[0].block) })
	}
	if !batch {
		t.Run("hard", func(t *testing.T) { s.hard(t) })
	}
	t.Run("config", func(t *testing.T) { s.settings(t) })
	t.Run("resolve", func(t *testing.T) { s.resolves(t) })
}

type suite[T learner.Float] struct {
	entry  learner.Entry
	config learner.Config
}

// outputs is how many scores an example has, once both labels have come.
func (s *suite[T]) outputs() int {
	if s.config.Traits().Classes {
		return 2
	}
	return 1
}

// places makes room for the scores of n examples.
func (s *suite[T]) places(n int) []float64 { return make([]float64, n*s.outputs()) }

// signed is what the scores in dst say of example i: above 0 that it is of label +1.
func (s *suite[T]) signed(dst []float64, i int) float64 {
	if s.outputs() == 1 {
		return dst[i]
	}
	return dst[2*i+1] - dst[2*i]
}

func (s *suite[T]) fresh(t testing.TB, pool *engine.Pool) learner.Learner[T] {
	t.Helper()
	l, err := learner.New[T](s.entry, s.config, learner.Env{Seed: seed, Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// learn learns b in blocks of size and returns the rounds.
func learn[T learner.Float](t testing.TB, l learner.Learner[T], b *engine.Block[T],
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

// trained returns a learner that has learned b twice.
func (s *suite[T]) trained(t testing.TB, b *engine.Block[T]) learner.Learner[T] {
	t.Helper()
	l := s.fresh(t, nil)
	learn(t, l, b, 256)
	learn(t, l, b, 256)
	return l
}

// StateBytes returns all of a State as bytes, equal if and only if the States are, to the bit.
func StateBytes(s learner.State) []byte {
	var out bytes.Buffer
	for _, k := range slices.Sorted(maps.Keys(s.Counters)) {
		fmt.Fprintf(&out, "%q=%d\n", k, s.Counters[k])
	}
	for _, k := range slices.Sorted(maps.Keys(s.Scalars)) {
		fmt.Fprintf(&out, "%q=%x\n", k, math.Float64bits(s.Scalars[k]))
	}
	for _, x := range s.Tensors {
		fmt.Fprintf(&out, "%q %v %T:", x.Name, x.Shape, x.Data)
		if err := binary.Write(&out, binary.LittleEndian, x.Data); err != nil {
			panic(err) // a type that a Tensor may not have
		}
	}
	return out.Bytes()
}

func sameState[T learner.Float](t testing.TB, what string, got, want learner.Learner[T]) {
	t.Helper()
	if !bytes.Equal(StateBytes(got.State()), StateBytes(want.State())) {
		t.Errorf("%s: the states differ", what)
	}
	if got.Updates() != want.Updates() {
		t.Errorf("%s: %d updates, want %d", what, got.Updates(), want.Updates())
	}
}

func sameRounds(t testing.TB, what string, got, want []learner.Round) {
	t.Helper()
	for i := range want {
		if math.Float64bits(got[i].Score) != math.Float64bits(want[i].Score) ||
			got[i].Updates != want[i].Updates {
			t.Errorf("%s: round %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

// inputs: examples are only read, and only the places of the examples are written.
func (s *suite[T]) inputs(t *testing.T, b *engine.Block[T]) {
	l, x := s.fresh(t, nil), clone(b)
	rounds := make([]learner.Round, b.Len()+1)
	rounds[b.Len()] = learner.Round{Score: 17, Updates: 17}
	dst := append(s.places(b.Len()), 17)
	if err := l.Learn(x, rounds); err != nil {
		t.Fatal(err)
	}
	if err := l.Score(x, dst); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Y, b.Y) || !slices.Equal(x.Ptr, b.Ptr) || !slices.Equal(x.Idx, b.Idx) ||
		!slices.Equal(x.Val, b.Val) || !slices.Equal(x.X, b.X) {
		t.Error("Learn or Score wrote into its block")
	}
	if rounds[b.Len()] != (learner.Round{Score: 17, Updates: 17}) || dst[len(dst)-1] != 17 {
		t.Error("a place beyond the examples was written")
	}
	var sum int64
	for _, r := range rounds[:b.Len()] {
		sum += int64(r.Updates)
	}
	if sum != l.Updates() || sum == 0 {
		t.Errorf("Updates() is %d, the rounds' sum %d, want the same and some", l.Updates(), sum)
	}
	if l.Bytes() <= 0 {
		t.Errorf("Bytes() is %d", l.Bytes())
	}
}

// bits: the same bits for every implementation, number of threads and block size.
func (s *suite[T]) bits(t *testing.T, b *engine.Block[T]) {
	want := s.fresh(t, nil)
	first, second := learn(t, want, b, b.Len()), learn(t, want, b, b.Len())
	again := s.places(b.Len())
	if err := want.Score(b, again); err != nil {
		t.Fatal(err)
	}
	same := func(what string, l learner.Learner[T], size int) {
		t.Helper()
		sameRounds(t, what+", first epoch", learn(t, l, b, size), first)
		sameRounds(t, what+", second epoch", learn(t, l, b, size), second)
		sameState(t, what, l, want)
		scores := s.places(b.Len())
		if err := l.Score(b, scores); err != nil {
			t.Fatal(err)
		}
		for i := range scores {
			if math.Float64bits(scores[i]) != math.Float64bits(again[i]) {
				t.Errorf("%s: score %d is %v, want %v", what, i, scores[i], again[i])
				break
			}
		}
	}
	same("block=1", s.fresh(t, nil), 1)
	for _, c := range [][2]int{{3, 7}, {8, 256}} {
		threads, size := c[0], c[1]
		pool := engine.NewPool(threads)
		pool.Insist()
		same(fmt.Sprintf("threads=%d/block=%d", threads, size), s.fresh(t, pool), size)
		pool.Close()
	}
	active := vecmath.Active().String()
	eachImplementation(t, func(name string) {
		if name != active { // which has done it above
			same("impl="+name, s.fresh(t, nil), 256)
		}
	})
}

// score: Score gives what the following Learn calls the score, and changes nothing.
func (s *suite[T]) score(t *testing.T, b *engine.Block[T]) {
	quiet, asked := s.fresh(t, nil), s.fresh(t, nil)
	want := learn(t, quiet, b, b.Len())
	var r [1]learner.Round
	for i := range b.Len() {
		v := b.Slice(i, i+1)
		f := make([]float64, learner.OutputsOf(asked))
		if err := asked.Score(&v, f); err != nil {
			t.Fatal(err)
		}
		predicted := 0
		if v.Class != nil {
			predicted = learner.Predicted(f)
			f = []float64{learner.ClassScore(f, int(v.Class[0]))}
		}
		if err := asked.Learn(&v, r[:]); err != nil {
			t.Fatal(err)
		}
		if int(r[0].Predicted) != predicted {
			t.Fatalf("example %d: Score predicts class %d, Learn %d", i, predicted, r[0].Predicted)
		}
		if math.Float64bits(f[0]) != math.Float64bits(r[0].Score) {
			t.Fatalf("example %d: Score %v, then Learn's score %v", i, f[0], r[0].Score)
		}
		sameRounds(t, fmt.Sprintf("example %d, after Score", i), r[:], want[i:i+1])
	}
	sameState(t, "with Score in between", asked, quiet)
}

// reject: what is wrong with a call is said by the right error, and the state stays.
func (s *suite[T]) reject(t *testing.T, b *engine.Block[T]) {
	l := s.fresh(t, nil)
	half, rest := b.Slice(0, b.Len()/2), b.Slice(b.Len()/2, b.Len())
	learn(t, l, &half, half.Len())
	before := StateBytes(l.State())

	rounds, dst := make([]learner.Round, rest.Len()), s.places(rest.Len())
	for _, r := range s.broken(&rest) {
		if err := l.Learn(r.block, rounds); !errors.Is(err, r.want) {
			t.Errorf("%s: Learn says %v, want %v", r.name, err, r.want)
		}
		if r.want != engine.ErrLabel {
			if err := l.Score(r.block, dst); !errors.Is(err, r.want) {
				t.Errorf("%s: Score says %v, want %v", r.name, err, r.want)
			}
		}
	}
	if err := l.Learn(&rest, rounds[1:]); !errors.Is(err, learner.ErrOut) {
		t.Errorf("short rounds: Learn says %v, want %v", err, learner.ErrOut)
	}
	if err := l.Score(&rest, dst[1:]); !errors.Is(err, learner.ErrOut) {
		t.Errorf("short dst: Score says %v, want %v", err, learner.ErrOut)
	}
	if !bytes.Equal(StateBytes(l.State()), before) {
		t.Error("a rejected call changed the state")
	}
	// Nor may anything outside the State have changed: it goes on as if nothing had been asked.
	twin := s.fresh(t, nil)
	learn(t, twin, &half, half.Len())
	sameRounds(t, "after rejections", learn(t, l, &rest, 7), learn(t, twin, &rest, 7))
	sameState(t, "after rejections", l, twin)
}

// trial is a block that Check must refuse, and with what.
type trial[T learner.Float] struct {
	name  string
	block *engine.Block[T]
	want  error
}

// broken returns copies of b in which something is wrong.
func (s *suite[T]) broken(b *engine.Block[T]) []trial[T] {
	bad := func(f func(*engine.Block[T])) *engine.Block[T] {
		c := clone(b)
		f(c)
		return c
	}
	nan := T(math.NaN())
	trials := []trial[T]{
		{"negative Dim", bad(func(c *engine.Block[T]) { c.Dim = -1 }), engine.ErrShape},
	}
	if s.config.Traits().Classes {
		trials = append(trials,
			trial[T]{"class -1", bad(func(c *engine.Block[T]) { c.Class[20] = -1 }),
				engine.ErrLabel},
			trial[T]{"no classes", bad(func(c *engine.Block[T]) { c.Class = nil }),
				engine.ErrLabel},
			trial[T]{"short classes", bad(func(c *engine.Block[T]) { c.Class = c.Class[1:] }),
				engine.ErrLabel})
	} else {
		trials = append(trials,
			trial[T]{"label 0", bad(func(c *engine.Block[T]) { c.Y[20] = 0 }), engine.ErrLabel},
			trial[T]{"label NaN", bad(func(c *engine.Block[T]) { c.Y[20] = nan }),
				engine.ErrLabel})
	}
	if b.Dense() {
		trials = append(trials,
			trial[T]{"NaN", bad(func(c *engine.Block[T]) { c.X[20*c.Stride+1] = nan }),
				engine.ErrValue},
			trial[T]{"Inf", bad(func(c *engine.Block[T]) { c.X[20*c.Stride+1] = T(math.Inf(1)) }),
				engine.ErrValue},
			trial[T]{"short X", bad(func(c *engine.Block[T]) { c.X = c.X[:c.Stride] }),
				engine.ErrShape},
			trial[T]{"stride", bad(func(c *engine.Block[T]) { c.Stride = c.Dim - 1 }),
				engine.ErrShape})
	} else {
		k := b.Ptr[40] // in the middle of all non-zeros
		trials = append(trials,
			trial[T]{"NaN", bad(func(c *engine.Block[T]) { c.Val[k] = nan }), engine.ErrValue},
			trial[T]{"Inf", bad(func(c *engine.Block[T]) { c.Val[k] = T(math.Inf(-1)) }),
				engine.ErrValue},
			trial[T]{"index too large", bad(func(c *engine.Block[T]) {
				c.Idx[c.Ptr[c.Len()]-1] =
					int32(c.Dim)
			}), engine.ErrIndices},
			trial[T]{"negative index", bad(func(c *engine.Block[T]) { c.Idx[k] = -1 }),
				engine.ErrIndices},
			trial[T]{"short offsets", bad(func(c *engine.Block[T]) { c.Ptr = c.Ptr[:3] }),
				engine.ErrShape},
			trial[T]{"short values", bad(func(c *engine.Block[T]) { c.Val = c.Val[:3] }),
				engine.ErrShape})
	}
	return trials
}

// state: a State holds all, is a copy, and one that does not fit is refused.
func (s *suite[T]) state(t *testing.T, b *engine.Block[T]) {
	l := s.fresh(t, nil)
	half, rest := b.Slice(0, b.Len()/2), b.Slice(b.Len()/2, b.Len())
	learn(t, l, &half, half.Len())

	twin := s.fresh(t, nil)
	learn(t, twin, &rest, rest.Len()) // SetState must replace what was there
	s.restores(t, l, twin)
	sameRounds(t, "restored", learn(t, twin, &rest, 7), learn(t, l, &rest, 7))
	sameState(t, "restored and taught", twin, l)
	learned := l.State()
	if err := learned.CheckSums(0); err != nil {
		t.Error(err)
	}
	s.refuses(t, l)
	s.ofFeatures(t, l, b)
}

// ofFeatures: where the reader of a State knows how many features there are, one that has more is
// refused, by a learner whose State grows with the features and by its Predictor.
func (s *suite[T]) ofFeatures(t *testing.T, l learner.Learner[T], b *engine.Block[T]) {
	t.Helper()
	if !b.Dense() || !s.growsWithFeatures(t, b) {
		return
	}
	p, before := l.Snapshot(), StateBytes(l.State())
	st, of := l.State(), p.State()
	st.Features, of.Features = b.Dim, b.Dim
	if err := restored(t, p, of); err != nil {
		t.Errorf("a predictor of %d features: %v", b.Dim, err)
	}
	if err := errors.Join(l.CheckState(st), l.SetState(st)); err != nil {
		t.Errorf("a state of %d features: %v", b.Dim, err)
	}
	st.Features, of.Features = b.Dim-1, b.Dim-1
	if err := restored(t, p, of); !errors.Is(err, learner.ErrState) {
		t.Errorf("a predictor of %d features where there are %d: %v, want %v", b.Dim, b.Dim-1, err,
			learner.ErrState)
	}
	if err := l.CheckState(st); !errors.Is(err, learner.ErrState) {
		t.Errorf("a state of %d features where there are %d: CheckState says %v, want %v", b.Dim,
			b.Dim-1, err, learner.ErrState)
	}
	if err := l.SetState(st); !errors.Is(err, learner.ErrState) {
		t.Errorf("a state of %d features where there are %d: SetState says %v, want %v", b.Dim,
			b.Dim-1, err, learner.ErrState)
	}
	if !bytes.Equal(StateBytes(l.State()), before) {
		t.Error("a state of more features than there are changed the state")
	}
}

// growsWithFeatures reports whether a State is larger after an example of more features. That of
// random features of the examples isn't.
func (s *suite[T]) growsWithFeatures(t *testing.T, b *engine.Block[T]) bool {
	t.Helper()
	if !s.config.Traits().Stream {
		return s.config.Traits().Linear
	}
	size := func(b *engine.Block[T]) (n int) {
		one, l := b.Slice(0, 1), s.fresh(t, nil)
		learn(t, l, &one, 1)
		for _, x := range l.State().Tensors {
			n += reflect.ValueOf(x.Data).Len()
		}
		return n
	}
	return size(widened(b)) > size(b)
}

// restores: a State is a copy and all there is.
func (s *suite[T]) restores(t *testing.T, l, twin learner.Learner[T]) {
	t.Helper()
	st := l.State()
	before := StateBytes(st)
	other := StateBytes(twin.State())
	if err := twin.CheckState(st); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(StateBytes(twin.State()), other) {
		t.Error("CheckState changed the state")
	}
	if err := twin.SetState(st); err != nil {
		t.Fatal(err)
	}
	for i := range st.Tensors { // both sides must have taken copies
		v := reflect.ValueOf(st.Tensors[i].Data)
		reflect.Copy(v, reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
	}
	sameState(t, "restored", twin, l)
	if !bytes.Equal(StateBytes(l.State()), before) {
		t.Error("State gave away its own memory")
	}
}

// refuses: a State that does not fit changes nothing; that of a new learner fits. Scalars and
// tensors that the Entry calls Optional may be missing.
func (s *suite[T]) refuses(t *testing.T, l learner.Learner[T]) {
	t.Helper()
	empty := s.fresh(t, nil)
	if err := empty.SetState(s.fresh(t, nil).State()); err != nil {
		t.Errorf("the state of a new learner: %v", err)
	}

	before := StateBytes(l.State())
	refused := func(what, part string, change func(st *learner.State)) {
		t.Helper()
		what += part
		st := l.State()
		change(&st)
		if err := l.CheckState(st); !errors.Is(err, learner.ErrState) {
			t.Errorf("%s: CheckState says %v, want %v", what, err, learner.ErrState)
		}
		if err := l.SetState(st); !errors.Is(err, learner.ErrState) {
			t.Errorf("%s: SetState says %v, want %v", what, err, learner.ErrState)
		}
		if err := l.SetState(st); err != nil && !names(err, s.entry.Name, part) {
			t.Errorf("%s: SetState says %v, which does not name learner and part", what, err)
		}
		if !bytes.Equal(StateBytes(l.State()), before) {
			t.Fatalf("%s: a refused SetState changed the state", what)
		}
	}
	good := l.State()
	refused("nothing", "", func(st *learner.State) { *st = learner.State{} })
	refused("another tensor, ", "foreign", func(st *learner.State) {
		st.Tensors = append(st.Tensors,
			learner.Tensor{Name: "foreign", Shape: []int{1}, Data: []float64{1}})
	})
	for i, x := range good.Tensors {
		if !s.optional(x.Name) {
			refused("without tensor ", x.Name, func(st *learner.State) {
				st.Tensors = slices.Delete(st.Tensors, i, i+1)
			})
			refused("renamed tensor ", x.Name, func(st *learner.State) {
				st.Tensors[i].Name = "foreign"
			})
		}
		refused("another type in tensor ", x.Name, func(st *learner.State) {
			st.Tensors[i].Data = make([]int8, reflect.ValueOf(x.Data).Len())
		})
		refused("another shape of tensor ", x.Name, func(st *learner.State) {
			st.Tensors[i].Shape = []int{3, math.MaxInt32}
		})
		refused("no shape of tensor ", x.Name, func(st *learner.State) {
			st.Tensors[i].Shape = nil
		})
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			if data := reflect.ValueOf(x.Data); data.Len() == 0 ||
				!data.Index(0).CanFloat() {
				continue
			}
			refused(fmt.Sprintf("%v in tensor ", v), x.Name, func(st *learner.State) {
				data := reflect.ValueOf(st.Tensors[i].Data)
				data.Index(data.Len() - 1).SetFloat(v)
			})
		}
	}
	for k := range good.Counters {
		refused("without counter ", k, func(st *learner.State) { delete(st.Counters, k) })
	}
	for k := range good.Scalars {
		if !s.optional(k) {
			refused("without scalar ", k, func(st *learner.State) { delete(st.Scalars, k) })
		}
		refused("NaN in scalar ", k, func(st *learner.State) { st.Scalars[k] = math.NaN() })
	}
}

// optional reports whether the part of a State may be missing: by the Entry, or by that of the base
// where it belongs to a learner within another, as in member0.w.
func (s *suite[T]) optional(part string) bool {
	if slices.Contains(s.entry.Optional, part) {
		return true
	}
	_, within, ok := strings.Cut(part, ".")
	var settings struct {
		Base string `json:"base"`
	}
	if text, err := json.Marshal(s.config); !ok || err != nil ||
		json.Unmarshal(text, &settings) != nil {
		return false
	}
	base, err := learner.Lookup(settings.Base)
	return err == nil && slices.Contains(base.Optional, within)
}

// names reports whether err, of a State, begins with the learner's name and has that of the part
// in it. A part of a learner within another may be named by the name that it has there.
func names(err error, name, part string) bool {
	text := err.Error()
	within := part[strings.LastIndex(part, ".")+1:]
	return strings.HasPrefix(text, name+": ") && (part == "" || strings.Contains(text, within))
}

// zero: no examples change nothing; an example without features scores 0 and moves no weight. With
// a bias it scores that, and is an example like any other.
func (s *suite[T]) zero(t *testing.T, b *engine.Block[T]) {
	l := s.trained(t, b)
	before := StateBytes(l.State())
	none := b.Slice(0, 0)
	for _, e := range []*engine.Block[T]{&none, {}, {Ptr: []int{0}}} {
		if err := errors.Join(l.Learn(e, nil), l.Score(e, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(StateBytes(l.State()), before) {
		t.Error("an empty block changed the state")
	}

	if k := s.config.Traits(); !k.Linear || k.Classes {
		return // a kernel needn't be 0 there
	}
	x := clone(b)
	if b.Dense() {
		clear(x.X)
	} else {
		x.Idx, x.Val = nil, nil
		clear(x.Ptr)
	}
	if bias, ok := learner.BiasOf(l); ok {
		f := make([]float64, x.Len())
		if err := l.Score(x, f); err != nil {
			t.Fatal(err)
		}
		for i := range f {
			if f[i] != bias {
				t.Fatalf("all-zero example %d scores %v, the bias is %v", i, f[i], bias)
			}
		}
		return
	}
	was := l.Weights()
	for i, r := range learn(t, l, x, 7) {
		if r.Score != 0 {
			t.Fatalf("all-zero example %d scores %v", i, r.Score)
		}
	}
	eps := 64 * float64(epsilon[T]())
	// ALMA, p > 2, takes w afresh at every update, which may move it by a rounding error
	for j, v := range l.Weights() {
		if !(math.Abs(v-was[j]) <= eps*math.Abs(was[j])) {
			t.Fatalf("all-zero examples moved weight %d from %v to %v", j, was[j], v)
		}
	}
}

// unseen: a new learner scores 0, and features that were never learned count 0.
func (s *suite[T]) unseen(t *testing.T, b *engine.Block[T]) {
	n := b.Len()
	got, want := s.places(n), s.places(n)
	if err := s.fresh(t, nil).Score(b, got); err != nil {
		t.Fatal(err)
	}
	for i, f := range got {
		if f != 0 {
			t.Fatalf("a new learner scores example %d %v", i, f)
		}
	}
	l := s.trained(t, b)
	before := StateBytes(l.State())
	wide := widened(b)
	if err := errors.Join(l.Score(wide, got), l.Score(b, want)); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if s.config.Traits().Linear && // kernels look at all features
			math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("example %d scores %v with unseen features, %v without", i, got[i], want[i])
		}
	}
	if !bytes.Equal(StateBytes(l.State()), before) {
		t.Error("Score of unseen features changed the state")
	}
}

// widened returns b with features beyond its own in every example.
func widened[T learner.Float](b *engine.Block[T]) *engine.Block[T] {
	n := b.Len()
	wide := &engine.Block[T]{Y: b.Y, Class: b.Class, Dim: b.Dim + 1000}
	if b.Dense() {
		const more = 130
		wide.Dim = b.Dim + more
		wide.Stride = wide.Dim
		for i := range n {
			wide.X = append(wide.X, b.Row(i)...)
			wide.X = append(wide.X, slices.Repeat([]T{1}, more)...)
		}
	} else {
		wide.Ptr = []int{0}
		for i := range n {
			idx, val := b.Sparse(i)
			wide.Idx = append(append(wide.Idx, idx...), int32(b.Dim), int32(b.Dim+i),
				int32(b.Dim+999))
			wide.Val = append(append(wide.Val, val...), 1, 1, 1)
			if i == 0 || i == 999 { // indices ascend, each once
				wide.Idx = slices.Delete(wide.Idx, len(wide.Idx)-2, len(wide.Idx)-1)
				wide.Val = wide.Val[:len(wide.Val)-1]
			}
			wide.Ptr = append(wide.Ptr, len(wide.Idx))
		}
	}
	return wide
}

// weights: Weights(), with the bias if there is one, gives the scores, up to rounding.
func (s *suite[T]) weights(t *testing.T, b *engine.Block[T]) {
	l := s.trained(t, b)
	w := l.Weights()
	bias, _ := learner.BiasOf(l)
	if w == nil || s.outputs() > 1 {
		return // a hypothesis that is no single vector
	}
	if len(w) != b.Dim {
		t.Fatalf("%d weights after learning of %d features", len(w), b.Dim)
	}
	f := make([]float64, b.Len())
	if err := l.Score(b, f); err != nil {
		t.Fatal(err)
	}
	for i := range f {
		sum, abs := bias, math.Abs(bias)
		var terms int
		add := func(j int, v T) {
			p := float64(w[j] * float64(v))
			sum, abs, terms = sum+p, abs+math.Abs(p), terms+1
		}
		if b.Dense() {
			for j, v := range b.Row(i) {
				add(j, v)
			}
		} else {
			idx, val := b.Sparse(i)
			for k, j := range idx {
				add(int(j), val[k])
			}
		}
		if tol := float64(terms+4) * epsilon[T]() * abs; !(math.Abs(sum-f[i]) <= tol) {
			t.Fatalf("example %d: Score %v, Weights() . x + bias = %v, tolerance %.3g", i, f[i],
				sum, tol)
		}
	}
	w[0]++
	if l.Weights()[0] == w[0] {
		t.Error("Weights gave away its own memory")
	}
}

// epsilon is the distance from 1 to the next T.
func epsilon[T learner.Float]() float64 {
	if T(1)+T(0x1p-30) == 1 {
		return 0x1p-23
	}
	return 0x1p-52
}

// learns: on separable examples most errors go away.
func (s *suite[T]) learns(t *testing.T, b *engine.Block[T]) {
	l := s.fresh(t, nil)
	f := s.places(b.Len())
	errs := func() (n int) {
		if err := l.Score(b, f); err != nil {
			t.Fatal(err)
		}
		for i, y := range b.Y {
			if f := s.signed(f, i); float64(y)*f < 0 || f == 0 && y < 0 {
				n++
			}
		}
		return n
	}
	start := errs()
	// All-zero examples can't be learned; those that are labelled -1 stay wrong.
	end := start
	for epoch, few := 0, 0; epoch < 20 && few < 2; epoch++ {
		learn(t, l, b, 64)
		if end = errs(); end <= b.Len()/10 && 3*end <= start {
			few++
		} else {
			few = 0
		}
	}
	if end > b.Len()/10 || 3*end > start {
		t.Errorf("%d of %d wrong at first, %d after 20 epochs", start, b.Len(), end)
	}
}

// allocs: nothing is allocated once all features and the largest block have been seen.
func (s *suite[T]) allocs(t *testing.T, b *engine.Block[T]) {
	l := s.trained(t, b)
	rounds, dst := make([]learner.Round, b.Len()), s.places(b.Len())
	if err := errors.Join(l.Learn(b, rounds), l.Score(b, dst)); err != nil {
		t.Fatal(err)
	}
	if kept, ok := learner.SupportOf(l); ok { // until as many are kept as there will be
		for epoch, still := 0, 0; epoch < 50 && still < 5; epoch++ {
			learn(t, l, b, 256)
			n, _ := learner.SupportOf(l)
			if still++; n != kept {
				still, kept = 0, n
			}
		}
	}
	allocatesNothing(t, "Learn", func() error { return l.Learn(b, rounds) })
	allocatesNothing(t, "Score", func() error { return l.Score(b, dst) })
}

// proba: probabilities are such, the same block by block and on every implementation, change no
// state, fail as scores do and allocate nothing; they rise above 1/2 for most examples of +1 and
// fall below for most of -1.
func (s *suite[T]) proba(t *testing.T, l learner.Learner[T], b *engine.Block[T]) {
	prober := learner.ProberOf(l)
	if prober == nil {
		return
	}
	before := StateBytes(l.State())
	n := b.Len()
	all, again := s.places(n), s.places(n)
	ask := func(size int, dst []float64) {
		t.Helper()
		for lo := 0; lo < n; lo += size {
			v := b.Slice(lo, min(lo+size, n))
			if err := prober.Proba(&v, dst[lo*s.outputs():]); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask(n, all)
	wrong := 0
	for i := range n {
		p := all[i]
		if s.outputs() == 2 {
			if p = all[2*i+1]; !(math.Abs(p+all[2*i]-1) <= 4*epsilon[float64]()) {
				t.Fatalf("example %d: the sum of probabilities is %v", i, p+all[2*i])
			}
		}
		if !(p >= 0 && p <= 1) {
			t.Fatalf("example %d: probability %v", i, p)
		}
		if (p > 0.5) != (b.Y[i] > 0) {
			wrong++
		}
	}
	if wrong > n/5 {
		t.Errorf("%d of %d are more probable to have the other label", wrong, n)
	}
	ask(7, again)
	sameScores(t, "probabilities in blocks of 7", again, all)
	eachImplementation(t, func(name string) {
		ask(n, again)
		sameScores(t, "probabilities on "+name, again, all)
	})
	for _, r := range s.broken(b) {
		if err := prober.Proba(r.block, again); r.want != engine.ErrLabel && !errors.Is(err,
			r.want) {
			t.Errorf("%s: Proba says %v, want %v", r.name, err, r.want)
		}
	}
	if err := prober.Proba(b, again[1:]); !errors.Is(err, learner.ErrOut) {
		t.Errorf("short dst: Proba says %v, want %v", err, learner.ErrOut)
	}
	if err := prober.Proba(widened(b), again); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(StateBytes(l.State()), before) {
		t.Error("Proba changed the state")
	}
	allocatesNothing(t, "Proba", func() error { return prober.Proba(b, again) })
}

// grow: blocks whose Dim is only what their own examples need give the same bits as blocks that
// know all features.
func (s *suite[T]) grow(t *testing.T, b *engine.Block[T]) {
	want := s.fresh(t, nil)
	rounds := learn(t, want, b, 256)
	for _, size := range []int{1, 7, 256} {
		l := s.fresh(t, nil)
		got := make([]learner.Round, b.Len())
		for lo := 0; lo < b.Len(); lo += size {
			hi := min(lo+size, b.Len())
			if err := l.Learn(own(b, lo, hi), got[lo:hi]); err != nil {
				t.Fatal(err)
			}
		}
		none := engine.Block[T]{Dim: b.Dim, Ptr: []int{0}} // all features seen, as by want
		if err := l.Learn(&none, nil); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("growing, block=%d", size)
		sameRounds(t, what, got, rounds)
		sameState(t, what, l, want)
	}
}

// settings: a Config survives JSON, is documented for the command, and is checked.
func (s *suite[T]) settings(t *testing.T) {
	if err := s.config.Validate(); err != nil {
		t.Fatal(err)
	}
	if err := s.entry.Config().Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	doc, err := json.Marshal(s.config)
	if err != nil {
		t.Fatal(err)
	}
	again := s.entry.Config()
	if err := json.Unmarshal(doc, again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again, s.config) {
		t.Errorf("after JSON %s: %+v, want %+v", doc, again, s.config)
	}
	if s.entry.Summary == "" {
		t.Error("no summary")
	}
	checkTags(t, s.config)
	for _, f := range reflect.VisibleFields(reflect.TypeOf(s.config).Elem()) {
		if !f.Anonymous && f.IsExported() {
			s.badValues(t, f, doc)
		}
	}
	for _, c := range []learner.Config{nil, foreign{}} {
		if _, err := learner.New[T](s.entry, c, learner.Env{}); !errors.Is(err, learner.ErrConfig) {
			t.Errorf("settings of %T: New says %v, want %v", c, err, learner.ErrConfig)
		}
	}
}

// checkTags checks that each setting has a key in JSON, a flag and help, and that what its tags
// name is there. Settings of another learner have a test of their own.
func checkTags(t *testing.T, c learner.Config) {
	t.Helper()
	config := reflect.TypeOf(c).Elem()
	flags, switches := map[string]bool{}, map[string]bool{"": true}
	for _, f := range reflect.VisibleFields(config) {
		flags[f.Tag.Get("flag")] = true
		switches[f.Tag.Get("auto")] = true // of the value auto of a flag
	}
	for _, f := range reflect.VisibleFields(config) { // those of embedded structs too
		if f.Anonymous || !f.IsExported() {
			continue
		}
		if auto := f.Tag.Get("auto"); auto != "" {
			if s, ok := config.FieldByName(auto); !ok || s.Type.Kind() != reflect.Bool {
				t.Errorf("field %s: the tag auto says %q, which is no switch here", f.Name, auto)
			}
		}
		for with := range strings.SplitSeq(f.Tag.Get("with"), ",") {
			if flag, _, _ := strings.Cut(with, "="); with != "" && !flags[flag] {
				t.Errorf("field %s: the tag with says %q, which is no flag here", f.Name, flag)
			}
		}
		if f.Tag.Get("json") == "" {
			t.Errorf("field %s has no json tag", f.Name)
		}
		if noFlag := !switches[f.Name] && f.Tag.Get("flag") == ""; !ofAnother(f.Type.Kind()) &&
			(noFlag || c.Help(f.Name) == "") {
			t.Errorf("field %s lacks a flag tag or help", f.Name)
		}
	}
}

// ofAnother reports whether a field of that kind has settings of another learner.
func ofAnother(k reflect.Kind) bool {
	return k == reflect.Struct || k == reflect.Pointer || k == reflect.Interface
}

// badValues checks that values which no setting can have are refused in field f of the settings
// that doc has in JSON.
func (s *suite[T]) badValues(t *testing.T, f reflect.StructField, doc []byte) {
	t.Helper()
	var bad []any
	switch f.Type.Kind() {
	case reflect.Float64:
		bad = []any{math.NaN(), math.Inf(1), math.Inf(-1), -1.0}
	case reflect.Int:
		bad = []any{-1}
	case reflect.String:
		bad = []any{"no such thing"}
	}
	for _, x := range bad {
		c := s.entry.Config()
		if err := json.Unmarshal(doc, c); err != nil {
			t.Fatal(err)
		}
		v := reflect.ValueOf(c).Elem().FieldByIndex(f.Index)
		v.Set(reflect.ValueOf(x).Convert(v.Type()))
		if err := c.Validate(); !errors.Is(err, learner.ErrConfig) {
			t.Errorf("%s = %v: Validate says %v, want %v", f.Name, x, err, learner.ErrConfig)
		}
		if _, err := learner.New[T](s.entry, c, learner.Env{}); !errors.Is(err, learner.ErrConfig) {
			t.Errorf("%s = %v: New says %v, want %v", f.Name, x, err, learner.ErrConfig)
		}
	}
}

// foreign is a Config of no learner.
type foreign struct{}

func (foreign) Help(string) string { return "" }
func (foreign) Validate() error    { return nil }

func (foreign) Traits() learner.Traits { return learner.Traits{} }

func (foreign) Resolve(learner.Facts) (learner.Config, error) { return foreign{}, nil }

func (foreign) Memory(learner.Extent) learner.Footprint { return learner.Footprint{} }
