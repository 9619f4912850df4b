package command

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/machine"
	"github.com/halfspace-ml/halfspace/internal/race"
	"github.com/halfspace-ml/halfspace/internal/training"
	"github.com/halfspace-ml/halfspace/learner"
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
		train := exec.Command("halfspace-peak", slices.Concat([]string{"train"},
			strings.Fields(args), []string{"--mem-budget", "36MiB", "--json", "--progress", "none",
				"-"})...)
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
		most, least := ownPeak(t, r.Memory.Peak, talk.String())
		if most > plan*11/10 || least < plan*3/4 {
			t.Errorf("%s: %d to %d bytes at most, %d planned; %d of %d kept", args, most, least,
				plan, r.Support, r.Config.Budget)
		}
	}
}

// TestMemoryOfDataInMemory: a run that reads all examples first takes no more than was planned, the
// reading included, which takes more than learning does.
func TestMemoryOfDataInMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	file := filepath.Join(t.TempDir(), "train.svm")
	if out, err := exec.Command("halfspace", "gen", "waveform", "-n", "60000", "-o",
		file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	train := exec.Command("halfspace-peak", "train", "-a", "cramma", "--mem-budget", "80MiB",
		"--json", "--progress", "none", file)
	var talk strings.Builder
	train.Stderr = &talk
	out, err := train.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &talk)
	}
	var r struct{ Memory training.Split }
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	m := r.Memory
	if m.Planned() > m.Budget || m.Data == 0 {
		t.Errorf("%d bytes planned: %+v", m.Planned(), m)
	}
	if runtime.GOOS != "linux" {
		return // the peak isn't known
	}
	if most, _ := ownPeak(t, m.Peak, talk.String()); most > m.Planned() {
		t.Errorf("%d bytes at most, %d planned: %+v", most, m.Planned(), m)
	}
}

// ownPeak is what a run had of memory at most, of which the system decided how much was of the
// program's file, as halfspace-peak said: most has no more of that than the plan, least no less.
func ownPeak(t *testing.T, peak int64, said string) (most, least int64) {
	t.Helper()
	_, said, _ = strings.Cut(said, "\nfile ")
	var file int64
	if _, err := fmt.Sscan(said, &file); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return peak - max(0, file-machine.TextBytes), peak + max(0, machine.TextBytes-file)
}
