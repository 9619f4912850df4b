package learners

import (
	"context"
	"fmt"
	"time"
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
}

// run passes over the examples. With ActiveSet, a pass over all is followed by passes over those that were updates in it, until these make
// none; with Halving the accuracy begins at 1 and is halved after each pass over all that made no update (PUMMA paper, section 5.3). Either way
// the last pass is over all examples, at the accuracy in the end, and makes no update.
func (p *passes) run(ctx context.Context, o *FitOptions, r *FitResult) error {
	delta := p.delta
	if o.Halving && p.goal != nil {
		delta = max(p.delta, 1)
		p.goal(delta)
		defer func() { p.goal(p.delta) }()
	}
	w := newWatch(o)
	var active, updated []int32 // of the present pass; active nil: all
	looked := 0
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for {
		n, before := p.n, r.Updates
		if active != nil {
			n = len(active)
		}
		updated = updated[:0]
		for i := range n {
			if looked++; looked%1024 == 0 {
				if ctx.Err() != nil {
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
		r.Epochs++
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
