package eval

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/waiting"
	"github.com/halfspace-ml/halfspace/learner"
)

// IDs says which rows of a source are examples whose labels come in rows of their own, later, and
// how many of those wait. A row with an id and without a label is predicted, and waits. A row with
// a label whose id waits is that one's label, whatever features it has: the example is learned
// with them as it was predicted, and counted with what was predicted. Any other row with a label
// is learned as without IDs, or, where it has no features, left out. Where an id waits already the
// later row takes its place.
type IDs struct {
	// Row says what example i is, of the block that the source gave last. The id is good until the
	// next call.
	Row func(i int) (id []byte, labelled, bare bool)
	// Most is how many wait at most, and Bytes how much memory they take, 0 for any: where there
	// are more, those that have waited longest are left out. Least 1, and 0.
	Most  int
	Bytes int64
}

// checkIDs refuses IDs that can't be.
func (o *Options) checkIDs(inMemory bool) error {
	if i := o.IDs; inMemory || o.Delay > 0 || i.Row == nil || i.Most < 1 || i.Bytes < 0 {
		return fmt.Errorf("eval: labels by ids, beside a delay or of a data set in memory, or "+
			"without room for any: %w", ErrOptions)
	}
	return nil
}

// Late is what became of rows whose labels came by their ids, or didn't.
type Late struct {
	Answered int64 `json:"answered"` // learned when the label came
	Unknown  int64 `json:"unknown"`  // labels without features of ids that don't wait: left out
	Expired  int64 `json:"expired"`  // examples that made room for others: left out
	Again    int64 `json:"again"`    // examples whose id came again without a label: left out
}

// unlabelled is an example that was predicted and waits for its label.
type unlabelled[T engine.Float] struct {
	row    engine.Block[T] // it alone
	scores []float64
	proba  []float64 // with Options.Proba
}

// bytes is the memory that it takes.
func (u *unlabelled[T]) bytes() int64 {
	b := &u.row
	return int64(unsafe.Sizeof(*u)) + 4*int64(cap(b.Idx)) + 8*int64(cap(b.Ptr)) +
		int64(unsafe.Sizeof(T(0)))*int64(cap(b.Val)+cap(b.X)+cap(b.Y)+cap(b.W)) +
		4*int64(cap(b.Class)) + 8*int64(cap(u.scores)+cap(u.proba))
}

// byID is the examples that wait for labels by their ids.
type byID[T engine.Float] struct {
	list  *waiting.List[*unlabelled[T]]
	free  []*unlabelled[T]
	apart int64 // rows that neither wait nor were learned
	now   unlabelled[T]
}

// identified goes through the rows of a block.
func (r *run[T]) identified(ctx context.Context, b *engine.Block[T]) error {
	w := r.ids
	for i := range b.Len() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		id, labelled, bare := r.o.IDs.Row(i)
		if !bare && r.o.Prepare != nil {
			r.o.Prepare(i, i+1)
		}
		view := b.Slice(i, i+1)
		if labelled && len(id) > 0 {
			if u, waits := w.list.Take(string(id)); waits {
				w.apart++
				r.res.Late.Answered++
				if err := r.learnLate(u, &view); err != nil {
					return err
				}
				w.free = append(w.free, u)
				continue
			}
		}
		if bare && labelled {
			w.apart++
			r.res.Late.Unknown++
			continue
		}
		if labelled {
			if err := r.predict(&w.now, &view); err != nil {
				return err
			}
			w.now.row = view
			if err := r.learnLate(&w.now, &view); err != nil {
				return err
			}
			continue
		}
		if err := r.waitFor(id, &view); err != nil {
			return err
		}
	}
	r.res.Learn += r.lap()
	return nil
}

// waitFor predicts the one example of b, and has it wait.
func (r *run[T]) waitFor(id []byte, b *engine.Block[T]) error {
	w := r.ids
	u := new(unlabelled[T])
	if n := len(w.free); n > 0 {
		u, w.free = w.free[n-1], w.free[:n-1]
	}
	if err := r.predict(u, b); err != nil {
		return err
	}
	u.row.Copy(b)
	r.wait(string(id), u)
	return nil
}

// wait has an example wait.
func (r *run[T]) wait(id string, u *unlabelled[T]) {
	const spare = 64 // as many may be there for the next ones
	w, late := r.ids, r.res.Late
	old, again := w.list.Add(id, u, u.bytes(), func(_ string, u *unlabelled[T]) {
		w.apart++
		late.Expired++
		if len(w.free) < spare {
			w.free = append(w.free, u)
		}
	})
	if again {
		w.apart++
		late.Again++
		w.free = append(w.free, old)
	}
}

// predict fills in what is predicted of the one example of b.
func (r *run[T]) predict(u *unlabelled[T], b *engine.Block[T]) error {
	k := learner.OutputsOf(r.l)
	u.scores = slices.Grow(u.scores[:0], k)[:k]
	if err := r.l.Score(b, u.scores); err != nil {
		return fmt.Errorf("after %d examples: %w", r.res.Presented, err)
	}
	if r.prober == nil {
		return nil
	}
	u.proba = slices.Grow(u.proba[:0], k)[:k]
	if err := r.prober.Proba(b, u.proba); err != nil {
		return fmt.Errorf("after %d examples: %w", r.res.Presented, err)
	}
	return nil
}

// learnLate learns an example whose label is that of the one example of b.
func (r *run[T]) learnLate(u *unlabelled[T], b *engine.Block[T]) error {
	row := u.row.Slice(0, 1)
	row.Y, row.Class = b.Y, b.Class
	row.Reweigh(b.W)
	a := &r.answered
	*a = asked{sample: a.sample[:0]}
	if b.Class != nil {
		a.round.Score = learner.ClassScore(u.scores, int(b.Class[0]))
		a.round.Predicted = int32(learner.Predicted(u.scores))
		if r.classes != nil && r.res.Presented%SampleEach == 0 {
			a.sample = append(a.sample, u.scores...)
		}
	} else {
		a.round.Score = u.scores[0]
	}
	if r.prober != nil {
		a.believed = believedOf(&row, u.proba)
	}
	return r.block(&row)
}

// packIDs packs what waits, and what became of the rest.
func (r *run[T]) packIDs(p *packing) {
	w, l := r.ids, r.res.Late
	whole(p, learner.MaxCount, &w.apart, &l.Answered, &l.Unknown, &l.Expired, &l.Again)
	n := p.length(w.list.Len(), r.o.IDs.Most)
	if !p.reading {
		for id, u := range w.list.All() {
			u.pack(p, &id)
		}
		return
	}
	for range n {
		var id string
		u := new(unlabelled[T])
		u.pack(p, &id)
		if p.want(r.prober == nil || len(u.proba) > 0); p.bad {
			return
		}
		_, there := w.list.Take(id)
		p.want(!there)
		w.list.Add(id, u, u.bytes(), nil)
	}
	p.want(w.list.Len() == n)
}

func (u *unlabelled[T]) pack(p *packing, id *string) {
	p.text(id)
	packExample(p, &u.row, 0)
	packFloats(p, &u.scores)
	packFloats(p, &u.proba)
	p.want(len(*id) > 0 && len(u.scores) > 0)
}
