package command

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/bench"
	"github.com/halfspace-ml/halfspace/internal/race"
)

// TestBenchShards learns a small ensemble in parts, beside a plan.
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
		text.WriteString([]string{"-1 1:1 3:1\n", "+1 2:1 3:1\n", "+1 1:1 4:1\n"}[i%3])
	}
	results, err := bench.ShardsOf(t.Context(), program, shardLines, []byte(text.String()),
		[]int{128}, bench.Options{Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 || results[0].Name != "shards/N=128/workers=1" ||
		!(results[1].PeerMedian > 0) || !strings.Contains(results[1].Note, "one model") {
		t.Errorf("%+v", results)
	}
}
