package measure

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"
)

// TestRatio times a loop against one of three times the work: the ratio must come out as 3, to what
// a busy machine leaves of it.
func TestRatio(t *testing.T) {
	var sink uint64
	work := func(n int) func(int) {
		return loop(func() {
			for i := range n {
				sink = sink*6364136223846793005 + uint64(i)
			}
		})
	}
	r := pair{name: "x/y", unit: "ns/op", ours: work(1000), peerName: "peer",
		peer: work(3000)}.run(t.Context(), "generic", Options{Each: time.Millisecond})
	if r.RatioToPeer == nil || *r.RatioToPeer < 2 || *r.RatioToPeer > 4.5 {
		t.Errorf("ratio %v, want about 3", r.RatioToPeer)
	}
	if r.RatioCI[0] > *r.RatioToPeer || r.RatioCI[1] < *r.RatioToPeer || r.CI[0] > r.Median ||
		r.CI[1] < r.Median {
		t.Errorf("medians outside their intervals: %+v", r)
	}
}

// TestWriteGo reads the output back with the reader that benchstat uses: a record a round.
func TestWriteGo(t *testing.T) {
	ratio, share := 2.5, 0.4
	timing := func(v, wall float64) *Timing {
		return &Timing{Ops: 100, Value: v, CPU: v, Wall: wall}
	}
	var b strings.Builder
	err := WriteGo(&b, []Result{
		{Name: "dot/f32/n=784", Impl: "avx2", Unit: "ns/op", Median: 20, CI: [2]float64{19, 22},
			N: 2, Peer: "gonum", PeerMedian: 50, RatioToPeer: &ratio, RatioCI: [2]float64{2.4,
				2.6}, Goal: 2.4, CPUShare: &share, Note: "by the way",
			Rounds: []Round{{*timing(20, 25), timing(50, 51)}, {*timing(22, 30), timing(55, 56)}}},
		{Name: "read/svmlight/a9a", Impl: "avx2", Unit: "MB/s", Median: 900, CI: [2]float64{890,
			910}, N: 1, Peer: "strconv", PeerMedian: 300, RatioToPeer: &ratio,
			RatioCI: [2]float64{2.5, 2.5},
			Rounds:  []Round{{*timing(900, 25), timing(300, 75)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	reader := benchfmt.NewReader(strings.NewReader(b.String()), "out")
	for reader.Scan() {
		rec, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			t.Errorf("benchstat would refuse %v", reader.Result())
			continue
		}
		line := fmt.Sprint(rec.Name, " ", rec.Iters)
		for _, unit := range []string{"sec/op", "wall-sec/op", "gonum-sec/op", "gonum-wall-sec/op",
			"B/s", "strconv-B/s", "x-faster"} {
			if v, ok := rec.Value(unit); ok {
				line += fmt.Sprintf(" %.3g %s", v, unit)
			}
		}
		got = append(got, line)
	}
	want := []string{
		"Dot/f32/n=784/impl=avx2 100 2e-08 sec/op 2.5e-08 wall-sec/op 5e-08 gonum-sec/op " +
			"5.1e-08 gonum-wall-sec/op 2.5 x-faster",
		"Dot/f32/n=784/impl=avx2 100 2.2e-08 sec/op 3e-08 wall-sec/op 5.5e-08 gonum-sec/op " +
			"5.6e-08 gonum-wall-sec/op 2.5 x-faster",
		"Read/svmlight/a9a/impl=avx2 100 9e+08 B/s 3e+08 strconv-B/s 3 x-faster",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, want := range []string{
		"\n# dot/f32/n=784: 20 ns ± 10 %; 2.5 ± 0.1 times as fast as gonum (goal 2.4)\n" +
			"# by the way\n# warning: dot/f32/n=784: one thread had a CPU for 40 % of the time",
		"\n# read/svmlight/a9a: 900 MB/s ± 1 %; 2.50 ± 0.00 times",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

func TestPlusMinus(t *testing.T) {
	for _, c := range []struct {
		v, lo, hi float64
		want      string
	}{
		{2.234, 2.1, 2.3, "2.2 ± 0.1"}, {2.234, 2.21, 2.25, "2.23 ± 0.02"},
		{833, 720, 900, "833 ± 113"}, {0.412, 0.4, 0.4121, "0.41 ± 0.01"}, {12.345, 12.345, 12.345,
			"12.3 ± 0.0"}, {2.5, 0.1, 5, "2 ± 2"},
	} {
		if got := plusMinus(c.v, [2]float64{c.lo, c.hi}); got != c.want {
			t.Errorf("%v in %v to %v is %s, want %s", c.v, c.lo, c.hi, got, c.want)
		}
	}
}

// TestBusy: half of the time of a case that sleeps for it is not its own.
func TestBusy(t *testing.T) {
	var cpu time.Duration
	spin := func(int) {
		time.Sleep(2 * time.Millisecond)
		cpu += time.Millisecond
	}
	p := pair{name: "x", unit: "ns/op", ours: spin, cpu: func() time.Duration { return cpu }}
	r := p.run(t.Context(), "generic", Options{Rounds: 3, Each: time.Millisecond})
	if r.CPUShare == nil || *r.CPUShare > 0.5 || r.Warning() == "" {
		t.Errorf("share %v, warning %q", r.CPUShare, r.Warning())
	}
	for _, round := range r.Rounds {
		if o := round.Ours; o.Value != 1e6 || o.CPU != 1e6 || o.Wall < 2e6 {
			t.Errorf("%+v", o)
		}
	}
	p.threads, p.cpu = true, nil
	r = p.run(t.Context(), "generic", Options{Rounds: 3, Each: time.Millisecond})
	if r.CPUShare != nil || r.Warning() != "" || r.Median < 2e6 {
		t.Errorf("of several threads: share %v, %q, %v ns", r.CPUShare, r.Warning(), r.Median)
	}
}

// TestMisses: a goal is missed by the whole interval, and of several threads only where one thread
// had a CPU to itself.
func TestMisses(t *testing.T) {
	ratio, share := 1.4, 0.5
	r := Result{Name: "x", Goal: 1.5, RatioToPeer: &ratio, RatioCI: [2]float64{1.3, 1.45},
		CPUShare: &share}
	for over, want := range map[float64]bool{0: true, 0.03: true, 0.04: false} {
		if r.Misses(over) != want {
			t.Errorf("by %v: %v, want %v", over, !want, want)
		}
	}
	peer := Timing{Ops: 10, CPU: 80, Wall: 100}
	r.CPUShare, r.Rounds = nil, []Round{{Peer: &peer}}
	if r.Misses(0) || !strings.Contains(r.Warning(), "80 % of the time; the machine is busy, "+
		"the r") {
		t.Errorf("on a busy machine: %v, %q", r.Misses(0), r.Warning())
	}
	if peer.Wall = 81; !r.Misses(0) || r.Warning() != "" {
		t.Errorf("on a quiet machine: %v, %q", r.Misses(0), r.Warning())
	}
	r.Goal = 0
	if r.Misses(0) || (Result{Goal: 1}).Misses(0) {
		t.Error("missed without a goal, or without a ratio")
	}
}
