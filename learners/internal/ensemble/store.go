package ensemble

import (
	"sync"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners/internal/primal"
)

// Ensemble is members side by side: their weights in one of two forms, the rule that steps them,
// the draws of who sees which example, and S, the sum of their weights. Algorithm 2 of the OBPM
// paper (see the package comment) averages them.
type Ensemble[T learner.Float] struct {
	members int
	tau     float64 // probability that a member sees an example
	Lengths bool    // |x|^2 is wanted even if the rule doesn't look at it
	Pool    *engine.Pool
	Draws   Masker // b_{j,t}
	// firstWord is the word of the first member's draws, in the whole ensemble.
	firstWord int
	*Stepper[T]

	// The members' weights: exactly one of these is there, in the layout of the last blocks.
	Lanes *Lanes[T]
	dense *DenseMembers[T]

	KeepsSum bool      // S is kept, and f comes from it; else f needs the scores of all members
	sum      []float64 // S, one a feature seen, if KeepsSum; see Sum
	Dim      int       // features seen
	// Room is how many features there is room for: Dim, but of a restored state only up to the last
	// feature with a weight.
	Room int

	words    int          // of an example's mask, of 64 members each
	LearnRun MemberRun[T] // the run of Learn, which Replay goes through once more

	// Form guards lanes and dense against calls of Score at the same time. They share it for
	// reading while the members are in the form of their examples; one that needs the other form
	// holds it alone. Learn needs no lock: a Learner belongs to one goroutine.
	Form      sync.RWMutex
	SpareRuns scratch.Stack[MemberRun[T]] // not in use; Learn's is one of them
}

// Masker draws who sees an example, as [engine.Bernoulli] does.
type Masker interface {
	Masks(mask []uint64, word, members int, example uint64)
}

// NewEnsemble returns an ensemble without a store of weights: UseLanes gives it one. Draws are
// those of stream 0 of the seed, so that a member's do not depend on how many there are; first is
// the number of the first one in the whole ensemble, of which these are a part.
func NewEnsemble[T learner.Float](first, members int, tau float64, s *Stepper[T], keepsSum bool,
	env learner.Env) Ensemble[T] {
	return Ensemble[T]{
		members: members, tau: tau, Lengths: s.Form.Norm2,
		Pool: env.Pool, Stepper: s, KeepsSum: keepsSum,
		Draws: engine.NewDraws(env.Seed, 0).Bernoulli(tau), firstWord: first / 64,
		words: (members + 63) / 64,
	}
}

// NewLanes returns lanes without weights, cut for the workers of the pool.
func (o *Ensemble[T]) NewLanes() *Lanes[T] {
	l := NewLanes[T](o.members)
	l.Share(o.Pool.Workers())
	return l
}

// UseLanes makes l the store of the members' weights. Rules with factors on the weights go by it
// from then on.
func (o *Ensemble[T]) UseLanes(l *Lanes[T]) {
	o.Lanes, o.dense = l, nil
	o.Rule.Bind(l)
}

// useDense is UseLanes of a dense store.
func (o *Ensemble[T]) useDense(d *DenseMembers[T]) {
	o.Lanes, o.dense = nil, d
	o.Rule.Bind(d)
}

// inFormOf reports whether the members are in the form for b's examples. An empty block suits both.
func (o *Ensemble[T]) inFormOf(b *engine.Block[T]) bool {
	return b.Len() == 0 || b.Dense() == (o.dense != nil)
}

// inInt16 reports whether weights are in int16, where scores are not to be had.
func (o *Ensemble[T]) inInt16() bool { return o.Lanes != nil && o.Lanes.Int16() }

// UseFormOf moves the members into the form for b's examples, if they are in the other one: lanes
// for sparse examples, where a non-zero takes one row operation for all members, rows of weights
// for dense ones, where a member takes a dot an example. Cost: all weights once; a stream of one
// kind moves them once at most.
func (o *Ensemble[T]) UseFormOf(b *engine.Block[T]) {
	switch {
	case o.inFormOf(b):
	case b.Dense():
		d := NewDenseMembers[T](o.members)
		d.Grow(max(o.Room, b.Dim))
		move(d, o.Lanes, o.Room, o.members)
		o.useDense(d)
	default:
		l := o.NewLanes()
		l.Reach(o.Room)
		move(l, o.dense, o.Room, o.members)
		o.UseLanes(l)
	}
}

// GrowTo makes room for features below dim, which are new ones of weight 0. Dense rows grow with
// the run that needs them.
func (o *Ensemble[T]) GrowTo(dim int) {
	o.Dim, o.Room = max(o.Dim, dim), max(o.Room, dim)
	if o.Lanes != nil {
		o.Lanes.Reach(dim)
	}
	if o.KeepsSum {
		o.sum = primal.Grown(o.sum, o.Room)
	}
}

// Sum returns S, one a feature seen, if it is kept: that of the learner, not a copy.
func (o *Ensemble[T]) Sum() []float64 { return o.sum }

// Clear takes all weights and features away, and makes l, without any, the store of those to come.
func (o *Ensemble[T]) Clear(l *Lanes[T]) {
	o.Room, o.sum = 0, nil
	o.UseLanes(l)
}

// columns is what both stores of members are: weights by feature, so that they can be moved and
// written without regard to the layout.
type columns[T learner.Float] interface {
	Column(dst []T, j int) bool
	SetColumn(j int, src []T)
	Scale(m int, f T)
	Bytes() int64
}

// Column sets dst[m] to the weight of feature j in member m and reports whether any is not +0, bit
// for bit.
func (o *Ensemble[T]) Column(dst []T, j int) bool { return o.Store().Column(dst, j) }

// Store returns the one in use, of this ensemble alone.
func (o *Ensemble[T]) Store() columns[T] {
	if o.Lanes != nil {
		return o.Lanes
	}
	return o.dense
}

// move copies all weights that are not +0: of a feature without any the new store needs no row.
func move[T learner.Float](dst, src columns[T], dim, members int) {
	col := make([]T, members)
	for j := range dim {
		if src.Column(col, j) {
			dst.SetColumn(j, col)
		}
	}
}

// Bytes returns the memory of members and S, and of what a run takes.
func (o *Ensemble[T]) Bytes() int64 { return o.MembersBytes() + o.LearnRun.Bytes() }

// MembersBytes is Bytes without runs.
func (o *Ensemble[T]) MembersBytes() int64 {
	return primal.BytesOf(o.sum) + o.Stepper.Form.Bytes*int64(o.members) + o.Store().Bytes() +
		int64(unsafe.Sizeof(*o.Stepper))
}
