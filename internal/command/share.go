package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/halfspace-ml/halfspace/engine"
)

// This is what halfspace-bench, whose verbs are in package bench, shares with the command,
// and how the command runs it.

// Fail returns an error with its exit code and what to do next.
func Fail(code int, err error, next string) error { return &fail{code, err, next} }

// Failed reports whether an error has an exit code.
func Failed(err error) bool { return errors.As(err, new(*fail)) }

// Reads says that a command reads files, and with the flag compare those that its arguments name.
func Reads(files []string) map[string]string {
	return map[string]string{placeKey: UseSuites, UseSuites: strings.Join(files, "\n")}
}

// Version is the version of the program.
func Version() string { return buildVersion().Version }

// WriteWhole writes a file that appears whole or not at all; an empty name is w.
func WriteWhole(w io.Writer, name string, write func(io.Writer) error) error {
	out, err := newOutput(w, name)
	if err != nil {
		return err
	}
	return out.finish(write(out))
}

// MachineFlags adds the flags of threads and kernels. Start begins the pool that they ask for.
func MachineFlags(fs *pflag.FlagSet) (start func() (*engine.Pool, error)) {
	m := &machineFlags{}
	m.flags(fs)
	return func() (*engine.Pool, error) { return m.start(fs) }
}

// ProfileFlag adds the flag --profile. While does work while the profiles are taken, if any are.
func ProfileFlag(fs *pflag.FlagSet) (while func(work func() error) error) {
	p := &profiles{}
	p.flags(fs)
	return p.during
}

// Bar is a progress bar on a terminal's last line: draw shows a share from 0 to 1 after a text.
func Bar(w io.Writer) (draw func(share float64, text string), clear func()) {
	b := &bar{w: w}
	return b.drawShare, b.clear
}

// FindProgram finds a program of this module: in the folder of this one, or in PATH.
func FindProgram(name string) (string, error) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
			return path, nil
		}
	}
	return exec.LookPath(name)
}

// newBenchVerb makes a verb that halfspace-bench carries out.
func newBenchVerb(name, short string) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: short + " (by halfspace-bench)",
		Long: short + ".\n\nThe program halfspace-bench does it, with the same arguments: see " +
			"halfspace-bench " + name + " --help.",
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return runBench(append([]string{name}, args...))
		},
	}
}

// runBench runs halfspace-bench in place of this process, or on Windows as its child.
func runBench(args []string) error {
	const name = "halfspace-bench"
	path, err := FindProgram(name)
	if err != nil {
		return &fail{CodeFailed, fmt.Errorf("%s needs %s, which is neither next to this program "+
			"nor in PATH", args[0], name),
			"Get it: go install github.com/halfspace-ml/halfspace/cmd/" + name +
				"@latest, or in the source: go build ./cmd/" + name + "."}
	}
	err = syscall.Exec(path, append([]string{name}, args...), os.Environ())
	if runtime.GOOS == "windows" {
		cmd := exec.Command(path, args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err = cmd.Run(); cmd.ProcessState != nil {
			os.Exit(cmd.ProcessState.ExitCode())
		}
	}
	return &fail{CodeFailed, fmt.Errorf("%s: %w", path, PathCause(err)), ""}
}
