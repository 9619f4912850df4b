package command

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// aField is what a text of a package calls what its user may set: a field or a method.
var (
	aText  = regexp.MustCompile(`"[^"\n]*"`)
	aField = regexp.MustCompile(`\b(?:[A-Z]\w*Config|(?:Fit)?Options|Fitter|Model|Env)\.[A-Z]\w*`)
)

// TestFlagsInErrors: where errors of the packages name a field, the command names its flag.
func TestFlagsInErrors(t *testing.T) {
	root := filepath.Join("..", "..")
	said := map[string]bool{}
	for _, room := range []string{"internal/eval", "model", "dataset", "internal/format", "learner",
		"learners", "engine"} {
		err := filepath.WalkDir(filepath.Join(root, room), func(path string, d fs.DirEntry,
			err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") ||
				strings.Contains(filepath.ToSlash(path), "learnertest/") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, s := range aText.FindAllString(string(text), -1) {
				for _, field := range aField.FindAllString(s, -1) {
					said[field] = true
					if !strings.HasPrefix(withFlags(field), "--") {
						t.Errorf("%s: %s names %s, of no flag", path, s, field)
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, field := range []string{"Env.Seed", "FitOptions.ActiveSet", "FitOptions.Halving",
		"Fitter.Fit", "Model.Precision", "Options.LabelCol", "Options.MaxLine", "Options.Memory",
		"Options.Normalize", "Options.Positive", "RFFConfig.D", "RFFConfig.Sigma"} {
		if !said[field] {
			t.Errorf("no error names %s any more", field)
		}
	}
}

// TestSeenEnough: a reader of the output that has gone is no error, a server that has is one.
func TestSeenEnough(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&fs.PathError{Op: "write", Path: "pipe", Err: syscall.EPIPE}, true},
		{fmt.Errorf("stdout: %w", syscall.EPIPE), true},
		{&net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}, false},
		{fmt.Errorf("no connection: %w", &net.OpError{Op: "write", Net: "tcp",
			Err: os.NewSyscallError("write", syscall.EPIPE)}), false},
		{io.ErrClosedPipe, false},
	} {
		if got := seenEnough(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}
