package command

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/halfspace-ml/halfspace/internal/race"
)

func TestMain(m *testing.M) {
	// Under the race detector a program sleeps for a second before it ends, and the tests start
	// some hundreds.
	if race.Enabled {
		os.Setenv("GORACE", noSleep)
	}
	plainPages()
	testscript.Main(m, Programs)
}

// Programs are those that scripts run.
var Programs = map[string]func(){"halfspace": func() { os.Exit(Run()) },
	"halfspace-peak": mainWithPeak}

const noSleep = "atexit_sleep_ms=0"

// TestScripts drives the command as a user does. Besides testscript's own commands, scripts have
//
//	code N program args...      the program must end with exit code N
//	keys file key...            the JSON document in the file has these keys (a.b is b in a;
//	                            - is null or absent)
//	only name...                the folder has these files and no others
//	gzip from to                pack a file
//	spoil folder                the middle byte of its only file is changed
//	$MODELS                     the folder of models that earlier versions wrote
//	damage from to N cut|flip   a copy that ends after N bytes, or has its byte N changed
//	forge from to OLD NEW       a copy of a model in whose document NEW stands for OLD, with the
//	                            checksum put right
//	stretch file bytes          make a file longer by a hole
//	[race]                      under the race detector
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Condition: func(cond string) (bool, error) {
			if cond == "race" {
				return race.Enabled, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Setup: func(env *testscript.Env) error {
			models, err := filepath.Abs("testdata/models")
			if err != nil {
				return err
			}
			env.Setenv("MODELS", models)
			env.Setenv("GORACE", noSleep)
			for _, kv := range os.Environ() { // settings of the tester are none of the script's
				if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "HALFSPACE_") &&
					name != "HALFSPACE_IMPL" {
					env.Setenv(name, "")
				}
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code": scriptCode,
			"keys": scriptKeys,
			"only": scriptOnly,

			"forge":   scriptForge,
			"stretch": scriptStretch,
			"rewrite": scriptRewrite,

			"gzip": func(ts *testscript.TestScript, neg bool, args []string) {
				var b bytes.Buffer
				w := gzip.NewWriter(&b)
				w.Write([]byte(ts.ReadFile(args[0])))
				ts.Check(w.Close())
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o600))
			},
			"spoil": func(ts *testscript.TestScript, neg bool, args []string) {
				files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*"))
				ts.Check(err)
				if len(files) != 1 {
					ts.Fatalf("%v, want one file", files)
				}
				b, err := os.ReadFile(files[0])
				ts.Check(err)
				b[len(b)/2] ^= 1
				ts.Check(os.WriteFile(files[0], b, 0o600))
			},
			"damage": func(ts *testscript.TestScript, neg bool, args []string) {
				b := []byte(ts.ReadFile(args[0]))
				n, err := strconv.Atoi(args[2])
				ts.Check(err)
				if args[3] == "cut" {
					b = b[:n]
				} else {
					b[n] ^= 1
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o600))
			},
		},
	})
}

func scriptCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func scriptKeys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: keys file key...")
	}
	var doc map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc))
	for _, key := range args[1:] {
		at := doc
		parts := strings.Split(key, ".")
		for _, p := range parts[:len(parts)-1] {
			at, _ = at[p].(map[string]any)
		}
		if _, ok := at[parts[len(parts)-1]]; !ok {
			ts.Fatalf("no key %q", key)
		}
	}
}

func scriptOnly(ts *testscript.TestScript, neg bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs("."))
	ts.Check(err)
	want := map[string]bool{}
	for _, name := range args {
		want[name] = true
	}
	for _, e := range entries {
		if !want[e.Name()] && !strings.HasPrefix(e.Name(), ".tmp") {
			ts.Fatalf("%s was left behind", e.Name())
		}
		delete(want, e.Name())
	}
	for name := range want {
		ts.Fatalf("%s is missing", name)
	}
}

// TestInterrupt trains from a stream that never ends and interrupts it: the model must be there,
// usable, and the exit code 130.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent to a process on Windows")
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		dir := t.TempDir()
		file := filepath.Join(dir, "stream.model")
		cmd := exec.Command("halfspace", "train", "-a", "perceptron", "-m", file, "--progress",
			"json", "--json", "-")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		talk, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Process.Kill()
		go func() {
			w := bufio.NewWriterSize(in, 1<<16)
			for i := 0; ; i++ { // ends when the reader is gone
				if _, err := fmt.Fprintf(w, "%+d 1:%d 2:0.5 3:%d\n", 1-2*(i%2), i%7,
					(i*i)%11); err != nil {
					return
				}
			}
		}()
		// The first progress line says that learning is going on.
		lines := bufio.NewReader(talk)
		first, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("no progress: %v", err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		rest := make(chan string)
		go func() {
			b, _ := io.ReadAll(lines)
			rest <- string(b)
		}()
		var told string
		select {
		case told = <-rest:
		case <-time.After(20 * time.Second):
			t.Fatalf("%v was not heard in 20 s", signal)
		}
		err = cmd.Wait()
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) || exit.ExitCode() != codeStopped {
			t.Errorf("%v: ended with %v, want exit code %d\n%s%s", signal, err, codeStopped, first,
				told)
		}
		if !strings.Contains(told, "stopped after ") || !strings.Contains(told, "-i "+file) {
			t.Errorf("%v: stderr doesn't say what was kept:\n%s", signal, told)
		}
		var report trainReport
		if err := json.Unmarshal([]byte(out.String()), &struct {
			*trainReport
			Config any `json:"config"`
		}{trainReport: &report}); err != nil || !report.Stopped || report.Examples == 0 ||
			report.ModelSHA256 == nil {
			t.Errorf("%v: report %+v (%v), want a stopped run with a model", signal, report, err)
		}
		names, _ := filepath.Glob(filepath.Join(dir, "*"))
		hidden, _ := filepath.Glob(filepath.Join(dir, ".*"))
		if len(names)+len(hidden) != 1 {
			t.Errorf("%v: files %v %v, want the model alone", signal, names, hidden)
		}
		data := filepath.Join(t.TempDir(), "one.svm")
		if err := os.WriteFile(data, []byte("+1 1:1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if b, err := exec.Command("halfspace", "train", "-q", "-i", file, "-m", file,
			data).CombinedOutput(); err != nil {
			t.Errorf("%v: going on from the model: %v\n%s", signal, err, b)
		}
	}
}

// TestInterruptWaiting interrupts a command whose input gives nothing: it must not wait for more.
func TestInterruptWaiting(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent to a process on Windows")
	}
	cmd := exec.Command("halfspace", "train", "-a", "perceptron", "-v", "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(talk).ReadString('\n'); err != nil { // -v says what it will do
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) || exit.ExitCode() != codeStopped {
			t.Errorf("ended with %v, want exit code %d", err, codeStopped)
		}
	case <-time.After(20 * time.Second):
		cmd.Process.Kill()
		t.Error("the interrupt was not heard in 20 s")
	}
}

// TestBrokenPipe closes the reader of predict's lines early: no words are lost over it.
func TestBrokenPipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes end otherwise on Windows")
	}
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data.svm"), filepath.Join(dir, "a.model")
	if err := os.WriteFile(data, []byte(strings.Repeat("+1 1:1 2:3\n-1 1:-1 2:0.25\n", 50000)),
		0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := exec.Command("halfspace", "train", "-q", "-a", "perceptron", "-m", file,
		data).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	cmd := exec.Command("halfspace", "predict", "-i", file, data)
	var talk strings.Builder
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
	cmd.Wait()
	if talk.Len() > 0 {
		t.Errorf("a closed pipe is talked about: %s", talk.String())
	}
}
