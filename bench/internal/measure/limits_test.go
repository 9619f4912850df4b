package measure

import (
	"context"
	"math"
	"testing"
)

// TestLimit: by hand, with round rates.
func TestLimit(t *testing.T) {
	p := make(peaks, 2)
	p[0].level, p[0].read, p[0].write = level{name: "L1", holds: 1000}, 100, 50
	p[1].level, p[1].read, p[1].write = level{name: "L2", holds: 10000}, 20, 10
	for _, c := range []struct {
		traffic traffic
		limit   float64
		by      string
	}{
		{through(800, 0, 800), 8, "L1 read rate"},
		{through(800, 300, 800), 8, "L1 read rate"},
		{through(800, 800, 800), 16, "L1 write rate"},
		{through(4000, 0, 4000), 10 + 150, "L2 read rate"}, // a quarter may be in L1
		{through(4000, 4000, 4000), 20 + 300, "L2 write rate"},
	} {
		r := Result{Median: 2 * c.limit}
		p.limit(&r, c.traffic)
		if r.Limit == nil || math.Abs(*r.Limit-c.limit) > 1e-9 || math.Abs(*r.OfLimit-0.5) > 1e-9 ||
			r.LimitBy != c.by {
			t.Errorf("%+v: %v, %v, %q, want %v, 0.5, %q", c.traffic, *r.Limit, *r.OfLimit,
				r.LimitBy,
				c.limit, c.by)
		}
	}
	var r Result
	if p.limit(&r, traffic{}); r.Limit != nil {
		t.Error("a limit of what is not known")
	}
}

// TestPeaks: rates are there for as many levels as the set needs, and of a size that memory has.
func TestPeaks(t *testing.T) {
	first := levels()[0]
	for l := range levels() {
		if l := levels()[l]; l.set > l.holds || l.set < first.set {
			t.Errorf("%+v", l)
		}
	}
	p, err := measurePeaks(context.Background(), float64(first.holds))
	if err != nil || len(p) != 1 || p[0].read < 0.1 || p[0].read > 1e4 || p[0].write < 0.1 {
		t.Errorf("%+v, %v", p, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := measurePeaks(ctx, 1); err == nil {
		t.Error("went on after the end")
	}
}
