package learners

import (
	"math/bits"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// activeMembers is up to how many of a tile's members that see an example the list of them beats
// all lanes, so that with N = 100 lists serve up to tau N of about 4. In float32 the two are equal
// there, in float64 the list gains a fifth. AMD EPYC (Zen 3, 2 vCPUs), 2026-11-20: go test
// ./learners -run Calibrate -calibrate -v.
const activeMembers = 4

func (r *memberRun[T]) beginSparse(b *engine.Block[T], lo int, first uint64) {
	most := min(b.Len()-lo, runExamples, max(1, runTallies/r.o.words))
	n := 1
	for n < most && b.Ptr[lo+n+1]-b.Ptr[lo] <= runNonZeros {
		n++
	}
	r.take(b, lo, lo+n)
	r.draw(first)
	idx := r.b.Idx[r.b.Ptr[0]:r.b.Ptr[n]]
	if first != noDraws {
		r.rows = r.o.lanes.Rows(r.rows[:0], idx)
	} else {
		r.rows = r.o.lanes.Find(r.rows[:0], idx)
	}
}

// sparsePart lets the members of tile p go through the examples of r.b.
func (r *memberRun[T]) sparsePart(p int) {
	n := r.b.Len()
	tile, w, tallies := &r.o.lanes.Tiles[p], &r.work[p], r.tallies[p*n:][:n]
	s := w.s[:tile.Width]
	words := vecmath.MaskWords(tile.Lanes)
	seen, mask := r.mask[tile.Lo/64:], w.mask[:words]
	ptr, rows, val, base := r.b.Ptr[:n+1], r.rows, r.b.Val[r.b.Ptr[0]:], r.b.Ptr[0]
	stride, rule := r.o.words, r.o.stepper
	short := rule.fixed && r.tallied == nothing // the usual case takes fewer calls
	few := r.few()
	for e, y := range r.b.Y[:n] {
		t := &tallies[e]
		*t = tally{}
		sees, seeing := seen[e*stride:][:words], 0
		for _, m := range sees {
			seeing += bits.OnesCount64(m)
		}
		if seeing == 0 && r.tallied == nothing {
			continue
		}
		from, to := ptr[e]-base, ptr[e+1]-base
		rows, val := rows[from:to], val[from:to]
		switch {
		case !short:
			r.step(t, tile, w, e, sees, seeing, few, rows, val)
		case seeing <= few:
			w.list = engine.ActiveList(w.list, sees)
			rule.list(t, tile, w, y, rows, val)
		default:
			vecmath.LanesScoreLEUnchecked(trusted.Indices{}, s, tile.W, rows, val, mask, y,
				rule.margin)
			if t.updates = keep(mask, sees); t.updates != 0 {
				vecmath.LanesUpdateUnchecked(trusted.Indices{}, tile.W, rows, val,
					rule.coef(t, t.updates, y)[:len(s)], mask)
			}
		}
	}
}

// Ways to go through the members that see an example, where one is not chosen by their number.
const (
	pathLanes  = "lanes"
	pathActive = "active"
)

// few returns up to how many members of a tile that see an example are gone through as a list.
func (r *memberRun[T]) few() int {
	switch {
	case r.tallied != nothing:
		return -1 // all scores are needed
	case r.o.path == pathLanes:
		return 0
	case r.o.path == pathActive:
		return engine.WideTile
	}
	return activeMembers
}

// list steps the members in w.list by a fixed step.
func (s *stepper[T]) list(t *tally, tile *engine.LaneTile[T], w *laneWork[T], y T, rows []int32,
	val []T) {
	scores := w.compact[:len(w.list)]
	vecmath.ActiveScoreUnchecked(trusted.Indices{}, scores, tile.W, tile.Width, rows, val, w.list)
	n := 0
	for k, f := range scores {
		if T(y*f) <= s.margin {
			w.list[n] = w.list[k]
			n++
		}
	}
	if t.updates = n; n != 0 {
		vecmath.ActiveUpdateUnchecked(trusted.Indices{}, tile.W, tile.Width, rows, val, w.list[:n],
			s.coef(t, n, y)[:n])
	}
}

// step scores example e by the members of a tile, all of them or those that see it, tallies the
// scores, and steps those that see it by any rule.
func (r *memberRun[T]) step(t *tally, tile *engine.LaneTile[T], w *laneWork[T], e int,
	sees []uint64, seeing, few int, rows []int32, val []T) {
	s, coef, mask, y := w.s[:tile.Width], w.coef[:tile.Width], w.mask[:len(sees)], r.b.Y[e]
	copy(mask, sees)
	active := seeing <= few
	if active {
		w.list = engine.ActiveList(w.list, mask)
		vecmath.ActiveScoreUnchecked(trusted.Indices{}, w.compact[:len(w.list)], tile.W,
			tile.Width, rows, val, w.list)
		for k, l := range w.list {
			s[l] = w.compact[k]
		}
	} else {
		vecmath.LanesScoreUnchecked(trusted.Indices{}, s, tile.W, rows, val)
	}
	if r.tallied != nothing {
		r.total(t, tile, w, s, y)
		if seeing == 0 {
			return
		}
	}
	var norm2 float64
	if r.o.stepper.form.Norm2 {
		norm2 = r.norms[e]
	}
	var c []T
	if t.updates, c = r.o.stepper.step(t, mask, tile.Lo, s, y, norm2, coef); t.updates == 0 {
		return
	}
	if !active {
		vecmath.LanesUpdateUnchecked(trusted.Indices{}, tile.W, rows, val, c, mask)
		return
	}
	w.list = engine.ActiveList(w.list, mask)
	for k, l := range w.list {
		w.compact[k] = c[l]
	}
	vecmath.ActiveUpdateUnchecked(trusted.Indices{}, tile.W, tile.Width, rows, val, w.list,
		w.compact[:len(w.list)])
}

// total tallies a tile's scores, or its votes for +1, or its members that are wrong about y.
func (r *memberRun[T]) total(t *tally, tile *engine.LaneTile[T], w *laneWork[T], s []T, y T) {
	if r.tallied == scores {
		for i := range len(w.mask) {
			lo, hi := min(64*i, tile.Lanes), min(64*(i+1), tile.Lanes)
			t.total[i] = r.o.rule.Total(tile.Lo+lo, s[lo:hi])
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
