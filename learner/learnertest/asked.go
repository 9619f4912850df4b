package learnertest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// Asked checks what a learner is asked for without learning: scores and probabilities need no
// labels, and any number of goroutines may ask at once, about sparse and dense examples, for the
// bits that one alone gets. The state stays. The race detector makes the second half of it. Nothing
// global is switched.
func Asked[T learner.Float](t *testing.T, e learner.Entry, c learner.Config) {
	s := &suite[T]{entry: e, config: c}
	pool := engine.NewPool(2)
	defer pool.Close()
	sparse, dense := Sparse[T](70, 40, 0.05), Dense[T](70, 40, 0.05)
	if c.Traits().Classes {
		setClasses(sparse)
		setClasses(dense)
	}
	l := s.fresh(t, pool)
	if !c.Traits().Stream {
		fit(t, l, sparse)
	} else {
		learn(t, l, sparse, 64)
		learn(t, l, dense, 64)
		learn(t, l, sparse, 64)
	}
	before := StateBytes(l.State())

	var questions []question[T]
	// the last two have new features
	for _, b := range []*engine.Block[T]{sparse, dense, Sparse[T](40, 50, 0), Dense[T](40, 50, 0)} {
		form := "sparse"
		if b.Dense() {
			form = "dense"
		}
		name := fmt.Sprintf("%s, %d features", form, b.Dim)
		ask := func(what string, f func(*engine.Block[T], []float64) error) {
			q := question[T]{name: name + ": " + what, block: b, ask: f,
				want: s.places(b.Len())}
			if err := f(b, q.want); err != nil {
				t.Fatalf("%s: %v", q.name, err)
			}
			questions = append(questions, q)
		}
		ask("Score", l.Score)
		if p := learner.ProberOf(l); p != nil {
			ask("Proba", p.Proba)
		}
		if !c.Traits().Stream {
			continue
		}
		rounds := make([]learner.Round, b.Len())
		for _, y := range [][]T{nil, make([]T, b.Len())} {
			v := clone(b)
			v.Class = nil
			if v.Y = y; !errors.Is(l.Learn(v, rounds), engine.ErrLabel) {
				t.Errorf("%s: Learn without labels says %v, want %v", name, l.Learn(v, rounds),
					engine.ErrLabel)
			}
		}
	}
	nan := make([]T, sparse.Len())
	for i := range nan {
		nan[i] = T(math.NaN())
	}
	for _, q := range questions {
		for name, y := range map[string][]T{"none": nil, "zeros": make([]T, q.block.Len()),
			"NaN": nan[:q.block.Len()]} {
			v := clone(q.block)
			v.Y, v.Class = y, nil
			if d := q.differs(v); d != "" {
				t.Errorf("labels %s: %s", name, d)
			}
		}
	}

	const askers, rounds = 8, 2
	var all sync.WaitGroup
	for a := range askers {
		all.Go(func() {
			for k := range rounds * len(questions) {
				if d := questions[(a+k)%len(questions)].differs(nil); d != "" {
					t.Errorf("%d at once: %s", askers, d)
					return
				}
			}
		})
	}
	all.Wait()
	if !bytes.Equal(StateBytes(l.State()), before) {
		t.Error("asking changed the state")
	}
}

// question is what is asked about a block, and the answer that one asker gets.
type question[T learner.Float] struct {
	name  string
	block *engine.Block[T]
	ask   func(*engine.Block[T], []float64) error
	want  []float64
}

// differs asks about b, or about the block itself, and returns the first difference.
func (q *question[T]) differs(b *engine.Block[T]) string {
	if b == nil {
		b = q.block
	}
	got := make([]float64, len(q.want))
	if err := q.ask(b, got); err != nil {
		return fmt.Sprintf("%s: %v", q.name, err)
	}
	for i, v := range got {
		if math.Float64bits(v) != math.Float64bits(q.want[i]) {
			return fmt.Sprintf("%s: example %d: %v, want %v", q.name, i, v, q.want[i])
		}
	}
	return ""
}
