package halfspace

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitecture: ARCHITECTURE.md lists every package of the module, and the files that it names
// are there.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "```text\n")
	list, rest, found := strings.Cut(list, "\n```\n")
	if !found {
		t.Fatal("no list of rooms")
	}
	rooms := map[string]string{} // a folder or file at the top: its lines
	var room string
	for line := range strings.Lines(list) {
		if line[0] != ' ' {
			room, _, _ = strings.Cut(line, " ")
			room = strings.TrimSuffix(room, "/")
		}
		rooms[room] += line
	}
	word := regexp.MustCompile(`[a-z0-9]+`)
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && name != "."
		if d.IsDir() && (hidden || d.Name() == "testdata" || ownModule(name)) {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		name = filepath.ToSlash(name)
		top, below, nested := strings.Cut(path.Dir(name), "/")
		if top == "." {
			return nil
		}
		lines := rooms[top]
		if top == "cmd" {
			lines, nested = rooms["cmd/"+below], false
		}
		if lines == "" {
			t.Errorf("%s is in no room", name)
			return nil
		}
		if nested {
			listed := word.FindAllString(lines, -1)
			for part := range strings.SplitSeq(below, "/") {
				if !slices.Contains(listed, part) {
					t.Errorf("%s: %s/ doesn't say what %s is", name, top, part)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	file := regexp.MustCompile("`([a-z][A-Za-z0-9_/*.]*/[A-Za-z0-9_*.]*)`")
	for _, m := range file.FindAllStringSubmatch(rest, -1) {
		if files, err := filepath.Glob(m[1]); err != nil || len(files) == 0 {
			t.Errorf("%s is not there (%v)", m[1], err)
		}
	}
}

// ownModule reports whether a folder below this one is a module of its own, which imports what it
// likes.
func ownModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil && folder != "."
}
