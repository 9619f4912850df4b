package engine

import (
	"context"
	"flag"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/internal/trusted"
	"github.com/halfspace-ml/halfspace/vecmath"
)

var calibrate = flag.Bool("calibrate", false, "measure the cost of fork and join and the size "+
	"from which a pool pays")

// spin is work of a given length that touches no memory.
type spin struct {
	turns int
	out   [64]float64 // a place for each part, 4 parts in use and 16 apart
}

func (s *spin) Part(i int) {
	x := 1.0
	for range s.turns {
		x = math.FMA(x, 0.999, 0.5)
	}
	s.out[16*i] = x
}

// TestCalibrate prints, for work of growing size in 4 parts, how long the caller alone takes and
// how much faster the pool is: hot (one Run after the other) and cold (the workers have parked in
// between). Times are 10th percentiles of interleaved runs, since other processes only ever make a
// run longer; least are the shortest. minShareNS is several times the least of an empty cold Run;
// enter CPU and date beside it.
func TestCalibrate(t *testing.T) {
	if !*calibrate {
		t.Skip("a measurement, run with -v -calibrate")
	}
	p := NewPool(0)
	defer p.Close()
	ctx := context.Background()
	measure := func(j Job, rounds int, q float64) (alone, hot, cold time.Duration) {
		var d [3][]time.Duration
		for i := range 3 * rounds {
			pool := p
			if i%3 == 0 {
				pool = nil
			}
			if i%3 == 2 {
				for start := time.Now(); time.Since(start) < 2*stayAwake; {
					runtime.Gosched() // a caller that is busy elsewhere
				}
			} else {
				mustRun(t, pool, ctx, 4, j) // so that the timed one is hot
			}
			start := time.Now()
			mustRun(t, pool, ctx, 4, j)
			d[i%3] = append(d[i%3], time.Since(start))
		}
		return quantile(d[0], q), quantile(d[1], q), quantile(d[2], q)
	}
	alone, hot, cold := measure(nothing{}, 1000, 0)
	t.Logf("%d workers; empty fork and join, least: %v hot, %v cold; caller alone %v", p.Workers(), hot,
		cold, alone)
	for turns := 100; turns <= 50_000; turns = turns * 3 / 2 {
		alone, hot, cold := measure(&spin{turns: turns}, 100, 0.1)
		t.Logf("alone %9v, share %9v: hot %.2fx, cold %.2fx", alone,
			alone/time.Duration(p.Workers()),
			float64(alone)/float64(hot), float64(alone)/float64(cold))
	}
}

// TestCalibrateRows prints, for tables of growing size, what scoring an example of 14 non-zeros by
// 100 members costs with its rows looked up, half of the features having one, and with rows that
// are numbered by the features: directBytes is a size up to which that is worth its memory.
func TestCalibrateRows(t *testing.T) {
	if !*calibrate {
		t.Skip("a measurement, run with -v -calibrate")
	}
	const members, nnz, examples = 100, 14, 1000
	for kib := 64; kib <= 16<<10; kib *= 2 {
		dim := kib << 10 / int(rowBytes(members, 4))
		rng := NewRand(1, 0)
		idx, val := make([]int32, nnz*examples), make([]float32, nnz)
		for i := range idx {
			idx[i] = int32(rng.IntN(dim)) &^ 1
		}
		var d [2][]time.Duration
		rows, s := make([]int32, 0, nnz), Aligned[float32](WideTile)
		look, direct := NewLanes[float32](members), NewLanes[float32](members)
		direct.grow(dim + 1)
		look.scattered = true
		look.Reach(dim)
		look.Rows(nil, idx)
		for _, l := range []*Lanes[float32]{look, direct} {
			for _, t := range l.Tiles { // pages that were never written are all one
				for i := range t.W {
					t.W[i] = 1
				}
			}
		}
		for i := range 200 {
			l := [2]*Lanes[float32]{look, direct}[i%2]
			start := time.Now()
			for e := 0; e < len(idx); e += nnz {
				r := idx[e : e+nnz]
				if l == look {
					r = l.Rows(rows[:0], r)
				}
				for i := range l.Tiles {
					t := &l.Tiles[i]
					vecmath.LanesScoreUnchecked(trusted.Indices{}, s[:t.Width], t.W, r, val)
				}
			}
			d[i%2] = append(d[i%2], time.Since(start)/examples)
		}
		t.Logf("%5d KiB: %v looked up, %v direct", kib, quantile(d[0], 0.1), quantile(d[1], 0.1))
	}
}
