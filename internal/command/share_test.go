package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoBench: without halfspace-bench the error says how to get it.
func TestNoBench(t *testing.T) {
	path, err := exec.LookPath("halfspace")
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), filepath.Base(path))
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(alone, program, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	out, _ := exec.Command(alone, "repro", "--list").CombinedOutput()
	for _, want := range []string{"halfspace: repro needs halfspace-bench, ",
		"  Get it: go install github.com/halfspace-ml/halfspace/cmd/halfspace-bench@latest"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
