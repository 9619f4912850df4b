package papers

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
	"github.com/halfspace-ml/halfspace/internal/eval"
	"github.com/halfspace-ml/halfspace/learner"
)

// load reads public data files, which are one data set.
func load[T engine.Float](ctx context.Context, o RunOptions, d dataset.Options, files ...string) (
	*dataset.Data[T], error) {
	var paths []string
	for _, name := range files {
		paths = append(paths, filepath.Join(o.DataDir, name))
	}
	return dataset.Load[T](ctx, paths, d)
}

// loadUnit reads data sets as the paper obpm has them: a bias attribute of 1, then unit length.
func loadUnit(ctx context.Context, o RunOptions, files ...string) ([]*dataset.Data[float32],
	error) {
	var all []*dataset.Data[float32]
	for _, name := range files {
		d, err := load[float32](ctx, o, dataset.Options{Bias: "append", Normalize: "unit"}, name)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// shuffled returns the examples in the random order of that seed and number, in parts: up to each
// of the places, and what is left.
func shuffled[T engine.Float](d *dataset.Data[T], seed, number uint64, places ...int) (
	parts []*engine.Block[T]) {
	order, from := make([]int32, d.Block.Len()), 0
	engine.Permute(order, seed, number)
	for _, to := range append(places, len(order)) {
		b := &engine.Block[T]{}
		d.Gather(b, order[from:to])
		parts, from = append(parts, b), to
	}
	return parts
}

// pass has a learner pass over examples.
func pass[T engine.Float](ctx context.Context, l learner.Learner[T], b *engine.Block[T],
	o eval.Options) (eval.Result, error) {
	d := dataset.Data[T]{Block: *b}
	return eval.Run(ctx, l, eval.NewMemory(b, d.Gather), o)
}

// testError returns the share of examples that a learner gets wrong, in percent.
func testError[T engine.Float](ctx context.Context, l learner.Learner[T], b *engine.Block[T]) (
	float64, error) {
	c, err := eval.Test(ctx, learner.ViewOf(l), eval.NewMemory(b, nil))
	return 100 * c.Error(), err
}

// readCSV returns the records of a file, all of so many fields; 0 is those of the first one.
func readCSV(file string, fields int) ([][]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := csv.NewReader(f)
	in.FieldsPerRecord = fields
	records, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return records, nil
}
