package halfspace

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms lists the packages of the module from the top down. A package may import only rooms below
// its own; the last two stand side by side and import nothing of the module, but for
// internal/trusted, which holds one empty type.
var rooms = []string{"cmd", "bench", "training", "eval", "model", "dataset", "learners", "learner", "engine", "kernelcache", "vecmath"}

// forAll are the rooms of internal/ that serve more than tests.
var forAll = []string{"internal/atomicfile", "internal/schema", "internal/scratch", "internal/trusted"}

const module = "github.com/halfspace-ml/halfspace/"

// onlyIn says which rooms may import a library that the others reach through them.
var onlyIn = map[string][]string{
	"github.com/klauspost/cpuid/v2":     {"bench", "cmd"}, // which describe the CPU; vecmath asks x/sys/cpu, a sixth of its size
	"github.com/klauspost/compress":     {"dataset"},
	"github.com/HdrHistogram":           {"cmd"},
	"github.com/spf13/cobra":            {"cmd"},
	"github.com/spf13/pflag":            {"cmd"},
	"gonum.org/v1/gonum":                {"bench"}, // never in a hot path
	"github.com/schollz/progressbar/v3": {"cmd"},
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		path = filepath.ToSlash(path)
		room, _, _ := strings.Cut(path, "/")
		rank := slices.Index(rooms, room)
		if rank >= 0 {
			seen[room] = true
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		isTest := strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "internal/") || strings.Contains(path, "learnertest/")
		for _, spec := range f.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if imp == "C" && !strings.HasPrefix(path, "cmd/libhalfspace/") {
				t.Errorf("%s uses cgo", path)
			}
			for lib, where := range onlyIn {
				if (imp == lib || strings.HasPrefix(imp, lib+"/")) && !isTest && !slices.Contains(where, room) {
					t.Errorf("%s imports %s, which belongs to %v", path, imp, where)
				}
			}
			below, ok := strings.CutPrefix(imp, module)
			if !ok {
				continue
			}
			target, _, _ := strings.Cut(below, "/")
			if target == "internal" {
				if !isTest && room != "bench" && !slices.Contains(forAll, below) {
					t.Errorf("%s imports %s, which serves tests", path, imp)
				}
				continue
			}
			to := slices.Index(rooms, target)
			switch {
			case to < 0:
				t.Errorf("%s imports %s: no such room", path, imp)
			case rank < 0: // internal helpers and the root
			case to < rank:
				t.Errorf("%s imports %s: imports run down the list only", path, imp)
			case rank >= slices.Index(rooms, "kernelcache") && to != rank:
				t.Errorf("%s imports %s: %s imports nothing of this module", path, imp, room)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []string{"cmd", "bench", "training", "eval", "model", "dataset", "learners", "learner", "engine", "kernelcache", "vecmath"} {
		if !seen[room] {
			t.Errorf("room %s has no Go file: is the list of rooms stale?", room)
		}
	}
}
