package halfspace

import (
	"fmt"
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
var rooms = []string{"cmd", "bench", "training", "eval", "model", "dataset", "learners", "learner",
	"engine", "kernelcache", "vecmath"}

// forAll are the rooms of internal/ that serve more than tests.
var forAll = []string{"internal/atomicfile", "internal/schema", "internal/scratch",
	"internal/spelling", "internal/trusted"}

const module = "github.com/halfspace-ml/halfspace/"

// onlyIn says which rooms may import a library that the others reach through them.
var onlyIn = map[string][]string{
	// which describe the CPU; vecmath asks x/sys/cpu, a sixth of its size
	"github.com/klauspost/cpuid/v2":     {"bench", "cmd"},
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
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." ||
			d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from := newImporter(filepath.ToSlash(path))
		seen[from.room] = true
		for _, spec := range f.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if what := from.objection(imp); what != "" {
				t.Errorf("%s imports %s: %s", path, imp, what)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range rooms {
		if !seen[room] {
			t.Errorf("room %s has no Go file: is the list of rooms stale?", room)
		}
	}
}

// importer is a file that imports.
type importer struct {
	path, room string
	rank       int  // in rooms; -1: internal helpers, examples and the root
	isTest     bool // or serves tests
}

func newImporter(path string) importer {
	room, _, _ := strings.Cut(path, "/")
	rank := slices.Index(rooms, room)
	if filepath.Base(path) == "example_test.go" {
		rank = -1 // of a package of its own, which nobody imports: it shows what users combine
	}
	return importer{path: path, room: room, rank: rank,
		isTest: strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "internal/") ||
			strings.Contains(path, "learnertest/")}
}

// objection says what speaks against an import; "" is nothing.
func (f importer) objection(imp string) string {
	if imp == "C" && !strings.HasPrefix(f.path, "cmd/libhalfspace/") {
		return "no cgo here"
	}
	for lib, where := range onlyIn {
		if (imp == lib || strings.HasPrefix(imp, lib+"/")) && !f.isTest &&
			!slices.Contains(where, f.room) {
			return fmt.Sprintf("it belongs to %v", where)
		}
	}
	below, ok := strings.CutPrefix(imp, module)
	if !ok {
		return ""
	}
	target, _, _ := strings.Cut(below, "/")
	if target == "internal" {
		if !f.isTest && f.room != "bench" && !slices.Contains(forAll, below) {
			return "it serves tests"
		}
		return ""
	}
	switch to := slices.Index(rooms, target); {
	case to < 0:
		return "no such room"
	case f.rank < 0:
	case to < f.rank:
		return "imports run down the list only"
	case f.rank >= slices.Index(rooms, "kernelcache") && to != f.rank:
		return f.room + " imports nothing of this module"
	}
	return ""
}
