//go:build unix

package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/internal/race"
	"github.com/halfspace-ml/halfspace/model"
)

// killed are runs that are killed and gone on with.
var killed = []struct {
	name  string
	data  string
	stdin bool
	flags []string
}{
	{"obpm-shuffled", "two.svm", false,
		[]string{"-a", "obpm", "--members", "60", "--epochs", "3", "--shuffle", "--bias",
			"append"}},
	{"pa-stdin", "two.svm", true, []string{"-a", "pa"}},
	{"classes", "three.svm", false, []string{"-a", "obpm", "--members", "20"}},
	{"budget-kernel", "two.svm", false,
		[]string{"-a", "budget", "--budget", "40", "--kernel", "rbf", "--gamma", "0.5"}},
	{"adf", "two.svm", false, []string{"-a", "adf", "--normalize", "max"}},
	{"converged", "two.svm", false, []string{"-a", "perceptron", "--margin", "3",
		"--until-converged", "--max-updates", "30000", "--shuffle"}},
	{"active-set", "two.svm", false, []string{"-a", "micra", "--until-converged", "--active-set",
		"--max-updates", "100000"}},
	{"halving", "two.svm", false, []string{"-a", "romma", "--aggressive", "--delta", "0.1",
		"--until-converged", "--active-set", "--halving", "--soft-delta", "1", "--max-updates",
		"100000"}},
	{"soft", "two.svm", false, []string{"-a", "alma", "--until-converged", "--soft-delta", "2",
		"--max-updates", "30000"}},
	{"soft-classes", "three.svm", false, []string{"-a", "romma", "--aggressive", "--delta", "0.3",
		"--until-converged", "--active-set", "--soft-delta", "8"}},
	{"soft-pairs", "three.svm", false, []string{"-a", "perceptron", "--margin", "0.2", "--pairs",
		"--until-converged", "--soft-delta", "8"}},
}

// killedData writes examples: two labels, bad rows among them, and three labels.
func killedData(t *testing.T, dir string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var two, three strings.Builder
	for i := range 6000 {
		label, class := "+1", 1
		var row strings.Builder
		f := 0.0
		for j := range 12 {
			if v := rng.NormFloat64(); rng.IntN(3) > 0 {
				f += v * float64(j%3-1)
				fmt.Fprintf(&row, " %d:%.3f", j+1+i/3000, v)
			}
		}
		if f < 0 {
			label = "-1"
		}
		if f < -1 {
			class = 2
		} else if f > 1 {
			class = 3
		}
		if i%500 == 77 {
			fmt.Fprintf(&two, "%s 1:x\n", label)
		}
		fmt.Fprintf(&two, "%s%s\n", label, row.String())
		fmt.Fprintf(&three, "%d%s\n", class, row.String())
	}
	for name, text := range map[string]string{"two.svm": two.String(),
		"three.svm": three.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// killsWanted is how many kills there are to be.
func killsWanted(t *testing.T) int {
	t.Helper()
	if text := os.Getenv("HALFSPACE_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if testing.Short() || race.Enabled {
		return len(killed)
	}
	return 2 * len(killed)
}

// TestKilledRuns kills checkpointed runs at random moments, goes on with them, and compares what
// they end in with the model of a run that nobody stopped, byte by byte. HALFSPACE_KILLS says how
// many kills there are to be; unless told, each setting is killed once or twice.
func TestKilledRuns(t *testing.T) {
	kills := killsWanted(t)
	dir := t.TempDir()
	killedData(t, dir)
	type outcome struct {
		whole []byte
		takes time.Duration
	}
	uncut := make([]outcome, len(killed))
	start := func(k int, args ...string) *exec.Cmd {
		c := killed[k]
		args = append([]string{"train", "-q", "--on-error", "skip"}, args...)
		cmd := exec.Command("halfspace", append(args, c.data)...)
		if c.stdin {
			cmd.Args[len(cmd.Args)-1] = "-"
			f, err := os.Open(filepath.Join(dir, c.data))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			cmd.Stdin = f
		}
		cmd.Dir = dir
		cmd.Stderr = new(bytes.Buffer)
		return cmd
	}
	finish := func(cmd *exec.Cmd) {
		t.Helper()
		err := cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != CodeNotConverged {
			t.Fatalf("%v: %v: %s", cmd.Args, err, cmd.Stderr)
		}
	}
	anew := func(k int, file string) []string {
		return slices.Concat(killed[k].flags, []string{"-m", file})
	}
	for k := range killed {
		began := time.Now()
		cmd := start(k, anew(k, "whole")...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		finish(cmd)
		uncut[k].takes = time.Since(began)
		data, err := os.ReadFile(filepath.Join(dir, "whole"))
		if err != nil {
			t.Fatal(err)
		}
		uncut[k].whole = data
	}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	done, rounds, early, late := 0, 0, 0, 0
	for ; done < kills; rounds++ {
		round := rounds
		k := round % len(killed)
		file := filepath.Join(dir, fmt.Sprintf("%s-%d", killed[k].name, round))
		for left := 1 + rng.IntN(3); ; {
			args := anew(k, file)
			if _, err := os.Stat(file); err == nil {
				args = []string{"--resume", "-m", file}
			}
			every := []string{"--checkpoint-every", []string{"200", "333", "2ms"}[rng.IntN(3)]}
			cmd := start(k, append(args, every...)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if left == 0 || done == kills {
				finish(cmd)
				break
			}
			if rng.IntN(4) > 0 { // else at any moment, the first ones included
				written(file, uncut[k].takes)
			}
			time.Sleep(time.Duration(rng.Float64() * rng.Float64() * float64(uncut[k].takes)))
			cmd.Process.Kill()
			cmd.Wait()
			m, err := model.Load(file)
			if err != nil {
				if !os.IsNotExist(err) {
					t.Fatalf("after a kill: %v", err)
				}
				early++
				continue
			}
			if m.Position == nil { // it had come to its end
				late++
				break
			}
			left--
			done++
			if _, err := model.Load(file + ".1"); err != nil && !os.IsNotExist(err) {
				t.Errorf("after a kill: %v", err)
			}
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, uncut[k].whole) {
			t.Errorf("%s: killed and gone on with, it ends in another model (%s)",
				killed[k].name, file)
		}
	}
	t.Logf("%d kills of %d runs, besides %d before the first checkpoint and %d after the end", done,
		rounds, early, late)
}

// written waits until the file is another one, for so long at most.
func written(file string, most time.Duration) {
	before, _ := os.Stat(file)
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if now, err := os.Stat(file); err == nil && (before == nil || !os.SameFile(before, now)) {
			return
		}
	}
}
