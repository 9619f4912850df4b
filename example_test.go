package halfspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace"
)

func learnAndScore(ctx context.Context, file string) error {
	m, err := halfspace.Train(ctx, halfspace.Options{Learner: "obpm", Epochs: 3,
		Settings: map[string]any{"members": 100, "tau": 0.3},
		Data:     halfspace.Data{Bias: "append", Normalize: "unit"}}, file)
	if err != nil {
		return err
	}
	snapshot := m.Snapshot() // stays as it is, and any number of goroutines may use it
	row := m.Row().Set("size", -12).Set("age", 3)
	if _, err := m.LearnOne(row, "small"); err != nil { // it learns on, row by row
		return err
	}
	label, err := snapshot.Label(snapshot.Row().Set("size", 40).Set("age", -7))
	if err != nil {
		return err
	}
	fmt.Println("the label is", label)
	return m.Save(file + ".model") // halfspace.Load, or the command, reads it
}

// The program of docs/go.md, on a small file: the label is the sign of the size, the age is noise.
func Example() {
	dir, err := os.MkdirTemp("", "halfspace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	var rows strings.Builder
	rows.WriteString("size,age,label\n")
	for i := range 500 {
		size, age, label := i*37%101-50, i*53%89-44, "small"
		if size >= 0 {
			label = "large"
		}
		fmt.Fprintf(&rows, "%d,%d,%s\n", size, age, label)
	}
	file := filepath.Join(dir, "train.csv")
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	if err := learnAndScore(context.Background(), file); err != nil {
		fmt.Println(err)
	}
	// Output:
	// the label is large
}

// The Go code of docs/go.md is the function learnAndScore above.
func TestGoPage(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/go.md")
	if err != nil {
		t.Fatal(err)
	}
	_, function, _ := strings.Cut(string(source), "\nfunc learnAndScore(")
	function, _, found := strings.Cut(function, "\n}\n")
	if !found || !strings.Contains(string(page),
		"```go\nfunc learnAndScore("+function+"\n}\n```\n") {
		t.Error("the Go code of docs/go.md is not the function learnAndScore of example_test.go")
	}
}
