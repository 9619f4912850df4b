package halfspace

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxColumns is how wide a line of code may be, with a tab stop in every 4.
const maxColumns = 100

// TestWidth: code and comments are within 100 columns. What no line break can go into is left out:
// raw strings (texts of help, which are folded when they are shown) that are no tags of fields, and
// in tests the strings that something is compared with. So is generated code.
func TestWidth(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for _, line := range tooWide(t, path, src) {
			t.Errorf("%s:%d is wider than %d columns", path, line, maxColumns)
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

// TestWidthRule: the rule sees what it is there for, and lets pass what it says.
func TestWidthRule(t *testing.T) {
	long := strings.Repeat("x", maxColumns)
	src := "package p\n\n// " + long + "\nvar a = 1 // " + long + "\nvar b = `" + long + "`\n" +
		"var c = \"" + long + "\"\ntype d struct {\n\tE []int `" + long + "`\n}\n"
	if got := tooWide(t, "p.go", []byte(src)); !slices.Equal(got, []int{3, 4, 6, 8}) {
		t.Errorf("lines %v are too wide, want 3, 4, 6 and 8", got)
	}
	if got := tooWide(t, "p_test.go", []byte(src)); !slices.Equal(got, []int{3, 4, 8}) {
		t.Errorf("of a test lines %v are too wide, want 3, 4 and 8", got)
	}
}

// tooWide returns the numbers of lines that break the rule of TestWidth.
func tooWide(t *testing.T, path string, src []byte) (lines []int) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Comments {
		if c.Pos() < f.Package && strings.Contains(c.Text(), "DO NOT EDIT") {
			return nil
		}
	}
	free := map[int]bool{} // lines with a string that can't be broken
	var s scanner.Scanner
	file := fset.AddFile(path, -1, len(src))
	s.Init(file, src, nil, 0)
	before := token.ILLEGAL
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		// behind a type, which ends in one of these, a raw string is a tag
		isTag := slices.Contains([]token.Token{token.IDENT, token.RPAREN, token.RBRACE}, before)
		before = tok
		if tok == token.STRING && (lit[0] == '`' && !isTag ||
			lit[0] == '"' && strings.HasSuffix(path, "_test.go")) {
			first := file.Line(pos)
			for n := range strings.Count(lit, "\n") + 1 {
				free[first+n] = true
			}
		}
	}
	for i, line := range strings.Split(string(src), "\n") {
		width := 0
		for _, r := range line {
			if r == '\t' {
				width += 3 - width%4
			}
			width++
		}
		if width > maxColumns && !free[i+1] && !strings.HasPrefix(line, "//go:") {
			lines = append(lines, i+1)
		}
	}
	return lines
}
