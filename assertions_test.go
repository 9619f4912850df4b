package halfspace

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// assertsFreely are files whose assertions are not about learners: a terminal is asked for what
// kind of file it is.
var assertsFreely = []string{"internal/command/output.go"}

// TestTraitsNotAssertions: what learners and their settings can do is a line of learner.Traits, or
// asked by a function of package learner; nothing else is looked at for the methods that it has.
func TestTraitsNotAssertions(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." ||
			d.Name() == "testdata" || path == "learner"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") ||
			slices.Contains(assertsFreely, path):
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if a, ok := n.(*ast.TypeAssertExpr); ok && ofCapability(a.Type) {
				t.Errorf("%s: an assertion for what a learner can do: make it one of learner.Traits",
					set.Position(a.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ofCapability reports whether a type is an interface that lists methods, or one of package learner
// but Config, which values of another kind are asked for.
func ofCapability(t ast.Expr) bool {
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	switch t := t.(type) {
	case *ast.InterfaceType:
		return len(t.Methods.List) > 0
	case *ast.SelectorExpr:
		room, ok := t.X.(*ast.Ident)
		return ok && room.Name == "learner" && t.Sel.Name != "Config"
	}
	return false
}
