package margin

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// watchEvery is the least time from one call of FitOptions.Observe to the next, other than after a
// refresh.
const watchEvery = time.Second

// watch calls FitOptions.Observe now and then, by the clock. It changes no result.
type watch struct {
	observe func(learner.FitStatus)
	last    time.Time
}

// NewWatch returns a watch over a run with these options, which begins now.
func NewWatch(o *learner.FitOptions) watch { return watch{o.Observe, time.Now()} }

// Due reports whether it is time to report, if there is an observer: callers work a status out for
// it.
func (w *watch) Due() bool { return w.observe != nil && time.Since(w.last) >= watchEvery }

// Report calls the observer, if there is one.
func (w *watch) Report(s learner.FitStatus) {
	if w.observe != nil {
		w.observe(s)
		w.last = time.Now()
	}
}

// Passes is how a learner without score space goes over n examples until a whole pass changes
// nothing.
type Passes struct {
	N     int
	Learn func(k int) bool // learns example k, and reports whether that was an update
	// Goal makes the learner learn to margin 1 - delta from now on; nil: it has no accuracy to
	// halve.
	Goal   func(delta float64)
	Delta  float64                    // the accuracy in the end, a share of the maximal margin
	Status func(r *learner.FitResult) // fills in Violators and Margin
	Bound  func() float64             // FitResult.Bound, if Known
	Known  bool                       // all that was learned are these examples
	Least  float64                    // the margin that counts as none, see primal.LeastMargin

	resumed *learner.State // where a run was cut that this one goes on from; nil: none
	cut     *learner.State // where this one was cut; nil where it ended by itself
	// has the learner be one that was cut there, calls FitOptions.Checkpoint, and leaves all as it
	// was
	checkpoint func(r learner.FitResult) error
}

// Cuts is a learner whose State has where a run of [Passes] was cut.
type Cuts struct {
	Cut     **learner.State           // the learner's
	Updates func() int64              // of the learner so far
	Own     func() map[string]float64 // what it has of a run besides its state; may be nil
	// Leave makes the learner, whose Cut is set, what it is without a run, and Return undoes that.
	// Both may be nil.
	Leave, Return func()
}

// FitPasses is Fit of a learner: it goes on from a cut that fits ([ResumableCut]), or with nil from
// the first example.
func FitPasses[T learner.Float](ctx context.Context, b *engine.Block[T], o learner.FitOptions,
	from *learner.State, p *Passes, l *Cuts) (r learner.FitResult, err error) {
	if p.resumed = from; from != nil {
		p.Known = from.Counters[learner.CutFlags]&cutBound != 0
	}
	data := sync.OnceValue(func() uint64 { return learner.Fingerprint(b) })
	leave := func() {
		if *l.Cut = p.cut; p.cut != nil {
			p.cut.Counters[learner.CutData] = data()
			if l.Own != nil {
				for k, v := range l.Own() {
					if v-v == 0 { // finite: a State takes no others
						p.cut.Scalars[k] = v
					}
				}
			}
		}
		if l.Leave != nil {
			l.Leave()
		}
	}
	p.checkpoint = func(r learner.FitResult) error {
		r.Counter = l.Updates() + 1
		leave()
		err := o.Checkpoint(r)
		if l.Return != nil {
			l.Return()
		}
		*l.Cut = nil
		return err
	}
	*l.Cut = nil
	err = p.Run(ctx, &o, &r)
	r.Counter = l.Updates() + 1
	p.judge(&r)
	r.Converged = r.Converged && r.Violators == 0 // an update may be impossible
	leave()
	return r, err
}

// judge fills in what the learner has reached.
func (p *Passes) judge(r *learner.FitResult) {
	p.Status(r)
	r.Bound = p.bound()
}

func (p *Passes) bound() float64 {
	if !p.Known {
		return math.Inf(1)
	}
	return p.Bound()
}

// Flags of the cut of passes.
const (
	cutUpdated   = 1 << iota // the pass has made an update
	cutOnActive              // it is over the active set
	cutActiveSet             // FitOptions
	cutHalving
	cutBound // the bound is known
)

// CheckPassCut checks the cut of a learner that goes over examples on its weights: all that resume
// reads is there and in range, so that a State from elsewhere can't make a run fail.
func CheckPassCut(c *learner.Codec) {
	n, at, flags := cutFields(c, nil, nil, nil, nil, nil)
	delta := c.Scalar("delta", nil)
	c.Want(delta >= 0 && delta <= 1, "where a run was cut: scalar %q is %v, want one in [0, 1]",
		"delta", delta)
	for _, k := range []string{"sum", "bound2"} {
		if c.Optional(k, false) {
			c.Scalar(k, nil)
		}
	}
	checkSlackFields(c, n)
	of := n // examples of the pass that was cut
	for _, name := range []string{"active", "updated"} {
		if !c.Optional(name, false) {
			c.Want(name != "active" || flags&cutOnActive == 0, "tensor %q is missing", name)
			continue
		}
		list := learner.View[int32](c, name, nil)
		foreign := func(v int32) bool { return v < 0 || uint64(v) >= n }
		c.Want(uint64(len(list)) <= n && !slices.ContainsFunc(list, foreign),
			"where a run was cut: tensor %q has elements that number no example", name)
		if name == "active" {
			of = uint64(len(list))
		}
	}
	c.Want(flags < 2*cutBound && (flags&cutOnActive == 0 || at <= of),
		"where a run was cut: counter %q is %d, at %d of %d", learner.CutFlags, flags, at, of)
}

// ResumableCut returns the cut if it is of a run over the examples of b with the options that say
// which pass follows which, or nil.
func ResumableCut[T learner.Float](cut *learner.State, b *engine.Block[T],
	o *learner.FitOptions) *learner.State {
	if !cutOf(cut, b, o.Delta) {
		return nil
	}
	flags := cut.Counters[learner.CutFlags]
	if (flags&cutActiveSet != 0) != o.ActiveSet || (flags&cutHalving != 0) != o.Halving {
		return nil
	}
	return cut
}

// passing is where a run of passes stands.
type passing struct {
	*Passes
	o *learner.FitOptions
	r *learner.FitResult
	w watch

	delta   float64 // the accuracy now; Passes.Delta at last
	active  []int32 // what the present pass is over; nil: all examples
	updated []int32 // in the present pass, for the active set of the next
	epochs  int64   // complete passes of all runs that this one goes on from
	first   int     // the present pass goes on at that example of it
	some    bool    // and has made an update before that
	started int64   // epochs when this run began
	start   int64   // and its place
	looked  int64   // examples of this run, for looks at ctx, clock and mark
	look    int64   // when the next one is
	mark    mark
}

// Run passes over the examples. With ActiveSet, a pass over all is followed by passes over those
// that were updates in it, until these make none; with Halving the accuracy begins at 1 and is
// halved after each pass over all that made no update (PUMMA paper, section 5.3). Either way the
// last pass is over all examples, at the accuracy in the end, and makes no update.
func (p *Passes) Run(ctx context.Context, o *learner.FitOptions, r *learner.FitResult) error {
	halving := o.Halving && p.Goal != nil // a learner that has no accuracy refuses it before
	g := passing{Passes: p, o: o, r: r, w: NewWatch(o), delta: p.Delta, mark: newMark(o)}
	g.next()
	if halving {
		g.delta = max(p.Delta, 1)
		defer func() { p.Goal(p.Delta) }() // what the learner's settings say, wherever this ends
	}
	g.resume()
	if halving {
		p.Goal(g.delta)
	}
	g.started, g.start = g.epochs, g.place(g.first)
	if ctx.Err() != nil { // nothing is learned, and the cut stays where it was
		g.stop(g.first, !g.some)
		return context.Cause(ctx)
	}
	for ; ; g.first, g.some, g.updated = 0, false, g.updated[:0] {
		none, ended, err := g.pass(ctx)
		if ended || err != nil {
			return err
		}
		if g.active != nil { // until it is learned, then one over all
			if none {
				g.active = nil
			}
		} else if g.passed(none) {
			return nil
		}
		if ctx.Err() != nil || learner.Enough(g.looked, o.MaxUpdates) {
			g.updated = nil
			g.stop(0, true)
			return context.Cause(ctx) // nil where it is enough
		}
	}
}

// resume goes to where the run was cut that this one goes on from.
func (g *passing) resume() {
	c := g.resumed
	if c == nil {
		return
	}
	g.first, g.epochs, g.delta = int(c.Counters[learner.CutAt]),
		int64(c.Counters[learner.CutEpochs]),
		c.Scalars["delta"]
	g.some = c.Counters[learner.CutFlags]&cutUpdated != 0
	g.updated = slices.Clone(ints(c, "updated"))
	if c.Counters[learner.CutFlags]&cutOnActive != 0 {
		g.active = slices.Clone(ints(c, "active"))
	}
	g.r.Resumed = true
}

// place returns how many examples were gone over in the order of the data, up to the i-th of the
// present pass: passes over active sets are not counted.
func (g *passing) place(i int) int64 {
	if g.active != nil {
		i = 0
	}
	return g.epochs*int64(g.N) + int64(i)
}

// stop leaves a cut before the i-th example of the present pass, which has made no update or some.
func (g *passing) stop(i int, none bool) {
	g.cut = &learner.State{
		Counters: map[string]uint64{learner.CutN: uint64(g.N), learner.CutAt: uint64(i),
			learner.CutEpochs: uint64(g.epochs), learner.CutFlags: 0},
		Scalars: map[string]float64{"delta": g.delta},
	}
	for _, f := range []struct {
		is   bool
		flag uint64
	}{{!none, cutUpdated}, {g.active != nil, cutOnActive}, {g.o.ActiveSet, cutActiveSet},
		{g.o.Halving, cutHalving}, {g.Known, cutBound}} {
		if f.is {
			g.cut.Counters[learner.CutFlags] |= f.flag
		}
	}
	keepIn(g.cut, "active", g.active)
	if len(g.updated) > 0 {
		keepIn(g.cut, "updated", g.updated)
	}
	g.r.Presented = g.place(i) - g.start
}

// pass is one pass, from its first-th example on. It reports whether it made no update, or ends the
// run by MaxUpdates or ctx.
func (g *passing) pass(ctx context.Context) (none, ended bool, err error) {
	n := g.N
	if g.active != nil {
		n = len(g.active)
	}
	before := g.r.Updates
	if g.some {
		before = -1 // no number of updates: the pass has made one
	}
	for i := g.first; i < n; i++ {
		if g.looked++; g.looked == g.look {
			if ctx.Err() != nil {
				g.stop(i, g.r.Updates == before)
				return false, true, context.Cause(ctx)
			}
			g.report()
			if g.mark.due(g.looked) {
				g.stop(i, g.r.Updates == before)
				if err := g.checkpoint(); err != nil {
					g.stop(i, g.r.Updates == before) // once more, without what was added
					return false, true, err
				}
			}
			g.next()
		}
		k := i
		if g.active != nil {
			k = int(g.active[i])
		}
		if !g.Learn(k) {
			continue
		}
		g.r.Updates++
		if g.o.ActiveSet && g.active == nil { // of a pass over all: the next active set
			g.updated = append(g.updated, int32(k))
		}
		if g.r.Updates == g.o.MaxUpdates {
			g.stop(i+1, false) // this example is learned
			return false, true, nil
		}
	}
	return g.r.Updates == before, false, nil
}

// next sets when to look up the next time: a look at ctx, some 50 ns, is nothing beside 1024
// examples.
func (g *passing) next() {
	g.look = g.looked + 1024
	if g.mark.every > 0 {
		g.look = min(g.look, max(g.looked+1, g.mark.from+g.mark.every))
	}
}

// checkpoint is one where stop has left a cut.
func (g *passing) checkpoint() error {
	g.mark.set(g.looked)
	now := *g.r
	g.judge(&now)
	if err := g.Passes.checkpoint(now); err != nil {
		return err
	}
	g.cut = nil
	return nil
}

// report gives the observer the present state when it is time.
func (g *passing) report() {
	if !g.w.Due() {
		return
	}
	now := *g.r
	g.judge(&now)
	g.w.Report(learner.FitStatus{Updates: now.Updates, Epochs: now.Epochs, Violators: now.Violators,
		Margin: now.Margin, Bound: now.Bound})
}

// passed is what follows a pass over all examples. It reports whether the run is at its end.
func (g *passing) passed(none bool) (ended bool) {
	g.epochs++
	g.r.Epochs = g.epochs - g.started
	g.r.Presented = g.place(0) - g.start
	switch {
	case none && g.delta > g.Passes.Delta: // learned at this accuracy: the next, half of it
		g.delta = max(g.delta/2, g.Passes.Delta)
		g.Goal(g.delta)
	case none:
		g.r.Converged = true
		return true
	case g.bound() <= g.Least && g.violated(*g.r):
		return true // not separable by a margin that counts as one
	case g.o.ActiveSet:
		g.active, g.updated = g.updated, nil
	}
	return false
}

// violated reports whether there are violators left. Cost: a score of every example.
func (p *Passes) violated(r learner.FitResult) bool {
	p.judge(&r)
	return r.Violators > 0
}
