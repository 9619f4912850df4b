package halfspace

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// aFlag is a flag of a command line.
var aFlag = regexp.MustCompile(`(^|[^-])--[A-Za-z]`)

// TestNoFlags: packages are used without a command line, too, so their texts name fields and
// methods. The command says which flags set these.
func TestNoFlags(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "cmd" || path == "internal/command" ||
			path == "internal/benchcommand" ||
			path == "internal/brokertest" || // it runs the command
			d.Name() == "testdata" || d.Name() == "docs" ||
			strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") ||
			path == "bench/papers/html.go" || // the page says how to have more of it
			filepath.Dir(path) == "distributed/beam": // it brings flags of its own
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING &&
				aFlag.MatchString(s.Value) {
				t.Errorf("%s: %s names a flag", set.Position(s.Pos()), s.Value)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
