package eval

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/calibration"
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

// Late counts rows whose labels come by their ids.
type Late struct {
	Answered int64 `json:"answered"` // learned when the label came
	Unknown  int64 `json:"unknown"`  // labels without features of ids that don't wait: left out
	Expired  int64 `json:"expired"`  // examples that made room for others: left out
	Again    int64 `json:"again"`    // examples whose id came again without a label: left out
}

// prediction is what was predicted of an example whose label has not come.
type prediction struct {
	Scores numbers
	Proba  numbers // with Options.Proba
}

// predict fills in what is predicted of the one example of b.
func (r *run[T]) predict(p *prediction, b *engine.Block[T]) error {
	k := learner.OutputsOf(r.l)
	p.Scores = slices.Grow(p.Scores[:0], k)[:k]
	if err := r.l.Score(b, p.Scores); err != nil {
		return fmt.Errorf("after %d examples: %w", r.res.Presented, err)
	}
	if r.prober == nil {
		return nil
	}
	p.Proba = slices.Grow(p.Proba[:0], k)[:k]
	if err := r.prober.Proba(b, p.Proba); err != nil {
		return fmt.Errorf("after %d examples: %w", r.res.Presented, err)
	}
	return nil
}

// learnLate learns the one example of b, whose label has come, and counts what was predicted.
func (r *run[T]) learnLate(p *prediction, b *engine.Block[T]) error {
	r.answered = learner.Round{}
	if b.Class == nil {
		r.answered.Score = p.Scores[0]
	} else {
		r.answered.Score = learner.ClassScore(p.Scores, int(b.Class[0]))
		r.answered.Predicted = int32(learner.Predicted(p.Scores))
		if r.classes() && r.res.Presented%calibration.SampleEach == 0 {
			r.sample = append(r.sample[:0], p.Scores...)
		}
	}
	if r.prober != nil {
		r.believed = believedOf(b, p.Proba)
	}
	return r.block(b)
}

// answer puts what was predicted when the example was asked about in the place of the round in
// which it was learned, and returns 1 if that was a mistake, which the learner's count has.
func (r *run[T]) answer(b *engine.Block[T], round *learner.Round) (mistake int64) {
	y := 1.0
	if b.Class == nil {
		y = float64(b.Y[0])
	}
	mistake = one(!(y*round.Score > 0))
	round.Score, round.Predicted = r.answered.Score, r.answered.Predicted
	return mistake
}

// late reports whether labels come later than their examples.
func (r *run[T]) late() bool { return r.waits != nil || r.ids != nil }

// waiting returns how many examples were predicted and not learned yet, and apart how many that
// are before the place where the run stands neither wait nor were learned.
func (r *run[T]) waiting() (waiting, apart int64) {
	switch {
	case r.ids != nil:
		return int64(r.ids.list.Len()), r.ids.apart
	case r.waits != nil:
		return int64(r.waits.len()), 0
	}
	return 0, 0
}

// queue is the examples that wait with Options.Delay, the oldest first.
type queue[T engine.Float] struct {
	list []*unlabelled[T] // those before the first that waits are nil
	at   int
	free spares[T]
}

func (w *queue[T]) len() int { return len(w.list) - w.at }

// next returns the first example that waits, which no longer does.
func (w *queue[T]) next() *unlabelled[T] {
	u := w.list[w.at]
	w.list[w.at] = nil
	if w.at++; w.at > 1024 && w.at > len(w.list)/2 {
		w.list, w.at = w.list[:copy(w.list, w.list[w.at:])], 0
	}
	return u
}

// delayed predicts the examples of b, and learns those whose labels come meanwhile.
func (r *run[T]) delayed(ctx context.Context, b *engine.Block[T]) error {
	for i := range b.Len() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if r.o.Prepare != nil {
			r.o.Prepare(i, i+1)
		}
		r.view = b.Slice(i, i+1)
		u := r.waits.free.take()
		r.waits.list = append(r.waits.list, u)
		u.row.Copy(&r.view)
		if err := r.predict(&u.prediction, &r.view); err != nil {
			return err
		}
		if err := r.learn(ctx, r.o.Delay); err != nil {
			return err
		}
	}
	r.res.Learn += r.lap()
	return nil
}

// learn learns examples until at most so many wait.
func (r *run[T]) learn(ctx context.Context, most int) error {
	for r.waits.len() > most {
		if most == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		u := r.waits.next()
		if err := r.learnLate(&u.prediction, &u.row); err != nil {
			return err
		}
		r.waits.free = append(r.waits.free, u)
	}
	return nil
}

// unlabelled is an example that waits for its label.
type unlabelled[T engine.Float] struct {
	row engine.Block[T] // it alone
	prediction
}

// spares are examples that don't wait any more, whose memory serves the next ones.
type spares[T engine.Float] []*unlabelled[T]

func (s *spares[T]) take() *unlabelled[T] {
	n := len(*s)
	if n == 0 {
		return new(unlabelled[T])
	}
	u := (*s)[n-1]
	*s = (*s)[:n-1]
	return u
}

// bytes is the memory that it takes.
func (u *unlabelled[T]) bytes() int64 {
	b := &u.row
	return int64(unsafe.Sizeof(*u)) + 4*int64(cap(b.Idx)) + 8*int64(cap(b.Ptr)) +
		int64(unsafe.Sizeof(T(0)))*int64(cap(b.Val)+cap(b.X)+cap(b.Y)+cap(b.W)) +
		4*int64(cap(b.Class)) + 8*int64(cap(u.Scores)+cap(u.Proba))
}

// byID is the examples that wait for labels by their ids.
type byID[T engine.Float] struct {
	list  *waiting.List[*unlabelled[T]]
	free  spares[T]
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
		var err error
		switch {
		case !labelled:
			err = r.waitFor(string(id), &view)
		case r.ids.waits(id, &w.now):
			w.apart++
			r.res.Late.Answered++
			row := w.now.row.Slice(0, 1)
			row.Y, row.Class = view.Y, view.Class
			row.Reweigh(view.W)
			err = r.learnLate(&w.now.prediction, &row)
		case bare:
			w.apart++
			r.res.Late.Unknown++
		default:
			if err = r.predict(&w.now.prediction, &view); err == nil {
				err = r.learnLate(&w.now.prediction, &view)
			}
		}
		if err != nil {
			return err
		}
	}
	r.res.Learn += r.lap()
	return nil
}

// waits takes the example that waits under an id; now gets it.
func (w *byID[T]) waits(id []byte, now *unlabelled[T]) bool {
	if len(id) == 0 {
		return false
	}
	u, ok := w.list.Take(string(id))
	if ok {
		*now, *u = *u, *now
		w.free = append(w.free, u)
	}
	return ok
}

// waitFor predicts the one example of b, which then waits.
func (r *run[T]) waitFor(id string, b *engine.Block[T]) error {
	const spare = 64 // as many may be there for the next ones
	w, late := r.ids, r.res.Late
	u := w.free.take()
	if err := r.predict(&u.prediction, b); err != nil {
		return err
	}
	u.row.Copy(b)
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
	return nil
}

// waitingState is the JSON of an example that waits.
type waitingState[T engine.Float] struct {
	ID  string `json:",omitempty"`
	Row engine.Block[T]
	prediction
}

// valid reports whether the run can have the example.
func (s *waitingState[T]) valid(r *run[T]) bool {
	b := &s.Row
	if r.prober != nil && len(s.Proba) != len(s.Scores) ||
		r.o.Features > 0 && b.Dim > r.o.Features || len(b.Y) != 1 || b.Check() != nil ||
		len(b.Class) > 1 {
		return false
	}
	for _, k := range b.Class {
		if k < 0 || k >= mostClasses || r.o.Classes > 0 && int(k) >= r.o.Classes {
			return false
		}
	}
	return b.Class != nil || len(s.Scores) == 1
}

func (r *run[T]) saveQueue() any {
	var list []waitingState[T]
	for _, u := range r.waits.list[r.waits.at:] {
		list = append(list, waitingState[T]{Row: u.row, prediction: u.prediction})
	}
	return list
}

func (r *run[T]) loadQueue(read func(any) bool) bool {
	var list []waitingState[T]
	if !read(&list) || len(list) > r.o.Delay {
		return false
	}
	for i := range list {
		if !list[i].valid(r) {
			return false
		}
		u := &unlabelled[T]{row: list[i].Row, prediction: list[i].prediction}
		r.waits.list = append(r.waits.list, u)
	}
	return true
}

// idsState is the JSON of byID.
type idsState[T engine.Float] struct {
	Apart int64
	Late  Late
	Rows  []waitingState[T]
}

func (r *run[T]) saveIDs() any {
	s := idsState[T]{Apart: r.ids.apart, Late: *r.res.Late}
	for id, u := range r.ids.list.All() {
		w := waitingState[T]{ID: id, prediction: u.prediction}
		w.Row.Copy(&u.row)
		w.Row.Y = []T{1} // not known yet
		if w.Row.Class != nil {
			w.Row.Class = []int32{0}
		}
		s.Rows = append(s.Rows, w)
	}
	return s
}

func (r *run[T]) loadIDs(read func(any) bool) bool {
	var s idsState[T]
	if !read(&s) || len(s.Rows) > r.o.IDs.Most ||
		!counts(s.Apart, s.Late.Answered, s.Late.Unknown, s.Late.Expired, s.Late.Again) {
		return false
	}
	r.ids.apart, *r.res.Late = s.Apart, s.Late
	for i := range s.Rows {
		row := &s.Rows[i]
		if row.ID == "" || !row.valid(r) {
			return false
		}
		u := &unlabelled[T]{prediction: row.prediction}
		u.row.Copy(&row.Row)
		r.ids.list.Add(row.ID, u, u.bytes(), nil)
	}
	return r.ids.list.Len() == len(s.Rows)
}
