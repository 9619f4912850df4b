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

// TestDocComments: what a package exports says what it is, in a comment that go doc shows: types,
// functions, methods of exported types, and constants and variables, alone or as a group. Commands,
// tests and generated code are left out.
func TestDocComments(t *testing.T) {
	t.Parallel()
	set, files := token.NewFileSet(), 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(name, ".") && path != "." || name == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if files++; f.Name.Name == "main" || ast.IsGenerated(f) {
			return nil
		}
		for _, decl := range f.Decls {
			for _, name := range undocumented(decl) {
				t.Errorf("%s: %s has no comment", set.Position(name.Pos()), name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Fatalf("%d files looked at: the test does not find the code", files)
	}
}

// undocumented returns the exported names of a declaration that no comment stands at.
func undocumented(decl ast.Decl) (names []*ast.Ident) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv)) {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Doc == nil && d.Doc == nil && s.Comment == nil && s.Name.IsExported() {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if s.Doc == nil && d.Doc == nil && s.Comment == nil && name.IsExported() {
						names = append(names, name)
					}
				}
			}
		}
	}
	return names
}

// exportedReceiver reports whether a method's type, without * and type parameters, is exported.
func exportedReceiver(recv *ast.FieldList) bool {
	x := recv.List[0].Type
	for {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.IndexListExpr:
			x = y.X
		case *ast.Ident:
			return y.IsExported()
		default:
			return false
		}
	}
}

// TestDocCommentsRule: the rule sees what it is there for, and lets pass what it says.
func TestDocCommentsRule(t *testing.T) {
	src := "package p\n\nfunc A() {}\n\n// B is here.\nfunc B() {}\n\nfunc c() {}\n\n" +
		"type D[T any] struct{}\n\nfunc (*D[T]) E() {}\n\nfunc (d) F() {}\n\n" +
		"const (\n\tG = 1\n\tH = 2 // here\n)\n\n// They are here.\nvar I, J int\n"
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, decl := range f.Decls {
		for _, name := range undocumented(decl) {
			got = append(got, name.Name)
		}
	}
	if text := strings.Join(got, " "); text != "A D E G" {
		t.Errorf("without a comment are %q, want A D E G", text)
	}
}
