package learners

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// watchEvery is the least time from one call of FitOptions.Observe to the next, other than after a
// refresh.
const watchEvery = time.Second

// watch calls FitOptions.Observe now and then. What it tells changes no result.
type watch struct {
	observe func(FitStatus)
	last    time.Time
}

func newWatch(o *FitOptions) watch { return watch{o.Observe, time.Now()} }

// due reports whether it is time to look.
func (w *watch) due() bool { return w.observe != nil && time.Since(w.last) >= watchEvery }

func (w *watch) tell(s FitStatus) {
	if w.observe != nil {
		w.observe(s)
		w.last = time.Now()
	}
}

// passes is how a learner without score space goes over n examples until a whole pass changes
// nothing.
type passes struct {
	n     int
	learn func(k int) bool // learns example k, and reports whether that was an update
	// nil: the learner has no accuracy to halve. Learn to margin 1 - delta from now on
	goal   func(delta float64)
	delta  float64            // the accuracy in the end
	status func(r *FitResult) // fills in Violators, Margin and Bound
	bound  func() float64     // FitResult.Bound; nil: not known
	least  float64            // LeastMargin R

	resumed *State // where a run was cut that this one goes on from; nil: none
	// where this one was; nil where it ended by itself. What examples it is of is the learner's to
	// say
	cut *State
}

// Flags of the cut of passes.
const (
	cutUpdated   = 1 << iota // the pass has made an update
	cutOnActive              // it is over the active set
	cutActiveSet             // FitOptions
	cutHalving
	cutBound // the bound is known
)

// checkPassCut checks the cut of a learner that passes over examples on its weights.
func checkPassCut(c *learner.Codec) {
	n, at, flags := cutFields(c)
	delta := c.Scalar("delta", nil)
	c.Want(delta >= 0 && delta <= 1, "where a run was cut: scalar %q is %v, want one in [0, 1]",
		"delta", delta)
	for _, k := range []string{"sum", "bound2"} {
		if c.Optional(k, false) {
			c.Scalar(k, nil)
		}
	}
	of := n
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
		"where a run was cut: counter %q is %d, at %d of %d", cutFlags, flags, at, of)
}

// passCut returns the cut of a run over b that went on as this one is to, or nil.
func passCut[T Float](cut *State, b *engine.Block[T], o *FitOptions) *State {
	if !cutOf(cut, b) {
		return nil
	}
	flags := cut.Counters[cutFlags]
	if (flags&cutActiveSet != 0) != o.ActiveSet || (flags&cutHalving != 0) != o.Halving {
		return nil
	}
	return cut
}

// ofData completes a cut, if there is one: the examples are those of b, and the bound is known or
// not. scalars are the learner's own.
func ofData[T Float](cut *State, b *engine.Block[T], known bool,
	scalars map[string]float64) *State {
	if cut == nil {
		return nil
	}
	cut.Counters[cutData], cut.Counters[cutN] = Fingerprint(b), uint64(b.Len())
	if known {
		cut.Counters[cutFlags] |= cutBound
	}
	for k, v := range scalars {
		if v-v == 0 {
			cut.Scalars[k] = v
		}
	}
	return cut
}

// passing is where a run of passes stands.
type passing struct {
	*passes
	o *FitOptions
	r *FitResult
	w watch

	delta   float64 // the accuracy now
	active  []int32 // what the present pass is over; nil: all examples
	updated []int32 // in the present pass, for the active set of the next
	epochs  int64   // complete passes of all runs that this one goes on from
	first   int     // the present pass goes on at that example of it
	some    bool    // and has made an update before that
	started int64   // epochs when this run began
	start   int64   // and its place
	looked  int
}

// run passes over the examples. With ActiveSet, a pass over all is followed by passes over those
// that were updates in it, until these make none; with Halving the accuracy begins at 1 and is
// halved after each pass over all that made no update (PUMMA paper, section 5.3). Either way the
// last pass is over all examples, at the accuracy in the end, and makes no update.
func (p *passes) run(ctx context.Context, o *FitOptions, r *FitResult) error {
	halving := o.Halving && p.goal != nil
	g := passing{passes: p, o: o, r: r, w: newWatch(o), delta: p.delta}
	if halving {
		g.delta = max(p.delta, 1)
		defer func() { p.goal(p.delta) }()
	}
	g.resume()
	if halving {
		p.goal(g.delta)
	}
	g.started, g.start = g.epochs, g.place(g.first)
	if ctx.Err() != nil {
		g.stop(g.first, !g.some)
		return context.Cause(ctx)
	}
	for ; ; g.first, g.some, g.updated = 0, false, g.updated[:0] {
		none, ended, err := g.pass(ctx)
		if ended || err != nil {
			return err
		}
		if g.active != nil {
			if none {
				g.active = nil
			}
			continue
		}
		if g.passed(none) {
			return nil
		}
		if ctx.Err() != nil {
			g.updated = nil
			g.stop(0, true)
			return context.Cause(ctx)
		}
	}
}

// resume goes to where the run was cut that this one goes on from.
func (g *passing) resume() {
	c := g.resumed
	if c == nil {
		return
	}
	g.first, g.epochs, g.delta = int(c.Counters[cutAt]), int64(c.Counters[cutEpochs]),
		c.Scalars["delta"]
	g.some = c.Counters[cutFlags]&cutUpdated != 0
	g.updated = slices.Clone(ints(c, "updated"))
	if c.Counters[cutFlags]&cutOnActive != 0 {
		g.active = slices.Clone(ints(c, "active"))
	}
	g.r.Resumed = true
}

// place returns the examples passed in the order of the data.
func (g *passing) place(i int) int64 {
	if g.active != nil {
		i = 0
	}
	return g.epochs*int64(g.n) + int64(i)
}

// stop leaves a cut before the i-th example of the present pass, which has made no update or some.
func (g *passing) stop(i int, none bool) {
	g.cut = &State{
		Counters: map[string]uint64{cutAt: uint64(i), cutEpochs: uint64(g.epochs), cutFlags: 0},
		Scalars:  map[string]float64{"delta": g.delta},
	}
	for _, f := range []struct {
		is   bool
		flag uint64
	}{{!none, cutUpdated}, {g.active != nil, cutOnActive}, {g.o.ActiveSet, cutActiveSet},
		{g.o.Halving, cutHalving}} {
		if f.is {
			g.cut.Counters[cutFlags] |= f.flag
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
	n := g.n
	if g.active != nil {
		n = len(g.active)
	}
	before := g.r.Updates
	if g.some {
		before = -1 // not what Updates can be
	}
	for i := g.first; i < n; i++ {
		if g.looked++; g.looked%1024 == 0 {
			if ctx.Err() != nil {
				g.stop(i, g.r.Updates == before)
				return false, true, context.Cause(ctx)
			}
			g.tell()
		}
		k := i
		if g.active != nil {
			k = int(g.active[i])
		}
		if !g.learn(k) {
			continue
		}
		g.r.Updates++
		if g.o.ActiveSet && g.active == nil {
			g.updated = append(g.updated, int32(k))
		}
		if g.r.Updates == g.o.MaxUpdates {
			g.stop(i+1, false)
			return false, true, nil
		}
	}
	return g.r.Updates == before, false, nil
}

// tell gives the observer the present state when it is time.
func (g *passing) tell() {
	if !g.w.due() {
		return
	}
	now := *g.r
	g.status(&now)
	g.w.tell(FitStatus{Updates: now.Updates, Epochs: now.Epochs, Violators: now.Violators,
		Margin: now.Margin, Bound: now.Bound})
}

// passed is what follows a pass over all examples. It reports whether the run is at its end.
func (g *passing) passed(none bool) (ended bool) {
	g.epochs++
	g.r.Epochs = g.epochs - g.started
	g.r.Presented = g.place(0) - g.start
	switch {
	case none && g.delta > g.passes.delta:
		g.delta = max(g.delta/2, g.passes.delta)
		g.goal(g.delta)
	case none:
		g.r.Converged = true
		return true
	case g.bound != nil && g.bound() <= g.least && g.violated(*g.r):
		return true
	case g.o.ActiveSet:
		g.active, g.updated = g.updated, nil
	}
	return false
}

// violated reports whether there are violators left.
func (p *passes) violated(r FitResult) bool {
	p.status(&r)
	return r.Violators > 0
}

// checkFit refuses options that no learner takes, and those that only learners that pass over
// examples on the weights take.
func checkFit(name string, o *FitOptions, onWeights, halving bool) error {
	switch {
	case o.MaxUpdates < 0:
		return fmt.Errorf("%s: MaxUpdates is %d, want >= 0: %w", name, o.MaxUpdates, ErrConfig)
	case o.ActiveSet && !onWeights:
		return fmt.Errorf("%s: has no active set (FitOptions.ActiveSet): it finds the next violator "+
			"among all at once: %w", name, ErrConfig)
	case o.Halving && !halving:
		return fmt.Errorf("%s: has no accuracy to halve (FitOptions.Halving) with these settings: %w", name,
			ErrConfig)
	}
	return nil
}
