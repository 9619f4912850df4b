package format

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sources parses the files, without tests, of some folders.
func sources(t *testing.T, folders ...string) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	for _, folder := range folders {
		names, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = f
		}
	}
	return files
}

// TestNamesCompared: what depends on a format stands in its row, and no code asks for its name.
func TestNamesCompared(t *testing.T) {
	for name, f := range sources(t, ".", "../../dataset", "../../model", "../eval",
		"../training", "../command") {
		check := func(e ast.Expr) {
			s, ok := e.(*ast.BasicLit)
			if ok && s.Kind == token.STRING && Lookup(strings.Trim(s.Value, `"`)) != nil {
				t.Errorf("%s compares the name %s", name, s.Value)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				check(n.X)
				check(n.Y)
			case *ast.CaseClause:
				for _, e := range n.List {
					check(e)
				}
			}
			return true
		})
	}
}

// TestTable: every row can do what it must.
func TestTable(t *testing.T) {
	var names []string
	for _, f := range table() {
		if f.Name == "" || slices.Contains(names, f.Name) {
			t.Errorf("name %q", f.Name)
		}
		names = append(names, f.Name)
		if f.Parse32 == nil || f.Parse64 == nil {
			t.Errorf("%s: no parser", f.Name)
		}
		if f.Cut != "" && f.Open != nil {
			t.Errorf("%s: text that is opened together can't be cut", f.Name)
		}
		for _, o := range f.Options {
			if o.Field == "" || Help(o.Field) == "" || !f.Takes(o.Field) {
				t.Errorf("%s: option %+v", f.Name, o)
			}
		}
		if f.Binary && f.Place == nil {
			t.Errorf("%s: no place of a label that has no line", f.Name)
		}
	}
	if got := Or(Names(nil)); got != "svmlight, csv, ndjson, vw, npy, npz, idx or fasta" {
		t.Error(got)
	}
	if got := Taking("LabelCol"); !slices.Equal(got, []string{"csv", "ndjson", "npz"}) ||
		Help("LabelCol") == "" {
		t.Error(got)
	}
	if f := Lookup("none"); f.Takes("LabelCol") || f.HasColumns() || f.HasIndices() {
		t.Error("no format has something")
	}
}

// TestCut: the cut rule, from both sides.
func TestCut(t *testing.T) {
	for _, tc := range []struct {
		cut         Cut
		text        string
		first, last int
	}{
		{"\n", "a\nb\nc", 2, 4}, {"\n", "abc", -1, 0}, {"\n", "\n", 1, 1}, {"\n", "", -1, 0},
		{"\n>", ">a\nb\n>c\n", 5, 5}, {"\n>", ">a\n", -1, 0}, {"\n>", "\n>\n>", 1, 3},
	} {
		if f, l := tc.cut.First([]byte(tc.text)), tc.cut.Last([]byte(tc.text)); f != tc.first ||
			l != tc.last {
			t.Errorf("%q in %q: %d, %d, want %d, %d", tc.cut, tc.text, f, l, tc.first, tc.last)
		}
	}
}
