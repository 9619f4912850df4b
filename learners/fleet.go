package learners

import (
	"context"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/ensemble"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// fleet is learners of two classes that go through the same examples, each with labels of its own
// or shown some of them only: the classes of [OVRConfig], the pairs of [OVOConfig], the members of
// an [OBPMConfig] that are not in lanes. In a hypothesis Predictors stand in their place.
//
// An error that one makes out of an example, which no learner here does in this place, leaves
// learners that have not learned the same examples: the fleet then refuses to learn any more.
type fleet[T learner.Float] struct {
	name       string // of the learner over them, for errors
	pool       *engine.Pool
	learners   []learner.Learner[T]
	predictors []learner.Predictor[T] // of a hypothesis, which has no learners
	dim        int                    // features that all have seen
	presented  uint64                 // examples
	failed     error                  // of a learner
	// teach has learner k learn the run's examples, v
	teach func(r *fleetRun[T], k int, v *engine.Block[T]) error

	own  fleetRun[T]                // of Learn
	runs scratch.Stack[fleetRun[T]] // not in use; Learn's is one of them
}

// fleetRun is a run of examples in work, and scratch. It is the [engine.Job] of that: part k is
// learner k.
type fleetRun[T learner.Float] struct {
	f      *fleet[T]
	do     fleetWork
	b      engine.Block[T]
	y      []T               // [learner][example]: its label there; 0: it is not shown the example
	rounds []learner.Round   // [learner][example]
	scores []float64         // [learner][example]
	views  []engine.Block[T] // [learner]: what it is given
	errs   []error           // [learner]
}

// fleetWork is what learners do with a run.
type fleetWork int8

const (
	fleetScore fleetWork = iota
	fleetProba
	fleetLearn
)

// scorer is a learner or a Predictor.
type scorer[T learner.Float] interface {
	Score(b *engine.Block[T], dst []float64) error
	Weights() []float64
	Bytes() int64
}

// size is how many learners or Predictors there are.
func (f *fleet[T]) size() int { return len(f.learners) + len(f.predictors) }

func (f *fleet[T]) scorer(k int) scorer[T] {
	if f.predictors != nil {
		return f.predictors[k]
	}
	return f.learners[k]
}

// prober returns what gives the probabilities of learner or Predictor k, or nil.
func (f *fleet[T]) prober(k int) learner.Prober[T] {
	if f.predictors != nil {
		return learner.ProbaOf(f.predictors[k])
	}
	return learner.ProberOf(f.learners[k])
}

// snapshots returns one of each learner.
func (f *fleet[T]) snapshots() []learner.Predictor[T] {
	of := make([]learner.Predictor[T], len(f.learners))
	for k, l := range f.learners {
		of[k] = l.Snapshot()
	}
	return of
}

// views returns one of each learner, good until it learns on.
func (f *fleet[T]) views() []learner.Predictor[T] {
	of := make([]learner.Predictor[T], len(f.learners))
	for k, l := range f.learners {
		of[k] = learner.ViewOf(l)
	}
	return of
}

// reach shows all of them the features of b, before anything is learned: those that any refuses,
// all do.
func (f *fleet[T]) reach(b *engine.Block[T], all []learner.Learner[T]) error {
	if b.Dim <= f.dim {
		return nil
	}
	for _, l := range all {
		if err := f.show(l, b, b.Dim); err != nil {
			return err
		}
	}
	f.dim = b.Dim
	return nil
}

// show shows l that there are so many features, of examples in the form of b.
func (f *fleet[T]) show(l learner.Learner[T], b *engine.Block[T], dim int) error {
	none := b.Slice(0, 0)
	none.Dim, none.Class, none.Y = dim, nil, []T{}
	if b.Dense() {
		none.Stride = max(none.Stride, dim)
	}
	if err := l.Learn(&none, nil); err != nil {
		return fmt.Errorf("%s: base: %w", f.name, err)
	}
	return nil
}

// runOf is how many examples a run of so many learners takes. No result depends on it.
func runOf(learners int) int {
	return min(ensemble.RunExamples, max(1, ensemble.RunPartials/(learners+1)))
}

// take makes examples lo to hi-1 of b the run's, with room for what k learners make of them.
func (r *fleetRun[T]) take(f *fleet[T], do fleetWork, b *engine.Block[T], lo, hi, k int) {
	n := hi - lo
	r.f, r.do, r.b = f, do, b.Slice(lo, hi)
	r.scores = slices.Grow(r.scores[:0], n*k)[:n*k]
	r.views = slices.Grow(r.views[:0], k)[:k]
	r.errs = slices.Grow(r.errs[:0], k)[:k]
	if do == fleetLearn {
		r.b.MarkChecked() // its slices have labels of their own
		r.y = slices.Grow(r.y[:0], n*k)[:n*k]
		r.rounds = slices.Grow(r.rounds[:0], n*k)[:n*k]
	}
}

// run has all learners go through the examples.
func (r *fleetRun[T]) run() error {
	// What one takes for an example is not known; it is no less than this, in ns.
	const call, perProduct = 20, 4
	n, k := r.b.Len(), len(r.errs)
	nnz := n * r.b.Dim
	if !r.b.Dense() {
		nnz = r.b.Ptr[n] - r.b.Ptr[0]
	}
	if err := r.f.pool.Spread(context.Background(), k*(n*call+nnz/perProduct), k, r); err != nil {
		return err
	}
	for _, err := range r.errs {
		if err != nil {
			return fmt.Errorf("%s: base: %w", r.f.name, err)
		}
	}
	return nil
}

// Part implements engine.Job: learner k goes through the examples of r.b.
func (r *fleetRun[T]) Part(k int) {
	n, v := r.b.Len(), &r.views[k]
	*v = r.b.Slice(0, n)
	v.Class = nil
	defer func() { *v = engine.Block[T]{} }()
	switch r.do {
	case fleetScore:
		r.errs[k] = r.f.scorer(k).Score(v, r.scores[k*n:][:n])
	case fleetProba:
		r.errs[k] = r.f.prober(k).Proba(v, r.scores[k*n:][:n])
	default:
		r.errs[k] = r.f.teach(r, k, v)
	}
}

// learn has l, learner k, learn the examples that have a label for it in r.y. The others it scores
// in their place, as Learn would, if they are wanted.
func (r *fleetRun[T]) learn(k int, l learner.Learner[T], v *engine.Block[T], wanted bool) error {
	n := r.b.Len()
	y, rounds, scores := r.y[k*n:][:n], r.rounds[k*n:][:n], r.scores[k*n:][:n]
	for lo, hi := 0, 0; lo < n; lo = hi {
		for hi = lo + 1; hi < n && (y[hi] == 0) == (y[lo] == 0); {
			hi++
		}
		*v = r.b.Slice(lo, hi)
		v.Class, v.Y = nil, y[lo:hi]
		switch {
		case y[lo] != 0:
			if err := l.Learn(v, rounds[lo:hi]); err != nil {
				return err
			}
			for i := lo; i < hi; i++ {
				scores[i] = rounds[i].Score
			}
			continue
		case wanted:
			if err := l.Score(v, scores[lo:hi]); err != nil {
				return err
			}
		}
		for i := lo; i < hi; i++ {
			rounds[i] = learner.Round{Score: scores[i]}
		}
	}
	return nil
}

// updates returns those that learners made on example e of the run.
func (r *fleetRun[T]) updates(e, learners int) (sum int32) {
	n := r.b.Len()
	for k := range learners {
		sum += r.rounds[k*n+e].Updates
	}
	return sum
}

// each takes the scores or probabilities of the examples of b, which were checked, and calls visit
// for each example with those of all learners, which are n apart.
func (f *fleet[T]) each(b *engine.Block[T], do fleetWork,
	visit func(i int, scores []float64, n int)) error {
	r := f.runs.Take()
	defer f.runs.Give(r)
	for lo := 0; lo < b.Len(); lo += r.b.Len() {
		r.take(f, do, b, lo, min(b.Len(), lo+runOf(f.size())), f.size())
		if err := r.run(); err != nil {
			return err
		}
		for e := range r.b.Len() {
			visit(lo+e, r.scores[e:], r.b.Len())
		}
	}
	r.b = engine.Block[T]{}
	return nil
}

// keeper is what a Keeper method returns, the examples that the learners keep, each counted once a
// learner: nil for a base that keeps none.
func (f *fleet[T]) keeper(keeps bool) learner.Keeper {
	if !keeps {
		return nil
	}
	return support(func() (sum int) {
		for _, l := range f.learners {
			n, _ := learner.SupportOf(l)
			sum += n
		}
		return sum
	})
}

// support is a [learner.Keeper] that is a function.
type support func() int

// Support is [learner.Keeper.Support].
func (f support) Support() int { return f() }

// forgetAll has all of them forget, who can; what one refuses, the first does.
func forgetAll[T learner.Float](all []learner.Learner[T], keep float64) error {
	for _, l := range all {
		if err := learner.ForgetterOf(l).Forget(keep); err != nil {
			return err
		}
	}
	return nil
}

// bytes returns the memory of learners or Predictors, and of what runs take.
func (f *fleet[T]) bytes() int64 {
	n := f.runs.Bytes((*fleetRun[T]).bytes) + 32*int64(f.size())
	for k := range f.size() {
		n += f.scorer(k).Bytes()
	}
	return n
}

// bytes returns the memory of a run's scratch.
func (r *fleetRun[T]) bytes() int64 {
	return primal.BytesOf(r.y) + 8*int64(cap(r.scores)) + 16*int64(cap(r.rounds)+cap(r.errs)) +
		int64(cap(r.views))*int64(unsafe.Sizeof(engine.Block[T]{}))
}

// fields walks the counters that all fleets have.
func (f *fleet[T]) fields(c *learner.Codec) {
	learner.Count(c, "presented", &f.presented)
	dim := learner.Count(c, "dim", &f.dim)
	c.Want(dim <= math.MaxInt32, "counter %q is %d", "dim", dim)
	c.PerFeature("dim", dim)
	c.Then(func() { f.failed = nil })
}

// predictorFields walks the States of the Predictors, whose names begin with prefix.
func (f *fleet[T]) predictorFields(c *learner.Codec, prefix func(k int) string) {
	of := make([]memberPredictor[T], len(f.predictors))
	for k := range of {
		of[k].p = &f.predictors[k]
	}
	learner.Inners(c, prefix, of)
}

// memberPredictor is a Predictor that takes its State as a learner does.
type memberPredictor[T learner.Float] struct{ p *learner.Predictor[T] }

// State is the Predictor's.
func (h memberPredictor[T]) State() learner.State { return (*h.p).State() }

// CheckState returns the error that SetState would return.
func (h memberPredictor[T]) CheckState(s learner.State) error {
	return learner.CheckRestored(*h.p, s)
}

// SetState replaces the Predictor by one of that State.
func (h memberPredictor[T]) SetState(s learner.State) error {
	q, err := learner.Restored(*h.p, s)
	if err == nil {
		*h.p = q
	}
	return err
}

// bias is a [learner.Biased] that is a function.
type bias func() float64

// Bias is [learner.Biased.Bias].
func (f bias) Bias() float64 { return f() }

// forgets is a [learner.Forgetter] that is a function.
type forgets func(keep float64) error

// Forget is [learner.Forgetter.Forget].
func (f forgets) Forget(keep float64) error { return f(keep) }

// fleetFootprint is the Footprint of k learners of those settings, called that, of which each has
// so many bytes beside the run's examples, and a state of its own.
func fleetFootprint(f *learner.Footprint, one learner.Footprint, what string, k, run, state int64,
	x learner.Extent) {
	for _, p := range one.Parts {
		f.Add(what+" "+p.Name, learner.Times(p.Items, k), learner.Times(p.Bytes, k))
	}
	f.Add(what+" work space", k, run+primal.FixedBytes)
	f.Moving = learner.Plus(f.Moving, learner.Times(one.Moving, k))
	f.Each = learner.Plus(f.Each, learner.Times(one.Each, k))
	f.Copied(x, state, learner.Times(one.Copies, k))
}
