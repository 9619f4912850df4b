package halfspace

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/halfspace-ml/halfspace"

// room is a package of the module. What it imports of the module is listed here, all of it and no
// more, so that a new dependency is a decision and not an accident. "." is package halfspace.
type room struct {
	name    string
	imports string // of the code
	tests   string // of the tests besides; testHelpers and the package itself are free to them
}

// rooms has every package once, above all that it imports. ARCHITECTURE.md shows the first two
// columns.
var rooms = []room{
	{"cmd/halfspace", "internal/command", ""},
	{"cmd/halfspace-bench", "internal/benchcommand", ""},
	{"internal/benchcommand", "internal/command internal/serve bench bench/papers dataset " +
		"engine vecmath internal/spelling", ""},
	{"internal/command", "internal/serve internal/shard internal/exchange internal/compare " +
		"training internal/public eval model dataset internal/format learner engine vecmath " +
		"internal/report internal/atomicfile internal/schema internal/spelling", ". bench " +
		"internal/benchcommand"},
	{"examples/embed", ".", ""},
	{"internal/serve", ". model internal/format learner engine internal/atomicfile " +
		"internal/fields internal/frames internal/schema internal/waiting", "learners"},
	{"examples/http", "dataset learners learner engine", ""},
	{".", "training eval model dataset internal/format learner engine internal/fields " +
		"internal/scratch", "learners"},
	{"bench/papers", "bench training eval internal/stat dataset learners learner engine " +
		"internal/report internal/atomicfile internal/schema internal/naive", ""},
	{"bench", "dataset learners learner engine vecmath internal/schema internal/trusted " +
		"internal/naive", ""},
	{"internal/exchange", "model internal/format learner engine", ". learners"},
	{"bench/rows", "internal/shard training model dataset engine", ""},
	{"internal/brokers", "training", ""},
	{"internal/shard", "training eval model internal/format learner engine internal/frames",
		""},
	{"internal/compare", "training eval internal/stat model dataset internal/format learner " +
		"engine internal/folds", ""},
	{"training", "eval model dataset internal/format learners learner engine internal/folds " +
		"internal/spelling", "internal/compare"},
	{"eval", "learner engine vecmath internal/waiting", "model dataset learners"},
	{"internal/stat", "", ""},
	{"internal/brokertest", "model internal/commandtest internal/realdata", ""},
	{"internal/fields", "model internal/format", ""},
	{"model", "internal/format learner engine internal/atomicfile", "learners vecmath"},
	{"internal/public", "internal/atomicfile", ""},
	{"dataset", "internal/format engine", ""},
	{"internal/format", "engine", "dataset"},
	{"learners", "learners/internal/ensemble learners/internal/gauss " +
		"learners/internal/margin learners/internal/kept learners/internal/smo " +
		"learners/internal/linalg learners/internal/primal learner engine vecmath " +
		"internal/scratch internal/trusted", "dataset"},
	{"learners/internal/ensemble", "learners/internal/primal learner engine vecmath " +
		"internal/scratch internal/trusted", "learners"},
	{"learners/internal/gauss", "learners/internal/linalg learners/internal/primal learner " +
		"engine vecmath internal/scratch internal/trusted", ""},
	{"learners/internal/margin", "learners/internal/kept learners/internal/primal learner " +
		"engine vecmath internal/trusted", ""},
	{"learners/internal/kept", "learners/internal/linalg learners/internal/primal learner " +
		"engine vecmath internal/scratch", ""},
	{"learners/internal/smo", "learners/internal/linalg learners/internal/primal learner " +
		"engine vecmath", ""},
	{"learners/internal/linalg", "vecmath", ""},
	{"learners/internal/primal", "learner engine vecmath internal/trusted", ""},
	{"learners/internal/golden", "", ""},
	{"learners/internal/outside", "", "learners learner engine"},
	{"internal/helpgen", "", "learners learner"},
	{"internal/naive", "engine", "learners learner"},
	{"learner/learnertest", "learner engine vecmath internal/race", ""},
	{"learner", "engine", ""},
	{"internal/folds", "engine", ""},
	{"engine", "kernelcache vecmath internal/scratch internal/trusted", ""},
	{"kernelcache", "", ""},
	{"vecmath", "internal/trusted", ""},
	{"vecmath/internal/dispatchgen", "", ""},
	{"internal/frames", "", ""},
	{"internal/report", "internal/atomicfile", ""},
	{"internal/atomicfile", "", ""},
	{"internal/schema", "", ""},
	{"internal/scratch", "", ""},
	{"internal/spelling", "", ""},
	{"internal/trusted", "", ""},
	{"internal/waiting", "", ""},
	{"internal/approx", "", ""},
	{"internal/race", "", ""},
	{"internal/commandtest", "", ""},
	{"internal/realdata", "", ""},
}

// testHelpers are what any test may import.
var testHelpers = []string{"internal/approx", "internal/race", "internal/realdata", "internal/naive",
	"learner/learnertest", "learners/internal/golden"}

// onlyIn says which packages may import a library; the others reach through them what it does.
var onlyIn = map[string][]string{
	// which describe the CPU; vecmath asks x/sys/cpu, a sixth of its size
	"github.com/klauspost/cpuid/v2": {"bench", "internal/command"},
	"github.com/klauspost/compress": {"dataset", "internal/shard"},
	"google.golang.org/protobuf":    {"internal/exchange"},
	"github.com/HdrHistogram":       {"internal/command"},
	"github.com/spf13/cobra":        {"internal/command", "internal/benchcommand"},
	"github.com/spf13/pflag":        {"internal/command", "internal/benchcommand"},
	"gonum.org/v1/gonum":            {"bench", "bench/papers"}, // never in a hot path
	"C":                             {},                        // the module builds without a C compiler
}

// TestImports: every package imports what its row lists, and all rows of what it imports stand
// below its own.
func TestImports(t *testing.T) {
	imports := readImports(t)
	seen := map[string]bool{}
	for i, r := range rooms {
		if seen[r.name] {
			t.Errorf("%s has two rows", r.name)
		}
		seen[r.name] = true
		found, ok := imports[r.name]
		if !ok {
			t.Errorf("%s has a row and no Go file", r.name)
			continue
		}
		code, tests := strings.Fields(r.imports), strings.Fields(r.tests)
		for _, name := range code {
			if !slices.ContainsFunc(rooms[i+1:], func(b room) bool { return b.name == name }) {
				t.Errorf("%s imports %s, whose row is not below its own", r.name, name)
			}
		}
		compare(t, r.name, "", found.code, code)
		for _, free := range slices.Concat(code, testHelpers, []string{r.name}) {
			delete(found.tests, free)
		}
		compare(t, r.name, "the tests of ", found.tests, tests)
	}
	for name := range imports {
		if !seen[name] {
			t.Errorf("%s has no row", name)
		}
	}
}

// compare reports imports that are not listed, and listed ones that are not there.
func compare(t *testing.T, name, of string, found map[string]string, listed []string) {
	t.Helper()
	for imp, file := range found {
		if !slices.Contains(listed, imp) {
			t.Errorf("%s imports %s, which the row of %s%s doesn't list", file, imp, of, name)
		}
	}
	for _, imp := range listed {
		if found[imp] == "" {
			t.Errorf("%s%s no longer import %s: take it off the row", of, name, imp)
		}
	}
}

// imported is what a package imports of the module, each with a file that does.
type imported struct{ code, tests map[string]string }

// readImports reads the imports of all files, whatever they are built for. Those of example_test.go
// are left out: such a file shows what users combine.
func readImports(t *testing.T) map[string]imported {
	t.Helper()
	all := map[string]imported{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != "." ||
			d.Name() == "testdata" || ownModule(file)):
			return filepath.SkipDir
		case filepath.Ext(file) != ".go":
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		from, isTest := path.Dir(file), strings.HasSuffix(file, "_test.go")
		if all[from].code == nil {
			all[from] = imported{map[string]string{}, map[string]string{}}
		}
		into := all[from].code
		if isTest {
			into = all[from].tests
		}
		for _, spec := range f.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if where, limited := libraryOf(imp); limited && !isTest &&
				!slices.Contains(where, from) {
				t.Errorf("%s imports %s, which belongs to %v", file, imp, where)
			}
			if below, ok := strings.CutPrefix(imp, module); ok &&
				!strings.HasSuffix(file, "example_test.go") {
				into[path.Clean("."+below)] = file
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// libraryOf returns which packages may import imp, if not all may.
func libraryOf(imp string) (where []string, limited bool) {
	for lib := range maps.Keys(onlyIn) {
		if imp == lib || strings.HasPrefix(imp, lib+"/") {
			return onlyIn[lib], true
		}
	}
	return nil, false
}

// TestImportsShown: ARCHITECTURE.md shows the table.
func TestImportsShown(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "```text\n" + showRooms() + "```\n"; !strings.Contains(string(text), want) {
		t.Errorf("ARCHITECTURE.md doesn't show what may import what:\n%s", want)
	}
}

// showRooms returns a line of each room, wrapped at 100 columns.
func showRooms() string {
	var out strings.Builder
	for _, r := range rooms {
		line := fmt.Sprintf("%-28s", r.name)
		for _, imp := range strings.Fields(r.imports) {
			if len(line)+1+len(imp) > 100 {
				out.WriteString(line + "\n")
				line = strings.Repeat(" ", 28)
			}
			line += " " + imp
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return out.String()
}
