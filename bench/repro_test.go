package bench

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/bench/internal/papers"

	"github.com/halfspace-ml/halfspace/internal/command"
)

// TestTimes: the times of the plain form and of the paper stand in every form of output where a row
// has them, and take no room where none has.
func TestTimes(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	timed := []papers.Row{
		{Experiment: "obpm/table2", Row: "a", Kind: papers.Measurement,
			Quantity: "updates", Runs: 2, Seconds: 0.5,
			NaiveSeconds: value(6), PaperSeconds: value(1140)},
		{Experiment: "obpm/table2", Row: "b", Kind: papers.Measurement,
			Quantity: "updates", Runs: 2, Seconds: 0.25},
	}
	write := func(rows []papers.Row) (terminal, markdown, csv string) {
		var b [3]strings.Builder
		for i, err := range []error{writeRows(&b[0], rows), writeMarkdown(&b[1],
			papers.Outcome{Rows: rows}), writeCSV(&b[2], rows)} {
			if err != nil {
				t.Fatalf("form %d: %v", i, err)
			}
		}
		return b[0].String(), b[1].String(), b[2].String()
	}
	terminal, markdown, csv := write(timed)
	for what, want := range map[string]string{terminal: "0.50       12     4560",
		markdown: "| 0.50 | 12 | 4560 |", csv: ",0.5,1140,6\n"} {
		if !strings.Contains(what, want) {
			t.Errorf("lacks %q:\n%s", want, what)
		}
	}
	if !strings.Contains(terminal, "an Alpha of 1 GHz") {
		t.Errorf("the paper's hardware is not named:\n%s", terminal)
	}
	terminal, markdown, csv = write(timed[1:])
	if strings.Contains(strings.ToLower(terminal), "x naive") || strings.Contains(markdown,
		"x paper") || !strings.Contains(csv, ",0.25,,\n") {
		t.Errorf("columns without values:\n%s\n%s\n%s", terminal, markdown, csv)
	}
}

// TestReproInterrupt interrupts the second of three experiments: the first is kept, the message
// says how to go on, and the next run does.
func TestReproInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent to a process on Windows")
	}
	dir := filepath.Join(t.TempDir(), "cache")
	args := []string{"repro", "obpm/table1", "pumma/section5.1", "vvm/figure1", "--runs", "6",
		"--cache", dir}
	cmd := exec.Command("halfspace-bench", args...)
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewReader(talk)
	for line := ""; !strings.HasPrefix(line, "[2/3] pumma/section5.1: about"); {
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatalf("the second experiment didn't begin: %v", err)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	told, _ := io.ReadAll(lines)
	exit := (*exec.ExitError)(nil)
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != command.CodeStopped {
		t.Errorf("ended with %v, want exit code %d", err, command.CodeStopped)
	}
	if want :=
		"halfspace: stopped after 1 of 3 experiments\n  What was finished is kept; the same " +
			"command goes on from there.\n"; string(told) != want {
		t.Errorf("said %q, want %q", told, want)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the cache has %v (%v), want one outcome", files, err)
	}
	// no time for the others
	again, err := exec.Command("halfspace-bench", append(args, "--time-budget",
		"1ms")...).CombinedOutput()
	if err != nil || !strings.Contains(string(again), "[1/3] obpm/table1: as before") ||
		!strings.Contains(string(again), "pumma/section5.1: not run") {
		t.Errorf("%v:\n%s", err, again)
	}
}
