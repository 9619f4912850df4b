package engine

import (
	"testing"
	"time"
)

// TestGain: work goes to several workers where that is a fifth faster, whatever one interrupt does,
// and both ways are tried again, as what they take may change.
func TestGain(t *testing.T) {
	p := newPool(t, 2)
	for _, c := range []struct {
		name          string
		alone, shared time.Duration // of 1000 units
		want          bool
	}{
		{"twice as fast", 100, 50, true},
		{"a quarter faster", 100, 80, true},
		{"a tenth faster", 100, 91, false},
		{"as fast", 100, 100, false},
		{"slower", 100, 300, false},
		{"pieces longer than a window", 90_000, 50_000, true},
	} {
		var g Gain
		shared, n := 0, 0
		run := func(alone, shared time.Duration) (was bool) {
			d := alone
			if was = g.Begin(p); was {
				d = shared
			}
			if n++; n == 8 { // in the first window
				d += 5 * time.Millisecond
			}
			g.end(d*time.Microsecond, 1000)
			return was
		}
		begin := run(c.alone, c.shared)
		if !begin {
			t.Errorf("%s: the first run was not shared", c.name)
		}
		for range 200 {
			run(c.alone, c.shared)
		}
		for range 2000 {
			if run(c.alone, c.shared) {
				shared++
			}
		}
		if c.want && shared < 1900 || !c.want && shared > 100 {
			t.Errorf("%s: %d of 2000 runs were shared", c.name, shared)
		}
		for range 10_000 { // the ways change places
			run(c.shared, c.alone)
		}
		want := float64(c.shared) >= gainLeast*float64(c.alone)
		if shared := run(c.shared, c.alone); shared != want && g.look == 0 {
			t.Errorf("%s, then the other way round: shared %v, want %v", c.name, shared, want)
		}
	}
}

// TestGainAfterStop: of a program that was stopped for hours in one window the others decide.
func TestGainAfterStop(t *testing.T) {
	p := newPool(t, 2)
	for _, way := range []bool{false, true} {
		var g Gain
		stopped := false
		for range 1 + gainLooks { // the first piece says nothing
			shared, d := g.Begin(p), time.Millisecond
			if shared {
				d *= 2
			}
			if !stopped && !g.fresh && shared == way {
				stopped, d = true, 3*time.Hour
			}
			g.end(d, 1000)
		}
		if g.look != 0 || g.way != gainAlone {
			t.Errorf("stopped while shared is %v: looks left %d, way %d", way, g.look, g.way)
		}
	}
}

// TestGainOfPools: one worker never shares, and a rehearsal and a pool that insists always do.
func TestGainOfPools(t *testing.T) {
	rehearsal, _ := NewRehearsal(4, func() time.Duration { return 0 })
	var none *Pool
	insists := newPool(t, 2)
	insists.Insist()
	var g, r, i Gain
	if g.Begin(none) || g.Begin(newPool(t, 1)) {
		t.Fatal("shared without workers")
	}
	for range 3000 {
		if !r.Begin(rehearsal) || !i.Begin(insists) {
			t.Fatal("not shared in a rehearsal, or by a pool that insists")
		}
		r.end(time.Millisecond, 1)
		i.end(time.Millisecond, 1)
	}
}
