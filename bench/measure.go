// Package bench measures throughput: suites of cases, each beside a peer. Package bench/papers,
// which stands on it, runs published tables and figures again.
//
// A speed is always a ratio of two things measured in turn in one run, with its spread; absolute
// nanoseconds age. Work of one thread is timed by that thread's CPU time where the system has it,
// so that a busy machine disturbs little; work of several by the wall clock, or by the CPU time of
// the process.
package bench

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"sort"
	"strings"
	"time"

	"golang.org/x/perf/benchmath"

	"github.com/halfspace-ml/halfspace/internal/schema"
)

// Result is one line of a suite. Times are nanoseconds for one operation, medians over Rounds; an
// interval is the 95 % confidence interval of the median (order statistics, no assumption on the
// distribution).
type Result struct {
	Schema string     `json:"schema"`
	Name   string     `json:"name"` // op/type/n=N
	Impl   string     `json:"impl"`
	CPU    string     `json:"cpu"`
	Unit   string     `json:"unit"` // of Median: ns/op, ns/example or MB/s
	Median float64    `json:"median"`
	CI     [2]float64 `json:"ci"`
	N      int        `json:"n"` // rounds

	// what this machine allows, in Unit, where it was measured in the same run
	Limit   *float64 `json:"limit"`
	OfLimit *float64 `json:"of_limit"` // Median as a share of it

	Peer       string  `json:"peer,omitempty"`        // what it was measured in turn with
	PeerMedian float64 `json:"peer_median,omitempty"` // in Unit
	// how many times faster than the peer: median of the rounds' ratios
	RatioToPeer *float64   `json:"ratio_to_peer"`
	RatioCI     [2]float64 `json:"ratio_to_peer_ci"` // its 95 % interval
	Goal        float64    `json:"goal,omitempty"`   // RatioToPeer should reach it
	Note        string     `json:"note,omitempty"`
}

// pair is one case: ours and, if not nil, its peer. Each runs its operation k times.
type pair struct {
	name, unit string
	scale      float64 // operations in one call, for ns/example
	bytes      float64 // with unit MB/s: bytes one operation reads
	ours       func(k int)
	peerName   string
	peer       func(k int)
	goal       float64
	clock      func() time.Duration // nil: threadTime
}

var started = time.Now()

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

// run measures a pair: both sides in turn, every round.
func (p pair) run(impl string, o Options) Result {
	o = o.withDefaults()
	if p.scale == 0 {
		p.scale = 1
	}
	clock := p.clock
	if clock == nil {
		clock = threadTime
		// not for work of several threads: it makes every hand-over a switch of threads
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	ours := make([]float64, o.Rounds)
	ko := repeats(clock, p.ours, o.Each)
	var peer, ratio []float64
	kp := 0
	if p.peer != nil {
		peer, ratio = make([]float64, o.Rounds), make([]float64, o.Rounds)
		kp = repeats(clock, p.peer, o.Each)
	}
	for r := range o.Rounds {
		ours[r] = timed(clock, p.ours, ko) / p.scale
		if p.peer != nil {
			peer[r] = timed(clock, p.peer, kp) / p.scale
			ratio[r] = peer[r] / ours[r]
		}
	}
	res := Result{Schema: schema.Name, Name: p.name, Impl: impl, CPU: cpuName(), Unit: p.unit,
		N: o.Rounds, Goal: p.goal, Peer: p.peerName}
	if p.unit == "MB/s" {
		for r := range ours {
			ours[r] = p.bytes / ours[r] * 1e3 // bytes a nanosecond are GB/s
			if peer != nil {
				peer[r] = p.bytes / peer[r] * 1e3
			}
		}
	}
	res.Median, res.CI = median(ours)
	if peer != nil {
		res.PeerMedian, _ = median(peer)
		m, ci := median(ratio)
		res.RatioToPeer, res.RatioCI = &m, ci
	}
	return res
}

// repeats finds how many operations take about d; it also warms up.
func repeats(clock func() time.Duration, f func(k int), d time.Duration) int {
	for k := 1; ; {
		t := timed(clock, f, k) * float64(k)
		if t >= float64(d)/2 {
			return max(1, int(float64(k)*float64(d)/t))
		}
		k = max(k+1, int(float64(k)*math.Min(100, 0.6*float64(d)/math.Max(t, 1))))
	}
}

// timed returns nanoseconds per operation.
func timed(clock func() time.Duration, f func(k int), k int) float64 {
	t := clock()
	f(k)
	return float64(clock()-t) / float64(k)
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

// WriteGo writes results in the format of Go's benchmarks, which benchstat reads: one line a
// result, further columns for the peer's time and for how many times faster ours is. A note is a
// line of its own, which benchstat passes over.
func WriteGo(w io.Writer, results []Result) error {
	width := 0
	for _, r := range results {
		width = max(width, len(goName(r)))
	}
	for _, r := range results {
		line := fmt.Sprintf("%-*s %4d %10.4g %-10s %3.0f %%-ci", width, goName(r), r.N, r.Median,
			r.Unit, spread(r.Median, r.CI))
		if r.RatioToPeer != nil {
			line += fmt.Sprintf(" %10.4g %s-%s %8.3g x-faster %3.0f %%-x-ci", r.PeerMedian, r.Peer,
				r.Unit, *r.RatioToPeer, spread(*r.RatioToPeer, r.RatioCI))
			if r.Goal > 0 {
				line += fmt.Sprintf(" %5.3g x-goal", r.Goal)
			}
		}
		if r.Note != "" {
			line += "\n# " + r.Note
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

func goName(r Result) string {
	return "Benchmark" + strings.ToUpper(r.Name[:1]) + r.Name[1:] + "/impl=" + r.Impl
}

// spread is the half-width of an interval in percent of its centre.
func spread(centre float64, ci [2]float64) float64 {
	return 100 * math.Max(ci[1]-centre, centre-ci[0]) / centre
}
