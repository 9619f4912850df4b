package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/vecmath"
	"github.com/halfspace-ml/halfspace/learner"
	"github.com/halfspace-ml/halfspace/learners"
)

// commandCopies is how often the text of Adult stands in the file that whole runs read: a million
// rows, beside which the start of a process is little.
const commandCopies = 31

// CommandLines write the arguments of the command's runs.
type CommandLines struct {
	Start []string // the least that it can do
	// Train learns files: settings have the names that their flag tags have. Without a learner's
	// name it is the default's.
	Train   func(learner string, settings [][2]string, model string, files ...string) []string
	Predict func(model, out, file string) []string
}

// Command measures whole runs of a program, which is the halfspace command, in child processes: how
// long it takes to start, text to model and text to predictions on one thread (by CPU time) and on
// two (by the wall clock), learning of wide examples beside ROMMA's, and in MB the most memory that
// was resident, beside what the learner's state holds where that is most of it. With a data folder
// on Adult (a9a) and MNIST, else on generated data of their shapes; MNIST's 60,000 rows are left
// out then.
func Command(ctx context.Context, program string, lines CommandLines, dataDir string,
	o Options) ([]Result, error) {
	dir, err := os.MkdirTemp("", "halfspace-command")
	if err != nil {
		return nil, fmt.Errorf("bench: command: %w", err)
	}
	defer os.RemoveAll(dir)
	r := &runs{ctx: ctx, program: program, lines: lines, dir: dir,
		model: filepath.Join(dir, "model")}
	cases, err := r.cases(dataDir)
	if err != nil {
		return nil, err
	}
	var out []Result
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		res := c.run(ctx, vecmath.Active().String(), o)
		if r.failed != nil {
			return out, fmt.Errorf("bench: %s: %w", c.name, r.failed)
		}
		out = append(out, res)
	}
	memory, err := r.memory(dataDir)
	return append(out, memory...), err
}

// runs are of one program.
type runs struct {
	ctx                 context.Context
	program, dir, model string
	lines               CommandLines
	children            time.Duration // CPU time of those that have ended
	peak                int64         // the most memory that one has had, in bytes
	failed              error
}

// exitUnfinished is the command's exit code where a limit of updates ended learning.
const exitUnfinished = 6

// start runs the program once. threads is how many processors the Go runtime may use.
func (r *runs) start(threads int, args ...string) error {
	cmd := exec.CommandContext(r.ctx, r.program, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(threads))
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", r.program, err)
	}
	stop := make(chan struct{})
	watched := make(chan int64)
	go func() { watched <- watchPeak(cmd.Process.Pid, stop) }()
	err := cmd.Wait()
	close(stop)
	r.peak = max(r.peak, <-watched)
	if err != nil && cmd.ProcessState.ExitCode() != exitUnfinished {
		return fmt.Errorf("%s %v: %w: %s", r.program, args, err, said.Bytes())
	}
	r.children += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return nil
}

// watchPeak looks at the most resident memory of a process until it is stopped, and returns it in
// bytes: 0 where the system doesn't say. What the process takes within the last look is not seen.
// The system's count for processes that have ended has that of their parent in it.
func watchPeak(pid int, stop <-chan struct{}) (peak int64) {
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case <-stop:
			return peak
		case <-ticks.C:
			peak = max(peak, peakOf(pid))
		}
	}
}

// peakOf returns the most resident memory of a process so far, or 0.
func peakOf(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, line, _ := bytes.Cut(text, []byte("VmHWM:"))
	var kib int64
	if _, err := fmt.Sscan(string(line), &kib); err != nil {
		return 0
	}
	return kib << 10
}

// side is a pair's side of one run.
func (r *runs) side(threads int, args ...string) func(k int) {
	return loop(func() {
		if err := r.start(threads, args...); err != nil {
			r.failed = errors.Join(r.failed, err)
		}
	})
}

// cpu is the clock of the runs on one thread.
func (r *runs) cpu() time.Duration { return r.children }

func (r *runs) cases(dataDir string) ([]pair, error) {
	_, text, err := sparseText(dataDir, "a9a.gz", 14, 123)
	if err != nil {
		return nil, err
	}
	rows := bytes.Count(text, []byte("\n"))
	lines := bytes.SplitAfter(text, []byte("\n"))
	few, many := filepath.Join(r.dir, "few"), filepath.Join(r.dir, "many")
	learned, wide := filepath.Join(r.dir, "learned"), filepath.Join(r.dir, "wide")
	for name, text := range map[string][]byte{few: bytes.Join(lines[:20], nil),
		many: bytes.Repeat(text, commandCopies)} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return nil, fmt.Errorf("bench: command: %w", err)
		}
	}
	if err := writeScaled(wide, sparseStream(wideRows, wideFeatures), 1); err != nil {
		return nil, err
	}
	train := r.lines.Train
	obpm := func(model, file string) []string {
		return train("obpm", [][2]string{{"members", "100"}, {"tau", "0.05"}}, model, file)
	}
	if err := r.start(1, obpm(learned, few)...); err != nil {
		return nil, err
	}
	n, size := float64(rows*commandCopies), float64(len(text)*commandCopies)
	cases := []pair{
		{name: "command/version", unit: "ns/op", cpu: r.cpu, ours: r.side(2, r.lines.Start...)},
		{name: "command/train/20-rows", unit: "ns/op", cpu: r.cpu,
			ours: r.side(2, train("", nil, r.model, few)...)},
	}
	for threads := 1; threads <= 2; threads++ {
		at := fmt.Sprintf("/threads=%d", threads)
		cases = append(cases, pair{name: "command/text-to-model/obpm/N=100/tau=0.05" + at,
			unit: "ns/example", scale: n, threads: threads > 1, cpu: r.cpu,
			ours: r.side(threads, obpm(r.model, many)...)},
			pair{name: "command/predict" + at, unit: "MB/s", amount: size, threads: threads > 1,
				cpu: r.cpu, ours: r.side(threads,
					r.lines.Predict(learned, filepath.Join(r.dir, "out"), many)...)})
	}
	romma := r.side(1, train("romma", nil, r.model, wide)...)
	for _, l := range wideLearners() {
		cases = append(cases, pair{name: "command/wide/" + l.label, unit: "ns/op", cpu: r.cpu,
			ours:     r.side(1, train(l.name, [][2]string{{"p", l.p}}, r.model, wide)...),
			peerName: "romma", peer: romma})
	}
	return cases, nil
}

// memory measures one run each.
func (r *runs) memory(dataDir string) ([]Result, error) {
	stream := filepath.Join(r.dir, "million")
	b := sparseStream(20_000, 1_000_000)
	if err := writeScaled(stream, b, 1); err != nil {
		return nil, err
	}
	state, err := stateBytes(b)
	if err != nil {
		return nil, err
	}
	res, err := r.resident("obpm/features=1000000/N=100", state,
		r.lines.Train("obpm", [][2]string{{"members", "100"}}, r.model, stream))
	if err != nil || dataDir == "" {
		return []Result{res}, err
	}
	out := []Result{res}
	for _, kernel := range [][][2]string{{{"kernel", "linear"}},
		{{"kernel", "rbf"}, {"gamma", "0.02"}, {"scale", "255"}}} {
		// After two steps the memory is what it is after all fifty: they go over the same rows.
		args := r.lines.Train("kmp", append(kernel, [][2]string{{"size", "50"},
			{"until-converged", "true"}, {"max-updates", "2"}, {"positive", "8"}}...), r.model,
			filepath.Join(dataDir, digitFiles[0]), filepath.Join(dataDir, digitFiles[1]))
		res, err := r.resident("kmp/mnist8-60000/"+kernel[0][1]+"/size=50", 0, args)
		if err != nil {
			return out, err
		}
		out = append(out, res)
	}
	return out, nil
}

// resident trains once on two threads. state is what the learner's state holds, or 0.
func (r *runs) resident(name string, state int64, args []string) (Result, error) {
	wall, cpu := WallTime(), r.children
	r.peak = 0
	if err := r.start(2, args...); err != nil {
		return Result{}, err
	}
	wall, cpu = WallTime()-wall, r.children-cpu
	const mb = 1e6
	res := pair{name: "resident/" + name, unit: "MB"}.blank(vecmath.Active().String(), 1)
	peak := float64(r.peak) / mb
	res.Median, res.CI = peak, [2]float64{peak, peak}
	res.Rounds[0].Ours = Timing{Ops: 1, Value: peak, CPU: float64(cpu), Wall: float64(wall)}
	if state > 0 {
		res.Note = fmt.Sprintf("%.2f times the %.3g MB of the learner's state",
			peak*mb/float64(state), float64(state)/mb)
	}
	return res, nil
}

// stateBytes is what OBPM's state holds after a pass.
func stateBytes(b *engine.Block[float32]) (int64, error) {
	if err := b.Check(); err != nil {
		return 0, err
	}
	c := Defaults[*learners.OBPMConfig]("obpm")
	c.Members = 100
	l, err := learner.Make[float32]("obpm", c, learner.Env{Seed: 1})
	if err != nil {
		return 0, err
	}
	if err := l.Learn(b, make([]learner.Round, b.Len())); err != nil {
		return 0, err
	}
	return l.Bytes(), nil
}
