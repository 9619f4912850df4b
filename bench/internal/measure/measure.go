// Package measure measures throughput: suites of cases, each beside a peer. Package papers,
// which stands on it, runs published tables and figures again.
//
// A speed is always a ratio of two things measured in turn in one run, with its spread; absolute
// nanoseconds age. Work of one thread is timed by that thread's CPU time where the system has it,
// so that a busy machine disturbs little; work of several by the wall clock. The other clock's time
// is kept beside it.
package measure

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/pprof"
	"sort"
	"time"

	"golang.org/x/perf/benchmath"

	"github.com/halfspace-ml/halfspace/internal/schema"
)

// Result is one case of a suite. Times are nanoseconds for one operation, medians over Rounds; an
// interval is the 95 % confidence interval of the median (order statistics, no assumption on the
// distribution).
type Result struct {
	Schema string     `json:"schema"`
	Name   string     `json:"name"` // op/type/n=N
	Impl   string     `json:"impl"`
	CPU    string     `json:"cpu"`
	Unit   string     `json:"unit"` // of Median: ns/op, ns/example, MB/s, GFLOP/s or MB
	Median float64    `json:"median"`
	CI     [2]float64 `json:"ci"`
	N      int        `json:"n"` // rounds

	// what this machine allows, in Unit, where it was measured in the same run
	Limit   *float64 `json:"limit"`
	OfLimit *float64 `json:"of_limit"` // the share of it that Median is
	LimitBy string   `json:"limit_by,omitempty"`

	Peer       string  `json:"peer,omitempty"`        // what it was measured in turn with
	PeerMedian float64 `json:"peer_median,omitempty"` // in Unit
	// how many times faster than the peer: median of the rounds' ratios
	RatioToPeer *float64   `json:"ratio_to_peer"`
	RatioCI     [2]float64 `json:"ratio_to_peer_ci"` // its 95 % interval
	Goal        float64    `json:"goal,omitempty"`   // RatioToPeer should reach it
	// Want is what Median should be on a quiet core of 2026, in Unit: at most, of rates at least.
	Want float64 `json:"want,omitempty"`
	Note string  `json:"note,omitempty"`

	Rounds []Round `json:"rounds"`
	// CPUShare is CPU time by wall time over all rounds of both sides, of work that keeps one CPU
	// busy: well below 1 other programs had it, and times are upper bounds. nil for work of
	// several.
	CPUShare *float64 `json:"cpu_share"`
	// SerialShare is the share of the work that one thread does alone, where that was measured.
	SerialShare *float64 `json:"serial_share,omitempty"`
	// Apart is how many times the work of one thread as many did as the case has, each for itself.
	Apart *float64 `json:"apart,omitempty"`
}

// Round is one measurement of each side, one right after the other.
type Round struct {
	Ours Timing  `json:"ours"`
	Peer *Timing `json:"peer,omitempty"`
}

// Timing is what some operations in a row took.
type Timing struct {
	Ops   int     `json:"ops"`
	Value float64 `json:"value"` // in the result's Unit
	// of one operation, or of one example where the unit is by example, in ns
	CPU  float64 `json:"cpu_ns"`
	Wall float64 `json:"wall_ns"`
}

// busyShare is the CPUShare below which a result gets a warning.
const busyShare = 0.9

// alone is the share of the time that work of one thread had a CPU: of both sides, or where ours
// has several threads, of the peer. It is 1 where there is no such work.
func (r Result) alone() float64 {
	if r.CPUShare != nil {
		return *r.CPUShare
	}
	var cpu, wall float64
	for _, round := range r.Rounds {
		if round.Peer != nil {
			cpu += round.Peer.CPU * float64(round.Peer.Ops)
			wall += round.Peer.Wall * float64(round.Peer.Ops)
		}
	}
	if wall == 0 {
		return 1
	}
	return cpu / wall
}

// Warning says that other programs had the CPU too while the case was measured, or is "".
func (r Result) Warning() string {
	share := r.alone()
	if share >= busyShare {
		return ""
	}
	what := "times are upper bounds"
	if r.CPUShare == nil {
		what = "the ratio of wall clock times says little"
	}
	return fmt.Sprintf("%s: one thread had a CPU for %.0f %% of the time; the machine is busy, %s",
		r.Name, 100*share, what)
}

// Misses is whether the ratio is below its goal by more than that share, with its whole interval.
// Of several threads' wall clock times that is not known on a busy machine, and false.
func (r Result) Misses(share float64) bool {
	return r.Goal > 0 && r.RatioToPeer != nil && r.RatioCI[1]*(1+share) < r.Goal &&
		(r.CPUShare != nil || r.alone() >= busyShare)
}

// pair is one case: ours and, if not nil, its peer. Each runs its operation k times.
type pair struct {
	name, unit string
	scale      float64 // operations in one call, for ns/example
	// amount, with a unit by time: the bytes, or for GFLOP/s the operations, of one call
	amount   float64
	ours     func(k int)
	peerName string
	peer     func(k int)
	cpu      func() time.Duration // nil: ThreadTime
	// threads: work of several threads, whose time is the wall clock's, and CPU the process's
	threads bool
	traffic traffic // the zero value: not known

	// labels of samples of profiles, while ours is measured and while the peer is
	oursLabels, peerLabels context.Context
}

var started = time.Now()

// WallTime is the time since the program started.
func WallTime() time.Duration { return time.Since(started) }

// Options say how long to measure.
type Options struct {
	Rounds int           // rounds of each case, ours and peer in turn; 0: 11
	Each   time.Duration // length of one round of one side; 0: 2 ms
}

func (o Options) withDefaults() Options {
	if o.Rounds == 0 {
		o.Rounds = 11
	}
	if o.Each == 0 {
		o.Each = 2 * time.Millisecond
	}
	return o
}

// run measures a pair: both sides in turn, every round. Samples of profiles (runtime/pprof) have
// the labels case, its name, and side: ours or peer. Workers of a pool keep those of who it first
// worked for, so each pair has a pool of its own.
func (p pair) run(ctx context.Context, impl string, o Options) (res Result) {
	pprof.Do(ctx, pprof.Labels("case", p.name), func(ctx context.Context) {
		p.oursLabels = pprof.WithLabels(ctx, pprof.Labels("side", "ours"))
		p.peerLabels = pprof.WithLabels(ctx, pprof.Labels("side", "peer"))
		res = p.measure(impl, o)
	})
	return res
}

// measure is run, under its labels.
func (p pair) measure(impl string, o Options) Result {
	o = o.withDefaults()
	if p.scale == 0 {
		p.scale = 1
	}
	switch {
	case p.threads:
		p.cpu = ProcessTime
	case p.cpu == nil:
		p.cpu = ThreadTime
		// not for work of several threads: it makes every hand-over a switch of threads
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	res := p.blank(impl, o.Rounds)
	ours := make([]float64, o.Rounds)
	ko := p.repeats(p.oursLabels, p.ours, o.Each)
	var peer, ratio []float64
	kp := 0
	if p.peer != nil {
		peer, ratio = make([]float64, o.Rounds), make([]float64, o.Rounds)
		kp = p.repeats(p.peerLabels, p.peer, o.Each)
	}
	var cpu, wall float64
	add := func(t Timing) {
		cpu += t.CPU * float64(t.Ops)
		wall += t.Wall * float64(t.Ops)
	}
	for r := range o.Rounds {
		t := p.timed(p.oursLabels, p.ours, ko)
		ours[r], res.Rounds[r].Ours = t.Value, t
		add(t)
		if p.peer != nil {
			u := p.timed(p.peerLabels, p.peer, kp)
			peer[r], res.Rounds[r].Peer = u.Value, &u
			ratio[r] = p.clock(u) / p.clock(t)
			add(u)
		}
	}
	res.Median, res.CI = median(ours)
	if peer != nil {
		res.PeerMedian, _ = median(peer)
		m, ci := median(ratio)
		res.RatioToPeer, res.RatioCI = &m, ci
	}
	if !p.threads && wall > 0 {
		share := cpu / wall
		res.CPUShare = &share
	}
	return res
}

// blank is a result before anything was measured.
func (p pair) blank(impl string, rounds int) Result {
	return Result{Schema: schema.Name, Name: p.name, Impl: impl, CPU: cpuName(), Unit: p.unit,
		N: rounds, Goal: goalOf(p.name, p.peerName, impl), Want: wantOf(p.name, impl),
		Peer: p.peerName, Rounds: make([]Round, rounds)}
}

// clock is the time that counts.
func (p pair) clock(t Timing) float64 {
	if p.threads {
		return t.Wall
	}
	return t.CPU
}

// repeats finds how many operations take about d; it also warms up.
func (p pair) repeats(labels context.Context, f func(k int), d time.Duration) int {
	for k := 1; ; {
		t := p.clock(p.timed(labels, f, k)) * p.scale * float64(k)
		if t >= float64(d)/2 {
			return max(1, int(float64(k)*float64(d)/t))
		}
		k = max(k+1, int(float64(k)*math.Min(100, 0.6*float64(d)/math.Max(t, 1))))
	}
}

// timed has f run k operations. The collector runs before that, as it does before benchmarks of
// package testing: else what f allocates would be new pages for as long as there is no need to
// collect, and the system's work on these a part of the time, 4 % of an epoch of MNIST.
func (p pair) timed(labels context.Context, f func(k int), k int) Timing {
	runtime.GC()
	pprof.SetGoroutineLabels(labels) // before the clock: once for all operations
	wall, cpu := WallTime(), p.cpu()
	f(k)
	cpu, wall = p.cpu()-cpu, WallTime()-wall
	by := p.scale * float64(k)
	t := Timing{Ops: k, CPU: float64(cpu) / by, Wall: float64(wall) / by}
	t.Value = p.clock(t)
	switch p.unit {
	case "MB/s":
		t.Value = p.amount / t.Value * 1e3 // bytes a nanosecond are GB/s
	case "GFLOP/s":
		t.Value = p.amount / t.Value
	}
	return t
}

func median(v []float64) (float64, [2]float64) {
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(append([]float64(nil), v...),
		&benchmath.DefaultThresholds), 0.95)
	lo, hi := s.Lo, s.Hi
	// too few rounds for 95 %: the range is all that can be said
	if math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		c := append([]float64(nil), v...)
		sort.Float64s(c)
		lo, hi = c[0], c[len(c)-1]
	}
	return s.Center, [2]float64{lo, hi}
}

// OfRounds sums up rounds that were measured elsewhere, of work of several threads or processes:
// the values of both sides, ours and the peer's, are what counts, in a unit of time.
func OfRounds(name, unit, peer, impl string, rounds []Round) Result {
	res := pair{name: name, unit: unit, peerName: peer}.blank(impl, 0)
	res.N, res.Rounds = len(rounds), rounds
	var ours, theirs, ratio []float64
	for _, r := range rounds {
		ours = append(ours, r.Ours.Value)
		if r.Peer != nil {
			theirs = append(theirs, r.Peer.Value)
			ratio = append(ratio, r.Peer.Value/r.Ours.Value)
		}
	}
	res.Median, res.CI = median(ours)
	if len(ratio) > 0 {
		res.PeerMedian, _ = median(theirs)
		m, ci := median(ratio)
		res.RatioToPeer, res.RatioCI = &m, ci
	}
	return res
}
