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
// who sees which example, and S. It is what [OBPM] averages.
type Ensemble[T learner.Float] struct {
	members int
	tau     float64 // probability that a member sees an example
	Path    string  // pathLanes, pathActive or any other
	Lengths bool    // |x|^2 is wanted even if the rule doesn't look at it
	Pool    *engine.Pool
	Draws   Masker
	*Stepper[T]

	// The members' weights: exactly one of these is there, in the layout of the last blocks.
	Lanes *engine.Lanes[T]
	dense *engine.DenseMembers[T]

	KeepsSum bool      // S is kept, and f comes from it; else f needs the scores of all members
	Sum      []float64 // S, one a feature seen, if keepsSum
	Dim      int       // features seen
	// Room is how many features there is room for: Dim, but after SetState up to the last with a
	// weight.
	Room int

	words    int          // of an example's mask
	LearnRun MemberRun[T] // of Learn

	// Scores may be asked for more than once at the same time. A form that the members are not in
	// yet is one that only one may bring about.
	Form      sync.RWMutex
	SpareRuns scratch.Stack[MemberRun[T]] // not in use; Learn's is one of them
}

// Masker draws who sees an example, as [engine.Bernoulli] does.
type Masker interface {
	Masks(mask []uint64, members int, example uint64)
}

// NewEnsemble returns new members in lanes.
func NewEnsemble[T learner.Float](members int, tau float64, s *Stepper[T], keepsSum bool,
	env learner.Env) Ensemble[T] {
	return Ensemble[T]{
		members: members, tau: tau, Lengths: s.Form.Norm2,
		Pool: env.Pool, Stepper: s, KeepsSum: keepsSum,
		Draws: engine.NewDraws(env.Seed, 0).Bernoulli(tau),
		words: (members + 63) / 64,
	}
}

// UseLanes and useDense make a store the one that holds the members.
func (o *Ensemble[T]) UseLanes(l *engine.Lanes[T]) {
	o.Lanes, o.dense = l, nil
	o.Rule.Bind(l)
}

func (o *Ensemble[T]) useDense(d *engine.DenseMembers[T]) {
	o.Lanes, o.dense = nil, d
	o.Rule.Bind(d)
}

// inFormOf reports whether the members are in the form for b's examples, and suit brings them into
// it.
func (o *Ensemble[T]) inFormOf(b *engine.Block[T]) bool {
	return b.Dense() == (o.dense != nil) || b.Len() == 0
}

func (o *Ensemble[T]) UseFormOf(b *engine.Block[T]) {
	switch {
	case o.inFormOf(b):
	case b.Dense():
		d := engine.NewDenseMembers[T](o.members)
		d.Grow(max(o.Room, b.Dim))
		move(d, o.Lanes, o.Room, o.members)
		o.useDense(d)
	default:
		l := engine.NewLanes[T](o.members)
		l.Reach(o.Room)
		move(l, o.dense, o.Room, o.members)
		o.UseLanes(l)
	}
}

// GrowTo makes room for features below dim.
func (o *Ensemble[T]) GrowTo(dim int) {
	o.Dim, o.Room = max(o.Dim, dim), max(o.Room, dim)
	if o.Lanes != nil {
		o.Lanes.Reach(dim)
	}
	if o.KeepsSum {
		o.Sum = primal.Grown(o.Sum, o.Room)
	}
}

// columns is what both stores of members are.
type columns[T learner.Float] interface {
	Column(dst []T, j int) bool
	SetColumn(j int, src []T)
	Scale(m int, f T)
	Bytes() int64
}

// Store returns the one in use.
func (o *Ensemble[T]) Store() columns[T] {
	if o.Lanes != nil {
		return o.Lanes
	}
	return o.dense
}

// move copies all weights that are not +0.
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

// MembersBytes is bytes without runs.
func (o *Ensemble[T]) MembersBytes() int64 {
	n := o.Store().Bytes() + primal.BytesOf(o.Sum) + o.Stepper.Form.Bytes*int64(o.members)
	return n + int64(unsafe.Sizeof(*o.Stepper))
}
