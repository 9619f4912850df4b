package halfspace

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// mostComplex is the largest cyclomatic complexity of a function: ways through it, as gocyclo
// counts them.
const mostComplex = 25

// TestComplexity keeps functions short enough to be read at once. Parsers, which take a byte after
// the other by what it is, and generated files may be longer.
func TestComplexity(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." ||
			d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil || ast.IsGenerated(f) {
			return err
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			parses := strings.HasPrefix(path, "dataset/format/") &&
				strings.HasPrefix(fn.Name.Name, "parse")
			if n := complexity(fn); n > mostComplex && !parses {
				t.Errorf("%s: %s has %d ways through it, want at most %d",
					set.Position(fn.Pos()), fn.Name.Name, n, mostComplex)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// complexity is 1, and 1 more for each condition and loop.
func complexity(fn *ast.FuncDecl) int {
	n := 1
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
