package halfspace

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shown are the packages whose types each have an Example that runs, and the types that have none,
// with the reason.
var shown = map[string]map[string]string{
	".":              {},
	"dataset":        {},
	"dataset/format": {},
	"engine":         {},
	"eval":           {},
	"kernelcache":    {"Float": "is a constraint"},
	"learner":        {"Element": "is a constraint"},
	"learners":       {},
	"model":          {},
	"serve":          {"Replayed": "is what ExampleServer prints of Replay"},
	"training":       {},
}

// TestExamples: an exported type, unless it is an alias of another one, is shown by an Example with
// an Output: one of its name (ExampleT, ExampleT_method), or one whose body says package.T.
func TestExamples(t *testing.T) {
	for dir, exempt := range shown {
		code, tests := parsed(t, dir)
		types := exportedTypes(code)
		missing := slices.Sorted(maps.Keys(notShown(types, doc.Examples(tests...))))
		for _, name := range missing {
			if exempt[name] == "" {
				t.Errorf("%s: no Example with an Output shows the type %s", dir, name)
			}
		}
		for name := range exempt {
			if !slices.Contains(missing, name) {
				t.Errorf("%s: %s needs no exemption: it is shown, or not there", dir, name)
			}
		}
	}
}

// TestExamplesRule: types that no Example shows are found, and so are those of which one is without
// an Output, or says the name in another package or in a comment only.
func TestExamplesRule(t *testing.T) {
	const code = `package p
type ( Named int; Method int; Body int; Silent int; Other int; Absent int; hidden int )
type Alias = Named`
	const test = `package p_test
func ExampleNamed() {
	// Output:
}
func ExampleMethod_String() {
	_ = p.Body(1) // p.Absent
	_ = q.Other(2)
	// Output: 3
}
func ExampleSilent() { _ = p.Silent(1) }`
	set := token.NewFileSet()
	var files [2]*ast.File
	for i, name := range []string{"p.go", "p_test.go"} {
		f, err := parser.ParseFile(set, name, []string{code, test}[i], parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = f
	}
	missing := notShown(exportedTypes(files[:1]), doc.Examples(files[1]))
	if got := strings.Join(slices.Sorted(maps.Keys(missing)), " "); got != "Absent Other Silent" {
		t.Errorf("not shown: %s", got)
	}
}

// parsed returns the files of a package, and its tests.
func parsed(t *testing.T, dir string) (code, tests []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: no Go files (%v)", dir, err)
	}
	set := token.NewFileSet()
	for _, name := range names {
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			tests = append(tests, f)
		} else {
			code = append(code, f)
		}
	}
	return code, tests
}

// exportedTypes lists the exported types of a package, with the package's name before them; aliases
// are shown where the type is that they stand for.
func exportedTypes(code []*ast.File) map[string]bool {
	types := map[string]bool{}
	for _, f := range code {
		for _, d := range f.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.TYPE {
				continue
			}
			for _, s := range group.Specs {
				s := s.(*ast.TypeSpec)
				if s.Name.IsExported() && !s.Assign.IsValid() {
					types[f.Name.Name+"."+s.Name.Name] = true
				}
			}
		}
	}
	return types
}

// notShown returns the names of those types that no example shows.
func notShown(types map[string]bool, examples []*doc.Example) map[string]bool {
	missing := map[string]bool{}
	pkg := ""
	for name := range types {
		var short string
		pkg, short, _ = strings.Cut(name, ".")
		missing[short] = true
	}
	for _, e := range examples {
		if e.Output == "" && !e.EmptyOutput {
			continue // it is compiled and never run
		}
		name, _, _ := strings.Cut(e.Name, "_")
		delete(missing, name)
		ast.Inspect(e.Code, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg {
					delete(missing, s.Sel.Name)
				}
			}
			return true
		})
	}
	return missing
}
