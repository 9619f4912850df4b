package measure

import (
	"context"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
)

// level is a cache, or the memory behind it, and how many bytes are kept there.
type level struct {
	name string
	// set is the size of a working set that lies there and not in the level before.
	set int
	// holds is the largest working set of the level.
	holds int
}

// levels are this machine's, with common sizes where it does not say.
func levels() []level {
	size := func(said, common int) int {
		if said <= 0 {
			return common
		}
		return said
	}
	c := cpuid.CPU.Cache
	l1, l2, l3 := size(c.L1D, 32<<10), size(c.L2, 512<<10), size(c.L3, 8<<20)
	return []level{
		{"L1", l1 / 2, l1},
		{"L2", min(4*l1, l2/2), l2},
		// on virtual machines others share it
		{"L3", min(max(2*l2, l3/4), 16<<20), l3},
		{"DRAM", min(max(64<<20, 2*l3), 256<<20), 1 << 62},
	}
}

// readCases stream through a working set: as one vector, and as two.
func readCases(l level) []pair {
	n := l.set / 4
	x, _ := vectors[float32](n)
	one := pair{name: "machine/read/" + l.name + "/sumsq", unit: "MB/s", amount: 4 * float64(n),
		ours: loop(func() { vecmath.SumSq(x) })}
	two := pair{name: "machine/read/" + l.name + "/dot", unit: "MB/s", amount: 4 * float64(n/2*2),
		ours: loop(func() { vecmath.Dot(x[:n/2], x[n/2:n/2*2]) })}
	return []pair{one, two}
}

// writeCases store into a working set: alone, by Go's clear, as no kernel only stores, and beside
// loads of as much.
func writeCases(l level) []pair {
	n := l.set / 4
	x := engine.Aligned[float32](n)
	return []pair{
		{name: "machine/write/" + l.name + "/clear", unit: "MB/s", amount: 4 * float64(n),
			ours: loop(func() { clear(x) })},
		{name: "machine/write/" + l.name + "/scal", unit: "MB/s", amount: 4 * float64(n),
			ours: loop(func() { vecmath.Scal(x, -1) })},
	}
}

// multiplyAdds have the fewest loads for each: four rows share those of the vector.
func multiplyAdds[T engine.Float](typeName string) pair {
	const rows, n = 16, 256
	m, x := vectors[T](rows * n)
	dst := make([]T, rows)
	return pair{name: "machine/fma/" + typeName + "/rowsdot", unit: "GFLOP/s", amount: 2 * rows * n,
		ours: loop(func() { vecmath.RowsDot(dst, m, n, x[:n]) })}
}

// MachinePeaks measures what this machine allows, as far as the kernels of the implementation in
// use reach it: the rates of reading and writing at each level of its memory, and of multiply-adds;
// and how long what waits for a result waits.
func MachinePeaks(ctx context.Context, o Options) ([]Result, error) {
	var cases []pair
	for _, l := range levels() {
		cases = append(append(cases, readCases(l)...), writeCases(l)...)
	}
	cases = append(cases, multiplyAdds[float32]("f32"), multiplyAdds[float64]("f64"))
	return runAll(ctx, append(cases, waitCases()...), o)
}

// traffic is what an operation has to load and store, if everything is moved once, and how many
// bytes it goes through in all: they say where those lie.
type traffic struct{ loads, stores, set float64 }

// peaks are rates in bytes a nanosecond, the best round's.
type peaks []struct {
	level       level
	read, write float64
}

// measurePeaks measures the levels up to those that hold a working set.
func measurePeaks(ctx context.Context, set float64) (peaks, error) {
	best := func(cases []pair) (rate float64) {
		for _, c := range cases {
			for _, r := range c.run(ctx, "", Options{Rounds: 7}).Rounds {
				rate = max(rate, r.Ours.Value/1e3)
			}
		}
		return rate
	}
	var p peaks
	for _, l := range levels() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p = append(p, struct {
			level       level
			read, write float64
		}{l, best(readCases(l)), best(writeCases(l))})
		if set <= float64(l.holds) {
			break
		}
	}
	return p, nil
}

// limit puts into a result whose unit is a time what loads and stores alone would take, which
// overlap. Of a working set larger than a level, as much as that one holds may still lie there.
func (p peaks) limit(r *Result, t traffic) {
	if t.set == 0 {
		return
	}
	var load, store, before float64
	by := ""
	for _, l := range p {
		upTo := min(t.set, float64(l.level.holds))
		share := (upTo - before) / t.set
		load += share * t.loads / l.read
		store += share * t.stores / l.write
		before, by = upTo, l.level.name
		if upTo == t.set {
			break
		}
	}
	limit := load
	by += " read rate"
	if store > load {
		limit, by = store, strings.Replace(by, "read", "write", 1)
	}
	share := limit / r.Median
	r.Limit, r.OfLimit, r.LimitBy = &limit, &share, by
}

// largest returns the largest working set of the cases.
func largest(cases []pair) (set float64) {
	for _, c := range cases {
		set = max(set, c.traffic.set)
	}
	return set
}

// through is the traffic of vectors that are loaded and stored once each.
func through(loads, stores, set int) traffic {
	return traffic{float64(loads), float64(stores), float64(set)}
}
