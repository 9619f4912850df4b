package halfspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// outside are the modules beside the standard library that a program gets by importing this one.
var outside = []string{"github.com/klauspost/compress", "golang.org/x/sys"}

// What a program may grow by importing this module, in bytes, on linux/amd64. Stripped is what the
// code costs; symbols and debug information add half as much again to a default build. The linker
// leaves out what nothing can reach, so this is what the packages' tables of learners and formats
// reach. Of a default build's 2.4 MB, 0.6 are for fmt.Errorf, 0.3 for SHA-256 and zstd, which bring
// the standard library's cryptography with its self-tests, 1 for the learners and 0.3 for formats.
const (
	mostStripped = 1_765_000
	mostDefault  = 2_515_000
)

// TestImportCost holds what a program that trains and predicts takes on by importing this module.
func TestImportCost(t *testing.T) {
	t.Parallel()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(goTool, args...).Output()
		if err != nil {
			t.Fatalf("go %v: %v", args, err)
		}
		return string(out)
	}
	list := run("list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}",
		"./testdata/importer")
	modules := slices.Compact(slices.Sorted(slices.Values(strings.Fields(list))))
	if !slices.Equal(modules, outside) {
		t.Errorf("brings the modules %v, want %v", modules, outside)
	}
	if runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		return
	}
	size := func(program string, flags ...string) int64 {
		file := filepath.Join(t.TempDir(), "program")
		run(slices.Concat([]string{"build", "-o", file}, flags, []string{"./testdata/" +
			program})...)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for _, c := range []struct {
		what  string
		flags []string
		most  int64
	}{
		{"stripped", []string{"-ldflags=-s -w"}, mostStripped},
		{"by default", nil, mostDefault},
	} {
		added := size("importer", c.flags...) - size("empty", c.flags...)
		if added > c.most {
			t.Errorf("adds %d bytes %s, want at most %d", added, c.what, c.most)
		}
		t.Logf("adds %d bytes %s", added, c.what)
	}
}
