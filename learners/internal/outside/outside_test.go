// Package outside_test is what another module does that adds a learner: it registers it, and all
// that takes a base takes it.
package outside_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/approx"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learner/learnertest"
	"github.com/halfspace-ml/halfspace/learners"
)

// config is the settings of plain: a perceptron that has no members' form, since whoever wrote it
// knows nothing of ensembles.
type config struct {
	Eta float64 `json:"eta" flag:"eta"`
}

func (*config) Help(string) string { return "step size; above 0" }

func (c *config) Validate() error { return c.perceptron().Validate() }

func (c *config) Traits() learner.Traits {
	t := learner.LinearTraits()
	t.Weights, t.Memory = true, c.perceptron().Traits().Memory
	return t
}

func (c *config) perceptron() *learners.PerceptronConfig {
	if c == nil {
		return &learners.PerceptronConfig{}
	}
	return &learners.PerceptronConfig{Eta: c.Eta}
}

// plain is that perceptron, of which it shows nothing but what every learner has.
type plain[T learner.Float] struct{ learner.Learner[T] }

// SetState names the learner that was registered.
func (l plain[T]) SetState(s learner.State) error { return named(l.Learner.SetState(s)) }

// CheckState names it, too.
func (l plain[T]) CheckState(s learner.State) error { return named(l.Learner.CheckState(s)) }

func named(err error) error {
	if err != nil {
		return fmt.Errorf("plain: %w", err)
	}
	return nil
}

func newPlain[T learner.Float](c learner.Config, env learner.Env) (learner.Learner[T], error) {
	e, err := learner.Lookup("perceptron")
	if err != nil {
		return nil, err
	}
	p, _ := c.(*config)
	l, err := learner.New[T](e, p.perceptron(), env)
	if err != nil {
		return nil, err
	}
	return plain[T]{l}, nil
}

func init() { learner.Register("plain", (*config)(nil)) }

func (*config) Entry() learner.Entry {
	return learner.Entry{
		Summary: "a perceptron without a members' form",
		Config:  func() learner.Config { return &config{Eta: 1} },
		New32:   newPlain[float32], New64: newPlain[float64],
	}
}

// data makes examples of 0 and 1, one in six of them 1, with labels of a random halfspace, some of
// them wrong.
func data(n, dim int) (sparse, dense *engine.Block[float64]) {
	rng := rand.New(rand.NewPCG(5, 7))
	u := make([]float64, dim)
	for j := range u {
		u[j] = rng.NormFloat64()
	}
	sparse = &engine.Block[float64]{Dim: dim, Ptr: []int{0}}
	dense = &engine.Block[float64]{Dim: dim, Stride: dim}
	for range n {
		x, f := make([]float64, dim), 0.0
		for j := range x {
			if rng.IntN(6) == 0 {
				x[j] = 1
				f += u[j]
				sparse.Idx, sparse.Val = append(sparse.Idx, int32(j)), append(sparse.Val, 1)
			}
		}
		sparse.Ptr, dense.X = append(sparse.Ptr, len(sparse.Idx)), append(dense.X, x...)
		y := math.Copysign(1, f)
		if rng.IntN(10) == 0 {
			y = -y
		}
		sparse.Y, dense.Y = append(sparse.Y, y), append(dense.Y, y)
	}
	return sparse, dense
}

func make64(t *testing.T, name string, c learner.Config, env learner.Env) learner.Learner[float64] {
	t.Helper()
	e, err := learner.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := learner.New[float64](e, c, env)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// learn learns b in blocks of size.
func learn(t *testing.T, l learner.Learner[float64], b *engine.Block[float64],
	size int) []learner.Round {
	t.Helper()
	rounds := make([]learner.Round, b.Len())
	for lo := 0; lo < b.Len(); lo += size {
		v := b.Slice(lo, min(lo+size, b.Len()))
		if err := l.Learn(&v, rounds[lo:]); err != nil {
			t.Fatal(err)
		}
	}
	return rounds
}

func ensemble(base, combine string, members int) *learners.OBPMConfig {
	return &learners.OBPMConfig{Members: members, Tau: 0.2, Base: base, Combine: combine,
		Together: true}
}

// TestEnsembleIsThatOfLanes: perceptrons of their own update as those in lanes do, on the same
// draws, and the scores, the votes, the probabilities and the mistakes are theirs. Sums of small
// whole numbers are exact in any order.
func TestEnsembleIsThatOfLanes(t *testing.T) {
	sparse, dense := data(600, 60)
	pool := engine.NewPool(3)
	defer pool.Close()
	for form, b := range map[string]*engine.Block[float64]{"sparse": sparse, "dense": dense} {
		for _, combine := range []string{learners.CombineWeights, learners.CombineVote} {
			what := form + ", " + combine
			want := make64(t, "obpm", ensemble("perceptron", combine, 70), learner.Env{Seed: 3})
			got := make64(t, "obpm", ensemble("plain", combine, 70),
				learner.Env{Seed: 3, Pool: pool})
			for range 2 {
				r, q := learn(t, want, b, 256), learn(t, got, b, 97)
				for i := range r {
					if r[i].Updates != q[i].Updates ||
						!approx.Within(r[i].Score, q[i].Score, 1e-12) {
						t.Fatalf("%s: example %d: %v, in lanes %v", what, i, q[i], r[i])
					}
				}
			}
			if got.Updates() != want.Updates() {
				t.Errorf("%s: %d updates, in lanes %d", what, got.Updates(), want.Updates())
			}
			sameAnswers(t, what, got, want, b)
		}
	}
}

// sameAnswers compares what the two learners say of b.
func sameAnswers(t *testing.T, what string, got, want learner.Learner[float64],
	b *engine.Block[float64]) {
	t.Helper()
	n := b.Len()
	f, g, p, q := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	m1, err1 := learner.MistakeCheckerOf(want).Mistakes(b)
	m2, err2 := learner.MistakeCheckerOf(got).Mistakes(b)
	if err := errors.Join(err1, err2, want.Score(b, f), got.Score(b, g),
		learner.ProberOf(want).Proba(b, p), learner.ProberOf(got).Proba(b, q)); err != nil {
		t.Fatal(err)
	}
	for i := range f {
		if !approx.Within(f[i], g[i], 1e-12) || p[i] != q[i] {
			t.Fatalf("%s: example %d: score %v, probability %v, in lanes %v, %v", what, i, g[i],
				q[i], f[i], p[i])
		}
	}
	if m1 != m2 || m1 == 0 {
		t.Errorf("%s: %d mistakes, in lanes %d", what, m2, m1)
	}
	w, v := want.Weights(), got.Weights()
	if len(w) != len(v) {
		t.Fatalf("%s: %d weights, in lanes %d", what, len(v), len(w))
	}
	for j := range w {
		if !approx.Within(w[j], v[j], 1e-12) {
			t.Errorf("%s: weight %d is %v, in lanes %v", what, j, v[j], w[j])
		}
	}
}

// TestSuite: the learner, and ensembles and random features over it, pass what all learners must.
func TestSuite(t *testing.T) {
	for name, c := range map[string]learner.Config{
		"plain": &config{Eta: 0.5},
		"obpm":  ensemble("plain", learners.CombineWeights, 9),
		"rff":   &learners.RFFConfig{D: 600, Sigma: 5, Base: "plain"},
	} {
		e, err := learner.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { learnertest.Check[float64](t, e, c) })
	}
}

func init() { learner.Register("classes", (*classes)(nil)) }

// classes is settings of a learner of three classes, which has three scores an example.
type classes struct{ config }

func (c *classes) Traits() learner.Traits {
	t := c.config.Traits()
	t.Classes = true
	return t
}

func (c *classes) Entry() learner.Entry {
	e := (*config)(nil).Entry() // c may be nil
	e.Config = func() learner.Config { return &classes{config{Eta: 1}} }
	return e
}

// TestWrappersOfClasses: ensembles have one score an example, and refuse a base of several.
func TestWrappersOfClasses(t *testing.T) {
	for _, c := range []learner.Config{
		&learners.OVRConfig{Base: "classes"},
		&learners.OBPMConfig{Members: 5, Tau: 0.5, Base: "classes",
			Combine: learners.CombineWeights},
	} {
		if err := c.Validate(); !errors.Is(err, learner.ErrConfig) {
			t.Errorf("%T over classes: %v, want %v", c, err, learner.ErrConfig)
		}
	}
}
