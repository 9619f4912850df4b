package learners

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/learner"
)

// watchEvery is the least time from one call of FitOptions.Observe to the next, other than after a refresh.
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

// passes is how a learner without score space goes over n examples until a whole pass changes nothing.
type passes struct {
	n      int
	learn  func(k int) bool    // learns example k, and reports whether that was an update
	goal   func(delta float64) // nil: the learner has no accuracy to halve. Learn to margin 1 - delta from now on
	delta  float64             // the accuracy in the end
	status func(r *FitResult)  // fills in Violators, Margin and Bound
	bound  func() float64      // FitResult.Bound; nil: not known
	least  float64             // LeastMargin R

	resumed *State // where a run was cut that this one goes on from; nil: none
	cut     *State // where this one was; nil where it ended by itself. What examples it is of is the learner's to say
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

// run passes over the examples. With ActiveSet, a pass over all is followed by passes over those that were updates in it, until these make
// none; with Halving the accuracy begins at 1 and is halved after each pass over all that made no update (PUMMA paper, section 5.3). Either way
// the last pass is over all examples, at the accuracy in the end, and makes no update.
func (p *passes) run(ctx context.Context, o *FitOptions, r *FitResult) error {
	delta := p.delta
	if o.Halving && p.goal != nil {
		delta = max(p.delta, 1)
		defer func() { p.goal(p.delta) }()
	}
	var active, updated []int32 // of the present pass; active nil: all
	var epochs, before int64    // complete passes; updates before the present one
	first, some := 0, false     // the present pass goes on at the first-th example, after some updates or none
	if c := p.resumed; c != nil {
		first, epochs, delta = int(c.Counters[cutAt]), int64(c.Counters[cutEpochs]),
			c.Scalars["delta"]
		some = c.Counters[cutFlags]&cutUpdated != 0
		updated = slices.Clone(ints(c, "updated"))
		if c.Counters[cutFlags]&cutOnActive != 0 {
			active = slices.Clone(ints(c, "active"))
		}
		r.Resumed = true
	}
	if o.Halving && p.goal != nil {
		p.goal(delta)
	}
	started := epochs
	place := func(i int) int64 { // examples passed in the order of the data
		if active != nil {
			i = 0
		}
		return epochs*int64(p.n) + int64(i)
	}
	start := place(first)
	w := newWatch(o)
	looked := 0
	cut := func(i int, none bool) {
		p.cut = &State{
			Counters: map[string]uint64{cutAt: uint64(i), cutEpochs: uint64(epochs), cutFlags: 0},
			Scalars:  map[string]float64{"delta": delta},
		}
		for _, f := range []struct {
			is   bool
			flag uint64
		}{{!none, cutUpdated}, {active != nil, cutOnActive}, {o.ActiveSet, cutActiveSet},
			{o.Halving, cutHalving}} {
			if f.is {
				p.cut.Counters[cutFlags] |= f.flag
			}
		}
		keepIn(p.cut, "active", active)
		if len(updated) > 0 {
			keepIn(p.cut, "updated", updated)
		}
		r.Presented = place(i) - start
	}
	if ctx.Err() != nil {
		cut(first, !some)
		return context.Cause(ctx)
	}
	for ; ; first, some, updated = 0, false, updated[:0] {
		n := p.n
		if active != nil {
			n = len(active)
		}
		before = r.Updates
		if some {
			before = -1 // not what r.Updates can be
		}
		for i := first; i < n; i++ {
			if looked++; looked%1024 == 0 {
				if ctx.Err() != nil {
					cut(i, r.Updates == before)
					return context.Cause(ctx)
				}
				if w.due() {
					seen := *r
					p.status(&seen)
					w.tell(FitStatus{Updates: seen.Updates, Epochs: seen.Epochs, Violators: seen.Violators, Margin: seen.Margin, Bound: seen.Bound})
				}
			}
			k := i
			if active != nil {
				k = int(active[i])
			}
			if !p.learn(k) {
				continue
			}
			r.Updates++
			if o.ActiveSet && active == nil {
				updated = append(updated, int32(k))
			}
			if r.Updates == o.MaxUpdates {
				cut(i+1, false)
				return nil
			}
		}
		none := r.Updates == before
		if active != nil {
			if none {
				active = nil
			}
			continue
		}
		epochs++
		r.Epochs = epochs - started
		r.Presented = place(0) - start
		switch {
		case none && delta > p.delta:
			delta = max(delta/2, p.delta)
			p.goal(delta)
		case none:
			r.Converged = true
			return nil
		case p.bound != nil && p.bound() <= p.least && p.violated(*r):
			return nil
		case o.ActiveSet:
			active, updated = updated, nil
		}
		if ctx.Err() != nil {
			updated = nil
			cut(0, true)
			return context.Cause(ctx)
		}
	}
}

// violated reports whether there are violators left.
func (p *passes) violated(r FitResult) bool {
	p.status(&r)
	return r.Violators > 0
}

// checkFit refuses options that no learner takes, and those that only learners that pass over examples on the weights take.
func checkFit(name string, o *FitOptions, onWeights, halving bool) error {
	switch {
	case o.MaxUpdates < 0:
		return fmt.Errorf("%s: MaxUpdates is %d, want >= 0: %w", name, o.MaxUpdates, ErrConfig)
	case o.ActiveSet && !onWeights:
		return fmt.Errorf("%s: has no active set (--active-set): it finds the next violator among all at once: %w", name, ErrConfig)
	case o.Halving && !halving:
		return fmt.Errorf("%s: has no accuracy to halve (--halving) with these settings: %w", name, ErrConfig)
	}
	return nil
}
