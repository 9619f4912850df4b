package learners

import (
	"math/bits"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/vecmath"
)

// activeMembers is up to how many of a tile's members that see an example the list of them beats all lanes, so that with N = 100
// lists serve up to tau N of about 4. In float32 the two are equal there, in float64 the list gains a fifth.
// AMD EPYC (Zen 3, 2 vCPUs), 2026-11-20: go test ./learners -run Calibrate -calibrate -v.
const activeMembers = 4

func (r *memberRun[T]) beginSparse(b *engine.Block[T], lo int, learning bool) {
	most := min(b.Len()-lo, runExamples, max(1, runTallies/r.o.words))
	n := 1
	for n < most && b.Ptr[lo+n+1]-b.Ptr[lo] <= runNonZeros {
		n++
	}
	r.take(b, lo, lo+n)
	r.draw(learning)
	idx := r.b.Idx[r.b.Ptr[0]:r.b.Ptr[n]]
	if learning {
		r.rows = r.o.lanes.Rows(r.rows[:0], idx)
	} else {
		r.rows = r.o.lanes.Find(r.rows[:0], idx)
	}
}

func (r *memberRun[T]) sparsePart(p int) {
	n := r.b.Len()
	tile, w, tallies := &r.o.lanes.Tiles[p], &r.work[p], r.tallies[p*n:][:n]
	s, coef := w.s[:tile.Width], w.coef[:tile.Width]
	words := vecmath.MaskWords(tile.Lanes)
	seen, mask := r.mask[tile.Lo/64:], w.mask[:words]
	ptr, rows, val, base := r.b.Ptr[:n+1], r.rows, r.b.Val[r.b.Ptr[0]:], r.b.Ptr[0]
	perceptron, _ := r.o.rule.(*perceptronRule[T])
	stride, keepsSum := r.o.words, r.keepsSum
	short := perceptron != nil && keepsSum // the usual case takes fewer calls
	few := activeMembers
	switch r.o.cfg.Path {
	case PathLanes:
		few = 0
	case PathActive:
		few = engine.WideTile
	}
	if !r.keepsSum {
		few = -1 // all scores are needed
	}
	for e, y := range r.b.Y[:n] {
		t := &tallies[e]
		*t = tally{}
		sees, seeing := seen[e*stride:][:words], 0
		for _, m := range sees {
			seeing += bits.OnesCount64(m)
		}
		if seeing == 0 && keepsSum {
			continue
		}
		from, to := ptr[e]-base, ptr[e+1]-base
		rows, val := rows[from:to], val[from:to]
		active := seeing <= few
		if short && active {
			w.list = engine.ActiveList(w.list, sees)
			scores := w.compact[:len(w.list)]
			vecmath.ActiveScoreUnchecked(trusted.Indices{}, scores, tile.W, tile.Width, rows, val,
				w.list)
			n := 0
			for k, s := range scores {
				if T(y*s) <= perceptron.margin {
					w.list[n] = w.list[k]
					n++
				}
			}
			if t.updates = n; n != 0 {
				vecmath.ActiveUpdateUnchecked(trusted.Indices{}, tile.W, tile.Width, rows, val,
					w.list[:n], perceptron.coef(t, n, y)[:n])
			}
			continue
		}
		if short {
			vecmath.LanesScoreLEUnchecked(trusted.Indices{}, s, tile.W, rows, val, mask, y,
				perceptron.margin)
			if t.updates = keep(mask, sees); t.updates != 0 {
				vecmath.LanesUpdateUnchecked(trusted.Indices{}, tile.W, rows, val,
					perceptron.coef(t, t.updates, y)[:len(s)], mask)
			}
			continue
		}
		copy(mask, sees)
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
		if !r.keepsSum {
			r.total(t, tile, w, s, y)
			if seeing == 0 {
				continue
			}
		}
		var c []T
		if perceptron != nil {
			t.updates, c = perceptron.step(t, mask, 0, s, y, 0, nil)
		} else {
			var norm2 float64
			if r.o.rule.needsNorm() {
				norm2 = r.norms[e]
			}
			t.updates, c = r.o.rule.step(t, mask, tile.Lo, s, y, norm2, coef)
		}
		if t.updates == 0 {
			continue
		}
		if !active {
			vecmath.LanesUpdateUnchecked(trusted.Indices{}, tile.W, rows, val, c, mask)
			continue
		}
		w.list = engine.ActiveList(w.list, mask)
		for k, l := range w.list {
			w.compact[k] = c[l]
		}
		vecmath.ActiveUpdateUnchecked(trusted.Indices{}, tile.W, tile.Width, rows, val, w.list,
			w.compact[:len(w.list)])
	}
}

// total tallies a tile's scores, or its votes for +1, or its members that are wrong about y.
func (r *memberRun[T]) total(t *tally, tile *engine.LaneTile[T], w *laneWork[T], s []T, y T) {
	if !r.votes {
		for i := range len(w.mask) {
			lo, hi := min(64*i, tile.Lanes), min(64*(i+1), tile.Lanes)
			t.total[i] = r.o.rule.total(tile.Lo+lo, s[lo:hi])
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
