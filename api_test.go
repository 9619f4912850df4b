package halfspace

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var writeAPI = flag.Bool("write-api", false, "write testdata/api.txt as the API is now")

// TestAPI: testdata/api.txt lists all that the module's packages export, a line each, so that no
// change of it goes unseen: a line that is gone or different breaks programs, one that is new is a
// promise.
func TestAPI(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, r := range rooms {
		if first, _, _ := strings.Cut(r.name, "/"); first != "internal" && first != "cmd" &&
			first != "examples" && !strings.Contains(r.name, "/internal") {
			lines = append(lines, exported(t, r.name)...)
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	const file = "testdata/api.txt"
	if *writeAPI {
		text := strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kept := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range kept {
		if _, there := slices.BinarySearch(lines, line); !there {
			t.Errorf("gone: %s", line)
		}
	}
	for _, line := range lines {
		if _, there := slices.BinarySearch(kept, line); !there {
			t.Errorf("new: %s", line)
		}
	}
	if t.Failed() {
		t.Logf("If that is meant: go test -run '^TestAPI$' . -write-api, and say in the commit who has " +
			"to change what.")
	}
}

// exported returns what a package exports, as on Linux on amd64.
func exported(t *testing.T, dir string) (lines []string) {
	t.Helper()
	context := build.Default
	context.GOOS, context.GOARCH, context.CgoEnabled = "linux", "amd64", false
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix("halfspace/"+dir, "/.")
	for _, file := range files {
		match, err := context.MatchFile(dir, filepath.Base(file))
		if err != nil {
			t.Fatal(err)
		}
		if !match || strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if !ast.FileExports(f) {
			continue
		}
		for _, decl := range f.Decls {
			for _, line := range declared(t, decl) {
				lines = append(lines, name+": "+line)
			}
		}
	}
	return lines
}

// declared returns a line for each name that a declaration exports, of structs and interfaces for
// each field and method, too.
func declared(t *testing.T, decl ast.Decl) (lines []string) {
	t.Helper()
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !exportedReceiver(d.Recv) {
			return nil
		}
		d.Body = nil
		return []string{inLine(t, d)}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					line := d.Tok.String() + " " + name.Name
					if s.Type != nil {
						line += " " + inLine(t, s.Type)
					}
					lines = append(lines, line)
				}
			case *ast.TypeSpec:
				lines = append(lines, declaredType(t, s)...)
			}
		}
	}
	return lines
}

func declaredType(t *testing.T, s *ast.TypeSpec) (lines []string) {
	t.Helper()
	var kind string
	var members *ast.FieldList
	switch of := s.Type.(type) {
	case *ast.StructType:
		kind, members = "struct", of.Fields
	case *ast.InterfaceType:
		kind, members = "interface", of.Methods
	default:
		return []string{"type " + inLine(t, s)}
	}
	head := fmt.Sprintf("type %s %s", s.Name.Name, kind)
	if s.TypeParams != nil {
		var list []string
		for _, p := range s.TypeParams.List {
			for _, name := range p.Names {
				list = append(list, name.Name+" "+inLine(t, p.Type))
			}
		}
		head = fmt.Sprintf("type %s[%s] %s", s.Name.Name, strings.Join(list, ", "), kind)
	}
	lines = []string{head}
	for _, m := range members.List {
		text := inLine(t, m.Type)
		if len(m.Names) == 0 {
			lines = append(lines, head+", "+text)
		}
		for _, name := range m.Names {
			if f, ok := m.Type.(*ast.FuncType); ok && kind == "interface" {
				text = strings.TrimPrefix(inLine(t, f), "func")
				lines = append(lines, head+", "+name.Name+text)
				continue
			}
			line := head + ", " + name.Name + " " + text
			if m.Tag != nil {
				line += " " + m.Tag.Value
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// inLine prints a node in one line.
func inLine(t *testing.T, node any) string {
	t.Helper()
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), node); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
