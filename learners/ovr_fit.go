package learners

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// columnsFit is a run of Fit over columns, one after another. Each is fitted as a learner of two
// classes is, and what it leaves where it is cut is part of its own state. The cut of the whole,
// part of the State under names that begin with learner.CutPrefix, adds at which column that was,
// the options, and what those behind it have reached. Columns before their turn score 0.
type columnsFit[T learner.Float] struct {
	o    *ovr[T]
	b    *engine.Block[T]
	f    learner.FitOptions
	data func() uint64 // the fingerprint of b, classes included

	at   int               // the column in work
	done learner.FitResult // of those behind it, Updates since this call
	work learner.FitResult // of it before this call: Epochs and Presented
	// of all before this call: Epochs and Presented; Resumed: there was one
	before learner.FitResult

	updates uint64 // of all columns before this call
	// examples of columns behind since the last checkpoint, and those of the one in work before it
	behind, saved int64
	last          time.Time // of the last checkpoint
	called        bool      // there was a checkpoint in this call
}

// Flags of the cut of columns.
const (
	cutColumnsActive   = 1 << iota // FitOptions
	cutColumnsHalving              // FitOptions
	cutColumnsLeft                 // a column behind has not converged
	cutColumnsWeights              // a column behind ran on weights
	cutColumnsNoMargin             // a column behind has no margin: its weights are 0
)

// columnsCut is where a run was cut; nil: none was.
type columnsCut struct {
	data, n, column, flags        uint64
	epochs, presented, violators  uint64  // FitResult of the columns behind
	columnEpochs, columnPresented uint64  // of the column in work
	soft                          float64 // FitOptions.Delta
	margin, bound                 float64 // of those behind, if they are finite numbers
}

// cutFields walks o.cut, of so many columns.
func (o *ovr[T]) cutFields(c *learner.Codec, columns int) {
	at := o.cut
	if !c.Optional(learner.CutPrefix+learner.CutData, at != nil) {
		c.Then(func() { o.cut = nil })
		return
	}
	if !c.Writing() {
		at = &columnsCut{margin: math.Inf(1), bound: math.Inf(1)}
	}
	const most = 1 << 53
	c.In(learner.CutPrefix, func(c *learner.Codec) {
		for _, p := range []struct {
			name        string
			at          *uint64
			least, most uint64
		}{
			{learner.CutData, &at.data, 0, most}, {learner.CutN, &at.n, 1, math.MaxInt32},
			{learner.CutColumn, &at.column, 0, uint64(max(0, columns-1))},
			{learner.CutEpochs, &at.epochs, 0, most},
			{learner.CutFlags, &at.flags, 0, 2*cutColumnsNoMargin - 1},
			{"presented", &at.presented, 0, most}, {"violators", &at.violators, 0, most},
			{"column_epochs", &at.columnEpochs, 0, most},
			{"column_presented", &at.columnPresented, 0, most},
		} {
			v := learner.Count(c, p.name, p.at)
			c.Want(v >= p.least && v <= p.most, "where a run was cut: counter %q is %d", p.name, v)
		}
		if c.Optional("soft", at.soft > 0) {
			v := c.Scalar("soft", &at.soft)
			c.Want(v > 0, "where a run was cut: scalar %q is %v", "soft", v)
		}
		if c.Optional("margin", at.margin-at.margin == 0) {
			c.Scalar("margin", &at.margin)
		}
		if c.Optional("bound", at.bound-at.bound == 0) {
			c.Scalar("bound", &at.bound)
		}
	})
	c.Then(func() { o.cut = at })
}

// fit fits the classes one after another. They share kernel rows, which don't depend on labels.
func (o *ovr[T]) fit(ctx context.Context, b *engine.Block[T], f learner.FitOptions) (
	learner.FitResult, error) {
	classes := o.cfg.Classes
	if classes == 0 {
		classes = o.most()
	}
	if err := b.CheckClasses(classes); err != nil {
		return learner.FitResult{}, fmt.Errorf("%s: %w", o.name, err)
	}
	if o.cfg.Classes == 0 && b.Len() > 0 {
		classes = int(slices.Max(b.Class)) + 1
	}
	if b.Len() == 0 {
		return learner.FitResult{}, fmt.Errorf("%s: no examples: %w", o.name, learner.ErrFit)
	}
	if b.Weighted() && !o.traits.Stream && !o.traits.Weights {
		return learner.FitResult{}, fmt.Errorf("%s: base: %w", o.name, learner.ErrWeights)
	}
	r := &columnsFit[T]{o: o, b: b, f: f, last: time.Now(),
		data: sync.OnceValue(func() uint64 { return learner.Fingerprint(b) }),
		done: learner.FitResult{Converged: true, Margin: math.Inf(1), Bound: math.Inf(1),
			ScoreSpace: true}}
	restore := o.kept()
	all, err := r.begin(classes)
	if err == nil {
		defer o.env.Rows.Release()
		all, err = r.run(ctx)
	}
	switch {
	case err != nil && o.cut == nil: // nothing has changed
		restore()
	case !o.traits.Stream:
		o.dim = b.Dim
	case o.cut == nil:
		err = o.reach(b, o.all())
	}
	return all, err
}

// kept returns what makes the columns again what they are, unless any has learned meanwhile.
func (o *ovr[T]) kept() (restore func()) {
	columns, lone, since := o.learners, o.lone, o.since
	updates, presented, cut := o.updates, o.presented, o.cut
	return func() {
		o.learners, o.lone, o.since = columns, lone, since
		o.updates, o.presented, o.cut = updates, presented, cut
	}
}

// begin makes columns of so many classes, and finds out with which of them the run begins.
func (r *columnsFit[T]) begin(classes int) (none learner.FitResult, err error) {
	o := r.o
	r.resume()
	if o.cut = nil; !r.o.traits.Cut && !r.before.Resumed {
		o.learners, o.lone = nil, nil
		o.since, o.updates, o.presented = nil, 0, 0
		if err := o.addLone(); err != nil {
			return none, err
		}
	}
	if o.traits.Stream && o.cfg.Classes == 0 { // they know what the learners of the rest do
		if o.pairs {
			o.lone = slices.Clone(o.lone)
		}
		_, err = o.welcome(r.b, classes-1)
	} else {
		err = o.come(classes)
	}
	updated := func(l learner.Learner[T]) bool { return l.Updates() > 0 }
	if err == nil && r.f.Delta > 0 && !r.before.Resumed &&
		slices.ContainsFunc(o.learners, updated) {
		err = fmt.Errorf("%s: with Delta = %v a run can't go on from %d updates: %w", o.name,
			r.f.Delta, o.updates, learner.ErrSlacks)
	}
	return none, err
}

// flags are those of the options.
func (r *columnsFit[T]) flags() (flags uint64) {
	if r.f.ActiveSet {
		flags |= cutColumnsActive
	}
	if r.f.Halving {
		flags |= cutColumnsHalving
	}
	return flags
}

// resume has the run go on where one over these examples, with these options, was cut.
func (r *columnsFit[T]) resume() {
	cut := r.o.cut
	if cut == nil || cut.n != uint64(r.b.Len()) || cut.soft != r.f.Delta ||
		cut.flags&(cutColumnsActive|cutColumnsHalving) != r.flags() || cut.data != r.data() {
		return
	}
	r.at = int(cut.column)
	r.done = learner.FitResult{Epochs: int64(cut.epochs), Presented: int64(cut.presented),
		Violators: int(cut.violators), Converged: cut.flags&cutColumnsLeft == 0,
		ScoreSpace: cut.flags&cutColumnsWeights == 0, Margin: cut.margin, Bound: cut.bound}
	if cut.flags&cutColumnsNoMargin != 0 {
		r.done.Margin = math.NaN()
	}
	r.work.Epochs, r.work.Presented = int64(cut.columnEpochs), int64(cut.columnPresented)
	r.saved = r.work.Presented
	r.before = learner.FitResult{Resumed: true, Epochs: max(r.done.Epochs, r.work.Epochs),
		Presented: max(r.done.Presented, r.work.Presented)}
}

// leave leaves where the run stands, one being what the column in work did; nil: it has not begun.
func (r *columnsFit[T]) leave(one *learner.FitResult) {
	flags := r.flags()
	for _, x := range []struct {
		is   bool
		flag uint64
	}{{!r.done.Converged, cutColumnsLeft}, {!r.done.ScoreSpace, cutColumnsWeights},
		{r.done.Margin != r.done.Margin, cutColumnsNoMargin}} {
		if x.is {
			flags |= x.flag
		}
	}
	if one == nil {
		one = &learner.FitResult{}
	}
	r.o.cut = &columnsCut{data: r.data(), n: uint64(r.b.Len()), column: uint64(r.at), flags: flags,
		epochs: uint64(r.done.Epochs), presented: uint64(r.done.Presented),
		violators: uint64(r.done.Violators), columnEpochs: uint64(one.Epochs),
		columnPresented: uint64(one.Presented), soft: r.f.Delta, margin: r.done.Margin,
		bound: r.done.Bound}
}

// result is what this call has done so far, one being what the column in work did.
func (r *columnsFit[T]) result(one *learner.FitResult) learner.FitResult {
	all := r.done
	if one != nil {
		together(&all, *one)
	}
	all.Converged = all.Converged && r.at == len(r.o.learners)
	r.o.updates = r.updates + uint64(all.Updates)
	all.Counter = int64(r.o.updates) + 1
	all.Epochs -= r.before.Epochs
	all.Presented -= r.before.Presented
	all.Resumed = r.before.Resumed
	return all
}

// together adds what a class's run did to what those before did.
func together(all *learner.FitResult, one learner.FitResult) {
	all.Updates += one.Updates
	all.Epochs = max(all.Epochs, one.Epochs)
	all.Presented = max(all.Presented, one.Presented)
	all.Converged = all.Converged && one.Converged
	all.Violators += one.Violators
	all.Margin, all.Bound = min(all.Margin, one.Margin), min(all.Bound, one.Bound)
	all.ScoreSpace = all.ScoreSpace && one.ScoreSpace
	rows, now := &all.KernelRows, one.KernelRows
	now.Hits, now.Misses = now.Hits+rows.Hits, now.Misses+rows.Misses
	now.Evictions += rows.Evictions
	*rows = now
}

// run fits the columns from the one in work on, each within what those before have left of the
// updates.
func (r *columnsFit[T]) run(ctx context.Context) (learner.FitResult, error) {
	o, view, most := r.o, r.b.Slice(0, r.b.Len()), r.f.MaxUpdates
	view.Class, view.Y = nil, make([]T, r.b.Len())
	r.updates = o.updates
	for r.at < len(o.learners) {
		left := most - r.done.Updates
		if most <= 0 {
			left = most
		} else if left <= 0 { // this one has not begun
			r.limited(nil)
			return r.result(nil), nil
		}
		one, err := r.column(ctx, &view, left)
		if err != nil {
			return r.ended(one, err)
		}
		if most > 0 && one.Updates >= left && !one.Converged {
			r.limited(&one)
			return r.result(&one), nil
		}
		r.behind += one.Presented - r.saved
		together(&r.done, one)
		r.at, r.work, r.saved = r.at+1, learner.FitResult{}, 0
		if r.at < len(o.learners) && r.due() {
			if err := r.save(nil); err != nil {
				r.leave(nil)
				return r.result(nil), err
			}
		}
	}
	return r.result(nil), nil
}

// limited leaves a cut at the limit of the updates; one is as of leave. Where a column begins anew
// another run, with another limit, is another.
func (r *columnsFit[T]) limited(one *learner.FitResult) {
	if r.o.traits.Cut {
		r.leave(one)
	}
}

// ended ends a run whose column in work did one, and then ended with err.
func (r *columnsFit[T]) ended(one learner.FitResult, err error) (learner.FitResult, error) {
	o := r.o
	err = fmt.Errorf("%s: %s: %w", o.name, strings.TrimSuffix(o.columnName(r.at), "."), err)
	if !r.o.traits.Cut { // it begins anew
		l, e := o.column()
		if e == nil {
			e = o.learners[r.at].SetState(l.State())
		}
		if e != nil {
			return learner.FitResult{}, e
		}
		one = learner.FitResult{Margin: math.NaN(), Bound: math.Inf(1)}
	}
	if r.at > 0 || r.called || r.before.Resumed || one.Presented > 0 || one.Updates > 0 {
		r.leave(&one)
	}
	return r.result(&one), err
}

// column fits the one in work, with at most so many updates if most is above 0. What it returns is
// what it did, but for its Epochs and Presented, which begin with its own first run.
func (r *columnsFit[T]) column(ctx context.Context, view *engine.Block[T], most int64) (
	learner.FitResult, error) {
	o := r.o
	some := false
	for i, c := range r.b.Class {
		view.Y[i] = o.label(r.at, int(c))
		some = some || view.Y[i] != 0
	}
	if !some { // a pair of classes without examples
		return learner.FitResult{Converged: true, Margin: math.Inf(1), Bound: math.Inf(1),
			ScoreSpace: true}, nil
	}
	of, f := view, r.f
	if o.pairs {
		of = labelled(view)
	}
	f.MaxUpdates, f.Checkpoint = most, nil
	if r.o.traits.Cut && r.f.Checkpoint != nil {
		f.Checkpoint = func(one learner.FitResult) error {
			one = r.whole(one)
			r.saved = one.Presented
			return r.save(&one)
		}
	}
	if r.f.Observe != nil {
		f.Observe = func(s learner.FitStatus) {
			s.Updates += r.done.Updates
			r.f.Observe(s)
		}
	}
	one, err := learner.Fit(ctx, o.learners[r.at], of, f)
	return r.whole(one), err
}

// whole adds what the column did before this call. One that doesn't count examples has gone over
// all of them in each epoch.
func (r *columnsFit[T]) whole(one learner.FitResult) learner.FitResult {
	if !r.o.traits.Cut && (one.Updates > 0 || one.Epochs > 0) {
		one.Presented = int64(r.b.Len()) * max(one.Epochs, 1)
	}
	one.Epochs += r.work.Epochs
	one.Presented += r.work.Presented
	return one
}

// due reports whether it is time for a checkpoint between two columns.
func (r *columnsFit[T]) due() bool {
	f := &r.f
	return f.Checkpoint != nil && (f.CheckpointEvery > 0 && r.behind >= f.CheckpointEvery ||
		f.CheckpointAfter > 0 && time.Since(r.last) >= f.CheckpointAfter)
}

// save calls FitOptions.Checkpoint, and leaves all as it is; one is as of leave.
func (r *columnsFit[T]) save(one *learner.FitResult) error {
	r.leave(one)
	all := r.result(one)
	err := r.f.Checkpoint(all)
	r.o.cut = nil
	r.behind, r.last, r.called = 0, time.Now(), true
	return err
}
