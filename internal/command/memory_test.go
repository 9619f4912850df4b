package command

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/race"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/training"
)

// TestMemoryBudget: over a stream that fills the budget and then takes many examples' places, the
// process never holds more than a tenth above what --mem-budget planned before, nor less than three
// quarters of it: the plan is used, but for reading, which needs little of a pipe that is slower
// than learning, and tables that move. Two labels in ten are wrong, so that every tenth example
// changes what is kept.
func TestMemoryBudget(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	for _, c := range []struct{ args, examples string }{
		{"-a budget --kernel linear", "20000"},
		{"-a obpm --kernel rbf --sigma 1 --members 1000 --tau 0.05", "8000"},
	} {
		args := c.args
		gen := exec.Command("halfspace", "gen", "gauss", "-n", c.examples, "--noise", "0.2")
		train := exec.Command("halfspace", append(strings.Fields(args), "--mem-budget", "36MiB",
			"--json", "--progress", "none", "-")...)
		train.Args = append([]string{"halfspace", "train"}, train.Args[1:]...)
		var err error
		if train.Stdin, err = gen.StdoutPipe(); err != nil {
			t.Fatal(err)
		}
		var talk strings.Builder
		train.Stderr = &talk
		if err := gen.Start(); err != nil {
			t.Fatal(err)
		}
		out, err := train.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args, err, &talk)
		}
		if err := gen.Wait(); err != nil {
			t.Fatal(err)
		}
		var r struct {
			Examples int64
			Support  int
			Config   struct{ Budget int }
			Latency  struct {
				P50 int64 `json:"p50_ns"`
				P99 int64 `json:"p99_ns"`
				Max int64 `json:"max_ns"`
			}
			Memory struct {
				Budget, Program, Reader, Moving, Peak int64
				Parts                                 []learner.MemoryPart
			}
		}
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatal(err)
		}
		plan := r.Memory.Program + r.Memory.Reader + r.Memory.Moving +
			learner.Footprint{Parts: r.Memory.Parts}.Held()
		if r.Memory.Budget != 36<<20 || plan > r.Memory.Budget || plan < r.Memory.Budget*95/100 {
			t.Errorf("%s: %d bytes of %d planned: %+v", args, plan, r.Memory.Budget, r.Memory)
		}
		if !strings.HasPrefix(talk.String(), "memory: ") {
			t.Errorf("%s: the plan isn't shown before the run: %q", args, talk.String())
		}
		if !(0 < r.Latency.P50 && r.Latency.P50 <= r.Latency.P99 &&
			r.Latency.P99 <= r.Latency.Max) {
			t.Errorf("%s: latency %+v", args, r.Latency)
		}
		t.Logf("%s: %d examples, %d of %d kept, %.1f MiB at most, %.1f planned, latency %+v", args,
			r.Examples, r.Support, r.Config.Budget,
			float64(r.Memory.Peak)/(1<<20), float64(plan)/(1<<20), r.Latency)
		if runtime.GOOS != "linux" {
			continue // the peak isn't known
		}
		full := r.Support == r.Config.Budget
		if !full {
			t.Errorf("%s: %d of %d kept", args, r.Support, r.Config.Budget)
		}
		if r.Memory.Peak > plan*11/10 || r.Memory.Peak < plan*3/4 {
			t.Errorf("%s: %d bytes at most, %d planned; %d of %d kept", args, r.Memory.Peak, plan,
				r.Support, r.Config.Budget)
		}
	}
}

// TestMemoryOfDataInMemory: a run that reads all examples first takes no more than was planned, the
// reading included, which takes more than learning does. The command itself is measured: the text
// of this test is larger by a fifth.
func TestMemoryOfDataInMemory(t *testing.T) {
	t.Parallel()
	goTool, err := exec.LookPath("go")
	if err != nil {
		if os.Getenv("HALFSPACE_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	program := filepath.Join(t.TempDir(), "halfspace.exe")
	file := filepath.Join(t.TempDir(), "train.svm")
	for _, args := range [][]string{{goTool, "build", "-o", program, "../../cmd/halfspace"},
		{program, "gen", "waveform", "-n", "20000", "-o", file}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	out, err := exec.Command(program, "train", "-a", "cramma", "--mem-budget", "48MiB", "--json",
		"--progress", "none", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var r struct{ Memory training.Split }
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	if m := r.Memory; m.Peak > m.Planned() || m.Planned() > m.Budget || m.Data == 0 {
		t.Errorf("%d bytes at most, %d planned: %+v", m.Peak, m.Planned(), m)
	}
}
