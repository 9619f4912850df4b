package learners

import (
	"sync"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/scratch"
)

// ensemble is members side by side: their weights in one of two forms, the rule that steps them,
// who sees which example, and S. It is what [OBPM] averages.
type ensemble[T Float] struct {
	members int
	tau     float64 // probability that a member sees an example
	path    string  // pathLanes, pathActive or any other
	lengths bool    // |x|^2 is wanted even if the rule doesn't look at it
	pool    *engine.Pool
	draws   masker
	*stepper[T]

	// The members' weights: exactly one of these is there, in the layout of the last blocks.
	lanes *engine.Lanes[T]
	dense *engine.DenseMembers[T]

	keepsSum bool      // S is kept, and f comes from it; else f needs the scores of all members
	sum      []float64 // S, one a feature seen, if keepsSum
	dim      int       // features seen
	// held is those that there is room for: dim, but after SetState up to the last with a weight.
	held int

	words int          // of an example's mask
	own   memberRun[T] // of Learn

	// Scores may be asked for more than once at the same time. A form that the members are not in
	// yet is one that only one may bring about.
	form sync.RWMutex
	runs scratch.Stack[memberRun[T]] // that nobody uses; Learn's is one of them
}

// masker draws who sees an example, as [engine.Bernoulli] does.
type masker interface {
	Masks(mask []uint64, members int, example uint64)
}

// newEnsemble returns new members in lanes.
func newEnsemble[T Float](members int, tau float64, s *stepper[T], keepsSum bool,
	env Env) ensemble[T] {
	return ensemble[T]{
		members: members, tau: tau, lengths: s.form.Norm2,
		pool: env.Pool, stepper: s, keepsSum: keepsSum,
		draws: engine.NewDraws(env.Seed, 0).Bernoulli(tau),
		words: (members + 63) / 64,
	}
}

// useLanes and useDense make a store the one that holds the members.
func (o *ensemble[T]) useLanes(l *engine.Lanes[T]) {
	o.lanes, o.dense = l, nil
	o.rule.Bind(l)
}

func (o *ensemble[T]) useDense(d *engine.DenseMembers[T]) {
	o.lanes, o.dense = nil, d
	o.rule.Bind(d)
}

// suits reports whether the members are in the form for b's examples, and suit brings them into it.
func (o *ensemble[T]) suits(b *engine.Block[T]) bool {
	return b.Dense() == (o.dense != nil) || b.Len() == 0
}

func (o *ensemble[T]) suit(b *engine.Block[T]) {
	switch {
	case o.suits(b):
	case b.Dense():
		d := engine.NewDenseMembers[T](o.members)
		d.Grow(max(o.held, b.Dim))
		move(d, o.lanes, o.held, o.members)
		o.useDense(d)
	default:
		l := engine.NewLanes[T](o.members)
		l.Reach(o.held)
		move(l, o.dense, o.held, o.members)
		o.useLanes(l)
	}
}

// reach makes room for features below dim.
func (o *ensemble[T]) reach(dim int) {
	o.dim, o.held = max(o.dim, dim), max(o.held, dim)
	if o.lanes != nil {
		o.lanes.Reach(dim)
	}
	if o.keepsSum {
		o.sum = grown(o.sum, o.held)
	}
}

// columns is what both stores of members are.
type columns[T Float] interface {
	Column(dst []T, j int) bool
	SetColumn(j int, src []T)
	Scale(m int, f T)
	Bytes() int64
}

// store returns the one in use.
func (o *ensemble[T]) store() columns[T] {
	if o.lanes != nil {
		return o.lanes
	}
	return o.dense
}

// move copies all weights that are not +0.
func move[T Float](dst, src columns[T], dim, members int) {
	col := make([]T, members)
	for j := range dim {
		if src.Column(col, j) {
			dst.SetColumn(j, col)
		}
	}
}

// bytes returns the memory of members and S, and of what a run takes.
func (o *ensemble[T]) bytes() int64 { return o.membersBytes() + o.own.bytes() }

// membersBytes is bytes without runs.
func (o *ensemble[T]) membersBytes() int64 {
	n := o.store().Bytes() + bytesOf(o.sum) + o.stepper.form.Bytes*int64(o.members)
	return n + int64(unsafe.Sizeof(*o.stepper))
}
