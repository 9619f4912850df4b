package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocs runs the commands of docs/distributed.md that are marked for this module, in order: "$ "
// begins a command, what follows is what it prints, ... stands for what differs.
func TestDocs(t *testing.T) {
	t.Parallel()
	dir, bin := t.TempDir(), t.TempDir()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "halfspace-beam")); err != nil {
		t.Skip(err)
	}
	page := content(t, "../../../../docs/distributed.md")
	n := 0
	for _, block := range regexp.MustCompile("(?s)```console beam\n(.*?)```").FindAllSubmatch(
		page, -1) {
		for _, part := range strings.Split("\n"+string(block[1]), "\n$ ")[1:] {
			line, want, _ := strings.Cut(part, "\n")
			n++
			cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", line)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "HALFSPACE_TEST_AS=command", "PATH="+bin+":"+
				os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), `\.\.\.`,
				`[^\n]*`)
			if err != nil || !regexp.MustCompile(`^`+pattern+`$`).Match(bytes.TrimSpace(out)) {
				t.Errorf("%s\nprints (%v)\n%snot\n%s", line, err, out, want)
			}
		}
	}
	if n < 4 {
		t.Errorf("%d commands: are they found?", n)
	}
}
