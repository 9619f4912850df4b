package learnertest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// learnOn teaches l the examples of b, as whole data sets where it wants these.
func (s *suite[T]) learnOn(t testing.TB, l learner.Learner[T], b *engine.Block[T]) {
	t.Helper()
	if !s.config.Traits().Stream {
		fit(t, l, b)
	} else {
		learn(t, l, b, 64)
	}
}

// answers are what a Predictor or a Learner says of some blocks.
type answers struct {
	scores, proba [][]float64
	weights       []float64
}

type scorer[T learner.Float] interface {
	Score(b *engine.Block[T], dst []float64) error
	Weights() []float64
}

func ask[T learner.Float](t testing.TB, p scorer[T], prober learner.Prober[T],
	outputs int, blocks []*engine.Block[T]) (a answers) {
	t.Helper()
	for _, b := range blocks {
		f := make([]float64, b.Len()*outputs)
		if err := p.Score(b, f); err != nil {
			t.Fatal(err)
		}
		a.scores = append(a.scores, f)
		if prober != nil {
			f = make([]float64, b.Len()*outputs)
			if err := prober.Proba(b, f); err != nil {
				t.Fatal(err)
			}
			a.proba = append(a.proba, f)
		}
	}
	a.weights = p.Weights()
	return a
}

// same compares all that both have. The weights of a predictor may end before features without one.
func (a *answers) same(t testing.TB, what string, want *answers) {
	t.Helper()
	for i := range want.scores {
		sameScores(t, fmt.Sprintf("%s: block %d", what, i), a.scores[i], want.scores[i])
	}
	for i := range min(len(a.proba), len(want.proba)) {
		sameScores(t, fmt.Sprintf("%s: probabilities of block %d", what, i), a.proba[i],
			want.proba[i])
	}
	if (a.weights == nil) != (want.weights == nil) || len(a.weights) > len(want.weights) {
		t.Errorf("%s: %d weights, want %d", what, len(a.weights), len(want.weights))
		return
	}
	sameScores(t, what+": weights", a.weights, want.weights[:len(a.weights)])
	for j, w := range want.weights[len(a.weights):] {
		if w != 0 {
			t.Errorf("%s: weight %d is missing, want %v", what, len(a.weights)+j, w)
		}
	}
}

// snapshot: a Predictor scores as the learner did, to the bit, whatever that learns afterwards, and
// so does one made of its State; it refuses what the learner refuses, says what memory it takes,
// and allocates nothing.
func (s *suite[T]) snapshot(t *testing.T, b *engine.Block[T]) {
	l := s.fresh(t, nil)
	none := l.Snapshot()
	half, rest := b.Slice(0, b.Len()/2), b.Slice(b.Len()/2, b.Len())
	s.learnOn(t, l, &half)
	blocks := []*engine.Block[T]{b, Sparse[T](30, b.Dim+20, 0), Dense[T](30, b.Dim+20, 0)}
	before := StateBytes(l.State())
	p := l.Snapshot()
	if !bytes.Equal(StateBytes(l.State()), before) {
		t.Error("Snapshot changed the state")
	}
	prober := learner.ProbaOf(p)
	want := ask(t, scorer[T](l), learner.ProberOf(l), s.outputs(), blocks)
	check := func(what string, p learner.Predictor[T]) {
		t.Helper()
		got := ask(t, scorer[T](p), learner.ProbaOf(p), s.outputs(), blocks)
		got.same(t, what, &want)
		if p.Outputs() != s.outputs() {
			t.Errorf("%s: %d outputs", what, p.Outputs())
		}
	}
	check("view", learner.ViewOf(l))
	check("snapshot", p)
	state := p.State()
	if err := restored(t, p, state); err != nil {
		t.Error(err)
	}
	from := func(what string, s2 learner.State) learner.Predictor[T] {
		t.Helper()
		q, err := learner.PredictorFrom[T](s.entry, s.config, learner.Env{Seed: seed}, s2)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return q
	}
	restored := from("its state", state)
	wipe(&state)
	check("restored", restored)
	if !bytes.Equal(StateBytes(restored.State()), StateBytes(p.State())) {
		t.Error("restored, its State is another")
	}
	from("a view's state", learner.ViewOf(l).State())
	if (learner.ProbaOf(restored) == nil) != (prober == nil) {
		t.Error("restored, it has probabilities or lost them")
	}
	s.refusesForeign(t, p, l)
	s.learnOn(t, l, &rest)
	check("later", p)
	for _, f := range ask(t, scorer[T](none), nil, none.Outputs(), blocks[:1]).scores[0] {
		if f != 0 {
			t.Errorf("a new learner's snapshot scores %v", f)
			break
		}
	}
	s.rejects(t, p, &rest)
	if held := p.Bytes(); held <= 0 || held > 2*l.Bytes()+1<<16 {
		t.Errorf("Bytes() is %d, %d of the learner", held, l.Bytes())
	}
	s.predictorAllocs(t, p, blocks)
}

// wipe writes over the elements of the tensors: a State is a copy.
func wipe(s *learner.State) {
	for _, c := range s.Tensors {
		v := reflect.ValueOf(c.Data)
		for i := range v.Len() {
			v.Index(i).SetZero()
		}
	}
}

// refusesForeign: the State of a predictor is not that of a learner, and what is missing is named.
func (s *suite[T]) refusesForeign(t *testing.T, p learner.Predictor[T], l learner.Learner[T]) {
	t.Helper()
	for i, x := range p.State().Tensors {
		if s.optional(x.Name) {
			continue
		}
		state := p.State()
		state.Tensors = append(state.Tensors[:i:i], state.Tensors[i+1:]...)
		if err := restored(t, p, state); !errors.Is(err, learner.ErrState) {
			t.Errorf("without tensor %d: %v, want %v", i, err, learner.ErrState)
		}
	}
	state := p.State()
	state.Tensors = append(state.Tensors, learner.Tensor{Name: "more", Shape: []int{0},
		Data: []float64{}})
	if err := restored(t, p, state); !errors.Is(err, learner.ErrState) {
		t.Errorf("with a tensor more: %v, want %v", err, learner.ErrState)
	}
	if err := l.SetState(p.State()); !errors.Is(err, learner.ErrState) {
		t.Errorf("SetState of a predictor's State: %v, want %v", err, learner.ErrState)
	}
	if err := restored(t, p, l.State()); !errors.Is(err, learner.ErrState) {
		t.Errorf("a predictor of a learner's State: %v, want %v", err, learner.ErrState)
	}
}

// restored returns the error of learner.Restored, which CheckRestored must return, too.
func restored[T learner.Float](t *testing.T, p learner.Predictor[T], s learner.State) error {
	t.Helper()
	before := StateBytes(p.State())
	_, err := learner.Restored(p, s)
	if check := learner.CheckRestored(p, s); fmt.Sprint(check) != fmt.Sprint(err) {
		t.Errorf("CheckRestored says %v, Restored %v", check, err)
	}
	if !bytes.Equal(StateBytes(p.State()), before) {
		t.Error("CheckRestored or Restored changed the predictor")
	}
	return err
}

// rejects: errors are those of a learner's Score.
func (s *suite[T]) rejects(t *testing.T, p learner.Predictor[T], b *engine.Block[T]) {
	t.Helper()
	dst, prober := s.places(b.Len()), learner.ProbaOf(p)
	for _, r := range s.broken(b) {
		if r.want == engine.ErrLabel {
			continue
		}
		if err := p.Score(r.block, dst); !errors.Is(err, r.want) {
			t.Errorf("%s: Score says %v, want %v", r.name, err, r.want)
		}
		if prober == nil {
			continue
		}
		if err := prober.Proba(r.block, dst); !errors.Is(err, r.want) {
			t.Errorf("%s: Proba says %v, want %v", r.name, err, r.want)
		}
	}
	if err := p.Score(b, dst[1:]); !errors.Is(err, learner.ErrOut) {
		t.Errorf("short dst: Score says %v, want %v", err, learner.ErrOut)
	}
	y := clone(b)
	y.Y, y.Class = nil, nil
	if err := p.Score(y, dst); err != nil {
		t.Errorf("without labels: %v", err)
	}
}

func (s *suite[T]) predictorAllocs(t *testing.T, p learner.Predictor[T],
	blocks []*engine.Block[T]) {
	t.Helper()
	prober := learner.ProbaOf(p)
	for i, b := range blocks {
		dst := s.places(b.Len())
		what := fmt.Sprintf(" of block %d", i)
		allocatesNothing(t, "Score"+what, func() error { return p.Score(b, dst) })
		if prober != nil {
			allocatesNothing(t, "Proba"+what, func() error { return prober.Proba(b, dst) })
		}
	}
}

// Snapshots checks that goroutines which ask a Predictor get the answers of one that asks alone,
// while the learner goes on learning and gives more of them. The race detector makes the second
// half of it. Nothing global is switched.
func Snapshots[T learner.Float](t *testing.T, e learner.Entry, c learner.Config) {
	s := &suite[T]{entry: e, config: c}
	pool := engine.NewPool(2)
	defer pool.Close()
	sparse, dense := Sparse[T](50, 40, 0.05), Dense[T](50, 40, 0.05)
	small := Sparse[T](20, 50, 0)
	if c.Traits().Classes {
		for _, b := range []*engine.Block[T]{sparse, dense, small} {
			setClasses(b)
		}
	}
	l := s.fresh(t, pool)
	s.learnOn(t, l, sparse)
	p := l.Snapshot()
	prober := learner.ProbaOf(p)
	blocks := []*engine.Block[T]{sparse, dense, small}
	want := ask(t, scorer[T](p), prober, s.outputs(), blocks)

	const askers, rounds = 8, 3
	var all sync.WaitGroup
	for a := range askers {
		all.Go(func() {
			f := s.places(50)
			for k := range rounds * len(blocks) {
				i := (a + k) % len(blocks)
				b := blocks[i]
				if err := p.Score(b, f); err != nil {
					t.Error(err)
					return
				}
				n := b.Len() * s.outputs()
				sameScores(t, fmt.Sprintf("%d at once: block %d", askers, i), f[:n],
					want.scores[i])
				if prober == nil {
					continue
				}
				if err := prober.Proba(b, f); err != nil {
					t.Error(err)
					return
				}
				sameScores(t, fmt.Sprintf("%d at once: probabilities of block %d", askers, i),
					f[:n], want.proba[i])
			}
			if p.Bytes() <= 0 || len(p.State().Tensors) == 0 {
				t.Error("no bytes or no state")
			}
		})
	}
	for k := range 4 {
		s.learnOn(t, l, blocks[k%len(blocks)])
		next := l.Snapshot()
		got := ask(t, scorer[T](next), learner.ProbaOf(next), s.outputs(), blocks)
		now := ask(t, scorer[T](l), learner.ProberOf(l), s.outputs(), blocks)
		got.same(t, "next", &now)
	}
	all.Wait()
	last := ask(t, scorer[T](p), prober, s.outputs(), blocks)
	last.same(t, "after all", &want)
	if math.IsNaN(want.scores[0][0]) {
		t.Error("the first score is NaN")
	}
}
