package halfspace

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/learner"
	_ "github.com/halfspace-ml/halfspace/learners"
)

// homonyms are literals that are a learner's name and mean something else.
var homonyms = map[string][]string{
	"internal/command/train.go": {"pairs"}, // a flag: of classes
}

// TestNoLearnersNames: above the contract no learner is known by its name: not one of the literals
// is one, or is an option -a with one. Which learner is the default is learner.Default; what else
// one can do, its Traits. Help may name learners: values of the fields Long and Example, and the
// topics of topics.go.
func TestNoLearnersNames(t *testing.T) {
	t.Parallel()
	names := learner.Names()
	option := regexp.MustCompile(`(?:^|\s)(?:-a|--learner)[ =](` + strings.Join(names, "|") + `)\b`)
	for _, dir := range []string{".", "internal/command", "training", "eval", "model"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no Go files (%v)", dir, err)
		}
		for _, file := range files {
			file = filepath.ToSlash(file)
			if strings.HasSuffix(file, "_test.go") || file == "internal/command/topics.go" {
				continue
			}
			for at, text := range literals(t, file) {
				named := slices.Contains(names, text) &&
					!slices.Contains(homonyms[file], text) || option.MatchString(text)
				if named {
					t.Errorf("%s: %q names a learner", at, text)
				}
			}
		}
	}
}

// literals returns the strings of a file by their places, but imports, tags and help.
func literals(t *testing.T, file string) map[string]string {
	t.Helper()
	set, found := token.NewFileSet(), map[string]string{}
	f, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.KeyValueExpr:
			key, ok := n.Key.(*ast.Ident)
			return !ok || key.Name != "Long" && key.Name != "Example"
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				found[set.Position(n.Pos()).String()] = text
			}
		}
		return true
	})
	return found
}
