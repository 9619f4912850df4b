package engine

import "time"

// Gain finds out by the clock whether work that comes again and again, such as the runs of a
// learner, is done sooner by several workers than by one. What each of them has to do besides, what
// the caches of two processors cost each other, and who else wants the second processor, such as
// what reads the examples, differ by machine and hour: for OBPM on Adult (100 members, tau=.3) two
// threads were 1.4 times as fast as one on one machine, and as fast on another, at twice the CPU
// time.
//
// Both ways are taken in turn for 2 ms, and the better one for 100 times as long. That changes the
// time taken and nothing else: the bits must be the same either way. The zero value is ready to
// use, and begins with several workers. A Gain is for one goroutine.
type Gain struct {
	began time.Duration // of the present work
	way   int           // of it: gainAlone or gainShared
	look  int           // windows left in which ways are tried in turn; 0: the better one is kept
	fresh bool          // the next work is the first, whose time says nothing: workers start
	ready bool          // it is no longer the zero value

	spent time.Duration // of the present window
	works int           // pieces of work in it
	units int           // of them
	rate  [2]float64    // ns of a unit, the least of the windows of each way
}

const (
	gainAlone, gainShared = 0, 1

	// gainLook is how long a way is tried at once, and gainLooks how often ways are tried: the
	// least time of each counts, so that an interrupt in one window decides nothing. They take 2 ms
	// of 202, half of it the better way.
	gainLook  = 500 * time.Microsecond
	gainLooks = 4
	gainKeep  = 200 * time.Millisecond
	gainWorks = 200 // the better way is kept for so many pieces at least
	// gainLeast is how many times as fast several workers must be: they take the CPU time of as
	// many, which the reader, another learner or another program could use.
	gainLeast = 1.2
)

// Begin begins a piece of work, and reports whether it should go to the workers of p rather than
// be done by the caller alone. A rehearsal is of other workers: there it always should, and so it
// does where p insists.
func (g *Gain) Begin(p *Pool) bool {
	switch {
	case p.Workers() == 1:
		return false
	case p.rehearsal != nil, p.insists:
		g.began = time.Since(began)
		return true
	case !g.ready:
		*g = Gain{way: gainShared, look: gainLooks, fresh: true, ready: true}
	}
	g.began = time.Since(began)
	return g.way == gainShared
}

// End ends the piece of work that began last, of so many units, of which any piece of the kind
// takes as long.
func (g *Gain) End(units int) { g.end(time.Since(began)-g.began, units) }

// end is End of work that took d.
func (g *Gain) end(d time.Duration, units int) {
	if g.fresh {
		g.fresh = false
		return
	}
	g.spent += d
	g.works++
	g.units += units
	switch {
	case g.look > 0 && g.spent < gainLook, g.units == 0,
		g.look == 0 && (g.spent < gainKeep || g.works < gainWorks):
		return
	}
	rate := float64(g.spent) / float64(g.units)
	g.spent, g.works, g.units = 0, 0, 0
	if g.look == 0 { // both ways are tried anew
		g.look, g.rate = gainLooks, [2]float64{}
		return
	}
	if least := &g.rate[g.way]; *least == 0 || rate < *least {
		*least = rate
	}
	next := gainShared + gainAlone - g.way
	if g.look--; g.look == 0 {
		next = gainAlone
		if g.rate[gainAlone] >= gainLeast*g.rate[gainShared] {
			next = gainShared
		}
	}
	g.way = next
}
