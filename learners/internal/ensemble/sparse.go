package ensemble

import (
	"math/bits"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// ActiveMembers is up to how many of a tile's members that see an example the list of them beats
// all lanes, so that with N = 100 lists serve up to tau N of about 4. In float32 the two are equal
// there, in float64 the list gains a fifth. AMD EPYC (Zen 3, 2 vCPUs), 2026-11-20: go test
// ./learners -run Calibrate -calibrate -v.
const ActiveMembers = 4

func (r *MemberRun[T]) beginSparse(b *engine.Block[T], lo int, first uint64) {
	most := min(b.Len()-lo, RunExamples, max(1, RunTallies/r.Owner.words))
	n := 1
	for n < most && b.Ptr[lo+n+1]-b.Ptr[lo] <= RunNonZeros {
		n++
	}
	r.take(b, lo, lo+n)
	r.draw(first)
	idx := r.B.Idx[r.B.Ptr[0]:r.B.Ptr[n]]
	if first != NoDraws {
		r.rows = r.Owner.Lanes.Rows(r.rows[:0], idx)
	} else {
		r.rows = r.Owner.Lanes.Find(r.rows[:0], idx)
	}
}

// sparsePart lets the members of tile p go through the examples of r.b.
func (r *MemberRun[T]) sparsePart(p int) {
	n := r.B.Len()
	tile, w, tallies := &r.Owner.Lanes.Tiles[p], &r.work[p], r.tallies[p*n:][:n]
	s := w.S[:tile.Width]
	words := vecmath.MaskWords(tile.Lanes)
	seen, mask := r.mask[tile.Lo/64:], w.Mask[:words]
	ptr, rows, val, base := r.B.Ptr[:n+1], r.rows, r.B.Val[r.B.Ptr[0]:], r.B.Ptr[0]
	stride, rule := r.Owner.words, r.Owner.Stepper
	short := rule.fixed && r.tallied == Nothing // the usual case takes fewer calls
	few := r.few()
	for e, y := range r.B.Y[:n] {
		t := &tallies[e]
		*t = Tally{}
		sees, seeing := seen[e*stride:][:words], 0
		for _, m := range sees {
			seeing += bits.OnesCount64(m)
		}
		if seeing == 0 && r.tallied == Nothing {
			continue
		}
		from, to := ptr[e]-base, ptr[e+1]-base
		rows, val := rows[from:to], val[from:to]
		switch {
		case !short:
			r.step(t, tile, w, e, sees, seeing, few, rows, val)
		case seeing <= few:
			w.List = engine.ActiveList(w.List, sees)
			rule.list(t, tile, w, y, rows, val)
		default:
			vecmath.LanesScoreLEUnchecked(trusted.Indices{}, s, tile.W, rows, val, mask, y,
				rule.margin)
			if t.Updates = keep(mask, sees); t.Updates != 0 {
				vecmath.LanesUpdateUnchecked(trusted.Indices{}, tile.W, rows, val,
					rule.coef(t, t.Updates, y)[:len(s)], mask)
			}
		}
	}
}

// Ways to go through the members that see an example, where one is not chosen by their number.
const (
	PathLanes  = "lanes"
	PathActive = "active"
)

// few returns up to how many members of a tile that see an example are gone through as a list.
func (r *MemberRun[T]) few() int {
	switch {
	case r.tallied != Nothing:
		return -1 // all scores are needed
	case r.Owner.Path == PathLanes:
		return 0
	case r.Owner.Path == PathActive:
		return engine.WideTile
	}
	return ActiveMembers
}

// list steps the members in w.list by a fixed step.
func (s *Stepper[T]) list(t *Tally, tile *engine.LaneTile[T], w *LaneWork[T], y T, rows []int32,
	val []T) {
	scores := w.Compact[:len(w.List)]
	vecmath.ActiveScoreUnchecked(trusted.Indices{}, scores, tile.W, tile.Width, rows, val, w.List)
	n := 0
	for k, f := range scores {
		if T(y*f) <= s.margin {
			w.List[n] = w.List[k]
			n++
		}
	}
	if t.Updates = n; n != 0 {
		vecmath.ActiveUpdateUnchecked(trusted.Indices{}, tile.W, tile.Width, rows, val, w.List[:n],
			s.coef(t, n, y)[:n])
	}
}

// step scores example e by the members of a tile, all of them or those that see it, tallies the
// scores, and steps those that see it by any rule.
func (r *MemberRun[T]) step(t *Tally, tile *engine.LaneTile[T], w *LaneWork[T], e int,
	sees []uint64, seeing, few int, rows []int32, val []T) {
	s, coef, mask, y := w.S[:tile.Width], w.Coef[:tile.Width], w.Mask[:len(sees)], r.B.Y[e]
	copy(mask, sees)
	active := seeing <= few
	if active {
		w.List = engine.ActiveList(w.List, mask)
		vecmath.ActiveScoreUnchecked(trusted.Indices{}, w.Compact[:len(w.List)], tile.W,
			tile.Width, rows, val, w.List)
		for k, l := range w.List {
			s[l] = w.Compact[k]
		}
	} else {
		vecmath.LanesScoreUnchecked(trusted.Indices{}, s, tile.W, rows, val)
	}
	if r.tallied != Nothing {
		r.total(t, tile, w, s, y)
		if seeing == 0 {
			return
		}
	}
	var norm2 float64
	if r.Owner.Stepper.Form.Norm2 {
		norm2 = r.SquaredLengths[e]
	}
	var c []T
	if t.Updates, c = r.Owner.Stepper.Step(t, mask, tile.Lo, s, y, norm2, coef); t.Updates == 0 {
		return
	}
	if !active {
		vecmath.LanesUpdateUnchecked(trusted.Indices{}, tile.W, rows, val, c, mask)
		return
	}
	w.List = engine.ActiveList(w.List, mask)
	for k, l := range w.List {
		w.Compact[k] = c[l]
	}
	vecmath.ActiveUpdateUnchecked(trusted.Indices{}, tile.W, tile.Width, rows, val, w.List,
		w.Compact[:len(w.List)])
}

// total tallies a tile's scores, or its votes for +1, or its members that are wrong about y.
func (r *MemberRun[T]) total(t *Tally, tile *engine.LaneTile[T], w *LaneWork[T], s []T, y T) {
	if r.tallied == Scores {
		for i := range len(w.Mask) {
			lo, hi := min(64*i, tile.Lanes), min(64*(i+1), tile.Lanes)
			t.total[i] = r.Owner.Rule.Total(tile.Lo+lo, s[lo:hi])
		}
		return
	}
	vecmath.LanesLE(w.votes, s, r.side(y), 0)
	n := tile.Lanes - tile.Width // the padding's zeros count too
	for _, m := range w.votes {
		n += bits.OnesCount64(m)
	}
	t.total[0] = float64(n)
}
