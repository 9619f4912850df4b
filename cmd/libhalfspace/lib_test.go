package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestC: programs in C, as each compiler here builds them, by gcc with its sanitizers, too.
func TestC(t *testing.T) {
	dir := t.TempDir()
	lib := filepath.Join(dir, "libhalfspace.so")
	// as python/build.sh does it, so that both compile once
	command(t, ".", "go", "build", "-buildmode=c-shared", "-buildvcs=false", "-trimpath", "-o", lib, ".")
	count := "20000"
	if os.Getenv("HALFSPACE_TEST_MODELS") != "" {
		count = os.Getenv("HALFSPACE_TEST_MODELS")
	}
	for _, cc := range []string{"gcc", "clang"} {
		if _, err := exec.LookPath(cc); err != nil {
			// .ci/run brings gcc everywhere, and clang where CI is set
			if os.Getenv("CI") == "true" ||
				cc == "gcc" && os.Getenv("HALFSPACE_REQUIRE_TOOLS") == "1" {
				t.Errorf("%s is missing", cc)
			}
			continue
		}
		modes := [][]string{nil}
		if cc == "gcc" { // clang's may be a package of its own
			modes = append(modes, []string{"-fsanitize=address,undefined", "-g"})
		}
		for _, mode := range modes {
			build := func(name string) string {
				out := filepath.Join(dir, name)
				args := append([]string{"-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-I.",
					"-o", out, filepath.Join("testdata", name+".c"), "-L" + dir, "-lhalfspace",
					"-Wl,-rpath," + dir, "-lpthread", "-lm"}, mode...)
				command(t, ".", cc, args...)
				return out
			}
			command(t, dir, build("test"), count)
			if got := command(t, dir, build("arrow")); got != "13 batches\n" {
				t.Errorf("%s: by Arrow's C data interface: %q", cc, got)
			}
			if got := command(t, dir, build("example")); got != "spam\n" {
				t.Errorf("%s: the example prints %q", cc, got)
			}
		}
	}
}

// command runs a program and returns what it prints.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	if len(args) == 1 {
		t.Logf("%s", out)
	}
	return string(out)
}
