package eval

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// queue is the examples that were predicted and whose labels have not come: Options.Delay. The
// blocks that they came in are copied, and their memory serves the next ones.
type queue[T engine.Float] struct {
	blocks, free []*engine.Block[T]
	at           int // of the first block: examples that are learned
	asked        []asked
	first        int // of asked
	scores       []float64
}

// asked is what was predicted of an example.
type asked struct {
	round    learner.Round
	believed Outcome
	sample   []float64 // of SampleEach examples of classes, one's scores; else nil
}

// len returns how many wait.
func (w *queue[T]) len() int { return len(w.asked) - w.first }

// take copies a block. Of what is prepared afterwards, settle has the values.
func (w *queue[T]) take(b *engine.Block[T]) *engine.Block[T] {
	var c *engine.Block[T]
	if n := len(w.free); n > 0 {
		c, w.free = w.free[n-1], w.free[:n-1]
	} else {
		c = new(engine.Block[T])
	}
	c.Copy(b)
	w.blocks = append(w.blocks, c)
	return c
}

// settle copies the values of example i of b once more, which were prepared meanwhile.
func settle[T engine.Float](c, b *engine.Block[T], i int) {
	_, to := c.Example(i)
	_, from := b.Example(i)
	copy(to, from)
}

// next makes view the first example that waits, which no longer does, and returns what was
// predicted of it.
func (w *queue[T]) next(view *engine.Block[T]) asked {
	for w.at == w.blocks[0].Len() {
		w.free = append(w.free, w.blocks[0])
		n := copy(w.blocks, w.blocks[1:])
		w.blocks, w.at = w.blocks[:n], 0
	}
	*view = w.blocks[0].Slice(w.at, w.at+1)
	w.at++
	a := w.asked[w.first]
	if w.first++; w.first > 1024 && w.first > len(w.asked)/2 {
		n := copy(w.asked, w.asked[w.first:])
		w.asked, w.first = w.asked[:n], 0
	}
	return a
}

// delayed predicts the examples of b, and learns those whose labels come meanwhile.
func (r *run[T]) delayed(ctx context.Context, b *engine.Block[T]) error {
	c := r.waits.take(b)
	for i := range b.Len() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if r.o.Prepare != nil {
			r.o.Prepare(i, i+1)
			settle(c, b, i)
		}
		r.view = b.Slice(i, i+1)
		if err := r.ask(&r.view); err != nil {
			return err
		}
		if err := r.learn(ctx, r.o.Delay); err != nil {
			return err
		}
	}
	r.res.Learn += r.lap()
	return nil
}

// ask predicts the one example of b.
func (r *run[T]) ask(b *engine.Block[T]) error {
	w := r.waits
	if err := r.believe(b); err != nil {
		return err
	}
	k := learner.OutputsOf(r.l)
	for len(w.scores) < k {
		w.scores = append(w.scores, 0)
	}
	f := w.scores[:k]
	if err := r.l.Score(b, f); err != nil {
		return fmt.Errorf("after %d examples: %w", r.res.Presented, err)
	}
	a := asked{believed: r.believed}
	if b.Class != nil {
		a.round.Score = learner.ClassScore(f, int(b.Class[0]))
		a.round.Predicted = int32(learner.Predicted(f))
		if r.classes != nil && (r.res.Presented+int64(w.len()))%SampleEach == 0 {
			a.sample = slices.Clone(f)
		}
	} else {
		a.round.Score = f[0]
	}
	w.asked = append(w.asked, a)
	return nil
}

// answer puts what was predicted when the example was asked about in the place of the round in
// which it was learned, and returns 1 if that was a mistake, which the learner's count has.
func (r *run[T]) answer(b *engine.Block[T], round *learner.Round) (mistake int64) {
	y := 1.0
	if b.Class == nil {
		y = float64(b.Y[0])
	}
	mistake = one(!(y*round.Score > 0))
	round.Score, round.Predicted = r.answered.round.Score, r.answered.round.Predicted
	return mistake
}

// learn learns examples until no more than so many wait.
func (r *run[T]) learn(ctx context.Context, most int) error {
	for r.waits.len() > most {
		if most == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.answered = r.waits.next(&r.view)
		if err := r.block(&r.view); err != nil {
			return err
		}
	}
	return nil
}

// late reports whether labels come later than their examples.
func (r *run[T]) late() bool { return r.waits != nil || r.ids != nil }

// waiting returns how many examples were predicted and not learned yet, and apart how many that
// are behind the place where the run stands neither wait nor were learned.
func (r *run[T]) waiting() (waiting, apart int64) {
	switch {
	case r.ids != nil:
		return int64(r.ids.list.Len()), r.ids.apart
	case r.waits != nil:
		return int64(r.waits.len()), 0
	}
	return 0, 0
}

// packQueue packs what waits.
func (r *run[T]) packQueue(p *packing) {
	w := r.waits
	n := p.length(w.len(), r.o.Delay)
	block, at := 0, w.at
	for i := range n {
		if p.bad {
			return
		}
		if p.reading {
			b := new(engine.Block[T])
			packExample(p, b, 0)
			w.blocks, w.asked = append(w.blocks, b), append(w.asked, asked{})
		} else {
			for at == w.blocks[block].Len() {
				block, at = block+1, 0
			}
			packExample(p, w.blocks[block], at)
			at++
		}
		w.asked[w.first+i].pack(p)
	}
}

func (a *asked) pack(p *packing) {
	predicted := a.round.Predicted + 1
	p.float(&a.round.Score)
	whole(p, mostClasses, &predicted)
	a.round.Predicted = predicted - 1
	a.believed.pack(p)
	packFloats(p, &a.sample)
}

// packFloats packs some floats; none are nil.
func packFloats(p *packing, list *[]float64) {
	n := p.length(len(*list), mostClasses)
	if p.reading {
		if *list = nil; n > 0 {
			*list = make([]float64, n)
		}
	}
	for i := range *list {
		p.float(&(*list)[i])
	}
}

// packExample packs example i of b, which becomes a block of it alone where it is read.
func packExample[T engine.Float](p *packing, b *engine.Block[T], i int) {
	dense, classes, weighted := b.Dense(), b.Class != nil, len(b.W) > 0
	p.flag(&dense)
	p.flag(&classes)
	p.flag(&weighted)
	var (
		class     int32
		positive  bool
		w, last   = 1.0, int32(-1)
		idx       []int32
		val       []T
		dim       = b.Dim
		unchecked engine.Block[T]
	)
	if !p.reading {
		positive, w = b.Y[i] > 0, float64(b.Weight(i))
		if idx, val = b.Example(i); classes {
			class = b.Class[i]
		}
	}
	p.flag(&positive)
	if classes {
		whole(p, mostClasses, &class)
		p.want(p.classes == 0 || int(class) < p.classes)
	}
	if weighted {
		p.float(&w)
	}
	whole(p, math.MaxInt32, &dim)
	n := p.length(len(val), math.MaxInt32)
	if p.reading {
		if val = make([]T, n); !dense {
			idx = make([]int32, n)
		}
	}
	for k := range val {
		if !dense {
			step := idx[k] - last
			whole(p, math.MaxInt32, &step)
			p.want(int64(last)+int64(step) < int64(dim))
			idx[k], last = last+step, last+step
		}
		v := float64(val[k])
		p.float(&v)
		val[k] = T(v)
	}
	if !p.reading {
		return
	}
	p.want((!dense || n == dim) && (p.features == 0 || dim <= p.features))
	if p.bad {
		return
	}
	unchecked = engine.Block[T]{Dim: dim, Y: []T{T(2*one(positive) - 1)}}
	if dense {
		unchecked.X, unchecked.Stride = val, dim
	} else {
		unchecked.Ptr, unchecked.Idx, unchecked.Val = []int{0, n}, idx, val
	}
	if classes {
		unchecked.Class = []int32{class}
	}
	if weighted {
		unchecked.W = []T{T(w)}
	}
	*b = unchecked
	p.want(b.Check() == nil)
}
