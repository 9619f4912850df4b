package shard_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/halfspace-ml/halfspace/internal/shard"
	"github.com/halfspace-ml/halfspace/training"
)

// Shards of the rows learn apart, by any number of workers, and are merged.
func ExampleTrainRows() {
	dir, err := os.MkdirTemp("", "rows")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "data.svm")
	text := strings.Repeat("+1 1:1 3:1\n-1 2:1 3:1\n", 100)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	done, err := shard.TrainRows(context.Background(), training.Options{Learner: "adf",
		Files: []string{file}}, 4, 2, training.Env{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Shards, "shards,", done.Model.Presented, "examples")
	// Output: 4 shards, 200 examples
}
