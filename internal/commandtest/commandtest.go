// Package commandtest runs a program in processes of its own test: its test binary, which is the
// program where the variable HALFSPACE_TEST_AS says so.
package commandtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Main is for TestMain: it ends the process with what the program returns, or what the process is
// started as instead, such as "server 4222", which is given the rest of the words.
func Main(m *testing.M, program func() int, as map[string]func(args []string)) {
	words := strings.Fields(os.Getenv("HALFSPACE_TEST_AS"))
	switch {
	case len(words) == 0:
		os.Exit(m.Run())
	case words[0] == "command":
		os.Exit(program())
	}
	as[words[0]](words[1:])
}

// Start starts the program, and returns what it prints.
func Start(t testing.TB, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "HALFSPACE_TEST_AS=command")
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, out
}

// Run runs the program, which must end with a code, and returns what it prints.
func Run(t testing.TB, code int, args ...string) string {
	t.Helper()
	cmd, out := Start(t, args...)
	Ended(t, cmd, out, code)
	return out.String()
}

// Ended waits for the end of the program, with a code.
func Ended(t testing.TB, cmd *exec.Cmd, out *bytes.Buffer, code int) {
	t.Helper()
	timer := time.AfterFunc(60*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("%v: exit code %d, want %d\n%s", cmd.Args[1:], got, code, out)
	}
}

// Content reads a file.
func Content(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Shell returns what runs a script of bash in a folder, with the program under that name, and
// returns what the script prints.
func Shell(t testing.TB, program string) func(dir, script string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, program)); err != nil {
		t.Skip(err) // of a system without links
	}
	return func(dir, script string) (string, error) {
		cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HALFSPACE_TEST_AS=command", "PATH="+bin+
			string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

// Docs runs the commands of a page that are marked for a program, "```console kind", in order, in a
// folder: "$ " begins a command, what follows is what it prints, ... stands for what differs.
// change, unless nil, changes a command. At least so many there must be.
func Docs(t *testing.T, dir, page, kind, program string, least int, change func(string) string) {
	t.Helper()
	shell := Shell(t, program)
	if kind != "" {
		kind = " " + kind
	}
	text, n := Content(t, page), 0
	for _, block := range regexp.MustCompile("(?s)```console"+kind+"\n(.*?)```").
		FindAllSubmatch(text, -1) {
		for _, part := range strings.Split("\n"+string(block[1]), "\n$ ")[1:] {
			line, want, _ := strings.Cut(part, "\n")
			n++
			if change != nil {
				line = change(line)
			}
			out, err := shell(dir, line)
			pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), `\.\.\.`,
				`[^\n]*`)
			if err != nil || !regexp.MustCompile(`^`+pattern+`$`).MatchString(
				strings.TrimSpace(out)) {
				t.Errorf("%s\nprints (%v)\n%snot\n%s", line, err, out, want)
			}
		}
	}
	if n < least {
		t.Errorf("%d commands: are they found?", n)
	}
}
