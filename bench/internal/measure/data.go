package measure

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/halfspace-ml/halfspace/dataset"
	"github.com/halfspace-ml/halfspace/engine"
)

// WaveformFile is the name of Raetsch's waveform data in DataDir.
const WaveformFile = "raetsch-waveform.csv.gz"

// digitFiles are MNIST's images to learn from, and their labels.
var digitFiles = []string{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"}

// load reads files of a folder as one data set.
func load[T engine.Float](ctx context.Context, dir string, o dataset.Options, files ...string) (
	*dataset.Data[T], error) {
	var paths []string
	for _, name := range files {
		paths = append(paths, filepath.Join(dir, name))
	}
	return dataset.Load[T](ctx, paths, o)
}

// Augmented returns a dense block with one more feature, of value rho.
func Augmented(b *engine.Block[float64], rho float64) *engine.Block[float64] {
	out := &engine.Block[float64]{Y: b.Y, Dim: b.Dim + 1, Stride: b.Dim + 1}
	for i := range b.Len() {
		out.X = append(append(out.X, b.Row(i)...), rho)
	}
	return out
}

// MarginProblem generates the problem of section 4.1 of the paper on Online Bayes Point Machines:
// n examples of d features, separable with that margin, of which the share noise of the labels is
// then flipped. The examples of a test set have the hyperplane of the training set of their seed.
func MarginProblem[T engine.Float](seed uint64, n, d int, margin, noise float64, test bool) (
	*dataset.Data[T], error) {
	split := "train"
	if test {
		split = "test"
	}
	return dataset.Generate[T]("margin", map[string]string{
		"n": strconv.Itoa(n), "d": strconv.Itoa(d), "seed": strconv.FormatUint(seed, 10),
		"margin": fmt.Sprint(margin), "noise": fmt.Sprint(noise), "split": split,
	})
}

// DataDir returns the folder of the public data sets: HALFSPACE_DATA, or ../shared/data beside the
// present folder where that exists, or "".
func DataDir() string {
	if dir := os.Getenv("HALFSPACE_DATA"); dir != "" {
		return dir
	}
	dir := filepath.Join("..", "shared", "data")
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	return ""
}
