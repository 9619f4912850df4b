package command

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/internal/machine"
	"github.com/halfspace-ml/halfspace/internal/race"
)

// mainWithPeak is the command, which writes in its last lines on stderr how much of its file is
// resident, and how much memory was at most. (What wait4 reports of a child begins with what its
// parent had.) How much of the file is there, used or not, is the system's choice: what is beyond
// the share that the plan has for it doesn't count.
func mainWithPeak() {
	code := Run()
	file := machine.KiBOf("/proc/self/status", "RssFile:")
	fmt.Fprintf(os.Stderr, "file %d\npeak %d\n", file,
		machine.PeakMemory()-max(0, file-machine.TextBytes))
	os.Exit(code)
}

// peakOf runs halfspace-peak, and returns its exit code, its most resident memory and its words.
func peakOf(t *testing.T, args ...string) (code int, peak int64, talk string) {
	t.Helper()
	cmd := exec.Command("halfspace-peak", args...)
	said, _ := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	if _, err := fmt.Sscanf(lines[len(lines)-1], "peak %d", &peak); err != nil {
		t.Fatalf("no peak: %v\n%s", err, said)
	}
	return cmd.ProcessState.ExitCode(), peak, string(said)
}

// beyondBudget is how far above --mem-budget the most resident memory may be, as the help says.
const beyondBudget = 4 << 20

// TestPeakMemory: whatever comes, the process stays within --mem-budget, or ends with an error that
// says why and what to do. The inputs are made for it: each asks for much that the first block does
// not tell.
func TestPeakMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak isn't known")
	}
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	row := func(w io.Writer, r *rand.Rand, label string, n, dim int) {
		io.WriteString(w, label)
		for j, step := 1+r.IntN(dim/n), dim/n; n > 0; n, j = n-1, j+1+r.IntN(step) {
			fmt.Fprintf(w, " %d:0.%d", j, 1+r.IntN(9))
		}
		io.WriteString(w, "\n")
	}
	sign := func(r *rand.Rand) string { return []string{"-1", "+1"}[r.IntN(2)] }
	// Examples that say little, and then some that are wide: half of 20000 features each.
	narrowThenWide := func(w io.Writer, r *rand.Rand) {
		for range 4500 {
			fmt.Fprintf(w, "%s %d:1\n", sign(r), 1+r.IntN(50))
		}
		for range 200 {
			row(w, r, sign(r), 10000, 20000)
		}
	}
	// An example of a large index, which tables reach up to.
	far := func(index int) func(io.Writer, *rand.Rand) {
		return func(w io.Writer, r *rand.Rand) { fmt.Fprintf(w, "+1 1:1 %d:1\n-1 1:-1\n", index) }
	}
	// Features that keep coming, so that tables move.
	growing := func(w io.Writer, r *rand.Rand) {
		for i := range 20000 {
			row(w, r, sign(r), 5, 20+i)
		}
	}
	some := func(n int) func(io.Writer, *rand.Rand) {
		return func(w io.Writer, r *rand.Rand) {
			for range n {
				row(w, r, sign(r), 20, 200)
			}
		}
	}
	const rbf = " --kernel rbf --sigma 1"
	for _, c := range []struct {
		name   string
		budget int // MiB
		args   string
		write  func(io.Writer, *rand.Rand)
		code   int
		stderr string // of what it says
	}{
		{"rows held for a second label", 36, "-a perceptron", func(w io.Writer, r *rand.Rand) {
			for range 200000 {
				row(w, r, "3", 10, 1000)
			}
			io.WriteString(w, "4 1:1\n")
		}, 1, `wait for a second label`},
		{"many labels", 36, "-a perceptron --positive 5", func(w io.Writer, r *rand.Rand) {
			for i := range 700000 {
				fmt.Fprintf(w, "%d 1:1 2:0.5\n", i)
			}
		}, 0, ""},
		{"a long line", 36, "-a perceptron", func(w io.Writer, r *rand.Rand) {
			fmt.Fprintf(w, "+1%s\n", strings.Repeat(" 1:1", 8<<20))
		}, 1, `line is longer than .* KiB`},
		{"wide rows to be kept, budget", 52, "-a budget --budget 300 --beta 5" + rbf,
			narrowThenWide, 1, "no room for the features.*\n.*--budget"},
		{"wide rows to be kept, sogp", 52, "-a sogp --basis 200" + rbf, narrowThenWide, 1,
			"no room for the features"},
		{"wide rows to be kept, tbp", 52, "-a tbp --budget 200 --beta 5 --error-size 300" + rbf,
			narrowThenWide, 1, "no room for the features"},
		{"wide rows to be kept, obpm", 52, "-a obpm --members 20 --budget 300" + rbf,
			narrowThenWide, 1, "no room for the features"},
		{"wide rows to be kept, sized by the budget", 44,
			"-a tbp --error-cache flips --error-size 300 --max-line 256K" + rbf, narrowThenWide, 1,
			"was sized by the first"},
		{"wide rows with room", 304, "-a budget --budget 300 --beta 5" + rbf, narrowThenWide, 0,
			""},
		{"members", 34, "-a obpm --members 500000 --tau 0.01", some(100), 1,
			`obpm: [0-9]+ features take [0-9.]+ MiB .*--mem-budget is 34.0 MiB`},
		{"members with room", 68, "-a obpm --members 10000 --tau 0.01", some(100), 0, ""},
		{"a far index, refused", 44, "-a perceptron", far(20_000_000), 1,
			"20000000 features take 228.9 MiB"},
		{"a far index, perceptron", 67, "-a perceptron", far(2_500_000), 0, ""},
		{"a far index, obpm", 104, "-a obpm", far(3_000_000), 0, ""},
		{"a far index, cramma", 68, "-a cramma", far(3_000_000), 0, ""},
		{"a far index, alma", 104, "-a alma --p 4", far(3_000_000), 0, ""},
		{"a far index, adf", 104, "-a adf --covariance diagonal", far(2_500_000), 0, ""},
		{"a far index, ng", 139, "-a ng", far(250_000), 0, ""},
		{"a far index, pumma", 134, "-a pumma --p 4", far(1_000_000), 0, ""},
		{"a far index, rff", 134, "-a rff --rff 100", far(300_000), 0, ""},
		{"a far index, svm", 94, "-a svm --until-converged" + rbf, far(800_000), 0, ""},
		{"a far index, saved", 74, "-a pa -m MODEL", far(3_000_000), 0, ""},
		{"a covariance", 68, "-a vvm", far(3000), 1, "vvm: 3000 features take"},
		{"growing, obpm", 84, "-a obpm -m MODEL --checkpoint-every 5000", growing, 0, ""},
		{"growing, pa", 34, "-a pa", growing, 0, ""},
		{"growing, refused", 36, "-a rff --rff 200", growing, 1, "rff: [0-9]+ features take"},
		{"whole, svm", 44, "-a svm --until-converged --max-updates 1500" + rbf, some(3000), -1, ""},
		{"whole, kmp", 44, "-a kmp --until-converged --size 2" + rbf, some(3000), 0, ""},
		{"whole, ep", 54, "-a ep --until-converged --sweeps 1", some(4000), -1, ""},
		{"whole, perceptron", 44,
			"-a perceptron --until-converged --soft-delta 1 --max-updates 3000", some(4000), -1,
			""},
		{"whole, fewer than could be kept, budget", 68, "-a budget --epochs 2" + rbf, some(300), 0,
			""},
		{"whole, fewer than could be kept, tbp", 68,
			"-a tbp --error-cache flips --error-size 300 --epochs 2" + rbf,
			some(300), 0, ""},
		{"whole, fewer than could be kept, obpm", 68,
			"-a obpm --members 10 --removal errors --epochs 2" + rbf, some(300), 0, ""},
		{"whole, tables for more than there are", 68, "-a budget --budget 20000 --epochs 2" + rbf,
			some(300), 2, "Lower --budget"},
		{"whole, too much", 33, "-a pa --epochs 2", some(40000), 1,
			"reading it into memory takes more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "data")
			f, err := os.Create(file)
			if err != nil {
				t.Fatal(err)
			}
			w := bufio.NewWriterSize(f, 1<<16)
			c.write(w, rand.New(rand.NewPCG(1, 2)))
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"train", "--progress", "none", "--mem-budget",
				strconv.Itoa(c.budget) + "M"},
				strings.Fields(strings.ReplaceAll(c.args, "MODEL", filepath.Join(dir, "model")))...)
			code, peak, talk := peakOf(t, append(args, file)...)
			if code != c.code && !(c.code < 0 && (code == 0 || code == 6)) {
				t.Errorf("exit code %d, want %d:\n%s", code, c.code, talk)
			}
			if ok, _ := regexp.MatchString(c.stderr, talk); !ok {
				t.Errorf("stderr has no %q:\n%s", c.stderr, talk)
			}
			budget := int64(c.budget) << 20
			if peak > budget+beyondBudget {
				t.Errorf("%s were resident of %s:\n%s", inMiB(peak), inMiB(budget), talk)
			}
			t.Logf("%s of %s", inMiB(peak), inMiB(budget))
		})
	}
}

// TestPeakOfModel: going on from a model of many features stays within --mem-budget, or is refused
// before the model is read.
func TestPeakOfModel(t *testing.T) {
	if runtime.GOOS != "linux" || race.Enabled {
		t.Skip("the peak isn't known, or not the command's own")
	}
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "model")
	if err := os.WriteFile(data, []byte("+1 1:1 2000000:1\n-1 1:-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	make := exec.Command("halfspace", "train", "-q", "-a", "pa", "-m", file, data)
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, budget := range []int64{34, 64} { // the model takes 8 MiB
		code, peak, talk := peakOf(t, "train", "-q", "--mem-budget", fmt.Sprintf("%dM", budget),
			"-i", file, "-m", file, data)
		want := 0
		if budget == 34 {
			want = 2
		}
		if code != want || peak > budget<<20+beyondBudget {
			t.Errorf("exit code %d, want %d; %s of %d MiB:\n%s", code, want, inMiB(peak), budget,
				talk)
		}
	} // Examples in memory, which have room where there is no model.
	var row strings.Builder
	for j := range 18000 {
		fmt.Fprintf(&row, " %d:1", j+1)
	}
	wide := filepath.Join(dir, "wide")
	if err := os.WriteFile(wide, []byte(strings.Repeat("+1"+row.String()+"\n-1"+row.String()+"\n",
		50)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model []string
		want  int
	}{{[]string{"-a", "pa"}, 0}, {[]string{"-i", file}, 1}} {
		args := append([]string{"train", "-q", "--mem-budget", "68M", "--epochs", "2"}, c.model...)
		if code, _, talk := peakOf(t, append(args, wide)...); code != c.want {
			t.Errorf("%q: exit code %d, want %d:\n%s", c.model, code, c.want, talk)
		}
	}
}

// TestPeakWithoutBudget: tables that move again and again are there twice, not with all that went
// before them, so that three quarters of the memory there is are not passed.
func TestPeakWithoutBudget(t *testing.T) {
	if runtime.GOOS != "linux" || race.Enabled {
		t.Skip("the peak isn't known, or not the command's own")
	}
	var data bytes.Buffer
	const last = 14_000_000
	for j := 1_000_000; j <= last; j += 1_000_000 {
		fmt.Fprintf(&data, "+1 1:1 %d:1\n", j)
		data.WriteString(strings.Repeat("-1 1:-1\n+1 1:1\n", 2048))
	}
	file := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(file, data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, peak, talk := peakOf(t, "train", "-q", "-a", "adf", "--covariance", "diagonal", file)
	// A mean and a variance a feature, a quarter more, and those that moved last.
	if most := int64(last*16*9/4 + machine.ProgramBytes + 16<<20); peak > most {
		t.Errorf("%s were resident, want at most %s:\n%s", inMiB(peak), inMiB(most), talk)
	}
	t.Logf("%s", inMiB(peak))
}
