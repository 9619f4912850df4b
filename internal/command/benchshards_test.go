package command

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/bench"
	"github.com/halfspace-ml/halfspace/internal/race"
)

// TestBenchShards learns a small ensemble, rows and classes in parts, beside plans.
func TestBenchShards(t *testing.T) {
	if race.Enabled {
		t.Skip("the processes that it starts are slow then, and parts have tests of their own")
	}
	program, err := exec.LookPath("halfspace") // this test, which testscript.Main knows by that name
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range 2000 {
		text.WriteString([]string{"-1 1:1 3:1\n", "+1 2:1 3:1\n", "+1 1:1 4:1\n",
			"-1 3:1 4:1\n"}[i%4])
	}
	ways := shardWays(128)
	for i := range ways {
		ways[i].Most = 4
	}
	results, err := bench.ShardsOf(t.Context(), program, ways, []byte(text.String()),
		bench.Options{Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range results {
		names = append(names, strings.TrimPrefix(r.Name, "shards/"))
		if !(r.Median > 0) || !(r.PeerMedian > 0) {
			t.Errorf("%+v", r)
		}
	}
	want := []string{"N=128/workers=1", "N=128/workers=2"}
	for _, way := range []string{"rows/merged", "rows/mixed"} {
		for n := 1; n <= 4; n *= 2 {
			want = append(want, fmt.Sprintf("%s/workers=%d", way, n))
		}
	}
	want = append(want, "classes/workers=1", "classes/workers=2")
	if !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if !strings.Contains(results[1].Note, "one model") ||
		!strings.Contains(results[3].Note, "kB a worker") {
		t.Errorf("notes %q and %q", results[1].Note, results[3].Note)
	}
}
