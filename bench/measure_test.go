package bench

import (
	"strings"
	"testing"
	"time"

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
	r := pair{name: "x/y", unit: "ns/op", ours: work(1000), peerName: "peer", peer: work(3000),
		goal: 3}.run("generic", Options{Each: time.Millisecond})
	if r.RatioToPeer == nil || *r.RatioToPeer < 2 || *r.RatioToPeer > 4.5 {
		t.Errorf("ratio %v, want about 3", r.RatioToPeer)
	}
	if r.RatioCI[0] > *r.RatioToPeer || r.RatioCI[1] < *r.RatioToPeer || r.CI[0] > r.Median ||
		r.CI[1] < r.Median {
		t.Errorf("medians outside their intervals: %+v", r)
	}
}

// TestWriteGo reads the output back with the reader that benchstat uses.
func TestWriteGo(t *testing.T) {
	ratio := 2.5
	var b strings.Builder
	err := WriteGo(&b, []Result{
		{Name: "dot/f32/n=784", Impl: "avx2", Unit: "ns/op", Median: 21.5, CI: [2]float64{21, 22},
			N: 11, Peer: "gonum", PeerMedian: 54, RatioToPeer: &ratio, RatioCI: [2]float64{2.4,
				2.6}, Goal: 2.4},
		{Name: "read/svmlight/a9a", Impl: "avx2", Unit: "MB/s", Median: 900, CI: [2]float64{890,
			910}, N: 11},
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	reader := benchfmt.NewReader(strings.NewReader(b.String()), "out")
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.Result:
			names = append(names, rec.Name.String())
			if rec.Iters != 11 {
				t.Errorf("%s: %d iterations", rec.Name, rec.Iters)
			}
			if v, ok := rec.Value("x-faster"); string(rec.Name.Base()) == "Dot" &&
				(!ok || v != 2.5) {
				t.Errorf("x-faster is %v, %v", v, ok)
			}
		default:
			t.Errorf("benchstat would refuse %v", rec)
		}
	}
	if got := strings.Join(names,
		" "); got != "Dot/f32/n=784/impl=avx2 Read/svmlight/a9a/impl=avx2" {
		t.Errorf("names read back: %s", got)
	}
}
