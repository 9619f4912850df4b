package eval

import (
	"fmt"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// recentExamples keeps the last examples, in memory that it uses again.
type recentExamples[T engine.Float] struct {
	most, n int
	blocks  []engine.Block[T] // the first one may begin before them
	spare   []engine.Block[T]
	views   []engine.Block[T]
}

// add takes the next examples, of which the last most are kept.
func (r *recentExamples[T]) add(b engine.Block[T], most int) {
	if b.Len() == 0 {
		return
	}
	var next engine.Block[T]
	if k := len(r.spare); k > 0 {
		next, r.spare = r.spare[k-1], r.spare[:k-1]
	}
	next.Copy(&b)
	r.blocks = append(r.blocks, next)
	r.n += b.Len()
	old := 0
	for r.most = most; r.n-r.blocks[old].Len() >= most; old++ {
		r.n -= r.blocks[old].Len()
		r.spare = append(r.spare, r.blocks[old])
	}
	r.blocks = r.blocks[:copy(r.blocks, r.blocks[old:])]
}

// last returns them, which depend on no cut; they are good until more come.
func (r *recentExamples[T]) last() []engine.Block[T] {
	r.views = append(r.views[:0], r.blocks...)
	if over := r.n - r.most; over > 0 {
		r.views[0] = r.views[0].Slice(over, r.views[0].Len())
	}
	return r.views
}

// packRecent packs the last examples.
func (r *run[T]) packRecent(p *packing) {
	blocks, n := r.lately.last(), 0
	for i := range blocks {
		n += blocks[i].Len()
	}
	n = p.length(n, r.o.Recent)
	if !p.reading {
		for i := range blocks {
			for k := range blocks[i].Len() {
				packExample(p, &blocks[i], k)
			}
		}
		return
	}
	p.want(int64(n) == min(r.count.Examples, int64(r.o.Recent)))
	for range n {
		var b engine.Block[T]
		if packExample(p, &b, 0); p.bad {
			return
		}
		r.lately.add(b, r.o.Recent)
	}
}

// replace replaces members where drift is found.
func (r *run[T]) replace() error {
	if r.o.Replace == 0 {
		return nil
	}
	by := learner.ReplacerOf(r.l)
	if by == nil {
		return fmt.Errorf("eval: %d members to be replaced, of a learner without: %w", r.o.Replace,
			ErrOptions)
	}
	return by.Replace(r.o.Replace, r.lately.last())
}
