package command

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
)

// liveProcess is a command that is fed line by line.
type liveProcess struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // what it prints
	talk  strings.Builder
}

// startLive starts a command; its stdout, or with talks its stderr, comes line by line.
func startLive(t *testing.T, talks bool, args ...string) *liveProcess {
	t.Helper()
	p := &liveProcess{t: t, cmd: exec.Command("halfspace", args...), lines: make(chan string, 1000)}
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	var out io.Reader
	if talks {
		out, err = p.cmd.StderrPipe()
	} else {
		p.cmd.Stderr = &p.talk
		out, err = p.cmd.StdoutPipe()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.in.Close(); p.cmd.Process.Kill(); p.cmd.Wait() })
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
		close(p.lines)
	}()
	return p
}

// line waits for the next line.
func (p *liveProcess) line() string {
	p.t.Helper()
	select {
	case s, ok := <-p.lines:
		if !ok {
			p.t.Fatalf("%v ended: %s", p.cmd.Args, p.talk.String())
		}
		return s
	case <-time.After(30 * time.Second):
		p.t.Fatalf("%v: no line in 30 s though there is one to print", p.cmd.Args)
	}
	return ""
}

func liveRow(i int) string {
	return fmt.Sprintf("%+d 1:%d 2:0.5 3:%d\n", 1-2*(i%2), i%7, (i*i)%11)
}

// liveModel trains a model to predict with.
func liveModel(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	data, model := filepath.Join(dir, "data.svm"), filepath.Join(dir, "a.model")
	var text strings.Builder
	for i := range 100 {
		text.WriteString(liveRow(i))
	}
	if err := os.WriteFile(data, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := exec.Command("halfspace", "train", "-q", "-a", "perceptron", "-m", model,
		data).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return model
}

// within demands that the median of some times is below 300 ms, ten times what it is on a quiet
// machine; where the machine is busy it is asked again.
func within(t *testing.T, once func() []time.Duration) {
	t.Helper()
	var median time.Duration
	for range 4 {
		d := once()
		slices.Sort(d)
		if median = d[len(d)/2]; median < 300*time.Millisecond {
			return
		}
	}
	t.Errorf("the median line took %v, four times over 300 ms", median)
}

// TestLivePredict answers each line before the next comes: a program can talk with it.
func TestLivePredict(t *testing.T) {
	t.Parallel()
	model := liveModel(t)
	for _, packed := range []bool{false, true} {
		p := startLive(t, false, "predict", "-i", model, "-")
		write := func(s string) { io.WriteString(p.in, s) }
		if packed {
			z := gzip.NewWriter(p.in)
			write = func(s string) { io.WriteString(z, s); z.Flush() }
		}
		i := 0
		within(t, func() (took []time.Duration) {
			for range 9 {
				begin := time.Now()
				write(liveRow(i))
				if s := p.line(); strings.Count(s, "\t") != 1 {
					t.Fatal(s)
				}
				took = append(took, time.Since(begin))
				i++
			}
			return took
		})
	}
}

// TestLiveTrain learns each line as it comes, saves by the clock though nothing more comes, and at
// an interrupt keeps all it has read.
func TestLiveTrain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent to a process on Windows")
	}
	dir := t.TempDir()
	model := filepath.Join(dir, "m")
	p := startLive(t, true, "train", "-a", "pa", "-m", model, "--checkpoint-every", "200ms",
		"--progress", "json", "-")
	rows := 0
	examples := func() int {
		var line struct{ Examples int }
		if s := p.line(); json.Unmarshal([]byte(s), &line) != nil {
			t.Fatal(s)
		}
		return line.Examples
	}
	within(t, func() (took []time.Duration) { // progress is reported at each doubling
		for range 4 {
			n := max(1, 2*rows)
			begin := time.Now()
			for ; rows < n; rows++ {
				io.WriteString(p.in, liveRow(rows))
			}
			for examples() != n {
			}
			took = append(took, time.Since(begin))
		}
		return took
	})
	// All of it is in a model by now or soon, though the stream goes on.
	saved := func() bool {
		b, err := os.ReadFile(model)
		return err == nil && strings.Contains(string(b), fmt.Sprintf(`\"presented\":%d,`, rows))
	}
	for begin := time.Now(); !saved(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begin) > 30*time.Second {
			b, _ := os.ReadFile(model)
			t.Fatalf("no model of %d rows: %.400s", rows, b)
		}
	}
	for range 5 {
		io.WriteString(p.in, liveRow(rows))
		rows++
	}
	io.WriteString(p.in, "+1 1:1 2:") // no whole line
	awaitRead(t, p.in)
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	told := ""
	for s := range p.lines {
		told += s + "\n"
	}
	err := p.cmd.Wait()
	exit := (*exec.ExitError)(nil)
	if !errors.As(err, &exit) || exit.ExitCode() != CodeStopped {
		t.Errorf("ended with %v, want exit code %d\n%s", err, CodeStopped, told)
	}
	if want := fmt.Sprintf("stopped after %d examples", rows); !strings.Contains(told, want) ||
		!saved() {
		t.Errorf("want %q and the model of it:\n%s", want, told)
	}
}

// TestLiveInterrupt keeps what was read where the interrupt comes with rows still unlearned, or
// where nothing ever came.
func TestLiveInterrupt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent to a process on Windows")
	}
	for rows, want := range map[int]string{0: "stopped", 40: "stopped after 40 examples"} {
		p := startLive(t, true, "train", "-a", "pa", "-m",
			filepath.Join(t.TempDir(), "m"), "-v", "-")
		for i := range rows {
			io.WriteString(p.in, liveRow(i))
		}
		p.line()
		awaitRead(t, p.in)
		p.cmd.Process.Signal(os.Interrupt)
		told := ""
		for s := range p.lines {
			told += s + "\n"
		}
		err := p.cmd.Wait()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) ||
			exit.ExitCode() != CodeStopped || !strings.Contains(told, want) {
			t.Errorf("%d rows: %v: %s", rows, err, told)
		}
	}
}
