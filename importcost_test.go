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
var outside = []string{"github.com/klauspost/compress", "github.com/therootcompany/xz",
	"github.com/twmb/murmur3", "golang.org/x/sys"}

// What programs of testdata may be larger than the empty one, in bytes, on linux/amd64, by default
// and stripped of symbols and debug information: a tenth more than they were. What must not come in
// costs more: what reaches encoding/json or a look-up by name from importer or narrow is 5.5 MB
// (stripped 3.8), net/http in user 5.2 (3.7). The path of the sources is in a program, too, and
// segments are whole pages.
//
// The linker leaves out what nothing can reach. An import alone reaches the packages' tables, and
// these reach learners and formats by methods and functions that only a look-up calls (see
// learner.Settings). So importer is 0.6 MB of fmt.Errorf with os and time, 0.35 of SHA-256 and
// zstd, which bring the standard library's cryptography with its self-tests, 0.05 of gzip and
// bzip2, and 0.2 of this module; narrow is fmt.Errorf and the module. A look-up by name reaches all
// learners in both precisions: user has, in MB of code and data, to which tables and symbols add as
// much again, 1.3 of learners, 0.4 of engine, vecmath and generic sorts, 0.3 of training and eval,
// 0.6 of dataset and its formats, 0.15 of zstd and flate, 0.1 of encoding/json, 0.05 of log/slog.
// What reaches regexp costs 0.25 MB.
var sizes = []struct {
	program             string
	byDefault, stripped int64
}{
	{"importer", 1_390_000, 950_000},
	{"narrow", 970_000, 662_000},
	{"user", 14_460_000, 10_140_000},
}

// TestImportCost limits what a program that trains and predicts takes on by importing this module,
// and the size of the released command.
func TestImportCost(t *testing.T) {
	t.Parallel()
	goTool, err := exec.LookPath("go")
	if err != nil {
		if os.Getenv("HALFSPACE_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
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
		run(slices.Concat([]string{"build", "-o", file}, flags, []string{program})...)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	const released = 20_000_000 // nothing of bench, and no package that keeps every method
	if n := size("./cmd/halfspace", "-trimpath", "-ldflags=-s -w"); n > released {
		t.Errorf("the command takes %d bytes, want at most %d", n, released)
	}
	for _, flags := range []string{"", "-s -w"} {
		empty := size("./testdata/empty", "-ldflags="+flags)
		for _, s := range sizes {
			most := s.byDefault
			if flags != "" {
				most = s.stripped
			}
			added := size("./testdata/"+s.program, "-ldflags="+flags) - empty
			if added > most {
				t.Errorf("%s adds %d bytes with -ldflags=%q, want at most %d", s.program, added,
					flags, most)
			}
			t.Logf("%s adds %d bytes with -ldflags=%q", s.program, added, flags)
		}
	}
}
