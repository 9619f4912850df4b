package halfspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/eval"
	"github.com/halfspace-ml/halfspace/learners"
)

func train(ctx context.Context, file string) error {
	pool := engine.NewPool(0) // a worker a core
	defer pool.Close()
	entry, err := learners.Lookup("obpm")
	if err != nil {
		return err
	}
	config := entry.Config().(*learners.OBPMConfig)
	config.Members, config.Tau = 100, 0.3
	learner, err := learners.New[float32](entry, config, learners.Env{Seed: 1, Pool: pool})
	if err != nil {
		return err
	}

	data, err := dataset.Load[float32](ctx, []string{file},
		dataset.Options{Bias: "append", Normalize: "unit"})
	if err != nil {
		return err
	}
	source := eval.NewMemory(&data.Block, data.Gather)
	result, err := eval.Run(ctx, learner, source, eval.Options{Epochs: 3, Shuffle: true, Seed: 1})
	if err != nil {
		return err
	}
	fmt.Printf("%.1f %% errors on examples not yet learned\n", 100*result.ProgressiveError())

	query := engine.Block[float32]{ // one example without a label: features 0 (the bias), 1 and 2
		Dim: 3, Ptr: []int{0, 3}, Idx: []int32{0, 1, 2}, Val: []float32{0.5, 0.5, -0.5},
	}
	var score [1]float64
	if err := learner.Score(&query, score[:]); err != nil {
		return err
	}
	fmt.Println("is it +1?", score[0] >= 0)
	return nil
}

// The README's program, on a small file: the label is the sign of the first feature, the second is
// noise.
func Example() {
	dir, err := os.MkdirTemp("", "halfspace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	var rows strings.Builder
	for i := range 500 {
		x, noise := i*37%101-50, i*53%89-44
		label := "+1"
		if x < 0 {
			label = "-1"
		}
		fmt.Fprintf(&rows, "%s 1:%d 2:%d\n", label, x, noise)
	}
	file := filepath.Join(dir, "train.svm")
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	if err := train(context.Background(), file); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 2.6 % errors on examples not yet learned
	// is it +1? true
}

// TestREADME: the Go code that README shows is the function train above, so it compiles and does
// what it says.
func TestREADME(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, function, _ := strings.Cut(string(source), "\nfunc train(")
	function, _, found := strings.Cut(function, "\n}\n")
	if !found || !strings.Contains(string(readme), "```go\nfunc train("+function+"\n}\n```\n") {
		t.Error("README's Go code is not the function train of example_test.go")
	}
}
