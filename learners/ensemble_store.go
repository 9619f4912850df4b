package learners

import (
	"github.com/halfspace-ml/halfspace/engine"
)

// useLanes and useDense make a store the one that holds the members.
func (o *OBPM[T]) useLanes(l *engine.Lanes[T]) {
	o.lanes, o.dense = l, nil
	o.rule.bind(l)
}

func (o *OBPM[T]) useDense(d *engine.DenseMembers[T]) {
	o.lanes, o.dense = nil, d
	o.rule.bind(d)
}

// suits reports whether the members are in the form for b's examples, and suit brings them into it.
func (o *OBPM[T]) suits(b *engine.Block[T]) bool {
	return b.Dense() == (o.dense != nil) || b.Len() == 0
}

func (o *OBPM[T]) suit(b *engine.Block[T]) {
	switch {
	case o.suits(b):
	case b.Dense():
		d := engine.NewDenseMembers[T](o.cfg.Members)
		d.Grow(max(o.held, b.Dim))
		move(d, o.lanes, o.held, o.cfg.Members)
		o.useDense(d)
	default:
		l := engine.NewLanes[T](o.cfg.Members)
		l.Reach(o.held)
		move(l, o.dense, o.held, o.cfg.Members)
		o.useLanes(l)
	}
}

// reach makes room for features below dim.
func (o *OBPM[T]) reach(dim int) {
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
func (o *OBPM[T]) store() columns[T] {
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
