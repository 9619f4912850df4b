package halfspace

import (
	"bytes"
	"flag"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
	_ "github.com/halfspace-ml/halfspace/learners"
)

// The tests of this file read the module's code and hold what reviews would have to look for: who
// imports whom, what is exported and documented, where learners are known by name, and width.

const module = "github.com/halfspace-ml/halfspace"

// source is a parsed Go file of the module.
type source struct {
	path, dir string // from the module's root, with slashes
	*ast.File
	text []byte
}

func (s *source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

var fileSet = token.NewFileSet()

// sources parses all Go files but those of testdata and of hidden folders, nested modules included.
var sources = sync.OnceValues(func() (files []*source, err error) {
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." ||
			d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		f, err := parser.ParseFile(fileSet, name, text,
			parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, &source{name, path.Dir(name), f, text})
		return nil
	})
	return files, err
})

// code returns the files that no generator wrote and that are no tests.
func code(t *testing.T) (files []*source) {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if !s.isTest() && !ast.IsGenerated(s.File) {
			files = append(files, s)
		}
	}
	if len(files) < 100 {
		t.Fatalf("found %d files: the test does not see the code", len(files))
	}
	return files
}

// inModule reports whether a folder belongs to the core module.
func inModule(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return false
		}
	}
	return true
}

// limitedTo says which packages may import a library; the others reach through them what it does.
var limitedTo = map[string][]string{
	// They describe the CPU; vecmath asks x/sys/cpu, a sixth of its size.
	"github.com/klauspost/cpuid/v2": {"bench/internal/measure", "internal/command"},
	"github.com/klauspost/compress": {"dataset", "internal/shard"},
	"google.golang.org/protobuf":    {"internal/exchange"},
	"github.com/HdrHistogram":       {"internal/command"},
	"github.com/spf13/cobra":        {"internal/command", "bench"},
	"github.com/spf13/pflag":        {"internal/command", "bench"},
	"gonum.org/v1/gonum":            {"bench/internal/measure", "bench/internal/papers"},
	"C":                             {}, // the module builds without a C compiler
}

// TestImports: the third block of ARCHITECTURE.md lists each package once, with all that its code
// imports of the module and no more, above the rows of these. So a new dependency is a decision.
func TestImports(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```")
	if len(blocks) < 6 {
		t.Fatal("ARCHITECTURE.md has no table of imports")
	}
	rows, order := map[string][]string{}, []string{}
	for line := range strings.Lines(strings.TrimPrefix(blocks[5], "text\n")) {
		words := strings.Fields(line)
		if line[0] != ' ' {
			if rows[words[0]] != nil {
				t.Errorf("ARCHITECTURE.md has two rows for %s", words[0])
			}
			rows[words[0]], order, words = []string{}, append(order, words[0]), words[1:]
		}
		last := order[len(order)-1]
		rows[last] = append(rows[last], words...)
	}
	used := map[string]map[string]bool{}
	files, _ := sources()
	for _, s := range files {
		if s.isTest() || !inModule(s.dir) {
			continue
		}
		if used[s.dir] == nil {
			used[s.dir] = map[string]bool{}
		}
		for _, spec := range s.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			for library, where := range limitedTo {
				if (imp == library || strings.HasPrefix(imp, library+"/")) &&
					!slices.Contains(where, s.dir) {
					t.Errorf("%s imports %s, which only %v may", s.path, imp, where)
				}
			}
			if below, ok := strings.CutPrefix(imp, module); ok {
				used[s.dir][path.Clean("."+below)] = true
			}
		}
	}
	for dir, imports := range used {
		listed, ok := rows[dir]
		if !ok {
			t.Errorf("ARCHITECTURE.md has no row for %s", dir)
		}
		for imp := range imports {
			if !slices.Contains(listed, imp) {
				t.Errorf("%s imports %s, which its row in ARCHITECTURE.md doesn't list", dir, imp)
			}
		}
	}
	for i, dir := range order {
		if used[dir] == nil {
			t.Errorf("ARCHITECTURE.md has a row for %s, which has no Go file", dir)
		}
		for _, imp := range rows[dir] {
			if !used[dir][imp] {
				t.Errorf("%s no longer imports %s: take it off its row in ARCHITECTURE.md", dir,
					imp)
			}
			if !slices.Contains(order[i+1:], imp) {
				t.Errorf("%s imports %s, whose row is not below its own", dir, imp)
			}
		}
	}
}

// TestArchitecture: the second block of ARCHITECTURE.md has each folder with code, and all files
// that the page names are there.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	list := strings.FieldsFunc(strings.Split(string(text), "```")[3], func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-')
	})
	for _, s := range code(t) {
		if s.dir != "." && inModule(s.dir) && !slices.Contains(list, path.Base(s.dir)) {
			t.Errorf("ARCHITECTURE.md doesn't say what %s is", s.dir)
		}
	}
	file := regexp.MustCompile("`([a-z][A-Za-z0-9_/*.]*/[A-Za-z0-9_*.]*)`")
	for _, m := range file.FindAllStringSubmatch(string(text), -1) {
		if files, err := filepath.Glob(m[1]); err != nil || len(files) == 0 {
			t.Errorf("ARCHITECTURE.md names %s, which is not there (%v)", m[1], err)
		}
	}
}

// TestTraitsNotAssertions: what a learner or its settings can do is a line of learner.Traits, or
// asked by a function of package learner. No type assertion for an interface with methods finds it.
func TestTraitsNotAssertions(t *testing.T) {
	for _, s := range code(t) {
		if s.dir == "learner" || s.path == "internal/command/output.go" { // asks a terminal
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if a, ok := n.(*ast.TypeAssertExpr); ok && ofCapability(a.Type) {
				t.Errorf("%s: an assertion for what a learner can do: make it a line of Traits",
					fileSet.Position(a.Pos()))
			}
			return true
		})
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
		pkg, ok := t.X.(*ast.Ident)
		return ok && pkg.Name == "learner" && t.Sel.Name != "Config"
	}
	return false
}

// TestNoFlags: packages are used without a command line, too, so their texts name fields and
// methods. The command says which flags set these.
func TestNoFlags(t *testing.T) {
	flag := regexp.MustCompile(`(^|[^-])--[A-Za-z]`)
	for _, s := range code(t) {
		switch {
		case strings.HasPrefix(s.path, "cmd/"), strings.Contains(s.path, "/cmd/"),
			s.dir == "internal/command", s.dir == "bench",
			s.dir == "internal/brokertest", // runs the command
			s.dir == "distributed/beam",    // brings flags of its own
			s.path == "ext/kafka/help.go", s.path == "ext/nats/help.go",
			s.path == "bench/internal/papers/html.go": // the page says how to have more of it
			continue
		}
		for at, text := range literals(s) {
			if flag.MatchString(text) {
				t.Errorf("%s: %q names a flag", at, text)
			}
		}
	}
}

// TestNoLearnersNames: above the contract no learner is known by its name. Which learner is the
// default is learner.Default; what else one can do, its Traits. Help may name learners: values of
// the fields Long and Example.
func TestNoLearnersNames(t *testing.T) {
	names := learner.Names()
	option := regexp.MustCompile(`(?:^|\s)(?:-a|--learner)[ =](` + strings.Join(names, "|") + `)\b`)
	homonyms := map[string]string{"internal/command/trainflags.go": "pairs"} // a flag: of classes
	for _, s := range code(t) {
		above := []string{".", "internal/command", "internal/training", "eval", "model"}
		if !slices.Contains(above, s.dir) {
			continue
		}
		for at, text := range literals(s) {
			if slices.Contains(names, text) && homonyms[s.path] != text ||
				option.MatchString(text) {
				t.Errorf("%s: %q names a learner", at, text)
			}
		}
	}
}

// literals returns the strings of a file by their places, but imports, tags and help.
func literals(s *source) map[string]string {
	found := map[string]string{}
	ast.Inspect(s.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.KeyValueExpr:
			key, ok := n.Key.(*ast.Ident)
			return !ok || key.Name != "Long" && key.Name != "Example"
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				found[fileSet.Position(n.Pos()).String()] = text
			}
		}
		return true
	})
	return found
}

// TestDocComments: what a package exports has a comment that go doc shows. Commands are left out.
func TestDocComments(t *testing.T) {
	for _, s := range code(t) {
		for _, name := range undocumented(s.File) {
			if s.Name.Name != "main" {
				t.Errorf("%s: %s has no comment", fileSet.Position(name.Pos()), name.Name)
			}
		}
	}
	// The rule sees what it is there for, and passes the rest.
	src := "package p\n\nfunc A() {}\n\n// B is here.\nfunc B() {}\n\nfunc c() {}\n\n" +
		"type D[T any] struct{}\n\nfunc (*D[T]) E() {}\n\nfunc (d) F() {}\n\n" +
		"const (\n\tG = 1\n\tH = 2 // here\n)\n\n// They are here.\nvar I, J int\n"
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, name := range undocumented(f) {
		got = append(got, name.Name)
	}
	if text := strings.Join(got, " "); text != "A D E G" {
		t.Errorf("without a comment are %q, want A D E G", text)
	}
}

// undocumented returns the exported names of a file that no comment stands at.
func undocumented(f *ast.File) (names []*ast.Ident) {
	for _, decl := range f.Decls {
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

// TestWidth: code and comments are within 100 columns, with a tab stop in every 4. Lines of raw
// strings pass, and in tests lines with a string that something is compared with.
func TestWidth(t *testing.T) {
	const columns = 100
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if ast.IsGenerated(s.File) {
			continue
		}
		literal := map[int]bool{}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING &&
				(l.Value[0] == '`' || s.isTest()) {
				for n := fileSet.Position(l.Pos()).Line; n <= fileSet.Position(l.End()).Line; n++ {
					literal[n] = true
				}
			}
			return true
		})
		for i, line := range strings.Split(string(s.text), "\n") {
			width := 0
			for _, r := range line {
				if r == '\t' {
					width += 3 - width%4
				}
				width++
			}
			if width > columns && !literal[i+1] && !strings.HasPrefix(line, "//go:") {
				t.Errorf("%s:%d is wider than %d columns", s.path, i+1, columns)
			}
		}
	}
}

var writeAPI = flag.Bool("write-api", false, "write testdata/api.txt as the API is now")

// TestAPI: testdata/api.txt lists what users may import, a line for each exported name, field and
// method, so that no change of it goes unseen: a line that is gone or different breaks programs,
// one that is new is a promise. A type that is an alias of an internal one has that one's lines.
func TestAPI(t *testing.T) {
	const file = "testdata/api.txt"
	linux := build.Default
	linux.GOOS, linux.GOARCH, linux.CgoEnabled = "linux", "amd64", false
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range all {
		first, _, _ := strings.Cut(s.dir, "/")
		match, err := linux.MatchFile(s.dir, path.Base(s.path))
		if err != nil {
			t.Fatal(err)
		}
		if s.isTest() || !match || strings.Contains("/"+s.dir+"/", "/internal/") ||
			first == "cmd" || first == "examples" || !inModule(s.dir) {
			continue
		}
		exports, err := parser.ParseFile(token.NewFileSet(), s.path, s.text,
			parser.SkipObjectResolution) // FileExports changes what it is given
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(exports)
		decls := exports.Decls
		for _, decl := range exports.Decls {
			decls = append(decls, behindAliases(t, all, exports, decl)...)
		}
		for _, decl := range decls {
			for _, line := range declared(t, decl) {
				lines = append(lines, strings.TrimSuffix("halfspace/"+s.dir, "/.")+": "+line)
			}
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if *writeAPI {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
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
		t.Log("If that is meant: go test -run '^TestAPI$' . -write-api, and say in the commit " +
			"who has to change what.")
	}
}

// behindAliases returns the declarations, methods included, of the module's types of which a
// declaration makes aliases.
func behindAliases(t *testing.T, all []*source, f *ast.File, decl ast.Decl) (found []ast.Decl) {
	t.Helper()
	d, ok := decl.(*ast.GenDecl)
	if !ok {
		return nil
	}
	for _, spec := range d.Specs {
		s, ok := spec.(*ast.TypeSpec)
		if !ok || !s.Assign.IsValid() {
			continue
		}
		of := s.Type
		if g, ok := of.(*ast.IndexExpr); ok {
			of = g.X
		}
		name, ok := of.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		pkg := name.X.(*ast.Ident).Name
		dir := ""
		for _, imp := range f.Imports {
			if at := strings.Trim(imp.Path.Value, `"`); path.Base(at) == pkg {
				dir = strings.TrimPrefix(at, module+"/")
			}
		}
		for _, from := range all {
			if from.dir != dir || from.isTest() {
				continue
			}
			exports, err := parser.ParseFile(token.NewFileSet(), from.path, from.text,
				parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.FileExports(exports)
			for _, decl := range exports.Decls {
				if declares(decl, name.Sel.Name) {
					found = append(found, decl)
				}
			}
		}
	}
	return found
}

// declares reports whether a declaration is that of a type or of one of its methods. Of several
// types in one declaration only that one stays.
func declares(decl ast.Decl, name string) bool {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return false
		}
		of := d.Recv.List[0].Type
		if p, ok := of.(*ast.StarExpr); ok {
			of = p.X
		}
		if g, ok := of.(*ast.IndexExpr); ok {
			of = g.X
		}
		id, ok := of.(*ast.Ident)
		return ok && id.Name == name
	case *ast.GenDecl:
		d.Specs = slices.DeleteFunc(d.Specs, func(s ast.Spec) bool {
			of, ok := s.(*ast.TypeSpec)
			return !ok || of.Name.Name != name
		})
		return len(d.Specs) > 0
	}
	return false
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
	name := *s
	name.Type = ast.NewIdent(kind)
	head := "type " + inLine(t, &name)
	lines = []string{head}
	for _, m := range members.List {
		text := inLine(t, m.Type)
		if len(m.Names) == 0 {
			lines = append(lines, head+", "+text)
		}
		for _, name := range m.Names {
			line := head + ", " + name.Name + " " + text
			if kind == "interface" {
				line = head + ", " + name.Name + strings.TrimPrefix(text, "func")
			}
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
