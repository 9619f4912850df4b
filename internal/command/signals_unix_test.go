//go:build unix

package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/internal/training"
)

// stream starts the command with rows without an end on stdin, which stopRows ends, and returns it
// when it has said something.
func stream(t *testing.T, args ...string) (
	cmd *exec.Cmd, said *bufio.Reader, pipe io.Closer, stopRows func(),
) {
	t.Helper()
	cmd = exec.Command("halfspace", args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = new(bytes.Buffer)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	stop := make(chan bool)
	go func() {
		w := bufio.NewWriterSize(in, 1<<16)
		for i := 0; ; i++ {
			if i%1000 == 0 {
				select {
				case <-stop:
					w.Flush()
					in.Close()
					return
				default:
				}
			}
			_, err := fmt.Fprintf(w, "%+d 1:%d 2:0.5 3:%d\n", 1-2*(i%2), i%7, (i*i)%11)
			if err != nil {
				return
			}
		}
	}()
	said = bufio.NewReader(talk)
	if _, err := said.ReadString('\n'); err != nil {
		t.Fatalf("nothing was said: %v", err)
	}
	return cmd, said, talk, func() { close(stop) }
}

// exitCode waits for the end, and returns the code, or -1 and the signal that ended the process.
func exitCode(t *testing.T, cmd *exec.Cmd) (int, syscall.Signal) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
	case <-time.After(60 * time.Second):
		cmd.Process.Kill()
		t.Fatal("it didn't end")
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return -1, status.Signal()
	}
	return status.ExitStatus(), 0
}

// TestStopped: an interrupt, SIGTERM and the two signals that the end of a terminal may send have
// the model saved, alone in its folder and good to go on from; the exit code is 130.
func TestStopped(t *testing.T) {
	for _, by := range [][]syscall.Signal{{syscall.SIGINT}, {syscall.SIGTERM},
		{syscall.SIGHUP, syscall.SIGHUP}} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			if signal.Ignored(by[0]) {
				t.Skip("it is ignored, by nohup or the like")
			}
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "m")
			cmd, said, _, _ := stream(t, "train", "-a", "perceptron", "-m", file,
				"--progress", "json", "--json", "-")
			for _, s := range by {
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
			told, _ := io.ReadAll(said)
			if code, by := exitCode(t, cmd); code != CodeStopped {
				t.Errorf("exit code %d (%v), want %d", code, by, CodeStopped)
			}
			if !bytes.Contains(told, []byte("stopped after ")) ||
				!bytes.Contains(told, []byte("The model is in "+file)) {
				t.Errorf("stderr doesn't say what was kept:\n%s", told)
			}
			var report struct {
				Stopped  bool
				Examples int
				SHA256   string `json:"model_sha256"`
			}
			out := cmd.Stdout.(*bytes.Buffer).Bytes()
			if err := json.Unmarshal(out, &report); err != nil || !report.Stopped ||
				report.Examples == 0 || report.SHA256 == "" {
				t.Errorf("%v\n%s", err, out)
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
				t.Errorf("files %v (%v), want the model alone", files, err)
			}
			further := exec.Command("halfspace", "train", "-q", "-i", file, "-m", file,
				smallFile(t))
			if b, err := further.CombinedOutput(); err != nil {
				t.Errorf("going on from the model: %v\n%s", err, b)
			}
		})
	}
}

// TestNohup sends SIGHUP to a command that was started to live on.
func TestNohup(t *testing.T) {
	t.Parallel()
	nohup, err := exec.LookPath("nohup")
	if err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "m")
	cmd := exec.Command(nohup, "halfspace", "train", "-a", "perceptron", "-v", "-m", file, "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	said := bufio.NewReader(talk)
	for line := ""; !strings.HasPrefix(line, "halfspace: "); { // nohup may say something itself
		if line, err = said.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	io.WriteString(in, "+1 1:1\n-1 1:-1\n")
	in.Close()
	io.Copy(io.Discard, said)
	if code, by := exitCode(t, cmd); code != CodeGood {
		t.Errorf("exit code %d (%v), want 0", code, by)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// TestDeaf closes stderr while train talks: it goes on to its end.
func TestDeaf(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "m")
	cmd, _, talk, stopRows := stream(t, "train", "-a", "perceptron", "-m", file,
		"--progress", "lines", "--checkpoint-every", "100000", "-")
	talk.Close()
	// It must have tried to talk: lines double their distance.
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			break
		}
		if time.Since(begin) > 60*time.Second {
			t.Fatal("no checkpoint was written")
		}
	}
	stopRows()
	if code, by := exitCode(t, cmd); code != CodeGood {
		t.Errorf("exit code %d (%v), want 0", code, by)
	}
	predict := exec.Command("halfspace", "predict", "--json", "-i", file, smallFile(t))
	if b, err := predict.CombinedOutput(); err != nil {
		t.Errorf("the model: %v\n%s", err, b)
	}
}

// TestClosedStdout closes stdout: predict ends by SIGPIPE, as any program does, without a word.
func TestClosedStdout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "m")
	rows := bytes.Repeat([]byte("+1 1:1 2:3\n-1 1:-1 2:0.25\n"), 50000)
	if err := os.WriteFile(data, rows, 0o600); err != nil {
		t.Fatal(err)
	}
	train := exec.Command("halfspace", "train", "-q", "-a", "perceptron", "-m", file, data)
	if b, err := train.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	cmd := exec.Command("halfspace", "predict", "-i", file, data)
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if code, by := exitCode(t, cmd); by != syscall.SIGPIPE || talk.Len() > 0 {
		t.Errorf("ended with code %d (%v): %s", code, by, &talk)
	}
}

// smallFile is one of two examples.
func smallFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "small.svm")
	if err := os.WriteFile(name, []byte("+1 1:1\n-1 1:-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestStopWhileOpening keeps the rows that came before the format of a stream was decided.
func TestStopWhileOpening(t *testing.T) {
	t.Parallel()
	once := func() (rows int, err error) {
		name := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Skip(err)
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0) // so that it has a writer, and no end
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		io.WriteString(f, "+1 1:1\n-1 2:1\n+1 1:")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		s, _, done, err := training.Open[float64](ctx, []string{name}, dataset.Options{})
		if err != nil {
			return 0, err
		}
		defer done()
		for {
			b, err := s.Next()
			if err != nil {
				return rows, err
			}
			rows += b.Len()
		}
	}
	rows, err := 0, error(nil)
	for range 5 { // the machine may be busy
		if rows, err = once(); rows == 2 && err == dataset.ErrStopped {
			return
		}
	}
	t.Errorf("%d rows, %v; want 2, and that it was stopped", rows, err)
}
