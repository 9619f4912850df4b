package ensemble

import (
	"runtime"
	"sync/atomic"
)

// Follower is what comes behind the members of a run.
type Follower interface {
	// Follow is called for examples lo to hi-1 of the run, for all in their order, once all members
	// have gone through them: never twice at the same time, but while members go through later
	// examples.
	Follow(lo, hi int)
}

// pace is how far the parts of a run are. A run that goes to the pool is cut into pieces of
// examples. Whoever comes to a piece first prepares it for all: rows, and draws where not each part
// makes its own. Whoever is ahead of the others takes the sum of the members through the pieces
// behind, and at the end draws for the next run, so that none of this is work for one core while
// others wait. The rest of the fields of a run don't change while its parts are at work, but for
// places that a part or a piece has of its own.
type pace struct {
	n      int // examples of the run, or before it was cut where features had no rows
	size   int // examples of a piece but the last
	pieces int

	state   [maxPieces]atomic.Int32 // pieceNew, pieceTaken or pieceReady
	end     atomic.Int32            // pieces before the first feature without a row
	inInt16 atomic.Int32            // examples before the first one that a tile had in T

	_        [128]byte               // what is before is mostly read, what follows often written
	gone     [maxPieces]atomic.Int32 // parts that have gone through the piece
	begun    atomic.Int32            // parts, and a worker without members
	followed atomic.Int32            // pieces
	at       atomic.Bool             // a part is following
	_        [128]byte
}

const (
	// A piece is some 5 us of work for a tile of a dozen non-zeros an example: long against taking
	// turns, some 0.1 to 0.3 us, and to begin a kernel anew, and short against blocks of 256
	// examples. OBPM on Adult on two threads (N=200, tau=.3) takes 115, 113 and 114 ns an example
	// for 32, 64 and 128, with 16 as the last piece behind 64s as long as without; N=100 86, 82 and
	// 81; 49 of 6125 features (N=100, tau=.05) 115, 109 and 109. Intel Xeon (2 vCPUs), 2026-11-26.
	pieceExamples = 64
	maxPieces     = RunExamples / pieceExamples

	pieceNew, pieceTaken, pieceReady = 0, 1, 2

	// staySpins is how many times in a row a part that has gone through the run looks for something
	// to do until the others have, some 10 us together.
	staySpins = 1_000

	// prepareSpins is how many times in a row a part looks whether another one has prepared a
	// piece, some 10 us together, before it gives way: it would often go on on the other's
	// processor, far from what it has in its caches.
	prepareSpins = 10_000

	// patience is how many times in a row a worker without members looks for something to do, some
	// 0.1 us each.
	patience = 100
)

// begin is for a run of n examples, in pieces of so many.
func (p *pace) begin(n, size int) {
	p.n, p.size, p.pieces = n, size, (n+size-1)/max(size, 1)
	for c := range p.pieces {
		p.state[c].Store(pieceNew)
		p.gone[c].Store(0)
	}
	p.end.Store(int32(p.pieces))
	p.inInt16.Store(int32(n))
	p.begun.Store(0)
	p.followed.Store(0)
	p.at.Store(false) // it may have ended in a panic
}

// allReady is for a run of whose pieces nothing has to be prepared.
func (p *pace) allReady() {
	for c := range p.pieces {
		p.state[c].Store(pieceReady)
	}
}

// bounds are the first example of a piece and the one behind its last.
func (p *pace) bounds(c int) (lo, hi int) { return c * p.size, min((c+1)*p.size, p.n) }

// ends is how many examples all members have gone through, when the parts are done.
func (p *pace) ends() int { return min(int(p.end.Load())*p.size, p.n) }

// prepare sees to it that a piece is ready, and reports whether it can be learned. While another
// part prepares it this one prepares one behind: the draws of many members take longer than those
// of a tile take for the piece.
func (r *MemberRun[T]) prepare(c int) bool {
	p := &r.pace
	next := c // piece to try
	for spins := 1; p.state[c].Load() != pieceReady; spins++ {
		switch {
		case next < p.pieces && p.state[next].CompareAndSwap(pieceNew, pieceTaken):
			r.prepareTaken(next)
			next++
		case next < p.pieces:
			next++
		case spins%prepareSpins == 0:
			runtime.Gosched()
		}
	}
	return c < int(p.end.Load())
}

func (r *MemberRun[T]) prepareTaken(c int) {
	p := &r.pace
	defer p.state[c].Store(pieceReady) // also in a panic, so that no part waits for ever
	if r.ready(p.bounds(c)) {
		return
	}
	lower(&p.end, c)
}

// lower makes v at most n.
func lower(v *atomic.Int32, n int) {
	for e := v.Load(); n < int(e) && !v.CompareAndSwap(e, int32(n)); e = v.Load() {
	}
}

// follow lets r.then follow through so many pieces at most, unless another part is at it.
func (r *MemberRun[T]) follow(most int) (did bool) {
	p := &r.pace
	if r.then == nil {
		return false
	}
	through := func(c int) bool { return c < p.pieces && int(p.gone[c].Load()) == r.Parts }
	for ; most > 0 && through(int(p.followed.Load())) && p.at.CompareAndSwap(false, true); most-- {
		// looked at again, as another part may have been at it
		if c := int(p.followed.Load()); through(c) {
			r.then.Follow(p.bounds(c))
			p.followed.Store(int32(c + 1))
			did = true
		}
		p.at.Store(false)
	}
	return did
}

// backlog reports whether part p, which is ahead of others behind piece c, should follow: S, and
// what else is read and written behind the members, stays in the caches of who has the last part,
// the smallest, as long as that one keeps up. Where parts are even, as those of dense members, who
// is ahead does.
func (r *MemberRun[T]) backlog(p, c int) bool {
	if !r.drawsApart || p == r.Parts-1 {
		return true
	}
	next := int(r.pace.followed.Load()) + 1
	return next < c && int(r.pace.gone[next].Load()) == r.Parts
}

// over reports whether nothing is left to be done in the run.
func (r *MemberRun[T]) over() bool {
	p := &r.pace
	end := p.end.Load()
	return int(p.gone[end-1].Load()) == r.Parts && (r.then == nil || p.followed.Load() == end)
}

// stay is what part p does behind its last piece. Where parts draw for themselves, and as long as
// all others are in work on processors of their own, it follows behind them, so that none of that
// is left when they are done, and draws for the next run.
func (r *MemberRun[T]) stay(p int) {
	follows := r.follows(p)
	for spins := 0; r.drawsApart && spins < staySpins && int(r.pace.begun.Load()) >= r.Parts &&
		!r.over(); spins++ {
		switch {
		case p != r.Parts-1 && r.drawAhead(p), follows && r.follow(1), r.drawAhead(p):
			spins = 0
		}
	}
	if follows {
		r.follow(r.pace.pieces)
	}
}

// help is the part of a worker beyond those that have members: it prepares pieces ahead of them and
// follows behind them.
func (r *MemberRun[T]) help() {
	p := &r.pace
	for next, idle := 1, 0; idle < patience; idle++ {
		if next < p.pieces {
			if p.state[next].CompareAndSwap(pieceNew, pieceTaken) {
				r.prepareTaken(next)
			}
			next++
			idle = 0
		}
		if r.follow(1) {
			idle = 0
		}
		if p.followed.Load() >= p.end.Load() {
			return
		}
		if idle > 0 {
			runtime.Gosched()
		}
	}
}
